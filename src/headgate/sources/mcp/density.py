"""Messages that are small to send and enormous to read: lists in lists in lists, of three bytes each."""

import re
from collections.abc import AsyncIterator
from typing import Final

import httpx2

__all__ = ["MOST_PARTS", "is_dense", "watched"]

MOST_PARTS: Final = 500_000
"""How many lists and objects one message may have. Each takes some hundred bytes while it is read."""
_NEXT: Final = re.compile(rb"\r?\n\r?\n")


def is_dense(message: bytes) -> bool:
    """Whether a message has more parts than it may have. Brackets in texts count as well: to tell takes long."""
    return _parts(message) > MOST_PARTS


def watched(response: httpx2.Response) -> None:
    """Have an answer over HTTP end where it becomes too dense to be read."""
    is_events = response.headers.get("content-type", "").startswith("text/event-stream")
    if isinstance(response.stream, httpx2.AsyncByteStream):
        response.stream = _Watched(response.stream, is_events=is_events)


class _Watched(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, *, is_events: bool) -> None:
        self._stream = stream
        self._is_events = is_events

    async def __aiter__(self) -> AsyncIterator[bytes]:
        parts = 0
        async for chunk in self._stream:
            first, *others = _NEXT.split(chunk) if self._is_events else [chunk]
            parts += _parts(first)
            if max(parts, *map(_parts, others), 0) > MOST_PARTS:
                raise httpx2.ReadError("a message has too many parts")
            parts = _parts(others[-1]) if others else parts
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


def _parts(data: bytes) -> int:
    return data.count(b"[") + data.count(b"{")
