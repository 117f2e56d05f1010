"""How many tokens a text may cost. An estimate, so that descriptions are the same whatever is installed."""

import re
from typing import Final

__all__ = ["estimate"]

_PIECE: Final = re.compile(r"[^\r\nA-Za-z\d]?[A-Za-z]+|\d{1,3}|\s?[^\sA-Za-z\d]+|\s+")
"""What o200k never joins: a word with the one sign before it, up to three digits, a run of signs, lone spaces."""

_WHOLE_WORD: Final = 7
_LETTERS: Final = 5
_SIGNS: Final = 3
_UNDERSCORES: Final = 4


def estimate(text: str) -> int:
    """A little more than what o200k counts for names and English; less only where names are mostly abbreviations."""
    return sum(map(_cost, _PIECE.findall(text))) + text.count("_") // _UNDERSCORES


def _cost(piece: str) -> int:
    if piece[-1].isalpha() and piece[-1].isascii():
        letters = len(piece) - (not piece[0].isalpha() or not piece[0].isascii())
        return 1 if letters <= _WHOLE_WORD else -(-letters // _LETTERS)
    signs = piece.strip()
    foreign = 0 if signs.isascii() else sum(not sign.isascii() for sign in signs)
    return max(1, foreign + -(-(len(signs) - foreign) // _SIGNS))
