"""Reads the rows that are to be shown: the last that fit, all of them, or those that are yet to come."""

import select
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Final

import anyio

from headgate.cli.audit_rows import Writer
from headgate.cli.progress import progress
from headgate.safety.searching import Matches, last_rows, whole
from headgate.store.audit import Row
from headgate.store.interface import Store

__all__ = ["Reading"]

_TOGETHER: Final = 1000
"""How many rows of a long audit are printed at once."""
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
            found = await last_rows(self.store, self.matches, count, bar)
        self.seen = found.seen
        self.writer.write(found.rows)

    async def show_all(self) -> None:
        """Print every row that fits."""
        self.seen = whole((await self.store.start()).number)
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


def _is_unread() -> bool:
    """Whether standard output is a pipe whose reader is gone; otherwise one would only learn with the next row."""
    if not hasattr(select, "poll"):
        return False
    poll = select.poll()
    poll.register(sys.stdout.fileno(), 0)
    return any(found & (select.POLLERR | select.POLLHUP | select.POLLNVAL) for _, found in poll.poll(0))
