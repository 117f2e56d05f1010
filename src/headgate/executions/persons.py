"""What an operator sees of executions and does about them, from whichever process: all that is needed is the store."""

from headgate.executions.host import is_dead
from headgate.executions.ledger import CANCELLED, RETRIED, Ledger
from headgate.executions.queueing import prepare_queue, queue_of
from headgate.executions.values import About
from headgate.protocol.lifecycle import State
from headgate.safety.clock import Clock
from headgate.store.executions import Execution
from headgate.store.interface import Store

__all__ = ["cancel", "executions", "find", "may_retry", "retry"]


async def executions(
    store: Store, clock: Clock, *, live: bool = False, first: int = 100, before: str | None = None
) -> list[Execution]:
    """Executions of all adapters and callers, the newest first; what dead processes have left is settled before."""
    ledger = await _ledger(store, clock)
    for worker in await ledger.workers():
        if is_dead(worker):
            await ledger.leave(worker.id)
    return await ledger.select(live=live, first=first, before=before)


async def find(store: Store, execution_id: str, clock: Clock) -> Execution | None:
    """The execution of an id."""
    return await Ledger(store, queue_of(store), clock).find(execution_id)


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
