"""Values of any size as much of them as somebody wants to read, and how much is left out."""

import json
from collections.abc import Mapping, Sequence
from typing import Final, TypeVar

from headgate.protocol.visible import visible

__all__ = ["cut", "exact_json", "shortened", "spelt", "steps_of"]

_TEXT: Final = 300
_ITEMS: Final = 10
_DEPTH: Final = 8
_STEPS: Final = 10

T = TypeVar("T")


def cut(text: str, most: int) -> str:
    """The beginning of a text, and how long it is if that is not all."""
    return text if len(text) <= most else f"{text[:most]}… ({len(text):,} characters)"


def spelt(value: object) -> str:
    """A value as JSON on one line in which nothing steers a terminal, from which the same value can be read again."""
    return visible(json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str))


def exact_json(value: object, most: int) -> str | None:
    """The same, or nothing if that would be too long or too deep to be read."""
    if _is_deep(value, _DEPTH * 3):
        return None
    text = spelt(value)
    return text if len(text) <= most else None


def shortened(value: object, depth: int = _DEPTH) -> object:
    """A value of which every text and list has a sensible length, each cut with what is left out."""
    if isinstance(value, str):
        return cut(value, _TEXT)
    if not isinstance(value, Mapping | list | tuple):
        return value
    if depth == 0:
        return f"… ({len(value):,} more inside)"
    return _of_mapping(value, depth) if isinstance(value, Mapping) else _of_list(list(value), depth)


def steps_of(steps: Sequence[T]) -> tuple[Sequence[T], int, Sequence[T]]:
    """The first steps, how many are left out after them, and the last, which are the decisive ones."""
    if len(steps) <= _STEPS:
        return steps, 0, ()
    half = _STEPS // 2
    return steps[:half], len(steps) - _STEPS, steps[-half:]


def _of_mapping(value: Mapping[object, object], depth: int) -> dict[str, object]:
    pairs = list(value.items())
    kept = {cut(str(key), _TEXT): shortened(child, depth - 1) for key, child in pairs[: _ITEMS * 3]}
    return kept | ({"…": f"{len(pairs) - len(kept):,} more"} if len(pairs) > _ITEMS * 3 else {})


def _of_list(value: list[object], depth: int) -> list[object]:
    kept = [shortened(child, depth - 1) for child in value[:_ITEMS]]
    return kept + ([f"… ({len(value) - _ITEMS:,} more)"] if len(value) > _ITEMS else [])


def _is_deep(value: object, depth: int) -> bool:
    if not isinstance(value, Mapping | list | tuple):
        return False
    children = value.values() if isinstance(value, Mapping) else value
    return depth == 0 or any(_is_deep(child, depth - 1) for child in children)
