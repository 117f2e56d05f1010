"""Ten reads: in one batch of headgate's, in ten calls one after the other or at once, and in one query of GraphQL."""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack
from importlib.util import find_spec
from typing import Any, Final, TypeAlias

import orjson
from mcp import Client

from benchmarks import servers
from benchmarks.aims import Aim
from benchmarks.books import ARGUMENTS, get_book, library
from benchmarks.graphql import HAS_STRAWBERRY, book_schema, execute
from benchmarks.processes import free_port, running, wait_for
from benchmarks.tables import Cell, Table
from benchmarks.timing import AsyncCall, Timing, take_turns
from headgate import Engine, Session, mcp_server

__all__ = ["batches"]

_Many: TypeAlias = Callable[[], Awaitable[list[Any]]]
"""All ten reads; it gives the ten books."""

_BATCH: Final = "headgate, one batch"
_SINGLE: Final = "headgate"
_BARE: Final = "bare SDK"
_FASTMCP: Final = "FastMCP"
_QUERY: Final = "strawberry, one query"
_CACHED: Final = "strawberry, cached"
_CALLED: Final = {_SINGLE: "headgate", _BARE: "bare", _FASTMCP: "fastmcp"}
_HAS_FASTMCP: Final = find_spec("fastmcp") is not None
_WARMING: Final = 3

_BOOKS: Final[Sequence[dict[str, object]]] = [{**ARGUMENTS, "isbn": f"97801414395{place}8"} for place in range(10)]
_REQUESTS: Final[Sequence[dict[str, object]]] = [{"operation": "get_book", "params": book} for book in _BOOKS]
_ALL: Final[dict[str, object]] = {"operations": _REQUESTS}
_READ: Final = "mcp_aql_read"


async def batches(rounds: int) -> tuple[Table, list[Aim]]:
    """The table of ten reads by each way, and no aim: nothing is promised of them."""
    measured = {"engine alone": await _by_engine(rounds)}
    in_process = {_SINGLE: mcp_server(library), _BARE: servers.bare(), _FASTMCP: None}
    if _HAS_FASTMCP:
        in_process[_FASTMCP] = servers.fastmcp()._mcp_server  # noqa: SLF001  (the SDK's client takes no other)
    measured |= await _through_mcp("MCP in process", in_process, rounds)
    with ExitStack() as stack:
        measured |= await _through_mcp("MCP over HTTP", _listening(stack), rounds)
    return _table(measured), []


def _listening(stack: ExitStack) -> dict[str, str]:
    """All contenders as processes that listen on this machine, and the address of each."""
    ports = {name: free_port() for name in _CALLED if name != _FASTMCP or _HAS_FASTMCP}
    for name, port in ports.items():
        stack.enter_context(running([sys.executable, "-m", "benchmarks.servers", _CALLED[name], str(port)]))
    for port in ports.values():
        wait_for(port)
    return {name: f"http://127.0.0.1:{port}/mcp" for name, port in ports.items()}


async def _by_engine(rounds: int) -> dict[str, Timing]:
    engine, session = Engine(library), Session()

    async def batch() -> list[Any]:
        return _items((await engine.call(_ALL, endpoint="read", session=session)).text)

    async def single() -> list[Any]:
        return [_data((await engine.call(each, endpoint="read", session=session)).text) for each in _REQUESTS]

    ways: dict[str, _Many] = {_BATCH: batch, _SINGLE: single}
    if HAS_STRAWBERRY:
        ways |= {_QUERY: _aliases(cached=False), _CACHED: _aliases(cached=True)}
    return await _race(ways, rounds)


def _aliases(*, cached: bool) -> _Many:
    """One query with a variable and an alias for each book."""
    schema = book_schema(cached=cached)
    places = range(len(_BOOKS))
    needed = ", ".join(f"$isbn{place}: String!, $copies{place}: Int!" for place in places)
    fields = [
        f"book{place}: getBook(isbn: $isbn{place}, copies: $copies{place}) {{ isbn title author copies }}"
        for place in places
    ]
    query = f"query ({needed}) {{ {' '.join(fields)} }}"
    variables = {f"{name}{place}": value for place, book in enumerate(_BOOKS) for name, value in book.items()}

    async def ask() -> list[Any]:
        return list(_data(await execute(schema, query, variables)).values())

    return ask


async def _through_mcp(wire: str, targets: Mapping[str, Any], rounds: int) -> dict[str, dict[str, Timing]]:
    """By the SDK's client: the calls one after the other, then all at once, beside the same batch."""
    async with AsyncExitStack() as stack:
        clients = {
            name: await stack.enter_async_context(Client(target))
            for name, target in targets.items()
            if target is not None
        }
        for client in clients.values():
            await client.list_tools()
        batch = {_BATCH: _batch(clients[_SINGLE])}
        return {
            f"{wire}, one after the other": await _race(batch | _calls(clients, _in_turn), rounds),
            f"{wire}, ten at once": await _race(batch | _calls(clients, _at_once), rounds),
        }


def _batch(client: Client) -> _Many:
    async def ask() -> list[Any]:
        return _items(_text(await client.call_tool(_READ, _ALL)))

    return ask


_Spread: TypeAlias = Callable[[Sequence[AsyncCall]], Awaitable[Sequence[Any]]]


def _calls(clients: Mapping[str, Client], spread: _Spread) -> dict[str, _Many]:
    return {name: _ten(_singles(name, client), spread) for name, client in clients.items()}


def _singles(name: str, client: Client) -> list[AsyncCall]:
    if name == _SINGLE:
        return [_call(client, _READ, request) for request in _REQUESTS]
    return [_call(client, "get_book", book) for book in _BOOKS]


def _call(client: Client, tool: str, arguments: dict[str, object]) -> AsyncCall:
    return lambda: client.call_tool(tool, arguments)


def _ten(calls: Sequence[AsyncCall], spread: _Spread) -> _Many:
    async def ask() -> list[Any]:
        return [_data(_text(answer)) for answer in await spread(calls)]

    return ask


async def _in_turn(calls: Sequence[AsyncCall]) -> list[Any]:
    return [await call() for call in calls]


async def _at_once(calls: Sequence[AsyncCall]) -> list[Any]:
    return await asyncio.gather(*(call() for call in calls))


def _text(answer: Any) -> str:
    text: str = answer.content[0].text
    return text


def _data(text: str) -> Any:
    return orjson.loads(text)["data"]


def _items(text: str) -> list[Any]:
    """What is in the answer to a batch."""
    return [item["result"]["data"] for item in orjson.loads(text)["results"]]


async def _race(ways: Mapping[str, _Many], rounds: int) -> dict[str, Timing]:
    """After each has proved that it gets the ten books."""
    wanted = [await get_book(**book) for book in _BOOKS]  # type: ignore[arg-type]  # their values are of two types
    for name, ask in ways.items():
        if (found := await ask()) != wanted:
            raise RuntimeError(f"{name} answers {found}")
    await take_turns(ways, rounds=_WARMING, calls=1)
    return await take_turns(ways, rounds=rounds, calls=3)


def _table(measured: Mapping[str, Mapping[str, Timing]]) -> Table:
    peers = (_SINGLE, _BARE, _FASTMCP, _QUERY, _CACHED)
    rows: list[tuple[Cell, ...]] = []
    for way, timings in measured.items():
        ours = timings[_BATCH]
        rows.append((way, ours.median, *(ours.against(timings[name]) if name in timings else None for name in peers)))
    shown = [f"/ {name}, ten calls" if name in _CALLED else f"/ {name}" for name in peers]
    return Table("Ten reads: headgate's batch beside others", ("", f"{_BATCH} (µs)", *shown), tuple(rows))
