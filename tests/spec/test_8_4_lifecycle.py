"""Specification 8.4: long work is started, watched, cancelled and retried, in states that every client knows."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import pytest

from headgate import Adapter, Background, Context
from tests.spec.conftest import Serve
from tests.spec.wires import Aql, data_of, error_of
from tests.support import has_spec_schemas, schema_errors

pytestmark = pytest.mark.anyio

CORE = ["pending", "running", "completed", "failed", "cancelled"]
LISTED = {
    ("pending", "running"),
    ("pending", "cancelled"),
    ("running", "completed"),
    ("running", "failed"),
    ("running", "cancelled"),
    ("failed", "running"),
}
"""The transitions of Spec 8.4.2."""

State = dict[str, Any]
WAIT = 20


async def started(aql: Aql, lane: str, **more: Any) -> str:
    """The id of a crawl that was started just now."""
    state = data_of(await aql.execute("execute_crawl", lane=lane, **more))
    assert isinstance(state["execution_id"], str)
    assert state["status"] in ("pending", "running")
    return state["execution_id"]


async def state_of(aql: Aql, execution_id: str, wait: float = 0) -> State:
    """The state, once it is terminal if that is waited for."""
    state = data_of(await aql.read("get_execution", execution_id=execution_id, wait_seconds=wait))
    assert state["execution_id"] == execution_id
    assert state["status"] in CORE
    assert isinstance(state, dict)
    return state


async def arrivals(aql: Aql, lane: str, least: int) -> list[str]:
    """What happened in a lane, as soon as it is so much."""
    lines = data_of(await aql.read("list_arrivals", lane=lane, least=least))
    assert isinstance(lines, list)
    return lines


async def running(aql: Aql, lane: str, **more: Any) -> str:
    execution_id = await started(aql, lane, **more)
    assert await arrivals(aql, lane, 1) == ["attempt 1"]
    return execution_id


async def pending(aql: Aql, lane: str) -> str:
    """One that waits, since another one has its lane."""
    await running(aql, lane)
    return await started(aql, lane)


async def completed(aql: Aql, lane: str) -> str:
    return await ended(aql, await running(aql, lane), lane, "completed")


async def failed(aql: Aql, lane: str) -> str:
    return await ended(aql, await running(aql, lane, failures=1), lane, "failed")


async def cancelled(aql: Aql, lane: str) -> str:
    execution_id = await running(aql, lane)
    data_of(await aql.execute("cancel_execution", execution_id=execution_id))
    assert (await state_of(aql, execution_id, WAIT))["status"] == "cancelled"
    return execution_id


async def ended(aql: Aql, execution_id: str, lane: str, status: str) -> str:
    data_of(await aql.execute("execute_opening", lane=lane))
    assert (await state_of(aql, execution_id, WAIT))["status"] == status
    return execution_id


async def none_left(aql: Aql, lane: str) -> None:
    """End what is still under way in a lane, for those who come after."""
    data_of(await aql.execute("execute_opening", lane=lane))
    filters = {"operation": "execute_crawl", "status": {"in": ["pending", "running"]}}
    for one in data_of(await aql.read("list_executions", filter=filters))["items"]:
        await state_of(aql, one["execution_id"], WAIT)


# 8.4.1 and 8.4.2: states and what follows what


@pytest.mark.proves(
    "spec-8.4-long-work-follows-lifecycle",
    "spec-8.4.2-only-listed-transitions-happen",
    "spec-8.4.3-execution-answers-id-and-status",
)
async def test_work_waits_for_its_turn_runs_and_completes(aql: Aql, key: str) -> None:
    first = await running(aql, key)
    second = await started(aql, key)
    assert (await state_of(aql, first))["status"] == "running"
    assert (await state_of(aql, second))["status"] == "pending"
    error_of(await aql.read("get_execution_result", execution_id=first), "CONFLICT_EXECUTION_STATE")
    data_of(await aql.execute("execute_opening", lane=key))
    assert (await state_of(aql, first, WAIT))["status"] == "completed"
    result = data_of(await aql.read("get_execution_result", execution_id=second, wait_seconds=WAIT))
    assert (result["execution_id"], result["status"]) == (second, "completed")
    assert result["result"] == ["home", "news", "help", "about"]
    assert await arrivals(aql, key, 2) == ["attempt 1", "attempt 1"]


@pytest.mark.proves("spec-8.4-long-work-follows-lifecycle", "spec-8.4.2-only-listed-transitions-happen")
async def test_what_waits_is_cancelled_before_it_starts_and_what_runs_while_it_does(aql: Aql, key: str) -> None:
    first = await running(aql, key)
    second, third = await started(aql, key), await started(aql, key)
    assert data_of(await aql.execute("cancel_execution", execution_id=second))["status"] == "cancelled"
    stopped = data_of(await aql.execute("cancel_execution", execution_id=first))
    assert stopped["status"] in ("running", "cancelled")
    assert (await state_of(aql, first, WAIT))["status"] == "cancelled"
    assert await arrivals(aql, key, 3) == ["attempt 1", "cleaned up", "attempt 1"], "the third one has its turn"
    assert (await state_of(aql, third))["status"] == "running"
    assert "started_at" not in await state_of(aql, second)
    await ended(aql, third, key, "completed")


@pytest.mark.proves("spec-8.4-long-work-follows-lifecycle", "spec-8.4.2-terminal-states-are-final")
async def test_what_has_failed_runs_again_if_it_is_retried(aql: Aql, key: str) -> None:
    execution_id = await failed(aql, key)
    again = data_of(await aql.execute("retry_execution", execution_id=execution_id))
    assert (again["execution_id"], again["status"]) == (execution_id, "running")
    assert "error" not in again
    assert (await state_of(aql, execution_id, WAIT))["status"] == "completed"
    assert await arrivals(aql, key, 2) == ["attempt 1", "attempt 2"]
    error_of(await aql.execute("retry_execution", execution_id=execution_id), "CONFLICT_EXECUTION_STATE")


ILLEGAL: dict[str, tuple[Callable[[Aql, str], Any], str]] = {
    "pending-retry": (pending, "retry_execution"),
    "running-retry": (running, "retry_execution"),
    "completed-retry": (completed, "retry_execution"),
    "cancelled-retry": (cancelled, "retry_execution"),
    "completed-cancel": (completed, "cancel_execution"),
    "failed-cancel": (failed, "cancel_execution"),
    "cancelled-cancel": (cancelled, "cancel_execution"),
}


@pytest.mark.parametrize(("brought", "operation"), ILLEGAL.values(), ids=ILLEGAL)
@pytest.mark.proves("spec-8.4.2-only-listed-transitions-happen", "spec-8.4.2-terminal-states-are-final")
async def test_every_other_transition_is_refused_and_changes_nothing(
    aql: Aql, key: str, brought: Callable[[Aql, str], Any], operation: str
) -> None:
    execution_id = await brought(aql, key)
    before = await state_of(aql, execution_id)
    error = error_of(await aql.execute(operation, execution_id=execution_id), "CONFLICT_EXECUTION_STATE")
    assert error["details"]["status"] == before["status"]
    assert await state_of(aql, execution_id) == before
    await none_left(aql, key)


# 8.4.3: what an answer has


def moment(text: str) -> datetime:
    assert text.endswith("Z")
    return datetime.fromisoformat(text)


@pytest.mark.proves(
    "spec-8.4.3-execution-answers-id-and-status",
    "spec-8.4.3-state-has-times-progress-and-error",
    "spec-8.4.3-progress-says-something",
)
async def test_a_state_tells_when_it_began_how_far_it_is_and_when_it_ended(aql: Aql, key: str) -> None:
    asked = datetime.now(UTC).replace(microsecond=0)
    execution_id = await running(aql, key)
    state = await state_of(aql, execution_id)
    assert asked <= moment(state["created_at"]) <= moment(state["started_at"]) <= datetime.now(UTC)
    assert state["progress"] == {"percentage": 25, "current": 1, "total": 4, "message": "the first page"}
    assert not state.keys() & {"finished_at", "error"}
    await ended(aql, execution_id, key, "completed")
    done = await state_of(aql, execution_id)
    assert moment(done["started_at"]) <= moment(done["finished_at"]) <= datetime.now(UTC)
    assert "error" not in done


@pytest.mark.proves("spec-8.4.3-state-has-times-progress-and-error", "spec-8.4.3-progress-says-something")
async def test_a_state_tells_why_it_failed_and_how_far_it_came_before_it_was_cancelled(aql: Aql, key: str) -> None:
    broken = await state_of(aql, await failed(aql, key))
    assert broken["error"] == {"code": "INTERNAL_ERROR", "message": "Internal error: 'the site does not answer'"}
    assert moment(broken["started_at"]) <= moment(broken["finished_at"])
    if has_spec_schemas():
        assert schema_errors({"success": False, "error": broken["error"]}, "operation-result") == []
    stopped = await state_of(aql, await cancelled(aql, f"{key}-b"))
    assert stopped["progress"]["current"] == 1
    assert moment(stopped["started_at"]) <= moment(stopped["finished_at"])
    assert "error" not in stopped


@asynccontextmanager
async def reporting(serve: Serve, *told: object) -> AsyncIterator[State]:
    """The state of work that has told so much of its progress, and runs."""
    adapter = Adapter("reporter")

    @adapter.execute(background=True)
    async def execute_report(ctx: Context) -> None:
        """Report what there is to report."""
        if told:
            await ctx.progress(*told)  # type: ignore[arg-type]
        reported.set()
        await asyncio.Event().wait()

    reported = asyncio.Event()
    async with serve(adapter) as aql:
        execution_id = data_of(await aql.execute("execute_report"))["execution_id"]
        await reported.wait()
        yield await state_of(aql, execution_id)
        data_of(await aql.execute("cancel_execution", execution_id=execution_id))
        await state_of(aql, execution_id, WAIT)


PROGRESS: dict[str, tuple[tuple[object, ...], dict[str, object] | None]] = {
    "all": ((3, 4, "nearly"), {"percentage": 75, "current": 3, "total": 4, "message": "nearly"}),
    "count": ((1, 3), {"percentage": 33.3, "current": 1, "total": 3}),
    "message": ((None, None, "looking"), {"message": "looking"}),
    "no total": ((7,), {"current": 7}),
    "beyond": ((5, 4), {"percentage": 100, "current": 5, "total": 4}),
    "nothing": ((None, None, None), None),
    "silent": ((), None),
}


@pytest.mark.parametrize(("told", "shown"), PROGRESS.values(), ids=PROGRESS)
@pytest.mark.proves("spec-8.4.3-progress-says-something")
async def test_progress_is_there_only_if_it_says_something(
    serve: Serve, told: tuple[object, ...], shown: dict[str, object] | None
) -> None:
    async with reporting(serve, *told) as state:
        assert state.get("progress") == shown


# 8.4.4: states beyond the core ones


@pytest.mark.proves("spec-8.4.4-custom-states-documented", "spec-8.4.4-custom-states-map-to-core")
async def test_introspection_names_every_state_and_the_core_state_it_stands_for(aql: Aql) -> None:
    rows = (await aql.introspect("executions"))["states"]
    mapped = {row["state"]: row["maps_to"] for row in rows}
    assert [state for state, core in mapped.items() if state == core] == CORE
    assert {state: core for state, core in mapped.items() if state != core} == {
        "retrying": "running",
        "cancelling": "running",
        "stuck": "running",
    }
    assert {row["state"] for row in rows if row["terminal"]} == {"completed", "failed", "cancelled"}
    assert all(row["description"].endswith(".") for row in rows)


@pytest.mark.proves(
    "spec-8.4.4-transition-triggers-documented",
    "spec-8.4.4-cancel-from-unfinished-states",
    "spec-8.4.2-only-listed-transitions-happen",
)
async def test_introspection_tells_what_leads_from_each_state_to_another(aql: Aql) -> None:
    told = await aql.introspect("executions")
    core = {row["state"]: row["maps_to"] for row in told["states"]}
    steps = [(row["from"], row["to"]) for row in told["transitions"]]
    assert len(steps) == len(set(steps))
    assert {(core[source], core[target]) for source, target in steps if core[source] != core[target]} == LISTED
    unfinished = {row["state"] for row in told["states"] if not row["terminal"]}
    assert {source for source, target in steps if target == "cancelled"} == unfinished
    triggers = {(row["from"], row["to"]): row["trigger"] for row in told["transitions"]}
    assert all(triggers.values())
    assert "cancel_execution" in triggers["pending", "cancelled"]
    assert "cancel_execution" in triggers["running", "cancelling"]
    assert "retry_execution" in triggers["failed", "retrying"]
    assert {"cancel_execution", "retry_execution"} <= set(await aql.operation_names())


class Stubborn:
    """Work that is brought into each state in which it has not ended, and can be let go."""

    def __init__(self) -> None:
        self.adapter = Adapter("stubborn")
        self.begun = asyncio.Event()
        self.go = asyncio.Event()
        self.adapter.execute(background=Background(key="name"))(self.execute_waiting)
        self.adapter.execute(background=Background(retries=1, backoff=300))(self.execute_failing)
        self.adapter.execute(background=Background(cleanup=30))(self.execute_cleaning)
        self.adapter.execute(background=Background(cleanup=0.01), name="execute_stuck")(self.execute_cleaning)

    async def execute_waiting(self, name: str = "one") -> None:
        """Wait."""
        self.begun.set()
        await self.go.wait()

    async def execute_failing(self) -> None:
        """Fail."""
        self.begun.set()
        raise RuntimeError

    async def execute_cleaning(self) -> None:
        """Take its time to stop."""
        self.begun.set()
        try:
            await self.go.wait()
        finally:
            await self.go.wait()

    async def brought_to(self, state: str, aql: Aql) -> str:
        """The id of an execution in a state."""
        operation = {"retrying": "failing", "cancelling": "cleaning", "stuck": "stuck"}.get(state, "waiting")
        execution_id = str(data_of(await aql.execute(f"execute_{operation}"))["execution_id"])
        await self.begun.wait()
        if state == "pending":
            return str(data_of(await aql.execute("execute_waiting"))["execution_id"])
        if state in ("cancelling", "stuck"):
            data_of(await aql.execute("cancel_execution", execution_id=execution_id))
        found = await state_of(aql, execution_id)
        while found.get("state", found["status"]) != state:
            found = await state_of(aql, execution_id, 0.01)
        return execution_id


@pytest.mark.parametrize("state", ["pending", "running", "retrying", "cancelling", "stuck"])
@pytest.mark.proves("spec-8.4.4-cancel-from-unfinished-states", "spec-8.4.4-custom-states-map-to-core")
async def test_work_can_be_cancelled_from_every_state_in_which_it_has_not_ended(serve: Serve, state: str) -> None:
    stubborn = Stubborn()
    async with serve(stubborn.adapter) as aql:
        execution_id = await stubborn.brought_to(state, aql)
        found = await state_of(aql, execution_id)
        assert found["status"] == ("pending" if state == "pending" else "running")
        assert found.get("state", found["status"]) == state
        answered = data_of(await aql.execute("cancel_execution", execution_id=execution_id))
        assert answered["status"] in ("running", "cancelled")
        stubborn.go.set()
        assert (await state_of(aql, execution_id, WAIT))["status"] == "cancelled"


# 8.4.5: what introspection tells of an operation


@pytest.mark.parametrize("name", ["execute_crawl", "execute_tour", "cancel_execution", "retry_execution"])
@pytest.mark.proves("spec-8.4.5-lifecycle-states-in-introspection", "spec-8.4.4-custom-states-documented")
async def test_an_operation_that_manages_executions_tells_its_lifecycle(aql: Aql, name: str) -> None:
    details = await aql.operation(name)
    documented = [row["state"] for row in (await aql.introspect("executions"))["states"]]
    assert details["semantic_category"] == "EXECUTE"
    assert details["lifecycle"] == {
        "states": documented,
        "supports_cancel": True,
        "supports_retry": True,
        "progress_reporting": True,
    }


@pytest.mark.proves("spec-8.4.5-lifecycle-states-in-introspection")
async def test_a_lifecycle_tells_what_the_operation_really_supports(serve: Serve) -> None:
    adapter = Adapter("few")

    @adapter.execute(background=Background(retry=False))
    async def execute_once() -> None:
        """Run once, in silence."""
        raise RuntimeError

    @adapter.execute
    async def execute_now() -> None:
        """Run while the caller waits."""

    async with serve(adapter) as aql:
        lifecycle = (await aql.operation("execute_once"))["lifecycle"]
        assert (lifecycle["supports_retry"], lifecycle["progress_reporting"]) == (False, False)
        execution_id = data_of(await aql.execute("execute_once"))["execution_id"]
        assert (await state_of(aql, execution_id, WAIT))["status"] == "failed"
        error_of(await aql.execute("retry_execution", execution_id=execution_id), "CONFLICT_EXECUTION_STATE")
        assert "lifecycle" not in await aql.operation("execute_now")
        assert (await aql.introspect("operations"))["_protocol"]["capabilities"]["executions"] is True
