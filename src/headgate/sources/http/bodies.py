"""Reading an answer's body: counted as it comes in and as it unfolds, so that neither a flood nor a bomb gets far."""

import zlib
from collections.abc import Iterator
from contextlib import aclosing
from typing import Final

import httpx2

from headgate.protocol.errors import AqlError

__all__ = ["ACCEPTED", "body_of"]

ACCEPTED: Final = "gzip, deflate"
"""The compressions that are asked for. One layer of one of these is unfolded, and nothing else."""

_PIECE: Final = 65_536
_GZIP: Final = zlib.MAX_WBITS | 16
_ZLIB_METHOD: Final = 8


async def body_of(response: httpx2.Response, method: str, limit: int) -> bytes:
    """The whole body, unfolded. Beyond the limit it is VALIDATION_PAYLOAD_TOO_LARGE, as early as that is known."""
    announced, encoding = (response.headers.get(name, "") for name in ("content-length", "content-encoding"))
    if method == "HEAD":
        announced = encoding = ""  # they speak of what is not sent
    if announced.isascii() and announced.isdecimal() and int(announced[:20]) > limit:
        raise _too_large(limit, int(announced[:20]))
    unfold = _unfolding(encoding)
    body, arrived = bytearray(), 0
    async with aclosing(response.aiter_raw()) as pieces:
        async for piece in pieces:
            arrived += len(piece)
            for unfolded in unfold.pieces(piece):
                body += unfolded
                if max(arrived, len(body)) > limit:
                    raise _too_large(limit, max(arrived, len(body)))
    unfold.end()
    return bytes(body)


class _Plain:
    """A body that is not compressed."""

    def pieces(self, data: bytes) -> Iterator[bytes]:
        yield data

    def end(self) -> None:
        """Every end is right."""


class _Compressed:
    """A compressed body, unfolded in pieces of bounded size."""

    def __init__(self, coding: str) -> None:
        self._coding = coding
        self._stream: zlib._Decompress | None = None
        self._begun = False

    def pieces(self, data: bytes) -> Iterator[bytes]:
        yield b""  # so that what comes in is counted even if nothing comes of it
        while data:
            if self._stream is None:
                self._stream, self._begun = self._new(data), True
            yield self._unfolded(data)
            data = self._stream.unconsumed_tail
            if self._stream.eof:
                data, self._stream = self._stream.unused_data, None
                if self._coding == "deflate":
                    return

    def end(self) -> None:
        if self._begun and self._stream is not None:
            raise _unreadable("its compressed data end too early")

    def _new(self, data: bytes) -> "zlib._Decompress":
        if self._coding != "deflate":
            return zlib.decompressobj(_GZIP)
        # Some servers leave the frame away that RFC 9110 demands.
        return zlib.decompressobj(zlib.MAX_WBITS if data[0] & 0x0F == _ZLIB_METHOD else -zlib.MAX_WBITS)

    def _unfolded(self, data: bytes) -> bytes:
        assert self._stream is not None  # noqa: S101
        try:
            return self._stream.decompress(data, _PIECE)
        except zlib.error:
            raise _unreadable("its compressed data are damaged") from None


def _unfolding(encoding: str) -> _Plain | _Compressed:
    """How a body unfolds. Compressions of compressions are refused: they can hide work without end in little data."""
    match encoding.strip().lower():
        case "" | "identity":
            return _Plain()
        case "gzip" | "x-gzip" | "deflate" as coding:
            return _Compressed(coding)
        case _:
            raise _unreadable("it is compressed in a way which was not asked for")


def _too_large(limit: int, actual: int) -> AqlError:
    return AqlError(
        "VALIDATION_PAYLOAD_TOO_LARGE",
        f"Payload exceeds response_size limit of {limit}: the upstream's answer is larger; ask for less, if it can be",
        {"limit_type": "response_size", "limit_value": limit, "actual_value": actual, "unit": "bytes"},
    )


def _unreadable(why: str) -> AqlError:
    return AqlError("SERIALIZATION_PARSE_ERROR", f"The answer of the upstream cannot be read: {why}")
