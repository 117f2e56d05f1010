"""An adapter whose long work leaves traces of its own: what really ran can be compared with what the store says of it.

Each attempt writes a line when it begins and one when it ends, into the file of the life of its program. A program that
is killed loses nothing that it has given to the system, so no more is needed for a trace to be sure.
"""

import asyncio
import hashlib
import json
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from headgate import Adapter, Background, Context

__all__ = [
    "AT_ONCE_NARROW",
    "AT_ONCE_ORDERED",
    "DECLARED_RETRIES",
    "LIFE",
    "ONLY_ONCE",
    "TRACES",
    "WORKSHOP",
    "Trace",
    "result_of",
    "traces_in",
    "workshop",
]

WORKSHOP = "tests.executions_processes.workshop:workshop"
TRACES = "WORKSHOP_TRACES"
"""The variable that names the folder of traces."""
LIFE = "WORKSHOP_LIFE"
"""The variable that names the life of a program, from its start to its end; the processes that it starts inherit it."""

AT_ONCE_ORDERED = 3
AT_ONCE_NARROW = 2
DECLARED_RETRIES = 2
ONLY_ONCE = frozenset({"execute_once", "execute_narrow", "execute_in_thread", "execute_until"})
"""Operations that declare neither retries nor that they resume."""

Form = Literal["list", "text"]

workshop = Adapter("workshop", "Long work of every kind")


@dataclass(frozen=True, kw_only=True)
class Trace:
    """What an attempt has written of itself."""

    word: Literal["began", "done", "cancelled", "raised"]
    execution_id: str
    attempt: int
    operation: str
    key: str
    life: str
    at: float
    """By a clock that all processes of the machine share."""


def traces_in(folder: Path) -> list[Trace]:
    """All traces so far, in the order of their time; a line that was cut off is an error."""
    found = []
    for path in folder.iterdir():
        text = path.read_text()
        assert text.endswith("\n"), path
        found += [Trace(**json.loads(line)) for line in text.splitlines()]
    return sorted(found, key=lambda trace: trace.at)


@contextmanager
def _traced(ctx: Context, key: str = "") -> Iterator[None]:
    """Write down that an attempt begins, and how it ends."""
    _leave("began", ctx, key)
    try:
        yield
    except asyncio.CancelledError:
        _leave("cancelled", ctx, key)
        raise
    except Exception:
        _leave("raised", ctx, key)
        raise
    _leave("done", ctx, key)


def _leave(word: Any, ctx: Context, key: str) -> None:
    life = os.environ[LIFE]
    trace = Trace(
        word=word,
        execution_id=ctx.execution_id or "",
        attempt=ctx.attempt,
        operation=ctx.operation,
        key=key,
        life=life,
        at=time.monotonic(),
    )
    path = Path(os.environ[TRACES]) / life
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(file, json.dumps(asdict(trace)).encode() + b"\n")
    finally:
        os.close(file)


def result_of(number: int, size: int, form: Form = "list") -> Sequence[dict[str, Any]] | str:
    """What the work of a number gives: as many parts as its size says, each of which can be checked."""
    digests = (hashlib.sha256(f"{number} {index}".encode()).hexdigest() for index in range(size))
    if form == "text":
        return "".join(digests)
    return [{"number": number, "index": index, "digest": digest} for index, digest in enumerate(digests)]


async def _work(ctx: Context, milliseconds: int) -> None:
    steps = max(1, milliseconds // 20)
    for step in range(steps):
        await ctx.progress(step, steps, f"step {step} of {steps}")
        await asyncio.sleep(milliseconds / 1000 / steps)


@workshop.execute(background=True)
async def execute_once(ctx: Context, number: int, milliseconds: int, size: int = 1, form: Form = "list") -> Any:
    """Do work that must never be done twice."""
    with _traced(ctx):
        await _work(ctx, milliseconds)
        return result_of(number, size, form)


@workshop.execute(background=Background(interrupted="resume"))
async def execute_again(ctx: Context, number: int, milliseconds: int, size: int = 1, form: Form = "list") -> Any:
    """Do work that may begin anew when it was interrupted."""
    with _traced(ctx):
        await _work(ctx, milliseconds)
        return result_of(number, size, form)


@workshop.execute(background=Background(retries=DECLARED_RETRIES, backoff=0.1))
async def execute_flaky(ctx: Context, number: int, milliseconds: int, failures: int) -> Any:
    """Do work that fails a few times before it succeeds."""
    with _traced(ctx):
        await _work(ctx, milliseconds)
        if ctx.attempt <= failures:
            raise RuntimeError("not this time")
        return result_of(number, 1)


@workshop.execute(background=Background(key="customer", concurrency=AT_ONCE_ORDERED, interrupted="resume"))
async def execute_ordered(ctx: Context, number: int, milliseconds: int, customer: str) -> Any:
    """Do work of which each customer has one at a time, and few run at once."""
    with _traced(ctx, customer):
        await _work(ctx, milliseconds)
        return result_of(number, 1)


@workshop.execute(background=Background(concurrency=AT_ONCE_NARROW))
async def execute_narrow(ctx: Context, number: int, milliseconds: int) -> Any:
    """Do work of which few run at once, and which must never be done twice."""
    with _traced(ctx):
        await _work(ctx, milliseconds)
        return result_of(number, 1)


@workshop.execute(background=True)
def execute_in_thread(ctx: Context, number: int, milliseconds: int) -> Any:
    """Do work that waits in a thread."""
    with _traced(ctx):
        for step in range(4):
            ctx.progress(step, 4)
            time.sleep(milliseconds / 4000)
        return result_of(number, 1)


@workshop.execute(background=Background(process=True, interrupted="resume"))
def execute_in_process(ctx: Context, number: int, milliseconds: int) -> Any:
    """Do work that has a process of its own."""
    with _traced(ctx):
        for step in range(4):
            ctx.progress(step, 4)
            time.sleep(milliseconds / 4000)
        return result_of(number, 1)


# work that goes on until somebody ends it


def _is_open(gate: str) -> bool:
    return (Path(os.environ[TRACES]).parent / gate).exists()


async def _until_open(gate: str) -> None:
    while True:
        if _is_open(gate):
            return
        await asyncio.sleep(0.01)


@workshop.execute(background=True)
async def execute_until(ctx: Context, gate: str, fails: bool = False) -> int:
    """Wait until a gate is open, and tell which attempt has seen it, or fail then."""
    with _traced(ctx):
        await _until_open(gate)
        if fails:
            raise RuntimeError("nothing behind the gate")
        return ctx.attempt


@workshop.execute(background=Background(interrupted="resume"))
async def execute_until_again(ctx: Context, gate: str) -> int:
    """Wait until a gate is open that each attempt has for itself, and tell which attempt this is."""
    with _traced(ctx):
        await _until_open(f"{gate} {ctx.attempt}")
        return ctx.attempt


@workshop.execute(background=Background(concurrency=1))
async def execute_in_turn(ctx: Context, gate: str) -> int:
    """Wait until a gate is open, one at a time."""
    with _traced(ctx):
        await _until_open(gate)
        return ctx.attempt


@workshop.execute(background=True)
def execute_thread_until(ctx: Context, gate: str) -> int:
    """Wait in a thread until a gate is open."""
    with _traced(ctx):
        while not _is_open(gate):
            ctx.check_cancelled()
            time.sleep(0.01)
        return ctx.attempt


@workshop.execute(background=Background(process=True))
def execute_process_until(ctx: Context, gate: str) -> int:
    """Wait in a process of its own until a gate is open."""
    with _traced(ctx):
        while not _is_open(gate):
            time.sleep(0.01)
        return ctx.attempt


@workshop.execute(background=Background(cleanup=0.2))
async def execute_stubbornly(ctx: Context, gate: str) -> int:
    """Wait until a gate is open, whatever somebody says."""
    with _traced(ctx):
        await _until_open_at_any_cost(gate)
        return ctx.attempt


@workshop.execute(background=Background(interrupted="resume"))
async def execute_stubbornly_at_first(ctx: Context, gate: str) -> int:
    """Wait until a gate is open, the first time whatever somebody says; each later time, wait to be cancelled."""
    with _traced(ctx):
        if ctx.attempt == 1:
            await _until_open_at_any_cost(gate)
        else:
            await asyncio.Event().wait()
        return ctx.attempt


async def _until_open_at_any_cost(gate: str) -> None:
    """Hear of a cancellation only when the gate is open."""
    told = None
    while not _is_open(gate):
        try:
            await asyncio.sleep(0.01)
        except asyncio.CancelledError as error:
            told = error
    if told:
        raise told


@workshop.read
async def get_number(number: int) -> int:
    """Get a number back."""
    return number
