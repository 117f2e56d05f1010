"""Stores as servers leave them behind, and what somebody does to them behind the store's back."""

import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import anyio

from headgate.store.audit import Entry, Head, Row
from headgate.store.opening import open_store
from headgate.store.sql import SqlStore

__all__ = ["NOON", "add", "called", "head_of", "in_store", "rows_of", "tamper"]

T = TypeVar("T")

NOON = datetime(2026, 7, 1, 12, tzinfo=UTC).timestamp()


def called(at: float = NOON, /, **about: Any) -> Entry:
    """An entry; what a test does not care about is settled here."""
    plain = {"event": "executed", "adapter": "shop", "caller": "anonymous", "operation": "list_orders"}
    return Entry(at=at, **(plain | about))


def in_store(url: str, work: Callable[[SqlStore], Awaitable[T]], key: bytes = b"") -> T:
    """What some work on a store gives."""

    async def run() -> T:
        store = open_store(url, audit_key=key)
        try:
            return await work(store)
        finally:
            await store.close()

    return anyio.run(run)


def add(url: str, entries: Sequence[Entry], key: bytes = b"") -> None:
    """Add rows to the audit."""
    in_store(url, lambda store: store.append(entries), key)


def rows_of(url: str) -> list[Row]:
    async def rows(store: SqlStore) -> list[Row]:
        return [row async for row in store.rows()]

    return in_store(url, rows)


def head_of(url: str) -> Head:
    return in_store(url, lambda store: store.head())


def tamper(path: Path, statement: str, *values: object) -> None:
    """Change a file of SQLite as somebody would who has nothing but the file."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement, values)
