"""Operations 4.2 and 4.4: the parameters that operations share, and the pages that they answer with."""

from itertools import pairwise
from typing import Annotated, Any

import pytest

from headgate import Adapter, Param
from tests.spec.conftest import Serve
from tests.spec.wires import Aql, data_of, error_of
from tests.spec.world import GARDENS, PLANTS

pytestmark = pytest.mark.anyio

LISTINGS = ["list_plants", "search_plants", "list_gardens", "search_gardens"]
SHARED = [
    *("fields", "preset", "filter", "sort", "aggregate", "include_items", "edges"),
    *("first", "after", "last", "before", "limit", "offset", "page", "page_size"),
]
TYPES = {
    "fields": {"string", "string[]"},
    "filter": {"object"},
    "sort": {"object", "object[]", "string"},
    "aggregate": {"object"},
    "include_items": {"boolean"},
    "edges": {"boolean"},
    **{name: {"string"} for name in ("preset", "after", "before")},
    **{name: {"number", "integer"} for name in ("first", "last", "limit", "offset", "page", "page_size")},
}


async def plants(aql: Aql, operation: str = "list_plants", **params: Any) -> dict[str, Any]:
    found: dict[str, Any] = data_of(await aql.read(operation, **params))
    return found


def ids(found: dict[str, Any]) -> list[int]:
    return [item["plant_id"] for item in found["items"]]


async def parameters(aql: Aql, operation: str) -> dict[str, dict[str, Any]]:
    return {parameter["name"]: parameter for parameter in (await aql.operation(operation))["parameters"]}


# 4.2 Common parameter patterns


@pytest.mark.proves("ops-4.2-text-search-uses-query")
async def test_text_is_searched_for_with_query(aql: Aql) -> None:
    found = await plants(aql, "search_plants", query="herb", first=100)
    assert set(ids(found)) == {plant.plant_id for plant in PLANTS if plant.kind == "herb"}
    assert (await parameters(aql, "search_plants"))["query"]["required"] is True
    assert "query" not in await parameters(aql, "list_plants")


@pytest.mark.proves("ops-4.2-cursor-paging-uses-first-after")
async def test_pages_are_walked_with_first_and_after(aql: Aql) -> None:
    seen: list[int] = []
    after: dict[str, str] = {}
    while True:
        found = await plants(aql, first=12, **after)
        seen += ids(found)
        if not found["pageInfo"]["hasNextPage"]:
            break
        after = {"after": found["pageInfo"]["endCursor"]}
    assert seen == [plant.plant_id for plant in PLANTS]


@pytest.mark.proves("ops-4.2-offset-paging-uses-limit-offset")
async def test_pages_can_be_asked_for_with_limit_and_offset(aql: Aql) -> None:
    assert ids(await plants(aql, limit=5, offset=10)) == [11, 12, 13, 14, 15]


@pytest.mark.proves("ops-4.2-filtering-uses-filter-object")
async def test_items_are_filtered_with_an_object_and_an_unknown_key_is_refused(aql: Aql) -> None:
    found = await plants(aql, filter={"kind": "tree", "height": {"gte": 2}, "garden.country": "FR"}, first=100)
    expected = [
        plant.plant_id
        for plant in PLANTS
        if plant.kind == "tree" and plant.height >= 2 and GARDENS[plant.garden_id - 1].country == "FR"
    ]
    assert ids(found) == expected
    refused = error_of(await aql.read("list_plants", filter={"colour": "red"}))
    assert refused["code"] == "VALIDATION_UNKNOWN_FIELD"


@pytest.mark.proves("ops-4.2-sorting-uses-sort-object")
@pytest.mark.parametrize("order", ["asc", "desc"])
async def test_items_are_sorted_with_field_and_order(aql: Aql, order: str) -> None:
    found = await plants(aql, sort={"field": "height", "order": order}, first=100)
    heights = [item["height"] for item in found["items"]]
    assert heights == sorted(heights, reverse=order == "desc")
    refused = error_of(await aql.read("list_plants", sort={"field": "height", "order": "down"}))
    assert refused["code"].startswith("VALIDATION_")


@pytest.mark.proves("ops-4.2-selection-uses-fields", "spec-10.1-field-selection-implemented")
@pytest.mark.parametrize(
    ("fields", "item"),
    [
        pytest.param("minimal", {"plant_id": 1, "name": "herb number 1"}, id="a preset"),
        pytest.param("card", {"name": "herb number 1", "garden": {"name": "Giverny"}}, id="a preset of its own"),
        pytest.param(["kind", "_computed.tall"], {"kind": "herb", "_computed": {"tall": True}}, id="a list"),
    ],
)
async def test_fields_are_selected_by_a_preset_or_a_list(aql: Aql, fields: object, item: dict[str, Any]) -> None:
    assert (await plants(aql, fields=fields, first=1))["items"] == [item]
    one = data_of(await aql.read("get_plant", plant_id=1, fields=fields))
    assert {name: one[name] for name in one if name != "_etag"} == item


@pytest.mark.proves("ops-4.2-aggregation-uses-aggregate-object")
async def test_summaries_are_asked_for_by_name_and_items_are_left_out(aql: Aql) -> None:
    aggregate = {"total": {"count": True}, "by_kind": {"group_by": "kind", "count": True}, "tallest": {"max": "height"}}
    assert await plants(aql, aggregate=aggregate) == {
        "aggregations": {
            "total": len(PLANTS),
            "by_kind": {"tree": 10, "herb": 10, "flower": 10},
            "tallest": max(plant.height for plant in PLANTS),
        }
    }


# 4.4 Cross-cutting parameters


@pytest.mark.proves(
    "ops-4.4-shared-parameters-defined-once",
    "ops-4.4.4-shared-names-identical",
    "ops-4.4.4-shared-types-identical",
    "ops-4.4.4-shared-descriptions-equivalent",
    "ops-4.4.4-shared-defaults-consistent",
)
async def test_a_shared_parameter_is_the_same_in_every_operation_that_has_it(aql: Aql) -> None:
    each = [await parameters(aql, operation) for operation in LISTINGS]
    for one, other in pairwise(each):
        assert {name: one[name] for name in SHARED} == {name: other[name] for name in SHARED}
    alone = await parameters(aql, "get_plant")
    assert {name: alone[name] for name in ("fields", "preset")} == {
        name: each[0][name] for name in ("fields", "preset")
    }
    assert (await parameters(aql, "count_plants"))["filter"] == each[0]["filter"]


@pytest.mark.proves("ops-4.4.5-shared-parameters-expanded-inline", "intro-8.1.2-feature-parameters-fully-typed")
@pytest.mark.parametrize("operation", LISTINGS)
async def test_shared_parameters_are_shown_in_full(aql: Aql, operation: str) -> None:
    shown = await parameters(aql, operation)
    assert set(SHARED) <= set(shown)
    for name in SHARED:
        assert set(shown[name]["type"].split(" | ")) - {"null"} <= TYPES[name], shown[name]
        assert shown[name]["required"] is False
        assert shown[name]["description"]
        assert not [key for key in shown[name] if key.startswith("$")]


@pytest.mark.proves("ops-4.4.2-shared-definition-mechanism-used")
async def test_an_author_declares_a_parameter_once_and_uses_it_in_many_operations(serve: Serve) -> None:
    region = Annotated[str, Param(description="A part of the land", min_length=2)]
    adapter = Adapter("towns")

    @adapter.read
    async def list_towns(region: region = "all") -> str:
        """List towns."""
        return str(region)

    @adapter.read
    async def count_towns(region: region = "all") -> str:
        """Count towns."""
        return str(region)

    async with serve(adapter) as aql:
        one, other = [(await parameters(aql, name))["region"] for name in ("list_towns", "count_towns")]
    assert one == other
    assert (one["minLength"], one["description"]) == (2, "A part of the land")


@pytest.mark.proves("ops-4.4.2-existing-references-preserved")
async def test_the_older_name_of_a_selection_keeps_working_and_is_documented_as_an_alias(aql: Aql) -> None:
    assert await plants(aql, preset="minimal") == await plants(aql, fields="minimal")
    shown = (await parameters(aql, "list_plants"))["preset"]
    assert "alias of fields" in shown["description"]


# 4.4.3 Pagination response structure

CURSOR = {"hasNextPage", "hasPreviousPage", "startCursor", "endCursor", "totalCount"}
ANSWERS = [
    pytest.param({"first": 12}, "pageInfo", CURSOR, id="by cursor"),
    pytest.param({"last": 12}, "pageInfo", CURSOR, id="by cursor from the end"),
    pytest.param({}, "pageInfo", CURSOR, id="unless said"),
    pytest.param(
        {"page": 2, "page_size": 12},
        "pagination",
        {"page", "page_size", "total_items", "total_pages", "has_more"},
        id="by number",
    ),
    pytest.param(
        {"limit": 12, "offset": 24},
        "pagination",
        {"limit", "offset", "returned", "total_items", "has_more"},
        id="by offset",
    ),
]


@pytest.mark.proves("ops-4.4.3-paginated-answers-carry-metadata")
@pytest.mark.parametrize(("asked", "key", "names"), ANSWERS)
@pytest.mark.parametrize(("operation", "more"), [("list_plants", {}), ("search_plants", {"query": "number"})])
async def test_every_page_says_how_to_go_on(
    aql: Aql, operation: str, more: dict[str, Any], asked: dict[str, Any], key: str, names: set[str]
) -> None:
    found = await plants(aql, operation, **more, **asked)
    assert set(found) == {"items", key}
    assert set(found[key]) == names


@pytest.mark.proves("ops-4.4.3-cursor-paging-has-page-info")
async def test_page_info_is_true_on_the_first_the_middle_and_the_last_page(aql: Aql) -> None:
    first = await plants(aql, first=12)
    middle = await plants(aql, first=12, after=first["pageInfo"]["endCursor"])
    last = await plants(aql, first=12, after=middle["pageInfo"]["endCursor"])
    told = [(page["pageInfo"]["hasPreviousPage"], page["pageInfo"]["hasNextPage"]) for page in (first, middle, last)]
    assert told == [(False, True), (True, True), (True, False)]
    assert [len(page["items"]) for page in (first, middle, last)] == [12, 12, 6]
    back = await plants(aql, last=12, before=middle["pageInfo"]["startCursor"])
    assert ids(back) == ids(first)
    assert {page["pageInfo"]["totalCount"] for page in (first, middle, last)} == {len(PLANTS)}


@pytest.mark.proves("ops-4.4.3-page-paging-has-pagination")
async def test_a_numbered_page_says_which_it_is(aql: Aql) -> None:
    found = await plants(aql, page=3, page_size=12)
    assert ids(found) == [25, 26, 27, 28, 29, 30]
    assert found["pagination"] == {
        "page": 3,
        "page_size": 12,
        "total_items": 30,
        "total_pages": 3,
        "has_more": False,
    }


@pytest.mark.proves("ops-4.4.3-offset-paging-has-pagination")
async def test_an_offset_page_says_where_it_is(aql: Aql) -> None:
    found = await plants(aql, limit=12, offset=6)
    assert found["pagination"] == {"limit": 12, "offset": 6, "returned": 12, "total_items": 30, "has_more": True}


@pytest.mark.proves("ops-4.4.3-cursor-paging-has-page-info")
async def test_a_cursor_that_was_changed_or_mixed_with_another_style_is_refused(aql: Aql) -> None:
    cursor = (await plants(aql, first=1))["pageInfo"]["endCursor"]
    for wrong in (
        {"first": 1, "after": cursor[:-1]},
        {"first": 1, "last": 1},
        {"after": cursor},
        {"first": 1, "page": 1},
        {"limit": 1, "after": cursor},
    ):
        assert error_of(await aql.read("list_plants", **wrong))["code"] == "VALIDATION_INVALID_VALUE"
