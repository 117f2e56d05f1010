"""A request leaves in one piece, however it is written."""

import ssl
from typing import Any

import httpcore2
import pytest

from headgate.sources.http.streams import OnePiece

pytestmark = pytest.mark.anyio


class Line(httpcore2.AsyncNetworkStream):
    """What was written, and what is read."""

    def __init__(self) -> None:
        self.written: list[tuple[bytes, float | None]] = []
        self.is_closed = False

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109
        return b"answer"

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109
        self.written.append((buffer, timeout))

    async def aclose(self) -> None:
        self.is_closed = True

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109
    ) -> httpcore2.AsyncNetworkStream:
        return self

    def get_extra_info(self, info: str) -> Any:
        return info


async def test_a_head_and_its_body_are_one_write() -> None:
    line = Line()
    stream = OnePiece(line)
    await stream.write(b"head", 1.0)
    await stream.write(b"body", 2.0)
    assert line.written == [(b"headbody", 2.0)]


async def test_a_long_body_goes_out_as_it_comes() -> None:
    line = Line()
    stream = OnePiece(line)
    for part in (b"head", b"one", b"two"):
        await stream.write(part)
    assert [written for written, _ in line.written] == [b"headone", b"two"]


async def test_a_head_without_a_body_goes_out_when_its_answer_is_waited_for() -> None:
    line = Line()
    stream = OnePiece(line)
    await stream.write(b"head", 1.0)
    assert line.written == []
    assert await stream.read(10) == b"answer"
    assert line.written == [(b"head", 1.0)]


async def test_the_next_request_is_one_piece_again() -> None:
    line = Line()
    stream = OnePiece(line)
    for head, body in ((b"a", b"b"), (b"c", b"d")):
        await stream.write(head)
        await stream.write(body)
        await stream.read(10)
    assert [written for written, _ in line.written] == [b"ab", b"cd"]


async def test_an_encrypted_connection_does_the_same_and_everything_else_is_passed_on() -> None:
    line = Line()
    stream = await OnePiece(line).start_tls(ssl.create_default_context())
    await stream.write(b"head")
    await stream.write(b"body")
    assert [written for written, _ in line.written] == [b"headbody"]
    assert stream.get_extra_info("socket") == "socket"
    await stream.aclose()
    assert line.is_closed
