"""Texts of a document as a model may read them: plain, on one line, and no longer than they are worth."""

import re
from typing import Final

from headgate.sources.words import clean, first_sentence

__all__ = ["DESCRIPTION", "FIELD", "SUMMARY", "plain", "summarized"]

SUMMARY: Final = 160
DESCRIPTION: Final = 1_000
FIELD: Final = 400
"""How many characters are kept: of one line, of an operation, and of a parameter or field."""

_LONGEST_READ: Final = 5_000
_MARKUP: Final = (
    (re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL), " "),
    (re.compile(r"</?[A-Za-z][^<>]{0,500}>"), " "),
    (re.compile(r"!?\[([^\[\]\n]{1,200})\]\([^()\s]{0,500}\)"), r"\1"),
)
"""Comments, tags, links and images; of links the words stay."""


def plain(text: object, most: int) -> str:
    """A text without markup, invisible characters and line breaks, cut where it is too long."""
    if not isinstance(text, str):
        return ""
    line = " ".join(text[:_LONGEST_READ].split())
    if not line.isprintable():
        line = clean(text, _LONGEST_READ)
    for markup, instead in _MARKUP if "<" in line or "](" in line else ():
        line = markup.sub(instead, line)
    line = " ".join(line.split())
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"


def summarized(text: object) -> str:
    """The first sentence of a text."""
    return first_sentence(plain(text, DESCRIPTION), SUMMARY)
