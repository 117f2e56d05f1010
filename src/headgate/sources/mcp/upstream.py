"""An MCP server that is kept connected: started when it is needed, and again with growing patience when it breaks."""

import asyncio
import logging
import math
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress
from contextvars import Context as Variables
from typing import Any, Final

import anyio
import httpx2
import mcp_types as types
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from headgate.adapter.context import Context
from headgate.protocol.adapter_errors import AdapterError
from headgate.protocol.errors import AqlError
from headgate.sources.http.bounds import Bounds
from headgate.sources.http.transport import Refused
from headgate.sources.mcp import failures
from headgate.sources.mcp.captures import Capture
from headgate.sources.mcp.configuration import McpSpec
from headgate.sources.mcp.endings import Endings
from headgate.sources.mcp.last_words import LastWords
from headgate.sources.mcp.links import HttpRefusal, Link, opened_link
from headgate.sources.mcp.secrets import secrets_of
from headgate.sources.mcp.wires import Closed

__all__ = ["Upstream"]

_LOG: Final = logging.getLogger("headgate")
_CALL_SECONDS: Final = 120.0
_START_SECONDS: Final = 120.0
_PATIENCE_SECONDS: Final = 10.0
"""How long a call waits for a server that is being started again."""
_FIRST_DELAY: Final = 0.2
_LONGEST_DELAY: Final = 30.0
_MOST_DOUBLINGS: Final = 10
_PROVEN_SECONDS: Final = 30.0
"""After how long a server counts as well again, so that its next failure is its first."""
_BROKEN_STREAM: Final = "SSE stream "
"""How errors begin by which the SDK tells that no answer can come over HTTP."""
_MODERN_ONLY: Final = frozenset({types.METHOD_NOT_FOUND, types.UNSUPPORTED_PROTOCOL_VERSION, types.INVALID_REQUEST})
"""How a server answers the handshake that knows only the protocol without one."""


class Upstream:
    """One server behind headgate. Its failures concern its own calls, and nobody else's."""

    def __init__(self, spec: McpSpec, bounds: Bounds, on_capture: Callable[[Capture], Awaitable[None]]) -> None:
        self.spec = spec
        self._bounds = bounds
        self._on_capture = on_capture
        self._words = LastWords(spec.name, secrets_of(spec))
        self._endings = Endings()
        self._link: Link | None = None
        self._capture: Capture | None = None
        self._settled = asyncio.Event()
        """Set once: when the next attempt to connect has succeeded or failed."""
        self._keeper: asyncio.Task[None] | None = None
        self._wanted = anyio.CancelScope()
        """Around all that the keeper does; unlike the end of a task, that of a scope waits for what is being closed."""
        self._looking: set[asyncio.Task[None]] = set()
        self._changed = asyncio.Event()
        self._connections = 0
        self._failures = 0
        self._retry_at = 0.0
        self._why = "it was not started yet"
        self._told = ""
        self._is_starting = False
        self._is_modern = False
        self._is_closed = False

    @property
    def is_up(self) -> bool:
        """Whether it is connected now."""
        return self._link is not None and not self._link.lost.is_set()

    async def start(self) -> Capture:
        """Connect, and see what it offers. An AdapterError says why not; then it is not tried any further."""
        settled = self._settled
        self._is_starting = True
        self._want()
        try:
            await settled.wait()  # which takes no longer than an attempt may
        finally:
            self._is_starting = False
            if self._capture is None:
                with anyio.CancelScope(shield=True):  # also whoever has waited long enough leaves no process behind
                    await self._stop()
        if self._capture is None:
            raise AdapterError(f"MCP server '{self.spec.name}': {self._why}")
        return self._capture

    async def close(self) -> None:
        """End the connection, and the process behind it, for good."""
        self._is_closed = True
        self._why = "it was closed"
        await self._stop()
        self._settle()

    async def _stop(self) -> None:
        keeper, self._keeper = self._keeper, None
        self._wanted.cancel()
        for task in self._looking:
            task.cancel()
        tasks = {task for task in (keeper, *self._looking) if task is not None}
        if tasks:
            await asyncio.wait(tasks)

    def _want(self) -> None:
        if self._keeper is None and not self._is_closed:
            self._capture, self._wanted = None, anyio.CancelScope()
            self._keeper = self._beside(self._keep(self._wanted))

    def _beside(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """A task of the server's own, which has nothing of the call that it begins in."""
        return asyncio.create_task(work, name=f"upstream {self.spec.name}", context=Variables())

    # one call

    async def call(
        self, tool: str, arguments: Mapping[str, object], context: Context, *, again: bool = True
    ) -> dict[str, Any]:
        """Call a tool and give its result as it came. An AqlError says what went wrong.

        Nothing is sent twice, except what was refused because the server has forgotten the session.
        """
        link = await self._connected()
        seconds = self.spec.timeout or _CALL_SECONDS
        try:
            raw = await link.call(tool, arguments, context, seconds)
        except HttpRefusal as refusal:
            if refusal.is_over:
                link.lose("it has ended the session")
            if refusal.is_over and again:
                return await self.call(tool, arguments, context, again=False)
            raise failures.rejected(self.spec.name, tool, refusal.status) from None
        except MCPError as error:
            raise self._failed(error, link, tool) from None
        if raw is None:
            self._suspect(link)
            raise failures.timed_out(self.spec.name, tool, seconds)
        return raw

    async def _connected(self) -> Link:
        """The connection, after the wait for one that is being made."""
        if not self.is_up:
            self._want()
            if not self._is_closed and self._retry_at - time.monotonic() < _PATIENCE_SECONDS:
                with suppress(TimeoutError):
                    patience = _PATIENCE_SECONDS if self._failures else _START_SECONDS
                    await asyncio.wait_for(self._settled.wait(), patience)
        if self._link is None or not self.is_up:
            raise failures.unavailable(self.spec.name, self._why, max(1.0, self._retry_at - time.monotonic()))
        return self._link

    def _failed(self, error: MCPError, link: Link, tool: str) -> AqlError:
        if link.lost.is_set() or _is_broken(error):
            self._endings.give_up()
            return failures.broken(self.spec.name, tool, link.why_lost or "the connection was closed")
        if error.error.code == types.PARSE_ERROR:
            return failures.misbehaved(self.spec.name, tool)
        return failures.refused(error, self.spec.name, tool)

    def _suspect(self, link: Link) -> None:
        """See whether a server that did not answer in time is still alive, and start it anew if not."""

        async def look() -> None:
            if not await link.is_alive():
                link.lose("it does not answer any more")

        task = self._beside(look())
        self._looking.add(task)
        task.add_done_callback(self._looking.discard)

    # the connection

    async def _keep(self, wanted: anyio.CancelScope) -> None:
        """Connect, stay connected, and connect again, for as long as the server is wanted."""
        with wanted:
            while True:
                await self._try()

    async def _try(self) -> None:
        """Connect once, stay connected, and wait as long as is fit before the next time."""
        since, before = time.monotonic(), self._connections
        try:
            await self._stay_connected()
        except Exception as error:  # noqa: BLE001  (whatever a server does, it is tried again)
            if self._knows_no_handshake(error):
                self._is_modern = True
                return
            self._note(_reason(error, self.spec.name, self._words.status))
        lasted = time.monotonic() - since
        self._failures = 1 if lasted > _PROVEN_SECONDS else self._failures + 1
        delay = min(_LONGEST_DELAY, _FIRST_DELAY * 2 ** min(self._failures - 1, _MOST_DOUBLINGS))
        self._retry_at = time.monotonic() + delay
        if self._connections == before:
            self._settle()
        await anyio.sleep(delay)

    def _settle(self) -> None:
        """Wake whoever waits for a connection, and let others wait for the next."""
        self._settled.set()
        self._settled = asyncio.Event()

    def _knows_no_handshake(self, error: Exception) -> bool:
        """Whether the server refuses the handshake as one would that speaks only the newer protocol."""
        cause = _inmost(error)
        return not self._is_modern and isinstance(cause, MCPError) and cause.error.code in _MODERN_ONLY

    async def _stay_connected(self) -> None:
        with anyio.CancelScope(deadline=anyio.current_time() + _START_SECONDS) as attempt:
            async with opened_link(
                self.spec, self._bounds, self._words, self._changed.set, self._endings, modern=self._is_modern
            ) as link:
                with link.telling():
                    capture = await link.capture()
                attempt.deadline = math.inf
                try:
                    await self._serve(link, capture)
                finally:
                    self._link = None
        if attempt.cancelled_caught:
            raise TimeoutError

    async def _serve(self, link: Link, capture: Capture) -> None:
        """Tell what the server offers, now and whenever that changes, until it is lost."""
        self._link, self._capture = link, capture
        self._connections += 1
        self._settle()
        await self._on_capture(capture)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._follow, link)
            tasks.start_soon(link.listen)
            await link.lost.wait()
            self._endings.give_up()
            self._note(link.why_lost)
            tasks.cancel_scope.cancel()

    async def _follow(self, link: Link) -> None:
        while True:
            await self._changed.wait()
            await anyio.sleep(_FIRST_DELAY)  # news often comes in bursts
            self._changed.clear()
            with suppress(MCPError, AdapterError, TimeoutError):
                with anyio.fail_after(_START_SECONDS):
                    await self._on_capture(await link.capture())

    def _note(self, why: str) -> None:
        """Remember why the server is not there, and tell the operator: once, if whoever opens it does not say it."""
        self._why = why
        said = f"; its last words:\n{self._words}" if self._words.lines else ""
        told = f"{why}{said}"
        if told != self._told and (said or not self._is_starting):
            self._told = told
            _LOG.warning("MCP server '%s': %s", self.spec.name, told)


def _is_broken(error: BaseException) -> bool:
    """Whether it is the connection that failed, and not the server that refused."""
    if not isinstance(error, MCPError):
        return False
    is_end = error.error.code == types.CONNECTION_CLOSED and error.error.message.startswith(_BROKEN_STREAM)
    return is_end or isinstance(error, Closed)


def _inmost(error: BaseException) -> BaseException:
    """The error itself, out of the groups in which tasks wrap it."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _reason(error: BaseException, name: str, status: int) -> str:
    """Why a server cannot be used, in words that are safe to show."""
    error = _inmost(error)
    if isinstance(error, AdapterError):
        return str(error).removeprefix(f"MCP server '{name}' ").removeprefix(f"MCP server '{name}': ")
    if isinstance(error, Refused):
        return error.error.error.message
    if isinstance(error, httpx2.HTTPStatusError):
        return failures.said_by(error.response.status_code)
    return next(words for kind, words in _reasons(error, status) if isinstance(error, kind))


def _reasons(error: BaseException, status: int) -> tuple[tuple[type[BaseException], str], ...]:
    unclear = "it ended, or does not speak MCP" if _is_broken(error) else "it does not answer as a server of MCP does"
    return (
        (TimeoutError, f"it did not list its tools within {_START_SECONDS:g} seconds"),
        (MCPError, failures.said_by(status) if status else unclear),
        (httpx2.HTTPError, "it cannot be reached"),
        (ValidationError, "it does not speak MCP"),
        (RuntimeError, "it speaks an unknown version of MCP"),
        (BaseException, "the connection cannot be made"),
    )
