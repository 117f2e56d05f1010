"""One call of a tool, and what may differ between two runs of it."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Call", "normal"]

_PATTERNS: Mapping[str, tuple[str, str]] = {
    "times": (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?", "<time>"),
    "dates": (r"\w{3} \w{3} \d\d \d{4} [\d:]{8} GMT\S+ \([\w ]+\)", "<date>"),
    "entries": (r"\d{13}-\d+", "<entry>"),
    "clocks": (r"\d{1,2}:\d\d:\d\d [AP]M", "<clock>"),
    "stamps": (r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d+Z", "<stamp>"),
    "durations": (r"\b\d+(?:\.\d+)? ?(?:ms|s)\b", "<duration>"),
    "instants": (r"\b\d{13}\b", "<instant>"),
    "ids": (r"\bid: \d+", "<id>"),
    "uuids": (r"\b[0-9a-f]{8}(?:-?[0-9a-f]{4}){3}-?[0-9a-f]{12}\b", "<uuid>"),
}
"""Parts of texts that no two runs share."""


@dataclass(frozen=True, slots=True)
class Call:
    """A tool of a server with arguments in the server's own words.

    ``loose`` names what may differ: a pattern in texts, or ``key:name`` for the values of a key wherever it stands,
    or ``bytes`` for the bytes of pictures and files. ``fails`` says that the server reports a failure.
    """

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    fails: bool = False
    loose: tuple[str, ...] = ()


def normal(value: Any, loose: tuple[str, ...]) -> Any:
    """The value with everything blanked out that may differ."""
    for name in loose:
        value = _without(value, name)
    return value


def _without(value: Any, name: str) -> Any:
    if name == "bytes":
        return _walk(value, text=lambda text: text, key="data|blob")
    if name.startswith("key:"):
        return _walk(value, text=lambda text: text, key=name.removeprefix("key:"))
    pattern, mark = _PATTERNS[name]
    return _walk(value, text=lambda text: re.sub(pattern, mark, text), key="")


def _walk(value: Any, *, text: Callable[[str], str], key: str) -> Any:
    if isinstance(value, str):
        return text(value)
    if isinstance(value, list):
        return [_walk(child, text=text, key=key) for child in value]
    if isinstance(value, dict):
        return {
            name: "<any>" if key and re.fullmatch(key, name) else _walk(child, text=text, key=key)
            for name, child in value.items()
        }
    return value
