"""How values of a bundle are read and compared. The specification's own runner is a script in JavaScript, and what it
takes for equal, true or a text decides its verdicts; so the same is meant here."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

__all__ = ["MISSING", "at_path", "compact", "holds_true", "plain_words", "same_json", "same_scalar", "text_of"]


class _Missing:
    """What is not there, which is something else than null."""

    def __repr__(self) -> str:
        return "nothing"


MISSING: Final = _Missing()
_INDEX: Final = re.compile(r"0|[1-9][0-9]*", re.ASCII)
_NO_WORD: Final = re.compile(r"[^a-z0-9_]+")


def at_path(value: object, path: object) -> object:
    """What stands where a path such as ``data.items.0.name`` leads, or MISSING."""
    for segment in text_of(path).split("."):
        value = _member(value, segment)
    return value


def _member(value: object, segment: str) -> object:
    if isinstance(value, Mapping):
        return value.get(segment, MISSING)
    if isinstance(value, Sequence):
        if segment == "length":
            return len(value)
        if _INDEX.fullmatch(segment) and int(segment) < len(value):
            return value[int(segment)]
    return MISSING


def same_scalar(one: object, other: object) -> bool:
    """Whether both are the same text, number, truth value, or nothing. Objects and lists never are."""
    if isinstance(one, Mapping | list) or isinstance(other, Mapping | list):
        return False
    return one is other or _comparable(one) == _comparable(other)


def same_json(one: object, other: object) -> bool:
    """Whether both are the same as JSON, the order of members included."""
    return _comparable(one) == _comparable(other)


def _comparable(value: object) -> object:
    match value:
        case bool() | None | _Missing():
            return ("exactly", str(value))
        case int() | float():
            return _as_double(value)
        case Mapping():
            return ("object", *((key, _comparable(value[key])) for key in _ordered(value)))
        case list():
            return ("list", *map(_comparable, value))
        case _:
            return value


def _as_double(number: float) -> float:
    try:
        return float(number)
    except OverflowError:
        return float("inf")


def _ordered(keys: Iterable[str]) -> list[str]:
    """Keys that look like an index come first, by their number."""
    listed = list(keys)
    numbers = sorted((key for key in listed if _INDEX.fullmatch(key)), key=int)
    return [*numbers, *(key for key in listed if not _INDEX.fullmatch(key))]


def holds_true(value: object) -> bool:
    """Whether a value counts as yes: every object and list does, and every text but the empty one."""
    return isinstance(value, Mapping | list) or (value is not MISSING and bool(value))


def text_of(value: object) -> str:
    """A value as a text."""
    match value:
        case str():
            return value
        case _Missing():
            return "undefined"
        case _:
            return compact(value)


def compact(value: object) -> str:
    """A value as JSON, without spaces."""
    return json.dumps(_plain(value), ensure_ascii=False, separators=(",", ":"), default=str)


def _plain(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e21:
        return int(value)
    if isinstance(value, Mapping):
        return {key: _plain(value[key]) for key in _ordered(value)}
    return [_plain(entry) for entry in value] if isinstance(value, list) else value


def plain_words(value: object) -> str:
    """A text in small letters, and one space in place of whatever is no letter, digit or underscore."""
    text = "" if value is None or value is MISSING else text_of(value)
    return _NO_WORD.sub(" ", text.lower()).strip()
