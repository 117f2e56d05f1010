"""The page of the benchmarks is what was measured: made of the kept figures, and of nothing else."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks.aims import Aim
from benchmarks.chapters import Chapter, Run, UnreadableRunError, read_run, write_run
from benchmarks.noise import Noise
from benchmarks.page import pictures, text_of, with_tables
from benchmarks.tables import Cell, Table
from benchmarks.timing import Ratio, Timing
from tests.support import ROOT

DOCS = ROOT / "docs"
QUIET = Noise(busy=0.01, stolen=0.0, jitter=0.02, pace=200.0)
TABLE = Table("Calls (µs)", ("", "headgate", "/ peer"), (("one", 12.5, Ratio(0.5, 0.45, 0.52)), ("two", 3.0, None)))
RUN = Run(
    "2 cores", "2026-01-02", (Chapter("dispatch", "Dispatch", (TABLE,), (Aim("calls, µs", 12.5, 15.0),), QUIET, 3.4),)
)


def kept() -> Run:
    return read_run(DOCS / "benchmarks.json")


def figures(title: str, column: str) -> dict[str, Cell]:
    """A column of a table of the kept run, by the names of its rows."""
    [table] = [table for chapter in kept().chapters for table in chapter.tables if table.title == title]
    place = table.columns.index(column)
    return {str(row[0]): row[place] for row in table.rows}


def span(ratios: list[float], digits: int = 1) -> str:
    return f"{min(ratios):.{digits}f} to {max(ratios):.{digits}f}"


def test_the_page_shows_what_was_kept_and_nothing_else() -> None:
    assert (DOCS / "benchmarks.md").read_text() == text_of(kept())


def test_other_pages_show_its_tables_as_they_are() -> None:
    pages = {page.name: page.read_text() for page in DOCS.glob("*.md")}
    assert {name: with_tables(text, kept()) for name, text in pages.items()} == pages


def test_a_table_stands_between_its_marks_and_what_is_around_them_stays() -> None:
    shown = with_tables("before\n<!-- measured: Calls (µs) -->\nold\n<!-- end -->\nafter\n", RUN)
    assert shown.startswith("before\n<!-- measured: Calls (µs) -->\n\n| ")
    assert shown.endswith("|\n\n<!-- end -->\nafter\n")
    assert "| one |     12.5 |" in shown
    assert "old" not in shown


def test_a_table_that_was_not_measured_is_said_to_be_none() -> None:
    shown = with_tables("<!-- measured: Requests -->\nold\n<!-- end -->\n", RUN)
    assert "old" not in shown
    assert "Not measured in this run" in shown


def test_the_figures_of_the_readme_are_those_of_the_page() -> None:
    readme = " ".join((ROOT / "README.md").read_text().split())
    listed = figures("tools/list in tokens (o200k)", "tokens")
    together = figures("A task of three operations, in tokens (o200k)", "together")
    served = [
        aim.value.median for aim in kept().aims if aim.name.startswith("HTTP load") and isinstance(aim.value, Ratio)
    ]
    beside = figures("The round trip of a call", "/ FastMCP")
    in_process = [
        one.median for name, one in beside.items() if name.startswith("in process") and isinstance(one, Ratio)
    ]
    assert f"89 operations cost a model {listed['89 operations, semantic']:,} tokens before any work" in readme
    assert f"where 89 tools cost {listed['89 operations as discrete tools']:,};" in readme
    assert f"a task of three of them, finding them included, {together['89 operations, compact']:,}." in readme
    assert f"headgate answers {span(served)} times as many requests in a second as FastMCP" in readme
    assert f"in process a call takes it {span(in_process)} of the time" in readme


def test_the_charts_are_those_of_what_was_kept() -> None:
    drawn = {file.name: file.read_text() for file in (DOCS / "charts").glob("benchmark-*.svg")}
    assert drawn == pictures(kept())


def test_every_suite_was_measured_in_that_run_on_a_quiet_machine() -> None:
    named = re.findall(r'^    "([a-z]+)": Suite\(', (ROOT / "benchmarks" / "suites.py").read_text(), re.MULTILINE)
    assert [chapter.name for chapter in kept().chapters] == named
    assert kept().complaint is None


def test_a_run_is_read_as_it_was_written(tmp_path: Path) -> None:
    write_run(RUN, tmp_path / "run.json")
    assert read_run(tmp_path / "run.json") == RUN


@pytest.mark.parametrize("kept", ["", "[]", '{"chapters":[{"name":"dispatch"}]}'])
def test_a_run_of_another_form_is_said_to_be_one(kept: str, tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    file.write_text(kept)
    with pytest.raises(UnreadableRunError, match=r"run\.json is damaged or of an older form"):
        read_run(file)


def test_a_ratio_is_shown_with_its_spread_and_drawn_in_a_chart() -> None:
    text = " ".join(text_of(RUN).split())
    assert "| one | 12.5 | 0.50 (0.45 to 0.52) |" in text
    assert "| calls, µs | 12.5 | at most 15 | reached |" in text
    assert "![Calls (µs)](charts/benchmark-dispatch-1.svg)" in text
    assert list(pictures(RUN)) == ["benchmark-dispatch-1.svg"]


def test_a_table_that_goes_across_something_is_drawn_as_lines_over_it() -> None:
    waits = Table("Waits (ms)", ("clients", "headgate", "peer"), ((1, 0.5, 0.7), (16, 2.5, 9.5)), across="clients")
    [chapter] = RUN.chapters
    run = replace(RUN, chapters=(replace(chapter, tables=(waits,)),))
    [drawn] = pictures(run).values()
    assert "headgate: 0.500 ms by 1, 2.50 ms by 16. peer: 0.700 ms by 1, 9.50 ms by 16." in drawn
    assert "![Waits (ms)](charts/benchmark-dispatch-1.svg)" in text_of(run)


def test_only_ratios_that_were_measured_have_whiskers_to_explain() -> None:
    counted = Table("Tokens", ("", "/ peer"), (("one", Ratio(0.5, 0.5, 0.5)),))
    [chapter] = RUN.chapters
    [drawn] = pictures(replace(RUN, chapters=(replace(chapter, tables=(counted,)),))).values()
    [measured] = pictures(RUN).values()
    assert ("whiskers" in drawn, "whiskers" in measured) == (False, True)


RACE = (("headgate", Ratio(1.4, 1.3, 1.5)), ("bare SDK", None), ("peer", Ratio(0.9, 0.8, 1.0)))


@pytest.mark.parametrize(
    ("rows", "strong", "told"),
    [
        (RACE, ["headgate"], "Blue: headgate. Grey: others."),
        ((("headgate", None), ("peer", Ratio(0.5, 0.4, 0.6))), [], "Under 1 takes less than headgate."),
        ((("a call", Ratio(1.4, 1.3, 1.5)), ("ten", Ratio(0.9, 0.8, 1.0))), ["ten"], "Blue: headgate does."),
        ((("headgate, fast", Ratio(0.9, 0.8, 1.0)), ("peer", None)), ["headgate, fast"], "Blue: headgate does."),
    ],
    ids=["contenders", "another one alone", "what headgate does", "headgate in several ways"],
)
def test_what_is_strong_in_a_chart_is_what_it_says(rows: Any, strong: list[str], told: str) -> None:
    [chapter] = RUN.chapters
    table = Table("Starting (ms)", ("", "/ bare SDK"), rows)
    [drawn] = pictures(replace(RUN, chapters=(replace(chapter, tables=(table,)),))).values()
    bold = re.findall(r'font-weight="[^"]+"[^>]*>([^<]+)</text>', drawn)
    assert [name for name, _ in rows if name in bold] == strong
    assert told in drawn


@pytest.mark.parametrize(
    ("title", "columns", "told"),
    [
        ("Load (requests per second)", ("time / peer", "time / other"), "for each, not of how many in a second"),
        ("Load, requests per second", ("time / peer", "time / other"), "for each, not of how many in a second"),
        ("Guarded calls (µs)", ("memory / unguarded", "SQLite / unguarded"), ">ratios of the time for each<"),
        ("Calls (µs)", ("/ peer", "/ other"), "headgate&#x27;s ratio to each"),
        ("Load (requests per second)", ("time / peer",), ">time / peer<"),
    ],
    ids=["a rate as unit", "a rate in words", "times", "peers alone", "one column of a rate"],
)
def test_a_chart_says_what_its_ratios_are_of(title: str, columns: tuple[str, ...], told: str) -> None:
    [chapter] = RUN.chapters
    table = Table(title, ("", *columns), (("one", *(Ratio(0.5, 0.4, 0.6) for _ in columns)),))
    [drawn] = pictures(replace(RUN, chapters=(replace(chapter, tables=(table,)),))).values()
    assert told in drawn


@pytest.mark.parametrize(
    ("noise", "word"),
    [
        (replace(QUIET, busy=0.5), "0.50 cores"),
        (replace(QUIET, stolen=0.1), "10.0%"),
        (replace(QUIET, jitter=0.9), "90%"),
    ],
    ids=["others work", "the host is busy", "work takes now long, now short"],
)
def test_a_noisy_machine_is_told_with_what_it_is(noise: Noise, word: str) -> None:
    assert QUIET.complaint is None
    assert word in (noise.complaint or "")


def test_rounds_that_disagree_make_a_ratio_noisy_and_many_of_them_a_run() -> None:
    steady, wild = Timing((1.0, 1.0, 1.0, 1.0)), Timing((1.0, 2.0, 1.0, 2.0))
    assert not steady.against(steady).is_noisy
    assert wild.against(steady).is_noisy
    assert RUN.complaint is None
    table = Table("Calls", ("", "/ peer"), (("one", wild.against(steady)), ("two", steady.against(steady))))
    chapter = Chapter("dispatch", "Dispatch", (table,), (), QUIET, 1.0)
    assert Run("2 cores", "2026-01-02", (chapter,)).complaint == "1 of 2 ratios are noisy"


def test_suites_that_were_measured_anew_are_named_on_the_page() -> None:
    assert "Measured anew" not in text_of(RUN)
    [chapter] = RUN.chapters
    anew = RUN.with_anew([replace(chapter, tables=())]).with_anew([replace(chapter, seconds=1.0)])
    assert anew.chapters == (replace(chapter, seconds=1.0),)
    assert text_of(anew).endswith("Measured anew after the whole run (`--again`): Dispatch.\n")


def test_suites_of_a_machine_that_became_slower_do_not_belong_together() -> None:
    [chapter] = RUN.chapters
    slower = replace(chapter, name="load", noise=replace(QUIET, pace=320.0))
    assert replace(RUN, chapters=(chapter, replace(slower, noise=replace(QUIET, pace=280.0)))).complaint is None
    said = replace(RUN, chapters=(chapter, slower)).complaint
    assert said == "load: a fixed piece of work took 320 µs, and 200 µs at another time"


def test_a_disturbed_suite_makes_its_run_one_that_is_not_to_be_kept() -> None:
    chapter = Chapter("dispatch", "Dispatch", (TABLE,), (), replace(QUIET, busy=0.5), 1.0)
    assert (Run("2 cores", "2026-01-02", (chapter,)).complaint or "").startswith("dispatch: others kept 0.50 cores")


@pytest.mark.parametrize(
    ("aim", "verdict"),
    [
        (Aim("a", 1.0, most=1.0), "reached"),
        (Aim("a", 1.1, most=1.0), "missed"),
        (Aim("a", Ratio(1.5, 1.4, 1.6), least=1.4), "reached"),
        (Aim("a", Ratio(1.3, 1.2, 1.4), least=1.4), "missed"),
        (Aim("a", Ratio(0.5, 0.4, 0.6), most=1.0), "reached, noisy"),
        (Aim("a", Ratio(1.3, 1.2, 1.6), least=1.4), "missed, noisy"),
    ],
    ids=str,
)
def test_an_aim_is_reached_or_missed_by_its_median_and_says_whether_that_is_noisy(aim: Aim, verdict: str) -> None:
    assert aim.row()[-1] == verdict
