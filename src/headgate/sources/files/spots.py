"""Values of an adapter file with their places. Whatever is wrong is noted, and the rest is read all the same."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from headgate.protocol.suggestions import did_you_mean, nearest
from headgate.sources.files.documents import Document
from headgate.sources.files.mistakes import AdapterFileError, Mistake, Steps, path_of, shown

__all__ = ["Notes", "Spot", "spot_of"]

_LONGEST_TEXT: Final = 20_000
_MOST_LISTED: Final = 12


@dataclass(slots=True)
class Notes:
    """The mistakes that were found so far."""

    document: Document
    mistakes: list[Mistake] = field(default_factory=list)
    hidden: set[Steps] = field(default_factory=set)
    """Where credentials stand, which no message may show."""

    def refuse(self) -> None:
        """Raise all mistakes, if there are any."""
        if self.mistakes:
            raise AdapterFileError(self.document.where, self.mistakes)

    def is_hidden(self, steps: Steps) -> bool:
        """Whether a value is, holds or belongs to a credential."""
        return any(one[: len(steps)] == steps or steps[: len(one)] == one for one in self.hidden)


@dataclass(frozen=True, slots=True)
class Spot:
    """A value and where it stands."""

    value: object
    steps: Steps
    notes: Notes

    @property
    def path(self) -> str:
        """The place as people write it."""
        return path_of(self.steps)

    def wrong(self, expected: str, fix: str, *, found: str | None = None, code: str = "SCHEMA_INVALID_TYPE") -> None:
        """Note that something else was expected here."""
        told = shown(self.value) if found is None else found
        if self.notes.is_hidden(self.steps):
            told = "a value which is not shown"
        line = self.notes.document.line_of(self.steps)
        self.notes.mistakes.append(
            Mistake(code=code, path=self.path, expected=expected, found=told, fix=fix, line=line)
        )

    def below(self, step: str | int, value: object) -> "Spot":
        """A place inside this one."""
        return Spot(value, (*self.steps, step), self.notes)

    def fields(
        self, known: Sequence[str] | None, required: Sequence[str] = (), *, missing: str = "SCHEMA_MISSING_FIELD"
    ) -> dict[str, "Spot"]:
        """The fields of a mapping. Those that are not known are noted and left out; ``None`` knows every name."""
        if not isinstance(self.value, Mapping):
            self.wrong("a mapping", "Write 'name: value' lines below it, indented.")
            return {}
        found = {name: self.below(name, value) for name, value in self.value.items()}
        for name in required:
            if name not in found:
                here = self.below(name, None)
                here.wrong(f"the field '{name}'", f"Add '{name}:'.", found="none", code=missing)
        if known is None:
            return found
        for name, spot in found.items():
            if name not in known:
                _note_unknown(spot, name, known)
        return {name: spot for name, spot in found.items() if name in known}

    def items(self) -> Iterator["Spot"]:
        """The items of a list."""
        if not isinstance(self.value, list):
            self.wrong("a list", "Write each item on a line of its own, behind '- '.")
            return
        for place, value in enumerate(self.value):
            yield self.below(place, value)

    def text(self, *, longest: int = _LONGEST_TEXT) -> str | None:
        """A text with something in it."""
        if not isinstance(self.value, str) or not self.value.strip():
            self.wrong("a text", "Put it in quotes." if self.value else "Fill it, or leave the field out.")
            return None
        if len(self.value) > longest:
            self.wrong(f"{longest} characters or fewer", "Shorten it.", found=f"{len(self.value)} characters")
            return None
        return self.value

    def texts(self) -> tuple[str, ...]:
        """A list of texts."""
        return tuple(text for item in self.items() if (text := item.text()) is not None)

    def flag(self) -> bool | None:
        """Yes or no."""
        if not isinstance(self.value, bool):
            self.wrong("true or false", "Write true or false, without quotes.")
            return None
        return self.value

    def whole(self, lowest: int, highest: int) -> int | None:
        """A whole number between bounds."""
        value = self.value
        if isinstance(value, int) and not isinstance(value, bool) and lowest <= value <= highest:
            return value
        self.wrong(f"a whole number from {lowest} to {highest}", "Write it without quotes or point.")
        return None

    def number(self, lowest: float, highest: float) -> float | None:
        """A number between bounds."""
        value = self.value
        if isinstance(value, int | float) and not isinstance(value, bool) and lowest <= value <= highest:
            return value
        self.wrong(f"a number from {lowest:g} to {highest:g}", "Write it without quotes.")
        return None

    def choice(self, known: Sequence[str], synonyms: Mapping[str, str] | None = None) -> str | None:
        """One of some words, or another word for one of them."""
        others = synonyms or {}
        word = self.value
        if isinstance(word, str) and (word in known or word in others):
            return others.get(word, word)
        hint = did_you_mean(nearest(word, list(known), 1)) if isinstance(word, str) else ""
        self.wrong(f"one of {', '.join(known)}", hint.removeprefix(". ") or "Choose one of them.")
        return None


def spot_of(document: Document) -> Spot:
    """All that the head of a file says, as one place. What was wrong with it before is noted already."""
    return Spot(document.content, (), Notes(document, list(document.mistakes)))


def _note_unknown(spot: Spot, name: str, known: Sequence[str]) -> None:
    listed = ", ".join(known[:_MOST_LISTED]) + ("…" if len(known) > _MOST_LISTED else "")
    hint = did_you_mean(nearest(name, known, 1)).removeprefix(". ")
    fix = hint or "Remove it, or correct its name."
    spot.wrong(f"one of {listed}", fix, found=f"the field {shown(name)}", code="SCHEMA_INVALID_NAME")
