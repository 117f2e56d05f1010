"""What a model has to read, and to write, to find one of many operations and call it; in tokens."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final, TypeAlias

from mcp import Client

from benchmarks.graphql import HAS_STRAWBERRY, camel, execute, schema_of
from benchmarks.questions import KEYWORDS
from benchmarks.searching import (
    ASKED,
    BM25,
    HAS_FASTMCP,
    PEERS,
    PLAIN,
    REGEX,
    SDL,
    SEARCH_TOOL,
    TRANSFORMS,
    as_json,
    detail_params,
    in_short,
    introspect,
    introspected,
    listed,
    pattern,
    printed,
    search_params,
    tools,
    with_tools,
)
from benchmarks.tables import Cell, Table
from benchmarks.timing import Ratio
from benchmarks.tokens import counter
from headgate import Adapter, Category, Mode, Operation, mcp_server

__all__ = ["costs", "tokens"]

_CALL_TOOL: Final = "call_tool"
_VALUES: Final[Mapping[str, object]] = {"string": "example", "integer": 1, "boolean": True, "array": ["example"]}


_MARKDOWN: Final = "FastMCP, BM25 in Markdown"
_CONTENDERS: Final = (BM25, _MARKDOWN, *(name for name in PEERS if name != BM25))
_TOOL: Final = {Mode.SEMANTIC: "mcp_aql_{}", Mode.SINGLE: "mcp_aql"}


@dataclass(frozen=True, slots=True)
class _Cost:
    """Tokens of one contender: what is there before any work, and on average what follows."""

    listed: int
    search: float | None
    called: float
    """A search and a call, with what is asked and answered."""
    described: float
    """The same with a description between."""

    @property
    def figures(self) -> tuple[float | None, ...]:
        """In the order of the rows."""
        return self.listed, self.search, self.called, self.described, self.listed + self.described


_ROWS: Final = (
    (Mode.SEMANTIC, "before any work: tools/list"),
    (Mode.SEMANTIC, "one search: its answer"),
    (Mode.SEMANTIC, "find and call"),
    (Mode.SEMANTIC, "find, describe and call"),
    (Mode.SEMANTIC, "find, describe and call, with tools/list"),
    (Mode.SINGLE, "in single mode: tools/list"),
    (Mode.SINGLE, "in single mode: find, describe and call, with tools/list"),
)
_PLACES: Final = (0, 1, 2, 3, 4, 0, 4)


_Step: TypeAlias = tuple[str, dict[str, object]]
"""A tool, and the arguments that it is called with."""


async def costs(adapter: Adapter) -> Table:
    """The table: what headgate's answers cost, and their ratio to each of its peers'."""
    ours = {mode: await _cost_here(adapter, mode) for mode in _TOOL}
    theirs: dict[str, _Cost] = {}
    if HAS_FASTMCP:
        for name, server in _searchable(adapter).items():
            theirs[name] = await _cost_of_search(adapter, server, by_pattern=name == REGEX)
        theirs[PLAIN] = await _cost_of_tools(adapter)
    if HAS_STRAWBERRY:
        schema = schema_of(adapter)
        for name, said in ((SDL, await printed(schema)), (ASKED, await introspected(schema))):
            theirs[name] = await _cost_of_schema(adapter, schema, said[0])
    rows: list[tuple[Cell, ...]] = []
    for (mode, what), place in zip(_ROWS, _PLACES, strict=True):
        mine = ours[mode].figures[place]
        known = [theirs[name].figures[place] if name in theirs else None for name in _CONTENDERS]
        rows.append((what, mine, *(_share(mine, each) for each in known)))
    title = f"Finding one of {len(adapter.operations)} operations: tokens (o200k)"
    return Table(title, ("", "headgate (tokens)", *(f"/ {name}" for name in _CONTENDERS)), tuple(rows))


def _share(mine: float | None, other: float | None) -> Ratio | None:
    """Counted, not measured: there is no spread."""
    return None if mine is None or other is None else Ratio.of([mine / other])


def _searchable(adapter: Adapter) -> dict[str, Any]:
    """FastMCP's servers with a search, one of them with the shorter of the forms that its answers may have."""
    shorter = import_module("fastmcp.server.transforms.search").serialize_tools_for_output_markdown
    return {
        **{name: with_tools(adapter, transform) for name, transform in TRANSFORMS.items()},
        _MARKDOWN: with_tools(adapter, TRANSFORMS[BM25], search_result_serializer=shorter),
    }


async def _cost_here(adapter: Adapter, mode: Mode) -> _Cost:
    """Search, description and call as an agent writes them. The others ask nobody before they delete: nor does this."""
    tool = _TOOL[mode]
    async with Client(mcp_server(adapter, mode=mode, trust="certified")) as client:
        known = (await client.list_tools()).tools
        costs = []
        for words, name in KEYWORDS.items():
            operation = adapter.operations[name]
            steps: tuple[_Step, ...] = (
                (tool.format("read"), introspect(in_short(search_params(words)))),
                (tool.format("read"), introspect(in_short(detail_params(name)))),
                (tool.format(operation.category.value.lower()), {"operation": name, "params": _params(operation)}),
            )
            costs.append([await _cost(client, *step) for step in steps])
    searches, descriptions, calls = ([each[place] for each in costs] for place in range(3))
    found = _mean([sum(step) for step in searches]) + _mean([sum(step) for step in calls])
    described = found + _mean([sum(step) for step in descriptions])
    return _Cost(tokens(listed(known)), _mean([answer for _, answer in searches]), found, described)


def _params(operation: Operation) -> dict[str, object]:
    """Values for what is required, and for one field of what is changed."""
    given: dict[str, object] = {}
    for each in operation.parameters:
        if each.schema.get("type") == "object":
            name, schema = next(iter(each.schema["properties"].items()))
            given[each.name] = {name: _VALUES[schema["type"]]}
        elif each.required:
            given[each.name] = _VALUES[each.schema["type"]]
    return given


def _arguments(operation: Operation) -> dict[str, object]:
    """The same without a level between."""
    given: dict[str, object] = {}
    for name, value in _params(operation).items():
        given |= value if isinstance(value, dict) else {name: value}
    return given


async def _cost_of_search(adapter: Adapter, server: Any, *, by_pattern: bool) -> _Cost:
    """What is found is described in full, so nothing is asked between the search and the call."""
    searches, calls = [], []
    async with import_module("fastmcp").Client(server) as client:
        for words, wanted in KEYWORDS.items():
            asked: dict[str, object] = {"pattern": pattern(words)} if by_pattern else {"query": words}
            arguments = _arguments(adapter.operations[wanted])
            searches.append(await _cost(client, SEARCH_TOOL, asked))
            calls.append(await _cost(client, _CALL_TOOL, {"name": wanted, "arguments": arguments}))
    found = _mean([sum(step) for step in searches + calls]) * 2
    return _Cost(tokens(*await tools(server)), _mean([answer for _, answer in searches]), found, found)


async def _cost_of_tools(adapter: Adapter) -> _Cost:
    """Everything is listed and described: there is only the call."""
    server = with_tools(adapter)
    async with import_module("fastmcp").Client(server) as client:
        calls = [await _cost(client, name, _arguments(adapter.operations[name])) for name in KEYWORDS.values()]
    called = _mean([sum(step) for step in calls])
    return _Cost(tokens(*await tools(server)), None, called, called)


async def _cost_of_schema(adapter: Adapter, schema: Any, said: str) -> _Cost:
    """The model reads the schema and writes a query."""
    paths = []
    for wanted in KEYWORDS.values():
        query = _query(adapter.operations[wanted])
        paths.append(tokens(query, await execute(schema, query)))
    return _Cost(tokens(said), None, _mean(paths), _mean(paths))


def _query(operation: Operation) -> str:
    given = ", ".join(f"{camel(name)}: {as_json(value)}" for name, value in _arguments(operation).items())
    kind = "query" if operation.category is Category.READ else "mutation"
    return f"{kind} {{ {camel(operation.name)}{f'({given})' if given else ''} }}"


async def _cost(client: Any, tool: str, arguments: dict[str, object]) -> tuple[int, int]:
    """What the model writes to call a tool, and what it reads."""
    result = await client.call_tool(tool, arguments)
    text = result.content[0].text if result.content else ""
    if result.is_error or '"success":false' in text:
        raise RuntimeError(f"{tool} answers {text}")
    return tokens(as_json({"name": tool, "arguments": arguments})), tokens(text)


def tokens(*texts: str) -> int:
    """All of them together, counted with o200k."""
    return sum(map(counter().of_text, texts))


def _mean(values: Sequence[int]) -> float:
    return sum(values) / len(values)
