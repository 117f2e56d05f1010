"""What the schemas of an operation say of a value somewhere inside its parameters."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final

from headgate.adapter.operations import Operation
from headgate.adapter.parameters import Schema
from headgate.adapter.schemas import alternatives
from headgate.protocol.requests import json_type

__all__ = ["ANY", "choices", "declared_types", "default_under", "forms_under", "known_paths"]

ANY: Final[Schema] = {}
"""Says nothing, and so permits everything."""

_UNIONS: Final = ("anyOf", "oneOf", "allOf")
_DEEPEST_LIST: Final = 4
_DEEPEST_PATH: Final = 3
_MOST_PATHS: Final = 2000


def forms_under(operation: Operation, steps: Sequence[str]) -> list[Schema]:
    """The forms that a value may have, each branch of a union for itself; none if there can be no such value.

    A list on the way is passed through, as what is said of its items is said of each.
    """
    return [schema for schema in _said_under(operation, steps) if not _only_joins(schema)]


@lru_cache(maxsize=10_000)
def default_under(operation: Operation, steps: tuple[str, ...]) -> object:
    """What stands in for a value that is not given, as JSON; None if nothing does. Asked for each item of a list."""
    said = (schema.get("default") for schema in _said_under(operation, steps))
    return next((one for one in said if one is not None), None)


def known_paths(operation: Operation) -> list[str]:
    """The paths that the schemas name, the parameters themselves first."""
    found = [parameter.name for parameter in operation.parameters]
    for path in found:  # which grows on the way
        if path.count(".") < _DEEPEST_PATH and len(found) < _MOST_PATHS:
            found += (f"{path}.{name}" for name in _names_in(forms_under(operation, path.split("."))))
    return list(dict.fromkeys(found))


def declared_types(schema: Schema) -> frozenset[str]:
    """The JSON types that one form has; none if it does not say."""
    declared = schema.get("type")
    if declared is None:
        return frozenset(json_type(value) for value in choices(schema) or ())
    return frozenset([declared] if isinstance(declared, str) else declared)


def choices(schema: Schema) -> list[object] | None:
    """The values that one form may have, if they can be counted."""
    return schema.get("enum", [schema["const"]] if "const" in schema else None)


def _names_in(forms: Sequence[Schema]) -> Iterator[str]:
    for form in forms:
        yield from form.get("properties", ())


def _said_under(operation: Operation, steps: Sequence[str]) -> list[Schema]:
    parameter = operation.parameter(steps[0])
    said = [] if parameter is None else list(_spread(parameter.schema, operation.definitions))
    for step in steps[1:]:
        children = [_child(schema, step) for schema in said]
        said = [one for child in children if child is not None for one in _spread(child, operation.definitions)]
    return said


def _spread(schema: Schema, definitions: Mapping[str, Schema], depth: int = 0) -> Iterator[Schema]:
    """The schema, the branches of its unions, and what is said of items where it is a list."""
    for form in alternatives(schema, definitions):
        yield form
        if "array" in declared_types(form) and depth < _DEEPEST_LIST:
            for item in (*form.get("prefixItems", ()), form.get("items", ANY)):
                if isinstance(item, dict):
                    yield from _spread(item, definitions, depth + 1)


def _only_joins(schema: Schema) -> bool:
    """Whether it says nothing itself of the type, and its branches do."""
    return "type" not in schema and any(key in schema for key in _UNIONS)


def _child(schema: Schema, step: str) -> Schema | None:
    """What is said of a value under a key, or None if there can be none."""
    types = declared_types(schema)
    if _only_joins(schema) or (types and "object" not in types):
        return None
    child = schema.get("properties", {}).get(step)
    if child is None:
        child = ANY if "patternProperties" in schema else schema.get("additionalProperties", ANY)
    if isinstance(child, dict):
        return child
    return ANY if child is True else None
