"""Patterns over what an agent is about to do: ``*`` and ``?`` as in file names (Spec 8.7.2, Stage 3)."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from headgate.safety.autonomy.actions import split
from headgate.safety.autonomy.hidden import spellings
from headgate.safety.autonomy.texts import folded, lined, skeleton

__all__ = ["found_in", "is_all"]


def found_in(hint: str, patterns: Iterable[str]) -> str | None:
    """The first pattern that fits something in a hint, in any of its readings.

    It may begin and end with any word of the hint: "calling drop_table" is no way around ``drop_*``.
    """
    texts = _texts(hint)
    for one in patterns:
        for glob in _globs(one):
            for text in texts:
                if glob.is_in(text):
                    return one
    return None


def is_all(hint: str, patterns: Iterable[str]) -> str | None:
    """The first pattern that fits all of a hint if every action in it, in each of its readings, fits some pattern."""
    known = tuple(patterns)
    if not known:
        return None
    actions = [action for text in _texts(hint) for action in split(text)]
    fitting = [
        next((one for one in known if any(glob.is_whole(action) for glob in _globs(one))), None) for action in actions
    ]
    return fitting[0] if fitting and all(fitting) else None


def _texts(hint: str) -> tuple[str, ...]:
    """A hint in every spelling, as one line and as one action a line."""
    actions = lined(hint)
    return spellings(hint) if actions == hint else (*spellings(hint), *spellings(actions))


@dataclass(frozen=True, slots=True)
class _Piece:
    """What stands between two stars. Each place where it fits is found in one pass, whatever the text."""

    text: str

    def places(self, text: str, start: int) -> Iterator[int]:
        if "?" in self.text:
            yield from self._shifted(text, start)
            return
        at = text.find(self.text, start)
        while at >= 0:
            yield at
            at = text.find(self.text, at + 1)

    def _shifted(self, text: str, start: int) -> Iterator[int]:
        """All beginnings of the piece that fit so far are the bits of one number, moved on by each letter."""
        anything = sum(1 << place for place, one in enumerate(self.text) if one == "?")
        fits: dict[str, int] = {}
        for place, one in enumerate(self.text):
            fits[one] = fits.get(one, anything) | 1 << place
        ends, begun = 1 << (len(self.text) - 1), 0
        for at in range(start, len(text)):
            begun = (begun << 1 | 1) & fits.get(text[at], anything)
            if begun & ends:
                yield at - len(self.text) + 1


@dataclass(frozen=True, slots=True)
class _Glob:
    """A pattern in pieces. Of each, the first place that fits will do: a star takes whatever comes before the next."""

    pieces: tuple[_Piece, ...]
    literals: tuple[str, ...]
    """What must all be in a text as they stand, wherever: most texts lack one, and need no closer look."""

    @classmethod
    def of(cls, pattern: str) -> "_Glob":
        pieces = pattern.split("*")
        literals = (part for piece in pieces for part in piece.split("?") if part)
        return cls(tuple(map(_Piece, pieces)), tuple(sorted(literals, key=len, reverse=True)))

    def is_in(self, text: str) -> bool:
        """Whether it fits a stretch of a text that begins and ends where words do; a star or ``?`` takes any rest."""
        for literal in self.literals:
            if literal not in text:
                return False
        place, last = 0, len(self.pieces) - 1
        for number, piece in enumerate(self.pieces):
            ends = place + len(piece.text)
            for at in piece.places(text, place):
                ends = at + len(piece.text)
                starts_well = number > 0 or piece.text[:1] in ("", "?") or not _in_word(text, at - 1)
                ends_well = number < last or piece.text[-1:] in ("", "?") or not _in_word(text, ends)
                if starts_well and ends_well:
                    break
            else:
                return False
            place = ends
        return True

    def is_whole(self, text: str) -> bool:
        """Whether it fits all of a text."""
        first, last = self.pieces[0].text, self.pieces[-1].text
        if len(self.pieces) == 1:
            return len(text) == len(first) and _fits(first, text)
        place, ends = len(first), len(text) - len(last)
        if place > ends or not _fits(first, text[:place]) or not _fits(last, text[ends:]):
            return False
        for piece in self.pieces[1:-1]:
            at = next(piece.places(text, place), None)
            if at is None:
                return False
            place = at + len(piece.text)
        return place <= ends


@lru_cache(maxsize=4096)
def _globs(pattern: str) -> tuple[_Glob, ...]:
    """A pattern in each way in which the same letters of a hint are read; in none if nothing of it shows."""
    texts = dict.fromkeys(text for text in (folded(pattern), skeleton(pattern)) if text)
    return tuple(map(_Glob.of, texts))


def _fits(piece: str, text: str) -> bool:
    return all(sign in ("?", one) for sign, one in zip(piece, text, strict=True))


def _in_word(text: str, at: int) -> bool:
    return 0 <= at < len(text) and (text[at].isalnum() or text[at] == "_")
