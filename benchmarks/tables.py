"""Tables of figures, for people and as JSON."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

from benchmarks.timing import Ratio

__all__ = ["Cell", "Table"]

Cell: TypeAlias = str | int | float | Ratio | None


@dataclass(frozen=True, slots=True)
class Table:
    """One table. Numbers stand right, words left, and what was not measured is a dash.

    A column of ratios is what a chart is drawn of; so are all columns of a table that goes ``across`` something.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    across: str = ""
    """What the numbers in the first column count, if the others are drawn as lines over it."""

    def text(self) -> str:
        """The table in Markdown, with its columns aligned."""
        cells = [list(self.columns), *([_shown(cell) for cell in row] for row in self.rows)]
        widths = [max(len(row[place]) for row in cells) for place in range(len(self.columns))]
        head, *body = [_line(row, widths) for row in cells]
        rule = "|".join(["", *(f"{'-' * (width + 1)}:" for width in widths[1:]), ""])
        return "\n".join([f"### {self.title}", "", head, f"|{'-' * (widths[0] + 2)}{rule}", *body])

    def wire(self) -> dict[str, Any]:
        """The table as JSON has it."""
        return asdict(self)


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    words = row[0].ljust(widths[0])
    numbers = [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
    return f"| {' | '.join([words, *numbers])} |"


def _shown(cell: Cell) -> str:
    match cell:
        case None:
            return "-"
        case Ratio() if cell.low == cell.high:  # counted, or one round alone
            return _shown(cell.median)
        case Ratio():
            spread = f"{_shown(cell.low)} to {_shown(cell.high)}"
            return f"{_shown(cell.median)} ({spread}{', noisy' if cell.is_noisy else ''})"
        case float() if 0 < abs(cell) < 0.1:
            return f"{cell:z.3f}"
        case float() if cell < 10:
            return f"{cell:.2f}"
        case float() if cell < 100:
            return f"{cell:.1f}"
        case float() | int():
            return f"{cell:,.0f}"
        case _:
            return cell
