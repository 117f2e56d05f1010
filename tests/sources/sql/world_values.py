"""The kinds of a world's columns and the few values that each of them holds."""

from collections.abc import Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Literal

__all__ = ["VALUES", "Json", "Kind", "Value", "key_text"]

Kind = Literal["text", "integer", "number", "decimal", "boolean", "date", "datetime", "json"]
Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]
Value = None | bool | int | float | str | Decimal | date | datetime | dict[str, Json]

_TEXTS = (
    "abc",
    "ABC",
    "Abc",
    "abcd",
    "b",
    "",
    " leading",
    "trailing ",
    "two words",
    "Ünïcödé",
    "ünïcödé",
    "straße",
    "STRASSE",
    "ΣΊΣΥΦΟΣ",
    "σίσυφος",
    "漢字",
    "🦉",
    "🦊 fox",
    "%",
    "100%",
    "_",
    "a_c",
    "\\",
    "a\\%",
    "'",
    "O'Neil",
    '"quoted"',
    "two\nlines",
    "İstanbul",
    "cafe\u0301",  # an accent of its own
    "café",
    "10",
    "9",
    "null",
    "*",
    "[a]",
)
_SAFEST = 2**53 - 1

VALUES: dict[Kind, Sequence[Value]] = {
    "text": _TEXTS,
    "integer": (0, 1, 2, 3, -1, 7, 10, 42, 2**31 - 1, -(2**31) + 1, 2**31, _SAFEST, -_SAFEST),
    "number": (0.0, 0.5, -0.25, 1.75, 2.0, 2.5, -3.0, 10.0, 1000000.25),  # sums are exact in any order
    "decimal": tuple(map(Decimal, ("0.00", "0.10", "0.20", "19.99", "-5.50", "20.00", "100.00", "9999999999.99"))),
    "boolean": (True, False),
    "date": (
        date(1969, 12, 31),
        date(2000, 2, 29),
        date(2023, 12, 31),
        date(2024, 1, 1),
        date(2024, 2, 29),
        date(2024, 3, 10),
        date(2999, 1, 1),
    ),
    "datetime": (
        datetime(1969, 12, 31, 23, 59, 59, 999999, UTC),
        datetime(2023, 12, 31, 23, 59, 59, 999999, UTC),
        datetime(2024, 1, 1, tzinfo=UTC),
        datetime(2024, 1, 1, 0, 0, 0, 1, UTC),
        datetime(2024, 2, 29, 12, 30, tzinfo=UTC),
        datetime(2024, 3, 10, 2, 30, 0, 500000, UTC),
        datetime(2024, 3, 10, 9, 30, 0, 120000, UTC),
    ),
    "json": (
        {},
        {"a": 1},
        {"a": 1, "b": {"c": "x"}},
        {"a": None},
        {"b": {"c": "Ünïcödé", "d": [1, 2.5, None]}},
        {"deep": {"x": {"y": True}}},
        {"tags": ["ä", "b"], "a": "1"},
        {'qu"ote': "it's %", "dotted.name": {"": 0}},
    ),
}

_STEMS = ("k", "Ünïcödé ", "straße-", "漢字", "🦉", "O'Neil ", "100%", "a_b", "back\\", " Z")


def key_text(number: int) -> str:
    """A text that differs from every other number's in every collation, whatever that takes for equal."""
    return f"{_STEMS[number % len(_STEMS)]}{number}"
