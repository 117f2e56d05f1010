"""The two ends of a wire within one process: bytes in, bytes out. Another process is there only to be called on."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

import anyio
import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from benchmarks.processes import ROOT
from benchmarks.servers import command
from benchmarks.wires import headers_of
from headgate import Adapter, mcp_server
from headgate.server.addresses import Address
from headgate.server.http import Access, http_app
from headgate.server.stdio import Pipes, run_stdio
from headgate.sources.mcp.configuration import McpSpec
from headgate.sources.mcp.source import McpSource

__all__ = ["Http", "Stdio", "before_server", "over_http", "over_stdio"]

_CHUNK: Final = 65536


class Stdio:
    """A client at the other ends of the pipes."""

    def __init__(self, sink: int, source: int) -> None:
        self._sink = sink
        self._source = source

    async def ask(self, line: bytes) -> bytes:
        """The line that answers a line."""
        os.write(self._sink, line)
        answer = b""
        while not answer.endswith(b"\n"):
            await anyio.wait_readable(self._source)
            answer += os.read(self._source, _CHUNK)
        return answer

    def tell(self, line: bytes) -> None:
        """Write a line that is not answered."""
        os.write(self._sink, line)


@asynccontextmanager
async def over_stdio(adapter: Adapter) -> AsyncIterator[Stdio]:
    """A server on two pipes, and whoever speaks with it."""
    (source, to_server), (from_server, sink) = os.pipe(), os.pipe()
    server = asyncio.create_task(run_stdio(mcp_server(adapter), Pipes(source, sink), 5.0))
    try:
        yield Stdio(to_server, from_server)
    finally:
        os.close(to_server)
        await server
        for end in (source, from_server, sink):
            os.close(end)


class Http(asyncio.Transport):
    """A connection to uvicorn: what it writes to it is the answer."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__({"peername": ("127.0.0.1", 50000), "sockname": ("127.0.0.1", 80)})
        self.headers: dict[bytes, bytes] = {}
        self._came = b""
        self._whole: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._protocol = HttpToolsProtocol(config, ServerState(), {})
        self._protocol.connection_made(self)

    async def ask(self, request: bytes, /) -> bytes:
        """The body of the answer."""
        self._came, self._whole = b"", asyncio.get_running_loop().create_future()
        self._protocol.data_received(request)
        await self._whole
        return self._came.partition(b"\r\n\r\n")[2]

    def write(self, data: Any) -> None:
        """Take a piece of the answer."""
        self._came += bytes(data)
        head, _, body = self._came.partition(b"\r\n\r\n")
        self.headers = headers_of(head)
        if b"chunked" in self.headers.get(b"transfer-encoding", b""):
            is_whole = body.endswith(b"0\r\n\r\n")
        else:
            is_whole = len(body) == int(self.headers.get(b"content-length", b"0"))
        if is_whole and not self._whole.done():
            self._whole.set_result(None)

    def is_closing(self) -> bool:
        """It stays open."""
        return False

    def close(self) -> None:
        """Nothing holds it."""

    def pause_reading(self) -> None:
        """Nothing comes but what is asked."""

    def resume_reading(self) -> None:
        """Nothing comes but what is asked."""


@asynccontextmanager
async def over_http(adapter: Adapter) -> AsyncIterator[Http]:
    """A server as ``headgate serve --http`` runs it, without the socket."""
    app = http_app(mcp_server(adapter), Address("127.0.0.1", 80), Access())
    config = uvicorn.Config(app, log_config=None, access_log=False, lifespan="off")
    config.load()
    async with app.router.lifespan_context(app):
        yield Http(config)


@asynccontextmanager
async def before_server() -> AsyncIterator[Adapter]:
    """The tools of an MCP server that is a process of its own."""
    program, *arguments = command("bare")
    source = McpSource(McpSpec(name="library", command=program, args=tuple(arguments), cwd=str(ROOT)))
    try:
        yield await source.open()
    finally:
        await source.close()
