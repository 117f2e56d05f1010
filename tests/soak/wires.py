"""Requests as bytes over connections that are kept, and left whenever it pleases: a crowd of clients."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any

from tests.server.processes import INITIALIZE, INITIALIZED, MODERN_META

__all__ = ["Answered", "Client", "Era", "Line", "Session", "modern"]

_IDS = count(1)
_LONGEST = 2**22
_LEGACY = "2025-11-25"
_JSON = {"content-type": "application/json", "accept": "application/json, text/event-stream"}


@dataclass(frozen=True)
class Answered:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def message(self) -> Any:
        """The last message in the body, streamed or not."""
        if not self.headers.get("content-type", "").startswith("text/event-stream"):
            return json.loads(self.body)
        lines = [line for line in self.body.splitlines() if line.startswith(b"data: {")]
        return json.loads(lines[-1].removeprefix(b"data: "))

    @property
    def envelope(self) -> Any:
        """The envelope in the answer to a tool call."""
        return json.loads(self.message["result"]["content"][0]["text"])


class Line:
    """One connection, made anew when it is gone. A request that found it gone is sent once more."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def send(self, body: bytes, headers: Mapping[str, str], method: str = "POST") -> None:
        """Send a request, and do not wait for what comes."""
        if self._writer is None or self._reader is None or self._reader.at_eof() or self._writer.is_closing():
            self.leave()
            self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port, limit=_LONGEST)
        lines = [f"{name}: {value}" for name, value in {**headers, "content-length": len(body)}.items()]
        head = "\r\n".join([f"{method} /mcp HTTP/1.1", "host: 127.0.0.1", *lines, "", ""]).encode()
        self._writer.write(head + body)

    async def head(self) -> tuple[int, dict[str, str]]:
        """The status and the headers of the answer."""
        assert self._reader
        first, *lines = (await self._reader.readuntil(b"\r\n\r\n"))[:-4].decode().split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        return int(first.split()[1]), headers

    async def ask(self, body: bytes, headers: Mapping[str, str], method: str = "POST") -> Answered:
        """Send a request, and read the whole answer."""
        is_used = self._writer is not None
        await self.send(body, headers, method)
        try:
            status, received = await self.head()
        except (ConnectionError, asyncio.IncompleteReadError):
            if not is_used:
                raise
            self.leave()  # the server had ended a connection that nobody used, this very moment
            await self.send(body, headers, method)
            status, received = await self.head()
        content = await self._chunks() if "chunked" in received.get("transfer-encoding", "") else None
        if content is None:
            assert self._reader
            content = await self._reader.readexactly(int(received.get("content-length", "0")))
        return Answered(status, received, content)

    async def _chunks(self) -> bytes:
        assert self._reader
        body = b""
        while size := int((await self._reader.readuntil(b"\r\n"))[:-2], 16):
            body += (await self._reader.readexactly(size + 2))[:-2]
        await self._reader.readexactly(2)
        return body

    def leave(self) -> None:
        """Close the connection, whatever is under way on it."""
        if self._writer is not None:
            self._writer.close()
        self._reader = self._writer = None


@dataclass(frozen=True)
class Era:
    """How a request is written in one era of the protocol: what stands around it."""

    headers: Mapping[str, str]
    meta: Mapping[str, Any] | None = None

    def write(self, method: str, params: Mapping[str, Any], token: str | None = None) -> tuple[bytes, dict[str, str]]:
        """The body and the headers of a request; a token of progress, if there is to be some."""
        meta = {**(self.meta or {}), **({"progressToken": token} if token else {})}
        content = {**params, **({"_meta": meta} if meta else {})}
        named = {"mcp-method": method, **({"mcp-name": params["name"]} if "name" in params else {})}
        headers = {**self.headers, **(named if self.meta else {})}
        return _message(method, content), headers


def _message(method: str, params: Mapping[str, Any]) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": next(_IDS), "method": method, "params": params}).encode()


def modern(**headers: str) -> Era:
    """The newer era: each request stands alone."""
    return Era({**_JSON, "mcp-protocol-version": "2026-07-28", **headers}, MODERN_META)


class Client:
    """A client of one era on one connection, which counts what it sends."""

    def __init__(self, port: int, era: Era) -> None:
        self.line = Line(port)
        self.era = era
        self.sent = 0

    async def request(self, method: str, params: Mapping[str, Any] | None = None, token: str | None = None) -> Answered:
        """Send a request of MCP."""
        self.sent += 1
        return await self.line.ask(*self.era.write(method, params or {}, token))

    async def call(
        self, family: str, operation: str, /, *, progress: str | None = None, **params: Any
    ) -> dict[str, Any]:
        """Call an operation, and give its envelope."""
        answered = await self.request("tools/call", _called(family, operation, params), progress)
        assert answered.status == 200, (operation, answered)
        envelope = answered.envelope
        assert isinstance(envelope, dict)
        return envelope

    async def begin(self, family: str, operation: str, /, **params: Any) -> None:
        """Send a call, and do not wait for its answer."""
        self.sent += 1
        await self.line.send(*self.era.write("tools/call", _called(family, operation, params)))


def _called(family: str, operation: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a tool call; without an operation, what is given is the whole of its arguments: a batch."""
    arguments = {"operation": operation, "params": params} if operation else params
    return {"name": f"mcp_aql_{family}", "arguments": arguments}


class Session(Client):
    """A client of the older era, which has a session once it is opened."""

    @classmethod
    async def opened(cls, port: int, **headers: str) -> "Session":
        """A session that is ready to be used."""
        session = cls(port, Era({**_JSON, **headers}))
        answered = await session.line.ask(json.dumps(INITIALIZE).encode(), session.era.headers)
        assert answered.status == 200, answered
        known = {"mcp-session-id": answered.headers["mcp-session-id"], "mcp-protocol-version": _LEGACY}
        session.era = Era({**session.era.headers, **known})
        answered = await session.line.ask(json.dumps(INITIALIZED).encode(), session.era.headers)
        assert answered.status == 202, answered
        session.sent += 2
        return session

    async def end(self) -> int:
        """End the session as the specification says; the status of the answer."""
        self.sent += 1
        return (await self.line.ask(b"", self.era.headers, "DELETE")).status
