"""A process that works on executions: attempts and their ends, what it hears, what it leaves, what it finds."""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio
import pytest

from headgate.adapter.background import Background
from headgate.executions import host as hosts
from headgate.executions.desks import Desk, Stop
from headgate.executions.host import Failed, Host, Pace
from headgate.executions.ledger import Ledger
from headgate.executions.places import is_dead
from headgate.executions.results import Cut
from headgate.executions.values import Outcome
from headgate.protocol.lifecycle import State
from headgate.store.drivers.base import Transaction
from headgate.store.executions import Execution, Progress
from headgate.store.interface import StoreError
from headgate.store.opening import open_store
from headgate.store.sql import SqlStore
from tests.executions.books import (
    ADAPTER,
    BROKEN,
    HASTY,
    WORKER,
    added,
    begun,
    brought,
    code_of,
    found,
    hosted,
    kept_pieces,
    ledger_of,
    made,
    named,
    reached,
    result,
    running,
    until,
)

pytestmark = pytest.mark.anyio

ENDS = (State.COMPLETED, State.FAILED, State.CANCELLED)


@pytest.fixture
async def memory() -> AsyncIterator[SqlStore]:
    store = open_store("memory:")
    yield store
    await store.close()


@pytest.fixture
def ledger(memory: SqlStore) -> Ledger:
    """Executions in memory, in true time."""
    return Ledger(memory)


async def at_once(_desk: Desk) -> Cut:
    return result("done")


class Work:
    """What an operation does, and how it is let go on."""

    def __init__(self, *, stubborn: bool = False) -> None:
        self.desks: list[Desk] = []
        self.may_end = asyncio.Event()
        self.stubborn = stubborn

    async def __call__(self, desk: Desk) -> Cut:
        self.desks.append(desk)
        while True:
            try:
                await self.may_end.wait()
                return result("done")
            except asyncio.CancelledError:
                if not self.stubborn:
                    raise

    async def is_begun(self, times: int = 1) -> None:
        async def has_desks() -> bool:
            return len(self.desks) >= times

        await until(has_desks, f"that attempt {times} begins")


async def given(ledger: Ledger, host: Host, background: Background | None = None, **more: Any) -> Execution:
    """An execution that a host has begun to work on."""
    execution = await added(ledger, background, worker=host.id, **more)
    if execution.ready:
        host.take(execution.id)
    return execution


async def ended(ledger: Ledger, execution: Execution) -> Execution:
    return await reached(ledger, execution, *ENDS)


# attempts


async def test_an_execution_that_is_taken_is_done_and_its_result_kept(ledger: Ledger) -> None:
    async with hosted(ledger) as host:
        execution = await given(ledger, host)
        end = host.end_of(execution.id)
        assert end is not None
        await end.wait()
        done = await found(ledger, execution)
        assert (done.state, done.attempt, done.worker) == (State.COMPLETED, 1, host.id)
        assert host.end_of(execution.id) is None
        assert host.running == 0


async def test_what_is_taken_twice_is_done_once(ledger: Ledger) -> None:
    work = Work()
    async with hosted(ledger, work) as host:
        execution = await given(ledger, host)
        host.take(execution.id)
        await work.is_begun()
        host.take(execution.id)
        work.may_end.set()
        assert (await ended(ledger, execution)).attempt == 1
        assert len(work.desks) == 1


async def test_what_was_begun_elsewhere_is_worked_on_to_its_end(ledger: Ledger) -> None:
    """As by what takes jobs from a queue."""
    async with hosted(ledger) as host:
        execution = await ledger.begin((await added(ledger, worker=host.id)).id, host.id)
        assert execution is not None
        await host.work(execution)
        assert (await found(ledger, execution)).state is State.COMPLETED


async def test_a_failure_is_kept_with_the_progress_that_was_reached(ledger: Ledger) -> None:
    async def work(desk: Desk) -> Cut:
        desk.report(3, 10, "on the third")
        raise Failed(BROKEN)

    async with hosted(ledger, work) as host:
        failed = await ended(ledger, await given(ledger, host))
        assert (failed.state, code_of(failed)) == (State.FAILED, BROKEN.code)
        assert failed.progress == Progress(3, 10, "on the third")


async def test_another_attempt_follows_as_often_as_declared(ledger: Ledger) -> None:
    attempts: list[tuple[int, int]] = []

    async def work(desk: Desk) -> Cut:
        attempts.append((desk.execution.attempt, desk.execution.tries))
        raise Failed(BROKEN)

    async with hosted(ledger, work) as host:
        failed = await ended(ledger, await given(ledger, host, Background(retries=2, backoff=0.001)))
        assert attempts == [(1, 0), (2, 1), (3, 2)]
        assert (failed.state, failed.attempt, code_of(failed)) == (State.FAILED, 3, BROKEN.code)


async def test_what_cannot_pass_is_not_tried_again(ledger: Ledger) -> None:
    async def work(desk: Desk) -> Cut:
        raise Failed(BROKEN, may_pass=False)

    async with hosted(ledger, work) as host:
        failed = await ended(ledger, await given(ledger, host, Background(retries=5, backoff=0.001)))
        assert (failed.state, failed.attempt) == (State.FAILED, 1)


@pytest.mark.parametrize(
    ("tries", "retry_after", "least"), [(0, 0.0, 2.0), (2, 0.0, 8.0), (9, 0.0, 300.0), (0, 77, 77)]
)
async def test_each_attempt_waits_twice_as_long_and_at_least_as_long_as_was_asked_for(
    ledger: Ledger, tries: int, retry_after: float, least: float
) -> None:
    async def work(desk: Desk) -> Cut:
        raise Failed(BROKEN, retry_after=retry_after)

    async with hosted(ledger, work) as host:
        before = ledger.clock()
        execution = await given(ledger, host, Background(retries=20, backoff=2.0), tries=tries)
        waiting = await reached(ledger, execution, State.RETRYING)
        assert waiting.due_at is not None
        assert before + least <= waiting.due_at <= ledger.clock() + least * 1.25
        assert (waiting.tries, code_of(waiting)) == (tries + 1, BROKEN.code)


BREAKS = {
    "an error": (ValueError("no"), "INTERNAL_INTERRUPTED"),
    "its own stop": (asyncio.CancelledError(), "INTERNAL_ERROR"),
}


@pytest.mark.parametrize(("raised", "code"), BREAKS.values(), ids=BREAKS)
async def test_work_that_breaks_off_by_itself_has_failed(ledger: Ledger, raised: BaseException, code: str) -> None:
    async def work(desk: Desk) -> Cut:
        raise raised

    async with hosted(ledger, work) as host:
        failed = await ended(ledger, await given(ledger, host))
        assert (failed.state, code_of(failed)) == (State.FAILED, code)


async def test_who_ends_makes_room_and_the_next_begins_at_once(ledger: Ledger) -> None:
    work = Work()
    async with hosted(ledger, work, pace=Pace(idle=60, busy=60, beat=60)) as host:
        one = Background(concurrency=1)
        await ledger.beat(named("work_b"))
        first, second = [await given(ledger, host, one) for _ in range(2)]
        others = await added(ledger, one, worker="work_b")
        await work.is_begun()
        work.may_end.set()
        for execution in (first, second):
            assert (await ended(ledger, execution)).state is State.COMPLETED
        left = await found(ledger, others)
        assert (left.state, left.ready, left.worker) == (State.PENDING, True, "work_b")


async def test_progress_is_written_down_while_the_work_goes_on(ledger: Ledger) -> None:
    work = Work()
    async with hosted(ledger, work) as host:
        execution = await given(ledger, host)
        await work.is_begun()
        desk = host.desk_of(execution.id)
        assert desk is not None
        desk.report(1, 2, "half")

        async def is_written() -> bool:
            return (await found(ledger, execution)).progress == Progress(1, 2, "half")

        await until(is_written)
        assert (await found(ledger, execution)).state is State.RUNNING
        work.may_end.set()
        assert (await ended(ledger, execution)).progress == Progress(1, 2, "half")


# stopping


async def test_work_that_is_told_to_stop_has_stopped(ledger: Ledger) -> None:
    work = Work()
    async with hosted(ledger, work) as host:
        execution = await given(ledger, host)
        await work.is_begun()
        await ledger.ask_to_stop(execution.id, "ann")
        host.tell_to_stop(execution.id)
        assert (await ended(ledger, execution)).state is State.CANCELLED
        host.tell_to_stop(execution.id)  # which is nobody's any more


async def test_a_wish_from_another_process_is_heard(ledger: Ledger) -> None:
    work = Work()
    async with hosted(ledger, work) as host:
        execution = await given(ledger, host)
        await work.is_begun()
        await ledger.ask_to_stop(execution.id, "ann")
        assert (await ended(ledger, execution)).state is State.CANCELLED


async def test_the_end_of_a_session_fails_what_is_declared_so(ledger: Ledger) -> None:
    work = Work()
    async with hosted(ledger, work) as host:
        execution = await given(ledger, host, Background(session="fail"), session="sess_1", origin=host.id)
        await work.is_begun()
        await ledger.end_session("sess_1")
        failed = await ended(ledger, execution)
        assert (failed.state, code_of(failed)) == (State.FAILED, "INTERNAL_SESSION_ENDED")


async def test_work_that_was_done_before_it_could_stop_has_completed(ledger: Ledger) -> None:
    async def work(desk: Desk) -> Cut:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            return result("done after all")
        raise AssertionError

    async with hosted(ledger, work) as host:
        execution = await given(ledger, host)
        await reached(ledger, execution, State.RUNNING)
        await ledger.ask_to_stop(execution.id, "ann")
        assert (await ended(ledger, execution)).state is State.COMPLETED


@pytest.mark.parametrize("retries", [0, 3])
async def test_work_that_fails_before_it_hears_that_it_is_to_stop_is_cancelled(ledger: Ledger, retries: int) -> None:
    async def work(desk: Desk) -> Cut:
        await ledger.ask_to_stop(desk.execution.id, "ann")
        raise Failed(BROKEN)

    async with hosted(ledger, work, pace=Pace(busy=60, idle=60)) as host:
        execution = await given(ledger, host, Background(retries=retries, backoff=0.001))
        cancelled = await ended(ledger, execution)
        assert (cancelled.state, cancelled.attempt) == (State.CANCELLED, 1)


async def test_work_that_does_not_stop_is_stuck_and_may_still_end(
    ledger: Ledger, caplog: pytest.LogCaptureFixture
) -> None:
    work = Work(stubborn=True)
    async with hosted(ledger, work) as host:
        execution = await given(ledger, host, Background(cleanup=0.01))
        await work.is_begun()
        await ledger.ask_to_stop(execution.id, "ann")
        await reached(ledger, execution, State.STUCK)
        assert "does not stop" in caplog.text
        assert host.running == 1, "it takes up its place"
        work.may_end.set()
        assert (await ended(ledger, execution)).state is State.COMPLETED


async def test_work_that_does_not_stop_is_forced_where_there_is_a_way(ledger: Ledger) -> None:
    forced = asyncio.Event()

    async def work(desk: Desk) -> Cut:
        desk.stops_by(lambda: None, forced.set)
        await forced.wait()
        raise asyncio.CancelledError

    async with hosted(ledger, work) as host:
        execution = await given(ledger, host, Background(cleanup=0.01))
        await reached(ledger, execution, State.RUNNING)
        await ledger.ask_to_stop(execution.id, "ann")
        assert (await ended(ledger, execution)).state is State.CANCELLED


async def test_work_that_takes_too_long_fails_and_says_so(ledger: Ledger) -> None:
    async with hosted(ledger, Work()) as host:
        failed = await ended(ledger, await given(ledger, host, Background(timeout=0.01)))
        assert (failed.state, code_of(failed)) == (State.FAILED, "INTERNAL_TIMEOUT")
        assert "0.01 seconds" in str(failed.error)


async def test_work_that_takes_too_long_is_tried_again_where_declared(ledger: Ledger) -> None:
    work = Work()
    async with hosted(ledger, work) as host:
        execution = await given(ledger, host, Background(timeout=0.01, retries=1, backoff=0.001))
        failed = await ended(ledger, execution)
        assert (failed.state, failed.attempt, len(work.desks)) == (State.FAILED, 2, 2)


@pytest.mark.parametrize(
    ("is_asked", "state", "code"),
    [(False, State.FAILED, "INTERNAL_TIMEOUT"), (True, State.CANCELLED, None)],
    ids=["nobody asks", "somebody asks"],
)
async def test_what_is_stuck_after_its_time_ends_when_it_stops_and_is_not_tried_again(
    ledger: Ledger, is_asked: bool, state: State, code: str | None
) -> None:
    gone = asyncio.Event()

    async def work(desk: Desk) -> Cut:
        while not gone.is_set():
            try:
                await gone.wait()
            except asyncio.CancelledError:
                continue
        raise Failed(BROKEN)

    async with hosted(ledger, work) as host:
        execution = await given(ledger, host, Background(timeout=0.01, cleanup=0.01, retries=3, backoff=0.001))
        await reached(ledger, execution, State.STUCK)
        if is_asked:
            await ledger.ask_to_stop(execution.id, "ann")
        gone.set()
        over = await ended(ledger, execution)
        assert (over.state, code_of(over), over.attempt) == (state, code, 1)


async def test_a_wish_to_stop_is_heard_between_two_signs_of_life(ledger: Ledger) -> None:
    work = Work()
    async with hosted(ledger, work, pace=Pace(busy=0.005, idle=0.005, beat=60)) as host:
        first = await given(ledger, host)
        await work.is_begun()
        await ledger.ask_to_stop(first.id, "ann")
        assert (await ended(ledger, first)).state is State.CANCELLED
        later = await added(ledger, worker=host.id)
        await work.is_begun(2)
        assert host.desk_of(later.id) is not None, "it looks for work all the same"
        [known] = await ledger.workers()
        assert known.beats == 2


async def test_where_many_machines_share_the_store_the_queue_says_who_goes_on(store: SqlStore) -> None:
    ledger = ledger_of(store)

    async def work(desk: Desk) -> Cut:
        raise Failed(BROKEN)

    host = Host(ledger, ADAPTER, work, lambda _id: None)  # which is given its work, and looks for none
    one = Background(concurrency=1)
    first = await begun(ledger, await added(ledger, Background(retries=1, backoff=1000), worker=host.id))
    await host.work(first)
    waiting = await found(ledger, first)
    assert waiting.state is State.RETRYING
    assert waiting.worker == (None if store.is_shared else host.id)
    alone, after = [await added(ledger, one, worker=host.id, operation="execute_import") for _ in range(2)]
    await host.work(await begun(ledger, alone))
    assert (await found(ledger, after)).ready
    assert (host.end_of(after.id) is None) is store.is_shared
    await host.close()


# what others have taken, and what was lost on its way


async def test_what_another_process_has_taken_over_stops_here_and_counts_no_more(ledger: Ledger) -> None:
    work = Work()
    over: list[str] = []
    host = Host(ledger, ADAPTER, work, over.append, pace=HASTY)
    await host.start()
    execution = await given(ledger, host, Background(interrupted="resume"))
    await work.is_begun()
    here = host.desk_of(execution.id)
    assert here is not None
    await ledger.hand_over(here.execution)
    taken = await ledger.begin(execution.id, "work_b")
    await ledger.beat(named("work_b"))

    async def is_told() -> bool:
        return host.running == 0

    await until(is_told)
    assert (here.stop, over) == (Stop.TAKEN, [execution.id])
    assert await found(ledger, execution) == taken
    await host.close()


async def test_an_execution_that_comes_back_here_is_worked_on_once_more_and_only_the_later_attempt_counts(
    ledger: Ledger,
) -> None:
    work = Work(stubborn=True)
    async with hosted(ledger, work, pace=Pace(busy=60, idle=60)) as host:
        execution = await given(ledger, host, Background(interrupted="resume"))
        await work.is_begun()
        await ledger.hand_over(work.desks[0].execution)
        again = await ledger.begin(execution.id, host.id)
        assert again is not None
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(host.work, again)
            await work.is_begun(2)
            assert work.desks[0].stop is Stop.TAKEN
            assert host.desk_of(execution.id) is work.desks[1]
            work.may_end.set()
        done = await found(ledger, execution)
        assert (done.state, done.attempt) == (State.COMPLETED, 2)
        assert host.running == 0


async def test_a_result_that_comes_too_late_is_not_kept(memory: SqlStore, ledger: Ledger) -> None:
    work = Work()
    async with hosted(ledger, work, pace=Pace(busy=60, idle=60)) as host:
        execution = await given(ledger, host, Background(interrupted="resume"))
        await work.is_begun()
        await ledger.hand_over(work.desks[0].execution)
        taken = await ledger.begin(execution.id, "work_b")
        await ledger.beat(named("work_b"))
        work.may_end.set()
        end = host.end_of(execution.id)
        assert end is not None
        await end.wait()
        assert await found(ledger, execution) == taken
        assert await kept_pieces(memory, execution) == []


async def test_what_the_store_says_is_worked_on_here_and_is_not_is_given_back_and_begun(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hosts, "_PATIENCE", 0.0)
    async with hosted(ledger) as host:
        execution = await added(ledger, worker=host.id)
        assert await ledger.begin(execution.id, host.id) is not None, "and the word of it was lost"
        done = await ended(ledger, execution)
        assert (done.state, done.attempt, done.interruptions) == (State.COMPLETED, 2, 1)


async def test_work_whose_end_could_not_be_told_is_not_done_a_second_time(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: object) -> None:
        raise RuntimeError("nobody expects this")

    monkeypatch.setattr(hosts, "_PATIENCE", 0.0)
    monkeypatch.setattr(Ledger, "complete", broken)
    async with hosted(ledger) as host:
        failed = await ended(ledger, await given(ledger, host))
        assert (failed.state, failed.attempt, code_of(failed)) == (State.FAILED, 1, "INTERNAL_INTERRUPTED")


async def test_a_host_knows_what_had_not_stopped_when_it_was_closed(ledger: Ledger) -> None:
    may_end = asyncio.Event()

    async def stubborn(desk: Desk) -> Cut:
        while not may_end.is_set():
            with suppress(asyncio.CancelledError):
                await may_end.wait()
        return Cut([], Outcome(size=0, pieces=0, items=0))

    async with hosted(ledger, stubborn) as host:
        execution = await given(ledger, host, Background(cleanup=0.01))
        await reached(ledger, execution, State.RUNNING)
        await host.close()
        assert host.left_behind == 1
        assert (await found(ledger, execution)).state is State.FAILED
        may_end.set()


async def test_what_is_only_on_its_way_here_is_not_given_back(ledger: Ledger) -> None:
    async with hosted(ledger) as host:
        execution = await ledger.begin((await added(ledger, worker=host.id)).id, host.id)
        beats = (await ledger.workers())[0].beats
        await until(lambda: _has_beaten(ledger, host, beats + 3))
        assert execution is not None
        assert await found(ledger, execution) == execution
        await host.work(execution)


async def _has_beaten(ledger: Ledger, host: Host, times: int) -> bool:
    return any(one.id == host.id and one.beats >= times for one in await ledger.workers())


# the end of a process


@pytest.mark.parametrize(
    ("background", "state"),
    [(Background(), State.FAILED), (Background(interrupted="resume"), State.RETRYING)],
    ids=["fail", "resume"],
)
async def test_a_process_that_ends_hands_over_what_it_was_at(
    ledger: Ledger, background: Background, state: State
) -> None:
    work = Work()
    async with hosted(ledger, work) as host:
        execution = await given(ledger, host, background)
        await work.is_begun()
    left = await found(ledger, execution)
    assert left.state is state
    assert code_of(left) == ("INTERNAL_INTERRUPTED" if state is State.FAILED else None)
    assert await ledger.workers() == []


async def test_a_process_that_ends_leaves_what_waits_to_others(ledger: Ledger) -> None:
    async with hosted(ledger, pace=Pace(busy=60, idle=60)) as host:
        await until(lambda: _has_beaten(ledger, host, 2), "that the host has looked around for the first time")
        waiting = await added(ledger, worker=host.id)
    left = await found(ledger, waiting)
    assert (left.state, left.worker) == (State.PENDING, None)
    async with hosted(ledger, adapter="museum"), hosted(ledger) as other:
        assert (await ended(ledger, waiting)).worker == other.id


async def test_a_process_that_ends_lets_work_finish_for_a_while(ledger: Ledger) -> None:
    work = Work()
    async with hosted(ledger, work) as host:
        execution = await given(ledger, host)
        await work.is_begun()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(host.close, 20)
            await anyio.lowlevel.checkpoint()  # so that it has begun to close
            late = await given(ledger, host)
            assert host.end_of(late.id) is None, "it begins nothing new"
            work.may_end.set()
        assert (await found(ledger, execution)).state is State.COMPLETED
        assert (await found(ledger, late)).state is State.PENDING


async def test_a_process_does_not_wait_for_ever_for_work_that_does_not_stop(ledger: Ledger) -> None:
    work = Work(stubborn=True)
    host = Host(ledger, ADAPTER, work, lambda _id: None, pace=HASTY)
    await host.start()
    execution = await given(ledger, host, Background(cleanup=0.01))
    await work.is_begun()
    with anyio.fail_after(20):
        await host.close()
    left = await found(ledger, execution)
    assert (left.state, code_of(left)) == (State.FAILED, "INTERNAL_INTERRUPTED")
    work.may_end.set()


async def test_what_was_taken_and_not_begun_is_left_to_others_by_a_process_that_ends(ledger: Ledger) -> None:
    async with hosted(ledger) as host:
        execution = await given(ledger, host)
    left = await found(ledger, execution)
    assert (left.state, left.worker, left.attempt) == (State.PENDING, None, 0)


async def test_a_process_that_was_closed_can_be_started_again(ledger: Ledger) -> None:
    host = Host(ledger, ADAPTER, at_once, lambda _id: None, pace=HASTY)
    for _ in range(2):
        await asyncio.gather(host.start(), host.start())
        done = await ended(ledger, await given(ledger, host))
        assert (done.state, done.worker) == (State.COMPLETED, host.id)
        await host.close()
        assert await ledger.workers() == []


async def test_a_process_that_has_begun_nothing_has_nothing_to_leave(ledger: Ledger) -> None:
    host = Host(ledger, ADAPTER, Work(), lambda _id: None)
    await host.close()
    assert await ledger.workers() == []


async def test_a_host_that_is_started_by_two_at_once_looks_after_everything_once(store: SqlStore) -> None:
    host = Host(ledger_of(store), ADAPTER, at_once, lambda _id: None, pace=HASTY)
    before = asyncio.all_tasks()
    await asyncio.gather(host.start(), host.start())
    assert len(asyncio.all_tasks() - before) == 1
    await host.close()


async def test_a_host_is_started_once(ledger: Ledger) -> None:
    async with hosted(ledger, pace=Pace(beat=60)) as host:
        await until(lambda: _has_beaten(ledger, host, 2))
        await host.start()
        [known] = await ledger.workers()
        assert known.beats == 2
        assert (known.id, known.adapter, known.takes_jobs) == (host.id, ADAPTER, False)


# processes that vanish


async def left_behind(ledger: Ledger, background: Background | None = None) -> dict[State, Execution]:
    """What a process that worked on everything has left."""
    states = (State.PENDING, State.RUNNING, State.RETRYING, State.CANCELLING, State.STUCK)
    return {state: await brought(ledger, state, background) for state in states}


async def test_what_a_process_has_left_that_died_on_this_machine_is_looked_after_at_once(
    store: SqlStore, dead_pid: int
) -> None:
    ledger = ledger_of(store)
    async with hosted(ledger, adapter="museum") as host:
        place = host.worker.place
    await ledger.beat(named(WORKER, place=place, pid=dead_pid))
    left = await left_behind(ledger)
    async with hosted(ledger, adapter="museum") as host:
        assert [one.id for one in await ledger.workers()] == [host.id]
        now = {state: await found(ledger, execution) for state, execution in left.items()}
    states = {state: one.state for state, one in now.items()}
    assert states == {
        State.PENDING: State.PENDING,
        State.RUNNING: State.FAILED,
        State.RETRYING: State.RETRYING,
        State.CANCELLING: State.CANCELLED,
        State.STUCK: State.FAILED,
    }
    assert code_of(now[State.RUNNING]) == "INTERNAL_INTERRUPTED"
    assert now[State.PENDING].worker is now[State.RETRYING].worker is None


async def test_another_host_of_the_same_adapter_goes_on_where_one_died(ledger: Ledger, dead_pid: int) -> None:
    left = await left_behind(ledger, Background(interrupted="resume"))
    async with hosted(ledger) as host:
        await ledger.beat(named(WORKER, place=host.worker.place, pid=dead_pid))
        for state in (State.PENDING, State.RUNNING, State.RETRYING):
            done = await ended(ledger, left[state])
            assert (done.state, done.worker) == (State.COMPLETED, host.id)
        assert (await ended(ledger, left[State.CANCELLING])).state is State.CANCELLED
        assert (await ended(ledger, left[State.STUCK])).state is State.FAILED


async def test_a_process_that_will_be_gone_in_a_moment_adopts_nothing(ledger: Ledger) -> None:
    one = Background(concurrency=1)
    async with hosted(ledger) as host:
        host.adopts = False
        mine = await given(ledger, host, one)
        freed = await added(ledger, one, worker=None)
        nobodys = await added(ledger, worker=None, operation="execute_import")
        assert (await ended(ledger, mine)).state is State.COMPLETED
        beats = (await ledger.workers())[0].beats
        await until(lambda: _has_beaten(ledger, host, beats + 3))
        assert [(await found(ledger, left)).state for left in (freed, nobodys)] == [State.PENDING] * 2
        assert (await found(ledger, freed)).ready
        host.adopts = True
        assert (await ended(ledger, freed)).worker == (await ended(ledger, nobodys)).worker == host.id


async def test_a_process_that_is_silent_for_too_long_counts_as_gone(
    ledger: Ledger, caplog: pytest.LogCaptureFixture
) -> None:
    await ledger.beat(named(WORKER, pid=4711))
    execution = await running(ledger)
    async with hosted(ledger, pace=Pace(busy=0.005, idle=0.005, beat=0.0, lost=0.05)):
        failed = await ended(ledger, execution)
    assert (failed.state, code_of(failed)) == (State.FAILED, "INTERNAL_INTERRUPTED")
    assert "process 4711 on 'elsewhere'" in caplog.text


@pytest.mark.parametrize("is_on", [True, False], ids=["with workers", "without"])
async def test_a_host_hears_whether_anybody_takes_work(ledger: Ledger, is_on: bool) -> None:
    await ledger.beat(named(WORKER)._replace(takes_jobs=is_on))
    await ledger.beat(named("work_museum", adapter="museum")._replace(takes_jobs=True))
    async with hosted(ledger) as host:
        assert host.has_workers is is_on


def test_a_process_is_dead_only_if_that_is_sure(dead_pid: int, monkeypatch: pytest.MonkeyPatch) -> None:
    here = Host(Ledger(open_store("memory:")), ADAPTER, Work(), lambda _id: None).worker
    assert not is_dead(here)
    assert is_dead(here._replace(pid=dead_pid))
    assert not is_dead(here._replace(pid=dead_pid, place="elsewhere"))

    def forbidden(_pid: int, _signal: int) -> None:
        raise PermissionError

    monkeypatch.setattr("os.kill", forbidden)
    assert not is_dead(here._replace(pid=dead_pid)), "it is another user's"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="only Linux tells which processes are zombies")
def test_a_process_that_nobody_has_buried_is_dead() -> None:
    here = Host(Ledger(open_store("memory:")), ADAPTER, Work(), lambda _id: None).worker
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        assert not is_dead(here._replace(pid=child.pid))
        child.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert is_dead(here._replace(pid=child.pid))


# a store that fails for a while


class Hindered(SqlStore):
    """The same store, as one sees it whose connection is lost so often, or until it is there again."""

    def __init__(self, store: SqlStore) -> None:
        super().__init__(store._driver, store.url)
        self.refused = 0
        self.left: float = 0

    async def transact(self, work: Callable[[Transaction], Any], *args: Any, **kwargs: Any) -> Any:
        if self.left > 0:
            self.left -= 1
            self.refused += 1
            raise StoreError("The store was lost")
        return await super().transact(work, *args, **kwargs)

    async def has_refused(self) -> bool:
        return self.refused > 2


@pytest.mark.parametrize("state", [State.COMPLETED, State.FAILED, State.CANCELLED])
async def test_no_end_is_lost_while_the_store_is_away(
    memory: SqlStore, ledger: Ledger, caplog: pytest.LogCaptureFixture, state: State
) -> None:
    store = Hindered(memory)

    async def work(desk: Desk) -> Cut:
        store.left = 2
        if state is State.FAILED:
            raise Failed(BROKEN)
        if state is State.CANCELLED:
            desk.tell_to_stop(Stop.ASKED)
            await asyncio.sleep(0)
        return result("done")

    async with hosted(Ledger(store), work, pace=Pace(busy=60, idle=60)) as host:
        await until(lambda: _has_beaten(ledger, host, 2))
        over = await ended(ledger, await given(ledger, host))
        assert over.state is state
    assert store.refused == 2
    assert "cannot be written down yet: The store was lost" in caplog.text


async def test_a_start_waits_for_the_store_and_is_given_up_if_it_stays_away(
    memory: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Hindered(memory)
    ledger = Ledger(store)
    store.left = 2
    execution = await ledger.add(made())
    assert await found(ledger, execution) == execution
    store.left = float("inf")
    slept: list[float] = []

    async def at_once(seconds: float) -> None:
        slept.append(seconds)

    monkeypatch.setattr("headgate.executions.ledger.anyio", SimpleNamespace(sleep=at_once))
    with pytest.raises(StoreError, match="was lost"):
        await ledger.add(made())
    assert 10 <= sum(slept) < 13
    assert max(slept) == 2.0


async def test_what_could_not_begin_is_begun_when_the_store_is_back(
    memory: SqlStore, ledger: Ledger, caplog: pytest.LogCaptureFixture
) -> None:
    store = Hindered(memory)
    async with hosted(Ledger(store)) as host:
        store.left = 3
        execution = await given(ledger, host)
        assert (await ended(ledger, execution)).state is State.COMPLETED
    assert "an execution cannot begin yet" in caplog.text


@pytest.mark.parametrize("is_away", [True, False], ids=["after an outage", "after silence"])
async def test_nobody_is_declared_gone_for_the_time_in_which_nobody_could_be_heard(
    memory: SqlStore, ledger: Ledger, monkeypatch: pytest.MonkeyPatch, is_away: bool
) -> None:
    store = Hindered(memory)
    now = [0.0]
    monkeypatch.setattr(hosts, "time", SimpleNamespace(monotonic=lambda: now[0]))
    await ledger.beat(named(WORKER))
    execution = await running(ledger)
    async with hosted(Ledger(store)) as host:
        await until(lambda: _has_beaten(ledger, host, 3))
        if is_away:
            store.left = float("inf")
            await until(store.has_refused)
        now[0] += 1000.0
        store.left = 0
        beats = next(one.beats for one in await ledger.workers() if one.id == host.id)
        await until(lambda: _has_beaten(ledger, host, beats + 3))
        known = {one.id for one in await ledger.workers()}
        assert (WORKER in known) is is_away
        assert (await found(ledger, execution)).state is (State.RUNNING if is_away else State.FAILED)


async def test_a_host_goes_on_looking_after_executions_whatever_goes_wrong_once(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with hosted(ledger) as host:
        listen = host._listen
        failures = [ValueError("a mistake")]

        async def mistaken(now: float) -> None:
            if failures:
                raise failures.pop()
            await listen(now)

        monkeypatch.setattr(host, "_listen", mistaken)

        async def is_logged() -> bool:
            return "a mistake" in caplog.text

        await until(is_logged)
        beats = next(one.beats for one in await ledger.workers() if one.id == host.id)
        await until(lambda: _has_beaten(ledger, host, beats + 2))


async def test_a_goodbye_that_the_store_does_not_hear_hinders_nobody(memory: SqlStore, ledger: Ledger) -> None:
    store = Hindered(memory)
    async with hosted(Ledger(store)) as host:
        store.left = float("inf")
    assert [one.id for one in await ledger.workers()] == [host.id]


# desks


def test_what_an_attempt_reports_is_what_a_database_holds_and_a_person_reads() -> None:
    desk = Desk(made())
    desk.report(float("nan"), float("inf"), "a\x00b\ud800" + "x" * 2000)
    assert desk.progress.current is desk.progress.total is None
    assert desk.progress.message is not None
    assert desk.progress.message.startswith("a\ufffdb?xxx")
    assert len(desk.progress.message) == 1000
    desk.report(1, 2, None)
    assert desk.progress == Progress(1.0, 2.0, None)


def test_an_attempt_hears_the_first_reason_to_stop_even_if_it_listens_later() -> None:
    heard: list[str] = []
    desk = Desk(made())
    desk.force()
    desk.tell_to_stop(Stop.LATE)
    desk.tell_to_stop(Stop.ASKED)
    desk.stops_by(lambda: heard.append("stop"), lambda: heard.append("force"))
    assert (desk.stop, heard) == (Stop.LATE, ["stop"])
    desk.force()
    assert heard == ["stop", "force"]
