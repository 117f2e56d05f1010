"""Schemas that refer to each other: ``#/schemas/Name`` in a file, ``#/$defs/Name`` everywhere else."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from headgate.adapter.parameters import Schema
from headgate.adapter.schemas import REF
from headgate.sources.files.mistakes import Steps

__all__ = ["IN_FILE", "circular_names", "reached", "references_in", "referring"]

IN_FILE: Final = "#/schemas/"
"""Before the name of a schema that a file's schemas refer to."""

_MAPS: Final = ("properties", "patternProperties", "dependentSchemas", "$defs")
_LISTS: Final = ("allOf", "anyOf", "oneOf", "prefixItems")
_SINGLE: Final = (
    *("items", "additionalProperties", "propertyNames", "contains", "not", "if", "then", "else"),
    *("unevaluatedProperties", "unevaluatedItems", "contentSchema"),
)
_SAME_VALUE: Final = ("allOf", "anyOf", "oneOf", "not", "if", "then", "else")
"""Keywords whose schemas speak of the value itself, not of something inside it."""


def referring(schema: Schema, translate: Callable[[str], str]) -> Schema:
    """The schema with each of its references translated; what only looks like one, in a default or an enum, stays."""
    made: Schema = {}
    for key, value in schema.items():
        if key == "$ref" and isinstance(value, str):
            made[key] = translate(value)
        elif key in _MAPS and isinstance(value, Mapping):
            made[key] = {name: _referring(child, translate) for name, child in value.items()}
        elif key in _LISTS and isinstance(value, list):
            made[key] = [_referring(child, translate) for child in value]
        elif key in _SINGLE:
            made[key] = _referring(value, translate)
        else:
            made[key] = value
    return made


def _referring(schema: Any, translate: Callable[[str], str]) -> Any:
    return referring(schema, translate) if isinstance(schema, dict) else schema


def references_in(schema: object, steps: Steps = ()) -> Iterator[tuple[Steps, str]]:
    """Every reference in a schema, with the way to it."""
    if not isinstance(schema, Mapping):
        return
    if isinstance(schema.get("$ref"), str):
        yield (*steps, "$ref"), schema["$ref"]
    for key, place, child in _children(schema):
        yield from references_in(child, (*steps, key) if place is None else (*steps, key, place))


def _children(schema: Mapping[str, Any]) -> Iterator[tuple[str, str | int | None, object]]:
    for key in _MAPS:
        if isinstance(schema.get(key), Mapping):
            yield from ((key, name, child) for name, child in schema[key].items())
    for key in _LISTS:
        if isinstance(schema.get(key), list):
            yield from ((key, place, child) for place, child in enumerate(schema[key]))
    for key in _SINGLE:
        if key in schema:
            yield key, None, schema[key]


def reached(schemas: Iterable[object], definitions: Mapping[str, Schema], prefix: str = REF) -> dict[str, Schema]:
    """The definitions that schemas refer to, and those that these refer to, in the order of the definitions."""
    found: set[str] = set()
    waiting = list(schemas)
    while waiting:
        for _, reference in references_in(waiting.pop()):
            name = reference.removeprefix(prefix)
            if name in definitions and name not in found:
                found.add(name)
                waiting.append(definitions[name])
    return {name: schema for name, schema in definitions.items() if name in found}


def circular_names(definitions: Mapping[str, Schema], prefix: str) -> list[str]:
    """The names of schemas that stand for themselves: to check a value against such a one would never end."""
    stands_for = {name: set(_same_value(schema, prefix)) for name, schema in definitions.items()}
    return [name for name in definitions if name in _closure(name, stands_for)]


def _same_value(schema: object, prefix: str) -> Iterator[str]:
    if not isinstance(schema, Mapping):
        return
    if isinstance(schema.get("$ref"), str):
        yield schema["$ref"].removeprefix(prefix)
    branches = [child for key, _, child in _children(schema) if key in (*_SAME_VALUE, "dependentSchemas")]
    for branch in branches:
        yield from _same_value(branch, prefix)


def _closure(name: str, stands_for: Mapping[str, set[str]]) -> set[str]:
    found: set[str] = set()
    waiting = [name]
    while waiting:
        for following in stands_for.get(waiting.pop(), ()):
            if following not in found:
                found.add(following)
                waiting.append(following)
    return found
