"""Requests made from a schema, for operations whose author gave none. An invalid one is never shown."""

import re
from collections.abc import Mapping
from random import Random
from typing import Any, Final

from rstr import Rstr

from headgate.adapter.operations import Example, Operation
from headgate.adapter.parameters import SENSITIVE, Schema
from headgate.adapter.schemas import dereference
from headgate.adapter.text_formats import BASE64, DECIMAL

__all__ = ["examples_of"]

_TEXTS: Final = {
    "date-time": "2026-02-04T10:30:00Z",
    "date": "2026-02-04",
    "time": "10:30:00Z",
    "duration": "PT30M",
    "uuid": "123e4567-e89b-12d3-a456-426614174000",
    "email": "ada@example.org",
    "uri": "https://example.org/",
    BASE64: "SGVsbG8=",
    DECIMAL: "12.50",
}
_DEEPEST: Final = 6


def examples_of(operation: Operation) -> tuple[Example, ...]:
    """The author's examples, or one made from the required parameters if that is valid."""
    if operation.examples:
        return operation.examples
    params = {
        parameter.name: _value(parameter.name, parameter.schema, operation.definitions, 0)
        for parameter in operation.parameters
        if parameter.required
    }
    return (Example(params, operation.summary),) if operation.validator.is_valid(params) else ()


def _value(name: str, schema: Schema, definitions: Mapping[str, Schema], depth: int) -> Any:
    full = dereference(schema, definitions)
    for key in ("examples", "enum"):
        if full.get(key):
            return full[key][0]
    for key in ("const", "default"):
        if key in full:
            return full[key]
    branches = full.get("anyOf") or full.get("oneOf") or full.get("allOf")
    if branches:
        return _value(name, branches[0], definitions, depth)
    declared = full.get("type")
    return _of_type(declared[0] if isinstance(declared, list) else declared, name, full, definitions, depth)


def _of_type(declared: Any, name: str, schema: Schema, definitions: Mapping[str, Schema], depth: int) -> Any:
    match declared:
        case "string":
            return _text(name, schema)
        case "integer" | "number":
            return _number(schema)
        case "boolean":
            return True
        case "array":
            item = schema.get("items", {})
            count = max(1, schema.get("minItems", 1)) if depth < _DEEPEST else schema.get("minItems", 0)
            return [_value(name, item, definitions, depth + 1) for _ in range(count)]
        case "object":
            return _object(schema, definitions, depth)
        case "null":
            return None
        case _:
            return "example"


def _object(schema: Schema, definitions: Mapping[str, Schema], depth: int) -> dict[str, Any]:
    properties = schema.get("properties", {})
    writable = [name for name, child in properties.items() if "not" not in child]
    chosen = schema.get("required") or writable[:1]
    if depth >= _DEEPEST:
        chosen = schema.get("required", ())
    return {name: _value(name, properties.get(name, {}), definitions, depth + 1) for name in chosen}


def _text(name: str, schema: Schema) -> str:
    if schema.get("pattern"):
        return _matching(schema["pattern"])
    text = _TEXTS.get(schema.get("format", "")) or (
        "***" if schema.get(SENSITIVE) else f"example {name.replace('_', ' ')}"
    )
    shortest, longest = schema.get("minLength", 0), schema.get("maxLength")
    return text.ljust(shortest, "x")[:longest]


class _Least(Random):
    """Always the first choice and the lowest number, so that a pattern gives its shortest and plainest text."""

    def randint(self, a: int, b: int) -> int:
        return a

    def choice(self, seq: Any) -> Any:
        return seq[0]


def _matching(pattern: str) -> str:
    """A short text that matches, or any text where the pattern is beyond making one: the validator then drops it."""
    try:
        return str(Rstr(_Least(0)).xeger(pattern))
    except (KeyError, ValueError, IndexError, re.error, RecursionError):
        return "example"


def _number(schema: Schema) -> Any:
    low, high = schema.get("minimum"), schema.get("maximum")
    if "exclusiveMinimum" in schema:
        low = schema["exclusiveMinimum"] + 1
    if "exclusiveMaximum" in schema:
        high = schema["exclusiveMaximum"] - 1
    step = schema.get("multipleOf")
    if low is not None:
        return -(-low // step) * step if step else low
    if high is not None:
        return min(high, step or 1) if high >= 1 else high
    return step or 1
