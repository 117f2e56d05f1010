"""Cursors: they hold every kind of value and null, and nobody else can make or change one."""

import base64
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.query.collections import Collection
from headgate.query.cursors import Cursors
from headgate.query.kinds import Kind
from headgate.query.shapes import Listing
from tests.query.shop import BOOKS, KEY, KINDS, Shop, fields, one_of_each, refusal, shop

SORTABLE = [kind for kind in Kind if KINDS.fields[kind.name.lower()].can_sort]


def samples(kind: Kind, *values: Any) -> Shop:
    """Items that have these values in the field of a kind."""
    name = kind.name.lower()
    held = [{**dict.fromkeys(KINDS.fields), "id": place, name: value} for place, value in enumerate(values)]
    return Shop(KINDS, items={"samples": held})


@pytest.mark.parametrize("order", ["asc", "desc"])
@pytest.mark.parametrize("kind", SORTABLE, ids=lambda kind: kind.word)
def test_a_cursor_leads_on_from_every_kind_of_value_and_from_null(kind: Kind, order: str) -> None:
    value = one_of_each()[kind]
    made = samples(kind, None, value, value, None)
    sort = {"field": kind.name.lower(), "order": order}
    whole = made.keys("samples", sort=sort)
    assert whole == ([0, 3, 1, 2] if order == "asc" else [2, 1, 3, 0])
    for place in range(4):
        cursor = made.page("samples", sort=sort, first=place + 1)["pageInfo"]["endCursor"]
        assert made.keys("samples", sort=sort, first=4, after=cursor) == whole[place + 1 :]
        assert made.keys("samples", sort=sort, last=4, before=cursor) == whole[:place]


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        pytest.param(Kind.DECIMAL, Decimal("1E+2"), id="a decimal written with an exponent"),
        pytest.param(Kind.DECIMAL, Decimal("-0.0000001"), id="a small decimal"),
        pytest.param(Kind.NUMBER, 0.1 + 0.2, id="a number that no decimal is"),
        pytest.param(Kind.NUMBER, 1e22, id="a number of many digits"),
        pytest.param(Kind.INTEGER, -(2**63), id="the least integer"),
        pytest.param(Kind.TEXT, '"\x00\U0001f600', id="a text of odd characters"),
        pytest.param(Kind.TEXT, "", id="the empty text"),
    ],
)
def test_a_cursor_holds_a_value_exactly(kind: Kind, value: Any) -> None:
    made = samples(kind, value)
    shape = listing_of(made, kind)
    columns = tuple(key.path for key in shape.order)
    cursor = made.cursors.writer(Listing(shape.collection, columns, order=shape.order))((value, 0))
    assert made.cursors.read(cursor, shape, "after") == (value, 0)


def listing_of(made: Shop, kind: Kind) -> Listing:
    query = made.read("samples", sort={"field": kind.name.lower()}).query
    assert query is not None
    return query.listing


def test_a_cursor_can_stand_in_an_address_and_says_nothing_by_itself() -> None:
    cursor = shop().page(first=1)["pageInfo"]["endCursor"]
    assert set(cursor) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")


def test_a_cursor_stays_right_whatever_is_inserted_and_deleted() -> None:
    made = shop()
    cursor = made.page(first=2)["pageInfo"]["endCursor"]
    held = [item for item in made.held["books"] if item["isbn"] != "2"]
    held.append({**held[0], "isbn": "15"})
    changed = Shop(*made.catalog, items={**made.held, "books": held})
    assert changed.keys(first=5, after=cursor) == ["3", "4", "5"]


ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/=. \x00é"
TITLE = {"field": "title", "order": "desc"}


@given(st.data())
def test_a_cursor_with_one_character_changed_is_refused(data: st.DataObject) -> None:
    made = shop()
    cursor = made.page(sort=TITLE, first=data.draw(st.integers(1, 5)))["pageInfo"]["endCursor"]
    place = data.draw(st.integers(0, len(cursor) - 1))
    other = data.draw(st.sampled_from([one for one in ALPHABET if one != cursor[place]]))
    refused(made, cursor[:place] + other + cursor[place + 1 :], sort=TITLE)


@given(st.data())
def test_a_cursor_with_characters_added_or_missing_is_refused(data: st.DataObject) -> None:
    made = shop()
    cursor = made.page(sort=TITLE, first=2)["pageInfo"]["endCursor"]
    place = data.draw(st.integers(0, len(cursor)))
    added = data.draw(st.text(ALPHABET, min_size=1, max_size=4))
    changed = data.draw(
        st.sampled_from([cursor[:place] + added + cursor[place:], cursor[:place] + cursor[place + 1 :]])
    )
    if changed != cursor:
        refused(made, changed, sort=TITLE)


@given(st.text())
def test_any_other_text_is_refused(text: str) -> None:
    refused(shop(), text)


@pytest.mark.parametrize(
    "cursor",
    [
        pytest.param("", id="empty"),
        pytest.param("cursor_abc123", id="not ours"),
        pytest.param("not base64!", id="not base64"),
        pytest.param("AAAA", id="too short for a tag"),
        pytest.param("A" * 20_000, id="too long"),
        pytest.param("\ud800", id="no text at all"),
        pytest.param(base64.urlsafe_b64encode(bytes(16) + b'["1"]').decode(), id="a tag of zeros"),
    ],
)
def test_what_is_no_cursor_is_refused(cursor: str) -> None:
    refused(shop(), cursor)


def refused(made: Shop, cursor: str, **params: Any) -> None:
    for where, number in (("after", "first"), ("before", "last")):
        error = refusal(lambda where=where, number=number: made.read(**{where: cursor, number: 1}, **params))  # type: ignore[misc]
        assert error.code == "VALIDATION_INVALID_VALUE"
        assert error.details == {"param_name": where}
        assert "it is no cursor of this list and order" in error.message
        assert len(error.message) < 200


@pytest.mark.parametrize(
    ("made_for", "used_for"),
    [
        pytest.param({"sort": {"field": "price"}}, {}, id="another order"),
        pytest.param({}, {"sort": {"field": "isbn", "order": "desc"}}, id="the other way"),
        pytest.param({"query": "emma"}, {}, id="ranked words"),
        pytest.param({"sort": [{"field": "title"}, {"field": "price"}]}, {"sort": {"field": "title"}}, id="more keys"),
    ],
)
def test_a_cursor_of_another_order_is_refused(made_for: dict[str, Any], used_for: dict[str, Any]) -> None:
    made = shop()
    refused(made, made.page(first=1, **made_for)["pageInfo"]["endCursor"], **used_for)


def test_a_cursor_goes_on_under_another_filter_and_selection() -> None:
    made = shop()
    cursor = made.page(first=2, fields="minimal", filter={"in_stock": True})["pageInfo"]["endCursor"]
    assert made.keys(first=5, after=cursor) == ["4", "5"]


def test_a_cursor_of_another_collection_is_refused() -> None:
    made = shop()
    other = Collection("papers", "paper", BOOKS.fields, ("isbn",))
    papers = Shop(other, items={"papers": made.held["books"]})
    error = refusal(lambda: made.read(first=1, after=papers.page("papers", first=1)["pageInfo"]["endCursor"]))
    assert error.details == {"param_name": "after"}


def test_a_cursor_of_another_key_is_refused() -> None:
    made, stranger = shop(), shop()
    stranger.shaper._cursors = Cursors(KEY + b".")
    refused(made, stranger.page(first=1)["pageInfo"]["endCursor"])


def test_a_cursor_for_a_field_that_is_of_another_kind_by_now_is_refused() -> None:
    before = Collection("things", "thing", fields(id=Kind.TEXT), ("id",))
    now = Collection("things", "thing", fields(id=Kind.INTEGER), ("id",))
    cursor = Shop(before, items={"things": [{"id": "x"}]}).page("things", first=1)["pageInfo"]["endCursor"]
    error = refusal(lambda: Shop(now, items={"things": []}).read("things", first=1, after=cursor))
    assert error.code == "VALIDATION_INVALID_VALUE"


def test_a_long_key_signs_as_well() -> None:
    long = Cursors(b"k" * 1000)
    assert long.read_place(long.write_place("log", 5), "log", "after") == 5


@given(st.integers(0, 10**9), st.sampled_from(["log", "log1", "log12", "query_relationships"]))
def test_a_place_is_read_only_for_what_it_was_written_for(place: int, purpose: str) -> None:
    cursors = Cursors(KEY)
    cursor = cursors.write_place(purpose, place)
    assert cursors.read_place(cursor, purpose, "after") == place
    for other in ("log", "log1", "log12", "query_relationships"):
        if other != purpose:
            refusal(lambda other=other: cursors.read_place(cursor, other, "after"))  # type: ignore[misc]


def test_a_place_is_no_cursor_of_a_keyed_list_nor_the_other_way() -> None:
    made = shop()
    keyed = made.page(first=1)["pageInfo"]["endCursor"]
    refusal(lambda: made.cursors.read_place(keyed, "books", "after"))
    refused(made, made.cursors.write_place("books", 1))


def test_the_field_of_a_cursor_may_be_a_computed_one() -> None:
    made = shop()
    sort = {"field": "_computed.length"}
    cursor = made.page(sort=sort, first=2)["pageInfo"]["endCursor"]
    assert made.keys(sort=sort, first=5, after=cursor) == made.keys(sort=sort)[2:]
