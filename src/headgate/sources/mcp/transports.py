"""How a server is reached: as a process, over HTTP, or over the older stream of events."""

import logging
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import anyio
import httpx2
from mcp.client import session
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client

from headgate.sources.http.bounds import Bounds
from headgate.sources.http.clients import guarded_client
from headgate.sources.mcp.configuration import McpSpec
from headgate.sources.mcp.density import watched
from headgate.sources.mcp.endings import Endings
from headgate.sources.mcp.last_words import LastWords
from headgate.sources.mcp.processes import process_streams

__all__ = ["Signals", "opened_streams"]

_SESSION: Final = "mcp-session-id"
_NAMED: Final = (_SESSION, "mcp-protocol-version")
_FAREWELL_SECONDS: Final = 2.0
_SDK: Final = str(Path(session.__file__).parents[1]) + os.sep
"""Its folder. One of its loggers bears no name of its own, but 'client'."""


def _is_not_the_sdks(record: logging.LogRecord) -> bool:
    return not record.pathname.startswith(_SDK)


# The SDK's clients show what a server sends, secrets and all; what goes wrong is said once, by us.
for _name in ("mcp.client.streamable_http", "mcp.client.sse", "mcp.shared.jsonrpc_dispatcher"):
    logging.getLogger(_name).addFilter(lambda _record: False)
session.logger.addFilter(_is_not_the_sdks)


@dataclass(frozen=True, slots=True)
class Signals:
    """What a transport tells beside its messages."""

    ended: Callable[[str], None]
    """The server is gone, and why."""
    refused: Callable[[int, bool], None]
    """A request was answered with an HTTP status from 400 on; whether it belonged to a session."""


@asynccontextmanager
async def opened_streams(
    spec: McpSpec, bounds: Bounds, words: LastWords, signals: Signals, endings: Endings | None = None
) -> AsyncIterator[tuple[Any, Any]]:
    """The streams of messages from and to a server; ``endings`` know it from earlier connections."""
    if spec.transport == "stdio":
        async with process_streams(spec, words, signals.ended) as streams:
            yield streams
        return
    visit = _Visit(signals, endings or Endings())
    timeout = httpx2.Timeout(30.0, connect=bounds.connect_seconds, read=None)
    hooks = {"response": [visit.note]}
    async with guarded_client(
        bounds, spec.url, headers=dict(spec.headers), timeout=timeout, event_hooks=hooks
    ) as client:
        made = _events(spec, client) if spec.transport == "sse" else _requests(spec, client, bounds)
        async with made as (read, write):
            try:
                yield read, write
            finally:
                await visit.end(client, spec.url)


def _events(spec: McpSpec, client: httpx2.AsyncClient) -> Any:
    return sse_client(spec.url, httpx_client_factory=lambda **_: nullcontext(client))  # type: ignore[arg-type]


def _requests(spec: McpSpec, client: httpx2.AsyncClient, bounds: Bounds) -> Any:
    return streamable_http_client(
        spec.url, http_client=client, terminate_on_close=False, max_sse_event_size=bounds.max_response_bytes
    )


@dataclass
class _Visit:
    """What the answers of a server over HTTP tell in their heads."""

    signals: Signals
    endings: Endings
    headers: dict[str, str] = field(default_factory=dict)

    async def note(self, response: httpx2.Response) -> None:
        """See how a request was answered, and under which session."""
        watched(response)
        self.endings.await_that_of(response)
        asked = response.request.headers
        if response.status_code >= httpx2.codes.BAD_REQUEST and response.request.method == "POST":
            self.signals.refused(response.status_code, _SESSION in asked)
        if _SESSION in asked:
            self.headers = {name: asked[name] for name in _NAMED if name in asked}

    async def end(self, client: httpx2.AsyncClient, url: str) -> None:
        """Give the session back, if there is one; a server that does not answer is not waited for."""
        if self.headers:
            with anyio.move_on_after(_FAREWELL_SECONDS, shield=True), suppress(httpx2.HTTPError):
                await client.delete(url, headers=self.headers)
