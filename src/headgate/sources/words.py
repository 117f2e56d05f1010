"""Texts of foreign servers and documents, as they may be shown to a person and to a model."""

import re
import unicodedata
from typing import Final

__all__ = ["clean", "first_sentence"]

_CONTROL: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
"""Kinds of characters that nobody sees: controls, direction marks, tags, halves of pairs, private ones."""
_ESCAPE: Final = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s|\n\s*\n")
_SPACE: Final = re.compile(r"[ \t]+")
_JOINER: Final = "\u200d"
"""Keeps the parts of an emoji together, and hides nothing."""


def clean(text: object, longest: int) -> str:
    """A text without what nobody sees, such as terminal sequences and hidden letters, and of bounded length."""
    if not isinstance(text, str):
        return ""
    shown = _ESCAPE.sub("", text[: longest * 2])
    kept = "".join(letter for letter in shown if letter in "\n\t" or letter == _JOINER or not _is_hidden(letter))
    kept = _SPACE.sub(" ", kept).strip()
    return kept if len(kept) <= longest else f"{kept[: longest - 1].rstrip()}…"


def _is_hidden(letter: str) -> bool:
    return unicodedata.category(letter) in _CONTROL


def first_sentence(text: str, longest: int = 200) -> str:
    """The first sentence, on one line."""
    first = " ".join(_SENTENCE_END.split(text.strip(), maxsplit=1)[0].split())
    return first if len(first) <= longest else f"{first[: longest - 1].rstrip()}…"
