"""One open connection to an MCP server, and what can be asked over it."""

from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Final

import anyio
import mcp_types as types
from mcp.client.session import ClientSession
from mcp.client.subscriptions import SubscriptionLost, listen
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from headgate._version import __version__
from headgate.adapter.context import Context
from headgate.protocol.adapter_errors import AdapterError
from headgate.sources.http.bounds import Bounds
from headgate.sources.mcp.captures import Capture, json_of
from headgate.sources.mcp.configuration import McpSpec
from headgate.sources.mcp.endings import Endings
from headgate.sources.mcp.failures import pages_of
from headgate.sources.mcp.last_words import LastWords
from headgate.sources.mcp.pending import Calls, Pending
from headgate.sources.mcp.transports import Signals, opened_streams
from headgate.sources.mcp.wires import Wire, raw_result

__all__ = ["HttpRefusal", "Link", "opened_link"]

_MOST_PAGES: Final = 200
_MOST_TOOLS: Final = 20_000
_MOST_BYTES: Final = 32_000_000
_MOST_ROUNDS: Final = 10
_PING_SECONDS: Final = 5.0
_LISTEN_AGAIN_SECONDS: Final = 5.0
_LONGEST_DEAFNESS: Final = 60.0
_GONE: Final = 404
_TELLING: Final = frozenset({401, 403, 429})
"""Statuses that say more than the error that may come with them."""


_CLOSED: Final = "the connection was closed"
_UNTOLD: Final = frozenset({"", _CLOSED, "it ended"})


class HttpRefusal(Exception):
    """A call that was answered with a status, and had no effect; ``is_over`` if it is the session that is not known."""

    def __init__(self, status: int, *, is_over: bool) -> None:
        super().__init__(str(status))
        self.status = status
        self.is_over = is_over


@dataclass
class Link:
    """What can be asked of a server as long as the connection lasts. ``lost`` is set when it does not any more."""

    spec: McpSpec
    words: LastWords
    on_tools_changed: Callable[[], None]
    lost: anyio.Event = field(default_factory=anyio.Event)
    why_lost: str = ""
    _opened: tuple[Wire, ClientSession] | None = None
    _calls: Calls = field(default_factory=Calls)

    def open(self, wire: Wire, session: ClientSession) -> None:
        """Use these from now on."""
        self._opened = wire, session

    @property
    def session(self) -> ClientSession:
        """The SDK's session, once it is open."""
        return self._parts[1]

    @property
    def _wire(self) -> Wire:
        return self._parts[0]

    @property
    def _parts(self) -> tuple[Wire, ClientSession]:
        if self._opened is None:
            raise RuntimeError("this link is not open")
        return self._opened

    def lose(self, why: str = _CLOSED) -> None:
        """Note that the connection is over."""
        if not self.lost.is_set():
            self.why_lost = why
            self.lost.set()

    @contextmanager
    def telling(self) -> Iterator[None]:
        """Say why the connection was lost, where that tells more than that it was."""
        try:
            yield
        except MCPError:
            if self.why_lost in _UNTOLD:
                raise
            raise AdapterError(f"MCP server '{self.spec.name}': {self.why_lost}") from None

    def refused(self, status: int, in_session: bool) -> None:
        """Note that a request was answered with a status: whose it was tells where it was sent from."""
        self.words.status = status
        call = self._calls.current()
        if call is not None:
            call.status, call.in_session = status, in_session

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
            size += len(json_of(page))
            tools += self._listed(page)
            if size > _MOST_BYTES or len(tools) > _MOST_TOOLS:
                raise AdapterError(
                    f"MCP server '{self.spec.name}' lists more than can be taken in: {len(tools)} tools in {size} bytes"
                )
            cursor = page.get("nextCursor")
            if not cursor:
                return self._captured(tools)
            if not isinstance(cursor, str) or cursor in seen:
                break
            seen.add(cursor)
        raise AdapterError(f"MCP server '{self.spec.name}' lists its tools in pages without end")

    def _listed(self, page: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        tools = page.get("tools")
        if not isinstance(tools, list):
            raise AdapterError(f"MCP server '{self.spec.name}' answers with no list of tools when it is asked for them")
        return [tool for tool in tools if isinstance(tool, Mapping)]

    async def _page(self, cursor: str | None) -> dict[str, Any]:
        params = types.PaginatedRequestParams(cursor=cursor)
        page = await raw_result(self.session, types.ListToolsRequest(params=params))
        if self._is_modern and "x-mcp-header" in str(page):
            with suppress(ValidationError):
                await self.session.list_tools(params=params)  # from which the SDK learns what goes into headers
        return page

    @property
    def _is_modern(self) -> bool:
        return self.session.protocol_version in MODERN_PROTOCOL_VERSIONS

    def _captured(self, tools: list[Mapping[str, Any]]) -> Capture:
        info = self.session.server_info
        return Capture(
            tuple(tools),
            info.model_dump(mode="json", by_alias=True, exclude_none=True) if info else {},
            self.session.instructions or "",
            self.session.protocol_version or "",
        )

    async def listen(self) -> None:
        """Hear of changed tools from a modern server, which tells only those who ask for it."""
        delay = _LISTEN_AGAIN_SECONDS
        while self._is_modern:
            try:
                async with listen(self.session, tools_list_changed=True) as news:
                    async for _ in news:
                        self.on_tools_changed()
            except SubscriptionLost:
                pass
            except MCPError:
                return  # it has no news to tell
            await anyio.sleep(delay)
            delay = min(2 * delay, _LONGEST_DEAFNESS)
            self.on_tools_changed()  # whatever was missed meanwhile

    async def call(
        self, tool: str, arguments: Mapping[str, object], context: Context, seconds: float
    ) -> dict[str, Any] | None:
        """Call a tool and give its result as it came; None if there was none in time."""
        with anyio.move_on_after(seconds) as patience:
            async with self._calls.under_way(Pending(context, patience, seconds)) as pending:
                try:
                    return await self._result(tool, dict(arguments), pending)
                except MCPError as error:
                    for page in pages_of(error):
                        await pending.ask(page)  # whatever comes of it, the call must be made anew
                    raise _refusal_of(pending) or error from None
        return None

    async def _result(self, tool: str, arguments: dict[str, object], pending: Pending) -> dict[str, Any]:
        if self._is_modern:
            return await self._finished(tool, arguments, pending)
        params = {"name": tool, "arguments": arguments}
        return await self._wire.called(params, pending.progressed, self.session.protocol_version or "")

    async def _finished(self, tool: str, arguments: dict[str, object], pending: Pending) -> dict[str, Any]:
        """The result, after the user was asked for whatever a modern server wants to know first."""
        answers: dict[str, Any] | None = None
        state: str | None = None
        for _ in range(_MOST_ROUNDS):
            params = types.CallToolRequestParams(
                name=tool, arguments=arguments, input_responses=answers, request_state=state
            )
            raw = await raw_result(self.session, types.CallToolRequest(params=params), pending.progressed)
            if raw.get("resultType") != "input_required":
                return raw
            state = raw.get("requestState")
            answers = {key: await pending.answer(wanted) for key, wanted in (raw.get("inputRequests") or {}).items()}
        raise MCPError(types.INTERNAL_ERROR, "the server asks without end")

    async def is_alive(self) -> bool:
        """Whether the server still answers the simplest of all questions in time."""
        with anyio.move_on_after(_PING_SECONDS):
            try:
                if self._is_modern:
                    await self.session.send_discover(self.session.protocol_version or "")
                else:
                    await raw_result(self.session, types.PingRequest())
            except MCPError:
                return not self.lost.is_set()  # an error is an answer too
            return True
        return False

    @property
    def calls(self) -> Calls:
        """The calls that are under way."""
        return self._calls


def _refusal_of(pending: Pending) -> HttpRefusal | None:
    """What became of a call that was answered with a status, where that tells more than the error does."""
    is_over = pending.status == _GONE and pending.in_session
    if is_over or pending.status in _TELLING or pending.status >= 500:
        return HttpRefusal(pending.status, is_over=is_over)
    return None


@asynccontextmanager
async def opened_link(
    spec: McpSpec,
    bounds: Bounds,
    words: LastWords,
    on_tools_changed: Callable[[], None],
    endings: Endings,
    *,
    modern: bool = False,
) -> AsyncIterator[Link]:
    """A connection, for as long as the block lasts.

    The handshake comes first: nearly all servers know it, and those that do not say so at once, while old ones leave
    the newer greeting without an answer.
    """
    words.status = 0
    link = Link(spec, words, on_tools_changed)
    async with AsyncExitStack() as stack:
        signals = Signals(link.lose, link.refused)
        read, write = await stack.enter_async_context(opened_streams(spec, bounds, words, signals, endings))
        wire = Wire(read, write, link.lose)
        session = ClientSession(
            dispatcher=wire,
            client_info=types.Implementation(name="headgate", version=__version__),
            elicitation_callback=link.calls.elicited,
            message_handler=link.heard,
        )
        link.open(wire, await stack.enter_async_context(session))
        with link.telling():
            await _greet(session, modern=modern)
        yield link


async def _greet(session: ClientSession, *, modern: bool) -> None:
    if modern:
        with suppress(MCPError, ValidationError, RuntimeError):
            await session.discover()
            return
    await session.initialize()
