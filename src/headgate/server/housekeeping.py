"""What a server does from time to time while it runs: throw away what has expired, and return memory that is free."""

import logging
from collections.abc import Callable
from typing import Final

import anyio

from headgate.server.binding import McpServer
from headgate.server.memory import give_back
from headgate.store.interface import StoreError

__all__ = ["keep_house", "keep_small"]

_EVERY_SECONDS: Final = 600.0
"""Often enough that a token is gone within the hour after its end (Confirmation Tokens 5)."""
_BREATHER_SECONDS: Final = 30.0

_LOG: Final = logging.getLogger("headgate")


async def keep_house(server: McpServer) -> None:
    """Tidy up for ever."""
    while True:
        try:
            await server.tidy()
        except StoreError as error:
            _LOG.warning("the state cannot be tidied up: %s", error)
        await anyio.sleep(_EVERY_SECONDS)


async def keep_small(give: Callable[[], bool] = give_back) -> None:
    """Return memory for ever, a little often, so that nobody waits for it for long."""
    while True:
        await anyio.sleep(_BREATHER_SECONDS)
        give()
