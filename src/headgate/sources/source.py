"""A source: where operations come from, and what tells when they change."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Protocol

import anyio
import anyio.to_thread

from headgate.adapter.adapter import Adapter

__all__ = ["Fixed", "Source"]


class Source(Protocol):
    """Something with operations that a server can offer. It is opened once, and closed once."""

    @property
    def name(self) -> str:
        """What it is called in messages, rules and introspection."""
        ...

    async def open(self) -> Adapter:
        """What it offers now. An AdapterError says why it cannot be opened; it may be tried again."""
        ...

    def changes(self) -> AsyncIterator[Adapter]:
        """What it offers instead, each time that changes, until it is closed."""
        ...

    async def close(self) -> None:
        """Let go of everything that it holds: processes, connections, files."""
        ...


@dataclass
class Fixed:
    """A source that is loaded once and stays as it is, such as a module or a database."""

    name: str
    load: Callable[[], Adapter]
    _adapter: Adapter | None = None
    _closed: anyio.Event = field(default_factory=anyio.Event)

    async def open(self) -> Adapter:
        """Load it, beside whatever else is opened."""
        self._adapter = await anyio.to_thread.run_sync(self.load)
        return self._adapter

    async def changes(self) -> AsyncIterator[Adapter]:
        """Nothing, until it is closed."""
        await self._closed.wait()
        nothing: tuple[Adapter, ...] = ()
        for adapter in nothing:
            yield adapter

    async def close(self) -> None:
        """Close what the adapter holds open."""
        self._closed.set()
        if self._adapter is not None:
            await self._adapter.close()
