"""Six ways to the same server: in process, over stdio and over HTTP, each in both eras of the protocol."""

import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Literal

import anyio
import mcp_types as types
from anyio.abc import TaskGroup, TaskStatus
from mcp.client import Client
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from tests.support import has_spec_schemas, schema_errors

Era = Literal["modern", "legacy"]
Transport = Literal["memory", "stdio", "http"]
Envelope = dict[str, Any]

_TIMEOUT = 30.0


class AnyToolCall(types.Request[dict[str, Any], Literal["tools/call"]]):
    """A tool call whose arguments the client does not look at first."""

    method: Literal["tools/call"] = "tools/call"


@dataclass(frozen=True)
class Wire:
    """A transport and an era."""

    transport: Transport
    era: Era

    @property
    def name(self) -> str:
        return f"{self.transport}-{self.era}"

    @property
    def keeps_sessions(self) -> bool:
        """Modern HTTP has no session without an authenticated caller: every request stands alone."""
        return (self.transport, self.era) != ("http", "modern")


WIRES = tuple(Wire(transport, era) for transport in ("memory", "stdio", "http") for era in ("modern", "legacy"))


@dataclass(frozen=True)
class Aql:
    """A connection to a server, and the tool calls that a host would make over it."""

    client: Client
    wire: Wire
    prefix: str = ""
    single: bool = False
    drop: Callable[[], None] = lambda: None
    """Breaks the connection off, without a word to the server."""

    async def tools(self) -> dict[str, types.Tool]:
        """The tools by name, as the server lists them now."""
        listed = await self.client.list_tools(cache_mode="refresh")
        assert listed.next_cursor is None
        return {tool.name: tool for tool in listed.tools}

    def tool(self, family: str) -> str:
        """The tool for a family, or the only one."""
        return f"{self.prefix}mcp_aql" if self.single else f"{self.prefix}mcp_aql_{family}"

    async def result(self, tool: str, arguments: Any, meta: Mapping[str, Any] | None = None) -> types.CallToolResult:
        """The raw answer of MCP to one tool call, whatever its arguments are."""
        params = {"name": tool, "arguments": arguments, **({"_meta": dict(meta)} if meta else {})}
        return await self.client.session.send_request(AnyToolCall(params=params), types.CallToolResult)

    async def call(self, tool: str, arguments: Any, meta: Mapping[str, Any] | None = None) -> Envelope:
        """The envelope in the answer to one tool call: one text block, one JSON object, of the form prescribed."""
        return envelope_in(await self.result(tool, arguments, meta))

    async def send(self, family: str, operation: str, params: Mapping[str, Any]) -> Envelope:
        request: dict[str, Any] = {"operation": operation}
        if params:
            request["params"] = dict(params)
        return await self.call(self.tool(family), request)

    async def create(self, operation: str, /, **params: Any) -> Envelope:
        return await self.send("create", operation, params)

    async def read(self, operation: str, /, **params: Any) -> Envelope:
        return await self.send("read", operation, params)

    async def update(self, operation: str, /, **params: Any) -> Envelope:
        return await self.send("update", operation, params)

    async def delete(self, operation: str, /, **params: Any) -> Envelope:
        return await self.send("delete", operation, params)

    async def execute(self, operation: str, /, **params: Any) -> Envelope:
        return await self.send("execute", operation, params)

    async def confirmed(self, family: str, operation: str, /, **params: Any) -> Envelope:
        """The answer to a call that must be confirmed first, and is."""
        asked = await self.send(family, operation, params)
        token = error_of(asked, "CONFIRMATION_REQUIRED")["details"]["confirmation_token"]
        return await self.send(family, operation, {**params, "confirmation_token": token})

    async def batch(self, family: str, *requests: Mapping[str, Any]) -> Envelope:
        return await self.call(self.tool(family), {"operations": [dict(request) for request in requests]})

    async def introspect(self, query: str, name: str | None = None, **more: Any) -> Any:
        """The data of an introspection, which fits the schema of introspection answers."""
        params = {"query": query, **({} if name is None else {"name": name}), **more}
        envelope = await self.read("introspect", **params)
        if query in ("operations", "types") and has_spec_schemas():
            assert not schema_errors(envelope, "introspection-response")
        return data_of(envelope)

    async def operation(self, name: str) -> dict[str, Any]:
        """The details of one operation, which exists."""
        details = (await self.introspect("operations", name))["operation"]
        assert isinstance(details, dict)
        return details

    async def parameter(self, operation: str, name: str) -> dict[str, Any]:
        """One parameter as introspection shows it."""
        details = await self.operation(operation)
        return next(parameter for parameter in details["parameters"] if parameter["name"] == name)

    async def operation_names(self) -> list[str]:
        return [operation["name"] for operation in (await self.introspect("operations"))["operations"]]

    async def runs(self, key: str) -> list[str]:
        """Which handlers were reached with a key."""
        runs = data_of(await self.read("list_runs", key=key))
        assert isinstance(runs, list)
        return runs


def envelope_in(result: types.CallToolResult) -> Envelope:
    assert len(result.content) == 1
    block = result.content[0]
    assert isinstance(block, types.TextContent)
    envelope = json.loads(block.text)
    assert isinstance(envelope, dict)
    if has_spec_schemas():
        wrong = schema_errors(envelope, "operation-result")
        assert not wrong or not schema_errors(envelope, "batch-operation"), wrong
    return envelope


def data_of(envelope: Envelope) -> Any:
    """The data of a success."""
    assert envelope["success"] is True, envelope
    return envelope["data"]


def error_of(envelope: Envelope, code: str | None = None) -> dict[str, Any]:
    """The error of a failure, of a given code if one is given."""
    assert envelope["success"] is False, envelope
    error = envelope["error"]
    assert isinstance(error, dict)
    if code is not None:
        assert error["code"] == code, error
    return error


@asynccontextmanager
async def connected(target: Any, wire: Wire, *, prefix: str = "", single: bool = False) -> AsyncIterator[Aql]:
    """A client on a server, in the era that the wire says."""
    mode = "auto" if wire.era == "modern" else "legacy"
    with anyio.CancelScope() as life:
        async with Client(target, mode=mode, read_timeout_seconds=_TIMEOUT) as client:
            assert (client.protocol_version in MODERN_PROTOCOL_VERSIONS) == (wire.era == "modern")
            yield Aql(client, wire, prefix, single, life.cancel)


class Connections:
    """Keeps each connection in a task of its own: a client must be left in the task that entered it, and a failed
    assertion should reach pytest as it is, not in the client's group of exceptions."""

    def __init__(self, tasks: TaskGroup) -> None:
        self._tasks = tasks
        self._shared: dict[str, Aql] = {}
        self._stack = AsyncExitStack()

    async def shared(self, wire: Wire, connection: AbstractAsyncContextManager[Aql]) -> Aql:
        """The one connection over a wire that most tests use, opened now if it is not yet."""
        if wire.name not in self._shared:
            self._shared[wire.name] = await self._stack.enter_async_context(self.open(connection))
        return self._shared[wire.name]

    @asynccontextmanager
    async def open(self, connection: AbstractAsyncContextManager[Aql]) -> AsyncIterator[Aql]:
        """A connection for as long as the block lasts, or until it is dropped."""
        stop, done = anyio.Event(), anyio.Event()

        async def hold(*, task_status: TaskStatus[Aql]) -> None:
            try:
                async with connection as aql:
                    task_status.started(aql)
                    await stop.wait()
            finally:
                done.set()

        aql: Aql = await self._tasks.start(hold)
        try:
            yield aql
        finally:
            stop.set()
            await done.wait()

    async def close(self) -> None:
        await self._stack.aclose()
