"""The audit in a store: rows in one chain, whatever they hold and whoever writes them."""

import asyncio

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headgate.store.audit import GENESIS, Entry, Head, chained, first_break
from headgate.store.chain import BATCH
from headgate.store.interface import StoreError
from headgate.store.opening import open_store
from headgate.store.sql import SqlStore
from tests.store.entries import broken, entry, events, rows

pytestmark = pytest.mark.anyio

FULL = Entry(
    at=1_700_000_000.123456,
    event="called",
    adapter="library",
    caller="ann",
    session="s-1",
    request_id="r-1",
    operation="delete_book",
    danger="destructive",
    decision="deny",
    rule="no deletes",
    code="PERMISSION_DENIED",
    params={"id": 7, "note": "a\0b \U0001f600 ' \" \\ %s :x", "deep": [{"z": 1, "a": None}]},
    params_digest="0" * 64,
    duration_ms=0.25,
    details={"from": 2**70, "é": 1.0},
)


async def test_an_empty_audit_begins_and_ends_at_the_same_place(store: SqlStore) -> None:
    assert await store.head() == await store.start() == GENESIS
    assert await rows(store) == []
    await store.append([])
    assert await store.head() == GENESIS


async def test_rows_are_chained_in_the_order_they_were_given(store: SqlStore) -> None:
    await store.append([entry("one")])
    await store.append([entry("two"), FULL])
    first = chained(entry("one"), GENESIS)
    second = chained(entry("two"), first.head)
    third = chained(FULL, second.head)
    assert await rows(store) == [first, second, third]
    assert await rows(store, after=1) == [second, third]
    assert await rows(store, after=3) == []
    assert await store.head() == third.head
    assert await broken(store) is None


async def test_rows_are_read_in_batches_while_others_write(store: SqlStore) -> None:
    await store.append([entry(f"{number}") for number in range(2 * BATCH)])
    seen = []
    async for row in store.rows():
        seen.append(row)
        if row.number in (1, BATCH, 2 * BATCH):
            await store.append([entry("meanwhile")])
    assert [row.number for row in seen] == list(range(1, 2 * BATCH + 4))
    assert await broken(store) is None


async def test_appending_at_once_leaves_no_gap(store: SqlStore) -> None:
    await asyncio.gather(*(store.append([entry(f"{number}a"), entry(f"{number}b")]) for number in range(20)))
    assert await broken(store) is None
    written = await events(store)
    assert len(set(written)) == 40
    for place in range(0, 40, 2):  # what was given together stands together
        assert (written[place][:-1], written[place][-1:]) == (written[place + 1][:-1], "a")


async def test_the_key_makes_another_chain(url: str) -> None:
    store = open_store(url, audit_key=b"secret")
    await store.append([FULL, entry()])
    assert (await rows(store))[0] == chained(FULL, GENESIS, b"secret")
    assert await broken(store, b"secret") is None
    for wrong in (b"", b"other"):
        found = await broken(store, wrong)
        assert found is not None
        assert found.number == 1
    await store.close()


async def test_a_view_shows_the_audit_to_whoever_reads_sql(store: SqlStore) -> None:
    await store.append([FULL, entry()])
    columns = "SELECT number, at, event, adapter, operation, caller, session, request_id, decision, code"
    assert await store._read(columns + " FROM headgate.audit ORDER BY number") == [
        (1, FULL.at, "called", "library", "delete_book", "ann", "s-1", "r-1", "deny", "PERMISSION_DENIED"),
        (2, 1_000.5, "called", "library", "list_books", "ann", "", "", "", ""),
    ]


async def test_pruning_takes_out_the_oldest_and_tells_of_it(store: SqlStore) -> None:
    await store.append([entry(f"{number}") for number in range(1, 11)])
    old = await rows(store)
    assert await store.prune(4, entry("pruned", through=4)) == 4
    assert await store.start() == old[3].head
    assert await events(store) == ["5", "6", "7", "8", "9", "10", "pruned"]
    assert await broken(store) is None
    assert first_break([*old, *(await rows(store, after=10))], GENESIS, await store.head()) is None


@pytest.mark.parametrize("through", [-1, 0, 2, -(2**63)])
async def test_pruning_nothing_adds_nothing(store: SqlStore, through: int) -> None:
    await store.append([entry(f"{number}") for number in range(1, 5)])
    await store.prune(2, entry("pruned"))
    assert await store.prune(through, entry("pruned again")) == 0
    assert await events(store) == ["3", "4", "pruned"]


async def test_pruning_everything_leaves_the_entry_that_tells_of_it(store: SqlStore) -> None:
    await store.append([entry("one"), entry("two")])
    last = await store.head()
    assert await store.prune(10**6, entry("pruned")) == 2
    assert await store.start() == last
    assert [(row.number, row.previous) for row in await rows(store)] == [(3, last.digest)]
    assert await broken(store) is None
    assert await store.prune(3, entry("pruned again")) == 1
    assert await broken(store) is None


async def test_pruning_an_empty_audit_does_nothing(store: SqlStore) -> None:
    assert await store.prune(5, entry("pruned")) == 0
    assert await store.head() == GENESIS


NO_JSON = {
    "a surrogate": "\udc00",
    "not a number": float("nan"),
    "an object": object(),
    "bytes": b"x",
    "keys of two kinds": {1: 1, "a": 1},
}


@pytest.mark.parametrize("value", NO_JSON.values(), ids=NO_JSON)
async def test_an_entry_that_is_no_json_is_refused(store: SqlStore, value: object) -> None:
    with pytest.raises(StoreError, match="An entry of the audit is not JSON"):
        await store.append([entry(), entry(value=value)])
    with pytest.raises(StoreError, match="not JSON"):
        await store.prune(1, entry(value=value))
    assert await store.head() == GENESIS


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text() | st.just("a"), inner, max_size=4)
        | st.dictionaries(st.integers(-20, 20), inner, max_size=4)
    ),
    max_leaves=12,
)
_details = st.dictionaries(st.text(), _json, max_size=3)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(details=_details, params=st.none() | _details, text=st.text(), at=st.floats(0, 4e9) | st.integers(0, 10**10))
async def test_every_entry_verifies_when_it_is_read_again(
    store: SqlStore,
    details: dict[str, object],
    params: dict[str, object] | None,
    text: str,
    at: float,
) -> None:
    """Even with tuples, and with keys that JSON spells and sorts differently."""
    before: Head = await store.head()
    made = Entry(at=at, event=text, adapter=text, params=params, details=details)
    await store.append([made])
    (row,) = await rows(store, after=before.number)
    assert first_break([row], before, await store.head()) is None
    assert (row.entry.event, row.entry.at) == (text, at)
