"""A server with 1,000 executions that report progress: does it still answer an unrelated read as quickly?"""

import asyncio
import tempfile
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

from benchmarks.aims import Aim
from benchmarks.processes import free_port, headgate, running, wait_for
from benchmarks.tables import Cell, Table
from benchmarks.timing import Ratio, Timing, repeated
from benchmarks.wires import Wire, answer_of, modern_call

__all__ = ["crowd"]

_MANY: Final = 1000
_MOST_TIMES: Final = 2.0
_BLOCKS: Final = 20
_CONNECTIONS: Final = 10
_SETTLING_SECONDS: Final = 1.0
_PATIENCE_SECONDS: Final = 60.0

_IDLE: Final = "nothing else to do"
_ONCE: Final = "each reports once a second"
_OFTEN: Final = "each reports ten times a second"
_AFTER: Final = "all of them cancelled"


async def crowd(seconds: float) -> tuple[Table, list[Aim]]:
    """The table of reads, and whether a crowd leaves room for them."""
    rows: list[tuple[Cell, ...]] = []
    aims = []
    with tempfile.TemporaryDirectory(prefix="headgate-crowd-") as folder:
        for name, state in (("memory", "memory:"), ("SQLite", str(Path(folder) / "state.db"))):
            timings = await _measured(state, seconds)
            idle = [timings[_IDLE].median, timings[_AFTER].median]
            for what, timing in timings.items():
                ratio = None if what == _IDLE else _ratio(timing, idle)
                rows.append((f"{name}: {what}", timing.median, timing.p95, max(timing.samples) * 1e6, ratio))
            title = f"a read beside {_MANY:,} executions, {name}: median / idle"
            aims.append(Aim(title, _ratio(timings[_ONCE], idle), _MOST_TIMES))
    columns = ("", "median", "p95", "longest", "/ idle")
    return Table(f"Executions: a read over HTTP beside {_MANY:,} of them (µs)", columns, tuple(rows)), aims


def _ratio(timing: Timing, idle: Sequence[float]) -> Ratio:
    """To the idle server as it was before and as it was after: where those differ, the spread tells it."""
    blocks = Timing(timing.samples, max(1, len(timing.samples) // _BLOCKS)).rounds
    return Ratio.of(block * 1e6 / still for block in blocks for still in idle)


async def _measured(state: str, seconds: float) -> dict[str, Timing]:
    async with _server(state) as server:
        timings = {_IDLE: await server.reads(seconds)}
        started = await server.start(_MANY)
        for what, pace in ((_ONCE, 1.0), (_OFTEN, 0.1)):
            await server.call("execute", "set_pace", seconds=pace)
            await server.check(started)
            timings[what] = await server.reads(seconds)
        await server.check(started)
        await server.cancel(started)
        timings[_AFTER] = await server.reads(seconds)
    return timings


class _Server:
    """A server that is asked over several connections."""

    def __init__(self, port: int) -> None:
        self._wires = [Wire(port) for _ in range(_CONNECTIONS)]

    async def call(self, family: str, operation: str, *, over: int = 0, **params: object) -> Any:
        """What an operation gives."""
        request = modern_call(f"mcp_aql_{family}", {"operation": operation, "params": params})
        answer = answer_of(await self._wires[over].ask(request))
        if not answer["success"]:
            raise RuntimeError(f"{operation} is answered with {answer}")
        return answer["data"]

    async def reads(self, seconds: float) -> Timing:
        """Reads one after the other, for so many seconds, once what was before has settled."""
        request = modern_call("mcp_aql_read", {"operation": "get_errand", "params": {"number": 7}})
        await asyncio.sleep(_SETTLING_SECONDS)
        return await repeated(lambda: self._wires[0].ask(request), seconds)

    async def start(self, count: int) -> list[str]:
        """Start so many executions that report until they are cancelled."""
        found = await self._each(range(count), lambda over, _: self.call("execute", "execute_watch", over=over))
        return [one["execution_id"] for one in found]

    async def cancel(self, started: Sequence[str]) -> None:
        """End them, and wait until they have."""
        await self._each(
            started, lambda over, one: self.call("execute", "cancel_execution", over=over, execution_id=one)
        )
        until = time.monotonic() + _PATIENCE_SECONDS
        while await self._by_status() != {"cancelled": len(started)}:
            if time.monotonic() > until:
                raise RuntimeError(f"after they were cancelled, executions are {await self._by_status()}")
            await asyncio.sleep(0.1)

    async def check(self, started: Sequence[str]) -> None:
        """Make sure that all of them are running, and that one in ten of them is soon further than it is now."""
        some = started[::10]
        before = await self._reached(some)
        until = time.monotonic() + _PATIENCE_SECONDS
        while any(now <= before[one] for one, now in (await self._reached(some)).items()):
            if time.monotonic() > until:
                raise RuntimeError("executions do not report")
        if (statuses := await self._by_status()) != {"running": len(started)}:
            raise RuntimeError(f"executions are {statuses}")

    async def _reached(self, some: Sequence[str]) -> dict[str, float]:
        found = await self._each(
            some, lambda over, one: self.call("read", "get_execution", over=over, execution_id=one)
        )
        return {one["execution_id"]: one["progress"]["current"] for one in found}

    async def _by_status(self) -> Mapping[str, int]:
        asked = {"by_status": {"group_by": "status", "count": True}}
        counts: Mapping[str, int] = (await self.call("read", "list_executions", aggregate=asked))["aggregations"][
            "by_status"
        ]
        return counts

    async def _each(self, items: Sequence[Any], ask: Any) -> list[Any]:
        """What is answered about each, over all connections at once."""
        waiting = iter(items)

        async def over(number: int) -> list[Any]:
            return [await ask(number, item) for item in waiting]

        found = await asyncio.gather(*(over(number) for number in range(_CONNECTIONS)))
        return [one for some in found for one in some]

    def close(self) -> None:
        """Leave it."""
        for wire in self._wires:
            wire.close()


@asynccontextmanager
async def _server(state: str) -> AsyncIterator[_Server]:
    port = free_port()
    with running(headgate("serve", "benchmarks.errands:errands", "--http", f"127.0.0.1:{port}", "--state", state)):
        wait_for(port)
        server = _Server(port)
        try:
            yield server
        finally:
            server.close()
