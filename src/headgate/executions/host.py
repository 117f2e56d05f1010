"""A process that works on executions: one task for each, and one that looks after all of them."""

import asyncio
import contextvars
import logging
import os
import random
import secrets
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from headgate.executions.desks import Desk, Stop
from headgate.executions.ledger import INTERRUPTED, Ledger
from headgate.executions.places import is_dead, place_here
from headgate.executions.results import Cut
from headgate.protocol.errors import ErrorDetail
from headgate.protocol.lifecycle import State
from headgate.store.executions import Execution, Free
from headgate.store.interface import StoreError
from headgate.store.workers import Worker

__all__ = ["Failed", "Host", "Pace", "Perform"]

_LOG: Final = logging.getLogger("headgate")
_LONGEST_BACKOFF: Final = 300.0
_BY_ITSELF: Final = ErrorDetail("INTERNAL_ERROR", "Internal error: 'the work cancelled itself'")
_PATIENCE: Final = 5.0
"""Seconds after which a word from the store that has not arrived is lost."""


class Failed(Exception):
    """The work has failed; another attempt may go better, perhaps only after a while."""

    def __init__(
        self,
        error: ErrorDetail,
        *,
        may_pass: bool = True,
        retry_after: float = 0.0,
        is_interruption: bool = False,
    ) -> None:
        super().__init__(error.code)
        self.error = error
        self.may_pass = may_pass
        self.is_interruption = is_interruption
        """Whether it was not the work that failed, but the process that did it."""
        self.retry_after = retry_after


Perform: TypeAlias = Callable[[Desk], Awaitable[Cut]]
"""Does the work of an attempt: gives its result, or raises Failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How often a process looks after its executions, in seconds."""

    busy: float = 0.4
    """While it works on some: how soon a wish to cancel from elsewhere is heard, and progress is seen elsewhere."""
    idle: float = 2.0
    beat: float = 5.0
    lost: float = 30.0
    """After such a silence a process counts as gone."""


class Host:
    """Works on executions in this process. It begins with the first one, and ends with ``close``."""

    def __init__(
        self,
        ledger: Ledger,
        adapter: str,
        perform: Perform,
        ended: Callable[[str], None],
        *,
        takes_jobs: bool = False,
        pace: Pace | None = None,
    ) -> None:
        self.ledger = ledger
        self.pace = pace or Pace()
        self.worker = Worker(
            f"work_{secrets.token_hex(12)}", adapter, place_here(), os.getpid(), 1, ledger.clock(), takes_jobs
        )
        self._perform = perform
        self._ended = ended
        self._desks: dict[str, Desk] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._taken: set[str] = set()
        self._ends: dict[str, asyncio.Event] = {}
        self._tending: asyncio.Task[None] | None = None
        self._wake = asyncio.Event()
        self._silent: dict[str, tuple[int, float]] = {}
        self._strange: dict[str, float] = {}
        self._unsettled: set[str] = set()
        self._beaten = float("-inf")
        self._is_closing = False
        self.adopts = True
        """Whether it begins what processes that are gone have left: not where it will be gone itself in a moment."""
        self.left_behind = 0
        """How many attempts had not stopped when it was closed."""
        self.has_workers = True
        """Whether anybody takes work of this adapter from the shared queue, as far as was heard."""

    # what is started, asked and awaited here

    @property
    def id(self) -> str:
        """The name under which it works."""
        return self.worker.id

    @property
    def running(self) -> int:
        """How many attempts are under way."""
        return len(self._desks)

    async def start(self) -> None:
        """Make itself known, and look after what others have left; once more after it was closed."""
        if self._is_tended:
            return
        await self.ledger.beat(self.worker)
        await self._listen(time.monotonic())
        if not self._is_tended:  # of two who start it at once, one is faster
            self._is_closing = False
            self._wake = asyncio.Event()  # it may be another loop now
            self._tending = self._spawn(self._tend())

    @property
    def _is_tended(self) -> bool:
        return self._tending is not None and not self._tending.done()

    def take(self, execution_id: str, delay: float = 0.0) -> None:
        """Work on an execution as soon as that is possible."""
        if execution_id in self._taken or self._is_closing:
            return
        self._taken.add(execution_id)
        self._spawn(self._work_on(execution_id, delay))
        self._wake.set()

    async def work(self, execution: Execution) -> None:
        """Work on an execution whose attempt has begun, to its end."""
        self._taken.add(execution.id)
        self._wake.set()
        try:
            await self._attempt(Desk(execution))
        finally:
            self._done(execution.id)

    def tell_to_stop(self, execution_id: str, why: Stop = Stop.ASKED) -> None:
        """Have an attempt stop that is worked on here."""
        desk = self._desks.get(execution_id)
        if desk is not None:
            desk.tell_to_stop(why)

    @property
    def longest_cleanup(self) -> float:
        """Seconds that what is under way may take to clean up."""
        return max((desk.about.background.cleanup for desk in self._desks.values()), default=0.0)

    def interrupt(self, why: Stop) -> None:
        """Have everything stop that is worked on here."""
        for desk in list(self._desks.values()):
            desk.tell_to_stop(why)

    def desk_of(self, execution_id: str) -> Desk | None:
        """The attempt that is worked on here, if it is."""
        return self._desks.get(execution_id)

    def end_of(self, execution_id: str) -> asyncio.Event | None:
        """What is set when nothing is done here any more for an execution; None if nothing is."""
        if execution_id not in self._taken:
            return None
        return self._ends.setdefault(execution_id, asyncio.Event())

    async def close(self, grace: float = 0.0) -> None:
        """Let what is under way finish for so long; then interrupt it, and say goodbye."""
        self._is_closing = True
        waiting = [task for task in self._tasks if task is not self._tending]
        if waiting and grace > 0:
            await asyncio.wait(waiting, timeout=grace)
        self.interrupt(Stop.SHUTDOWN)
        longest = self.longest_cleanup
        waiting = [task for task in waiting if not task.done()]
        if waiting:
            await asyncio.wait(waiting, timeout=longest + 1.0)
        self.left_behind = len(self._desks)
        for task in list(self._tasks):
            task.cancel()
        if self._tasks:
            await asyncio.wait(list(self._tasks), timeout=1.0)
        if self._tending is not None:
            with suppress(StoreError):
                await self.ledger.leave(self.id)

    # one execution

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """A task that is nobody's child: it inherits neither a caller's transaction nor its cancellation."""
        task = asyncio.get_running_loop().create_task(work, context=contextvars.Context())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _work_on(self, execution_id: str, delay: float) -> None:
        try:
            await asyncio.sleep(delay)
            execution = await self._begun(execution_id)
            if execution is not None:
                await self._attempt(Desk(execution))
        finally:
            self._done(execution_id)

    def _done(self, execution_id: str) -> None:
        if execution_id in self._desks:
            return  # a later attempt is under way
        self._taken.discard(execution_id)
        end = self._ends.pop(execution_id, None)
        if end is not None:
            end.set()

    async def _begun(self, execution_id: str) -> Execution | None:
        if self._is_closing:
            return None  # others begin it
        try:
            return await self.ledger.begin(execution_id, self.id)
        except StoreError as error:  # it will be looked for again
            _LOG.warning("an execution cannot begin yet: %s", error)
            return None

    async def _attempt(self, desk: Desk) -> None:
        execution_id = desk.execution.id
        before = self._desks.get(execution_id)
        if before is not None:  # it was taken away while this process was silent, and has come back to it
            before.tell_to_stop(Stop.TAKEN)
        self._desks[execution_id] = desk
        try:
            made = await self._worked(desk)
            free = await self._settle(desk, made)
        except Exception:  # noqa: BLE001  # it is not done a second time for that
            _LOG.exception("the end of %s could not be written down", execution_id)
            self._unsettled.add(execution_id)
            return
        finally:
            if self._desks.get(execution_id) is desk:
                del self._desks[execution_id]
        self.begin_free(free)

    async def _worked(self, desk: Desk) -> Cut | Failed | None:
        """What came of an attempt: a result, what went wrong, or nothing, since it was stopped."""
        task = asyncio.get_running_loop().create_task(_awaited(self._perform, desk))
        desk.stops_by(task.cancel)
        told = asyncio.get_running_loop().create_task(desk.told.wait())
        try:
            await asyncio.wait({task, told}, timeout=desk.about.background.timeout, return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                desk.tell_to_stop(Stop.LATE)
                await self._until_it_stops(desk, task)
        except asyncio.CancelledError:  # this process ends, and nobody waits any longer
            task.cancel()
            raise
        finally:
            told.cancel()
        return _outcome_of(task)

    async def _until_it_stops(self, desk: Desk, task: asyncio.Task[Cut]) -> None:
        await asyncio.wait({task}, timeout=desk.about.background.cleanup)
        if task.done():
            return
        desk.force()
        if desk.stop in (Stop.ASKED, Stop.LATE):
            _LOG.warning("execution %s of '%s' does not stop", desk.execution.id, desk.execution.operation)
            await self.ledger.stuck(desk.execution.run)
        await asyncio.wait({task})

    async def _settle(self, desk: Desk, made: Cut | Failed | None) -> list[Free]:
        """Write down what came of an attempt; whose turn it is now."""
        execution, ledger = desk.reached, self.ledger
        if desk.stop is Stop.TAKEN:
            return self._over(execution, None)
        if isinstance(made, Cut):
            return self._over(execution, await ledger.complete(execution, made))
        match desk.stop:
            case Stop.ASKED:
                return self._over(execution, await ledger.stopped(execution))
            case Stop.SHUTDOWN:
                await ledger.hand_over(execution)
                return self._over(execution, None)
            case Stop.LATE:
                timeout = desk.about.background.timeout or 0.0
                words = f"The work took longer than {timeout:g} second{'' if timeout == 1 else 's'}"
                return await self._fail(
                    desk, Failed(ErrorDetail("INTERNAL_TIMEOUT", words, {"timeout_seconds": timeout}))
                )
            case _:
                return await self._fail(desk, made or Failed(_BY_ITSELF))

    async def _fail(self, desk: Desk, failed: Failed) -> list[Free]:
        execution, background = desk.reached, desk.about.background
        if failed.is_interruption and background.interrupted == "resume":
            await self.ledger.hand_over(execution)
            return []
        if not failed.may_pass or execution.tries >= background.retries:
            return self._over(execution, await self.ledger.give_up(execution, failed.error))
        delay = min(_LONGEST_BACKOFF, background.backoff * 2**execution.tries)
        delay = max(failed.retry_after, delay * (1 + random.random() / 4))  # noqa: S311  (so that not all come at once)
        if not await self.ledger.again(execution, failed.error, self.ledger.clock() + delay):
            return self._over(execution, await self.ledger.give_up(execution, failed.error))
        if not self.ledger.store.is_shared:
            asyncio.get_running_loop().call_later(delay, self.take, execution.id)
        return []

    def _over(self, execution: Execution, free: list[Free] | None) -> list[Free]:
        """There is nothing more to do here for an execution."""
        self._ended(execution.id)
        return free or []

    def begin_free(self, free: Iterable[Free]) -> None:
        """Begin what others have made room for, as far as it is this process's."""
        if self.ledger.store.is_shared:
            return  # the queue tells the workers
        for one in free:
            if one.worker == self.id or (one.worker is None and self.adopts):
                self.take(one.id)

    # all of them

    async def _tend(self) -> None:
        while True:
            try:
                await self._look_after()
            except StoreError as error:
                _LOG.warning("executions cannot be looked after now: %s", error)
                self._silent.clear()  # nobody could have been heard
            except Exception:  # noqa: BLE001  # or nobody would look after them any more
                _LOG.exception("executions cannot be looked after now")
            pause = self.pace.busy if self._taken else self.pace.idle
            self._wake.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._wake.wait()
                    await asyncio.sleep(self.pace.busy)

    async def _look_after(self) -> None:
        await self._write_progress()
        now = time.monotonic()
        if now - self._beaten >= self.pace.beat:
            await self.ledger.beat(self.worker)
            self._beaten = now
            await self._listen(now)
        if self._desks or self._strange or now == self._beaten:
            await self._compare(now)
        if not self.ledger.store.is_shared and not self._is_closing:
            for execution_id in await self.ledger.to_begin(self.worker.adapter, self.id, adopts=self.adopts):
                self.take(execution_id)

    async def _write_progress(self) -> None:
        notes = []
        for desk in self._desks.values():
            if desk.has_news:
                desk.has_news = False
                notes.append((desk.execution.run, desk.progress))
        if notes:
            await self.ledger.note(notes)

    async def _compare(self, now: float) -> None:
        """Hear what others want of the executions here, and which are no longer this process's."""
        mine = dict(self._desks)
        known = {execution_id: (attempt, state) for execution_id, attempt, state in await self.ledger.in_hand(self.id)}
        for execution_id, desk in mine.items():
            there = known.pop(execution_id, None)
            if there is None or there[0] != desk.execution.attempt:
                desk.tell_to_stop(Stop.TAKEN)
            elif there[1] is State.CANCELLING:
                desk.tell_to_stop(Stop.ASKED)
        await self._return(now, [one for one in known if one not in self._taken])

    async def _return(self, now: float, strange: Iterable[str]) -> None:
        """Give back what the store says is worked on here, and is not: the word of it was lost on its way.

        What was never begun anybody may begin, whatever its operation says of interruptions.
        """
        self._strange = {one: self._strange.get(one, now) for one in strange}
        for execution_id, since in list(self._strange.items()):
            if now - since > _PATIENCE:
                await self.ledger.give_back(execution_id, self.id, is_begun=execution_id in self._unsettled)
                self._unsettled.discard(execution_id)
                del self._strange[execution_id]

    async def _listen(self, now: float) -> None:
        """Notice which processes are gone, and what they have left."""
        heard: dict[str, tuple[int, float]] = {}
        known = await self.ledger.workers()
        for worker in known:
            beats, since = self._silent.get(worker.id, (worker.beats, now))
            heard[worker.id] = (worker.beats, now if beats != worker.beats else since)
            is_silent = now - heard[worker.id][1] > self.pace.lost
            if worker.id != self.id and (is_silent or is_dead(worker)):
                _LOG.warning("process %d on '%s', which worked on executions, is gone", worker.pid, worker.place)
                await self.ledger.leave(worker.id)
        self._silent = heard
        self.has_workers = any(one.takes_jobs and one.adapter == self.worker.adapter for one in known)
        await self.ledger.recover()


async def _awaited(perform: Perform, desk: Desk) -> Cut:
    return await perform(desk)


def _outcome_of(task: "asyncio.Task[Cut]") -> Cut | Failed | None:
    if task.cancelled():
        return None
    error = task.exception()
    if error is None:
        return task.result()
    return error if isinstance(error, Failed) else Failed(INTERRUPTED, may_pass=False)
