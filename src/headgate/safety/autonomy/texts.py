"""The readings of a text: what it says to a person, whatever letters, spaces and invisible signs it is made of."""

import re
import unicodedata
from functools import partial
from typing import Final

__all__ = ["folded", "lined", "readings", "skeleton"]

_SPACES: Final = re.compile(r"\s+")
_BREAKS: Final = re.compile(r"[\n\v\f\r\x1c-\x1e\x85\u2028\u2029]+")
_WORD: Final = re.compile(r"[\w@$!€]+")
_FILLERS: Final = frozenset("\u115f\u1160\u2800")
"""Letters and signs that show nothing."""

_LOOK_ALIKES: Final = (
    "аa еe оo рp сc уy хx ѕs іi јj ԁd һh ӏl ԝw ѵv вb кk мm нh тt ёe їi ɡg ɑa ıi łl øo đd ħh ŧt ʋu ⅼl ʀr ʟl "
    "αa βb εe ηn ιi κk νv οo ρp τt υu χx γy ωw ϲc ζz μu օo սu հh ոn ցg եe քq զq ᴀa ʙb ᴄc ᴅd ᴇe ɢg ʜh ɪi ᴊj ᴋk ᴍm ɴn "
    "ᴏo ᴘp ꜱs ᴛt ᴜu ᴠv ᴡw ʏy ᴢz ꓮa ꓐb ꓚc ꓓd ꓰe ꓝf ꓖg ꓧh ꓲi ꓙj ꓗk ꓡl ꓟm ꓠn ꓳo ꓑp ꓣr ꓢs ꓔt ꓴu ꓦv ꓪw ꓫx ꓬy ꓜz "
    "σo пn гr ьb ԛq ғf ƅb ƒf ɩi ɛe ɵo ƨs ʂs ʐz ŋn ɲn ƙk ɓb ɗd ɠg ƥp ƭt ƈc ʄf ꞓc ꜰf ᴦr ⲟo ⲥc ⲣp ⲁa ⲉe ⲓi ⲕk ⲙm ⲛn ⲧt "
    "ᗩa ᗷb ᑕc ᗪd ᗴe ᖴf ᕼh ᒍj ᒪl ᗰm ᑎn ᑭp ᖇr ᔕs ᑌu ᐯv ᗯw"
)
_LUNATE: Final = str.maketrans("ϲϹ", "cc")
"""A sigma that looks like a c, until it is brought into the common form."""
_LETTERED_SIGNS: Final = (0x1F150, 0x1F170, 0x1F1E6)
"""Where the letters in dark circles, in dark squares and on flags begin."""
_LATIN: Final = {ord(pair[0]): pair[1] for pair in _LOOK_ALIKES.split()} | {
    first + place: chr(ord("a") + place) for first in _LETTERED_SIGNS for place in range(26)
}
"""Letters of other scripts, and signs, that a reader takes for Latin ones."""
_DIGITS: Final = (str.maketrans("0134578@$!€", "oleastbasle"), str.maketrans("0134579@$!€", "oieastgasie"))
"""What stands for a letter, in two ways: a 1 is an l or an i."""
_STANDING_IN: Final = frozenset(chr(sign) for digits in _DIGITS for sign in digits)


def folded(text: str) -> str:
    """A text without what does not show: one form of each letter, no marks, no invisible characters, single spaces."""
    plain = text.lower() if text.isascii() else _plain(text)
    return _SPACES.sub(" ", "".join(map(_shown, plain)) if not plain.isprintable() else plain).strip()


def _plain(text: str) -> str:
    """One form of each letter, without marks."""
    apart = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text.translate(_LUNATE)).casefold())
    kept = "".join(_shown(one) for one in apart)
    return unicodedata.normalize("NFKC", kept)


def _shown(one: str) -> str:
    if one.isspace():
        return " "
    hides = unicodedata.category(one) in ("Mn", "Me", "Cf", "Cc", "Cs", "Co", "Cn") or one in _FILLERS
    return "" if hides else one


def lined(text: str) -> str:
    """A text whose lines stand in one, with a sign between them that ends an action."""
    return _BREAKS.sub(" ; ", text)


def skeleton(text: str) -> str:
    """A folded text with each letter that looks like a Latin one in its place."""
    return folded(text).translate(_LATIN)


def readings(text: str) -> tuple[str, ...]:
    """The different ways in which a text may be meant, each folded; the plainest first."""
    plain = folded(text)
    latin = plain if plain.isascii() else plain.translate(_LATIN)
    if _STANDING_IN.isdisjoint(latin):
        return tuple(dict.fromkeys((plain, latin)))
    spelt = (_WORD.sub(partial(_lettered, digits), latin) for digits in _DIGITS)
    return tuple(dict.fromkeys((plain, latin, *spelt)))


def _lettered(digits: dict[int, int], found: re.Match[str]) -> str:
    """A word with letters in place of what stands for them, if it has letters at all."""
    word = found[0]
    return word if word.isalpha() or not any(one.isalpha() for one in word) else word.translate(digits)
