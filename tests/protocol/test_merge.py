"""The merge of an UPDATE's input into a resource (Spec 4.5.1, 4.5.2)."""

import copy
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate import merge

KEYS = st.sampled_from(["a", "b", "c", "d"])
SCALARS = st.booleans() | st.integers() | st.text(max_size=3)


def objects(leaves: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    values = st.recursive(
        leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=8
    )
    return st.dictionaries(KEYS, values, max_size=4)


RESOURCES = objects(SCALARS)
CHANGES = objects(SCALARS | st.none())


def test_the_example_of_the_specification() -> None:
    resource = {"title": "Old Title", "metadata": {"priority": "low", "tags": ["draft"], "author": "alice"}}
    changes = {"title": "New Title", "metadata": {"priority": "high", "tags": ["published", "reviewed"]}}
    assert merge(resource, changes) == {
        "title": "New Title",
        "metadata": {"priority": "high", "tags": ["published", "reviewed"], "author": "alice"},
    }


@pytest.mark.parametrize(
    ("resource", "changes", "merged"),
    [
        pytest.param({"a": 1, "b": 2}, {"a": None}, {"b": 2}, id="null removes"),
        pytest.param({"a": {"b": 1, "c": 2}}, {"a": {"b": None}}, {"a": {"c": 2}}, id="null removes inside"),
        pytest.param({"a": 1}, {"b": None}, {"a": 1}, id="null for what is not there"),
        pytest.param({"a": [1, 2]}, {"a": [3]}, {"a": [3]}, id="an array replaces"),
        pytest.param({"a": [{"b": 1}]}, {"a": [{"c": 2}]}, {"a": [{"c": 2}]}, id="elements do not merge"),
        pytest.param({"a": 1}, {"a": {"b": 2}}, {"a": {"b": 2}}, id="an object replaces a scalar"),
        pytest.param({"a": {"b": 2}}, {"a": 1}, {"a": 1}, id="a scalar replaces an object"),
        pytest.param({}, {"a": {"b": None}}, {"a": {}}, id="null inside a new object"),
        pytest.param({"a": {"b": 1}}, {"a": {}}, {"a": {"b": 1}}, id="an empty object changes nothing"),
        pytest.param({"a": False}, {"a": 0}, {"a": 0}, id="a falsy value is a value"),
        pytest.param([1], {"a": 1}, {"a": 1}, id="a resource that is no object"),
        pytest.param({"a": 1}, [2], [2], id="changes that are no object"),
        pytest.param({"a": 1}, None, None, id="no changes to an object at all"),
    ],
)
def test_merging(resource: object, changes: object, merged: object) -> None:
    assert merge(resource, changes) == merged


def test_any_mapping_merges() -> None:
    assert merge(MappingProxyType({"a": MappingProxyType({"b": 1})}), {"a": {"c": 2}}) == {"a": {"b": 1, "c": 2}}


@given(RESOURCES)
def test_no_changes_give_the_resource_back(resource: dict[str, Any]) -> None:
    assert merge(resource, {}) == resource


@given(RESOURCES, CHANGES)
def test_the_same_changes_twice_are_as_good_as_once(resource: dict[str, Any], changes: dict[str, Any]) -> None:
    once = merge(resource, changes)
    assert merge(once, changes) == once


@given(RESOURCES, CHANGES)
def test_keys_absent_from_the_changes_are_preserved(resource: dict[str, Any], changes: dict[str, Any]) -> None:
    merged = merge(resource, changes)
    assert isinstance(merged, dict)
    assert {key: value for key, value in merged.items() if key not in changes} == {
        key: value for key, value in resource.items() if key not in changes
    }


@given(RESOURCES, CHANGES)
def test_what_the_changes_say_is_so_afterwards(resource: dict[str, Any], changes: dict[str, Any]) -> None:
    def holds(merged: object, said: object) -> bool:
        if not isinstance(said, Mapping):
            return merged == said
        return isinstance(merged, Mapping) and all(
            key not in merged if value is None else key in merged and holds(merged[key], value)
            for key, value in said.items()
        )

    assert holds(merge(resource, changes), changes)


@given(RESOURCES, CHANGES)
def test_neither_argument_is_touched(resource: dict[str, Any], changes: dict[str, Any]) -> None:
    before = copy.deepcopy((resource, changes))
    merge(resource, changes)
    assert (resource, changes) == before


@given(RESOURCES)
def test_a_resource_merged_into_nothing_is_the_resource(resource: dict[str, Any]) -> None:
    assert merge({}, resource) == resource
    assert merge(None, resource) == resource
