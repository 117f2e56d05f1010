"""Workers in a hurry: what counts as a long silence otherwise is a second here, and nothing else differs.

``python -m tests.executions_processes.hurried STATE`` is one, and a test may be another one.
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import orjson

from headgate.engine.pipeline import Engine
from headgate.executions.host import Pace
from headgate.executions.service import Executions
from headgate.executions.worker import QueueWorker
from headgate.server.settings import Settings
from headgate.server.signals import wait_for_signal
from tests.executions_processes.workshop import workshop
from tests.server.processes import PATIENCE

__all__ = ["HURRIED", "call", "ended", "hurried", "reached", "started", "working"]

HURRIED = "tests.executions_processes.hurried"
_PACE = Pace(busy=0.1, idle=0.2, beat=0.2, lost=1.0)
_AT_ONCE = 10


@asynccontextmanager
async def hurried(state: str, *, takes_jobs: bool, pace: Pace = _PACE) -> AsyncIterator[Engine]:
    """An engine of the workshop on a shared state, which may also take work from the queue."""
    settings = Settings.of(state=state)
    store = settings.store()
    executions = Executions(workshop.name, store, takes_jobs=takes_jobs, pace=pace)
    engine = settings.engine(workshop, store, executions)
    await executions.open()
    try:
        yield engine
    finally:
        await executions.close()
        await store.close()


async def call(engine: Engine, operation: str, **params: object) -> Any:
    """What an operation answers."""
    envelope = orjson.loads((await engine.call({"operation": operation, "params": params})).text)
    assert envelope["success"], envelope
    return envelope["data"]


async def started(engine: Engine, operation: str, gate: str) -> str:
    """The id of an execution that waits for a gate."""
    return str((await call(engine, operation, gate=gate))["execution_id"])


async def ended(engine: Engine, execution_id: str) -> Any:
    """The state of an execution that has ended."""
    state = await call(engine, "get_execution", execution_id=execution_id, wait_seconds=60)
    assert state["status"] in ("completed", "failed", "cancelled"), state
    return state


async def reached(engine: Engine, execution_id: str, state: str) -> None:
    """Wait for a state of an execution."""
    async with asyncio.timeout(PATIENCE):
        while True:
            if (await call(engine, "get_execution", execution_id=execution_id)).get("state") == state:
                return
            await asyncio.sleep(0.02)


@asynccontextmanager
async def working(state: str, engine: Engine) -> AsyncIterator[None]:
    """Have this process take work from the queue too."""
    is_over = asyncio.Event()

    async def until() -> None:
        await is_over.wait()

    task = asyncio.create_task(_work(state, engine, until))
    try:
        yield
    finally:
        is_over.set()
        await task


async def _work(state: str, engine: Engine, until: Callable[[], Awaitable[None]]) -> None:
    """Take work from the queue until something is over."""
    assert engine.executions
    await QueueWorker(engine.executions, state, _AT_ONCE).run(until, 0.0)


async def _main(state: str) -> None:
    async with hurried(state, takes_jobs=True) as engine:
        await _work(state, engine, wait_for_signal)


if __name__ == "__main__":
    asyncio.run(_main(sys.argv[1]))
