"""Whether an audit is as it was written: row by row, however long it is, and while others write to it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from headgate.store.audit import GENESIS, PRUNED, Break, Head, Row, first_break
from headgate.store.interface import Store

__all__ = ["Notice", "Verification", "Verifier", "verify"]

Notice: TypeAlias = Callable[[int, int], None]
"""Is told how much of how much is done."""

_OFTEN: Final = 500


@dataclass(frozen=True, slots=True)
class Verification:
    """Which rows were looked at: those after ``start``, up to ``head``; and the first thing that is wrong."""

    start: Head
    head: Head
    broken: Break | None = None
    may_be_key: bool = False
    """Whether a wrong key would look the same."""


class Verifier:
    """Takes rows one by one, and tells of the first that does not continue the chain."""

    def __init__(self, start: Head = GENESIS, key: bytes = b"", noted: Head | None = None) -> None:
        self.start = start
        self.place = start
        self._key = key
        self._noted = noted
        self._broken: Break | None = None
        self._may_be_key = False
        self._tells_of_start = start == GENESIS

    def takes(self, row: Row) -> bool:
        """Whether the row continues the chain, and is the one that was noted, if one of its number was."""
        found = first_break([row], self.place, key=self._key)
        if found is None:
            found = self._unlike_noted(row)
        else:
            self._may_be_key = row.number == self.place.number + 1 and row.previous == self.place.digest
        if found is not None:
            self._broken = found
            return False
        self.place = row.head
        self._tells_of_start |= row.entry.event == PRUNED and self._is_start(row.entry.details)
        return True

    def _is_start(self, details: object) -> bool:
        return isinstance(details, Mapping) and details.get("through") == self.start.number

    def _unlike_noted(self, row: Row) -> Break | None:
        if self._noted is None or row.number != self._noted.number or row.head == self._noted:
            return None
        return Break(row.number, "it has another digest than the head that was noted: the rows were written anew")

    def result(self, end: Head | None = None) -> Verification:
        """What is known of the rows so far; with their end, also whether they are all there."""
        broken = self._broken
        if broken is None and end is not None:
            broken = first_break([], self.place, end) or self._untold()
        broken = broken or self._not_noted()
        return Verification(self.start, self.place, broken, self._may_be_key)

    def _untold(self) -> Break | None:
        """Rows are only ever taken out together with a row that tells of it."""
        if self._tells_of_start:
            return None
        return Break(self.start.number, f"it and those before were taken out, but no '{PRUNED}' row tells of it")

    def _not_noted(self) -> Break | None:
        noted = self._noted
        if noted is None:
            return None
        if noted.number > self.place.number:
            return Break(noted.number, f"it was there when the head was noted; now row {self.place.number} is the last")
        if noted.number < self.start.number:
            return Break(
                noted.number,
                f"it lies before row {self.start.number + 1}, where these rows begin, so that the head cannot be"
                " compared; verify the file that the older rows were moved to",
            )
        if noted.number == self.start.number and noted != self.start:
            return Break(noted.number, "it has another digest than the head that was noted")
        return None


async def verify(
    store: Store, key: bytes = b"", noted: Head | None = None, notice: Notice | None = None
) -> Verification:
    """Look at every row of a store, from where the audit begins to its head.

    ``noted`` is a head of the past: its row must still be there.
    """
    while True:
        start = await store.start()
        result = await _verify_after(store, start, key, noted, notice)
        if result.broken is None or await store.start() == start:
            return result
        # Somebody has taken out old rows meanwhile, which looked like a gap.


async def _verify_after(
    store: Store, start: Head, key: bytes, noted: Head | None, notice: Notice | None
) -> Verification:
    end = await store.head()
    forged = _forged(start, "start") or _forged(end, "head")
    if forged is not None:
        return Verification(GENESIS, GENESIS, forged)
    verifier = Verifier(start, key, noted)
    before, after = None, 0  # not after the start: what was taken out must not be there any more
    while before != verifier.place:
        before = verifier.place
        async for row in store.rows(after=after):
            if not verifier.takes(row):
                return verifier.result()
            if notice is not None and row.number % _OFTEN == 0:
                notice(row.number - start.number, end.number - start.number)
        # Rows and head are written together: read after the rows, the head is where they end, or further.
        end = await store.head()
        if end.number <= verifier.place.number:
            break
        after = verifier.place.number
    return verifier.result(end)


def _forged(end: Head, name: str) -> Break | None:
    """A database that does not mind types lets somebody write what is no place at all."""
    parts: tuple[object, object] = (end.number, end.digest)
    if isinstance(parts[0], int) and isinstance(parts[1], str):
        return None
    return Break(0, f"the row '{name}' of the table 'audit_ends' holds no place in the chain: it was changed")
