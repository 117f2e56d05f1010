"""Who finds operations: headgate's introspection, FastMCP's searches, and GraphQL's schema, over the same adapter."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final, TypeAlias

import orjson

from benchmarks.graphql import HAS_STRAWBERRY, camel, execute, flat, schema_of
from benchmarks.timing import AsyncCall
from headgate import Adapter, Engine, Operation, Session

__all__ = [
    "ASKED",
    "BM25",
    "FOUND",
    "HAS_FASTMCP",
    "HEADGATE",
    "PEERS",
    "PLAIN",
    "REGEX",
    "SDL",
    "SEARCH_TOOL",
    "TRANSFORMS",
    "as_json",
    "asking",
    "detail_params",
    "in_short",
    "introspect",
    "introspected",
    "listed",
    "listings",
    "pattern",
    "printed",
    "search_params",
    "searches",
    "tools",
    "with_tools",
]

Ask: TypeAlias = Callable[[str], Awaitable[str]]
"""From words to the text of the answer."""

HEADGATE: Final = "headgate"
BM25: Final = "FastMCP, BM25"
REGEX: Final = "FastMCP, regex"
PLAIN: Final = "FastMCP, plain"
SDL: Final = "strawberry, SDL"
ASKED: Final = "strawberry, introspection"
PEERS: Final = (BM25, REGEX, PLAIN, SDL, ASKED)
HAS_FASTMCP: Final = find_spec("fastmcp") is not None
TRANSFORMS: Final = {BM25: "BM25SearchTransform", REGEX: "RegexSearchTransform"}

SEARCH_TOOL: Final = "search_tools"
FOUND: Final = 5
_PAGE: Final = 500
_SHORT_WORD: Final = 3


def asking(adapter: Adapter) -> Callable[[Mapping[str, object]], Awaitable[str]]:
    """What introspection answers."""
    engine, session = Engine(adapter), Session()

    async def ask(params: Mapping[str, object]) -> str:
        reply = await engine.call(introspect(params), session=session)
        if reply.is_error:
            raise RuntimeError(f"{HEADGATE} answers {reply.text}")
        return reply.text

    return ask


def introspect(params: Mapping[str, object]) -> dict[str, object]:
    """A request for introspection."""
    return {"operation": "introspect", "params": params}


def search_params(words: str) -> dict[str, object]:
    """How to search for words."""
    return {"query": "search", "name": words, "first": FOUND}


def detail_params(name: str) -> dict[str, object]:
    """How to ask for one operation in full."""
    return {"query": "operations", "name": name}


def in_short(params: Mapping[str, object]) -> dict[str, object]:
    """The same question, with the short answer that headgate's tools say to ask for."""
    return {**params, "format": "compact"}


def with_tools(adapter: Adapter, transform: str | None = None, **options: Any) -> Any:
    """A server with a tool for each operation, as it is or behind one of the searches."""
    server = import_module("fastmcp").FastMCP(adapter.name)
    make = import_module("fastmcp.tools").FunctionTool
    for each in adapter.operations.values():
        server.add_tool(make(name=each.name, description=each.summary, parameters=_schema(each), fn=_nothing))
    if transform is not None:
        searching = getattr(import_module("fastmcp.server.transforms.search"), transform)
        server.add_transform(searching(max_results=FOUND, **options))
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
    content = (await server.call_tool(SEARCH_TOOL, {argument: words})).content
    return content[0].text if content else "[]"


def searches(adapter: Adapter) -> dict[str, Ask]:
    """Each way to search: from words to its answer, which has five operations at most."""
    ask = asking(adapter)
    ways: dict[str, Ask] = {HEADGATE: lambda words: ask(search_params(words))}
    if HAS_FASTMCP:
        bm25, regex = (with_tools(adapter, transform) for transform in TRANSFORMS.values())
        ways[BM25] = partial(_search_tool, bm25, "query")
        ways[REGEX] = lambda words: _search_tool(regex, "pattern", pattern(words))
    return ways


def pattern(words: str) -> str:
    """The words as a pattern: any of them, but for the short ones, which are in everything."""
    return "|".join(word for word in words.split() if len(word) > _SHORT_WORD)


async def listings(adapter: Adapter, ask: Callable[[Mapping[str, object]], Awaitable[str]]) -> dict[str, AsyncCall]:
    """Each way to learn of all there is, after one that proves that nothing is left out."""
    ways: dict[str, Callable[[], Awaitable[list[str]]]] = {HEADGATE: partial(_pages, ask)}
    if HAS_FASTMCP:
        ways[PLAIN] = partial(tools, with_tools(adapter))
    if HAS_STRAWBERRY:
        schema = schema_of(adapter)
        ways[SDL] = partial(printed, schema)
        ways[ASKED] = partial(introspected, schema)
    for name, way in ways.items():
        text = "".join(await way())
        if missing := [each for each in adapter.operations if each not in text and camel(each) not in text]:
            raise RuntimeError(f"{name} leaves out {missing}")
    return dict(ways)


async def _pages(ask: Callable[[Mapping[str, object]], Awaitable[str]]) -> list[str]:
    """All operations of headgate's, page by page."""
    texts: list[str] = []
    params: dict[str, object] = {"query": "operations", "first": _PAGE}
    while True:
        texts.append(await ask(params))
        page = orjson.loads(texts[-1])["data"]["_protocol"].get("page")
        if page is None or page["total"] <= len(texts) * _PAGE:
            return texts
        params = {**params, "after": page["after"]}


async def tools(server: Any) -> list[str]:
    """All tools of a server, as a client is told of them."""
    return [listed([tool.to_mcp_tool() for tool in await server.list_tools()])]


async def printed(schema: Any) -> list[str]:
    """GraphQL's schema, in its own language."""
    return [import_module("strawberry.printer").print_schema(schema)]


async def introspected(schema: Any) -> list[str]:
    """GraphQL's schema, as its introspection answers."""
    return [await execute(schema, import_module("graphql").get_introspection_query(descriptions=True))]


def listed(tools: Iterable[Any]) -> str:
    """Tools as they stand in the answer to tools/list."""
    return as_json([tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in tools])


def as_json(value: object) -> str:
    """As it goes over the wire."""
    return orjson.dumps(value).decode()
