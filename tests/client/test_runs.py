"""Long work is started, followed, waited for and cancelled, by whatever operations a server declares for it."""

from typing import Any

import anyio
import pytest

from headgate import Adapter, Context, connect, mcp_server
from headgate.client.errors import (
    CannotFollow,
    ExecutionCancelled,
    ExecutionFailed,
    NotAql,
    NotFoundFailure,
    RateLimitFailure,
)
from tests.client.shops import Toy, details, shop

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("era", ["modern", "legacy"])
async def test_long_work_is_waited_for_with_its_progress(era: Any) -> None:
    heard: list[tuple[float, float | None, str | None]] = []
    async with connect(mcp_server(shop()), era=era) as aql:
        assert await aql.run("execute_count", to=5, progress=lambda *far: heard.append(far)) == [0, 1, 2, 3, 4]
    assert all(total in (5, None) for _, total, _ in heard)


async def test_a_long_result_is_joined() -> None:
    async with connect(shop()) as aql:
        assert await aql.run("execute_count", to=2500) == list(range(2500))


async def test_what_is_no_long_work_is_answered_at_once() -> None:
    async with connect(shop()) as aql:
        assert await aql.run("execute_reminder", {"to": "Ana"}) == "Ana is reminded"
        with pytest.raises(NotAql, match="'execute_reminder' does not answer with an execution"):
            await aql.start("execute_reminder", to="Ana")


async def test_work_is_cancelled_and_the_one_who_waits_is_told() -> None:
    async with connect(shop()) as aql:
        run = await aql.start("execute_forever")
        assert (run.ended, run.id[:5]) == (False, "exec_")
        again = aql.execution(run.id)
        assert (await again.refresh())["execution_id"] == run.id
        await run.cancel()
        with pytest.raises(ExecutionCancelled, match="was cancelled") as ended:
            await again.wait()
        assert ended.value.execution_id == run.id
        assert again.ended


async def test_work_that_fails_says_why() -> None:
    async with connect(shop()) as aql:
        with pytest.raises(ExecutionFailed, match="NOT_FOUND_RESOURCE") as ended:
            await aql.run("execute_in_vain")
    assert isinstance(ended.value.error, NotFoundFailure)
    assert ended.value.state["status"] == "failed"


def states(*told: dict[str, Any]) -> Any:
    left = list(told)

    def answer(params: dict[str, Any]) -> object:
        assert params == {"execution_id": "e1"}
        return {"execution_id": "e1", **left.pop(0)}

    return answer


START = {"execute_job": lambda _params: {"execution_id": "e1", "status": "running"}}
JOB = details("execute_job", "EXECUTE")
READ = details("get_job_status", "READ", "execution_id!")


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long was slept, which takes no time."""
    times: list[float] = []

    async def sleep(seconds: float) -> None:
        times.append(seconds)

    monkeypatch.setattr(anyio, "sleep", sleep)
    return times


async def test_a_server_of_another_kind_is_followed_by_an_operation_that_wants_the_id(slept: list[float]) -> None:
    other = details("get_task", "READ", "execution_id!", "colour!")
    heard: list[tuple[object, ...]] = []
    told = states(
        {"status": "pending"},
        {"status": "running", "progress": {"percentage": 40}},
        {"status": "running", "progress": {"percentage": 40}},
        {"status": "running", "progress": {"message": "nearly"}},
        {"status": "completed", "result": 42},
    )
    toy = Toy([JOB, other, READ], {**START, "get_job_status": told})
    async with connect(toy.server()) as aql:
        assert await aql.run("execute_job", progress=lambda *far: heard.append(far)) == 42
    assert heard == [(40, 100, None), (0, None, "nearly")]
    assert len(slept) == 4
    assert slept == sorted(slept)


async def test_a_state_without_a_result_is_the_result(slept: list[float]) -> None:
    toy = Toy([JOB, READ], {**START, "get_job_status": states({"status": "completed"})})
    async with connect(toy.server()) as aql:
        assert await aql.run("execute_job") == {"execution_id": "e1", "status": "completed"}
    assert slept == []


async def test_a_failure_without_words_is_a_failure(slept: list[float]) -> None:
    toy = Toy([JOB, READ], {**START, "get_job_status": states({"status": "failed", "error": "so"})})
    async with connect(toy.server()) as aql:
        with pytest.raises(ExecutionFailed) as ended:
            await aql.run("execute_job")
    assert (ended.value.error, slept) == (None, [])


async def test_a_result_of_its_own_operation_is_taken(slept: list[float]) -> None:
    listed = [JOB, READ, details("get_result", "READ", "execution_id!")]
    answers = {**START, "get_job_status": states({"status": "completed"}), "get_result": lambda _params: {"result": 7}}
    async with connect(Toy(listed, answers).server()) as aql:
        assert await aql.run("execute_job") == 7
    assert slept == []


async def test_a_result_in_parts_of_a_text_is_put_together() -> None:
    pages = [
        {"result": '{"a":', "page": {"of": "text", "has_next": True, "after": "5"}},
        {"result": " 1}", "page": {"of": "text", "has_next": False}},
    ]
    listed = [JOB, READ, details("get_result", "READ", "execution_id!", "first", "after")]
    answers = {
        **START,
        "get_job_status": states({"status": "completed"}),
        "get_result": lambda params: pages[1 if "after" in params else 0],
    }
    async with connect(Toy(listed, answers).server()) as aql:
        assert await aql.run("execute_job") == {"a": 1}


@pytest.mark.parametrize(("seconds", "maximum", "waited"), [(60, 60, 20), (60, 5, 5), (8, 60, 4), (60, None, 20)])
async def test_a_server_waits_no_longer_than_it_can_and_the_client_has_time_for(
    seconds: float, maximum: int | None, waited: int
) -> None:
    reader = details("get_execution", "READ", "execution_id!", "wait_seconds")
    if maximum is not None:
        reader["parameters"][1]["maximum"] = maximum
    toy = Toy([JOB, reader], {**START, "get_execution": lambda _params: {"execution_id": "e1", "status": "completed"}})
    async with connect(toy.server(), seconds=seconds) as aql:
        await aql.run("execute_job")
    assert toy.sent[-1]["params"] == {"execution_id": "e1", "wait_seconds": waited}


async def test_limits_are_waited_out(slept: list[float]) -> None:
    limit = {"success": False, "error": {"code": "RATE_LIMIT_EXCEEDED", "message": "x", "details": {}}}
    later = {"success": False, "error": {**limit["error"], "details": {"retry_after_seconds": 2}}}  # type: ignore[dict-item]
    left: list[object] = [later, {"execution_id": "e1", "status": "completed"}, limit]
    toy = Toy([JOB, READ], {**START, "get_job_status": lambda _params: left.pop(0)})
    async with connect(toy.server()) as aql:
        run = await aql.start("execute_job")
        await run.wait()
        with pytest.raises(RateLimitFailure):
            await run.refresh()
    assert slept == [2.0]


async def test_what_cannot_be_followed_is_said_plainly() -> None:
    toy = Toy([JOB, details("get_status", "READ"), {"name": "get_run", "endpoint": "read"}], START)
    async with connect(toy.server()) as aql:
        run = await aql.start("execute_job")
        with pytest.raises(CannotFollow, match="declares no operation to follow the execution 'e1' with"):
            await run.wait()
        with pytest.raises(CannotFollow, match="declares no operation to cancel the execution 'e1' with"):
            await run.cancel()


async def test_an_operation_that_tells_something_else_is_said_plainly() -> None:
    toy = Toy([JOB, READ], {**START, "get_job_status": lambda _params: "fine"})
    async with connect(toy.server()) as aql:
        with pytest.raises(CannotFollow, match="'get_job_status' does not tell the state of 'e1'"):
            await aql.run("execute_job")


async def test_a_cancel_that_answers_with_words_leaves_the_state() -> None:
    toy = Toy(
        [JOB, details("cancel_job", "EXECUTE", "execution_id!")], {**START, "cancel_job": lambda _params: "as you wish"}
    )
    async with connect(toy.server()) as aql:
        run = await aql.start("execute_job")
        assert (await run.cancel())["status"] == "running"


@pytest.mark.parametrize("era", ["modern", "legacy"])
async def test_progress_is_heard_while_the_work_goes_on(era: Any) -> None:
    heard = anyio.Event()
    adapter = Adapter("slow")

    @adapter.execute(background=True)
    async def execute_slowly(ctx: Context) -> str:
        """Go on once somebody has heard how far it is."""
        await ctx.progress(1, 2, "half of it")
        await heard.wait()
        return "done"

    @adapter.execute
    async def execute_at_once(ctx: Context) -> str:
        """Go on once somebody has heard how far it is."""
        await ctx.progress(1, 2, "half of it")
        await heard.wait()
        return "done"

    def listen(current: float, total: float | None, message: str | None) -> None:
        if (current, total, message) == (1, 2, "half of it"):
            heard.set()

    async with connect(mcp_server(adapter), era=era) as aql:
        for operation in ("execute_slowly", "execute_at_once"):
            heard = anyio.Event()
            assert await aql.run(operation, progress=listen) == "done"
