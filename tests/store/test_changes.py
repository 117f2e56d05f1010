"""Several records that change all together or not at all, with what the audit tells of them."""

import asyncio
import sqlite3
import threading
from collections.abc import Sequence
from typing import Any

import anyio.to_thread
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headgate.store.audit import Entry
from headgate.store.drivers.base import Transaction
from headgate.store.interface import StoreError
from headgate.store.opening import open_store
from headgate.store.records import Record
from headgate.store.sql import SqlStore
from tests.databases import Server
from tests.store.entries import broken, entry, events

pytestmark = pytest.mark.anyio


async def kept(store: SqlStore) -> dict[tuple[str, str], tuple[object, int]]:
    """The number in each record, and the version of it."""
    found = [one for kind in ("agent", "grant", "challenge") for one in await store.list(kind)]
    return {(one.kind, one.key): (one.value["n"], one.version) for one in found}


def record(kind: str, key: str, n: int, version: int = 0) -> Record:
    return Record(kind, key, {"n": n}, version=version)


@pytest.fixture
async def filled(store: SqlStore) -> SqlStore:
    """A store with an agent and a grant, and an audit of one row."""
    await store.insert(record("agent", "bot", 1), [entry("begun")])
    await store.insert(record("grant", "g", 1))
    return store


async def test_new_records_of_several_kinds_are_kept_and_others_changed_in_one_step(filled: SqlStore) -> None:
    changed = [record("agent", "bot", 2, 1), record("challenge", "c", 1), record("grant", "g", 2, 1)]
    assert await filled.change(changed, [entry("blocked"), entry("told")])
    assert await kept(filled) == {("agent", "bot"): (2, 2), ("grant", "g"): (2, 2), ("challenge", "c"): (1, 1)}
    assert await events(filled) == ["begun", "blocked", "told"]


async def test_owners_and_ends_change_with_their_records(filled: SqlStore) -> None:
    assert await filled.change([Record("agent", "bot", {"n": 2}, "blocked", 90.0, 1)])
    assert await filled.find("agent", "bot") == Record("agent", "bot", {"n": 2}, "blocked", 90.0, 2)
    assert [one.key for one in await filled.list("agent", owner="blocked")] == ["bot"]


async def test_a_change_of_nothing_is_done_and_its_entries_are_written(filled: SqlStore) -> None:
    assert await filled.change([])
    assert await filled.change([], [entry("noted")])
    assert await events(filled) == ["begun", "noted"]


LOST = {
    "the first was changed": [record("agent", "bot", 9, 7), record("challenge", "c", 9), record("grant", "g", 9, 1)],
    "the last was changed": [record("grant", "g", 9, 1), record("challenge", "c", 9), record("agent", "bot", 9, 7)],
    "one in the middle has changed": [
        record("grant", "g", 9, 1),
        record("agent", "bot", 9, 2),
        record("agent", "x", 9),
    ],
    "what should be new is there": [record("challenge", "c", 9), record("agent", "bot", 9)],
    "what should be there is not": [record("challenge", "c", 9), record("agent", "other", 9, 1)],
    "one kind has it and the other has not": [record("grant", "bot", 9, 1), record("agent", "bot", 9, 1)],
    "a version below none": [record("challenge", "c", 9), record("agent", "bot", 9, -1)],
    "a version beyond all": [record("challenge", "c", 9), record("agent", "bot", 9, 2**63)],
    "a version beyond all numbers": [record("agent", "bot", 9, 10**50)],
    "one record twice": [record("challenge", "c", 9), record("agent", "bot", 9, 1), record("agent", "bot", 9, 1)],
    "one new record twice": [record("challenge", "c", 9), record("challenge", "c", 9)],
}


@pytest.mark.parametrize("records", LOST.values(), ids=LOST)
async def test_a_race_that_is_lost_changes_nothing_and_writes_nothing(
    filled: SqlStore, records: Sequence[Record]
) -> None:
    before = await kept(filled)
    assert not await filled.change(records, [entry("wrongly"), entry("so too")])
    assert await kept(filled) == before
    assert await events(filled) == ["begun"]
    assert await filled.change([record("agent", "bot", 2, 1)], [entry("rightly")]), "the store goes on"
    assert await broken(filled) is None


REFUSED: dict[str, tuple[list[Record], list[Entry], str]] = {
    "a value that is no JSON": ([record("agent", "a", 1), Record("agent", "b", {"n": object()})], [], "not JSON"),
    "a key that no database holds": ([record("agent", "a", 1), record("agent", "\ud800", 1)], [], "lone surrogate"),
    "an owner that no database holds": ([record("agent", "a", 1), Record("agent", "b", {}, "x\0")], [], "NUL"),
    "an entry that is no JSON": ([record("agent", "a", 1)], [entry("fine"), entry("not", x=object())], "not JSON"),
}


@pytest.mark.parametrize(("records", "entries", "why"), REFUSED.values(), ids=REFUSED)
async def test_what_cannot_be_kept_takes_the_rest_with_it(
    filled: SqlStore, records: list[Record], entries: list[Entry], why: str
) -> None:
    before = await kept(filled)
    with pytest.raises(StoreError, match=why):
        await filled.change(records, entries)
    assert await kept(filled) == before
    assert await events(filled) == ["begun"]


async def test_a_failure_of_the_database_in_the_middle_undoes_what_came_before(filled: SqlStore) -> None:
    """An end that is no number is noticed by the database alone, after the first record was changed."""
    wrong = Record("agent", "b", {"n": 1}, None, 10**400)
    with pytest.raises(StoreError):
        await filled.change([record("agent", "bot", 2, 1), wrong], [entry("wrongly")])
    assert (await kept(filled))["agent", "bot"] == (1, 1)
    assert await events(filled) == ["begun"]
    assert await filled.change([record("agent", "bot", 2, 1)])


async def test_of_many_that_change_overlapping_records_at_once_one_succeeds(filled: SqlStore) -> None:
    """All of them want the agent; each wants something new of its own too."""

    def wish(number: int) -> list[Record]:
        mine = [record("challenge", f"c{number}", number), record("agent", "bot", number, 1)]
        return mine if number % 2 else mine[::-1]

    done = await asyncio.gather(*(filled.change(wish(n), [entry(f"by {n}")]) for n in range(12)))
    assert sum(done) == 1
    winner = done.index(True)
    assert await kept(filled) == {
        ("agent", "bot"): (winner, 2),
        ("challenge", f"c{winner}"): (winner, 1),
        ("grant", "g"): (1, 1),
    }
    assert await events(filled) == ["begun", f"by {winner}"]


async def test_two_that_take_the_same_records_in_another_order_do_not_wait_for_each_other(filled: SqlStore) -> None:
    for turn in range(1, 9):
        one = [record("agent", "bot", 1, turn), record("grant", "g", 1, turn)]
        two = [record("grant", "g", 2, turn), record("agent", "bot", 2, turn)]
        assert sum(await asyncio.gather(filled.change(one), filled.change(two))) == 1
        numbers = {n for n, _ in (await kept(filled)).values()}
        assert len(numbers) == 1, "never half of each"


async def test_writers_on_several_connections_count_every_change_once(shared_url: str) -> None:
    """Each adds one to both of two numbers, and tries again when it was too late."""
    stores = [open_store(shared_url) for _ in range(3)]
    try:
        await stores[0].change([record("agent", "a", 0), record("grant", "g", 0)])

        async def add(store: SqlStore, times: int) -> None:
            done = 0
            while done < times:
                first, second = await store.find("agent", "a"), await store.find("grant", "g")
                assert first
                assert second
                more = [one.having(n=int(str(one.value["n"])) + 1) for one in (first, second)]
                done += await store.change(more, [entry("added")])

        await asyncio.gather(*(add(store, 8) for store in stores for _ in range(2)))
        assert await kept(stores[1]) == {("agent", "a"): (48, 49), ("grant", "g"): (48, 49)}
        assert await events(stores[2]) == ["added"] * 48
        assert await broken(stores[2]) is None
    finally:
        for store in stores:
            await store.close()


async def test_a_change_that_was_kept_is_seen_by_whoever_reads_next_on_any_connection(shared_url: str) -> None:
    first, second = open_store(shared_url), open_store(shared_url)
    try:
        await first.change([record("agent", "a", 0)])
        for number in range(1, 30):
            assert await first.change([record("agent", "a", number, number)])
            assert (await kept(second))["agent", "a"] == (number, number + 1)
            assert (await kept(first))["agent", "a"] == (number, number + 1)
    finally:
        await first.close()
        await second.close()


# The same as a plain dictionary

KINDS = st.sampled_from(["agent", "grant"])
KEYS = st.sampled_from(["a", "b", "c"])
WISHES = st.lists(st.tuples(KINDS, KEYS, st.integers(0, 3)), max_size=4)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes=st.lists(WISHES, max_size=8))
async def test_any_changes_in_a_row_leave_what_a_dictionary_would_hold(
    changes: list[list[tuple[str, str, int]]],
) -> None:
    store = open_store("memory:")
    held: dict[tuple[str, str], tuple[object, int]] = {}
    try:
        for number, wishes in enumerate(changes):
            after, fits = _after(held, wishes, number)
            records = [record(kind, key, number, version) for kind, key, version in wishes]
            assert await store.change(records, [entry(f"{number}")]) is fits
            held = after if fits else held
        assert await kept(store) == held
    finally:
        await store.close()


def _after(
    held: dict[tuple[str, str], tuple[object, int]], wishes: list[tuple[str, str, int]], number: int
) -> tuple[dict[tuple[str, str], tuple[object, int]], bool]:
    after = dict(held)
    for kind, key, version in wishes:
        if after.get((kind, key), (None, 0))[1] != version:
            return held, False
        after[kind, key] = (number, version + 1)
    return after, True


# Reading a little, beside what is being written


async def test_while_something_is_being_written_to_a_file_a_record_can_be_read(sqlite: Server) -> None:
    with sqlite.fresh() as made:
        store = open_store(made.url)
        begun, may_end = threading.Event(), threading.Event()

        def slow(transaction: Transaction) -> None:
            transaction.change("UPDATE headgate.records SET value = '{\"n\":2}'")
            begun.set()
            assert may_end.wait(60)

        try:
            await store.change([record("agent", "a", 1)])
            writing = asyncio.create_task(store._run(slow))
            await anyio.to_thread.run_sync(begun.wait)
            assert await store.find("agent", "a") == record("agent", "a", 1, 1), "what is not kept yet is not seen"
            may_end.set()
            await writing
            assert await store.find("agent", "a") == record("agent", "a", 2, 1)
        finally:
            may_end.set()
            await store.close()


async def test_what_cannot_be_read_at_once_is_read_with_patience(sqlite: Server) -> None:
    with sqlite.fresh() as made:
        store = open_store(made.url)
        try:
            await store.change([record("agent", "a", 1)])
            reader = vars(store)["_driver"]._reader
            reader.close()
            assert await store.find("agent", "a") == record("agent", "a", 1, 1)
        finally:
            await store.close()


async def test_a_file_that_cannot_be_opened_twice_is_read_through_one_connection(
    sqlite: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect: Any = sqlite3.connect

    def once(path: str, **options: Any) -> Any:
        if options["timeout"] == 0:
            raise sqlite3.OperationalError("too many open files")
        return connect(path, **options)

    monkeypatch.setattr(sqlite3, "connect", once)
    with sqlite.fresh() as made:
        store = open_store(made.url)
        try:
            await store.change([record("agent", "a", 1)])
            assert await store.find("agent", "a") == record("agent", "a", 1, 1)
        finally:
            await store.close()


async def test_nothing_can_be_written_through_what_reads(sqlite: Server) -> None:
    with sqlite.fresh() as made:
        store = open_store(made.url)
        try:
            await store.change([record("agent", "a", 1)])
            with pytest.raises(sqlite3.OperationalError, match="readonly"):
                vars(store)["_driver"]._reader.change("DELETE FROM headgate.records")
            assert await store.find("agent", "a") is not None
        finally:
            await store.close()
