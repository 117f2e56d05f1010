"""What a model has to read, and to write, to find one of many operations and call it; in tokens."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final, TypeAlias

import bpe_openai  # type: ignore[import-untyped]
from mcp import Client

from benchmarks.graphql import HAS_STRAWBERRY, camel, execute, schema_of
from benchmarks.questions import KEYWORDS
from benchmarks.searching import (
    ASKED,
    BM25,
    HAS_FASTMCP,
    HEADGATE,
    PEERS,
    PLAIN,
    SDL,
    SEARCH_TOOL,
    TRANSFORMS,
    as_json,
    detail_params,
    introspect,
    introspected,
    listed,
    pattern,
    printed,
    search_params,
    tools,
    with_tools,
)
from benchmarks.tables import Table
from benchmarks.timing import Ratio
from headgate import Adapter, Category, Operation, mcp_server

__all__ = ["costs"]

_ENCODING: Final = bpe_openai.get_encoding("o200k_base")
_CALL_TOOL: Final = "call_tool"
_VALUES: Final[Mapping[str, object]] = {"string": "example", "integer": 1, "boolean": True, "array": ["example"]}


@dataclass(frozen=True, slots=True)
class _Cost:
    """Tokens of one contender: what is there before any work, and on average what a search and a whole path need."""

    listed: int
    search: float | None
    path: float

    @property
    def figures(self) -> tuple[float | None, ...]:
        """In the order of the rows."""
        return self.listed, self.search, self.path, self.listed + self.path


_COST_ROWS: Final = (
    "before any work: what is listed",
    "one search: its answer",
    "find, describe, call: requests and answers",
    "find, describe, call, with what is listed",
)


_Step: TypeAlias = tuple[str, dict[str, object]]
"""A tool, and the arguments that it is called with."""


async def costs(adapter: Adapter) -> Table:
    costs = {HEADGATE: await _cost_here(adapter)}
    if HAS_FASTMCP:
        costs |= {name: await _cost_of_search(adapter, name) for name in TRANSFORMS}
        costs[PLAIN] = await _cost_of_tools(adapter)
    if HAS_STRAWBERRY:
        schema = schema_of(adapter)
        for name, said in ((SDL, await printed(schema)), (ASKED, await introspected(schema))):
            costs[name] = await _cost_of_schema(adapter, schema, said[0])
    ours = costs.pop(HEADGATE)
    rows = [
        (what, ours.figures[place], *(_share(ours, costs.get(name), place) for name in PEERS))
        for place, what in enumerate(_COST_ROWS)
    ]
    title = f"Finding one of {len(adapter.operations)} operations: tokens (o200k)"
    return Table(title, ("", "headgate (tokens)", *(f"/ {name}" for name in PEERS)), tuple(rows))


def _share(ours: _Cost, theirs: _Cost | None, place: int) -> Ratio | None:
    """Counted, not measured: there is no spread."""
    if theirs is None:
        return None
    mine, other = ours.figures[place], theirs.figures[place]
    return None if mine is None or other is None else Ratio.of([mine / other])


async def _cost_here(adapter: Adapter) -> _Cost:
    """Search, description and call as an agent writes them, through the server's tools."""
    async with Client(mcp_server(adapter)) as client:
        known = (await client.list_tools()).tools
        searches, paths = [], []
        for words, name in KEYWORDS.items():
            steps: tuple[_Step, ...] = (
                ("mcp_aql_read", introspect(search_params(words))),
                ("mcp_aql_read", introspect(detail_params(name))),
                (_tool_of(adapter.operations[name]), {"operation": name, "params": _params(adapter.operations[name])}),
            )
            answers = [await _called(client, tool, arguments) for tool, arguments in steps]
            searches.append(_tokens(answers[0]))
            paths.append(_tokens(*answers, *(_asked(tool, arguments) for tool, arguments in steps)))
    return _Cost(_tokens(listed(known)), _mean(searches), _mean(paths))


def _tool_of(operation: Operation) -> str:
    return f"mcp_aql_{operation.category.value.lower()}"


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


async def _cost_of_search(adapter: Adapter, name: str) -> _Cost:
    """What is found is described in full, so nothing is asked between the search and the call."""
    server = with_tools(adapter, TRANSFORMS[name])
    searches, paths = [], []
    async with import_module("fastmcp").Client(server) as client:
        for words, wanted in KEYWORDS.items():
            asked: dict[str, object] = {"query": words} if name == BM25 else {"pattern": pattern(words)}
            operation = adapter.operations[wanted]
            steps: tuple[_Step, ...] = (
                (SEARCH_TOOL, asked),
                (_CALL_TOOL, {"name": wanted, "arguments": _arguments(operation)}),
            )
            answers = [await _called(client, tool, arguments) for tool, arguments in steps]
            searches.append(_tokens(answers[0]))
            paths.append(_tokens(*answers, *(_asked(tool, arguments) for tool, arguments in steps)))
    return _Cost(_tokens(*await tools(server)), _mean(searches), _mean(paths))


async def _cost_of_tools(adapter: Adapter) -> _Cost:
    """Everything is listed and described: there is only the call."""
    server = with_tools(adapter)
    paths = []
    async with import_module("fastmcp").Client(server) as client:
        for wanted in KEYWORDS.values():
            arguments = _arguments(adapter.operations[wanted])
            paths.append(_tokens(_asked(wanted, arguments), await _called(client, wanted, arguments)))
    return _Cost(_tokens(*await tools(server)), None, _mean(paths))


async def _cost_of_schema(adapter: Adapter, schema: Any, said: str) -> _Cost:
    """The model reads the schema and writes a query."""
    paths = []
    for wanted in KEYWORDS.values():
        query = _query(adapter.operations[wanted])
        paths.append(_tokens(query, await execute(schema, query)))
    return _Cost(_tokens(said), None, _mean(paths))


def _query(operation: Operation) -> str:
    given = ", ".join(f"{camel(name)}: {as_json(value)}" for name, value in _arguments(operation).items())
    kind = "query" if operation.category is Category.READ else "mutation"
    return f"{kind} {{ {camel(operation.name)}{f'({given})' if given else ''} }}"


async def _called(client: Any, tool: str, arguments: dict[str, object]) -> str:
    result = await client.call_tool(tool, arguments)
    text = result.content[0].text if result.content else ""
    if getattr(result, "is_error", False):
        raise RuntimeError(f"{tool} answers {text}")
    return text


def _asked(tool: str, arguments: Mapping[str, object]) -> str:
    return as_json({"name": tool, "arguments": arguments})


def _tokens(*texts: str) -> int:
    return sum(len(_ENCODING.encode_ordinary(text)) for text in texts)


def _mean(values: list[int]) -> float:
    return sum(values) / len(values)
