"""Long work as its author and its caller see it (Spec 8.4): started at once, watched, and its result found."""

import asyncio
import contextvars
import logging
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Annotated, Any

import pytest

from headgate import Adapter, Background, Binary, Caller, Context, Engine, NotFound, Param, Session
from headgate.engine.events import Event
from tests.engine.asking import ask
from tests.engine.working import LONG, Works, works

pytestmark = pytest.mark.anyio


class Press:
    """A press that prints until it is told that it is done."""

    def __init__(self) -> None:
        self.adapter = Adapter("press")
        self.begun = asyncio.Event()
        self.done = asyncio.Event()
        self.seen: list[Any] = []

        @self.adapter.execute(background=True)
        async def execute_printing(ctx: Context, pages: int = 3) -> dict[str, int]:
            """Print something."""
            self.seen.append(ctx)
            await ctx.progress(1, pages, "the first page")
            self.begun.set()
            await self.done.wait()
            return {"pages": pages}

        @self.adapter.read
        async def get_pages() -> int:
            """Get how many pages were printed."""
            return len(self.seen)


@pytest.fixture
async def press() -> Press:
    return Press()


@pytest.fixture
async def shop(press: Press) -> AsyncIterator[Works]:
    async with works(press.adapter) as made:
        yield made


# starting


async def test_a_call_is_answered_with_the_state_of_what_it_has_started(press: Press, shop: Works) -> None:
    before = datetime.now(UTC).replace(microsecond=0)
    state = await shop.call("execute_printing", pages=5)
    assert set(state) == {"execution_id", "status", "operation", "created_at"}
    assert (state["status"], state["operation"]) == ("pending", "execute_printing")
    assert before <= datetime.fromisoformat(state["created_at"]) <= datetime.now(UTC)
    await press.begun.wait()
    running = await shop.state(state["execution_id"])
    assert running == {
        **state,
        "status": "running",
        "started_at": running["started_at"],
        "progress": {"percentage": 20, "current": 1, "total": 5, "message": "the first page"},
    }
    press.done.set()
    done = await shop.ended(state["execution_id"])
    assert done == {**running, "status": "completed", "finished_at": done["finished_at"]}
    assert (await shop.result(state["execution_id"]))["result"] == {"pages": 5}


async def test_each_start_is_another_execution(press: Press, shop: Works) -> None:
    press.done.set()
    ids = [await shop.start("execute_printing", pages=number) for number in (1, 2, 3)]
    assert len(set(ids)) == 3
    assert ids == sorted(ids), "in the order of their start"
    assert [(await shop.result(one))["result"]["pages"] for one in ids] == [1, 2, 3]


async def test_what_is_wrong_with_a_call_is_said_before_anything_starts(press: Press, shop: Works) -> None:
    assert await shop.code("execute_printing", pages="many") == "VALIDATION_INVALID_TYPE"
    assert await shop.code("execute_printing", sheets=1) == "VALIDATION_UNKNOWN_PARAM"
    assert (await shop.call("list_executions"))["items"] == []


async def test_a_dry_run_starts_nothing(press: Press, shop: Works) -> None:
    tried = await shop.call("execute_printing", pages=2, dry_run=True)
    assert tried == {
        "dry_run": True,
        "affected": None,
        "would_run": {"operation": "execute_printing", "params": {"pages": 2}},
    }
    assert (await shop.call("list_executions"))["items"] == []
    assert press.seen == []


async def test_a_function_with_a_dry_run_of_its_own_is_asked_at_once_and_started_otherwise() -> None:
    adapter = Adapter("sweep")
    swept: list[bool] = []

    @adapter.execute(background=True)
    async def execute_sweep(dry_run: bool = False) -> dict[str, int]:
        """Sweep."""
        swept.append(dry_run)
        return {"affected": 7}

    async with works(adapter) as made:
        assert await made.call("execute_sweep", dry_run=True) == {"affected": 7}
        assert (await made.call("list_executions"))["items"] == []
        assert (await made.result(await made.start("execute_sweep")))["result"] == {"affected": 7}
        assert swept == [True, False]


async def test_a_batch_starts_work_like_a_call(press: Press, shop: Works) -> None:
    press.done.set()
    items = [{"operation": "execute_printing", "params": {"pages": number}} for number in (1, 2)]
    envelope = await shop.ask({"operations": items})
    assert envelope["summary"] == {"total": 2, "succeeded": 2, "failed": 0}
    ids = [item["result"]["data"]["execution_id"] for item in envelope["results"]]
    assert [(await shop.result(one))["result"]["pages"] for one in ids] == [1, 2]


async def test_other_calls_are_answered_while_work_goes_on(press: Press, shop: Works) -> None:
    await shop.start("execute_printing")
    await press.begun.wait()
    assert await shop.call("get_pages") == 1


async def test_an_engine_without_a_store_keeps_its_executions_in_memory(press: Press) -> None:
    press.done.set()
    engine = Engine(press.adapter)
    assert engine.executions is not None
    started = (await ask(engine, "execute_printing"))["data"]
    result = await ask(engine, "get_execution_result", execution_id=started["execution_id"], wait_seconds=LONG)
    assert result["data"]["result"] == {"pages": 3}
    await engine.executions.close()
    await engine.executions.ledger.store.close()


async def test_an_adapter_without_long_work_has_nothing_of_it() -> None:
    adapter = Adapter("plain")

    @adapter.read
    async def get_execution(execution_id: str) -> str:
        """Get an execution of one's own."""
        return execution_id

    engine = Engine(adapter)
    assert engine.executions is None
    assert (await ask(engine, "get_execution", execution_id="mine"))["data"] == "mine"
    protocol = (await ask(engine, "introspect", query="operations"))["data"]["_protocol"]
    assert protocol["capabilities"]["executions"] is False


# what the function is given


async def test_a_function_knows_its_execution_its_attempt_and_its_caller(press: Press, shop: Works) -> None:
    ann = Caller("ann", "client", frozenset({"print"}), "host")
    execution_id = await shop.start("execute_printing", caller=ann)
    await press.begun.wait()
    [context] = press.seen
    assert (context.execution_id, context.attempt, context.operation) == (execution_id, 1, "execute_printing")
    assert context.caller == ann


async def test_a_function_outlives_the_session_that_started_it(press: Press, shop: Works) -> None:
    session = Session()
    session.state["open"] = "file"
    started = await shop.ask({"operation": "execute_printing"}, session=session)
    await press.begun.wait()
    [context] = press.seen
    assert context.session.id == session.id
    assert context.session.state == {}, "what was kept for a session is not the execution's"
    session.end()
    press.done.set()
    assert (await shop.ended(started["data"]["execution_id"]))["status"] == "completed"


USER: contextvars.ContextVar[str] = contextvars.ContextVar("user", default="nobody")


@contextmanager
def variable(value: str) -> Iterator[None]:
    token = USER.set(value)
    try:
        yield
    finally:
        USER.reset(token)


async def test_a_function_inherits_no_variables_of_its_caller() -> None:
    adapter = Adapter("inheriting")

    @adapter.execute(background=True)
    async def execute_async() -> str:
        """Tell the variable."""
        return USER.get()

    @adapter.execute(background=True)
    def execute_plain() -> str:
        """Tell the variable."""
        return USER.get()

    async with works(adapter) as made:
        with variable("ann"):
            ids = [await made.start("execute_async"), await made.start("execute_plain")]
        assert [(await made.result(one))["result"] for one in ids] == ["nobody", "nobody"]


async def test_parameters_arrive_as_they_would_without_a_background() -> None:
    adapter = Adapter("typed")

    @adapter.execute(background=True)
    def execute_typed(day: date, price: Decimal, file_content: Binary, words: tuple[str, ...] = ("a",)) -> list[Any]:
        """Tell the types."""
        kinds = [type(one).__name__ for one in (day, price, file_content, words)]
        return [*kinds, day, price, file_content.data, words]

    async with works(adapter) as made:
        execution_id = await made.start(
            "execute_typed", day="2026-02-04", price="1.50", file_content="AAE=", file_mime_type="image/png"
        )
        result = (await made.result(execution_id))["result"]
        assert result[:4] == ["date", "Decimal", "Binary", "tuple"]
        assert result[4:6] == ["2026-02-04", "1.50"]
        assert result[6]["content"] == "AAE="
        assert result[7] == ["a"]


async def test_a_plain_function_runs_in_a_thread_of_its_own() -> None:
    adapter = Adapter("threads")

    @adapter.execute(background=True)
    def execute_blocking(ctx: Context) -> str:
        """Block."""
        ctx.progress(1, 2, "halfway")
        reported.set()
        assert go.wait(LONG)
        return threading.current_thread().name

    reported, go = threading.Event(), threading.Event()
    async with works(adapter) as made:
        execution_id = await made.start("execute_blocking")
        await asyncio.to_thread(reported.wait, LONG)
        state = await made.state(execution_id)
        assert state["progress"] == {"percentage": 50, "current": 1, "total": 2, "message": "halfway"}
        go.set()
        assert (await made.result(execution_id))["result"] != threading.main_thread().name


async def test_a_plain_function_may_await_its_progress_in_a_loop_of_its_own() -> None:
    adapter = Adapter("loops")

    async def walk(ctx: Context) -> int:
        for step in range(3):
            await ctx.progress(step + 1, 3)
        return 3

    @adapter.execute(background=True)
    def execute_walk(ctx: Context) -> int:
        """Walk."""
        return asyncio.run(walk(ctx))

    async with works(adapter) as made:
        execution_id = await made.start("execute_walk")
        assert (await made.result(execution_id))["result"] == 3
        assert (await made.state(execution_id))["progress"]["percentage"] == 100


# progress


async def told(told_of: Callable[[Context], Any]) -> dict[str, Any] | None:
    """The progress in the state of work that has told so much and then ended."""
    adapter = Adapter("telling")

    @adapter.execute(background=True)
    async def execute_telling(ctx: Context) -> None:
        """Tell."""
        await told_of(ctx)

    async with works(adapter) as made:
        found = (await made.ended(await made.start("execute_telling"))).get("progress")
        assert found is None or isinstance(found, dict)
        return found


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ((1, 4, "one"), {"percentage": 25, "current": 1, "total": 4, "message": "one"}),
        ((2.5, 10), {"percentage": 25, "current": 2.5, "total": 10}),
        ((9, 4), {"percentage": 100, "current": 9, "total": 4}),
        ((-1, 4), {"percentage": 0, "current": -1, "total": 4}),
        ((3, 0), {"current": 3, "total": 0}),
        ((3, -4), {"current": 3, "total": -4}),
        ((3,), {"current": 3}),
        ((None, 9), {"total": 9}),
        ((None, None, "thinking"), {"message": "thinking"}),
        ((float("nan"), float("inf")), None),
        ((), None),
    ],
    ids=str,
)
async def test_progress_is_shown_as_far_as_it_says_something(
    said: tuple[Any, ...], shown: dict[str, Any] | None
) -> None:
    assert await told(lambda ctx: ctx.progress(*said)) == shown


async def test_the_latest_progress_counts() -> None:
    async def twice(ctx: Context) -> None:
        await ctx.progress(1, 2, "first")
        await ctx.progress(2, 2)

    assert await told(twice) == {"percentage": 100, "current": 2, "total": 2}


async def test_progress_is_written_down_while_the_work_goes_on(press: Press, shop: Works) -> None:
    execution_id = await shop.start("execute_printing")
    await press.begun.wait()
    async with asyncio.timeout(LONG):
        while (found := await shop.executions.ledger.find(execution_id)) is None or found.done is None:
            await shop.state(execution_id, wait_seconds=0.01)
    assert (found.done, found.total, found.message) == (1, 3, "the first page")


async def test_whoever_waits_for_the_end_hears_of_progress_meanwhile(press: Press, shop: Works) -> None:
    heard: list[tuple[float, float | None, str | None]] = []

    async def hear(current: float, total: float | None, message: str | None) -> None:
        heard.append((current, total, message))
        press.done.set()

    execution_id = await shop.start("execute_printing")
    await press.begun.wait()
    arguments = {"operation": "get_execution", "params": {"execution_id": execution_id, "wait_seconds": LONG}}
    reply = await shop.engine.call(arguments, progress=hear)
    assert '"status":"completed"' in reply.text
    assert heard == [(1, 3, "the first page")], "each step is told once"


async def test_a_plain_function_that_a_caller_waits_for_tells_its_progress_too() -> None:
    heard: list[tuple[float, float | None, str | None]] = []
    adapter = Adapter("plain")

    @adapter.execute
    def execute_step(ctx: Context) -> list[object]:
        """Take a step."""
        ctx.check_cancelled()
        ctx.progress(message="nothing that MCP has a place for")
        ctx.progress(1, 2, "half")
        return [ctx.execution_id, ctx.attempt]

    async def hear(current: float, total: float | None, message: str | None) -> None:
        heard.append((current, total, message))

    reply = await Engine(adapter).call({"operation": "execute_step"}, progress=hear)
    assert reply.text == '{"success":true,"data":[null,1]}'
    assert heard == [(1, 2, "half")]


# what comes of it


@dataclass
class Point:
    x: float


def giving(value: Any, warning: bool = False) -> Adapter:
    adapter = Adapter("giving")

    @adapter.execute(background=True)
    async def execute_gift(ctx: Context) -> Any:
        """Give something."""
        if warning:
            ctx.warn("GIFT_WARNING", "It is fragile", severity="low", layer=2)
        return value

    @adapter.read
    async def get_gift() -> Any:
        """Get the same at once."""
        return value

    return adapter


GIFTS = [
    None,
    True,
    "é\n",
    2**60,
    Decimal("1.10"),
    datetime(2026, 2, 4, 10, 30, tzinfo=UTC),
    {"a": [1, {"b": None}], "c": (1, Decimal(2))},
    [],
    [None, 1, "x", {"y": [date(2026, 2, 4)]}],
    (1, 2),
    {3, 4},
    b"\x00\x01",
    [b"\x00"],
    float("nan"),
    Point(1.5),
    [Point(0.0)],
]


@pytest.mark.parametrize("value", GIFTS, ids=repr)
async def test_a_result_is_what_the_call_would_have_answered(value: Any) -> None:
    async with works(giving(value)) as made:
        found = await made.result(await made.start("execute_gift"))
        assert found["result"] == await made.call("get_gift")
        assert "page" not in found


async def test_warnings_of_the_function_come_with_its_result() -> None:
    async with works(giving(1, warning=True)) as made:
        execution_id = await made.start("execute_gift")
        await made.ended(execution_id)
        envelope = await made.ask({"operation": "get_execution_result", "params": {"execution_id": execution_id}})
        assert envelope["warnings"] == [
            {"code": "GIFT_WARNING", "message": "It is fragile", "details": {"layer": 2}, "severity": "low"}
        ]


class Odd:
    """Something that has no JSON form."""


async def test_what_has_no_json_form_is_an_error_that_the_log_explains(caplog: pytest.LogCaptureFixture) -> None:
    async with works(giving(Odd())) as made:
        started = await made.ask({"operation": "execute_gift"})
        state = await made.ended(started["data"]["execution_id"])
        assert (state["status"], state["error"]["code"]) == ("failed", "INTERNAL_ERROR")
        assert "Odd" not in str(state)
        [record] = [one for one in caplog.records if one.levelno == logging.ERROR]
        assert state["execution_id"] in record.getMessage()
        assert "Odd" in record.getMessage()


async def test_an_unexpected_error_is_told_in_the_log_and_nowhere_else(caplog: pytest.LogCaptureFixture) -> None:
    adapter = Adapter("broken")

    @adapter.execute(background=True)
    async def execute_break() -> None:
        """Break."""
        raise LookupError("/srv/private/words")

    async with works(adapter) as made:
        state = await made.ended(await made.start("execute_break"))
        assert state["error"]["code"] == "INTERNAL_ERROR"
        assert "private" not in str(state)
        assert "private" not in str(await made.call("list_executions", fields=["error"]))
        told = [one.getMessage() for one in caplog.records if one.levelno == logging.ERROR]
        assert len(told) == 1
        assert "/srv/private/words" in told[0]
        assert state["error"]["details"]["request_id"].startswith("req_")


async def test_an_error_of_the_author_is_kept_with_its_details() -> None:
    adapter = Adapter("missing")

    @adapter.execute(background=True)
    async def execute_search(name: str) -> None:
        """Search."""
        raise NotFound("book", name)

    async with works(adapter) as made:
        execution_id = await made.start("execute_search", name="Emma")
        error = (await made.ended(execution_id))["error"]
        assert (error["code"], error["details"]["resource_id"]) == ("NOT_FOUND_RESOURCE", "Emma")
        refused = await made.error("get_execution_result", execution_id=execution_id)
        assert refused["code"] == "CONFLICT_EXECUTION_STATE"
        assert refused["details"] == {"execution_id": execution_id, "status": "failed", "error": error}


# secrets

PIN = "K3Y-hunter-2"


def vault() -> Adapter:
    adapter = Adapter("vault")

    @adapter.execute(background=True)
    async def execute_refusal(pin: Annotated[str, Param(sensitive=True)], hint: str = "") -> None:
        """Refuse, and tell more than one should."""
        raise NotFound("pin", pin)

    @adapter.execute(background=True)
    async def execute_breaking(pin: Annotated[str, Param(sensitive=True)]) -> None:
        """Break, and tell more than one should."""
        raise RuntimeError(f"the pin was {pin}")

    @adapter.execute(background=True)
    async def execute_opening(pin: Annotated[str, Param(sensitive=True)]) -> int:
        """Open."""
        return len(pin)

    return adapter


@pytest.mark.parametrize("operation", ["execute_refusal", "execute_breaking", "execute_opening"])
async def test_a_secret_is_nowhere_to_be_seen(operation: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    heard: list[Event] = []
    async with works(vault(), listeners=[heard.append]) as made:
        execution_id = await made.start(operation, pin=PIN)
        shown = [await made.ended(execution_id), await made.call("list_executions", fields=["error", "status"])]
        kept = await made.executions.ledger.find(execution_id)
        assert kept is not None
        assert PIN not in str(shown)
        assert PIN not in str(kept), "not even in the store"
        assert PIN not in caplog.text
        assert PIN not in str(heard)


async def test_a_secret_that_another_process_may_need_is_kept_until_the_end_and_no_longer() -> None:
    adapter = Adapter("safe")
    begun, go = asyncio.Event(), asyncio.Event()

    @adapter.execute(background=Background(interrupted="resume"))
    async def execute_guarding(pin: Annotated[str, Param(sensitive=True)]) -> int:
        """Guard."""
        begun.set()
        await go.wait()
        return len(pin)

    async with works(adapter) as made:
        execution_id = await made.start("execute_guarding", pin=PIN)
        await begun.wait()
        kept = await made.executions.ledger.find(execution_id)
        assert kept is not None
        assert PIN in kept.params
        assert PIN not in kept.about
        go.set()
        assert (await made.result(execution_id))["result"] == len(PIN)
        assert PIN not in str(await made.executions.ledger.find(execution_id))


async def test_a_secret_reaches_the_function() -> None:
    async with works(vault()) as made:
        assert (await made.result(await made.start("execute_opening", pin=PIN)))["result"] == len(PIN)
