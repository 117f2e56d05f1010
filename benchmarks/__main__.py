"""``python -m benchmarks [SUITE...]``: every table, and the aims beside what was measured."""

import argparse
import asyncio
import json
import os
import platform
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

from benchmarks.aims import Aim, aims_table
from benchmarks.crowd import crowd
from benchmarks.data import postgresql, sqlite_file
from benchmarks.databases import in_postgresql, in_sqlite
from benchmarks.dispatch import dispatch
from benchmarks.executions import Amount, executions
from benchmarks.gating import guarded, ungated
from benchmarks.memory import while_paging
from benchmarks.over_http import HAS_DATASETTE, over_http
from benchmarks.proxying import proxying
from benchmarks.registry import registry
from benchmarks.steps import steps
from benchmarks.tables import Table
from benchmarks.tokens import tokens
from benchmarks.transports import BARE, FASTMCP, HEADGATE, OWN_CLIENT, Measured, through_mcp
from benchmarks.wrapped import wrapped


@dataclass(frozen=True, slots=True)
class Effort:
    """How often each thing is measured; a row of the databases' tables, for how many seconds."""

    dispatch_rounds: int
    mcp_rounds: int
    builds: int
    row_seconds: float
    executions: Amount


FULL: Final = Effort(
    dispatch_rounds=100,
    mcp_rounds=100,
    builds=5,
    row_seconds=3.0,
    executions=Amount(rounds=20, heaps=5, one_by_one=100, at_once=400),
)
QUICK: Final = Effort(
    dispatch_rounds=20,
    mcp_rounds=10,
    builds=3,
    row_seconds=0.5,
    executions=Amount(rounds=5, heaps=3, one_by_one=50, at_once=150),
)
MEMORY_ROWS: Final = 1_000_000
QUIET_LOAD: Final = 0.5
_PACKAGES: Final = ("headgate", "mcp", "fastmcp", "datasette", "psycopg", "procrastinate")


class Report:
    """Tables, printed as soon as they are there, and the aims that they were made for."""

    def __init__(self) -> None:
        self.tables: list[Table] = []
        self.aims: list[Aim] = []

    def add(self, shown: Table | Sequence[Table], aims: Sequence[Aim]) -> None:
        """More tables, and what they say of the aims."""
        for table in [shown] if isinstance(shown, Table) else shown:
            print(table.text() + "\n", flush=True)
            self.tables.append(table)
        self.aims += aims


async def engine(report: Report, effort: Effort, _rows: Sequence[int]) -> None:
    """The engine alone."""
    table, plain = await dispatch(effort.dispatch_rounds)
    report.add(table, [Aim("dispatch alone, µs", plain.median, 20.0)])


async def gating(report: Report, effort: Effort, _rows: Sequence[int]) -> None:
    """What guarding costs."""
    report.add(*await ungated(effort.dispatch_rounds))
    report.add(await guarded(effort.row_seconds), [])


async def loop(report: Report, effort: Effort, _rows: Sequence[int]) -> None:
    """What a step of an agent costs."""
    report.add(*await steps(effort.row_seconds))


async def long_work(report: Report, effort: Effort, _rows: Sequence[int]) -> None:
    """Executions beside procrastinate, and reads beside executions."""
    report.add(*await executions(effort.executions))
    report.add(*await crowd(effort.row_seconds))


async def transports(report: Report, effort: Effort, _rows: Sequence[int]) -> None:
    """Through MCP."""
    table, measured = await through_mcp(effort.mcp_rounds)
    aims = [Aim(f"{wire}: headgate / {BARE}", _ratio(measured, wire, BARE), 1.10) for wire in measured]
    for wire, timings in measured.items():
        rivals = [name for name in (FASTMCP, OWN_CLIENT) if name in timings and wire.startswith("in process")]
        aims += [Aim(f"{wire}: headgate / {name}", _ratio(measured, wire, name), 0.50) for name in rivals]
    report.add(table, aims)


async def proxies(report: Report, effort: Effort, _rows: Sequence[int]) -> None:
    """Through a proxy, and what the tools of real servers cost before and behind headgate."""
    report.add(*await proxying(effort.mcp_rounds))
    report.add(await wrapped(), [])


async def registries(report: Report, effort: Effort, _rows: Sequence[int]) -> None:
    """Many operations."""
    table, built = await registry(effort.builds)
    slowest = max(built.plain, built.dataclasses)
    report.add(table, [Aim("build 10,000 operations from functions, ms", slowest, 1000.0)])


async def token_costs(report: Report, _effort: Effort, _rows: Sequence[int]) -> None:
    """What the tools cost."""
    table, costs = await tokens()
    few, many = [costs[f"{size} operations, semantic"] for size in ("100", "10,000")]
    report.add(
        table,
        [
            Aim("tools/list of 10,000 operations against 100, tokens more", many - few, 0),
            Aim("tools/list of 89 operations, semantic, tokens", costs["89 operations, semantic"], 900),
            Aim("tools/list of 89 operations, single, tokens", costs["89 operations, single"], 300),
        ],
    )


async def databases(report: Report, effort: Effort, rows: Sequence[int]) -> None:
    """Pages and summaries of large tables, by hand, over HTTP and for a long time."""
    with postgresql() as server:
        for count in rows:  # made before anything is measured
            sqlite_file(count), server.url(count)
        for count in rows:
            report.add(*await in_sqlite(sqlite_file(count), count, effort.row_seconds))
            report.add(*await in_postgresql(server.url(count), count, effort.row_seconds))
        for count in rows if HAS_DATASETTE else ():
            shown, aims = await over_http(sqlite_file(count), count, effort.row_seconds)
            report.add(shown, aims)
        most = max(rows)
        sources: dict[str, str | Path] = {"SQLite": sqlite_file(most), "PostgreSQL": server.url(most)}
        report.add(*await while_paging(sources, min(most, MEMORY_ROWS)))


SUITES: Final = {
    "engine": engine,
    "gating": gating,
    "loop": loop,
    "executions": long_work,
    "transports": transports,
    "proxies": proxies,
    "registry": registries,
    "tokens": token_costs,
    "databases": databases,
}


async def main(suites: Sequence[str], effort: Effort, rows: Sequence[int]) -> Report:
    """Measure, and print each table as soon as it is there."""
    started = time.monotonic()
    print(f"{_versions()}; {_load()} before")
    if os.getloadavg()[0] > QUIET_LOAD * (os.cpu_count() or 1):
        print("The machine is busy with something else: do not keep these figures.")
    print(flush=True)
    report = Report()
    for suite in suites:
        await SUITES[suite](report, effort, rows)
    table = aims_table(report.aims)
    print(table.text())
    report.tables.insert(0, table)
    print(f"\n{time.monotonic() - started:.0f} s; {_load()} after")
    return report


def _versions() -> str:
    packages = ", ".join(f"{name} {_version(name)}" for name in _PACKAGES)
    return f"{os.cpu_count()} cores, Python {platform.python_version()}, {packages}"


def _load() -> str:
    """How busy the machine is with this and everything else, over the last minute."""
    return f"load {os.getloadavg()[0]:.2f}"


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def _ratio(measured: Measured, wire: str, name: str) -> float:
    return measured[wire][HEADGATE].median / measured[wire][name].median


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=f"{', '.join(SUITES)}; all of them by default")
    parser.add_argument("--quick", action="store_true", help="fewer rounds, in less than half the time")
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000], help="how large the databases' tables are")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the tables there too")
    given = parser.parse_args()
    if unknown := set(given.suites) - set(SUITES):
        parser.error(f"no such suite: {', '.join(sorted(unknown))}")
    done = asyncio.run(main(given.suites or list(SUITES), QUICK if given.quick else FULL, given.rows))
    if given.json:
        saved = {"machine": _versions(), "load": _load(), "tables": [table.wire() for table in done.tables]}
        given.json.write_text(json.dumps(saved, indent=1, ensure_ascii=False) + "\n")
