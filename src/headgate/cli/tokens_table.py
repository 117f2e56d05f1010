"""The figures of ``tokens`` on a terminal: a table, bars below it, and the verdict."""

from collections.abc import Sequence
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from headgate.charts.values import Bar, Group
from headgate.charts.words import number
from headgate.cli.tokens_words import Prices, about_task, chart_of, rows_of, verdict
from headgate.server.spending import Bill

__all__ = ["print_table"]

_WIDTH: Final = 40
_LEAST: Final = 8
"""A bar that is shorter says nothing."""
_GAP: Final = 2
_PARTS: Final = " \u258f\u258e\u258d\u258c\u258b\u258a\u2589\u2588"
_OURS: Final = "blue"
_OTHERS: Final = "bright_black"


def print_table(terminal: Console, bill: Bill, prices: Prices) -> None:
    """Everything, for people."""
    _print_figures(terminal, list(rows_of(bill, prices)))
    for group in chart_of(bill, "").groups:
        terminal.print()
        _print_bars(terminal, group)
    terminal.print()
    for line in about_task(bill):
        terminal.print(Text(line, style="dim"))
    for place, line in enumerate(verdict(bill)):
        terminal.print(Text(line, style="" if place else "bold"))


def _print_figures(terminal: Console, rows: Sequence[tuple[str, ...]]) -> None:
    """Where there is little room, headings and names are broken between words, and figures never are."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    needed = 0
    for place, column in enumerate(zip(*rows, strict=True)):
        broken, whole = (column, ()) if place == 0 else (column[:1], column[1:])
        least = max(map(len, [*whole, *(word for cell in broken for word in cell.split())]))
        table.add_column(column[0], justify="right" if place else "left", min_width=least, overflow="fold")
        needed += least + _GAP
    for row in rows[1:]:
        table.add_row(*map(Text, row))
    _print(terminal, table, needed)


def _print(terminal: Console, table: Table, needed: int) -> None:
    """On a terminal that is too narrow even for figures alone, it is the terminal that breaks lines."""
    terminal.print(table, width=max(terminal.width, needed), crop=False)


def _print_bars(terminal: Console, group: Group) -> None:
    """Bars in the room that is left by what they are called and what they come to; none where that is too little."""
    most = max(bar.value for bar in group.bars)
    words = sum(max(map(len, column)) + _GAP for column in ([bar.label for bar in group.bars], map(_end, group.bars)))
    room = min(_WIDTH, terminal.width - words)
    table = Table(
        box=None, pad_edge=False, title=group.label, title_justify="left", title_style="bold", show_header=False
    )
    for bar in group.bars:
        style = _OURS if bar.is_ours else _OTHERS
        blocks = [Text(_blocks(bar.value / most if most else 0, room), style=style)] if room >= _LEAST else []
        table.add_row(Text(bar.label), *blocks, Text(_end(bar)))
    _print(terminal, table, words)


def _end(bar: Bar) -> str:
    return f"{number(bar.value)}  {bar.note}".rstrip()


def _blocks(share: float, width: int) -> str:
    """A bar of so much of the width, to an eighth of a sign; what is there at all can be seen."""
    eighths = max(round(share * width * 8), 1 if share else 0)
    return (_PARTS[8] * (eighths // 8) + _PARTS[eighths % 8]).rstrip()
