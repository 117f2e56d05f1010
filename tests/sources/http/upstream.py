"""An upstream for tests: a real server on this machine that writes down what arrives and answers as it is told."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from headgate.protocol.errors import AqlError, ErrorDetail
from headgate.sources.http.bounds import Bounds
from headgate.sources.http.credentials import Credential
from headgate.sources.http.messages import Answer, OutRequest
from headgate.sources.http.sender import Sender


@dataclass(frozen=True, slots=True)
class Received:
    """One request as it came in."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes


Script = Callable[[Received, asyncio.StreamWriter], Awaitable[bytes | None]]


@dataclass(slots=True)
class Upstream:
    """A running server. What its script answers is written; None closes the connection."""

    port: int
    scheme: str = "http"
    requests: list[Received] = field(default_factory=list)
    connections: int = 0

    @property
    def url(self) -> str:
        return f"{self.scheme}://localhost:{self.port}"

    @property
    def targets(self) -> list[str]:
        return [request.target for request in self.requests]


def reply(status: int = 200, body: bytes = b"", **headers: str) -> bytes:
    """The bytes of a whole answer; underscores in names of headers are hyphens."""
    lines = [f"HTTP/1.1 {status} Words", *(f"{name.replace('_', '-')}: {value}" for name, value in headers.items())]
    if status not in (204, 304) and "transfer_encoding" not in headers and "content_length" not in headers:
        lines.append(f"content-length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode() + body


@asynccontextmanager
async def running(script: Script, context: ssl.SSLContext | None = None) -> AsyncIterator[Upstream]:
    """A server that follows a script, until the block ends."""
    upstream = Upstream(0, "https" if context else "http")

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        upstream.connections += 1
        try:
            while True:
                received = await _read(reader)
                upstream.requests.append(received)
                answer = await script(received, writer)
                if answer is None:
                    return
                writer.write(answer)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError, ssl.SSLError):
            return
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
    upstream.port = server.sockets[0].getsockname()[1]
    try:
        yield upstream
    finally:
        server.close()


def always(answer: bytes) -> Script:
    """A script that answers every request alike."""

    async def script(received: Received, writer: asyncio.StreamWriter) -> bytes:
        return answer

    return script


def in_turn(*answers: bytes | None) -> Script:
    """A script that answers one after the other, and the last from then on."""
    left = list(answers)

    async def script(received: Received, writer: asyncio.StreamWriter) -> bytes | None:
        return left.pop(0) if len(left) > 1 else left[0]

    return script


def by_path(**answers: bytes) -> Script:
    """A script that answers by the path: ``a`` is ``/a``."""

    async def script(received: Received, writer: asyncio.StreamWriter) -> bytes:
        return answers.get(received.target.partition("?")[0].strip("/"), reply(404))

    return script


@asynccontextmanager
async def sending(
    base_url: str,
    *credentials: Credential,
    bounds: Bounds | None = None,
    environment: Mapping[str, str] | None = None,
    **options: object,
) -> AsyncIterator[Sender]:
    """A sender, closed when the block ends."""
    sender = Sender(bounds or Bounds(), base_url, credentials, environment=environment or {}, **options)  # type: ignore[arg-type]
    try:
        yield sender
    finally:
        await sender.close()


async def got(sender: Sender, url: str, method: str = "GET", **headers: str) -> Answer:
    """The answer to a simple request."""
    return await sender.send(OutRequest(method, url, tuple(headers.items())))


async def refused(sender: Sender, url: str, method: str = "GET", content: bytes | None = None) -> ErrorDetail:
    """The error that a request ends with."""
    with pytest.raises(AqlError) as caught:
        await sender.send(OutRequest(method, url, (), content))
    return caught.value.error


async def _read(reader: asyncio.StreamReader) -> Received:
    first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("utf-8").strip().split("\r\n")
    method, target, _ = first.split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    return Received(method, target, headers, await reader.readexactly(int(headers.get("content-length", "0"))))
