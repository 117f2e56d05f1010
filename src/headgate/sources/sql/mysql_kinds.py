"""What the types mean that only MySQL and MariaDB have."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from sqlalchemy import types as sql
from sqlalchemy.dialects import mysql
from sqlalchemy.dialects.mysql.mariadb import INET4, INET6

from headgate.query.kinds import Kind
from headgate.sources.sql.column_kinds import Meaning, Rule, integer, strange

__all__ = ["RULES"]


def _tiny(type_: mysql.TINYINT) -> Meaning:
    return Meaning(kind=Kind.BOOLEAN, type=type_) if type_.display_width == 1 else integer(type_, 8)


def _bits(type_: mysql.BIT) -> Meaning:
    return Meaning(kind=Kind.BYTES, type=type_, writable=False)


def _medium(type_: mysql.MEDIUMINT) -> Meaning:
    return integer(type_, 24)


def _enum(type_: mysql.ENUM) -> Meaning:
    """Spoken of as text, since there can be values that the type does not name."""
    return Meaning(kind=Kind.TEXT, type=sql.String(), choices=tuple(type_.enums))


def _set(type_: mysql.SET) -> Meaning:
    values = tuple(type_.values)
    return Meaning(kind=Kind.TEXT, type=sql.String(), hint=f"Any of {', '.join(values)}, with commas between them.")


def _year(type_: mysql.YEAR) -> Meaning:
    return Meaning(kind=Kind.INTEGER, type=sql.Integer(), minimum=1901, maximum=2155)


RULES: Final[Mapping[type, Rule]] = MappingProxyType(
    {
        mysql.TINYINT: _tiny,
        mysql.MEDIUMINT: _medium,
        mysql.BIT: _bits,
        mysql.ENUM: _enum,
        mysql.SET: _set,
        mysql.YEAR: _year,
        INET4: strange,
        INET6: strange,
    }
)
