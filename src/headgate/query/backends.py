"""What holds the items of collections: it executes shapes, and knows nothing of requests and answers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeAlias

from headgate.protocol.merge import merge
from headgate.protocol.results import Notice
from headgate.query.collections import Access, Collection, Field, Relationship
from headgate.query.kinds import Kind
from headgate.query.shapes import AggregateShape, Listing

__all__ = [
    "Backend",
    "Change",
    "Changed",
    "Edge",
    "Fetched",
    "Groups",
    "Key",
    "Read",
    "Reads",
    "Row",
    "merged",
    "shown_key",
]

Row: TypeAlias = tuple[Any, ...]
Key: TypeAlias = tuple[Any, ...]
Read: TypeAlias = Callable[[Any], Any]
"""From a value as it is stored to the one that is shown. Null is never asked for."""
Reads: TypeAlias = tuple[Read | None, ...]
"""How the values of each column are shown; None for as they are."""


class Fetched(NamedTuple):
    """Rows with the values of a listing's columns, in its order; a backward listing's last row comes first."""

    rows: Sequence[Row]
    warnings: tuple[Notice, ...] = ()
    total: int | None = None
    """How many there are in all, where that is known without asking for it."""
    reads: Reads | None = None
    """How the values are shown, where some are stored in another form. Made once for all rows of a listing."""


@dataclass(frozen=True, slots=True)
class Groups:
    """One summary: a row for each group, the largest first, each with the group's value and those of the functions."""

    rows: Sequence[Row]
    total: int
    """How many groups there are, those that are left out included."""
    warnings: tuple[Notice, ...] = ()


@dataclass(frozen=True, slots=True)
class Change:
    """An update: the fields to merge into an item, and the version that it must still have."""

    key: Key
    fields: Mapping[str, Any]
    if_match: str | None = None


@dataclass(frozen=True, slots=True)
class Changed:
    """An item after a change, with all of its fields."""

    item: Mapping[str, Any]
    before: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Edge:
    """One step of a relationship, from the key of one item to that of another."""

    source: Key
    target: Key


class Backend(Protocol):
    """Holds items; values are those of :mod:`headgate.query.kinds`. A dry run tells what would be, and does nothing."""

    async def fetch(self, listing: Listing, values: Sequence[Any], limit: int, offset: int = 0) -> Fetched:
        """At most ``limit`` items of a listing."""
        ...

    async def summarize(self, shape: AggregateShape, values: Sequence[Any], most: int) -> list[Groups]:
        """The summaries of a shape in their order, each with ``most`` groups at most."""
        ...

    async def insert(self, collection: Collection, fields: Mapping[str, Any], *, dry_run: bool) -> Changed:
        """Add an item. A Conflict if its key is taken."""
        ...

    async def update(self, collection: Collection, change: Change, *, dry_run: bool) -> Changed:
        """Change an item. NotFound if there is none, VersionMismatch if it has another version."""
        ...

    async def delete(self, collection: Collection, key: Key, if_match: str | None, *, dry_run: bool) -> Changed:
        """Remove an item, on the same terms."""
        ...

    async def follow(
        self, collection: Collection, relationship: Relationship, keys: Sequence[Key], most: int
    ) -> list[Edge]:
        """At most so many edges of a relationship that start in any of the items, in the order of both keys."""
        ...


def merged(field: Field, before: Mapping[str, Any], value: Any) -> Any:
    """The value that a field gets: JSON objects merge, fields that only grow are added to, all else is replaced."""
    old = before.get(field.name)
    if field.access is Access.APPEND and old is not None:
        return old if value is None else old + value
    return merge(old, value) if field.kind is Kind.JSON else value


def shown_key(key: Key) -> Any:
    """A key as messages and details show it: its value, or its parts."""
    return key[0] if len(key) == 1 else list(key)
