"""Why something failed, in a few lines: the error, and what whoever is behind it said."""

import json
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final

from headgate.protocol.visible import visible

__all__ = ["failure_lines"]

_LONGEST_LINE: Final = 500
_MOST_LINES: Final = 5
_POINTER: Final = ": see the details"
"""What a message says where the details are not shown beside it."""


def failure_lines(error: Mapping[str, Any]) -> Iterator[str]:
    """An error, and below it what a tool or a service said of it; none of its words can steer a terminal."""
    details = error.get("details") or {}
    said = next((details[key] for key in ("upstream", "upstream_error") if details.get(key)), None)
    message = " ".join(str(error.get("message")).split())
    yield visible(f"{error.get('code')}: {message.replace(_POINTER, '') if said else message}")
    if said:
        yield from _lines(said)


def _lines(said: object) -> Iterator[str]:
    """What was said, cut where it is long."""
    text = said if isinstance(said, str) else json.dumps(said, ensure_ascii=False, default=str)
    told = [" ".join(line.split()) for line in text.splitlines() if line.strip()]
    yield from (_cut(visible(line)) for line in islice(told, _MOST_LINES))
    if len(told) > _MOST_LINES:
        yield f"… and {len(told) - _MOST_LINES} more lines: --json has all of it"


def _cut(line: str) -> str:
    return line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]}…"
