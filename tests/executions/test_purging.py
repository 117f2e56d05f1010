"""What has expired goes, with its result; what is live or still kept stays."""

import asyncio

import pytest

from headgate.adapter.background import Background
from headgate.protocol.lifecycle import State
from headgate.store.sql import SqlStore
from tests.executions.books import NOW, WORKER, added, begun, brought, found, kept_pieces, ledger_of, result

pytestmark = pytest.mark.anyio

MINUTE = Background(keep=60)
ENDS = (State.COMPLETED, State.FAILED, State.CANCELLED)


async def test_what_has_ended_is_kept_as_long_as_declared_and_then_goes(store: SqlStore) -> None:
    ledger = ledger_of(store)
    short = [await brought(ledger, state, MINUTE) for state in ENDS]
    long = [await brought(ledger, state, Background(keep=61)) for state in ENDS]
    assert [one.expires_at for one in (*short, *long)] == [NOW + 60] * 3 + [NOW + 61] * 3
    await store.purge(NOW + 60)
    assert len(await ledger.select()) == 6
    await store.purge(NOW + 60.5)
    assert [one.id for one in await ledger.select()] == [one.id for one in reversed(long)]
    assert await kept_pieces(store, short[0]) == []
    assert await kept_pieces(store, long[0]) != []


async def test_what_is_live_never_expires(store: SqlStore) -> None:
    ledger = ledger_of(store)
    states = (State.PENDING, State.RUNNING, State.RETRYING, State.CANCELLING, State.STUCK)
    live = [await brought(ledger, state, MINUTE) for state in states]
    assert [one.expires_at for one in live] == [None] * 5
    await store.purge(NOW + 10**9)
    assert [await found(ledger, one) for one in live] == live


async def test_more_than_are_thrown_away_at_once_go_all_the_same(store: SqlStore) -> None:
    ledger = ledger_of(store)
    kept = await added(ledger)
    ended = await asyncio.gather(*(added(ledger, MINUTE) for _ in range(203)))
    sql = "UPDATE headgate.executions SET state = 'failed', expires_at = :at WHERE id <> :kept"
    await store.transact(lambda transaction: transaction.change(sql, at=NOW, kept=kept.id))
    assert len(await ledger.select()) == len(ended) + 1
    await store.purge(NOW + 1)
    assert [one.id for one in await ledger.select()] == [kept.id]


async def test_a_result_of_many_pieces_goes_as_a_whole(store: SqlStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headgate.executions.results.PAGE", 10)
    ledger = ledger_of(store)
    execution = await added(ledger, MINUTE)
    await ledger.complete(await begun(ledger, execution), result(list(range(100))))
    assert len(await kept_pieces(store, execution)) > 20
    await store.purge(NOW + 61)
    assert await kept_pieces(store, execution) == []
    assert await ledger.find(execution.id) is None


async def test_what_is_begun_anew_expires_no_more(store: SqlStore) -> None:
    ledger = ledger_of(store)
    failed = await brought(ledger, State.FAILED, MINUTE)
    await ledger.retry(failed.id, WORKER)
    await store.purge(NOW + 61)
    assert (await found(ledger, failed)).state is State.RETRYING
