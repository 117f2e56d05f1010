"""What grows with what: with operations, with open sessions, and with what a store has to remember."""

import asyncio
import sqlite3
import sys
from collections.abc import Awaitable, Callable, Mapping
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import orjson
import psutil  # type: ignore[import-untyped]
import psycopg

from benchmarks.processes import free_port, running, said_elsewhere, wait_for
from benchmarks.registry import catalogue
from benchmarks.stores import fresh_stores
from benchmarks.tables import Cell, Table
from benchmarks.timing import AsyncCall, once, take_turns
from benchmarks.tokens import listed
from benchmarks.wires import Wire, message, post
from headgate import Adapter, Engine, Mode, Session
from headgate.server.settings import Settings
from headgate.store.opening import open_store

__all__ = ["operations", "remembered", "sessions"]

_SIZES: Final = (100, 1_000, 10_000)
_SESSIONS: Final = 500
_CALLS: Final = 400
_LEGACY: Final = "2025-11-25"
_HELLO: Final = {"protocolVersion": _LEGACY, "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
_POLICY: Final = {
    "autonomy": {"mode": "enforcing", "start": "free", "max_autonomous_steps": 1_000_000},
    "audit": {"operations": "all"},
}


# operations


async def operations() -> Table:
    """What many operations cost: in a prompt, in memory, and when somebody looks for one."""
    rows: list[tuple[Cell, ...]] = []
    for size in _SIZES:
        tokens = [await listed(catalogue(size), mode) for mode in (Mode.SEMANTIC, Mode.SINGLE)]
        rows.append((f"{size:,} operations", *tokens, *await _elsewhere(size)))
    columns = ("", "tools/list, semantic", "single", "ready after, ms", "MB", "first search, ms", "later ones, µs")
    return Table("Scale: operations (tokens, time and memory)", columns, tuple(rows))


async def _elsewhere(size: int) -> list[float]:
    """In a process of its own."""
    figures: list[float] = await said_elsewhere("benchmarks.scale", str(size))
    return figures


async def _registered(size: int) -> list[float]:
    before = _megabytes()
    ready, engine = once(lambda: Engine(catalogue(size)))
    session = Session()
    question = {"operation": "introspect", "params": {"query": "search", "name": "approve overdue payments"}}
    search: AsyncCall = lambda: engine.call(question, session=session)  # noqa: E731
    first = (await take_turns({"search": search}, rounds=1, calls=1))["search"]
    later = (await take_turns({"search": search}, rounds=5, calls=20))["search"]
    return [ready, _megabytes() - before, first.median / 1000, later.median]


def _megabytes(pid: int | None = None) -> float:
    return float(psutil.Process(pid).memory_info().rss / 1e6)


# sessions


async def sessions() -> Table:
    """What a session of the older era weighs that is open and does nothing, and what is left of them afterwards."""
    names = {"headgate": "headgate", "bare SDK": "bare", **({"FastMCP": "fastmcp"} if find_spec("fastmcp") else {})}
    rows: list[tuple[Cell, ...]] = [(name, *await _opened(server)) for name, server in names.items()]
    columns = ("", "open, KB for each", "ended", "after as many again")
    return Table(f"Scale: {_SESSIONS} sessions of the older era over HTTP", columns, tuple(rows))


async def _opened(server: str) -> list[float]:
    port = free_port()
    with running([sys.executable, "-m", "benchmarks.servers", server, str(port)]) as pid:
        wait_for(port)
        with closing(Wire(port)) as wire:
            await _end(wire, [await _open(wire) for _ in range(50)])
            start = _megabytes(pid)
            first = [await _open(wire) for _ in range(_SESSIONS)]
            full = _megabytes(pid)
            await _end(wire, first)
            empty = _megabytes(pid)
            await _end(wire, [await _open(wire) for _ in range(_SESSIONS)])
            again = _megabytes(pid)
    return [(size - start) * 1000 / _SESSIONS for size in (full, empty, max(again, full))]


async def _open(wire: Wire) -> str:
    await wire.ask(post(message("initialize", _HELLO, 0), {}))
    session = wire.headers[b"mcp-session-id"].decode()
    await wire.ask(post(message("notifications/initialized", {}, None), _known(session)))
    await wire.ask(post(message("tools/list", {}, 1), _known(session)))
    return session


async def _end(wire: Wire, opened: list[str]) -> None:
    for session in opened:
        await wire.ask(post(b"", _known(session)).replace(b"POST", b"DELETE", 1))


def _known(session: str) -> dict[str, str]:
    return {"mcp-session-id": session, "mcp-protocol-version": _LEGACY}


# what is remembered


async def remembered() -> Table:
    """How much larger a store is after calls, steps and executions."""
    rows: dict[str, list[Cell]] = {}
    with fresh_stores() as stores:
        sizes: Mapping[str, Callable[[], int]] = {
            "SQLite": lambda: _sqlite_size(Path(stores["SQLite"].removeprefix("sqlite:///"))),
            "PostgreSQL": lambda: _postgresql_size(stores["PostgreSQL"]),
        }
        for name, size in sizes.items():
            for what, bytes_each in (await _grown(stores[name], size)).items():
                rows.setdefault(what, [what]).append(bytes_each)
    return Table("Scale: what a store keeps (bytes for each)", ("", *sizes), tuple(tuple(row) for row in rows.values()))


async def _grown(url: str, size: Callable[[], int]) -> dict[str, float]:
    store = open_store(url)
    engine = Settings.of(policy=_POLICY).engine(_depot(), store)
    session, agent = Session(), Session()
    try:
        await _ask(engine, agent, "execute_agent", element_name="bot")
        work: dict[str, Callable[[int], Awaitable[object]]] = {
            "an audited call": lambda n: _ask(engine, session, "create_note", text=f"note {n}"),
            "a call that is confirmed": lambda n: _confirmed(engine, session, n),
            "a step of an agent": lambda n: _step(engine, agent, n),
        }
        return {what: await _each(size, act) for what, act in work.items()}
    finally:
        await store.close()


async def _each(size: Callable[[], int], act: Callable[[int], Awaitable[object]]) -> float:
    await act(0)
    before = size()
    for number in range(1, _CALLS + 1):
        await act(number)
    return (size() - before) / _CALLS


async def _confirmed(engine: Engine, session: Session, number: int) -> None:
    asked = await _reply(engine, session, "delete_note", {"number": number})
    token = asked["error"]["details"]["confirmation_token"]
    await _ask(engine, session, "delete_note", number=number, confirmation_token=token)


async def _step(engine: Engine, session: Session, number: int) -> None:
    hint = f"reading page {number} of the manual"
    await _ask(engine, session, "record_execution_step", element_name="bot", next_action_hint=hint)


async def _ask(engine: Engine, session: Session, operation: str, **params: object) -> None:
    reply = await _reply(engine, session, operation, params)
    if not reply["success"]:
        raise RuntimeError(f"{operation} is answered with {reply}")


async def _reply(engine: Engine, session: Session, operation: str, params: Mapping[str, object]) -> Mapping[str, Any]:
    reply = await engine.call({"operation": operation, "params": dict(params)}, session=session)
    envelope: Mapping[str, Any] = orjson.loads(reply.text)
    return envelope


def _depot() -> Adapter:
    depot = Adapter("depot")

    @depot.create
    async def create_note(text: str) -> str:
        """Write a note."""
        return text

    @depot.delete
    async def delete_note(number: int) -> int:
        """Delete a note."""
        return number

    return depot


def _sqlite_size(file: Path) -> int:
    """What its pages hold, journal and free pages aside."""
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        used, free, size = (
            connection.execute(f"PRAGMA {word}").fetchone()[0] for word in ("page_count", "freelist_count", "page_size")
        )
    return int((used - free) * size)


def _postgresql_size(url: str) -> int:
    """What its tables and indexes take, once what was replaced in them is cleared away."""
    sizes = "SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c WHERE c.relkind = 'r' AND c.relpersistence = 'p'"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("VACUUM FULL")
        found = connection.execute(sizes).fetchone()
    return int(found[0]) if found else 0


if __name__ == "__main__":
    print(orjson.dumps(asyncio.run(_registered(int(sys.argv[1])))).decode())
