"""The page of tokens shows what its commands print, and its charts are those that they draw."""

from pathlib import Path

import pytest

from tests.support import ROOT
from tests.tokens_page import CHARTS, PAGE, made_anew, main

AGAIN = "out of date; run: make tokens"


def test_the_page_and_its_charts_hold_the_figures_of_today(tmp_path: Path) -> None:
    said = PAGE.read_text()
    assert made_anew(said, tmp_path) == said, AGAIN
    drawn = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    kept = {file.name: file.read_bytes() for file in (ROOT / CHARTS).glob("tokens-*")}
    assert len(kept) == 2
    assert drawn == kept, AGAIN


def test_the_page_can_be_printed_without_writing_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Nothing is shown\n")
    monkeypatch.setattr("tests.tokens_page.PAGE", page)
    assert main([]) == 0
    assert capsys.readouterr().out == "# Nothing is shown\n"
