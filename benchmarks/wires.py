"""A client of HTTP that costs next to nothing: it writes bytes that were made beforehand, over connections it keeps."""

import asyncio
from collections.abc import Mapping
from typing import Any, Final, Protocol

import orjson

__all__ = [
    "LEGACY",
    "MODERN",
    "Wire",
    "answer_of",
    "headers_of",
    "hello",
    "legacy_call",
    "message",
    "modern_call",
    "post",
    "session_of",
]

MODERN: Final = "2026-07-28"
LEGACY: Final = "legacy"
"""What the era of the handshake is called."""
_HANDSHAKE: Final = "2025-11-25"
_HELLO: Final = {
    "protocolVersion": _HANDSHAKE,
    "capabilities": {},
    "clientInfo": {"name": "bench", "version": "1"},
}
_META: Final = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
}
_LONGEST: Final = 2**20
_OK: Final = (b"200", b"202")
_HOST: Final = "127.0.0.1:80"
"""With a port, although it is not the right one: the bare SDK takes a local name only with one."""


class Wire:
    """One connection that is kept alive, and made anew when the server has ended it because nothing came for long."""

    def __init__(self, port: int) -> None:
        self.headers: dict[bytes, bytes] = {}
        self._port = port
        self._reader = asyncio.StreamReader()
        self._reader.feed_eof()
        self._writer: asyncio.StreamWriter | None = None

    async def ask(self, request: bytes) -> bytes:
        """The body of the answer."""
        writer = self._writer
        if writer is None or self._reader.at_eof():
            writer = await self._open()
        writer.write(request)
        head = await self._reader.readuntil(b"\r\n\r\n")
        self.headers = headers_of(head[:-4])
        if b"chunked" in self.headers.get(b"transfer-encoding", b""):
            return await self._chunks()
        return await self._reader.readexactly(int(self.headers.get(b"content-length", b"0")))

    async def _open(self) -> asyncio.StreamWriter:
        self.close()
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port, limit=_LONGEST)
        return self._writer

    def close(self) -> None:
        """Leave the server."""
        if self._writer is not None:
            self._writer.close()

    async def _chunks(self) -> bytes:
        body = b""
        while True:
            size = int((await self._reader.readuntil(b"\r\n"))[:-2], 16)
            chunk = await self._reader.readexactly(size + 2)
            if not size:
                return body
            body += chunk[:-2]


def headers_of(head: bytes) -> dict[bytes, bytes]:
    """The headers of an answer that does not refuse the request."""
    first, *lines = head.split(b"\r\n")
    if first.split()[1] not in _OK:
        raise RuntimeError(f"the server answers {first!r}")
    return {name.lower(): value.strip() for name, _, value in (line.partition(b":") for line in lines)}


def modern_call(tool: str, arguments: Mapping[str, object]) -> bytes:
    """A call of a tool, in the newer era of the protocol."""
    headers = {"mcp-protocol-version": MODERN, "mcp-method": "tools/call", "mcp-name": tool}
    return post(message("tools/call", {"name": tool, "arguments": arguments, "_meta": _META}, 1), headers)


def legacy_call(tool: str, arguments: Mapping[str, object], session: str) -> bytes:
    """A call of a tool, in the older era of the protocol."""
    return post(message("tools/call", {"name": tool, "arguments": arguments}, 1), _in_session(session))


class Asked(Protocol):
    """Whatever gives the body of an answer to a request, and keeps its headers."""

    headers: dict[bytes, bytes]

    async def ask(self, request: bytes, /) -> bytes:
        """The body of the answer."""


async def session_of(wire: Asked) -> str:
    """The session that the older era needs, after its handshake."""
    await wire.ask(post(hello(), {}))
    session = wire.headers[b"mcp-session-id"].decode()
    await wire.ask(post(message("notifications/initialized", {}, None), _in_session(session)))
    return session


def hello() -> bytes:
    """The message that begins the handshake of the older era."""
    return message("initialize", _HELLO, 0)


def _in_session(session: str) -> dict[str, str]:
    return {"mcp-session-id": session, "mcp-protocol-version": _HANDSHAKE}


def message(method: str, params: Mapping[str, object], request_id: int | None) -> bytes:
    """A request, or without an id a notification."""
    content = {"jsonrpc": "2.0", "method": method, "params": params}
    return orjson.dumps(content if request_id is None else {**content, "id": request_id})


def post(body: bytes, headers: Mapping[str, str]) -> bytes:
    """A message as it goes over the wire."""
    common = {"host": _HOST, "content-type": "application/json", "accept": "application/json, text/event-stream"}
    lines = [f"{name}: {value}" for name, value in {**common, **headers, "content-length": len(body)}.items()]
    return "\r\n".join(["POST /mcp HTTP/1.1", *lines, "", ""]).encode() + body


def answer_of(body: bytes) -> Any:
    """The envelope in the answer to a call."""
    if not body.startswith(b"{"):  # an event of a stream
        body = next(line.removeprefix(b"data: ") for line in body.splitlines() if line.startswith(b"data: {"))
    return orjson.loads(orjson.loads(body)["result"]["content"][0]["text"])
