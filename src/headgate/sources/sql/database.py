"""A database that statements are sent to: from any task, within a pool of connections, each within its time.

Reads go the shortest way that the driver has: on SQLite a statement that is likely fast runs at once on the event
loop, within a budget; on PostgreSQL the event loop waits for the socket;
elsewhere, and for transactions, a thread does.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Final, ParamSpec, TypeAlias, TypeVar

import anyio
from sqlalchemy import Dialect, Engine
from sqlalchemy.engine import URL

from headgate.sources.sql.connections import Connection, DatabaseOptions, Driver, Parameters, Result, Row
from headgate.sources.sql.failures import ConnectionLost, NotBegun
from headgate.sources.sql.opening import open_driver
from headgate.sources.sql.pool import Pool
from headgate.sources.sql.sqlite_driver import SqliteDriver
from headgate.sources.sql.threads import Threads

__all__ = ["Connection", "Database", "DatabaseOptions", "Result", "Row"]

P = ParamSpec("P")
T = TypeVar("T")

Observer: TypeAlias = Callable[[str, float], None]
"""Told of each statement that was run: its SQL, and the seconds that it took."""

_HELD_SECONDS: Final = 0.005
"""After so much time in reads that may not have let others run, they get their turn."""

_DEFAULTS: Final = DatabaseOptions()


@dataclass(eq=False, slots=True)
class _Joined:
    """The one connection of a task that has joined its statements, and of the tasks that it starts."""

    database: "Database"
    connection: Connection
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    is_over: bool = False


_JOINED: Final[ContextVar[tuple[_Joined, ...]]] = ContextVar("headgate_sql_joined", default=())


class Database:
    """One database. ``statements`` counts what was sent to it; ``observer`` is told of each with its duration."""

    def __init__(self, driver: Driver, engine: Engine) -> None:
        self.url: URL = driver.url
        self.options: DatabaseOptions = driver.options
        self.engine: Engine = engine
        self.dialect: Dialect = engine.dialect
        self.statements = 0
        self.observer: Observer | None = None
        self._held = 0.0
        self._threads = Threads(driver.options.pool_size)
        self._pool = Pool(driver.connect, driver.options.pool_size, self._threads)
        self._inline = driver.inline_reader() if isinstance(driver, SqliteDriver) else None

    @classmethod
    def open(cls, url: str | Path, options: DatabaseOptions = _DEFAULTS) -> "Database":
        """Reach a database once, to know that it is there. An AdapterError says in one line what is wrong.

        A path names a file of SQLite, which is never created. PostgreSQL is reached through psycopg, MySQL and MariaDB
        through PyMySQL, any other through the driver that its URL names.
        """
        return cls(*open_driver(url, options))

    async def fetch(self, sql: str, parameters: Parameters = (), *, likely_fast: bool = False) -> list[Row]:
        """All rows of a statement that only reads. It may be run twice, if the first time came to nothing."""
        if not likely_fast:
            return await self._fetch(sql, parameters, likely_fast)
        started = perf_counter()
        rows = None
        if self._inline is not None and not _JOINED.get():
            rows = self._inline.fetch(sql, parameters)
        if rows is None:
            rows = await self._fetch(sql, parameters, likely_fast)
        else:
            self._count(sql, perf_counter() - started)
        self._held += perf_counter() - started
        if self._held > _HELD_SECONDS:
            self._held = 0.0
            await asyncio.sleep(0)
        return rows

    async def transaction(self, work: Callable[[Connection], T]) -> T:
        """What ``work`` gives: run in a thread, within one transaction, kept if it returns and undone if it raises.

        Within ``joined`` it is a part of that transaction, and undone on its own if it raises.
        """
        joined = self._joined_here()
        if joined is None:
            return await self._with_connection(NotBegun, lambda one: self._run(one, _transact, one, work))
        async with joined.turn:
            return await self._run(joined.connection, _step, joined.connection, work)

    @asynccontextmanager
    async def joined(self) -> AsyncIterator[None]:
        """While open, all statements of this task go through one connection and one transaction.

        It is kept at the end, and undone if the body raises. Within another one it changes nothing.
        """
        if self._joined_here():
            yield
            return
        joined = _Joined(self, await self._begun())
        token = _JOINED.set((*_JOINED.get(), joined))
        try:
            yield
        except BaseException:
            await self._end(joined, joined.connection.rollback)
            raise
        else:
            await self._end(joined, joined.connection.commit)
        finally:
            _JOINED.reset(token)
            self._pool.give(joined.connection)

    async def close(self) -> None:
        """Wait for what is running, and leave the database."""
        await self._pool.close()
        self._threads.close()
        if self._inline is not None:
            self._inline.close()
        self.engine.dispose()

    async def _fetch(self, sql: str, parameters: Parameters, likely_fast: bool) -> list[Row]:
        joined = self._joined_here()
        if joined is None:
            return await self._with_connection(
                ConnectionLost, lambda one: self._read(one, sql, parameters, likely_fast)
            )
        async with joined.turn:
            return await self._read(joined.connection, sql, parameters, likely_fast)

    def _joined_here(self) -> _Joined | None:
        return next((one for one in _JOINED.get() if one.database is self and not one.is_over), None)

    async def _with_connection(self, harmless: type[ConnectionLost], use: Callable[[Connection], Awaitable[T]]) -> T:
        """Use a connection; and again a new one, if an old one turns out to be lost and nothing was done with it."""
        connection = await self._pool.take()
        try:
            return await use(connection)
        except harmless:
            if not connection.reused:
                raise
        finally:
            self._pool.give(connection)
        self._pool.forget_idle()
        return await self._with_connection(harmless, use)

    async def _begun(self) -> Connection:
        """A connection in a transaction, which the caller gives back."""
        connection = await self._pool.take()
        try:
            await self._run(connection, connection.begin)
        except BaseException as error:
            self._pool.give(connection)
            if not (isinstance(error, NotBegun) and connection.reused):
                raise
        else:
            return connection
        self._pool.forget_idle()
        return await self._begun()

    async def _end(self, joined: _Joined, action: Callable[[], None]) -> None:
        with anyio.CancelScope(shield=True):
            async with joined.turn:
                joined.is_over = True
                await self._threads.run(None, action)

    async def _read(self, connection: Connection, sql: str, parameters: Parameters, likely_fast: bool) -> list[Row]:
        try:
            return await connection.read(sql, parameters, self._threads, likely_fast=likely_fast)
        finally:
            self._count_all(connection)

    async def _run(self, connection: Connection, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return await self._threads.run(connection, function, *args, **kwargs)
        finally:
            self._count_all(connection)

    def _count_all(self, connection: Connection) -> None:
        for sql, seconds in connection.durations:
            self._count(sql, seconds)
        connection.durations.clear()

    def _count(self, sql: str, seconds: float) -> None:
        self.statements += 1
        if self.observer is not None:
            self.observer(sql, seconds)


def _transact(connection: Connection, work: Callable[[Connection], T]) -> T:
    connection.begin()
    try:
        result = work(connection)
    except BaseException:
        connection.rollback()
        raise
    connection.commit()
    return result


def _step(connection: Connection, work: Callable[[Connection], T]) -> T:
    """The same as a part of a transaction that somebody else ends."""
    connection.enter_step()
    try:
        result = work(connection)
        connection.leave_step()
    except BaseException:
        connection.undo_step()
        raise
    return result
