"""Connections over which a request leaves in one piece: its head waits for the body, and both are one write.

In two pieces, whoever answers is woken twice, and the second piece may wait until the first is confirmed.
"""

import ssl
from typing import Any

import httpcore2

__all__ = ["OnePiece"]


class OnePiece(httpcore2.AsyncNetworkStream):
    """Holds what is written first after something was read, until more is written or an answer is waited for."""

    def __init__(self, stream: httpcore2.AsyncNetworkStream) -> None:
        self._stream = stream
        self._is_first = True
        self._held = b""
        self._write_timeout: float | None = None

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109  (httpcore2's)
        """Some bytes of the answer; what is still held goes out before."""
        held, self._held, self._is_first = self._held, b"", True
        if held:
            await self._stream.write(held, self._write_timeout)
        return await self._stream.read(max_bytes, timeout)

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109  (httpcore2's)
        """Send, or hold what others come after."""
        if self._is_first:
            self._is_first, self._held, self._write_timeout = False, buffer, timeout
            return
        held, self._held = self._held, b""
        await self._stream.write(held + buffer if held else buffer, timeout)

    async def aclose(self) -> None:
        """Close it."""
        await self._stream.aclose()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109  (httpcore2's)
    ) -> httpcore2.AsyncNetworkStream:
        """The same, encrypted."""
        return OnePiece(await self._stream.start_tls(ssl_context, server_hostname, timeout))

    def get_extra_info(self, info: str) -> Any:
        """What is known of the connection."""
        return self._stream.get_extra_info(info)
