"""Words that mean something, found in a text by looking each of its words up."""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import Final, Generic, TypeVar

from headgate.safety.autonomy.texts import folded

__all__ = ["Vocabulary"]

Meaning = TypeVar("Meaning")

_UNSPACED: Final = 0x0590
"""From here on are the scripts that put no spaces between words, or change their words in the middle."""
_LEFT_OUT: Final = "…"
"""What stands for something that a text only speaks of; it means nothing."""
_LONGEST: Final = 30
"""Only words that are likely to come again are remembered."""


class Vocabulary(Generic[Meaning]):
    """Words and what they mean: as they are written; all that begin so, if they end in ``~``; or anywhere in a text."""

    def __init__(self, words: Iterable[tuple[str, Meaning]]) -> None:
        self._whole: dict[str, list[Meaning]] = {}
        self._begun: dict[str, list[Meaning]] = {}
        self._within: dict[str, list[Meaning]] = {}
        for word, meaning in words:
            stem = folded(word.rstrip("~"))
            place = self._within if ord(word[0]) >= _UNSPACED else self._begun if word.endswith("~") else self._whole
            place.setdefault(stem, []).append(meaning)
        self._lengths = sorted({len(stem) for stem in self._begun})
        self._remembered = lru_cache(maxsize=4096)(self._meanings)

    def found(self, text: str, tokens: Sequence[str]) -> Iterator[tuple[Meaning, str, int | None]]:
        """What a text means, by which of its words, and by the how manieth; None for one that is only part of it."""
        for place, token in enumerate(tokens):
            for meaning in self._remembered(token) if len(token) <= _LONGEST else self._meanings(token):
                yield meaning, token, place
        if not (text.isascii() or text.replace(_LEFT_OUT, "").isascii()):
            yield from self._found_within(text)

    def _meanings(self, token: str) -> tuple[Meaning, ...]:
        begun = (self._begun.get(token[:length], ()) for length in self._lengths if length <= len(token))
        return (*self._whole.get(token, ()), *chain.from_iterable(begun))

    def _found_within(self, text: str) -> Iterator[tuple[Meaning, str, int | None]]:
        for word, meanings in self._within.items():
            if word in text:
                yield from ((meaning, word, None) for meaning in meanings)
