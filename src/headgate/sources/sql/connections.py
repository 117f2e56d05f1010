"""One connection to a database, whichever its driver: statements, the transaction around them, and how to stop it."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import inf
from time import perf_counter
from typing import Any, ClassVar, Final, TypeAlias, cast

from sqlalchemy import Dialect
from sqlalchemy.engine import URL
from sqlalchemy.engine.interfaces import DBAPIModule

from headgate.sources.sql.failures import ConnectionLost, DatabaseFailure, DataProblem, Interrupted, NotBegun
from headgate.sources.sql.threads import Threads

__all__ = ["Connection", "DatabaseOptions", "Driver", "Parameters", "PlainConnection", "PlainDriver", "Result", "Row"]

Parameters: TypeAlias = Sequence[object] | Mapping[str, object]
Row: TypeAlias = tuple[Any, ...]

_SAVEPOINT: Final = "headgate_step"


@dataclass(frozen=True, slots=True)
class DatabaseOptions:
    """How a database is used. A statement that takes longer than its timeout, in seconds, is stopped."""

    read_only: bool = False
    statement_timeout: float | None = 30.0
    pool_size: int = 10
    slow_seconds: float = 1.0

    def __post_init__(self) -> None:
        if self.pool_size < 1:
            raise ValueError("A pool needs room for one connection: pool_size must be 1 or more")
        if self.statement_timeout is not None and not 0 < self.statement_timeout < inf:
            raise ValueError("statement_timeout must be more than 0 seconds, or None for no limit")


@dataclass(frozen=True, slots=True)
class Result:
    """What a statement gave: its rows, how many it touched, and the key that an insert made, where that is told."""

    rows: list[Row]
    rowcount: int
    columns: tuple[str, ...] = ()
    lastrowid: int | None = None


class Connection(ABC):
    """A connection that one thread at a time uses.

    After a statement has failed, the transaction can only be rolled back: no database goes on from there in the same
    way, so none is asked to.
    """

    survives_interruption: ClassVar = False
    """Whether the connection can be used again after a statement was stopped."""

    def __init__(self, errors: tuple[type[Exception], ...]) -> None:
        self.errors: tuple[type[Exception], ...] = (*errors, OverflowError, UnicodeError)
        self.reused = False
        self.began = False
        self.failed = False
        self.broken = False
        self.interrupted = False
        self.durations: list[tuple[str, float]] = []

    def execute(self, sql: str, parameters: Parameters = ()) -> Result:
        """Run one statement and read all that it gives."""
        self.check()
        started = perf_counter()
        try:
            return self.run(sql, parameters)
        except self.errors as error:
            self.failed = True
            raise self.note(error) from None
        finally:
            self.durations.append((sql, perf_counter() - started))

    def fetch(self, sql: str, parameters: Parameters) -> list[Row]:
        """The rows of a statement that only reads."""
        return self.execute(sql, parameters).rows

    async def read(self, sql: str, parameters: Parameters, threads: Threads, *, likely_fast: bool) -> list[Row]:
        """The same for the event loop. If the task is cancelled, so is the statement."""
        return await threads.run(self, self.fetch, sql, parameters)

    async def ready(self) -> None:  # noqa: B027  # most have nothing to prepare
        """Prepare a new connection for the event loop."""

    def check(self) -> None:
        """Refuse a statement that has no sense any more."""
        if self.failed:
            raise DatabaseFailure("an earlier statement of this transaction has failed")
        if self.interrupted:
            raise Interrupted

    def begin(self) -> None:
        """Open a transaction that may write, if the database may be written to."""
        try:
            self._control(self.start)
        except ConnectionLost as error:
            raise NotBegun(error.raw) from None
        self.began = True

    def commit(self) -> None:
        """Keep what was done; or undo it and say so, if that cannot be, or a failed statement was taken lightly."""
        try:
            self.check()
            self._control(self.finish)
        except DatabaseFailure:
            self.rollback()
            raise
        self.began = False

    def rollback(self) -> None:
        """Undo what was done. A connection that cannot even do that is not used again."""
        try:
            self._control(self.undo)
        except DatabaseFailure:
            self.broken = True
        self.began = False

    def enter_step(self) -> None:
        """Begin a part of the transaction that can be undone on its own."""
        self._control_step(f"SAVEPOINT {_SAVEPOINT}")

    def leave_step(self) -> None:
        """Keep what the part has done, as far as the transaction is kept."""
        self._control_step(f"RELEASE SAVEPOINT {_SAVEPOINT}")

    def undo_step(self) -> None:
        """Undo the part. Where the database has undone the whole transaction already, it stays failed."""
        with suppress(DatabaseFailure):
            self._control(lambda: self.run(f"ROLLBACK TO SAVEPOINT {_SAVEPOINT}", ()))
            self.failed = False

    def interrupt(self) -> None:
        """Stop what another thread is running here, now and until the connection is given back. Never raises."""
        self.interrupted = True
        with suppress(Exception):
            self.stop()

    @property
    def usable(self) -> bool:
        """Whether the next one may have this connection."""
        return not self.broken and not self.began and (self.survives_interruption or not self.interrupted)

    def reset(self) -> None:
        """Forget what the last user did."""
        self.reused = True
        self.failed = self.interrupted = False
        self.durations.clear()

    def note(self, error: Exception) -> DatabaseFailure:
        """What an exception means, for the statement and for the connection."""
        unfit = isinstance(error, OverflowError | UnicodeError)
        failure = DataProblem(str(error)) if unfit else self.failure(error)
        if isinstance(failure, ConnectionLost):
            self.broken = True
        return failure

    def _control_step(self, sql: str) -> None:
        self.check()
        try:
            self._control(lambda: self.run(sql, ()))
        except DatabaseFailure:
            self.failed = True
            raise

    def _control(self, action: Callable[[], object]) -> None:
        try:
            action()
        except self.errors as error:
            raise self.note(error) from None

    @abstractmethod
    def run(self, sql: str, parameters: Parameters) -> Result:
        """Hand a statement to the driver."""

    @abstractmethod
    def failure(self, error: Exception) -> DatabaseFailure:
        """The failure that an exception of the driver means."""

    @abstractmethod
    def start(self) -> None:
        """Open a transaction."""

    @abstractmethod
    def finish(self) -> None:
        """Commit."""

    @abstractmethod
    def undo(self) -> None:
        """Roll back."""

    @abstractmethod
    def stop(self) -> None:
        """Ask the database to stop what runs here. Called from another thread."""

    @abstractmethod
    def close(self) -> None:
        """Leave the database."""


class Driver(ABC):
    """How to reach one database."""

    def __init__(self, url: URL, dialect: Dialect, options: DatabaseOptions) -> None:
        self.url = url
        self.dialect = dialect
        self.options = options

    def raw(self) -> Any:
        """A connection of the DBAPI, set up as every session here is, that begins a transaction by itself."""
        arguments, named = self.dialect.create_connect_args(self.url)
        return self.dialect.connect(*arguments, **named)

    @abstractmethod
    def connect(self) -> Connection:
        """A new connection. ConnectionLost if there is none to be had."""


class PlainConnection(Connection):
    """Any DBAPI connection, with nothing asked of it that is not in the DBAPI."""

    def __init__(self, raw: Any, dialect: Dialect) -> None:
        super().__init__((dialect.loaded_dbapi.Error,))
        self._raw = raw
        self._dialect = dialect

    def fetch(self, sql: str, parameters: Parameters) -> list[Row]:
        """The rows, outside any transaction that is not open yet."""
        try:
            return super().fetch(sql, parameters)
        finally:
            if not self.began:
                self.rollback()

    def run(self, sql: str, parameters: Parameters) -> Result:
        """Hand a statement to the driver."""
        cursor = self._raw.cursor()
        try:
            cursor.execute(sql, parameters)
            described = cursor.description
            rows = [tuple(row) for row in cursor.fetchall()] if described else []
            columns = tuple(column[0] for column in described or ())
            return Result(rows, cursor.rowcount, columns, getattr(cursor, "lastrowid", None))
        finally:
            cursor.close()

    def failure(self, error: Exception) -> DatabaseFailure:
        """Only a lost connection and values that do not fit are told by the DBAPI."""
        if isinstance(error, self._dialect.loaded_dbapi.DataError):
            return DataProblem(str(error))
        lost = self._dialect.is_disconnect(cast("DBAPIModule.Error", error), self._raw, None)
        return (ConnectionLost if lost else DatabaseFailure)(str(error))

    def start(self) -> None:
        """The first statement opens the transaction."""

    def finish(self) -> None:
        """Commit."""
        self._raw.commit()

    def undo(self) -> None:
        """Roll back."""
        self._raw.rollback()

    def enter_step(self) -> None:
        """Savepoints differ too much: what fails here fails as a whole."""

    def leave_step(self) -> None:
        """See enter_step."""

    def undo_step(self) -> None:
        """See enter_step."""
        self.failed = True

    def stop(self) -> None:
        """The DBAPI has no way to stop a statement."""

    def close(self) -> None:
        """Leave the database."""
        with suppress(Exception):
            self._raw.close()


class PlainDriver(Driver):
    """A database that SQLAlchemy knows and this package knows nothing more about."""

    def connect(self) -> Connection:
        """A new connection."""
        try:
            return PlainConnection(self.raw(), self.dialect)
        except self.dialect.loaded_dbapi.Error as error:
            raise ConnectionLost(str(error)) from None
