"""Servers and workers on one PostgreSQL that are killed at random, a database that goes away, and work that goes on."""

import asyncio
import json
import random
import signal
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from headgate.executions.queueing import prepare_queue
from headgate.protocol.lifecycle import State
from headgate.store.opening import open_store
from tests.executions_processes.callers import Callers, Envelope, eventually
from tests.executions_processes.durable import Durable
from tests.executions_processes.examining import (
    Examined,
    Found,
    examine,
    keep_history,
    left_over,
    running_of,
)
from tests.executions_processes.orders import Order, order_of
from tests.executions_processes.programs import Kind, Life, Program, server, worker
from tests.executions_processes.workshop import result_of, traces_in
from tests.server.processes import PATIENCE

__all__ = ["Chaos", "Size"]

_EXECUTE = "mcp_aql_execute"
_TERMINAL = frozenset({"completed", "failed", "cancelled"})
_LONGEST_AWAY = 1.0
_DATABASE_AWAY = 1.5
_HELD = 5
"""How much work is done while the database is away."""
_AT_ONCE = 16
_WORKERS_KILLED = 0.6
"""Which part of the kills meets workers, where the work is."""
_DISTURBED = 0.9
"""Which part of the work is started while programs are killed; the rest goes on in peace."""


@dataclass(frozen=True, kw_only=True)
class Size:
    """How much of everything there is."""

    servers: int = 4
    workers: int = 4
    executions: int = 2000
    agents: int = 40
    """How many callers there are, each of whom follows one execution at a time."""
    kills: int = 80
    restarts: tuple[Literal["immediate", "fast"], ...] = ("immediate", "fast")
    """How the database is taken away for a while, each time."""

    @property
    def ordered(self) -> int:
        """How many executions callers start, beside those that are held until the database is away."""
        return self.executions - _HELD * len(self.restarts)


@dataclass
class Chaos:
    """One run of it, from start to end, and what it has shown."""

    database: Durable
    folder: Path
    size: Size
    seed: int
    kills: Counter[Kind] = field(default_factory=Counter)
    confirmed: set[str] = field(default_factory=set)
    """The executions whose start was answered."""
    unanswered: int = 0
    """How many starts were not."""
    retried: Counter[str] = field(default_factory=Counter)
    """How often somebody asked to begin an execution anew."""
    cancels: set[str] = field(default_factory=set)
    """The executions that somebody asked to cancel."""
    fetched: int = 0
    """How many results were read, and are right."""
    seconds: float = 0.0

    def __post_init__(self) -> None:
        self._chance = random.Random(self.seed)  # noqa: S311  (nothing is secret here)
        self._traces = self.folder / "traces"
        self._traces.mkdir()
        url = self.database.url
        self._servers = [server(f"server-{n}", url, self._traces, self._pause) for n in range(self.size.servers)]
        self._workers = [worker(f"worker-{n}", url, self._traces, self._pause) for n in range(self.size.workers)]
        self._orders = deque(order_of(number, self._chance) for number in range(self.size.ordered))
        self._progress = asyncio.Event()
        self._examined: Examined | None = None
        self._away: list[tuple[float, float]] = []

    @property
    def programs(self) -> list[Program]:
        """Everything that may be killed."""
        return [*self._servers, *self._workers]

    @property
    def lives(self) -> list[Life]:
        """All processes of all of them."""
        return [life for program in self.programs for life in program.lives]

    @property
    def examined(self) -> Examined:
        """What was left behind."""
        assert self._examined is not None
        return self._examined

    def _pause(self) -> float:
        return self._chance.uniform(0, _LONGEST_AWAY)

    async def run(self) -> None:
        """All of it; an AssertionError where something is not as it must be."""
        began = time.perf_counter()
        await self._prepare()
        async with self._running(), Callers.of(self._servers, self._chance) as callers:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._disturb(callers))
                for _ in range(self.size.agents):
                    tasks.create_task(self._work(callers))
            await self._until_all_is_over()
            self._examined = await asyncio.to_thread(examine, self.database.url, self._traces, self.lives)
            await self._fetch_all(callers)
            await self._stop(callers)
        self.examined.check()
        self._compare()
        self.seconds = time.perf_counter() - began

    async def _prepare(self) -> None:
        store = open_store(self.database.url)
        try:
            await prepare_queue(store)
        finally:
            await store.close()
        await asyncio.to_thread(keep_history, self.database.url)

    @asynccontextmanager
    async def _running(self) -> AsyncIterator[None]:
        for program in self.programs:
            program.begin()
        try:
            await self._until_all_are_up()
            yield
        finally:
            await asyncio.gather(*(program.abandon() for program in self.programs))

    async def _until_all_are_up(self) -> None:
        async with asyncio.timeout(PATIENCE):
            for program in self.programs:
                await program.is_up.wait()

    # those who have work done

    async def _work(self, callers: Callers) -> None:
        while self._orders:
            order = self._orders.popleft()
            execution_id = await self._start(callers, order)
            if order.cancels_after is not None:
                await self._cancel(callers, execution_id, order.cancels_after)
            status = await self._follow(callers, execution_id)
            if status == "failed" and order.retries:
                await self._retry(callers, execution_id)
                await self._follow(callers, execution_id)

    async def _start(self, callers: Callers, order: Order) -> str:
        """Start the work of an order. One whose answer was lost may have been kept: it is started once more."""
        while (answer := await callers.ask(order.operation, tool=_EXECUTE, **order.params)) is None:
            self.unanswered += 1
        assert answer["success"], answer
        execution_id = str(answer["data"]["execution_id"])
        self.confirmed.add(execution_id)
        self._progress.set()
        return execution_id

    async def _cancel(self, callers: Callers, execution_id: str, after: float) -> None:
        await asyncio.sleep(after)  # any moment will do: nothing waits for it
        self.cancels.add(execution_id)
        _expect(await callers.surely("cancel_execution", tool=_EXECUTE, execution_id=execution_id))

    async def _retry(self, callers: Callers, execution_id: str) -> None:
        self.retried[execution_id] += 1
        _expect(await callers.surely("retry_execution", tool=_EXECUTE, execution_id=execution_id))

    async def _follow(self, callers: Callers, execution_id: str) -> str:
        async with asyncio.timeout(2 * PATIENCE):
            while True:
                answer = await callers.surely("get_execution", execution_id=execution_id, wait_seconds=10)
                assert answer["success"], answer
                if answer["data"]["status"] in _TERMINAL:
                    return str(answer["data"]["status"])

    # what happens to them

    async def _disturb(self, callers: Callers) -> None:
        """Kill programs while the work goes on, and take the database away in between."""
        size = self.size
        restarts = {size.kills * (n + 1) // (len(size.restarts) + 1): mode for n, mode in enumerate(size.restarts)}
        for number in range(size.kills):
            await self._until_started(int(size.executions * _DISTURBED * (number + 1) / (size.kills + 1)))
            if number in restarts:
                await self._take_away(callers, restarts[number])
            await self._kill()

    async def _until_started(self, number: int) -> None:
        while len(self.confirmed) < number:
            self._progress.clear()
            await self._progress.wait()

    async def _take_away(self, callers: Callers, mode: Literal["immediate", "fast"]) -> None:
        """Take the database away; meanwhile some work is done whose results nobody can keep yet."""
        gate = f"while the database is away, {mode}"
        held = [await self._start(callers, Order.held(gate, fails=number % 2 > 0)) for number in range(_HELD)]
        await eventually(lambda: self._traced(held, "began"))
        since = time.monotonic()
        await asyncio.to_thread(self.database.stop, mode)
        (self.folder / gate).touch()
        await eventually(lambda: self._traced(held, "done", "raised"))
        await asyncio.sleep(_DATABASE_AWAY)
        await asyncio.to_thread(self.database.start)
        self._away.append((since, time.monotonic()))
        # Only then somebody may be killed again, who could be taken for the reason why a result is lost.
        await eventually(lambda: not running_of(self.database.url, held))

    def _traced(self, ids: Iterable[str], *words: str) -> bool:
        return set(ids) <= {trace.execution_id for trace in traces_in(self._traces) if trace.word in words}

    async def _kill(self) -> None:
        of_kind = self._workers if self._chance.random() < _WORKERS_KILLED else self._servers
        program = self._chance.choice(of_kind)
        await eventually(program.kill)  # it may be on its way back from the kill before
        self.kills[program.kind] += 1

    # what has come of it

    async def _until_all_is_over(self) -> None:
        await eventually(lambda: not left_over(self.database.url))

    async def _fetch_all(self, callers: Callers) -> None:
        """Every result, through whichever server: each is what its parameters say."""
        completed = deque(self.examined.ended(State.COMPLETED))

        async def fetch() -> None:
            while completed:
                await self._fetch(callers, completed.popleft())

        await asyncio.gather(*(fetch() for _ in range(_AT_ONCE)))

    async def _fetch(self, callers: Callers, one: Found) -> None:
        assert await _result(callers, one.id) == _wanted(one), one
        self.fetched += 1

    async def _stop(self, callers: Callers) -> None:
        await self._until_all_are_up()
        await callers.greet_all()
        await asyncio.gather(*(program.stop() for program in self.programs))
        for program in self.programs:
            assert self._has_ended_well(program.lives[-1]), program.log

    @property
    def _vain(self) -> list[Life]:
        return [life for program in self.programs for life in program.vain]

    def _could_not_begin(self, life: Life) -> bool:
        """Whether the database was away as a life ended, and nothing had been worked on in it."""
        was_away = any(since < (life.ended_at or 0) and life.began_at < till for since, till in self._away)
        return was_away and self._was_idle(life)

    def _has_ended_well(self, life: Life) -> bool:
        """Whether it has heard that it is to stop; a worker that was only beginning may have heard nothing."""
        return life.code == 0 or (life.code == -signal.SIGTERM and "worker" in life.name and self._was_idle(life))

    def _was_idle(self, life: Life) -> bool:
        return not any(trace.life == life.name for trace in self.examined.traces)

    def _compare(self) -> None:
        """What callers were told is what is in the store, and nothing was done that they did not want."""
        known = {one.id for one in self.examined.executions}
        assert self.confirmed <= known, "a confirmed start was lost"
        assert len(known - self.confirmed) <= self.unanswered, "something was started that nobody wanted"
        assert {one.id for one in self.examined.ended(State.CANCELLED)} <= self.cancels
        assert self.examined.begun_anew <= self.retried
        assert all(map(self._could_not_begin, self._vain)), [program.log for program in self.programs if program.vain]
        assert self.fetched == len(self.examined.ended(State.COMPLETED))

    def __str__(self) -> str:
        examined = self.examined
        failed = Counter(one.code for one in examined.ended(State.FAILED))
        resumed, given_back = examined.resumed
        rows: Iterable[tuple[str, object]] = (
            ("servers, workers, callers", f"{self.size.servers}, {self.size.workers}, {self.size.agents}"),
            ("starts sent", len(self.confirmed) + self.unanswered),
            ("  confirmed", len(self.confirmed)),
            ("  unconfirmed", self.unanswered),
            ("executions in the store", len(examined.executions)),
            ("  of unconfirmed starts", len(examined.executions) - len(self.confirmed)),
            ("completed, result fetched and right", self.fetched),
            ("failed", sum(failed.values())),
            *((f"  {code}", number) for code, number in sorted(failed.items())),
            ("cancelled", len(examined.ended(State.CANCELLED))),
            ("changes of a state", sum(map(len, examined.history.values()))),
            ("attempts begun, by their own traces", sum(one.word == "began" for one in examined.traces)),
            ("  resumed after a kill", resumed),
            ("  given back, since never begun", given_back),
            ("  after a failure, as declared", examined.repeated),
            ("  begun anew by a caller", examined.begun_anew.total()),
            *((f"most at once of {name}", number) for name, number in examined.most_at_once.items()),
            ("kill -9 of workers", self.kills["worker"]),
            ("kill -9 of servers", self.kills["server"]),
            ("database restarts", ", ".join(self.size.restarts)),
            ("  work that ended while it was away", _HELD * len(self.size.restarts)),
            ("  programs that began while it was away", len(self._vain)),
            ("seconds", round(self.seconds)),
        )
        return "\n".join(f"{name:<44}{value:>18}" for name, value in rows)


def _expect(answer: Envelope) -> None:
    """Done, or refused because the execution has got elsewhere meanwhile."""
    assert answer["success"] or answer["error"]["code"] == "CONFLICT_EXECUTION_STATE", answer


def _wanted(one: Found) -> Any:
    """The result that an execution must have."""
    if "gate" in one.params:
        return one.attempt
    return result_of(one.params["number"], one.params.get("size", 1), one.params.get("form", "list"))


async def _result(callers: Callers, execution_id: str) -> Any:
    """A whole result: a list or a text out of its pages, or what came at once."""
    pages: list[Any] = []
    after: str | None = None
    while True:
        answer = await callers.surely("get_execution_result", execution_id=execution_id, first=1000, after=after)
        assert answer["success"], answer
        data = answer["data"]
        pages.append(data["result"])
        if "page" not in data:
            return data["result"]
        after = data["page"].get("after")
        if after is None:
            return _joined(pages, is_text=data["page"]["of"] == "text")


def _joined(pages: list[Any], *, is_text: bool) -> Any:
    if is_text:
        return json.loads("".join(pages))
    return [item for page in pages for item in page]
