"""What the type of a column means: the kind of its values, the bounds the type sets, and how it is spoken of in SQL."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from sqlalchemy import types as sql
from sqlalchemy.dialects import mysql, postgresql
from sqlalchemy.dialects.mysql.mariadb import INET4, INET6
from sqlalchemy.dialects.postgresql.ranges import AbstractRange
from sqlalchemy.sql.expression import BindParameter, ColumnElement, cast
from sqlalchemy.types import TypeDecorator, TypeEngine

from headgate.query.kinds import Kind

__all__ = ["Meaning", "ShownAsText", "meaning_of"]


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

_BITS: Final[Mapping[type, int]] = MappingProxyType(
    {mysql.TINYINT: 8, sql.SmallInteger: 16, mysql.MEDIUMINT: 24, sql.BigInteger: 64, sql.Integer: 32}
)
_BITS_WITH_BOUNDS: Final = 32
"""Bounds of wider types have no exact form in the numbers of JSON."""


def meaning_of(type_: TypeEngine[Any]) -> Meaning:
    """What a type means, by the nearest of its ancestors that is known. A strange one is shown as text."""
    return next((_RULES[one](type_) for one in type(type_).__mro__ if one in _RULES), _strange(type_))


def _plain(kind: Kind) -> Rule:
    return lambda type_: Meaning(kind=kind, type=type_)


def _text(type_: sql.String) -> Meaning:
    return Meaning(kind=Kind.TEXT, type=type_, max_length=type_.length)


def _long_text(type_: sql.Text) -> Meaning:
    return Meaning(kind=Kind.TEXT, type=type_)


def _integer(type_: sql.Integer) -> Meaning:
    bits = next(_BITS[one] for one in type(type_).__mro__ if one in _BITS)
    if bits > _BITS_WITH_BOUNDS:
        return Meaning(kind=Kind.INTEGER, type=type_, minimum=0 if _is_unsigned(type_) else None)
    lowest, highest = (0, 2**bits - 1) if _is_unsigned(type_) else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    return Meaning(kind=Kind.INTEGER, type=type_, minimum=lowest, maximum=highest)


def _is_unsigned(type_: TypeEngine[Any]) -> bool:
    return bool(getattr(type_, "unsigned", False))


def _tiny(type_: mysql.TINYINT) -> Meaning:
    return Meaning(kind=Kind.BOOLEAN, type=type_) if type_.display_width == 1 else _integer(type_)


def _bits(type_: mysql.BIT) -> Meaning:
    return Meaning(kind=Kind.BYTES, type=type_, writable=False)


def _decimal(type_: sql.Numeric[Any]) -> Meaning:
    return Meaning(kind=Kind.DECIMAL, type=type_, scale=type_.scale, minimum=0 if _is_unsigned(type_) else None)


def _enum(type_: sql.Enum) -> Meaning:
    return Meaning(kind=Kind.TEXT, type=type_, choices=tuple(type_.enums))


def _mysql_enum(type_: mysql.ENUM) -> Meaning:
    """Spoken of as text, since there can be values that the type does not name."""
    return Meaning(kind=Kind.TEXT, type=sql.String(), choices=tuple(type_.enums))


def _set(type_: mysql.SET) -> Meaning:
    values = tuple(type_.values)
    return Meaning(kind=Kind.TEXT, type=sql.String(), hint=f"Any of {', '.join(values)}, with commas between them.")


def _year(type_: mysql.YEAR) -> Meaning:
    return Meaning(kind=Kind.INTEGER, type=sql.Integer(), minimum=1901, maximum=2155)


def _uuid(type_: sql.Uuid[Any]) -> Meaning:
    return Meaning(kind=Kind.UUID, type=type(type_)(as_uuid=False))


def _array(type_: sql.ARRAY[Any]) -> Meaning:
    """Of values that JSON has; arrays of arrays and of strange types are only shown."""
    item = meaning_of(type_.item_type)
    flat = (type_.dimensions or 1) == 1 and item.comparable and item.kind not in (Kind.ARRAY, Kind.BYTES)
    if not flat:
        return _strange(type_)
    return Meaning(kind=Kind.ARRAY, type=type_, item_kind=item.kind)


def _domain(type_: postgresql.DOMAIN) -> Meaning:
    return replace(meaning_of(type_.data_type), check="" if type_.check is None else str(type_.check))


def _shown(hint: str = "") -> Rule:
    return lambda type_: Meaning(kind=Kind.TEXT, type=ShownAsText(type_), comparable=False, hint=hint)


def _strange(type_: TypeEngine[Any]) -> Meaning:
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
        mysql.TINYINT: _tiny,
        mysql.BIT: _bits,
        mysql.ENUM: _mysql_enum,
        mysql.SET: _set,
        mysql.YEAR: _year,
        INET4: _strange,
        INET6: _strange,
        postgresql.DOMAIN: _domain,
        postgresql.OID: _strange,
        postgresql.INTERVAL: _shown("A span of time, such as '1 day 02:30:00'."),
        postgresql.INET: _shown("An internet address, such as '10.0.0.1'."),
        postgresql.CIDR: _shown("A network, such as '10.0.0.0/8'."),
        postgresql.MACADDR: _shown(),
        postgresql.MACADDR8: _shown(),
        postgresql.MONEY: _shown("An amount of money, such as '$12.50'."),
        postgresql.BIT: _shown("A string of bits, such as '0101'."),
        postgresql.HSTORE: _shown("Keys and values, such as 'a=>1, b=>2'."),
        AbstractRange: _shown("A range, such as '[1,10)'."),
    }
)
