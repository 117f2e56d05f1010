"""What the type of a column means: the kind of its values, the bounds the type sets, and how it is spoken of in SQL.

What only one kind of database has stands in a module of its own, which is loaded when such a type is met.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from sqlalchemy import types as sql
from sqlalchemy.sql.expression import BindParameter, ColumnElement, cast
from sqlalchemy.types import TypeDecorator, TypeEngine

from headgate.query.kinds import Kind

__all__ = ["Meaning", "Rule", "ShownAsText", "integer", "meaning_of", "strange"]


class ShownAsText(TypeDecorator[str]):
    """A type of the database's own, written and read as text in the database's notation."""

    impl = sql.Text
    cache_ok = True

    def __init__(self, shown: TypeEngine[Any]) -> None:
        super().__init__()
        self.shown = shown

    def column_expression(self, column: ColumnElement[Any]) -> ColumnElement[Any]:
        """As it is selected."""
        return cast(column, sql.Text())

    def bind_expression(self, bindparam: BindParameter[Any]) -> ColumnElement[Any] | None:
        """As it is written; a type that is not known cannot be."""
        known = not isinstance(self.shown, sql.NullType)
        return cast(cast(bindparam, sql.Text()), self.shown) if known else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """What is known of a column by its type alone."""

    kind: Kind
    type: TypeEngine[Any]
    max_length: int | None = None
    choices: tuple[str, ...] = ()
    minimum: int | None = None
    maximum: int | None = None
    scale: int | None = None
    item_kind: Kind | None = None
    comparable: bool = True
    """Whether it can be filtered and sorted by."""
    writable: bool = True
    check: str = ""
    """What must hold of a value, called VALUE: the check of a domain."""
    hint: str = ""
    """What a caller must know of its notation."""


Rule: TypeAlias = Callable[[Any], Meaning]

_BITS: Final[Mapping[type, int]] = MappingProxyType({sql.SmallInteger: 16, sql.BigInteger: 64, sql.Integer: 32})
_BITS_WITH_BOUNDS: Final = 32
"""Bounds of wider types have no exact form in the numbers of JSON."""
_DIALECTS: Final = "sqlalchemy.dialects."


def meaning_of(type_: TypeEngine[Any]) -> Meaning:
    """What a type means, by the nearest of its ancestors that is known. A strange one is shown as text."""
    ancestors = type(type_).__mro__
    rules = _rules_of(next(filter(None, map(_dialect_of, ancestors)), ""))
    return next((rules[one](type_) for one in ancestors if one in rules), strange(type_))


def _dialect_of(type_: type) -> str:
    """The kind of database that a type belongs to; none if it is everybody's."""
    return type_.__module__.removeprefix(_DIALECTS).partition(".")[0] if type_.__module__.startswith(_DIALECTS) else ""


@cache
def _rules_of(dialect: str) -> Mapping[type, Rule]:
    match dialect:
        case "mysql":
            from headgate.sources.sql.mysql_kinds import RULES  # noqa: PLC0415
        case "postgresql":
            from headgate.sources.sql.postgresql_kinds import RULES  # noqa: PLC0415
        case _:
            return _RULES
    return MappingProxyType({**_RULES, **RULES})


def _plain(kind: Kind) -> Rule:
    return lambda type_: Meaning(kind=kind, type=type_)


def _text(type_: sql.String) -> Meaning:
    return Meaning(kind=Kind.TEXT, type=type_, max_length=type_.length)


def _long_text(type_: sql.Text) -> Meaning:
    return Meaning(kind=Kind.TEXT, type=type_)


def _integer(type_: sql.Integer) -> Meaning:
    return integer(type_, next(_BITS[one] for one in type(type_).__mro__ if one in _BITS))


def integer(type_: TypeEngine[Any], bits: int) -> Meaning:
    """Whole numbers of so many bits."""
    if bits > _BITS_WITH_BOUNDS:
        return Meaning(kind=Kind.INTEGER, type=type_, minimum=0 if _is_unsigned(type_) else None)
    lowest, highest = (0, 2**bits - 1) if _is_unsigned(type_) else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    return Meaning(kind=Kind.INTEGER, type=type_, minimum=lowest, maximum=highest)


def _is_unsigned(type_: TypeEngine[Any]) -> bool:
    return bool(getattr(type_, "unsigned", False))


def _decimal(type_: sql.Numeric[Any]) -> Meaning:
    return Meaning(kind=Kind.DECIMAL, type=type_, scale=type_.scale, minimum=0 if _is_unsigned(type_) else None)


def _enum(type_: sql.Enum) -> Meaning:
    return Meaning(kind=Kind.TEXT, type=type_, choices=tuple(type_.enums))


def _uuid(type_: sql.Uuid[Any]) -> Meaning:
    return Meaning(kind=Kind.UUID, type=type(type_)(as_uuid=False))


def _array(type_: sql.ARRAY[Any]) -> Meaning:
    """Of values that JSON has; arrays of arrays and of strange types are only shown."""
    item = meaning_of(type_.item_type)
    flat = (type_.dimensions or 1) == 1 and item.comparable and item.kind not in (Kind.ARRAY, Kind.BYTES)
    if not flat:
        return strange(type_)
    return Meaning(kind=Kind.ARRAY, type=type_, item_kind=item.kind)


def strange(type_: TypeEngine[Any]) -> Meaning:
    """A type of which nothing is known."""
    return Meaning(kind=Kind.TEXT, type=ShownAsText(type_), comparable=False, writable=False)


_RULES: Final[Mapping[type, Rule]] = MappingProxyType(
    {
        sql.String: _text,
        sql.Text: _long_text,
        sql.Integer: _integer,
        sql.Float: _plain(Kind.NUMBER),
        sql.Numeric: _decimal,
        sql.Boolean: _plain(Kind.BOOLEAN),
        sql.Date: _plain(Kind.DATE),
        sql.Time: _plain(Kind.TIME),
        sql.DateTime: _plain(Kind.DATETIME),
        sql.Uuid: _uuid,
        sql.LargeBinary: _plain(Kind.BYTES),
        sql.BINARY: _plain(Kind.BYTES),
        sql.VARBINARY: _plain(Kind.BYTES),
        sql.JSON: _plain(Kind.JSON),
        sql.Enum: _enum,
        sql.ARRAY: _array,
    }
)
