"""Answers in a bundle have the forms of the specification's schemas, and values are compared as its runner does."""

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.conformance.evidence.readings import (
    MISSING,
    at_path,
    compact,
    holds_true,
    plain_words,
    same_json,
    same_scalar,
    text_of,
)
from headgate.conformance.evidence.shapes import Shape, complaints
from tests.conformance.evidence.bundles import fine
from tests.support import schema_errors, spec_schemas

DETAILS = {
    **fine()["introspection"]["operation_details"][2],
    "examples": [{"request": {"operation": "create_lamp"}, "description": "A lamp."}],
    "computed_fields": [{"name": "age_days", "type": "number", "filterable": True}],
    "aggregation_support": {"supported": True, "functions": ["count"], "default_mode": "summary_only"},
    "relationship_capabilities": {"supported": True, "directions": ["both"], "max_depth": 2},
    "lifecycle": {"states": ["running"], "supports_cancel": True},
}
FAILURE = {
    "success": False,
    "error": {"code": "CONFIRMATION_REQUIRED", "message": "Agree first.", "details": {}},
    "confirmation": {"token": "t", "expires_at": "2026-02-04T10:30:00Z", "reasons": ["it is final"]},
    "deprecated": True,
    "removalVersion": "3.0",
}
SUCCESS = {
    **fine()["batch_example"],
    "warnings": [{"code": "ODD", "message": "odd", "severity": "low"}],
    "_meta": {"request_id": "r", "duration_ms": 0.5},
}
FORMS: list[tuple[str, Any, tuple[str, str]]] = [
    (Shape.ENVELOPE, FAILURE, ("operation-result", "")),
    (Shape.ENVELOPE, SUCCESS, ("operation-result", "")),
    (Shape.OPERATION, DETAILS, ("introspection-response", "OperationDetails")),
    (
        Shape.OPERATIONS,
        fine()["introspection"]["operations_list"]["data"],
        ("introspection-response", "OperationsListData"),
    ),
    (Shape.TYPES, fine()["introspection"]["types_list"]["data"], ("introspection-response", "TypesListData")),
]
OTHERS: list[Any] = [None, True, False, -1, 0, 2.5, "", "READ", "level-1", "low", "1.2.3", [], ["x"], {}, {"x": 1}]


def variants(value: Any) -> Iterator[Any]:
    """The value with each part of it missing, of another kind, or with something added."""
    if isinstance(value, dict):
        for key in value:
            yield {name: one for name, one in value.items() if name != key}
            yield from ({**value, key: other} for other in variants(value[key]))
        yield {**value, "added": 1}
    elif isinstance(value, list):
        for place, one in enumerate(value):
            yield from ([*value[:place], other, *value[place + 1 :]] for other in variants(one))
        yield [*value, None]
    yield from (copy.deepcopy(other) for other in OTHERS if type(other) is not type(value) or other != value)


@pytest.mark.parametrize(("shape", "value", "schema"), FORMS, ids=["failure", "success", "details", "list", "types"])
def test_every_form_agrees_with_the_schema_whatever_is_wrong(shape: str, value: Any, schema: tuple[str, str]) -> None:
    spec_schemas()
    assert complaints(shape, value) == []
    differing = [one for one in variants(value) if bool(complaints(shape, one)) != bool(schema_errors(one, *schema))]
    assert differing == []


def test_a_complaint_says_where() -> None:
    (wrong,) = complaints(Shape.ENVELOPE, {"success": False, "error": {"code": "x", "message": "m"}})
    assert wrong.startswith("/error/code ")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("data.items.1.name", "b"),
        ("data.items.length", 2),
        ("data.items.0.name.length", 1),
        ("data.items.0.name.0", "a"),
        ("data.items.2", MISSING),
        ("data.items.01", MISSING),
        ("data.items.x", MISSING),
        ("data.none", None),
        ("data.none.more", MISSING),
        ("", MISSING),
        (None, MISSING),
        (MISSING, MISSING),
    ],
)
def test_a_path_leads_through_objects_and_lists(path: object, expected: object) -> None:
    assert at_path({"data": {"items": [{"name": "a"}, {"name": "b"}], "none": None}}, path) == expected


@pytest.mark.parametrize(
    ("one", "other", "as_scalars", "as_json"),
    [
        (1, 1.0, True, True),
        (1, True, False, False),
        (0, False, False, False),
        ("1", 1, False, False),
        (None, None, True, True),
        (None, MISSING, False, False),
        (MISSING, MISSING, True, True),
        ([], [], False, True),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, False, False),
        ({"2": 1, "1": 2}, {"1": 2, "2": 1}, False, True),
        (2**53, 2**53 + 1, True, True),
        (10**400, 10**400 + 1, True, True),
        ([1, [True]], [1.0, [True]], False, True),
        ("exactly", None, False, False),
    ],
)
def test_values_are_the_same_where_the_runner_takes_them_for_it(
    one: object, other: object, as_scalars: bool, as_json: bool
) -> None:
    assert (same_scalar(one, other), same_json(one, other)) == (as_scalars, as_json)


@pytest.mark.parametrize(
    ("value", "expected"),
    [(True, True), ({}, True), ([], True), ("disabled", True), (1, True)]
    + [(value, False) for value in (False, None, 0, "", MISSING)],
)
def test_every_object_and_list_counts_as_yes(value: object, expected: bool) -> None:
    assert holds_true(value) is expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [("text", "text"), (None, "null"), (True, "true"), (1.0, "1"), (1e300, "1e+300"), ([1.5], "[1.5]")],
)
def test_a_value_has_a_text(value: object, expected: str) -> None:
    assert text_of(value) == expected


def test_what_is_not_there_has_one_too() -> None:
    assert (text_of(MISSING), repr(MISSING)) == ("undefined", "nothing")
    assert (plain_words(None), plain_words(MISSING), plain_words(7)) == ("", "", "7")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(json_values)
def test_everything_is_the_same_as_itself(value: Any) -> None:
    assert same_json(value, copy.deepcopy(value))
    assert same_scalar(value, value) is not isinstance(value, dict | list)


@given(st.text())
def test_plain_words_stay_as_they_are(text: str) -> None:
    once = plain_words(text)
    assert plain_words(once) == once
    assert all(character.isascii() and (character.isalnum() or character in "_ ") for character in once)


@given(json_values)
def test_compact_json_has_the_same_value(value: Any) -> None:
    assert same_json(json.loads(compact(value)), value)
