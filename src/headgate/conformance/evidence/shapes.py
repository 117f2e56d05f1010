"""The forms that a bundle's answers must have, as small schemas: an envelope, and three answers of introspection.

They are exactly as strict as the specification's own schemas, since verdicts rest on them; the checks of a live
server judge the same in smaller parts.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any, Final

import jsonschema_rs

__all__ = ["Shape", "complaints"]

Schema = dict[str, Any]

_TEXT: Final[Schema] = {"type": "string"}
_TEXTS: Final[Schema] = {"type": "array", "items": _TEXT}
_YES_OR_NO: Final[Schema] = {"type": "boolean"}
_NUMBER: Final[Schema] = {"type": "number"}
_COUNT: Final[Schema] = {"type": "integer", "minimum": 0}
_ANYTHING: Final[Schema] = {}
_OBJECT: Final[Schema] = {"type": "object"}
_CODE: Final[Schema] = {"type": "string", "pattern": "^[A-Z][A-Z0-9_]*$"}


def _one_of(*values: str) -> Schema:
    return {"type": "string", "enum": list(values)}


def _list_of(schema: Schema) -> Schema:
    return {"type": "array", "items": schema}


def _object(needed: Mapping[str, Schema], more: Mapping[str, Schema] | None = None, *, is_open: bool = False) -> Schema:
    """An object with these members, and unless it is open with no others."""
    shape = {"type": "object", "properties": {**needed, **(more or {})}, "required": list(needed)}
    return shape if is_open else {**shape, "additionalProperties": False}


_WARNING: Final = _object(
    {"code": _CODE, "message": _TEXT}, {"details": _OBJECT, "severity": _one_of("low", "medium", "high")}
)
_META: Final = _object({}, {"request_id": _TEXT, "duration_ms": {"type": "number", "minimum": 0}}, is_open=True)
_BATCH_ENTRY: Final = _object(
    {"index": _COUNT, "operation": _TEXT, "result": {"$ref": "#/$defs/envelope"}}, is_open=True
)
_SUCCESS: Final = _object(
    {"success": {"const": True}, "data": _ANYTHING},
    {
        "warnings": _list_of(_WARNING),
        "_meta": _META,
        "results": _list_of(_BATCH_ENTRY),
        "summary": _object({"total": _COUNT, "succeeded": _COUNT, "failed": _COUNT}, is_open=True),
    },
)
_FAILURE: Final = _object(
    {"success": {"const": False}, "error": _object({"code": _CODE, "message": _TEXT}, {"details": _OBJECT})},
    {
        "confirmation": _object(
            {"token": _TEXT, "expires_at": {"type": "string", "format": "date-time"}},
            {"message": _TEXT, "reasons": _TEXTS},
            is_open=True,
        ),
        "deprecated": _YES_OR_NO,
        "deprecationMessage": _TEXT,
        "deprecatedSince": _TEXT,
        "removalVersion": _TEXT,
    },
)

_CATEGORY: Final = _one_of("CREATE", "READ", "UPDATE", "DELETE", "EXECUTE")
_KIND: Final = _one_of("enum", "object", "scalar", "union")
_FAMILY: Final[Schema] = {"type": "string", "minLength": 1}
_TYPE: Final = _object({"name": _TEXT, "kind": _KIND}, {"description": _TEXT})
_LISTED: Final[Mapping[str, Schema]] = {
    "name": _TEXT,
    "semantic_category": _CATEGORY,
    "endpoint": _FAMILY,
    "description": _TEXT,
}
_PROTOCOL: Final = _object(
    {"version": {"type": "string", "pattern": r"^\d+\.\d+\.\d+(-[a-zA-Z0-9.-]+)?$"}},
    {
        "conformance": _one_of("level-1", "level-2"),
        "mode": _one_of("semantic", "single", "all"),
        "capabilities": _object(
            {},
            dict.fromkeys(
                (
                    *("batch", "field_selection", "aggregations", "computed_fields", "pagination"),
                    *("relationship_queries", "warnings", "confirmation", "dangerous_operations"),
                ),
                _YES_OR_NO,
            ),
            is_open=True,
        ),
    },
    is_open=True,
)
_PARAMETER: Final = _object(
    {"name": _TEXT, "type": _TEXT, "required": _YES_OR_NO},
    {
        "description": _TEXT,
        "default": _ANYTHING,
        "enum": {"type": "array"},
        "minimum": _NUMBER,
        "maximum": _NUMBER,
        "minLength": _COUNT,
        "maxLength": _COUNT,
        "pattern": _TEXT,
        "format": _TEXT,
        "items": _OBJECT,
        "sensitive": _YES_OR_NO,
    },
)
_COMPUTED: Final = _object(
    {"name": {"type": "string", "pattern": "^[a-z][a-z0-9_]*$"}, "type": _TEXT},
    {"description": _TEXT, "filterable": _YES_OR_NO, "sortable": _YES_OR_NO},
)
_AGGREGATION: Final = _object(
    {"supported": _YES_OR_NO},
    {
        "default_mode": _one_of("summary_only", "include_items"),
        "functions": _list_of(_one_of("count", "group_by", "sum", "avg", "min", "max")),
        "groupable_fields": _TEXTS,
        "numeric_fields": _TEXTS,
    },
)
_RELATIONSHIPS: Final = _object(
    {"supported": _YES_OR_NO},
    {
        "directions": _list_of(_one_of("incoming", "outgoing", "both")),
        "relationship_types": _TEXTS,
        "max_depth": {"type": "integer", "minimum": 1},
    },
)
_LIFECYCLE: Final = _object(
    {"states": _TEXTS},
    dict.fromkeys(("supports_cancel", "supports_retry", "progress_reporting"), _YES_OR_NO),
)
_DETAILS: Final = _object(
    {
        **_LISTED,
        "mcpTool": _TEXT,
        "permissions": _object({"readOnly": _YES_OR_NO, "destructive": _YES_OR_NO}),
        "parameters": _list_of(_PARAMETER),
        "returns": _TYPE,
    },
    {
        "examples": _list_of(_object({"request": _OBJECT}, {"description": _TEXT})),
        "computed_fields": _list_of(_COMPUTED),
        "aggregation_support": _AGGREGATION,
        "relationship_capabilities": _RELATIONSHIPS,
        "lifecycle": _LIFECYCLE,
    },
)


class Shape:
    """The names of the forms."""

    ENVELOPE: Final = "envelope"
    OPERATIONS: Final = "operations"
    TYPES: Final = "types"
    OPERATION: Final = "operation"


_SHAPES: Final[Mapping[str, Schema]] = {
    Shape.ENVELOPE: {"if": {"properties": {"success": {"const": True}}}, "then": _SUCCESS, "else": _FAILURE},
    Shape.OPERATIONS: _object({"operations": _list_of(_object(_LISTED))}, {"_protocol": _PROTOCOL}),
    Shape.TYPES: _object({"types": _list_of(_TYPE)}),
    Shape.OPERATION: _DETAILS,
}


@cache
def _validator(shape: str) -> jsonschema_rs.Draft202012Validator:
    schema = {"$ref": f"#/$defs/{shape}", "$defs": dict(_SHAPES)}
    return jsonschema_rs.Draft202012Validator(schema, validate_formats=True)


def complaints(shape: str, value: object) -> list[str]:
    """What a form has against a value: where, and what; nothing if it fits."""
    return [f"{_place(error.instance_path)} {error.message}" for error in _validator(shape).iter_errors(value)]


def _place(path: list[str | int]) -> str:
    return "/" + "/".join(map(str, path))
