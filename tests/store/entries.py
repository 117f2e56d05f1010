"""Entries of the audit, and whether a store's chain of them is whole."""

from headgate.store.audit import Break, Entry, Row, first_break
from headgate.store.sql import SqlStore

__all__ = ["broken", "entry", "events", "rows"]


def entry(event: str = "called", **details: object) -> Entry:
    return Entry(at=1_000.5, event=event, adapter="library", caller="ann", operation="list_books", details=details)


async def rows(store: SqlStore, after: int = 0) -> list[Row]:
    return [row async for row in store.rows(after=after)]


async def events(store: SqlStore) -> list[str]:
    return [row.entry.event for row in await rows(store)]


async def broken(store: SqlStore, key: bytes = b"") -> Break | None:
    """Where the chain of a store is broken."""
    return first_break(await rows(store), await store.start(), await store.head(), key)
