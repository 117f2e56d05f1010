"""Times and values as a person reads them."""

import json
from datetime import UTC, datetime
from typing import Any, Final

from headgate.executions.values import percentage
from headgate.protocol.times import span
from headgate.protocol.visible import visible
from headgate.safety import searching
from headgate.store.audit import Entry
from headgate.store.executions import Progress

__all__ = [
    "ago",
    "caller_shown",
    "draft_json",
    "json_shown",
    "lasting",
    "progress_shown",
    "shown",
    "stamp",
    "subject",
    "typed_json",
    "visible_lines",
    "whole_json",
]

_LONGEST_SHOWN: Final = 20_000
_EARLIEST: Final = 0
_LATEST: Final = 253_402_300_799
"""The last second that has a date of four digits for its year."""


# Whoever tampers with a row of the audit may put any type into it, and must not keep others from looking.


def ago(at: object, now: float) -> str:
    """How long something is past, or how soon it comes."""
    if not isinstance(at, int | float) or not _EARLIEST <= at <= _LATEST:
        return shown(at)
    return f"{span(now - at)} ago" if at <= now else f"in {span(at - now)}"


def lasting(seconds: float) -> str:
    """How long something took."""
    return span(seconds) if seconds >= 1 else "less than 1 s"


def progress_shown(progress: Progress) -> str:
    """How far something is, in numbers; nothing if it has not said so."""
    done = percentage(progress)
    if done is not None:
        return f"{done:g} %"
    return "" if progress.current is None else f"{progress.current:,.10g} done"


def stamp(at: object) -> str:
    """A moment, as machines read it and persons can."""
    if not isinstance(at, int | float) or not _EARLIEST <= at <= _LATEST:
        return shown(at)
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def shown(value: object) -> str:
    """A text in which nothing is invisible, whatever it should have been."""
    return visible(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str))


def subject(entry: Entry) -> str:
    """What a row of the audit is about, in a word or two."""
    details: object = entry.details
    agent = details.get("agent", "") if isinstance(details, dict) else ""
    return shown(entry.operation or agent)


def caller_shown(caller: object) -> str:
    """Who called, and through which client; nothing in it is invisible."""
    return visible(searching.caller_shown(caller))


def visible_lines(text: str) -> str:
    """A text in which nothing is invisible but the ends of its lines."""
    return "\n".join(visible(line) for line in text.split("\n"))


def whole_json(value: object) -> str:
    """A value as JSON on several lines, in which nothing is invisible."""
    return visible_lines(_dumped(value))


def json_shown(value: object) -> str:
    """The same where there is little room: of a very long one, the beginning and how much is left out."""
    text = _dumped(value)
    if len(text) <= _LONGEST_SHOWN:
        return visible_lines(text)
    note = f"… NOT ALL IS SHOWN: these are {_LONGEST_SHOWN:,} of {len(text):,} characters."
    return f"{visible_lines(text[:_LONGEST_SHOWN])}\n{note}"


def _dumped(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False, default=str)


def draft_json(value: object) -> str:
    """The same for whoever is to change it: of a very long one, letters that are not ASCII are spelt out.

    A browser lays out a field as one piece, and a megabyte of Hebrew or of accents would keep it busy for minutes.
    """
    lines = whole_json(value)
    return lines if len(lines) <= _LONGEST_SHOWN else json.dumps(value, indent=2, default=str)


def typed_json(text: str) -> Any:
    """The value that somebody has typed as JSON; a ValueError that says where it is none."""
    try:
        return json.loads(text, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        raise ValueError(f"look into line {error.lineno}, column {error.colno}") from None
    except (ValueError, RecursionError):
        raise ValueError("it has a number that is none, or is too deep") from None


def _no_number(word: str) -> object:
    """Python would read NaN and Infinity."""
    raise ValueError(word)
