"""What the project set out to reach, beside what was measured."""

from collections.abc import Iterable
from dataclasses import dataclass

from benchmarks.tables import Cell, Table
from benchmarks.timing import Ratio

__all__ = ["Aim", "aims_table", "worst"]


@dataclass(frozen=True, slots=True)
class Aim:
    """A figure, and the most that it may be. One that was measured on too busy a machine says so."""

    name: str
    value: float
    most: float
    is_noisy: bool = False

    def row(self) -> tuple[Cell, ...]:
        """The row of the table of aims."""
        verdict = "reached" if self.value <= self.most else "missed"
        return self.name, self.value, self.most, f"noisy ({verdict})" if self.is_noisy else verdict


def worst(name: str, ratios: Iterable[Ratio], most: float) -> Aim:
    """The aim of several ratios: the largest of them counts."""
    ratio = max(ratios, key=lambda one: one.median)
    return Aim(name, ratio.median, most, ratio.is_noisy)


def aims_table(aims: Iterable[Aim]) -> Table:
    """All of them."""
    return Table("Aims", ("", "measured", "aim", ""), tuple(aim.row() for aim in aims))
