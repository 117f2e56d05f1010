"""Whatever is changed in the rows of the audit behind the store's back, verification names the place."""

from collections.abc import AsyncIterator

import pytest

from headgate.store.audit import GENESIS, Head, chained
from headgate.store.interface import StoreError
from headgate.store.opening import open_store
from headgate.store.sql import SqlStore
from tests.store.entries import broken, entry, rows

pytestmark = pytest.mark.anyio

ROWS = 6
KEY = b"known to the operator alone"
SET = "UPDATE headgate.audit_rows SET"

CHANGES = {
    "a value": (f"{SET} entry = replace(entry, 'ann', 'bob') WHERE number = 3", 3),
    "the event": (f"{SET} entry = replace(entry, 'event 1', 'event 0') WHERE number = 1", 1),
    "a type": (f"{SET} entry = replace(entry, '1000.5', '\"1000.5\"') WHERE number = 3", 3),
    "a number's spelling": (f"{SET} entry = replace(entry, '1000.5', '1000.50') WHERE number = 3", 3),
    "spaces": (f"{SET} entry = entry || ' ' WHERE number = 3", 3),
    "a field twice": (
        f"""{SET} entry = replace(entry, '{{"adapter"', '{{"event":"x","adapter"') WHERE number = 3""",
        3,
    ),
    "a field more": (f"""{SET} entry = replace(entry, '{{"adapter"', '{{"aa":1,"adapter"') WHERE number = 3""", 3),
    "no JSON": (f"{SET} entry = 'x' WHERE number = 3", 3),
    "nothing": (f"{SET} entry = '' WHERE number = 6", 6),
    "other JSON": (f"{SET} entry = '[]' WHERE number = 3", 3),
    "null": (f"{SET} entry = 'null' WHERE number = 3", 3),
    "not a number": (f"""{SET} entry = '{{"at":NaN}}' WHERE number = 3""", 3),
    "a surrogate": (f"""{SET} entry = '"\\ud800"' WHERE number = 3""", 3),
    "the digest": (f"{SET} digest = upper(digest) WHERE number = 3", 3),
    "no digest": (f"{SET} digest = '' WHERE number = 3", 3),
    "a foreign digest": (f"{SET} digest = 'é' WHERE number = 3", 3),
    "the digest before": (f"{SET} previous = digest WHERE number = 3", 3),
    "the first's previous": (f"{SET} previous = digest WHERE number = 1", 1),
    "one row missing": ("DELETE FROM headgate.audit_rows WHERE number = 3", 3),
    "the first missing": ("DELETE FROM headgate.audit_rows WHERE number = 1", 1),
    "the last missing": ("DELETE FROM headgate.audit_rows WHERE number = 6", 6),
    "the last two missing": ("DELETE FROM headgate.audit_rows WHERE number >= 5", 5),
    "all missing": ("DELETE FROM headgate.audit_rows", 1),
    "moved up": (f"{SET} number = 7 WHERE number = 6", 6),
    "moved before the first": (f"{SET} number = -5 WHERE number = 6", 1),
    "one before the first": (
        "INSERT INTO headgate.audit_rows SELECT 0, previous, digest, entry FROM headgate.audit_rows WHERE number = 1",
        1,
    ),
    "one after the last": (
        "INSERT INTO headgate.audit_rows SELECT 7, previous, digest, entry FROM headgate.audit_rows WHERE number = 6",
        7,
    ),
    "the head's number": ("UPDATE headgate.audit_ends SET number = 5 WHERE name = 'head'", 5),
    "the head's digest": ("UPDATE headgate.audit_ends SET digest = 'x' WHERE name = 'head'", 6),
    "the head ahead": ("UPDATE headgate.audit_ends SET number = 8 WHERE name = 'head'", 7),
    "the start's number": ("UPDATE headgate.audit_ends SET number = 1 WHERE name = 'start'", 2),
    "the start's digest": ("UPDATE headgate.audit_ends SET digest = 'x' WHERE name = 'start'", 1),
}


@pytest.fixture
async def told(url: str) -> AsyncIterator[SqlStore]:
    """A store with some rows in its audit, and a key."""
    store = open_store(url, audit_key=KEY)
    await store.append([entry(f"event {number}") for number in range(1, ROWS + 1)])
    assert await broken(store, KEY) is None
    yield store
    await store.close()


async def tamper(store: SqlStore, sql: str, **values: object) -> None:
    await store._run(lambda transaction: transaction.change(sql, **values))


async def place(store: SqlStore) -> int | None:
    found = await broken(store, KEY)
    return None if found is None else found.number


@pytest.mark.parametrize(("sql", "number"), CHANGES.values(), ids=CHANGES)
async def test_a_change_is_found(told: SqlStore, sql: str, number: int) -> None:
    await tamper(told, sql)
    assert await place(told) == number


async def test_two_rows_that_changed_places_are_found(told: SqlStore) -> None:
    for old, new in ((3, 100), (4, 3), (100, 4)):
        await tamper(told, f"{SET} number = :new WHERE number = :old", old=old, new=new)
    assert await place(told) == 3


async def test_two_contents_that_changed_places_are_found(told: SqlStore) -> None:
    third, fourth = (await told._read("SELECT entry FROM headgate.audit_rows WHERE number IN (3, 4) ORDER BY number"))[
        :2
    ]
    for number, (text,) in ((3, fourth), (4, third)):
        await tamper(told, f"{SET} entry = :text WHERE number = :number", text=text, number=number)
    assert await place(told) == 3


async def test_a_chain_that_was_written_anew_without_the_key_is_found(told: SqlStore) -> None:
    kept = await rows(told)
    head = kept[1].head
    for row in kept[2:]:
        forged = chained(row.entry, head)
        head = forged.head
        digests = {"digest": forged.digest, "previous": forged.previous, "number": forged.number}
        await tamper(told, f"{SET} digest = :digest, previous = :previous WHERE number = :number", **digests)
    await tamper(told, "UPDATE headgate.audit_ends SET digest = :digest WHERE name = 'head'", digest=head.digest)
    assert await place(told) == 3


async def test_a_row_that_cannot_be_read_is_shown_as_it_stands(told: SqlStore) -> None:
    await tamper(told, f"{SET} entry = 'not JSON' WHERE number = 2")
    row = (await rows(told))[1]
    assert (row.number, row.entry.event, row.entry.details) == (2, "unreadable", {"stored": "not JSON"})


@pytest.mark.parametrize("name", ["head", "start"])
async def test_an_end_that_was_removed_is_told(told: SqlStore, name: str) -> None:
    await tamper(told, "DELETE FROM headgate.audit_ends WHERE name = :name", name=name)
    with pytest.raises(StoreError, match=f"The row '{name}' of the table 'audit_ends' is missing"):
        await broken(told, KEY)
    with pytest.raises(StoreError, match="tampered"):
        await told.prune(3, entry())


async def test_nothing_is_written_over_rows_that_somebody_added(told: SqlStore) -> None:
    await tamper(told, CHANGES["one after the last"][0])
    with pytest.raises(StoreError, match="The store"):
        await told.append([entry()])
    assert (await told.head()).number == ROWS


async def test_a_chain_is_not_cut_where_a_row_is_missing(told: SqlStore) -> None:
    await tamper(told, "DELETE FROM headgate.audit_rows WHERE number = 3")
    with pytest.raises(StoreError, match="Row 3 of the audit is missing"):
        await told.prune(3, entry())
    assert await told.start() == GENESIS
    assert await told.prune(4, entry("pruned")) == 3
    assert (await told.start()).number == 4
    assert await place(told) is None


async def test_another_head_on_paper_finds_a_store_that_was_put_back(told: SqlStore) -> None:
    """A backup that was put back is whole by itself; the head that somebody noted elsewhere tells."""
    await told.append([entry("undone")])
    noted: Head = await told.head()
    await tamper(told, "DELETE FROM headgate.audit_rows WHERE number = 7")
    before = (await rows(told))[-1].head
    await tamper(
        told, "UPDATE headgate.audit_ends SET number = 6, digest = :digest WHERE name = 'head'", digest=before.digest
    )
    assert await place(told) is None
    assert await told.head() != noted


BYTES = {
    "bytes": f"{SET} entry = x'ff00' WHERE number = 3",
    "a text that is no UTF-8": f"{SET} entry = CAST(x'22ff22' AS TEXT) WHERE number = 3",
    "a number": f"{SET} entry = 7 WHERE number = 3",
    "a digest of bytes": f"{SET} digest = x'ff' WHERE number = 3",
}


@pytest.mark.parametrize("sql", BYTES.values(), ids=BYTES)
async def test_values_of_other_types_are_found_in_sqlite(sql: str) -> None:
    store = open_store("memory:", audit_key=KEY)
    await store.append([entry(f"event {number}") for number in range(1, ROWS + 1)])
    await tamper(store, sql)
    assert await place(store) == 3
    await store.close()
