"""A bundle written by hand in which nothing is wrong, and ways to spoil it."""

import copy
from collections.abc import Callable
from typing import Any

__all__ = ["Json", "dropped", "fine", "put", "spoiled"]

Json = dict[str, Any]
Spoil = Callable[[Json], None]


def _failure(code: str, message: str) -> Json:
    return {"success": False, "error": {"code": code, "message": message}}


def _operation(name: str, category: str, *parameters: Json) -> Json:
    return {
        "name": name,
        "semantic_category": category,
        "endpoint": category.lower(),
        "mcpTool": f"mcp_aql_{category.lower()}",
        "description": f"What '{name}' does.",
        "permissions": {"readOnly": category == "READ", "destructive": category == "DELETE"},
        "parameters": list(parameters),
        "returns": {"name": "Lamp", "kind": "object"},
    }


def _parameter(name: str, kind: str, *, required: bool = False, **more: Any) -> Json:
    return {"name": name, "type": kind, "required": required, **more}


def _lamp(**fields: Any) -> Json:
    return {"success": True, "data": {"lamp_id": "l-1", "room": "hall", "watts": 40, **fields}}


_OPERATIONS = [
    _operation("introspect", "READ", _parameter("query", "string", required=True), _parameter("name", "string")),
    _operation("list_lamps", "READ", _parameter("first", "integer", default=20), _parameter("fields", "string[]")),
    _operation(
        "create_lamp", "CREATE", _parameter("room", "string", required=True), _parameter("watts", "integer", maximum=99)
    ),
]


def fine() -> Json:
    """The bundle; everything about it may be changed."""
    listed = ("name", "semantic_category", "endpoint", "description")
    return copy.deepcopy(
        {
            "implementation": "lamps",
            "version": "2.1.0",
            "spec_version": "1.0.0-draft",
            "endpoint_modes": ["crude", "single"],
            "capabilities": {"field_selection": True, "batch_operations": True},
            "introspection": {
                "operations_list": {
                    "success": True,
                    "data": {
                        "_protocol": {"version": "1.0.0-draft", "capabilities": {"batch": True}},
                        "operations": [{key: one[key] for key in listed} for one in _OPERATIONS],
                    },
                },
                "types_list": {"success": True, "data": {"types": [{"name": "Lamp", "kind": "object"}]}},
                "operation_details": _OPERATIONS,
            },
            "accepted_parameters": {
                "introspect": ["query", "name"],
                "list_lamps": ["first", "fields"],
                "create_lamp": ["room", "watts"],
            },
            "parameter_tests": {
                "missing_required": [
                    {
                        "operation": "introspect",
                        "parameter": "query",
                        "response": _failure("VALIDATION_MISSING_PARAM", "Give the parameter 'query'."),
                    },
                    {
                        "operation": "create_lamp",
                        "parameter": "room",
                        "response": _failure("VALIDATION_MISSING_PARAM", "Give the parameter 'room'."),
                    },
                ],
                "unknown_parameter": [
                    {
                        "operation": "list_lamps",
                        "parameter": "colour",
                        "response": _failure("VALIDATION_UNKNOWN_PARAM", "There is no parameter 'colour'."),
                    },
                    {
                        "operation": "create_lamp",
                        "parameter": "shade",
                        "response": {**_lamp(), "warnings": [{"code": "IGNORED", "message": "'shade' is ignored"}]},
                    },
                ],
                "optional_defaults": [
                    {
                        "operation": "list_lamps",
                        "parameter": "first",
                        "expected_value_path": "data.pageInfo.pageSize",
                        "expected_value": 20,
                        "response": {"success": True, "data": {"items": [], "pageInfo": {"pageSize": 20}}},
                    }
                ],
            },
            "error_tests": [
                {
                    "name": "too bright",
                    "must_mention": ["watts", "99"],
                    "response": _failure("VALIDATION_OUT_OF_RANGE", "'watts' must be 99 or less"),
                }
            ],
            "round_trip_tests": [
                {
                    "name": "a new lamp",
                    "expected_fields": {"data.room": "hall", "data.tags.0": "old", "data.size": {"cm": 30}},
                    "read_response": _lamp(tags=["old"], size={"cm": 30.0}),
                }
            ],
            "update_preservation_tests": [
                {"name": "another bulb", "preserved_fields": {"data.room": "hall"}, "read_response": _lamp(watts=60)}
            ],
            "batch_example": {
                "success": True,
                "data": None,
                "results": [{"index": 0, "operation": "list_lamps", "result": _lamp()}],
                "summary": {"total": 1, "succeeded": 1, "failed": 0},
            },
            "constraint_tests": [
                {
                    "name": "its number stays",
                    "documented": True,
                    "response": _failure("VALIDATION_READ_ONLY_FIELD", "'lamp_id' is read-only"),
                }
            ],
            "semantic_tests": [
                {
                    "name": "finds the lamps",
                    "prompt": "Which lamps are in the hall?",
                    "response_text": "I call list_lamps, choosing Fields, and keep those of the hall.",
                    "tool_calls": [{"operation": "list_lamps", "params": {"fields": ["room"]}}],
                    "structural": {"required_patterns": ["list_lamps"]},
                    "semantic": {
                        "phrase_groups": [["hall", "corridor"], ["choosing fields", "select"]],
                        "expected_operations": ["list_lamps"],
                        "expected_parameters": ["fields"],
                    },
                }
            ],
        }
    )


def _holder(bundle: Json, path: str) -> tuple[Any, Any]:
    value: Any = bundle
    steps = [int(step) if step.isdigit() else step for step in path.split("/")]
    for step in steps[:-1]:
        value = value[step]
    return value, steps[-1]


def put(path: str, value: Any) -> Spoil:
    """Put a value where a path such as ``error_tests/0/name`` leads."""

    def spoil(bundle: Json) -> None:
        holder, last = _holder(bundle, path)
        holder[last] = value

    return spoil


def dropped(path: str) -> Spoil:
    """Take away what stands where a path leads."""

    def spoil(bundle: Json) -> None:
        holder, last = _holder(bundle, path)
        del holder[last]

    return spoil


def spoiled(*spoils: Spoil) -> Json:
    """The bundle with something wrong in it."""
    bundle = fine()
    for spoil in spoils:
        spoil(bundle)
    return bundle
