"""Servers on this machine that receive what channels send, or do whatever a hostile one would."""

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, TypeAlias

__all__ = ["ACCEPTED", "Behaviour", "Received", "Receiver", "answering", "connections", "receiving"]

ACCEPTED = b"HTTP/1.1 204 No Content\r\n\r\n"


@dataclass(frozen=True)
class Received:
    """One request."""

    line: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Receiver:
    """What has come to a port of this machine."""

    port: int
    requests: list[Received] = field(default_factory=list)
    come: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a request has come."""
    left: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a client has gone away."""

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook"


Behaviour: TypeAlias = Callable[[Receiver, asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def answering(*answers: bytes) -> Behaviour:
    """Reads requests, and answers each with the next of some bytes; the last ones are for all further requests."""

    async def behave(receiver: Receiver, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = await _read(reader)
        receiver.requests.append(request)
        receiver.come.set()
        writer.write(answers[min(len(receiver.requests), len(answers)) - 1])
        await writer.drain()

    return behave


async def _read(reader: asyncio.StreamReader) -> Received:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    line, *lines = head.strip().split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (one.partition(":") for one in lines)}
    return Received(line, headers, await reader.readexactly(int(headers.get("content-length", "0"))))


@asynccontextmanager
async def connections(
    behave: Behaviour, tls: ssl.SSLContext | None = None, *, hosts: Sequence[str] = ("127.0.0.1",)
) -> AsyncIterator[Receiver]:
    """A port on which every connection is treated in one way, until it is closed."""
    receiver = Receiver(0)
    at_work: set[asyncio.Task[None]] = set()

    async def treat(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with suppress(OSError, asyncio.IncompleteReadError):
                await behave(receiver, reader, writer)
                writer.close()
                await writer.wait_closed()
        finally:
            writer.transport.abort()
            receiver.left.set()

    def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        at_work.add(asyncio.create_task(treat(reader, writer)))

    server = await asyncio.start_server(connected, list(hosts), 0, ssl=tls)
    receiver.port = server.sockets[0].getsockname()[1]
    try:
        yield receiver
    finally:
        server.close()
        for task in at_work:
            task.cancel()
        await asyncio.gather(*at_work, return_exceptions=True)


@asynccontextmanager
async def receiving(*answers: bytes, tls: ssl.SSLContext | None = None) -> AsyncIterator[Receiver]:
    """A web server that takes everything, or gives other answers."""
    async with connections(answering(*(answers or (ACCEPTED,))), tls) as receiver:
        yield receiver
