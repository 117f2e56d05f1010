"""What is said of rules about several parameters, and of unions that contain themselves."""

from typing import Any

import pytest
from pydantic import BaseModel

from headgate import Adapter, Category, Engine, Operation, Patch
from headgate.sources.shapes import shaped
from tests.engine.asking import ask, error

pytestmark = pytest.mark.anyio

TEXT = {"type": "string"}
NUMBER = {"type": "integer"}
BOTH = {"properties": {"first": TEXT, "second": NUMBER}}


class Note(BaseModel):
    text: str = ""


def engine_of(schema: dict[str, Any]) -> Engine:
    """An engine with one operation, whose parameters are described elsewhere."""
    shape = shaped(schema)

    async def get_thing(**values: object) -> object:
        return shape.back(values)

    adapter = Adapter("things")
    adapter.add(
        Operation(
            "get_thing",
            Category.READ,
            get_thing,
            shape.parameters,
            summary="Get a thing.",
            definitions=shape.definitions,
            rules=shape.rules,
        )
    )
    return Engine(adapter)


@pytest.mark.parametrize(
    ("rule", "params", "code", "message"),
    [
        (
            {"anyOf": [{"required": ["first"]}, {"required": ["second"]}]},
            {},
            "VALIDATION_MISSING_PARAM",
            "Missing: one of these is needed: 'first' or 'second'",
        ),
        (
            {"oneOf": [{"required": ["first"]}, {"required": ["second"]}]},
            {"first": "a", "second": 1},
            "VALIDATION_INVALID_VALUE",
            "The parameters together are not valid: only one of 'first' and 'second' can be given",
        ),
        (
            {"oneOf": [{}, {"required": ["first"]}]},
            {"first": "a"},
            "VALIDATION_INVALID_VALUE",
            "The parameters together are not valid: it fits more than one of the possible types",
        ),
        (
            {"not": {"required": ["first", "second"]}},
            {"first": "a", "second": 1},
            "VALIDATION_INVALID_VALUE",
            "The parameters together are not valid: 'first' and 'second' cannot be given together",
        ),
        (
            {"not": {"properties": {"first": {"const": "a"}}}},
            {"first": "a"},
            "VALIDATION_INVALID_VALUE",
            "The parameters together are not valid: this value is excluded",
        ),
        (
            {"dependentRequired": {"first": ["second"]}},
            {"first": "a"},
            "VALIDATION_MISSING_PARAM",
            "Missing required parameter 'second'. Expected: integer",
        ),
        (
            {"if": {"required": ["first"]}, "then": {"required": ["second"]}},
            {"first": "a"},
            "VALIDATION_MISSING_PARAM",
            "Missing required parameter 'second'. Expected: integer",
        ),
        (
            {"minProperties": 1},
            {},
            "VALIDATION_OUT_OF_RANGE",
            "The parameters together must have 1 or more fields",
        ),
        (
            {"propertyNames": {"enum": ["first", "second", "dry_run"]}, "additionalProperties": True},
            {"third": 1},
            "VALIDATION_UNKNOWN_PARAM",
            "Unknown parameter(s) for operation 'get_thing': 'third'",
        ),
        (
            {"additionalProperties": NUMBER},
            {"third": "a"},
            "VALIDATION_INVALID_TYPE",
            "Parameter 'third' expected 'integer', got 'string'",
        ),
        (
            {"allOf": [{"properties": {"first": {}, "second": {}}, "additionalProperties": False}]},
            {"third": 1},
            "VALIDATION_UNKNOWN_PARAM",
            "Unknown parameter(s) for operation 'get_thing': 'third'",
        ),
    ],
)
async def test_a_rule_about_several_parameters_is_explained_by_their_names(
    rule: dict[str, Any], params: dict[str, Any], code: str, message: str
) -> None:
    found = await error(engine_of({**BOTH, **rule}), "get_thing", **params)
    assert (found["code"], found["message"]) == (code, message)
    assert "problems" not in found["details"], "one mistake is told once"


SHAPES = {
    "oneOf": [{"$ref": "#/definitions/circle"}, {"$ref": "#/definitions/square"}],
    "definitions": {
        "circle": {
            "properties": {"kind": {"const": "circle"}, "radius": NUMBER},
            "required": ["kind", "radius"],
            "additionalProperties": False,
        },
        "square": {
            "properties": {"kind": {"const": "square"}, "sideLength": NUMBER},
            "required": ["kind", "sideLength"],
            "additionalProperties": False,
        },
    },
}


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"kind": "oval"}, "Parameter 'kind' must be one of: 'circle', 'square'"),
        ({"kind": "circle"}, "Missing required parameter 'radius'. Expected: integer"),
        ({"kind": "square", "side_length": "1"}, "Parameter 'side_length' expected 'integer', got 'string'"),
        (
            {"kind": "circle", "radius": 1, "side_length": 1},
            "Unknown parameter(s) for operation 'get_thing': 'side_length'",
        ),
    ],
)
async def test_of_a_union_of_requests_the_one_that_was_meant_is_explained(params: dict[str, Any], message: str) -> None:
    found = await error(engine_of(SHAPES), "get_thing", **params)
    assert found["message"] == message
    assert "dry_run" not in str(found["details"])


async def test_what_a_part_of_a_parameter_needs_is_told_with_its_place() -> None:
    union = {"anyOf": [{"required": ["x"]}, {"required": ["y", "z"]}], "type": "object"}
    found = await error(engine_of({"properties": {"first": union}}), "get_thing", first={})
    assert found["message"] == "Missing in 'first': one of these is needed: 'x' or 'y' and 'z'"
    assert found["details"]["one_of"] == [["x"], ["y", "z"]]


EXPRESSION = {
    "anyOf": [
        {"properties": {"kind": {"const": word}, "left": {"$ref": "#/$defs/E"}}, "required": ["kind"]}
        for word in ("and", "or", "not", "xor")
    ]
}


def nested(levels: int, inmost: object) -> object:
    value = inmost
    for _ in range(levels):
        value = {"kind": "or", "left": value}
    return value


async def test_a_deep_value_of_a_union_that_contains_itself_is_refused_by_its_parameter() -> None:
    engine = engine_of({"properties": {"filter": {"$ref": "#/$defs/E"}, "first": TEXT}, "$defs": {"E": EXPRESSION}})
    assert (await ask(engine, "get_thing", filter=nested(28, {"kind": "and"})))["success"]
    found = await error(engine, "get_thing", filter=nested(28, {"kind": "nand"}))
    assert found["message"] == "Parameter 'filter' is not valid: the value breaks a rule of its type"
    found = await error(engine, "get_thing", filter=nested(28, {"kind": "nand"}), first=1, secnd=2)
    assert {problem["param_name"] for problem in found["details"]["problems"]} == {"filter", "first", "secnd"}


async def test_a_shallow_value_of_a_union_that_contains_itself_is_explained() -> None:
    engine = engine_of({"properties": {"filter": {"$ref": "#/$defs/E"}}, "$defs": {"E": EXPRESSION}})
    found = await error(engine, "get_thing", filter={"kind": "implies"})
    assert found["message"] == "Parameter 'filter.kind' must be one of: 'and', 'or', 'not', 'xor'"


async def test_a_rule_that_would_take_too_long_to_explain_is_kept_all_the_same() -> None:
    schema = {"$ref": "#/$defs/E", "$defs": {"E": EXPRESSION}}
    engine = engine_of(schema)
    assert (await ask(engine, "get_thing", **nested(28, {"kind": "and"})))["success"]  # type: ignore[arg-type]
    found = await error(engine, "get_thing", **nested(28, {"kind": "nand"}))  # type: ignore[arg-type]
    assert found["code"] == "VALIDATION_INVALID_VALUE"


async def test_very_many_values_of_a_union_that_contains_itself_are_refused_too() -> None:
    engine = engine_of(
        {"properties": {"all": {"type": "array", "items": {"$ref": "#/$defs/E"}}}, "$defs": {"E": EXPRESSION}}
    )
    found = await error(engine, "get_thing", all=[nested(8, {"kind": "nand"})] * 500)
    assert found["message"] == "Parameter 'all' is not valid: the value breaks a rule of its type"


async def test_a_change_beside_the_input_is_told_where_it_belongs() -> None:
    adapter = Adapter("notes")

    @adapter.update
    async def update_note(path: str, input: Patch[Note]) -> str:  # noqa: A002  (the name that the specification wants)
        """Change a note."""
        return path

    params = {"path": "a", "text": "b", "input": {}}
    reply = await Engine(adapter).call({"operation": "update_note", "params": params})
    assert "'text'; changes stand in 'input'" in reply.text
