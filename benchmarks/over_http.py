"""The same page of one SQLite file over HTTP: from ``headgate serve`` and from Datasette's JSON API.

The client writes bytes that were made beforehand and reads the answer without looking at it, alike for everybody.
"""

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
from benchmarks.processes import free_port, running, wait_for
from benchmarks.tables import Cell, Table
from benchmarks.timing import AsyncCall, Ratio, Timing, race

__all__ = ["HAS_DATASETTE", "over_http"]

HAS_DATASETTE: Final = find_spec("datasette") is not None

_MODERN, _LEGACY = "headgate", "headgate, legacy"
_PLAIN, _LEAN = "Datasette", "Datasette, leanest"
_PROTOCOL: Final = {_MODERN: "2026-07-28", _LEGACY: "2025-11-25"}
_META: Final = {
    "io.modelcontextprotocol/protocolVersion": _PROTOCOL[_MODERN],
    "io.modelcontextprotocol/clientCapabilities": {},
}
_HELLO: Final = {
    "protocolVersion": _PROTOCOL[_LEGACY],
    "capabilities": {},
    "clientInfo": {"name": "bench", "version": "1"},
}
_TOOL: Final = "mcp_aql_read"
_TOGETHER: Final = 16
_LONGEST: Final = 2**20
_OK: Final = (b"200", b"202")


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


class _Wire:
    """One connection that is kept alive, and made anew when the server has ended it because nothing came for long."""

    def __init__(self, port: int) -> None:
        self.headers: dict[bytes, bytes] = {}
        self._port = port
        self._reader = asyncio.StreamReader()
        self._reader.feed_eof()
        self._writer: asyncio.StreamWriter | None = None

    async def ask(self, request: bytes) -> bytes:
        """The body of the answer."""
        writer = self._writer
        if writer is None or self._reader.at_eof():
            writer = await self._open()
        writer.write(request)
        head = await self._reader.readuntil(b"\r\n\r\n")
        first, *lines = head[:-4].split(b"\r\n")
        if first.split()[1] not in _OK:
            raise RuntimeError(f"the server answers {first!r}")
        self.headers = {name.lower(): value.strip() for name, _, value in (line.partition(b":") for line in lines)}
        if b"chunked" in self.headers.get(b"transfer-encoding", b""):
            return await self._chunks()
        return await self._reader.readexactly(int(self.headers.get(b"content-length", b"0")))

    async def _open(self) -> asyncio.StreamWriter:
        self.close()
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port, limit=_LONGEST)
        return self._writer

    def close(self) -> None:
        """Leave the server."""
        if self._writer is not None:
            self._writer.close()

    async def _chunks(self) -> bytes:
        body = b""
        while True:
            size = int((await self._reader.readuntil(b"\r\n"))[:-2], 16)
            chunk = await self._reader.readexactly(size + 2)
            if not size:
                return body
            body += chunk[:-2]


async def over_http(file: Path, rows: int, seconds: float) -> tuple[list[Table], list[Aim]]:
    """The tables of one client and of sixteen, each row of them measured for so many seconds."""
    ports = {"headgate": free_port(), "datasette": free_port()}
    alone: dict[str, _Measured] = {}
    together: dict[str, _Measured] = {}
    with ExitStack() as processes:
        processes.enter_context(running(_headgate_command(file, ports["headgate"])))
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


def _headgate_command(file: Path, port: int) -> list[str]:
    main = "import sys; from headgate.cli import main; sys.argv[0] = 'headgate'; main()"
    return [sys.executable, "-c", main, "serve", str(file), "--http", f"127.0.0.1:{port}", "--log-level", "warning"]


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


async def _calls(wires: Mapping[str, Sequence[_Wire]], page: _Page, file: Path) -> dict[str, AsyncCall]:
    """For each contender, one request on every connection at once. All of them give the same rows."""
    params = dict(page.params)
    if page.goes_on:
        found = await wires[_MODERN][0].ask(_call(_MODERN, {"filter": {"id": page.goes_on}, "first": 1}))
        params["after"] = _data(found)["pageInfo"]["endCursor"]
    path = f"/{file.stem}/events.json?"
    lean = {**page.query, "_shape": "array", "_nosuggest": 1}
    requests = {
        _MODERN: [_call(_MODERN, params) for _ in wires[_MODERN]],
        _LEGACY: [_call(_LEGACY, params, await _session(wire)) for wire in wires[_LEGACY]],
        _PLAIN: [_get(path + urlencode(page.query)) for _ in wires[_PLAIN]],
        _LEAN: [_get(path + urlencode(lean)) for _ in wires[_LEAN]],
    }
    shown = {who: _keys(who, await wires[who][0].ask(requests[who][0])) for who in requests}
    if any(keys != shown[_MODERN] for keys in shown.values()) or len(shown[_MODERN]) != page.params["first"]:
        raise RuntimeError(f"the answers differ: {shown}")
    return {who: _all(wires[who], requests[who]) for who in requests if who != _PLAIN or len(wires[who]) == 1}


async def _session(wire: _Wire) -> str:
    """The session that the older era needs."""
    await wire.ask(_post(_message("initialize", _HELLO, 0), {}))
    session = wire.headers[b"mcp-session-id"].decode()
    await wire.ask(_post(_message("notifications/initialized", {}, None), _legacy(session)))
    return session


def _call(era: str, params: Mapping[str, object], session: str = "") -> bytes:
    arguments = {"operation": "list_events", "params": params}
    if era == _LEGACY:
        return _post(_message("tools/call", {"name": _TOOL, "arguments": arguments}, 1), _legacy(session))
    headers = {"mcp-protocol-version": _PROTOCOL[_MODERN], "mcp-method": "tools/call", "mcp-name": _TOOL}
    return _post(_message("tools/call", {"name": _TOOL, "arguments": arguments, "_meta": _META}, 1), headers)


def _legacy(session: str) -> dict[str, str]:
    return {"mcp-session-id": session, "mcp-protocol-version": _PROTOCOL[_LEGACY]}


def _message(method: str, params: Mapping[str, object], request_id: int | None) -> bytes:
    content = {"jsonrpc": "2.0", "method": method, "params": params}
    return orjson.dumps(content if request_id is None else {**content, "id": request_id})


def _post(body: bytes, headers: Mapping[str, str]) -> bytes:
    common = {"host": "127.0.0.1", "content-type": "application/json", "accept": "application/json, text/event-stream"}
    lines = [f"{name}: {value}" for name, value in {**common, **headers, "content-length": len(body)}.items()]
    return "\r\n".join(["POST /mcp HTTP/1.1", *lines, "", ""]).encode() + body


def _get(path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\naccept: application/json\r\n\r\n".encode()


def _data(body: bytes) -> Any:
    if not body.startswith(b"{"):  # an event of a stream
        body = next(line.removeprefix(b"data: ") for line in body.splitlines() if line.startswith(b"data: {"))
    answer = orjson.loads(orjson.loads(body)["result"]["content"][0]["text"])
    return answer["data"]


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
def _connected(ports: Mapping[str, int], many: int) -> Iterator[dict[str, list[_Wire]]]:
    """So many connections for each contender."""
    servers = {who: "headgate" if who in _PROTOCOL else "datasette" for who in (_MODERN, _LEGACY, _PLAIN, _LEAN)}
    wires = {who: [_Wire(ports[server]) for _ in range(many)] for who, server in servers.items()}
    try:
        yield wires
    finally:
        for wire in chain.from_iterable(wires.values()):
            wire.close()


def _all(wires: Sequence[_Wire], requests: Sequence[bytes]) -> AsyncCall:
    if len(wires) == 1:
        return lambda: wires[0].ask(requests[0])
    return lambda: asyncio.gather(*(wire.ask(request) for wire, request in zip(wires, requests, strict=True)))


def _table(title: str, measured: Mapping[str, _Measured], shown: Callable[[Timing], float]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name, one in measured.items():
        medians = [shown(one.timings[who]) if who in one.timings else None for who in (_MODERN, _LEGACY, _PLAIN, _LEAN)]
        to_plain = one.to_plain.median if one.to_plain else None
        rows.append((name, *medians, to_plain, one.to_lean.median, _spread(one.to_lean)))
    columns = ("", _MODERN, _LEGACY, _PLAIN, _LEAN, "time / Datasette", "/ leanest", "quartiles")
    return Table(title, columns, tuple(rows))


def _per_second(timing: Timing) -> float:
    return _TOGETHER * 1e6 / timing.median


def _spread(ratio: Ratio) -> str:
    return f"{ratio.low:.2f} to {ratio.high:.2f}{' noisy' if ratio.is_noisy else ''}"
