"""An MCP server as a source: every tool that it lists is an operation."""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from typing import Any, Final

import anyio.to_thread

from headgate.adapter.adapter import Adapter
from headgate.adapter.context import Context
from headgate.adapter.operations import Operation
from headgate.protocol.adapter_errors import AdapterError
from headgate.protocol.errors import AqlError
from headgate.sources.curation import Curation
from headgate.sources.http.bounds import Bounds
from headgate.sources.mcp.captures import Capture, Captures
from headgate.sources.mcp.configuration import McpSpec
from headgate.sources.mcp.failures import misbehaved
from headgate.sources.mcp.results import NoResult, data_of, failure_of
from headgate.sources.mcp.secrets import credentials_of, redacted, secrets_of, without_secrets
from headgate.sources.mcp.tools import operation_of
from headgate.sources.mcp.upstream import Upstream
from headgate.sources.naming import operation_names
from headgate.sources.words import clean, first_sentence

__all__ = ["McpSource", "mcp_operations"]

_LOG: Final = logging.getLogger("headgate")


class McpSource:
    """A server that is started or reached as its ``spec`` says.

    With ``captures``, a server that was seen before is offered at once, and started by the first call of one of its
    operations. Its tools are looked at again then, so that a change of them is not missed.
    """

    def __init__(
        self,
        spec: McpSpec,
        *,
        bounds: Bounds | None = None,
        curation: Curation | None = None,
        captures: Captures | None = None,
    ) -> None:
        self.spec = spec
        self.capture: Capture | None = None
        """What the server listed when it was last asked."""
        self._curation = curation or Curation()
        self._captures = captures
        self._upstream = Upstream(spec, bounds or Bounds(), self._captured)
        self._secrets = secrets_of(spec)
        self._credentials = credentials_of(spec)
        self._news: Adapter | None = None
        self._is_news = asyncio.Event()
        self._is_open = False
        self._is_closed = False

    @property
    def name(self) -> str:
        """What the server is called in its configuration."""
        return self.spec.name

    @property
    def is_up(self) -> bool:
        """Whether the server is connected now; one that is not is connected by the next call."""
        return self._upstream.is_up

    async def open(self) -> Adapter:
        """What the server offers: as it is remembered, or else as it says now."""
        if self.spec.problem:
            raise AdapterError(self.spec.problem)
        known = self._captures.find(self.spec) if self._captures else None
        self.capture = known or await self._upstream.start()
        if known is None:
            self._keep(self.capture)
        self._is_open = True
        return await self._made(self.capture)

    async def changes(self) -> AsyncIterator[Adapter]:
        """What the server offers after each change of its tools."""
        while not self._is_closed:
            await self._is_news.wait()
            self._is_news.clear()
            adapter, self._news = self._news, None
            if adapter is not None:
                yield adapter

    async def close(self) -> None:
        """End the connection, and the process behind it."""
        self._is_closed = True
        self._is_news.set()
        await self._upstream.close()

    async def _captured(self, capture: Capture) -> None:
        """Take in what the server lists, if that is not what is known."""
        if not self._is_open or (self.capture is not None and capture.tools == self.capture.tools):
            return
        try:
            adapter = await self._made(capture)
        except AdapterError as error:
            _LOG.warning("the changed tools of MCP server '%s' cannot be used: %s", self.name, error)
            return
        self.capture = capture
        self._keep(capture)
        _LOG.info("the tools of MCP server '%s' have changed: there are %d now", self.name, len(capture.tools))
        self._news = adapter  # in the place of a version that nobody has fetched yet
        self._is_news.set()

    def _keep(self, capture: Capture) -> None:
        if self._captures is not None:
            self._captures.keep(self.spec, capture)

    async def _made(self, capture: Capture) -> Adapter:
        """The adapter of all tools, made beside everything else: there may be thousands of them."""
        return await anyio.to_thread.run_sync(self._adapter, capture, abandon_on_cancel=True)

    def _adapter(self, capture: Capture) -> Adapter:
        said = clean(capture.instructions, 2000) or clean(capture.server.get("description"), 2000)
        version = clean(capture.server.get("version"), 50) or "0"
        adapter = Adapter(self.name, first_sentence(said, 300), version=version)
        for operation in mcp_operations(capture, self.name, self._call, self._curation):
            adapter.add(operation)
        return adapter

    async def _call(self, tool: str, arguments: Mapping[str, object], context: Context) -> object:
        try:
            raw = await self._upstream.call(tool, arguments, context)
            if raw.get("isError") is True:
                raise failure_of(raw, self.name, tool)
            return data_of(redacted(raw, self._credentials))
        except (NoResult, RecursionError):  # nested too deeply is no result either
            raise misbehaved(self.name, tool) from None
        except AqlError as error:
            raise without_secrets(error, self._secrets) from None


def mcp_operations(capture: Capture, source: str, call: Any, curation: Curation) -> list[Operation]:
    """The operations of all tools that can be one; what cannot is left out, and the log says why."""
    tools: dict[str, Mapping[str, Any]] = {}
    for tool in capture.tools:
        own = tool.get("name")
        if not isinstance(own, str) or not own:
            _LOG.warning("MCP server '%s' lists a tool without a name, which is left out", source)
        elif own in tools:
            _LOG.warning("MCP server '%s' lists the tool '%s' twice; the first counts", source, clean(own, 80))
        else:
            tools[own] = tool
    names = operation_names(list(tools))
    for entry in curation.unused([*names.values(), *names]):
        _LOG.warning("'%s': %s", source, entry)
    made = [
        _operation(tool, names[own], source, call, curation)
        for own, tool in tools.items()
        if curation.picks(names[own], own)
    ]
    return [operation for operation in made if operation is not None]


def _operation(tool: Mapping[str, Any], name: str, source: str, call: Any, curation: Curation) -> Operation | None:
    try:
        return operation_of(tool, name, source, call, curation.choice(name, str(tool["name"])))
    except AdapterError as error:
        _LOG.warning("the tool '%s' of MCP server '%s' is left out: %s", clean(tool["name"], 80), source, error)
        return None
