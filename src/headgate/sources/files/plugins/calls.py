"""The transports headgate and mcp: a file that stands before a source of this machine, or before an MCP server.

A file is only words, and to serve one that nobody has read must not run a program. So nothing is opened or started for
a file unless an opener is given, which whoever serves it does once he has vouched for the file.
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import anyio
import anyio.to_thread

from headgate.adapter.adapter import Adapter
from headgate.adapter.context import Context
from headgate.adapter.operations import DRY_RUN, Operation
from headgate.adapter.parameters import Convert
from headgate.protocol.adapter_errors import AdapterError
from headgate.protocol.errors import AqlError, Denied, Invalid
from headgate.protocol.tables import FORMAT
from headgate.sources.files.plugins.interfaces import Connection, Opener, Serialization, Surroundings, Upstream
from headgate.sources.files.spots import Spot
from headgate.sources.files.values import Entry, Target
from headgate.sources.http.credentials import Credential
from headgate.sources.shapes import NOT_GIVEN
from headgate.sources.source import Source

__all__ = [
    "CALL",
    "HEADGATE",
    "MCP",
    "OPERATION",
    "TOOL",
    "TOOLS",
    "CallPlan",
    "CallProtocol",
    "CallRequest",
    "HeadgateTransport",
    "McpTransport",
    "SourceConnection",
]

_LOG: Final = logging.getLogger("headgate")

CALL: Final = "CALL"
TOOL: Final = "TOOL"
_MCP_KEYS: Final = ("command", "args", "env", "cwd", "url", "headers")


@dataclass(frozen=True, slots=True)
class CallRequest:
    """An operation of the source behind the file, and what it is called with."""

    verb: str
    name: str
    values: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class CallPlan:
    """How one operation calls another."""

    verb: str
    own_name: str

    async def call(self, values: Mapping[str, object], connection: Connection, context: Context | None) -> object:
        """What the other operation answers."""
        given = {name: value for name, value in values.items() if value is not NOT_GIVEN}
        return await connection.send(CallRequest(self.verb, self.own_name, given), context)


class SourceConnection:
    """A source that is opened with the first call."""

    def __init__(self, upstream: Upstream, here: Surroundings) -> None:
        self._upstream = upstream
        self._here = here
        self._lock = anyio.Lock()
        self._source: Source | None = None
        self._adapter: Adapter | None = None

    async def send(self, request: CallRequest, context: Context | None) -> object:
        """Call an operation of the source."""
        adapter = self._adapter or await self._opened()
        operation = _found(adapter, request)
        if operation is None:
            message = f"There is no '{request.name}' behind the adapter file '{self._here.name}' any more"
            raise AqlError("PROTOCOL_INVALID_MAPPING", message, {"mapping": f"{request.verb} {request.name}"})
        return await _run(operation, request.values, context)

    async def _opened(self) -> Adapter:
        opener = self._here.opener
        if opener is None:
            raise Denied(
                f"the adapter file '{self._here.name}' wants to use something of this machine, "
                "which is only done once somebody vouches for it: serve it with --trust validated"
            )
        async with self._lock:
            if self._adapter is None:
                self._adapter = await self._open(opener)
            return self._adapter

    async def _open(self, opener: Opener) -> Adapter:
        try:
            self._source = opener(self._upstream)
            return await self._source.open()
        except AdapterError as error:
            _LOG.warning("the source behind the adapter file '%s' cannot be used: %s", self._here.name, error)
            message = (
                f"The source behind the adapter file '{self._here.name}' cannot be used; the server's log says why"
            )
            raise AqlError("TRANSPORT_NETWORK_ERROR", message, {"target": self._here.name}) from None

    async def close(self) -> None:
        """Close the source, if it was opened."""
        source, self._source, self._adapter = self._source, None, None
        if source is not None:
            await source.close()


def _found(adapter: Adapter, request: CallRequest) -> Operation | None:
    if request.verb == CALL:
        return adapter.operations.get(request.name)
    own = (one for one in adapter.operations.values() if one.origin and one.origin.own_name == request.name)
    return next(own, None)


async def _run(operation: Operation, params: Mapping[str, object], context: Context | None) -> object:
    """Call a handler as an engine would: with defaults, read values and the context of this call."""
    values: dict[str, Any] = {**operation.defaults, **params}
    if operation.tries_nothing and values.pop(DRY_RUN, False):
        raise Invalid(DRY_RUN, "the source behind the adapter file cannot try it without effect")
    if operation.tabular:
        values.pop(FORMAT, None)  # who called the adapter file has been given no choice
    for name, convert in operation.converters:
        if params.get(name) is not None:
            values[name] = _converted(name, convert, params[name])
    if operation.bind is not None:
        values = dict(operation.bind(values))
    if operation.context_parameter is not None:
        values[operation.context_parameter] = context
    if operation.is_async:
        return await operation.function(**values)
    return await anyio.to_thread.run_sync(partial(operation.function, **values))


def _converted(name: str, convert: Convert, value: object) -> object:
    try:
        return convert(value)
    except (ValueError, TypeError, ArithmeticError):
        raise Invalid(name, "the value cannot be read") from None


@dataclass(frozen=True, slots=True)
class HeadgateTransport:
    """A source of this machine: a database, a module, another file."""

    name: str = "headgate"
    description: str = "A source that headgate itself opens"
    keys: tuple[str, ...] = ("source",)

    def check(self, fields: Mapping[str, Spot], block: Spot) -> None:
        """The source must be named."""
        if "source" not in fields:
            here = block.below("source", None)
            here.wrong("the field 'source'", "Add 'source: shop.db'.", found="none", code="SCHEMA_MISSING_FIELD")
        else:
            fields["source"].text()

    def connect(self, target: Target, credentials: tuple[Credential, ...], here: Surroundings) -> SourceConnection:
        """A connection to the source."""
        upstream = Upstream(kind=self.name, source=str(target.options["source"]), folder=here.folder)
        return SourceConnection(upstream, here)


@dataclass(frozen=True, slots=True)
class McpTransport:
    """An MCP server: a program, or a URL."""

    name: str = "mcp"
    description: str = "An MCP server"
    keys: tuple[str, ...] = _MCP_KEYS

    def check(self, fields: Mapping[str, Spot], block: Spot) -> None:
        """Either a command or a URL, and secrets only as names of variables."""
        ways = [name for name in ("command", "url") if name in fields]
        if len(ways) != 1:
            found = "both" if ways else "none"
            block.wrong("either 'command' or 'url'", "Keep one of them.", found=found, code="SCHEMA_MISSING_FIELD")
        for name in ("command", "url", "cwd"):
            if name in fields:
                fields[name].text()
        if "args" in fields:
            fields["args"].texts()
        for name in ("env", "headers"):
            for spot in fields[name].fields(None).values() if name in fields else ():
                _check_reference(spot)

    def connect(self, target: Target, credentials: tuple[Credential, ...], here: Surroundings) -> SourceConnection:
        """A connection to the server."""
        return SourceConnection(Upstream(kind=self.name, options=target.options, folder=here.folder), here)


def _check_reference(spot: Spot) -> None:
    text = spot.text()
    if text is not None and "${" not in text:
        expected = "the name of an environment variable, such as '${API_TOKEN}'"
        spot.wrong(expected, "Put the value into the environment.", found="a value")


@dataclass(frozen=True, slots=True)
class CallProtocol:
    """``CALL operation``, or ``TOOL name``."""

    name: str
    verb: str
    description: str
    transports: tuple[str, ...]
    keys: tuple[str, ...] = field(default=())

    def check(self, maps_to: Spot, entry: Entry) -> None:
        """The verb, a space, and a name."""
        verb, _, name = entry.maps_to.partition(" ")
        if verb != self.verb or not name.strip():
            fix = f"Write '{self.verb} {entry.name}'."
            maps_to.wrong(f"'{self.verb}', a space and a name", fix, code="PROTOCOL_INVALID_MAPPING")
        for name in ("pagination", "supports_fields"):
            if (entry.paging if name == "pagination" else entry.fields) is not None:
                expected = f"no '{name}', which is for requests of REST"
                maps_to.wrong(expected, f"Remove '{name}'.", found="one", code="PROTOCOL_INVALID_MAPPING")

    def plan(self, entry: Entry, target: Target, serialization: Serialization) -> CallPlan:
        """How an operation is called."""
        return CallPlan(self.verb, entry.maps_to.partition(" ")[2].strip())


HEADGATE: Final = HeadgateTransport()
MCP: Final = McpTransport()
OPERATION: Final = CallProtocol("operation", CALL, "CALL operation", (HEADGATE.name,))
TOOLS: Final = CallProtocol("tool", TOOL, "TOOL name", (MCP.name,))
