"""Rows of the audit as they are shown: a table or lines for people, JSON lines and CSV for programs."""

import csv
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, Literal, Protocol, TypeAlias

from rich.console import Console

from headgate.cli.audit_table import Cells, coloured_line, print_table
from headgate.cli.output import console, print_line
from headgate.protocol.times import timestamp
from headgate.protocol.visible import json_line, visible
from headgate.safety.searching import actor
from headgate.store.audit import Entry, Row
from headgate.store.exports import line_of

__all__ = ["Format", "Writer", "time_shown", "writer"]

Format: TypeAlias = Literal["text", "jsonl", "csv"]

_TELLING: Final = ("agent", "hint", "way", "reason", "words", "task")
_LONGEST_PARAMETERS: Final = 80

_CSV: Final = (
    "number",
    "time",
    "event",
    "adapter",
    "operation",
    "caller",
    "session",
    "request_id",
    "danger",
    "decision",
    "rule",
    "code",
    "duration_ms",
    "params",
    "params_digest",
    "details",
    "previous",
    "digest",
)
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")  # noqa: RUF001  (some programs take those too)
"""What makes a spreadsheet take a text for a formula."""


class Writer(Protocol):
    """Prints rows as they come."""

    def write(self, rows: Sequence[Row]) -> None:
        """Print some rows."""
        ...


def writer(form: Format, *, follows: bool) -> Writer:
    """What prints rows in a form; text is for people if there is a terminal. Who follows cannot wait for a table."""
    terminal = console()
    match form:
        case "jsonl":
            return _JsonLines()
        case "csv":
            return _Csv(terminal.is_terminal)
        case _ if not terminal.is_terminal:
            return _Lines()
        case _:
            return _ColouredLines(terminal) if follows else _Tables(terminal)


class _JsonLines:
    def write(self, rows: Sequence[Row]) -> None:
        for row in rows:
            print_line(line_of(row))


class _Lines:
    def write(self, rows: Sequence[Row]) -> None:
        for row in rows:
            print_line("\t".join(_shown(row, time_shown)))


class _Csv:
    def __init__(self, is_terminal: bool) -> None:
        self._is_terminal = is_terminal
        self._out = csv.writer(sys.stdout, lineterminator="\n")
        self._out.writerow(_CSV)

    def write(self, rows: Sequence[Row]) -> None:
        for row in rows:
            self._out.writerow([self._cell(value) for value in _flat(row)])

    def _cell(self, text: str) -> str:
        safe = f"'{text}" if text.startswith(_FORMULA) else text
        return visible(safe) if self._is_terminal else safe


class _Tables:
    def __init__(self, terminal: Console) -> None:
        self._terminal = terminal

    def write(self, rows: Sequence[Row]) -> None:
        if rows:
            print_table(self._terminal, [_shown(row, _briefly) for row in rows])


class _ColouredLines:
    def __init__(self, terminal: Console) -> None:
        self._terminal = terminal

    def write(self, rows: Sequence[Row]) -> None:
        for row in rows:
            self._terminal.print(coloured_line(_shown(row, _briefly)), soft_wrap=True)


def _shown(row: Row, time: Callable[[object], str]) -> Cells:
    """The cells of COLUMNS."""
    entry = row.entry
    given: object = entry.params if entry.params is not None else _telling(entry.details) or None
    cells: Iterable[object] = (
        row.number,
        time(entry.at),
        entry.event,
        entry.adapter,
        entry.operation,
        actor(entry),
        entry.decision,
        entry.code,
        entry.rule,
        _duration(entry.duration_ms),
        "" if given is None else _short(json_line(given)),
    )
    return tuple(visible(str(cell)) for cell in cells)


def _flat(row: Row) -> list[str]:
    return [_plain(row, row.entry, name) for name in _CSV]


def _plain(row: Row, entry: Entry, name: str) -> str:
    if name == "time":
        return time_shown(entry.at)
    value = getattr(row if name in ("number", "previous", "digest") else entry, name)
    if name in ("params", "details") or isinstance(value, Mapping | list):
        return "" if value is None else json_line(value)
    return "" if value is None else str(value)


def time_shown(at: object) -> str:
    """A moment as ISO 8601 in UTC; the value itself if somebody has put something else there."""
    try:
        return timestamp(float(str(at)))
    except (ValueError, OverflowError, OSError):
        return str(at)


def _briefly(at: object) -> str:
    """Without the fractions of a second, which nobody reads in a table."""
    return re.sub(r"\.\d+Z\Z", "Z", time_shown(at))


def _duration(milliseconds: object) -> str:
    return f"{milliseconds:.1f} ms" if isinstance(milliseconds, int | float) else str(milliseconds or "")


def _telling(details: object) -> object:
    """Details with what tells most before the rest, since little of them is shown."""
    if not isinstance(details, Mapping):
        return details
    first = {name: details[name] for name in _TELLING if name in details}
    return {**first, **details}


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_PARAMETERS else f"{text[: _LONGEST_PARAMETERS - 1]}…"
