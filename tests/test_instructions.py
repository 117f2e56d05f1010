"""The hot path takes no more instructions than was recorded, within five percent."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.instructions import RECORDED
from benchmarks.instructions.comparing import Count, changes, complaints, other_builds, read_count, write_count
from benchmarks.instructions.counting import count, hindrance

HERE = Count(builds={"python": "3.11.7", "orjson": "3.11"}, reference=1_000_000, paths={"dispatch": 100_000})


def counted(instructions: int, *, reference: int = 1_000_000, **builds: str) -> Count:
    """The same path, counted again."""
    return replace(HERE, paths={"dispatch": instructions}, reference=reference, builds={**HERE.builds, **builds})


def test_the_hot_path_takes_no_more_instructions_than_recorded(tmp_path: Path) -> None:
    why_not = hindrance()
    if why_not and os.environ.get("CI") == "true":
        pytest.fail(why_not)
    if why_not:
        pytest.skip(why_not)
    assert complaints(read_count(RECORDED.read_bytes()), count(tmp_path)) == []


@pytest.mark.parametrize("instructions", [50_000, 100_000, 104_000])
def test_up_to_five_percent_more_is_let_pass(instructions: int) -> None:
    assert complaints(HERE, counted(instructions)) == []


def test_more_is_told_with_the_path_the_figures_and_what_to_do() -> None:
    [said] = complaints(HERE, counted(106_000))
    assert "'dispatch' takes 106,000 instructions a call, 6.0% more than the 100,000 recorded" in said
    assert "callgrind_annotate" in said
    assert "'make instructions-record'" in said


def test_another_python_is_measured_by_what_it_takes_for_the_reference() -> None:
    slower = counted(200_000, reference=2_000_000, python="3.11.9")
    assert [change.growth for change in changes(HERE, slower)] == [0.0]
    assert complaints(HERE, slower) == []


def test_with_other_builds_only_what_grows_by_far_is_told() -> None:
    assert other_builds(HERE, counted(1, orjson="3.12")) == ["orjson: 3.11 recorded, 3.12 here"]
    assert complaints(HERE, counted(120_000, orjson="3.12")) == []
    assert len(complaints(HERE, counted(140_000, orjson="3.12"))) == 1


def test_a_build_that_says_the_same_of_itself_is_found_by_the_reference() -> None:
    assert other_builds(HERE, counted(1, reference=1_009_000)) == []
    [said] = other_builds(HERE, counted(1, reference=1_020_000))
    assert said == "the reference: 1,000,000 instructions recorded, 1,020,000 here"


def test_a_path_that_is_new_or_gone_must_be_recorded() -> None:
    [new] = complaints(HERE, replace(HERE, paths={**HERE.paths, "batch": 1}))
    [gone] = complaints(HERE, replace(HERE, paths={}))
    assert "'batch' is not recorded" in new
    assert "'dispatch' is not counted" in gone


def test_a_count_is_read_as_it_was_written() -> None:
    assert read_count(write_count(HERE)) == HERE
