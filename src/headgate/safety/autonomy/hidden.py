"""What a text hides: the same words in a spelling that a rule would not read, and other texts inside of it."""

import base64
import binascii
import codecs
import html
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import islice
from typing import Final
from urllib.parse import unquote

from headgate.safety.autonomy.slips import GRAVE, mended
from headgate.safety.autonomy.texts import readings

__all__ = ["as_written", "decoded", "respelt", "spellings"]

_SPELT_OUT: Final = re.compile(r"(?<!\w)[^\W_](?:([\W_])[^\W_])(?:\1[^\W_])+(?!\w)")
"""Letters with the same sign between each two."""
_SPACED_OUT: Final = re.compile(r"(?<!\S)\S(?: \S)+(?!\S)")
"""Letters and signs with a space between each two; where there are more spaces, a word ends."""
_WIDE: Final = re.compile(r"\s{2,}")
_CAMEL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_COMMENTS: Final = re.compile(r"/\*.{0,200}?\*/|<!--.{0,200}?-->", re.DOTALL)
_ESCAPED: Final = re.compile(r"\\x([0-9a-fA-F]{2})|\\u([0-9a-fA-F]{4})|\\([0-7]{3})")
_PRINTED: Final = re.compile(r"\$\(\s*(?:echo|printf)\s+([^()]*)\)")
_ASSIGNED: Final = re.compile(r"(?<![\w$-])([A-Za-z_]\w{0,31})=[\"']?([^\s;&|\"']{1,64})[\"']?(?=[\s;&|]|$)")
_USED: Final = re.compile(r"\$\{?([A-Za-z_]\w{0,31})(?::?[-=]([^{}\s]{1,64}))?\}?")
_SPACES: Final = re.compile(r"\$\{?IFS\}?", re.IGNORECASE)
_QUOTES: Final = re.compile(r"\$'([^']*)'|(?<=\w)['\"`]{1,2}(?=\w)|['\"`]{2}|[\\^](?=\w)|\$[@*]")
_GLUED: Final = re.compile(r"(?<=[\w-])(['\"])([^\s'\"]{1,40})\1")
"""A part of a word in quotes: a shell reads it as if they were not there."""
_AROUND: Final = re.compile(r"['\"`]")
_QUOTING: Final = frozenset("\\$'\"`^")
"""Without one of these signs, there is nothing of all that."""
_TAGS: Final = {0xE0000 + code: code for code in range(0x20, 0x7F)}
"""Letters that are never shown, though a machine reads them."""

_BASE64: Final = re.compile(r"[A-Za-z0-9+/_-]{8,}={0,2}")
_HEX: Final = re.compile(r"(?:0x)?((?:[0-9a-fA-F]{2}[ \t\n:,]?){6,})")
_BITS: Final = re.compile(r"(?<!\d)(?:[01]{8}[ \t\n,]*){4,}(?!\d)")
_CODES: Final = re.compile(r"(?<!\d)(?:\d{2,3}[ \t\n,;]+){4,}\d{2,3}(?!\d)")
_BETWEEN: Final = re.compile(r"[ \t\n:,;]+")
_TOKENS: Final = re.compile(r"[^\W_]+")
_RM: Final = re.compile(r"\brm -\w")
_GRAVE: Final = frozenset(word for word in GRAVE if len(word) > 3)
_DEEPEST: Final = 3
_MOST: Final = 200
"""How deep texts in texts are read, and how many at each depth."""


@lru_cache(maxsize=64)
def as_written(hint: str) -> tuple[str, ...]:
    """A hint in all its readings, with joinedWords together and apart."""
    return tuple(dict.fromkeys(text for one in dict.fromkeys((hint, _CAMEL.sub(" ", hint))) for text in readings(one)))


@lru_cache(maxsize=64)
def spellings(hint: str) -> tuple[str, ...]:
    """The same, and after them the readings of plainer spellings."""
    spelt = (text for one in respelt(hint) for text in as_written(one))
    return tuple(dict.fromkeys((*as_written(hint), *spelt)))


def respelt(text: str) -> Iterator[str]:
    """The same text in plainer spellings, if it has any."""
    shown = text if text.isascii() else text.translate(_TAGS)
    close = _SPELT_OUT.sub(lambda found: found[0].replace(found[1], ""), shown)
    plain = close if _QUOTING.isdisjoint(close) else _unquoted(close)
    wide = " ".join(_SPACED_OUT.sub(lambda found: found[0].replace(" ", ""), one) for one in _WIDE.split(shown))
    has_comments = "/*" in plain or "<!--" in plain
    apart, joined = (_COMMENTS.sub(" ", plain), _COMMENTS.sub("", plain)) if has_comments else (plain, plain)
    yield from (one for one in dict.fromkeys((apart, joined, wide, mended(close))) if one != text)


def _unquoted(text: str) -> str:
    """A command as a shell reads it, without escapes, quotes and variables."""
    plain = _ESCAPED.sub(_letter, text)
    plain = _PRINTED.sub(lambda found: _AROUND.sub("", found[1]), plain)
    plain = _substituted(_SPACES.sub(" ", plain))
    return _QUOTES.sub(lambda found: found[1] or "", _GLUED.sub(r"\2", plain))


def _substituted(text: str) -> str:
    """A command with the values of the variables that it sets itself, or falls back to."""
    if "$" not in text:
        return text
    known = {found[1]: found[2] for found in _ASSIGNED.finditer(text)}
    return _USED.sub(lambda found: known.get(found[1]) or found[2] or found[0], text)


def _letter(found: re.Match[str]) -> str:
    return chr(int(found[3], 8) if found[3] else int(found[1] or found[2], 16))


def decoded(text: str) -> Iterator[str]:
    """Other texts that one holds, and those in them: encoded, in numbers, turned around or with other letters."""
    seen, outer = {text: None}, [text]
    for _ in range(_DEEPEST):
        inner = dict.fromkeys(islice((found for one in outer for found in _inside(one) if found not in seen), _MOST))
        yield from inner
        seen |= inner
        outer = [*inner]


def _inside(text: str) -> Iterator[str]:
    yield from (plain for change in (unquote, html.unescape) if (plain := change(text)) != text)
    for pattern, reader in _READERS:
        yield from (found for one in pattern.finditer(text) if (found := reader(one[0])))
    yield from (turned for turn in (_backwards, _rotated) if _is_grave(turned := turn(text)))


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
    return _readable(bytes.fromhex(_BETWEEN.sub("", text.removeprefix("0x"))))


def _from_bits(text: str) -> str:
    bits = _BETWEEN.sub("", text)
    return _readable(bytes(int(bits[at : at + 8], 2) for at in range(0, len(bits), 8)))


def _from_codes(text: str) -> str:
    codes = [int(one) for one in _BETWEEN.split(text)]
    return _readable(bytes(codes)) if max(codes) < 256 else ""


_READERS: Final[tuple[tuple[re.Pattern[str], Callable[[str], str]], ...]] = (
    (_BASE64, _from_base64),
    (_HEX, _from_hex),
    (_BITS, _from_bits),
    (_CODES, _from_codes),
)


def _readable(data: bytes) -> str:
    """The text in some bytes, or nothing if it is none that a person or a shell could read."""
    if not data.isascii():
        return ""
    texts = [data.decode()] if len(data) % 2 or any(data[1::2]) else [data.decode(), data.decode("utf-16-le")]
    return next((text for text in texts if all(one.isprintable() or one.isspace() for one in text)), "")


def _backwards(text: str) -> str:
    return text[::-1]


def _rotated(text: str) -> str:
    return codecs.encode(text, "rot13")


def _is_grave(text: str) -> bool:
    """Whether something is removed or worse: by chance, no text reads so."""
    plain = text.casefold()
    return not _GRAVE.isdisjoint(_TOKENS.findall(plain)) or _RM.search(plain) is not None
