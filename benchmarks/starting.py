"""How long it takes from a command to the first answer, what the processor does for it, and what a server weighs then.

Each contender is a process of its own, started anew for every sample. Bytecode is there before anything is counted.
"""

import http.client
import json
import os
import sqlite3
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Final, TypeAlias

import psutil  # type: ignore[import-untyped]

from benchmarks.aims import Aim
from benchmarks.processes import ROOT, free_port
from benchmarks.tables import Cell, Table
from benchmarks.timing import AsyncCall, Timing, take_turns

__all__ = ["starting"]

_TABLES: Final = 100
_PATIENCE_SECONDS: Final = 60.0
_POLL_SECONDS: Final = 0.002
_HELP_MS: Final = 250.0
_READY_MS: Final = 1000.0
_HEADGATE, _BARE, _FASTMCP, _DATASETTE = "headgate", "bare SDK", "FastMCP", "Datasette"
_HELP: Final = "headgate --help"
_HELLO: Final = json.dumps(
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "bench", "version": "1"},
        },
    }
)
_HEADERS: Final = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}

_MAIN: Final = "import sys; from headgate.cli import main; sys.argv[0] = 'headgate'; main()"
_ADAPTER: Final = '''"""A library."""

from headgate import Adapter

adapter = Adapter("library", "Books.")


@adapter.read()
async def get_book(isbn: str) -> str:
    """Get one book by its ISBN."""
    return isbn
'''
_SDK: Final = """import sys

import anyio
import mcp_types as types
from mcp.server import Server
from mcp.server.stdio import stdio_server

TOOL = types.Tool(name="get_book", description="Get one book by its ISBN.", input_schema={
    "type": "object", "properties": {"isbn": {"type": "string"}}, "required": ["isbn"]})


async def list_tools(ctx, params):
    return types.ListToolsResult(tools=[TOOL])


async def call_tool(ctx, params):
    return types.CallToolResult(content=[types.TextContent(text=params.arguments["isbn"])])


server = Server("library", on_list_tools=list_tools, on_call_tool=call_tool)


async def over_stdio():
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


if len(sys.argv) > 1:
    import uvicorn

    uvicorn.run(server.streamable_http_app(), host="127.0.0.1", port=int(sys.argv[1]), log_level="warning")
else:
    anyio.run(over_stdio)
"""
_FAST: Final = '''import sys

from fastmcp import FastMCP

server = FastMCP("library")


@server.tool
async def get_book(isbn: str) -> str:
    """Get one book by its ISBN."""
    return isbn


http = {"transport": "http", "host": "127.0.0.1", "port": int(sys.argv[1])} if len(sys.argv) > 1 else {}
server.run(show_banner=False, log_level="warning", **http)
'''


@dataclass
class _Seen:
    """What was seen of the contenders beside the time: milliseconds of the processor, and megabytes once ready."""

    cpu: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    weight: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def note(self, name: str, process: psutil.Process) -> None:
        """A server that is ready."""
        self.cpu[name].append(process.cpu_times().user * 1000)
        self.weight[name].append(process.memory_info().rss / 1e6)


Command: TypeAlias = Callable[[int], list[str]]
"""The command of a server, for a port that it may use."""
Ready: TypeAlias = Callable[[subprocess.Popen[bytes], int], None]
"""Waits until a server has answered."""


def _environment() -> dict[str, str]:
    """What all contenders run in: as after an installation, with bytecode."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


@contextmanager
def _started(command: list[str]) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env=_environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        process_group=0,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


async def _run(seen: _Seen, name: str, command: list[str]) -> None:
    """A program, from its start to its end. There is nothing else to do meanwhile."""
    seen.cpu[name].append(_run_to_its_end(name, command))


def _run_to_its_end(name: str, command: list[str]) -> float:
    """The milliseconds that a program keeps the processor busy."""
    process = subprocess.Popen(command, cwd=ROOT, env=_environment(), stdout=subprocess.DEVNULL, process_group=0)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{name} failed")
    return used.ru_utime * 1000


def _answered_on_stdio(process: subprocess.Popen[bytes], _port: int) -> None:
    assert process.stdin is not None  # noqa: S101  (made with a pipe)
    assert process.stdout is not None  # noqa: S101
    process.stdin.write(f"{_HELLO}\n".encode())
    process.stdin.flush()
    if b'"serverInfo"' not in process.stdout.readline():
        raise RuntimeError("a server did not answer")


def _answered_over_http(method: str, path: str, process: subprocess.Popen[bytes], port: int) -> None:
    until = time.monotonic() + _PATIENCE_SECONDS
    while True:
        with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=_PATIENCE_SECONDS)) as connection:
            try:
                connection.request(method, path, _HELLO if method == "POST" else None, _HEADERS)
            except ConnectionError:
                if process.poll() is not None or time.monotonic() > until:
                    raise
                time.sleep(_POLL_SECONDS)
                continue
            if connection.getresponse().status != 200:
                raise RuntimeError("a server refused")
            return


_OVER_MCP: Final = partial(_answered_over_http, "POST", "/mcp")


async def _serve(seen: _Seen, name: str, command: Command, ready: Ready) -> None:
    """A server, from its start to its first answer."""
    port = free_port()
    with _started(command(port)) as process:
        ready(process, port)
        seen.note(name, psutil.Process(process.pid))


def _headgate(*words: str) -> list[str]:
    return [sys.executable, "-c", _MAIN, *words]


def _has_fastmcp() -> bool:
    return find_spec("fastmcp") is not None


def _programs() -> Mapping[str, list[str]]:
    names = ["mcp.server", *(["fastmcp"] if _has_fastmcp() else []), "headgate", "headgate.server.binding"]
    imports = {f"import {name}": [sys.executable, "-c", f"import {name}"] for name in names}
    return {"python -c pass": [sys.executable, "-c", "pass"], **imports, _HELP: _headgate("--help")}


def _libraries(folder: Path, *, over_http: bool) -> Mapping[str, Command]:
    """Servers of one tool that was written in ten lines."""
    files = {_HEADGATE: _ADAPTER, _BARE: _SDK, **({_FASTMCP: _FAST} if _has_fastmcp() else {})}
    for name, text in files.items():
        (folder / f"{_stem(name)}.py").write_text(text)

    def command(name: str, port: int) -> list[str]:
        file = str(folder / f"{_stem(name)}.py")
        if name == _HEADGATE:
            return _headgate(
                "serve", file, "--state", "memory:", *(["--http", f"127.0.0.1:{port}"] if over_http else [])
            )
        return [sys.executable, file, *([str(port)] if over_http else [])]

    return {name: partial(command, name) for name in files}


def _stem(name: str) -> str:
    return f"{name.split(maxsplit=1)[0].lower()}_library"


def _databases(folder: Path) -> Mapping[str, tuple[Command, Ready]]:
    """Servers of one file of a hundred tables, each of which refers to the one before."""
    file = folder / "hundred.db"
    with closing(sqlite3.connect(file)) as connection:
        for number in range(_TABLES):
            connection.execute(
                f"CREATE TABLE t{number} (id INTEGER PRIMARY KEY, name TEXT NOT NULL, price NUMERIC, "
                f"created_at TIMESTAMP, parent_id INTEGER REFERENCES t{max(number - 1, 0)} (id))"
            )
        connection.commit()
    contenders: dict[str, tuple[Command, Ready]] = {
        _HEADGATE: (
            lambda port: _headgate("serve", f"sqlite:///{file}", "--state", "memory:", "--http", f"127.0.0.1:{port}"),
            _OVER_MCP,
        )
    }
    if find_spec("datasette") is not None:
        contenders[_DATASETTE] = (
            lambda port: [sys.executable, "-m", "datasette", str(file), "--port", str(port)],
            partial(_answered_over_http, "GET", "/hundred.json"),
        )
    return contenders


async def starting(rounds: int) -> tuple[list[Table], list[Aim]]:
    """The tables of programs, of servers of one tool and of a hundred tables, and the aims for them."""
    with TemporaryDirectory() as folder:
        here = Path(folder)
        programs = _Seen()
        calls: dict[str, AsyncCall] = {
            name: partial(_run, programs, name, command) for name, command in _programs().items()
        }
        plain = await _measured(calls, rounds)
        tables = [_table("Programs, from the start to the end", plain, programs, "import mcp.server")]
        aims = [Aim("headgate --help, ms", plain[_HELP].median / 1000, _HELP_MS)]
        for where, ready in (("on stdio", _answered_on_stdio), ("over HTTP", _OVER_MCP)):
            commands = _libraries(here, over_http=where == "over HTTP")
            servers = {name: (command, ready) for name, command in commands.items()}
            title = f"One tool {where}, from the start to the first answer"
            table, _ = await _servers(title, servers, _BARE, rounds)
            tables.append(table)
        title = f"{_TABLES} tables of SQLite over HTTP, from the start to the first answer"
        table, timings = await _servers(title, _databases(here), _HEADGATE, rounds)
        tables.append(table)
        aims.append(Aim(f"ready with {_TABLES} tables, ms", timings[_HEADGATE].median / 1000, _READY_MS))
    return tables, aims


async def _servers(
    title: str, servers: Mapping[str, tuple[Command, Ready]], peer: str, rounds: int
) -> tuple[Table, Mapping[str, Timing]]:
    seen = _Seen()
    calls: dict[str, AsyncCall] = {
        name: partial(_serve, seen, name, command, ready) for name, (command, ready) in servers.items()
    }
    timings = await _measured(calls, rounds)
    return _table(title, timings, seen, peer), timings


async def _measured(calls: Mapping[str, AsyncCall], rounds: int) -> Mapping[str, Timing]:
    """In turns, after one round that only makes bytecode and fills the caches of files."""
    await take_turns(calls, rounds=1, calls=1)
    return await take_turns(calls, rounds=rounds, calls=1)


def _table(title: str, timings: Mapping[str, Timing], seen: _Seen, peer: str) -> Table:
    columns = ("", "ms", f"/ {peer}", "user CPU, ms", "resident, MB")
    return Table(title, columns, tuple(_row(name, timings, seen, peer) for name in timings))


def _row(name: str, timings: Mapping[str, Timing], seen: _Seen, peer: str) -> tuple[Cell, ...]:
    ratio = None if name == peer else timings[name].against(timings[peer])
    weight = median(seen.weight[name]) if name in seen.weight else None
    return name, timings[name].median / 1000, ratio, median(seen.cpu[name]), weight
