"""Between the values of kinds and those of drivers: what is bound, and what comes back ready to be answered."""

import re
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Final, TypeAlias
from uuid import UUID

import orjson
from sqlalchemy.types import FLOAT, DateTime, TypeEngine

from headgate.query.backends import Read
from headgate.query.kinds import Kind

__all__ = ["ISO", "Bind", "TimeStyle", "Values", "values_for"]

Bind: TypeAlias = Callable[[Any], Any]

_HEX_UUID: Final = 32
_DAY: Final = 10
_SECOND: Final = 19
_MICROSECOND: Final = 26
_SECONDS_MOST: Final = 100_000_000_000
"""More seconds since 1970 than anybody means: milliseconds."""


@dataclass(frozen=True, slots=True)
class TimeStyle:
    """How a column of SQLite writes moments: as texts of one form, or as seconds or milliseconds since 1970.

    Both compare as they stand. ``digits`` are those that every text has; one with none may have six where they matter.
    """

    separator: str = " "
    digits: int = 0
    suffix: str = ""
    unit: int = 0
    """How many of what is counted make a second; 0 for texts."""

    @classmethod
    def of(cls, samples: Sequence[object]) -> "TimeStyle | None":
        """The style of stored values, if they have one."""
        if samples and all(isinstance(sample, int | float) for sample in samples):
            return cls(unit=1000 if max(abs(float(str(sample))) for sample in samples) > _SECONDS_MOST else 1)
        found = [_MOMENT.match(sample) for sample in samples if isinstance(sample, str)]
        texts = [one for one in found if one is not None]
        if not texts:
            return None
        digits = min(len(one[2] or "") for one in texts)
        return cls(texts[0][1], digits, texts[0][3] or "")

    def write(self, value: datetime) -> str | float:
        """A moment in this style; digits that it has no room for are written if they are not zero."""
        if self.unit:
            count = value.timestamp() * self.unit
            return int(count) if count.is_integer() else count
        if not self.digits and not value.microsecond:
            return value.replace(tzinfo=None).isoformat(self.separator) + self.suffix
        text = value.replace(tzinfo=None).isoformat(self.separator, "microseconds")
        text, fraction = text[:_SECOND], text[_SECOND + 1 :]
        kept = fraction if fraction[self.digits :].strip("0") else fraction[: self.digits].ljust(self.digits, "0")
        return f"{text}.{kept}{self.suffix}" if kept else f"{text}{self.suffix}"


_MOMENT: Final = re.compile(r"\d{4}-\d\d-\d\d([T ])\d\d:\d\d:\d\d(?:\.(\d{1,9}))?(Z|\+00:00)?\Z")
ISO: Final = TimeStyle("T", 0, "Z")


class Values:
    """What drivers do by themselves, with what no driver does: whole numbers of sums, and JSON."""

    def bind(self, kind: Kind, type_: TypeEngine[Any], _style: TimeStyle | None = None) -> Bind | None:
        """How a value is given to the driver, or None for as it is."""
        if kind is Kind.DATETIME and isinstance(type_, DateTime) and not type_.timezone:
            return _naive
        if kind is Kind.NUMBER and isinstance(type_, FLOAT):
            return _single
        return _json if kind is Kind.JSON else None

    def read(
        self,
        kind: Kind,
        _scale: int | None,
        type_: TypeEngine[Any] | None = None,
        _style: TimeStyle | None = None,
    ) -> Read | None:
        """How what the driver gives is answered, or None for as it is."""
        return _shortest if isinstance(type_, FLOAT) else _READERS.get(kind)


def _single(value: float) -> float:
    """A number with the digits that a short floating point number has room for."""
    try:
        return float(struct.unpack("f", struct.pack("f", value))[0])
    except OverflowError:
        return value


def _shortest(value: float) -> float:
    """The shortest number that is the same short floating point number."""
    return next((short for digits in range(6, 9) if _single(short := float(f"{value:.{digits}g}")) == value), value)


def _naive(value: datetime) -> datetime:
    return value.astimezone(UTC).replace(tzinfo=None)


def _json(value: object) -> str:
    return orjson.dumps(value).decode()


def _integer(value: Any) -> Any:
    """A sum of whole numbers is whole, whatever the driver makes of it."""
    return int(value) if isinstance(value, Decimal | str) else value


def _uuid(value: Any) -> Any:
    return str(UUID(value)) if isinstance(value, str) and len(value) == _HEX_UUID else _plain_uuid(value)


def _plain_uuid(value: Any) -> Any:
    return str(value) if isinstance(value, UUID) else value


def _loaded(value: Any) -> Any:
    if not isinstance(value, str | bytes):
        return value
    try:
        return orjson.loads(value)
    except orjson.JSONDecodeError:
        return value


def _boolean(value: Any) -> Any:
    return bool(value) if isinstance(value, int) else value


def _time(value: Any) -> Any:
    """A time of day; MySQL's driver gives it as a span."""
    if not isinstance(value, timedelta) or not timedelta() <= value < timedelta(days=1):
        return value
    return (datetime.min + value).time()


_READERS: Final[dict[Kind, Read]] = {
    Kind.INTEGER: _integer,
    Kind.UUID: _uuid,
    Kind.JSON: _loaded,
    Kind.BOOLEAN: _boolean,
    Kind.TIME: _time,
}


class PostgresValues(Values):
    """PostgreSQL, whose driver reads JSON itself, and is told to give numbers with digits and times as texts."""

    def read(
        self,
        kind: Kind,
        _scale: int | None,
        _type: TypeEngine[Any] | None = None,
        _style: TimeStyle | None = None,
    ) -> Read | None:
        """How a value is answered."""
        return _POSTGRES_READERS.get(kind)


def _postgres_moment(value: str) -> str:
    """A moment in ISO 8601, UTC; what is outside of its years is answered as the server writes it."""
    if len(value) == _SECOND:
        return f"{value[:10]}T{value[11:]}Z"
    text = value.removesuffix("+00")
    if len(text) == _SECOND:
        return f"{text[:10]}T{text[11:]}Z"
    if len(text) < _SECOND or text[4] != "-" or text.endswith("C"):
        return value
    return f"{text[:10]}T{text[11:].ljust(15, '0')}Z"


_POSTGRES_READERS: Final[dict[Kind, Read]] = {
    Kind.INTEGER: _integer,
    Kind.DATETIME: _postgres_moment,
}


class SqliteValues(Values):
    """SQLite, which knows numbers, texts and bytes alone."""

    def bind(self, kind: Kind, _type: TypeEngine[Any], style: TimeStyle | None = None) -> Bind | None:
        """How a value is stored."""
        if kind is Kind.DATETIME:
            return (style or ISO).write
        return _SQLITE_BINDS.get(kind)

    def read(
        self,
        kind: Kind,
        scale: int | None,
        _type: TypeEngine[Any] | None = None,
        style: TimeStyle | None = None,
    ) -> Read | None:
        """How a stored value is answered; one that is not what the column declares is answered as it is."""
        if kind is Kind.DECIMAL:
            return _money(scale)
        return _milliseconds if style and style.unit > 1 and kind is Kind.DATETIME else _SQLITE_READERS.get(kind)


def _money(scale: int | None) -> Read:
    """Decimals are stored as floating point numbers, which have as many digits as the column declares."""
    form = None if scale is None else f".{scale}f"

    def read(value: Any) -> Any:
        if isinstance(value, float):
            return f"{value:{form}}" if form else str(Decimal(repr(value)))
        if isinstance(value, int):
            return format(value, form) if form else str(value)
        return value

    return read


def _number(value: Decimal) -> float | int:
    return int(value) if value == value.to_integral_value() and abs(value) < 2**63 else float(value)


def _moment(value: Any) -> Any:
    """A stored moment in ISO 8601, UTC; seconds since 1970 are understood too."""
    if isinstance(value, str):
        size = len(value)
        if size == _SECOND and value[10] in " T":  # as databases write it, so what is met most comes first
            return f"{value[:10]}T{value[11:]}Z"
        if size == _SECOND + 1 and value[10] == "T" and value[19] == "Z":
            return value
        if size == _MICROSECOND and value[10] in " T" and value[19] == ".":
            return f"{value[:10]}T{value[11:].removesuffix('.000000')}Z"
        try:
            return Kind.DATETIME.read(value).isoformat().replace("+00:00", "Z")
        except ValueError:
            return value
    return _since_1970(value) if isinstance(value, int | float) else value


def _milliseconds(value: Any) -> Any:
    return _since_1970(value / 1000) if isinstance(value, int | float) else _moment(value)


def _since_1970(value: float) -> Any:
    try:
        return datetime.fromtimestamp(value, UTC).isoformat().replace("+00:00", "Z")
    except (OverflowError, ValueError, OSError):
        return value


def _day(value: Any) -> Any:
    return value[:_DAY] if isinstance(value, str) and len(value) > _DAY and value[4] == "-" else value


_SQLITE_BINDS: Final[dict[Kind, Bind]] = {
    Kind.DECIMAL: _number,
    Kind.DATE: date.isoformat,
    Kind.TIME: time.isoformat,
    Kind.JSON: _json,
}
_SQLITE_READERS: Final[dict[Kind, Read]] = {
    Kind.BOOLEAN: _boolean,
    Kind.DATETIME: _moment,
    Kind.DATE: _day,
    Kind.JSON: _loaded,
    Kind.UUID: _uuid,
}


def values_for(dialect_name: str) -> Values:
    """How a database's driver takes and gives values."""
    return {"sqlite": SqliteValues(), "postgresql": PostgresValues()}.get(dialect_name, Values())
