"""What a text hides: the same words in a spelling that a rule would not read, and other texts inside of it."""

import base64
import binascii
import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import unquote

__all__ = ["decoded", "respelt"]

_SPELT_OUT: Final = re.compile(r"(?<!\w)\w(?:([ .\-_*/])\w)(?:\1\w)+(?!\w)")
"""Letters with the same sign between each two."""
_CAMEL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_COMMENTS: Final = re.compile(r"/\*.*?\*/|<!--.*?-->", re.DOTALL)
_ESCAPED: Final = re.compile(r"\\x([0-9a-fA-F]{2})|\\u([0-9a-fA-F]{4})|\\([0-7]{3})")
_PRINTED: Final = re.compile(r"\$\(\s*(?:echo|printf)\s+([^()]*)\)")
_SPACES: Final = re.compile(r"\$\{?IFS\}?", re.IGNORECASE)
_QUOTES: Final = re.compile(r"(?<=\w)['\"`]{1,2}(?=\w)|['\"`]{2}|[\\^](?=\w)|\$[@*]")
_AROUND: Final = re.compile(r"['\"`]")
_BASE64: Final = re.compile(r"[A-Za-z0-9+/_-]{8,}={0,2}")
_HEX: Final = re.compile(r"(?:0x)?((?:[0-9a-fA-F]{2}[\s:]?){6,})")
_LONGEST: Final = 4000


def respelt(text: str) -> Iterator[str]:
    """The same text in plainer spellings, if it has any."""
    plain = _SPELT_OUT.sub(lambda found: found[0].replace(found[1], ""), text)
    plain = _ESCAPED.sub(_letter, plain)
    plain = _PRINTED.sub(lambda found: _AROUND.sub("", found[1]), plain)
    plain = _QUOTES.sub("", _SPACES.sub(" ", plain))
    yield from (one for one in (_COMMENTS.sub(" ", plain), _COMMENTS.sub("", plain)) if one != text)
    if _CAMEL.search(text):
        yield _CAMEL.sub(" ", text)


def decoded(text: str) -> Iterator[str]:
    """Other texts that one holds: in base64, in hexadecimal digits, or with letters as in addresses."""
    if "%" in text and (plain := unquote(text)) != text:
        yield plain
    yield from (found for one in _BASE64.finditer(text[:_LONGEST]) if (found := _from_base64(one[0])))
    yield from (found for one in _HEX.finditer(text[:_LONGEST]) if (found := _from_hex(one[1])))


def _letter(found: re.Match[str]) -> str:
    return chr(int(found[3], 8) if found[3] else int(found[1] or found[2], 16))


def _from_base64(text: str) -> str:
    body = text.rstrip("=")
    padded = body + "=" * (-len(body) % 4)
    try:
        return _readable(
            base64.b64decode(padded, altchars=b"-_" if "-" in text or "_" in text else None, validate=True)
        )
    except (binascii.Error, ValueError):
        return ""


def _from_hex(text: str) -> str:
    return _readable(bytes.fromhex("".join(one for one in text if one not in ": \t\n")))


def _readable(data: bytes) -> str:
    """The text in some bytes, or nothing if it is none that a person or a shell could read."""
    for encoding in ("utf-8", "utf-16-le"):
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        if text.isascii() and all(one.isprintable() or one.isspace() for one in text):
            return text
    return ""
