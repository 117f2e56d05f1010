"""The book of executions: every change to one is made here, in one step of the store, from whichever process."""

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, TypeVar

import anyio

from headgate.executions.queueing import NoQueue
from headgate.executions.results import Cut
from headgate.executions.values import About, read_error, wire_error
from headgate.protocol.errors import ErrorDetail
from headgate.protocol.lifecycle import State
from headgate.safety.auditing import ENDED
from headgate.store import executions as rows
from headgate.store import moving
from headgate.store import workers as processes
from headgate.store.audit import Entry
from headgate.store.drivers.base import Transaction, Unkeepable
from headgate.store.executions import AT_WORK, Asked, Execution, Free, Progress, Queue, Run
from headgate.store.interface import Store, StoreError
from headgate.store.workers import Worker

__all__ = ["INTERRUPTED", "SESSION_ENDED", "Ledger"]

T = TypeVar("T")

_LOG: Final = logging.getLogger("headgate")

SESSION_ENDED: Final = "the end of the session"
"""Who asked for the end of an execution that is bound to a session."""

INTERRUPTED: Final = ErrorDetail("INTERNAL_INTERRUPTED", "The work was interrupted: its process has ended")
_OF_SESSION: Final = ErrorDetail("INTERNAL_SESSION_ENDED", "The session of the work has ended")
_UNSTARTED: Final = "{}"

_MOST_INTERRUPTIONS: Final = 5
"""What has taken so many processes with it is not begun again."""
_LONGEST_PAUSE: Final = 2.0


@dataclass(frozen=True, slots=True)
class Ledger:
    """The executions in one store."""

    store: Store
    queue: Queue = NoQueue()  # noqa: RUF009  (has no state)
    clock: Callable[[], float] = time.time

    # looking

    async def find(self, execution_id: str) -> Execution | None:
        """The execution of an id."""
        return await self.store.transact(lambda transaction: rows.find(transaction, execution_id), writes=False)

    async def select(
        self,
        *,
        adapter: str | None = None,
        owner: str | None = None,
        live: bool = False,
        before: str | None = None,
        first: int = 1000,
        brief: bool = False,
    ) -> list[Execution]:
        """Executions, the newest first; in brief, without what stays the same from start to end."""
        work = partial(rows.select, adapter=adapter, owner=owner, live=live, before=before, first=first, brief=brief)
        return await self.store.transact(work, writes=False)

    async def all(self, adapter: str, owner: str) -> list[Execution]:
        """All executions of an owner in brief, the newest first."""
        found: list[Execution] = []
        while page := await self.select(
            adapter=adapter, owner=owner, before=found[-1].id if found else None, first=5000, brief=True
        ):
            found += page
        return found

    async def workers(self) -> list[Worker]:
        """The processes that are known."""
        return await self.store.transact(processes.workers, writes=False)

    # starting

    async def add(self, execution: Execution) -> Execution:
        """Keep a new execution. It has its id already, so that trying again after a doubt adds no second one."""
        return await self._surely(lambda transaction: moving.add(transaction, execution, self.queue), seconds=10.0)

    async def begin(self, execution_id: str, worker: str) -> Execution | None:
        """Start the next attempt; None if it is not waiting for that, or somebody else was faster."""
        now = self.clock()
        return await self.store.transact(lambda transaction: moving.begin(transaction, execution_id, worker, now))

    # while it runs

    async def note(self, notes: Sequence[tuple[Run, Progress]]) -> None:
        """Write down how far some attempts are."""
        await self.store.transact(lambda transaction: moving.note_progress(transaction, notes))

    async def stuck(self, run: Run) -> None:
        """Say that an attempt does not stop."""
        await self._surely(lambda transaction: moving.mark_stuck(transaction, run))

    # ending; whatever happens to the database, what came of the work is not lost

    async def complete(self, execution: Execution, made: Cut) -> list[Free] | None:
        """Keep the result; None if the attempt is no longer its worker's. Tells whose turn it is now."""
        return await self._end(State.COMPLETED, execution, outcome=made.outcome.text(), cut=made)

    async def fail(self, execution: Execution, error: ErrorDetail) -> list[Free] | None:
        """Keep the error."""
        return await self._end(State.FAILED, execution, error=wire_error(error))

    async def cancel(self, execution: Execution) -> list[Free] | None:
        """Say that it has ended as somebody wanted."""
        return await self._end(State.CANCELLED, execution)

    async def again(self, execution: Execution, error: ErrorDetail, due_at: float) -> bool:
        """Let another attempt follow one that has failed; whether it was still its worker's."""
        worker = None if self.store.is_shared else execution.worker
        changes = {"tries": execution.tries + 1, "due_at": due_at, "error": wire_error(error), "worker": worker}
        return await self._surely(lambda transaction: moving.again(transaction, execution, changes, self.queue))

    async def give_up(self, execution: Execution, error: ErrorDetail) -> list[Free] | None:
        """End what no attempt follows; what is to stop has then stopped."""
        known = await self._as_asked(execution)
        return await (self.fail(execution, error) if known.asked_at is None else self.stopped(execution))

    async def hand_over(self, execution: Execution) -> None:
        """What this process can no longer work on: others do, or it fails."""
        await self._surely(*self._interruption(await self._as_asked(execution)))

    async def _as_asked(self, execution: Execution) -> Execution:
        """An attempt with what others may have asked of it since it began."""
        known = await self._surely(lambda transaction: rows.find(transaction, execution.id))
        if known is None or known.run != execution.run:
            return execution
        return replace(execution, state=known.state, asked_at=known.asked_at, asked_by=known.asked_by)

    async def _end(
        self, target: State, execution: Execution, *, cut: Cut | None = None, **changes: object
    ) -> list[Free] | None:
        about = About.read(execution.about)
        final = {**self._final(about, execution), "error": None, **changes}
        pieces = cut.pieces if cut else ()
        telling = self._telling(execution, target, changes)
        return await self._surely(
            lambda transaction: moving.end(transaction, target, execution, final, self.queue, pieces), telling
        )

    def _final(self, about: About, execution: Execution) -> dict[str, object]:
        """What is written down at every end; secrets are needed no longer."""
        now = self.clock()
        hidden = {"params": _UNSTARTED} if about.hides else {}
        reached = {"done": execution.done, "total": execution.total, "message": execution.message}
        return {"finished_at": now, "expires_at": now + about.background.keep, **reached, **hidden}

    def _telling(
        self, execution: Execution, target: State, changes: dict[str, Any]
    ) -> Callable[[object], Sequence[Entry]]:
        """What the audit tells of an end if there is one, where it has told of the start."""
        entries = [self._entry(execution, target, changes)] if About.read(execution.about).audited else []
        return lambda ended: [] if ended is None else entries

    def _entry(self, execution: Execution, target: State, changes: dict[str, Any]) -> Entry:
        about = About.read(execution.about)
        error = changes.get("error")
        return Entry(
            at=self.clock(),
            event=ENDED,
            adapter=execution.adapter,
            caller=execution.owner,
            request_id=about.request_id,
            operation=execution.operation,
            code=str(read_error(error)["code"]) if error else "",
            details={"execution_id": execution.id, "status": target.value},
        )

    # what others want of it

    async def ask_to_stop(
        self, execution_id: str, by: str, entries: Sequence[Entry] = ()
    ) -> tuple[Execution | None, list[Free]]:
        """Ask for an execution's end, and tell what is known of it then."""
        known = await self.find(execution_id)
        if known is None or known.state.is_terminal:
            return known, []
        about = About.read(known.about)
        fails = known.state is State.RETRYING and fails_with_session(replace(known, asked_by=by), about)
        error = wire_error(_OF_SESSION) if fails else None
        target = State.FAILED if fails else State.CANCELLED
        asking = partial(
            moving.ask_to_stop,
            execution_id=execution_id,
            asked={"asked_at": self.clock(), "asked_by": by},
            target=target,
            final={**self._final(about, known), "error": error},
            queue=self.queue,
        )
        ending = self._telling(known, target, {"error": error})

        def told(asked: Asked) -> Sequence[Entry]:
            ended = asked.execution if asked.execution and asked.execution.state is target else None
            return [*entries, *ending(ended)] if asked.is_heard else []

        asked = await self.store.transact(asking, told)
        return asked.execution, asked.free

    async def retry(self, execution_id: str, worker: str | None, entries: Sequence[Entry] = ()) -> Execution | None:
        """Let an execution that has failed begin anew; None if it has not failed."""
        now = self.clock()
        return await self.store.transact(
            lambda transaction: moving.retry(transaction, execution_id, now, worker, self.queue),
            lambda moved: [] if moved is None else entries,
        )

    async def end_session(self, session: str) -> list[Execution]:
        """End what is bound to a session that is over; what it was."""
        found = await self.store.transact(lambda transaction: rows.of_session(transaction, session), writes=False)
        for execution in found:
            await self.ask_to_stop(execution.id, SESSION_ENDED)
        return found

    def as_a_person(self, event: str, execution: Execution, by: str) -> Entry:
        """What the audit tells of an operator who cancels or retries an execution."""
        return Entry(
            at=self.clock(),
            event=event,
            adapter=execution.adapter,
            caller=by,
            operation=execution.operation,
            details={"execution_id": execution.id},
        )

    # workers

    async def beat(self, worker: Worker) -> None:
        """Say that a process is alive."""
        await self.store.transact(lambda transaction: processes.beat(transaction, worker))

    async def leave(self, worker: str) -> None:
        """Say that a process is gone, and let others have what waits for it."""
        await self.store.transact(lambda transaction: processes.leave(transaction, worker))
        await self.recover()

    async def in_hand(self, worker: str) -> list[tuple[str, int, State]]:
        """What a worker is at, as far as the store knows."""
        return await self.store.transact(lambda transaction: rows.in_hand(transaction, worker), writes=False)

    async def to_begin(self, adapter: str, worker: str, *, adopts: bool = True) -> list[str]:
        """What a worker may begin."""
        work = partial(rows.to_begin, adapter=adapter, worker=worker, now=self.clock(), adopts=adopts)
        return await self.store.transact(work, writes=False)

    async def give_back(self, execution_id: str, worker: str, *, is_begun: bool = False) -> None:
        """Let anybody begin what a worker was given and has never begun; all else was interrupted."""
        known = await self.find(execution_id)
        if known is None or known.worker != worker:
            return
        if known.state is State.RUNNING and not is_begun:
            changes: dict[str, object] = {"due_at": self.clock()}
            await self.store.transact(partial(moving.resume, execution=known, changes=changes, queue=self.queue))
        elif known.state in AT_WORK:
            await self.store.transact(*self._interruption(known))

    async def recover(self) -> int:
        """Fail, free or begin anew what processes that are gone have left; how many executions."""
        orphans = await self.store.transact(processes.orphans, writes=False)
        for execution in orphans:
            await self.store.transact(*self._interruption(execution))
        ended = await self.store.transact(processes.of_ended_sessions, writes=False)
        for execution in ended:
            if execution.asked_at is None:
                await self.ask_to_stop(execution.id, SESSION_ENDED)
        return len(orphans) + len(ended)

    def _interruption(
        self, execution: Execution
    ) -> tuple[Callable[[Transaction], object], Callable[[object], Sequence[Entry]]]:
        """The change that an execution needs whose worker is gone, and what the audit tells of it."""
        about = About.read(execution.about)
        target, error = fate(execution, about)
        if target is State.PENDING:
            return partial(moving.set_free, execution=execution), _nothing
        if target is State.RETRYING:
            changes: dict[str, object] = {"due_at": self.clock()}
            return partial(moving.resume, execution=execution, changes=changes, queue=self.queue), _nothing
        kept = wire_error(error) if error else None
        final = {**self._final(about, execution), "error": kept}
        ending = partial(moving.end, target=target, execution=execution, changes=final, queue=self.queue)
        return ending, self._telling(execution, target, {"error": kept})

    async def stopped(self, execution: Execution) -> list[Free] | None:
        """Say that it has ended because somebody asked for it, or because its session ended."""
        if fails_with_session(await self._as_asked(execution), About.read(execution.about)):
            return await self.fail(execution, _OF_SESSION)
        return await self.cancel(execution)

    async def _surely(
        self,
        work: Callable[[Transaction], T],
        entries: Sequence[Entry] | Callable[[T], Sequence[Entry]] = (),
        *,
        seconds: float | None = None,
    ) -> T:
        """Do a change that may be tried again without harm, until the database is there for it."""
        pause, spent = 0.05, 0.0
        while True:
            try:
                return await self.store.transact(work, entries)
            except Unkeepable:
                raise
            except StoreError as error:
                if seconds is not None and spent >= seconds:
                    raise
                _LOG.warning("a change of an execution cannot be written down yet: %s", error)
            await anyio.sleep(pause)
            pause, spent = min(_LONGEST_PAUSE, pause * 2), spent + pause


def _nothing(_result: object) -> Sequence[Entry]:
    """Nothing has ended that the audit could tell of."""
    return ()


def fate(execution: Execution, about: About) -> tuple[State, ErrorDetail | None]:
    """What becomes of an execution whose worker is gone; one that waits only waits for another."""
    if execution.state in (State.PENDING, State.RETRYING):
        return State.PENDING, None
    if fails_with_session(execution, about):
        return State.FAILED, _OF_SESSION
    if execution.asked_at is not None:
        return State.CANCELLED, None
    resumes = about.background.interrupted == "resume" and execution.state is State.RUNNING
    if resumes and execution.interruptions < _MOST_INTERRUPTIONS:
        return State.RETRYING, None
    return State.FAILED, INTERRUPTED


def fails_with_session(execution: Execution, about: About) -> bool:
    """Whether it is to fail rather than to be cancelled, since its session asked for its end."""
    return execution.asked_by == SESSION_ENDED and about.background.session == "fail"
