"""An UPDATE: what says where stands beside ``input``, the change in it, and the upstream gets one object."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate import Category, Operation
from headgate.protocol.errors import Invalid
from headgate.sources.shapes import NOT_GIVEN, Shaped, has_changes, shaped
from tests.sources.shapes.making import NAMES, Maker, ahead, operation_of

TEXT = {"type": "string"}


def names_it(own: str) -> bool:
    """Whether a field says which thing is meant."""
    return own.lower().endswith("id")


def update_of(shape: Shaped) -> Operation:
    async def function(**values: object) -> object:
        return values

    return Operation(
        "update_thing",
        Category.UPDATE,
        function,
        shape.parameters,
        summary="Change a thing.",
        definitions=shape.definitions,
        rules=shape.rules,
    )


BOOK = {
    "properties": {"bookId": TEXT, "shelfId": TEXT, "newTitle": TEXT, "input": TEXT, "dryRun": {"type": "boolean"}},
    "required": ["bookId", "newTitle"],
}


def test_the_rest_of_the_fields_are_the_change() -> None:
    shape = shaped(BOOK, update=names_it)
    assert [(one.name, one.required) for one in shape.parameters] == [
        ("book_id", True),
        ("shelf_id", False),
        ("input", True),
    ]
    changes = shape.parameters[-1].schema
    assert list(changes["properties"]) == ["new_title", "input", "dry_run_value"]
    assert changes["required"] == ["new_title"]
    assert shape.rules == {}


def test_the_upstream_gets_one_object_with_its_own_names() -> None:
    shape = shaped(BOOK, update=names_it)
    changes = {"new_title": "t", "input": "i", "dry_run_value": True}
    assert update_of(shape).validator.is_valid({"book_id": "b", "input": changes})
    assert shape.back({"book_id": "b", "shelf_id": NOT_GIVEN, "input": changes}) == {
        "bookId": "b",
        "newTitle": "t",
        "input": "i",
        "dryRun": True,
    }


def test_names_inside_the_change_are_ours_too() -> None:
    shape = shaped({"properties": {"id": TEXT, "x": {"properties": {"aB": TEXT}}}}, update=names_it)
    assert shape.back({"id": "i", "input": {"x": {"a_b": "t"}}}) == {"id": "i", "x": {"aB": "t"}}


def test_a_field_that_is_called_input_is_part_of_the_change_even_if_it_names_the_thing() -> None:
    shape = shaped({"properties": {"input": TEXT, "id": TEXT}}, update=lambda own: True)
    assert [one.name for one in shape.parameters] == ["id", "input"]
    assert shape.back({"id": "i", "input": {"input": "x"}}) == {"id": "i", "input": "x"}


@pytest.mark.parametrize("key", ["shelf_id", "shelfId", "book_id", "bookId"])
def test_what_says_where_cannot_be_put_into_the_change_of_an_open_object(key: str) -> None:
    shape = shaped({**BOOK, "additionalProperties": True}, update=names_it)
    sent = {"book_id": "b", "shelf_id": "s", "input": {"new_title": "t", key: "another"}}
    with pytest.raises(Invalid):
        shape.back(sent)


def test_further_fields_of_an_open_object_are_part_of_the_change() -> None:
    shape = shaped({"properties": {"id": TEXT}, "additionalProperties": TEXT}, update=names_it)
    assert update_of(shape).validator.is_valid({"id": "i", "input": {"colour": "red"}})
    assert not update_of(shape).validator.is_valid({"id": "i", "input": {"colour": 1}})
    assert shape.back({"id": "i", "input": {"colour": "red"}}) == {"id": "i", "colour": "red"}


@pytest.mark.parametrize(
    ("rule", "right", "wrong"),
    [
        ({"anyOf": [{"required": ["aB"]}, {"required": ["c"]}]}, {"a_b": 1}, {}),
        ({"dependentRequired": {"aB": ["c"]}}, {"c": 1}, {"a_b": 1}),
        ({"if": {"required": ["aB"]}, "then": {"required": ["c"]}}, {"a_b": 1, "c": 1}, {"a_b": 1}),
        ({"not": {"required": ["aB", "c"]}}, {"c": 1}, {"a_b": 1, "c": 1}),
    ],
)
def test_a_rule_about_the_change_alone_is_kept(rule: dict[str, Any], right: object, wrong: object) -> None:
    shape = shaped({"properties": {"id": TEXT, "aB": {}, "c": {}}, **rule}, update=names_it)
    assert shape.notes == ()
    assert update_of(shape).validator.is_valid({"id": "i", "input": right})
    assert not update_of(shape).validator.is_valid({"id": "i", "input": wrong})


@pytest.mark.parametrize(
    "rule",
    [
        {"anyOf": [{"required": ["id"]}, {"required": ["c"]}]},
        {"minProperties": 2},
        {"if": {"required": ["id"]}, "then": {"required": ["c"]}, "else": {"required": ["aB"]}},
        {"allOf": [{"anyOf": [{"required": ["c"]}]}]},
        {"dependentRequired": {"id": ["c"]}},
    ],
)
def test_a_rule_about_more_than_the_change_is_left_to_the_upstream_and_told(rule: dict[str, Any]) -> None:
    shape = shaped({"properties": {"id": TEXT, "aB": {}, "c": {}}, **rule}, update=names_it)
    assert shape.notes == ("its rules about several parameters together are checked only there",)
    assert update_of(shape).validator.is_valid({"id": "i", "input": {}})


def test_without_anything_beside_it_the_change_has_all_the_rules() -> None:
    shape = shaped({"properties": {"a": {}}, "minProperties": 1}, update=names_it)
    assert not update_of(shape).validator.is_valid({"input": {}})


@pytest.mark.parametrize(
    ("schema", "has"),
    [
        ({"properties": {"id": TEXT}}, False),
        ({"properties": {"id": TEXT, "a": TEXT}}, True),
        ({"properties": {"id": TEXT}, "additionalProperties": True}, True),
        ({"type": "object"}, True),
        ({"properties": {}}, False),
        ({"$ref": "#/$defs/A", "$defs": {"A": {"properties": {"id": TEXT}}}}, False),
        ({"anyOf": [{"properties": {"id": TEXT}}, {"properties": {"a": TEXT}}]}, True),
    ],
)
def test_whether_there_is_anything_to_change(schema: object, has: bool) -> None:
    assert has_changes(schema, names_it) is has


@settings(max_examples=300)
@given(st.integers(0, 2**40), st.sets(st.sampled_from(NAMES)))
def test_an_update_sends_what_the_same_request_would_send(seed: int, where: set[str]) -> None:
    maker = Maker(seed)
    schema = maker.document()
    flat, folded = shaped(schema), shaped(schema, update=where.__contains__)
    value = maker.value(schema)
    sent = ahead(flat, value)
    if sent is None:
        return
    beside = {parameter.name for parameter in folded.parameters if parameter.name != "input"}
    apart = {name: child for name, child in sent.items() if name in beside}
    update = {**apart, "input": {name: child for name, child in sent.items() if name not in beside}}
    if not where.isdisjoint(value.keys() - flat.own_names.keys() - set(flat.own_names.values())):
        return
    assert folded.back(update) == value
    if operation_of(flat).validator.is_valid(sent):
        operation = update_of(folded)
        assert operation.validator.is_valid(update), (schema, update, folded)
