"""Something that operations can be called on: an adapter in this process, or a server that runs elsewhere."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeAlias

import orjson

from headgate.adapter.adapter import Adapter
from headgate.engine.pipeline import Engine

__all__ = ["Envelope", "Target", "TargetError", "connect", "local"]

Envelope: TypeAlias = dict[str, Any]

_INTROSPECT: Final = "introspect"


class TargetError(Exception):
    """The server cannot be reached, or it is not one that speaks MCP-AQL."""


class Target(Protocol):
    """Takes a request, gives the envelope of its answer."""

    async def call(self, operation: str, params: Mapping[str, object]) -> Envelope:
        """Call one operation, whatever endpoint it belongs to."""
        ...


@dataclass(frozen=True, slots=True)
class _Local:
    engine: Engine

    async def call(self, operation: str, params: Mapping[str, object]) -> Envelope:
        reply = await self.engine.call({"operation": operation, "params": dict(params)})
        envelope: Envelope = orjson.loads(reply.text)
        return envelope


def local(adapter: Adapter) -> Target:
    """An adapter in this process."""
    return _Local(Engine(adapter))


class _Remote:
    """A server over MCP. The tool of each operation is what introspection says."""

    def __init__(self, client: Any, tools: Sequence[str]) -> None:
        self._client = client
        self._tools = tools
        self._tool_of: dict[str, str] = {}

    async def call(self, operation: str, params: Mapping[str, object]) -> Envelope:
        tool = await self._tool(operation)
        return await self._ask(tool, {"operation": operation, "params": dict(params)})

    async def _tool(self, operation: str) -> str:
        if _INTROSPECT not in self._tool_of:
            self._tool_of[_INTROSPECT] = await self._introspection_tool()
        if operation not in self._tool_of:
            request = {"operation": _INTROSPECT, "params": {"query": "operations", "name": operation}}
            answer = await self._ask(self._tool_of[_INTROSPECT], request)
            details = (answer.get("data") or {}).get("operation") or {}
            self._tool_of[operation] = details.get("mcpTool", self._tool_of[_INTROSPECT])
        return self._tool_of[operation]

    async def _introspection_tool(self) -> str:
        """The tool that answers ``introspect``; the likely ones stand first."""
        request = {"operation": _INTROSPECT, "params": {"query": "operations", "name": _INTROSPECT}}
        for tool in self._tools:
            answer = await self._ask(tool, request)
            if answer.get("success"):
                return tool
        raise TargetError("None of the server's tools answers 'introspect'.")

    async def _ask(self, tool: str, arguments: Mapping[str, object]) -> Envelope:
        result = await self._client.call_tool(tool, dict(arguments))
        try:
            envelope = orjson.loads(result.content[0].text)
        except (orjson.JSONDecodeError, IndexError, AttributeError):
            raise TargetError(f"The tool '{tool}' does not answer as MCP-AQL demands.") from None
        if not isinstance(envelope, dict):
            raise TargetError(f"The tool '{tool}' does not answer as MCP-AQL demands.")
        return envelope


@asynccontextmanager
async def connect(url: str, token: str | None = None) -> AsyncIterator[Target]:
    """A server that listens on an http(s) URL."""
    import httpx2  # noqa: PLC0415  (with the client below, most of a second of imports)
    from mcp import Client, MCPError  # noqa: PLC0415
    from mcp.client.streamable_http import streamable_http_client  # noqa: PLC0415

    headers = {"Authorization": f"Bearer {token}"} if token else {}
    entered = False
    try:
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60) as http,
            Client(streamable_http_client(url, http_client=http)) as client,
        ):
            listed = (await client.list_tools()).tools
            tools = [tool.name for tool in sorted(listed, key=_unlikely) if "mcp_aql" in tool.name]
            if not tools:
                raise TargetError(f"{url} has no tool of MCP-AQL.")
            entered = True
            yield _Remote(client, tools)
    except* (MCPError, httpx2.HTTPError) as group:
        if entered:
            raise
        raise TargetError(f"Cannot connect to {url}: {_reason(group)}") from None


def _unlikely(tool: Any) -> bool:
    """Whether a tool is not where introspection is first looked for: the single one, or one that only reads."""
    only_reads = tool.annotations is not None and tool.annotations.read_only_hint
    return not (tool.name.endswith("mcp_aql") or only_reads)


def _reason(group: BaseExceptionGroup[Any]) -> str:
    error = group.exceptions[0]
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return str(error) or "no answer"
