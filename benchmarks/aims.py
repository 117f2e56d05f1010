"""What the project set out to reach, beside what was measured."""

from collections.abc import Iterable
from dataclasses import dataclass

from benchmarks.tables import Cell, Table
from benchmarks.timing import Ratio

__all__ = ["Aim", "aims_table", "worst"]


@dataclass(frozen=True, slots=True)
class Aim:
    """A figure, and the most that it may be, or the least."""

    name: str
    value: float | Ratio
    most: float | None = None
    least: float | None = None

    @property
    def is_reached(self) -> bool:
        """Whether the median is within the bounds."""
        value = self.value.median if isinstance(self.value, Ratio) else self.value
        return (self.most is None or value <= self.most) and (self.least is None or value >= self.least)

    @property
    def is_noisy(self) -> bool:
        """Whether the rounds agree too little to tell."""
        return isinstance(self.value, Ratio) and self.value.is_noisy

    def row(self) -> tuple[Cell, ...]:
        """The row of the table of aims."""
        bound = f"at most {self.most:,g}" if self.most is not None else f"at least {self.least:,g}"
        verdict = "reached" if self.is_reached else "missed"
        return self.name, self.value, bound, f"{verdict}, noisy" if self.is_noisy else verdict


def worst(name: str, ratios: Iterable[Ratio], most: float) -> Aim:
    """The aim of several ratios: the largest of them counts."""
    return Aim(name, max(ratios, key=lambda one: one.median), most)


def aims_table(aims: Iterable[Aim]) -> Table:
    """All of them."""
    return Table("Aims", ("", "measured", "aim", ""), tuple(aim.row() for aim in aims))
