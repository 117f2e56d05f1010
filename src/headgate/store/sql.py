"""The store in a database: the same statements for SQLite and PostgreSQL."""

import builtins
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Final, TypeVar

import orjson

from headgate.store import chain, moving, uses
from headgate.store.audit import Entry, Head
from headgate.store.audit import Row as AuditRow
from headgate.store.drivers.base import Driver, Row, Transaction, Unkeepable
from headgate.store.records import NEW, Record
from headgate.store.windows import Charge, Used

__all__ = ["SqlStore"]

T = TypeVar("T")

_PLAINLY: Final = orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME
_QUICKLY: Final = " "
"""How a text begins that was written by orjson, and so can be read by it: all its numbers are small enough."""
_ENCODE: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode

_LARGEST: Final = 2**63 - 1

_FEW: Final = 50
"""So many records are read as quickly as one."""

_INSERT: Final = """INSERT INTO headgate.records (kind, key, version, owner, expires_at, value)
    VALUES (:kind, :key, 1, :owner, :expires_at, :value) ON CONFLICT (kind, key) DO NOTHING"""
_REPLACE: Final = """UPDATE headgate.records
    SET version = version + 1, owner = :owner, expires_at = :expires_at, value = :value
    WHERE kind = :kind AND key = :key AND version = :version"""
_SELECT: Final = "SELECT kind, key, value, owner, expires_at, version FROM headgate.records"
_FIND: Final = f"{_SELECT} WHERE kind = :kind AND key = :key"
_LIST: Final = f"{_SELECT} WHERE kind = :kind AND key > :after ORDER BY key LIMIT :first"
_LIST_OF_OWNER: Final = f"{_SELECT} WHERE kind = :kind AND owner = :owner AND key > :after ORDER BY key LIMIT :first"
_COUNT: Final = "SELECT count(*) FROM headgate.records WHERE kind = :kind AND {}"
# Two statements in one, so that each reads no more of the index than it counts.
_COUNT_LIVE: Final = f"SELECT ({_COUNT.format('expires_at IS NULL')}) + ({_COUNT.format('expires_at > :now')})"
_COUNT_OF_OWNER: Final = _COUNT_LIVE.replace(":kind AND", ":kind AND owner = :owner AND")
_REMOVE: Final = "DELETE FROM headgate.records WHERE kind = :kind AND key = :key"
_PURGE: Final = "DELETE FROM headgate.records WHERE expires_at < :before"


class _Unchanged(Exception):
    """A record is not as it was read."""


class SqlStore:
    """A store over one driver. ``url`` is how it may be shown: without secrets."""

    def __init__(self, driver: Driver, url: str, audit_key: bytes = b"") -> None:
        self.url = url
        self.is_shared = driver.is_shared
        self._driver = driver
        self._run = driver.run
        self._audit_key = audit_key

    async def open(self) -> None:
        """Open it now rather than at the first use; a StoreError says why it cannot be."""
        await self._run(lambda transaction: None, writes=False)

    async def insert(self, record: Record, entries: Sequence[Entry] = ()) -> bool:
        """Keep a new record; False if there is one of that kind and key."""
        return await self._change([(_INSERT, _columns(record))], entries)

    async def replace(self, record: Record, entries: Sequence[Entry] = ()) -> bool:
        """Change a record; False if it is no longer of the version that was read. Of many at once, one succeeds."""
        if not NEW < record.version <= _LARGEST:
            return False  # nothing of that version was ever read
        return await self._change([_replacing(record)], entries)

    async def change(self, records: Sequence[Record], entries: Sequence[Entry] = ()) -> bool:
        """Keep new records and change others, all of them or none; False if one is not as it was read."""
        ordered = sorted(records, key=lambda one: (one.kind, one.key))  # so that no two wait for each other
        changes = [(_INSERT, _columns(one)) if one.version == NEW else _replacing(one) for one in ordered]
        if not all(NEW <= one.version <= _LARGEST for one in records):
            return False
        return await self._change(changes, entries)

    async def find(self, kind: str, key: str) -> Record | None:
        """The record of that kind and key."""
        if not (_is_storable(kind) and _is_storable(key)):
            return None
        found = await self._glance(_FIND, kind=kind, key=key)
        return _record(found[0]) if found else None

    async def list(self, kind: str, *, owner: str | None = None, after: str = "", first: int = 1000) -> list[Record]:
        """Records of one kind in the order of their keys, of one owner if one is named, after a key."""
        _check(kind, owner or "", after)
        read = self._glance if first <= _FEW else self._read
        if owner is None:
            found = await read(_LIST, kind=kind, after=after, first=first)
        else:
            found = await read(_LIST_OF_OWNER, kind=kind, owner=owner, after=after, first=first)
        return [_record(row) for row in found]

    async def count(self, kind: str, *, owner: str | None = None, now: float = 0.0) -> int:
        """How many records of one kind there are that have not expired."""
        _check(kind, owner or "")
        if owner is None:
            found = await self._read(_COUNT_LIVE, kind=kind, now=now)
        else:
            found = await self._read(_COUNT_OF_OWNER, kind=kind, owner=owner, now=now)
        return int(found[0][0])

    async def remove(self, kind: str, key: str) -> bool:
        """Throw a record away; whether there was one."""
        if not (_is_storable(kind) and _is_storable(key)):
            return False
        return await self._change([(_REMOVE, {"kind": kind, "key": key})], ())

    async def purge(self, before: float) -> int:
        """Throw away records that expired before a time, and use that no window holds any more; how many records."""

        def records(transaction: Transaction) -> int:
            transaction.lock("purge")  # two that remove the same rows in another order would wait for each other
            return transaction.change(_PURGE, before=before)

        while keys := await self._run(partial(uses.keys_to_purge, before=before), writes=False):
            await self._run(partial(uses.purge, keys=keys, before=before))
        while await self._run(partial(moving.purge, before=before)):
            pass
        return await self._run(records)

    async def charge(self, charges: Sequence[Charge], now: float) -> Sequence[Used]:
        """Count use, all of it or none: if one charge exceeds its limit, nothing is counted.

        Answers what each window holds: with the charge if it was counted, without it if it was not.
        """
        _check(*(one.key for one in charges))
        return await self._run(partial(uses.charge, charges=charges, now=now))

    async def used(self, windows: Sequence[Charge], now: float) -> Sequence[Used]:
        """What windows hold; their charges are not counted, but ``retry_after`` tells whether there was room."""
        _check(*(one.key for one in windows))
        return await self._run(partial(uses.used, charges=windows, now=now), writes=False)

    async def append(self, entries: Sequence[Entry]) -> None:
        """Add rows to the audit, in this order, durably."""
        settled = chain.settled(entries)
        await self._run(partial(chain.append, entries=settled, key=self._audit_key))

    async def head(self) -> Head:
        """The end of the audit."""
        return await self._run(partial(chain.end, name="head"), writes=False)

    async def start(self) -> Head:
        """Where the audit that is kept begins: after the rows that were taken out for good."""
        return await self._run(partial(chain.end, name="start"), writes=False)

    async def rows(self, *, after: int = 0) -> AsyncIterator[AuditRow]:
        """The rows of the audit after one, in order. Between two batches, others may write."""
        place = after or None
        while batch := await self._run(partial(chain.read, after=place), writes=False):
            for row in batch:
                yield row
            place = batch[-1].number

    async def prune(self, through: int, entry: Entry) -> int:
        """Take out the oldest rows up to one, and add an entry that tells of it; how many were taken out.

        If there are none, nothing is added.
        """
        (settled,) = chain.settled([entry])
        return await self._run(partial(chain.prune, through=through, entry=settled, key=self._audit_key))

    async def transact(
        self,
        work: Callable[[Transaction], T],
        entries: Sequence[Entry] | Callable[[T], Sequence[Entry]] = (),
        *,
        writes: bool = True,
    ) -> T:
        """What the work gives: kept if it returns, undone if it raises. For what has tables of its own.

        Which entries go with it may depend on what it gives.
        """
        if not entries:
            return await self._run(work, writes=writes)

        def all_of_it(transaction: Transaction) -> T:
            result = work(transaction)
            told = entries(result) if callable(entries) else entries
            chain.append(transaction, chain.settled(told), self._audit_key)
            return result

        return await self._run(all_of_it)

    async def close(self) -> None:
        """Let go of files and connections."""
        await self._driver.close()

    async def _change(self, changes: Sequence[tuple[str, Mapping[str, object]]], entries: Sequence[Entry]) -> bool:
        settled = chain.settled(entries) if entries else ()

        def work(transaction: Transaction) -> None:
            for sql, values in changes:
                if not transaction.change(sql, **values):
                    raise _Unchanged  # and undone with it is what was changed before
            chain.append(transaction, settled, self._audit_key)

        try:
            await self._run(work)
        except _Unchanged:
            return False
        return True

    async def _glance(self, sql: str, **values: object) -> builtins.list[Row]:
        return await self._driver.glance(lambda transaction: transaction.rows(sql, **values))

    async def _read(self, sql: str, **values: object) -> builtins.list[Row]:
        return await self._run(lambda transaction: transaction.rows(sql, **values), writes=False)


def _replacing(record: Record) -> tuple[str, dict[str, object]]:
    return _REPLACE, {**_columns(record), "version": record.version}


def _columns(record: Record) -> dict[str, object]:
    _check(record.kind, record.key, record.owner or "")
    return {
        "kind": record.kind,
        "key": record.key,
        "owner": record.owner,
        "expires_at": record.expires_at,
        "value": _text(record),
    }


def _text(record: Record) -> str:
    with suppress(TypeError):  # what it does not know, or writes as null, may still be JSON, or a mistake to be named
        quickly = orjson.dumps(record.value, option=_PLAINLY)
        if b"null" not in quickly:
            return _QUICKLY + quickly.decode()
    try:
        text = _ENCODE(record.value)
        text.encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise Unkeepable(f"The value of the record '{record.kind}' '{record.key}' is not JSON: {error}") from None
    return text


def _record(row: Row) -> Record:
    kind, key, text, owner, expires_at, version = row
    value = orjson.loads(text) if text.startswith(_QUICKLY) else json.loads(text)
    return Record(kind, key, value, owner, expires_at, version)


def _is_storable(text: str) -> bool:
    """No database holds half of a character, and PostgreSQL no NUL."""
    if text.isascii():
        return "\0" not in text
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in text


def _check(*texts: str) -> None:
    for text in texts:
        if not _is_storable(text):
            raise Unkeepable(f"{text!a} cannot be kept or searched for: it has a NUL or a lone surrogate in it")
