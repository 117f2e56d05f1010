"""Every kind of value: what is read from JSON, what is refused, and how letters fold."""

from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.query.kinds import KINDS, Kind, fold, utc

JUNK: list[Any] = [
    None,
    True,
    1,
    1.5,
    "",
    "x",
    [],
    {},
    "\x00",
    "1" * 1000,
    float("nan"),
    float("inf"),
    10**400,
    -(10**400),
]


def case(kind: Kind, given: object, value: object, id: str = "") -> Any:  # noqa: A002
    return pytest.param(kind, given, value, id=f"{kind.word}: {id or repr(given)}")


READ = [
    case(Kind.TEXT, "", ""),
    case(Kind.TEXT, "Ærø\u0000", "Ærø\u0000"),
    case(Kind.INTEGER, 5, 5),
    case(Kind.INTEGER, -0, 0),
    case(Kind.INTEGER, 5.0, 5, "a number without a fraction"),
    case(Kind.INTEGER, "12", 12),
    case(Kind.INTEGER, "-9223372036854775808", -(2**63), "the least of 64 bits"),
    case(Kind.INTEGER, "+9223372036854775807", 2**63 - 1, "the greatest of 64 bits"),
    case(Kind.NUMBER, 5, 5.0),
    case(Kind.NUMBER, "-2.5", -2.5),
    case(Kind.NUMBER, ".5", 0.5),
    case(Kind.NUMBER, 1e308, 1e308),
    case(Kind.DECIMAL, "12.50", Decimal("12.50"), "digits are kept"),
    case(Kind.DECIMAL, 12, Decimal(12)),
    case(Kind.DECIMAL, 0.1, Decimal("0.1"), "a number as it is written"),
    case(Kind.DECIMAL, "9" * 60 + "." + "9" * 60, Decimal("9" * 60 + "." + "9" * 60), "sixty digits on each side"),
    case(Kind.BOOLEAN, False, False),
    case(Kind.DATE, "2024-02-29", date(2024, 2, 29), "the day of a leap year"),
    case(Kind.DATE, "0001-01-01", date(1, 1, 1)),
    case(Kind.DATE, date(2024, 1, 2), date(2024, 1, 2), "one that is read already"),
    case(Kind.TIME, "10:30", time(10, 30)),
    case(Kind.TIME, "10:30:15.250", time(10, 30, 15, 250_000)),
    case(Kind.DATETIME, "2024-01-02T10:30:00Z", datetime(2024, 1, 2, 10, 30, tzinfo=UTC)),
    case(Kind.DATETIME, "2024-01-02t10:30:00z", datetime(2024, 1, 2, 10, 30, tzinfo=UTC)),
    case(Kind.DATETIME, "2024-01-02 10:30", datetime(2024, 1, 2, 10, 30, tzinfo=UTC), "no zone is UTC"),
    case(Kind.DATETIME, "2024-01-02", datetime(2024, 1, 2, tzinfo=UTC), "a day is its first moment"),
    case(Kind.DATETIME, "2024-01-02T10:30:00+05:30", datetime(2024, 1, 2, 5, 0, tzinfo=UTC), "another zone"),
    case(Kind.DATETIME, "2024-01-02T10:30:00-0100", datetime(2024, 1, 2, 11, 30, tzinfo=UTC), "a zone without colon"),
    case(Kind.DATETIME, "2024-01-02T10:30:00.123456Z", datetime(2024, 1, 2, 10, 30, 0, 123_456, tzinfo=UTC)),
    case(Kind.UUID, "123E4567E89B12D3A456426614174000", "123e4567-e89b-12d3-a456-426614174000", "any spelling"),
    case(Kind.BYTES, "AP8=", b"\x00\xff"),
    case(Kind.BYTES, "", b""),
    case(Kind.JSON, {"a": [None]}, {"a": [None]}),
    case(Kind.ARRAY, ["a"], ["a"]),
]
REFUSED = [
    case(Kind.TEXT, 5, None),
    case(Kind.TEXT, None, None),
    case(Kind.INTEGER, True, None),
    case(Kind.INTEGER, 5.5, None),
    case(Kind.INTEGER, 2.0**53, None, "a number beyond the safe integers"),
    case(Kind.INTEGER, "9223372036854775808", None, "more than 64 bits"),
    case(Kind.INTEGER, "5.0", None),
    case(Kind.INTEGER, "0x10", None),
    case(Kind.INTEGER, " 5", None),
    case(Kind.INTEGER, "5\n", None),
    case(Kind.NUMBER, True, None),
    case(Kind.NUMBER, float("nan"), None),
    case(Kind.NUMBER, float("-inf"), None),
    case(Kind.NUMBER, "inf", None),
    case(Kind.NUMBER, "1e5555", None),
    case(Kind.NUMBER, 10**400, None, "an integer that no number holds"),
    case(Kind.DECIMAL, "NaN", None),
    case(Kind.DECIMAL, Decimal("Infinity"), None),
    case(Kind.DECIMAL, "", None),
    case(Kind.DECIMAL, ".", None),
    case(Kind.DECIMAL, "1,5", None),
    case(Kind.DECIMAL, "1" * 61, None, "too many digits"),
    case(Kind.BOOLEAN, 1, None),
    case(Kind.BOOLEAN, "true", None),
    case(Kind.DATE, "2023-02-29", None),
    case(Kind.DATE, "2024-1-2", None),
    case(Kind.DATE, "2024-01-02T00:00:00Z", None),
    case(Kind.DATE, datetime(2024, 1, 2, tzinfo=UTC), None, "a moment"),
    case(Kind.TIME, "24:00", None),
    case(Kind.TIME, "10", None),
    case(Kind.TIME, "10:30Z", None),
    case(Kind.DATETIME, "2024-01-02T25:00:00Z", None),
    case(Kind.DATETIME, "yesterday", None),
    case(Kind.DATETIME, "0001-01-01T00:00:00+10:00", None, "before the first year in UTC"),
    case(Kind.DATETIME, "2024-01-02T10:30:00+99:99", None),
    case(Kind.DATETIME, 1_704_153_600, None),
    case(Kind.UUID, "123", None),
    case(Kind.UUID, 5, None),
    case(Kind.BYTES, "A", None),
    case(Kind.BYTES, "A P8=", None),
    case(Kind.BYTES, "é", None),
    case(Kind.BYTES, 5, None),
]


@pytest.mark.parametrize(("kind", "given", "value"), READ)
def test_a_value_is_read(kind: Kind, given: object, value: object) -> None:
    read = kind.read(given)
    assert read == value
    assert type(read) is type(value)


@pytest.mark.parametrize(("kind", "given", "value"), REFUSED)
def test_what_is_no_value_of_a_kind_is_refused(kind: Kind, given: object, value: None) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  (the words are the caller's, who knows the field)
        kind.read(given)


@pytest.mark.parametrize("kind", Kind, ids=lambda kind: kind.word)
@pytest.mark.parametrize("value", JUNK, ids=lambda value: repr(value)[:12])
def test_nothing_but_a_refusal_ever_comes_of_junk(kind: Kind, value: object) -> None:
    with suppress(ValueError):
        kind.read(value)


@pytest.mark.parametrize("kind", Kind, ids=lambda kind: kind.word)
def test_every_kind_is_known_by_its_word_and_has_cases_here(kind: Kind) -> None:
    assert KINDS[kind.word] is kind
    assert any(one.values[0] is kind for one in READ)


def test_a_kind_can_be_put_in_order_unless_it_is_a_yes_or_no_or_nested() -> None:
    unordered = {kind for kind in Kind if not kind.row.ordered}
    assert unordered == {Kind.BOOLEAN, Kind.BYTES, Kind.JSON, Kind.ARRAY}
    assert {kind for kind in Kind if kind.row.numeric} == {Kind.INTEGER, Kind.NUMBER, Kind.DECIMAL}
    assert {kind for kind in Kind if not kind.row.groupable} == {Kind.BYTES, Kind.JSON, Kind.ARRAY}


@given(st.datetimes(timezones=st.just(timezone(timedelta(hours=5, minutes=45))), min_value=datetime(2, 1, 1)))
def test_a_moment_is_the_same_in_utc(moment: datetime) -> None:
    assert utc(moment) == moment
    assert utc(moment).tzinfo is UTC


@given(st.integers(-(2**63), 2**63 - 1))
def test_every_integer_of_64_bits_is_read_from_its_digits(number: int) -> None:
    assert Kind.INTEGER.read(str(number)) == number


@given(st.decimals(allow_nan=False, allow_infinity=False, places=10, min_value=-(10**40), max_value=10**40))
def test_every_decimal_is_read_from_its_digits_as_it_is(number: Decimal) -> None:
    assert Kind.DECIMAL.read(format(number, "f")) == number


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        pytest.param("STRASSE ÆØÅ", "strasse æøå", id="letters of many languages"),
        pytest.param("İ", "i", id="a dotted capital stays one letter"),
        pytest.param("ΟΔΟΣ", "οδοσ", id="a final sigma is a sigma"),
        pytest.param("ẞ ß", "ß ß", id="sharp s stays itself"),
        pytest.param("1_%", "1_%", id="what is no letter stays"),
    ],
)
def test_letters_fold_one_by_one(text: str, folded: str) -> None:
    assert fold(text) == folded
