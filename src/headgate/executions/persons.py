"""What an operator sees of executions and does about them, from whichever process: all that is needed is the store."""

import hashlib
from typing import Final, NamedTuple

from headgate.executions.ledger import Ledger
from headgate.executions.places import is_dead
from headgate.executions.queueing import prepare_queue, queue_of
from headgate.executions.results import Page, read_page
from headgate.executions.values import About
from headgate.protocol.lifecycle import State
from headgate.safety.auditing import CANCELLED, RETRIED
from headgate.safety.clock import Clock
from headgate.store import executions as rows
from headgate.store.drivers.base import Transaction
from headgate.store.executions import Execution
from headgate.store.interface import Store
from headgate.store.workers import Worker

__all__ = [
    "Signs",
    "Unfinished",
    "cancel",
    "executions",
    "find",
    "first_of_result",
    "may_retry",
    "retry",
    "signs",
    "unfinished",
    "worker_of",
]

_MOST_WATCHED: Final = 1000
_FIRST_ITEMS: Final = 20


async def executions(
    store: Store,
    clock: Clock,
    *,
    live: bool = False,
    first: int = 100,
    before: str | None = None,
    brief: bool = False,
) -> list[Execution]:
    """Executions of all adapters and callers, the newest first; what dead processes have left is settled before.

    In brief, they come without what stays the same from start to end, which may be large.
    """
    ledger = await _ledger(store, clock)
    await _settle(ledger)
    return await ledger.select(live=live, first=first, before=before, brief=brief)


async def find(store: Store, execution_id: str, clock: Clock) -> Execution | None:
    """The execution of an id; if a process that is dead has left it, that is settled before."""
    ledger = await _ledger(store, clock)
    found = await ledger.find(execution_id)
    if found is None or found.state.is_terminal:
        return found
    await _settle(ledger)
    return await ledger.find(execution_id)


async def _settle(ledger: Ledger) -> None:
    for worker in await ledger.workers():
        if is_dead(worker):
            await ledger.leave(worker.id)


async def worker_of(store: Store, execution: Execution) -> Worker | None:
    """The process that works on an execution, if it is known."""
    known = await Ledger(store).workers()
    return next((worker for worker in known if worker.id == execution.worker), None)


async def first_of_result(store: Store, execution: Execution) -> Page:
    """The first items of what an execution that has completed gave, or the beginning of a text that is no list."""
    return await read_page(store, execution, 0, _FIRST_ITEMS)


class Unfinished(NamedTuple):
    """How many executions have not ended."""

    all: int
    stuck: int


async def unfinished(store: Store) -> Unfinished:
    """How many executions have not ended; no more is read than that."""
    counted = await store.transact(rows.unfinished, writes=False)
    return Unfinished(sum(counted.values()), counted.get(State.STUCK, 0))


class Signs(NamedTuple):
    """What tells two moments of all executions apart, in a word each; nothing else follows from it."""

    states: str
    """Another one if any has been started, has ended, or is in another state."""
    progress: str
    """Another one if any has got on."""
    is_quiet: bool
    """Whether none is unfinished."""


async def signs(store: Store) -> Signs:
    """What tells whether executions have changed; where none is unfinished, little is read."""
    return await store.transact(_signs, writes=False)


def _signs(transaction: Transaction) -> Signs:
    newest, counted = rows.newest(transaction), rows.unfinished(transaction)
    pulses = rows.pulses(transaction, _MOST_WATCHED) if counted else []
    states = [(pulse.id, pulse.state, pulse.attempt) for pulse in pulses]
    progress = [(pulse.id, pulse.done, pulse.total, pulse.message) for pulse in pulses]
    return Signs(_word(newest, sorted(counted.items()), states), _word(progress), is_quiet=not counted)


def _word(*values: object) -> str:
    return hashlib.sha256(repr(values).encode()).hexdigest()[:16]


async def cancel(store: Store, execution_id: str, by: str, clock: Clock) -> bool:
    """Ask for an execution's end, and write down who did; False if it has ended already, or there is none."""
    ledger = await _ledger(store, clock)
    known = await ledger.find(execution_id)
    if known is None or known.state.is_terminal:
        return False
    entry = ledger.as_a_person(CANCELLED, known, by)
    found, _ = await ledger.ask_to_stop(execution_id, by, [entry])
    return found is not None and found.state in (State.CANCELLED, State.CANCELLING, State.STUCK)


def may_retry(execution: Execution) -> bool:
    """Whether an execution can be begun anew as it was."""
    about = About.read(execution.about)
    return execution.state is State.FAILED and about.background.retry and not about.hides


async def retry(store: Store, execution_id: str, by: str, clock: Clock) -> bool:
    """Let an execution that has failed begin anew, and write down who wanted it; False if it cannot.

    On a shared store a worker takes it, else any server of its adapter that runs on the same store.
    """
    ledger = await _ledger(store, clock)
    known = await ledger.find(execution_id)
    if known is None or not may_retry(known):
        return False
    return await ledger.retry(execution_id, None, [ledger.as_a_person(RETRIED, known, by)]) is not None


async def _ledger(store: Store, clock: Clock) -> Ledger:
    await prepare_queue(store)
    return Ledger(store, queue_of(store), clock)
