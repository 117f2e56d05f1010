"""Values like others: changed ones differ, absent ones do not exist, and what came back is known again."""

import re
import uuid
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.conformance.likeness import differing, lasting, same
from headgate.conformance.variation import absent, another, fresh, misfit, number_from, unlike

PLAIN = st.none() | st.booleans() | st.integers() | st.text(max_size=20)
JSON = st.recursive(
    PLAIN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
)
SALTS = st.text("0123456789abcdef", min_size=8, max_size=8)


@given(JSON)
def test_a_value_is_the_same_as_itself(value: Any) -> None:
    assert same(value, value)


@pytest.mark.parametrize(
    ("sent", "got"),
    [
        pytest.param(9.5, "9.50", id="a number as text"),
        pytest.param("12", 12, id="a text as number"),
        pytest.param(" Ada@Example.org ", "ada@example.org", id="trimmed and small"),
        pytest.param("2026-02-04T10:30:00+05:30", "2026-02-04T05:00:00Z", id="another zone"),
        pytest.param("2026-02-04", "2026-02-04T00:00:00Z", id="a day as a moment"),
        pytest.param(["b", "a"], ["a", "b"], id="sorted"),
        pytest.param({"a": 1}, {"a": 1, "b": 2}, id="more members"),
        pytest.param(7, {"id": 7, "name": "x"}, id="an identifier as its thing"),
    ],
)
def test_a_value_in_another_form_came_back(sent: object, got: object) -> None:
    assert same(sent, got)


@pytest.mark.parametrize(
    ("sent", "got"),
    [
        ("Bread", None),
        ("Bread", "Bre"),
        (9.5, 9),
        (["a", "b"], ["a"]),
        (["a"], ["a", "b"]),
        (["a"], "a"),
        ({"a": 1, "b": 2}, {"a": 1}),
        ({"a": 1}, "a"),
        ("2026-02-04", "2026-02-05"),
        ("2026-02-04", "soon"),
    ],
)
def test_what_lacks_something_did_not_come_back(sent: object, got: object) -> None:
    assert not same(sent, got)


@pytest.mark.parametrize("name", ["_etag", "updated_at", "version", "last_seen", "uptime", "progress"])
def test_what_changes_by_itself_is_no_difference(name: str) -> None:
    assert not lasting(name)
    assert differing({name: 1, "title": "a"}, {name: 2, "title": "a"}) == []


def test_differences_are_named_down_to_the_inner_field() -> None:
    before = {"title": "a", "meta": {"views": 1, "mood": "calm"}, "gone": 1}
    assert differing(before, {"title": "a", "meta": {"views": 2, "mood": "calm"}}) == ["gone", "meta.views"]


@pytest.mark.parametrize(
    ("value", "raw"),
    [
        ("Bread", {}),
        ("Bread", {"maxLength": 8}),
        ("x", {"minLength": 30}),
        ("a@b.org", {"format": "email"}),
        ("9780141439518", {"pattern": r"^\d{13}$"}),
        ("2001-02-03", {"format": "date"}),
        ("2020-01-01T00:00:00Z", {"format": "date-time"}),
        (5, {}),
        (10, {"maximum": 10}),
        (0, {"minimum": 0}),
        (6, {"multipleOf": 3}),
        (1.5, {}),
        (True, {}),
        ("north", {"enum": ["north", "south"]}),
    ],
)
@given(salt=SALTS)
def test_another_value_differs_and_keeps_the_rules(value: Any, raw: dict[str, Any], salt: str) -> None:
    other = another(value, raw, salt)
    assert type(other) is type(value)
    assert other != value
    assert len(str(other)) <= raw.get("maxLength", 200)
    assert len(str(other)) >= raw.get("minLength", 0)
    assert re.search(raw.get("pattern", ""), str(other))
    if isinstance(other, int | float):
        assert raw.get("minimum", other) <= other <= raw.get("maximum", other)
        assert other % raw.get("multipleOf", other or 1) == 0
    assert other in raw.get("enum", [other])


@pytest.mark.parametrize(
    ("value", "raw"),
    [
        ("one", {"enum": ["one"]}),
        ("one", {"enum": ["one", None]}),
        ("1.50", {"format": "decimal"}),
        ("10:00", {"format": "time"}),
        (5, {"minimum": 5, "maximum": 5}),
        (["a"], {}),
        (None, {}),
    ],
)
def test_where_no_other_value_is_sure_there_is_none(value: object, raw: dict[str, Any]) -> None:
    assert another(value, raw, "0a1b2c3d") is None


@pytest.mark.parametrize(
    ("value", "raw"),
    [
        ("Bread", {}),
        ("Bread", {"maxLength": 9}),
        ("ab-12", {"pattern": "^[a-z]{2}-[0-9]{2}$"}),
        ("x@y.org", {"format": "email"}),
        ("https://x.org", {"format": "uri"}),
        ("https://x.org", {"format": "url"}),
    ],
)
def test_two_runs_make_different_texts(value: str, raw: dict[str, Any]) -> None:
    made = [fresh(value, raw, salt) for salt in ("0a1b2c3d", "4e5f6a7b")]
    assert len({value, *made}) == 3
    assert all(len(one) <= raw.get("maxLength", 200) and re.search(raw.get("pattern", ""), one) for one in made)


def test_a_fresh_uuid_is_one() -> None:
    made = fresh("00000000-0000-4000-8000-000000000000", {"format": "uuid"}, "0a1b2c3d")
    assert uuid.UUID(made).version == 4


@pytest.mark.parametrize(
    ("value", "raw"),
    [
        (7, {}),
        ("en", {"enum": ["en", "no"]}),
        ("2020-01-01", {"format": "date"}),
        ("fixed", {"pattern": "^fixed$"}),
        ("x", {"pattern": "("}),
    ],
)
def test_what_cannot_be_made_unique_is_kept(value: object, raw: dict[str, Any]) -> None:
    assert fresh(value, raw, "0a1b2c3d") == value


@given(SALTS)
def test_an_absent_identifier_has_the_form_of_an_existing_one(salt: str) -> None:
    assert re.fullmatch(r"note_\d{6}", absent("note_7", {}, salt))
    assert re.fullmatch(r"\d{13}", absent("9780141439518", {"pattern": r"^\d{13}$"}, salt))
    assert absent(3, {}, salt) >= 1_000_000
    assert 1 <= absent(3, {"minimum": 1, "maximum": 50}, salt) <= 50
    assert absent("bread", {}, salt).endswith("bread")


@pytest.mark.parametrize("value", [True, None, ["a"], {"a": 1}])
def test_what_is_no_identifier_has_no_absent_one(value: object) -> None:
    assert absent(value, {}, "0a1b2c3d") is None


def test_an_identifier_that_cannot_be_changed_has_no_absent_one() -> None:
    assert absent("fixed", {"pattern": "^fixed$"}, "0a1b2c3d") is None


def test_bounds_that_contradict_each_other_give_the_lower_one() -> None:
    assert number_from("0a1b2c3d", {"minimum": 9, "maximum": 3}) == 9


@pytest.mark.parametrize("types", [(), ("object",), ("string", "object"), ("any",), ("Book",)])
def test_where_an_object_may_be_allowed_nothing_is_sure_to_be_wrong(types: tuple[str, ...]) -> None:
    assert misfit(types) is None


def test_an_object_is_wrong_where_only_plain_types_are_declared() -> None:
    assert isinstance(misfit(("string", "null")), dict)


@pytest.mark.parametrize(
    ("name", "value", "taken", "raw", "expected"),
    [
        pytest.param("stars", 3, [3, 2], {"minimum": 1, "maximum": 5}, 4, id="a number beside"),
        pytest.param("stars", 3, [3, 4], {"minimum": 1, "maximum": 5}, 5, id="a number further on"),
        pytest.param("stars", 5, [5, 5], {"minimum": 1, "maximum": 5}, 4, id="a number below"),
        pytest.param("stars", 1, [1, 2], {"minimum": 1, "maximum": 2}, 2, id="rather the value of another thing"),
        pytest.param("stars", 1, [1], {"minimum": 1, "maximum": 1}, 1, id="no other number"),
        pytest.param("stars", 0, [0], {"exclusiveMaximum": 1, "minimum": 0}, 0, id="a bound that is not reached"),
        pytest.param("stars", 7, [3], {}, 7, id="already another"),
        pytest.param("open", True, [True], {}, False, id="a boolean"),
        pytest.param("status", "a", ["a", "b"], {"enum": ["a", "b", "c"]}, "c", id="a choice"),
        pytest.param("status", "a", ["a"], {"enum": ["a", "archived"]}, "a", id="a choice that hides it"),
        pytest.param("is_archived", False, [False], {}, False, id="a boolean that hides it"),
        pytest.param("read_only", False, [False], {}, False, id="a boolean that closes it"),
        pytest.param("kind", "a", ["a"], {"const": "a"}, "a", id="a constant"),
        pytest.param("title", "a", ["a"], {}, "a", id="a text"),
    ],
)
def test_a_telling_value_is_none_that_is_taken(
    name: str, value: object, taken: list[object], raw: dict[str, Any], expected: object
) -> None:
    assert unlike(name, value, taken, raw) == expected
