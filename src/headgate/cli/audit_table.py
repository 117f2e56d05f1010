"""Rows of the audit on a terminal: a table that fits its width, or lines where rows come one by one."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from headgate.cli.output import complain
from headgate.safety.auditing import TRUST

__all__ = ["COLUMNS", "Cells", "coloured_line", "print_table"]

Cells = Sequence[str]
"""A row as texts, one for each of the columns."""

COLUMNS: Final = (
    *("row", "time", "event", "adapter", "operation", "caller", "decision", "code", "rule"),
    *("duration", "parameters"),
)
_GAP: Final = 2
_MOST: Final[Mapping[str, int]] = {"adapter": 16, "operation": 32, "caller": 24}
"""How wide columns become at most that are never left out."""
_LEAST: Final[Mapping[str, int]] = {"code": 21, "parameters": 16, "duration": 6, "rule": 16}
"""How much room the other columns need to be of any use, the most useful first."""
_LINE: Final[Mapping[str, int]] = {
    "row": 6,
    "time": 20,
    "event": 13,
    "adapter": 12,
    "operation": 24,
    "caller": 16,
    "decision": 8,
}

_COLOURS: Final[Mapping[str, str]] = {
    "allow": "green",
    "confirm": "yellow",
    "deny": "red",
    "executed": "green",
    "returned": "green",
    "approved": "cyan",
    "refused": "red",
    "revoked": "red",
    "agent paused": "yellow",
    "agent blocked": "red",
    "code shown": "cyan",
    "verified": "cyan",
    "verification failed": "red",
    "verification refused": "red",
    "self-approval refused": "bold red",
    "block overridden": "bold yellow",
    "unreadable": "bold red",
}


def print_table(terminal: Console, rows: Sequence[Cells]) -> None:
    """Print rows, one line each; what finds no room is cut with a sign, and columns that do not fit are named."""
    wanted = _contents(rows)
    widths = _widths(wanted, terminal.width)
    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="bold")
    shown = [name for name in COLUMNS if name in widths]
    for name in shown:
        is_number = name in ("row", "duration")
        table.add_column(
            name, width=widths[name], no_wrap=True, overflow="ellipsis", justify="right" if is_number else "left"
        )
    for row in rows:
        cells = dict(zip(COLUMNS, row, strict=True))
        table.add_row(*(_coloured(name, cells[name]) for name in shown))
    terminal.print(table)
    left_out = [name for name in wanted if name not in widths]
    if left_out:
        complain(f"there is no room for {', '.join(left_out)}; a wider terminal or --format csv shows everything")


def _contents(rows: Sequence[Cells]) -> dict[str, int]:
    """How wide each column would have to be; columns without anything in them are none."""
    cells = {name: [row[place] for row in rows] for place, name in enumerate(COLUMNS)}
    if len({*filter(None, cells["adapter"])}) == 1 and TRUST not in cells["event"]:
        del cells["adapter"]  # the same name in every line tells nothing, but where a row is about the adapter itself
    return {name: max(map(cell_len, (name, *texts))) for name, texts in cells.items() if any(texts)}


def _widths(wanted: Mapping[str, int], whole: int) -> dict[str, int]:
    widths = {name: min(width, _MOST.get(name, width)) for name, width in wanted.items() if name not in _LEAST}
    room = whole - sum(widths.values()) - _GAP * len(widths)
    for name, least in _LEAST.items():
        width = min(wanted.get(name, 0), least)
        if 0 < width <= room:
            widths[name] = width
            room -= width + _GAP
    for name in _LEAST:
        more = min(wanted[name] - widths[name], max(0, room)) if name in widths else 0
        if more:
            widths[name] += more
            room -= more
    return widths


def coloured_line(row: Cells) -> Text:
    """A row where nobody knows how wide the next ones are."""
    return Text(" " * _GAP).join(_padded(row))


def _padded(row: Cells) -> Iterator[Text]:
    for name, text in zip(COLUMNS, row, strict=True):
        width = _LINE.get(name, 0)
        if width or text:
            coloured = _coloured(name, text)
            coloured.pad_right(max(0, width - cell_len(text)))
            yield coloured


def _coloured(column: str, text: str) -> Text:
    if column in ("event", "decision"):
        return Text(text, style=_COLOURS.get(text, ""))
    return Text(text, style="red" if column == "code" else "")
