"""Something that operations can be called on: an adapter in this process, or a server that runs elsewhere."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, TypeAlias

import orjson

from headgate.adapter.context import Progress, Session
from headgate.engine.pipeline import Engine

__all__ = ["Envelope", "NotAqlError", "Target", "TargetError", "connect", "local", "only"]

Envelope: TypeAlias = dict[str, Any]

_INTROSPECT: Final = "introspect"
_FIRST_ERROR: Final = 400
_HINTS: Final[Mapping[int, str]] = {
    401: "it wants a token that it accepts: set HEADGATE_TOKEN",
    403: "it forbids access; the token may lack a scope",
    404: "there is nothing; the address of an MCP server mostly ends with /mcp",
    421: "it does not know itself by that name; its operator can add it with --allow-host",
}


class TargetError(Exception):
    """The server cannot be reached, or it is not one that speaks MCP-AQL."""


class NotAqlError(TargetError):
    """An MCP server of another kind."""


class Target(Protocol):
    """Takes a request, gives the envelope of its answer."""

    async def call(self, operation: str, params: Mapping[str, object], progress: Progress | None = None) -> Envelope:
        """Call one operation, whatever endpoint it belongs to, and hear how far it is."""
        ...

    async def works_on(self, execution_id: str) -> bool:
        """Whether the work of an execution is done in this process, and so ends with it."""
        ...


@dataclass(frozen=True, slots=True)
class _Local:
    engine: Engine
    session: Session = field(default_factory=lambda: Session(lasting=False))
    """One that the next program goes on with: what it was asked to confirm here, it may confirm there."""

    async def call(self, operation: str, params: Mapping[str, object], progress: Progress | None = None) -> Envelope:
        request = {"operation": operation, "params": dict(params)}
        reply = await self.engine.call(request, session=self.session, progress=progress)
        envelope: Envelope = orjson.loads(reply.text)
        return envelope

    async def works_on(self, execution_id: str) -> bool:
        executions = self.engine.executions
        if executions is None:
            return False
        found = await executions.ledger.find(execution_id)
        return found is not None and found.worker == executions.host.id


def local(engine: Engine) -> Target:
    """An adapter in this process, with all that its engine guards it by."""
    return _Local(engine)


class _Remote:
    """A server over MCP. The tool of each operation is what introspection says."""

    def __init__(self, client: Any, tools: Sequence[str]) -> None:
        self._client = client
        self._tools = tools
        self._tool_of: dict[str, str] = {}

    async def call(self, operation: str, params: Mapping[str, object], progress: Progress | None = None) -> Envelope:
        tool = await self._tool(operation)
        return await self._ask(tool, {"operation": operation, "params": dict(params)}, progress)

    async def works_on(self, execution_id: str) -> bool:
        return False

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

    async def _ask(self, tool: str, arguments: Mapping[str, object], progress: Progress | None = None) -> Envelope:
        result = await self._client.call_tool(tool, dict(arguments), progress_callback=progress)
        try:
            envelope = orjson.loads(result.content[0].text)
        except (orjson.JSONDecodeError, IndexError, AttributeError):
            envelope = None
        if not isinstance(envelope, dict):
            raise TargetError(f"The tool '{tool}' does not answer as MCP-AQL demands.")
        return envelope


@asynccontextmanager
async def connect(url: str, token: str | None = None) -> AsyncIterator[Target]:
    """A server that listens on an http(s) URL."""
    import httpx2  # noqa: PLC0415  (with the client below, most of a second of imports)
    from mcp import Client, MCPError  # noqa: PLC0415
    from mcp.client.streamable_http import streamable_http_client  # noqa: PLC0415

    last_status = 0

    async def note(response: httpx2.Response) -> None:
        nonlocal last_status
        last_status = response.status_code

    try:
        async with (
            httpx2.AsyncClient(headers=_headers(token), timeout=60, event_hooks={"response": [note]}) as http,
            Client(streamable_http_client(url, http_client=http)) as client,
        ):
            listed = (await client.list_tools()).tools
            yield _Remote(client, _aql_tools(listed, url))
    except Exception as error:  # noqa: BLE001  (whatever it is, it is raised again, out of the groups it came in)
        cause = only(error)
        if isinstance(cause, MCPError | httpx2.HTTPError | httpx2.InvalidURL):
            raise TargetError(f"Cannot talk to {url}: {_why(last_status, cause)}") from None
        raise cause from None


def _headers(token: str | None) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"} if token else {}


def _why(status: int, cause: Exception) -> str:
    if status >= _FIRST_ERROR:
        return _HINTS.get(status, f"it answers with status {status}")
    return str(cause) or "no answer"


def _aql_tools(tools: Sequence[Any], url: str) -> list[str]:
    found = [tool.name for tool in sorted(tools, key=_unlikely) if "mcp_aql" in tool.name]
    if not found:
        raise NotAqlError(f"{url} has no tool of MCP-AQL.")
    return found


def _unlikely(tool: Any) -> bool:
    """Whether a tool is not where introspection is first looked for: the single one, or one that only reads."""
    only_reads = tool.annotations is not None and tool.annotations.read_only_hint
    return not (tool.name.endswith("mcp_aql") or only_reads)


def only(error: BaseException) -> BaseException:
    """The error inside groups of one, in which task groups wrap whatever goes wrong."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error
