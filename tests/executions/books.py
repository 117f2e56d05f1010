"""Executions for tests: made, brought into a state by the ledger's own functions, and watched."""

import itertools
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio

from headgate.adapter.background import Background
from headgate.adapter.context import Caller
from headgate.engine.encoding import encode
from headgate.executions.desks import Desk
from headgate.executions.host import Host, Pace, Perform
from headgate.executions.ledger import Ledger
from headgate.executions.queueing import queue_of
from headgate.executions.results import Cut, cut
from headgate.executions.values import About
from headgate.protocol.errors import ErrorDetail
from headgate.protocol.lifecycle import State
from headgate.store.executions import Execution, Piece
from headgate.store.executions import pieces as stored_pieces
from headgate.store.sql import SqlStore
from headgate.store.workers import Worker

__all__ = [
    "ADAPTER",
    "BROKEN",
    "HASTY",
    "NOW",
    "OPERATION",
    "WORKER",
    "Clock",
    "added",
    "begun",
    "brought",
    "code_of",
    "found",
    "hosted",
    "kept_pieces",
    "ledger_of",
    "made",
    "named",
    "reached",
    "result",
    "running",
    "until",
]

ADAPTER, OPERATION, OWNER = "library", "execute_report", "ann"
WORKER = "work_a"
NOW = 1_700_000_000.0
BROKEN = ErrorDetail("INTERNAL_ERROR", "The shelf broke")

_numbers = itertools.count(1)


class Clock:
    """A time that stands still until it is moved."""

    def __init__(self, now: float = NOW) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def ledger_of(store: SqlStore, clock: Callable[[], float] | None = None) -> Ledger:
    return Ledger(store, queue_of(store), clock or Clock())


def made(
    background: Background | None = None, *, audited: bool = False, hides: bool = False, **columns: Any
) -> Execution:
    """A new execution, as a server makes it; ids are in the order in which they are made."""
    about = About(
        caller=Caller(OWNER),
        request_id="req_1",
        background=background or Background(),
        session_id="sess_1",
        audited=audited,
        hides=hides,
    )
    usual: dict[str, Any] = {
        "id": f"exec_{next(_numbers):06d}",
        "adapter": ADAPTER,
        "operation": OPERATION,
        "owner": OWNER,
        "worker": WORKER,
        "created_at": NOW,
        "params": "{}",
        "about": about.text(),
        "capacity": background.concurrency if background else None,
    }
    return Execution(**{**usual, **columns})


async def added(ledger: Ledger, background: Background | None = None, **more: Any) -> Execution:
    return await ledger.add(made(background, **more))


async def running(ledger: Ledger, background: Background | None = None, **more: Any) -> Execution:
    """An execution whose first attempt its worker has begun."""
    return await begun(ledger, await added(ledger, background, **more))


async def begun(ledger: Ledger, execution: Execution) -> Execution:
    at_work = await ledger.begin(execution.id, execution.worker or WORKER)
    assert at_work is not None
    return at_work


async def brought(ledger: Ledger, state: State, background: Background | None = None, **more: Any) -> Execution:
    """An execution that has come into a state by the way that is usual for it."""
    execution = await added(ledger, background, **more)
    if state is not State.PENDING:
        await _lead(ledger, await begun(ledger, execution), state)
    there = await found(ledger, execution)
    assert there.state is state
    return there


async def _lead(ledger: Ledger, execution: Execution, state: State) -> None:
    match state:
        case State.RETRYING:
            await ledger.fail(execution, BROKEN)
            await ledger.retry(execution.id, execution.worker)
        case State.CANCELLING:
            await ledger.ask_to_stop(execution.id, OWNER)
        case State.STUCK:
            await ledger.stuck(execution.run)
        case State.COMPLETED:
            await ledger.complete(execution, result([1, 2]))
        case State.FAILED:
            await ledger.fail(execution, BROKEN)
        case State.CANCELLED:
            await ledger.cancel(execution)


def result(data: object) -> Cut:
    return cut(data, encode)


async def found(ledger: Ledger, execution: Execution | str) -> Execution:
    """An execution as it is kept now."""
    there = await ledger.find(execution if isinstance(execution, str) else execution.id)
    assert there is not None
    return there


async def kept_pieces(store: SqlStore, execution: Execution) -> list[Piece]:
    return await store.transact(lambda transaction: stored_pieces(transaction, execution.id, 0, 10**6), writes=False)


def code_of(execution: Execution) -> str | None:
    """The code of the error that it has ended with."""
    return None if execution.error is None else str(json.loads(execution.error)["code"])


def named(worker: str, *, place: str = "elsewhere", pid: int = 1, adapter: str = ADAPTER) -> Worker:
    """A process that says that it works on executions."""
    return Worker(worker, adapter, place, pid, 1, NOW, False)


async def until(condition: Callable[[], Awaitable[object]], what: str = "what was waited for") -> None:
    """Wait for something to become true; a test that waits in vain says for what."""
    with anyio.move_on_after(20):
        while not await condition():  # noqa: ASYNC110  (another process may be the one that changes it)
            await anyio.sleep(0.002)
        return
    raise AssertionError(f"{what} did not happen")


async def reached(ledger: Ledger, execution: Execution, *states: State) -> Execution:
    """An execution once it is in a state."""

    async def is_there() -> bool:
        return (await found(ledger, execution)).state in states

    await until(is_there, f"that the execution becomes {' or '.join(states)}")
    return await found(ledger, execution)


HASTY = Pace(busy=0.005, idle=0.01, beat=0.0)
"""A host that looks after everything all the time, so that tests wait for nothing."""


async def _nothing_to_do(_desk: Desk) -> Cut:
    return result("done")


@asynccontextmanager
async def hosted(
    ledger: Ledger, perform: Perform = _nothing_to_do, *, adapter: str = ADAPTER, pace: Pace = HASTY
) -> AsyncIterator[Host]:
    """A process that works on executions."""
    host = Host(ledger, adapter, perform, lambda _id: None, pace=pace)
    try:
        await host.start()
        yield host
    finally:
        await host.close()
