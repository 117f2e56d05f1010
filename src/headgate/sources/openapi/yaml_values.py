"""YAML as plain values, out of the parser's events: however deep a text is nested, or whatever its aliases repeat."""

from dataclasses import dataclass, field
from typing import Any, Final

import yaml

from headgate.protocol.adapter_errors import AdapterError
from headgate.protocol.errors import quoted
from headgate.sources.yaml_scalars import scalar

__all__ = ["DEEPEST", "yaml_value"]

DEEPEST: Final = 200
"""How deep values may lie inside each other."""

_MOST_VALUES: Final = 3_000_000
_TEXT: Final = "tag:yaml.org,2002:str"
_MERGE: Final = "<<"
_Loader: Final[Any] = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


def yaml_value(text: str, where: str) -> object:
    """What a YAML text says. An AdapterError tells the line of what is wrong with it."""
    construction = _Construction(where)
    try:
        for event in yaml.parse(text, Loader=_Loader):
            construction.take(event)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f": line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise AdapterError(f"'{where}' is not valid YAML{place}.") from None
    except (yaml.YAMLError, UnicodeEncodeError):
        raise AdapterError(f"'{where}' is not valid YAML: it has characters that YAML does not allow.") from None
    return construction.root


@dataclass(frozen=True, slots=True)
class _Value:
    """A value, how many values are in it, and its text if it may be a key."""

    value: object
    size: int = 1
    key: str | None = None
    merges: bool = False


@dataclass(slots=True)
class _Level:
    """A mapping or sequence that is not yet at its end."""

    anchor: str | None
    is_mapping: bool
    items: list[Any] = field(default_factory=list)
    found: dict[str, Any] = field(default_factory=dict)
    merged: dict[str, Any] = field(default_factory=dict)
    key: _Value | None = None
    size: int = 1


@dataclass
class _Construction:
    """Puts values together, and counts them as often as they stand: an alias repeats all that it stands for."""

    where: str
    root: object = None
    _documents: int = 0
    _levels: list[_Level] = field(default_factory=list)
    _anchors: dict[str, _Value | None] = field(default_factory=dict)

    def take(self, event: Any) -> None:
        """Go one event further."""
        match event:
            case yaml.ScalarEvent():
                self._add(self._anchored(event.anchor, _scalar(event)), event)
            case yaml.MappingStartEvent() | yaml.SequenceStartEvent():
                self._begin(event)
            case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                level = self._levels.pop()
                value: object = {**level.merged, **level.found} if level.is_mapping else level.items
                self._add(self._anchored(level.anchor, _Value(value, level.size)), event)
            case yaml.AliasEvent():
                self._add(self._aliased(event), event)
            case yaml.DocumentStartEvent():
                self._documents += 1
                if self._documents > 1:
                    raise self._refusal(event, "has more than one document: leave one")
            case _:
                pass

    def _begin(self, event: Any) -> None:
        if len(self._levels) >= DEEPEST:
            raise AdapterError(f"'{self.where}' is nested too deeply: {DEEPEST} levels are read.")
        if event.anchor:
            self._anchors[event.anchor] = None
        self._levels.append(_Level(event.anchor, isinstance(event, yaml.MappingStartEvent)))

    def _anchored(self, anchor: str | None, value: _Value) -> _Value:
        if anchor:
            self._anchors[anchor] = value
        return value

    def _aliased(self, event: Any) -> _Value:
        value = self._anchors.get(event.anchor)
        if value is None:
            what = (
                "to what contains it: write it with '$ref' instead" if event.anchor in self._anchors else "to nothing"
            )
            raise self._refusal(event, f"has an alias {what}")
        return value

    def _add(self, value: _Value, event: Any) -> None:
        """Put a value where it belongs: into the innermost level, as a key or under one."""
        if not self._levels:
            self.root = value.value
            return
        level = self._levels[-1]
        level.size += value.size
        if level.size > _MOST_VALUES:
            raise self._refusal(event, f"has more than {_MOST_VALUES:,} values, aliases counted as often as they stand")
        if not level.is_mapping:
            level.items.append(value.value)
        elif level.key is None:
            level.key = self._key(value, level, event)
        else:
            self._put(level, level.key, value, event)
            level.key = None

    def _key(self, value: _Value, level: _Level, event: Any) -> _Value:
        if value.key is None:
            raise self._refusal(event, "has a key that is no text")
        if value.key in level.found:
            raise self._refusal(event, f"has the key {quoted(value.key, 'of an odd name')} twice: remove one")
        return value

    def _put(self, level: _Level, key: _Value, value: _Value, event: Any) -> None:
        if not key.merges:
            level.found[str(key.key)] = value.value
            return
        parts = value.value if isinstance(value.value, list) else [value.value]
        for part in parts:
            if not isinstance(part, dict):
                raise self._refusal(event, "merges with '<<' what is no mapping")
            level.merged = {**part, **level.merged}

    def _refusal(self, event: Any, what: str) -> AdapterError:
        return AdapterError(f"'{self.where}' {what} (line {event.start_mark.line + 1}).")


def _scalar(event: Any) -> _Value:
    """A scalar. As a key it is the text that was written: 200 and 'on' are names in a document."""
    is_plain = bool(event.implicit[0]) and event.tag != _TEXT
    return _Value(scalar(event.value, plain=is_plain), key=event.value, merges=is_plain and event.value == _MERGE)
