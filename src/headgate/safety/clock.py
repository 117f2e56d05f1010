"""The time, as something that can be given."""

from collections.abc import Callable
from math import ceil, isfinite
from typing import TypeAlias

__all__ = ["Clock", "rounded_up"]

Clock: TypeAlias = Callable[[], float]
"""Gives the seconds since 1970."""


def rounded_up(seconds: float) -> float:
    """Seconds to wait in whole milliseconds, of which one too few would be too early."""
    return ceil(seconds * 1000) / 1000 if isfinite(seconds) else seconds
