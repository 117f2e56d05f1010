"""What must stand in a text for an expression to find anything in it. To look for that is much quicker.

Where it cannot be told, nothing is needed, and the expression itself is asked; what cannot be read is refused.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Final, Generic, TypeVar

__all__ = ["Index", "needs_of"]

T = TypeVar("T")

_LETTERS: Final = 3
_FEW: Final = 30
"""So few are tried one after the other."""

_OPAQUE: Final = frozenset("bBdDsSwWAZ0123456789")
"""Letters that mean something other than themselves after a backslash, and stand for no text of their own."""
_TIMES: Final = re.compile(r"(?:([*+?])|\{(\d*)(,?)\d*\})[?+]?")
_CLASS: Final = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
_GROUP: Final = re.compile(r"\((?:(?P<around>\?<?[=!])|\?[:>]|(?!\?))")


def needs_of(expression: str) -> tuple[str, ...]:
    """Texts of which one must stand wherever an expression fits, the shortest first; none if that cannot be told."""
    found = _Reader(expression).alternatives()
    return tuple(sorted(found, key=len))


class Index(Generic[T]):
    """Things with what they need, so that those are found at once that may fit a text: by three letters of it."""

    def __init__(self, things: Iterable[tuple[T, Sequence[str]]]) -> None:
        self._things: list[T] = []
        self._always: set[int] = set()
        self._short: list[tuple[str, int]] = []
        self._by_letters: dict[str, list[tuple[str, int]]] = {}
        for place, (thing, needs) in enumerate(things):
            self._things.append(thing)
            if not needs:
                self._always.add(place)
            for need in needs:
                kept = self._short if len(need) < _LETTERS else self._by_letters.setdefault(need[:_LETTERS], [])
                kept.append((need, place))

    def fitting(self, text: str) -> list[T]:
        """All for which something that they need is in a text, or that need nothing, in their order."""
        likely = chain(self._short, *(self._by_letters[three] for three in self._letters_in(text)))
        places = self._always.union(place for need, place in likely if need in text)
        return [self._things[place] for place in sorted(places)]

    def _letters_in(self, text: str) -> Iterable[str]:
        if len(self._by_letters) <= _FEW:
            return self._by_letters
        return self._by_letters.keys() & {text[at : at + _LETTERS] for at in range(len(text) - _LETTERS + 1)}


class _Best:
    """Of several sets of texts, of each of which one must be there, the rarest: whose shortest text is longest."""

    def __init__(self) -> None:
        self.texts: frozenset[str] = frozenset()
        self._run = ""

    def goes_on(self, letter: str) -> None:
        """A letter that stands right after the one before."""
        self._run += letter

    def breaks(self, texts: frozenset[str] = frozenset()) -> None:
        """Something else, which may need some of these texts itself."""
        for one in (frozenset({self._run} - {""}), texts):
            if one and (not self.texts or min(map(len, one)) > min(map(len, self.texts))):
                self.texts = one
        self._run = ""


class _Reader:
    def __init__(self, expression: str) -> None:
        self._text = expression
        self._at = 0

    def alternatives(self) -> frozenset[str]:
        """What one of several branches needs, up to the end of their group."""
        found = [self._branch()]
        while self._text.startswith("|", self._at):
            self._at += 1
            found.append(self._branch())
        return frozenset().union(*found) if all(found) else frozenset()

    def _branch(self) -> frozenset[str]:
        best = _Best()
        while self._at < len(self._text) and self._text[self._at] not in "|)":
            letter, texts = self._one()
            least, is_once = self._times()
            if letter and least:
                best.goes_on(letter)
            if not (letter and least and is_once):
                best.breaks(texts if least else frozenset())
        best.breaks()
        return best.texts

    def _one(self) -> tuple[str, frozenset[str]]:
        """The next letter, or what the next group needs; neither for all else."""
        text, at = self._text, self._at
        if text[at] == "\\":
            self._at += 2
            return self._escaped(text[at + 1]), frozenset()
        if found := _CLASS.match(text, at):
            self._at = found.end()
            return "", frozenset()
        if text[at] == "(":
            return "", self._group()
        self._at += 1
        return ("" if text[at] in ".^$" else text[at]), frozenset()

    def _escaped(self, letter: str) -> str:
        if letter.isalnum() and letter not in _OPAQUE:
            raise self._not_known(f"\\{letter}")
        return "" if letter in _OPAQUE else letter

    def _not_known(self, what: str) -> ValueError:
        """A mistake of whoever writes a rule: to guess would be to miss what it is there to find."""
        return ValueError(f"'{what}' in '{self._text}' cannot be read here: write it otherwise")

    def _group(self) -> frozenset[str]:
        found = _GROUP.match(self._text, self._at)
        if found is None:
            raise self._not_known(self._text[self._at : self._at + 3])
        self._at = found.end()
        texts = self.alternatives()
        self._at += 1
        return frozenset() if found["around"] else texts

    def _times(self) -> tuple[bool, bool]:
        """Whether what stands before must be there, and whether it is there exactly once."""
        found = _TIMES.match(self._text, self._at)
        if found is None:
            return True, True
        self._at = found.end()
        if found[1]:
            return found[1] == "+", False
        return int(found[2] or 0) > 0, False
