"""Tells persons what waits to be verified, through every channel there is; no step of an agent waits for that."""

import logging
from collections import deque
from collections.abc import Sequence
from typing import Final

import anyio

from headgate.console.channels.interface import Channel, ChannelError, Notice
from headgate.safety.clock import Clock
from headgate.safety.loop.challenges import Challenge
from headgate.safety.loop.persons import challenges, show_code
from headgate.store.interface import Store, StoreError

__all__ = ["Announcer"]

_LOG: Final = logging.getLogger("headgate")
_MOST_AT_ONCE: Final = 10
"""How many codes one channel shows at the same time; a dialog is shown until somebody closes it."""


class Announcer:
    """Takes challenges as they are made, and shows a code of its own through each channel."""

    def __init__(self, store: Store, channels: Sequence[Channel], clock: Clock, *, options: str = "") -> None:
        self._store = store
        self._clock = clock
        self._since = clock()
        self._options = options
        self._queues = [_Queue(channel) for channel in channels]

    async def announce(self, challenge: Challenge) -> None:
        """Take a challenge; it is shown as soon as there is time."""
        for queue in self._queues:
            queue.put(challenge)

    async def run(self) -> None:
        """Show codes until cancelled. What has waited since before, and was not shown yet, comes first."""
        async with anyio.create_task_group() as tasks:
            for queue in self._queues:
                tasks.start_soon(self._serve, queue)
            await self._catch_up()

    async def _catch_up(self) -> None:
        try:
            now = self._clock()
            waiting = [one for one in await challenges(self._store, now) if one.is_open(now)]
        except StoreError as error:
            _LOG.warning("nobody was told of what has waited since before to be verified: %s", error)
            return
        for challenge in waiting:
            shown = {code.channel for code in challenge.codes}
            for queue in self._queues:
                if challenge.made_at < self._since and queue.channel.name not in shown:
                    queue.put(challenge)

    async def _serve(self, queue: "_Queue") -> None:
        room = anyio.Semaphore(_MOST_AT_ONCE)
        async with anyio.create_task_group() as tasks:
            while True:
                challenge = await queue.take()
                await room.acquire()
                tasks.start_soon(self._show, queue.channel, challenge, room)

    async def _show(self, channel: Channel, challenge: Challenge, room: anyio.Semaphore) -> None:
        try:
            code = await show_code(self._store, challenge.id, channel.name, channel.name, self._clock)
            if code is not None:
                await channel.show(Notice(challenge, code, self._options))
        except (ChannelError, StoreError) as error:
            _complain(channel, challenge, str(error))
        except Exception as error:  # noqa: BLE001  # one channel must not end a server; its words may hold the code
            _complain(channel, challenge, f"an error in headgate itself ({type(error).__name__})")
        finally:
            room.release()


class _Queue:
    """The challenges that wait for one channel, so that none waits for another."""

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self._waiting: deque[Challenge] = deque()
        self._news = anyio.Event()

    def put(self, challenge: Challenge) -> None:
        """Have a challenge shown."""
        self._waiting.append(challenge)
        self._news.set()

    async def take(self) -> Challenge:
        """The next one, as soon as there is one."""
        while not self._waiting:
            self._news = anyio.Event()
            await self._news.wait()
        return self._waiting.popleft()


def _complain(channel: Channel, challenge: Challenge, why: str) -> None:
    _LOG.warning("nobody was told through %s that '%s' waits to be verified: %s", channel.name, challenge.id, why)
