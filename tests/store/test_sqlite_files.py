"""A file of SQLite: changes that wait are written together, and what is said where the file fails."""

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import Self

import anyio.to_thread
import pytest

from headgate.store.drivers import sqlite as driver
from headgate.store.drivers.base import Transaction
from headgate.store.interface import StoreError
from headgate.store.opening import open_store
from headgate.store.records import Record
from headgate.store.sql import SqlStore
from tests.store.entries import broken, entry, events

pytestmark = pytest.mark.anyio


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.db"


@pytest.fixture
async def store(path: Path) -> AsyncIterator[SqlStore]:
    store = open_store(str(path))
    await store.open()
    yield store
    await store.close()


class Halted:
    """A store whose thread is at work until it is told otherwise, and what SQLite is told after that."""

    def __init__(self, store: SqlStore) -> None:
        self.may_go_on = threading.Event()
        self.statements: list[str] = []
        self._store = store
        self._begun = threading.Event()

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._store._run(self._wait, writes=False))
        await anyio.to_thread.run_sync(self._begun.wait)
        return self

    async def __aexit__(self, *_: object) -> None:
        self.may_go_on.set()
        await self._task

    def _wait(self, transaction: Transaction) -> None:
        assert isinstance(transaction, driver._Connection)
        self._begun.set()
        assert self.may_go_on.wait(60)
        transaction._raw.set_trace_callback(self.statements.append)


def insert(store: SqlStore, key: str) -> asyncio.Task[bool]:
    return asyncio.create_task(store.insert(Record("token", key, {}), [entry(key)]))


async def keys(store: SqlStore) -> list[str]:
    return [record.key for record in await store.list("token")]


async def test_changes_that_wait_are_written_with_one_commit(store: SqlStore) -> None:
    async with Halted(store) as halted:
        tasks = [insert(store, f"{number}") for number in range(5)]
        await asyncio.sleep(0)
        halted.may_go_on.set()
        assert await asyncio.gather(*tasks) == [True] * 5
    assert halted.statements.count("COMMIT") == 1
    assert await events(store) == ["0", "1", "2", "3", "4"]
    assert await broken(store) is None


async def test_each_of_the_changes_is_kept_or_undone_by_itself(store: SqlStore) -> None:
    def failing(transaction: Transaction) -> None:
        transaction.change("INSERT INTO records (kind, key, version, value) VALUES ('token', 'failing', 1, '')")
        raise KeyError("x")

    def overflowing(transaction: Transaction) -> None:
        transaction.change("DELETE FROM records")
        transaction.change("DELETE FROM records WHERE version = :version", version=2**70)

    async with Halted(store) as halted:
        first = insert(store, "first")
        failed = asyncio.create_task(store._run(failing))
        again = insert(store, "first")
        too_large = asyncio.create_task(store._run(overflowing))
        last = insert(store, "last")
        await asyncio.sleep(0)
        halted.may_go_on.set()
        assert [await first, await again, await last] == [True, False, True]
        with pytest.raises(KeyError):
            await failed
        with pytest.raises(StoreError, match="A value cannot be kept"):
            await too_large
    assert halted.statements.count("COMMIT") == 1
    assert await keys(store) == await events(store) == ["first", "last"]


async def test_who_reads_sees_what_was_asked_before(store: SqlStore) -> None:
    async with Halted(store) as halted:
        tasks = [insert(store, "a"), insert(store, "b")]
        counted = asyncio.create_task(store.count("token"))
        tasks.append(insert(store, "c"))
        await asyncio.sleep(0)
        halted.may_go_on.set()
        assert await counted == 2
        assert await asyncio.gather(*tasks) == [True] * 3
    assert halted.statements.count("COMMIT") == 2


async def test_no_more_than_some_are_written_together(store: SqlStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "MOST_AT_ONCE", 2)
    async with Halted(store) as halted:
        tasks = [insert(store, f"{number}") for number in range(5)]
        await asyncio.sleep(0)
        halted.may_go_on.set()
        assert await asyncio.gather(*tasks) == [True] * 5
    assert halted.statements.count("COMMIT") == 3


async def test_where_sqlite_gives_up_a_transaction_all_of_its_changes_are_undone(store: SqlStore) -> None:
    def giving_up(transaction: Transaction) -> None:
        transaction.change("ROLLBACK")  # as after some failures of the disk
        raise sqlite3.OperationalError("disk I/O error")

    async with Halted(store) as halted:
        tasks: list[asyncio.Task[object]] = [insert(store, "a")]
        tasks.append(asyncio.create_task(store._run(giving_up)))
        tasks.append(insert(store, "b"))
        await asyncio.sleep(0)
        halted.may_go_on.set()
        said = await asyncio.gather(*tasks, return_exceptions=True)
    assert [str(one) for one in said] == [str(said[0])] * 3
    assert str(said[0]).endswith("fails: disk I/O error")
    assert await keys(store) == []
    assert await insert(store, "c")


async def test_a_full_disk_is_told_and_what_was_there_stays(store: SqlStore) -> None:
    await insert(store, "kept")
    await store._read("PRAGMA max_page_count = 20")
    large = [store.insert(Record("token", f"{n}", {"text": "x" * 50_000}), [entry("large")]) for n in range(4)]
    said = await asyncio.gather(*large, return_exceptions=True)
    for one in said:
        assert isinstance(one, StoreError)
        assert str(one).endswith("cannot grow, since the disk is full; make room")
    await store._read("PRAGMA max_page_count = 100000")
    await insert(store, "after")
    assert await events(store) == ["kept", "after"]
    assert await broken(store) is None


async def test_a_file_that_another_program_holds_is_told(
    path: Path, store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver, "PATIENCE_SECONDS", 0)
    hasty = open_store(str(path))
    await hasty.open()
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="was in use by another program for 30 seconds; see which one holds it"):
            await hasty.insert(Record("token", "k", {}))
        assert await hasty.find("token", "k") is None  # who reads need not wait
    assert await hasty.insert(Record("token", "k", {}))
    await hasty.close()


async def test_a_new_file_that_another_program_holds_is_told(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "PATIENCE_SECONDS", 0)
    store = open_store(str(path))
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreError, match="was in use by another program"):
            await store.open()
        await store.close()


async def test_a_new_file_is_waited_for(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = open_store(str(path))
    with closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as other:
        other.execute("BEGIN EXCLUSIVE")
        monkeypatch.setattr(driver, "PATIENCE_SECONDS", 0.001)
        monkeypatch.setattr("headgate.store.drivers.sqlite.monotonic", lambda: 0.0)
        monkeypatch.setattr("headgate.store.drivers.sqlite.sleep", lambda _: other.execute("ROLLBACK"))
        assert await store.insert(Record("token", "k", {}))
    await store.close()


async def test_tables_that_were_dropped_are_told(store: SqlStore) -> None:
    await store._run(lambda transaction: transaction.change("DROP TABLE records"))
    with pytest.raises(StoreError, match="fails: no such table: records"):
        await store.find("token", "k")


async def test_a_path_that_is_too_long_for_sqlite_is_told(tmp_path: Path) -> None:
    folder = tmp_path.joinpath(*["x" * 200] * 5)
    folder.mkdir(parents=True)
    store = open_store(f"{folder}/a.db")
    with pytest.raises(StoreError, match="cannot be opened"):
        await store.open()
    await store.close()
