"""Hot reload: a changed module is loaded again and served from the next request on."""

import logging
from collections.abc import AsyncIterable, Callable, Iterable
from pathlib import Path
from typing import Final

from watchfiles import Change, PythonFilter, awatch

from headgate.adapter.adapter import Adapter
from headgate.protocol.adapter_errors import AdapterError
from headgate.server.binding import McpServer
from headgate.server.settings import SettingError

__all__ = ["follow", "watch"]

_LOG: Final = logging.getLogger("headgate")


async def watch(server: McpServer, load: Callable[[], Adapter], paths: Iterable[Path]) -> None:
    """Follow changes of these files and folders for ever."""
    await follow(server, load, awatch(*paths, watch_filter=PythonFilter()))


async def follow(
    server: McpServer, load: Callable[[], Adapter], changes: AsyncIterable[set[tuple[Change, str]]]
) -> None:
    """Serve what ``load`` gives after each change. What cannot be loaded is logged, and the version before stays."""
    async for _ in changes:
        try:
            adapter = load()
            await server.replace(adapter)
        except (AdapterError, SettingError) as error:
            _LOG.error("not reloaded, the version before stays: %s", error)
            continue
        _LOG.info("reloaded '%s' with %d operations", adapter.name, len(adapter.operations))
