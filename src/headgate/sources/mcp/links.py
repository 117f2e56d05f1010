"""One open connection to an MCP server, over a process or over HTTP."""

import math
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Final

import anyio
import httpx2
import mcp_types as types
import orjson
from mcp import Client
from mcp.client.session import ClientRequestContext
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.client.subscriptions import SubscriptionLost
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import TypeAdapter

from headgate._version import __version__
from headgate.adapter.context import Context, UserAnswer, UserQuestion
from headgate.protocol.adapter_errors import AdapterError
from headgate.sources.http.bounds import Bounds
from headgate.sources.http.clients import guarded_client
from headgate.sources.mcp.captures import Capture
from headgate.sources.mcp.configuration import McpSpec
from headgate.sources.mcp.processes import LastWords, process_streams

__all__ = ["Link", "opened_link"]

_RAW: Final[TypeAdapter[Any]] = TypeAdapter(dict[str, Any])
"""What comes over the wire, as it is: a model of it would only be made to be undone."""
_MOST_PAGES: Final = 200
_MOST_TOOLS: Final = 20_000
_MOST_BYTES: Final = 32_000_000
_MOST_ROUNDS: Final = 10
_PING_SECONDS: Final = 5.0


@dataclass(frozen=True, slots=True)
class _Pending:
    """A call that is under way, and whose user may be asked for it."""

    context: Context
    patience: anyio.CancelScope
    seconds: float

    def extend(self) -> None:
        """Give the call its time anew: the server has shown that it is alive."""
        self.patience.deadline = anyio.current_time() + self.seconds

    async def ask(self, question: UserQuestion) -> UserAnswer | None:
        """Ask the user, for whom there is as much time as he needs."""
        self.patience.deadline = math.inf
        try:
            return await self.context.ask_user(question)
        finally:
            self.extend()


@dataclass
class Link:
    """What can be asked of a server as long as the connection lasts. ``lost`` is set when it does not any more."""

    spec: McpSpec
    on_tools_changed: Callable[[], None]
    lost: anyio.Event = field(default_factory=anyio.Event)
    why_lost: str = ""
    _client: Client | None = None
    _pending: dict[int, _Pending] = field(default_factory=dict)
    _numbers: "count[int]" = field(default_factory=count)

    @property
    def client(self) -> Client:
        """The SDK's client, once it is connected."""
        if self._client is None:
            raise RuntimeError("this link is not open")
        return self._client

    def lose(self, why: str) -> None:
        """Note that the connection is over."""
        if not self.lost.is_set():
            self.why_lost = why
            self.lost.set()

    async def heard(self, message: object) -> None:
        """News from the server."""
        if isinstance(message, types.ToolListChangedNotification):
            self.on_tools_changed()

    # what is asked of the server

    async def capture(self) -> Capture:
        """All its tools, page by page, exactly as they are listed. No tool is called."""
        tools: list[Mapping[str, Any]] = []
        cursor: str | None = None
        seen: set[str] = set()
        size = 0
        for _ in range(_MOST_PAGES):
            page = await self._page(cursor)
            size += len(orjson.dumps(page))
            tools += [tool for tool in page.get("tools") or () if isinstance(tool, Mapping)]
            if size > _MOST_BYTES or len(tools) > _MOST_TOOLS:
                raise AdapterError(
                    f"MCP server '{self.spec.name}' lists more than can be taken in: {len(tools)} tools in {size} bytes"
                )
            cursor = page.get("nextCursor")
            if not cursor:
                return self._captured(tools)
            if cursor in seen:
                break
            seen.add(cursor)
        raise AdapterError(f"MCP server '{self.spec.name}' lists its tools in pages without end")

    async def _page(self, cursor: str | None) -> dict[str, Any]:
        params = types.PaginatedRequestParams(cursor=cursor)
        page: dict[str, Any] = await self.client.session.send_request(types.ListToolsRequest(params=params), _RAW)
        if self._is_modern and "x-mcp-header" in str(page):
            await self.client.session.list_tools(params=params)  # from which the SDK learns what goes into headers
        return page

    @property
    def _is_modern(self) -> bool:
        return self.client.protocol_version in MODERN_PROTOCOL_VERSIONS

    def _captured(self, tools: list[Mapping[str, Any]]) -> Capture:
        info = self.client.server_info
        return Capture(
            tuple(tools),
            info.model_dump(mode="json", by_alias=True, exclude_none=True) if info else {},
            self.client.instructions or "",
            self.client.protocol_version,
        )

    async def listen(self) -> None:
        """Hear of changed tools from a modern server, which tells only those who ask for it."""
        if not self._is_modern:
            return
        with suppress(MCPError, SubscriptionLost):
            async with self.client.listen(tools_list_changed=True) as news:
                async for _ in news:
                    self.on_tools_changed()

    async def call(
        self, tool: str, arguments: Mapping[str, object], context: Context, seconds: float
    ) -> dict[str, Any] | None:
        """Call a tool and give its result as it came; None if there was none in time."""
        with anyio.move_on_after(seconds) as patience:
            pending = _Pending(context, patience, seconds)
            number = next(self._numbers)
            self._pending[number] = pending
            try:
                return await self._finished(tool, dict(arguments), pending)
            finally:
                del self._pending[number]
        return None

    async def _finished(self, tool: str, arguments: dict[str, object], pending: _Pending) -> dict[str, Any]:
        """The result, after the user was asked for whatever a modern server wants to know first."""
        answers: dict[str, Any] | None = None
        state: str | None = None
        for _ in range(_MOST_ROUNDS):
            raw = await self._sent(tool, arguments, pending, answers, state)
            if raw.get("resultType") != "input_required":
                return raw
            state = raw.get("requestState")
            answers = {
                key: await _answered(request, pending) for key, request in (raw.get("inputRequests") or {}).items()
            }
        raise MCPError(types.INTERNAL_ERROR, "the server asks without end")

    async def _sent(
        self,
        tool: str,
        arguments: dict[str, object],
        pending: _Pending,
        answers: dict[str, Any] | None,
        state: str | None,
    ) -> dict[str, Any]:
        async def progressed(progress: float, total: float | None, message: str | None) -> None:
            pending.extend()
            await pending.context.progress(progress, total, message)

        params = types.CallToolRequestParams(
            name=tool, arguments=arguments, input_responses=answers, request_state=state
        )
        raw: dict[str, Any] = await self.client.session.send_request(
            types.CallToolRequest(params=params), _RAW, progress_callback=progressed
        )
        return raw

    async def answers_pings(self) -> bool:
        """Whether the server is still there, for all that can be told."""
        if self._is_modern:
            return True  # which has no pings: the next call will tell
        with anyio.move_on_after(_PING_SECONDS):
            try:
                await self.client.session.send_request(types.PingRequest(), types.EmptyResult)
            except MCPError:
                return False
            return True
        return False

    # what the server asks

    async def elicited(
        self, context: ClientRequestContext, params: types.ElicitRequestParams
    ) -> types.ElicitResult | types.ErrorData:
        """Have the user asked whose call this is for. If that cannot be told, nobody is asked."""
        del context  # which tells of the question, not of the call that it comes from
        sessions = {pending.context.session.id for pending in self._pending.values()}
        if len(sessions) != 1:
            return types.ElicitResult(action="cancel")
        *_, latest = self._pending.values()
        return _result(await latest.ask(_question(params.model_dump(mode="json", by_alias=True))))


def _question(params: Mapping[str, Any]) -> UserQuestion:
    return UserQuestion(
        str(params.get("message", "")), params.get("requestedSchema") or {}, str(params.get("url") or "")
    )


def _result(answer: UserAnswer | None) -> types.ElicitResult:
    if answer is None:
        return types.ElicitResult(action="cancel")
    content = dict(answer.content) if answer.content is not None else None
    return types.ElicitResult(action=answer.action, content=content)


async def _answered(request: Mapping[str, Any], pending: _Pending) -> types.ElicitResult:
    """The answer to one thing that a modern server wants to know; only a user's word is to be had here."""
    if request.get("method") != "elicitation/create":
        raise MCPError(types.INVALID_REQUEST, "the server asks for what cannot be given here")
    return _result(await pending.ask(_question(request.get("params") or {})))


@asynccontextmanager
async def opened_link(
    spec: McpSpec, bounds: Bounds, words: LastWords, on_tools_changed: Callable[[], None], *, modern: bool = False
) -> AsyncIterator[Link]:
    """A connection, for as long as the block lasts.

    The handshake comes first: nearly all servers know it, and those that do not say so at once, while old ones leave
    the newer greeting without an answer.
    """
    link = Link(spec, on_tools_changed)
    async with AsyncExitStack() as stack:
        client = Client(
            await stack.enter_async_context(_transport(spec, bounds, words, link)),
            mode="auto" if modern else "legacy",
            client_info=types.Implementation(name="headgate", version=__version__),
            elicitation_callback=link.elicited,
            message_handler=link.heard,
            cache=None,
        )
        link._client = await stack.enter_async_context(client)  # noqa: SLF001  (its own module)
        yield link


@asynccontextmanager
async def _transport(
    spec: McpSpec, bounds: Bounds, words: LastWords, link: Link
) -> AsyncIterator[AbstractAsyncContextManager[Any]]:
    """How the server is reached. The SDK enters it when it connects."""
    if spec.transport == "stdio":
        yield process_streams(spec, words, link.lose)
        return
    async with guarded_client(
        bounds, spec.url, headers=dict(spec.headers), timeout=httpx2.Timeout(30.0, read=None)
    ) as http:
        if spec.transport == "sse":
            yield sse_client(spec.url, httpx_client_factory=lambda headers=None, timeout=None, auth=None: http)
        else:
            yield streamable_http_client(spec.url, http_client=http)
