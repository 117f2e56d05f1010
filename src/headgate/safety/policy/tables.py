"""Tables of a TOML file, taken key by key: every mistake is noted where it stands, and reading goes on."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from typing import Final, TypeAlias, TypeVar

from headgate.protocol.suggestions import did_you_mean, nearest

__all__ = [
    "Mistake",
    "Place",
    "Reader",
    "Table",
    "each",
    "filled",
    "flag",
    "kind_of",
    "named",
    "number",
    "one_of",
    "one_or_more",
    "subtables",
    "text",
    "texts",
    "unknown",
    "whole",
]

T = TypeVar("T")
D = TypeVar("D")
S = TypeVar("S", bound=str)

Reader: TypeAlias = Callable[[object], T]
"""Makes something of a value, or raises a Mistake."""

_LONGEST_SHOWN: Final = 60
_LARGE: Final = 10**15


class Mistake(ValueError):
    """What is wrong with a value, in a sentence for each thing; where it stands is known to whoever reads it."""

    def __init__(self, *sentences: str) -> None:
        super().__init__("; ".join(sentences))
        self.sentences = sentences


@dataclass(frozen=True, slots=True)
class Place:
    """Somewhere in a file, and where all mistakes of the file are noted."""

    words: str
    mistakes: list[str]

    def note(self, *sentences: str) -> None:
        """Note what is wrong here."""
        self.mistakes.extend(f"{self.words}: {one}" if self.words else one for one in sentences)

    def key(self, name: str) -> "Place":
        """The place of a key."""
        key = f"key {named(name)}"
        return Place(f"{self.words}, {key}" if self.words else key, self.mistakes)

    def below(self, words: str) -> "Place":
        """The place of something inside."""
        return Place(f"{self.words}, {words}" if self.words else words, self.mistakes)

    def read(self, reader: Reader[T], value: object, default: D) -> T | D:
        """What a value says. The default stands in where it is wrong, so that the rest can be read too."""
        try:
            return reader(value)
        except Mistake as mistake:
            self.note(*mistake.sentences)
            return default


class Table:
    """One table whose keys are known. What it lacks or has too much of is noted as it is opened."""

    def __init__(self, content: object, place: Place, known: Iterable[str], required: Iterable[str] = ()) -> None:
        self.place = place
        self._content: Mapping[str, object] = {}
        if not isinstance(content, Mapping):
            place.note(f"this must be a table, not {kind_of(content)}")
            return
        if not content:
            place.note("it is empty and so says nothing: fill it or leave it out")
            return
        self._content = content
        self._check_keys(list(known), required)

    def _check_keys(self, known: Sequence[str], required: Iterable[str]) -> None:
        for key in self._content:
            if key not in known:
                self.place.key(key).note(f"there is no such key{_hint(key, known)}")
        for key in required:
            if key not in self._content:
                self.place.note(f"the key '{key}' is missing: add it")

    def __contains__(self, key: str) -> bool:
        return key in self._content

    def value(self, key: str) -> object:
        """What stands under a key, as it was read from the file."""
        return self._content.get(key)

    def take(self, key: str, reader: Reader[T], default: D) -> T | D:
        """What a key says, or the default if it says nothing or something wrong."""
        return self.place.key(key).read(reader, self._content[key], default) if key in self._content else default

    def part(self, key: str, reader: Callable[[object, Place], T], default: D) -> T | D:
        """What is made of something with places of its own, or the default if there is none of it."""
        return reader(self._content[key], self.place) if key in self._content else default


def subtables(content: object, place: Place, header: str) -> Iterator[tuple[int, object]]:
    """The tables under a header in double brackets, numbered as a person counts them."""
    if not isinstance(content, list):
        place.key(header).note(f"this must be a list of tables: write [[{header}]] with two brackets above each")
    elif not content:
        place.key(header).note("it is empty and so says nothing: fill it or leave it out")
    else:
        yield from enumerate(content, 1)


def named(name: object) -> str:
    """A name or value in quotes, on one line and not longer than helps."""
    shown = "".join(one if one.isprintable() else "\N{REPLACEMENT CHARACTER}" for one in str(name))
    return f"'{shown[:_LONGEST_SHOWN]}…'" if len(shown) > _LONGEST_SHOWN else f"'{shown}'"


def _hint(name: str, known: Sequence[str]) -> str:
    return f"; known are {', '.join(known)}{did_you_mean(nearest(name, known, 1))}"


def kind_of(value: object) -> str:
    """What sort of value it is, in the words of TOML."""
    match value:
        case bool():
            return str(value).lower()
        case int() | float():
            return "a very large number" if abs(value) > _LARGE else f"the number {value}"
        case str():
            return f"the text {named(value)}"
        case Mapping():
            return "a table"
        case list():
            return "a list"
        case datetime() | date() | time():
            return "a date or time (write it in quotes)"
        case _:
            return f"a {type(value).__name__}"


def text(value: object) -> str:
    """A text with something in it."""
    if not isinstance(value, str):
        raise Mistake(f"this must be a text, not {kind_of(value)}")
    if not value.strip():
        raise Mistake("this must be a text with something in it")
    return value


def flag(value: object) -> bool:
    """Yes or no."""
    if not isinstance(value, bool):
        raise Mistake(f"this must be true or false, not {kind_of(value)}")
    return value


def one_or_more(reader: Reader[T]) -> Reader[tuple[T, ...]]:
    """One text, or a list of some, each read for itself."""

    def read(value: object) -> tuple[T, ...]:
        if isinstance(value, str):
            return (reader(value),)
        if not isinstance(value, list):
            raise Mistake(f"this must be a text or a list of texts, not {kind_of(value)}")
        return each(reader, filled(value))

    return read


def texts(value: object) -> tuple[str, ...]:
    """One text, or a list of one or more."""
    return one_or_more(text)(value)


def filled(value: list[object]) -> list[object]:
    """A list with something in it."""
    if not value:
        raise Mistake("this list is empty: fill it, or leave the key out")
    return value


def each(reader: Reader[T], values: Sequence[object]) -> tuple[T, ...]:
    """All of a list, or all that is wrong in it."""
    found: list[T] = []
    wrong: list[str] = []
    for place, value in enumerate(values, 1):
        try:
            found.append(reader(value))
        except Mistake as mistake:
            wrong += (f"item {place}: {one}" for one in mistake.sentences)
    if wrong:
        raise Mistake(*wrong)
    return tuple(found)


def whole(lowest: int, highest: int | None = None) -> Reader[int]:
    """An integer between bounds."""

    def read(value: object) -> int:
        if not isinstance(value, int) or isinstance(value, bool):
            raise Mistake(f"this must be a whole number, not {kind_of(value)}")
        return int(_within(value, lowest, highest))

    return read


def number(lowest: float, highest: float, *, above: bool = False) -> Reader[float]:
    """A number between bounds; ``above`` leaves the lower one out."""

    def read(value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise Mistake(f"this must be a number, not {kind_of(value)}")
        if isinstance(value, float) and not math.isfinite(value):
            raise Mistake(f"this must be a finite number, not {value}")
        if above and value <= lowest:
            raise Mistake(f"this must be more than {lowest:g}, not {kind_of(value)}")
        return float(_within(value, lowest, highest))

    return read


def _within(value: float, lowest: float, highest: float | None) -> float:
    if value < lowest:
        raise Mistake(f"this must be {lowest} or more, not {kind_of(value)}")
    if highest is not None and value > highest:
        raise Mistake(f"this must be {highest} or less, not {kind_of(value)}")
    return value


def one_of(known: Sequence[S], *, any_case: bool = False) -> Reader[S]:
    """One of some words."""

    def read(value: object) -> S:
        word = text(value)
        found = next((one for one in known if one == (word.upper() if any_case else word)), None)
        if found is None:
            raise unknown(word, known)
        return found

    return read


def unknown(word: str, known: Sequence[str]) -> Mistake:
    """A word that means nothing here."""
    lower = {one.lower(): one for one in known}
    near = [lower[one] for one in nearest(word, list(lower), 1)]
    return Mistake(f"{named(word)} is not known; it may be {_listed(known)}{did_you_mean(near)}")


def _listed(words: Sequence[str]) -> str:
    return " or ".join(filter(None, [", ".join(words[:-1]), words[-1]]))
