"""The page of the benchmarks is what was measured: made of the kept figures, and of nothing else."""

import re
from pathlib import Path

import pytest

from benchmarks.aims import Aim
from benchmarks.chapters import Chapter, Run, read_run, write_run
from benchmarks.noise import Noise
from benchmarks.page import pictures, text_of
from benchmarks.tables import Table
from benchmarks.timing import Ratio, Timing
from tests.support import ROOT

DOCS = ROOT / "docs"
QUIET = Noise(busy=0.01, stolen=0.0, jitter=0.02)
TABLE = Table("Calls (µs)", ("", "headgate", "/ peer"), (("one", 12.5, Ratio(0.5, 0.45, 0.52)), ("two", 3.0, None)))
RUN = Run(
    "2 cores", "2026-01-02", (Chapter("dispatch", "Dispatch", (TABLE,), (Aim("calls, µs", 12.5, 15.0),), QUIET, 3.4),)
)


def kept() -> Run:
    return read_run(DOCS / "benchmarks.json")


def test_the_page_shows_what_was_kept_and_nothing_else() -> None:
    assert (DOCS / "benchmarks.md").read_text() == text_of(kept())


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


def test_a_ratio_is_shown_with_its_spread_and_drawn_in_a_chart() -> None:
    text = " ".join(text_of(RUN).split())
    assert "| one | 12.5 | 0.50 (0.45 to 0.52) |" in text
    assert "| calls, µs | 12.5 | at most 15 | reached |" in text
    assert "![Calls (µs)](charts/benchmark-dispatch-1.svg)" in text
    assert list(pictures(RUN)) == ["benchmark-dispatch-1.svg"]


@pytest.mark.parametrize(
    ("noise", "word"),
    [
        (Noise(busy=0.5, stolen=0.0, jitter=0.0), "0.50 cores"),
        (Noise(busy=0.0, stolen=0.1, jitter=0.0), "10.0%"),
        (Noise(busy=0.0, stolen=0.0, jitter=0.9), "90%"),
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


def test_a_disturbed_suite_makes_its_run_one_that_is_not_to_be_kept() -> None:
    chapter = Chapter("dispatch", "Dispatch", (TABLE,), (), Noise(busy=0.5, stolen=0.0, jitter=0.0), 1.0)
    assert (Run("2 cores", "2026-01-02", (chapter,)).complaint or "").startswith("dispatch: others kept 0.50 cores")


@pytest.mark.parametrize(
    ("aim", "verdict"),
    [
        (Aim("a", 1.0, most=1.0), "reached"),
        (Aim("a", 1.1, most=1.0), "missed"),
        (Aim("a", Ratio(1.5, 1.4, 1.6), least=1.4), "reached"),
        (Aim("a", Ratio(1.3, 1.2, 1.6), least=1.4), "missed"),
    ],
    ids=str,
)
def test_an_aim_is_reached_or_missed_by_its_median(aim: Aim, verdict: str) -> None:
    assert aim.row()[-1] == verdict
