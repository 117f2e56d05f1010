"""The changes of an UPDATE, as a type that authors can annotate (Spec 4.5)."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Generic, TypeVar, cast

from pydantic import TypeAdapter, ValidationError

from headgate.adapter.parameters import Schema
from headgate.adapter.schemas import REF
from headgate.protocol.errors import Invalid
from headgate.protocol.merge import merge

__all__ = ["Patch", "patch_schema"]

T = TypeVar("T")


@cache
def _adapter_of(resource: type) -> TypeAdapter[Any]:
    return TypeAdapter(resource)


@dataclass(frozen=True, slots=True)
class Patch(Generic[T]):
    """Some fields of a ``T`` to change: ``input: Patch[Book]``.

    Every field is optional, nested objects merge, and null removes a field that ``T`` can do without.
    """

    changes: Mapping[str, object]

    def apply(self, resource: T) -> T:
        """The resource with the changes merged in, checked to be a whole ``T`` again. The argument is not touched."""
        if isinstance(resource, dict):
            return cast("T", merge(resource, self.changes))
        kind: type = type(resource)
        adapter: TypeAdapter[T] = _adapter_of(kind)
        try:
            whole = adapter.dump_python(resource, by_alias=True, round_trip=True)
            return adapter.validate_python(merge(whole, self.changes), strict=False)
        except ValidationError as error:
            place = ".".join(["input", *map(str, error.errors()[0]["loc"])])
            raise Invalid(place, "the resource would not be complete or consistent after the change") from None


def patch_schema(schema: Schema, definitions: Mapping[str, Schema], within: frozenset[str] = frozenset()) -> Schema:
    """The schema of the changes to an object: nothing required, null wherever the object can do without.

    ``within`` holds the names on the way down, so that a type that contains itself ends.
    """
    name = str(schema.get("$ref", "")).removeprefix(REF)
    target = definitions.get(name, schema)
    if name in within:
        return {"type": "object"}
    inside = within | {name} if name else within
    others = target.get("additionalProperties")
    if isinstance(others, dict):
        others = _or_null(_mergeable(others, definitions, inside))
    if "properties" not in target:
        return {"type": "object", "additionalProperties": True if others is None else others}
    required = target.get("required", [])
    return {
        "type": "object",
        "properties": {
            field: _field(child, definitions, inside, removable=field not in required)
            for field, child in target["properties"].items()
        },
        "additionalProperties": False if others is None else others,
    }


def _field(schema: Schema, definitions: Mapping[str, Schema], within: frozenset[str], *, removable: bool) -> Schema:
    kept = _mergeable({key: value for key, value in schema.items() if key != "default"}, definitions, within)
    if kept.get("readOnly"):
        return {**kept, "not": {}}  # nothing is valid here, while introspection still shows the field
    return _or_null(kept) if removable else kept


def _mergeable(schema: Schema, definitions: Mapping[str, Schema], within: frozenset[str]) -> Schema:
    """The schema with an object in it, alone or in a union, become the changes to that object (Spec 4.5.1)."""
    for union in ("anyOf", "oneOf"):
        if union in schema:
            branches = [_mergeable(branch, definitions, within) for branch in schema[union]]
            return {key: value for key, value in schema.items() if key != union} | {"anyOf": branches}
    target = definitions.get(str(schema.get("$ref", "")).removeprefix(REF), schema)
    if target.get("type") != "object":
        return schema
    said = {key: value for key, value in schema.items() if key not in ("$ref", "required")}
    return said | patch_schema(schema, definitions, within)


def _or_null(schema: Schema) -> Schema:
    declared: Any = schema.get("type", [])
    types = [declared] if isinstance(declared, str) else declared
    if not schema or "null" in types or {"type": "null"} in schema.get("anyOf", ()):
        return schema
    if not types or "const" in schema:
        return {"anyOf": [schema, {"type": "null"}]}
    nullable = {**schema, "type": [*types, "null"]}
    return nullable | {"enum": [*schema["enum"], None]} if "enum" in schema else nullable
