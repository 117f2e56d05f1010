"""What a server weighs after very many requests.

Each contender is a process of its own and answers the same call over sixteen connections. How fast they do it says
nothing here: the servers are asked one after the other, and only their size is looked at.
"""

import asyncio
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import pairwise
from statistics import median
from typing import Final

import orjson
import psutil  # type: ignore[import-untyped]

from benchmarks.aims import Aim
from benchmarks.books import ANSWER, ARGUMENTS, REQUEST, library
from benchmarks.processes import free_port, running, said_elsewhere, wait_for
from benchmarks.tables import Cell, Table
from benchmarks.wires import Wire, answer_of, modern_call
from headgate import Engine, Session

__all__ = ["Requests", "endurance"]

_CONNECTIONS: Final = 16
_WARM: Final = 2_000
_STEPS: Final = 20
_MOST_GROWTH: Final = 0.5
"""Megabytes for each 100,000 requests."""


@dataclass(frozen=True, slots=True)
class Requests:
    """How many each of them is sent; in process, the engine is asked without any transport."""

    headgate: int
    peers: int
    in_process: int


@dataclass(frozen=True, slots=True)
class _Contender:
    """A server of ``benchmarks.servers``, and the call that it answers."""

    name: str
    server: str
    tool: str
    arguments: Mapping[str, object]


_HEADGATE: Final = _Contender("headgate", "headgate", "mcp_aql_read", REQUEST)
_PEERS: Final = (
    _Contender("bare SDK", "bare", "get_book", ARGUMENTS),
    *([_Contender("FastMCP", "fastmcp", "get_book", ARGUMENTS)] if find_spec("fastmcp") else []),
)


@dataclass(frozen=True, slots=True)
class _Weighed:
    """Megabytes of a process after it was warm, and after each of twenty equal parts of its requests."""

    requests: int
    samples: Sequence[float]

    @property
    def growth(self) -> float:
        """Megabytes for each 100,000 requests: of the second half, the median step, so that one jump is no trend."""
        steps = [late - early for early, late in pairwise(self.samples[len(self.samples) // 2 :])]
        return median(steps) * _STEPS / self.requests * 100_000

    @property
    def in_all(self) -> float:
        """The same from the first sample to the last, jumps and all."""
        return (self.samples[-1] - self.samples[0]) / self.requests * 100_000

    def row(self, name: str) -> tuple[Cell, ...]:
        """The row of the table."""
        half = self.samples[len(self.samples) // 2]
        return name, self.requests, self.samples[0], half, self.samples[-1], self.growth, self.in_all


async def endurance(requests: Requests) -> tuple[Table, list[Aim]]:
    """The table of megabytes, and that they do not grow."""
    rows = {"headgate over HTTP": await _served(_HEADGATE, requests.headgate)}
    for peer in _PEERS:
        rows[f"{peer.name} over HTTP"] = await _served(peer, requests.peers)
    rows["headgate, engine alone"] = await _alone(requests.in_process)
    columns = (
        "",
        "requests",
        f"after {_WARM:,}",
        "in the middle",
        "at the end",
        "MB for each 100,000",
        "jumps and all",
    )
    ours = {name: one for name, one in rows.items() if name.startswith("headgate")}
    return (
        Table("Memory over many requests (MB)", columns, tuple(one.row(name) for name, one in rows.items())),
        [Aim(f"{name}: MB for each 100,000 requests", one.growth, _MOST_GROWTH) for name, one in ours.items()],
    )


async def _served(contender: _Contender, requests: int) -> _Weighed:
    port = free_port()
    command = [sys.executable, "-m", "benchmarks.servers", contender.server, str(port)]
    with running(command) as pid:
        wait_for(port)
        request = modern_call(contender.tool, contender.arguments)
        await _check(port, request)
        await _ask(port, request, _WARM)
        samples = [_size(pid)]
        for _ in range(_STEPS):
            await _ask(port, request, requests // _STEPS)
            samples.append(_size(pid))
    return _Weighed(requests, samples)


async def _check(port: int, request: bytes) -> None:
    with closing(Wire(port)) as wire:
        if answer_of(await wire.ask(request)) != orjson.loads(ANSWER):
            raise RuntimeError("the answer is another one")


async def _ask(port: int, request: bytes, times: int) -> None:
    """So many requests, over connections that are made for them."""

    async def work() -> None:
        with closing(Wire(port)) as wire:
            for _ in range(times // _CONNECTIONS):
                await wire.ask(request)

    await asyncio.gather(*(work() for _ in range(_CONNECTIONS)))


async def _alone(requests: int) -> _Weighed:
    """In a process that does nothing else."""
    return _Weighed(requests, await said_elsewhere("benchmarks.endurance", str(requests)))


async def _dispatch(requests: int) -> list[float]:
    engine, session = Engine(library), Session()

    async def call(times: int) -> float:
        for _ in range(times):
            await engine.call(REQUEST, endpoint="read", session=session)
        return _size(None)

    return [await call(_WARM), *[await call(requests // _STEPS) for _ in range(_STEPS)]]


def _size(pid: int | None) -> float:
    return float(psutil.Process(pid).memory_info().rss / 1e6)


if __name__ == "__main__":  # the process of the engine alone: its samples as JSON
    print(orjson.dumps(asyncio.run(_dispatch(int(sys.argv[1])))).decode())
