"""What an operator does about executions, from any process: it is written down, if it has happened."""

from collections.abc import Callable
from typing import Any

import pytest

from headgate.adapter.background import Background
from headgate.executions import persons
from headgate.protocol.lifecycle import State
from headgate.store.drivers.base import Transaction
from headgate.store.executions import Execution
from headgate.store.sql import SqlStore
from tests.executions.books import (
    ADAPTER,
    BROKEN,
    OPERATION,
    WORKER,
    Clock,
    added,
    begun,
    brought,
    found,
    hosted,
    ledger_of,
    made,
    named,
    result,
    running,
)
from tests.store.entries import rows as audit_rows

pytestmark = pytest.mark.anyio

CLOCK = Clock()


async def told(store: SqlStore) -> list[tuple[str, str, object]]:
    """What the audit tells: the event, who did it, and of which execution."""
    entries = [row.entry for row in await audit_rows(store)]
    assert all((one.adapter, one.operation, one.at) == (ADAPTER, OPERATION, CLOCK.now) for one in entries)
    return [(one.event, one.caller, one.details["execution_id"]) for one in entries]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (State.PENDING, State.CANCELLED),
        (State.RETRYING, State.CANCELLED),
        (State.RUNNING, State.CANCELLING),
        (State.STUCK, State.STUCK),
    ],
)
async def test_what_an_operator_cancels_is_written_down_with_the_name(
    store: SqlStore, before: State, after: State
) -> None:
    ledger = ledger_of(store)
    execution = await brought(ledger, before)
    assert await persons.cancel(store, execution.id, "olga", CLOCK)
    asked = await found(ledger, execution)
    assert (asked.state, asked.asked_by) == (after, "olga")
    assert await told(store) == [("cancelled", "olga", execution.id)]


async def test_what_was_to_stop_already_is_told_once(store: SqlStore) -> None:
    ledger = ledger_of(store)
    execution = await running(ledger)
    assert await persons.cancel(store, execution.id, "olga", CLOCK)
    assert await persons.cancel(store, execution.id, "otto", CLOCK), "it is on its way"
    assert await told(store) == [("cancelled", "olga", execution.id)]
    assert (await found(ledger, execution)).asked_by == "olga"


async def test_what_ends_because_an_operator_wants_it_has_its_end_told_too(store: SqlStore) -> None:
    ledger = ledger_of(store)
    execution = await added(ledger, audited=True)
    await persons.cancel(store, execution.id, "olga", CLOCK)
    assert await told(store) == [("cancelled", "olga", execution.id), ("ended", "ann", execution.id)]


@pytest.mark.parametrize("state", [State.COMPLETED, State.FAILED, State.CANCELLED])
async def test_what_has_ended_cannot_be_cancelled_and_nothing_is_told(store: SqlStore, state: State) -> None:
    ledger = ledger_of(store)
    execution = await brought(ledger, state)
    assert not await persons.cancel(store, execution.id, "olga", CLOCK)
    assert not await persons.cancel(store, "exec_of_nobody", "olga", CLOCK)
    assert await found(ledger, execution) == execution
    assert await told(store) == []


async def test_what_an_operator_retries_is_written_down_and_waits_for_anybody(store: SqlStore) -> None:
    ledger = ledger_of(store)
    execution = await brought(ledger, State.FAILED)
    assert persons.may_retry(execution)
    assert await persons.retry(store, execution.id, "olga", CLOCK)
    again = await found(ledger, execution)
    assert (again.state, again.worker) == (State.RETRYING, None)
    assert await told(store) == [("retried", "olga", execution.id)]
    assert not await persons.retry(store, execution.id, "otto", CLOCK), "it has not failed any more"
    assert len(await told(store)) == 1


async def test_what_cannot_be_retried_is_left_alone(store: SqlStore) -> None:
    ledger = ledger_of(store)
    states = [state for state in State if state is not State.FAILED]
    left = [await brought(ledger, state) for state in states]
    left += [
        await brought(ledger, State.FAILED, Background(retry=False)),
        await brought(ledger, State.FAILED, hides=True),
    ]
    for execution in left:
        assert not persons.may_retry(execution), execution.state
        assert not await persons.retry(store, execution.id, "olga", CLOCK), execution.state
        assert await found(ledger, execution) == execution
    assert not await persons.retry(store, "exec_of_nobody", "olga", CLOCK)
    assert await told(store) == []


class Faster(SqlStore):
    """The same store, in which somebody else is faster: right before a change, something happens to an execution."""

    def __init__(self, store: SqlStore, execution: Execution) -> None:
        super().__init__(store._driver, store.url)
        self.other = ledger_of(store)
        self.execution = execution

    async def transact(self, work: Callable[[Transaction], Any], entries: Any = (), *, writes: bool = True) -> Any:
        if entries:
            await self._happen()
        return await super().transact(work, entries, writes=writes)

    async def _happen(self) -> None:
        if self.execution.state is State.RUNNING:
            await self.other.complete(self.execution, result(1))
        else:
            await self.other.retry(self.execution.id, WORKER)


async def test_whoever_is_too_late_is_told_so_and_the_audit_tells_nothing(store: SqlStore) -> None:
    ledger = ledger_of(store)
    at_work, failed = await running(ledger), await brought(ledger, State.FAILED)
    assert not await persons.cancel(Faster(store, at_work), at_work.id, "olga", CLOCK)
    assert not await persons.retry(Faster(store, failed), failed.id, "olga", CLOCK)
    assert (await found(ledger, at_work)).state is State.COMPLETED
    assert (await found(ledger, failed)).worker == WORKER
    assert await told(store) == []


# looking


async def test_an_operator_sees_all_executions_the_newest_first(store: SqlStore) -> None:
    ledger = ledger_of(store)
    await ledger.beat(named(WORKER))
    mine, others = await brought(ledger, State.COMPLETED), await running(ledger, owner="bob", adapter="museum")
    assert await persons.executions(store, CLOCK) == [others, mine]
    assert await persons.executions(store, CLOCK, live=True) == [others]
    assert await persons.executions(store, CLOCK, first=1) == [others]
    assert await persons.executions(store, CLOCK, before=others.id) == [mine]
    [brief] = await persons.executions(store, CLOCK, live=True, brief=True)
    assert (brief.id, brief.state, brief.params, brief.about) == (others.id, State.RUNNING, "", "")


@pytest.mark.parametrize("looks", ["at all", "at one"])
async def test_what_a_dead_process_has_left_is_settled_before_it_is_shown(
    store: SqlStore, dead_pid: int, looks: str
) -> None:
    ledger = ledger_of(store)
    async with hosted(ledger, adapter="museum") as host:
        here = host.worker.place
    await ledger.beat(named(WORKER, place=here, pid=dead_pid))
    await ledger.beat(named("work_b"))
    left, others = await running(ledger), await running(ledger, worker="work_b")
    if looks == "at all":
        shown = await persons.executions(store, CLOCK)
        assert [one.state for one in shown] == [State.RUNNING, State.FAILED]
    else:
        one = await persons.find(store, left.id, CLOCK)
        assert one is not None
        assert one.state is State.FAILED
    assert await found(ledger, others) == others
    assert [worker.id for worker in await ledger.workers()] == ["work_b"]


async def test_what_has_ended_is_shown_as_it_is(store: SqlStore) -> None:
    ledger = ledger_of(store)
    ended = await brought(ledger, State.CANCELLED)
    assert await persons.find(store, ended.id, CLOCK) == ended
    assert await persons.find(store, "exec_of_nobody", CLOCK) is None


async def test_an_operator_sees_who_works_on_an_execution_while_that_is_known(store: SqlStore) -> None:
    ledger = ledger_of(store)
    execution = await running(ledger)
    assert await persons.worker_of(store, execution) is None
    await ledger.beat(named("work_b"))
    await ledger.beat(named(WORKER))
    assert await persons.worker_of(store, execution) == named(WORKER)


async def test_an_operator_sees_the_first_items_of_a_result(store: SqlStore) -> None:
    ledger = ledger_of(store)
    execution = await added(ledger)
    await ledger.complete(await begun(ledger, execution), result(list(range(50))))
    page = await persons.first_of_result(store, await found(ledger, execution))
    assert page.content == f"[{','.join(map(str, range(20)))}]"
    assert (page.returned, page.total) == (20, 50)


async def test_an_owner_has_all_executions_however_many_they_are(store: SqlStore) -> None:
    ledger = ledger_of(store)
    mine = [await added(ledger) for _ in range(3)]
    await ledger.add(made(owner="bob"))
    await ledger.add(made(adapter="museum"))
    await ledger.fail(await begun(ledger, mine[0]), BROKEN)
    assert [one.id for one in await ledger.all(ADAPTER, "ann")] == [one.id for one in reversed(mine)]
    assert [one.id for one in await ledger.select(adapter=ADAPTER, owner="ann", before=mine[2].id, first=1)] == [
        mine[1].id
    ]
