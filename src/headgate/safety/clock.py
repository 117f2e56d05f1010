"""The time, as something that can be given."""

from collections.abc import Callable
from typing import TypeAlias

__all__ = ["Clock"]

Clock: TypeAlias = Callable[[], float]
"""Gives the seconds since 1970."""
