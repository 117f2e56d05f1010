"""A line between a client and a server that can be cut, and mended."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from urllib.parse import urlsplit

from headgate.sources.mcp.configuration import McpSpec


@dataclass
class Relay:
    """Passes bytes on, in both directions, for as long as it is whole."""

    spec: McpSpec
    """How the server is reached through it."""
    target: int
    port: int = 0
    connections: int = 0
    """How many were made through it so far."""
    _server: asyncio.Server | None = None
    _ends: set[asyncio.StreamWriter] = field(default_factory=set)

    @classmethod
    @asynccontextmanager
    async def to(cls, spec: McpSpec) -> AsyncIterator["Relay"]:
        """A line to a server."""
        port = urlsplit(spec.url).port or 0
        relay = cls(spec, port)
        await relay.mend()
        relay.spec = replace(spec, url=spec.url.replace(f":{port}", f":{relay.port}"))
        try:
            yield relay
        finally:
            await relay.cut()

    async def mend(self) -> None:
        """Make it whole."""
        self._server = await asyncio.start_server(self._pass_on, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def cut(self) -> None:
        """Cut it: every connection breaks, and no new one can be made."""
        if self._server is not None:
            self._server.close()
        for end in list(self._ends):
            end.transport.abort()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        there, back = await asyncio.open_connection("127.0.0.1", self.target)
        self._ends |= {writer, back}
        try:
            await asyncio.gather(_copied(reader, back), _copied(there, writer))
        finally:
            self._ends -= {writer, back}


async def _copied(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while chunk := await reader.read(65536):
            writer.write(chunk)
            await writer.drain()
    writer.close()
