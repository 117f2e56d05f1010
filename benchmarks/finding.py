"""Finding the right one of many operations: how long it takes, what it costs, and how often it is found."""

from collections.abc import Mapping
from itertools import cycle
from typing import Final, TypeAlias

import orjson

from benchmarks.aims import Aim
from benchmarks.github import github
from benchmarks.questions import KEYWORDS, QUESTIONS
from benchmarks.reading import costs
from benchmarks.registry import catalogue
from benchmarks.searching import (
    FOUND,
    HEADGATE,
    PEERS,
    TRANSFORMS,
    Ask,
    asking,
    detail_params,
    listings,
    searches,
)
from benchmarks.tables import Cell, Table
from benchmarks.timing import AsyncCall, Timing, race
from headgate import Adapter

__all__ = ["finding"]

_MANY: Final = 1_000


async def finding(seconds: float) -> tuple[list[Table], list[Aim]]:
    """The tables of times, tokens and of what is found; every row of times is measured for so many seconds."""
    small, large = github(), catalogue(_MANY)
    times = await _times(small, list(KEYWORDS), seconds)
    times += await _times(large, words_of(large), seconds)
    return [_times_table(times), await costs(small), await _quality(small)], []


# how long it takes


_Times: TypeAlias = tuple[str, Mapping[str, Timing]]


async def _times(adapter: Adapter, words: list[str], seconds: float) -> list[_Times]:
    """A search, all that there is, and one operation in full."""
    size = len([name for name in adapter.operations if name != "introspect"])
    ways = {name: _one_of(way, words) for name, way in searches(adapter).items()}
    names = cycle(adapter.operations)
    ask = asking(adapter)
    return [
        (f"{size:,} operations: one search", await race(ways, seconds)),
        (f"{size:,} operations: the whole list", await race(await listings(adapter, ask), seconds)),
        (
            f"{size:,} operations: one in full",
            await race({HEADGATE: lambda: ask(detail_params(next(names)))}, seconds / 4),
        ),
    ]


def _one_of(way: Ask, words: list[str]) -> AsyncCall:
    """A search for the next words each time."""
    turns = cycle(words)
    return lambda: way(next(turns))


def _times_table(times: list[_Times]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for what, timings in times:
        ours = timings[HEADGATE]
        rows.append((what, ours.median, *(ours.against(timings[name]) if name in timings else None for name in PEERS)))
    return Table("Finding operations: time", ("", "headgate (µs)", *(f"/ {name}" for name in PEERS)), tuple(rows))


def words_of(adapter: Adapter) -> list[str]:
    """Ten searches in the words of ten operations, far from each other."""
    names = list(adapter.operations)
    return [name.replace("_", " ") for name in names[:: len(names) // 10]][:10]


# whether the right one is found


async def _quality(adapter: Adapter) -> Table:
    """How often the operation that somebody means is the first of those found, and among the first five."""
    ways = searches(adapter)
    rows: list[tuple[Cell, ...]] = []
    for what, asked in (("a person's words", QUESTIONS), ("words of the operation's name", KEYWORDS)):
        places = {name: [await _place(way, *each) for each in asked.items()] for name, way in ways.items()}
        for most, where in ((1, "found first"), (FOUND, f"among the first {FOUND}")):
            counts = [_within(places[name], most) if name in places else None for name in (HEADGATE, *TRANSFORMS)]
            rows.append((f"{what}: {where}", len(asked), *counts))
    columns = ("", "searches", HEADGATE, *TRANSFORMS)
    return Table(f"Finding one of {len(adapter.operations)} operations: how often it is found", columns, tuple(rows))


def _within(places: list[int | None], most: int) -> int:
    return sum(place is not None and place < most for place in places)


async def _place(way: Ask, words: str, wanted: str) -> int | None:
    """Where the operation is among those that a search has found."""
    answer = orjson.loads(await way(words))
    found = answer["data"]["operations"] if isinstance(answer, dict) else answer
    names = [each["name"] for each in found]
    return names.index(wanted) if wanted in names else None
