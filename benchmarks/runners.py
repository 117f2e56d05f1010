"""Who starts errands and has them done: headgate in process and with a worker, procrastinate with its own."""

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractContextManager, asynccontextmanager, closing, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import orjson
import psycopg

from benchmarks.errands import PIPE, TASK, Begun, Pipe, errands, here, peer
from benchmarks.processes import headgate, running
from headgate import Engine, Session
from headgate.server.settings import Settings

__all__ = ["AT_ONCE", "Runner", "in_process", "procrastinate", "with_worker"]

AT_ONCE: Final = 10
"""How many errands a worker is at, and how many callers start some at the same time."""
_PATIENCE_SECONDS: Final = 60.0
_MODULE: Final = "benchmarks.errands"


@dataclass(frozen=True, slots=True)
class Runner:
    """One of them."""

    start: Callable[[int], Awaitable[object]]
    """Start the errand of a number."""
    begun: Callable[[], Awaitable[list[Begun]]]
    """What has begun since the last time, as soon as there is something."""
    unfinished: Callable[[], Awaitable[int]]
    """How many errands are not done."""
    worker: Callable[[], AbstractContextManager[object]] | None = None
    """A process that does them, for as long as a block runs; None if they are done in this one."""

    def working(self) -> AbstractContextManager[object]:
        """While the block runs, errands are done."""
        return self.worker() if self.worker else nullcontext()

    async def all_begun(self, count: int) -> list[Begun]:
        """What has begun, once it is as much as that."""
        found: list[Begun] = []
        async with asyncio.timeout(_PATIENCE_SECONDS):
            while len(found) < count:
                found += await self.begun()
        return found

    async def all_done(self) -> None:
        """Until no errand is left."""
        async with asyncio.timeout(_PATIENCE_SECONDS):
            while await self.unfinished():  # noqa: ASYNC110  (a database does not tell)
                await asyncio.sleep(0.002)


@asynccontextmanager
async def in_process(url: str) -> AsyncIterator[Runner]:
    """Headgate, which does what it starts."""
    async with _served(url) as engine:

        async def unfinished() -> int:
            return len(await engine.executions.ledger.select(live=True, first=1)) if engine.executions else 0

        yield Runner(_starting(engine), _begun_here, unfinished)


async def _begun_here() -> list[Begun]:
    found = [await here.get()]
    while not here.empty():
        found.append(here.get_nowait())
    return found


@asynccontextmanager
async def with_worker(url: str, pipe: Path) -> AsyncIterator[Runner]:
    """Headgate on PostgreSQL: one process starts errands, and another one does them."""
    command = headgate("worker", f"{_MODULE}:errands", "--state", url, "--concurrency", str(AT_ONCE))
    async with _served(url) as engine:
        start = _starting(engine)
        await start(0)  # makes the tables
        unfinished = "SELECT count(*) FROM headgate.executions WHERE state <> 'completed'"
        with closing(_Elsewhere(url, unfinished, command, pipe)) as elsewhere:
            yield elsewhere.runner(start)


@asynccontextmanager
async def procrastinate(url: str, pipe: Path) -> AsyncIterator[Runner]:
    """Procrastinate used directly, in the same way."""
    app = peer(url)
    main = f"import sys; from {_MODULE} import work; work(*sys.argv[1:])"
    command = [sys.executable, "-c", main, url, str(AT_ONCE)]
    async with app.open_async():
        await app.schema_manager.apply_schema_async()
        task = app.tasks[TASK]
        unfinished = "SELECT count(*) FROM procrastinate_jobs WHERE status <> 'succeeded'"
        with closing(_Elsewhere(url, unfinished, command, pipe)) as elsewhere:
            yield elsewhere.runner(lambda number: task.defer_async(number=number))


class _Elsewhere:
    """Errands that are done in a process of its own, which takes them from a database and tells of them in a pipe."""

    def __init__(self, url: str, unfinished: str, worker: list[str], pipe: Path) -> None:
        self._unfinished = unfinished
        self._worker = worker
        self._path, self._pipe = pipe, Pipe(pipe)
        self._database = psycopg.connect(url, autocommit=True)

    def runner(self, start: Callable[[int], Awaitable[object]]) -> Runner:
        """With somebody who starts them."""
        return Runner(start, self._begun, self._left, lambda: running(self._worker, **{PIPE: str(self._path)}))

    async def _begun(self) -> list[Begun]:
        while not (found := list(self._pipe.news())):
            await self._pipe.wait()
        return found

    async def _left(self) -> int:
        [[found]] = self._database.execute(self._unfinished.encode()).fetchall()
        return int(found)

    def close(self) -> None:
        """Leave the database."""
        self._database.close()
        self._pipe.close()


@asynccontextmanager
async def _served(url: str) -> AsyncIterator[Engine]:
    """An engine as a server has it."""
    settings = Settings.of(state=url)
    store = settings.store()
    engine = settings.engine(errands, store)
    try:
        yield engine
    finally:
        if engine.executions is not None:
            await engine.executions.close()
        await store.close()


def _starting(engine: Engine) -> Callable[[int], Awaitable[object]]:
    session = Session()

    async def start(number: int) -> object:
        reply = await engine.call({"operation": "execute_errand", "params": {"number": number}}, session=session)
        if reply.is_error:
            raise RuntimeError(f"headgate answers {reply.text}")
        return orjson.loads(reply.text)["data"]["execution_id"]

    return start
