"""What a run found, suite by suite, as it is printed, kept as JSON and made into the page."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

import orjson

from benchmarks.aims import Aim
from benchmarks.noise import Noise
from benchmarks.tables import Cell, Table
from benchmarks.timing import Ratio

__all__ = ["Chapter", "Run", "UnreadableRunError", "read_run", "write_run"]

_MOST_NOISY: Final = 1 / 3
"""The share of a run's ratios whose rounds may disagree."""


class UnreadableRunError(Exception):
    """What was kept cannot be read."""


@dataclass(frozen=True, slots=True)
class Chapter:
    """One suite: its tables, what they say of the aims, and how quiet the machine was meanwhile."""

    name: str
    title: str
    tables: tuple[Table, ...]
    aims: tuple[Aim, ...]
    noise: Noise
    seconds: float

    @property
    def ratios(self) -> list[Ratio]:
        """All of its tables."""
        return [cell for table in self.tables for row in table.rows for cell in row if isinstance(cell, Ratio)]


@dataclass(frozen=True, slots=True)
class Run:
    """All that was measured by one command on one machine."""

    machine: str
    date: str
    chapters: tuple[Chapter, ...]
    again: tuple[str, ...] = ()
    """The suites that were measured anew since, by their names."""

    def with_anew(self, measured: Sequence[Chapter]) -> "Run":
        """The run with some of its suites measured anew, or at last."""
        before = {chapter.name: chapter for chapter in self.chapters}
        anew = {chapter.name: chapter for chapter in measured}
        again = tuple(dict.fromkeys([*self.again, *anew]))
        return replace(self, chapters=tuple({**before, **anew}.values()), again=again)

    @property
    def aims(self) -> list[Aim]:
        """Those of all suites."""
        return [aim for chapter in self.chapters for aim in chapter.aims]

    @property
    def complaint(self) -> str | None:
        """Why nothing should be concluded from it: what disturbed a suite, or rounds that disagree too often."""
        disturbed = [f"{one.name}: {one.noise.complaint}" for one in self.chapters if one.noise.complaint]
        fastest = min((one.noise for one in self.chapters), key=lambda noise: noise.pace)
        disturbed += [
            f"{one.name}: a fixed piece of work took {one.noise.pace:.0f} µs, and {fastest.pace:.0f} µs at another time"
            for one in self.chapters
            if one.noise.is_slow_beside(fastest)
        ]
        ratios = [ratio for chapter in self.chapters for ratio in chapter.ratios]
        noisy = sum(ratio.is_noisy for ratio in ratios)
        if noisy > _MOST_NOISY * len(ratios):
            disturbed.append(f"{noisy} of {len(ratios)} ratios are noisy")
        return "; ".join(disturbed) or None


def write_run(run: Run, file: Path) -> None:
    """Keep a run, so that its page can be made again."""
    file.write_bytes(orjson.dumps(asdict(run), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))


def read_run(file: Path) -> Run:
    """A run that was kept. An UnreadableRunError if it is not one of today's form."""
    try:
        kept = orjson.loads(file.read_bytes())
        return Run(**{**kept, "chapters": tuple(map(_chapter, kept["chapters"])), "again": tuple(kept["again"])})
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UnreadableRunError(f"{file.name} is damaged or of an older form: measure everything anew") from error


def _chapter(kept: Mapping[str, Any]) -> Chapter:
    tables = tuple(map(_table, kept["tables"]))
    aims = tuple(Aim(**{**aim, "value": _cell(aim["value"])}) for aim in kept["aims"])
    return Chapter(**{**kept, "tables": tables, "aims": aims, "noise": Noise(**kept["noise"])})


def _table(kept: Mapping[str, Any]) -> Table:
    rows: Sequence[Sequence[Any]] = kept["rows"]
    return Table(kept["title"], tuple(kept["columns"]), tuple(tuple(map(_cell, row)) for row in rows), kept["across"])


def _cell(kept: Any) -> Any:
    cell: Cell = Ratio(**kept) if isinstance(kept, dict) else kept
    return cell
