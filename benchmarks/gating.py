"""What guarding costs: for calls that nothing concerns, and for those that are counted, written down or confirmed."""

import asyncio
import statistics
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

import orjson

from benchmarks.aims import Aim
from benchmarks.books import ANSWER, REQUEST, get_book, library
from benchmarks.registry import catalogue
from benchmarks.stores import fresh_stores
from benchmarks.tables import Cell, Table
from benchmarks.timing import AsyncCall, Timing, race, take_turns
from headgate import Adapter, Engine, Session
from headgate.safety.gatekeeper import Gatekeeper
from headgate.safety.policy.reading import policy_from
from headgate.safety.policy.rules import Policy
from headgate.store.interface import Store
from headgate.store.opening import open_store

__all__ = ["guarded", "rules", "ungated"]

_MOST_MICROSECONDS: Final = 10.0
_CALLS: Final = 50
_AT_ONCE: Final = 16
_RULES: Final = 20
_OPERATIONS: Final = 1000
_UNGUARDED: Final = "no gatekeeper"


@dataclass(frozen=True, slots=True)
class _Difference:
    """By how many microseconds one is slower than another, round by round: the median, and its quartiles."""

    median: float
    low: float
    high: float

    @classmethod
    def between(cls, ours: Timing, theirs: Timing) -> "_Difference":
        more = [(one - other) * 1e6 for one, other in zip(ours.rounds, theirs.rounds, strict=True)]
        low, median, high = statistics.quantiles(more, n=4, method="inclusive")
        return cls(median, low, high)


# calls that nothing concerns


async def ungated(rounds: int) -> tuple[Table, list[Aim]]:
    """The table of calls that pass at once, and that they hardly notice."""
    rows: list[tuple[Cell, ...]] = []
    costs = []
    for adapter in (library, _large()):
        timings = await _timed(adapter, rounds)
        bare = timings[_UNGUARDED]
        for name, timing in timings.items():
            more, ratio = _Difference.between(timing, bare), timing.against(bare)
            size = len(adapter.operations)
            words = f"{size:,} operation{'s' * (size > 1)}, {name}"
            figures = (more.median, f"{more.low:.2f} to {more.high:.2f}", ratio)
            rows.append((words, timing.median, *(figures if timing is not bare else (None,) * 3)))
            costs.append(more.median)
    columns = ("", "median", "more", "quartiles", "/ no gatekeeper")
    table = Table("Gating: one call that nothing concerns (µs)", columns, tuple(rows))
    return table, [Aim("gating of a call that nothing concerns, µs", max(costs), _MOST_MICROSECONDS)]


def _large() -> Adapter:
    """So many operations of all categories, and the one that is called."""
    adapter = catalogue(_OPERATIONS)
    adapter.read(get_book)
    return adapter


async def _timed(adapter: Adapter, rounds: int) -> dict[str, Timing]:
    store = open_store("memory:")
    policies = {
        "a gatekeeper without a policy": Policy(),
        f"{_RULES} rules for other operations": policy_from({"rule": rules()}, "the benchmark"),
    }
    engines = {_UNGUARDED: Engine(adapter)} | {
        name: Engine(adapter, gatekeeper=Gatekeeper(adapter.name, adapter.operations, store, policy=policy))
        for name, policy in policies.items()
    }
    calls: dict[str, AsyncCall] = {}
    for name, engine in engines.items():
        reply = await engine.call(REQUEST, endpoint="read")
        if reply.text != ANSWER:
            raise RuntimeError(f"the engine with {name} answers {reply.text}")
        calls[name] = _call(engine)
    await take_turns(calls, rounds=2, calls=_CALLS)
    timings = await take_turns(calls, rounds=rounds, calls=_CALLS)
    await store.close()
    return timings


def _call(engine: Engine) -> AsyncCall:
    session = Session()
    return lambda: engine.call(REQUEST, endpoint="read", session=session)


def rules() -> list[dict[str, object]]:
    """Rules as people write them, none of which concerns a book."""
    kinds: tuple[dict[str, object], ...] = (
        {"decision": "deny", "operations": ["delete_{}_*"]},
        {"decision": "confirm", "operations": ["remove_{}_*", "cancel_{}_*"], "reason": "it cannot be undone"},
        {"decision": "deny", "operations": ["start_{}_*"], "when": {"number": {"gt": 100}}},
        {"decision": "confirm", "categories": ["DELETE"], "when": {"note": {"matches": "{}.*"}}},
    )
    states = ("open", "draft", "archived", "shared", "signed")
    return [
        {"name": f"{state} {place}", **_filled(kind, state)} for state in states for place, kind in enumerate(kinds)
    ]


def _filled(rule: Any, state: str) -> Any:
    match rule:
        case str():
            return rule.replace("{}", state)
        case Mapping():
            return {key: _filled(value, state) for key, value in rule.items()}
        case list():
            return [_filled(value, state) for value in rule]
        case _:
            return rule


# calls that are guarded


async def guarded(seconds: float) -> list[Table]:
    """The tables of calls for which something is kept, in each kind of store."""
    alone: dict[str, dict[str, Timing]] = {}
    together: dict[str, dict[str, Timing]] = {}
    with fresh_stores() as stores:
        for name, url in stores.items():
            async with _served(url) as calls:
                alone[name] = await race(calls, seconds)
                together[name] = await race({what: _many(call) for what, call in calls.items()}, seconds)
    return [
        _beside_open("Guarded calls, one after the other (µs)", alone, 1),
        _beside_open(f"Guarded calls, {_AT_ONCE} at once (µs for each)", together, _AT_ONCE),
    ]


def _beside_open(title: str, stores: Mapping[str, Mapping[str, Timing]], at_once: int) -> Table:
    """What each way of guarding takes, and how many times as long as a call that nothing concerns."""
    rows: list[tuple[Cell, ...]] = []
    for what in _WHAT:
        cells: list[Cell] = [what]
        for timings in stores.values():
            ratio = None if what == _OPEN else timings[what].against(timings[_OPEN])
            cells += [timings[what].median / at_once, ratio]
        rows.append(tuple(cells))
    columns = ("", *(column for name in stores for column in (name, f"{name} / unguarded")))
    return Table(title, columns, tuple(rows))


def _many(call: AsyncCall) -> AsyncCall:
    return lambda: asyncio.gather(*(call() for _ in range(_AT_ONCE)))


_OPEN: Final = "nothing concerns it"
_JUDGED: Final = "a rule looks at its parameters"
_LIMITED: Final = "an API's limit counts it"
_AUDITED: Final = "it is audited: two changes, three rows"
_CONFIRMED: Final = "asked for, then confirmed: three changes, five rows"
_WHAT: Final = (_OPEN, _JUDGED, _LIMITED, _AUDITED, _CONFIRMED)

_POLICIES: Final[Mapping[str, dict[str, object]]] = {
    _OPEN: {"confirmation": {"max_live": 1_000_000}},
    _JUDGED: {"rule": [{"name": "few", "decision": "deny", "operations": "get_book", "when": {"copies": {"gt": 9}}}]},
    _LIMITED: {"api_limit": [{"scope": "global", "limit": 10**9, "window": "day"}]},
    _AUDITED: {"audit": {"operations": "all"}},
    _CONFIRMED: {
        "rule": [{"name": "ask", "decision": "confirm", "operations": "get_book"}],
        "confirmation": {"max_live": 1_000_000},
    },
}


@asynccontextmanager
async def _served(url: str) -> AsyncIterator[dict[str, AsyncCall]]:
    store = open_store(url)
    engines = {what: _engine(store, policy) for what, policy in _POLICIES.items()}
    calls = {what: _call(engine) for what, engine in engines.items()}
    calls[_CONFIRMED] = lambda: _confirmed(engines[_CONFIRMED])
    try:
        yield calls
    finally:
        await store.close()


def _engine(store: Store, policy: Mapping[str, object]) -> Engine:
    rules = policy_from(policy, "the benchmark")
    return Engine(library, gatekeeper=Gatekeeper(library.name, library.operations, store, policy=rules))


async def _confirmed(engine: Engine) -> None:
    session = Session()
    asked = orjson.loads((await engine.call(REQUEST, endpoint="read", session=session)).text)
    token = asked["error"]["details"]["confirmation_token"]
    reply = await engine.call({**REQUEST, "_confirmation": token}, endpoint="read", session=session)
    if reply.text != ANSWER:
        raise RuntimeError(f"a confirmed call is answered with {reply.text}")
