"""Executions as an engine needs them: started, looked at, awaited, cancelled, begun anew."""

import asyncio
import json
import logging
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import anyio

from headgate.adapter.context import Caller, Session
from headgate.adapter.masking import masked
from headgate.adapter.operations import Operation
from headgate.executions.desks import Desk
from headgate.executions.host import Failed, Host, Pace, Perform
from headgate.executions.ledger import INTERRUPTED, Ledger
from headgate.executions.queueing import prepare_queue, queue_of
from headgate.executions.results import Cut
from headgate.executions.values import About, new_id, unfit
from headgate.protocol.canonical import digest
from headgate.protocol.errors import NotFound
from headgate.protocol.results import Notice
from headgate.safety.asks import identity
from headgate.safety.auditing import shortened
from headgate.store.executions import Execution, Free, Progress
from headgate.store.interface import Store, StoreError

__all__ = ["Executions", "Start"]

_LOG: Final = logging.getLogger("headgate")
_SECONDS_BETWEEN_LOOKS: Final = 0.25
_SECONDS_UNTIL_ANOTHER_TRY: Final = 1.0
_SECONDS_FOR_SESSIONS: Final = 5.0
"""How long whoever ends waits for the end of what is bound to sessions."""
_NO_PARAMS: Final = "{}"

_NO_SESSION: Final = Notice(
    "EXECUTION_UNBOUND_WARNING",
    "The execution would end with its session, and this connection has none: it goes on until it is done or cancelled",
    severity="low",
)
_NO_WORKER: Final = Notice(
    "EXECUTION_NO_WORKER_WARNING",
    "No worker is there to run it: it waits until 'headgate worker' is started for this adapter and state",
    severity="medium",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """A call that only starts its work."""

    operation: Operation
    params: Mapping[str, object]
    caller: Caller
    session: Session
    request_id: str
    audited: bool = False


class Executions:
    """The executions of one adapter. What runs in this process ends with ``close``."""

    def __init__(
        self,
        adapter: str,
        store: Store,
        *,
        takes_jobs: bool = False,
        pace: Pace | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.adapter = adapter
        self.ledger = Ledger(store, queue_of(store), clock)
        self.host = Host(self.ledger, adapter, self._perform, self._forget, takes_jobs=takes_jobs, pace=pace)
        self.perform: Perform = _nobody
        """Does the work; a server that takes a new version of what it serves puts another one here."""
        self._secrets: dict[str, Mapping[str, object]] = {}
        self._is_prepared = False
        self._bound: set[str] = set()
        """The sessions that something started here ends with."""
        self._ending: set[asyncio.Task[Any]] = set()

    async def _perform(self, desk: Desk) -> Cut:
        return await self.perform(desk)

    async def open(self) -> None:
        """Make ready, and look after what processes that are gone have left."""
        if not self._is_prepared:
            await prepare_queue(self.ledger.store)
            self._is_prepared = True
        await self.host.start()

    async def close(self, grace: float = 0.0) -> None:
        """Let what runs here finish for so long, then interrupt it."""
        if self._ending:
            _, late = await asyncio.wait(self._ending, timeout=_SECONDS_FOR_SESSIONS)
            for task in late:
                task.cancel()
        await self.host.close(grace)

    @property
    def _works_here(self) -> bool:
        return not self.ledger.store.is_shared

    # starting

    async def start(self, asked: Start) -> tuple[Execution, tuple[Notice, ...]]:
        """Start the work of a call; what the caller should know of it."""
        await self.open()
        await self._forget_ended()
        made, notices = self._made(asked)
        with anyio.CancelScope(shield=True):  # whoever hangs up now has started it all the same
            execution = await self.ledger.add(made)
        if self._works_here and execution.ready:
            self.host.take(execution.id)
        if made.session is not None:
            self._bound.add(made.session)
            if asked.session.ended:
                self.session_ended(asked.session)
        if not self._works_here and not self.host.has_workers:
            notices = (*notices, _NO_WORKER)
        return execution, notices

    def _made(self, asked: Start) -> tuple[Execution, tuple[Notice, ...]]:
        operation, background = asked.operation, asked.operation.background
        if background is None:
            raise ValueError(f"'{operation.name}' does not run in the background")
        now = self.ledger.clock()
        execution_id = new_id(now)
        ends = background.session != "detached"
        has_session = asked.session.lasting and not asked.session.is_callers_own
        about = About(
            caller=asked.caller,
            request_id=asked.request_id,
            background=background,
            session_id=asked.session.id,
            audited=asked.audited,
            hides=operation.has_secrets,
            shown={name: shortened(value) for name, value in masked(operation, asked.params).items()},
        )
        execution = Execution(
            id=execution_id,
            adapter=self.adapter,
            operation=operation.name,
            owner=identity(asked.caller),
            session=asked.session.id if ends and has_session else None,
            origin=self.host.id if ends and has_session else None,
            slot_key=_slot_key(operation, background.keys, asked.params),
            capacity=background.concurrency,
            worker=self.host.id if self._works_here else None,
            created_at=now,
            params=self._kept(execution_id, asked),
            about=about.text(),
        )
        return execution, (_NO_SESSION,) if ends and not has_session else ()

    def _kept(self, execution_id: str, asked: Start) -> str:
        """The parameters as they are kept. Secrets are only where no other process may need them."""
        background = asked.operation.background
        resumes = background is not None and background.interrupted == "resume"
        if asked.operation.has_secrets and self._works_here and not resumes:
            self._secrets[execution_id] = asked.params
            return _NO_PARAMS
        return json.dumps(asked.params)

    def params_of(self, execution: Execution) -> Mapping[str, object]:
        """The parameters that an execution was started with."""
        held = self._secrets.get(execution.id)
        params: Mapping[str, object] = json.loads(execution.params) if held is None else held
        return params

    async def _forget_ended(self) -> None:
        """Keep no secrets of what others have ended: its session, an operator, another process."""
        for execution_id in list(self._secrets):
            found = await self.ledger.find(execution_id)
            if found is not None and found.state.is_terminal:
                self._forget(execution_id)

    def _forget(self, execution_id: str) -> None:
        """Keep its secrets no longer."""
        self._secrets.pop(execution_id, None)

    # looking

    async def visible(self, execution_id: str, caller: Caller) -> Execution:
        """The execution of an id, for whoever started it; to all others there is none."""
        found = await self.ledger.find(execution_id)
        if found is None or found.adapter != self.adapter or found.owner != identity(caller):
            raise NotFound("execution", execution_id)
        return found

    def progress_of(self, execution: Execution) -> Progress:
        """How far it is: what is known here may be newer than what is written down."""
        desk = self.host.desk_of(execution.id)
        if desk is not None and desk.execution.attempt == execution.attempt:
            return desk.progress
        return execution.progress

    async def wait(
        self, execution: Execution, seconds: float, watch: Callable[[Execution, Progress], Any] | None = None
    ) -> Execution:
        """Wait for its end, so long at the most; meanwhile tell of its progress."""
        until = time.monotonic() + seconds
        while not execution.state.is_terminal and (left := until - time.monotonic()) > 0:
            if watch is not None:
                await watch(execution, self.progress_of(execution))
            await self._pause(execution.id, min(left, _SECONDS_BETWEEN_LOOKS))
            execution = await self.ledger.find(execution.id) or execution
        return execution

    async def _pause(self, execution_id: str, seconds: float) -> None:
        end = self.host.end_of(execution_id)
        if end is None:
            await asyncio.sleep(seconds)
            return
        try:
            async with asyncio.timeout(seconds):
                await end.wait()
        except TimeoutError:
            return

    # what callers want of them

    async def cancel(self, execution_id: str, caller: Caller) -> Execution:
        """Ask for its end; one that has ended already stays as it is, and that is refused."""
        await self.open()
        known = await self.visible(execution_id, caller)
        if known.state.is_terminal:
            raise unfit(known, ": it has ended, and cannot be cancelled any more")
        found, free = await self.ledger.ask_to_stop(execution_id, identity(caller))
        self.stop_here(execution_id, free)
        if found is None or found.state.is_terminal:
            self._forget(execution_id)
        return found or known

    def stop_here(self, execution_id: str, free: Iterable[Free] = ()) -> None:
        """Pass on to the work in this process that it is to stop, and let others begin."""
        self.host.tell_to_stop(execution_id)
        self.host.begin_free(free)

    def check_retry(self, execution: Execution) -> None:
        """Refuse to begin anew what has not failed, or may not."""
        about = About.read(execution.about)
        if execution.state.value != "failed":
            raise unfit(execution, ", and only a failed one can be retried")
        if not about.background.retry:
            raise unfit(execution, f", and '{execution.operation}' does not allow a retry: start it anew")
        if about.hides:
            raise unfit(execution, ", and its parameters had secrets in them, which are not kept: start it anew")

    async def retry(self, execution_id: str, caller: Caller) -> Execution:
        """Begin anew what has failed."""
        await self.open()
        known = await self.visible(execution_id, caller)
        self.check_retry(known)
        moved = await self.ledger.retry(execution_id, self.host.id if self._works_here else None)
        if moved is None:
            raise unfit(await self.visible(execution_id, caller), ", and only a failed one can be retried")
        if self._works_here and moved.ready:
            self.host.take(execution_id)
        return moved

    def session_ended(self, session: Session) -> None:
        """End what is bound to a session that is over."""
        if session.id not in self._bound:
            return
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:  # nothing runs any more: the next process finds what was left
            return
        self._bound.discard(session.id)
        task = loop.create_task(self._end_session(session.id))
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    async def _end_session(self, session_id: str) -> None:
        """It is said until the store has heard it; if this process ends before that, the next one knows by itself."""
        while True:
            try:
                ended = await self.ledger.end_session(session_id)
                break
            except StoreError as error:
                _LOG.warning("the work of an ended session cannot be ended yet: %s", error)
            await asyncio.sleep(_SECONDS_UNTIL_ANOTHER_TRY)
        for execution in ended:
            self.stop_here(execution.id)


async def _nobody(_desk: Desk) -> Cut:
    raise Failed(INTERRUPTED)


def _slot_key(operation: Operation, names: Iterable[str], params: Mapping[str, object]) -> str | None:
    """What an execution must have for itself; what is left out is as if its default had been given."""
    values = [params[name] if name in params else _default(operation, name) for name in names]
    return digest(values) if values else None


def _default(operation: Operation, name: str) -> object:
    """A default as a caller would give it; one that has no such form is told by its looks."""
    parameter = operation.parameter(name)
    if parameter is None or parameter.default is None:
        return None
    return parameter.schema.get("default", repr(parameter.default))
