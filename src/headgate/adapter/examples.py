"""Requests made from a schema, for operations whose author gave none. An invalid one is never shown."""

import math
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, Final

import jsonschema_rs
from rstr import Rstr

from headgate.adapter.operations import Example, Operation
from headgate.adapter.parameters import SENSITIVE, Schema
from headgate.adapter.schemas import dereference
from headgate.adapter.text_formats import BASE64, DECIMAL

__all__ = ["examples_of", "value_of"]

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
_MOST_VALUES: Final = 1000
_LONGEST: Final = 10_000
"""How large an example may become before there is none: a foreign schema can demand anything."""
_REPEATS: Final = re.compile(r"\{(\d+)")
_NUMBER_RULES: Final = ("type", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")


def examples_of(operation: Operation) -> tuple[Example, ...]:
    """The author's examples, or one made from the required parameters if that is valid."""
    if operation.examples:
        return operation.examples
    maker = _Maker(operation.definitions)
    try:
        params = {
            parameter.name: maker.value(parameter.name, parameter.schema)
            for parameter in operation.parameters
            if parameter.required
        }
    except _TooLargeError:
        return ()
    return (Example(params, operation.summary),) if operation.validator.is_valid(params) else ()


def value_of(name: str, schema: Schema) -> Any:
    """A value as a schema describes it, or None if that is too large; whether it is valid, whoever asks must see."""
    try:
        return _Maker({}).value(name, schema)
    except _TooLargeError:
        return None


class _TooLargeError(Exception):
    """A schema demands more than an example should show."""


@dataclass(frozen=True, slots=True)
class _Maker:
    """Makes values. ``within`` holds the names on the way down, so that a type that contains itself ends."""

    definitions: Mapping[str, Schema]
    within: frozenset[str] = frozenset()
    left: list[int] = field(default_factory=lambda: [_MOST_VALUES])
    """How many more may be made; one count for all of an example."""

    def value(self, name: str, schema: Schema | bool) -> Any:
        """The author's own value, or one of the right type."""
        self.left[0] -= 1
        if self.left[0] < 0:
            raise _TooLargeError
        if isinstance(schema, bool):
            return None
        ref = str(schema.get("$ref", ""))
        if ref in self.within:
            return None
        inside = replace(self, within=self.within | {ref}) if ref else self
        full = dereference(schema, self.definitions)
        for key in ("examples", "enum"):
            if full.get(key):
                return full[key][0]
        if "const" in full:
            return full["const"]
        if "default" in full and not full.get(SENSITIVE):
            return full["default"]
        branches = full.get("anyOf") or full.get("oneOf") or full.get("allOf")
        if branches:
            return inside.value(name, next((b for b in branches if not inside.is_ring(b)), branches[0]))
        return inside.of_type(name, full)

    def is_ring(self, schema: Schema | bool) -> bool:
        """Whether the schema leads back to where it stands."""
        return isinstance(schema, dict) and str(schema.get("$ref", "")) in self.within

    def of_type(self, name: str, schema: Schema) -> Any:
        """A value of the declared type, or of the first of several."""
        declared = schema.get("type")
        match declared[0] if isinstance(declared, list) else declared:
            case "string":
                return _text(name, schema)
            case "integer" | "number":
                return _number(schema)
            case "boolean":
                return True
            case "array":
                return self._array(name, schema)
            case "object":
                return self._object(schema)
            case "null":
                return None
            case _:
                return "example"

    def _array(self, name: str, schema: Schema) -> list[Any]:
        first = [self.value(name, item) for item in schema.get("prefixItems", ())]
        item = schema.get("items", {})
        fewest = schema.get("minItems", 0 if first or self.is_ring(item) else 1)
        return first + [self.value(name, item) for _ in range(fewest - len(first))]

    def _object(self, schema: Schema) -> dict[str, Any]:
        properties = schema.get("properties", {})
        writable = [name for name, child in properties.items() if "not" not in child and not self.is_ring(child)]
        chosen = schema.get("required") or writable[:1]
        return {name: self.value(name, properties.get(name, {})) for name in chosen}


def _text(name: str, schema: Schema) -> str:
    if schema.get("pattern"):
        return _matching(schema["pattern"])
    if schema.get("format") == DECIMAL and not schema.keys().isdisjoint(_NUMBER_RULES[1:]):
        return str(_number({**schema, "type": "number"}))
    text = _TEXTS.get(schema.get("format", "")) or (
        "***" if schema.get(SENSITIVE) else f"example {name.replace('_', ' ')}"
    )
    shortest, longest = schema.get("minLength", 0), schema.get("maxLength")
    if shortest > _LONGEST:
        raise _TooLargeError
    return text.ljust(shortest, "x")[:longest]


class _Least(Random):
    """Always the first choice and the lowest number, so that a pattern gives its shortest and plainest text."""

    def randint(self, a: int, b: int) -> int:
        return a

    def choice(self, seq: Any) -> Any:
        return seq[0]


def _matching(pattern: str) -> str:
    """A short text that matches, or any text where the pattern is beyond making one: the validator then drops it."""
    if math.prod(max(int(count[:9]), 1) for count in _REPEATS.findall(pattern)) > _LONGEST:
        return "example"
    try:
        return str(Rstr(_Least(0)).xeger(pattern))
    except (KeyError, ValueError, IndexError, TypeError, re.error, RecursionError, OverflowError):
        return "example"


def _number(schema: Schema) -> Any:
    """The first of a few likely numbers that the schema allows; if none is allowed, the validator drops it."""
    low = schema.get("minimum", schema.get("exclusiveMinimum"))
    high = schema.get("maximum", schema.get("exclusiveMaximum"))
    step = schema.get("multipleOf", 1)
    guesses = [1, step]
    with suppress(ArithmeticError):  # numbers beyond all that can be reckoned with
        if low is not None:
            guesses += [low, low + 1, -(-low // step) * step, (low // step + 1) * step]
        if high is not None:
            guesses += [high, high - 1, high // step * step, -(-high // step) * step - step]
        if low is not None and high is not None:
            guesses.append((low + high) / 2)
    rules = jsonschema_rs.Draft202012Validator({key: schema[key] for key in _NUMBER_RULES if key in schema})
    return next((guess for guess in guesses if rules.is_valid(guess)), 1)
