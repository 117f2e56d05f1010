"""One open MCP connection to a server, whatever leads to it: what it lists and what it answers, exactly as it came.

A Wire judges nothing; what goes wrong below MCP-AQL is a WireError.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, TypeAlias, cast
from urllib.parse import urlsplit

import anyio
import httpx2
import mcp_types as types
from mcp.client._memory import InMemoryTransport
from mcp.client.session import ClientSession, ElicitationFnT
from mcp.shared.dispatcher import ProgressFnT
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from headgate._version import __version__
from headgate.adapter.context import Progress
from headgate.client.places import (
    Answer,
    Command,
    InProcess,
    Lost,
    NotOpened,
    Place,
    Refused,
    Silent,
    Tool,
    Unreachable,
    Url,
    WireError,
)
from headgate.protocol.adapter_errors import AdapterError
from headgate.sources.http.bounds import Bounds
from headgate.sources.http.origins import host_name
from headgate.sources.http.transport import Refused as Forbidden
from headgate.sources.mcp.configuration import McpSpec
from headgate.sources.mcp.failures import said_by
from headgate.sources.mcp.last_words import LastWords
from headgate.sources.mcp.transports import Signals, opened_streams
from headgate.sources.mcp.wires import Wire as Dispatcher
from headgate.sources.mcp.wires import raw_result

__all__ = [
    "Answer",
    "Command",
    "Era",
    "InProcess",
    "Lost",
    "NotOpened",
    "OnQuestion",
    "Place",
    "Refused",
    "Silent",
    "Tool",
    "Unreachable",
    "Url",
    "Wire",
    "WireError",
    "open_wire",
]

Era: TypeAlias = Literal["auto", "modern", "legacy"]
OnQuestion: TypeAlias = Callable[[Mapping[str, Any]], Awaitable[Mapping[str, Any]]]
"""Answers a question of the server to its user: the parameters of an elicitation in, its result out."""

_OPENING_SECONDS: Final = 30.0
_CALL_SECONDS: Final = 60.0
_NOBODY: Final = (AdapterError, httpx2.ConnectError, httpx2.ConnectTimeout)
_NO_ENTRANCE: Final = frozenset({401, 403, 404, 405})
_MOST_PAGES: Final = 200
_MOST_TOOLS: Final = 20_000
_MOST_ROUNDS: Final = 10
_MOST_BYTES: Final = 16_000_000


class _AnyCall(types.Request[dict[str, Any], Literal["tools/call"]]):
    """A tool call whose arguments nobody looks at on the way."""

    method: Literal["tools/call"] = "tools/call"


@dataclass
class Wire:
    """What can be asked of a server as long as the connection lasts."""

    session: ClientSession
    words: LastWords
    on_question: OnQuestion | None = None
    tools: tuple[Tool, ...] = ()
    """As they were listed when the connection was made."""
    is_process: bool = False
    """Whether the server was started here, and is spoken to over its standard input and output."""
    lost: anyio.Event = field(default_factory=anyio.Event)
    why_lost: str = "the connection was closed"

    @property
    def era(self) -> Literal["modern", "legacy"]:
        """Which of the two kinds of MCP is spoken."""
        return "modern" if self.session.protocol_version in MODERN_PROTOCOL_VERSIONS else "legacy"

    @property
    def server(self) -> tuple[str, str]:
        """The name and the version that the server gives itself."""
        info = self.session.server_info
        return (info.name, info.version) if info else ("", "")

    @property
    def last_words(self) -> str:
        """What a process wrote to its standard error last."""
        return str(self.words)

    @property
    def noise(self) -> str:
        """The first line that a process wrote among its messages and that is none; nothing if all are."""
        return self.words.noise

    async def list_tools(self) -> tuple[Tool, ...]:
        """All tools, page by page."""
        found: list[Tool] = []
        cursor: str | None = None
        for _ in range(_MOST_PAGES):
            request = types.ListToolsRequest(params=types.PaginatedRequestParams(cursor=cursor))
            page = await self._asked(request, None, _OPENING_SECONDS)
            listed = page.get("tools")
            if not isinstance(listed, list):
                raise NotOpened("it answers with no list of tools when it is asked for them")
            found += (Tool(tool) for tool in listed if isinstance(tool, Mapping))
            cursor = page.get("nextCursor")
            if not cursor:
                return tuple(found)
            if len(found) > _MOST_TOOLS:
                break
        raise NotOpened("it lists its tools without end")

    async def call(
        self,
        tool: str,
        arguments: object,
        *,
        seconds: float = _CALL_SECONDS,
        progress: Progress | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> Answer:
        """Call a tool with whatever arguments, and give what came of it."""
        params: dict[str, Any] = {"name": tool, "arguments": arguments, **({"_meta": dict(meta)} if meta else {})}
        for _ in range(_MOST_ROUNDS):
            raw = await self._asked(_AnyCall(params=dict(params)), progress, seconds)
            if raw.get("resultType") != "input_required":
                return Answer(raw)
            answers = {key: await self._answered(wanted) for key, wanted in (raw.get("inputRequests") or {}).items()}
            params |= {"inputResponses": answers, "requestState": raw.get("requestState")}
        raise Lost("the server asks its user without end")

    async def _answered(self, wanted: Mapping[str, Any]) -> Mapping[str, Any]:
        if self.on_question is None:
            return {"action": "cancel"}
        return await self.on_question(wanted.get("params") or {})

    async def _asked(
        self, request: types.Request[Any, Any], progress: Progress | None, seconds: float
    ) -> dict[str, Any]:
        if self.lost.is_set():
            raise Lost(self.why_lost)
        self.words.status = 0  # what an earlier request was answered with says nothing of this one
        try:
            with anyio.fail_after(seconds):
                return await raw_result(self.session, request, cast("ProgressFnT | None", progress))
        except TimeoutError:
            raise Silent(seconds) from None
        except MCPError as error:
            raise self._meaning(error) from None

    def _meaning(self, error: MCPError) -> WireError:
        if self.lost.is_set() or error.error.code == types.CONNECTION_CLOSED:
            return Lost(self.why_lost)
        if self.words.status >= 400:
            return Lost(said_by(self.words.status), self.words.status)
        is_ours = error.error.message.startswith("Failed to parse JSON")  # the library's words, not the server's
        return Refused(error.error.code, "the answer cannot be read" if is_ours else error.error.message)

    def lose(self, why: str = "") -> None:
        """Note that the connection is over, and why."""
        if not self.lost.is_set():
            self.why_lost = why or self.why_lost
            self.lost.set()


@asynccontextmanager
async def open_wire(
    place: Place, *, era: Era = "auto", seconds: float = _OPENING_SECONDS, on_question: OnQuestion | None = None
) -> AsyncIterator[Wire]:
    """A connection, for as long as the block lasts. Without ``on_question`` the server cannot ask the user."""
    is_open = False
    words = LastWords("the server")
    raised: Exception | None = None
    try:
        with anyio.CancelScope(deadline=anyio.current_time() + seconds) as opening:
            async with _connected(place, era, on_question, words) as wire:
                is_open, opening.deadline = True, float("inf")
                try:
                    yield wire
                except Exception as error:
                    raised = error
                    raise
    except Exception as error:  # noqa: BLE001  (what the block raises passes; the rest is why there is no connection)
        if raised is not None:
            raise raised from raised.__cause__
        cause = _inmost(error)
        if is_open and isinstance(cause, httpx2.HTTPError):
            raise Lost("it broke off an answer, or sent one of more than 16 MB") from None
        if is_open:
            raise cause from None
        raise _unopened(cause, place, words) from None
    if opening.cancelled_caught and not is_open:
        raise NotOpened(f"it did not greet and list its tools within {seconds:g} seconds{_beside(words)}")


@asynccontextmanager
async def _connected(place: Place, era: Era, on_question: OnQuestion | None, words: LastWords) -> AsyncIterator[Wire]:
    wire: Wire | None = None

    def lose(why: str = "") -> None:
        if wire is not None:
            wire.lose(why)

    def refused(status: int, _in_session: bool) -> None:
        words.status = status

    async def elicited(_context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        assert on_question is not None  # noqa: S101  (it is only told of where it is there)
        said = await on_question(params.model_dump(mode="json", by_alias=True, exclude_none=True))
        return types.ElicitResult.model_validate(said)

    async with _streams(place, words, Signals(lose, refused)) as (read, write):
        session = ClientSession(
            dispatcher=Dispatcher(read, write, lose),
            client_info=types.Implementation(name="headgate", version=__version__),
            elicitation_callback=cast("ElicitationFnT", elicited) if on_question else None,
        )
        async with session:
            wire = Wire(session, words, on_question, is_process=isinstance(place, Command))
            try:
                await _greet(session, era)
            except MCPError as error:
                raise _ungreeted(error, wire) from None
            wire = replace(wire, tools=await wire.list_tools(), lost=wire.lost)
            yield wire


def _streams(place: Place, words: LastWords, signals: Signals) -> AbstractAsyncContextManager[tuple[Any, Any]]:
    match place:
        case InProcess(server):
            return InMemoryTransport(server)
        case Url(url, headers):
            spec = McpSpec(name="the server", url=url, headers=headers, transport="http")
        case Command(argv, env, cwd):
            spec = McpSpec(name=argv[0], command=argv[0], args=argv[1:], env=env, cwd=cwd)
    bounds = Bounds(max_response_bytes=_MOST_BYTES, allow=_hosts(place))
    return opened_streams(spec, bounds, words, signals)


def _hosts(place: Place) -> tuple[str, ...]:
    """The host that a person has named may be reached, private or not."""
    host = urlsplit(place.url).hostname if isinstance(place, Url) and "[" not in place.url else None
    return (host,) if host and host_name(host) else ()


async def _greet(session: ClientSession, era: Era) -> None:
    """Begin in the era that is wanted; else with the handshake, which nearly all servers know."""
    if era == "modern":
        await _discover(session)
        return
    try:
        await session.initialize()
    except MCPError:
        if era == "legacy":
            raise
        with suppress(MCPError, ValidationError):
            await session.discover()
            return
        raise


async def _discover(session: ClientSession) -> None:
    """Begin in the modern era. The SDK waits ten seconds; who starts more slowly is asked again until opening ends."""
    while True:
        try:
            await session.discover()
        except MCPError as error:
            if error.error.code != types.REQUEST_TIMEOUT:
                raise
        else:
            return


def _ungreeted(error: MCPError, wire: Wire) -> NotOpened:
    """Why a server that is there has not greeted."""
    status = wire.words.status
    if status:
        return (Unreachable if status in _NO_ENTRANCE else NotOpened)(said_by(status))
    if error.error.code == types.CONNECTION_CLOSED:
        last = f", with the words: {wire.words.telling}" if wire.words.telling else ""
        why = wire.why_lost if wire.lost.is_set() else "it ended, or closed the connection"
        return NotOpened(f"{why}, before it had greeted{last}")
    return NotOpened(f"it does not greet as a server of MCP does: {error.error.message}")


def _unopened(error: BaseException, place: Place, words: LastWords) -> BaseException:
    """Why there is no connection, and where there is none."""
    if isinstance(error, WireError) and not isinstance(error, NotOpened):
        return error
    why = str(error) if isinstance(error, WireError) else _why(error)
    if not isinstance(error, (*_NOBODY, Unreachable)):
        return NotOpened(f"{why}{_beside(words)}")
    if isinstance(place, Url) and not isinstance(error, AdapterError):
        why = f"'{_address(place.url)}': {why}"
    return Unreachable(why)


def _address(url: str) -> str:
    """A URL without what may be secret in it."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()


def _beside(words: LastWords) -> str:
    """What a process wrote where only messages belong."""
    if not words.noise:
        return ""
    said = f"it wrote '{words.noise}' to its standard output, which is for messages of MCP alone"
    return f"; {said}; logs belong on standard error"


def _inmost(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _why(error: BaseException) -> str:
    if isinstance(error, AdapterError):
        return str(error)
    if isinstance(error, Forbidden):
        return str(error)
    if isinstance(error, ValidationError | RuntimeError):
        return "it does not speak MCP, or an unknown version of it"
    if isinstance(error, httpx2.TransportError) and not isinstance(error, _NOBODY):
        return "it hangs up, or what it answers is no HTTP"
    return "it cannot be reached"
