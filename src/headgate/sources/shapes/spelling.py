"""Constant objects as schemas of their fields, so that the names inside them are names like all others."""

from collections.abc import Mapping
from typing import Any, Final

from headgate.adapter.parameters import Schema

__all__ = ["EVALUATED", "schema_of_value", "spelt_out"]

EVALUATED: Final = "it counts constants among the fields that are spoken of"
"""What is said where a constant that was spelt out makes ``unevaluatedProperties`` take more."""


def spelt_out(schema: Mapping[str, Any]) -> Schema:
    """The schema, its constants that have objects in them said field by field."""
    made = dict(schema)
    added = []
    if "const" in made and _has_fields(made["const"]):
        added.append(schema_of_value(made.pop("const")))
    choices = made.get("enum", ())
    if any(_has_fields(choice) for choice in choices):
        del made["enum"]
        added.append({"anyOf": [schema_of_value(choice) for choice in choices]})
    if added:
        others = made.get("allOf")
        made["allOf"] = [*(others if isinstance(others, list) else ()), *added]
    return made


def schema_of_value(value: object) -> Schema:
    """The schema that this value fits, and no other."""
    if isinstance(value, dict):
        fields = {name: schema_of_value(child) for name, child in value.items()}
        return {"type": "object", "properties": fields, "required": list(value), "additionalProperties": False}
    if isinstance(value, list):
        items = [schema_of_value(child) for child in value]
        first: Schema = {"prefixItems": items} if items else {}
        return {"type": "array", **first, "items": False, "minItems": len(items)}
    return {"const": value}


def _has_fields(value: object) -> bool:
    return isinstance(value, dict) or (isinstance(value, list) and any(_has_fields(child) for child in value))
