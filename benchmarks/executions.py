"""What an execution costs: from the call to the work, and how many in a second, beside procrastinate used directly."""

import asyncio
import itertools
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psycopg

from benchmarks.aims import Aim
from benchmarks.runners import AT_ONCE, Runner, in_process, procrastinate, with_worker
from benchmarks.stores import fresh_stores
from benchmarks.tables import Cell, Table
from benchmarks.timing import Timing

__all__ = ["Amount", "executions"]

_MOST_TIMES: Final = 1.3
_PAUSE_SECONDS: Final = 0.03
"""Between two executions, so that each finds a queue in which nothing is left to do."""
_CALLS: Final = 5
_WARMING: Final = 10

_OURS: Final = "headgate, PostgreSQL and a worker"
_PEER: Final = "procrastinate and its worker"


@dataclass(frozen=True, slots=True)
class Amount:
    """How often each thing is measured."""

    rounds: int
    """Of which each has some executions one at a time."""
    heaps: int
    """How often many executions are started and then worked off."""
    one_by_one: int
    at_once: int


@dataclass(frozen=True, slots=True)
class _Rates:
    """The seconds that an execution takes where there are many."""

    one_by_one: Timing
    at_once: Timing
    worked_off: Timing


async def executions(amount: Amount) -> tuple[list[Table], list[Aim]]:
    """The tables of executions, and whether those on PostgreSQL keep up with procrastinate."""
    with fresh_stores() as stores:
        async with _runners(stores) as runners:
            latencies = await _latencies(runners, amount.rounds)
            rates = await _all_rates(runners, amount)
    ours, theirs = rates[_OURS], rates[_PEER]
    ratios = {
        "from the call to the work": latencies[_OURS].against(latencies[_PEER]),
        "working off": ours.worked_off.against(theirs.worked_off),
    }
    aims = [
        Aim(f"executions on PostgreSQL, {what}: headgate / procrastinate", one, _MOST_TIMES)
        for what, one in ratios.items()
    ]
    return [_latency_table(latencies), _rates_table(rates, amount)], aims


@asynccontextmanager
async def _runners(stores: Mapping[str, str]) -> AsyncIterator[dict[str, Runner]]:
    """All contenders, those on PostgreSQL each in a database of its own on the same server."""
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="headgate-pipes-")))
        yield {
            "headgate, memory, in process": await stack.enter_async_context(in_process(stores["memory"])),
            "headgate, SQLite, in process": await stack.enter_async_context(in_process(stores["SQLite"])),
            _OURS: await stack.enter_async_context(with_worker(_database(stores, "headgate"), folder / "ours")),
            _PEER: await stack.enter_async_context(procrastinate(_database(stores, "peer"), folder / "peer")),
        }


def _database(stores: Mapping[str, str], name: str) -> str:
    """The URL of a new database on the server."""
    url = stores["PostgreSQL"]
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"'.encode())
    return url.replace("/postgres?", f"/{name}?")


# one at a time


async def _latencies(runners: Mapping[str, Runner], rounds: int) -> dict[str, Timing]:
    """The seconds from the call that starts an execution to the first line of its work, in turns."""
    numbers = itertools.count(1)
    samples: dict[str, list[float]] = {name: [] for name in runners}
    with ExitStack() as stack:
        for runner in runners.values():
            stack.enter_context(runner.working())
            for _ in range(_WARMING):
                await _latency(runner, next(numbers))
        for names in _turns(list(runners), rounds):
            for name in names:
                samples[name] += [await _latency(runners[name], next(numbers)) for _ in range(_CALLS)]
    return {name: Timing(tuple(taken), _CALLS) for name, taken in samples.items()}


def _turns(names: list[str], rounds: int) -> Iterator[list[str]]:
    """All of them in each round, each of which begins with another one."""
    for turn in range(rounds):
        first = turn % len(names)
        yield names[first:] + names[:first]


async def _latency(runner: Runner, number: int) -> float:
    started = time.monotonic()
    await runner.start(number)
    while not (found := [one for one in await runner.all_begun(1) if one.number == number]):
        pass
    await asyncio.sleep(_PAUSE_SECONDS)
    return found[0].at - started


# many


async def _all_rates(runners: Mapping[str, Runner], amount: Amount) -> dict[str, _Rates]:
    measured: dict[str, list[tuple[float, float, float]]] = {name: [] for name in runners}
    for names in _turns(list(runners), amount.heaps):
        for name in names:
            measured[name].append(await _rates(runners[name], amount))
    return {name: _Rates(*(Timing(taken) for taken in zip(*rounds, strict=True))) for name, rounds in measured.items()}


async def _rates(runner: Runner, amount: Amount) -> tuple[float, float, float]:
    """The seconds for each execution: started by one caller, by many, and worked off."""
    few, many = amount.one_by_one, amount.at_once
    one_by_one = await _started(runner, few, callers=1)
    if runner.worker is None:
        await runner.all_begun(few)
        await runner.all_done()
        return one_by_one, *await _here(runner, many)
    at_once = await _started(runner, many, callers=AT_ONCE)
    with runner.working():
        begun = await runner.all_begun(few + many)
        await runner.all_done()
    times = [one.at for one in begun]
    return one_by_one, at_once, (max(times) - min(times)) / (len(times) - 1)


async def _here(runner: Runner, many: int) -> tuple[float, float]:
    """Where the work is done in this process, it begins while more is started: it is worked off when all of it is."""
    started = time.monotonic()
    at_once = await _started(runner, many, callers=AT_ONCE)
    await runner.all_begun(many)
    await runner.all_done()
    return at_once, (time.monotonic() - started) / many


async def _started(runner: Runner, count: int, *, callers: int) -> float:
    """The seconds for each of so many, of which some callers start one after the other."""
    numbers = iter(range(count))

    async def caller() -> None:
        for number in numbers:
            await runner.start(number)

    started = time.monotonic()
    await asyncio.gather(*(caller() for _ in range(callers)))
    return (time.monotonic() - started) / count


# what is shown


def _latency_table(latencies: Mapping[str, Timing]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name, timing in latencies.items():
        ratio = None if name == _PEER else timing.against(latencies[_PEER])
        rows.append((name, timing.median, timing.p95, ratio))
    columns = ("", "median", "p95", "/ procrastinate")
    return Table("Executions: from the call to the first line of the work (µs)", columns, tuple(rows))


def _rates_table(rates: Mapping[str, _Rates], amount: Amount) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name, one in rates.items():
        cells: list[Cell] = [name]
        for ours, theirs in zip(_timings(one), _timings(rates[_PEER]), strict=True):
            ratio = None if name == _PEER else ours.against(theirs)
            cells += [1e6 / ours.median, ratio]
        rows.append(tuple(cells))
    columns = (
        "",
        "started by 1",
        "time: by 1",
        f"by {AT_ONCE}",
        f"time: by {AT_ONCE}",
        "worked off",
        "time: worked off",
    )
    return Table(f"Executions: {amount.one_by_one + amount.at_once:,} of them, per second", columns, tuple(rows))


def _timings(rates: _Rates) -> tuple[Timing, Timing, Timing]:
    return rates.one_by_one, rates.at_once, rates.worked_off
