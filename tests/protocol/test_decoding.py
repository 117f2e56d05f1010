"""From raw arguments to a request or a batch (Spec 4.1, 4.2, 4.6.1; Operations 7.1)."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate import AqlError, Limits
from headgate.protocol.requests import Batch, Request, decode, json_type, parse_stringified
from headgate.protocol.results import LARGEST_BRIEF_ITEM

LIMITS = Limits()


def request(arguments: object) -> Request:
    decoded = decode(arguments, LIMITS)
    assert isinstance(decoded, Request)
    return decoded


def refusal(arguments: object, limits: Limits = LIMITS) -> tuple[str, str, dict[str, Any]]:
    with pytest.raises(AqlError) as raised:
        decode(arguments, limits)
    error = raised.value.error
    return error.code, error.message, dict(error.details or {})


# Where parameters stand.


@pytest.mark.parametrize(
    ("arguments", "params"),
    [
        pytest.param({"operation": "x"}, {}, id="none"),
        pytest.param({"operation": "x", "params": {}}, {}, id="an empty object"),
        pytest.param({"operation": "x", "params": None}, {}, id="null"),
        pytest.param({"operation": "x", "params": {"a": 1}}, {"a": 1}, id="inside params"),
        pytest.param({"operation": "x", "a": 1}, {"a": 1}, id="beside operation"),
        pytest.param({"operation": "x", "a": 1, "params": {"b": 2}}, {"a": 1, "b": 2}, id="in both places"),
        pytest.param({"operation": "x", "a": 1, "params": {"a": 2}}, {"a": 2}, id="params win"),
        pytest.param({"operation": "x", "a": 1, "params": {"a": None}}, {"a": None}, id="params win with null too"),
        pytest.param({"operation": "x", "a": 1, "params": None}, {"a": 1}, id="beside null params"),
        pytest.param({"operation": "x", "params": {"operation": "y"}}, {"operation": "y"}, id="a field's name inside"),
    ],
)
def test_parameters_are_taken_from_both_places_and_params_win(
    arguments: dict[str, object], params: dict[str, object]
) -> None:
    assert request(arguments).params == params
    assert request(arguments).operation == "x"


def test_names_that_start_with_an_underscore_are_metadata_wherever_they_stand() -> None:
    found = request({"operation": "x", "_meta": 1, "a": 2, "params": {"_request_id": "r", "b": 3, "_meta": 4}})
    assert found.params == {"a": 2, "b": 3}
    assert found.metadata == {"_meta": 4, "_request_id": "r"}


def test_metadata_inside_params_alone_is_taken_out() -> None:
    found = request({"operation": "x", "params": {"_meta": {"k": 1}}})
    assert (found.params, found.metadata) == ({}, {"_meta": {"k": 1}})


def test_the_arguments_are_left_as_they_were() -> None:
    arguments = {"operation": "x", "a": 1, "_meta": 2, "params": {"b": 3, "_id": 4}}
    before = json.dumps(arguments)
    request(arguments)
    assert json.dumps(arguments) == before


# Params as text.


def test_params_sent_as_json_text_are_read_with_a_warning() -> None:
    found = request({"operation": "x", "params": ' {"a": [1, 2]}'})
    assert found.params == {"a": [1, 2]}
    assert [notice.code for notice in found.warnings] == ["VALIDATION_STRINGIFIED_WARNING"]
    assert found.warnings[0].details == {"param_name": "params"}


def test_params_sent_as_an_object_give_no_warning() -> None:
    assert request({"operation": "x", "params": {"a": 1}}).warnings == ()


def test_the_limits_hold_for_what_is_inside_a_text() -> None:
    deep = "[" * 33 + "]" * 33
    code, _, details = refusal({"operation": "x", "params": f'{{"a": {deep}}}'})
    assert (code, details["limit_type"]) == ("VALIDATION_PAYLOAD_TOO_LARGE", "nesting_depth")


@pytest.mark.parametrize("character", ["\\ud800", "\\u0000"], ids=["lone surrogate", "null character"])
def test_the_characters_inside_a_text_are_checked(character: str) -> None:
    code, _, _ = refusal({"operation": "x", "params": f'{{"a": "{character}"}}'})
    assert code in ("VALIDATION_INVALID_ENCODING", "VALIDATION_INVALID_TYPE")


@pytest.mark.parametrize(
    ("given_params", "actual"),
    [
        pytest.param([1], "array", id="an array"),
        pytest.param(1, "integer", id="an integer"),
        pytest.param(1.5, "number", id="a number"),
        pytest.param(True, "boolean", id="a boolean"),
        pytest.param("plain words", "string", id="a text"),
        pytest.param("", "string", id="an empty text"),
        pytest.param("[1]", "string", id="an array in a text"),
        pytest.param('{"a": 1', "string", id="half an object in a text"),
        pytest.param("[" * 3000, "string", id="endless brackets in a text"),
    ],
)
def test_params_of_another_type_are_refused(given_params: object, actual: str) -> None:
    code, message, details = refusal({"operation": "x", "params": given_params})
    assert code == "VALIDATION_INVALID_TYPE"
    assert message == f"Parameter 'params' expected 'object', got '{actual}'"
    assert details == {"param_name": "params", "expected_type": "object", "actual_type": actual}


@given(st.dictionaries(st.text(min_size=1).filter(lambda key: "\0" not in key), st.integers(-5, 5) | st.booleans()))
def test_a_stringified_object_reads_like_the_object(params: dict[str, object]) -> None:
    as_text = request({"operation": "x", "params": json.dumps(params)})
    as_object = request({"operation": "x", "params": params})
    assert (as_text.params, as_text.metadata) == (as_object.params, as_object.metadata)


@pytest.mark.parametrize("value", [1, None, "x", '"text"', "12", "{", b"{}"], ids=repr)
def test_only_a_text_that_holds_an_object_or_array_is_read(value: object) -> None:
    assert parse_stringified(value) is None


# The operation.


@pytest.mark.parametrize("arguments", [{}, {"params": {}}, {"operation": None}, {"a": 1}], ids=str)
def test_a_request_without_an_operation_says_how_to_list_them(arguments: object) -> None:
    code, message, details = refusal(arguments)
    assert code == "VALIDATION_MISSING_PARAM"
    assert message.startswith("Missing required parameter 'operation'")
    assert "introspect" in message
    assert details == {"param_name": "operation"}


@pytest.mark.parametrize(
    ("name", "actual"),
    [(1, "integer"), (True, "boolean"), (["x"], "array"), ({}, "object"), (0, "integer"), (False, "boolean")],
    ids=repr,
)
def test_an_operation_that_is_no_text_is_refused(name: object, actual: str) -> None:
    code, _, details = refusal({"operation": name})
    assert code == "VALIDATION_INVALID_TYPE"
    assert details == {"param_name": "operation", "expected_type": "string", "actual_type": actual}


def test_an_empty_operation_is_refused() -> None:
    assert refusal({"operation": ""})[0] == "VALIDATION_INVALID_VALUE"


@pytest.mark.parametrize(
    ("arguments", "actual"), [([], "array"), ("x", "string"), (None, "null"), (1, "integer"), ((), "array")], ids=repr
)
def test_arguments_that_are_no_object_are_refused(arguments: object, actual: str) -> None:
    code, _, details = refusal(arguments)
    assert code == "VALIDATION_INVALID_TYPE"
    assert details == {"param_name": "request", "expected_type": "object", "actual_type": actual}


# Batches.


def test_operations_make_a_batch_of_raw_items() -> None:
    assert decode({"operations": [{"operation": "x"}, 5]}, LIMITS) == Batch(({"operation": "x"}, 5))


def test_a_batch_may_carry_metadata() -> None:
    assert isinstance(decode({"operations": [1], "_meta": {}}, LIMITS), Batch)


def test_a_batch_sent_as_json_text_is_read() -> None:
    assert decode({"operations": '[{"operation": "x"}]'}, LIMITS) == Batch(({"operation": "x"},))


def test_the_limits_hold_for_a_batch_inside_a_text() -> None:
    small = Limits(max_array_elements=100)
    code, _, details = refusal({"operations": json.dumps([{"operation": "x"}] * 101)}, small)
    assert (code, details["limit_type"]) == ("VALIDATION_PAYLOAD_TOO_LARGE", "array_elements")


@pytest.mark.parametrize("items", [[], "[]"], ids=["an array", "a text"])
def test_an_empty_batch_is_refused(items: object) -> None:
    assert refusal({"operations": items})[0] == "VALIDATION_OUT_OF_RANGE"


@pytest.mark.parametrize(
    ("items", "actual"),
    [({}, "object"), (None, "null"), (1, "integer"), ("x", "string"), ('{"a": 1}', "object")],
    ids=repr,
)
def test_a_batch_that_is_no_array_is_refused_without_details(items: object, actual: str) -> None:
    message = f"Parameter 'operations' expected 'array', got '{actual}'"
    assert refusal({"operations": items}) == ("VALIDATION_INVALID_TYPE", message, {})


def test_a_batch_takes_no_parameters_beside_its_operations() -> None:
    code, message, details = refusal({"operations": [1], "params": {}, "look at me": 1})
    assert (code, details) == ("VALIDATION_UNKNOWN_PARAM", {})
    assert "'params'" in message
    assert "look" not in message


def test_one_operation_and_several_at_once_are_refused() -> None:
    code, message, _ = refusal({"operation": "x", "operations": []})
    assert code == "VALIDATION_INVALID_VALUE"
    assert "not both" in message


def test_a_batch_that_could_not_be_answered_in_one_piece_is_refused_before_anything_runs() -> None:
    limits = Limits(max_response_size=1024 * 1024)
    most = 1024 * 1024 // LARGEST_BRIEF_ITEM - 1
    assert isinstance(decode({"operations": [{"operation": "x"}] * most}, limits), Batch)
    code, _, details = refusal({"operations": [{"operation": "x"}] * (most + 1)}, limits)
    assert code == "VALIDATION_PAYLOAD_TOO_LARGE"
    assert (details["limit_value"], details["actual_value"]) == (most, most + 1)


def test_the_largest_array_of_the_defaults_is_a_possible_batch() -> None:
    assert isinstance(decode({"operations": [{"operation": "x"}] * LIMITS.max_array_elements}, LIMITS), Batch)


# Names of types.


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (None, "null"),
        (True, "boolean"),
        (1, "integer"),
        (1.0, "number"),
        ("", "string"),
        ([], "array"),
        ((), "array"),
        ({}, "object"),
        (object(), "unknown"),
    ],
    ids=["null", "boolean", "integer", "number", "string", "array", "tuple", "object", "anything else"],
)
def test_types_are_named_as_json_names_them(value: object, name: str) -> None:
    assert json_type(value) == name
