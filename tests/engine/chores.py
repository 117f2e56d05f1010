"""Long work for processes of its own: they load this module by its name, and tell in files what became of them."""

import asyncio
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Annotated

from headgate import Adapter, Background, Context, NotFound, Param, Unavailable

__all__ = ["PIN", "chores"]

chores = Adapter("chores")
PIN = "K3Y-hunter-2"

in_a_process = Background(process=True, cleanup=20)


@chores.execute(background=in_a_process)
def execute_sum(ctx: Context, numbers: list[int]) -> list[object]:
    """Add numbers up.

    Returns:
        The process, who asked, which attempt it is, and the sum.
    """
    print("what a function prints must not get into its answer")  # noqa: T201
    os.write(1, b"nor what it writes\n")
    for done, number in enumerate(numbers, 1):
        ctx.progress(done, len(numbers), f"added {number}")
    ctx.check_cancelled()
    ctx.warn("SUM_WARNING", "It was tiresome")
    return [os.getpid(), ctx.caller.subject, ctx.execution_id, ctx.attempt, sum(numbers)]


@chores.execute(background=in_a_process)
def execute_flood(size: int) -> str:
    """Give a text of any size, without a context."""
    return "x" * size


@chores.execute(background=Background(process=True, retries=1, backoff=0.01))
def execute_refusal(name: str) -> None:
    """Refuse."""
    raise NotFound("chore", name)


@chores.execute(background=in_a_process)
def execute_break(pin: Annotated[str, Param(sensitive=True)]) -> None:
    """Break, and tell more than one should."""
    raise RuntimeError(f"the pin was {pin}")


@chores.execute(background=Background(process=True, retries=1, backoff=0.01))
def execute_death(ctx: Context) -> int:
    """Die at the first attempt."""
    if ctx.attempt == 1:
        os._exit(7)
    return ctx.attempt


@chores.execute(background=Background(process=True, interrupted="resume"))
def execute_murder(ctx: Context) -> int:
    """Be killed at the first attempt, as by a system that runs out of memory."""
    if ctx.attempt == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return ctx.attempt


@chores.execute(background=in_a_process)
def execute_suicide() -> None:
    """Be killed where nothing may be done twice."""
    os.kill(os.getpid(), signal.SIGKILL)


@chores.execute(background=in_a_process)
def execute_exit() -> None:
    """Leave."""
    sys.exit(9)


@chores.execute(background=in_a_process)
def execute_silence(notes: str, how: str = "clean") -> str:
    """Sleep, and be woken: a wish to stop must interrupt the sleep itself."""
    where = Path(notes)
    try:
        where.write_text(str(os.getpid()))  # from now on somebody may want it to stop
        time.sleep(600)
    except asyncio.CancelledError:
        if how == "finish":
            return "all the same"
        if how == "break":
            raise Unavailable("the broom is broken") from None
        where.write_text("cleaned up")
        raise
    return "nobody came"


@chores.execute(background=Background(process=True, cleanup=0.05))
def execute_deaf(notes: str) -> None:
    """Sleep, and do not listen."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    Path(notes).write_text(str(os.getpid()))
    threading.Event().wait(600)
