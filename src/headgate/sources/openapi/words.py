"""Texts of a document as a model may read them: plain, on one line, and no longer than they are worth."""

import re
from typing import Final

__all__ = ["DESCRIPTION", "FIELD", "SUMMARY", "plain", "summarized"]

SUMMARY: Final = 160
DESCRIPTION: Final = 1_000
FIELD: Final = 400
"""How many characters are kept: of one line, of an operation, and of a parameter or field."""

_LONGEST_READ: Final = 20_000
_COMMENT: Final = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_TAG: Final = re.compile(r"</?[A-Za-z][^<>]{0,500}>")
_IMAGE: Final = re.compile(r"!\[([^\]]{0,200})\]\([^)\s]{0,2000}\)")
_LINK: Final = re.compile(r"\[([^\]\n]{1,200})\]\([^)\s]{0,2000}\)")
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+(?=[A-Z`\"'(])")


def plain(text: object, most: int) -> str:
    """A text without markup, invisible characters and line breaks, cut where it is too long."""
    if not isinstance(text, str):
        return ""
    cut = _COMMENT.sub(" ", text[:_LONGEST_READ])
    for markup, instead in ((_TAG, " "), (_IMAGE, r"\1"), (_LINK, r"\1")):
        cut = markup.sub(instead, cut)
    line = " ".join("".join(sign if sign.isprintable() else " " for sign in cut).split())
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"


def summarized(text: object) -> str:
    """The first sentence of a text."""
    line = plain(text, DESCRIPTION)
    return plain(_SENTENCE.split(line, maxsplit=1)[0], SUMMARY)
