"""Reads the rows that are to be shown: the last that fit, all of them, or those that are yet to come."""

import select
import sys
from collections import deque
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

import anyio

from headgate.cli.audit_filters import Matches
from headgate.cli.audit_rows import Writer
from headgate.cli.progress import progress
from headgate.store.audit import Row
from headgate.store.interface import Store
from headgate.store.verifying import Notice

__all__ = ["Reading"]

_WINDOW: Final = 1000
_TOGETHER: Final = 1000
"""How many rows of a long audit are printed at once."""
_OFTEN: Final = 500
_SECONDS_BETWEEN_LOOKS: Final = 0.5


@dataclass
class Reading:
    """Rows of a store that fit, for a writer. ``seen`` is the last row that was looked at, whether it fits or not."""

    store: Store
    matches: Matches
    writer: Writer
    seen: int = 0

    async def show_last(self, count: int) -> None:
        """Print the last rows that fit."""
        with progress("reading the audit") as bar:
            found = await self._last(count, bar)
        self.writer.write(found)

    async def _last(self, count: int, notice: Notice) -> list[Row]:
        """The last rows that fit, found from the end on, so that a long audit need not be read as a whole."""
        first, head = _whole((await self.store.start()).number), _whole((await self.store.head()).number)
        self.seen = head
        found: list[Row] = []
        end, size = head, _WINDOW
        while len(found) < count:
            begin = max(first, end - size)
            told = partial(_tell, notice, head - end - begin, head - first)
            # What was added since the head was read is looked at too.
            window = await self._window(begin, None if end == head else end, count - len(found), told)
            found = [*window, *found]
            if begin == first:
                break
            end, size = begin, size * 2
        return found

    async def _window(self, begin: int, end: int | None, count: int, tell: Callable[[int], None]) -> list[Row]:
        """The last of the rows that fit, after one row and up to another, or to the end."""
        found: deque[Row] = deque(maxlen=count)
        async for row in self.store.rows(after=begin):
            if end is not None and row.number > end:
                break
            self.seen = max(self.seen, row.number)
            if self.matches(row.entry):
                found.append(row)
            if row.number % _OFTEN == 0:
                tell(row.number)
        return list(found)

    async def show_all(self) -> None:
        """Print every row that fits."""
        self.seen = _whole((await self.store.start()).number)
        async for batch in self._new(_TOGETHER):
            self.writer.write(batch)

    async def follow(self) -> None:
        """Print rows as they appear, until nobody reads them any more."""
        while not _is_unread():
            async for batch in self._new(1):
                self.writer.write(batch)
            sys.stdout.flush()
            await anyio.sleep(_SECONDS_BETWEEN_LOOKS)

    async def _new(self, together: int) -> AsyncIterator[list[Row]]:
        batch: list[Row] = []
        async for row in self.store.rows(after=self.seen):
            self.seen = row.number
            if self.matches(row.entry):
                batch.append(row)
            if len(batch) >= together:
                yield batch
                batch = []
        if batch:
            yield batch


def _tell(notice: Notice, before: int, total: int, number: int) -> None:
    notice(before + number, total)


def _whole(number: object) -> int:
    """The number of a row; whoever has tampered with it must not keep others from looking."""
    return number if isinstance(number, int) else 0


def _is_unread() -> bool:
    """Whether standard output is a pipe whose reader is gone; otherwise one would only learn with the next row."""
    if not hasattr(select, "poll"):
        return False
    poll = select.poll()
    poll.register(sys.stdout.fileno(), 0)
    return any(found & (select.POLLERR | select.POLLHUP | select.POLLNVAL) for _, found in poll.poll(0))
