"""A call through a proxy: what headgate and FastMCP add to the same call made directly, over the same transport.

headgate runs as ``headgate serve``. FastMCP runs as its documentation shows it, with ``create_proxy`` of a
configuration or an address, and once more in the way that is fastest for it: with a client that stays connected.
"""

import statistics
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack, contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any, Final

from mcp import Client, StdioServerParameters

from benchmarks.aims import Aim
from benchmarks.books import ANSWER, ARGUMENTS, REQUEST
from benchmarks.processes import ROOT, free_port, headgate, running, wait_for
from benchmarks.tables import Cell, Table
from benchmarks.timing import AsyncCall, Ratio, Timing, take_turns

__all__ = ["proxying"]

_DIRECT: Final = "direct"
_HEADGATE: Final = "headgate"
_FASTMCP: Final = "FastMCP"
_CONNECTED: Final = "FastMCP, connected"
_HAS_FASTMCP: Final = find_spec("fastmcp") is not None
_UPSTREAM: Final = (sys.executable, "-m", "benchmarks.servers", "bare")
_WARMING_ROUNDS: Final = 5
_CALLS: Final = 10


@dataclass(frozen=True, slots=True)
class _Contender:
    """One way to the tool."""

    name: str
    command: Sequence[str]
    tool: str = "get_book"
    arguments: Mapping[str, object] = field(default_factory=lambda: ARGUMENTS)


def _proxies(upstream: Sequence[str], ports: Sequence[int] = ()) -> list[_Contender]:
    """The proxies before one upstream: a command, or an address. With ``ports`` they listen, else they use stdio."""
    here = [str(port) for port in ports] or ["-"] * 3
    command = upstream if ports else ["--", *upstream]
    listening = ["--http", f"127.0.0.1:{here[0]}"] if ports else []
    serving = headgate("serve", "--state", "memory:", *listening)
    ours = _Contender(_HEADGATE, [*serving, *command], "mcp_aql_read", REQUEST)
    theirs = [
        _Contender(name, [sys.executable, "-m", "benchmarks.servers", server, port, *upstream])
        for name, server, port in (
            (_FASTMCP, "fastmcp-proxy", here[1]),
            (_CONNECTED, "fastmcp-connected", here[2]),
        )
    ]
    return [ours, *(theirs if _HAS_FASTMCP else [])]


async def proxying(rounds: int) -> tuple[Table, list[Aim]]:
    """The table of round trips, and how far the aim is met."""
    measured = {"stdio": await _over_stdio(rounds), "HTTP": await _over_http(rounds)}
    aims = [
        Aim(f"{wire}: added by headgate / by {name}", ratio, 0.50)
        for wire, times in measured.items()
        for name in (_FASTMCP, _CONNECTED)
        if (ratio := _beside(times, name)) is not None
    ]
    return _table(measured), aims


async def _over_stdio(rounds: int) -> Mapping[str, Timing]:
    ways = [_Contender(_DIRECT, _UPSTREAM), *_proxies(_UPSTREAM)]
    async with AsyncExitStack() as stack:
        calls = {}
        for way in ways:
            target = StdioServerParameters(command=way.command[0], args=list(way.command[1:]), cwd=ROOT)
            calls[way.name] = await _connected(stack, way, target)
        return await _race(calls, rounds)


async def _over_http(rounds: int) -> Mapping[str, Timing]:
    with _listening() as urls:
        async with AsyncExitStack() as stack:
            calls = {way.name: await _connected(stack, way, url) for way, url in urls}
            return await _race(calls, rounds)


@contextmanager
def _listening() -> Iterator[list[tuple[_Contender, str]]]:
    """The upstream and every proxy before it, as processes that listen on this machine, with their addresses."""
    ports = [free_port() for _ in range(4)]
    addresses = [f"http://127.0.0.1:{port}/mcp" for port in ports]
    direct = _Contender(_DIRECT, [*_UPSTREAM, str(ports[0])])
    ways = [direct, *_proxies([addresses[0]], ports[1:])]
    with ExitStack() as stack:
        for way, port in zip(ways, ports, strict=False):
            stack.enter_context(running(list(way.command)))
            wait_for(port)
        yield list(zip(ways, addresses, strict=False))


async def _connected(stack: AsyncExitStack, way: _Contender, target: Any) -> AsyncCall:
    """The call, after one that proves that every way gives the same answer."""
    client = await stack.enter_async_context(Client(target, mode="legacy"))
    arguments = dict(way.arguments)
    answer: Any = (await client.call_tool(way.tool, arguments)).content[0]
    if ANSWER not in answer.text:  # which is the whole of it, or the data in headgate's envelope
        raise RuntimeError(f"{way.name} answers {answer.text}")
    return lambda: client.call_tool(way.tool, arguments)


async def _race(calls: Mapping[str, AsyncCall], rounds: int) -> Mapping[str, Timing]:
    await take_turns(calls, rounds=_WARMING_ROUNDS, calls=_CALLS)
    return await take_turns(calls, rounds=rounds, calls=_CALLS)


def _added(times: Mapping[str, Timing], name: str) -> list[float]:
    """What a proxy adds to the direct call, in microseconds, round by round."""
    return [(proxied - direct) * 1e6 for proxied, direct in zip(times[name].rounds, times[_DIRECT].rounds, strict=True)]


def _beside(times: Mapping[str, Timing], name: str) -> Ratio | None:
    """How many times as much headgate adds as another one; nothing where that one is not there."""
    if name not in times:
        return None
    return Ratio.of(ours / theirs for ours, theirs in zip(_added(times, _HEADGATE), _added(times, name), strict=True))


def _table(measured: Mapping[str, Mapping[str, Timing]]) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (
            wire,
            times[_DIRECT].median,
            statistics.median(_added(times, _HEADGATE)),
            _beside(times, _FASTMCP),
            _beside(times, _CONNECTED),
        )
        for wire, times in measured.items()
    ]
    columns = ("", "a direct call", "headgate adds", f"/ {_FASTMCP}", f"/ {_CONNECTED}")
    return Table("Through a proxy: what is added to a direct call (µs)", columns, tuple(rows))
