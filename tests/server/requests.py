"""Requests over HTTP as bytes, in both eras."""

import http.client
import json
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any, Literal

from tests.server.processes import INITIALIZE, INITIALIZED, MODERN_META, PATIENCE, tool_call

Era = Literal["modern", "legacy"]

_IDS = count(1)
_LEGACY_VERSION = "2025-11-25"


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The JSON-RPC messages in it, streamed or not."""
        if not self.headers.get("content-type", "").startswith("text/event-stream"):
            return [self.json]
        events = self.body.decode().replace("\r\n", "\n").split("\n\n")
        return [json.loads(event.partition("data: ")[2]) for event in events if "data: {" in event]

    @property
    def message(self) -> dict[str, Any]:
        """The last message: the answer itself."""
        return self.messages[-1]

    @property
    def envelope(self) -> dict[str, Any]:
        envelope = json.loads(self.message["result"]["content"][0]["text"])
        assert isinstance(envelope, dict)
        return envelope


@dataclass(frozen=True)
class Caller:
    """Somebody who sends requests to a server, in one era, with the same headers each time."""

    port: int
    era: Era
    headers: Mapping[str, str]

    def send(self, body: bytes, method: str = "POST", path: str = "/mcp", **headers: str) -> Answer:
        """Send bytes."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        given = {**self.headers, **{name.replace("_", "-"): value for name, value in headers.items()}}
        try:
            connection.request(method, path, body, given)
            response = connection.getresponse()
            received = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, received, response.read())
        finally:
            connection.close()

    def request(self, method: str, params: Mapping[str, Any] | None = None, **headers: str) -> Answer:
        """Send a JSON-RPC request."""
        message = {"jsonrpc": "2.0", "id": next(_IDS), "method": method, "params": {**(params or {})}}
        return self.send(json.dumps(self._framed(message)).encode(), **self._named(message), **headers)

    def call(
        self, operation: str, params: Mapping[str, Any] | None = None, *, tool: str = "mcp_aql_read", **headers: str
    ) -> Answer:
        """Call an operation."""
        message = tool_call(next(_IDS), operation, params, tool=tool)
        return self.send(json.dumps(self._framed(message)).encode(), **self._named(message), **headers)

    def execute(self, operation: str, params: Mapping[str, Any] | None = None) -> Answer:
        return self.call(operation, params, tool="mcp_aql_execute")

    def _framed(self, message: dict[str, Any]) -> dict[str, Any]:
        if self.era == "legacy":
            return message
        return {**message, "params": {**message["params"], "_meta": MODERN_META}}

    def _named(self, message: Mapping[str, Any]) -> dict[str, str]:
        if self.era == "legacy":
            return {}
        named = {"Mcp_Method": message["method"]}
        return {**named, "Mcp_Name": message["params"]["name"]} if "name" in message["params"] else named


_PLAIN = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


def modern(port: int, **headers: str) -> Caller:
    """A caller of the modern era."""
    return Caller(port, "modern", {**_PLAIN, "MCP-Protocol-Version": "2026-07-28", **headers})


def legacy(port: int, **headers: str) -> Caller:
    """A caller of the legacy era, with a session of its own."""
    opening = Caller(port, "legacy", {**_PLAIN, **headers})
    answer = opening.send(json.dumps(INITIALIZE).encode())
    assert answer.status == 200, answer.body
    session = {"mcp-session-id": answer.headers["mcp-session-id"], "MCP-Protocol-Version": _LEGACY_VERSION}
    caller = Caller(port, "legacy", {**opening.headers, **session})
    assert caller.send(json.dumps(INITIALIZED).encode()).status == 202
    return caller


def caller(era: Era, port: int, **headers: str) -> Caller:
    return modern(port, **headers) if era == "modern" else legacy(port, **headers)
