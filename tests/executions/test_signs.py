"""What tells an operator's pages that executions have changed: on every store, without reading what they hold."""

import pytest

from headgate.executions import persons
from headgate.protocol.lifecycle import LIVE, State
from headgate.store.executions import Progress
from headgate.store.sql import SqlStore
from tests.executions.books import brought, ledger_of, running

pytestmark = pytest.mark.anyio


async def test_all_that_are_unfinished_are_counted_and_those_that_are_stuck(store: SqlStore) -> None:
    ledger = ledger_of(store)
    assert await persons.unfinished(store) == (0, 0)
    for state in State:
        await brought(ledger, state)
    await brought(ledger, State.STUCK)
    assert await persons.unfinished(store) == (len(LIVE) + 1, 2)


async def test_signs_differ_only_where_something_has_changed(store: SqlStore) -> None:
    ledger = ledger_of(store)
    quiet = await persons.signs(store)
    assert quiet.is_quiet
    await brought(ledger, State.COMPLETED)
    ended = await persons.signs(store)
    assert ended.is_quiet
    assert ended.states != quiet.states, "one that has come and gone is a change too"
    execution = await running(ledger)
    began = await persons.signs(store)
    assert not began.is_quiet
    assert await persons.signs(store) == began
    await ledger.note([(execution.run, Progress(1, 2, "half"))])
    moved = await persons.signs(store)
    assert (moved.states, moved.progress != began.progress) == (began.states, True)
    await ledger.stuck(execution.run)
    assert (await persons.signs(store)).states != moved.states


async def test_the_unfinished_are_listed_the_newest_first_and_page_by_page(store: SqlStore) -> None:
    ledger = ledger_of(store)
    made = [await brought(ledger, state) for state in (*LIVE, State.FAILED, *LIVE)]
    live = [one.id for one in reversed(made) if one.state is not State.FAILED]
    first = await persons.executions(store, ledger.clock, live=True, first=4, brief=True)
    assert [one.id for one in first] == live[:4]
    assert {one.params for one in first} == {""}
    rest = await persons.executions(store, ledger.clock, live=True, before=live[3])
    assert [one.id for one in rest] == live[4:]
    assert {one.params for one in rest} == {"{}"}
