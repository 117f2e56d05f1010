"""Room: so many at once, one for each key, the oldest first; whoever leaves makes room, and none is left unused."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from threading import Event

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.adapter.background import Background
from headgate.executions.ledger import Ledger
from headgate.executions.queueing import prepare_queue, queue_name
from headgate.protocol.lifecycle import State
from headgate.store import moving
from headgate.store.drivers.base import Transaction
from headgate.store.executions import Execution, Free
from headgate.store.opening import open_store
from headgate.store.sql import SqlStore
from tests.executions.books import (
    ADAPTER,
    BROKEN,
    NOW,
    OPERATION,
    WORKER,
    added,
    begun,
    found,
    ledger_of,
    made,
    named,
    result,
    until,
)

pytestmark = pytest.mark.anyio

ONE, TWO = Background(concurrency=1), Background(concurrency=2)


async def ready(ledger: Ledger) -> list[str]:
    """Whose turn it is, in the order of ids."""
    return sorted(one.id for one in await ledger.select() if one.ready)


def ids(*executions: Execution) -> list[str]:
    return [one.id for one in executions]


async def test_without_a_limit_nobody_waits(store: SqlStore) -> None:
    ledger = ledger_of(store)
    executions = [await added(ledger) for _ in range(5)]
    assert await ready(ledger) == ids(*executions)


async def test_so_many_are_ready_at_once_and_the_oldest_follows(store: SqlStore) -> None:
    ledger = ledger_of(store)
    a, b, c, d = [await added(ledger, TWO) for _ in range(4)]
    assert await ready(ledger) == ids(a, b)
    assert await ledger.begin(c.id, WORKER) is None, "its turn has not come"
    assert await ledger.complete(await begun(ledger, b), result(1)) == [Free(c.id, WORKER)]
    assert await ready(ledger) == ids(a, c)
    assert await ledger.complete(await begun(ledger, a), result(1)) == [Free(d.id, WORKER)]
    assert await ready(ledger) == ids(c, d)


async def test_of_each_key_one_is_ready_at_a_time(store: SqlStore) -> None:
    ledger = ledger_of(store)
    a1, b1, a2, b2 = [await added(ledger, slot_key=key) for key in ("a", "b", "a", "b")]
    assert await ready(ledger) == ids(a1, b1)
    assert await ledger.complete(await begun(ledger, b1), result(1)) == [Free(b2.id, WORKER)]
    assert await ready(ledger) == ids(a1, b2)
    assert await ledger.complete(await begun(ledger, a1), result(1)) == [Free(a2.id, WORKER)]


async def test_a_limit_and_a_key_hold_together_and_a_taken_key_holds_up_nobody_else(store: SqlStore) -> None:
    ledger = ledger_of(store)
    a1, a2, b1, c1 = [await added(ledger, TWO, slot_key=key) for key in ("a", "a", "b", "c")]
    assert await ready(ledger) == ids(a1, b1)
    assert await ledger.complete(await begun(ledger, b1), result(1)) == [Free(c1.id, WORKER)]
    assert await ledger.complete(await begun(ledger, a1), result(1)) == [Free(a2.id, WORKER)]
    assert await ready(ledger) == ids(a2, c1)


async def test_other_operations_and_other_adapters_have_room_of_their_own(store: SqlStore) -> None:
    ledger = ledger_of(store)
    here = await added(ledger, ONE, slot_key="a")
    other = await added(ledger, ONE, slot_key="a", operation="execute_import")
    elsewhere = await added(ledger, ONE, slot_key="a", adapter="museum")
    waiting = await added(ledger, ONE, slot_key="a")
    assert await ready(ledger) == ids(here, other, elsewhere)
    assert await ledger.complete(await begun(ledger, other), result(1)) == []
    assert not (await found(ledger, waiting)).ready


Leaving = Callable[[Ledger, Execution], Awaitable[object]]


async def _completes(ledger: Ledger, execution: Execution) -> None:
    await ledger.complete(await begun(ledger, execution), result(1))


async def _fails(ledger: Ledger, execution: Execution) -> None:
    await ledger.fail(await begun(ledger, execution), BROKEN)


async def _is_cancelled_early(ledger: Ledger, execution: Execution) -> None:
    await ledger.ask_to_stop(execution.id, "ann")


async def _is_cancelled_at_work(ledger: Ledger, execution: Execution) -> None:
    at_work = await begun(ledger, execution)
    _, free = await ledger.ask_to_stop(execution.id, "ann")
    assert free == [], "it is still at work"
    await ledger.stopped(at_work)


async def _is_cancelled_between_attempts(ledger: Ledger, execution: Execution) -> None:
    await ledger.again(await begun(ledger, execution), BROKEN, NOW)
    await ledger.ask_to_stop(execution.id, "ann")


async def _loses_its_worker(ledger: Ledger, execution: Execution) -> None:
    await begun(ledger, execution)
    await ledger.leave(WORKER)


LEAVING: dict[str, Leaving] = {
    "completion": _completes,
    "failure": _fails,
    "cancellation before its turn was taken": _is_cancelled_early,
    "cancellation at work": _is_cancelled_at_work,
    "cancellation between two attempts": _is_cancelled_between_attempts,
    "the loss of its worker": _loses_its_worker,
}


@pytest.mark.parametrize("leaves", LEAVING.values(), ids=LEAVING)
async def test_whoever_leaves_makes_room_for_the_oldest(store: SqlStore, leaves: Leaving) -> None:
    ledger = ledger_of(store)
    first = await added(ledger, ONE)
    await ledger.beat(named("work_b"))
    second, third = [await added(ledger, ONE, worker="work_b") for _ in range(2)]
    assert await ready(ledger) == ids(first)
    await leaves(ledger, first)
    assert await ready(ledger) == ids(second)
    await _completes(ledger, second)
    assert await ready(ledger) == ids(third)


async def test_who_waits_and_is_cancelled_lets_nobody_past(store: SqlStore) -> None:
    ledger = ledger_of(store)
    first, second, third = [await added(ledger, ONE) for _ in range(3)]
    found_then, free = await ledger.ask_to_stop(second.id, "ann")
    assert found_then is not None
    assert (found_then.state, free) == (State.CANCELLED, [])
    assert await ready(ledger) == ids(first)
    assert await ledger.complete(await begun(ledger, first), result(1)) == [Free(third.id, WORKER)]


async def test_between_two_attempts_an_execution_keeps_its_room(store: SqlStore) -> None:
    ledger = ledger_of(store)
    first, _ = [await added(ledger, ONE) for _ in range(2)]
    assert await ledger.again(await begun(ledger, first), BROKEN, NOW + 60)
    assert await ready(ledger) == ids(first)


async def test_what_is_resumed_keeps_its_room(store: SqlStore) -> None:
    ledger = ledger_of(store)
    resumed = Background(concurrency=1, interrupted="resume")
    first, _ = [await added(ledger, resumed) for _ in range(2)]
    await begun(ledger, first)
    await ledger.recover()
    assert await ready(ledger) == ids(first)


async def test_a_retry_waits_for_room_like_any_other(store: SqlStore) -> None:
    ledger = ledger_of(store)
    first, second = [await added(ledger, ONE) for _ in range(2)]
    await ledger.fail(await begun(ledger, first), BROKEN)
    again = await ledger.retry(first.id, WORKER)
    assert again is not None
    assert (again.state, again.ready) == (State.RETRYING, False)
    assert await ledger.begin(first.id, WORKER) is None
    assert await ledger.complete(await begun(ledger, second), result(1)) == [Free(first.id, WORKER)]
    assert (await begun(ledger, first)).attempt == 2


async def test_a_larger_limit_lets_in_several_at_once(store: SqlStore) -> None:
    """As after a restart with another declaration: the newest one counts when it ends."""
    ledger = ledger_of(store)
    first = await added(ledger, ONE)
    waiting = [await added(ledger, ONE) for _ in range(3)]
    newest = await ledger.add(made(TWO))
    assert await ready(ledger) == ids(first, newest)
    assert await ledger.complete(await begun(ledger, newest), result(1)) == [Free(waiting[0].id, WORKER)]


async def test_what_is_begun_is_what_is_due_has_room_and_is_free_or_ones_own(store: SqlStore) -> None:
    ledger = ledger_of(store)
    mine, _ = [await added(ledger, ONE) for _ in range(2)]
    nobodys = await added(ledger, worker=None)
    await added(ledger, worker="work_b")
    await added(ledger, adapter="museum", worker=None)
    later = await begun(ledger, await added(ledger))
    await ledger.again(later, BROKEN, NOW + 1)
    assert await ledger.to_begin(ADAPTER, WORKER) == ids(mine, nobodys)
    a_second_later = ledger_of(store, lambda: NOW + 1)
    assert await a_second_later.to_begin(ADAPTER, WORKER) == ids(mine, nobodys, later)


async def test_two_processes_let_in_no_more_than_one(shared_url: str) -> None:
    stores = [open_store(shared_url), open_store(shared_url)]
    try:
        await prepare_queue(stores[0])
        ledgers = [ledger_of(store) for store in stores]
        each = [ledger.add(made(ONE, worker=None)) for _ in range(5) for ledger in ledgers]
        assert sum(one.ready for one in await asyncio.gather(*each)) == 1
        for left in reversed(range(10)):
            [execution_id] = await ready(ledgers[0])
            raced = [ledger.begin(execution_id, WORKER) for ledger in ledgers]
            [at_work] = [one for one in await asyncio.gather(*raced) if one is not None]
            await asyncio.gather(*(ledger.complete(at_work, result(1)) for ledger in ledgers))
            assert len(await ready(ledgers[0])) == min(1, left)
    finally:
        for store in stores:
            await store.close()


async def test_what_is_cancelled_just_as_its_turn_comes_passes_the_turn_on(postgresql_url: str) -> None:
    """Whose turn it is must be known under the lock: what was read before it was another's is old."""
    store, other = open_store(postgresql_url), open_store(postgresql_url)
    try:
        await prepare_queue(store)
        ledger = ledger_of(store)
        first, second, third = [await added(ledger, ONE) for _ in range(3)]
        at_work = await begun(ledger, first)
        has_lock, may_go_on = Event(), Event()

        def slowly(transaction: Transaction) -> None:
            transaction.lock(f"executions of {ADAPTER} {OPERATION}")
            has_lock.set()
            may_go_on.wait(20)
            moving.end(transaction, State.COMPLETED, at_work, {}, ledger.queue)

        async def is_locked() -> bool:
            return has_lock.is_set()

        async def is_waiting() -> bool:
            sql = "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
            return bool(await other.transact(lambda transaction: transaction.rows(sql), writes=False))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(other.transact, slowly)
            await until(is_locked)
            tasks.start_soon(ledger.ask_to_stop, second.id, "ann")
            await until(is_waiting)
            may_go_on.set()
        assert (await found(ledger, second)).state is State.CANCELLED
        assert await ready(ledger) == ids(third)
    finally:
        await store.close()
        await other.close()


async def test_a_job_is_put_for_each_whose_turn_has_come_and_for_no_other(postgresql_url: str) -> None:
    store = open_store(postgresql_url)
    try:
        await prepare_queue(store)
        ledger = ledger_of(store)
        first, second = [await added(ledger, ONE, worker=None) for _ in range(2)]
        sql = "SELECT args ->> 'id', queue_name, status FROM procrastinate_jobs ORDER BY id"

        async def jobs() -> list[tuple[object, ...]]:
            return await store.transact(lambda transaction: transaction.rows(sql))

        assert await jobs() == [(first.id, queue_name(ADAPTER), "todo")]
        await ledger.complete(await begun(ledger, first), result(1))
        assert [job[0] for job in await jobs()] == ids(first, second)
    finally:
        await store.close()


# whatever happens, in whichever order


@dataclass
class Model:
    """What is true of room at every moment, whatever has happened."""

    capacity: int | None
    has_keys: bool
    known: list[str] = field(default_factory=list)

    def check(self, executions: list[Execution]) -> None:
        live = sorted((one for one in executions if not one.state.is_terminal), key=lambda one: one.id)
        inside = [one for one in live if one.ready]
        keys = [one.slot_key for one in inside if one.slot_key is not None]
        assert self.capacity is None or len(inside) <= self.capacity, "more than there is room for"
        assert len(keys) == len(set(keys)), "two of one key"
        assert not any(one.ready for one in executions if one.state.is_terminal), "room for what has ended"
        has_room = self.capacity is None or len(inside) < self.capacity
        fitting = [one for one in live if not one.ready and has_room and one.slot_key not in keys]
        assert not fitting, f"{fitting[0].id} waits, and there is room"


KEYS = ("a", "b", "c")
ACTIONS = ("add", "begin", "complete", "fail", "again", "ask", "stopped", "retry", "lose", "stuck")
_moves = st.lists(st.tuples(st.sampled_from(ACTIONS), st.integers(0, 9)), min_size=1, max_size=40)


async def act(ledger: Ledger, model: Model, action: str, number: int) -> None:
    if action == "add" or not model.known:
        background = Background(concurrency=model.capacity, interrupted=("fail", "resume")[number % 2])
        key = KEYS[number % len(KEYS)] if model.has_keys else None
        model.known.append((await added(ledger, background, slot_key=key)).id)
        return
    execution = await found(ledger, model.known[number % len(model.known)])
    await MOVES[action](ledger, execution)


MOVES: dict[str, Leaving] = {
    "begin": lambda ledger, one: ledger.begin(one.id, WORKER),
    "complete": lambda ledger, one: ledger.complete(one, result(1)),
    "fail": lambda ledger, one: ledger.fail(one, BROKEN),
    "again": lambda ledger, one: ledger.again(one, BROKEN, NOW),
    "ask": lambda ledger, one: ledger.ask_to_stop(one.id, "ann"),
    "stopped": lambda ledger, one: ledger.stopped(one),
    "retry": lambda ledger, one: ledger.retry(one.id, WORKER),
    "lose": lambda ledger, _: ledger.recover(),
    "stuck": lambda ledger, one: ledger.stuck(one.run),
}


@settings(max_examples=60)
@given(capacity=st.sampled_from([None, 1, 2, 3]), has_keys=st.booleans(), moves=_moves)
async def test_room_is_never_exceeded_and_never_left_unused(
    capacity: int | None, has_keys: bool, moves: list[tuple[str, int]]
) -> None:
    store = open_store("memory:")
    try:
        ledger, model = ledger_of(store), Model(capacity, has_keys)
        for action, number in moves:
            await act(ledger, model, action, number)
            model.check(await ledger.select())
    finally:
        await store.close()
