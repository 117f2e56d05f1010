"""Baselines: written, read again, and refused in plain words if they are none."""

import json
from pathlib import Path

import pytest

from headgate.conformance.baseline import Baseline, Known, baseline_of, fixed_in
from headgate.protocol.adapter_errors import AdapterError
from tests.conformance.reports.made import a_report


def test_all_that_is_wrong_is_known_from_now_on(tmp_path: Path) -> None:
    found = baseline_of(a_report())
    path = tmp_path / "baseline.json"
    path.write_text(json.dumps(found.wire()))
    assert Baseline.read(path) == found
    assert found.known == {Known("bad.is", "list_books"), Known("odd.is", "get_book")}
    assert fixed_in(a_report(), found) == ()


def test_a_baseline_is_written_in_the_same_order_each_time() -> None:
    known = [Known(f"check.{number}", "x") for number in range(20)]
    assert Baseline(frozenset(known)).wire() == Baseline(frozenset(reversed(known))).wire()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("no JSON", "is no JSON"),
        ("[" * 100_000, "is no JSON"),
        ("[]", "is no baseline"),
        ('{"known": []}', "is no baseline"),
        ('{"baseline": 2, "known": []}', "is no baseline"),
        ('{"baseline": 1, "known": {}}', "is no baseline"),
        ('{"baseline": 1, "known": [{"check": "x"}]}', "'check' and 'subject'"),
        ('{"baseline": 1, "known": ["x"]}', "'check' and 'subject'"),
    ],
)
def test_a_file_that_is_no_baseline_is_refused(content: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    path.write_text(content)
    with pytest.raises(AdapterError, match=words):
        Baseline.read(path)


def test_a_baseline_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AdapterError, match="cannot be read"):
        Baseline.read(tmp_path / "none.json")
