"""Does something grow? Judged from samples that are noisy, in proportion to the requests that were served meanwhile.

A process that leaks grows by about as much with each thousand requests. One that does not may still jump: a cache that
fills, a pool that opens another connection, pages that the allocator keeps. So what counts is the median of the slopes
over short stretches, most of which no jump falls into, and what all of it makes together.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

__all__ = ["Allowed", "Point", "Trend", "trend_of"]

_SHORTEST, _LONGEST = 10, 5
"""Slopes are taken over a tenth to a fifth of all samples: closer lies noise, and farther are jumps between."""


@dataclass(frozen=True)
class Point:
    """A value, once so many requests were served."""

    requests: int
    value: float


@dataclass(frozen=True)
class Allowed:
    """How much may be more: for each thousand requests, and in all, where the first alone would be noise."""

    each_thousand: float
    in_all: float


@dataclass(frozen=True)
class Trend:
    """How something grows."""

    each_thousand: float
    """The median of the slopes."""
    in_all: float
    """From the first fifth of the samples to the last, the median of each."""

    def is_growth(self, allowed: Allowed) -> bool:
        """Whether it is more than what is allowed, by both measures."""
        return self.each_thousand > allowed.each_thousand and self.in_all > allowed.in_all


def trend_of(points: Sequence[Point]) -> Trend:
    """The trend of samples, in the order of their time; of fewer than ten nothing can be said."""
    assert len(points) >= 10, f"{len(points)} samples are too few"
    shortest, fifth = max(1, len(points) // _SHORTEST), len(points) // _LONGEST
    slopes = [
        (late.value - early.value) / (late.requests - early.requests) * 1000
        for place, early in enumerate(points)
        for late in points[place + shortest : place + fifth + 1]
        if late.requests > early.requests
    ]
    first, last = ([point.value for point in part] for part in (points[:fifth], points[-fifth:]))
    return Trend(median(slopes) if slopes else 0.0, median(last) - median(first))
