"""PostgreSQL: a few connections, each used by one thread at a time."""

import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, Final, TypeVar

import anyio.to_thread
import psycopg
from psycopg import errors
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import TransactionStatus

from headgate.store.drivers.base import (
    PATIENCE_SECONDS,
    Row,
    Transaction,
    Unkeepable,
    Words,
    in_thread,
    one_line,
)
from headgate.store.interface import StoreError
from headgate.store.schema import prepare

__all__ = ["CONNECTIONS", "PostgresqlDriver"]

T = TypeVar("T")

CONNECTIONS: Final = 4
"""How many transactions are under way at once."""

_DEFAULTS: Final[Mapping[str, int | str]] = {
    "connect_timeout": 10,
    "tcp_user_timeout": PATIENCE_SECONDS * 1000,
    "fallback_application_name": "headgate",
}
_SECRETS: Final = ("password", "sslpassword", "oauth_client_secret")

# Each statement sees what was committed before it: with any other level, whoever waited for a lock would look into the
# past. Somebody who was halted in the middle of a transaction loses it, and with it the locks that others wait for.
_BEGIN: Final = (
    "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;"
    f" SET LOCAL lock_timeout = '{PATIENCE_SECONDS}s';"
    f" SET LOCAL idle_in_transaction_session_timeout = '{PATIENCE_SECONDS}s';"
    " SET LOCAL search_path = headgate, public"  # where the queue keeps its tables and functions
)
_LOCK: Final = "SELECT pg_advisory_xact_lock(hashtextextended(:name, 0))"
_HAS_SCHEMA: Final = "SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = 'headgate'"
_HAS_TABLE: Final = """SELECT 1 FROM pg_catalog.pg_tables WHERE schemaname = 'headgate' AND tablename = :name"""

_WORDS: Final = Words(
    text='TEXT COLLATE "C"',
    integer="BIGINT",
    by_key="",
    # PostgreSQL reads no JSON that has a NUL anywhere in it.
    field=r"(CAST(replace(entry, '\u0000', '\ufffd') AS JSON) ->> '{}')",
)
_REASONS: Final[Mapping[type[psycopg.Error], str]] = {
    errors.LockNotAvailable: f"was in use by another program for {PATIENCE_SECONDS} seconds; see which one holds it",
    errors.InsufficientPrivilege: (
        "may not be used: {}. Let its user make the schema 'headgate', or make it for that user with"
        " CREATE SCHEMA headgate AUTHORIZATION …"
    ),
    errors.UndefinedTable: "has lost its tables: {}. Restore them from a backup, or start again to make new ones",
}


class _Translated(dict[str, str]):
    """Statements with the driver's own marks for parameters."""

    def __missing__(self, sql: str) -> str:
        translated = self[sql] = re.sub(r"(?<!:):(\w+)", r"%(\1)s", sql)
        return translated


_TRANSLATED: Final = _Translated()


class _Lost(Exception):
    """The connection was lost, and nothing had been changed through it."""


class _InDoubt(Exception):
    """The connection was lost while a change was being committed: nobody knows whether it was."""


class _Connection:
    """A connection, and the transaction that it is in."""

    words = _WORDS

    def __init__(self, raw: psycopg.Connection[Row]) -> None:
        self._raw = raw
        self._cursor = raw.cursor()

    @property
    def is_lost(self) -> bool:
        """Whether the server is no longer at the other end."""
        return self._raw.closed

    @property
    def is_usable(self) -> bool:
        """Whether the next transaction can begin."""
        return self._raw.info.transaction_status is TransactionStatus.IDLE

    def change(self, sql: str, **values: object) -> int:
        """Run a statement; how many rows it has changed."""
        return self._cursor.execute(_TRANSLATED[sql], values or None).rowcount

    def change_each(self, sql: str, values: Sequence[Mapping[str, object]]) -> None:
        """Run one statement with each of several sets of parameters; a pipeline is not worth it for one."""
        if len(values) == 1:
            self._cursor.execute(_TRANSLATED[sql], values[0])
        else:
            self._cursor.executemany(_TRANSLATED[sql], values)

    def rows(self, sql: str, **values: object) -> list[Row]:
        """The rows that a statement gives."""
        return self._cursor.execute(_TRANSLATED[sql], values or None).fetchall()

    def lock(self, name: str) -> None:
        """Wait until no other transaction has locked the same name, and hold it until the end of this one."""
        self.change(_LOCK, name=f"headgate {name}")

    def has_table(self, name: str) -> bool:
        """Whether one of headgate's tables is there."""
        return bool(self.rows(_HAS_TABLE, name=name))

    def prepare_for_tables(self) -> None:
        """Make the schema; who may not make one may still use one that is there."""
        if not self.rows(_HAS_SCHEMA):
            self.change("CREATE SCHEMA headgate")

    def transact(self, work: Callable[[Transaction], T], writes: bool) -> T:
        """Do the work as a whole or not at all."""
        if not writes:
            return self._harmless(lambda: work(self))
        self._harmless(lambda: self._raw.execute(_BEGIN))
        try:
            result = work(self)
        except BaseException:
            with suppress(psycopg.OperationalError):  # a lost connection has nothing to undo
                self._raw.execute("ROLLBACK")
            raise
        self._commit()
        return result

    def _harmless(self, action: Callable[[], T]) -> T:
        try:
            return action()
        except psycopg.OperationalError as error:
            if self.is_lost:
                raise _Lost(one_line(error)) from None
            raise

    def _commit(self) -> None:
        try:
            self._raw.execute("COMMIT")
        except psycopg.OperationalError as error:
            if self.is_lost:
                raise _InDoubt(one_line(error)) from None
            raise

    def close(self) -> None:
        """Leave the server."""
        self._raw.close()


class PostgresqlDriver:
    """A database of a server. A connection that was lost while nobody used it is replaced unseen."""

    is_shared = True

    def __init__(self, url: str, where: str) -> None:
        self.where = where
        self._settings = _settings(url)
        self._threads = ThreadPoolExecutor(CONNECTIONS, "headgate-store")  # as many as there may be connections
        self._idle: list[_Connection] = []
        self._is_prepared = False
        self._is_closed = False

    async def run(self, work: Callable[[Transaction], T], *, writes: bool = True) -> T:
        """Do the work as soon as a thread is free."""
        if self._is_closed:
            raise StoreError(f"{self.where} was closed")
        return await in_thread(self._threads, lambda: self._run(work, writes))

    async def glance(self, work: Callable[[Transaction], T]) -> T:
        """Do the reading as any other."""
        return await self.run(work, writes=False)

    async def close(self) -> None:
        """Wait for what is running, and leave the server."""
        if not self._is_closed:
            self._is_closed = True
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(self._threads.shutdown)
            self._forget_idle()

    def _run(self, work: Callable[[Transaction], T], writes: bool) -> T:
        try:
            try:
                return self._run_once(work, writes)
            except _Lost:
                self._forget_idle()  # what one of them has lost, the others have lost as well
            return self._run_once(work, writes)
        except _Lost as error:
            raise StoreError(f"{self.where} was lost: {self._safe(error)}. See whether the server is running") from None
        except _InDoubt as error:
            raise StoreError(
                f"{self.where} was lost while a change was being committed: {self._safe(error)}. The change may have"
                " been kept or not; look before you repeat it"
            ) from None
        except (psycopg.DataError, UnicodeError) as error:
            raise Unkeepable(f"A value cannot be kept: {self._safe(error)}") from None
        except psycopg.Error as error:
            raise self._told(error) from None

    def _run_once(self, work: Callable[[Transaction], T], writes: bool) -> T:
        connection = self._taken()
        try:
            if not self._is_prepared:
                connection.transact(lambda transaction: prepare(transaction, self.where), True)
                self._is_prepared = True
            return connection.transact(work, writes)
        finally:
            if connection.is_usable:
                self._idle.append(connection)
            else:
                connection.close()

    def _taken(self) -> _Connection:
        try:
            return self._idle.pop()
        except IndexError:
            return self._connected()

    def _connected(self) -> _Connection:
        try:
            return _Connection(psycopg.connect(autocommit=True, **self._settings))
        except psycopg.Error as error:
            raise StoreError(
                f"{self.where} cannot be reached: {self._safe(error)}. See whether the server is running, and whether"
                " address, name, user and password are right"
            ) from None

    def _forget_idle(self) -> None:
        while self._idle:
            with suppress(IndexError):  # another thread has taken the last one
                self._idle.pop().close()

    def _told(self, error: psycopg.Error) -> StoreError:
        said = self._safe(error)
        reason = next((words for kind, words in _REASONS.items() if isinstance(error, kind)), "fails: {}")
        return StoreError(f"{self.where} {reason.format(said)}")

    def _safe(self, error: BaseException) -> str:
        """What was said, without the secrets that it may repeat."""
        said = error.diag.message_primary if isinstance(error, psycopg.Error) else None
        text = said or one_line(error)
        for name in _SECRETS:
            if secret := self._settings.get(name):
                text = text.replace(str(secret), "***")
        return text


def _settings(url: str) -> dict[str, Any]:
    try:
        given = conninfo_to_dict(url)
    except psycopg.Error:  # which would repeat parts of the URL, perhaps of the password
        raise StoreError(
            "The URL of the store cannot be read; write it as 'postgresql://user:password@host:5432/name', with"
            " special characters of the password as in '%40' for '@'"
        ) from None
    return {**_DEFAULTS, **given, "client_encoding": "UTF8"}
