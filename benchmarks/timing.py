"""Measuring: in rounds that take turns, so that the noise of the machine hits everybody alike."""

import statistics
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

__all__ = ["AsyncCall", "Timing", "once", "repeat", "take_turns"]

T = TypeVar("T")
AsyncCall: TypeAlias = Callable[[], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class Timing:
    """How long each of many calls took, in seconds."""

    samples: tuple[float, ...]

    @property
    def median(self) -> float:
        """In microseconds."""
        return statistics.median(self.samples) * 1e6

    @property
    def p95(self) -> float:
        """In microseconds: nineteen of twenty calls took less."""
        return sorted(self.samples)[int(len(self.samples) * 0.95)] * 1e6


async def take_turns(contenders: Mapping[str, AsyncCall], *, rounds: int, calls: int) -> dict[str, Timing]:
    """Each contender a few calls in turn, many times over. Every round begins with another one."""
    names = list(contenders)
    samples: dict[str, list[float]] = {name: [] for name in names}
    for turn in range(rounds):
        first = turn % len(names)
        for name in names[first:] + names[:first]:
            samples[name] += await _times(contenders[name], calls)
    return {name: Timing(tuple(taken)) for name, taken in samples.items()}


async def _times(call: AsyncCall, calls: int) -> list[float]:
    taken = []
    for _ in range(calls):
        started = time.perf_counter()
        await call()
        taken.append(time.perf_counter() - started)
    return taken


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
