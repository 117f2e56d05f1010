"""An HTTP API as tools: the same requests through headgate and FastMCP, and what a large document takes and costs."""

import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

import httpx2
import orjson
from mcp import Client, StdioServerParameters

from benchmarks.aims import Aim
from benchmarks.graphql import quiet
from benchmarks.processes import ROOT, free_port, headgate, running, wait_for
from benchmarks.reading import tokens
from benchmarks.searching import listed
from benchmarks.shop import NEW_BOOK, large_document
from benchmarks.tables import Cell, Table
from benchmarks.timing import AsyncCall, Ratio, Timing, race, take_turns
from headgate import Mode, mcp_server
from headgate.sources.openapi.documents import document_of
from headgate.sources.openapi.source import openapi_adapter

__all__ = ["openapi"]

_DIRECT: Final = "direct"
_HEADGATE: Final = "headgate"
_FASTMCP: Final = "FastMCP"
_PEERS: Final = (_FASTMCP, _DIRECT)
_HAS_FASTMCP: Final = find_spec("fastmcp") is not None
_OPERATIONS: Final = 400
_CALLS: Final = 5
_WARMING_ROUNDS: Final = 3
_ISBN: Final = "9780141439518"


@dataclass(frozen=True, slots=True)
class _Request:
    """One request: as HTTP has it, and as an operation or a tool with its arguments."""

    method: str
    path: str
    body: Mapping[str, object] | None
    family: str
    operation: str
    tool: str
    arguments: Mapping[str, object]


_REQUESTS: Final = {
    "GET with two parameters": _Request(
        "GET", f"/books/{_ISBN}?copies=2", None, "read", "get_book", "getBook", {"isbn": _ISBN, "copies": 2}
    ),
    "POST with a body of four fields": _Request("POST", "/books", NEW_BOOK, "create", "add_book", "addBook", NEW_BOOK),
}


async def openapi(rounds: int, seconds: float) -> tuple[list[Table], list[Aim]]:
    """The tables of requests, of making a server from a large document, and of its tools in tokens."""
    requests, built = await _through_tools(rounds), await _built(seconds)
    return [_table("OpenAPI: a request through tools, over stdio (µs)", requests), built, await _tokens()], []


# requests


async def _through_tools(rounds: int) -> dict[str, dict[str, Timing]]:
    port = free_port()
    with running([sys.executable, "-m", "benchmarks.shop", "api", str(port)]):
        wait_for(port)
        async with AsyncExitStack() as stack:
            clients = await _connected(stack, f"http://127.0.0.1:{port}")
            return {name: await _race(clients, request, rounds) for name, request in _REQUESTS.items()}


async def _connected(stack: AsyncExitStack, url: str) -> dict[str, Any]:
    """The API itself, and each server before it as a process."""
    document = f"{url}/openapi.json"
    commands = {_HEADGATE: headgate("serve", document, "--allow", "127.0.0.1", "--state", "memory:")}
    if _HAS_FASTMCP:
        commands[_FASTMCP] = [sys.executable, "-m", "benchmarks.shop", "fastmcp", url]
    clients: dict[str, Any] = {_DIRECT: await stack.enter_async_context(httpx2.AsyncClient(base_url=url))}
    for name, command in commands.items():
        target = StdioServerParameters(command=command[0], args=command[1:], cwd=ROOT)
        clients[name] = await stack.enter_async_context(Client(target))
        await clients[name].list_tools()
    return clients


async def _race(clients: Mapping[str, Any], request: _Request, rounds: int) -> dict[str, Timing]:
    """After each has proved that it gives the same book."""
    calls: dict[str, Callable[[], Awaitable[str]]] = {_DIRECT: partial(_direct, clients[_DIRECT], request)}
    ours = {"operation": request.operation, "params": request.arguments}
    calls[_HEADGATE] = partial(_called, clients[_HEADGATE], f"mcp_aql_{request.family}", ours)
    if _FASTMCP in clients:
        calls[_FASTMCP] = partial(_called, clients[_FASTMCP], request.tool, request.arguments)
    wanted = orjson.loads(await calls[_DIRECT]())
    for name, call in calls.items():
        answer = orjson.loads(await call())
        if wanted != answer.get("data", answer):
            raise RuntimeError(f"{name} answers {answer}")
    await take_turns(calls, rounds=_WARMING_ROUNDS, calls=_CALLS)
    return await take_turns(calls, rounds=rounds, calls=_CALLS)


async def _direct(client: httpx2.AsyncClient, request: _Request) -> str:
    return (await client.request(request.method, request.path, json=request.body)).text


async def _called(client: Client, tool: str, arguments: Mapping[str, object]) -> str:
    content: Any = (await client.call_tool(tool, dict(arguments))).content[0]
    text: str = content.text
    return text


def _table(title: str, measured: Mapping[str, Mapping[str, Timing]]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for what, timings in measured.items():
        ours = timings[_HEADGATE]
        ratios = [ours.against(timings[name]) if name in timings else None for name in _PEERS]
        rows.append((what, ours.median, *ratios))
    return Table(title, ("", _HEADGATE, *(f"/ {name}" for name in _PEERS)), tuple(rows))


# a large document


async def _built(seconds: float) -> Table:
    """From the text of the document to a server, and to its tools in the hands of a client."""
    text = orjson.dumps(large_document(_OPERATIONS)).decode()
    making: dict[str, Callable[[], Any]] = {_HEADGATE: partial(_ours, text)}
    if _HAS_FASTMCP:
        making[_FASTMCP] = partial(_theirs, text)
        making[_FASTMCP]()
        quiet()
    rows: list[tuple[Cell, ...]] = []
    for what, way in (("the server", _make), ("the server, and its tools listed", _make_and_list)):
        calls: dict[str, AsyncCall] = {name: partial(way, make) for name, make in making.items()}
        timings = await race(calls, seconds)
        ratio = timings[_HEADGATE].against(timings[_FASTMCP]) if _FASTMCP in timings else None
        rows.append((what, timings[_HEADGATE].median / 1000, ratio))
    title = f"OpenAPI: from a document of {_OPERATIONS} operations (ms)"
    return Table(title, ("", _HEADGATE, f"/ {_FASTMCP}"), tuple(rows))


async def _make(make: Callable[[], Any]) -> object:
    return make()


async def _make_and_list(make: Callable[[], Any]) -> Sequence[Any]:
    async with Client(make()) as client:
        return (await client.list_tools()).tools


def _ours(text: str, mode: Mode = Mode.SEMANTIC) -> Any:
    return mcp_server(openapi_adapter(document_of(text, "large.json"), name="large"), mode=mode)


def _theirs(text: str) -> Any:
    """As its documentation shows it; the requests go nowhere, since none is made."""
    client = httpx2.AsyncClient(base_url="https://shop.example")
    server = import_module("fastmcp").FastMCP.from_openapi(orjson.loads(text), client=client)
    return server._mcp_server  # noqa: SLF001  (the SDK's client takes no other)


async def _tokens() -> Table:
    """What tools/list costs the model."""
    text = orjson.dumps(large_document(_OPERATIONS)).decode()
    theirs = await _counted(_theirs(text)) if _HAS_FASTMCP else None
    rows: list[tuple[Cell, ...]] = []
    for mode in (Mode.SEMANTIC, Mode.SINGLE):
        ours = await _counted(_ours(text, mode))
        rows.append((f"tools/list, {mode.value}", ours, Ratio.of([ours / theirs]) if theirs else None))
    title = f"OpenAPI: the tools of {_OPERATIONS} operations, tokens (o200k)"
    return Table(title, ("", _HEADGATE, f"/ {_FASTMCP}"), tuple(rows))


async def _counted(server: Any) -> int:
    async with Client(server) as client:
        known = (await client.list_tools()).tools
    return tokens(listed(known))
