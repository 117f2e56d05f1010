"""Pages, however an API hands them out, as first and after."""

import asyncio
import json
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from headgate import Engine
from headgate.protocol.errors import AqlError, Invalid
from headgate.sources.files.sealing import Seal
from tests.engine.asking import ask
from tests.sources.files.test_requests import served
from tests.sources.files.texts import called, context_of
from tests.sources.http.upstream import Received, Script, always, reply

pytestmark = pytest.mark.anyio

ALL = [{"id": number, "name": f"item {number}"} for number in range(1, 8)]


def asked(received: Received) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(received.target).query).items()}


def replied(data: object, **headers: str) -> bytes:
    return reply(200, json.dumps(data).encode(), content_type="application/json", **headers)


def by_page(wrap: str = "") -> Script:
    async def script(received: Received, writer: asyncio.StreamWriter) -> bytes:
        query = asked(received)
        size, page = int(query["per_page"]), int(query["page"])
        items = ALL[(page - 1) * size : page * size]
        return replied({wrap: items, "total": len(ALL)} if wrap else items)

    return script


def by_offset() -> Script:
    async def script(received: Received, writer: asyncio.StreamWriter) -> bytes:
        query = asked(received)
        start = int(query["offset"])
        return replied({"results": ALL[start : start + int(query["limit"])], "facets": []})

    return script


def by_cursor(field: str = "next_cursor") -> Script:
    async def script(received: Received, writer: asyncio.StreamWriter) -> bytes:
        query = asked(received)
        start, size = int(query.get("cursor", "c0")[1:]), int(query["limit"])
        following = f"c{start + size}" if start + size < len(ALL) else ""
        return replied({"data": ALL[start : start + size], field: following})

    return script


def by_link(elsewhere: str = "") -> Script:
    async def script(received: Received, writer: asyncio.StreamWriter) -> bytes:
        query = asked(received)
        size, page = int(query["per_page"]), int(query.get("page", "1"))
        items = ALL[(page - 1) * size : page * size]
        link = f'<{elsewhere}/other/items?per_page={size}&page={page + 1}&q=x%20y>; rel="next"'
        return replied(items, **({"link": link} if page * size < len(ALL) else {}))

    return script


def listing(**pagination: Any) -> dict[str, Any]:
    params = {"q": {"type": "string"}, "per_page": {"type": "integer"}, "page": {"type": "integer"}}
    return {"read": [{"name": "list_items", "maps_to": "GET /items", "params": params, "pagination": pagination}]}


STYLES = {
    "page": ({"style": "page"}, by_page()),
    "page with a total": ({"style": "page", "items_field": "rows", "total_field": "total"}, by_page("rows")),
    "offset": ({"style": "offset", "items_field": "results"}, by_offset()),
    "cursor": ({"style": "cursor"}, by_cursor()),
    "cursor by name": ({"style": "cursor", "cursor_field": "more"}, by_cursor("more")),
    "link": ({"style": "link"}, by_link()),
    "link_header": ({"style": "link_header"}, by_link()),
}


@pytest.mark.parametrize(("pagination", "script"), STYLES.values(), ids=list(STYLES))
@pytest.mark.parametrize("size", [1, 3, 7, 50])
async def test_every_item_is_seen_once_and_in_order(pagination: dict[str, Any], script: Script, size: int) -> None:
    seen: list[object] = []
    async with served(listing(**pagination), script) as (adapter, upstream):
        answer = await called(adapter, "list_items", first=size)
        assert answer["pageInfo"]["hasPreviousPage"] is False
        seen += answer["items"]
        while answer["pageInfo"]["hasNextPage"]:
            answer = await called(adapter, "list_items", first=size, after=answer["pageInfo"]["endCursor"])
            assert answer["pageInfo"]["hasPreviousPage"] is True
            seen += answer["items"]
            assert len(upstream.requests) < 20
    assert seen == ALL
    assert "endCursor" not in answer["pageInfo"]


async def test_the_paging_of_the_upstream_is_not_offered_beside() -> None:
    async with served(listing(style="page"), by_page()) as (adapter, _):
        assert [one.name for one in adapter.operations["list_items"].parameters] == ["q", "first", "after", "format"]


async def test_a_page_may_be_a_table_and_the_upstream_does_not_hear_of_it() -> None:
    async with served(listing(style="page"), by_page()) as (adapter, upstream):
        answer = (await ask(Engine(adapter), "list_items", first=2, format="table"))["data"]
    assert (answer["columns"], answer["rows"]) == (["id", "name"], [[1, "item 1"], [2, "item 2"]])
    assert answer["pageInfo"]["hasNextPage"] is True
    assert "format" not in upstream.targets[0]


async def test_a_total_is_told_where_the_upstream_tells_it() -> None:
    pagination = {"style": "page", "items_field": "rows", "total_field": "total"}
    async with served(listing(**pagination), by_page("rows")) as (adapter, _):
        answer = await called(adapter, "list_items", first=2)
    assert answer["pageInfo"]["totalCount"] == 7


async def test_a_page_has_its_usual_size_and_never_more_than_the_largest() -> None:
    context = context_of("list_items")
    async with served(listing(style="page", default_limit=2, max_limit=3), by_page()) as (adapter, upstream):
        await called(adapter, "list_items")
        await called(adapter, "list_items", context, first=99)
    assert [asked(one)["per_page"] for one in upstream.requests] == ["2", "3"]
    assert [(one.code, one.details) for one in context.warnings] == [
        (
            "VALIDATION_TRUNCATED_WARNING",
            {"field": "first", "original_count": 99, "truncated_count": 3, "limit": 3},
        )
    ]


async def test_other_parameters_go_with_every_page() -> None:
    async with served(listing(style="page", default_limit=3), by_page()) as (adapter, upstream):
        answer = await called(adapter, "list_items", q="x", first=3)
        await called(adapter, "list_items", q="x", first=3, after=answer["pageInfo"]["endCursor"])
    assert upstream.targets == ["/v1/items?q=x&page=1&per_page=3", "/v1/items?q=x&page=2&per_page=3"]


async def test_pages_may_be_counted_from_zero() -> None:
    async with served(listing(style="page", start=0, param_name="p", per_page_param="n"), always(replied([]))) as (
        adapter,
        upstream,
    ):
        answer = await called(adapter, "list_items")
    assert upstream.targets == ["/v1/items?p=0&n=25"]
    assert answer == {"items": [], "pageInfo": {"hasNextPage": False, "hasPreviousPage": False}}


@pytest.mark.parametrize("after", ["", "x", "AAAA", "é", "x" * 20_000])
async def test_a_cursor_that_was_not_made_here_is_refused(after: str) -> None:
    async with served(listing(style="page"), by_page()) as (adapter, upstream):
        with pytest.raises(Invalid, match="no cursor of this list"):
            await called(adapter, "list_items", first=3, after=after)
    assert upstream.requests == []


async def test_a_cursor_belongs_to_its_own_call() -> None:
    async with served(listing(style="page"), by_page()) as (adapter, upstream):
        answer = await called(adapter, "list_items", q="x", first=3)
        with pytest.raises(Invalid):
            await called(adapter, "list_items", q="y", first=3, after=answer["pageInfo"]["endCursor"])
        with pytest.raises(Invalid, match="'first'"):
            await called(adapter, "list_items", q="x", after=answer["pageInfo"]["endCursor"])
    assert len(upstream.requests) == 1


@pytest.mark.parametrize(
    "elsewhere", ["http://localhost:1", "https://evil.example", "http://169.254.169.254", "ftp://x"]
)
async def test_a_link_to_anywhere_else_is_not_followed(elsewhere: str) -> None:
    async with served(listing(style="link"), by_link(elsewhere)) as (adapter, _):
        answer = await called(adapter, "list_items", first=3)
    assert answer["pageInfo"]["hasNextPage"] is False


async def test_a_link_may_lead_to_another_path_of_the_same_server() -> None:
    async with served(listing(style="link"), by_link()) as (adapter, upstream):
        answer = await called(adapter, "list_items", first=3)
        await called(adapter, "list_items", first=3, after=answer["pageInfo"]["endCursor"])
    assert upstream.targets[1] == "/other/items?per_page=3&page=2&q=x%20y"


async def test_a_page_that_leads_to_itself_is_the_last() -> None:
    async with served(listing(style="cursor"), always(replied({"items": [1], "next": "same"}))) as (adapter, _):
        answer = await called(adapter, "list_items", first=1)
        again = await called(adapter, "list_items", first=1, after=answer["pageInfo"]["endCursor"])
    assert answer["pageInfo"]["hasNextPage"] is True
    assert again["pageInfo"]["hasNextPage"] is False


@pytest.mark.parametrize(
    ("data", "items"),
    [
        ([1], [1]),
        ({"items": [1], "errors": []}, [1]),
        ({"orders": [1], "count": 3}, [1]),
        ({"list": {"order": [1, 2]}}, [1, 2]),
    ],
)
async def test_the_list_of_an_answer_is_found(data: object, items: list[int]) -> None:
    async with served(listing(style="page"), always(replied(data))) as (adapter, _):
        assert (await called(adapter, "list_items"))["items"] == items


@pytest.mark.parametrize("data", [{}, {"a": [1], "b": [2]}, 5, {"a": {"b": [1]}, "c": {"d": [2]}}])
async def test_an_answer_without_one_list_says_what_to_add(data: object) -> None:
    async with served(listing(style="page"), always(replied(data))) as (adapter, _):
        with pytest.raises(AqlError, match="items_field"):
            await called(adapter, "list_items")


async def test_fields_are_chosen_in_the_items_of_a_page() -> None:
    operations = listing(style="page")
    operations["read"][0]["supports_fields"] = True
    async with served(operations, by_page()) as (adapter, _):
        answer = await called(adapter, "list_items", first=2, fields=["id"])
    assert answer["items"] == [{"id": 1}, {"id": 2}]


def test_a_seal_is_opened_by_its_own_key_and_purpose_only() -> None:
    seal = Seal(b"k" * 32)
    text = seal.close({"a": 1}, "list")
    assert seal.open(text, "list") == {"a": 1}
    assert Seal(b"k" * 32).open(text, "list") == {"a": 1}
    for other, purpose in ((Seal(), "list"), (seal, "other")):
        with pytest.raises(ValueError):  # noqa: PT011  (it says nothing)
            other.open(text, purpose)


@pytest.mark.parametrize("place", range(0, 40, 5))
def test_a_changed_sign_breaks_a_seal(place: int) -> None:
    seal = Seal(b"k" * 32)
    text = seal.close("some value that is long enough", "list")
    other = "A" if text[place] != "A" else "B"
    with pytest.raises(ValueError):  # noqa: PT011
        seal.open(f"{text[:place]}{other}{text[place + 1 :]}", "list")
