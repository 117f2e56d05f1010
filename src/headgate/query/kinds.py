"""The kinds of values that a field can hold: how each is read from JSON, and what can be done with it."""

import base64
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from decimal import Decimal, InvalidOperation
from enum import Enum
from types import MappingProxyType
from typing import Any, Final, TypeGuard
from uuid import UUID

from headgate.protocol.inspection import MAX_SAFE_INTEGER

__all__ = ["Kind", "fold", "utc"]

_INTEGER: Final = re.compile(r"[+-]?\d{1,40}\Z")
_TOO_LARGE: Final = 10**61
_DECIMAL: Final = re.compile(r"[+-]?(\d{1,60}(\.\d{0,60})?|\.\d{1,60})([eE][+-]?\d{1,2})?\Z")
_TIMESTAMP: Final = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?([Zz]|[+-]\d\d:?\d\d)?\Z")
_DAY: Final = re.compile(r"\d{4}-\d\d-\d\d\Z")
_TIME: Final = re.compile(r"\d\d:\d\d(:\d\d(\.\d{1,6})?)?\Z")


def fold(text: str) -> str:
    """The text with every letter in its simple lower-case form, as databases fold it: no letter becomes two."""
    return text.replace("Σ", "σ").replace("İ", "i").lower()  # noqa: RUF001


def utc(value: datetime) -> datetime:
    """The moment in UTC; one without a zone is taken for UTC."""
    return value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC)


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    raise ValueError


def _integer(value: object) -> int:
    if isinstance(value, bool):
        raise ValueError  # noqa: TRY004  (what is wrong is told by the caller, who knows the field)
    if isinstance(value, float) and value.is_integer() and abs(value) <= MAX_SAFE_INTEGER:
        return int(value)
    if isinstance(value, int) or (isinstance(value, str) and _INTEGER.match(value)):
        number = int(value)
        if -(2**63) <= number < 2**63:  # what databases can hold
            return number
    raise ValueError


def _is_finite(value: object) -> TypeGuard[int | float]:
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < _TOO_LARGE


def _number(value: object) -> float:
    if _is_finite(value):
        return float(value)
    if isinstance(value, str) and _DECIMAL.match(value):
        return float(value)
    raise ValueError


def _decimal(value: object) -> Decimal:
    if isinstance(value, Decimal) and value.is_finite():
        return value
    if _is_finite(value):
        return Decimal(str(value))
    if isinstance(value, str) and _DECIMAL.match(value):
        try:
            return Decimal(value)
        except InvalidOperation:  # pragma: no cover  (the pattern lets only numbers pass)
            raise ValueError from None
    raise ValueError


def _boolean(value: object) -> bool:
    if isinstance(value, bool):
        return value
    raise ValueError


def _date(value: object) -> date:
    if isinstance(value, datetime):
        raise ValueError  # noqa: TRY004
    if isinstance(value, date):
        return value
    if isinstance(value, str) and _DAY.match(value):
        return date.fromisoformat(value)
    raise ValueError


def _time(value: object) -> time:
    if isinstance(value, time):
        return value
    if isinstance(value, str) and _TIME.match(value):
        return time.fromisoformat(value)
    raise ValueError


def _datetime(value: object) -> datetime:
    if isinstance(value, datetime):
        return utc(value)
    if isinstance(value, str) and _DAY.match(value):
        return datetime.combine(date.fromisoformat(value), time(), UTC)
    if isinstance(value, str) and _TIMESTAMP.match(value):
        try:
            return utc(datetime.fromisoformat(value.upper()))
        except OverflowError:
            raise ValueError from None
    raise ValueError


def _uuid(value: object) -> str:
    return str(UUID(_text(value)))


def _bytes(value: object) -> bytes:
    if isinstance(value, bytes):
        return value
    return base64.b64decode(_text(value), validate=True)


def _anything(value: object) -> object:
    return value


@dataclass(frozen=True, slots=True)
class KindRow:
    """What is true of one kind of value."""

    expected: str
    schema: Mapping[str, Any]
    read: Callable[[object], Any]
    ordered: bool = True
    numeric: bool = False
    groupable: bool = True


class Kind(Enum):
    """A kind of value. Inside, each has one Python type; ``read`` makes it from JSON or raises ValueError."""

    TEXT = KindRow("string", {"type": "string"}, _text)
    INTEGER = KindRow("integer", {"type": ["integer", "string"]}, _integer, numeric=True)
    NUMBER = KindRow("number", {"type": "number"}, _number, numeric=True)
    DECIMAL = KindRow("decimal", {"type": ["string", "number"], "format": "decimal"}, _decimal, numeric=True)
    BOOLEAN = KindRow("boolean", {"type": "boolean"}, _boolean, ordered=False)
    DATE = KindRow("date", {"type": "string", "format": "date"}, _date)
    TIME = KindRow("time", {"type": "string"}, _time)
    DATETIME = KindRow("date-time", {"type": "string", "format": "date-time"}, _datetime)
    UUID = KindRow("uuid", {"type": "string", "format": "uuid"}, _uuid)
    BYTES = KindRow("base64", {"type": "string", "contentEncoding": "base64"}, _bytes, ordered=False, groupable=False)
    JSON = KindRow("any", {}, _anything, ordered=False, groupable=False)
    ARRAY = KindRow("array", {"type": "array"}, _anything, ordered=False, groupable=False)

    def __init__(self, row: KindRow) -> None:
        self.row = row
        self.word = row.expected
        """Its name in messages and introspection."""
        self.read = row.read
        """The value inside, from JSON; a ValueError if it is none of this kind."""


KINDS: Final[Mapping[str, Kind]] = MappingProxyType({kind.word: kind for kind in Kind})
"""The kinds by the word that settings use for them."""
