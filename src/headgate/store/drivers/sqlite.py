"""SQLite: in memory on the event loop itself, or a file in a thread of its own."""

import os
import sqlite3
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Final, Generic, TypeVar

from headgate.store.drivers.base import (
    PATIENCE_SECONDS,
    OneThread,
    Row,
    Transaction,
    Unkeepable,
    Words,
    in_thread,
    one_line,
)
from headgate.store.interface import StoreError
from headgate.store.schema import prepare

__all__ = ["MemoryDriver", "SqliteDriver"]

T = TypeVar("T")

_SECONDS_BETWEEN_TRIES: Final = 0.01

_REASONS: Final = {
    sqlite3.SQLITE_NOTADB: "is no database of SQLite; name another file, or move this one away",
    sqlite3.SQLITE_CORRUPT: "is damaged; restore it from a backup, or move it away to start anew",
    sqlite3.SQLITE_READONLY: "cannot be written; see who owns the file and its folder",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened; see who owns the file and its folder",
    sqlite3.SQLITE_PERM: "cannot be opened; see who owns the file and its folder",
    sqlite3.SQLITE_BUSY: f"was in use by another program for {PATIENCE_SECONDS} seconds; see which one holds it",
    sqlite3.SQLITE_FULL: "cannot grow, since the disk is full; make room",
    sqlite3.SQLITE_IOERR: "cannot be read or written, since the disk fails",
}


_FAILURES: Final = (sqlite3.Error, OverflowError, UnicodeError)

MOST_AT_ONCE: Final = 100
"""How many changes that wait for the disk are written together."""

_WORDS: Final = Words(text="TEXT", integer="INTEGER", by_key=" WITHOUT ROWID", field="json_extract(entry, '$.{}')")


class _Plain(dict[str, str]):
    """Statements as SQLite takes them: its tables have no schema."""

    def __missing__(self, sql: str) -> str:
        plain = self[sql] = sql.replace("headgate.", "")
        return plain


_PLAIN: Final = _Plain()


class _Connection:
    """A connection, and the transaction that it is in."""

    words = _WORDS

    def __init__(self, raw: sqlite3.Connection, where: str) -> None:
        self._raw = raw
        self._where = where
        self._execute = raw.execute
        self.close = raw.close

    @property
    def is_in_transaction(self) -> bool:
        """Whether there is something to end: after some failures, SQLite has rolled back by itself."""
        return self._raw.in_transaction

    def change(self, sql: str, **values: object) -> int:
        """Run a statement; how many rows it has changed."""
        return self._execute(_PLAIN[sql], values).rowcount

    def change_each(self, sql: str, values: Sequence[Mapping[str, object]]) -> None:
        """Run one statement with each of several sets of parameters."""
        self._raw.executemany(_PLAIN[sql], values)

    def rows(self, sql: str, **values: object) -> list[Row]:
        """The rows that a statement gives; bytes that somebody put there and that are no UTF-8 are replaced."""
        try:
            return self._execute(_PLAIN[sql], values).fetchall()
        except sqlite3.OperationalError as error:
            if not str(error).startswith("Could not decode to UTF-8"):
                raise
        self._raw.text_factory = _replacing
        try:
            return self._execute(_PLAIN[sql], values).fetchall()
        finally:
            self._raw.text_factory = str

    def lock(self, name: str) -> None:
        """Nothing to do: whoever may write is alone."""

    def has_table(self, name: str) -> bool:
        """Whether one of headgate's tables is there."""
        return bool(self.rows("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = :name", name=name))

    def prepare_for_tables(self) -> None:
        """Refuse a file in which another program keeps something."""
        if self.rows("SELECT 1 FROM sqlite_master LIMIT 1"):
            raise StoreError(
                f"{self._where} is a database of another program; name a file that headgate has for itself"
            )

    def transact(self, work: Callable[[Transaction], T], writes: bool) -> T:
        """Do the work as a whole or not at all."""
        try:
            return self._all_or_nothing(work) if writes else work(self)
        except _FAILURES as error:
            raise _told(error, self._where) from None

    def step(self, work: Callable[[Transaction], T]) -> T:
        """Do the work as a part of a transaction that goes on, even if this part is undone."""
        self._execute("SAVEPOINT step")
        try:
            result = work(self)
        except BaseException as error:
            if not self.is_in_transaction:
                raise
            self._execute("ROLLBACK TO step")
            self._execute("RELEASE step")
            if isinstance(error, _FAILURES):
                raise _told(error, self._where) from None
            raise
        self._execute("RELEASE step")
        return result

    def _all_or_nothing(self, work: Callable[[Transaction], T]) -> T:
        self._execute("BEGIN IMMEDIATE")
        try:
            result = work(self)
            self._execute("COMMIT")
        except BaseException:
            if self.is_in_transaction:
                self._execute("ROLLBACK")
            raise
        return result


def _replacing(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def _told(error: Exception, where: str) -> StoreError:
    if not isinstance(error, sqlite3.Error) or isinstance(error, sqlite3.DataError):
        return Unkeepable(f"A value cannot be kept: {one_line(error)}")
    reason = _REASONS.get(getattr(error, "sqlite_errorcode", 0) & 0xFF)
    return StoreError(f"{where} {reason}" if reason else f"{where} fails: {one_line(error)}")


class MemoryDriver:
    """A database that ends with the process. It needs no thread: nothing in it ever waits."""

    is_shared = False

    def __init__(self) -> None:
        self.where = "The store in memory"
        self._connection: _Connection | None = None
        self._is_closed = False

    async def run(self, work: Callable[[Transaction], T], *, writes: bool = True) -> T:
        """Do the work at once."""
        connection = self._connection or self._opened()
        return connection.transact(work, writes)

    def _opened(self) -> _Connection:
        if self._is_closed:
            raise StoreError(f"{self.where} was closed")
        raw = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        self._connection = connection = _Connection(raw, self.where)
        connection.transact(lambda transaction: prepare(transaction, self.where), True)
        return connection

    async def glance(self, work: Callable[[Transaction], T]) -> T:
        """Do the reading at once."""
        return await self.run(work, writes=False)

    async def close(self) -> None:
        """Forget everything."""
        self._is_closed = True
        if self._connection is not None:
            self._connection.close()
            self._connection = None


class _Job(Generic[T]):
    """Work that waits for its turn, and then what has come of it."""

    def __init__(self, work: Callable[[Transaction], T], writes: bool) -> None:
        self.work = work
        self.writes = writes
        self.is_done = False
        self._result: list[T] = []
        self._error: Exception | None = None

    def attempt(self, doing: Callable[[Callable[[Transaction], T]], T]) -> None:
        """Have the work done by something that does work."""
        try:
            self._result = [doing(self.work)]
        except Exception as error:  # noqa: BLE001  # raised by whoever asks for the result
            self._error = error
        self.is_done = True

    def fail(self, error: Exception) -> None:
        """Undone, whatever had come of it."""
        self._error = type(error)(*error.args)  # one for each: what raises it adds to it
        self.is_done = True

    def result(self) -> T:
        """What the work has given or raised."""
        if self._error is not None:
            raise self._error
        return self._result[0]


class SqliteDriver:
    """A file, made if it is not there, whose connection lives in a thread of its own.

    Changes that come while another one is being written to the disk are then written with one commit. Each is still
    kept or undone by itself, and nobody hears of it before the disk has it. Where only a little is read, the thread
    would take longer to be asked than to answer: a second connection reads it on the event loop, and never waits.
    """

    is_shared = False

    def __init__(self, path: Path, *, makes_folder: bool = False) -> None:
        self.where = f"The store '{path}'"
        self._path = path
        self._makes_folder = makes_folder
        self._thread = OneThread("headgate-store")
        self._waiting: deque[_Job[Any]] = deque()
        self._connection: _Connection | None = None
        self._reader: _Connection | None = None
        self._is_closed = False

    async def run(self, work: Callable[[Transaction], T], *, writes: bool = True) -> T:
        """Do the work when what came before it is done."""
        if self._is_closed:
            raise StoreError(f"{self.where} was closed")
        job = _Job(work, writes)
        self._waiting.append(job)
        return await in_thread(self._thread, lambda: self._result(job))

    async def glance(self, work: Callable[[Transaction], T]) -> T:
        """Do the reading at once, or where that fails, in the thread, which has patience and words for it."""
        if self._reader is not None and not self._is_closed:
            with suppress(*_FAILURES):
                return work(self._reader)
        return await self.run(work, writes=False)

    def _result(self, job: _Job[T]) -> T:
        while not job.is_done:
            self._do_next()
        return job.result()

    def _do_next(self) -> None:
        jobs = [self._waiting.popleft()]
        while jobs[0].writes and self._waiting and self._waiting[0].writes and len(jobs) < MOST_AT_ONCE:
            jobs.append(self._waiting.popleft())
        try:
            connection = self._connection or self._opened()
            if len(jobs) > 1:
                connection.transact(lambda _: _do_each(connection, jobs), True)
            else:
                jobs[0].attempt(lambda work: connection.transact(work, jobs[0].writes))
        except Exception as error:  # noqa: BLE001  # raised by whoever asks for a result
            for job in jobs:
                job.fail(error)

    async def close(self) -> None:
        """Wait for what is running, and close the file."""
        if not self._is_closed:
            self._is_closed = True
            await in_thread(self._thread, self._close)
            self._thread.shutdown()

    def _close(self) -> None:
        for connection in (self._reader, self._connection):
            if connection is not None:
                connection.close()
        self._reader = self._connection = None

    def _opened(self) -> _Connection:
        self._make_file()
        try:
            raw = sqlite3.connect(self._path, isolation_level=None, timeout=PATIENCE_SECONDS)
        except sqlite3.Error as error:
            raise _told(error, self.where) from None
        connection = _Connection(raw, self.where)
        try:
            self._configure(raw)
            connection.transact(lambda transaction: prepare(transaction, self.where), True)
        except BaseException:
            connection.close()
            raise
        self._connection = connection
        self._reader = self._opened_for_reading()
        return connection

    def _opened_for_reading(self) -> _Connection | None:
        with suppress(sqlite3.Error):
            raw = sqlite3.connect(self._path, isolation_level=None, timeout=0, check_same_thread=False)
            raw.execute("PRAGMA query_only = ON")
            return _Connection(raw, self.where)
        return None

    def _make_file(self) -> None:
        """Make what is missing, closed to other users. SQLite would only say that it cannot open the file."""
        folder = self._path.parent
        try:
            if self._makes_folder:
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.close(os.open(self._path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600))
        except IsADirectoryError:
            hint = self._path / "state.db"
            raise StoreError(f"'{self._path}' is a folder; name a file, such as '{hint}'") from None
        except (FileNotFoundError, NotADirectoryError, FileExistsError):
            raise StoreError(
                f"'{self._path}' cannot be made, since '{folder}' is no folder; make it, or name another file"
            ) from None
        except PermissionError:
            raise StoreError(
                f"'{self._path}' cannot be opened for reading and writing; see who owns the file and its folder"
            ) from None
        except (OSError, ValueError) as error:
            raise StoreError(f"'{self._path}' cannot be opened: {_system_reason(error)}; name another file") from None

    def _configure(self, raw: sqlite3.Connection) -> None:
        deadline = monotonic() + PATIENCE_SECONDS
        while True:
            try:
                raw.execute("PRAGMA journal_mode = WAL")
                raw.execute("PRAGMA synchronous = FULL")
            except sqlite3.Error as error:
                # Whoever changes the journal at the same moment is refused at once, without the usual patience.
                if getattr(error, "sqlite_errorcode", 0) & 0xFF != sqlite3.SQLITE_BUSY or monotonic() > deadline:
                    raise _told(error, self.where) from None
                sleep(_SECONDS_BETWEEN_TRIES)
            else:
                return


def _do_each(connection: _Connection, jobs: Sequence[_Job[Any]]) -> None:
    for job in jobs:
        job.attempt(connection.step)
        if not connection.is_in_transaction:  # then those before are undone as well, and those after must not begin
            job.result()


def _system_reason(error: Exception) -> str:
    return (isinstance(error, OSError) and error.strerror) or str(error)
