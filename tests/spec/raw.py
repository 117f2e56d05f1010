"""Tool calls as bytes, for what no client library would send."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import httpx2

from tests.spec.servers import ENVIRONMENT, HEADGATE, WORLD
from tests.spec.wires import Era

MODERN = "2026-07-28"
LEGACY = "2025-11-25"
HELLO = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}
META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
}


class Raw(Protocol):
    def send(self, arguments: bytes) -> dict[str, Any]:
        """The JSON-RPC message that answers a call of ``mcp_aql_read`` with these arguments."""


def message(method: str, params: dict[str, Any], request_id: int | None) -> bytes:
    content = {"jsonrpc": "2.0", "method": method, "params": params}
    return json.dumps(content if request_id is None else {**content, "id": request_id}).encode()


def tool_call(arguments: bytes, request_id: int, era: Era) -> bytes:
    params: dict[str, Any] = {"name": "mcp_aql_read", "arguments": "ARGUMENTS"}
    if era == "modern":
        params["_meta"] = META
    return message("tools/call", params, request_id).replace(b'"ARGUMENTS"', arguments)


class RawStdio:
    def __init__(self, process: subprocess.Popen[bytes], era: Era) -> None:
        self._process = process
        self._era = era
        self._id = 0
        if era == "legacy":
            self._write(message("initialize", HELLO, 0))
            assert self._read()["id"] == 0
            self._write(message("notifications/initialized", {}, None))

    def send(self, arguments: bytes) -> dict[str, Any]:
        self._id += 1
        self._write(tool_call(arguments, self._id, self._era))
        answer = self._read()
        assert answer["id"] in (self._id, None)
        return answer

    def _write(self, line: bytes) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line + b"\n")
        self._process.stdin.flush()

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        answer = json.loads(self._process.stdout.readline())
        assert isinstance(answer, dict)
        return answer


class RawHttp:
    def __init__(self, client: httpx2.Client, url: str, era: Era) -> None:
        self._client = client
        self._url = url
        self._era = era
        self._headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
        if era == "modern":
            self._headers |= {"mcp-protocol-version": MODERN, "mcp-method": "tools/call", "mcp-name": "mcp_aql_read"}
        else:
            hello = client.post(url, content=message("initialize", HELLO, 0), headers=self._headers)
            self._headers |= {"mcp-session-id": hello.headers["mcp-session-id"], "mcp-protocol-version": LEGACY}
            client.post(url, content=message("notifications/initialized", {}, None), headers=self._headers)

    def send(self, arguments: bytes) -> dict[str, Any]:
        response = self._client.post(self._url, content=tool_call(arguments, 1, self._era), headers=self._headers)
        text = response.text
        if response.headers["content-type"].startswith("text/event-stream"):
            text = next(line.removeprefix("data: ") for line in text.splitlines() if line.startswith("data: {"))
        answer = json.loads(text)
        assert isinstance(answer, dict)
        return answer


@contextmanager
def raw_stdio(era: Era) -> Iterator[Raw]:
    command = [str(HEADGATE), "serve", WORLD]
    with subprocess.Popen(
        command, env=ENVIRONMENT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        try:
            yield RawStdio(process, era)
        finally:
            assert process.stdin is not None
            process.stdin.close()
            process.wait(30)


@contextmanager
def raw_http(era: Era, url: str) -> Iterator[Raw]:
    with httpx2.Client(timeout=30) as client:
        yield RawHttp(client, url, era)
