"""Caches of what is worked out from requests. Callers may ask for no end of things, so each has a bound."""

from typing import Final, TypeVar

__all__ = ["keep"]

K = TypeVar("K")
V = TypeVar("V")

_MOST: Final = 1000


def keep(cache: dict[K, V], key: K, value: V) -> V:
    """Remember a value and give it. A full cache is emptied first: what is asked for again is soon back."""
    if len(cache) >= _MOST:
        cache.clear()
    cache[key] = value
    return value
