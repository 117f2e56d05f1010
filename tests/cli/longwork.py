"""Long work for tests of commands: executions as servers leave them in a store, and an adapter that has some to do."""

import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from headgate.adapter.background import Background
from headgate.adapter.context import Caller
from headgate.executions.ledger import Ledger
from headgate.executions.queueing import prepare_queue, queue_of
from headgate.executions.service import Executions
from headgate.executions.values import About
from headgate.protocol.lifecycle import State
from headgate.store.executions import Execution, Progress
from headgate.store.opening import open_store
from headgate.store.workers import Worker
from tests.cli.states import in_store
from tests.executions.books import brought, found, result

__all__ = ["ERRANDS", "WORKER", "at_work", "completed", "execution_in", "left", "noted", "process"]

T = TypeVar("T")

WORKER = "work_here"

ERRANDS = '''
import asyncio
from typing import Annotated, Any
from pathlib import Path
from headgate import Adapter, Background, Context, Invalid, Param

errands = Adapter("errands", "Long work, and some that is short")

@errands.execute(background=True)
async def execute_count(ctx: Context, numbers: int = 3) -> list[int]:
    """Count."""
    if numbers > 1000:
        ctx.warn("MANY", "These are many")
    return list(range(numbers))

@errands.execute(background=True)
async def execute_tell(letters: int) -> dict[str, str]:
    """Tell something long that is no list."""
    return {"told": "x" * letters}

@errands.execute(background=Background(retries=1, backoff=0.01))
async def execute_fail(ctx: Context, once: bool = False) -> int:
    """Fail, at least once."""
    if once and ctx.attempt > 1:
        return ctx.attempt
    raise RuntimeError("it broke")

@errands.execute(background=True)
async def execute_refuse() -> None:
    """Refuse."""
    raise Invalid("page", "there is none")

@errands.execute(background=Background(timeout=0.05))
async def execute_dawdle() -> None:
    """Take too long."""
    await asyncio.sleep(60)

@errands.execute(background=Background(interrupted="resume"))
async def execute_patrol(ctx: Context, done: float = 1, total: float | None = 4, until: str = "") -> str:
    """Go round, until a file is there."""
    await ctx.progress(done, total, "at the [bold]gate[/]")
    while not until or not Path(until).exists():
        await asyncio.sleep(0.01)
    return "all is well"

@errands.execute(background=True)
async def execute_wait(ctx: Context, until: str = "") -> str:
    """Wait for a file; once it has begun, nobody else may begin it."""
    await ctx.progress(1, 2)
    while not until or not Path(until).exists():
        await asyncio.sleep(0.01)
    return "there it is"

@errands.execute(background=Background(retry=False))
async def execute_once() -> None:
    """Fail, and that is that."""
    raise RuntimeError("it broke")

@errands.execute(background=True)
async def execute_secretly(pin: Annotated[str, Param(sensitive=True)]) -> None:
    """Fail with a secret."""
    raise RuntimeError("it broke")

@errands.read
async def get_anything(answer: Any = None) -> Any:
    """Whatever was sent."""
    return answer
'''


def process(**about: Any) -> Worker:
    """This very process, as one that works on executions."""
    here = Executions("library", open_store("memory:")).host.worker
    return here._replace(**{"id": WORKER, "started_at": time.time(), **about})


def at_work(url: str, work: Callable[[Ledger], Awaitable[T]], *workers: Worker) -> T:
    """What becomes of some work on executions, which processes that live are known to do."""

    async def do(store: Any) -> T:
        await prepare_queue(store)
        ledger = Ledger(store, queue_of(store), time.time)
        for worker in workers:
            await ledger.beat(worker)
        return await work(ledger)

    return in_store(url, do)


def left(
    url: str, state: State, background: Background | None = None, *, progress: Progress | None = None, **about: Any
) -> Execution:
    """An execution in a state; one that runs is as far as is said."""
    params = about.pop("shown", {})
    owner = about.pop("owner", '["ann",null]')
    told = About(
        caller=Caller("ann"),
        request_id="req_1",
        background=background or Background(),
        session_id="sess_1",
        hides=about.pop("hides", False),
        shown=params,
    )
    columns = {"owner": owner, "worker": WORKER, "created_at": time.time(), "about": told.text(), **about}

    async def lead(ledger: Ledger) -> Execution:
        execution = await brought(ledger, state, background, **columns)
        if progress is not None:
            await ledger.note([(execution.run, progress)])
        return await found(ledger, execution)

    return at_work(url, lead, process())


def completed(url: str, data: object, **about: Any) -> Execution:
    """An execution that has given a result."""
    execution = left(url, State.RUNNING, **about)
    at_work(url, lambda ledger: ledger.complete(execution, result(data)))
    return execution_in(url, execution.id)


def noted(url: str, execution: Execution, *progress: Any) -> None:
    """Have an execution get on."""
    at_work(url, lambda ledger: ledger.note([(execution.run, Progress(*progress))]))


def execution_in(url: str, execution_id: str) -> Execution:
    return at_work(url, lambda ledger: found(ledger, execution_id))
