"""What is answered: nested items, what is missing, page information, totals, and groups."""

from typing import Any

import pytest

from headgate.query.answers import Shaper, summaries_answer
from headgate.query.backends import Fetched, Groups, Read
from headgate.query.building import Branch, Leaf, compiled
from headgate.query.memory import list_items
from headgate.query.paging import QueryOptions
from tests.query.shop import BOOKS, Shop, shop


def one(isbn: str, *fields: str) -> Any:
    return shop().shown(filter={"isbn": isbn}, fields=list(fields))[0]


# items


def test_values_are_shown_as_their_columns_say_and_null_as_null() -> None:
    made = shop()
    query = made.read(fields=["title", "author.name"]).query
    assert query is not None
    title, name = (next(p for p, path in enumerate(query.listing.columns) if path.text == t) for t in TEXTS)
    reads: list[Read | None] = [None] * len(query.listing.columns)
    reads[title], reads[name] = str.upper, str.lower
    rows, _ = list_items(query.listing, query.values, made.held.__getitem__, 4, 0)
    untitled = (*rows[3][:title], None, *rows[3][title + 1 :])
    fetched = Fetched([*rows[:3], untitled], reads=tuple(reads))
    items = made.shaper.page(query, fetched)["items"]
    assert items[0] == {"title": "A DOLL'S HOUSE", "author": {"name": "ibsen"}}
    assert items[3] == {"title": None, "author": None}


TEXTS = ("title", "author.name")


def test_cursors_hold_values_as_they_are_stored() -> None:
    made = shop()
    query = made.read(fields=["isbn"], first=2).query
    assert query is not None
    rows, _ = list_items(query.listing, query.values, made.held.__getitem__, 3, 0)
    shown = made.shaper.page(query, Fetched(rows, reads=(lambda isbn: f"ISBN {isbn}",)))
    assert [item["isbn"] for item in shown["items"]] == ["ISBN 1", "ISBN 2"]
    assert made.keys(first=2, after=shown["pageInfo"]["endCursor"]) == ["3", "4"]


def test_no_name_of_a_field_can_become_code() -> None:
    name = "x': 1}, print('no') for y in {'"
    assert compiled(Branch(None, {name: Leaf(0)}), 1, None)([(1,), (2,)]) == [{name: 1}, {name: 2}]


ITEMS = [
    pytest.param("1", ["title", "author.name"], {"title": "A Doll's House", "author": {"name": "Ibsen"}}, id="nested"),
    pytest.param(
        "3",
        ["author.mentor.name", "author.name"],
        {"author": {"name": "Shaw", "mentor": {"name": "Ibsen"}}},
        id="two levels deep",
    ),
    pytest.param("1", ["author"], {"author": {"id": 1, "name": "Ibsen"}}, id="the essence of a related item"),
    pytest.param("3", ["author.mentor"], {"author": {"mentor": {"id": 1, "name": "Ibsen"}}}, id="of a distant one"),
    pytest.param(
        "4", ["title", "author"], {"title": "Beowulf", "author": None}, id="a relationship that leads nowhere"
    ),
    pytest.param("4", ["author.name", "author.mentor.name"], {"author": None}, id="nothing lies beyond nowhere"),
    pytest.param("4", ["author.mentor.name", "author.name"], {"author": None}, id="in whatever order it is asked"),
    pytest.param(
        "1",
        ["author.mentor.name", "author.country"],
        {"author": {"mentor": None, "country": "NO"}},
        id="a second relationship that leads nowhere",
    ),
    pytest.param("2", ["author.notes"], {"author": {"notes": None}}, id="a value of a related item that is null"),
    pytest.param("1", ["details.pages"], {"details": {"pages": 88}}, id="a key inside JSON"),
    pytest.param(
        "1",
        ["details.pages", "details.size.width"],
        {"details": {"pages": 88, "size": {"width": 11.5}}},
        id="several keys inside JSON",
    ),
    pytest.param("2", ["isbn", "details.print"], {"isbn": "2", "details": {"print": None}}, id="null inside JSON"),
    pytest.param("2", ["isbn", "details.size.width"], {"isbn": "2"}, id="a key that JSON lacks is left out"),
    pytest.param("4", ["isbn", "details.pages"], {"isbn": "4"}, id="no JSON, no key"),
    pytest.param(
        "5", ["author.notes.born.town"], {"author": {"notes": {"born": {"town": "Skien"}}}}, id="JSON of a related item"
    ),
    pytest.param("1", ["_computed.cheap"], {"_computed": {"cheap": True}}, id="a computed field"),
    pytest.param(
        "1",
        ["author._computed.initial", "_computed.length"],
        {"author": {"_computed": {"initial": "I"}}, "_computed": {"length": 14}},
        id="computed fields here and there",
    ),
    pytest.param("4", ["author.notes.born.town"], {"author": None}, id="there is no JSON nowhere"),
    pytest.param("2", ["author.notes.born.town"], {"author": {}}, id="a related item whose JSON lacks a key"),
    pytest.param("4", ["author._computed.initial"], {"author": None}, id="nothing is computed of nowhere"),
    pytest.param("1", ["_computed.hidden"], {"_computed": {"hidden": 1}}, id="what is not filtered by can be shown"),
    pytest.param("1", ["tags", "in_stock"], {"tags": ["play", "classic"], "in_stock": True}, id="plain values"),
]


@pytest.mark.parametrize(("isbn", "fields", "expected"), ITEMS)
def test_an_item_has_the_form_of_its_paths(isbn: str, fields: list[str], expected: object) -> None:
    assert one(isbn, *fields) == expected


def test_fields_stand_in_the_order_they_were_asked_for() -> None:
    assert list(one("1", "title", "isbn", "_computed.cheap", "price")) == ["title", "isbn", "_computed", "price"]


def test_a_function_gets_the_values_that_a_backend_wrote_as_text() -> None:
    made = shop()
    query = made.read(fields=["_computed.cheap"], filter={"isbn": "1"}).query
    assert query is not None
    row = tuple("9.50" if path.text == "price" else None for path in query.listing.columns)
    assert made.shaper.page(query, Fetched([row]))["items"] == [{"_computed": {"cheap": True}}]


# page information


def test_a_page_that_holds_everything_has_nothing_before_or_after() -> None:
    info = shop().page()["pageInfo"]
    assert (info["hasNextPage"], info["hasPreviousPage"], info["totalCount"]) == (False, False, 5)


def test_a_walk_forward_knows_what_lies_ahead_and_behind() -> None:
    made = shop()
    seen, told, after = [], [], None
    for _ in range(3):
        page = made.page(first=2, fields=["isbn"], **({"after": after} if after else {}))
        info, after = page["pageInfo"], page["pageInfo"]["endCursor"]
        seen.append([item["isbn"] for item in page["items"]])
        told.append((info["hasPreviousPage"], info["hasNextPage"]))
    assert seen == [["1", "2"], ["3", "4"], ["5"]]
    assert told == [(False, True), (True, True), (True, False)]


def test_a_walk_backward_gives_its_pages_in_the_same_order() -> None:
    made = shop()
    seen, told, before = [], [], None
    for _ in range(3):
        page = made.page(last=2, fields=["isbn"], **({"before": before} if before else {}))
        info, before = page["pageInfo"], page["pageInfo"]["startCursor"]
        seen.append([item["isbn"] for item in page["items"]])
        told.append((info["hasPreviousPage"], info["hasNextPage"]))
    assert seen == [["4", "5"], ["2", "3"], ["1"]]
    assert told == [(True, False), (True, True), (False, True)]


def test_a_page_without_items_has_no_cursors() -> None:
    made = shop()
    assert made.page(filter={"isbn": "9"})["pageInfo"] == {
        "hasNextPage": False,
        "hasPreviousPage": False,
        "totalCount": 0,
    }
    end = made.page(last=1)["pageInfo"]["endCursor"]
    assert made.page(first=1, after=end) == {
        "items": [],
        "pageInfo": {"hasNextPage": False, "hasPreviousPage": True, "totalCount": 5},
    }


def test_a_page_of_no_items_tells_whether_there_are_any() -> None:
    assert shop().page(first=0)["pageInfo"]["hasNextPage"] is True
    assert shop().page(first=0, filter={"isbn": "9"})["pageInfo"]["hasNextPage"] is False


def test_edges_have_a_cursor_each_in_place_of_items() -> None:
    made = shop()
    page = made.page(first=3, edges=True, fields=["isbn"])
    assert set(page) == {"edges", "pageInfo"}
    assert [edge["node"] for edge in page["edges"]] == [{"isbn": "1"}, {"isbn": "2"}, {"isbn": "3"}]
    cursors = [edge["cursor"] for edge in page["edges"]]
    assert (cursors[0], cursors[-1]) == (page["pageInfo"]["startCursor"], page["pageInfo"]["endCursor"])
    assert made.keys(first=5, after=cursors[1]) == ["3", "4", "5"]


def test_edges_without_a_key_lead_on_too() -> None:
    made = shop()
    edges = made.page("log", edges=True)["edges"]
    rest = made.page("log", first=9, after=edges[1]["cursor"])
    assert rest["items"] == [edge["node"] for edge in edges[2:]]


def page_of(total: int | None, rows: int, **params: Any) -> dict[str, Any]:
    """A page of a backend that found so many rows, one more than the page if there are more."""
    made = shop()
    query = made.read(fields=["isbn"], **params).query
    assert query is not None
    found = [(str(number),) for number in range(rows)]
    return Shaper(made.cursors).page(query, Fetched(found, total=total))


@pytest.mark.parametrize(
    ("asked", "rows", "total", "expected"),
    [
        pytest.param({}, 3, None, 3, id="all of them are here"),
        pytest.param({"first": 2}, 3, None, None, id="there are more than are here"),
        pytest.param({"first": 2}, 3, 7, 7, id="the backend knows"),
        pytest.param({}, 0, None, 0, id="there are none"),
        pytest.param({"last": 3}, 3, None, 3, id="all of them from the end"),
    ],
)
def test_a_total_is_told_only_where_it_is_known(
    asked: dict[str, Any], rows: int, total: int | None, expected: int | None
) -> None:
    assert page_of(total, rows, **asked)["pageInfo"].get("totalCount") == expected


def test_no_total_is_made_up_behind_a_cursor() -> None:
    cursor = shop().page(first=1)["pageInfo"]["endCursor"]
    assert "totalCount" not in page_of(None, 2, first=5, after=cursor)["pageInfo"]


# offset and numbered pages


@pytest.mark.parametrize(
    ("asked", "keys", "expected"),
    [
        pytest.param(
            {"limit": 2},
            "12",
            {"limit": 2, "offset": 0, "returned": 2, "total_items": 5, "has_more": True},
            id="the start by offset",
        ),
        pytest.param(
            {"limit": 2, "offset": 4},
            "5",
            {"limit": 2, "offset": 4, "returned": 1, "total_items": 5, "has_more": False},
            id="the end by offset",
        ),
        pytest.param(
            {"offset": 9},
            "",
            {"limit": 25, "offset": 9, "returned": 0, "total_items": 5, "has_more": False},
            id="beyond the end by offset",
        ),
        pytest.param(
            {"page": 2, "page_size": 2},
            "34",
            {"page": 2, "page_size": 2, "total_items": 5, "total_pages": 3, "has_more": True},
            id="by number",
        ),
        pytest.param(
            {"page": 3, "page_size": 2},
            "5",
            {"page": 3, "page_size": 2, "total_items": 5, "total_pages": 3, "has_more": False},
            id="the last by number",
        ),
        pytest.param(
            {"page": 9, "page_size": 5},
            "",
            {"page": 9, "page_size": 5, "total_items": 5, "total_pages": 1, "has_more": False},
            id="beyond the last by number",
        ),
    ],
)
def test_offset_and_numbered_pages_say_where_they_are(
    asked: dict[str, Any], keys: str, expected: dict[str, Any]
) -> None:
    page = shop().page(fields=["isbn"], **asked)
    assert [item["isbn"] for item in page["items"]] == list(keys)
    assert page["pagination"] == expected


@pytest.mark.parametrize(
    ("asked", "rows", "total"),
    [
        pytest.param({"limit": 5, "offset": 10}, 3, 13, id="the last page shows where the end is"),
        pytest.param({"limit": 5, "offset": 10}, 6, None, id="a page before it does not"),
        pytest.param({"limit": 5, "offset": 10}, 0, None, id="nor does one beyond the end"),
        pytest.param({"limit": 5}, 0, 0, id="an empty first page does"),
        pytest.param({"page": 3, "page_size": 5}, 3, 13, id="by number as well"),
    ],
)
def test_a_total_follows_from_the_last_page(asked: dict[str, Any], rows: int, total: int | None) -> None:
    assert page_of(None, rows, **asked)["pagination"].get("total_items") == total


# summaries


def test_one_function_gives_its_value_and_several_give_each_by_name() -> None:
    assert shop().sums(
        aggregate={
            "total": {"count": True},
            "dearest": {"max": "price"},
            "prices": {"min": "price", "max": "price", "sum": "price", "avg": "price"},
            "days": {"min": "published", "max": "title"},
        }
    ) == {
        "total": 5,
        "dearest": BY_ISBN["4"]["price"],
        "prices": {"min": BY_ISBN["5"]["price"], "max": BY_ISBN["4"]["price"], "sum": PRICES, "avg": float(PRICES) / 5},
        "days": {"min": BY_ISBN["2"]["published"], "max": "Pygmalion"},
    }


BY_ISBN = {item["isbn"]: item for item in shop().held["books"]}
PRICES = sum(item["price"] for item in BY_ISBN.values())


def test_summaries_are_of_what_meets_the_filter_and_the_words() -> None:
    count = {"n": {"count": True}}
    assert shop().sums(aggregate=count, filter={"author_id": 1}) == {"n": 2}
    assert shop().sums(aggregate=count, query="emma ghosts") == {"n": 2}
    assert shop().sums(aggregate=count, query="emma ghosts", filter={"author_id": 1}) == {"n": 1}


def test_of_no_items_the_count_is_none_and_the_rest_is_null() -> None:
    every = {"a": {"count": True, "sum": "price", "avg": "price", "min": "price", "max": "price"}}
    assert shop().sums(aggregate=every, filter={"isbn": "9"}) == {
        "a": {"count": 0, "sum": None, "avg": None, "min": None, "max": None}
    }
    groups = {"a": {"group_by": "state", "count": True}}
    assert shop().sums(aggregate=groups, filter={"isbn": "9"}) == {"a": {}}


def test_what_has_no_value_counts_for_no_function_but_the_count() -> None:
    assert shop().sums(aggregate={"a": {"avg": "author_id", "count": True}}) == {"a": {"avg": 7 / 4, "count": 5}}


@pytest.mark.parametrize(
    ("aggregate", "expected"),
    [
        pytest.param({"group_by": "state", "count": True}, {"used": 2, "null": 2, "new": 1}, id="texts and no value"),
        pytest.param({"group_by": "in_stock", "count": True}, {"true": 3, "false": 2}, id="yes and no"),
        pytest.param({"group_by": "author_id", "count": True}, {"1": 2, "null": 1, "2": 1, "3": 1}, id="numbers"),
        pytest.param(
            {"group_by": "published", "count": True},
            {"null": 2, "1815-12-23": 1, "1879-12-21": 1, "1913-10-16": 1},
            id="days",
        ),
        pytest.param(
            {"group_by": "author.country", "count": True},
            {"NO": 2, "null": 1, "GB": 1, "IE": 1},
            id="over a relationship",
        ),
        pytest.param({"group_by": "_computed.cheap", "count": True}, {"true": 3, "false": 2}, id="a computed field"),
        pytest.param(
            {"group_by": "in_stock", "count": True, "max": "title"},
            {"true": {"count": 3, "max": "Pygmalion"}, "false": {"count": 2, "max": "Ghosts"}},
            id="several functions",
        ),
        pytest.param({"group_by": "in_stock", "min": "isbn"}, {"true": "1", "false": "2"}, id="one other function"),
    ],
)
def test_groups_have_the_text_of_their_value_as_name(aggregate: dict[str, Any], expected: dict[str, Any]) -> None:
    assert shop().sums(aggregate={"a": aggregate}) == {"a": expected}


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        pytest.param([None, "x"], {"null": 1, "x": 1}, id="no such text"),
        pytest.param([None, "null", "null"], {"null": 2, "(null)": 1}, id="the text null"),
        pytest.param([None, "null", "(null)"], {"null": 1, "(null)": 1, "((null))": 1}, id="its other name as well"),
    ],
)
def test_the_group_without_a_value_is_never_taken_for_a_text(texts: list[str | None], expected: dict[str, int]) -> None:
    held = [{**BY_ISBN["1"], "isbn": str(place), "title": text} for place, text in enumerate(texts)]
    made = Shop(BOOKS, items={"books": held})
    assert made.sums(aggregate={"a": {"group_by": "title", "count": True}}) == {"a": expected}


def test_the_largest_groups_come_first_and_those_left_out_are_told() -> None:
    made = shop(QueryOptions(max_groups=2))
    asked = made.read(aggregate={"by": {"group_by": "author_id", "count": True}}).summaries
    assert asked is not None
    answer, notices = summaries_answer(asked, [Groups([(1, 2), (None, 1)], 4)])
    assert list(answer["by"].items()) == [("1", 2), ("null", 1)]
    assert [notice.code for notice in notices] == ["VALIDATION_TRUNCATED_WARNING"]
    assert notices[0].details == {"field": "aggregate.by", "original_count": 4, "truncated_count": 2, "limit": 2}
    assert made.sums(aggregate={"by": {"group_by": "author_id", "count": True}}) == answer
