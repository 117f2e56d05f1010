"""From a number to its place on an axis, and the round numbers that are written beside it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

__all__ = ["Scale", "scale_of"]

_FAR_APART: Final = 50
_MOST_TICKS: Final = 6


@dataclass(frozen=True, slots=True)
class Scale:
    """An axis from ``low`` to ``high``."""

    low: float
    high: float
    is_log: bool

    def share(self, value: float) -> float:
        """Where a value stands, from 0 to 1."""
        if self.is_log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def ticks(self) -> list[float]:
        """Round numbers on the axis, from left to right."""
        return self._powers() if self.is_log else self._steps()

    def _powers(self) -> list[float]:
        first, last = math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9)
        stride = -(-(last - first + 1) // _MOST_TICKS)
        return [10.0**power for power in range(first, last + 1, stride)]

    def _steps(self) -> list[float]:
        rough = (self.high - self.low) / (_MOST_TICKS - 1)
        power = 10.0 ** math.floor(math.log10(rough))
        step = next((power * factor for factor in (1, 2, 2.5, 5) if power * factor >= rough * 0.999), power * 10)
        return [count * step for count in range(math.floor(self.high / step * (1 + 1e-9)) + 1)]


def scale_of(values: Sequence[float], *, is_below: bool = True) -> Scale:
    """An axis for these values: from 0, or where they are far apart from a power of ten, which is below them all."""
    high = max(values)
    if min(values) > 0 and high / min(values) > _FAR_APART:
        return Scale(10.0 ** math.floor(math.log10(min(values)) - (1e-9 if is_below else -1e-9)), high, is_log=True)
    return Scale(0.0, high or 1.0, is_log=False)
