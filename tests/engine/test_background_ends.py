"""How long work ends: cancelled with time to clean up, stuck, late, tried again, in its turn."""

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import date
from typing import Any

import pytest

from headgate import Adapter, AqlError, Background, Context, Denied, Invalid, NotFound, RateLimited, Unavailable
from headgate.protocol.lifecycle import State
from tests.engine.working import LONG, Works, works

pytestmark = pytest.mark.anyio


class Stage:
    """Where work tells what becomes of it, and is held until it may go on: for threads as for the loop."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.begun = asyncio.Event()
        self.go = asyncio.Event()
        self.thread_begun = threading.Event()
        self.thread_go = threading.Event()

    def says(self, word: str) -> None:
        self.log.append(word)


@pytest.fixture
async def stage() -> Stage:
    return Stage()


def serving(function: Callable[..., Any], background: Background | bool = True) -> Adapter:
    adapter = Adapter("stage")
    adapter.execute(background=background, name="execute_play")(function)
    return adapter


# cancellation


async def test_cancellation_arrives_as_an_exception_and_leaves_time_to_clean_up(stage: Stage) -> None:
    async def play() -> None:
        """Play."""
        stage.begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            stage.says("told")
            await stage.go.wait()
            stage.says("clean")
            raise

    async with works(serving(play)) as made:
        execution_id = await made.start("execute_play")
        await stage.begun.wait()
        asked = await made.cancel(execution_id)
        assert (asked["status"], asked["state"]) == ("running", "cancelling")
        assert (await made.reaches(execution_id, "cancelling"))["execution_id"] == execution_id
        stage.go.set()
        state = await made.ended(execution_id)
        assert (state["status"], stage.log) == ("cancelled", ["told", "clean"])
        assert "error" not in state
        assert await made.code("get_execution_result", execution_id=execution_id) == "CONFLICT_EXECUTION_STATE"


async def test_work_that_reports_hears_of_its_cancellation_there(stage: Stage) -> None:
    async def play(ctx: Context) -> None:
        """Play without ever waiting for anything."""
        stage.begun.set()
        for number in range(10**9):
            await ctx.progress(number)

    async with works(serving(play)) as made:
        execution_id = await made.start("execute_play")
        await stage.begun.wait()
        await made.cancel(execution_id)
        assert (await made.ended(execution_id))["status"] == "cancelled"


async def test_work_that_swallows_its_cancellation_and_gives_a_result_has_completed(stage: Stage) -> None:
    async def play() -> str:
        """Play."""
        stage.begun.set()
        with suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        return "all the same"

    async with works(serving(play)) as made:
        execution_id = await made.start("execute_play")
        await stage.begun.wait()
        await made.cancel(execution_id)
        assert (await made.result(execution_id))["result"] == "all the same"


async def test_work_that_fails_while_it_cleans_up_is_cancelled(stage: Stage) -> None:
    async def play() -> None:
        """Play."""
        stage.begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            raise RuntimeError("the broom is broken")

    async with works(serving(play, Background(retries=3, backoff=0.01))) as made:
        execution_id = await made.start("execute_play")
        await stage.begun.wait()
        await made.cancel(execution_id)
        assert (await made.ended(execution_id))["status"] == "cancelled"


@pytest.mark.parametrize("way", ["progress", "check_cancelled"])
async def test_a_thread_hears_of_its_cancellation_where_it_asks(stage: Stage, way: str) -> None:
    def play(ctx: Context) -> None:
        """Play."""
        stage.thread_begun.set()
        try:
            while True:
                ctx.progress(1) if way == "progress" else ctx.check_cancelled()
                time.sleep(0.001)
        except asyncio.CancelledError:
            stage.says("clean")
            raise

    async with works(serving(play)) as made:
        execution_id = await made.start("execute_play")
        await asyncio.to_thread(stage.thread_begun.wait, LONG)
        await made.cancel(execution_id)
        assert (await made.ended(execution_id))["status"] == "cancelled"
        assert stage.log == ["clean"]


async def test_a_thread_that_does_not_listen_is_stuck_until_it_ends_by_itself(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    def play() -> str:
        """Play."""
        stage.thread_begun.set()
        assert stage.thread_go.wait(LONG)
        return "done"

    async with works(serving(play, Background(cleanup=0.01))) as made:
        execution_id = await made.start("execute_play")
        await asyncio.to_thread(stage.thread_begun.wait, LONG)
        await made.cancel(execution_id)
        stuck = await made.reaches(execution_id, "stuck")
        assert (stuck["status"], stuck["state"]) == ("running", "stuck")
        assert f"execution {execution_id} of 'execute_play' does not stop" in caplog.text
        again = await made.cancel(execution_id)
        assert again["state"] == "stuck", "there is no more to be said to it"
        stage.thread_go.set()
        assert (await made.result(execution_id))["result"] == "done"


async def test_async_work_that_does_not_stop_is_stuck_and_then_cancelled(stage: Stage) -> None:
    async def play() -> None:
        """Play."""
        stage.begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            await stage.go.wait()

    async with works(serving(play, Background(cleanup=0.01))) as made:
        execution_id = await made.start("execute_play")
        await stage.begun.wait()
        await made.cancel(execution_id)
        await made.reaches(execution_id, "stuck")
        stage.go.set()
        assert (await made.ended(execution_id))["status"] == "cancelled"


async def test_what_waits_for_a_thread_can_be_cancelled_while_all_are_taken(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headgate.engine.background._THREADS", 1)

    def play() -> None:
        """Play."""
        stage.says("play")
        stage.thread_begun.set()
        assert stage.thread_go.wait(LONG)

    async with works(serving(play)) as made:
        first = await made.start("execute_play")
        await asyncio.to_thread(stage.thread_begun.wait, LONG)
        second = await made.start("execute_play")
        await made.reaches(second, "running")
        await made.cancel(second)
        assert (await made.ended(second))["status"] == "cancelled"
        stage.thread_go.set()
        assert (await made.ended(first))["status"] == "completed"
        assert stage.log == ["play"]


# time


async def test_work_that_takes_too_long_is_stopped_and_has_failed(stage: Stage) -> None:
    async def play() -> None:
        """Play."""
        try:
            await asyncio.Event().wait()
        finally:
            stage.says("clean")

    async with works(serving(play, Background(timeout=0.02))) as made:
        state = await made.ended(await made.start("execute_play"))
        assert state["error"] == {
            "code": "INTERNAL_TIMEOUT",
            "message": "The work took longer than 0.02 seconds",
            "details": {"timeout_seconds": 0.02},
        }
        assert stage.log == ["clean"]


async def test_what_is_late_and_does_not_stop_is_stuck_and_then_failed(stage: Stage) -> None:
    def play() -> None:
        """Play."""
        assert stage.thread_go.wait(LONG)
        raise RuntimeError

    async with works(serving(play, Background(timeout=0.02, cleanup=0.01, retries=1, backoff=0.01))) as made:
        execution_id = await made.start("execute_play")
        await made.reaches(execution_id, "stuck")
        stage.thread_go.set()
        assert (await made.ended(execution_id))["error"]["code"] == "INTERNAL_TIMEOUT"


async def test_what_is_late_and_gives_its_result_has_completed(stage: Stage) -> None:
    async def play() -> str:
        """Play."""
        with suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        return "late"

    async with works(serving(play, Background(timeout=0.02))) as made:
        assert (await made.result(await made.start("execute_play")))["result"] == "late"


async def test_what_is_late_is_tried_again_if_that_is_declared(stage: Stage) -> None:
    async def play(ctx: Context) -> int:
        """Play."""
        if ctx.attempt == 1:
            await asyncio.Event().wait()
        return ctx.attempt

    async with works(serving(play, Background(timeout=0.05, retries=100, backoff=0.01))) as made:
        assert (await made.result(await made.start("execute_play")))["result"] > 1


# attempts


async def test_an_attempt_that_fails_is_followed_by_as_many_as_are_declared(stage: Stage) -> None:
    async def play(ctx: Context) -> None:
        """Play."""
        await ctx.progress(ctx.attempt)
        stage.says(f"attempt {ctx.attempt}")
        raise Unavailable(f"not on attempt {ctx.attempt}")

    async with works(serving(play, Background(retries=2, backoff=0.01))) as made:
        state = await made.ended(await made.start("execute_play"))
        assert (state["status"], state["attempt"]) == ("failed", 3)
        assert state["error"]["message"] == "Internal error: 'not on attempt 3'"
        assert stage.log == ["attempt 1", "attempt 2", "attempt 3"]


async def test_between_attempts_it_is_retrying_and_tells_why(stage: Stage) -> None:
    async def play() -> None:
        """Play."""
        stage.says("attempt")
        raise Unavailable("the hall is closed")

    async with works(serving(play, Background(retries=1, backoff=300))) as made:
        execution_id = await made.start("execute_play")
        state = await made.reaches(execution_id, "retrying")
        assert state["status"] == "running"
        assert state["last_error"]["message"] == "Internal error: 'the hall is closed'"
        assert "error" not in state
        assert (await made.cancel(execution_id))["status"] == "cancelled"
        assert stage.log == ["attempt"]


async def test_an_attempt_that_succeeds_leaves_no_error_behind(stage: Stage) -> None:
    async def play(ctx: Context) -> int:
        """Play."""
        if ctx.attempt < 3:
            raise RuntimeError
        return ctx.attempt

    async with works(serving(play, Background(retries=5, backoff=0.01))) as made:
        execution_id = await made.start("execute_play")
        found = await made.result(execution_id)
        assert (found["result"], found["attempt"], found["status"]) == (3, 3, "completed")
        assert not found.keys() & {"error", "last_error"}


@pytest.mark.parametrize(
    "error",
    [
        NotFound("book", "1"),
        Invalid("days", "too many"),
        Denied("no"),
        AqlError("CONFLICT_BOOK_LENT", "It is lent"),
    ],
    ids=lambda error: error.error.code,
)
async def test_what_the_caller_must_mend_is_not_tried_again(stage: Stage, error: AqlError) -> None:
    async def play() -> None:
        """Play."""
        stage.says("attempt")
        raise error

    async with works(serving(play, Background(retries=3, backoff=0.01))) as made:
        state = await made.ended(await made.start("execute_play"))
        assert state["error"]["code"] == error.error.code
        assert stage.log == ["attempt"]


async def test_a_service_that_asks_for_patience_gets_it(stage: Stage) -> None:
    async def play() -> None:
        """Play."""
        raise RateLimited(120)

    async with works(serving(play, Background(retries=1, backoff=0.01))) as made:
        before = time.time()
        execution_id = await made.start("execute_play")
        await made.reaches(execution_id, "retrying")
        known = await made.executions.ledger.find(execution_id)
        assert known is not None
        assert known.due_at is not None
        assert before + 120 <= known.due_at <= time.time() + 120


@pytest.mark.parametrize(("tries", "least", "most"), [(0, 4, 5), (1, 8, 10), (10, 300, 375)])
async def test_each_attempt_waits_twice_as_long_as_the_one_before(
    stage: Stage, tries: int, least: float, most: float
) -> None:
    async def play() -> None:
        """Play."""
        raise RuntimeError

    async with works(serving(play, Background(retries=50, backoff=4))) as made:
        execution_id = await made.start("execute_play")
        await made.reaches(execution_id, "retrying")
        before = time.time()
        changed = {"tries": tries, "due": before}
        sql = "UPDATE headgate.executions SET tries = :tries, due_at = :due"
        await made.store.transact(lambda transaction: transaction.change(sql, **changed))
        async with asyncio.timeout(LONG):
            while (known := await made.executions.ledger.find(execution_id)) is None or known.tries <= tries:
                await made.state(execution_id, wait_seconds=0.01)
        assert known.due_at is not None
        assert before + least <= known.due_at <= time.time() + most


async def test_an_attempt_that_cancels_itself_has_failed(stage: Stage) -> None:
    async def play() -> None:
        """Play."""
        raise asyncio.CancelledError

    async with works(serving(play)) as made:
        state = await made.ended(await made.start("execute_play"))
        assert (state["status"], state["error"]["code"]) == ("failed", "INTERNAL_ERROR")
        assert "cancelled itself" in state["error"]["message"]


class Whim(BaseException):
    """What nobody expects."""


BREAKS: dict[str, BaseException] = {
    "StopIteration": StopIteration("no more"),
    "SystemExit": SystemExit(3),
    "KeyboardInterrupt": KeyboardInterrupt(),
    "GeneratorExit": GeneratorExit(),
    "BaseException": Whim("whim"),
    "group": BaseExceptionGroup("several", [Whim("whim"), ValueError("v")]),
}


@pytest.mark.parametrize("error", BREAKS.values(), ids=BREAKS)
async def test_whatever_a_plain_function_raises_the_server_lives_on(
    error: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    def play() -> None:
        """Play."""
        raise error

    async with works(serving(play)) as made:
        state = await made.ended(await made.start("execute_play"))
        assert (state["status"], state["error"]["code"]) == ("failed", "INTERNAL_ERROR")
        assert any(one.levelno == logging.ERROR for one in caplog.records)


@pytest.mark.parametrize("error", BREAKS.values(), ids=BREAKS)
async def test_whatever_an_async_function_raises_the_server_lives_on(
    error: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    async def play() -> None:
        """Play."""
        raise error

    async with works(serving(play)) as made:
        state = await made.ended(await made.start("execute_play"))
        assert (state["status"], state["error"]["code"]) == ("failed", "INTERNAL_ERROR")
        assert any(one.levelno == logging.ERROR for one in caplog.records)


# turns


class Bakery:
    """Ovens that bake until they are told that the bread is done."""

    def __init__(self, **declared: Any) -> None:
        self.adapter = Adapter("bakery")
        self.baking: list[str] = []
        self.most = 0
        self.done = asyncio.Event()

        @self.adapter.execute(background=Background(**declared))
        async def execute_baking(bread: str, oven: str = "left") -> str:
            """Bake."""
            self.baking.append(bread)
            self.most = max(self.most, len(self.baking))
            try:
                await self.done.wait()
            finally:
                self.baking.remove(bread)
            return bread

    async def states(self, made: Works, ids: list[str]) -> list[str]:
        """How they are, once those run whose turn has come."""
        async with asyncio.timeout(LONG):
            while True:
                found = [await made.executions.ledger.find(one) for one in ids]
                if all(one and (not one.ready or one.state is State.RUNNING) for one in found):
                    return [one.state.value for one in found if one]
                await made.state(ids[0], wait_seconds=0.01)


async def test_no_more_run_at_once_than_are_declared_and_the_oldest_comes_first() -> None:
    bakery = Bakery(concurrency=2)
    async with works(bakery.adapter) as made:
        ids = [await made.start("execute_baking", bread=f"b{number}") for number in range(5)]
        assert await bakery.states(made, ids) == ["running", "running", "pending", "pending", "pending"]
        await made.cancel(ids[0])
        await made.reaches(ids[2], "running")
        assert await bakery.states(made, ids) == ["cancelled", "running", "running", "pending", "pending"]
        bakery.done.set()
        assert [(await made.ended(one))["status"] for one in ids[1:]] == ["completed"] * 4
        assert bakery.most == 2


async def test_of_each_key_one_runs_at_a_time() -> None:
    bakery = Bakery(key="oven")
    async with works(bakery.adapter) as made:
        wanted = [("rye", "left"), ("oat", "right"), ("bun", "left"), ("pie", "right")]
        ids = [await made.start("execute_baking", bread=bread, oven=oven) for bread, oven in wanted]
        assert await bakery.states(made, ids) == ["running", "running", "pending", "pending"]
        await made.cancel(ids[0])
        await made.reaches(ids[2], "running")
        assert await bakery.states(made, ids) == ["cancelled", "running", "running", "pending"]
        bakery.done.set()
        assert [(await made.ended(one))["status"] for one in ids[1:]] == ["completed"] * 3


async def test_a_value_that_is_left_out_is_the_same_key_as_its_default() -> None:
    bakery = Bakery(key="oven")
    async with works(bakery.adapter) as made:
        first = await made.start("execute_baking", bread="rye")
        second = await made.start("execute_baking", bread="oat", oven="left")
        assert await bakery.states(made, [first, second]) == ["running", "pending"]
        await made.cancel(second)


@pytest.mark.parametrize(
    ("default", "given"), [(None, None), (7, 7), (date(2026, 2, 4), "2026-02-04")], ids=["null", "number", "date"]
)
async def test_so_it_is_with_defaults_of_every_kind(stage: Stage, default: Any, given: Any) -> None:
    kind = type(default)

    async def play(what: kind | None = default) -> None:  # type: ignore[valid-type]
        """Play."""
        await stage.go.wait()

    async with works(serving(play, Background(key="what"))) as made:
        first = await made.start("execute_play")
        second = await made.start("execute_play", what=given)
        found = [await made.executions.ledger.find(one) for one in (first, second)]
        assert [one.ready for one in found if one] == [True, False]
        stage.go.set()
        assert (await made.ended(second))["status"] == "completed"


async def test_a_key_of_two_parameters_is_both_together() -> None:
    bakery = Bakery(key=("bread", "oven"))
    async with works(bakery.adapter) as made:
        wanted = [("rye", "left"), ("rye", "right"), ("rye", "left")]
        ids = [await made.start("execute_baking", bread=bread, oven=oven) for bread, oven in wanted]
        assert await bakery.states(made, ids) == ["running", "running", "pending"]
        await made.cancel(ids[2])


async def test_what_is_retried_has_its_place_until_it_has_ended(stage: Stage) -> None:
    async def play(ctx: Context, who: str) -> None:
        """Play."""
        stage.says(f"{who} {ctx.attempt}")
        if who == "ann":
            raise Unavailable("she is late")

    async with works(serving(play, Background(concurrency=1, retries=1, backoff=0.05))) as made:
        first = await made.start("execute_play", who="ann")
        second = await made.start("execute_play", who="bob")
        assert (await made.ended(first))["status"] == "failed"
        assert (await made.ended(second))["status"] == "completed"
        assert stage.log == ["ann 1", "ann 2", "bob 1"]
