"""What is measured: every suite by its name, with what it takes and gives."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from benchmarks.aims import Aim
from benchmarks.batches import batches
from benchmarks.crowd import crowd
from benchmarks.data import postgresql, sqlite_file
from benchmarks.databases import in_postgresql, in_sqlite
from benchmarks.dispatch import beside_peers, dispatch
from benchmarks.endurance import Requests, endurance
from benchmarks.executions import Amount, executions
from benchmarks.finding import finding
from benchmarks.gating import guarded, ungated
from benchmarks.load import load
from benchmarks.memory import while_paging
from benchmarks.openapi import openapi
from benchmarks.over_http import HAS_DATASETTE, over_http
from benchmarks.proxying import proxying
from benchmarks.registry import beside_fastmcp, registry
from benchmarks.replicas import replicas
from benchmarks.scale import operations, remembered, sessions
from benchmarks.starting import starting
from benchmarks.steps import steps
from benchmarks.tables import Table
from benchmarks.task import MOST, task_costs
from benchmarks.tokens import counter, tokens
from benchmarks.transports import through_mcp
from benchmarks.wrapped import wrapped

__all__ = ["FULL", "QUICK", "SUITES", "Effort", "Findings", "Suite"]

Findings: TypeAlias = tuple[list[Table], list[Aim]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How often each thing is measured, for how many seconds each row, and how large the tables of databases are."""

    dispatch_rounds: int
    mcp_rounds: int
    builds: int
    row_seconds: float
    executions: Amount
    endurance: Requests
    rows: tuple[int, ...] = (1_000_000,)


FULL: Final = Effort(
    dispatch_rounds=100,
    mcp_rounds=100,
    builds=5,
    row_seconds=3.0,
    executions=Amount(rounds=20, heaps=5, one_by_one=100, at_once=400),
    endurance=Requests(headgate=1_000_000, peers=200_000, in_process=1_000_000),
)
QUICK: Final = Effort(
    dispatch_rounds=20,
    mcp_rounds=10,
    builds=3,
    row_seconds=0.5,
    executions=Amount(rounds=5, heaps=3, one_by_one=50, at_once=150),
    endurance=Requests(headgate=20_000, peers=20_000, in_process=100_000),
)
_MEMORY_ROWS: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Suite:
    """Tables that belong together, and what makes them. What the rows mean stands in ``explained/``."""

    title: str
    run: Callable[[Effort], Awaitable[Findings]]
    counts_tokens: bool = False
    """Whether it needs the package that counts them."""


async def _dispatch(effort: Effort) -> Findings:
    table, plain = await dispatch(effort.dispatch_rounds)
    beside, aims = await beside_peers(effort.dispatch_rounds)
    return [table, beside], [Aim("dispatch alone, µs", plain.median, 15.0), *aims]


async def _batches(effort: Effort) -> Findings:
    table, aims = await batches(effort.mcp_rounds)
    return [table], aims


async def _gating(effort: Effort) -> Findings:
    table, aims = await ungated(effort.dispatch_rounds)
    return [table, *await guarded(effort.row_seconds)], aims


async def _executions(effort: Effort) -> Findings:
    tables, aims = await executions(effort.executions)
    table, more = await crowd(effort.row_seconds)
    return [*tables, table], [*aims, *more]


async def _transports(effort: Effort) -> Findings:
    table, aims = await through_mcp(effort.mcp_rounds)
    return [table], aims


async def _proxies(effort: Effort) -> Findings:
    table, aims = await proxying(effort.mcp_rounds)
    return [table, await wrapped()], aims


async def _registry(effort: Effort) -> Findings:
    table, built = await registry(effort.builds)
    slowest = max(built.plain, built.dataclasses)
    return [table, await beside_fastmcp(effort.builds)], [
        Aim("build 10,000 operations from functions, ms", slowest, 1000.0)
    ]


async def _tokens(_effort: Effort) -> Findings:
    table, costs = await tokens()
    few, many = [costs[f"{size} operations, semantic"] for size in ("100", "10,000")]
    tasks, together = await task_costs(counter().of_text)
    return [table, tasks], [
        *(Aim(f"a task of three operations, {name}, tokens", cost, MOST) for name, cost in together.items()),
        Aim("tools/list of 10,000 operations against 100, tokens more", many - few, 0),
        Aim("tools/list of 89 operations, semantic, tokens", costs["89 operations, semantic"], 700),
        Aim("tools/list of 89 operations, single, tokens", costs["89 operations, single"], 250),
    ]


async def _databases(effort: Effort) -> Findings:
    tables: list[Table] = []
    aims: list[Aim] = []

    def add(found: tuple[Table | Sequence[Table], Sequence[Aim]]) -> None:
        shown, said = found
        tables.extend([shown] if isinstance(shown, Table) else shown)
        aims.extend(said)

    with postgresql() as server:
        for count in effort.rows:  # made before anything is measured
            sqlite_file(count), server.url(count)
        for count in effort.rows:
            add(await in_sqlite(sqlite_file(count), count, effort.row_seconds))
            add(await in_postgresql(server.url(count), count, effort.row_seconds))
        for count in effort.rows if HAS_DATASETTE else ():
            add(await over_http(sqlite_file(count), count, effort.row_seconds))
        most = max(effort.rows)
        sources: dict[str, str | Path] = {"SQLite": sqlite_file(most), "PostgreSQL": server.url(most)}
        add(await while_paging(sources, min(most, _MEMORY_ROWS)))
    return tables, aims


async def _endurance(effort: Effort) -> Findings:
    table, aims = await endurance(effort.endurance)
    return [table], aims


async def _scale(effort: Effort) -> Findings:
    behind_one_address = await replicas(effort.row_seconds)
    tables = [await operations(), await sessions(), await remembered(), behind_one_address]
    return [table for table in tables if table is not None], []


SUITES: Final = {
    "dispatch": Suite("Dispatch", _dispatch),
    "batches": Suite("Batches", _batches),
    "transports": Suite("Round trips through MCP", _transports),
    "load": Suite("HTTP load", lambda effort: load(effort.row_seconds)),
    "registry": Suite("10,000 operations", _registry),
    "finding": Suite("Finding operations", lambda effort: finding(effort.row_seconds), counts_tokens=True),
    "databases": Suite("Databases: pages and summaries", _databases),
    "proxies": Suite("Through a proxy", _proxies, counts_tokens=True),
    "openapi": Suite(
        "An OpenAPI document", lambda effort: openapi(effort.mcp_rounds, effort.row_seconds), counts_tokens=True
    ),
    "gating": Suite("Guarding calls", _gating),
    "loop": Suite("The safety loop", lambda effort: steps(effort.row_seconds)),
    "executions": Suite("Executions", _executions),
    "tokens": Suite("Tokens", _tokens, counts_tokens=True),
    "starting": Suite("Starting", lambda effort: starting(max(2 * effort.builds, 5))),
    "endurance": Suite("Memory over many requests", _endurance),
    "scale": Suite("What grows", _scale, counts_tokens=True),
}
