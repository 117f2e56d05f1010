"""Values for parameters, made from what introspection says of them: right ones, wrong ones, and those on an edge.

What is declared becomes a JSON Schema first. Whatever is made is checked against it, so that no value is sent as a
right one that the declaration forbids, nor as a wrong one that it allows.
"""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import jsonschema_rs

from headgate.adapter.examples import value_of
from headgate.adapter.text_formats import FORMATS
from headgate.conformance.probe import CannotBeSeen
from headgate.conformance.survey import SeenParameter, entries

__all__ = [
    "Edge",
    "Types",
    "edges",
    "fits",
    "is_free",
    "named_types",
    "schema_of",
    "value_for",
    "wrong_typed",
    "wrong_values",
]

Types = Mapping[str, Mapping[str, Any]]
"""The details of types, by their names."""
Schema = dict[str, Any]

_PRIMITIVES: Final = {
    **dict.fromkeys(("string", "str", "text"), "string"),
    **dict.fromkeys(("integer", "int", "long"), "integer"),
    **dict.fromkeys(("number", "float", "double"), "number"),
    **dict.fromkeys(("boolean", "bool"), "boolean"),
    **dict.fromkeys(("object", "dict", "map", "record"), "object"),
    **dict.fromkeys(("array", "list"), "array"),
    **dict.fromkeys(("null", "none"), "null"),
}
_ANYTHING: Final = frozenset({"any", "unknown", "json", "mixed", "value"})
_ARRAY_OF: Final = re.compile(r"(?:array|list)\s*[<\[(](?P<of>.+)[>\])]", re.IGNORECASE)
_RULES: Final = (
    *("enum", "const", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    *("minLength", "maxLength", "pattern", "format", "minItems", "maxItems", "uniqueItems", "minProperties"),
)
_FORMATS: Final = {
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "hostname": "example.org",
    "idn-hostname": "example.org",
    "idn-email": "ada@example.org",
    "url": "https://example.org/",
    "uri-reference": "https://example.org/",
    "iri": "https://example.org/",
    "iri-reference": "https://example.org/",
    "regex": "[a-z]+",
    "json-pointer": "/probe",
    "byte": "SGVsbG8=",
    "datetime": "2026-02-04T10:30:00Z",
}
_KNOWN_FORMATS: Final = frozenset(
    {*_FORMATS, *FORMATS, "date-time", "date", "time", "duration", "uuid", "email", "uri", "password", "textarea"}
)
_DEEPEST: Final = 5
_LONGEST: Final = 10_000
_SAFE: Final = 2**53 - 1
_NO_CHOICE: Final = "zz_no_such_value"
_WORD: Final = "probe"
_UNLIKELY: Final = ("§ §", "", "zz zz zz", "0", "-", "a")
"""Texts of which some pattern surely does not like one."""
_WRONG: Final[tuple[tuple[str, Any], ...]] = (
    ("object", {"unexpected": ["probe"]}),
    ("string", "probe probe"),
    ("boolean", True),
    ("integer", 17),
)
"""In the order of trying. A list is not among them: some servers take the only thing in it."""


@dataclass(frozen=True, slots=True)
class Edge:
    """A value close to where a constraint begins to forbid."""

    value: Any
    inside: bool
    constraint: str
    """The constraint in words, such as ``minimum 1``."""


def value_for(parameter: SeenParameter, known: Mapping[str, Any], types: Types | None = None) -> Any:
    """A value that a parameter's declaration allows; CannotBeSeen if none can be made."""
    if parameter.name in known:
        return known[parameter.name]
    schema = schema_of(parameter.raw, types or {})
    if schema is not None and not _odd_format(schema):
        value = value_of(parameter.name, schema)
        if _valid(schema, value):
            return value
    raise CannotBeSeen(f"no value can be made for the parameter '{parameter.name}'; a file for --fixtures can give one")


def fits(parameter: SeenParameter, value: object, types: Types | None = None) -> bool:
    """Whether a declaration allows a value, as far as it can be understood."""
    schema = schema_of(parameter.raw, types or {})
    return schema is None or _valid(schema, value)


def is_free(parameter: SeenParameter) -> bool:
    """Whether the declaration leaves open what a text or an object holds, so that a made one may mean nothing."""
    ruled = any(parameter.raw.get(rule) is not None for rule in ("enum", "pattern", "format", "fields", "properties"))
    open_ended = {"string", "object", "array", None}
    return not ruled and any(_primitive(part) in open_ended for part in parameter.types)


def wrong_typed(parameter: SeenParameter, types: Types | None = None) -> Any:
    """A value of a type that the declaration surely forbids; None where every type is allowed or unknown."""
    schema = schema_of(parameter.raw, types or {})
    kinds = _kinds(schema) if schema is not None else None
    if not kinds:
        return None
    if kinds <= {"array", "null"}:
        return _WRONG[0][1]
    return next((value for kind, value in _WRONG if kind not in kinds), None)


def wrong_values(parameter: SeenParameter, types: Types | None = None) -> list[Any]:
    """The same, with a word where only numbers or booleans are declared, and a fraction where only whole numbers are.

    A text of digits is not among them: some servers make a number of it on purpose.
    """
    surely = wrong_typed(parameter, types)
    schema = schema_of(parameter.raw, types or {})
    kinds = _kinds(schema) - {"null"} if schema is not None else set()
    if surely is None or not kinds or not kinds <= {"integer", "number", "boolean"}:
        return [] if surely is None else [surely]
    return [surely, _WORD, *([_fraction(parameter.raw)] if kinds == {"integer"} else [])]


def _fraction(raw: Mapping[str, Any]) -> float:
    """Within the bounds, so that nothing but its type is wrong."""
    low, high = raw.get("minimum"), raw.get("maximum")
    if isinstance(low, int):
        return low + 0.5
    return high - 0.5 if isinstance(high, int) else 1.5


def edges(parameter: SeenParameter, types: Types | None = None) -> list[Edge]:
    """Values on both sides of every constraint of a parameter."""
    schema = schema_of(parameter.raw, types or {})
    if schema is None:
        return []
    return [edge for edge in _edges(parameter.raw, parameter.types) if _valid(schema, edge.value) == edge.inside]


# declarations to schemas


def schema_of(raw: Mapping[str, Any], types: Types, depth: int = 0) -> Schema | None:
    """What a declaration says, as a JSON Schema; None where its type is not known."""
    told = raw.get("type")
    parts = told if isinstance(told, list) else _parts(told)
    known = [found for part in parts if (found := _part(str(part), raw, types, depth)) is not None]
    if not known:
        return {"enum": raw["enum"]} if _choices(raw) and not parts else None
    known.sort(key=lambda schema: schema.get("type") == "null")
    schema = known[0] if len(known) == 1 else {"anyOf": known}
    return {**schema, "default": raw["default"]} if raw.get("default") is not None else schema


def named_types(raw: Mapping[str, Any]) -> Iterator[str]:
    """The names in a declaration that must be looked up among the types."""
    for part in _parts(raw.get("type")):
        name = _element(part) or part
        if _primitive(name) is None and name.lower() not in _ANYTHING:
            yield name
    if isinstance(raw.get("items"), Mapping):
        yield from named_types(raw["items"])
    for field in entries(raw.get("fields")):
        yield from named_types(field)
    members = raw.get("members")
    for member in members if isinstance(members, list) else ():
        yield from named_types({"type": member})


def _parts(told: object) -> tuple[str, ...]:
    return SeenParameter({"type": told}).types


def _primitive(part: str) -> str | None:
    return _PRIMITIVES.get(part.lower())


def _element(part: str) -> str | None:
    """What a list is declared to hold, as in ``string[]`` or ``array<string>``."""
    if part.endswith("[]"):
        return part[:-2].strip("() ")
    found = _ARRAY_OF.fullmatch(part)
    return found["of"].strip() if found else None


def _part(part: str, raw: Mapping[str, Any], types: Types, depth: int) -> Schema | None:
    if depth > _DEEPEST:
        return None
    if part.lower() in _ANYTHING:
        return _rules(raw)
    element = _element(part)
    if element is not None:
        inner = schema_of({"type": element}, types, depth + 1)
        return None if inner is None else {"type": "array", "items": inner}
    kind = _primitive(part)
    if kind is None:
        return _named(types[part], types, depth) if part in types else None
    schema: Schema = {"type": kind, **_rules(raw)}
    if kind == "null":
        return {"type": "null"}
    if kind == "array":
        items = raw.get("items")
        inner = schema_of(items, types, depth + 1) if isinstance(items, Mapping) else None
        return {**schema, "items": inner} if inner is not None else schema
    if kind == "object":
        return {**schema, **_members(raw, types, depth)}
    sample = _FORMATS.get(str(raw.get("format")))
    return {**schema, "examples": [sample]} if kind == "string" and sample and "enum" not in schema else schema


def _rules(raw: Mapping[str, Any]) -> Schema:
    rules = {rule: raw[rule] for rule in _RULES if raw.get(rule) is not None}
    if "enum" in rules and not _choices(raw):
        del rules["enum"]
    return {rule: value for rule, value in rules.items() if _validator({rule: value}) is not None}


def _choices(raw: Mapping[str, Any]) -> list[Any]:
    return raw["enum"] if isinstance(raw.get("enum"), list) else []


def _members(raw: Mapping[str, Any], types: Types, depth: int) -> Schema:
    """The fields of an object, where a declaration names them."""
    fields = entries(raw.get("fields"))
    properties = raw.get("properties")
    if isinstance(properties, Mapping):
        told = raw.get("required")
        needed = told if isinstance(told, list) else []
        fields = [{"name": name, **child, "required": name in needed} for name, child in properties.items()]
    schemas = {field["name"]: schema_of(field, types, depth + 1) or {} for field in fields if "name" in field}
    required = [field["name"] for field in fields if "name" in field and field.get("required") is True]
    return {"properties": schemas, "required": required} if schemas else {}


def _named(details: Mapping[str, Any], types: Types, depth: int) -> Schema | None:
    match details.get("kind"):
        case "enum":
            values = details.get("values")
            return {"enum": values} if isinstance(values, list) and values else None
        case "object":
            return {"type": "object", **_members(details, types, depth)}
        case "union":
            return schema_of({"type": details.get("members")}, types, depth + 1)
        case _:
            ruled = "type" in details or "pattern" in details or "format" in details
            return schema_of({"type": "string", **details}, types, depth + 1) if ruled else None


# judging


def _validator(schema: Schema) -> jsonschema_rs.Draft202012Validator | None:
    try:
        return jsonschema_rs.Draft202012Validator(schema, validate_formats=True, formats=FORMATS)
    except (ValueError, jsonschema_rs.ReferencingError):
        return None  # what nobody could check, such as a pattern in another dialect


def _valid(schema: Schema, value: object) -> bool:
    validator = _validator({key: rule for key, rule in schema.items() if key != "default"})
    return validator is not None and validator.is_valid(value)


def _odd_format(schema: Schema) -> bool:
    """Whether a text must have a form that is not known here."""
    told = schema.get("format")
    made = "enum" in schema or "default" in schema or "pattern" in schema
    return schema.get("type") == "string" and told is not None and told not in _KNOWN_FORMATS and not made


def _kinds(schema: Schema) -> set[str]:
    """The JSON types that a schema allows; none if it allows all."""
    if "anyOf" in schema:
        of_each = [_kinds(branch) for branch in schema["anyOf"]]
        return set().union(*of_each) if all(of_each) else set()
    if "type" in schema:
        return {schema["type"]}
    return {_json_type(value) for value in schema["enum"]} if "enum" in schema else set()


def _json_type(value: object) -> str:
    names = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}
    return names.get(type(value), "null")


# edges


def _edges(raw: Mapping[str, Any], parts: tuple[str, ...]) -> Iterator[Edge]:
    kinds = {_primitive(part) for part in parts}
    if kinds & {"integer", "number"}:
        yield from _number_edges(raw, whole="number" not in kinds)
    if "string" in kinds:
        yield from _length_edges(raw)
        yield from _pattern_edges(raw)
    yield from _choice_edges(raw)
    if "array" in kinds and isinstance(raw.get("items"), Mapping):
        items = raw["items"]
        for edge in _edges(items, _parts(items.get("type"))):
            yield Edge([edge.value], edge.inside, f"{edge.constraint} of its items")


def _number_edges(raw: Mapping[str, Any], *, whole: bool) -> Iterator[Edge]:
    for rule, step, near in (("minimum", -1, math.ceil), ("maximum", 1, math.floor)):
        bound = raw.get(rule)
        if isinstance(bound, bool) or not isinstance(bound, (int, float)) or not abs(bound) < _SAFE:
            continue
        edge = near(bound) if whole or bound == near(bound) else bound
        yield Edge(edge, True, f"{rule} {bound}")
        yield Edge(edge + step, False, f"{rule} {bound}")


def _length_edges(raw: Mapping[str, Any]) -> Iterator[Edge]:
    for rule, step in (("minLength", -1), ("maxLength", 1)):
        bound = raw.get(rule)
        if isinstance(bound, bool) or not isinstance(bound, int) or not 0 <= bound <= _LONGEST:
            continue
        yield Edge("x" * bound, True, f"{rule} {bound}")
        if bound + step >= 0:
            yield Edge("x" * (bound + step), False, f"{rule} {bound}")


def _pattern_edges(raw: Mapping[str, Any]) -> Iterator[Edge]:
    pattern = raw.get("pattern")
    rule = {"pattern": pattern}
    if not isinstance(pattern, str) or _validator(rule) is None:
        return
    yield Edge(value_of("", {"type": "string", **rule}), True, f"pattern {pattern}")
    wrong = next((text for text in _UNLIKELY if not _valid(rule, text)), None)
    if wrong is not None:
        yield Edge(wrong, False, f"pattern {pattern}")


def _choice_edges(raw: Mapping[str, Any]) -> Iterator[Edge]:
    choices = _choices(raw)
    if not choices:
        return
    words = "one of its documented values"
    yield Edge(choices[0], True, words)
    if len(choices) > 1:
        yield Edge(choices[-1], True, words)
    numbers = [value for value in choices if isinstance(value, (int, float)) and not isinstance(value, bool)]
    if all(isinstance(value, str) for value in choices):
        yield Edge(_NO_CHOICE, False, words)
    elif len(numbers) == len(choices):
        yield Edge(max(numbers) + 1, False, words)
