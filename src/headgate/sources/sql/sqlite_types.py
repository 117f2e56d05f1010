"""SQLite's types: a name that the author chose freely, and rules for those names that nobody knows."""

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from sqlalchemy import types as sql
from sqlalchemy.types import TypeEngine

from headgate.query.kinds import Kind
from headgate.sources.sql.column_kinds import Meaning, ShownAsText
from headgate.sources.sql.facts import ColumnFacts

__all__ = ["is_known", "sqlite_meaning"]

_DECLARED: Final = re.compile(r"\s*([^(]*?)\s*(?:\(\s*\+?(\d+)\s*(?:,\s*\+?(\d+)\s*)?\).*)?\Z", re.DOTALL)

_Sizes: TypeAlias = tuple[int | None, int | None]
_Rule: TypeAlias = Callable[[_Sizes], Meaning]


def sqlite_meaning(column: ColumnFacts) -> Meaning:
    """What a column means by its declared type, or by its values where the name of the type says nothing."""
    name, sizes = _parts(column.declared or "")
    rule = _NAMED.get(name) or _by_affinity(name) or _by_values(column.stored)
    return rule(sizes) if rule else _unknown(name)


def is_known(declared: str) -> bool:
    """Whether the declared type alone tells what values are."""
    name, _sizes = _parts(declared)
    return name in _NAMED or _by_affinity(name) is not None


def _parts(declared: str) -> tuple[str, _Sizes]:
    match = _DECLARED.match(declared)
    if match is None:
        return declared.upper(), (None, None)
    numbers = tuple(int(size) if size else None for size in match.groups()[1:])
    return " ".join(match[1].upper().split()), (numbers[0], numbers[1])


def _plain(kind: Kind, type_: Callable[[], TypeEngine[Any]]) -> _Rule:
    return lambda _sizes: Meaning(kind=kind, type=type_())


def _text(sizes: _Sizes) -> Meaning:
    """A text. Its length is not enforced by SQLite but meant by the author."""
    return Meaning(kind=Kind.TEXT, type=sql.String(sizes[0]), max_length=sizes[0])


def _decimal(sizes: _Sizes) -> Meaning:
    digits, scale = sizes
    if digits is not None and not scale:
        return Meaning(kind=Kind.DECIMAL, type=sql.Numeric(digits, 0), scale=0)
    return Meaning(kind=Kind.DECIMAL, type=sql.Numeric(digits, scale), scale=scale)


_INTEGER: Final = _plain(Kind.INTEGER, sql.Integer)
_NUMBER: Final = _plain(Kind.NUMBER, sql.Float)
_BYTES: Final = _plain(Kind.BYTES, sql.LargeBinary)
_MOMENT: Final = _plain(Kind.DATETIME, sql.DateTime)
_JSON: Final = _plain(Kind.JSON, sql.JSON)
_UUID: Final = _plain(Kind.TEXT, lambda: sql.String(36))  # as it is stored: with dashes or without

_NAMED: Final[Mapping[str, _Rule]] = MappingProxyType(
    {
        **dict.fromkeys(("DATE",), _plain(Kind.DATE, sql.Date)),
        **dict.fromkeys(("TIME",), _plain(Kind.TIME, sql.Time)),
        **dict.fromkeys(("DATETIME", "TIMESTAMP", "TIMESTAMPTZ", "TIMESTAMP WITH TIME ZONE"), _MOMENT),
        **dict.fromkeys(("BOOLEAN", "BOOL"), _plain(Kind.BOOLEAN, sql.Boolean)),
        **dict.fromkeys(("JSON", "JSONB"), _JSON),
        **dict.fromkeys(("UUID", "GUID", "UNIQUEIDENTIFIER"), _UUID),
        **dict.fromkeys(("DECIMAL", "NUMERIC", "DEC", "MONEY", "NUMBER", "CURRENCY"), _decimal),
        **dict.fromkeys(("STRING", "ENUM"), _text),
    }
)
_AFFINITIES: Final[tuple[tuple[str, _Rule], ...]] = (
    ("INT", _INTEGER),
    ("CHAR", _text),
    ("CLOB", _text),
    ("TEXT", _text),
    ("BLOB", _BYTES),
    ("REAL", _NUMBER),
    ("FLOA", _NUMBER),
    ("DOUB", _NUMBER),
)
"""Parts of names that decide what SQLite makes of values, in the order in which it looks for them."""

_STORED: Final[tuple[tuple[frozenset[str], _Rule], ...]] = (
    (frozenset({"integer"}), _INTEGER),
    (frozenset({"integer", "real"}), _NUMBER),
    (frozenset({"text"}), _text),
    (frozenset({"blob"}), _BYTES),
)


def _by_affinity(name: str) -> _Rule | None:
    return next((rule for part, rule in _AFFINITIES if part in name), None)


def _by_values(stored: frozenset[str]) -> _Rule | None:
    there = stored - {"null"}
    return next((rule for types, rule in _STORED if there <= types), None) if there else None


def _unknown(name: str) -> Meaning:
    """A name that nobody knows stands for numbers; of a column without any type nothing is known but its text."""
    if name:
        return _NUMBER((None, None))
    return Meaning(kind=Kind.TEXT, type=ShownAsText(sql.NullType()), comparable=False, writable=False)
