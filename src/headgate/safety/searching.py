"""Which rows of the audit somebody wants to see: what they say, the test that it makes, and the last rows that fit."""

import re
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from functools import partial
from typing import Final, TypeAlias

import orjson

from headgate.protocol.suggestions import did_you_mean, nearest
from headgate.safety import auditing
from headgate.safety.decisions import Effect
from headgate.safety.loop import auditing as of_agents
from headgate.safety.loop.agents import agent_key
from headgate.store.audit import PRUNED, Entry, Row
from headgate.store.chain import UNREADABLE
from headgate.store.interface import Store
from headgate.store.verifying import Notice

__all__ = [
    "EVENTS",
    "Found",
    "Matches",
    "Search",
    "SearchError",
    "actor",
    "caller_parts",
    "caller_shown",
    "last_rows",
    "moment",
    "whole",
]

Matches: TypeAlias = Callable[[Entry], bool]

EVENTS: Final = (
    *(str(getattr(module, name)) for module in (auditing, of_agents) for name in module.__all__ if name.isupper()),
    PRUNED,
    UNREADABLE,
)
"""Every event that a row may have."""

_UNITS: Final = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 7 * 86400.0}
_AGO: Final = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)([smhdw])")
_WINDOW: Final = 1000
_OFTEN: Final = 500


class SearchError(ValueError):
    """What is searched for means nothing; the words are for whoever searches. ``about`` is what was said wrongly."""

    def __init__(self, about: str, words: str) -> None:
        super().__init__(words)
        self.about = about


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """Rows that fit all of what is said are found."""

    operation: str | None = None
    adapter: str | None = None
    caller: str | None = None
    session: str | None = None
    request: str | None = None
    agent: str | None = None
    event: str | None = None
    decision: str | None = None
    code: str | None = None
    since: str | None = None
    until: str | None = None

    def matches(self, now: float) -> Matches:
        """Whether an entry fits; a SearchError if what was said means nothing."""
        tests = tuple(self._tests(now))
        return lambda entry: all(test(entry) for test in tests)

    def _tests(self, now: float) -> Iterator[Matches]:
        for name, wanted in (("operation", self.operation), ("code", self.code)):
            if wanted is not None:
                yield _fits(name, wanted)
        for name, wanted in (("adapter", self.adapter), ("session", self.session), ("request_id", self.request)):
            if wanted is not None:
                yield _is_one_of(name, (wanted,))
        if self.caller is not None:
            yield _is_by(self.caller)
        if self.agent is not None:
            yield _is_of_agent(self.agent)
        if self.event is not None:
            yield _is_one_of("event", _words("event", self.event, EVENTS))
        if self.decision is not None:
            yield _is_one_of("decision", _words("decision", self.decision, list(Effect)))
        if self.since is not None or self.until is not None:
            earliest = moment("since", self.since, now) if self.since is not None else float("-inf")
            latest = moment("until", self.until, now) if self.until is not None else float("inf")
            yield _is_between(earliest, latest)


# Whoever tampers with a row may put any type into it; such a row fits nothing, and breaks nothing.


def _fits(name: str, pattern: str) -> Matches:
    return lambda entry: fnmatchcase(str(getattr(entry, name)), pattern)


def _is_one_of(name: str, wanted: Sequence[str]) -> Matches:
    return lambda entry: getattr(entry, name) in wanted


def _is_by(wanted: str) -> Matches:
    return lambda entry: wanted in (entry.caller, _person(entry), *caller_parts(entry.caller)[:1])


def _is_of_agent(wanted: str) -> Matches:
    key = agent_key(wanted)

    def is_of(entry: Entry) -> bool:
        details: object = entry.details
        name = details.get("agent") if isinstance(details, dict) else None
        return isinstance(name, str) and (name == wanted or agent_key(name) == key)

    return is_of


def _is_between(earliest: float, latest: float) -> Matches:
    def is_between(entry: Entry) -> bool:
        at: object = entry.at
        return isinstance(at, int | float) and earliest <= at < latest

    return is_between


def _words(name: str, text: str, known: Sequence[str]) -> tuple[str, ...]:
    words = tuple(word.strip() for word in text.split(","))
    for word in words:
        if word not in known:
            near = did_you_mean(nearest(word, known, 1))
            raise SearchError(name, f"there is no {name} '{word}'; known are {', '.join(known)}{near}")
    return words


def moment(about: str, text: str, now: float) -> float:
    """The time that a person means by ``2h``, ``2026-07-01`` or ``2026-07-01T12:00:00+02:00``, in seconds."""
    ago = _AGO.fullmatch(text.strip())
    if ago:
        return now - float(ago[1]) * _UNITS[ago[2]]
    try:
        found = datetime.fromisoformat(text.strip())
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        advice = "write how long ago, such as 30m, 2h or 7d, or 2026-07-01T12:00:00Z"
        raise SearchError(about, f"'{text}' is no time; {advice}") from None


def caller_parts(caller: object) -> list[str]:
    """Who called, and through which client, if that is known; the text as it is otherwise."""
    if not isinstance(caller, str):
        return [str(caller)]
    if caller.startswith("["):
        try:
            found = orjson.loads(caller)
        except orjson.JSONDecodeError:
            return [caller]
        parts = list(dict.fromkeys(part for part in found if isinstance(part, str)))
        return parts or [caller]
    return [caller]


def caller_shown(caller: object) -> str:
    """Who called, and through which client."""
    return " via ".join(caller_parts(caller))


def actor(entry: Entry) -> str:
    """Who did what a row tells of: the person who decided, or whoever called."""
    return _person(entry) or caller_shown(entry.caller)


def _person(entry: Entry) -> str:
    details: object = entry.details
    by = details.get("by") if isinstance(details, dict) else None
    return by if isinstance(by, str) else ""


# finding rows


@dataclass(frozen=True, slots=True)
class Found:
    """Rows that fit, in order, and the last row that was looked at, whether it fits or not."""

    rows: list[Row]
    seen: int


def _unheard(_done: int, _total: int) -> None:
    """Nobody wants to know how far it is."""


async def last_rows(store: Store, matches: Matches, count: int, notice: Notice = _unheard) -> Found:
    """The last rows that fit, found from the end on, so that a long audit need not be read as a whole."""
    first, head = whole((await store.start()).number), whole((await store.head()).number)
    found: list[Row] = []
    seen, end, size = head, head, _WINDOW
    while len(found) < count:
        begin = max(first, end - size)
        told = partial(_tell, notice, head - end - begin, head - first)
        # What was added since the head was read is looked at too.
        window = await _window(store, matches, begin, None if end == head else end, count - len(found), told)
        found, seen = [*window.rows, *found], max(seen, window.seen)
        if begin == first:
            break
        end, size = begin, size * 2
    return Found(found, seen)


async def _window(
    store: Store, matches: Matches, begin: int, end: int | None, count: int, tell: Callable[[int], None]
) -> Found:
    """The last of the rows that fit, after one row and up to another, or to the end."""
    found: deque[Row] = deque(maxlen=count)
    seen = 0
    async for row in store.rows(after=begin):
        if end is not None and row.number > end:
            break
        seen = row.number
        if matches(row.entry):
            found.append(row)
        if row.number % _OFTEN == 0:
            tell(row.number)
    return Found(list(found), seen)


def _tell(notice: Notice, before: int, total: int, number: int) -> None:
    notice(before + number, total)


def whole(number: object) -> int:
    """The number of a row; whoever has tampered with it must not keep others from looking."""
    return number if isinstance(number, int) else 0
