"""The schemas of a document, each operation's by itself: only what it reaches, in words that are plain."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from headgate.adapter.parameters import Schema
from headgate.adapter.schemas import REF
from headgate.sources.openapi.escaping import json_text
from headgate.sources.openapi.references import References, Target
from headgate.sources.openapi.words import FIELD, plain
from headgate.sources.shapes import MalformedSchema, normalized

__all__ = ["MOST_PARTS", "Direction", "Rewritten", "Schemas", "usable"]

Direction: TypeAlias = Literal["request", "response"]

_MAPS: Final = ("properties", "patternProperties", "dependentSchemas")
_LISTS: Final = ("allOf", "anyOf", "oneOf", "prefixItems")
_SINGLE: Final = (
    *("items", "additionalProperties", "propertyNames", "contains", "not", "if", "then", "else"),
    *("unevaluatedProperties", "unevaluatedItems", "additionalItems"),
)
_KEPT: Final = (
    *("type", "format", "enum", "const", "default", "nullable", "required", "pattern", "multipleOf", "deprecated"),
    *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength", "minItems", "maxItems"),
    *("uniqueItems", "minProperties", "maxProperties", "minContains", "maxContains", "dependentRequired"),
    *("contentEncoding", "contentMediaType"),
)
_SUFFIXES: Final = {"request": "Input", "response": ""}
_HIDDEN: Final = {"request": "readOnly", "response": "writeOnly"}
_NAME: Final = re.compile(r"[^A-Za-z0-9_.-]+")
_LONGEST_EXAMPLE: Final = 200
MOST_PARTS: Final = 1_500
"""How many fields and branches a request's schema may have before those far inside are left to the upstream."""


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A schema whose references are names of definitions, and which ones those are."""

    schema: Schema
    names: tuple[str, ...]


@dataclass
class Schemas:
    """Rewrites schemas, each once for requests and once for answers."""

    references: References
    _names: dict[tuple[Target, str], str] = field(default_factory=dict)
    _taken: set[str] = field(default_factory=set)
    _targets: dict[str, tuple[Target, Direction]] = field(default_factory=dict)
    _known: dict[str, Rewritten] = field(default_factory=dict)
    _usable: dict[str, Schema] = field(default_factory=dict)
    _sizes: dict[str, int] = field(default_factory=dict)

    def rewritten(self, schema: object, file: str, direction: Direction) -> Rewritten:
        """A schema that stands somewhere in a file."""
        names: dict[str, None] = {}
        made = self._schema(schema, file, direction, names)
        return Rewritten(made, tuple(names))

    def definitions(self, names: tuple[str, ...], most: int | None = None) -> dict[str, Schema]:
        """The named schemas that these lead to, the near ones first; shared among all that reach them."""
        found: dict[str, Schema] = {}
        waiting = list(names)
        for name in waiting:
            if name in found:
                continue
            if most is not None and len(found) >= most:
                break
            made = self._definition(name)
            found[name] = made.schema
            waiting += made.names
        return found

    def within(self, names: tuple[str, ...], parts: int = MOST_PARTS) -> dict[str, Schema]:
        """All that these names lead to; beyond so many parts, what is farther away stands for anything."""
        found = self.definitions(names)
        for name in found:
            parts -= self._size(name)
            if parts < 0:
                found[name] = {}
        return found

    def _size(self, name: str) -> int:
        if name not in self._sizes:
            self._sizes[name] = _parts(self._definition(name).schema)
        return self._sizes[name]

    def usable_definitions(self, names: tuple[str, ...], most: int) -> dict[str, Schema]:
        """The nearest of the named schemas that these lead to, each one usable by itself."""
        for name in (found := self.definitions(names, most)):
            if name not in self._usable:
                self._usable[name] = usable(self._definition(name))
        return {name: self._usable[name] for name in found}

    def names_in(self, name: str) -> tuple[str, ...]:
        """The names that a named schema leads to directly."""
        return self._definition(name).names

    def _definition(self, name: str) -> Rewritten:
        if name not in self._known:
            target, direction = self._targets[name]
            self._known[name] = self.rewritten(self.references.at(target), target.file, direction)
        return self._known[name]

    def _schema(self, node: object, file: str, direction: Direction, names: dict[str, None]) -> Schema:
        if not isinstance(node, Mapping):
            return {"not": {}} if node is False else {}
        inner: Callable[[object], Schema] = lambda child: self._schema(child, file, direction, names)  # noqa: E731
        made = dict(_plain_keywords(node))
        made |= self._reference(node, file, direction, names)
        for key in _MAPS:
            if isinstance(node.get(key), Mapping):
                made[key] = {str(name): inner(child) for name, child in node[key].items()}
        for key in _LISTS:
            if isinstance(node.get(key), list):
                made[key] = [inner(child) for child in node[key]]
        for key in _SINGLE:
            if isinstance(node.get(key), Mapping | bool):
                made[key] = inner(node[key]) if isinstance(node[key], Mapping) else node[key]
        return self._without_hidden(made, node, file, direction)

    def _reference(self, node: Mapping[str, Any], file: str, direction: Direction, names: dict[str, None]) -> Schema:
        reference = node.get("$ref")
        target = self.references.target(reference, file) if isinstance(reference, str) else None
        if target is None or self.references.at(target) is None:
            return {}
        name = self._name(target, direction)
        names[name] = None
        return {"$ref": f"{REF}{name}"}

    def _without_hidden(self, made: Schema, node: Mapping[str, Any], file: str, direction: Direction) -> Schema:
        """The schema without the fields that only the other direction has."""
        properties = node.get("properties")
        if not isinstance(properties, Mapping):
            return made
        flag = _HIDDEN[direction]
        hidden = {name for name, child in properties.items() if self._is_flagged(child, file, flag)}
        if not hidden:
            return made
        made["properties"] = {name: child for name, child in made["properties"].items() if name not in hidden}
        if isinstance(made.get("required"), list):
            made["required"] = [name for name in made["required"] if name not in hidden]
        return made

    def _is_flagged(self, child: object, file: str, flag: str) -> bool:
        if isinstance(child, Mapping) and child.get(flag) is True:
            return True
        is_reference = isinstance(child, Mapping) and "$ref" in child
        return is_reference and self.references.resolved(child, file).node.get(flag) is True

    def _name(self, target: Target, direction: Direction) -> str:
        """The name of a definition: the last word of where it stands. Requests and answers have their own."""
        key = (target, direction)
        if key not in self._names:
            last = (
                target.pointer.rpartition("/")[2].replace("~1", "/") or target.file.rpartition("/")[2].partition(".")[0]
            )
            wanted = (_NAME.sub("_", last).strip("_")[:80] or "Schema") + _SUFFIXES[direction]
            name, number = wanted, 2
            while name in self._taken:
                name, number = f"{wanted}_{number}", number + 1
            self._taken.add(name)
            self._names[key] = name
            self._targets[name] = (target, direction)
        return self._names[key]


def usable(made: Rewritten) -> Schema:
    """A schema that compiles, whatever it was before; its references stay as they are."""
    try:
        return normalized({**made.schema, "$defs": {name: {} for name in made.names}}).schema
    except MalformedSchema:
        return {}


def _parts(schema: object) -> int:
    if isinstance(schema, list):
        return sum(_parts(child) for child in schema)
    return 1 + sum(_parts(child) for child in schema.values()) if isinstance(schema, dict) else 0


def _plain_keywords(node: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key in _KEPT:
        if key in node:
            yield key, node[key]
    for key, most in (("title", 80), ("description", FIELD)):
        words = plain(node.get(key), most)
        if words:
            yield key, words
    examples = (
        node.get("examples")
        if isinstance(node.get("examples"), list)
        else [node["example"]]
        if "example" in node
        else []
    )
    short = [example for example in examples or () if len(json_text(example)) <= _LONGEST_EXAMPLE]
    if short:
        yield "examples", short[:1]
