"""How values become texts, and texts parts of a URL (RFC 3986, RFC 6570)."""

import json
import re
from typing import Any, Final
from urllib.parse import quote

from headgate.protocol.errors import Invalid

__all__ = ["escaped", "escaped_reserved", "json_text", "text_of"]

_RESERVED: Final = ":/?@!$'()*,;"
"""Reserved characters that mean nothing in a query, so that ``allowReserved`` lets them pass; '&', '=', '+', '#' and
brackets would change what the query says, whatever a document allows."""
_TRIPLES: Final = re.compile(r"(%[0-9A-Fa-f]{2})")
_EXACT: Final = 2**53


def escaped(text: str, name: str, safe: str = "") -> str:
    """A text with everything but letters, digits and ``-._~`` percent-encoded."""
    try:
        return quote(text, safe=safe)
    except UnicodeEncodeError:
        raise Invalid(name, "it holds characters that no UTF-8 can carry") from None


def escaped_reserved(text: str, name: str) -> str:
    """The same where reserved characters, and triples such as ``%20``, are to stay as they are (RFC 6570, 3.2.3)."""
    parts = _TRIPLES.split(text)
    return "".join(part if place % 2 else escaped(part, name, _RESERVED) for place, part in enumerate(parts))


def text_of(value: Any) -> str:
    """A value as the text that it is outside of JSON; what has parts is JSON there too."""
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT:
        return str(int(value))
    return json_text(value)


def json_text(value: Any) -> str:
    """A value as compact JSON in plain ASCII, which may stand anywhere."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False)
