"""The end of a stream of events: read although nobody wants it, since only then its connection can be used again."""

from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Final

import anyio
import httpx2

__all__ = ["finished"]

_PATIENCE_SECONDS: Final = 1.0
_MOST_BYTES: Final = 65536


def finished(response: httpx2.Response) -> None:
    """Have the answer to a request end before it is closed, if it is a stream of events.

    The SDK closes the stream as soon as it has the answer, in the moment before its end comes. The connection would
    be closed with it, and the next call would have to make another one.
    """
    is_events = response.headers.get("content-type", "").startswith("text/event-stream")
    if is_events and response.request.method == "POST" and isinstance(response.stream, httpx2.AsyncByteStream):
        response.stream = _Finished(response.stream)


class _Finished(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream
        self._parts = aiter(stream)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for part in self._parts:
            yield part

    async def aclose(self) -> None:
        """Wait for the end, which is no more than a moment away; whoever is cancelled does not wait."""
        try:
            with anyio.move_on_after(_PATIENCE_SECONDS), suppress(httpx2.HTTPError):
                await self._rest()
        finally:
            await self._stream.aclose()

    async def _rest(self) -> None:
        left = _MOST_BYTES
        async for part in self._parts:
            left -= len(part)
            if left < 0:
                return
