"""The same call through MCP: in process, over stdio and over HTTP, in both eras, to every contender in turn."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import AsyncExitStack, ExitStack, contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final, TypeAlias

from mcp import Client, StdioServerParameters

from benchmarks import servers
from benchmarks.aims import Aim
from benchmarks.books import ANSWER, ARGUMENTS, REQUEST, library
from benchmarks.processes import ROOT, free_port, running, wait_for
from benchmarks.tables import Cell, Table
from benchmarks.timing import AsyncCall, Timing, take_turns
from headgate import mcp_server

__all__ = ["BARE", "FASTMCP", "HEADGATE", "OWN_CLIENT", "Measured", "through_mcp"]

Measured: TypeAlias = Mapping[str, Mapping[str, Timing]]
"""By wire and era, then by contender."""

HEADGATE: Final = "headgate"
BARE: Final = "bare SDK"
TUNED: Final = "tuned SDK"
FASTMCP: Final = "FastMCP"
OWN_CLIENT: Final = "FastMCP by its client"

_HAS_FASTMCP: Final = find_spec("fastmcp") is not None
_MODES: Final = {"modern": "auto", "legacy": "legacy"}


@dataclass(frozen=True, slots=True)
class _Contender:
    """One server: its name in the table and for ``benchmarks.servers``, and what to call."""

    name: str
    server: str
    tool: str
    arguments: Mapping[str, object]

    @property
    def command(self) -> list[str]:
        """What starts it on stdio; with a port added, on HTTP."""
        return [sys.executable, "-m", "benchmarks.servers", self.server]


_MOST_TO_BARE: Final = 1.08
_MOST_TO_FASTMCP: Final = 0.40

_CONTENDERS: Final = (
    _Contender(HEADGATE, "headgate", "mcp_aql_read", REQUEST),
    _Contender(BARE, "bare", "get_book", ARGUMENTS),
    _Contender(TUNED, "tuned", "get_book", ARGUMENTS),
    *([_Contender(FASTMCP, "fastmcp", "get_book", ARGUMENTS)] if _HAS_FASTMCP else []),
)


async def through_mcp(rounds: int) -> tuple[Table, list[Aim]]:
    """The table of round trips, and how far the aims are met."""
    measured: dict[str, Mapping[str, Timing]] = {}
    for era in _MODES:
        measured[f"in process, {era}"] = await _in_process(era, 2 * rounds)
    for era in _MODES:
        measured[f"stdio, {era}"] = await _over_stdio(era, rounds)
    with _listening() as urls:
        for era in _MODES:
            measured[f"HTTP, {era}"] = await _over_http(era, urls, rounds)
    return _table(measured), list(_aims(measured))


async def _in_process(era: str, rounds: int) -> Mapping[str, Timing]:
    targets = {HEADGATE: mcp_server(library), BARE: servers.bare(), TUNED: servers.tuned()}
    async with AsyncExitStack() as stack:
        own: dict[str, AsyncCall] = {}
        if _HAS_FASTMCP:
            server = servers.fastmcp()
            targets[FASTMCP] = server._mcp_server  # noqa: SLF001  (else the SDK's client cannot call it in process)
            client = await stack.enter_async_context(import_module("fastmcp").Client(server, mode=_MODES[era]))
            own[OWN_CLIENT] = lambda: client.call_tool("get_book", ARGUMENTS)
        return await _race(await _connect(stack, era, targets) | own, rounds, 20)


async def _over_stdio(era: str, rounds: int) -> Mapping[str, Timing]:
    targets = {
        each.name: StdioServerParameters(command=each.command[0], args=each.command[1:], cwd=ROOT)
        for each in _CONTENDERS
    }
    async with AsyncExitStack() as stack:
        return await _race(await _connect(stack, era, targets), rounds, 10)


async def _over_http(era: str, urls: Mapping[str, str], rounds: int) -> Mapping[str, Timing]:
    async with AsyncExitStack() as stack:
        return await _race(await _connect(stack, era, urls), rounds, 10)


async def _connect(stack: AsyncExitStack, era: str, targets: Mapping[str, Any]) -> dict[str, AsyncCall]:
    """The call of each contender through the SDK's client, after one that proves that all give the same answer."""
    calls: dict[str, AsyncCall] = {}
    for each in _CONTENDERS:
        client = await stack.enter_async_context(Client(targets[each.name], mode=_MODES[era]))
        await client.list_tools()
        answer: Any = (await client.call_tool(each.tool, dict(each.arguments))).content[0]
        if answer.text != ANSWER:
            raise RuntimeError(f"{each.name} answers {answer.text}")
        calls[each.name] = _call(client, each)
    return calls


def _call(client: Client, contender: _Contender) -> AsyncCall:
    arguments = dict(contender.arguments)
    return lambda: client.call_tool(contender.tool, arguments)


async def _race(calls: Mapping[str, AsyncCall], rounds: int, each: int) -> Mapping[str, Timing]:
    await take_turns(calls, rounds=5, calls=each)
    return await take_turns(calls, rounds=rounds, calls=each)


@contextmanager
def _listening() -> Iterator[Mapping[str, str]]:
    """All contenders as processes that listen on this machine, and the address of each."""
    ports = {each.name: free_port() for each in _CONTENDERS}
    with ExitStack() as stack:
        for each in _CONTENDERS:
            stack.enter_context(running([*each.command, str(ports[each.name])]))
        for port in ports.values():
            wait_for(port)
        yield {name: f"http://127.0.0.1:{port}/mcp" for name, port in ports.items()}


def _aims(measured: Measured) -> Iterator[Aim]:
    for wire, timings in measured.items():
        yield Aim(f"{wire}: headgate / {BARE}", timings[HEADGATE].against(timings[BARE]), _MOST_TO_BARE)
        for name in (FASTMCP, OWN_CLIENT) if wire.startswith("in process") else ():
            if name in timings:
                yield Aim(f"{wire}: headgate / {name}", timings[HEADGATE].against(timings[name]), _MOST_TO_FASTMCP)


def _table(measured: Measured) -> Table:
    names = (BARE, TUNED, FASTMCP, OWN_CLIENT)
    rows: list[tuple[Cell, ...]] = []
    for wire, timings in measured.items():
        ours = timings[HEADGATE]
        ratios = (ours.against(timings[name]) if name in timings else None for name in names)
        rows.append((wire, ours.median, *ratios))
    columns = ("", f"{HEADGATE}, µs", *(f"/ {name}" for name in names))
    return Table("The round trip of a call", columns, tuple(rows))
