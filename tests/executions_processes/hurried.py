"""A worker in a hurry: ``python -m tests.executions_processes.hurried STATE`` soon takes those who are silent for gone.

Times that are minutes in earnest are seconds here, and nothing else differs from ``headgate worker``.
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from headgate.engine.pipeline import Engine
from headgate.executions.host import Pace
from headgate.executions.service import Executions
from headgate.executions.worker import QueueWorker
from headgate.server.settings import Settings
from headgate.server.signals import wait_for_signal
from tests.executions_processes.workshop import workshop

__all__ = ["HURRIED", "hurried", "work"]

HURRIED = "tests.executions_processes.hurried"
_PACE = Pace(busy=0.1, idle=0.2, beat=0.2, lost=1.0)
_AT_ONCE = 10


@asynccontextmanager
async def hurried(state: str, *, takes_jobs: bool) -> AsyncIterator[Engine]:
    """An engine of the workshop on a shared state; whether it also takes work from the queue."""
    settings = Settings.of(state=state)
    store = settings.store()
    executions = Executions(workshop.name, store, takes_jobs=takes_jobs, pace=_PACE)
    engine = settings.engine(workshop, store, executions)
    await executions.open()
    try:
        yield engine
    finally:
        await executions.close()
        await store.close()


async def work(state: str, engine: Engine, until: Callable[[], Awaitable[None]]) -> None:
    """Take work from the queue until something is over."""
    assert engine.executions
    await QueueWorker(engine.executions, state, _AT_ONCE).run(until, 0.0)


async def _main(state: str) -> None:
    async with hurried(state, takes_jobs=True) as engine:
        await work(state, engine, wait_for_signal)


if __name__ == "__main__":
    asyncio.run(_main(sys.argv[1]))
