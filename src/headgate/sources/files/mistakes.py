"""What is wrong in an adapter file: all of it, each with its place, what was expected, and what to do."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from headgate.protocol.adapter_errors import AdapterError

__all__ = ["AdapterFileError", "Mistake", "Steps", "path_of", "shown"]

Steps: TypeAlias = tuple[str | int, ...]
"""The way to a value in the file: names of keys, and places in lists."""

_LONGEST_SHOWN: Final = 60
_LONGEST_PATH: Final = 200
_MOST_TOLD: Final = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Mistake:
    """One thing that is wrong, and how it is put right."""

    code: str
    path: str
    expected: str
    found: str
    fix: str
    line: int | None = None

    @property
    def sentence(self) -> str:
        """It in one line, after the name of the file."""
        place = f"line {self.line}: " if self.line else ""
        where = f"'{self.path}': " if self.path else ""
        return f"{place}{where}expected {self.expected}, found {self.found}. {self.fix} ({self.code})"

    def wire(self) -> dict[str, object]:
        """It for programs."""
        place: Mapping[str, object] = {"line": self.line} if self.line else {}
        return {
            "code": self.code,
            "path": self.path,
            "expected": self.expected,
            "found": self.found,
            "fix": self.fix,
            **place,
        }


class AdapterFileError(AdapterError):
    """A file cannot be used; the message has a line for each mistake, in the order of the file."""

    def __init__(self, where: str, mistakes: Iterable[Mistake]) -> None:
        self.mistakes = tuple(sorted(mistakes, key=lambda one: one.line or 0))
        told = [f"{where}: {one.sentence}" for one in self.mistakes[:_MOST_TOLD]]
        if len(self.mistakes) > _MOST_TOLD:
            told.append(f"{where}: and {len(self.mistakes) - _MOST_TOLD} more mistakes")
        super().__init__("\n".join(told))


def path_of(steps: Steps) -> str:
    """A place as people write it: ``operations.read[2].params.id.type``."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{_plain(step)}" for step in steps).removeprefix(".")
    return text if len(text) <= _LONGEST_PATH else f"{text[:_LONGEST_PATH]}…"


def shown(value: object) -> str:
    """A value as a message shows it: on one line, in quotes, and not longer than helps."""
    match value:
        case None:
            return "nothing"
        case bool():
            return str(value).lower()
        case int() | float():
            return f"the number {_cut(str(value))}"
        case str():
            return f"'{_cut(_plain(value))}'" if value else "an empty text"
        case Mapping():
            return "a mapping"
        case _:
            return "a list"


def _plain(text: str) -> str:
    """The text without line breaks, signs that steer a terminal, or a quote that would end it early."""
    cut = text[: _LONGEST_SHOWN + 1]
    return "".join("\N{REPLACEMENT CHARACTER}" if not one.isprintable() or one == "'" else one for one in cut)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"
