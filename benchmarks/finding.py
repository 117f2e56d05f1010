"""Finding the right one of many operations: how long it takes, what the model has to read, and how often it is found.

headgate's introspection, FastMCP's searches by BM25 and by pattern, and GraphQL's schema, over the same operations.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from itertools import cycle
from typing import Any, Final, TypeAlias

import bpe_openai  # type: ignore[import-untyped]
import orjson
from mcp import Client

from benchmarks.aims import Aim
from benchmarks.github import github
from benchmarks.graphql import HAS_STRAWBERRY, camel, execute, flat, schema_of
from benchmarks.questions import KEYWORDS, QUESTIONS
from benchmarks.registry import catalogue
from benchmarks.tables import Cell, Table
from benchmarks.timing import AsyncCall, Ratio, Timing, race
from headgate import Adapter, Category, Engine, Operation, Session, mcp_server

__all__ = ["finding"]

_Ask: TypeAlias = Callable[[str], Awaitable[str]]
"""From words to the text of the answer."""

_HEADGATE: Final = "headgate"
_BM25: Final = "FastMCP, BM25"
_REGEX: Final = "FastMCP, regex"
_PLAIN: Final = "FastMCP, plain"
_SDL: Final = "strawberry, SDL"
_ASKED: Final = "strawberry, introspection"
_HAS_FASTMCP: Final = find_spec("fastmcp") is not None
_TRANSFORMS: Final = {_BM25: "BM25SearchTransform", _REGEX: "RegexSearchTransform"}

_MANY: Final = 1_000
_FOUND: Final = 5
_PAGE: Final = 500
_SHORT_WORD: Final = 3
_ENCODING: Final = bpe_openai.get_encoding("o200k_base")
_CALL_TOOL: Final = "call_tool"
_SEARCH_TOOL: Final = "search_tools"
_VALUES: Final[Mapping[str, object]] = {"string": "example", "integer": 1, "boolean": True, "array": ["example"]}


async def finding(seconds: float) -> tuple[list[Table], list[Aim]]:
    """The tables of times, tokens and of what is found; every row of times is measured for so many seconds."""
    small, large = github(), catalogue(_MANY)
    times = await _times(small, list(KEYWORDS), seconds)
    times += await _times(large, _words_of(large), seconds)
    costs, found = await _costs(small), await _quality(small)
    return [_times_table(times), costs, found], []


# the contenders


def _engine(adapter: Adapter) -> Callable[[Mapping[str, object]], Awaitable[str]]:
    """What introspection answers."""
    engine, session = Engine(adapter), Session()

    async def ask(params: Mapping[str, object]) -> str:
        reply = await engine.call(_introspect(params), session=session)
        if reply.is_error:
            raise RuntimeError(f"{_HEADGATE} answers {reply.text}")
        return reply.text

    return ask


def _introspect(params: Mapping[str, object]) -> dict[str, object]:
    return {"operation": "introspect", "params": params}


def _search_params(words: str) -> dict[str, object]:
    return {"query": "search", "name": words, "first": _FOUND}


def _detail_params(name: str) -> dict[str, object]:
    return {"query": "operations", "name": name}


def _fastmcp(adapter: Adapter, transform: str | None = None) -> Any:
    """A server with a tool for each operation, as it is or behind one of the searches."""
    server = import_module("fastmcp").FastMCP(adapter.name)
    make = import_module("fastmcp.tools").FunctionTool
    for each in adapter.operations.values():
        server.add_tool(make(name=each.name, description=each.summary, parameters=_schema(each), fn=_nothing))
    if transform is not None:
        server.add_transform(getattr(import_module("fastmcp.server.transforms.search"), transform)(max_results=_FOUND))
    return server


async def _nothing(**_arguments: object) -> None:
    pass


def _schema(operation: Operation) -> dict[str, object]:
    fields = flat(operation)
    return {
        "type": "object",
        "properties": {name: dict(schema) for name, schema, _ in fields},
        "required": [name for name, _, is_required in fields if is_required],
    }


async def _search_tool(server: Any, argument: str, words: str) -> str:
    content = (await server.call_tool(_SEARCH_TOOL, {argument: words})).content
    return content[0].text if content else "[]"


def _searches(adapter: Adapter) -> dict[str, _Ask]:
    """Each way to search: from words to its answer, which has five operations at most."""
    ask = _engine(adapter)
    ways: dict[str, _Ask] = {_HEADGATE: lambda words: ask(_search_params(words))}
    if _HAS_FASTMCP:
        bm25, regex = (_fastmcp(adapter, transform) for transform in _TRANSFORMS.values())
        ways[_BM25] = partial(_search_tool, bm25, "query")
        ways[_REGEX] = lambda words: _search_tool(regex, "pattern", _pattern(words))
    return ways


def _pattern(words: str) -> str:
    """The words as a pattern: any of them, but for the short ones, which are in everything."""
    return "|".join(word for word in words.split() if len(word) > _SHORT_WORD)


def _words_of(adapter: Adapter) -> list[str]:
    """Ten searches in the words of ten operations, far from each other."""
    names = list(adapter.operations)
    return [name.replace("_", " ") for name in names[:: len(names) // 10]][:10]


# how long it takes


_Times: TypeAlias = tuple[str, Mapping[str, Timing]]


async def _times(adapter: Adapter, words: list[str], seconds: float) -> list[_Times]:
    """A search, all that there is, and one operation in full."""
    size = len([name for name in adapter.operations if name != "introspect"])
    searches = {name: _one_of(way, words) for name, way in _searches(adapter).items()}
    names = cycle(adapter.operations)
    ask = _engine(adapter)
    listings = await _listings(adapter, ask)
    return [
        (f"{size:,} operations: one search", await race(searches, seconds)),
        (f"{size:,} operations: the whole list", await race(listings, seconds)),
        (
            f"{size:,} operations: one in full",
            await race({_HEADGATE: lambda: ask(_detail_params(next(names)))}, seconds / 4),
        ),
    ]


def _one_of(way: _Ask, words: list[str]) -> AsyncCall:
    """A search for the next words each time."""
    turns = cycle(words)
    return lambda: way(next(turns))


async def _listings(adapter: Adapter, ask: Callable[[Mapping[str, object]], Awaitable[str]]) -> dict[str, AsyncCall]:
    """Each way to learn of all there is, after one that proves that nothing is left out."""
    ways: dict[str, Callable[[], Awaitable[list[str]]]] = {_HEADGATE: partial(_pages, ask)}
    if _HAS_FASTMCP:
        ways[_PLAIN] = partial(_tools, _fastmcp(adapter))
    if HAS_STRAWBERRY:
        schema = schema_of(adapter)
        ways[_SDL] = partial(_printed, schema)
        ways[_ASKED] = partial(_introspected, schema)
    for name, way in ways.items():
        text = "".join(await way())
        if missing := [each for each in adapter.operations if each not in text and camel(each) not in text]:
            raise RuntimeError(f"{name} leaves out {missing}")
    return dict(ways)


async def _pages(ask: Callable[[Mapping[str, object]], Awaitable[str]]) -> list[str]:
    """All operations of headgate's, page by page."""
    texts = [await ask({"query": "operations", "first": _PAGE})]
    while after := orjson.loads(texts[-1])["data"]["_protocol"].get("page", {}).get("after"):
        texts.append(await ask({"query": "operations", "first": _PAGE, "after": after}))
    return texts


async def _tools(server: Any) -> list[str]:
    """All tools of a server, as a client is told of them."""
    return [_json(await _listed(server))]


async def _listed(server: Any) -> list[dict[str, object]]:
    return [_wire(tool.to_mcp_tool()) for tool in await server.list_tools()]


async def _printed(schema: Any) -> list[str]:
    return [import_module("strawberry.printer").print_schema(schema)]


async def _introspected(schema: Any) -> list[str]:
    return [await execute(schema, import_module("graphql").get_introspection_query(descriptions=True))]


def _times_table(times: list[_Times]) -> Table:
    peers = (_BM25, _REGEX, _PLAIN, _SDL, _ASKED)
    rows: list[tuple[Cell, ...]] = []
    for what, timings in times:
        ours = timings[_HEADGATE]
        rows.append((what, ours.median, *(ours.against(timings[name]) if name in timings else None for name in peers)))
    return Table("Finding operations: time", ("", "headgate (µs)", *(f"/ {name}" for name in peers)), tuple(rows))


# what it costs the model


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


async def _costs(adapter: Adapter) -> Table:
    costs = {_HEADGATE: await _cost_here(adapter)}
    if _HAS_FASTMCP:
        costs |= {name: await _cost_of_search(adapter, name) for name in _TRANSFORMS}
        costs[_PLAIN] = await _cost_of_tools(adapter)
    if HAS_STRAWBERRY:
        schema = schema_of(adapter)
        for name, said in ((_SDL, await _printed(schema)), (_ASKED, await _introspected(schema))):
            costs[name] = await _cost_of_schema(adapter, schema, said[0])
    ours = costs.pop(_HEADGATE)
    peers = (_BM25, _REGEX, _PLAIN, _SDL, _ASKED)
    rows = [
        (what, ours.figures[place], *(_share(ours, costs.get(name), place) for name in peers))
        for place, what in enumerate(_COST_ROWS)
    ]
    title = f"Finding one of {len(adapter.operations)} operations: tokens (o200k)"
    return Table(title, ("", "headgate (tokens)", *(f"/ {name}" for name in peers)), tuple(rows))


def _share(ours: _Cost, theirs: _Cost | None, place: int) -> Ratio | None:
    """Counted, not measured: there is no spread."""
    if theirs is None:
        return None
    mine, other = ours.figures[place], theirs.figures[place]
    return None if mine is None or other is None else Ratio.of([mine / other])


async def _cost_here(adapter: Adapter) -> _Cost:
    """Search, description and call as an agent writes them, through the server's tools."""
    async with Client(mcp_server(adapter)) as client:
        listed = [_wire(tool) for tool in (await client.list_tools()).tools]
        searches, paths = [], []
        for words, name in KEYWORDS.items():
            steps = (
                ("mcp_aql_read", _introspect(_search_params(words))),
                ("mcp_aql_read", _introspect(_detail_params(name))),
                (_tool_of(adapter.operations[name]), {"operation": name, "params": _params(adapter.operations[name])}),
            )
            answers = [await _called(client, tool, arguments) for tool, arguments in steps]
            searches.append(_tokens(answers[0]))
            paths.append(_tokens(*answers, *(_asked(tool, arguments) for tool, arguments in steps)))
    return _Cost(_tokens(_json(listed)), _mean(searches), _mean(paths))


def _tool_of(operation: Operation) -> str:
    return f"mcp_aql_{operation.endpoint}"


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
    server = _fastmcp(adapter, _TRANSFORMS[name])
    listed = await _listed(server)
    searches, paths = [], []
    async with import_module("fastmcp").Client(server) as client:
        for words, wanted in KEYWORDS.items():
            asked = {"query": words} if name == _BM25 else {"pattern": _pattern(words)}
            operation = adapter.operations[wanted]
            steps = (
                (_SEARCH_TOOL, asked),
                (_CALL_TOOL, {"name": wanted, "arguments": _arguments(operation)}),
            )
            answers = [await _called(client, tool, arguments) for tool, arguments in steps]
            searches.append(_tokens(answers[0]))
            paths.append(_tokens(*answers, *(_asked(tool, arguments) for tool, arguments in steps)))
    return _Cost(_tokens(_json(listed)), _mean(searches), _mean(paths))


async def _cost_of_tools(adapter: Adapter) -> _Cost:
    """Everything is listed and described: there is only the call."""
    server = _fastmcp(adapter)
    paths = []
    async with import_module("fastmcp").Client(server) as client:
        for wanted in KEYWORDS.values():
            arguments = _arguments(adapter.operations[wanted])
            paths.append(_tokens(_asked(wanted, arguments), await _called(client, wanted, arguments)))
    return _Cost(_tokens(*await _tools(server)), None, _mean(paths))


async def _cost_of_schema(adapter: Adapter, schema: Any, said: str) -> _Cost:
    """The model reads the schema and writes a query."""
    paths = []
    for wanted in KEYWORDS.values():
        query = _query(adapter.operations[wanted])
        paths.append(_tokens(query, await execute(schema, query)))
    return _Cost(_tokens(said), None, _mean(paths))


def _query(operation: Operation) -> str:
    given = ", ".join(f"{camel(name)}: {_json(value)}" for name, value in _arguments(operation).items())
    kind = "query" if operation.category is Category.READ else "mutation"
    return f"{kind} {{ {camel(operation.name)}{f'({given})' if given else ''} }}"


async def _called(client: Any, tool: str, arguments: dict[str, object]) -> str:
    content = (await client.call_tool(tool, arguments)).content
    return content[0].text if content else ""


def _asked(tool: str, arguments: Mapping[str, object]) -> str:
    return _json({"name": tool, "arguments": arguments})


def _wire(tool: Any) -> dict[str, object]:
    said: dict[str, object] = tool.model_dump(mode="json", by_alias=True, exclude_none=True)
    return said


def _json(value: object) -> str:
    return orjson.dumps(value).decode()


def _tokens(*texts: str) -> int:
    return sum(len(_ENCODING.encode_ordinary(text)) for text in texts)


def _mean(values: list[int]) -> float:
    return sum(values) / len(values)


# whether the right one is found


async def _quality(adapter: Adapter) -> Table:
    """How often the operation that somebody means is the first of those found, and among the first five."""
    searches = _searches(adapter)
    rows: list[tuple[Cell, ...]] = []
    for what, asked in (("a person's words", QUESTIONS), ("words of the operation's name", KEYWORDS)):
        places = {name: [await _place(way, *each) for each in asked.items()] for name, way in searches.items()}
        for most, where in ((1, "found first"), (_FOUND, f"among the first {_FOUND}")):
            counts = [_within(places[name], most) if name in places else None for name in (_HEADGATE, *_TRANSFORMS)]
            rows.append((f"{what}: {where}", len(asked), *counts))
    columns = ("", "searches", _HEADGATE, *_TRANSFORMS)
    return Table(f"Finding one of {len(adapter.operations)} operations: how often it is found", columns, tuple(rows))


def _within(places: list[int | None], most: int) -> int:
    return sum(place is not None and place < most for place in places)


async def _place(way: _Ask, words: str, wanted: str) -> int | None:
    """Where the operation is among those that a search has found."""
    answer = orjson.loads(await way(words))
    found = answer["data"]["operations"] if isinstance(answer, dict) else answer
    names = [each["name"] for each in found]
    return names.index(wanted) if wanted in names else None
