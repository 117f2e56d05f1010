"""Every demand of the texts has a check, or a reason why none sees it; every sentence in capitals has a row."""

import re
import tomllib
from pathlib import Path

import pytest

from headgate.conformance.checks import ALL_CHECKS
from headgate.conformance.requirements import Requirement, requirements
from tests.conformance.coverage import PAGE, covering, page
from tests.support import ROOT

IDS = {row.id for row in requirements()}
SENTENCES: dict[str, dict[str, list[str]]] = tomllib.loads((Path(__file__).parent / "sentences.toml").read_text())
TEXTS = ROOT.parent / "shared" / "spec"
CAPITAL = re.compile(r"(?<!_)(?:MUST|SHALL|SHOULD|REQUIRED|REQUIRES|RECOMMENDED)")
IN_SMALL_LETTERS = {
    "spec-4.2-params-take-precedence",
    "spec-4.6.1-underscore-metadata-not-refused",
    "spec-5.1-discriminated-response-envelope",
    "spec-6.1-categories-carry-permission-flags",
    "spec-7.2-introspect-query-param-required",
    "spec-7.3-four-introspection-queries-answered",
    "ops-4.4.1-dry-run-previews-mutations",
}
"""What tables and notes of the texts lay down without a capital word."""


def test_every_demand_is_covered_by_a_check_or_says_why_it_cannot_be_seen() -> None:
    by_row = covering()
    neither = [row.id for row in requirements() if not by_row[row.id] and row.unseen is None]
    assert not neither, f"{len(neither)} rows with neither a check nor a reason:\n" + "\n".join(neither)


def test_no_demand_is_covered_and_unseen_at_once() -> None:
    by_row = covering()
    both = {row.id: [check.id for check in by_row[row.id]] for row in requirements() if row.unseen and by_row[row.id]}
    assert not both


def test_every_row_that_a_check_names_exists_and_is_named_once() -> None:
    strangers = {check.id: set(check.proves) - IDS for check in ALL_CHECKS if set(check.proves) - IDS}
    assert not strangers
    assert not [check.id for check in ALL_CHECKS if len(set(check.proves)) < len(check.proves)]


def test_every_reason_is_a_sentence() -> None:
    reasons = {row.unseen for row in requirements() if row.unseen is not None}
    assert not [reason for reason in reasons if not re.fullmatch(r"[A-Z].{20,}\.", reason)]


@pytest.mark.parametrize("text", SENTENCES)
def test_the_rows_of_every_sentence_exist_and_stand_in_its_text(text: str) -> None:
    by_id = {row.id: row for row in requirements()}
    for rows in SENTENCES[text].values():
        assert {by_id[row].document for row in rows} <= {text}


def test_every_row_stands_in_a_sentence_or_is_laid_down_in_small_letters() -> None:
    said = {row for lines in SENTENCES.values() for rows in lines.values() for row in rows}
    assert IDS - said == IN_SMALL_LETTERS


@pytest.mark.skipif(not TEXTS.is_dir(), reason="the texts of the specification are not here")
class TestAgainstTheTexts:
    @pytest.mark.parametrize("text", SENTENCES)
    def test_every_sentence_with_a_capital_word_has_its_rows(self, text: str) -> None:
        lines = (TEXTS / f"{text}.txt").read_text(encoding="utf-8").splitlines()
        capital = {str(number) for number, line in enumerate(lines, 1) if CAPITAL.search(line)}
        assert capital == set(SENTENCES[text])

    def test_the_text_of_errors_demands_nothing_in_capitals(self) -> None:
        assert not CAPITAL.search((TEXTS / "errors.txt").read_text(encoding="utf-8"))


def test_the_document_of_a_row_is_the_text_without_the_section() -> None:
    row = Requirement("x", "collection-querying 2.6", "MUST", "Something.")
    assert row.document == "collection-querying"


def test_the_page_of_coverage_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "python -m tests.conformance.coverage --write"
