"""Ways to write a text so that a person still reads the same."""

import unicodedata
from collections.abc import Callable
from typing import Final

__all__ = ["DISGUISES", "Disguise"]

Disguise = Callable[[str], str]

_CYRILLIC: Final = str.maketrans("aeopcyxsij", "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0455\u0456\u0458")
_GREEK: Final = str.maketrans("ovitup", "\u03bf\u03bd\u03b9\u03c4\u03c5\u03c1")
_TURNED: Final = str.maketrans({" ": "\u00a0\u2003", "e": "\u0065\u0301", "o": "\u00f6"})


def _wide(text: str) -> str:
    return "".join(chr(ord(one) + 0xFEE0) if "!" <= one <= "~" else one for one in text)


def _bold(text: str) -> str:
    return "".join(chr(0x1D41A + ord(one) - ord("a")) if "a" <= one <= "z" else one for one in text)


def _circled(text: str) -> str:
    return "".join(chr(0x24D0 + ord(one) - ord("a")) if "a" <= one <= "z" else one for one in text)


def _squared(text: str) -> str:
    return "".join(chr(0x1F170 + ord(one) - ord("a")) if "a" <= one <= "z" else one for one in text)


def _flagged(text: str) -> str:
    return "".join(chr(0x1F1E6 + ord(one) - ord("a")) if "a" <= one <= "z" else one for one in text)


def _between(sign: str) -> Disguise:
    return sign.join


DISGUISES: Final[dict[str, Disguise]] = {
    "as it is": str,
    "capitals": str.upper,
    "every other capital": lambda text: "".join(one.upper() if at % 2 else one for at, one in enumerate(text)),
    "zero-width space": _between("\u200b"),
    "zero-width joiner": _between("\u200d"),
    "word joiner": _between("\u2060"),
    "soft hyphen": _between("\u00ad"),
    "byte order mark": _between("\ufeff"),
    "right-to-left mark": _between("\u200f"),
    "left-to-right embedding": lambda text: f"\u202a{text}\u202c",
    "variation selectors": _between("\ufe0f"),
    "combining marks": _between("\u0336"),
    "Hangul filler": _between("\u3164"),
    "Braille blank": _between("\u2800"),
    "private use": _between("\ue000"),
    "null": _between("\x00"),
    "tags": _between("\U000e0041"),
    "wide letters": _wide,
    "bold letters": _bold,
    "circled letters": _circled,
    "letters in dark squares": _squared,
    "letters on flags": _flagged,
    "Cyrillic letters": lambda text: text.translate(_CYRILLIC),
    "Greek letters": lambda text: text.translate(_GREEK),
    "accents and odd spaces": lambda text: text.translate(_TURNED),
    "taken apart": lambda text: unicodedata.normalize("NFKD", text),
    "tabs": lambda text: text.replace(" ", "\t"),
    "lines": lambda text: text.replace(" ", "\n"),
    "three spaces": lambda text: text.replace(" ", "   "),
    "ideographic spaces": lambda text: text.replace(" ", "\u3000"),
    "spaces around": lambda text: f" \n\t{text}\u2028 ",
}
