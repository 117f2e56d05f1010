"""The hand that checks reach out with: requests to one server, kept, bounded, and none that was not allowed.

Whatever a check sends passes ``Probe.ask``. It is the one place where it is decided that an operation may be called:
READ always, every other category only if the person who runs the checks has allowed it.
"""

import math
import secrets
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

import anyio

from headgate.client.endpoints import Endpoints
from headgate.client.wires import Era, Lost, NotOpened, Refused, Silent, Wire
from headgate.conformance.fixtures import Fixtures
from headgate.conformance.survey import INTROSPECT, SeenOperation, Survey, entries, operation_of
from headgate.conformance.values import Exchange

__all__ = ["CannotBeSeen", "Gone", "NotAllowed", "Opener", "Options", "Probe", "Unswitchable", "opened_probe"]

_HOPELESS: Final = 3
"""After so many requests in a row without an answer nothing more is asked."""
_WAITING: Final = "no answer had come when it was over"
"""Of a request of the survey, until it is answered."""


class CannotBeSeen(Exception):
    """Something about a server cannot be found out; its words say why, and nothing is held against the server."""


class NotAllowed(CannotBeSeen):
    """A request would change something, and nobody allowed that."""


class Unswitchable(CannotBeSeen):
    """The server cannot be had in another mode."""


class Gone(Exception):
    """The server does not answer any more: no further check makes sense."""


class Opener(Protocol):
    """Makes connections to the server that is checked."""

    def __call__(self, *, mode: str | None = None, era: Era = "auto") -> AbstractAsyncContextManager[Wire]:
        """A new connection; in another mode if one is named, or Unswitchable where that is not possible."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How a server is looked at."""

    allowed: frozenset[str] = frozenset()
    """The semantic categories beside READ whose operations may be called."""
    fixtures: Fixtures = field(default_factory=Fixtures)
    seconds: float = 10.0
    """How long an answer may take."""
    most_operations: int = 100
    """How many operations are looked at in full."""
    era: Era = "auto"


@dataclass
class Probe:
    """One server, ready to be asked."""

    wire: Wire
    survey: Survey
    options: Options
    opener: Opener
    seed: str
    """A short text that no other run has, for the names of what is made."""
    ledger: list[Exchange]
    """Every exchange so far, those of further connections too."""
    memory: dict[str, Any] = field(default_factory=dict)
    """What one check found out and another can use, by a name of its own."""
    on_exchange: Callable[[Exchange], None] = lambda _exchange: None

    # what is there

    @property
    def operations(self) -> list[SeenOperation]:
        """The operations that were looked at in full, without ``introspect``."""
        return [one for one in self.survey.operations.values() if one.details and one.name != INTROSPECT]

    @property
    def readable(self) -> list[SeenOperation]:
        """The READ operations among them that may be called."""
        return [one for one in self.operations if one.category == "READ" and self.may_call(one)]

    @property
    def callable(self) -> list[SeenOperation]:
        """All operations among them that may be called."""
        return [one for one in self.operations if self.may_call(one)]

    def may_call(self, operation: SeenOperation) -> bool:
        """Whether an operation may be called."""
        if operation.name in self.options.fixtures.leave_alone:
            return False
        return operation.category == "READ" or operation.category in self.options.allowed

    def declares(self, capability: str) -> bool:
        """Whether ``_protocol.capabilities`` names something that is neither false nor ``disabled``."""
        return self.survey.capabilities.get(capability) not in (None, False, "", "disabled", "none")

    # what is asked

    async def ask(self, tool: str, arguments: object, meta: Mapping[str, Any] | None = None) -> Exchange:
        """Send one request as it is; NotAllowed if it names an operation that may not be called."""
        for name in named_in(arguments):
            self._require(name)
        return await self._asked(tool, arguments, meta)

    async def call(self, operation: SeenOperation, params: Mapping[str, object] | None = None) -> Exchange:
        """Call an operation through its own tool."""
        request: dict[str, object] = {"operation": operation.name}
        if params is not None:
            request["params"] = dict(params)
        return await self.ask(operation.tool, request)

    async def batch(self, tool: str, requests: Iterable[Mapping[str, object]]) -> Exchange:
        """Send several requests as one."""
        return await self.ask(tool, {"operations": [dict(request) for request in requests]})

    async def introspect(self, query: str, name: str | None = None, **more: object) -> Exchange:
        """Ask for an introspection."""
        params = {"query": query, **({} if name is None else {"name": name}), **more}
        return await self.ask(self.survey.introspection_tool, {"operation": INTROSPECT, "params": params})

    @asynccontextmanager
    async def elsewhere(self, *, mode: str | None = None) -> AsyncIterator["Probe"]:
        """The same server over a further connection, or in another mode."""
        async with self.opener(mode=mode, era=self.options.era) as wire:
            survey = self.survey if mode is None else await self._surveyed_again(wire)
            yield Probe(wire, survey, self.options, self.opener, self.seed, self.ledger, self.memory, self.on_exchange)

    async def _surveyed_again(self, wire: Wire) -> Survey:
        """What the server says of itself in another mode. A request that we ourselves cut short is not kept."""
        asked: list[Exchange] = []
        try:
            return await _surveyed(wire, self.options, asked)
        finally:
            self.ledger += (one for one in asked if one.problem != _WAITING)

    def _require(self, name: str) -> None:
        known = {one.name.lower(): one for one in self.survey.operations.values()}
        operation = known.get(name.lower())
        if operation is None or operation.name == INTROSPECT or self.may_call(operation):
            return
        if operation.name in self.options.fixtures.leave_alone:
            raise NotAllowed(f"'{operation.name}' is left alone, as the fixtures say")
        category = operation.category.lower() or "operations of no known category, which is not possible"
        raise NotAllowed(f"'{operation.name}' changes something: it is only called with --allow {category}")

    async def _asked(self, tool: str, arguments: object, meta: Mapping[str, Any] | None) -> Exchange:
        _refuse_if_hopeless(self.ledger)
        exchange = await _exchange(self.wire, tool, arguments, self.options.seconds, meta)
        self.ledger.append(exchange)
        self.on_exchange(exchange)
        if exchange.kind == "lost":
            raise Gone(exchange.problem)
        return exchange


def _refuse_if_hopeless(ledger: list[Exchange]) -> None:
    if len(ledger) >= _HOPELESS and all(one.kind in ("silent", "lost") for one in ledger[-_HOPELESS:]):
        raise Gone(f"the server left {_HOPELESS} requests in a row without an answer")


async def _exchange(
    wire: Wire, tool: str, arguments: object, seconds: float, meta: Mapping[str, Any] | None = None
) -> Exchange:
    try:
        return Exchange.of(tool, arguments, await wire.call(tool, arguments, seconds=seconds, meta=meta))
    except Refused as error:
        return Exchange(tool, arguments, None, "refused", f"JSON-RPC error {error.code}: {error}")
    except Silent as error:
        return Exchange(tool, arguments, None, "silent", str(error))
    except Lost as error:
        return Exchange(tool, arguments, None, "lost", str(error))


def named_in(arguments: object) -> Iterator[str]:
    """The operations that a request names, in a batch too."""
    if not isinstance(arguments, Mapping):
        return
    if isinstance(arguments.get("operation"), str):
        yield arguments["operation"]
    batch = arguments.get("operations")
    if isinstance(batch, list):
        for request in batch:
            yield from named_in(request)


@asynccontextmanager
async def opened_probe(
    opener: Opener,
    options: Options,
    on_exchange: Callable[[Exchange], None] = lambda _exchange: None,
    *,
    seconds: float = math.inf,
    ledger: list[Exchange] | None = None,
) -> AsyncIterator[Probe]:
    """A connection, and all that the server says of itself; Gone if it has not said it in so many seconds.

    AdapterError if the fixtures name operations that it does not have: nothing but ``introspect`` was called then.
    Into ``ledger`` goes every exchange, those from before there is a probe too.
    """
    ledger = [] if ledger is None else ledger
    async with opener(era=options.era) as wire:
        survey: Survey | None = None
        with anyio.move_on_after(seconds):
            survey = await _surveyed(wire, options, ledger)
        if survey is None:
            raise Gone("the time limit of the run was reached before it had told all of its operations")
        if survey.operations:  # or else nothing is known, and other checks say so
            options.fixtures.refuse_unknown([*{**survey.operations, INTROSPECT: None}])
        yield Probe(wire, survey, options, opener, secrets.token_hex(4), ledger, on_exchange=on_exchange)


async def _surveyed(wire: Wire, options: Options, ledger: list[Exchange]) -> Survey:
    endpoints = Endpoints.of(wire.tools)
    if not endpoints.likely:
        raise NotOpened(
            "it has no tool of MCP-AQL: a tool 'mcp_aql', or tools such as 'mcp_aql_read', are expected. "
            f"It has {', '.join(tool.name for tool in wire.tools[:10]) or 'none at all'}."
        )

    async def introspected(tool: str, **params: object) -> Exchange:
        _refuse_if_hopeless(ledger)
        request = {"operation": INTROSPECT, "params": params}
        ledger.append(Exchange(tool, request, None, "silent", _WAITING))
        exchange = ledger[-1] = await _exchange(wire, tool, request, options.seconds)
        if exchange.kind == "lost":
            raise Gone(exchange.problem)
        return exchange

    tool, answer = endpoints.likely[0], None
    for candidate in endpoints.likely:
        tried = await introspected(candidate, query="operations")
        if tried.succeeded or answer is None:
            tool, answer = candidate, tried
        if tried.succeeded:
            break
    assert answer is not None  # noqa: S101  (there is at least one candidate)
    listed = entries(answer.data.get("operations")) if isinstance(answer.data, Mapping) else []
    named = [entry for entry in listed if isinstance(entry.get("name"), str)]
    chosen = _spread(named, options.most_operations)
    details = {entry["name"]: await introspected(tool, query="operations", name=entry["name"]) for entry in chosen}
    return Survey(
        tools=wire.tools,
        endpoints=endpoints,
        introspection_tool=tool,
        operations={
            entry["name"]: operation_of(entry, _detail_in(details.get(entry["name"])), endpoints, tool)
            for entry in named
        },
        operations_answer=answer,
        types_answer=await introspected(tool, query="types"),
        details_answers=details,
        left_out=len(named) - len(chosen),
    )


def _detail_in(exchange: Exchange | None) -> Mapping[str, Any]:
    data = exchange.data if exchange is not None else None
    found = data.get("operation") if isinstance(data, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _spread(named: list[Mapping[str, Any]], most: int) -> list[Mapping[str, Any]]:
    """As many as may be looked at, of every category in turn, in the order of the list."""
    if len(named) <= most:
        return named
    by_category: dict[str, list[Mapping[str, Any]]] = {}
    for entry in named:
        by_category.setdefault(str(entry.get("semantic_category")), []).append(entry)
    chosen: list[str] = []
    rows = list(by_category.values())
    for place in range(max(map(len, rows))):
        chosen += (row[place]["name"] for row in rows if place < len(row))
    kept = {*chosen[:most], INTROSPECT}
    return [entry for entry in named if entry["name"] in kept]
