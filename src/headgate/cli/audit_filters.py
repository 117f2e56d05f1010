"""Which rows of the audit are shown: options, and the test that they make."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from typing import Annotated, Final, TypeAlias

import orjson
from cyclopts import Parameter

from headgate.protocol.suggestions import did_you_mean, nearest
from headgate.safety import auditing
from headgate.safety.decisions import Effect
from headgate.server.settings import SettingError
from headgate.store.audit import PRUNED, Entry
from headgate.store.chain import UNREADABLE

__all__ = ["EVENTS", "Filters", "Matches", "caller_parts", "moment"]

Matches: TypeAlias = Callable[[Entry], bool]

EVENTS: Final = (
    *(str(getattr(auditing, name)) for name in auditing.__all__ if name.isupper()),
    PRUNED,
    UNREADABLE,
)
"""Every event that a row may have."""

_UNITS: Final = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 7 * 86400.0}
_AGO: Final = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)([smhdw])")


def _filter(help_text: str) -> Parameter:
    return Parameter(help=help_text, show_default=False)


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Filters:
    """Rows that fit all of what is said are shown."""

    operation: Annotated[str | None, _filter("Operations whose name fits, such as 'delete_*'.")] = None
    adapter: Annotated[str | None, _filter("Of one adapter.")] = None
    caller: Annotated[str | None, _filter("Of one caller.")] = None
    session: Annotated[str | None, _filter("Of one session.")] = None
    request: Annotated[str | None, _filter("Of one request, by its id.")] = None
    event: Annotated[str | None, _filter(f"With one of these events, comma-separated: {', '.join(EVENTS)}.")] = None
    decision: Annotated[str | None, _filter("With one of these decisions: allow, confirm, deny.")] = None
    code: Annotated[str | None, _filter("With an error code that fits, such as 'TOKEN_*'.")] = None
    since: Annotated[str | None, _filter("From a time on: 2h, 7d, or ISO 8601 (UTC unless it says otherwise).")] = None
    until: Annotated[str | None, _filter("Before a time, written in the same way.")] = None

    def matches(self, now: float) -> Matches:
        """Whether an entry fits; a SettingError if what was said means nothing."""
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
        if self.event is not None:
            yield _is_one_of("event", _words("event", self.event, EVENTS))
        if self.decision is not None:
            yield _is_one_of("decision", _words("decision", self.decision, list(Effect)))
        if self.since is not None or self.until is not None:
            earliest = moment("--since", self.since, now) if self.since is not None else float("-inf")
            latest = moment("--until", self.until, now) if self.until is not None else float("inf")
            yield _is_between(earliest, latest)


# Whoever tampers with a row may put any type into it; such a row fits nothing, and breaks nothing.


def _fits(name: str, pattern: str) -> Matches:
    return lambda entry: fnmatchcase(str(getattr(entry, name)), pattern)


def _is_one_of(name: str, wanted: Sequence[str]) -> Matches:
    return lambda entry: getattr(entry, name) in wanted


def _is_by(wanted: str) -> Matches:
    return lambda entry: entry.caller == wanted or wanted in caller_parts(entry.caller)[:1]


def _is_between(earliest: float, latest: float) -> Matches:
    def is_between(entry: Entry) -> bool:
        at: object = entry.at
        return isinstance(at, int | float) and earliest <= at < latest

    return is_between


def _words(name: str, text: str, known: Sequence[str]) -> tuple[str, ...]:
    words = tuple(word.strip() for word in text.split(","))
    for word in words:
        if word not in known:
            raise SettingError(
                f"--{name}: there is no {name} '{word}'; known are {', '.join(known)}"
                f"{did_you_mean(nearest(word, known, 1))}"
            )
    return words


def moment(option: str, text: str, now: float) -> float:
    """The time that a person means by ``2h``, ``2026-07-01`` or ``2026-07-01T12:00:00+02:00``, in seconds."""
    ago = _AGO.fullmatch(text.strip())
    if ago:
        return now - float(ago[1]) * _UNITS[ago[2]]
    try:
        found = datetime.fromisoformat(text.strip())
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        raise SettingError(
            f"{option}: '{text}' is no time; write how long ago, such as 30m, 2h or 7d, or 2026-07-01T12:00:00Z"
        ) from None


def caller_parts(caller: object) -> list[str]:
    """Who called, and through which client, if that is known; the text as it is otherwise."""
    if not isinstance(caller, str):
        return [str(caller)]
    if caller.startswith("["):
        try:
            found = orjson.loads(caller)
        except orjson.JSONDecodeError:
            return [caller]
        parts = [part for part in found if isinstance(part, str)]
        return parts or [caller]
    return [caller]
