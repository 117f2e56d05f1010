"""The readings of a text: what it says to a person, whatever letters, spaces and invisible signs it is made of."""

import re
import unicodedata
from functools import lru_cache, partial
from typing import Final

__all__ = ["folded", "readings", "skeleton"]

_SPACES: Final = re.compile(r"\s+")
_WORD: Final = re.compile(r"\b\w*[013457]\w*")
"""A word with a digit in it that could stand for a letter."""

_LOOK_ALIKES: Final = (
    "аa еe оo рp сc уy хx ѕs іi јj ԁd һh ӏl ԝw ѵv вb кk мm нh тt ёe їi ɡg ɑa ıi łl øo đd ħh ŧt ʋu ⅼl ʀr ʟl "
    "αa βb εe ηn ιi κk νv οo ρp τt υu χx γy ωw ϲc ζz μu օo սu հh ոn ցg եe քq զq ᴀa ʙb ᴄc ᴅd ᴇe ɢg ʜh ɪi ᴊj ᴋk ᴍm ɴn "
    "ᴏo ᴘp ꜱs ᴛt ᴜu ᴠv ᴡw ʏy ᴢz ꓮa ꓐb ꓚc ꓓd ꓰe ꓝf ꓖg ꓧh ꓲi ꓙj ꓗk ꓡl ꓟm ꓠn ꓳo ꓑp ꓣr ꓢs ꓔt ꓴu ꓦv ꓪw ꓫx ꓬy ꓜz"
)
_LATIN: Final = {ord(pair[0]): pair[1] for pair in _LOOK_ALIKES.split()}
"""Letters of other scripts that a reader takes for Latin ones."""
_DIGITS: Final = (str.maketrans("013457", "oleast"), str.maketrans("013457", "oieast"))


def folded(text: str) -> str:
    """A text without what does not show: one form of each letter, no marks, no invisible characters, single spaces."""
    if text.isascii() and text.isprintable():
        return " ".join(text.lower().split())
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold())
    kept = "".join(_shown(one) for one in plain)
    return _SPACES.sub(" ", unicodedata.normalize("NFKC", kept)).strip()


def _shown(one: str) -> str:
    category = unicodedata.category(one)
    if category in ("Zs", "Zl", "Zp") or one in "\t\n\r\v\f":
        return " "
    return "" if category in ("Mn", "Me", "Cf", "Cc", "Cs", "Co", "Cn") or one == "\u3164" else one


def skeleton(text: str) -> str:
    """A folded text with each letter that looks like a Latin one in its place."""
    return folded(text).translate(_LATIN)


@lru_cache(maxsize=512)
def readings(text: str) -> tuple[str, ...]:
    """The different ways in which a text may be meant, each folded; the plainest first."""
    plain = folded(text)
    latin = plain.translate(_LATIN)
    spelt = (_WORD.sub(partial(_lettered, digits), latin) for digits in _DIGITS)
    return tuple(dict.fromkeys((plain, latin, *spelt)))


def _lettered(digits: dict[int, int], found: re.Match[str]) -> str:
    """A word with letters in place of the digits that stand for them, if it has letters at all."""
    word = found[0]
    return word.translate(digits) if any(one.isalpha() for one in word) else word
