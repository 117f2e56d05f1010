"""The scalars of YAML as its core schema reads them: 'no', '12:30' and '2026-02-04' are texts, as in JSON."""

import re
from typing import Final

__all__ = ["scalar"]

_NULLS: Final = frozenset({"", "~", "null", "Null", "NULL"})
_BOOLEANS: Final = {
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_INTEGER: Final = re.compile(r"[-+]?[0-9]{1,300}\Z")
_OCTAL: Final = re.compile(r"0o[0-7]{1,300}\Z")
_HEXADECIMAL: Final = re.compile(r"0x[0-9a-fA-F]{1,300}\Z")
_NUMBER: Final = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]{1,3})?\Z")


def scalar(text: str, *, plain: bool) -> object:
    """What a scalar stands for. One in quotes, or with the tag of texts, is a text whatever it looks like."""
    if not plain:
        return text
    if text in _NULLS:
        return None
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    return _number(text)


def _number(text: str) -> object:
    if _INTEGER.match(text):
        return int(text)
    if _OCTAL.match(text):
        return int(text, 0)
    if _HEXADECIMAL.match(text):
        return int(text, 0)
    return float(text) if _NUMBER.match(text) else text
