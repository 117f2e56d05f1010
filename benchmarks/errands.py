"""Small work, alike as operations of headgate and as a task of procrastinate.

``headgate worker benchmarks.errands:errands`` works on the one, ``work`` on the other. In both, the work writes down
when it has begun: into the pipe that HEADGATE_BENCH_PIPE names, if there is one.
"""

import asyncio
import os
import struct
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from procrastinate import App, PsycopgConnector

from headgate import Adapter, Context

__all__ = ["PIPE", "TASK", "Begun", "Pipe", "errands", "here", "peer", "work"]

PIPE: Final = "HEADGATE_BENCH_PIPE"
TASK: Final = "errand"
_NOTE: Final = struct.Struct("<qd")


class Begun(NamedTuple):
    """Which work has begun, and when by the clock that all processes of a machine share."""

    number: int
    at: float


class Pipe:
    """A named pipe, in which workers tell what they have begun."""

    def __init__(self, path: Path) -> None:
        os.mkfifo(path)
        self._end = os.open(path, os.O_RDWR | os.O_NONBLOCK)  # open for writing too, so that it never ends

    def news(self) -> Iterator[Begun]:
        """What has begun since the last time."""
        with suppress(BlockingIOError):
            while told := os.read(self._end, 4096 * _NOTE.size):
                yield from (Begun(*note) for note in _NOTE.iter_unpack(told))

    async def wait(self) -> None:
        """Until there is some."""
        loop, there = asyncio.get_running_loop(), asyncio.Event()
        loop.add_reader(self._end, there.set)
        try:
            await there.wait()
        finally:
            loop.remove_reader(self._end)

    def close(self) -> None:
        """Nobody reads any more."""
        os.close(self._end)


_pipe: Final = os.open(os.environ[PIPE], os.O_WRONLY) if PIPE in os.environ else None
here: Final[asyncio.Queue[Begun]] = asyncio.Queue()
"""What has begun in this process, where there is no pipe."""


async def _errand(number: int) -> None:
    at = time.monotonic()
    if _pipe is None:
        here.put_nowait(Begun(number, at))
    else:
        os.write(_pipe, _NOTE.pack(number, at))


errands: Final = Adapter("errands", "Work that takes no time, and work that never ends")
_pace: Final = {"seconds": 1.0}


@errands.execute(background=True)
async def execute_errand(number: int) -> None:
    """Do next to nothing."""
    await _errand(number)


@errands.execute(background=True)
async def execute_watch(ctx: Context) -> None:
    """Report progress until it is cancelled."""
    step = 0
    while True:
        step += 1
        await ctx.progress(step, message=f"step {step}")
        await asyncio.sleep(_pace["seconds"])


@errands.read
async def get_errand(number: int) -> dict[str, object]:
    """Read something that has nothing to do with any execution."""
    return {"number": number, "what": "return the books", "where": "the library on the square"}


@errands.execute
async def set_pace(seconds: float) -> float:
    """Say how often those that watch report."""
    _pace["seconds"] = seconds
    return seconds


def peer(url: str) -> App:
    """Procrastinate as its documentation shows it, with the same work."""
    app = App(connector=PsycopgConnector(conninfo=url))
    app.task(name=TASK)(_errand)
    return app


def work(url: str, concurrency: str) -> None:
    """Its worker, as a process of its own."""
    asyncio.run(_work(url, int(concurrency)))


async def _work(url: str, concurrency: int) -> None:
    app = peer(url)
    async with app.open_async():
        await app.run_worker_async(concurrency=concurrency)
