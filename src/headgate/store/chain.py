"""The audit in a database: each row's JSON is the truth, and the two ends of the chain have rows of their own."""

import json
from collections.abc import Sequence
from dataclasses import fields as fields_of
from typing import Any, Final

from headgate.protocol.canonical import canonical
from headgate.store.audit import Entry, Head, Row, chained
from headgate.store.drivers.base import Transaction, Unkeepable
from headgate.store.interface import StoreError, Tampered

__all__ = ["BATCH", "UNREADABLE", "append", "end", "prune", "read", "settled"]

BATCH: Final = 500
"""How many rows are read at once."""

UNREADABLE: Final = "unreadable"
"""The event of an entry that stands for a row which somebody has made unreadable; its digest never matches."""

_FIELDS: Final = tuple(field.name for field in fields_of(Entry))

_LOWEST: Final = -(2**63)
_HIGHEST: Final = 2**63 - 1
_ADD: Final = """INSERT INTO headgate.audit_rows (number, previous, digest, entry)
    VALUES (:number, :previous, :digest, :entry)"""
_END: Final = "SELECT number, digest FROM headgate.audit_ends WHERE name = :name"
_MOVE: Final = "UPDATE headgate.audit_ends SET number = :number, digest = :digest WHERE name = :name"
_READ: Final = f"""SELECT number, entry, previous, digest FROM headgate.audit_rows
    WHERE number >= :first ORDER BY number LIMIT {BATCH}"""  # noqa: S608
_DIGEST: Final = "SELECT digest FROM headgate.audit_rows WHERE number = :number"
_KEPT: Final = """SELECT audit_rows.digest, audit_ends.digest FROM headgate.audit_rows, headgate.audit_ends
    WHERE audit_rows.number = :number AND audit_ends.name = 'head' AND audit_ends.number = :number"""
"""A trigger could drop rows as they are added; so what was written is read again before anything is done."""

_CUT: Final = "DELETE FROM headgate.audit_rows WHERE number <= :through"


def settled(entries: Sequence[Entry]) -> list[tuple[Entry, str]]:
    """Each entry just as it will be read again, with its text."""
    return [_settled(entry) for entry in entries]


def _settled(entry: Entry) -> tuple[Entry, str]:
    given = {name: getattr(entry, name) for name in _FIELDS}
    try:
        text = canonical(given).decode()
        fields = json.loads(text)
        if fields != given:
            # Only what is not JSON of itself, such as a key that is a number, may be spelt differently when read again.
            text = canonical(fields).decode()
    except (TypeError, ValueError, RecursionError) as error:
        raise Unkeepable(f"An entry of the audit is not JSON: {error}") from None
    return Entry(**fields), text


def append(transaction: Transaction, entries: Sequence[tuple[Entry, str]], key: bytes) -> None:
    """Add settled entries to the end of the chain."""
    if not entries:
        return
    transaction.lock("audit")
    head = end(transaction, "head")
    rows = []
    for entry, text in entries:
        row = chained(entry, head, key, text)
        rows.append({"number": row.number, "previous": row.previous, "digest": row.digest, "entry": text})
        head = row.head
    transaction.change_each(_ADD, rows)
    transaction.change(_MOVE, name="head", number=head.number, digest=head.digest)
    if transaction.rows(_KEPT, number=head.number) != [(head.digest, head.digest)]:
        raise Tampered("What was added to the audit is not kept: somebody has put something in its way")


def end(transaction: Transaction, name: str) -> Head:
    """One of the two ends: ``start`` or ``head``."""
    found = transaction.rows(_END, name=name)
    if not found:
        raise Tampered(f"The row '{name}' of the table 'audit_ends' is missing: somebody has tampered with the audit")
    return Head(*found[0])


def prune(transaction: Transaction, through: int, entry: tuple[Entry, str], key: bytes) -> int:
    """Cut off the oldest rows; the entry is added if there were any."""
    transaction.lock("audit")
    last = min(through, end(transaction, "head").number)
    if last <= end(transaction, "start").number:
        return 0
    found = transaction.rows(_DIGEST, number=last)
    if not found:
        raise StoreError(f"Row {last} of the audit is missing, so that it cannot be cut there; verify the audit first")
    taken = transaction.change(_CUT, through=last)
    transaction.change(_MOVE, name="start", number=last, digest=found[0][0])
    append(transaction, [entry], key)
    return taken


def read(transaction: Transaction, after: int | None) -> list[Row]:
    """The next rows after one; after none, those too that somebody has put before the first."""
    if after == _HIGHEST:
        return []
    found = transaction.rows(_READ, first=_LOWEST if after is None else after + 1)
    return [Row(number, _entry(text), _plain(previous), _plain(digest)) for number, text, previous, digest in found]


def _entry(text: Any) -> Entry:
    try:
        fields = json.loads(text)
        # Databases would take the first of two equal keys, and Python the last: only one spelling is right.
        if canonical(fields).decode() == text:
            return Entry(**fields)
    except (TypeError, ValueError, RecursionError):
        pass
    return Entry(at=0.0, event=UNREADABLE, adapter="", details={"stored": str(text)})


def _plain(text: Any) -> str:
    """A digest; nothing if it is not even one by its looks."""
    return text if isinstance(text, str) and text.isascii() else ""
