"""Values that are written in SQL: constant defaults, and the operands of checks."""

import json
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from types import MappingProxyType
from typing import Any, Final

from headgate.query.kinds import Kind

__all__ = ["constant"]

_CAST: Final = re.compile(r"::[\w\s\".]+(?:\(\s*\d+(?:\s*,\s*\d+)?\s*\))?(?:\[\])*\Z")
_STRING: Final = re.compile(r"(?:_\w+)?[NE]?'((?:[^']|'')*)'\Z", re.DOTALL)
_NUMBER: Final = re.compile(r"[+-]?\s*(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\Z")
_WORDS: Final[Mapping[str, object]] = MappingProxyType({"true": True, "false": False})
_TRUE: Final = frozenset({"1", "t", "true", "y", "yes", "on", "b'1'"})
_FALSE: Final = frozenset({"0", "f", "false", "n", "no", "off", "b'0'"})


def constant(default: str, kind: Kind) -> object:
    """A default as JSON, if it is a plain literal of its field's kind; else None."""
    literal = _literal(_bare(default))
    if literal is None:
        return None
    try:
        return _AS_JSON[kind](literal) if kind in _AS_JSON else None
    except ValueError:
        return None


def _bare(text: str) -> str:
    """Without the parentheses and casts around it."""
    while True:
        before = text
        text = _CAST.sub("", text.strip())
        if text.startswith("(") and text.endswith(")"):
            text = text[1:-1]
        if text == before:
            return text


def _literal(text: str) -> object:
    """A string, a number as it is written, or a boolean."""
    string = _STRING.match(text)
    if string:
        return string[1].replace("''", "'")
    if _NUMBER.match(text):
        return Decimal(text.replace(" ", ""))
    return _WORDS.get(text.lower())


def _boolean(literal: object) -> bool:
    word = str(literal).lower()
    if word in _TRUE | _FALSE:
        return word in _TRUE
    raise ValueError


def _read(kind: Kind) -> Callable[[Any], object]:
    """Texts that stand for a value of the kind, left as they are written."""

    def as_json(literal: Any) -> object:
        kind.read(literal)
        return literal

    return as_json


def _json(literal: Any) -> object:
    return json.loads(literal) if isinstance(literal, str) else None


_AS_JSON: Final[Mapping[Kind, Callable[[Any], object]]] = MappingProxyType(
    {
        Kind.TEXT: str,
        Kind.INTEGER: lambda literal: Kind.INTEGER.read(str(literal)),
        Kind.NUMBER: lambda literal: Kind.NUMBER.read(str(literal)),
        Kind.DECIMAL: lambda literal: str(Kind.DECIMAL.read(str(literal))),
        Kind.BOOLEAN: _boolean,
        Kind.DATE: _read(Kind.DATE),
        Kind.TIME: _read(Kind.TIME),
        Kind.DATETIME: _read(Kind.DATETIME),
        Kind.UUID: _read(Kind.UUID),
        Kind.JSON: _json,
    }
)
