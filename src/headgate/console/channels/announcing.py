"""Tells persons what waits to be verified, through every channel there is; no step of an agent waits for that."""

import logging
import math
from collections.abc import Sequence
from typing import Final

import anyio

from headgate.console.channels.interface import Channel, ChannelError
from headgate.safety.clock import Clock
from headgate.safety.loop.challenges import Challenge
from headgate.safety.loop.persons import show_code
from headgate.store.interface import Store, StoreError

__all__ = ["Announcer"]

_LOG: Final = logging.getLogger("headgate")
_MOST_AT_ONCE: Final = 20


class Announcer:
    """Takes challenges as they are made, and shows a code of its own through each channel."""

    def __init__(self, store: Store, channels: Sequence[Channel], clock: Clock) -> None:
        self._store = store
        self._channels = tuple(channels)
        self._clock = clock
        self._send, self._receive = anyio.create_memory_object_stream[Challenge](math.inf)
        self._room = anyio.Semaphore(_MOST_AT_ONCE)

    async def announce(self, challenge: Challenge) -> None:
        """Take a challenge; it is shown as soon as there is time."""
        self._send.send_nowait(challenge)

    async def run(self) -> None:
        """Show codes until cancelled."""
        async with anyio.create_task_group() as tasks:
            async for challenge in self._receive:
                for channel in self._channels:
                    await self._room.acquire()
                    tasks.start_soon(self._show, channel, challenge)

    async def _show(self, channel: Channel, challenge: Challenge) -> None:
        try:
            code = await show_code(self._store, challenge.id, channel.name, channel.name, self._clock)
            if code is not None:
                await channel.show(challenge, code)
        except (ChannelError, StoreError) as error:
            _LOG.warning("nobody was told through %s that '%s' waits: %s", channel.name, challenge.id, error)
        finally:
            self._room.release()
