"""An MCP server that is kept connected: started when it is needed, and again with growing patience when it breaks."""

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, suppress
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
from headgate.sources.mcp import failures
from headgate.sources.mcp.captures import Capture
from headgate.sources.mcp.configuration import McpSpec
from headgate.sources.mcp.links import Link, opened_link
from headgate.sources.mcp.processes import LastWords
from headgate.sources.mcp.secrets import secrets_of

__all__ = ["Upstream"]

_LOG: Final = logging.getLogger("headgate")
_CALL_SECONDS: Final = 120.0
_START_SECONDS: Final = 120.0
_PATIENCE_SECONDS: Final = 10.0
"""How long a call waits for a server that is being started again."""
_FIRST_DELAY: Final = 0.2
_LONGEST_DELAY: Final = 30.0
_PROVEN_SECONDS: Final = 30.0
"""After how long a server counts as well again, so that its next failure is its first."""
_BROKEN: Final = frozenset({types.CONNECTION_CLOSED, types.REQUEST_TIMEOUT})
_MODERN_ONLY: Final = frozenset({types.METHOD_NOT_FOUND, types.UNSUPPORTED_PROTOCOL_VERSION, types.INVALID_REQUEST})
"""How a server answers the handshake that knows only the protocol without one."""


class Upstream:
    """One server behind headgate. Its failures concern its own calls, and nobody else's."""

    def __init__(self, spec: McpSpec, bounds: Bounds, on_capture: Callable[[Capture], None]) -> None:
        self.spec = spec
        self._bounds = bounds
        self._on_capture = on_capture
        self._words = LastWords(spec.name, secrets_of(spec))
        self._link: Link | None = None
        self._up = asyncio.Event()
        self._outcome: asyncio.Future[Capture] | None = None
        self._keeper: asyncio.Task[None] | None = None
        self._changed = asyncio.Event()
        self._failures = 0
        self._retry_at = 0.0
        self._why = "it was not started yet"
        self._is_modern = False

    @property
    def is_up(self) -> bool:
        """Whether it is connected now."""
        return self._link is not None

    async def start(self) -> Capture:
        """Connect, and see what it offers. An AdapterError says why not; then it is not tried any further."""
        self._want()
        outcome = self._outcome = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(_START_SECONDS):
                return await asyncio.shield(outcome)
        except TimeoutError:
            raise AdapterError(
                f"MCP server '{self.spec.name}' did not answer within {_START_SECONDS:g} seconds"
            ) from None
        finally:
            self._outcome = None
            if not self.is_up:
                await self.close()

    async def close(self) -> None:
        """End the connection, and the process behind it."""
        keeper, self._keeper = self._keeper, None
        if keeper is not None:
            keeper.cancel()
            with suppress(asyncio.CancelledError):
                await keeper

    def _want(self) -> None:
        if self._keeper is None or self._keeper.done():
            self._keeper = asyncio.create_task(self._keep(), name=f"upstream {self.spec.name}")

    # one call

    async def call(self, tool: str, arguments: Mapping[str, object], context: Context) -> dict[str, Any]:
        """Call a tool and give its result as it came. An AqlError says what went wrong; nothing is sent twice."""
        link = await self._connected()
        seconds = self.spec.timeout or _CALL_SECONDS
        try:
            raw = await link.call(tool, arguments, context, seconds)
        except MCPError as error:
            raise self._failed(error, link, tool) from None
        except ValidationError:
            raise failures.misbehaved(self.spec.name, tool) from None
        except (httpx2.HTTPError, anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
            link.lose("the connection broke")
            raise failures.broken(self.spec.name, tool, "the connection broke") from None
        if raw is None:
            self._suspect(link)
            raise failures.timed_out(self.spec.name, tool, seconds)
        return raw

    async def _connected(self) -> Link:
        if self._link is None:
            self._want()
            if self._retry_at - time.monotonic() < _PATIENCE_SECONDS:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._up.wait(), _START_SECONDS if not self._failures else _PATIENCE_SECONDS)
        if self._link is None:
            raise failures.unavailable(self.spec.name, self._why, max(1.0, self._retry_at - time.monotonic()))
        return self._link

    def _failed(self, error: MCPError, link: Link, tool: str) -> AqlError:
        if error.error.code in _BROKEN or link.lost.is_set():
            why = link.why_lost or "the connection was closed"
            link.lose(why)
            return failures.broken(self.spec.name, tool, why)
        return failures.refused(error, self.spec.name, tool)

    def _suspect(self, link: Link) -> None:
        """See whether a server that did not answer in time is still alive, and start it anew if not."""

        async def look() -> None:
            if not await link.answers_pings():
                link.lose("it does not answer any more")

        task = asyncio.create_task(look())
        self._looking = task  # which nothing else would keep from being thrown away

    # the connection

    async def _keep(self) -> None:
        """Connect, stay connected, and connect again, for as long as the server is wanted."""
        while True:
            since = time.monotonic()
            try:
                await self._stay_connected()
            except Exception as error:  # noqa: BLE001  (whatever a server does, it is tried again)
                if self._knows_no_handshake(error):
                    self._is_modern = True
                    continue
                self._note(_reason(error, self.spec.name))
            finally:
                self._link = None
                self._up.clear()
            lasted = time.monotonic() - since
            self._failures = 1 if lasted > _PROVEN_SECONDS else self._failures + 1
            delay = min(_LONGEST_DELAY, _FIRST_DELAY * 2 ** (self._failures - 1))
            self._retry_at = time.monotonic() + delay
            await asyncio.sleep(delay)

    def _knows_no_handshake(self, error: Exception) -> bool:
        """Whether the server refuses the handshake as one would that speaks only the newer protocol."""
        cause = _inmost(error)
        return not self._is_modern and isinstance(cause, MCPError) and cause.error.code in _MODERN_ONLY

    async def _stay_connected(self) -> None:
        link = None
        try:
            async with self._opened() as link:
                await self._serve(link)
        finally:
            if link is not None and link.lost.is_set():
                self._note(link.why_lost)

    def _opened(self) -> AbstractAsyncContextManager[Link]:
        return opened_link(self.spec, self._bounds, self._words, self._changed.set, modern=self._is_modern)

    async def _serve(self, link: Link) -> None:
        """Tell what the server offers, now and whenever that changes, until it is lost."""
        async with asyncio.timeout(_START_SECONDS):
            capture = await link.capture()
        self._link = link
        self._up.set()
        self._tell(capture)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._follow, link)
            tasks.start_soon(link.listen)
            await link.lost.wait()
            tasks.cancel_scope.cancel()

    async def _follow(self, link: Link) -> None:
        while True:
            await self._changed.wait()
            await anyio.sleep(_FIRST_DELAY)  # news often comes in bursts
            self._changed.clear()
            with suppress(MCPError, ValidationError, AdapterError):
                self._on_capture(await link.capture())

    def _tell(self, capture: Capture) -> None:
        if self._outcome is not None and not self._outcome.done():
            self._outcome.set_result(capture)
        else:
            self._on_capture(capture)

    def _note(self, why: str) -> None:
        """Remember why the server is not there, and tell whoever waits for it to start, and the operator."""
        self._why = why
        if self._outcome is not None and not self._outcome.done():
            self._outcome.set_exception(AdapterError(f"MCP server '{self.spec.name}': {why}"))
        said = f"; its last words:\n{self._words}" if self._words.lines else ""
        _LOG.warning("MCP server '%s': %s%s", self.spec.name, why, said)


def _inmost(error: BaseException) -> BaseException:
    """The error itself, out of the groups in which tasks wrap it."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _reason(error: BaseException, name: str) -> str:
    """Why a server cannot be used, in words that are safe to show."""
    error = _inmost(error)
    if isinstance(error, AdapterError):
        return str(error).removeprefix(f"MCP server '{name}' ").removeprefix(f"MCP server '{name}': ")
    if isinstance(error, AqlError):
        return error.error.message
    if isinstance(error, TimeoutError):
        return f"it did not list its tools within {_START_SECONDS:g} seconds"
    if isinstance(error, MCPError):
        return "it ended, or does not speak MCP" if error.error.code in _BROKEN else "it refuses to be connected to"
    if isinstance(error, httpx2.HTTPStatusError):
        return f"it answers with status {error.response.status_code}"
    if isinstance(error, httpx2.HTTPError):
        return "it cannot be reached"
    return "the connection cannot be made"
