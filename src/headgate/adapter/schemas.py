"""What a JSON Schema says, in the words of introspection (Introspection 3.4)."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from headgate.adapter.parameters import SENSITIVE, Schema
from headgate.adapter.text_formats import BASE64, DECIMAL
from headgate.protocol.inspection import MAX_SAFE_INTEGER
from headgate.protocol.requests import json_type

__all__ = [
    "REF",
    "alternatives",
    "child_schema",
    "dereference",
    "expected_type",
    "parameter_info",
    "return_name",
    "type_name",
]

REF: Final = "#/$defs/"
"""Before the name of a schema that others refer to."""

_COPIED: Final = ("default", "minimum", "maximum", "minLength", "maxLength", "pattern", "format")
_WORDS: Final = {
    "exclusiveMinimum": "greater than {}",
    "exclusiveMaximum": "less than {}",
    "multipleOf": "a multiple of {}",
    "minItems": "{} or more items",
    "maxItems": "{} or fewer items",
    "minProperties": "{} or more keys",
    "maxProperties": "{} or fewer keys",
}

_BOUNDS: Final = {"minimum": "{} or more", "maximum": "{} or less"}
_NULL: Final = {"type": "null"}


def dereference(schema: Schema, definitions: Mapping[str, Schema]) -> Schema:
    """The schema itself, or the named one that it stands for."""
    ref = schema.get("$ref")
    if not isinstance(ref, str) or not ref.startswith(REF):
        return schema
    return {**definitions.get(ref.removeprefix(REF), {}), **{k: v for k, v in schema.items() if k != "$ref"}}


def alternatives(schema: Schema, definitions: Mapping[str, Schema]) -> list[Schema]:
    """The schema and every branch of its unions, each without references. A name is followed once."""
    found: list[Schema] = []
    followed: set[str] = set()
    waiting = [schema]
    while waiting:
        here = waiting.pop()
        ref = str(here.get("$ref", ""))
        full = {key: value for key, value in here.items() if key != "$ref"}
        if ref not in followed:
            full = dereference(here, definitions)
            followed.add(ref)
        found.append(full)
        waiting += reversed([branch for key in ("anyOf", "oneOf", "allOf") for branch in full.get(key, ())])
    return found


def child_schema(parents: Iterable[Schema], step: str | int) -> Schema:
    """What the parents say, each in its own way, of the value under a key or index."""
    found = (_under_index(parent, step) if isinstance(step, int) else _under_key(parent, step) for parent in parents)
    return {"anyOf": [schema for schema in found if isinstance(schema, dict)]}


def _under_key(schema: Schema, key: str) -> object:
    return schema.get("properties", {}).get(key, schema.get("additionalProperties"))


def _under_index(schema: Schema, index: int) -> object:
    first = schema.get("prefixItems", ())
    return first[index] if index < len(first) else schema.get("items")


def type_name(schema: Schema, definitions: Mapping[str, Schema]) -> str:
    """The name of a type: ``string``, ``Book``, ``string | string[]``. Enums go by the type of their values."""
    ref = schema.get("$ref")
    if isinstance(ref, str) and ref.startswith(REF):
        target = definitions.get(ref.removeprefix(REF), {})
        return type_name(target, definitions) if "enum" in target else ref.removeprefix(REF)
    for union in ("anyOf", "oneOf"):
        if union in schema:
            return " | ".join(dict.fromkeys(_element(branch, definitions) for branch in schema[union]))
    if "allOf" in schema:
        return type_name(schema["allOf"][0], definitions)
    return _declared(schema)


def _declared(schema: Schema) -> str:
    declared = schema.get("type")
    if isinstance(declared, list):
        return " | ".join(declared)
    if isinstance(declared, str):
        return declared
    values = schema.get("enum", [schema["const"]] if "const" in schema else [])
    names = dict.fromkeys(json_type(value) for value in values)
    return " | ".join(names) or "any"


def _element(schema: Schema, definitions: Mapping[str, Schema]) -> str:
    if schema.get("type") == "array" and isinstance(schema.get("items"), dict) and schema["items"]:
        return f"{_element(schema['items'], definitions)}[]"
    return type_name(schema, definitions)


def return_name(schema: Schema, definitions: Mapping[str, Schema]) -> str:
    """The name of what an operation answers: an array goes by its elements, as in ``Book[]``."""
    return _element(schema, definitions)


def expected_type(schema: Schema, definitions: Mapping[str, Schema]) -> str:
    """The type as an error says it, with the form of a text where it has one."""
    name = type_name(schema, definitions)
    text_format = dereference(schema, definitions).get("format")
    return f"{name} ({text_format})" if text_format else name


def parameter_info(
    name: str,
    schema: Schema,
    definitions: Mapping[str, Schema],
    *,
    required: bool,
    note: str = "",
    within: frozenset[str] = frozenset(),
) -> dict[str, object]:
    """A parameter or field as introspection shows it, with what it has no key for said in the description.

    ``within`` holds the names on the way down, so that an array of itself ends.
    """
    full = dereference(schema, definitions)
    ref = str(schema.get("$ref", ""))
    info: dict[str, object] = {"name": name, "type": type_name(schema, definitions), "required": required}
    description = " ".join(
        part for part in (str(full.get("description", "")).strip(), *_notes(full, definitions), note) if part
    )
    if description:
        info["description"] = description
    info.update({key: full[key] for key in _COPIED if key in full and not _is_beyond(key, full)})
    choices = _choices(full, definitions)
    if choices is not None:
        info["enum"] = choices
    if isinstance(full.get("items"), dict) and full["items"] and ref not in within:
        info["items"] = _items(full["items"], definitions, within | {ref} if ref else within)
    if full.get(SENSITIVE):
        info.pop("default", None)
        info["sensitive"] = True
    return info


def _items(schema: Schema, definitions: Mapping[str, Schema], within: frozenset[str]) -> dict[str, object]:
    info = parameter_info("item", schema, definitions, required=True, within=within)
    return {key: value for key, value in info.items() if key not in ("name", "required")}


def _choices(schema: Schema, definitions: Mapping[str, Schema]) -> list[Any] | None:
    """The allowed values, if they can be counted; a union of such types, or of one with null, has all of theirs."""
    full = dereference(schema, definitions)
    if "enum" in full:
        return list(full["enum"])
    if "const" in full:
        return [full["const"]]
    others = [branch for branch in full.get("anyOf", ()) if branch != _NULL]
    counted = [_choices(branch, definitions) for branch in others]
    if not counted or None in counted:
        return None
    nothing = [None] if len(others) < len(full["anyOf"]) else []
    return [choice for choices in counted for choice in choices or ()] + nothing


def _notes(schema: Schema, definitions: Mapping[str, Schema]) -> Iterator[str]:
    """What the schema demands beyond the fields of ParameterInfo."""
    words = [text.format(schema[key]) for key, text in _WORDS.items() if key in schema]
    words += [text.format(schema[key]) for key, text in _BOUNDS.items() if _is_beyond(key, schema)]
    if schema.get("uniqueItems"):
        words.append("no item twice")
    if words:
        yield f"({', '.join(words)})"
    values = schema.get("additionalProperties")
    if isinstance(values, dict) and values:
        yield f"(values: {_element(values, definitions)})"
    if schema.get("prefixItems"):
        yield f"(in this order: {', '.join(_element(item, definitions) for item in schema['prefixItems'])})"
    yield from _format_notes(schema)
    properties = schema.get("properties")
    if isinstance(properties, dict) and properties:
        yield f"Fields: {', '.join(properties)}."
    if schema.get("readOnly"):
        yield "(read-only)"


def _format_notes(schema: Schema) -> Iterator[str]:
    match schema.get("format"):
        case "date":
            yield "(a calendar date, in no time zone)"
        case text_format if text_format == DECIMAL:
            yield "(exact decimal; a string keeps every digit)"
        case text_format if text_format == BASE64:
            yield "(binary data as base64 with padding)"
        case _:
            pass
    if schema.get("type") == "integer" and any(_is_beyond(key, schema) for key in _BOUNDS):
        yield "(beyond 2^53-1 as a string of digits)"


def _is_beyond(key: str, schema: Mapping[str, Any]) -> bool:
    """Whether a bound is larger than a JSON number holds exactly, so that it can only be said in words (Spec 4.7.3)."""
    return key in _BOUNDS and key in schema and abs(schema[key]) > MAX_SAFE_INTEGER
