"""The same page of one SQLite file over HTTP: from ``headgate serve`` and from Datasette's JSON API."""

import asyncio
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

import orjson

from benchmarks.aims import Aim, worst
from benchmarks.processes import free_port, headgate, running, wait_for
from benchmarks.tables import Cell, Table
from benchmarks.timing import AsyncCall, Ratio, Timing, race
from benchmarks.wires import Wire, answer_of, legacy_call, modern_call, session_of

__all__ = ["HAS_DATASETTE", "over_http"]

HAS_DATASETTE: Final = find_spec("datasette") is not None

_MODERN, _LEGACY = "headgate", "headgate, legacy"
_PLAIN, _LEAN = "Datasette", "Datasette, leanest"
_TOOL: Final = "mcp_aql_read"
_TOGETHER: Final = 16


@dataclass(frozen=True, slots=True)
class _Page:
    """A page, as both are asked for it. ``goes_on`` after so many rows."""

    params: Mapping[str, object]
    query: Mapping[str, object]
    goes_on: int = 0


def _pages(rows: int) -> dict[str, _Page]:
    deep = rows * 9 // 10
    return {
        "first page": _Page({"first": 25}, {"_size": 25}),
        "page past 90 %": _Page({"first": 25}, {"_size": 25, "_next": deep}, deep),
        "filter and sort": _Page(
            {"first": 25, "filter": {"status": "pending"}, "sort": {"field": "placed_at"}},
            {"_size": 25, "status": "pending", "_sort": "placed_at"},
        ),
    }


async def over_http(file: Path, rows: int, seconds: float) -> tuple[list[Table], list[Aim]]:
    """The tables of one client and of sixteen, each row of them measured for so many seconds."""
    ports = {"headgate": free_port(), "datasette": free_port()}
    alone: dict[str, _Measured] = {}
    together: dict[str, _Measured] = {}
    with ExitStack() as processes:
        processes.enter_context(running(headgate("serve", str(file), "--http", f"127.0.0.1:{ports['headgate']}")))
        processes.enter_context(running(_datasette_command(file, ports["datasette"])))
        for port in ports.values():
            wait_for(port)
        for name, page in _pages(rows).items():
            for many, measured in ((1, alone), (_TOGETHER, together)):
                with _connected(ports, many) as wires:
                    measured[name] = await _race(await _calls(wires, page, file), seconds)
    title = f"Over HTTP, SQLite, {rows:,} rows"
    return (
        [
            _table(f"{title}: one client, the median round trip (µs)", alone, lambda one: one.median),
            _table(f"{title}: {_TOGETHER} clients, requests per second", together, _per_second),
        ],
        [
            worst(f"{title}: one client, headgate / {_LEAN}", [one.to_lean for one in alone.values()], 1.0),
            worst(f"{title}: {_TOGETHER} clients, headgate / {_LEAN}", [one.to_lean for one in together.values()], 1.0),
        ],
    )


def _datasette_command(file: Path, port: int) -> list[str]:
    """As ``datasette serve`` runs it, without the log of requests that it always writes and headgate does not."""
    main = (
        "import sys, uvicorn; from datasette.app import Datasette; "
        "uvicorn.run(Datasette([sys.argv[1]]).app(), host='127.0.0.1', port=int(sys.argv[2]), log_level='warning')"
    )
    return [sys.executable, "-c", main, str(file), str(port)]


@dataclass(frozen=True, slots=True)
class _Measured:
    """What each took, and headgate's ratios to Datasette."""

    timings: Mapping[str, Timing]
    to_lean: Ratio
    to_plain: Ratio | None = None


async def _race(calls: Mapping[str, AsyncCall], seconds: float) -> _Measured:
    """Datasette as it is counts and suggests for a second: it runs apart, and never for many clients at once."""
    timings = await race({who: call for who, call in calls.items() if who != _PLAIN}, seconds)
    to_lean = timings[_MODERN].against(timings[_LEAN])
    if _PLAIN not in calls:
        return _Measured(timings, to_lean)
    apart = await race({who: calls[who] for who in (_MODERN, _PLAIN)}, seconds / 2)
    return _Measured({**timings, _PLAIN: apart[_PLAIN]}, to_lean, apart[_MODERN].against(apart[_PLAIN]))


async def _calls(wires: Mapping[str, Sequence[Wire]], page: _Page, file: Path) -> dict[str, AsyncCall]:
    """For each contender, one request on every connection at once. All of them give the same rows."""
    params = dict(page.params)
    if page.goes_on:
        found = await wires[_MODERN][0].ask(_call(_MODERN, {"filter": {"id": page.goes_on}, "first": 1}))
        params["after"] = _data(found)["pageInfo"]["endCursor"]
    path = f"/{file.stem}/events.json?"
    lean = {**page.query, "_shape": "array", "_nosuggest": 1}
    requests = {
        _MODERN: [_call(_MODERN, params) for _ in wires[_MODERN]],
        _LEGACY: [_call(_LEGACY, params, await session_of(wire)) for wire in wires[_LEGACY]],
        _PLAIN: [_get(path + urlencode(page.query)) for _ in wires[_PLAIN]],
        _LEAN: [_get(path + urlencode(lean)) for _ in wires[_LEAN]],
    }
    shown = {who: _keys(who, await wires[who][0].ask(requests[who][0])) for who in requests}
    if any(keys != shown[_MODERN] for keys in shown.values()) or len(shown[_MODERN]) != page.params["first"]:
        raise RuntimeError(f"the answers differ: {shown}")
    return {who: _all(wires[who], requests[who]) for who in requests if who != _PLAIN or len(wires[who]) == 1}


def _call(era: str, params: Mapping[str, object], session: str = "") -> bytes:
    arguments = {"operation": "list_events", "params": params}
    if era == _LEGACY:
        return legacy_call(_TOOL, arguments, session)
    return modern_call(_TOOL, arguments)


def _get(path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\naccept: application/json\r\n\r\n".encode()


def _data(body: bytes) -> Any:
    return answer_of(body)["data"]


def _keys(who: str, body: bytes) -> list[int]:
    if who in (_MODERN, _LEGACY):
        items = _data(body)["items"]
    else:
        loaded = orjson.loads(body)
        items = loaded if isinstance(loaded, list) else _objects(loaded)
    return [item["id"] for item in items]


def _objects(answer: Any) -> list[dict[str, Any]]:
    return [dict(zip(answer["columns"], row, strict=True)) for row in answer["rows"]]


@contextmanager
def _connected(ports: Mapping[str, int], many: int) -> Iterator[dict[str, list[Wire]]]:
    """So many connections for each contender."""
    servers = {_MODERN: "headgate", _LEGACY: "headgate", _PLAIN: "datasette", _LEAN: "datasette"}
    wires = {who: [Wire(ports[server]) for _ in range(many)] for who, server in servers.items()}
    try:
        yield wires
    finally:
        for wire in chain.from_iterable(wires.values()):
            wire.close()


def _all(wires: Sequence[Wire], requests: Sequence[bytes]) -> AsyncCall:
    if len(wires) == 1:
        return lambda: wires[0].ask(requests[0])
    return lambda: asyncio.gather(*(wire.ask(request) for wire, request in zip(wires, requests, strict=True)))


def _table(title: str, measured: Mapping[str, _Measured], shown: Callable[[Timing], float]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name, one in measured.items():
        medians = [shown(one.timings[who]) if who in one.timings else None for who in (_MODERN, _LEGACY, _PLAIN, _LEAN)]
        rows.append((name, *medians, one.to_plain, one.to_lean))
    columns = ("", _MODERN, _LEGACY, _PLAIN, _LEAN, f"time / {_PLAIN}", f"time / {_LEAN}")
    return Table(title, columns, tuple(rows))


def _per_second(timing: Timing) -> float:
    return _TOGETHER * 1e6 / timing.median
