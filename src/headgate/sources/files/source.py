"""Adapter files as sources: read, served, and read anew when somebody edits them."""

import logging
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread
from watchfiles import awatch

from headgate.adapter.adapter import Adapter
from headgate.protocol.adapter_errors import AdapterError
from headgate.safety.policy.rules import Policy
from headgate.sources.files.building import adapter_from, connection_for
from headgate.sources.files.plugins.interfaces import Connection, Opener, Surroundings
from headgate.sources.files.reading import read_adapter_file
from headgate.sources.files.values import AdapterFile
from headgate.sources.http.bounds import Bounds

__all__ = ["AdapterFileSource", "load_adapter_file"]

_LOG: Final = logging.getLogger("headgate")
_WAIT_MS: Final = 100
"""How long an edit must be over before the file is read: editors write in several steps."""


def load_adapter_file(path: Path | str, *, bounds: Bounds | None = None, opener: Opener | None = None) -> Adapter:
    """The adapter of a file as it is now; who closes it closes its connections."""
    file = read_adapter_file(Path(path))
    connection = connection_for(file, _surroundings(file, bounds or Bounds(), opener))
    adapter = adapter_from(file, connection)
    adapter.on_close(connection.close)
    return adapter


class AdapterFileSource:
    """A file that is watched. An edit with mistakes is logged, and the version before stays.

    Without an ``opener``, what the file refers to on this machine is neither opened nor started: give one only for
    files that somebody has vouched for. ``policy`` has the limits and confirmations that the file demands.
    """

    def __init__(
        self, name: str, path: Path | str, *, bounds: Bounds | None = None, opener: Opener | None = None
    ) -> None:
        self.name = name
        self.path = Path(path)
        self.file: AdapterFile | None = None
        self.trouble = ""
        """Why the file as it is now cannot be used, if so."""
        self._bounds = bounds or Bounds()
        self._opener = opener
        self._closed = anyio.Event()
        self._connections: list[tuple[AdapterFile, Connection]] = []

    @property
    def policy(self) -> Policy:
        """The limits, quotas, prices and confirmations that the file demands."""
        return self.file.policy if self.file else Policy()

    async def open(self) -> Adapter:
        """Read the file. An AdapterFileError has all that is wrong in it."""
        return self._adapter(await anyio.to_thread.run_sync(read_adapter_file, self.path))

    async def changes(self) -> AsyncIterator[Adapter]:
        """The adapter anew after each edit that is without mistakes."""
        watched = self.path.resolve()
        folder = watched.parent
        async for _ in awatch(
            folder,
            watch_filter=lambda _, changed: Path(changed).name == watched.name,
            debounce=_WAIT_MS,
            step=_WAIT_MS // 2,
            stop_event=self._closed,
            recursive=False,
        ):
            adapter = await self._again()
            if adapter is not None:
                yield adapter

    async def _again(self) -> Adapter | None:
        """What the file says now, if that is something else, and usable."""
        try:
            file = await anyio.to_thread.run_sync(read_adapter_file, self.path)
        except AdapterError as error:
            self.trouble = str(error)
            _LOG.error("'%s' not reloaded, the version before stays: %s", self.name, error)
            return None
        self.trouble = ""
        return None if file == self.file else self._adapter(file)

    def _adapter(self, file: AdapterFile) -> Adapter:
        self.file = file
        return adapter_from(file, self._connection(file))

    def _connection(self, file: AdapterFile) -> Connection:
        """The connection of a version before, if it still leads to the same; calls that are under way keep theirs."""
        for before, connection in self._connections:
            if _way(before) == _way(file):
                return connection
        made = connection_for(file, _surroundings(file, self._bounds, self._opener))
        self._connections.append((file, made))
        return made

    async def close(self) -> None:
        """Stop watching, and close all connections."""
        self._closed.set()
        while self._connections:
            _, connection = self._connections.pop()
            await connection.close()


def _way(file: AdapterFile) -> tuple[object, ...]:
    """What two versions must agree on to share a connection."""
    return file.target, file.auth, file.name, file.telling


def _surroundings(file: AdapterFile, bounds: Bounds, opener: Opener | None) -> Surroundings:
    return Surroundings(name=file.name, folder=file.folder, bounds=bounds, opener=opener, telling=file.telling)
