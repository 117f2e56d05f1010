"""Grave words in parts, or with a slip in them: "del ete" and "dleete" say to a reader what no rule would find."""

import re
from functools import lru_cache
from itertools import pairwise
from typing import Final

from headgate.safety.autonomy.lexicon import KINDS, UNLIKE, WORDS, Form

__all__ = ["GRAVE", "mended"]

_TOKENS: Final = re.compile(r"[^\W_]+")
_SHORTEST: Final = 6
"""Of shorter words too many others are one letter away."""
_MOST_PARTS: Final = 3
_NO_PART: Final = frozenset(("down", "out", "off", "up"))
"""Words that make another of the one before without being a part of it: "shut down"."""

GRAVE: Final = frozenset(
    word for word, sense in WORDS.items() if sense.form is Form.DONE and sense.kind.score >= KINDS["remove"].score
)
"""The English words for removing something, and worse."""
_PARTED: Final = frozenset(word for word in GRAVE if len(word) >= _SHORTEST - 1)
_LONG: Final = frozenset(word for word in _PARTED if len(word) >= _SHORTEST and not word.endswith("s"))
_LONGEST: Final = max(map(len, _LONG)) + 1
"""Longer words are none of these with a letter too many."""
_BEGUN: Final = frozenset(word[:end] for word in _PARTED for end in range(1, len(word)))
_IN_PARTS: Final = _BEGUN | _PARTED
"""What such a word may begin with, and what its first two parts may be together."""


def _shape(word: str) -> tuple[str, str]:
    return word[0], "".join(sorted(word))


_SCRAMBLED: Final = {_shape(word): word for word in sorted(_LONG)}
_SHORTENED: Final = {word[:at] + word[at + 1 :]: word for word in sorted(_LONG) for at in range(1, len(word) - 1)}
"""Words by their first and all their letters, and by what is left of them without one of those in the middle."""


def mended(text: str) -> str:
    """A text with grave words as they should be written."""
    found = [*_TOKENS.finditer(text)]
    tokens = [one[0].casefold() for one in found]
    in_parts = any(first + second in _IN_PARTS for first, second in pairwise(tokens))
    if not in_parts and not any(map(_unslipped, tokens)):
        return text
    made, kept, at = [], 0, 0
    while at < len(found):
        count, word = _grave_from(found, tokens, at)
        if word:
            made += [text[kept : found[at].start()], word]
            kept = found[at + count - 1].end()
        at += count
    return "".join((*made, text[kept:]))


def _grave_from(found: list[re.Match[str]], tokens: list[str], at: int) -> tuple[int, str]:
    """How many words from a place on are one grave word, and which one; it is empty if they are none."""
    most = min(_MOST_PARTS, len(tokens) - at) if tokens[at] in _BEGUN else 1
    for count in range(most, 1, -1):
        parts = tokens[at : at + count]
        joined = "".join(parts)
        is_phrase = count == 2 and parts[1] in _NO_PART
        if joined in _PARTED and not is_phrase and _are_close(found[at : at + count]):
            return count, joined
    return 1, _unslipped(tokens[at])


def _are_close(words: list[re.Match[str]]) -> bool:
    return all(second.start() - first.end() == 1 for first, second in pairwise(words))


def _unslipped(token: str) -> str:
    """The grave word that a word is with a slip in it; nothing if it is none."""
    return _meant(token) if _SHORTEST - 1 <= len(token) <= _LONGEST else ""


@lru_cache(maxsize=4096)
def _meant(token: str) -> str:
    if token in WORDS or token in UNLIKE:
        return ""
    return (
        _SCRAMBLED.get(_shape(token))
        or _SHORTENED.get(token)
        or next((short for at in range(1, len(token) - 1) if (short := token[:at] + token[at + 1 :]) in _LONG), "")
    )
