"""The audit: rows that each carry the digest of the row before, so that no change stays unseen."""

import hashlib
import hmac
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Final

from headgate.protocol.canonical import canonical

__all__ = ["GENESIS", "PRUNED", "Break", "Entry", "Head", "Row", "chained", "first_break"]


PRUNED: Final = "pruned"
"""The event of an entry that tells which rows were taken out for good."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What happened. Sensitive values are masked before they get here; nothing here is secret."""

    at: float
    event: str
    adapter: str
    caller: str = ""
    session: str = ""
    request_id: str = ""
    operation: str = ""
    danger: str = ""
    decision: str = ""
    rule: str = ""
    code: str = ""
    params: Mapping[str, object] | None = None
    params_digest: str = ""
    duration_ms: float | None = None
    details: Mapping[str, object] = field(default_factory=dict)


_FIELDS: Final = tuple(one.name for one in fields(Entry))


@dataclass(frozen=True, slots=True)
class Head:
    """A place in the chain: how many rows there were, and the digest of the last."""

    number: int
    digest: str

    def __str__(self) -> str:
        return f"{self.number}:{self.digest}"


GENESIS: Final = Head(0, "")
"""Where every chain begins."""


@dataclass(frozen=True, slots=True)
class Row:
    """An entry in its place in the chain."""

    number: int
    entry: Entry
    previous: str
    digest: str

    @property
    def head(self) -> Head:
        """The place right after this row."""
        return Head(self.number, self.digest)

    def wire(self) -> dict[str, Any]:
        """The row as one flat JSON object, from which it can be read and verified again."""
        return {"number": self.number, **asdict(self.entry), "previous": self.previous, "digest": self.digest}

    @classmethod
    def read(cls, wire: Mapping[str, Any]) -> "Row":
        """The row that a flat JSON object holds; a TypeError or KeyError if it holds none."""
        rest = dict(wire)
        number, previous, digest = rest.pop("number"), rest.pop("previous"), rest.pop("digest")
        return cls(number, Entry(**rest), previous, digest)


@dataclass(frozen=True, slots=True)
class Break:
    """Where a chain is broken, and how one can tell."""

    number: int
    reason: str


def chained(entry: Entry, head: Head, key: bytes = b"", text: str | None = None) -> Row:
    """The entry as the next row after a place in the chain. With a key, nobody without it can make one.

    ``text`` is its canonical form, if that is known already.
    """
    number = head.number + 1
    return Row(number, entry, head.digest, _digest(number, entry, head.digest, key, text))


def _digest(number: int, entry: Entry, previous: str, key: bytes, known: str | None = None) -> str:
    if known is None:
        text = canonical([number, previous, {name: getattr(entry, name) for name in _FIELDS}])
    else:
        text = b"%b,%b]" % (canonical([number, previous])[:-1], known.encode())
    return hmac.new(key, text, hashlib.sha256).hexdigest() if key else hashlib.sha256(text).hexdigest()


def first_break(rows: Iterable[Row], start: Head = GENESIS, end: Head | None = None, key: bytes = b"") -> Break | None:
    """Where rows that should follow on a place in the chain, up to its end, were changed, removed or reordered."""
    place = start
    for row in rows:
        if row.number != place.number + 1:
            return Break(place.number + 1, f"the row is missing: row {row.number} stands in its place")
        if row.previous != place.digest:
            return Break(row.number, "it does not follow on the row before: one of the two was changed")
        if not hmac.compare_digest(row.digest, _digest(row.number, row.entry, row.previous, key)):
            return Break(row.number, "its content does not match its digest: it was changed")
        place = row.head
    if end is not None and place != end:
        if place.number < end.number:
            return Break(place.number + 1, f"the row is missing: the chain should end with row {end.number}")
        return Break(end.number, "the chain does not end as it should: the last rows were written anew")
    return None
