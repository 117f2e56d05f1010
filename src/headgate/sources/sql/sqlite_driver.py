"""SQLite: connections of the pool, and the one that reads on the event loop itself."""

import os
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from math import inf
from time import perf_counter
from typing import Any, ClassVar, Final
from urllib.parse import quote, urlencode

from headgate.sources.sql.connections import Connection, Driver, Parameters, Result, Row
from headgate.sources.sql.failures import (
    ConnectionLost,
    DatabaseFailure,
    DataProblem,
    Interrupted,
    StatementTimeout,
    sqlite_failure,
)
from headgate.sources.sql.patience import Patience

__all__ = ["InlineReader", "SqliteConnection", "SqliteDriver", "fold"]

BUSY_SECONDS: Final = 5.0
"""How long a statement waits for a writer in another process or connection."""

WAIT_SECONDS: Final = 0.1
"""How long it waits at a time: whoever waits inside SQLite cannot be stopped."""

STEPS_BETWEEN_LOOKS: Final = 2000
"""How many steps of SQLite's machine, about 35 µs of work, pass between two looks on the clock."""

INLINE_SECONDS: Final = 0.003
INLINE_LOOKS: Final = 20
"""What a statement may hold the event loop for. Time alone says little: on a busy machine, others have had it."""

RUNS_UNTIL_FORGIVEN: Final = 64
CACHED_STATEMENTS: Final = 512

_URI_PARAMETERS: Final = ("immutable", "nolock", "vfs")
_TRY_ELSEWHERE: Final = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_INTERRUPT}


def fold(value: Any) -> Any:
    """A text without its case, as ``headgate_fold`` gives it in SQL; any other value as it is."""
    return value.replace("Σ", "\u03c3").replace("İ", "i").lower() if isinstance(value, str) else value


class SqliteDriver(Driver):
    """One file. It is never created, and its journal mode is left as it is."""

    def raw(self, wait_seconds: float = BUSY_SECONDS, isolation: Any = "DEFERRED") -> sqlite3.Connection:
        """A connection with this package's function, and without leave to write if the database is only read."""
        connection = sqlite3.connect(
            self._uri(),
            uri=True,
            timeout=wait_seconds,
            isolation_level=isolation,
            check_same_thread=False,
            cached_statements=CACHED_STATEMENTS,
        )
        connection.create_function("headgate_fold", 1, fold, deterministic=True)
        connection.execute("PRAGMA foreign_keys = ON")
        if self._is_read_only:
            connection.execute("PRAGMA query_only = ON")
        return connection

    def connect(self) -> Connection:
        """A new connection of the pool."""
        return SqliteConnection(self._opened(WAIT_SECONDS), self.options.statement_timeout, self._is_read_only)

    def inline_reader(self) -> "InlineReader":
        """The connection that never waits."""
        return InlineReader(self._opened(0))

    def _opened(self, wait_seconds: float) -> sqlite3.Connection:
        try:
            return self.raw(wait_seconds, None)
        except sqlite3.Error as error:
            raise ConnectionLost(str(error)) from None

    @property
    def _is_read_only(self) -> bool:
        return self.options.read_only or self.url.query.get("mode") == "ro"

    def _uri(self) -> str:
        kept = {name: value for name, value in self.url.query.items() if name in _URI_PARAMETERS}
        query = urlencode({**kept, "mode": "ro" if self._is_read_only else "rw"}, doseq=True)
        return f"file:{quote(os.fsencode(self.url.database or ''))}?{query}"


class SqliteConnection(Connection):
    """A connection whose statements are stopped by SQLite's own look on the clock."""

    survives_interruption: ClassVar = True

    def __init__(self, raw: sqlite3.Connection, timeout: float | None, read_only: bool) -> None:
        super().__init__((sqlite3.Error,))
        self._raw = raw
        self._timeout = inf if timeout is None else timeout
        self._begin = "BEGIN" if read_only else "BEGIN IMMEDIATE"
        self._deadline = inf
        raw.set_progress_handler(self._must_stop, STEPS_BETWEEN_LOOKS)

    def _must_stop(self) -> bool:
        return self.interrupted or perf_counter() > self._deadline

    def run(self, sql: str, parameters: Parameters) -> Result:
        """Hand a statement to the driver."""
        self._deadline = perf_counter() + self._timeout
        cursor = self._begun(sql, parameters)
        try:
            rows = cursor.fetchall()
        except sqlite3.OperationalError as error:
            if not _is_bad_text(error) or cursor.description is None:
                raise
            cursor, rows = self._read_badly(sql, parameters)
        columns = tuple(column[0] for column in cursor.description or ())
        return Result(rows, cursor.rowcount, columns, cursor.lastrowid)

    def _read_badly(self, sql: str, parameters: Parameters) -> tuple[sqlite3.Cursor, list[Row]]:
        """The rows of a table in which somebody put texts that are no UTF-8; what cannot be read is a question mark."""
        self._raw.text_factory = _replacing
        try:
            cursor = self._begun(sql, parameters)
            return cursor, cursor.fetchall()
        finally:
            self._raw.text_factory = str

    def failure(self, error: Exception) -> DatabaseFailure:
        """The failure that an exception of sqlite3 means."""
        failure = sqlite_failure(getattr(error, "sqlite_errorcode", None), str(error))
        return Interrupted() if self.interrupted and isinstance(failure, StatementTimeout) else failure

    def start(self) -> None:
        """Take the right to write at once, so that two writers cannot wait for each other."""
        self._tell(self._begin)

    def finish(self) -> None:
        """Commit."""
        self._tell("COMMIT")

    def undo(self) -> None:
        """Roll back, unless SQLite already has."""
        if self._raw.in_transaction:
            self._tell("ROLLBACK")

    def _tell(self, control: str) -> None:
        self._deadline = inf
        self._begun(control)

    def _begun(self, sql: str, parameters: Parameters = ()) -> sqlite3.Cursor:
        """A statement that has what it needs to run; that of a writer, as soon as the writer is done."""
        patience = perf_counter() + BUSY_SECONDS
        while True:
            try:
                return self._raw.execute(sql, parameters)
            except sqlite3.OperationalError as error:
                code = getattr(error, "sqlite_errorcode", None)
                if code != sqlite3.SQLITE_BUSY or self.interrupted or perf_counter() > patience:
                    raise

    def stop(self) -> None:
        """Stop a statement that does not look on the clock, such as one that sorts."""
        self._raw.interrupt()

    def close(self) -> None:
        """Leave the database."""
        with suppress(sqlite3.Error):
            self._raw.close()


def _is_bad_text(error: sqlite3.Error) -> bool:
    return str(error).startswith("Could not decode to UTF-8")


def _replacing(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


class InlineReader:
    """Reads on the thread of the event loop, where a page costs less than the way to another thread.

    A statement that is not done within the budget, or that would have to wait, is given up.
    """

    def __init__(self, raw: sqlite3.Connection, clock: Callable[[], float] = perf_counter) -> None:
        self._raw = raw
        self._clock = clock
        self._execute = raw.execute
        self._deadline = inf
        self._looks = 0
        self._patience = Patience(RUNS_UNTIL_FORGIVEN)
        raw.set_progress_handler(self._is_over, STEPS_BETWEEN_LOOKS)

    def _is_over(self) -> bool:
        self._looks += 1
        late = self._clock() - self._deadline
        return late > 0 and (self._looks > INLINE_LOOKS or late > INLINE_SECONDS * 5)

    def fetch(self, sql: str, parameters: Parameters) -> list[Row] | None:
        """All rows, or None if the statement belongs into another thread."""
        if not self._patience.allows(sql):
            return None
        self._looks = 0
        self._deadline = self._clock() + INLINE_SECONDS
        try:
            return self._execute(sql, parameters).fetchall()
        except (OverflowError, UnicodeError) as error:
            raise DataProblem(str(error)) from None
        except sqlite3.Error as error:
            if _is_bad_text(error):
                return None
            code = getattr(error, "sqlite_errorcode", 0)
            if code & 0xFF not in _TRY_ELSEWHERE:
                raise sqlite_failure(code, str(error)) from None
            if code == sqlite3.SQLITE_INTERRUPT:
                self._patience.lose(sql)
        return None

    def close(self) -> None:
        """Leave the database."""
        self._raw.close()
