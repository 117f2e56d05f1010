"""``format: "table"``: the same items, with the names of their fields said once."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate import Adapter, Engine, connect
from headgate.adapter.operations import Operation
from headgate.adapter.tabular import offering_tables
from headgate.client.pages import page_of
from headgate.protocol.categories import Category
from headgate.protocol.tables import records_of, table_of
from tests.adapter.library import answered, engine
from tests.engine.asking import ask, engine_of, error

pytestmark = pytest.mark.anyio

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
RECORDS = st.lists(st.dictionaries(st.text(max_size=4), JSON, max_size=5), max_size=6)


@given(RECORDS)
def test_a_table_is_read_back_as_the_records_it_was_made_of(records: list[dict[str, Any]]) -> None:
    table = table_of(records)
    assert isinstance(table, dict)
    names = dict.fromkeys(name for record in records for name in record)
    assert records_of(table) == [{name: record.get(name) for name in names} for record in records]
    assert page_of(table).items == records_of(table)


@pytest.mark.parametrize("other", [None, 3, "text", {"a": 1}, [1, 2], [{"a": 1}, None], {"items": [1], "pageInfo": {}}])
def test_what_is_no_list_of_objects_stays_what_it_is(other: object) -> None:
    assert table_of(other) == other


def test_a_page_keeps_what_it_says_beside_its_items() -> None:
    page = {"items": [{"a": 1}, {"b": 2}], "pageInfo": {"hasNextPage": False}, "rest": {"total": 2}}
    assert table_of(page) == {
        "columns": ["a", "b"],
        "rows": [[1, None], [None, 2]],
        "pageInfo": {"hasNextPage": False},
        "rest": {"total": 2},
    }


@pytest.mark.parametrize("own", [{"columns": "mine"}, {"rows": 1}, {"columns": [], "rows": []}])
def test_of_a_page_that_has_columns_or_rows_of_its_own_nothing_is_lost(own: dict[str, Any]) -> None:
    page = {"items": [{"a": 1}], "pageInfo": {}, **own}
    assert table_of(page) == page


def listing(returns: dict[str, Any]) -> Operation:
    things = {"Thing": {"type": "object"}}
    return Operation("list_things", Category.READ, print, summary="List things.", returns=returns, definitions=things)


@pytest.mark.parametrize(
    "returns",
    [
        {"type": "array", "items": {"type": "object"}},
        {"type": "array", "items": {"properties": {"a": {}}}},
        {"type": "array", "items": {"$ref": "#/$defs/Thing"}},
        {"type": "object", "properties": {"items": {"type": "array", "items": {}}, "pageInfo": {}}},
    ],
)
def test_a_list_of_objects_is_known_by_the_form_of_the_answer(returns: dict[str, Any]) -> None:
    assert offering_tables(listing(returns)).parameter("format") is not None


@pytest.mark.parametrize(
    "returns",
    [
        {},
        {"type": "object"},
        {"type": "array"},
        {"type": "array", "items": {"type": "string"}},
        {"type": "object", "properties": {"items": {"type": "array", "items": {"type": "object"}}}},
        {"type": "object", "properties": {"items": {"type": "array", "items": {}}, "pageInfo": {}, "columns": {}}},
        {"type": "object", "properties": {"items": {"type": "array", "items": {"type": "string"}}, "pageInfo": {}}},
    ],
)
def test_where_there_is_none_no_table_is_offered(returns: dict[str, Any]) -> None:
    made = listing(returns)
    assert offering_tables(made) is made


@pytest.mark.parametrize(
    "other",
    [
        {},
        {"columns": ["a"]},
        {"columns": [1], "rows": [[1]]},
        {"columns": ["a"], "rows": [1]},
        {"columns": ["a"], "rows": [[1, 2]]},
    ],
)
def test_what_only_looks_like_a_table_is_none(other: dict[str, Any]) -> None:
    assert records_of(other) is None


# collections


PAGES: tuple[dict[str, Any], ...] = (
    {},
    {"fields": "full"},
    {"sort": "-price", "first": 1},
    {"last": 1},
    {"limit": 1, "offset": 1},
    {"page": 2, "page_size": 1},
)


@pytest.mark.parametrize("params", PAGES)
async def test_a_page_has_the_same_items_and_tells_the_same_of_itself(params: dict[str, Any]) -> None:
    made = engine()
    plain = await answered(made, "list_books", **params)
    table = await answered(made, "list_books", format="table", **params)
    assert records_of(table) == plain.pop("items")
    assert {key: value for key, value in table.items() if key not in ("columns", "rows")} == plain


async def test_paths_over_relationships_and_into_json_are_columns_and_null_where_they_lead_nowhere() -> None:
    fields = ["title", "author.name", "author.mentor.name", "details.pages", "_computed.cheap"]
    made = engine()
    table = await answered(made, "list_books", format="table", fields=fields)
    assert table["columns"] == fields
    plain = (await answered(made, "list_books", fields=fields))["items"]
    for row, item in zip(table["rows"], plain, strict=True):
        mentor = item["author"]["mentor"] if item["author"] else None
        assert row == [
            item["title"],
            item["author"] and item["author"]["name"],
            mentor and mentor["name"],
            item.get("details", {}).get("pages"),
            item["_computed"]["cheap"],
        ]


async def test_a_search_gives_tables_and_summaries_stand_beside_them() -> None:
    made = engine()
    found = await answered(made, "search_books", query="emma", format="table")
    assert found["columns"] == ["isbn", "title"]
    both = await answered(made, "list_books", format="table", aggregate={"n": {"count": True}}, include_items=True)
    assert both["aggregations"]["n"] == len(both["rows"])


async def test_cursors_of_a_table_lead_on() -> None:
    made = engine()
    first = await answered(made, "list_books", format="table", first=1)
    cursor = first["pageInfo"]["endCursor"]
    second = await answered(made, "list_books", format="table", first=1, after=cursor)
    plain = await answered(made, "list_books", first=2)
    assert [*records_of(first), *records_of(second)] == plain["items"]  # type: ignore[misc]


async def test_edges_have_no_place_in_a_table() -> None:
    refused = await error(engine(), "list_books", format="table", edges=True)
    assert refused["code"] == "VALIDATION_INVALID_VALUE"
    assert refused["details"]["conflicting_params"] == ["format", "edges"]


async def test_another_form_is_refused() -> None:
    assert (await error(engine(), "list_books", format="csv"))["code"] == "VALIDATION_INVALID_ENUM"


# functions


@dataclass
class Ticket:
    """A place in a room."""

    room: str
    day: date
    price: Decimal
    photo: bytes = b""


async def list_tickets() -> list[Ticket]:
    """List tickets."""
    return [Ticket("A", date(2026, 1, 2), Decimal("9.50"), b"\x00"), Ticket("B", date(2026, 1, 3), Decimal(10))]


async def list_ragged() -> list[dict[str, Any]]:
    """List things."""
    return [{"a": 1, "b": {"c": [1, 2]}}, {"d": None, "a": 2}]


async def test_a_function_that_gives_a_list_of_objects_gives_a_table_too() -> None:
    made = engine_of(list_tickets)
    plain = (await ask(made, "list_tickets"))["data"]
    assert records_of((await ask(made, "list_tickets", format="table"))["data"]) == plain
    assert (await ask(made, "list_tickets", format="records"))["data"] == plain


async def test_records_with_different_fields_have_all_of_them_as_columns_and_nested_values_in_their_cells() -> None:
    assert (await ask(engine_of(list_ragged), "list_ragged", format="table"))["data"] == {
        "columns": ["a", "b", "d"],
        "rows": [[1, {"c": [1, 2]}, None], [2, None, None]],
    }


async def list_formats(format: str) -> list[dict[str, Any]]:  # noqa: A002  (the name is what matters)
    """List things in a format of their own."""
    return [{"format": format}]


async def get_ticket() -> dict[str, Any]:
    """Get one."""
    return {}


async def list_words() -> list[str]:
    """List words."""
    return ["a"]


async def create_tickets() -> list[dict[str, Any]]:
    """Create tickets."""
    return []


async def test_a_parameter_of_an_authors_own_is_passed_on_as_ever() -> None:
    made = engine_of(list_formats)
    assert (await ask(made, "list_formats", format="table"))["data"] == [{"format": "table"}]


async def test_it_is_offered_only_where_there_is_a_list_of_objects_to_read() -> None:
    made = engine_of(list_tickets, list_ragged, get_ticket, list_words, create_tickets)
    offered = [name for name, one in made.adapter.operations.items() if one.parameter("format")]
    assert offered == ["list_tickets", "list_ragged"]


async def test_the_client_walks_tables_as_it_walks_items() -> None:
    adapter = Adapter("shelf")
    adapter.collection(Ticket, key="room", items=[Ticket(f"R{one}", date(2026, 1, 1), Decimal(1)) for one in range(7)])
    async with connect(adapter) as shelf:
        walked = [one async for one in shelf.pages("list_tickets", format="table", first=3, fields=["room"])]
    assert walked == [{"room": f"R{one}"} for one in range(7)]


# what it saves


async def test_a_table_of_a_page_is_a_quarter_shorter() -> None:
    made = Engine(_many())
    plain, table = [len(str(await answered(made, "list_tickets", **form))) for form in ({}, {"format": "table"})]
    assert table < 0.75 * plain


def _many() -> Adapter:
    adapter = Adapter("shelf")
    adapter.collection(Ticket, key="room", items=[Ticket(f"R{one}", date(2026, 1, 1), Decimal(1)) for one in range(25)])
    return adapter
