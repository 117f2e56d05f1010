"""A Python module as a source, loaded anew when its files change if that is wanted."""

import logging
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread
from watchfiles import PythonFilter, awatch

from headgate.adapter.adapter import Adapter
from headgate.protocol.adapter_errors import AdapterError
from headgate.sources.modules import forget_modules, load_adapter, module_file

__all__ = ["ModuleSource"]

_LOG: Final = logging.getLogger("headgate")


@dataclass
class ModuleSource:
    """The adapter of ``package.module:adapter`` or ``file.py:adapter``."""

    name: str
    where: str
    reload: bool = False
    _adapter: Adapter | None = None
    _closed: anyio.Event = field(default_factory=anyio.Event)

    async def open(self) -> Adapter:
        """Import it, beside whatever else is opened."""
        sys.dont_write_bytecode |= self.reload  # bytecode is told apart only by size and whole seconds
        self._adapter = await anyio.to_thread.run_sync(load_adapter, self.where)
        return self._adapter

    async def changes(self) -> AsyncIterator[Adapter]:
        """What it holds after each change of a file beside it.."""
        file = module_file(self.where) if self.reload else None
        if file is None:
            await self._closed.wait()
            return
        async for _ in awatch(file.parent, watch_filter=PythonFilter(), stop_event=self._closed):
            adapter = await self._again(file.parent)
            if adapter is not None:
                yield adapter

    async def _again(self, folder: Path) -> Adapter | None:
        forget_modules(folder)
        try:
            self._adapter = await anyio.to_thread.run_sync(load_adapter, self.where)
        except AdapterError as error:
            _LOG.error("'%s' is not reloaded, the version before stays: %s", self.name, error)
            return None
        return self._adapter

    async def close(self) -> None:
        """Close what the adapter holds open."""
        self._closed.set()
        if self._adapter is not None:
            await self._adapter.close()
