"""Property names as snake_case inside a schema, and values with these names back as the upstream spells them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from headgate.adapter.parameters import Schema
from headgate.adapter.schemas import dereference

__all__ = ["children_of", "in_place", "property_names", "reaches", "renamed", "translated"]

_BRANCHES: Final = ("allOf", "anyOf", "oneOf")
_CONDITIONAL: Final = ("if", "then", "else", "not")
_LISTS: Final = (*_BRANCHES, "prefixItems")
_SINGLE: Final = (
    *_CONDITIONAL,
    *("items", "additionalProperties", "propertyNames", "contains", "unevaluatedProperties", "unevaluatedItems"),
)
_MAPS: Final = ("properties", "patternProperties", "dependentSchemas")
_VALUES: Final = ("default", "const")
_VALUE_LISTS: Final = ("enum", "examples")


def children_of(schema: Schema) -> Iterator[Schema]:
    """The schemas that stand directly inside one."""
    for key in _MAPS:
        yield from schema.get(key, {}).values()
    for key in _LISTS:
        yield from schema.get(key, ())
    for key in _SINGLE:
        if isinstance(schema.get(key), dict):
            yield schema[key]


def property_names(schema: Schema) -> Iterator[str]:
    """The names of properties in a schema and all inside it, but not in what it refers to."""
    yield from schema.get("properties", ())
    for child in children_of(schema):
        yield from property_names(child)


def in_place(
    schema: Schema, definitions: Mapping[str, Schema], within: frozenset[str] = frozenset()
) -> Iterator[Schema]:
    """Every schema that speaks of the same value: the one it refers to, and the branches."""
    ref = schema.get("$ref")
    if isinstance(ref, str):
        if ref in within:
            return
        within |= {ref}
        schema = dereference(schema, definitions)
    yield schema
    for key in _BRANCHES:
        for branch in schema.get(key, ()):
            yield from in_place(branch, definitions, within)
    for key in _CONDITIONAL:
        if isinstance(schema.get(key), dict):
            yield from in_place(schema[key], definitions, within)
    for branch in schema.get("dependentSchemas", {}).values():
        yield from in_place(branch, definitions, within)


def reaches(schema: Schema, definitions: Mapping[str, Schema], names: Mapping[str, str]) -> bool:
    """Whether a schema, or one that it leads to, has a property of another name than its own."""
    seen: set[int] = set()
    waiting = [schema]
    while waiting:
        here = waiting.pop()
        if id(here) in seen:
            continue
        seen.add(id(here))
        if any(names.get(name, name) != name for name in here.get("properties", ())):
            return True
        waiting += children_of(here)
        if isinstance(here.get("$ref"), str):
            waiting += [definitions[name] for name in [here["$ref"].rpartition("/")[2]] if name in definitions]
    return False


def renamed(
    schema: Schema,
    definitions: Mapping[str, Schema],
    names: Mapping[str, str],
    nested: Mapping[str, str] | None = None,
) -> Schema:
    """The schema with other names of properties; ``nested`` for those inside a value, if they differ."""
    inner = names if nested is None else nested
    made = dict(schema)
    for key in _VALUES:
        if key in made:
            made[key] = translated(made[key], [schema], definitions, names, inner)
    for key in _VALUE_LISTS:
        if key in made:
            made[key] = [translated(value, [schema], definitions, names, inner) for value in made[key]]
    if "properties" in made:
        made["properties"] = {
            names.get(name, name): renamed(child, definitions, inner) for name, child in made["properties"].items()
        }
    if "required" in made:
        made["required"] = [names.get(name, name) for name in made["required"]]
    if "dependentRequired" in made:
        made["dependentRequired"] = {
            names.get(name, name): [names.get(need, need) for need in needs]
            for name, needs in made["dependentRequired"].items()
        }
    return _with_children(made, definitions, names, inner)


def _with_children(
    made: Schema, definitions: Mapping[str, Schema], names: Mapping[str, str], inner: Mapping[str, str]
) -> Schema:
    """The same with what stands inside; branches and conditions speak of the same value, and so of the same names."""
    for key in (*_BRANCHES, *_CONDITIONAL):
        branches = made.get(key)
        if isinstance(branches, list):
            made[key] = [renamed(branch, definitions, names, inner) for branch in branches]
        elif isinstance(branches, dict):
            made[key] = renamed(branches, definitions, names, inner)
    if "dependentSchemas" in made:
        made["dependentSchemas"] = {
            names.get(name, name): renamed(child, definitions, names, inner)
            for name, child in made["dependentSchemas"].items()
        }
    if "patternProperties" in made:
        made["patternProperties"] = {
            pattern: renamed(child, definitions, inner) for pattern, child in made["patternProperties"].items()
        }
    if "prefixItems" in made:
        made["prefixItems"] = [renamed(child, definitions, inner) for child in made["prefixItems"]]
    for key in _SINGLE:
        if key not in _CONDITIONAL and isinstance(made.get(key), dict):
            made[key] = renamed(made[key], definitions, inner)
    return made


def translated(
    value: Any,
    schemas: Sequence[Schema],
    definitions: Mapping[str, Schema],
    names: Mapping[str, str],
    nested: Mapping[str, str] | None = None,
) -> Any:
    """A value with other names where the schemas declare properties; keys that they do not declare stay."""
    if not isinstance(value, dict | list):
        return value
    inner = names if nested is None else nested
    places = [place for schema in schemas for place in in_place(schema, definitions)]
    if isinstance(value, list):
        return [translated(item, _under_index(places, index), definitions, inner) for index, item in enumerate(value)]
    return {
        names.get(key, key) if _declares(places, key) else key: translated(
            child, _under_key(places, key), definitions, inner
        )
        for key, child in value.items()
    }


def _declares(places: Sequence[Schema], key: str) -> bool:
    return any(key in place.get("properties", ()) for place in places)


def _under_key(places: Sequence[Schema], key: str) -> list[Schema]:
    declared = [place["properties"][key] for place in places if key in place.get("properties", ())]
    if declared:
        return declared
    free = [place.get("additionalProperties") for place in places]
    patterns = [child for place in places for child in place.get("patternProperties", {}).values()]
    return [schema for schema in (*free, *patterns) if isinstance(schema, dict)]


def _under_index(places: Sequence[Schema], index: int) -> list[Schema]:
    found = []
    for place in places:
        first = place.get("prefixItems", ())
        here = first[index] if index < len(first) else place.get("items")
        if isinstance(here, dict):
            found.append(here)
    return found
