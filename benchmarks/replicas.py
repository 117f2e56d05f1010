"""How many requests one, two and four servers answer behind one address, on however few cores there are."""

import asyncio
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

from benchmarks.books import REQUEST
from benchmarks.processes import ROOT, free_port, headgate, running, wait_for
from benchmarks.stores import fresh_stores
from benchmarks.tables import Cell, Table
from benchmarks.timing import AsyncCall, race
from benchmarks.wires import Wire, modern_call

__all__ = ["replicas"]

_SHOWN: Final = ROOT / "examples" / "nginx.conf"
_MANY: Final = (1, 2, 4)
_CLIENTS: Final = 16
_AUDITED: Final = '[audit]\noperations = "all"\n'
_PLAIN: Final = '[audit]\noperations = "dangerous"\n'
_AROUND: Final = """
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log warn;
events {{ worker_connections 512; }}
http {{
    access_log off;
    client_body_temp_path {folder}/bodies;
    proxy_temp_path {folder}/proxied;
    fastcgi_temp_path {folder}/fastcgi;
    scgi_temp_path {folder}/scgi;
    uwsgi_temp_path {folder}/uwsgi;
    include {folder}/shown.conf;
}}
"""


def _nginx() -> str | None:
    return shutil.which("nginx", path=os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin"]))


async def replicas(seconds: float) -> Table | None:
    """The table of requests per second: of calls that only read, and of some that are audited. None without nginx."""
    if _nginx() is None:
        print("nginx is not installed: servers behind one address are not measured.\n", flush=True)
        return None
    rows: list[tuple[Cell, ...]] = []
    with fresh_stores() as stores:
        for what, policy in {"a read": _PLAIN, "an audited read, PostgreSQL": _AUDITED}.items():
            with _served(stores["PostgreSQL"], policy) as ports:
                rows.append((what, *await _measured(ports, seconds)))
    columns = (
        "",
        "one, called directly",
        *(f"{many} behind nginx" for many in _MANY),
        "time: 4 / 1 behind nginx",
    )
    title = f"Scale: servers behind one address, requests per second of {_CLIENTS} clients"
    return Table(title, columns, tuple(rows))


async def _measured(ports: Mapping[str, int], seconds: float) -> list[Cell]:
    wires = {name: [Wire(port) for _ in range(_CLIENTS)] for name, port in ports.items()}
    try:
        timings = await race({name: _all(some) for name, some in wires.items()}, seconds * len(wires))
    finally:
        for wire in (wire for some in wires.values() for wire in some):
            wire.close()
    return [*(_CLIENTS * 1e6 / timing.median for timing in timings.values()), timings["4"].against(timings["1"])]


def _all(wires: Sequence[Wire]) -> AsyncCall:
    request = modern_call("mcp_aql_read", REQUEST)
    return lambda: asyncio.gather(*(wire.ask(request) for wire in wires))


@contextmanager
def _served(state: str, policy: str) -> Iterator[dict[str, int]]:
    """The port of one server, and of an nginx before one, two and four of them."""
    with tempfile.TemporaryDirectory(prefix="headgate-replicas-") as name, ExitStack() as stack:
        folder = Path(name)
        (folder / "policy.toml").write_text(policy)
        servers = [free_port() for _ in range(max(_MANY))]
        words = ("benchmarks.books:library", "--state", state, "--policy", str(folder / "policy.toml"))
        for port in servers:
            stack.enter_context(running(headgate("serve", *words, "--http", f"127.0.0.1:{port}")))
            wait_for(port)
        proxies = {many: free_port() for many in _MANY}
        for many, port in proxies.items():
            stack.enter_context(_proxied(folder / str(many), port, servers[:many]))
        yield {"direct": servers[0], **{str(many): port for many, port in proxies.items()}}


@contextmanager
def _proxied(folder: Path, port: int, servers: Sequence[int]) -> Iterator[None]:
    """The file that the documentation shows, with other ports, before fewer servers."""
    folder.mkdir()
    given = {"8700": port, **{f"870{number}": server for number, server in enumerate(servers, 1)}}
    lines = [line for line in _SHOWN.read_text().splitlines() if not _names_others(line, given)]
    shown = re.sub(r"\b870[0-4]\b", lambda found: str(given.get(found[0], found[0])), "\n".join(lines))
    (folder / "shown.conf").write_text(shown)
    (folder / "nginx.conf").write_text(_AROUND.format(folder=folder))
    command = [_nginx() or "", "-p", str(folder), "-e", str(folder / "error.log"), "-c", str(folder / "nginx.conf")]
    with subprocess.Popen(command) as process:
        try:
            wait_for(port)
            yield
        finally:
            process.terminate()
            process.wait(20)


def _names_others(line: str, given: Mapping[str, int]) -> bool:
    """Whether a line names a server that is not there, in the group of all servers."""
    named = re.match(r" +server 127\.0\.0\.1:(\d+)", line)
    return named is not None and named[1] not in given
