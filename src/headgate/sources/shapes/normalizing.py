"""A foreign JSON Schema, of any draft and however odd, as one that headgate can use.

References become ``#/$defs/Name``, older spellings become today's, and a keyword whose value makes no sense is left
out: the upstream checks for itself what is loosened here. Nothing is ever fetched.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from headgate.adapter.parameters import Schema
from headgate.adapter.schemas import REF
from headgate.protocol.adapter_errors import AdapterError
from headgate.sources.shapes.keywords import KEYWORDS, compiles, is_text, is_value, modern, type_named
from headgate.sources.shapes.loosening import LOOSE, settled
from headgate.sources.shapes.references import References
from headgate.sources.shapes.rings import without_rings
from headgate.sources.shapes.spelling import EVALUATED, spelt_out

__all__ = ["MalformedSchema", "Normalized", "normalized"]

_DEEPEST: Final = 100
_LARGEST: Final = 20_000
"""How many subschemas one operation may have; the largest real ones have a few thousand."""
_MOST_TEXT: Final = 5_000_000
"""How many characters all of them may have together."""
_NAME: Final = re.compile(r"[^A-Za-z0-9_.-]+")
_LONGEST_NAME: Final = 100
_OLD_DRAFT: Final = re.compile(r"draft-0[3-7]")

_MAPS: Final = ("properties", "patternProperties", "dependentSchemas")
_LISTS: Final = ("allOf", "anyOf", "oneOf", "prefixItems")
_SINGLE: Final = (
    *("items", "additionalProperties", "propertyNames", "contains", "not", "if", "then", "else"),
    *("unevaluatedProperties", "unevaluatedItems"),
)
_CHILDREN: Final = (*_MAPS, *_LISTS, *_SINGLE)
_FLAGGED: Final = frozenset(
    {"items", "additionalProperties", "propertyNames", "unevaluatedProperties", "unevaluatedItems"}
)
"""Those that may be a plain yes or no."""
_VALUES: Final = ("const", "default")
_REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")
_ANNOTATIONS: Final = frozenset({"title", "description", "default", "examples", "readOnly", "writeOnly", "deprecated"})


def _fits(key: str, name: object) -> bool:
    """Whether a name, which may be a number in YAML, can be one of a field or a pattern."""
    text = str(name)
    return is_text(text) and (key != "patternProperties" or compiles(text))


class MalformedSchema(AdapterError):
    """A schema that is too large or too deep to be taken in."""


@dataclass(frozen=True, slots=True)
class Normalized:
    """The schema, the named ones that it reaches, and what could not be kept."""

    schema: Schema
    definitions: Mapping[str, Schema]
    notes: tuple[str, ...]


def normalized(schema: object) -> Normalized:
    """A schema that compiles, whatever it was before; none at all allows anything."""
    schema = {} if schema is None else dict(schema) if isinstance(schema, Mapping) else schema
    work = _Work(References(schema))
    made = work.schema(schema, 0, work.references.root)
    work.follow()
    if without_rings(work.definitions):
        work.notes.append("it refers to itself without end")
    if work.notes:
        made, work.definitions = settled(made, work.definitions)
    return Normalized(made, work.definitions, tuple(dict.fromkeys(work.notes)))


@dataclass
class _Work:
    references: References
    definitions: dict[str, Schema] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    _names: dict[tuple[int, str], str] = field(default_factory=dict)
    _numbers: dict[str, int] = field(default_factory=dict)
    _pending: list[tuple[str, object, Mapping[str, Any]]] = field(default_factory=list)
    _parts: int = 0
    _text: int = 0

    def follow(self) -> None:
        """Take in what is referred to, and what that refers to."""
        while self._pending:
            name, target, resource = self._pending.pop()
            self.definitions[name] = self.schema(target, 0, resource)

    def schema(self, given: object, depth: int, resource: Mapping[str, Any]) -> Schema:
        """One subschema."""
        self._parts += 1
        if depth > _DEEPEST:
            raise MalformedSchema(f"The schema has more than {_DEEPEST} levels, which is too deep.")
        if self._parts > _LARGEST:
            raise MalformedSchema(f"The schema has more than {_LARGEST} parts, which is too large.")
        if isinstance(given, bool):
            return {} if given else {"not": {}}
        if not isinstance(given, dict):
            return {LOOSE: self._loosen("it has something else where a schema should stand")}
        return dict(self._keywords(given, depth, self.references.resource_of(given, resource)))

    def _keywords(self, given: Mapping[Any, Any], depth: int, resource: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        """The keywords that mean something, each with a value that it may have."""
        kept = modern(given)
        if "$ref" in kept and self._is_old:
            kept = {key: value for key, value in kept.items() if key == "$ref" or key in _ANNOTATIONS}
        before = len(self.notes)
        yield from self._reference(kept, resource)
        yield from self._types(kept)
        yield from self._plain(kept)
        children = [key for key in _CHILDREN if kept.get(key) is not None]
        usable = [key for key in children if self._is_usable(key, kept[key])]
        if len(self.notes) > before:
            yield LOOSE, True
        for key in usable:
            yield key, self._child(key, kept[key], depth + 1, resource)

    @cached_property
    def _is_old(self) -> bool:
        """Whether nothing but a reference counts where one stands, as drafts 3 to 7 have it."""
        return _OLD_DRAFT.search(str(self.references.root.get("$schema", ""))[:100]) is not None

    def _plain(self, kept: dict[str, Any]) -> Iterator[tuple[str, Any]]:
        """The keywords whose values are not schemas."""
        for key in [key for key in kept if key in KEYWORDS]:
            value = KEYWORDS[key](kept[key])
            if value is not None:
                self._spend(value)
                kept[key] = value
            elif kept.pop(key) is not None and key not in _ANNOTATIONS:
                self._loosen(f"the '{key}' of its schema is not usable")
        for key in [key for key in _VALUES if key in kept]:
            if is_value(kept[key]):
                self._spend(kept[key])
            elif kept.pop(key) is not None and key not in _ANNOTATIONS:
                self._loosen(f"the '{key}' of its schema is not usable")
        said = spelt_out(kept)
        if said.keys() != kept.keys():
            kept["allOf"] = said["allOf"]
            if self.references.has_unevaluated:
                self._loosen(EVALUATED)
        yield from ((key, value) for key, value in said.items() if key in KEYWORDS or key in _VALUES)

    def _child(self, key: str, value: Any, depth: int, resource: Mapping[str, Any]) -> object:
        """The value of a keyword for schemas."""
        if key in _MAPS:
            return {str(name): self.schema(child, depth, resource) for name, child in value.items() if _fits(key, name)}
        if key in _LISTS:
            return [self.schema(branch, depth, resource) for branch in value]
        return value if isinstance(value, bool) and key in _FLAGGED else self.schema(value, depth, resource)

    def _is_usable(self, key: str, value: object) -> bool:
        """Whether a keyword for schemas has some. If it has something else, or a name that is none, that is noted."""
        if key in _MAPS and isinstance(value, dict):
            for name in value:
                self._spend(str(name))
            is_right = all(_fits(key, name) for name in value)
        else:
            is_right = bool(value) and isinstance(value, list) if key in _LISTS else isinstance(value, dict | bool)
        if not is_right or (key in _MAPS and not isinstance(value, dict)):
            self._loosen(f"the '{key}' of its schema is not usable")
        return isinstance(value, dict) if key in _MAPS else is_right

    def _types(self, kept: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        declared = kept.get("type")
        if declared is None:
            return
        names = declared if isinstance(declared, list) else [declared]
        types = list(dict.fromkeys(type_named(name) for name in names))
        if None in types or not types:
            self._loosen("it declares a type that JSON Schema does not know")
        else:
            yield "type", types[0] if len(types) == 1 else types

    def _reference(self, kept: dict[str, Any], resource: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        reference = next((kept[key] for key in _REFERENCES if key in kept), None)
        if reference is None:
            return
        target = self.references.target(reference, resource) if is_text(reference) else None
        if target is None:
            self._loosen("it refers to a schema that is not there")
            kept.setdefault("additionalProperties", True)  # whatever fields that may have
            return
        key = (id(target.resource), target.place)
        if key not in self._names:
            self._names[key] = self._name(target.place)
            self._pending.append((self._names[key], target.schema, target.resource))
        yield "$ref", f"{REF}{self._names[key]}"

    def _name(self, place: str) -> str:
        """A name for a definition, after the last step of the way to it."""
        last = _NAME.sub("_", place.rpartition("/")[2].replace("~1", "_").replace("~0", "_"))[:_LONGEST_NAME] or "Root"
        wanted = last
        while wanted in self._numbers:
            self._numbers[last] += 1
            wanted = f"{last}_{self._numbers[last]}"
        self._numbers[wanted] = 1
        return wanted

    def _loosen(self, note: str) -> bool:
        self.notes.append(note)
        return True

    def _spend(self, value: object) -> None:
        """Count what is kept: a document of many megabytes is no description of one operation."""
        waiting = [value]
        while waiting:
            here = waiting.pop()
            if isinstance(here, str):
                self._text += len(here)
            elif isinstance(here, list | dict):
                self._text += 2 * len(here)
                waiting += [*here, *here.values()] if isinstance(here, dict) else here
        if self._text > _MOST_TEXT:
            raise MalformedSchema(f"The schema has more than {_MOST_TEXT} characters, which is too large.")
