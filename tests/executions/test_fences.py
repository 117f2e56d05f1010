"""Fences: only the worker that is at an attempt says what becomes of it, and of many at once one begins it."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial

import pytest

from headgate.adapter.background import Background
from headgate.executions.ledger import Ledger
from headgate.executions.queueing import prepare_queue
from headgate.protocol.lifecycle import State
from headgate.store import moving
from headgate.store.drivers.base import Unkeepable
from headgate.store.executions import Asked, Execution, Progress
from headgate.store.opening import open_store
from headgate.store.sql import SqlStore
from tests.executions.books import (
    BROKEN,
    NOW,
    WORKER,
    added,
    brought,
    found,
    kept_pieces,
    ledger_of,
    made,
    result,
    running,
)
from tests.store.entries import events

pytestmark = pytest.mark.anyio

RESUMED = Background(interrupted="resume")

Change = Callable[[Ledger, Execution], Awaitable[object]]
CHANGES: dict[str, tuple[Change, object]] = {
    "complete": (lambda ledger, late: ledger.complete(late, result(["late"])), None),
    "fail": (lambda ledger, late: ledger.fail(late, BROKEN), None),
    "cancel": (lambda ledger, late: ledger.cancel(late), None),
    "stopped": (lambda ledger, late: ledger.stopped(late), None),
    "again": (lambda ledger, late: ledger.again(late, BROKEN, NOW), False),
    "give up": (lambda ledger, late: ledger.give_up(late, BROKEN), None),
    "stuck": (lambda ledger, late: ledger.stuck(late.run), None),
    "note": (lambda ledger, late: ledger.note([(late.run, Progress(9, 10, "late"))]), None),
    "hand over": (lambda ledger, late: ledger.hand_over(late), None),
    "give back": (lambda ledger, late: ledger.give_back(late.id, WORKER), None),
}


async def taken_over(ledger: Ledger) -> tuple[Execution, Execution]:
    """An attempt whose worker was thought to be gone, and the one that another worker then began."""
    late = await running(ledger, RESUMED, audited=True)
    await ledger.recover()
    taken = await ledger.begin(late.id, "work_b")
    assert taken is not None
    return late, taken


async def test_who_was_taken_for_gone_changes_nothing_any_more(store: SqlStore) -> None:
    ledger = ledger_of(store)
    late, taken = await taken_over(ledger)
    assert (taken.worker, taken.attempt) == ("work_b", 2)
    for name, (change, told) in CHANGES.items():
        assert await change(ledger, late) == told, name
        assert await found(ledger, late) == taken, name
    assert await kept_pieces(store, late) == []
    assert await ledger.complete(taken, result(["in time"])) == []
    assert [piece.content for piece in await kept_pieces(store, late)] == ['"in time"']


async def test_the_audit_tells_of_no_end_that_did_not_happen(store: SqlStore) -> None:
    ledger = ledger_of(store)
    late, taken = await taken_over(ledger)
    for change, _ in CHANGES.values():
        await change(ledger, late)
    assert await events(store) == []
    await ledger.complete(taken, result([]))
    await ledger.complete(taken, result([]))
    assert await events(store) == ["ended"]


async def test_between_two_workers_the_first_has_no_say_either(store: SqlStore) -> None:
    ledger = ledger_of(store)
    late = await running(ledger, RESUMED)
    await ledger.recover()
    waiting = await found(ledger, late)
    assert (waiting.state, waiting.worker) == (State.RETRYING, None)
    for name, (change, told) in CHANGES.items():
        assert await change(ledger, late) == told, name
        assert await found(ledger, late) == waiting, name


async def test_an_earlier_attempt_of_the_same_worker_has_no_say(store: SqlStore) -> None:
    ledger = ledger_of(store)
    late = await running(ledger)
    await ledger.fail(late, BROKEN)
    await ledger.retry(late.id, WORKER)
    second = await ledger.begin(late.id, WORKER)
    assert second is not None
    assert second.attempt == 2
    fenced = {name: change for name, change in CHANGES.items() if name != "give back"}  # which names no attempt
    for name, (change, told) in fenced.items():
        assert await change(ledger, late) == told, name
        assert await found(ledger, late) == second, name


async def test_progress_is_noted_of_each_attempt_that_is_its_workers_own(store: SqlStore) -> None:
    ledger = ledger_of(store)
    late, taken = await taken_over(ledger)
    other = await running(ledger)
    notes = [(run, Progress(3, 4, "on its way")) for run in (late.run, other.run)]
    await ledger.note(notes)
    assert (await found(ledger, taken)).progress == Progress()
    assert (await found(ledger, other)).progress == Progress(3, 4, "on its way")


@pytest.mark.parametrize("state", [State.PENDING, State.RETRYING, State.COMPLETED, State.FAILED, State.CANCELLED])
async def test_no_progress_is_noted_where_nobody_is_at_work(store: SqlStore, state: State) -> None:
    ledger = ledger_of(store)
    execution = await brought(ledger, state)
    await ledger.note([(execution.run, Progress(1, 2, "too early or too late"))])
    assert await found(ledger, execution) == execution


async def test_of_many_workers_at_once_one_begins(store: SqlStore) -> None:
    ledger = ledger_of(store)
    execution = await added(ledger, worker=None)
    begun = await asyncio.gather(*(ledger.begin(execution.id, f"work_{number}") for number in range(10)))
    [winner] = [one for one in begun if one is not None]
    assert winner == await found(ledger, execution)
    assert (winner.state, winner.attempt) == (State.RUNNING, 1)


async def test_of_many_workers_in_two_processes_one_begins_each(shared_url: str) -> None:
    stores = [open_store(shared_url), open_store(shared_url)]
    try:
        await asyncio.gather(*(prepare_queue(store) for store in stores))
        ledgers = [ledger_of(store) for store in stores]
        executions = [await added(ledgers[0], worker=None) for _ in range(10)]
        for execution in executions:
            begun = await asyncio.gather(
                *(ledger.begin(execution.id, f"work_{number}") for number in range(2) for ledger in ledgers)
            )
            assert len([one for one in begun if one is not None]) == 1
            assert (await found(ledgers[1], execution)).attempt == 1
    finally:
        for store in stores:
            await store.close()


async def test_nobody_begins_what_is_anothers(store: SqlStore) -> None:
    ledger = ledger_of(store)
    execution = await added(ledger, worker="work_b")
    assert await ledger.begin(execution.id, WORKER) is None
    assert await found(ledger, execution) == execution
    assert await ledger.begin("exec_of_nobody", WORKER) is None


async def test_what_is_added_twice_is_there_once(store: SqlStore) -> None:
    """As it happens when nobody knows whether the first time was kept."""
    ledger = ledger_of(store)
    execution = made(Background(concurrency=1))
    first = await ledger.add(execution)
    at_work = await ledger.begin(execution.id, WORKER)
    assert first.ready
    assert await ledger.add(execution) == at_work
    assert await ledger.select() == [at_work]
    if store.is_shared:
        [(jobs,)] = await store.transact(
            lambda transaction: transaction.rows("SELECT count(*) FROM procrastinate_jobs")
        )
        assert jobs == 1


async def test_a_worker_gives_back_only_what_is_its_own(store: SqlStore) -> None:
    ledger = ledger_of(store)
    execution = await running(ledger)
    await ledger.give_back(execution.id, "work_b")
    await ledger.give_back("exec_of_nobody", "work_b")
    assert await found(ledger, execution) == execution


async def test_what_is_nobodys_is_not_asked_to_stop_nor_retried(store: SqlStore) -> None:
    ledger = ledger_of(store)
    assert await ledger.ask_to_stop("exec_of_nobody", "ann") == (None, [])
    assert await ledger.retry("exec_of_nobody", None) is None
    asked = {"asked_at": NOW, "asked_by": "ann"}
    asking = partial(moving.ask_to_stop, execution_id="exec_of_nobody", asked=asked, target=State.CANCELLED, final={})
    assert await store.transact(partial(asking, queue=ledger.queue)) == Asked(None, []), (
        "it may have expired after it was found"
    )


async def test_what_no_store_can_hold_is_refused_at_once(store: SqlStore) -> None:
    with pytest.raises(Unkeepable):
        await ledger_of(store).add(made(owner="half a character \ud800"))
    assert await ledger_of(store).select() == []
