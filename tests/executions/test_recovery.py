"""Recovery: what processes leave that are gone is failed, freed, resumed or cancelled, as its author declared."""

import pytest

from headgate.adapter.background import Background, SessionEnd
from headgate.executions.ledger import Ledger
from headgate.protocol.lifecycle import State
from headgate.store.executions import Execution
from headgate.store.sql import SqlStore
from tests.executions.books import (
    ADAPTER,
    NOW,
    WORKER,
    Clock,
    added,
    brought,
    code_of,
    found,
    ledger_of,
    named,
    running,
)
from tests.store.entries import rows as audit_rows

pytestmark = pytest.mark.anyio

FAILED, RESUMED = Background(), Background(interrupted="resume")


async def interrupted(ledger: Ledger, execution: Execution) -> Execution:
    """An execution after its worker is gone."""
    await ledger.recover()
    return await found(ledger, execution)


async def test_what_was_running_fails_and_says_why(store: SqlStore) -> None:
    ledger = ledger_of(store)
    left = await interrupted(ledger, await running(ledger, FAILED))
    assert (left.state, code_of(left), left.finished_at) == (State.FAILED, "INTERNAL_INTERRUPTED", NOW)


async def test_what_was_running_is_begun_anew_where_its_author_says_so(store: SqlStore) -> None:
    ledger = ledger_of(store)
    left = await interrupted(ledger, await running(ledger, RESUMED))
    assert (left.state, left.worker, left.due_at, left.interruptions) == (State.RETRYING, None, NOW, 1)
    assert (left.tries, left.error) == (0, None), "an interruption is no failure"
    again = await ledger.begin(left.id, "work_b")
    assert again is not None
    assert again.attempt == 2


@pytest.mark.parametrize("background", [FAILED, RESUMED], ids=["fail", "resume"])
async def test_what_was_to_stop_has_stopped(store: SqlStore, background: Background) -> None:
    ledger = ledger_of(store)
    cancelling = await brought(ledger, State.CANCELLING, background)
    stuck = await running(ledger, background)
    await ledger.ask_to_stop(stuck.id, "ann")
    await ledger.stuck(stuck.run)
    late = await brought(ledger, State.STUCK, background)
    await ledger.ask_to_stop(late.id, "ann")
    await ledger.recover()
    assert [(await found(ledger, one)).state for one in (cancelling, stuck, late)] == [State.CANCELLED] * 3


@pytest.mark.parametrize("background", [FAILED, RESUMED], ids=["fail", "resume"])
async def test_what_was_stuck_and_nobody_asked_for_its_end_fails(store: SqlStore, background: Background) -> None:
    """It has had its time, and is not begun anew."""
    ledger = ledger_of(store)
    left = await interrupted(ledger, await brought(ledger, State.STUCK, background))
    assert (left.state, code_of(left)) == (State.FAILED, "INTERNAL_INTERRUPTED")


@pytest.mark.parametrize("state", [State.PENDING, State.RETRYING])
async def test_what_waited_for_the_worker_waits_for_any(store: SqlStore, state: State) -> None:
    ledger = ledger_of(store)
    waiting = await brought(ledger, state)
    left = await interrupted(ledger, waiting)
    assert (left.state, left.worker) == (state, None)
    assert await ledger.to_begin(ADAPTER, "work_b") == [waiting.id]


async def test_what_is_a_living_workers_own_stays(store: SqlStore) -> None:
    ledger = ledger_of(store)
    await ledger.beat(named(WORKER))
    states = (State.PENDING, State.RUNNING, State.RETRYING, State.CANCELLING, State.STUCK)
    mine = [await brought(ledger, state) for state in states]
    assert await ledger.recover() == 0
    assert [await found(ledger, one) for one in mine] == mine
    await ledger.leave(WORKER)
    assert await ledger.workers() == []
    assert (await found(ledger, mine[1])).state is State.FAILED


async def test_what_has_taken_five_processes_with_it_is_not_begun_again(store: SqlStore) -> None:
    ledger = ledger_of(store)
    execution = await running(ledger, RESUMED)
    seen = []
    for number in range(6):
        left = await interrupted(ledger, execution)
        seen.append((left.state, left.interruptions))
        await ledger.begin(execution.id, f"work_{number}")
    assert seen == [(State.RETRYING, count) for count in range(1, 6)] + [(State.FAILED, 5)]


async def test_a_retry_by_a_caller_counts_interruptions_anew(store: SqlStore) -> None:
    ledger = ledger_of(store)
    execution = await running(ledger, RESUMED, interruptions=5)
    assert (await interrupted(ledger, execution)).state is State.FAILED
    again = await ledger.retry(execution.id, WORKER)
    assert again is not None
    assert (again.interruptions, again.tries, again.error, again.finished_at) == (0, 0, None, None)


async def test_the_progress_that_was_reached_is_kept_at_every_end(store: SqlStore) -> None:
    ledger = ledger_of(store)
    execution = await running(ledger)
    await ledger.note([(execution.run, (await found(ledger, execution)).progress._replace(current=4, total=9))])
    left = await interrupted(ledger, execution)
    assert (left.done, left.total) == (4, 9)


async def test_the_audit_tells_of_ends_by_interruption_where_it_told_of_the_start(store: SqlStore) -> None:
    ledger = ledger_of(store, Clock(NOW + 5))
    failed = await running(ledger, FAILED, audited=True)
    cancelled = await brought(ledger, State.CANCELLING, FAILED, audited=True)
    await running(ledger, RESUMED, audited=True)
    await added(ledger, FAILED, audited=True)
    await running(ledger, FAILED)
    await ledger.recover()
    told = [(row.entry.event, row.entry.code, row.entry.details) for row in await audit_rows(store)]
    assert told == [
        ("ended", "INTERNAL_INTERRUPTED", {"execution_id": failed.id, "status": "failed"}),
        ("ended", "", {"execution_id": cancelled.id, "status": "cancelled"}),
    ]


# sessions that were in a process that is gone


async def bound(ledger: Ledger, end: SessionEnd, **more: str) -> Execution:
    return await running(ledger, Background(session=end), session="sess_1", origin="work_gone", **more)


@pytest.mark.parametrize(
    ("end", "state", "code"),
    [("cancel", State.CANCELLED, None), ("fail", State.FAILED, "INTERNAL_SESSION_ENDED")],
)
async def test_what_is_bound_to_a_session_of_a_process_that_is_gone_ends_as_declared(
    store: SqlStore, end: SessionEnd, state: State, code: str | None
) -> None:
    ledger = ledger_of(store)
    await ledger.beat(named(WORKER))
    execution = await bound(ledger, end)
    left = await interrupted(ledger, execution)
    assert (left.state, left.asked_by) == (State.CANCELLING, "the end of the session")
    assert await interrupted(ledger, execution) == left, "it is asked once"
    await ledger.stopped(execution)
    ended = await found(ledger, execution)
    assert (ended.state, code_of(ended)) == (state, code)


@pytest.mark.parametrize(
    ("end", "state", "code"),
    [("cancel", State.CANCELLED, None), ("fail", State.FAILED, "INTERNAL_SESSION_ENDED")],
)
async def test_when_the_worker_goes_too_it_ends_the_same(
    store: SqlStore, end: SessionEnd, state: State, code: str | None
) -> None:
    ledger = ledger_of(store)
    await ledger.beat(named(WORKER))
    execution = await bound(ledger, end)
    await ledger.recover()
    await ledger.leave(WORKER)
    ended = await found(ledger, execution)
    assert (ended.state, code_of(ended)) == (state, code)


async def test_what_waits_and_is_bound_to_an_ended_session_is_cancelled_at_once(store: SqlStore) -> None:
    ledger = ledger_of(store)
    waiting = await added(ledger, Background(session="fail"), session="sess_1", origin="work_gone", worker=None)
    other = await added(ledger, Background(session="fail"), session="sess_2", origin=WORKER, worker=None)
    await ledger.beat(named(WORKER))
    assert (await interrupted(ledger, waiting)).state is State.CANCELLED
    assert await found(ledger, other) == other


async def test_nothing_is_begun_anew_for_a_session_that_is_gone(store: SqlStore) -> None:
    ledger = ledger_of(store)
    resumed = Background(interrupted="resume", session="cancel")
    execution = await running(ledger, resumed, session="sess_1", origin=WORKER)
    assert (await interrupted(ledger, execution)).state is State.CANCELLED


async def test_the_end_of_a_session_ends_what_is_bound_to_it_and_nothing_else(store: SqlStore) -> None:
    ledger = ledger_of(store)
    waiting = await added(ledger, session="sess_1", origin=WORKER)
    at_work = await running(ledger, session="sess_1", origin=WORKER)
    others = [await running(ledger), await running(ledger, session="sess_2", origin=WORKER)]
    ended = await ledger.end_session("sess_1")
    assert sorted(one.id for one in ended) == [waiting.id, at_work.id]
    assert (await found(ledger, waiting)).state is State.CANCELLED
    assert (await found(ledger, at_work)).state is State.CANCELLING
    assert [await found(ledger, one) for one in others] == others


# what was given to a worker and never begun


async def test_what_was_never_begun_is_given_back_whatever_is_declared_of_interruptions(store: SqlStore) -> None:
    ledger = ledger_of(store)
    execution = await running(ledger, FAILED)
    await ledger.give_back(execution.id, WORKER)
    left = await found(ledger, execution)
    assert (left.state, left.worker, left.due_at) == (State.RETRYING, None, NOW)
    assert await ledger.begin(execution.id, "work_b") is not None


async def test_what_was_never_begun_and_is_to_stop_has_stopped(store: SqlStore) -> None:
    ledger = ledger_of(store)
    execution = await brought(ledger, State.CANCELLING, FAILED)
    await ledger.give_back(execution.id, WORKER)
    assert (await found(ledger, execution)).state is State.CANCELLED


# what a process hands over as it ends


@pytest.mark.parametrize("background", [FAILED, RESUMED], ids=["fail", "resume"])
async def test_what_is_handed_over_and_was_to_stop_is_cancelled(store: SqlStore, background: Background) -> None:
    """Though the process that does it has not heard of it yet."""
    ledger = ledger_of(store)
    execution = await running(ledger, background)
    await ledger.ask_to_stop(execution.id, "ann")
    await ledger.hand_over(execution)
    assert (await found(ledger, execution)).state is State.CANCELLED


@pytest.mark.parametrize(
    ("background", "state"), [(FAILED, State.FAILED), (RESUMED, State.RETRYING)], ids=["fail", "resume"]
)
async def test_what_is_handed_over_ends_or_goes_on_as_declared(
    store: SqlStore, background: Background, state: State
) -> None:
    ledger = ledger_of(store)
    execution = await running(ledger, background)
    await ledger.hand_over(execution)
    assert (await found(ledger, execution)).state is state
