"""Values are made from declarations: right ones keep to them, wrong ones do not, and edges are on their side."""

import re
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.conformance.building import (
    Edge,
    edges,
    fits,
    is_free,
    named_types,
    schema_of,
    value_for,
    wrong_typed,
    wrong_values,
)
from headgate.conformance.probe import CannotBeSeen
from headgate.conformance.survey import SeenParameter

TYPES: dict[str, dict[str, Any]] = {
    "Colour": {"name": "Colour", "kind": "enum", "values": ["red", "green"]},
    "Point": {
        "name": "Point",
        "kind": "object",
        "fields": [
            {"name": "x", "type": "integer", "required": True, "minimum": 3},
            {"name": "colour", "type": "Colour", "required": True},
            {"name": "note", "type": "string", "required": False},
        ],
    },
    "Either": {"name": "Either", "kind": "union", "members": ["Point", "integer"]},
    "Day": {"name": "Day", "kind": "scalar", "format": "date"},
    "Opaque": {"name": "Opaque", "kind": "scalar"},
    "Ring": {"name": "Ring", "kind": "object", "fields": [{"name": "inner", "type": "Ring", "required": True}]},
    "Empty": {"name": "Empty", "kind": "enum", "values": []},
}


def parameter(kind: object = "string", **rules: Any) -> SeenParameter:
    return SeenParameter({"name": "thing", "type": kind, **rules})


# right values


@pytest.mark.parametrize(
    ("declared", "kinds"),
    [
        pytest.param({"type": "string"}, str, id="a text"),
        pytest.param({"type": "integer", "minimum": 7}, int, id="a number"),
        pytest.param({"type": "boolean"}, bool, id="a boolean"),
        pytest.param({"type": "string | string[]"}, str, id="the first of several types"),
        pytest.param({"type": "null | integer"}, int, id="a value rather than null"),
        pytest.param({"type": "integer[]"}, list, id="a list of numbers"),
        pytest.param({"type": "array<Colour>"}, list, id="a list of a named type"),
        pytest.param({"type": "array", "items": {"type": "string", "enum": ["a"]}}, list, id="a list with items"),
        pytest.param({"type": "any"}, str, id="anything"),
        pytest.param({"type": ["integer", "null"]}, int, id="types as a list"),
        pytest.param(
            {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}, dict, id="schema"
        ),
        pytest.param({"type": "Point"}, dict, id="an object type"),
        pytest.param({"type": "Either"}, dict, id="a union type"),
        pytest.param({"type": "Day"}, str, id="a scalar type with a format"),
        pytest.param({"enum": ["a", "b"]}, str, id="choices without a type"),
        pytest.param({"type": "string", "enum": "red"}, str, id="choices that are no list say nothing"),
        pytest.param({"type": "string", "pattern": "(?<broken"}, str, id="a pattern that nobody can read says nothing"),
    ],
)
def test_a_made_value_has_the_declared_type(declared: dict[str, Any], kinds: type) -> None:
    made = value_for(SeenParameter({"name": "thing", **declared}), {}, TYPES)

    assert type(made) is kinds
    assert fits(SeenParameter({"name": "thing", **declared}), made, TYPES)


def test_an_object_type_is_filled_as_its_fields_demand() -> None:
    made = value_for(parameter("Point"), {}, TYPES)

    assert made["x"] >= 3
    assert made["colour"] in ("red", "green")


@pytest.mark.parametrize(
    ("form", "pattern"),
    [
        ("date", r"\d{4}-\d\d-\d\d"),
        ("date-time", r"\d{4}-\d\d-\d\dT.+Z"),
        ("email", r"[^@]+@[^@]+"),
        ("uri", r"https?://.+"),
        ("uuid", r"[0-9a-f-]{36}"),
        ("ipv4", r"(\d+\.){3}\d+"),
        ("hostname", r"[a-z.]+"),
    ],
)
def test_a_text_has_its_documented_format(form: str, pattern: str) -> None:
    assert re.fullmatch(pattern, value_for(parameter(format=form), {}))


@pytest.mark.parametrize(
    "declared",
    [
        pytest.param({"type": "Unheard"}, id="an unknown type"),
        pytest.param({"type": "Opaque"}, id="a scalar of no known form"),
        pytest.param({"type": "Empty"}, id="an enumeration without values"),
        pytest.param({"type": "string", "format": "isbn"}, id="a format of its own"),
        pytest.param({"type": "integer", "minimum": 5, "maximum": 4}, id="a contradiction"),
        pytest.param({"type": "string", "minLength": 10**9}, id="a text of a gigabyte"),
        pytest.param({}, id="no type and no choices"),
    ],
)
def test_where_no_value_can_be_made_the_fixtures_are_asked_for(declared: dict[str, Any]) -> None:
    with pytest.raises(CannotBeSeen, match=r"'thing'.*--fixtures"):
        value_for(SeenParameter({"name": "thing", **declared}), {}, TYPES)


def test_a_known_value_goes_before_every_made_one() -> None:
    assert value_for(parameter("Unheard"), {"thing": 5}) == 5


def test_a_type_that_contains_itself_ends() -> None:
    assert schema_of({"type": "Ring"}, TYPES) is not None
    assert isinstance(value_for(parameter("Ring"), {}, TYPES), dict)


def test_the_types_that_a_declaration_names_are_found_at_every_depth() -> None:
    declared = {
        "type": "Point | Colour[] | string | any",
        "items": {"type": "Day"},
        "fields": [{"name": "a", "type": "array<Ring>"}],
        "members": ["Either", "integer"],
    }

    assert list(named_types(declared)) == ["Point", "Colour", "Day", "Ring", "Either"]


bounds = st.integers(-1000, 1000)
declarations = st.one_of(
    st.builds(lambda low, more: {"type": "integer", "minimum": low, "maximum": low + more}, bounds, st.integers(0, 50)),
    st.builds(lambda low, more: {"type": "number", "minimum": low, "maximum": low + more}, bounds, st.integers(0, 50)),
    st.builds(lambda low: {"type": "integer", "minimum": low + 0.5}, bounds),
    st.builds(
        lambda short, more: {"type": "string", "minLength": short, "maxLength": short + more},
        st.integers(0, 40),
        st.integers(0, 40),
    ),
    st.builds(
        lambda letters, least, most: {"type": "string", "pattern": f"^[{letters}]{{{least},{least + most}}}$"},
        st.sampled_from(["a-z", "A-F0-9", "xyz_"]),
        st.integers(0, 9),
        st.integers(0, 9),
    ),
    st.builds(
        lambda choices: {"type": "string", "enum": choices},
        st.lists(st.text("abc", min_size=1), min_size=1, max_size=5),
    ),
    st.builds(
        lambda choices: {"type": "integer", "enum": choices}, st.lists(bounds, min_size=1, max_size=5, unique=True)
    ),
    st.sampled_from([{"type": "boolean"}, {"type": "object"}, {"type": "array"}, {"type": "string"}]),
)
arrays = declarations.map(lambda inner: {"type": "array", "items": inner})


@given(st.one_of(declarations, arrays))
def test_every_made_value_satisfies_its_declaration(declared: dict[str, Any]) -> None:
    try:
        made = value_for(SeenParameter({"name": "thing", **declared}), {})
    except CannotBeSeen:
        raise AssertionError(f"nothing was made for {declared}") from None
    assert jsonschema_rs.is_valid(declared, made)


@given(st.one_of(declarations, arrays))
def test_every_edge_is_on_the_side_that_it_says(declared: dict[str, Any]) -> None:
    for edge in edges(SeenParameter({"name": "thing", **declared})):
        assert jsonschema_rs.is_valid(declared, edge.value) is edge.inside


@given(st.one_of(declarations, arrays))
def test_a_value_of_a_wrong_type_is_never_allowed(declared: dict[str, Any]) -> None:
    one = SeenParameter({"name": "thing", **declared})

    assert wrong_values(one)[0] == wrong_typed(one) is not None
    assert not any(jsonschema_rs.is_valid({"type": declared["type"]}, wrong) for wrong in wrong_values(one))


# wrong values


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        ("string", dict),
        ("integer", dict),
        ("string | string[]", dict),
        ("string[]", dict),
        ("object", str),
        ("object | object[] | string", bool),
        ("object | string | boolean", int),
        ("Colour", dict),
        ("Point", str),
    ],
)
def test_a_wrong_type_is_one_that_nobody_would_convert(kind: str, wrong: type) -> None:
    assert type(wrong_typed(parameter(kind), TYPES)) is wrong


@pytest.mark.parametrize(
    ("kind", "rules", "more"),
    [
        ("integer", {}, ["probe", 1.5]),
        ("integer", {"minimum": 10}, ["probe", 10.5]),
        ("integer", {"maximum": -3}, ["probe", -3.5]),
        ("integer | null", {}, ["probe", 1.5]),
        ("number", {}, ["probe"]),
        ("integer | number", {}, ["probe"]),
        ("boolean", {}, ["probe"]),
        ("string", {}, []),
        ("string | integer", {}, []),
    ],
)
def test_a_word_is_no_number_and_a_fraction_is_no_whole_one(kind: str, rules: dict[str, Any], more: list[Any]) -> None:
    assert wrong_values(parameter(kind, **rules))[1:] == more


@pytest.mark.parametrize("kind", ["any", "Unheard", "any | string", "object | string | boolean | integer", None])
def test_where_every_type_may_be_right_none_is_wrong(kind: str | None) -> None:
    assert wrong_typed(parameter(kind), TYPES) is None
    assert wrong_values(parameter(kind), TYPES) == []


# edges


def test_the_edges_of_a_number_are_its_bounds_and_one_step_beyond() -> None:
    found = edges(parameter("integer", minimum=1, maximum=100))

    assert found == [
        Edge(1, True, "minimum 1"),
        Edge(0, False, "minimum 1"),
        Edge(100, True, "maximum 100"),
        Edge(101, False, "maximum 100"),
    ]


def test_the_edges_of_a_length_are_texts() -> None:
    found = edges(parameter(minLength=1, maxLength=3))

    assert [(edge.value, edge.inside) for edge in found] == [("x", True), ("", False), ("xxx", True), ("xxxx", False)]


def test_the_edges_of_a_pattern_match_and_do_not() -> None:
    inside, outside = edges(parameter(pattern="^[a-f]{2}$"))

    assert re.fullmatch("[a-f]{2}", inside.value)
    assert not re.search("^[a-f]{2}$", outside.value)


@pytest.mark.parametrize(
    ("choices", "outside"),
    [(["a", "b"], ["zz_no_such_value"]), ([1, 5], [6]), ([True], []), (["a", 1], [])],
    ids=["texts", "numbers", "booleans", "mixed"],
)
def test_the_edges_of_choices_are_the_first_the_last_and_none_of_them(choices: list[Any], outside: list[Any]) -> None:
    found = edges(parameter("string | integer | boolean", enum=choices))

    assert [edge.value for edge in found if edge.inside] == list(dict.fromkeys([choices[0], choices[-1]]))
    assert [edge.value for edge in found if not edge.inside] == outside


def test_what_an_item_of_a_list_must_be_has_edges_too() -> None:
    found = edges(parameter("array", items={"type": "integer", "maximum": 3}))

    assert [(edge.value, edge.inside) for edge in found] == [([3], True), ([4], False)]


@pytest.mark.parametrize(
    "declared",
    [
        pytest.param({"type": "integer", "minimum": True, "maximum": "9"}, id="bounds that are no numbers"),
        pytest.param({"type": "integer", "maximum": 2**60}, id="bounds beyond exact numbers"),
        pytest.param({"type": "string", "maxLength": 10**7}, id="a text that is too long to be sent"),
        pytest.param({"type": "string", "minLength": -1, "pattern": 5}, id="rules that say nothing"),
        pytest.param({"type": "string", "pattern": ".*"}, id="a pattern that everything matches"),
        pytest.param({"type": "Unheard", "minimum": 1}, id="an unknown type"),
        pytest.param({"type": "object"}, id="no rules"),
    ],
)
def test_nothing_is_wrong_beyond_a_rule_that_cannot_be_broken_here(declared: dict[str, Any]) -> None:
    assert [edge for edge in edges(SeenParameter({"name": "thing", **declared})) if not edge.inside] == []


def test_an_edge_that_another_rule_forbids_is_left_out() -> None:
    found = edges(parameter(minLength=2, format="date"))

    assert [edge.inside for edge in found] == [False]


@pytest.mark.parametrize(
    ("declared", "free"),
    [
        ({"type": "string"}, True),
        ({"type": "object"}, True),
        ({"type": "string", "enum": ["a"]}, False),
        ({"type": "string", "format": "date"}, False),
        ({"type": "integer"}, False),
        ({"type": "Unheard"}, True),
    ],
)
def test_a_text_or_an_object_without_rules_is_free(declared: dict[str, Any], free: bool) -> None:
    assert is_free(SeenParameter({"name": "thing", **declared})) is free
