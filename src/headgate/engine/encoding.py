"""From a result to JSON text (Spec 4.7): UTC timestamps, exact numbers as strings, binary with its metadata."""

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, date, datetime, time
from decimal import Decimal
from enum import Enum
from typing import Any, Final, TypeAlias

import orjson
from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from headgate.adapter.binary import Binary, encoding_name, mime_type_name
from headgate.protocol.inspection import MAX_SAFE_INTEGER

__all__ = ["Unencodable", "encode", "encode_if_possible", "standing_alone"]

_OPTIONS: Final = orjson.OPT_STRICT_INTEGER | orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_DATACLASS
_DEEPEST: Final = 200
_MOST_DIGITS: Final = 60
_BINARY: Final = (bytes, bytearray, memoryview, Binary)
"""Made once: every answer is asked whether it is one of these, and a union would be made anew each time."""


class Unencodable(Exception):
    """The handler's answer has no JSON form; the text is for the log."""


def encode(value: object) -> bytes:
    """The JSON of a value. The short way takes what is JSON already; the long way whatever else a handler returns."""
    try:
        return orjson.dumps(value, default=_simple, option=_OPTIONS)
    except orjson.JSONEncodeError:
        return orjson.dumps(_plain(value, 0), option=_OPTIONS)


def encode_if_possible(value: object) -> bytes | None:
    """The JSON of a value, or None if it has none."""
    try:
        return encode(value)
    except Exception:  # noqa: BLE001  (an author's object may do anything while it is read)
        return None


def standing_alone(data: object) -> object:
    """A whole answer. One that is only binary has no name to put its metadata beside, so it becomes an object."""
    return _alone(data) if isinstance(data, _BINARY) else data


def _simple(value: object) -> object:
    """What has a JSON form by itself; anything else sends the whole value the long way."""
    if isinstance(value, datetime):
        return _timestamp(value)
    if isinstance(value, Decimal):
        return _digits(value)
    if isinstance(value, (date, time)):
        return str(value)
    if isinstance(value, BaseModel):
        return value.model_dump(by_alias=True)
    if is_dataclass(value) and not isinstance(value, type | Binary):
        return _fields(value)
    raise TypeError


def _digits(value: Decimal) -> str:
    """An exact decimal with all its digits; one of a size that nobody writes out keeps its exponent."""
    exponent = value.as_tuple().exponent
    return format(value, "f") if isinstance(exponent, int) and abs(exponent) <= _MOST_DIGITS else str(value)


def _timestamp(value: datetime) -> str:
    """In UTC with 'Z'. A time without a zone is taken for UTC."""
    utc = value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC)
    return utc.isoformat().replace("+00:00", "Z")


def _plain(value: Any, depth: int) -> Any:
    """Any value as JSON, by the first row that fits its type."""
    if depth > _DEEPEST:
        raise Unencodable(f"nested deeper than {_DEEPEST} levels, or containing itself")
    for kinds, convert in _CONVERSIONS:
        if isinstance(value, kinds):
            return convert(value, depth)
    if is_dataclass(value) and not isinstance(value, type):
        return _object(_fields(value), depth)
    return _by_pydantic(value, depth)


def _fields(value: Any) -> dict[str, object]:
    return {field.name: getattr(value, field.name) for field in fields(value)}


def _text(value: str, _depth: int) -> str:
    """The text itself; a lone surrogate, which no UTF-8 can carry, becomes a question mark."""
    return value.encode("utf-8", "replace").decode()


def _object(value: Mapping[Any, Any], depth: int) -> dict[str, Any]:
    plain: dict[str, Any] = {}
    for key, child in value.items():
        name = _key(_plain(key, depth + 1))
        if isinstance(child, _BINARY):
            plain |= _with_metadata(name, child, value)
        else:
            plain[name] = _plain(child, depth + 1)
    return plain


def _key(plain: object) -> str:
    """A key as JSON demands it: what is not text becomes the JSON of it."""
    return plain if isinstance(plain, str) else orjson.dumps(plain).decode()


def _with_metadata(
    name: str, value: bytes | bytearray | memoryview | Binary, siblings: Mapping[Any, Any]
) -> dict[str, object]:
    """A binary value with how it is encoded and what it is, unless the answer says so itself (Spec 4.7.4)."""
    alone = _alone(value)
    metadata = {encoding_name(name): alone["encoding"], mime_type_name(name): alone["mime_type"]}
    return {name: alone["content"]} | {key: text for key, text in metadata.items() if key not in siblings}


def _alone(value: bytes | bytearray | memoryview | Binary) -> dict[str, object]:
    return (value if isinstance(value, Binary) else Binary(bytes(value))).wire()


def _by_pydantic(value: object, depth: int) -> Any:
    """Paths, addresses, deques, generators and whatever else pydantic knows."""
    try:
        return _plain(to_jsonable_python(value, bytes_mode="base64"), depth + 1)
    except (ValueError, TypeError) as error:
        raise Unencodable(f"{type(value).__qualname__} has no JSON form: {error}") from None


_Conversion: TypeAlias = Callable[[Any, int], Any]
_CONVERSIONS: Final[tuple[tuple[Any, _Conversion], ...]] = (
    (bool | None, lambda value, _: value),
    (Enum, lambda value, depth: _plain(value.value, depth + 1)),
    (float, lambda value, _: float(value)),
    (int, lambda value, _: int(value) if abs(value) <= MAX_SAFE_INTEGER else str(int(value))),
    (str, _text),
    (_BINARY, lambda value, _: _alone(value)),
    (datetime, lambda value, _: _timestamp(value)),
    (Decimal, lambda value, _: _digits(value)),
    (date | time, lambda value, _: str(value)),
    (BaseModel, lambda value, depth: _plain(value.model_dump(by_alias=True), depth + 1)),
    (Mapping, _object),
    (list | tuple | set | frozenset, lambda value, depth: [_plain(item, depth + 1) for item in value]),
)
