"""What a chart shows. A value that could not be drawn cannot be built."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

__all__ = ["Bar", "BarChart", "Chart", "Group", "LineChart", "Mark", "Point", "Series"]

LARGEST: Final = 1e15
"""Beyond this, and below its inverse, a number has no place on an axis that people can read."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar. ``low`` and ``high`` are its spread, drawn over its end."""

    label: str
    value: float
    low: float | None = None
    high: float | None = None
    is_ours: bool = False
    """Whether it is the one that the chart is about: its colour is strong, all others are grey."""
    note: str = ""
    """A word behind the value, such as ``-62 %``."""

    def __post_init__(self) -> None:
        _check_spread(self.low, self.value, self.high)


@dataclass(frozen=True, slots=True)
class Group:
    """Bars that belong together, under a heading."""

    bars: Sequence[Bar]
    label: str = ""

    def __post_init__(self) -> None:
        _check(bool(self.bars), "a group has one bar or more")


@dataclass(frozen=True, slots=True)
class Mark:
    """A line across all bars, such as an aim."""

    value: float
    label: str

    def __post_init__(self) -> None:
        _check_number(self.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Captions:
    subtitle: str = ""
    unit: str = ""
    """What the values are, such as ``tokens``: written on their axis."""
    footnote: str = ""


@dataclass(frozen=True, slots=True)
class BarChart(_Captions):
    """Bars from left to right, in groups. Where values are far apart, the axis is logarithmic and says so."""

    title: str
    groups: Sequence[Group]
    mark: Mark | None = None
    is_linear: bool = False
    """Whether the axis begins at 0 even then, so that a bar is as long as its value says."""

    def __post_init__(self) -> None:
        _check(bool(self.groups), "a chart has one group or more")


@dataclass(frozen=True, slots=True)
class Point:
    """One measurement of a series."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None

    def __post_init__(self) -> None:
        _check_number(self.x)
        _check_spread(self.low, self.y, self.high)


@dataclass(frozen=True, slots=True)
class Series:
    """Points that one line goes through, from left to right."""

    label: str
    points: Sequence[Point]
    is_ours: bool = False

    def __post_init__(self) -> None:
        _check(bool(self.points), "a series has one point or more")


@dataclass(frozen=True, slots=True)
class LineChart(_Captions):
    """Lines over an axis, such as a latency by the number of clients."""

    title: str
    series: Sequence[Series]
    x_label: str = ""
    mark: Mark | None = None

    def __post_init__(self) -> None:
        _check(bool(self.series), "a chart has one series or more")


Chart: TypeAlias = BarChart | LineChart


def _check(is_right: bool, promise: str) -> None:
    if not is_right:
        raise ValueError(promise)


def _check_number(value: float) -> None:
    is_drawable = math.isfinite(value) and (value == 0 or 1 / LARGEST <= value <= LARGEST)
    _check(is_drawable, "a value of a chart is 0 or a positive number of up to 15 digits")


def _check_spread(low: float | None, value: float, high: float | None) -> None:
    spread = [value if low is None else low, value, value if high is None else high]
    for number in spread:
        _check_number(number)
    _check(spread == sorted(spread), "a spread reaches from below its value to above it")
