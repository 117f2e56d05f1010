"""Payload limits: defaults, ranges and what cannot be built (Spec 4.7.5)."""

from dataclasses import FrozenInstanceError

import pytest

from headgate import Limits
from headgate.protocol.limits import LIMIT_ROWS, LimitError

KB, MB = 1024, 1024 * 1024

TABLE = [
    ("max_request_size", 1 * MB, 64 * KB, 10 * MB),
    ("max_response_size", 10 * MB, 1 * MB, 100 * MB),
    ("max_string_length", 1 * MB, 64 * KB, 10 * MB),
    ("max_array_elements", 10_000, 100, 100_000),
    ("max_nesting_depth", 32, 8, 64),
]
ROWS = [pytest.param(*row, id=row[0]) for row in TABLE]


@pytest.mark.parametrize(("name", "default", "lowest", "highest"), ROWS)
def test_a_limit_has_the_default_and_the_range_of_the_specification(
    name: str, default: int, lowest: int, highest: int
) -> None:
    row = LIMIT_ROWS[name]
    assert getattr(Limits(), name) == default
    assert (row.default, row.lowest, row.highest) == (default, lowest, highest)


@pytest.mark.parametrize(("name", "default", "lowest", "highest"), ROWS)
def test_a_limit_can_be_set_to_either_end_of_its_range(name: str, default: int, lowest: int, highest: int) -> None:
    for value in (lowest, highest):
        assert getattr(Limits(**{name: value}), name) == value != default


@pytest.mark.parametrize(("name", "default", "lowest", "highest"), ROWS)
def test_a_limit_outside_its_range_cannot_be_built_and_the_message_names_the_range(
    name: str, default: int, lowest: int, highest: int
) -> None:
    for value in (lowest - 1, highest + 1, 0, -default):
        with pytest.raises(LimitError, match=rf"^{name} is {value}; it must lie between {lowest} and {highest} "):
            Limits(**{name: value})


def test_the_limits_are_documented_under_the_names_of_the_specification() -> None:
    assert Limits().wire() == {name: default for name, default, _, _ in TABLE}


def test_limits_cannot_be_changed_after_they_are_built() -> None:
    with pytest.raises(FrozenInstanceError):
        Limits().max_nesting_depth = 64  # type: ignore[misc]


def test_every_limit_has_a_row_and_every_row_a_limit() -> None:
    assert list(LIMIT_ROWS) == list(Limits().wire())
    assert {row.unit for row in LIMIT_ROWS.values()} == {"bytes", "elements", "levels"}
