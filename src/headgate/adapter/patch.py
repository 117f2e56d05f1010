"""The changes of an UPDATE, as a type that authors can annotate (Spec 4.5)."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Generic, TypeVar, cast

from pydantic import TypeAdapter, ValidationError

from headgate.adapter.parameters import Schema
from headgate.protocol.errors import Invalid
from headgate.protocol.merge import merge

__all__ = ["Patch", "patch_schema"]

T = TypeVar("T")

_REF: Final = "#/$defs/"


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
            return adapter.validate_python(merge(whole, self.changes))
        except ValidationError as error:
            place = ".".join(["input", *map(str, error.errors()[0]["loc"])])
            raise Invalid(place, "the resource would not be complete or consistent after the change") from None


def patch_schema(schema: Schema, definitions: Mapping[str, Schema], within: frozenset[str] = frozenset()) -> Schema:
    """The schema of the changes to an object: nothing required, null wherever the object can do without.

    ``within`` holds the names on the way down, so that a type that contains itself ends.
    """
    name = str(schema.get("$ref", "")).removeprefix(_REF)
    target = definitions.get(name, schema)
    properties = target.get("properties")
    if name in within:
        return {"type": "object"}
    if not isinstance(properties, dict):
        values = target.get("additionalProperties")
        return {"type": "object", "additionalProperties": _or_null(values)} if values else {"type": "object"}
    required = target.get("required", [])
    inside = within | {name} if name else within
    return {
        "type": "object",
        "properties": {
            field: _field(child, definitions, inside, removable=field not in required)
            for field, child in properties.items()
        },
        "additionalProperties": target.get("additionalProperties", False),
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
    target = definitions.get(str(schema.get("$ref", "")).removeprefix(_REF), {})
    if "properties" not in target:
        return schema
    return patch_schema(schema, definitions, within) | {key: value for key, value in schema.items() if key != "$ref"}


def _or_null(schema: Any) -> Any:
    if not isinstance(schema, dict):
        return schema
    declared: Any = schema.get("type")
    if isinstance(declared, str):
        nullable = {**schema, "type": [declared, "null"]}
        return nullable | {"enum": [*schema["enum"], None]} if "enum" in schema else nullable
    if isinstance(declared, list):
        return schema if "null" in declared else {**schema, "type": [*declared, "null"]}
    if not schema or {"type": "null"} in schema.get("anyOf", ()):
        return schema
    return {"anyOf": [schema, {"type": "null"}]}
