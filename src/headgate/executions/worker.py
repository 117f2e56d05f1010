"""A worker: takes executions from the shared queue with procrastinate, and works on them until it is asked to stop.

Procrastinate's worker decides when to fetch and how many to have at once, and listens for new jobs. What it would write
into the database about them is done here instead, each time in one transaction with the execution itself; and where the
database is away for a while, this waits for it rather than to give up.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from functools import partial
from typing import Any, Final, TypeVar

from procrastinate import App, PsycopgConnector
from procrastinate.exceptions import ConnectorException
from procrastinate.job_context import JobContext
from procrastinate.jobs import Job, Status
from procrastinate.manager import JobManager
from procrastinate.worker import Worker as Fetcher

from headgate.executions.desks import Stop
from headgate.executions.queueing import TASK, queue_name
from headgate.executions.service import Executions
from headgate.store import moving
from headgate.store.drivers.base import Transaction
from headgate.store.executions import Execution
from headgate.store.interface import StoreError

__all__ = ["QueueWorker"]

T = TypeVar("T")

_LOG: Final = logging.getLogger("headgate")
_POLL_SECONDS: Final = 1.0
"""How soon what is due later is seen, and what came while nobody could listen."""
_PAUSE_SECONDS: Final = 0.5
_STALLED_SECONDS: Final = 60.0

_FETCH: Final = """SELECT id, args ->> 'id', task_name, queue_name, priority, attempts
    FROM procrastinate_fetch_job_v2(ARRAY[CAST(:queue AS varchar)], :worker) WHERE id IS NOT NULL"""
_DROP: Final = "SELECT procrastinate_finish_job_v1(:job, 'succeeded', true)"
_REGISTER: Final = "SELECT worker_id FROM procrastinate_register_worker_v1()"
_UNREGISTER: Final = "SELECT procrastinate_unregister_worker_v1(:worker)"
_BEAT: Final = "SELECT procrastinate_update_heartbeat_v1(:worker)"
_PRUNE: Final = "SELECT worker_id FROM procrastinate_prune_stalled_workers_v1(:seconds)"


class _Jobs(JobManager):
    """What procrastinate's worker asks of the database, asked of the store."""

    def __init__(self, connector: PsycopgConnector, executions: Executions, concurrency: int) -> None:
        super().__init__(connector)
        self._executions = executions
        self._store = executions.ledger.store
        self._queue = queue_name(executions.adapter)
        self._concurrency = concurrency
        self._taken: deque[Job] = deque()
        self._handed_out = 0
        self._appetite = 1
        self.begun: dict[int, Execution] = {}
        """By their jobs, the executions that have begun and are not worked on yet."""
        self.is_stopping = False

    async def _patiently(self, work: Callable[[], Awaitable[T]], otherwise: T) -> T:
        while not self.is_stopping:
            try:
                return await work()
            except StoreError as error:
                _LOG.warning("the queue cannot be reached now: %s", error)
                await asyncio.sleep(_PAUSE_SECONDS)
        return otherwise

    async def fetch_job(self, queues: Iterable[str] | None, worker_id: int) -> Job | None:
        """The next job. Where one follows the other, more of them are taken at once: twice as many each time.

        So where there are few, all workers get some, and where there are many, none waits for the disk with each.
        """
        if not self._taken:
            most = max(1, min(self._appetite, self._concurrency - self._handed_out))
            taking = partial(self._take, worker_id=worker_id, most=most)
            nothing: list[tuple[Job, Execution]] = []
            found = await self._patiently(lambda: self._store.transact(taking), nothing)
            self._appetite = 2 * most if len(found) == most else 1
            self._taken += (job for job, _ in found)
            self.begun |= {job.id or 0: execution for job, execution in found}
        if self.is_stopping:
            await self.give_back()
        if not self._taken:
            return None
        self._handed_out += 1
        return self._taken.popleft()

    def _take(self, transaction: Transaction, worker_id: int, most: int) -> list[tuple[Job, Execution]]:
        """Take some jobs, and begin their executions, in one step."""
        taken: list[tuple[Job, Execution]] = []
        host, now = self._executions.host, self._executions.ledger.clock()
        while len(taken) < most and (found := transaction.rows(_FETCH, queue=self._queue, worker=worker_id)):
            job = _job(*found[0])
            execution = moving.begin(transaction, str(job.task_kwargs["id"]), host.id, now, job.id)
            if execution is None:  # it was cancelled while it waited
                transaction.rows(_DROP, job=job.id)
            else:
                taken.append((job, execution))
        return taken

    async def give_back(self) -> None:
        """Let others have what was taken, and will not be worked on here."""
        while self._taken:
            execution = self.begun.pop(self._taken.popleft().id or 0)
            with suppress(StoreError):  # then it fares like what is under way in a process that is gone
                await self._executions.ledger.give_back(execution.id, self._executions.host.id)

    async def finish_job(self, job: Job, status: Status, delete_job: bool) -> None:
        """It was finished together with its execution."""
        self._handed_out -= 1

    async def retry_job(self, job: Job, *args: Any, **kwargs: Any) -> None:
        """It was put back together with its execution."""
        self._handed_out -= 1

    async def list_jobs_to_abort_async(self, queue: str | None = None) -> Iterable[int]:
        """None: the executions themselves say which are to stop."""
        return ()

    async def register_worker(self) -> int:
        """Make a worker known, so that jobs can name it."""
        found = await self._patiently(lambda: self._ask(_REGISTER), [(0,)])
        return int(found[0][0])

    async def unregister_worker(self, worker_id: int) -> None:
        """The worker is gone."""
        with suppress(StoreError):
            await self._ask(_UNREGISTER, worker=worker_id)

    async def update_heartbeat(self, worker_id: int) -> None:
        """The worker is alive."""
        with suppress(StoreError):
            await self._ask(_BEAT, worker=worker_id)

    async def prune_stalled_workers(self, seconds_since_heartbeat: float) -> list[int]:
        """Forget workers that are gone. What they were at is looked after elsewhere."""
        nothing: list[Any] = []
        found = await self._patiently(lambda: self._ask(_PRUNE, seconds=seconds_since_heartbeat), nothing)
        return [int(row[0]) for row in found]

    async def listen_for_jobs(self, **listening: Any) -> None:
        """Hear of new jobs, over whichever connection there is."""
        while True:
            with suppress(ConnectorException, OSError):
                await super().listen_for_jobs(**listening)
            await asyncio.sleep(_PAUSE_SECONDS)

    async def _ask(self, sql: str, **values: object) -> list[Any]:
        return await self._store.transact(lambda transaction: transaction.rows(sql, **values))


def _job(number: int, execution_id: str, task: str, queue: str, priority: int, attempts: int) -> Job:
    return Job(
        id=number,
        task_name=task,
        queue=queue,
        priority=priority,
        lock=None,
        queueing_lock=None,
        task_kwargs={"id": execution_id},
        attempts=attempts,
        status=Status.DOING.value,
    )


class QueueWorker:
    """Works on the executions of one adapter, so many at once."""

    def __init__(self, executions: Executions, url: str, concurrency: int) -> None:
        self._executions = executions
        connector = PsycopgConnector(conninfo=url.replace("+psycopg:", ":", 1), min_size=0, max_size=1)
        self._jobs = _Jobs(connector, executions, concurrency)
        self._app = App(connector=connector)
        self._app.job_manager = self._jobs
        self._app.task(name=TASK, pass_context=True)(self._work)
        self._fetcher: Any = Fetcher(  # whose methods have no types
            self._app,
            queues=[queue_name(executions.adapter)],
            concurrency=concurrency,
            fetch_job_polling_interval=_POLL_SECONDS,
            stalled_worker_timeout=_STALLED_SECONDS,
            install_signal_handlers=False,
        )

    async def _work(self, context: JobContext, id: str) -> None:  # noqa: A002  (as the job's argument is named)
        execution = self._jobs.begun.pop(context.job.id or 0)
        await self._executions.host.work(execution)

    async def run(self, until: Callable[[], Awaitable[None]], grace: float) -> None:
        """Work until something is over; then finish what is under way for so long, and give back the rest."""
        await self._executions.open()
        async with self._app.open_async():
            fetching = asyncio.create_task(self._fetcher.run())
            waiting = asyncio.ensure_future(until())
            try:
                await asyncio.wait({fetching, waiting}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                waiting.cancel()
                self._jobs.is_stopping = True
                self._fetcher.stop()
                await self._jobs.give_back()
                await self._drain(fetching, grace)

    async def _drain(self, fetching: "asyncio.Task[None]", grace: float) -> None:
        """An orderly end: what does not finish in time is interrupted, as its operation says."""
        host = self._executions.host
        if host.running:
            _LOG.info("finishing %d execution%s", host.running, "" if host.running == 1 else "s")
        await asyncio.wait({fetching}, timeout=grace)
        longest = host.longest_cleanup
        host.interrupt(Stop.SHUTDOWN)
        await asyncio.wait({fetching}, timeout=longest + _PAUSE_SECONDS)
        await self._executions.close()  # what does not stop is given back or fails as that of a process that is gone
        if fetching.done():
            await fetching
