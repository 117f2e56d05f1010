"""Every item once, in whatever style a server has pages; and no walk without an end."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate import connect, connect_sync
from headgate.client.errors import PagesRepeat
from headgate.client.pages import Page, page_of
from tests.client.shops import Toy, details, shop

pytestmark = pytest.mark.anyio

NUMBERS = list(range(1, 24))


def by_cursor(params: dict[str, Any]) -> object:
    start = int(params.get("after") or 0)
    end = min(start + params["first"], len(NUMBERS))
    info = {"hasNextPage": end < len(NUMBERS), "endCursor": str(end)}
    return {"items": NUMBERS[start:end], "pageInfo": info}


def by_edges(params: dict[str, Any]) -> object:
    start = int(params.get("after") or 0)
    end = min(start + params["first"], len(NUMBERS))
    cursor = {"next_cursor": str(end)} if end < len(NUMBERS) else {}
    return {"edges": [{"node": one, "cursor": str(one)} for one in NUMBERS[start:end]], "page_info": cursor}


def by_offset(params: dict[str, Any]) -> object:
    start, limit = params["offset"], min(params["limit"], 4)
    found = NUMBERS[start : start + limit]
    return {"rows": found, "pagination": {"has_more": start + len(found) < len(NUMBERS)}}


def by_silent_offset(params: dict[str, Any]) -> object:
    return NUMBERS[params["offset"] : params["offset"] + min(params["limit"], 4)]


def by_number(params: dict[str, Any]) -> object:
    size = params.get("page_size", 5)
    return {"items": NUMBERS[(params["page"] - 1) * size : params["page"] * size], "pagination": {}}


STYLES = {
    "cursors": (("first", "after"), by_cursor),
    "edges": (("first", "after"), by_edges),
    "offsets": (("limit", "offset"), by_offset),
    "offsets without a word of the end": (("limit", "offset"), by_silent_offset),
    "numbers": (("page", "page_size"), by_number),
    "no pages": ((), lambda _params: NUMBERS),
    "an object without pages": ((), lambda _params: {"count": 23, "numbers": NUMBERS}),
}


@pytest.mark.parametrize(("names", "answer"), STYLES.values(), ids=STYLES)
async def test_every_item_comes_once(names: tuple[str, ...], answer: Any) -> None:
    listed = details("list_x", "READ", *names)
    for parameter in listed["parameters"]:
        parameter["maximum"] = 7
    async with connect(Toy([listed], {"list_x": answer}).server()) as aql:
        assert [item async for item in aql.pages("list_x")] == NUMBERS


@settings(max_examples=20)
@given(first=st.integers(1, 30), after=st.integers(0, 22))
def test_a_walk_starts_and_steps_as_it_is_told(first: int, after: int) -> None:
    toy = Toy([details("list_x", "READ", "first", "after", "limit", "offset")], {"list_x": by_cursor})
    with connect_sync(toy.server()) as aql:
        assert list(aql.pages("list_x", first=first, after=str(after))) == NUMBERS[after:]
    assert {asked["params"]["first"] for asked in toy.sent} == {first}


async def test_a_real_collection_is_walked_to_its_end() -> None:
    async with connect(shop()) as aql:
        assert [item async for item in aql.pages("list_orders", first=3)] == list(range(1, 11))


async def test_a_style_that_the_caller_chooses_is_kept() -> None:
    toy = Toy(
        [details("list_x", "READ", "first", "after", "limit", "offset", "page", "page_size")],
        {"list_x": lambda params: (by_number if "page" in params else by_offset)(params)},
    )
    async with connect(toy.server()) as aql:
        assert [item async for item in aql.pages("list_x", limit=3)] == NUMBERS
        assert [item async for item in aql.pages("list_x", page_size=9)] == NUMBERS
        assert [item async for item in aql.pages("list_x", offset=20, limit=3)] == NUMBERS[20:]


@pytest.mark.parametrize(("asked", "expected"), [({"last": 4}, NUMBERS), ({"before": "5"}, NUMBERS[:5])], ids=str)
async def test_a_walk_with_last_or_before_goes_backwards(asked: dict[str, Any], expected: list[int]) -> None:
    def backwards(params: dict[str, Any]) -> object:
        end = int(params.get("before", len(NUMBERS)))
        start = max(0, end - params["last"])
        return {"items": NUMBERS[start:end], "pageInfo": {"hasPreviousPage": start > 0, "startCursor": str(start)}}

    toy = Toy([details("list_x", "READ", "first", "after", "last", "before")], {"list_x": backwards})
    async with connect(toy.server()) as aql:
        assert [item async for item in aql.pages("list_x", **asked)] == expected[::-1]
    assert all("first" not in sent["params"] for sent in toy.sent)


@pytest.mark.parametrize("length", [1, 2, 3, 7])
async def test_cursors_that_go_in_a_circle_are_an_error(length: int) -> None:
    def circle(params: dict[str, Any]) -> object:
        here = int(params.get("after") or 0)
        following = here + 1 if here < 4 + length - 1 else 4
        return {"items": [here], "pageInfo": {"hasNextPage": True, "endCursor": str(following)}}

    async with connect(Toy([details("list_x", "READ", "first", "after")], {"list_x": circle}).server()) as aql:
        with pytest.raises(PagesRepeat, match="its pages do not come to an end"):
            async for _ in aql.pages("list_x"):
                pass


@pytest.mark.parametrize("names", [("limit", "offset"), ("page",)], ids=str)
async def test_a_server_that_gives_the_same_page_again_is_an_error_and_the_page_comes_once(
    names: tuple[str, ...],
) -> None:
    came: list[object] = []

    async def walk(items: AsyncIterator[object]) -> None:
        async for item in items:
            came.append(item)  # noqa: PERF401  (what came before the error counts)

    toy = Toy([details("list_x", "READ", *names)], {"list_x": lambda _params: [1, 2, 3]})
    async with connect(toy.server()) as aql:
        with pytest.raises(PagesRepeat):
            await walk(aql.pages("list_x"))
    assert came == [1, 2, 3]


PAGES = {
    "nothing": (None, Page([], None, False)),
    "a text": ("x", Page([], None, None)),
    "two lists": ({"a": [1], "b": [2]}, Page([], None, None)),
    "a cursor beside the items": ({"items": [1], "nextCursor": "c"}, Page([1], "c", None)),
    "edges without nodes": ({"edges": [{"cursor": "c"}, 7]}, Page([], None, None)),
    "an empty cursor": ({"items": [], "pageInfo": {"endCursor": "", "hasNextPage": False}}, Page([], None, False)),
}


@pytest.mark.parametrize(("data", "page"), PAGES.values(), ids=PAGES)
def test_a_page_is_found_in_whatever_form(data: object, page: Page) -> None:
    assert page_of(data) == page
