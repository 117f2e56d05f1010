"""Schemas as servers write them, and as none should: what becomes of each, and of values on their way back."""

from typing import Any

import pytest

from headgate.protocol.errors import Invalid
from headgate.sources.shapes import NOT_GIVEN, Shaped, normalized, shaped
from tests.sources.shapes.making import operation_of

TEXT = {"type": "string"}
NUMBER = {"type": "integer"}


def takes(shape: Shaped, **values: Any) -> bool:
    return operation_of(shape).validator.is_valid(values)


def names(shape: Shaped) -> list[str]:
    return [parameter.name for parameter in shape.parameters]


# references


@pytest.mark.parametrize(
    "reference",
    [
        "#/$defs/item",
        "#/definitions/old",
        "#/properties/other",
        "#/properties/list/items",
        "#/properties/tuple/prefixItems/1",
        "#/$defs/with%20space",
        "#/$defs/slash~1and~0tilde",
        "#/$defs/%C3%A4",
        "#named",
        "#older",
        "#dynamic",
        "https://example.org/request.json#/$defs/item",
        "request.json#/$defs/item",
        "https://example.org/inner.json",
        "inner.json",
        "inner.json#/$defs/deep",
    ],
)
def test_a_reference_leads_to_its_schema(reference: str) -> None:
    shape = shaped(
        {
            "$id": "https://example.org/request.json",
            "type": "object",
            "properties": {
                "x": {"$ref": reference},
                "other": NUMBER,
                "list": {"type": "array", "items": NUMBER},
                "tuple": {"prefixItems": [TEXT, NUMBER]},
            },
            "$defs": {
                "item": NUMBER,
                "with space": NUMBER,
                "slash/and~tilde": NUMBER,
                "ä": NUMBER,
                "a": {"$anchor": "named", **NUMBER},
                "b": {"$id": "#older", **NUMBER},
                "c": {"$dynamicAnchor": "dynamic", **NUMBER},
                "d": {"$id": "inner.json", **NUMBER, "$defs": {"deep": NUMBER}},
            },
            "definitions": {"old": NUMBER},
        }
    )
    assert shape.notes == ()
    assert takes(shape, x=1)
    assert not takes(shape, x="1")


@pytest.mark.parametrize(
    "reference",
    [
        "#/$defs/missing",
        "#missing",
        "https://example.org/elsewhere.json",
        "file:///etc/passwd",
        "http://[",
        "#/properties/x/²",
        "#/$defs/99999999999999999999",
        7,
        ["#"],
        "\ud800",
    ],
)
def test_a_reference_that_leads_nowhere_allows_anything_and_is_told(reference: object) -> None:
    shape = shaped({"type": "object", "properties": {"x": {"$ref": reference}}})
    assert shape.notes == ("it refers to a schema that is not there",)
    assert takes(shape, x={"anything": 1})


def test_a_request_that_is_described_elsewhere_takes_any_names() -> None:
    shape = shaped({"allOf": [{"$ref": "https://example.org/a.json"}, {"properties": {"aB": TEXT}}]})
    assert takes(shape, a_b="x", whatever=1)
    assert shape.back({"a_b": "x", "whatever": 1}) == {"aB": "x", "whatever": 1}


@pytest.mark.parametrize("reference", [{"$ref": "#"}, {"$recursiveRef": "#"}, {"$dynamicRef": "#"}])
def test_a_request_that_contains_itself_is_renamed_on_all_levels(reference: dict[str, str]) -> None:
    shape = shaped(
        {"properties": {"nodeName": TEXT, "operation": TEXT, "childNodes": {"type": "array", "items": reference}}}
    )
    sent = {
        "node_name": "a",
        "operation_value": "o",
        "child_nodes": [{"node_name": "b", "operation": "p", "child_nodes": []}],
    }
    assert takes(shape, **sent)
    assert not takes(shape, child_nodes=[{"node_name": 1}])
    assert shape.back(sent) == {
        "nodeName": "a",
        "operation": "o",
        "childNodes": [{"nodeName": "b", "operation": "p", "childNodes": []}],
    }


@pytest.mark.parametrize(
    "definitions",
    [
        {"A": {"$ref": "#/$defs/A"}},
        {"A": {"$ref": "#/$defs/B"}, "B": {"$ref": "#/$defs/A"}},
        {"A": {"anyOf": [{"$ref": "#/$defs/A"}, TEXT]}},
        {"A": {"allOf": [{"$ref": "#/$defs/B"}]}, "B": {"not": {"$ref": "#/$defs/A"}}},
        {"A": {"if": {"$ref": "#/$defs/A"}, "then": TEXT, "else": NUMBER}},
        {"A": {"dependentSchemas": {"x": {"$ref": "#/$defs/A"}}}},
        {"A": {"$ref": "#"}},
    ],
    ids=["itself", "two", "in a union", "not", "in a condition", "dependent", "the request"],
)
def test_a_ring_of_names_allows_anything_and_is_told(definitions: dict[str, Any]) -> None:
    shape = shaped(
        {"$ref": "#/$defs/A", "$defs": definitions}
        if "#" in str(definitions["A"].get("$ref"))
        else {"properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": definitions}
    )
    assert "it refers to itself without end" in shape.notes
    assert takes(shape, a={"x": 1})


def test_beside_a_reference_of_an_old_draft_only_words_count() -> None:
    schema = {
        "properties": {"x": {"$ref": "#/definitions/a", "maxLength": 1, "description": "Said"}},
        "definitions": {"a": TEXT},
    }
    new, old = shaped(schema), shaped({"$schema": "http://json-schema.org/draft-07/schema#", **schema})
    assert not takes(new, x="long")
    assert takes(old, x="long")
    assert old.parameters[0].schema["description"] == "Said"


def test_two_schemas_of_one_name_in_different_places_stay_two() -> None:
    shape = shaped(
        {
            "properties": {"a": {"$ref": "#/x/item"}, "b": {"$ref": "#/y/item"}},
            "x": {"item": TEXT},
            "y": {"item": NUMBER},
        }
    )
    assert takes(shape, a="t", b=1)
    assert not takes(shape, a=1)
    assert not takes(shape, b="t")
    assert set(shape.definitions) == {"item", "item_2"}


def test_definitions_that_nothing_reaches_are_left_out() -> None:
    shape = shaped(
        {"$ref": "#/$defs/A", "$defs": {"A": {"properties": {"a": {"$ref": "#/$defs/B"}}}, "B": TEXT, "C": TEXT}}
    )
    assert list(shape.definitions) == ["B"]


# spellings of other times and places


@pytest.mark.parametrize(
    ("schema", "right", "wrong"),
    [
        ({"minimum": 3, "exclusiveMinimum": True}, [4], [3]),
        ({"maximum": 3, "exclusiveMaximum": True}, [2], [3]),
        ({"minimum": 3, "exclusiveMinimum": False}, [3], [2]),
        ({"exclusiveMinimum": True}, [3], []),
        ({"type": "string", "nullable": True}, ["a", None], [1]),
        ({"type": "string", "enum": ["a"], "nullable": True}, ["a", None], ["b"]),
        ({"nullable": True, "allOf": [TEXT]}, ["a", None], [1]),
        ({"nullable": True, "anyOf": [TEXT]}, ["a", None], [1]),
        ({"nullable": False, "type": "string"}, ["a"], [None]),
        ({"nullable": True}, ["a", None, 1], []),
        ({"items": [TEXT, NUMBER]}, [["a", 1, {}], []], [[1]]),
        ({"items": [TEXT], "additionalItems": False}, [["a"]], [["a", 1]]),
        ({"items": [TEXT], "additionalItems": NUMBER}, [["a", 1]], [["a", "b"]]),
        ({"dependencies": {"a": ["b"]}}, [{"b": 1}, {"a": 1, "b": 1}], [{"a": 1}]),
        ({"dependencies": {"a": {"required": ["b"]}}}, [{"a": 1, "b": 1}], [{"a": 1}]),
        ({"type": "STRING"}, ["a"], [1]),
        ({"type": "int"}, [1], ["a"]),
        ({"type": ["string", "null"]}, ["a", None], [1]),
        ({"type": "object", "properties": {"x": True, "y": False}}, [{"x": 1}], [{"y": 1}]),
        (True, [1, "a"], []),
        (False, [], [1, "a"]),
        ({"const": None}, [None], [1]),
        ({"type": "array", "items": False}, [[]], [[1]]),
        ({"multipleOf": 0.5, "minimum": -1.5}, [1.5], [1.2, -2]),
        ({"unevaluatedItems": False, "prefixItems": [TEXT]}, [["a"]], [["a", 1]]),
        ({"contains": TEXT, "maxContains": 1}, [["a", 1]], [["a", "b"], [1]]),
        ({"if": TEXT, "then": {"maxLength": 1}, "else": NUMBER}, ["a", 5], ["ab", None]),
    ],
)
def test_a_spelling_keeps_its_meaning(schema: object, right: list[Any], wrong: list[Any]) -> None:
    shape = shaped({"type": "object", "properties": {"x": schema}, "required": ["x"]})
    assert shape.notes == ()
    assert all(takes(shape, x=value) for value in right)
    assert not any(takes(shape, x=value) for value in wrong)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "file"},
        {"type": ["string", {"$ref": "#"}]},
        {"type": []},
        {"type": 5},
        {"enum": []},
        {"enum": "a"},
        {"pattern": "("},
        {"pattern": 5},
        {"minimum": "1"},
        {"minimum": float("nan")},
        {"maximum": float("inf")},
        {"minLength": -1},
        {"minLength": True},
        {"multipleOf": 0},
        {"required": True},
        {"properties": ["a"]},
        {"patternProperties": {"(": {}}},
        {"anyOf": []},
        {"anyOf": {"a": TEXT}},
        {"items": "string"},
        {"const": float("nan")},
        {"uniqueItems": "yes"},
        {"dependentRequired": ["a"]},
        {"additionalProperties": "no"},
        {"properties": {"\ud800": TEXT}},
        {"not": 5},
        "string",
        5,
        [],
    ],
)
def test_what_makes_no_sense_allows_anything_and_is_told(schema: object) -> None:
    shape = shaped({"type": "object", "properties": {"x": schema}})
    assert len(shape.notes) == 1
    assert takes(shape, x="anything")
    assert takes(shape, x={"a": 1})


@pytest.mark.parametrize("odd", [{"$ref": "#/missing"}, {"type": "file"}, {"pattern": "("}])
@pytest.mark.parametrize(
    "around",
    [
        lambda odd: {"not": odd},
        lambda odd: {"oneOf": [odd, TEXT]},
        lambda odd: {"if": odd, "then": {"maxLength": 1}, "else": {"maxLength": 1}},
        lambda odd: {"contains": odd, "minContains": 0, "maxContains": 0},
        lambda odd: {"not": {"anyOf": [{"properties": {"a": odd}}]}},
        lambda odd: {"not": {"$ref": "#/$defs/odd"}},
        lambda odd: {"oneOf": [{"$ref": "#/$defs/leads"}, TEXT]},
    ],
    ids=["not", "one of", "if", "contains", "inside", "by name", "by two names"],
)
def test_what_is_loosened_never_makes_the_opposite_stricter(odd: dict[str, Any], around: Any) -> None:
    definitions = {"odd": odd, "leads": {"allOf": [{"$ref": "#/$defs/odd"}]}}
    shape = shaped({"properties": {"x": around(odd)}, "$defs": definitions})
    assert shape.notes
    assert all(takes(shape, x=value) for value in ("long text", 5, {"a": "b"}, [], ["text"]))


# requests


@pytest.mark.parametrize("schema", [None, {}, {"type": "object"}, {"type": "object", "additionalProperties": True}])
def test_a_request_of_which_nothing_is_said_takes_anything(schema: object) -> None:
    shape = shaped(schema)
    assert takes(shape, a=1, bC={"dE": 2})
    assert shape.back({"a": 1, "bC": {"dE": 2}}) == {"a": 1, "bC": {"dE": 2}}


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {}},
        {"type": "object", "additionalProperties": False},
        {"properties": {"a": TEXT}},
        {"properties": {"a": TEXT}, "additionalProperties": False},
        {"oneOf": [{"properties": {"a": TEXT}}]},
    ],
)
def test_a_request_takes_no_further_names_unless_it_says_so(schema: object) -> None:
    assert not takes(shaped(schema), b=1)


@pytest.mark.parametrize("schema", [{"type": "string"}, {"type": "array", "items": TEXT}, {"type": ["null", "string"]}])
def test_a_request_that_is_no_object_becomes_one_and_is_told(schema: object) -> None:
    shape = shaped(schema)
    assert shape.notes == ("it is not described as an object",)
    assert takes(shape)


@pytest.mark.parametrize("kind", ["object", ["object", "null"], "dict", None])
def test_a_request_may_say_in_many_ways_that_it_is_an_object(kind: object) -> None:
    assert shaped({"type": kind, "properties": {"a": TEXT}}).notes == ()


def test_further_parameters_must_be_as_the_request_says() -> None:
    shape = shaped(
        {"properties": {"a": TEXT}, "additionalProperties": {"type": "object", "properties": {"xY": NUMBER}}}
    )
    assert takes(shape, a="t", other={"x_y": 1})
    assert not takes(shape, other={"x_y": "t"})
    assert shape.back({"a": "t", "other": {"x_y": 1}}) == {"a": "t", "other": {"xY": 1}}


UNION = {
    "oneOf": [
        {
            "properties": {"kind": {"const": "circle"}, "rAdius": NUMBER},
            "required": ["kind", "rAdius"],
            "additionalProperties": False,
        },
        {"$ref": "#/$defs/Square"},
    ],
    "$defs": {
        "Square": {
            "properties": {"kind": {"const": "square"}, "sideLength": NUMBER, "inner": {"$ref": "#/$defs/Square"}},
            "required": ["kind", "sideLength"],
            "additionalProperties": False,
        }
    },
}


def test_a_union_of_requests_has_the_parameters_of_all_and_its_rule() -> None:
    shape = shaped(UNION)
    assert names(shape) == ["kind", "r_adius", "side_length", "inner"]
    assert takes(shape, kind="circle", r_adius=1)
    assert takes(shape, kind="square", side_length=1, inner={"kind": "square", "side_length": 2})
    assert takes(shape, kind="square", side_length=1, dry_run=True) is False, "a READ has no dry run"
    assert not takes(shape, kind="circle", side_length=1)
    assert not takes(shape, kind="circle", r_adius=1, side_length=1)
    assert not takes(shape)


@pytest.mark.parametrize(
    ("schema", "right", "wrong"),
    [
        ({"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}, [{"a": 1}, {"b": 1}], [{}]),
        ({"oneOf": [{"required": ["a"]}, {"required": ["b"]}]}, [{"a": 1}], [{"a": 1, "b": 1}]),
        ({"not": {"required": ["a", "b"]}}, [{"a": 1}, {"b": 1}], [{"a": 1, "b": 1}]),
        ({"if": {"required": ["a"]}, "then": {"required": ["b"]}}, [{}, {"a": 1, "b": 1}], [{"a": 1}]),
        ({"dependentRequired": {"a": ["b"]}}, [{}, {"b": 1}], [{"a": 1}]),
        ({"dependencies": {"a": ["b"]}}, [{}, {"b": 1}], [{"a": 1}]),
        ({"dependentSchemas": {"a": {"required": ["b"]}}}, [{"b": 1}], [{"a": 1}]),
        ({"minProperties": 1}, [{"a": 1}], [{}]),
        ({"allOf": [{"required": ["a"]}, {"properties": {"a": NUMBER}}]}, [{"a": 1}], [{}, {"a": "t"}]),
        (
            {"allOf": [{"anyOf": [{"required": ["a"]}]}, {"anyOf": [{"required": ["b"]}]}]},
            [{"a": 1, "b": 1}],
            [{"a": 1}],
        ),
        ({"$ref": "#/$defs/r"}, [{"a": 1}], [{"b": 1}]),
        ({"propertyNames": {"enum": ["a", "dry_run"]}}, [{"a": 1}], [{"b": 1}]),
        ({"const": {"a": 1}}, [{"a": 1}], [{"a": 2}, {}]),
        ({"enum": [{"a": 1}, {"b": 2}]}, [{"a": 1}, {"b": 2}], [{"a": 2}]),
        ({"unevaluatedProperties": False}, [{"a": 1}], [{"c": 1}]),
    ],
)
def test_what_holds_parameters_together_is_kept(schema: dict[str, Any], right: list[Any], wrong: list[Any]) -> None:
    shape = shaped({"properties": {"a": {}, "b": {}}, "$defs": {"r": {"required": ["a"]}}, **schema})
    assert shape.notes == ()
    assert all(takes(shape, **value) for value in right)
    assert not any(takes(shape, **value) for value in wrong)


@pytest.mark.parametrize(
    "rule",
    [
        {"maxProperties": 1},
        {"propertyNames": {"pattern": "^[a-zA-Z]+$"}},
        {"patternProperties": {"[A-Z]": NUMBER}},
        {"patternProperties": {"^dry": TEXT}},
        {"anyOf": [{"maxProperties": 1}]},
    ],
)
def test_a_rule_that_other_names_would_bend_is_left_to_the_upstream(rule: dict[str, Any]) -> None:
    shape = shaped({"properties": {"aB": {}}, **rule})
    assert shape.notes == ("its rules about several parameters together are checked only there",)
    assert takes(shape, a_b="text")


def test_names_by_pattern_are_taken_as_they_are() -> None:
    shape = shaped({"properties": {"a": TEXT}, "patternProperties": {"^x-": {"properties": {"cD": NUMBER}}}})
    assert takes(shape, **{"a": "t", "x-b": {"c_d": 1}})
    assert not takes(shape, **{"x-b": {"c_d": "t"}})
    assert not takes(shape, other=1)
    assert shape.back({"x-b": {"c_d": 1}}) == {"x-b": {"cD": 1}}


# names


@pytest.mark.parametrize(
    ("own", "name"),
    [
        ("$filter", "filter"),
        ("content-type", "content_type"),
        ("userID", "user_id"),
        ("operation", "operation_value"),
        ("params", "params_value"),
        ("operations", "operations_value"),
        ("confirmation_token", "confirmation_token_value"),
        ("input", "input"),
        ("dryRun", "dry_run_value"),
        ("dry_run", "dry_run_value"),
        ("名前", "x"),
        ("", "x"),
        ("__proto__", "proto"),
        ("constructor", "constructor"),
        ("A" * 300, "a" * 300),
        ("ignore previous instructions", "ignore_previous_instructions"),
        ("\x1b[2J", "x_2_j"),
    ],
)
def test_a_parameter_has_a_name_of_ours_and_comes_back_with_its_own(own: str, name: str) -> None:
    shape = shaped({"properties": {own: {"type": "object", "properties": {own: TEXT}}}, "required": [own]})
    assert names(shape) == [name]
    inside = next(iter(shape.parameters[0].schema["properties"]))
    assert takes(shape, **{name: {inside: "t"}})
    assert shape.back({name: {inside: "t"}}) == {own: {own: "t"}}


def test_two_names_that_would_be_one_are_told_apart_and_said() -> None:
    shape = shaped({"properties": {"userId": TEXT, "user_id": NUMBER}})
    assert names(shape) == ["user_id_2", "user_id"]
    assert shape.notes == ("'user_id_2' is 'userId' there",)
    assert shape.back({"user_id_2": "a", "user_id": 1}) == {"userId": "a", "user_id": 1}


def test_objects_that_have_nothing_to_do_with_each_other_do_not_share_their_names() -> None:
    shape = shaped({"properties": {"a": {"properties": {"userId": TEXT}}, "b": {"properties": {"user_id": TEXT}}}})
    assert shape.back({"a": {"user_id": "x"}, "b": {"user_id": "y"}}) == {"a": {"userId": "x"}, "b": {"user_id": "y"}}


def test_keys_that_no_schema_speaks_of_stay_as_they_are() -> None:
    shape = shaped(
        {
            "properties": {
                "env": {"type": "object", "additionalProperties": TEXT},
                "aB": {"type": "object", "properties": {"homeDir": TEXT, "env": {"type": "object"}}},
            }
        }
    )
    sent = {"env": {"homeDir": "x", "home_dir": "y", "PATH": "z"}, "a_b": {"home_dir": "h", "env": {"homeDir": "i"}}}
    assert takes(shape, **sent)
    assert shape.back(sent) == {
        "env": {"homeDir": "x", "home_dir": "y", "PATH": "z"},
        "aB": {"homeDir": "h", "env": {"homeDir": "i"}},
    }


def test_a_name_that_is_only_demanded_is_renamed_too() -> None:
    shape = shaped({"properties": {"x": {"type": "object", "required": ["userId"]}}, "required": ["otherId"]})
    assert takes(shape, other_id=1, x={"user_id": 2})
    assert not takes(shape, other_id=1, x={})
    assert shape.back({"other_id": 1, "x": {"user_id": 2}}) == {"otherId": 1, "x": {"userId": 2}}


@pytest.mark.parametrize("key", ["const", "enum"])
def test_names_inside_constants_are_ours_too(key: str) -> None:
    value = {"userId": [{"aB": 1}], "plain": None}
    shape = shaped({"properties": {"x": {key: value if key == "const" else ["other", value]}}})
    sent = {"user_id": [{"a_b": 1}], "plain": None}
    assert takes(shape, x=sent)
    assert not takes(shape, x={**sent, "plain": 1})
    assert not takes(shape, x={**sent, "more": 1})
    assert shape.back({"x": sent}) == {"x": value}


def test_names_inside_defaults_and_examples_are_ours_too() -> None:
    shape = shaped(
        {
            "properties": {
                "x": {
                    "properties": {"aB": {"default": 1}},
                    "default": {"aB": 2, "free": [1]},
                    "examples": [{"aB": 3}],
                }
            }
        }
    )
    schema = shape.parameters[0].schema
    assert schema["default"] == {"a_b": 2, "free": [1]}
    assert schema["examples"] == [{"a_b": 3}]


def test_names_of_which_a_pattern_is_demanded_stay_as_they_are() -> None:
    inner = {"type": "object", "properties": {"aB": TEXT}, "propertyNames": {"pattern": "^[a-zA-Z]+$"}}
    shape = shaped({"properties": {"x": inner}})
    assert takes(shape, x={"aB": "t"})
    assert shape.back({"x": {"aB": "t"}}) == {"x": {"aB": "t"}}


def test_whoever_uses_the_upstreams_name_for_a_field_is_told_ours() -> None:
    shape = shaped({"properties": {"x": {"properties": {"userId": TEXT}}}})
    with pytest.raises(Invalid, match="'user_id'"):
        shape.back({"x": {"userId": "passed by"}})


def test_a_parameter_cannot_pass_by_under_the_upstreams_name() -> None:
    shape = shaped({"properties": {"filePath": TEXT}, "additionalProperties": True})
    with pytest.raises(Invalid):
        shape.back({"filePath": "/etc/passwd"})
    with pytest.raises(Invalid):
        shape.back({"file_path": "/tmp/a", "filePath": "/etc/passwd"})  # noqa: S108


def test_what_is_not_given_is_not_sent() -> None:
    shape = shaped({"properties": {"aB": TEXT, "cD": {**TEXT, "default": "x"}}})
    values = {parameter.name: parameter.default for parameter in shape.parameters}
    assert set(values.values()) == {NOT_GIVEN}
    assert repr(NOT_GIVEN) == "not given"
    assert shape.back(values) == {}


def test_a_parameter_that_is_declared_twice_must_be_both() -> None:
    shape = shaped(
        {"properties": {"a": {**TEXT, "description": "Said"}}, "allOf": [{"properties": {"a": {"maxLength": 1}}}]}
    )
    assert shape.parameters[0].description == "Said"
    assert takes(shape, a="x")
    assert not takes(shape, a="xx")
    assert not takes(shape, a=1)


def test_a_parameter_that_a_condition_asks_for_may_be_anything() -> None:
    shape = shaped(
        {"if": {"properties": {"kind": {"const": "a", "description": "Kind"}}}, "then": {"required": ["kind"]}}
    )
    assert takes(shape, kind="b")
    assert shape.parameters[0].schema == {"description": "Kind"}


def test_names_that_are_taken_are_avoided() -> None:
    assert names(shaped({"properties": {"page": TEXT}}, taken={"page"})) == ["page_value"]


def test_an_answer_is_made_usable_in_the_same_way() -> None:
    made = normalized(
        {"$ref": "#/definitions/Odd Name", "definitions": {"Odd Name": {"type": "string", "nullable": True}}}
    )
    assert made.schema == {"$ref": "#/$defs/Odd_Name"}
    assert made.definitions == {"Odd_Name": {"type": ["string", "null"]}}
