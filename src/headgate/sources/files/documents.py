"""The text of an adapter file, taken apart: plain values, the line that each stands in, and the prose below."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import yaml

from headgate.sources.files.mistakes import AdapterFileError, Mistake, Steps, path_of, shown
from headgate.sources.yaml_scalars import scalar

__all__ = ["LARGEST_FILE", "Document", "read_document", "text_of_file"]

LARGEST_FILE: Final = 8 * 2**20
"""How many bytes a file may have."""

_DEEPEST: Final = 100
_MOST_VALUES: Final = 1_000_000
_FENCE: Final = "---"
_TEXT: Final = "tag:yaml.org,2002:str"
_Loader: Final[Any] = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


@dataclass(frozen=True, slots=True)
class Document:
    """What a file says, before anybody asks whether it makes sense."""

    where: str
    text: str = field(repr=False)
    content: object = field(repr=False)
    lines: Mapping[Steps, int] = field(repr=False)
    body: str = field(repr=False)
    mistakes: tuple[Mistake, ...] = ()
    """What is wrong with it already, such as a key that stands twice."""

    def line_of(self, steps: Steps) -> int | None:
        """The line of a value, or of the nearest one around it."""
        return next((self.lines[steps[:end]] for end in range(len(steps), -1, -1) if steps[:end] in self.lines), None)


def text_of_file(path: Path) -> str:
    """The text of a file. An AdapterFileError says why it cannot be read."""
    raw = _bytes_of_file(path)
    if len(raw) > LARGEST_FILE:
        raise _unusable(path.name, f"{LARGEST_FILE} bytes or fewer", "a larger file", "Split it into several files.")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        found = f"something else from byte {error.start + 1} on"
        raise _unusable(path.name, "UTF-8", found, "Save it as UTF-8.") from None


def _bytes_of_file(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(LARGEST_FILE + 1)
    except FileNotFoundError:
        raise _unusable(path.name, "a file", "none of this name", "Check the path.") from None
    except IsADirectoryError:
        raise _unusable(path.name, "a file", "a folder", "Name the file in it.") from None
    except (OSError, ValueError):
        raise _unusable(path.name, "a readable file", "another one", "Check who may read it.") from None


def read_document(text: str, where: str) -> Document:
    """The parts of a file's text. An AdapterFileError tells what stands in the way of reading any further."""
    lines = text.split("\n")
    if lines[0].rstrip() != _FENCE:
        fix = f"Begin the file with a line '{_FENCE}', then YAML, then '{_FENCE}' again."
        raise _unusable(where, f"'{_FENCE}' in the first line", shown(lines[0].rstrip()), fix, 1)
    end = next((place for place, line in enumerate(lines) if place and line.rstrip() == _FENCE), None)
    if end is None:
        fix = f"Add a line '{_FENCE}' where the YAML ends."
        raise _unusable(where, f"a second line '{_FENCE}'", "the end of the file", fix, len(lines))
    composed = _composed("\n".join(lines[1:end]), where)
    return Document(
        where,
        text,
        composed.root,
        composed.lines,
        "\n".join(lines[end + 1 :]),
        tuple(composed.mistakes),
    )


def _composed(text: str, where: str) -> "_Composition":
    composition = _Composition(where)
    try:
        for event in yaml.parse(text, Loader=_Loader):
            composition.take(event)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        fix = "Check the indentation, quotes and brackets around it."
        raise _unusable(where, "YAML", "something else from here on", fix, mark.line + 2 if mark else None) from None
    except (yaml.YAMLError, UnicodeEncodeError):
        fix = "Remove control characters from it."
        raise _unusable(where, "YAML", "characters that YAML does not allow", fix) from None
    return composition


@dataclass(slots=True)
class _Level:
    """A mapping or a list that is not yet read to its end."""

    steps: Steps
    values: Any
    anchor: str | None
    size: int = 1
    key: str | None = None


@dataclass(slots=True)
class _Composition:
    """Puts values together out of the parser's events: nothing here grows with depth, or beyond what was written."""

    where: str
    root: object = None
    lines: dict[Steps, int] = field(default_factory=dict)
    mistakes: list[Mistake] = field(default_factory=list)
    _levels: list[_Level] = field(default_factory=list)
    _anchors: dict[str, tuple[object, int]] = field(default_factory=dict)
    _seen: int = 0

    def take(self, event: yaml.Event) -> None:
        """One event."""
        match event:
            case yaml.ScalarEvent():
                self._scalar(event)
            case yaml.AliasEvent():
                self._alias(event)
            case yaml.MappingStartEvent() | yaml.SequenceStartEvent():
                self._open(event)
            case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                self._shut(event)
            case _:
                pass

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        self._check_tag(event)
        if self._is_key_due:
            self._key(event)
            return
        value = scalar(event.value, plain=event.implicit[0])
        steps = self._next_steps(event)
        if event.anchor:
            self._anchors[event.anchor] = (value, 1)
        self._put(steps, value, 1, event)

    def _alias(self, event: yaml.AliasEvent) -> None:
        if self._is_key_due or event.anchor not in self._anchors:
            fix = "Write the value out here."
            raise self._stop("a value", f"the alias {shown(event.anchor)} of something not yet whole", fix, event)
        value, size = self._anchors[event.anchor]
        self._put(self._next_steps(event), value, size, event)

    def _open(self, event: yaml.MappingStartEvent | yaml.SequenceStartEvent) -> None:
        self._check_tag(event)
        if self._is_key_due:
            raise self._stop("a name before the colon", "a list or a mapping", "Give the key a plain name.", event)
        if len(self._levels) >= _DEEPEST:
            raise self._stop(f"{_DEEPEST} levels or fewer", "more", "Nest it less deeply.", event)
        values: Any = {} if isinstance(event, yaml.MappingStartEvent) else []
        self._levels.append(_Level(self._next_steps(event), values, event.anchor))

    def _shut(self, event: yaml.Event) -> None:
        level = self._levels.pop()
        if level.anchor:
            self._anchors[level.anchor] = (level.values, level.size)
        self._put(level.steps, level.values, level.size, event)

    @property
    def _is_key_due(self) -> bool:
        return bool(self._levels) and isinstance(self._levels[-1].values, dict) and self._levels[-1].key is None

    def _key(self, event: yaml.ScalarEvent) -> None:
        level = self._levels[-1]
        level.key = event.value
        if event.value in level.values:
            steps = (*level.steps, event.value)
            self.mistakes.append(
                Mistake(
                    code="SCHEMA_DUPLICATE_NAME",
                    path=path_of(steps),
                    expected="each key once",
                    found=f"{shown(event.value)} a second time",
                    fix=f"Remove one of them; the first is in line {self.lines.get(steps, 1)}.",
                    line=_line(event),
                )
            )
        self.lines.setdefault((*level.steps, event.value), _line(event))

    def _next_steps(self, event: yaml.Event) -> Steps:
        """The place of the value that now begins; its line is noted."""
        if not self._levels:
            steps: Steps = ()
        else:
            level = self._levels[-1]
            steps = (*level.steps, len(level.values) if level.key is None else level.key)
        self.lines.setdefault(steps, _line(event))
        return steps

    def _put(self, steps: Steps, value: object, size: int, event: yaml.Event) -> None:
        self._seen += size if isinstance(event, yaml.AliasEvent) else 1
        if self._seen > _MOST_VALUES:
            raise self._stop(f"{_MOST_VALUES} values or fewer", "more", "Write less, or use fewer aliases.", event)
        if not steps:
            self.root = value
            return
        level = self._levels[-1]
        level.size += size
        if level.key is None:
            level.values.append(value)
        else:
            level.values.setdefault(level.key, value)
            level.key = None

    def _check_tag(self, event: Any) -> None:
        if event.tag not in (None, "!", _TEXT):
            raise self._stop("plain values", "a tag of YAML", "Remove the word after the exclamation mark.", event)

    def _stop(self, expected: str, found: str, fix: str, event: yaml.Event) -> AdapterFileError:
        return _unusable(self.where, expected, found, fix, _line(event))


def _line(event: yaml.Event) -> int:
    """The line of an event in the file, whose first line is the fence."""
    return (event.start_mark.line if event.start_mark else 0) + 2


def _unusable(where: str, expected: str, found: str, fix: str, line: int | None = None) -> AdapterFileError:
    code = "SCHEMA_INVALID_TYPE"
    return AdapterFileError(where, [Mistake(code=code, path="", expected=expected, found=found, fix=fix, line=line)])
