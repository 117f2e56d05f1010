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
_PARTS: Final = " \u258f\u258e\u258d\u258c\u258b\u258a\u2589\u2588"
_OURS: Final = "blue"
_OTHERS: Final = "bright_black"


def print_table(terminal: Console, bill: Bill, prices: Prices) -> None:
    """Everything, for people."""
    terminal.print(_table(list(rows_of(bill, prices))))
    for group in chart_of(bill, "").groups:
        terminal.print()
        terminal.print(_bars(group))
    terminal.print()
    for line in about_task(bill):
        terminal.print(Text(line, style="dim"))
    for place, line in enumerate(verdict(bill)):
        terminal.print(Text(line, style="" if place else "bold"))


def _table(rows: Sequence[tuple[str, ...]]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for place, column in enumerate(rows[0]):
        table.add_column(column, justify="right" if place else "left", no_wrap=True)
    for row in rows[1:]:
        table.add_row(*map(Text, row))
    return table


def _bars(group: Group) -> Table:
    most = max(bar.value for bar in group.bars)
    table = Table(
        box=None, pad_edge=False, title=group.label, title_justify="left", title_style="bold", show_header=False
    )
    for bar in group.bars:
        style = _OURS if bar.is_ours else _OTHERS
        table.add_row(bar.label, Text(_blocks(bar.value / most if most else 0), style=style), Text(_end(bar)))
    return table


def _end(bar: Bar) -> str:
    return f"{number(bar.value)}  {bar.note}".rstrip()


def _blocks(share: float) -> str:
    """A bar of so much of the width, to an eighth of a sign; what is there at all can be seen."""
    eighths = max(round(share * _WIDTH * 8), 1 if share else 0)
    return (_PARTS[8] * (eighths // 8) + _PARTS[eighths % 8]).rstrip()
