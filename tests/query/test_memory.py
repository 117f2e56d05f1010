"""Listings over Python values: whatever the order, pages in both directions give every item once."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from headgate.query.collections import Collection, Field, Relationship
from headgate.query.kinds import Kind
from headgate.query.memory import Item
from tests.query.shop import Shop, fields

GROUPS = Collection("groups", "group", fields(code=Kind.TEXT, rank=Field(name="rank", kind=Kind.INTEGER)), ("code",))
THINGS = Collection(
    "things",
    "thing",
    fields(
        a=Kind.INTEGER,
        b=Kind.TEXT,
        text=Field(name="text", kind=Kind.TEXT, nullable=True),
        number=Field(name="number", kind=Kind.NUMBER, nullable=True),
        flag=Field(name="flag", kind=Kind.BOOLEAN, nullable=True),
        group_code=Field(name="group_code", kind=Kind.TEXT, nullable=True),
    ),
    ("a", "b"),
    {"group": Relationship(name="group", target="groups", local=("group_code",), remote=("code",))},
    searchable=("text",),
)
HELD_GROUPS: list[Item] = [{"code": "x", "rank": 2}, {"code": "y", "rank": 1}]

things = st.lists(
    st.fixed_dictionaries(
        {
            "a": st.integers(0, 3),
            "b": st.sampled_from("abc"),
            "text": st.none() | st.sampled_from(["", "p", "P", "q p"]),
            "number": st.none() | st.sampled_from([-1.5, 0.0, 2.0]),
            "flag": st.none() | st.booleans(),
            "group_code": st.none() | st.sampled_from(["x", "y", "z"]),
        }
    ),
    max_size=12,
    unique_by=lambda item: (item["a"], item["b"]),
)
key = st.fixed_dictionaries(
    {
        "field": st.sampled_from(["text", "number", "flag", "group.rank", "a", "b"]),
        "order": st.sampled_from(["asc", "desc"]),
    }
)
orders = st.lists(key, max_size=3)
conditions = st.sampled_from([{}, {"flag": True}, {"not": {"number": 2}}, {"group.rank": {"gte": 1}}])


def asked(order: list[Any], condition: dict[str, Any], words: str | None) -> dict[str, Any]:
    return {"sort": order, "filter": condition, "query": words, "fields": ["a", "b"]}


words = st.none() | st.sampled_from(["p", "q p", '"q p"'])


@given(things, orders, conditions, words, st.integers(1, 4))
def test_pages_in_both_directions_give_every_item_once_in_the_one_order(
    held: list[Item], order: list[Any], condition: dict[str, Any], words: str | None, size: int
) -> None:
    made = Shop(THINGS, GROUPS, items={"things": held, "groups": HELD_GROUPS})
    params = asked(order, condition, words)
    whole = made.shown("things", first=100, **params)
    assert len({(item["a"], item["b"]) for item in whole}) == len(whole)
    assert walk(made, params, size) == whole
    assert walk_back(made, params, size) == whole


def walk(made: Shop, params: dict[str, Any], size: int) -> list[Any]:
    """Every item, page by page from the start."""
    found: list[Any] = []
    cursor: dict[str, str] = {}
    while True:
        page = made.page("things", first=size, **cursor, **params)
        found += page["items"]
        assert page["pageInfo"]["hasPreviousPage"] is bool(cursor)
        if not page["pageInfo"]["hasNextPage"]:
            return found
        cursor = {"after": page["pageInfo"]["endCursor"]}


def walk_back(made: Shop, params: dict[str, Any], size: int) -> list[Any]:
    """Every item, page by page from the end."""
    found: list[Any] = []
    cursor: dict[str, str] = {}
    while True:
        page = made.page("things", last=size, **cursor, **params)
        found = page["items"] + found
        assert page["pageInfo"]["hasNextPage"] is bool(cursor)
        if not page["pageInfo"]["hasPreviousPage"]:
            return found
        cursor = {"before": page["pageInfo"]["startCursor"]}


@given(things, orders, st.integers(0, 12), st.integers(0, 5))
def test_offset_pages_are_stretches_of_the_whole(held: list[Item], order: list[Any], offset: int, limit: int) -> None:
    made = Shop(THINGS, GROUPS, items={"things": held, "groups": HELD_GROUPS})
    params = asked(order, {}, None)
    whole = made.shown("things", first=100, **params)
    page = made.page("things", limit=limit, offset=offset, **params)
    assert page["items"] == whole[offset : offset + limit]
    assert page["pagination"]["has_more"] is (len(whole) > offset + limit)
    assert page["pagination"]["total_items"] == len(whole)


@given(things, key)
def test_downwards_is_upwards_reversed(held: list[Item], by: dict[str, str]) -> None:
    made = Shop(THINGS, GROUPS, items={"things": held, "groups": HELD_GROUPS})
    up = made.shown("things", first=100, fields=["a", "b"], sort={"field": by["field"], "order": "asc"})
    down = made.shown("things", first=100, fields=["a", "b"], sort={"field": by["field"], "order": "desc"})
    if by["field"] not in ("a", "b"):
        assert down == up[::-1]
    else:
        values = [item[by["field"]] for item in down]
        assert values == sorted(values, reverse=True)


@given(things)
def test_the_counts_of_all_groups_add_up_to_the_count(held: list[Item]) -> None:
    made = Shop(THINGS, GROUPS, items={"things": held, "groups": HELD_GROUPS})
    for field in ("text", "flag", "group.rank"):
        sums = made.sums("things", aggregate={"all": {"count": True}, "by": {"group_by": field, "count": True}})
        assert sum(sums["by"].values()) == sums["all"] == len(held)


@given(things, conditions)
def test_a_filter_and_its_opposite_part_the_items(held: list[Item], condition: dict[str, Any]) -> None:
    made = Shop(THINGS, GROUPS, items={"things": held, "groups": HELD_GROUPS})
    count = {"n": {"count": True}}
    those = made.sums("things", aggregate=count, filter=condition)["n"]
    others = made.sums("things", aggregate=count, filter={"not": condition})["n"]
    assert those + others == len(held)


def test_an_item_may_refer_to_nothing_that_is_there() -> None:
    lost = {"a": 1, "b": "a", "text": None, "number": None, "flag": None, "group_code": "gone"}
    made = Shop(THINGS, GROUPS, items={"things": [lost], "groups": HELD_GROUPS})
    assert made.shown("things", fields=["group_code", "group.rank"]) == [{"group_code": "gone", "group": None}]
