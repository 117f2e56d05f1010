"""How many tokens a text may cost. An estimate, so that descriptions are the same whatever is installed."""

import re
from typing import Final

__all__ = ["estimate"]

_PIECE: Final = re.compile(r"[A-Za-z]+|\d+|[^\sA-Za-z\d_]+")
_LETTERS: Final = 7
_DIGITS: Final = 3
_MARKS: Final = 3


def estimate(text: str) -> int:
    """A little more than what o200k counts for the names and English of a tool description."""
    return sum(_cost(piece) for piece in _PIECE.findall(text))


def _cost(piece: str) -> int:
    if piece[0].isalpha():
        return -(-len(piece) // _LETTERS)
    if piece[0].isdigit():
        return 1 + -(-len(piece) // _DIGITS)  # the space before a number is a token of its own
    return -(-len(piece) // _MARKS)
