"""What a step of an agent costs: ``record_execution_step`` in process, beside its parts and its peers."""

import asyncio
import itertools
import random
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, closing
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import orjson

from benchmarks.aims import Aim
from benchmarks.stores import fresh_stores
from benchmarks.tables import Cell, Table
from benchmarks.timing import AsyncCall, Timing, race, take_turns
from headgate import Adapter, Engine, Session
from headgate.safety.autonomy.evaluation import Situation, evaluate
from headgate.safety.autonomy.rules import AgentRules
from headgate.safety.autonomy.scoring import score
from headgate.safety.autonomy.verdicts import History, Report
from headgate.safety.loop.agents import AGENT, agent_key, hint_digest
from headgate.server.settings import Settings
from headgate.store.interface import Store
from headgate.store.opening import open_store

__all__ = ["steps"]

_MOST_MICROSECONDS: Final = 1000.0
_CALLS: Final = 50
_ROUNDS_A_SECOND: Final = 6
_AT_ONCE: Final = 16
_APART: Final = 33
"""How far agents are apart in what they do, so that none reports what another has just reported."""
_STEPS_BEFORE: Final = 30
_POLICY: Final = {"autonomy": {"mode": "enforcing", "start": "free", "max_autonomous_steps": 1_000_000}}

_STEP: Final = "a step: record_execution_step"
_EVALUATED: Final = "the same evaluation alone"
_READ: Final = "a call that only reads"
_WRITTEN: Final = "an audited call: two changes, three rows"
_COMMIT: Final = "the rows of a step, by hand: one commit"

_PLACES: Final = (
    *("orders", "invoices", "customers", "payments", "search", "login"),
    *("sessions", "reports", "exports", "mail", "queue", "cache"),
)
_FILES: Final = (
    *("service.py", "handlers.ts", "routes.go", "models.rb"),
    *("config.json", "README.md", "styles.css", "schema.graphql"),
)
_ACTIONS: Final = (
    "calling read_file on src/{}/{} to see how it is built",
    "running the tests of src/{}/{}",
    "searching the project for uses of {} in {}",
    "list the open tasks about {} and {}",
    "comparing src/{}/{} with the main branch",
    "calling get_page for docs/{}/{} of version 2.1",
)


def _hints() -> Iterator[str]:
    """Harmless actions as agents report them, each another one for a long time."""
    known = [action.format(*about) for action, *about in itertools.product(_ACTIONS, _PLACES, _FILES)]
    random.Random(5).shuffle(known)  # noqa: S311
    return itertools.cycle(known)


def _adapter() -> Adapter:
    made = Adapter("workshop")

    @made.read
    async def get_tool(name: str) -> str:
        """Read about a tool."""
        return name

    @made.create
    async def create_note(text: str) -> str:
        """Write a note."""
        return text

    return made


class _Agent:
    """One agent at work in a session of its own."""

    def __init__(self, engine: Engine, number: int) -> None:
        self._engine = engine
        self._name = f"bot {number}"
        self._session = Session()
        self._hints = itertools.islice(_hints(), number * _APART, None)

    async def start(self) -> "_Agent":
        """Begin, with some steps behind it."""
        await self._call("execute_agent", {"element_name": self._name})
        for _ in range(_STEPS_BEFORE):
            await self.step()
        return self

    async def step(self) -> None:
        """Report one action, which may be taken."""
        hint = next(self._hints)
        params = {
            "element_name": self._name,
            "next_action_hint": hint,
            "step_description": "Read the file before",
            "outcome": "success",
        }
        directive = (await self._call("record_execution_step", params))["directive"]
        if directive["continue"] is not True:
            raise RuntimeError(f"'{hint}' is answered with {directive}")

    async def _call(self, operation: str, params: dict[str, Any]) -> Any:
        reply = await self._engine.call({"operation": operation, "params": params}, session=self._session)
        if reply.is_error:
            raise RuntimeError(f"{operation} is answered with {reply.text}")
        return orjson.loads(reply.text)["data"]


async def steps(seconds: float) -> tuple[list[Table], list[Aim]]:
    """The tables of steps, and whether they are quick enough with SQLite."""
    alone: dict[str, dict[str, Timing]] = {}
    together: dict[str, Timing] = {}
    with fresh_stores() as stores:
        for name, url in stores.items():
            async with _served(url) as calls:
                await take_turns(calls, rounds=1, calls=_CALLS)
                alone[name] = await take_turns(calls, rounds=max(3, round(seconds * _ROUNDS_A_SECOND)), calls=_CALLS)
            async with _crowd(url) as crowd:
                together[name] = (await race({_STEP: crowd}, seconds))[_STEP]
    measured = alone["SQLite"][_STEP]
    aim = Aim("a step of an agent in process, SQLite, µs", measured.median, _MOST_MICROSECONDS)
    return [_beside(alone["SQLite"]), _by_store(alone, together)], [aim]


def _beside(timings: dict[str, Timing]) -> Table:
    """A step beside its peers on one file of SQLite."""
    ours = timings[_STEP]
    rows: list[tuple[Cell, ...]] = []
    for name, timing in timings.items():
        ratio = None if timing is ours else ours.against(timing)
        low, high = _quartiles(timing)
        rows.append((name, timing.median, f"{low:,.0f} to {high:,.0f}", timing.p95, ratio))
    columns = ("", "median", "quartiles", "p95", "a step / this")
    return Table("Safety loop: a step of an agent, SQLite (µs)", columns, tuple(rows))


def _quartiles(timing: Timing) -> tuple[float, float]:
    ordered = sorted(timing.samples)
    return ordered[len(ordered) // 4] * 1e6, ordered[len(ordered) * 3 // 4] * 1e6


def _by_store(alone: dict[str, dict[str, Timing]], together: dict[str, Timing]) -> Table:
    """Steps in each kind of store, one after the other and many at once."""
    rows: list[tuple[Cell, ...]] = [
        (f"{_STEP}, median", *(alone[name][_STEP].median for name in alone)),
        (f"{_STEP}, p95", *(alone[name][_STEP].p95 for name in alone)),
        (f"{_AT_ONCE} agents at once, for each step", *(together[name].median / _AT_ONCE for name in alone)),
    ]
    return Table("Safety loop: steps by store (µs)", ("", *alone), tuple(rows))


@asynccontextmanager
async def _served(url: str) -> AsyncIterator[dict[str, AsyncCall]]:
    """An agent at work, and its peers on the same state."""
    store = open_store(url)
    adapter = _adapter()
    supervised = Settings.of(policy=_POLICY).engine(adapter, store)
    audited = Settings.of(policy={"audit": {"operations": "all"}}).engine(adapter, store)
    try:
        agent = await _Agent(supervised, 0).start()
        calls: dict[str, AsyncCall] = {
            _STEP: agent.step,
            _EVALUATED: _evaluated(),
            _READ: _plain(Settings.of().engine(adapter, store), "get_tool", {"name": "saw"}),
            _WRITTEN: _plain(audited, "create_note", {"text": "as the audit is to tell"}),
        }
        if not url.startswith("sqlite"):
            yield calls
            return
        with closing(await _by_hand(store, Path(url.removeprefix("sqlite:///")).with_name("by_hand.db"))) as hand:
            yield calls | {_COMMIT: hand.commit}
    finally:
        await store.close()


@asynccontextmanager
async def _crowd(url: str) -> AsyncIterator[AsyncCall]:
    """Many agents, each of which takes one step at the same time."""
    store = open_store(url)
    try:
        engine = Settings.of(policy=_POLICY).engine(_adapter(), store)
        agents = [await _Agent(engine, 1 + number).start() for number in range(_AT_ONCE)]
        yield lambda: asyncio.gather(*(agent.step() for agent in agents))
    finally:
        await store.close()


def _plain(engine: Engine, operation: str, params: dict[str, Any]) -> AsyncCall:
    session = Session()
    request = {"operation": operation, "params": params}
    return lambda: engine.call(request, session=session)


def _evaluated() -> AsyncCall:
    hints, rules = _hints(), replace(AgentRules(), max_autonomous_steps=1_000_000)

    async def one() -> None:
        hint = next(hints)
        evaluate(Situation(Report(hint), hint_digest(hint), History(), rules, score.__wrapped__))

    return one


class _ByHand:
    """The same rows in the same tables, through the bare driver: what no store can do without."""

    def __init__(self, path: Path, value: str, entry: str) -> None:
        self._execute: Callable[..., sqlite3.Cursor] = sqlite3.connect(path, isolation_level=None).execute
        self._value, self._entry, self._number = value, entry, 0
        for statement in (
            "PRAGMA journal_mode = WAL",
            "PRAGMA synchronous = FULL",
            "CREATE TABLE records (key TEXT PRIMARY KEY, version INTEGER, value TEXT)",
            "CREATE TABLE audit_rows (number INTEGER PRIMARY KEY, digest TEXT, entry TEXT)",
            "INSERT INTO records VALUES ('bot', 0, '')",
        ):
            self._execute(statement)

    async def commit(self) -> None:
        """One change of the agent and one row of the audit, waiting for the disk."""
        self._number += 1
        self._execute("BEGIN IMMEDIATE")
        changed = "UPDATE records SET version = version + 1, value = ? WHERE key = 'bot' AND version = ?"
        self._execute(changed, (self._value, self._number - 1))
        self._execute("INSERT INTO audit_rows VALUES (?, ?, ?)", (self._number, "0" * 64, self._entry))
        self._execute("COMMIT")

    def close(self) -> None:
        """Let go of the file."""
        self._execute.__self__.close()  # type: ignore[attr-defined]


async def _by_hand(store: Store, path: Path) -> _ByHand:
    kept = await store.find(AGENT, agent_key("bot 0"))
    if kept is None:
        raise RuntimeError("the agent is not kept")
    last = [row async for row in store.rows()][-1]
    return _ByHand(path, orjson.dumps(kept.value).decode(), orjson.dumps(last.wire()).decode())
