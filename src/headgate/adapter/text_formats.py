"""Formats of text that the schema library does not know by itself."""

import base64
import binascii
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

__all__ = ["BASE64", "DECIMAL", "FORMATS", "FORMAT_WORDS"]

BASE64: Final = "base64"
DECIMAL: Final = "decimal"

_DECIMAL: Final = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,4})?\Z")


def _is_base64(text: str) -> bool:
    try:
        base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return False
    return True


def _is_decimal(text: str) -> bool:
    return _DECIMAL.match(text) is not None


FORMATS: Final[dict[str, Callable[[str], bool]]] = {BASE64: _is_base64, DECIMAL: _is_decimal}

FORMAT_WORDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        BASE64: "base64 with padding (RFC 4648)",
        DECIMAL: 'a decimal number, such as "12.50"',
        "date": 'an ISO 8601 date, such as "2026-02-04"',
        "date-time": 'an ISO 8601 date and time with zone, such as "2026-02-04T10:30:00Z"',
        "time": 'an ISO 8601 time, such as "10:30:00Z"',
        "duration": 'an ISO 8601 duration, such as "PT30M"',
        "uuid": 'a UUID, such as "123e4567-e89b-12d3-a456-426614174000"',
        "email": "an e-mail address",
        "uri": "a URI with its scheme",
    }
)
"""Each format in a user's words."""
