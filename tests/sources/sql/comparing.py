"""Whether two answers are the same, and the smallest request for which they are not."""

import math
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from typing import Any

from tests.sources.sql.random_queries import Case

__all__ = ["difference", "smaller", "smallest", "without_cursors"]

_CURSORS = ("startCursor", "endCursor", "cursor", "_etag")
_SUMMARIES = "aggregations"
_MOST_TRIES = 300


def without_cursors(answer: Any) -> Any:
    """An answer without what differs by design: cursors and versions are the business of who wrote them."""
    if isinstance(answer, dict):
        return {key: without_cursors(value) for key, value in answer.items() if key not in _CURSORS}
    return [without_cursors(value) for value in answer] if isinstance(answer, list) else answer


def difference(expected: Any, found: Any, where: str = "") -> str | None:
    """Where two answers differ, in words. Groups must stand in the same order; floating sums may differ by a hair."""
    summary = f".{_SUMMARIES}." in where
    if isinstance(expected, float) and isinstance(found, float) and summary:
        same = math.isclose(expected, found, rel_tol=1e-12, abs_tol=1e-12)
        return None if same else f"{where}: {expected!r} expected, {found!r} found"
    if type(expected) is not type(found):
        return f"{where}: {expected!r} expected, {found!r} found"
    if isinstance(expected, dict):
        same = list(expected) == list(found) if summary else expected.keys() == found.keys()
        if not same:
            return f"{where}: the keys {list(expected)} expected, {list(found)} found"
        return _first(difference(value, found[key], f"{where}.{key}") for key, value in expected.items())
    if isinstance(expected, list):
        if len(expected) != len(found):
            return f"{where}: {len(expected)} expected, {len(found)} found"
        pairs = enumerate(zip(expected, found, strict=True))
        return _first(difference(one, other, f"{where}[{place}]") for place, (one, other) in pairs)
    return None if expected == found else f"{where}: {expected!r} expected, {found!r} found"


def _first(differences: Iterator[str | None]) -> str | None:
    return next((one for one in differences if one is not None), None)


async def smallest(case: Case, differs: Callable[[Case], Awaitable[bool]]) -> Case:
    """The case with all taken away that is not needed for a difference."""
    tries = 0
    found = True
    while found:
        found = False
        for candidate in smaller(case):
            tries += 1
            if tries > _MOST_TRIES:
                return case
            if await differs(candidate):
                case, found = candidate, True
                break
    return case


def smaller(case: Case) -> Iterator[Case]:
    """Cases with one thing less."""
    if case.way == "changing":
        yield replace(case, way="forwards")
    for params in _less(case.params):
        yield replace(case, params=params)


def _less(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for key in value:
            yield {name: one for name, one in value.items() if name != key}
        for key, child in value.items():
            if key in ("and", "or", "not"):
                yield from child if isinstance(child, list) else [child]
            for less in _less(child):
                yield {**value, key: less}
    elif isinstance(value, list):
        for place in range(len(value)):
            yield [*value[:place], *value[place + 1 :]]
        for place, child in enumerate(value):
            for less in _less(child):
                yield [*value[:place], less, *value[place + 1 :]]
