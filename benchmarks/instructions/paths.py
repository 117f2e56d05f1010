"""The hot path in pieces: what is counted, and how often it is done."""

import sqlite3
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import orjson

from benchmarks.books import ANSWER, REQUEST, library
from benchmarks.gating import rules
from benchmarks.instructions.wires import before_server, over_http, over_stdio
from benchmarks.registry import catalogue
from benchmarks.timing import AsyncCall
from benchmarks.wires import hello, legacy_call, message, modern_call, session_of
from headgate import Engine, Session
from headgate.safety.gatekeeper import Gatekeeper
from headgate.safety.policy.reading import policy_from
from headgate.sources.sql.source import sql_adapter
from headgate.store.opening import open_store

__all__ = ["Counted", "counted", "opened_paths"]

_TOOL: Final = "mcp_aql_read"
_BATCH: Final = 10
_OPERATIONS: Final = 100
_ROWS: Final = 1000
_PAGE: Final = 25
_WRONG: Final = {"operation": "get_book", "params": {"isbn": 9780141439518, "copy": 2}}
_SEARCH: Final = {"operation": "introspect", "params": {"query": "search", "name": "archived invoice note"}}
_LIST: Final = {"operation": "list_events", "params": {"first": _PAGE}}


@dataclass(frozen=True, slots=True)
class Counted:
    """A call of which so many are counted. Each answer must hold a text."""

    call: AsyncCall
    calls: int
    expected: str


@asynccontextmanager
async def opened_paths() -> AsyncIterator[dict[str, Counted]]:
    """All of them by their names, ready to be called."""
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="headgate-instructions-")))
        yield {
            **_of_the_engine(),
            **_of_a_database(folder),
            **await _of_the_server(stack),
            **await _of_a_proxy(stack),
        }


def _of_the_engine() -> dict[str, Counted]:
    gatekeeper = Gatekeeper(
        library.name,
        library.operations,
        open_store("memory:"),
        policy=policy_from({"rule": rules()}, "the count"),
    )
    refused, found = "VALIDATION_INVALID_TYPE", "_archived_invoice_line"
    batch = {"operations": [REQUEST] * _BATCH}
    return {
        "dispatch": Counted(_asking(Engine(library), REQUEST), 300, ANSWER),
        "refusal": Counted(_asking(Engine(library), _WRONG), 100, refused),
        f"batch of {_BATCH}": Counted(_asking(Engine(library), batch), 40, f'"succeeded":{_BATCH}'),
        "introspect search": Counted(_asking(Engine(catalogue(_OPERATIONS)), _SEARCH), 40, found),
        "dispatch behind 20 rules": Counted(_asking(Engine(library, gatekeeper=gatekeeper), REQUEST), 300, ANSWER),
    }


def _asking(engine: Engine, request: Mapping[str, object]) -> AsyncCall:
    ask = partial(engine.call, request, endpoint="read", session=Session())

    async def call() -> str:
        return (await ask()).text

    return call


def _of_a_database(folder: Path) -> dict[str, Counted]:
    file = folder / "events.db"
    with closing(sqlite3.connect(file)) as database:
        database.execute("CREATE TABLE events (id INTEGER PRIMARY KEY, status TEXT, title TEXT, amount DECIMAL(10, 2))")
        rows = [(number, "open", f"Event {number}", number / 4) for number in range(1, _ROWS + 1)]
        database.executemany("INSERT INTO events VALUES (?, ?, ?, ?)", rows)
        database.commit()
    return {
        f"SQLite, {_PAGE} rows": Counted(_asking(Engine(sql_adapter(file)), _LIST), 40, f"Event {_PAGE}"),
    }


async def _of_the_server(stack: AsyncExitStack) -> dict[str, Counted]:
    """Bytes in, bytes out."""
    pipe = await stack.enter_async_context(over_stdio(library))
    await pipe.ask(hello() + b"\n")
    pipe.tell(message("notifications/initialized", {}, None) + b"\n")
    line = message("tools/call", {"name": _TOOL, "arguments": REQUEST}, 1) + b"\n"
    web = await stack.enter_async_context(over_http(library))
    modern, legacy = modern_call(_TOOL, REQUEST), legacy_call(_TOOL, REQUEST, await session_of(web))
    text = orjson.dumps(ANSWER).decode()
    return {
        "stdio": Counted(_reading(partial(pipe.ask, line)), 50, text),
        "HTTP, modern": Counted(_reading(partial(web.ask, modern)), 30, text),
        "HTTP, legacy": Counted(_reading(partial(web.ask, legacy)), 30, text),
    }


async def _of_a_proxy(stack: AsyncExitStack) -> dict[str, Counted]:
    """A call to a tool of another process, of which only this one's part is counted."""
    upstream = Engine(await stack.enter_async_context(before_server()))
    return {"MCP server, stdio": Counted(_asking(upstream, REQUEST), 50, ANSWER)}


def _reading(ask: AsyncCall) -> AsyncCall:
    async def call() -> str:
        body = await ask()
        if not isinstance(body, bytes):
            raise TypeError("bytes are read")
        return body.decode()

    return call


async def counted(one: Counted) -> None:
    """All calls of it, each with the answer that is meant."""
    for _ in range(one.calls):
        answer = await one.call()
        if one.expected not in str(answer):
            raise RuntimeError(f"{answer!r} is answered where {one.expected!r} is meant")
