"""A few of many."""

from collections.abc import Sequence
from typing import TypeVar

__all__ = ["spread"]

T = TypeVar("T")


def spread(items: Sequence[T], most: int) -> list[T]:
    """At most so many, evenly from all over the sequence, the first always among them."""
    if len(items) <= most:
        return list(items)
    return [items[place * len(items) // most] for place in range(most)]
