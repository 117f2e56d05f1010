"""Records: kept once, changed once, listed in the order of their keys."""

import asyncio

import pytest

from headgate.store.interface import Store, StoreError
from headgate.store.records import Record
from headgate.store.sql import SqlStore
from tests.store.entries import entry, events

pytestmark = pytest.mark.anyio

VALUES = {
    "empty": {},
    "every kind of value": {"a": None, "b": True, "c": -1, "d": 0.1, "e": "é\U0001f600", "f": [{"g": []}]},
    "controls": {"\0 key": "a\0b\n\t\x7f\u2028"},
    "a large integer": {"n": 10**400, "m": -(2**63) - 1},
    "floats": {"a": -0.0, "b": 1e300, "c": 5e-324, "d": 1.0},
    "a large text": {"text": "x" * 5_000_000},
}
KEYS = ["", "'", '"; DROP TABLE records; --', "%s %(key)s :key ?", "\\", "é\U0001f600", "\x01", " ", "k" * 2_000]


def record(key: str = "k", *, kind: str = "token", owner: str | None = None, **value: object) -> Record:
    return Record(kind, key, value, owner)


async def keys(store: SqlStore, owner: str | None = None, after: str = "", first: int = 1000) -> list[str]:
    return [one.key for one in await store.list("token", owner=owner, after=after, first=first)]


async def test_a_store_is_one_by_its_interface(store: SqlStore) -> None:
    kept: Store = store
    assert await kept.find("token", "k") is None


async def test_a_record_is_found_as_it_was_kept(store: SqlStore) -> None:
    assert await store.insert(Record("token", "k", {"state": "new"}, "session", 12.5))
    assert await store.find("token", "k") == Record("token", "k", {"state": "new"}, "session", 12.5, 1)
    assert await store.find("token", "other") is None
    assert await store.find("other", "k") is None


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
async def test_every_json_value_is_kept_as_it_is(store: SqlStore, value: dict[str, object]) -> None:
    assert await store.insert(Record("token", "k", value))
    found = await store.find("token", "k")
    assert found is not None
    assert repr(found.value) == repr(value)


@pytest.mark.parametrize("key", KEYS, ids=range(len(KEYS)))
async def test_every_text_is_a_key(store: SqlStore, key: str) -> None:
    assert await store.insert(Record(key, key, {}, key))
    assert await store.find(key, key) == Record(key, key, {}, key, None, 1)
    assert await store.count(key, owner=key) == 1
    assert await store.remove(key, key)


async def test_a_record_is_inserted_once(store: SqlStore) -> None:
    assert await store.insert(record(a=1))
    assert not await store.insert(record(a=2))
    assert await store.insert(record(kind="other", a=2))
    found = await store.find("token", "k")
    assert found is not None
    assert found.value == {"a": 1}


async def test_a_change_needs_the_version_that_was_read(store: SqlStore) -> None:
    await store.insert(Record("token", "k", {"n": 0}, "ann", 5.0))
    read = await store.find("token", "k")
    assert read is not None
    assert await store.replace(read.having(n=1))
    assert not await store.replace(read.having(n=2))
    assert await store.find("token", "k") == Record("token", "k", {"n": 1}, "ann", 5.0, 2)


async def test_what_is_not_there_cannot_be_replaced(store: SqlStore) -> None:
    assert not await store.replace(record())
    assert not await store.replace(Record("token", "k", {}, version=1))
    assert await store.find("token", "k") is None


async def test_of_many_changes_at_once_one_happens(store: SqlStore) -> None:
    await store.insert(record())
    for version in range(1, 6):
        tries = [store.replace(Record("token", "k", {"by": one}, version=version)) for one in range(8)]
        assert sum(await asyncio.gather(*tries)) == 1


async def test_of_many_inserts_at_once_one_happens(store: SqlStore) -> None:
    tries = [store.insert(record(by=one), [entry(f"by {one}")]) for one in range(8)]
    done = await asyncio.gather(*tries)
    assert sum(done) == 1
    assert await events(store) == [f"by {done.index(True)}"]


async def test_records_are_listed_by_their_keys_in_pages(store: SqlStore) -> None:
    names = ["B", "a", "b", "é", "\U0001f600", "Z", "\uffee"]
    for name in names:
        await store.insert(record(name, owner="ann" if name < "b" else "ben"))
    await store.insert(record("x", kind="other"))
    assert await keys(store) == sorted(names)
    assert await keys(store, first=2) == ["B", "Z"]
    assert await keys(store, after="Z", first=2) == ["a", "b"]
    assert await keys(store, owner="ann") == ["B", "Z", "a"]
    assert await keys(store, owner="ben", after="b", first=1) == ["é"]
    assert await keys(store, owner="nobody") == []
    assert await keys(store, first=0) == []


async def test_records_are_counted_until_they_expire(store: SqlStore) -> None:
    await store.insert(Record("token", "never", {}, "ann"))
    await store.insert(Record("token", "at 10", {}, "ann", 10.0))
    await store.insert(Record("token", "at 20", {}, "ben", 20.0))
    assert [await store.count("token", now=now) for now in (0, 9.99, 10, 19.99, 20)] == [3, 3, 2, 2, 1]
    assert await store.count("token", owner="ann", now=9.0) == 2
    assert await store.count("token", owner="ann", now=10.0) == 1
    assert await store.count("other") == 0


async def test_a_record_is_removed_once(store: SqlStore) -> None:
    await store.insert(record())
    assert await store.remove("token", "k")
    assert not await store.remove("token", "k")
    assert await store.insert(record())


async def test_what_expired_before_a_time_is_purged(store: SqlStore) -> None:
    await store.insert(Record("token", "never", {}))
    for second in (1, 2, 3):
        await store.insert(Record("token", f"at {second}", {}, None, second))
    assert await store.purge(3.0) == 2
    assert await keys(store) == ["at 3", "never"]
    assert await store.purge(3.0) == 0


async def test_entries_enter_the_audit_with_the_change_alone(store: SqlStore) -> None:
    assert await store.insert(record(), [entry("kept"), entry("told")])
    assert not await store.insert(record(), [entry("kept again")])
    assert not await store.replace(Record("token", "k", {}, version=7), [entry("changed wrongly")])
    assert await store.replace(Record("token", "k", {}, version=1), [entry("changed")])
    assert await events(store) == ["kept", "told", "changed"]


async def test_a_change_whose_entries_cannot_be_written_does_not_happen(store: SqlStore) -> None:
    with pytest.raises(StoreError, match="not JSON"):
        await store.insert(record(), [entry("fine"), entry("not", what=object())])
    assert await store.find("token", "k") is None
    assert await events(store) == []


@pytest.mark.parametrize("text", ["a\0b", "\ud800", "\udfff\ud800"], ids=["NUL", "a surrogate", "two surrogates"])
async def test_a_text_that_no_database_holds_is_refused(store: SqlStore, text: str) -> None:
    for wrong in (Record(text, "k", {}), Record("token", text, {}), Record("token", "k", {}, text)):
        with pytest.raises(StoreError, match="NUL or a lone surrogate") as caught:
            await store.insert(wrong)
        str(caught.value).encode()
    assert await store.find("token", text) is None
    assert not await store.remove(text, "k")
    assert await store.count("token") == 0


NO_JSON = {
    "a surrogate": "\ud800",
    "not a number": float("nan"),
    "infinity": float("inf"),
    "an object": object(),
    "bytes": b"x",
}


@pytest.mark.parametrize("value", NO_JSON.values(), ids=NO_JSON)
async def test_a_value_that_is_no_json_is_refused(store: SqlStore, value: object) -> None:
    with pytest.raises(StoreError, match="The value of the record 'token' 'k' is not JSON"):
        await store.insert(record(value=value))
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(StoreError, match="is not JSON"):
        await store.insert(record(value=deep))


@pytest.mark.parametrize("number", [0, -1, 2**63 - 1, 2**63, -(2**63) - 1, 10**50])
async def test_a_version_that_was_never_read_changes_nothing(store: SqlStore, number: int) -> None:
    await store.insert(record())
    assert not await store.replace(Record("token", "k", {}, version=number))
    assert await store.find("token", "k") == Record("token", "k", {}, version=1)


async def test_a_closed_store_says_so(store: SqlStore) -> None:
    await store.insert(record())
    await store.close()
    await store.close()
    with pytest.raises(StoreError, match="was closed"):
        await store.find("token", "k")
