"""What a server does from time to time while it runs: throw away what has expired."""

import logging
from typing import Final

import anyio

from headgate.server.binding import McpServer
from headgate.store.interface import StoreError

__all__ = ["keep_house"]

_EVERY_SECONDS: Final = 600.0
"""Often enough that a token is gone within the hour after its end (Confirmation Tokens 5)."""

_LOG: Final = logging.getLogger("headgate")


async def keep_house(server: McpServer) -> None:
    """Tidy up for ever."""
    while True:
        try:
            await server.tidy()
        except StoreError as error:
            _LOG.warning("the state cannot be tidied up: %s", error)
        await anyio.sleep(_EVERY_SECONDS)
