"""The end of a stream of events: read although nobody wants it, since only then its connection can be used again."""

import re
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Final

import anyio
import httpx2

__all__ = ["Endings"]

_PATIENCE_SECONDS: Final = 0.25
_MOST_BYTES: Final = 65536
_LEAST_KEPT_SECONDS: Final = 5
"""A server that keeps connections for less may close one in the moment in which the next call is sent over it."""
_KEPT: Final = re.compile(r"\btimeout=(\d+)")


class Endings:
    """How the streams of one server end.

    The SDK closes a stream as soon as it has the answer, in the moment before the end comes. The connection would be
    closed with it, and the next call would have to make another one. So the end is waited for, as long as that does no
    harm: not with a server that leaves its streams open, and never again once a connection has broken, which may have
    happened because it was used once more.
    """

    def __init__(self) -> None:
        self._are_awaited = True

    def give_up(self) -> None:
        """From now on, close each stream with its answer."""
        self._are_awaited = False

    def await_that_of(self, response: httpx2.Response) -> None:
        """Have the answer to a request end before it is closed, if it is a stream of events."""
        if not (self._are_awaited and _is_stream(response) and _is_kept(response)):
            return
        if isinstance(response.stream, httpx2.AsyncByteStream):
            response.stream = _Awaited(response.stream, self)


def _is_stream(response: httpx2.Response) -> bool:
    is_events = response.headers.get("content-type", "").startswith("text/event-stream")
    return is_events and response.request.method == "POST"


def _is_kept(response: httpx2.Response) -> bool:
    """Whether the server keeps the connection for long enough; one that says nothing keeps it as most do."""
    said = _KEPT.search(response.headers.get("keep-alive", ""))
    return said is None or int(said[1]) >= _LEAST_KEPT_SECONDS


class _Awaited(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, endings: Endings) -> None:
        self._stream = stream
        self._endings = endings
        self._parts = aiter(stream)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for part in self._parts:
            yield part

    async def aclose(self) -> None:
        """Wait for the end, which is no more than a moment away; whoever is cancelled does not wait."""
        try:
            with anyio.move_on_after(_PATIENCE_SECONDS) as waiting, suppress(httpx2.HTTPError):
                await self._rest()
            if waiting.cancelled_caught:
                self._endings.give_up()
        finally:
            await self._stream.aclose()

    async def _rest(self) -> None:
        left = _MOST_BYTES
        async for part in self._parts:
            left -= len(part)
            if left < 0:
                self._endings.give_up()
                return
