"""Times and values as a person reads them."""

import json
from datetime import UTC, datetime
from typing import Final

from headgate.protocol.visible import visible
from headgate.safety.searching import caller_parts

__all__ = ["ago", "caller_shown", "json_shown", "span", "stamp", "visible_lines", "whole_json"]

_UNITS: Final = ((86400, "d"), (3600, "h"), (60, "min"), (1, "s"))
_LONGEST_SHOWN: Final = 20_000


def span(seconds: float) -> str:
    """A length of time, in its largest unit."""
    whole = max(0, int(seconds))
    length, unit = next(((length, unit) for length, unit in _UNITS if whole >= length), _UNITS[-1])
    return f"{whole // length} {unit}"


def ago(at: float, now: float) -> str:
    """How long something is past, or how soon it comes."""
    return f"{span(now - at)} ago" if at <= now else f"in {span(at - now)}"


def stamp(at: float) -> str:
    """A moment, as machines read it and persons can."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def caller_shown(caller: str) -> str:
    """Who called, and through which client."""
    return visible(" via ".join(caller_parts(caller)))


def visible_lines(text: str) -> str:
    """A text in which nothing is invisible but the ends of its lines."""
    return "\n".join(visible(line) for line in text.split("\n"))


def whole_json(value: object) -> str:
    """A value as JSON on several lines, in which nothing is invisible."""
    return visible_lines(json.dumps(value, indent=2, ensure_ascii=False, default=str))


def json_shown(value: object) -> str:
    """The same where there is little room: of a very long one, the beginning and how much is left out."""
    lines = whole_json(value)
    if len(lines) <= _LONGEST_SHOWN:
        return lines
    return f"{lines[:_LONGEST_SHOWN]}\n… NOT ALL IS SHOWN: these are {_LONGEST_SHOWN:,} of {len(lines):,} characters."
