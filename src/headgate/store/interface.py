"""The one interface behind which state is kept."""

from collections.abc import AsyncIterator, Callable, Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

from headgate.store.audit import Entry, Head, Row
from headgate.store.records import Record
from headgate.store.windows import Charge, Used

if TYPE_CHECKING:
    from headgate.store.drivers.base import Transaction

__all__ = ["Store", "StoreError", "Tampered"]

T = TypeVar("T")


class StoreError(Exception):
    """The state cannot be opened, read or written; the words are for an operator."""


class Tampered(StoreError):
    """Something is missing that only a person with other tools can have removed."""


class Store(Protocol):
    """Records, counted use, executions and the audit. Several processes on one store behave as one.

    Where entries are given with a change, they enter the audit together with it, or not at all if it does not happen.
    """

    url: str
    is_shared: bool
    """Whether processes on any machine may work on it."""

    async def open(self) -> None:
        """Open what it is kept in, or raise a StoreError that says why not; otherwise the first use does."""
        ...

    async def insert(self, record: Record, entries: Sequence[Entry] = ()) -> bool:
        """Keep a new record; False if there is one of that kind and key."""
        ...

    async def replace(self, record: Record, entries: Sequence[Entry] = ()) -> bool:
        """Change a record; False if it is no longer of the version that was read. Of many at once, one succeeds."""
        ...

    async def change(self, records: Sequence[Record], entries: Sequence[Entry] = ()) -> bool:
        """Keep new records and change others, all of them or none; False if one is not as it was read."""
        ...

    async def find(self, kind: str, key: str) -> Record | None:
        """The record of that kind and key."""
        ...

    async def list(self, kind: str, *, owner: str | None = None, after: str = "", first: int = 1000) -> list[Record]:
        """Records of one kind in the order of their keys, of one owner if one is named, after a key."""
        ...

    async def count(self, kind: str, *, owner: str | None = None, now: float = 0.0) -> int:
        """How many records of one kind there are that have not expired."""
        ...

    async def remove(self, kind: str, key: str) -> bool:
        """Throw a record away; whether there was one."""
        ...

    async def purge(self, before: float) -> int:
        """Throw away records that expired before a time, and use that no window holds any more; how many records."""
        ...

    async def charge(self, charges: Sequence[Charge], now: float) -> Sequence[Used]:
        """Count use, all of it or none: if one charge exceeds its limit, nothing is counted.

        Answers what each window holds: with the charge if it was counted, without it if it was not.
        """
        ...

    async def used(self, windows: Sequence[Charge], now: float) -> Sequence[Used]:
        """What windows hold; their charges are not counted, but ``retry_after`` tells whether there was room."""
        ...

    async def append(self, entries: Sequence[Entry]) -> None:
        """Add rows to the audit, in this order, durably."""
        ...

    async def head(self) -> Head:
        """The end of the audit."""
        ...

    async def start(self) -> Head:
        """Where the audit that is kept begins: after the rows that were taken out for good."""
        ...

    def rows(self, *, after: int = 0) -> AsyncIterator[Row]:
        """The rows of the audit after one, in order."""
        ...

    async def prune(self, through: int, entry: Entry) -> int:
        """Take out the oldest rows up to one, and add an entry that tells of it; how many were taken out."""
        ...

    async def transact(
        self,
        work: "Callable[[Transaction], T]",
        entries: Sequence[Entry] | Callable[[T], Sequence[Entry]] = (),
        *,
        writes: bool = True,
    ) -> T:
        """What the work gives: kept if it returns, undone if it raises. For what has tables of its own.

        Which entries go with it may depend on what it gives.
        """
        ...

    async def close(self) -> None:
        """Let go of files and connections."""
        ...
