"""PostgreSQL through psycopg: reads on the event loop, transactions in a thread, over one and the same connection."""

import asyncio
import select
import sys
from contextlib import suppress
from time import perf_counter
from typing import Any, Final, TypeVar, cast

import anyio
import psycopg
from psycopg.abc import PQGen
from psycopg.pq import TransactionStatus
from psycopg.types.string import TextLoader
from psycopg.waiting import Ready, Wait
from sqlalchemy import Dialect

from headgate.sources.sql.connections import Connection, DatabaseOptions, Driver, Parameters, Result, Row
from headgate.sources.sql.failures import (
    ConnectionLost,
    Constraint,
    DatabaseFailure,
    DataProblem,
    Interrupted,
    StatementTimeout,
    postgresql_failure,
)
from headgate.sources.sql.patience import Patience
from headgate.sources.sql.threads import Threads

__all__ = ["PostgresqlConnection", "PostgresqlDriver"]

RV = TypeVar("RV")

PREPARE_AFTER: Final = 2
"""The third run of a statement on a connection is prepared."""

_AS_TEXT: Final = ("numeric", "timestamp", "timestamptz", "date", "time", "timetz", "uuid")
"""Types that are answered as texts: to make Python objects of them first would cost more than all the rest."""

_STOP_SECONDS: Final = 5.0
_INTERVAL_SECONDS: Final = 0.1
_PATIENCE_MILLISECONDS: Final = 2
_FAST_SECONDS: Final = 0.002
_RUNS_UNTIL_FORGIVEN: Final = 16
_PATIENCE: Final = {"connect_timeout": "10", "keepalives_idle": "30", "keepalives_interval": "10"}


class PostgresqlDriver(Driver):
    """A server of PostgreSQL, or one that speaks its protocol."""

    def __init__(self, url: Any, dialect: Dialect, options: DatabaseOptions) -> None:
        super().__init__(url, dialect, options)
        self._settings = _settings(options)
        self._patience = Patience(_RUNS_UNTIL_FORGIVEN)

    def raw(self) -> psycopg.Connection[Row]:
        """A connection whose session speaks UTF-8 and UTC, and keeps to the options."""
        arguments, named = self.dialect.create_connect_args(self.url)
        connection: psycopg.Connection[Row] = psycopg.connect(
            *arguments, **{**_PATIENCE, "client_encoding": "utf8", **named}
        )
        connection.autocommit = True
        calls = ", ".join("set_config(%s, %s, false)" for _ in self._settings)
        connection.execute(f"SELECT {calls}", [part for setting in self._settings.items() for part in setting])
        connection.autocommit = False
        return connection

    def connect(self) -> Connection:
        """A new connection, each statement of which stands alone until a transaction is begun."""
        try:
            raw = self.raw()
        except psycopg.Error as error:
            raise ConnectionLost(str(error)) from None
        raw.autocommit = True
        return PostgresqlConnection(raw, self._patience)


def _settings(options: DatabaseOptions) -> dict[str, str]:
    settings = {"TimeZone": "UTC"}
    if options.read_only:
        settings["default_transaction_read_only"] = "on"
    if options.statement_timeout is not None:
        settings["statement_timeout"] = str(max(1, round(options.statement_timeout * 1000)))
    return settings


class _Reader(psycopg.AsyncConnection[Row]):
    """psycopg's connection for the event loop, except that it looks for a fast answer before it lets others run.

    A page from a server nearby is there sooner than the event loop comes round.
    """

    is_patient = False
    """Whether to look; afterwards, whether it was worth it."""

    async def wait(
        self,
        gen: PQGen[RV],
        interval: float = _INTERVAL_SECONDS,
        timeout: float | None = None,  # noqa: ASYNC109  # psycopg's
    ) -> RV:
        """Let a generator of psycopg run to its end, as the one that this overrides promises."""
        if not self.is_patient:
            return await super().wait(gen, interval, timeout)
        started = perf_counter()
        try:
            state = next(gen)
            while ready := self._answer(state):
                state = gen.send(ready)
        except StopIteration as done:
            self.is_patient = perf_counter() - started < _FAST_SECONDS
            return cast("RV", done.value)
        self.is_patient = False
        return await super().wait(_resumed(gen, state), interval, timeout)

    def _answer(self, state: Wait) -> Ready | None:
        """What the socket is ready for of what is waited for, at the latest when patience ends."""
        poller = select.poll()
        poller.register(self.pgconn.socket, select.POLLIN | (select.POLLOUT if state & Wait.W else 0))
        for _, events in poller.poll(_PATIENCE_MILLISECONDS):
            return (Ready.RW if events & select.POLLIN else Ready.W) if events & select.POLLOUT else Ready.R
        return None


def _resumed(gen: PQGen[RV], state: Wait) -> PQGen[RV]:
    """A generator that waits already, from there on."""
    while True:
        ready = yield state
        try:
            state = gen.send(ready)
        except StopIteration as done:
            return cast("RV", done.value)


class PostgresqlConnection(Connection):
    """Two views of one connection: psycopg's for threads, and its other one for the event loop."""

    def __init__(self, raw: psycopg.Connection[Row], patience: Patience) -> None:
        super().__init__((psycopg.Error,))
        # Only one of the two may name prepared statements: the names are the session's.
        raw.prepare_threshold = None
        self._raw = raw
        self._patience = patience
        self._reader = _Reader(raw.pgconn)
        self._reader.prepare_threshold = PREPARE_AFTER
        for view in (raw, self._reader):
            for name in _AS_TEXT:
                view.adapters.register_loader(name, TextLoader)
        self._cursor = self._reader.cursor()  # one for all reads: it remembers how values are written and read

    async def ready(self) -> None:
        """Let each read stand alone."""
        await self._reader.set_autocommit(True)

    async def read(self, sql: str, parameters: Parameters, threads: Threads, *, likely_fast: bool) -> list[Row]:
        """The rows, without a thread, where the event loop can wait for a socket that is not its own."""
        if sys.platform == "win32":
            return await super().read(sql, parameters, threads, likely_fast=likely_fast)
        self.check()
        started = perf_counter()
        try:
            return await self._read(sql, parameters, likely_fast)
        except asyncio.CancelledError:
            await self._abandon()
            raise
        except self.errors as error:
            self.failed = True
            raise self.note(error) from None
        finally:
            self.durations.append((sql, perf_counter() - started))

    async def _read(self, sql: str, parameters: Parameters, likely_fast: bool) -> list[Row]:
        patient = self._reader.is_patient = likely_fast and self._patience.allows(sql)
        await self._cursor.execute(sql, parameters)
        if patient and not self._reader.is_patient:
            self._patience.lose(sql)
        return await self._cursor.fetchall()

    async def _abandon(self) -> None:
        """See to it that the server was told to stop: psycopg tells it, unless it was cancelled in that as well."""
        self.interrupted = True
        with anyio.CancelScope(shield=True), suppress(psycopg.Error):
            if self._reader.info.transaction_status == TransactionStatus.ACTIVE:
                await self._reader.cancel_safe(timeout=_STOP_SECONDS)

    def run(self, sql: str, parameters: Parameters) -> Result:
        """Hand a statement to the driver."""
        cursor = self._raw.execute(sql, parameters)
        described = cursor.description or ()
        return Result(cursor.fetchall() if described else [], cursor.rowcount, tuple(column[0] for column in described))

    def failure(self, error: Exception) -> DatabaseFailure:
        """The failure that an exception of psycopg means."""
        if isinstance(error, psycopg.Error) and error.sqlstate:
            return self._told(error)
        if self._raw.closed:
            return ConnectionLost(str(error))
        return (DataProblem if isinstance(error, psycopg.DataError) else DatabaseFailure)(str(error))

    def _told(self, error: psycopg.Error) -> DatabaseFailure:
        """What the server itself said."""
        failure = postgresql_failure(error.sqlstate, str(error), error.diag.message_detail or "")
        if isinstance(failure, Constraint):
            failure.table = error.diag.table_name
            failure.constraint = error.diag.constraint_name
            failure.columns = failure.columns or tuple(filter(None, [error.diag.column_name]))
        return Interrupted() if self.interrupted and isinstance(failure, StatementTimeout) else failure

    def start(self) -> None:
        """Open a transaction, of the kind that the session's setting says."""
        self._raw.execute("BEGIN")

    def finish(self) -> None:
        """Commit."""
        self._raw.execute("COMMIT")

    def undo(self) -> None:
        """Roll back."""
        self._raw.execute("ROLLBACK")

    def stop(self) -> None:
        """Ask the server to stop the statement."""
        self._raw.cancel_safe(timeout=_STOP_SECONDS)

    def close(self) -> None:
        """Leave the server."""
        with suppress(psycopg.Error):
            self._raw.close()
