"""The page of a run: ``docs/benchmarks.md`` with its charts, made of what was kept and of nothing else."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from benchmarks.aims import aims_table
from benchmarks.chapters import Chapter, Run
from benchmarks.noise import Noise
from benchmarks.tables import Cell, Table
from benchmarks.timing import Ratio
from headgate.charts import Bar, BarChart, Chart, Group, LineChart, Mark, Point, Series, svg

__all__ = ["pictures", "text_of", "with_tables", "write_page"]

_EXPLAINED: Final = Path(__file__).parent / "explained"
_FOLDER: Final = "charts"
_PREFIX: Final = "benchmark-"
_OURS: Final = "headgate"
_MARKED: Final = re.compile(r"(?<=<!-- measured: )(.+?)( -->\n).*?(?=<!-- end -->)", re.DOTALL)
_LEFT_OUT: Final = "Not measured in this run, since what it needs is not installed."
_TIMES: Final = "ratios of the time for each"
_NOT_RATES: Final = f"{_TIMES}, not of how many in a second"
_OURS_TAKES: Final = "Under 1 takes less. Blue: headgate does. Grey: it takes more."
_EACH_TAKES: Final = "Under 1 takes less. Blue: headgate. Grey: others."
_OTHERS_TAKE: Final = "Under 1 takes less than headgate."
_MEASURED: Final = "Bars end at the median of all rounds, whiskers at its quartiles."


def write_page(run: Run, page: Path) -> None:
    """Write the page and its charts, and its tables where other pages show them; charts of an earlier run go."""
    folder = page.parent / _FOLDER
    folder.mkdir(exist_ok=True)
    for old in folder.glob(f"{_PREFIX}*.svg"):
        old.unlink()
    for name, picture in pictures(run).items():
        (folder / name).write_text(picture)
    page.write_text(text_of(run))
    for other in sorted(page.parent.glob("*.md")):
        other.write_text(with_tables(other.read_text(), run))


def pictures(run: Run) -> Mapping[str, str]:
    """A chart as SVG for every table that is drawn, by the name of its file."""
    return {
        _file_of(chapter, place): svg(_chart(table))
        for chapter in run.chapters
        for place, table in enumerate(chapter.tables)
        if _is_drawn(table)
    }


def text_of(run: Run) -> str:
    """The page in Markdown."""
    parts = [_section("before").format(date=run.date, machine=run.machine), _plain(aims_table(run.aims), "## Aims")]
    for chapter in run.chapters:
        parts += _chapter(chapter)
    parts += [_plain(_quietness(run), "## How quiet it was"), _section("after"), *_anew(run)]
    return "\n\n".join(parts) + "\n"


def with_tables(text: str, run: Run) -> str:
    """A page with the tables of the run between its marks, each by its title."""
    bodies = {table.title: _body(table) for chapter in run.chapters for table in chapter.tables}
    return _MARKED.sub(lambda mark: f"{mark[1]}{mark[2]}\n{bodies.get(mark[1], _LEFT_OUT)}\n\n", text)


def _chapter(chapter: Chapter) -> Iterator[str]:
    yield f"## {chapter.title}"
    yield _section(chapter.name)
    for place, table in enumerate(chapter.tables):
        yield _plain(table, f"### {table.title}")
        if _is_drawn(table):
            yield f"![{table.title}]({_FOLDER}/{_file_of(chapter, place)})"


def _section(name: str) -> str:
    """What a person has to know before reading figures, written beside the suites."""
    return (_EXPLAINED / f"{name}.md").read_text().strip()


def _plain(table: Table, heading: str) -> str:
    return f"{heading}\n\n{_body(table)}"


def _body(table: Table) -> str:
    """The table without its title."""
    return table.text().partition("\n\n")[2]


def _quietness(run: Run) -> Table:
    rows = tuple(
        (chapter.title, *_seen(chapter.noise), _share_of_noisy(chapter), round(chapter.seconds))
        for chapter in run.chapters
    )
    columns = ("", "cores busy with others", "taken by the host", "jitter", "fixed work, µs", "noisy ratios", "seconds")
    return Table("", columns, rows)


def _seen(noise: Noise) -> tuple[Cell, ...]:
    return noise.busy, f"{noise.stolen:.1%}", f"{noise.jitter:.1%}", noise.pace


def _anew(run: Run) -> Iterator[str]:
    """Which suites are not of the one run."""
    titles = [chapter.title for chapter in run.chapters if chapter.name in run.again]
    if titles:
        yield f"Measured anew after the whole run (`--again`): {', '.join(titles)}."


def _share_of_noisy(chapter: Chapter) -> str:
    return f"{sum(ratio.is_noisy for ratio in chapter.ratios)} of {len(chapter.ratios)}"


def _file_of(chapter: Chapter, place: int) -> str:
    return f"{_PREFIX}{chapter.name}-{place + 1}.svg"


def _ratio_columns(table: Table) -> list[int]:
    """Where its ratios stand."""
    places = range(1, len(table.columns))
    return [place for place in places if any(isinstance(row[place], Ratio) for row in table.rows)]


def _is_drawn(table: Table) -> bool:
    return bool(table.across or _ratio_columns(table))


def _chart(table: Table) -> Chart:
    return _lines(table) if table.across else _bars(table)


def _lines(table: Table) -> LineChart:
    title, _, unit = table.title.removesuffix(")").rpartition(" (")
    series = [
        Series(name, [Point(_figure(row[0]), _figure(row[place])) for row in table.rows], is_ours=name == _OURS)
        for place, name in enumerate(table.columns)
        if place
    ]
    return LineChart(title, series, table.across, unit=unit, footnote="Lower is better.")


def _figure(cell: Cell) -> float:
    if not isinstance(cell, int | float):
        raise TypeError("only numbers are drawn as lines")
    return cell


def _bars(table: Table) -> BarChart:
    places = _ratio_columns(table)
    title = table.title.partition(" (")[0]
    groups = _by_row(table, places) if len(places) > 1 else [_one_column(table, places[0])]
    subtitle = _subtitle(table.title, [table.columns[place] for place in places])
    footnote = _colours(groups) if len(places) == 1 and _is_race(table) else _OURS_TAKES
    if _is_measured(table):
        footnote = f"{footnote} {_MEASURED}"
    return BarChart(title, groups, Mark(1.0, "the same"), subtitle=subtitle, footnote=footnote)


def _colours(race: list[Group]) -> str:
    return _EACH_TAKES if any(bar.is_ours for group in race for bar in group.bars) else _OTHERS_TAKE


def _is_race(table: Table) -> bool:
    """Whether each row is a contender of its own, and not a figure of headgate's."""
    drawn = [str(row[0]) for row in table.rows if any(isinstance(cell, Ratio) for cell in row)]
    return any(_OURS in str(row[0]) for row in table.rows) and not all(_OURS in name for name in drawn)


def _is_measured(table: Table) -> bool:
    """Whether its ratios have spreads; those of tokens are counted, and have none."""
    return any(isinstance(cell, Ratio) and cell.low < cell.high for row in table.rows for cell in row)


def _subtitle(title: str, columns: list[str]) -> str:
    if len(columns) > 1:
        if all(one.startswith("/ ") for one in columns):
            return "headgate's ratio to each"
        return _NOT_RATES if "per second" in title else _TIMES
    return f"ratio to {columns[0].removeprefix('/ ')}" if columns[0].startswith("/ ") else columns[0]


def _by_row(table: Table, places: list[int]) -> list[Group]:
    peers = {place: _peer(table.columns[place]) for place in places}
    groups = [
        (str(row[0]), [_bar(peer, row[place]) for place, peer in peers.items() if isinstance(row[place], Ratio)])
        for row in table.rows
    ]
    return [Group(bars, label) for label, bars in groups if bars]


def _one_column(table: Table, place: int) -> Group:
    is_race = _is_race(table)
    return Group(
        [
            _bar(str(row[0]), row[place], is_ours=_OURS in str(row[0]) if is_race else None)
            for row in table.rows
            if isinstance(row[place], Ratio)
        ]
    )


def _peer(column: str) -> str:
    return f"to {column.removeprefix('/ ')}" if column.startswith("/ ") else column


def _bar(label: str, ratio: object, *, is_ours: bool | None = None) -> Bar:
    """Strong where headgate takes less, and grey where it takes more; or as it is said."""
    if not isinstance(ratio, Ratio):
        raise TypeError("only ratios are drawn")
    is_strong = ratio.median <= 1 if is_ours is None else is_ours
    low, high = (ratio.low, ratio.high) if ratio.low < ratio.high else (None, None)
    return Bar(label, ratio.median, low, high, is_ours=is_strong, note="noisy" * ratio.is_noisy)
