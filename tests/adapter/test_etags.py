"""Versions of resources (Spec 9.3.2)."""

import copy
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from headgate import VersionMismatch, etag_of, require_match, with_etag


class Book(BaseModel):
    title: str
    pages: int = Field(1, alias="pageCount")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.dictionaries(st.text(max_size=3), JSON, max_size=4)


def reordered(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: reordered(value[key]) for key in reversed(value)}
    return [reordered(item) for item in value] if isinstance(value, list) else value


@given(OBJECTS)
def test_equal_content_has_an_equal_tag_whatever_the_order_of_keys(resource: dict[str, Any]) -> None:
    assert etag_of(resource) == etag_of(reordered(resource))


@given(OBJECTS, OBJECTS)
def test_other_content_has_another_tag(one: dict[str, Any], two: dict[str, Any]) -> None:
    def content(resource: dict[str, Any]) -> str:
        return repr(sorted((key, repr(reordered(value))) for key, value in resource.items() if key != "_etag"))

    if content(one) != content(two) and content(reordered(one)) != content(two):
        assert etag_of(one) != etag_of(two)


@given(OBJECTS)
def test_a_tag_is_not_part_of_what_it_tags(resource: dict[str, Any]) -> None:
    before = copy.deepcopy(resource)
    tagged = with_etag(resource)
    assert resource == before
    assert tagged["_etag"] == etag_of(tagged) == etag_of(resource)


def test_a_tag_is_weak_and_short() -> None:
    tag = etag_of({"a": 1})
    assert tag.startswith('W/"')
    assert len(tag) == len('W/""') + 16


@pytest.mark.parametrize(
    "resource",
    [
        {"when": datetime(2026, 1, 1, tzinfo=UTC)},
        {"price": Decimal("1.50")},
        {"data": b"\xff\x00"},
        {"number": 10**40},
        {"text": "\ud800"},
        {1: {2, 3}},
        Book(title="x", pageCount=2),
        [1, 2],
    ],
    ids=["datetime", "Decimal", "bytes", "huge integer", "lone surrogate", "set", "model", "list"],
)
def test_whatever_can_be_answered_can_be_tagged(resource: object) -> None:
    assert etag_of(resource) == etag_of(copy.deepcopy(resource))


def test_a_model_is_tagged_under_the_names_that_the_caller_knows() -> None:
    assert with_etag(Book(title="x", pageCount=2)) == {
        "title": "x",
        "pageCount": 2,
        "_etag": etag_of(Book(title="x", pageCount=2)),
    }


@pytest.mark.parametrize("if_match", [None, "*"], ids=["no condition", "any version"])
def test_a_change_without_a_condition_passes(if_match: str | None) -> None:
    require_match(if_match, {"a": 1}, "book", 1)


def test_a_change_of_the_version_that_stands_passes() -> None:
    require_match(etag_of({"a": 1}), {"a": 1, "_etag": "old"}, "book", 1)


def test_a_stale_change_is_refused_with_the_version_that_stands() -> None:
    with pytest.raises(VersionMismatch) as raised:
        require_match(etag_of({"a": 1}), {"a": 2}, "book", "b1")
    assert raised.value.error.details == {
        "resource_type": "book",
        "resource_id": "b1",
        "current_etag": etag_of({"a": 2}),
    }
