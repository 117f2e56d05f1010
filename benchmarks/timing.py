"""Measuring: in rounds that take turns, so that the noise of the machine hits everybody alike."""

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias, TypeVar

__all__ = ["AsyncCall", "Ratio", "Timing", "once", "race", "repeat", "repeated", "stop_if_asked", "take_turns"]

T = TypeVar("T")
AsyncCall: TypeAlias = Callable[[], Awaitable[object]]


_ROUND_SECONDS: Final = 0.005
_MOST_CALLS: Final = 50
_MOST_ROUNDS: Final = 200
_FEWEST_ROUNDS: Final = 3
_NOISE: Final = 0.2
_WARMING: Final = 20


@dataclass(frozen=True, slots=True)
class Ratio:
    """How many times as long one took as another, in the rounds that both took part in: the median, and its quartiles.

    What disturbs a round disturbs both, so this holds where the machine is too busy for microseconds to mean much.
    """

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Iterable[float]) -> "Ratio":
        """The middle of the values of all rounds; one round alone has no spread."""
        found = sorted(values)
        low, median, high = statistics.quantiles(found, n=4, method="inclusive") if len(found) > 1 else found * 3
        return cls(median, low, high)

    @property
    def is_noisy(self) -> bool:
        """Whether the rounds agree too little to conclude anything."""
        return self.high - self.low > _NOISE * self.median


@dataclass(frozen=True, slots=True)
class Timing:
    """How long each of many calls took, in seconds, and how many of them were one round."""

    samples: tuple[float, ...]
    calls: int = 1

    @property
    def median(self) -> float:
        """In microseconds."""
        return statistics.median(self.samples) * 1e6

    @property
    def p95(self) -> float:
        """In microseconds: nineteen of twenty calls took less."""
        return sorted(self.samples)[int(len(self.samples) * 0.95)] * 1e6

    @property
    def rounds(self) -> list[float]:
        """The median of each round."""
        starts = range(0, len(self.samples), self.calls)
        return [statistics.median(self.samples[start : start + self.calls]) for start in starts]

    def against(self, other: "Timing") -> Ratio:
        """The ratio to another one, round by round."""
        return Ratio.of(ours / theirs for ours, theirs in zip(self.rounds, other.rounds, strict=True))


async def take_turns(contenders: Mapping[str, AsyncCall], *, rounds: int, calls: int) -> dict[str, Timing]:
    """Each contender a few calls in turn, many times over. Every round begins with another one."""
    names = list(contenders)
    samples: dict[str, list[float]] = {name: [] for name in names}
    for turn in range(rounds):
        first = turn % len(names)
        for name in names[first:] + names[:first]:
            samples[name] += await _times(contenders[name], calls)
    return {name: Timing(tuple(taken), calls) for name, taken in samples.items()}


async def race(contenders: Mapping[str, AsyncCall], seconds: float) -> dict[str, Timing]:
    """Turns for about so many seconds, whether a call takes microseconds or seconds: three rounds at least."""
    tried = await take_turns(contenders, rounds=1, calls=1)
    if _whole(tried) * _WARMING < seconds:
        await take_turns(contenders, rounds=1, calls=_WARMING)
        tried = await take_turns(contenders, rounds=3, calls=1)
    longest = max(one.median for one in tried.values()) / 1e6
    calls = int(min(max(_ROUND_SECONDS / longest, 1), _MOST_CALLS))
    rounds = int(min(max(seconds / (_whole(tried) * calls), _FEWEST_ROUNDS), _MOST_ROUNDS))
    return await take_turns(contenders, rounds=rounds, calls=calls)


def _whole(timings: Mapping[str, Timing]) -> float:
    """The seconds of one call of each."""
    return sum(one.median for one in timings.values()) / 1e6


def stop_if_asked() -> None:
    """End where Ctrl-C was pressed: what never waits for anything would hear of it at its very end."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


async def _times(call: AsyncCall, calls: int) -> list[float]:
    taken = []
    stop_if_asked()
    for _ in range(calls):
        started = time.perf_counter()
        await call()
        taken.append(time.perf_counter() - started)
    return taken


async def repeated(call: AsyncCall, seconds: float) -> Timing:
    """One call after the other, for so many seconds."""
    samples = []
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        samples += await _times(call, 1)
    return Timing(tuple(samples))


def repeat(function: Callable[[], object], *, blocks: int, calls: int = 50) -> Timing:
    """For what is too short to time alone: each sample is the mean of a block of calls."""
    samples = []
    for _ in range(blocks):
        started = time.perf_counter()
        for _ in range(calls):
            function()
        samples.append((time.perf_counter() - started) / calls)
    return Timing(tuple(samples))


def once(function: Callable[[], T]) -> tuple[float, T]:
    """The milliseconds of one call, and what it gave."""
    started = time.perf_counter()
    result = function()
    return (time.perf_counter() - started) * 1000, result
