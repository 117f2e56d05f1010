"""Collection querying: lists, searches and queries in one shape, and told so that an agent can use them."""

from typing import Any

import pytest

from tests.spec.test_4_4_collections import LISTINGS, parameters, plants
from tests.spec.wires import Aql, data_of, error_of
from tests.spec.world import PLANTS

pytestmark = pytest.mark.anyio

CONTROLS = {"filter", "sort", "fields", "aggregate", "include_items", "first", "after", "last", "before"}


@pytest.mark.proves(
    "cq-1-shared-parameter-shapes",
    "cq-3-list-supports-filter",
    "cq-3-list-supports-sort",
    "cq-3-list-supports-pagination",
    "cq-3-list-supports-fields",
    "cq-3-search-supports-controls",
    "cq-6-controls-in-parameters",
    "cq-6-field-selection-told",
    "cq-2.6-style-documented",
)
async def test_lists_and_searches_take_the_same_controls_in_the_same_shapes(aql: Aql) -> None:
    each = [await parameters(aql, operation) for operation in LISTINGS]
    assert all(set(one) >= CONTROLS for one in each)
    assert [{name: one[name] for name in CONTROLS} for one in each[1:]] == [
        {name: each[0][name] for name in CONTROLS}
    ] * (len(each) - 1)


@pytest.mark.proves("cq-2.1-search-uses-query", "cq-2.1-list-does-not-require-query", "cq-3-search-uses-query")
async def test_a_search_takes_query_and_a_list_does_not_need_it(aql: Aql) -> None:
    assert (await parameters(aql, "search_plants"))["query"]["type"] == "string"
    assert "query" not in await parameters(aql, "list_plants")
    assert (await plants(aql, first=1))["items"]


@pytest.mark.proves(
    "cq-2.2-filter-is-object",
    "cq-2.2-unsupported-filter-keys-rejected",
    "cq-5-unsupported-filter-keys-rejected",
    "cq-5-unsupported-sort-fields-rejected",
    "cq-5-advertised-controls-not-ignored",
    "cq-5-partial-support-explicit",
)
@pytest.mark.parametrize("operation", ["list_plants", "search_plants"])
@pytest.mark.parametrize(
    "control",
    [
        {"filter": {"colour": "red"}},
        {"filter": {"height": {"like": "4"}}},
        {"filter": ["kind"]},
        {"sort": {"field": "colour", "order": "asc"}},
        {"fields": ["colour"]},
        {"fields": "prettiest"},
        {"aggregate": {"odd": {"median": "height"}}},
        {"aggregate": {"odd": {"sum": "colour"}}},
    ],
    ids=str,
)
async def test_a_control_that_cannot_be_followed_is_refused_and_never_ignored(
    aql: Aql, operation: str, control: dict[str, Any]
) -> None:
    more = {"query": "herb"} if operation == "search_plants" else {}
    refused = error_of(await aql.read(operation, **more, **control))
    assert refused["code"].startswith("VALIDATION_")


@pytest.mark.proves("cq-2.3-sort-shape")
async def test_the_short_form_of_sorting_works_and_is_said_to_be_for_compatibility(aql: Aql) -> None:
    whole = await plants(aql, sort={"field": "height", "order": "desc"}, first=30)
    assert await plants(aql, sort="-height", first=30) == whole
    told = (await parameters(aql, "list_plants"))["sort"]["description"]
    assert "for compatibility" in told


@pytest.mark.proves("cq-2.4-computed-fields-prefixed", "cq-6-computed-fields-told")
async def test_a_computed_field_is_told_and_selected_under_its_prefix(aql: Aql) -> None:
    told = (await aql.operation("list_plants"))["computed_fields"]
    assert [one["name"] for one in told] == ["tall"]
    found = await plants(aql, fields=["_computed.tall"], first=3)
    assert [item["_computed"] for item in found["items"]] == [{"tall": plant.height > 3} for plant in PLANTS[:3]]
    assert error_of(await aql.read("list_plants", fields=["tall"]))["code"].startswith("VALIDATION_")


@pytest.mark.proves("cq-2.4-preset-is-alias-only")
async def test_preset_is_nothing_but_another_name_for_fields(aql: Aql) -> None:
    assert await plants(aql, preset="card") == await plants(aql, fields="card")
    assert "Compatibility alias" in (await parameters(aql, "list_plants"))["preset"]["description"]


@pytest.mark.proves("cq-2.5-aggregate-shape", "cq-2.5-summary-by-default", "cq-6-aggregation-functions-told")
async def test_summaries_come_alone_unless_items_are_asked_for(aql: Aql) -> None:
    aggregate = {"total": {"count": True}}
    assert await plants(aql, aggregate=aggregate) == {"aggregations": {"total": len(PLANTS)}}
    both = await plants(aql, aggregate=aggregate, include_items=True, first=2)
    assert (both["aggregations"], len(both["items"])) == ({"total": len(PLANTS)}, 2)
    told = (await aql.operation("list_plants"))["aggregation_support"]
    assert (told["supported"], told["default_mode"]) == (True, "summary_only")
    assert set(told["functions"]) == {"count", "group_by", "sum", "avg", "min", "max"}


@pytest.mark.proves("cq-2.6-mixed-styles-rejected", "cq-5-mixed-pagination-rejected")
@pytest.mark.parametrize(
    "mixed",
    [{"first": 1, "limit": 1}, {"first": 1, "page": 1}, {"limit": 1, "page_size": 1}, {"first": 1, "last": 1}],
    ids=str,
)
async def test_two_styles_of_paging_in_one_request_are_refused(aql: Aql, mixed: dict[str, int]) -> None:
    assert error_of(await aql.read("list_plants", **mixed))["code"] == "VALIDATION_INVALID_VALUE"


@pytest.mark.proves(
    "cq-2.6-style-documented", "cq-2.6-cursor-paging-preferred", "cq-6-paging-style-told", "cq-5-applied-controls-told"
)
async def test_the_styles_of_paging_are_told_and_a_cursor_is_what_an_answer_offers(aql: Aql) -> None:
    assert "Pages: first/after or last/before (preferred)" in (await aql.operation("list_plants"))["description"]
    assert "pageInfo" in await plants(aql)
    assert (await plants(aql, limit=2, offset=4))["pagination"] | {"total_items": 0} == {
        "limit": 2,
        "offset": 4,
        "returned": 2,
        "total_items": 0,
        "has_more": True,
    }


@pytest.mark.proves("cq-6-filter-and-sort-fields-told", "cq-3-omissions-explicit")
async def test_the_fields_to_filter_and_sort_by_are_told_in_words_and_for_machines(aql: Aql) -> None:
    described = (await aql.operation("list_plants"))["description"]
    collections = (await aql.introspect("collections"))["collections"]
    told = next(one for one in collections if one["name"] == "plants")
    for field in ("plant_id", "name", "kind", "garden_id", "height", "planted"):
        assert field in described
        assert field in told["sort_fields"]
        assert next(one for one in told["fields"] if one["name"] == field)["operators"]
    assert "sort" not in await parameters(aql, "count_plants")


@pytest.mark.proves("cq-6-examples-combine-controls")
@pytest.mark.parametrize("operation", LISTINGS)
async def test_an_example_combines_controls_and_works(aql: Aql, operation: str) -> None:
    requests = [example["request"]["params"] for example in (await aql.operation(operation))["examples"]]
    combined = [params for params in requests if len(CONTROLS & set(params)) > 1]
    assert combined
    for params in combined:
        data_of(await aql.read(operation, **params))


@pytest.mark.proves("cq-4.1-multi-word-consistent", "cq-4.1-or-semantics")
async def test_of_several_words_any_may_match(aql: Aql) -> None:
    async def found(words: str) -> set[int]:
        return {item["plant_id"] for item in (await plants(aql, "search_plants", query=words, first=100))["items"]}

    assert await found("herb tree") == await found("herb") | await found("tree")
    assert "any of them may match" in (await parameters(aql, "search_plants"))["query"]["description"]


@pytest.mark.proves(
    "cq-2.1-query-grammar-documented",
    "cq-3-query-grammar-documented",
    "cq-3-query-supports-controls",
    "cq-4.2-grammar-summarized",
    "cq-4.2-input-type-in-introspection",
    "cq-4.2-example-composes-controls",
    "cq-6-query-grammar-summarized",
)
async def test_a_query_with_a_grammar_of_its_own_is_described_typed_and_shown(aql: Aql) -> None:
    told = await aql.operation("query_relationships")
    assert "Follow relationships from one item to others" in told["description"]
    assert "Relationship types: plant_garden" in told["description"]
    shown = {parameter["name"]: parameter for parameter in told["parameters"]}
    assert shown["root"]["type"] == "object"
    assert "element_type, element_name" in shown["root"]["description"]
    assert {"first", "after"} <= set(shown)
    requests = [example["request"]["params"] for example in told["examples"]]
    assert [params for params in requests if {"relationship", "depth", "first"} <= set(params)]
    for params in requests:
        assert data_of(await aql.read("query_relationships", **params))["root"]
