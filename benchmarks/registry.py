"""A registry of 10,000 operations: how long it takes to build, and what questions about it cost."""

import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, make_dataclass
from importlib import import_module
from importlib.util import find_spec
from itertools import product
from typing import Annotated, Any, Final, NamedTuple

from mcp import Client

from benchmarks.tables import Cell, Table
from benchmarks.timing import AsyncCall, Ratio, once, take_turns
from headgate import Adapter, Category, Engine, Operation, Param, Parameter, Session, mcp_server

__all__ = ["BuildTimes", "beside_fastmcp", "catalogue", "registry"]

_VERBS: Final = {
    "get": Category.READ,
    "list": Category.READ,
    "show": Category.READ,
    "find": Category.READ,
    "create": Category.CREATE,
    "add": Category.CREATE,
    "delete": Category.DELETE,
    "remove": Category.DELETE,
    "start": Category.EXECUTE,
    "cancel": Category.EXECUTE,
}
_STATES: Final = ("open", "draft", "archived", "shared", "signed", "overdue", "monthly", "imported", "local", "public")
_THINGS: Final = (
    "invoice",
    "order",
    "customer",
    "shipment",
    "contract",
    "machine",
    "payment",
    "team",
    "lease",
    "audit",
)
_PARTS: Final = ("line", "note", "file", "reminder", "summary", "approval", "label", "comment", "version", "owner")
_MODELS: Final = 100
_FEWER: Final = 1000
"""What FastMCP is given: with 10,000 it takes half a minute."""


class _Entry(NamedTuple):
    name: str
    category: Category
    words: str


def _entries() -> list[_Entry]:
    """Ten verbs, states, things and parts: 10,000 names that read as names do."""
    return [
        _Entry(f"{verb}_{state}_{thing}_{part}", category, f"{part} of the {state} {thing}")
        for (verb, category), state, thing, part in product(_VERBS.items(), _STATES, _THINGS, _PARTS)
    ]


@dataclass(frozen=True, slots=True)
class BuildTimes:
    """Milliseconds to build the registry: from functions of plain types, of dataclasses, and from values."""

    plain: float
    dataclasses: float
    values: float


def catalogue(size: int) -> Adapter:
    """An adapter of so many operations, of all categories alike."""
    entries = _entries()
    return _adapter_of_values(_value(entry) for entry in entries[:: len(entries) // size])


async def registry(repeats: int) -> tuple[Table, BuildTimes]:
    """The table of the large registry, and the times to build it."""
    built = BuildTimes(
        plain=statistics.median(_build_from_functions(with_models=False) for _ in range(repeats)),
        dataclasses=statistics.median(_build_from_functions(with_models=True) for _ in range(repeats)),
        values=statistics.median(_build_from_values() for _ in range(repeats)),
    )
    adapter = catalogue(len(_entries()))
    served, server = once(lambda: mcp_server(adapter))
    rows: list[tuple[Cell, ...]] = [
        ("build from functions, plain types", built.plain, None),
        (f"build from functions that take and give {_MODELS} dataclasses", built.dataclasses, None),
        ("build from Operation values", built.values, None),
        ("make the engine and the tools of it", served, None),
        *[await _question(server.engine, name, request) for name, request in _QUESTIONS.items()],
    ]
    title = f"Registry of {len(adapter.operations):,} operations (ms)"
    return Table(title, ("", "first time", "median of later ones"), tuple(rows)), built


async def beside_fastmcp(repeats: int) -> Table:
    """The same functions as operations and as FastMCP's tools, then all of them listed, by turns."""
    title = f"{_FEWER:,} functions, headgate beside FastMCP (ms)"
    columns = ("", "headgate", "/ FastMCP")
    if find_spec("fastmcp") is None:
        return Table(title, columns, ())
    pairs = [(await _made_and_listed(_ours), await _made_and_listed(_fastmcp)) for _ in range(repeats)]
    rows = []
    for place, what in enumerate(("from functions to a server", "tools/list, asked for the first time")):
        ours, theirs = ([pair[side][place] for pair in pairs] for side in (0, 1))
        ratio = Ratio.of(one / other for one, other in zip(ours, theirs, strict=True))
        rows.append((what, statistics.median(ours), ratio))
    return Table(title, columns, tuple(rows))


async def _made_and_listed(make: Callable[[Sequence[tuple[Category, Callable[..., Any]]]], Any]) -> tuple[float, float]:
    """The milliseconds until a server is there, and those until a client has its tools."""
    entries = _entries()[:: len(_entries()) // _FEWER]
    functions = [(entry.category, _function(entry, None)) for entry in entries]
    made, server = once(lambda: make(functions))
    async with Client(server) as client:
        started = time.perf_counter()
        await client.list_tools()
        return made, (time.perf_counter() - started) * 1000


def _ours(functions: Sequence[tuple[Category, Callable[..., Any]]]) -> Any:
    return mcp_server(_adapter_of_functions(functions))


def _fastmcp(functions: Sequence[tuple[Category, Callable[..., Any]]]) -> Any:
    server = import_module("fastmcp").FastMCP("catalogue")
    for _, function in functions:
        server.tool(function)
    return server._mcp_server  # noqa: SLF001  (else the SDK's client cannot list it in process)


def _build_from_functions(*, with_models: bool) -> float:
    """Every build has functions and types of its own: nothing is remembered from the one before."""
    models = [make_dataclass(f"Record{n}", [("id", int), ("title", str)]) for n in range(_MODELS)]
    entries = _entries()
    functions = [
        (entry.category, _function(entry, models[place % _MODELS] if with_models else None))
        for place, entry in enumerate(entries)
    ]
    return once(lambda: _adapter_of_functions(functions))[0]


def _adapter_of_functions(functions: Sequence[tuple[Category, Callable[..., Any]]]) -> Adapter:
    adapter = Adapter("catalogue", "Everything a company does")
    decorators = {category: getattr(adapter, category.value.lower()) for category in _VERBS.values()}
    for category, function in functions:
        decorators[category](function)
    return adapter


def _function(entry: _Entry, model: type | None) -> Callable[..., Any]:
    async def function(number: int, note: str | None = None, limit: int = 10) -> object:
        return {"number": number, "note": note, "limit": limit}

    function.__name__ = entry.name
    function.__doc__ = f"Work on the {entry.words}."
    function.__annotations__ = {
        "number": Annotated[int, Param(minimum=1, description=f"The number of the {entry.words}.")],
        "note": model or str | None,
        "limit": Annotated[int, Param(minimum=1, maximum=100, description="How many at the most.")],
        "return": model or dict[str, Any],
    }
    return function


def _build_from_values() -> float:
    entries = _entries()
    return once(lambda: _adapter_of_values(_value(entry) for entry in entries))[0]


def _adapter_of_values(operations: Iterable[Operation]) -> Adapter:
    adapter = Adapter("catalogue", "Everything a company does")
    for operation in operations:
        adapter.add(operation)
    return adapter


def _value(entry: _Entry) -> Operation:
    return Operation(
        name=entry.name,
        category=entry.category,
        function=_nothing,
        summary=f"Work on the {entry.words}.",
        parameters=(
            Parameter("number", {"type": "integer", "minimum": 1, "description": f"The number of the {entry.words}."}),
            Parameter("note", {"type": ["string", "null"]}, required=False),
            Parameter("limit", {"type": "integer", "minimum": 1, "maximum": 100}, required=False, default=10),
        ),
        returns={"type": "object"},
    )


async def _nothing(**_params: object) -> None:
    pass


_QUESTIONS: Final[dict[str, dict[str, object]]] = {
    "introspect: a page of 500 operations": {"operation": "introspect", "params": {"query": "operations"}},
    "introspect: one operation in full": {
        "operation": "introspect",
        "params": {"query": "operations", "name": "get_open_invoice_line"},
    },
    "introspect: search with three words": {
        "operation": "introspect",
        "params": {"query": "search", "name": "approve overdue payments"},
    },
    "an unknown operation, with the nearest names": {"operation": "get_opn_invoice_lines"},
}


async def _question(engine: Engine, name: str, request: dict[str, object]) -> tuple[Cell, ...]:
    session = Session()
    ask: AsyncCall = lambda: engine.call(request, session=session)  # noqa: E731
    first = (await take_turns({name: ask}, rounds=1, calls=1))[name]
    later = (await take_turns({name: ask}, rounds=1, calls=50))[name]
    return name, first.median / 1000, later.median / 1000
