"""Schemas and values at random, an operation of a shape, and the upstream's values written in the operation's names."""

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any, TypeAlias

from headgate import Category, Operation
from headgate.adapter.operations import DRY_RUN
from headgate.protocol.errors import Invalid
from headgate.sources.naming import snake
from headgate.sources.shapes import Shaped

__all__ = ["NAMES", "Maker", "ahead", "operation_of"]

Json: TypeAlias = Any

NAMES = ("userId", "user_id", "a", "aB", "x-y", "$filter", "operation", "input", "dry_run", "Ä")
SCALARS: tuple[Json, ...] = (None, True, 0, 1, 2.5, "", "a", "userId", "long text")
PLAIN: tuple[Json, ...] = (
    {"type": "string"},
    {"type": "integer"},
    {"type": "string", "minLength": 2},
    {"enum": ["a", 1, None]},
    {},
)
WAYS = ("$ref", "const", "enum", "anyOf", "oneOf", "allOf", "if", "properties", "type")
DEFINITIONS = ("D0", "D1", "D2")


def operation_of(shape: Shaped) -> Operation:
    """A READ of this shape."""

    async def function(**values: object) -> object:
        return values

    return Operation(
        "get_thing",
        Category.READ,
        function,
        shape.parameters,
        summary="Get a thing.",
        definitions=shape.definitions,
        rules=shape.rules,
    )


def ahead(shape: Shaped, value: dict[str, Json]) -> dict[str, Json] | None:
    """What a caller must send so that the upstream gets this value, found by trying; None if nothing does it."""
    try:
        found: dict[str, Json] = _spelt(shape, value, ())
    except LookupError:
        return None
    return found


def _spelt(shape: Shaped, value: Json, path: tuple[str | int, ...]) -> Json:
    if isinstance(value, list):
        return [_spelt(shape, item, (*path, index)) for index, item in enumerate(value)]
    if not isinstance(value, dict):
        return value
    made = {}
    for own, child in value.items():
        called = next((one for one in _spellings(own) if _becomes(shape, (*path, one)) == own), None)
        if called is None or called in made or (called == DRY_RUN and not path):
            raise LookupError(own)
        made[called] = _spelt(shape, child, (*path, called))
    return made


def _spellings(own: str) -> Iterator[str]:
    plain = snake(own)
    yield from (own, plain, *(f"{plain}_{number}" for number in range(2, 6)))
    yield from (f"{plain}_value", *(f"{plain}_value_{number}" for number in range(2, 4)))


def _becomes(shape: Shaped, path: tuple[str | int, ...]) -> Json:
    """The key that the last of a path is on the way back."""
    value: Json = None
    for step in reversed(path):
        value = {step: value} if isinstance(step, str) else [None] * step + [value]
    try:
        here: Json = shape.back(value)
    except Invalid:
        return None
    for step in path[:-1]:
        here = here[step] if isinstance(step, int) else next(iter(here.values()))
    return next(iter(here))


class Maker:
    """Makes schemas and values by chance; the same from the same seed, and thousands in a second."""

    def __init__(self, seed: int) -> None:
        self._chance = Random(seed)  # noqa: S311

    def document(self) -> Json:
        """The schema of a request, with definitions that refer to each other."""
        root = self._object(2, 0) if self._maybe() else self._joined(self._chance.randint(1, 2), 0)
        return {**root, "$defs": {name: self._schema(2, level + 1) for level, name in enumerate(DEFINITIONS)}}

    def value(self, document: Json) -> Json:
        """An object that the schema may well take, or not."""
        found = self._value(document, document, 5)
        return found if isinstance(found, dict) else {}

    def _maybe(self, share: float = 0.5) -> bool:
        return self._chance.random() < share

    def _pick(self, choices: Sequence[Json]) -> Json:
        return self._chance.choice(choices)

    def _names(self, most: int) -> list[str]:
        return self._chance.sample(NAMES, self._chance.randint(0, most))

    def _schema(self, depth: int, level: int) -> Json:
        """A schema so deep; of the same value it refers only to definitions from a level on, so that none is a ring."""
        if self._maybe(0.2) and DEFINITIONS[level:]:
            return {"$ref": f"#/$defs/{self._pick(DEFINITIONS[level:])}"}
        if depth <= 0 or self._maybe(0.2):
            return dict(self._pick(PLAIN)) if self._maybe(0.8) else {"const": self._constant()}
        if self._maybe(0.2):
            return self._array(depth)
        return self._object(depth, level) if self._maybe(0.6) else self._joined(depth, level)

    def _constant(self) -> Json:
        return {name: self._pick(SCALARS) for name in self._names(2)} if self._maybe() else self._pick(SCALARS)

    def _object(self, depth: int, level: int) -> Json:
        names = self._names(3)
        schema: Json = {"type": "object"} if self._maybe() else {}
        if names or self._maybe():
            schema["properties"] = {name: self._schema(depth - 1, 0) for name in names}
        if self._maybe():
            schema["required"] = self._chance.sample(names, min(len(names), 2)) if self._maybe(0.8) else self._names(2)
        for make in self._chance.sample(self._EXTRAS, self._chance.choice((0, 0, 0, 1, 1, 2))):
            schema |= make(self, depth, level)
        return schema

    def _additional(self, depth: int, level: int) -> Json:
        return {"additionalProperties": self._maybe() if self._maybe(0.7) else self._schema(depth - 1, 0)}

    def _patterns(self, depth: int, level: int) -> Json:
        return {"patternProperties": {self._pick(("^user", "^x", "[A-Z]", "d")): self._schema(depth - 1, 0)}}

    def _forms(self, depth: int, level: int) -> Json:
        forms = ({"maxLength": 4}, {"pattern": "^[a-z_]+$"}, {"enum": list(NAMES)})
        return {"propertyNames": dict(self._pick(forms))}

    def _needs(self, depth: int, level: int) -> Json:
        return {"dependentRequired": {self._pick(NAMES): self._names(1)}}

    def _counts(self, depth: int, level: int) -> Json:
        return {self._pick(("minProperties", "maxProperties")): self._chance.randint(0, 3)}

    def _dependent(self, depth: int, level: int) -> Json:
        return {"dependentSchemas": {self._pick(NAMES): self._schema(depth - 1, level)}}

    _EXTRAS = (_additional, _additional, _patterns, _forms, _needs, _counts, _dependent)

    def _array(self, depth: int) -> Json:
        schema: Json = {"type": "array"}
        if self._maybe():
            schema["prefixItems"] = [self._schema(depth - 1, 0) for _ in range(self._chance.randint(1, 2))]
        if self._maybe():
            schema["items"] = self._schema(depth - 1, 0) if self._maybe(0.7) else self._maybe()
        if self._maybe(0.2):
            schema["contains"] = self._schema(depth - 1, 0)
        return schema

    def _joined(self, depth: int, level: int) -> Json:
        """Branches and conditions, beside a plain object or alone."""
        schema = self._object(depth, level) if self._maybe() else {}
        key = self._pick(("anyOf", "oneOf", "allOf", "not", "if", "unevaluated"))
        if key == "not":
            schema["not"] = self._schema(depth - 1, level)
        elif key == "if":
            schema |= {word: self._schema(depth - 1, level) for word in ("if", "then", "else")}
        else:
            branches = [self._schema(depth - 1, level) for _ in range(self._chance.randint(1, 3))]
            schema["allOf" if key == "unevaluated" else key] = branches
        if key == "unevaluated":
            schema["unevaluatedProperties"] = self._maybe(0.3)
        return schema

    def _value(self, document: Json, schema: Json, depth: int) -> Json:
        if depth <= 0 or self._maybe(0.05):
            return self._pick(SCALARS)
        ways = [key for key in WAYS if key in schema]
        match self._pick(ways) if ways else "properties":
            case "$ref":
                return self._value(document, document["$defs"][schema["$ref"].rpartition("/")[2]], depth - 1)
            case "const":
                return schema["const"]
            case "enum":
                return self._pick(schema["enum"])
            case "allOf":
                made = [self._value(document, branch, depth - 1) for branch in schema["allOf"]]
                return merged([*made, self._typed(document, schema, depth)])
            case "anyOf" | "oneOf" | "if" as key:
                branches = schema[key] if key != "if" else [schema["if"], schema["then"], schema["else"]]
                chosen = self._value(document, self._pick(branches), depth - 1)
                return merged([chosen, self._typed(document, schema, depth)])
            case _:
                return self._typed(document, schema, depth)

    def _typed(self, document: Json, schema: Json, depth: int) -> Json:
        if schema.get("type") == "array":
            items = schema.get("items", {})
            more = [items if isinstance(items, dict) else {}] * self._chance.randint(0, 1)
            return [self._value(document, one, depth - 1) for one in (*schema.get("prefixItems", ()), *more)]
        if schema.get("type") in ("string", "integer"):
            return self._pick(("", "a", "long text", 0, 1))
        declared, required = schema.get("properties", {}), schema.get("required", ())
        names = [name for name in (*declared, *required) if self._maybe(0.95 if name in required else 0.5)]
        names += self._names(1) if self._maybe(0.2) else []
        return {name: self._value(document, declared.get(name, {}), depth - 1) for name in dict.fromkeys(names)}


def merged(values: list[Json]) -> Json:
    """All fields of several objects; if the first is none, it goes before them."""
    objects = [value for value in values if isinstance(value, dict)]
    if not isinstance(values[0], dict):
        return values[0]
    return {name: value for one in reversed(objects) for name, value in one.items()}
