"""Pages: whatever an upstream calls them, a caller goes through all items with ``first`` and ``after``."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from headgate.adapter.adapter import Adapter
from headgate.adapter.operations import Operation
from headgate.protocol.errors import AqlError
from headgate.sources.openapi.cursors import Position, PositionCursors
from headgate.sources.openapi.options import OpenApiOptions
from headgate.sources.openapi.pages import CONTEXT, MOST_PAGES
from tests.sources.http.upstream import Received, Upstream, reply, running
from tests.sources.openapi.making import Node, adapter_of, call, document, get, told

pytestmark = pytest.mark.anyio

ITEMS = [{"id": f"i{number}", "name": f"Item {number}"} for number in range(23)]
Answer = Callable[[dict[str, str], str], tuple[Any, str]]


def number(name: str, **more: Any) -> Node:
    return {"name": name, "in": "query", "schema": {"type": "integer", **more}}


def text(name: str) -> Node:
    return {"name": name, "in": "query", "schema": {"type": "string"}}


def listed(schema: Node, *parameters: Node, links: bool = False) -> Node:
    answer: Node = {"description": "-", "content": {"application/json": {"schema": schema}}}
    if links:
        answer["headers"] = {"Link": {"schema": {"type": "string"}}}
    return get(*parameters, responses={"200": answer})


ARRAY: Node = {"type": "array", "items": {"type": "object"}}


def wrapped(**properties: Node) -> Node:
    return {"type": "object", "properties": {"data": ARRAY, **properties}}


def by_page(start: int = 1, size: str = "per_page", default: int = 10) -> Answer:
    def answer(query: dict[str, str], base: str) -> tuple[Any, str]:
        count = int(query.get(size, default))
        place = (int(query.get("page", start)) - start) * count
        return ITEMS[place : place + count], ""

    return answer


def by_offset(query: dict[str, str], base: str) -> tuple[Any, str]:
    place, count = int(query.get("offset", 0)), min(int(query.get("limit", 10)), 7)
    return {"data": ITEMS[place : place + count], "total": len(ITEMS)}, ""


def by_token(query: dict[str, str], base: str) -> tuple[Any, str]:
    place, count = int(query.get("cursor", "p0")[1:]), int(query.get("limit", 5))
    following = f"p{place + count}" if place + count < len(ITEMS) else None
    return {"data": ITEMS[place : place + count], "meta": {"next_cursor": following}}, ""


def by_last(query: dict[str, str], base: str) -> tuple[Any, str]:
    ids = [item["id"] for item in ITEMS]
    place = ids.index(query["starting_after"]) + 1 if "starting_after" in query else 0
    count = int(query.get("limit", 10))
    return {"data": ITEMS[place : place + count], "has_more": place + count < len(ITEMS)}, ""


def by_link(query: dict[str, str], base: str) -> tuple[Any, str]:
    place, count = int(query.get("since", 0)), int(query.get("per_page", 4))
    following = place + count
    link = f'<{base}/elsewhere?per_page={count}&since={following}&key=s3cret>; rel="next", <{base}/x>; rel="first"'
    return ITEMS[place:following], link if following < len(ITEMS) else f'<{base}/x>; rel="first"'


def by_next_page(query: dict[str, str], base: str) -> tuple[Any, str]:
    place, count = int(query.get("offset", "t0")[1:]), int(query.get("limit", 5))
    following = {"offset": f"t{place + count}"} if place + count < len(ITEMS) else None
    return {"data": ITEMS[place : place + count], "next_page": following}, ""


NEXT_PAGE = {"type": "object", "properties": {"offset": {"type": "string"}}}
META = {"type": "object", "properties": {"next_cursor": {"type": "string"}}}
LISTS: dict[str, tuple[Node, Answer]] = {
    "pages": (listed(ARRAY, number("page"), number("per_page", maximum=8)), by_page()),
    "pages from zero": (listed(ARRAY, number("page", minimum=0), number("size")), by_page(0, "size")),
    "pages of a fixed size": (listed(ARRAY, number("page", default=1)), by_page()),
    "offsets": (listed(wrapped(total={"type": "integer"}), number("offset"), number("limit")), by_offset),
    "tokens": (listed(wrapped(meta=META), text("cursor"), number("limit")), by_token),
    "tokens called offset": (listed(wrapped(next_page=NEXT_PAGE), text("offset"), number("limit")), by_next_page),
    "the last item": (listed(wrapped(), text("starting_after"), text("ending_before"), number("limit")), by_last),
    "links": (listed(ARRAY, number("since"), number("per_page"), links=True), by_link),
}


@asynccontextmanager
async def serving(node: Node, answer: Answer, **more: Any) -> AsyncIterator[tuple[Operation, Upstream]]:
    """The one operation of a document, and the server behind it."""

    async def script(received: Received, writer: object) -> bytes:
        asked = urlsplit(received.target)
        query = {name: values[-1] for name, values in parse_qs(asked.query).items()}
        data, link = answer(query, f"http://localhost:{upstream.port}")
        headers = {"link": link} if link else {}
        return reply(200, json.dumps(data).encode(), content_type="application/json", **headers)

    async with running(script) as upstream:
        adapter: Adapter = adapter_of(
            document({"/things": {"get": node}}, **more), OpenApiOptions(base_url=upstream.url)
        )
        [operation] = adapter.operations.values()
        try:
            yield operation, upstream
        finally:
            await adapter.close()


async def gone_through(operation: Operation, first: int) -> list[Any]:
    """All items, page after page."""
    found, params = [], {"first": first}
    for _ in range(40):
        page = await call(operation, **params)
        assert len(page["items"]) <= first
        found += page["items"]
        assert page["pageInfo"]["hasPreviousPage"] is ("after" in params)
        if not page["pageInfo"]["hasNextPage"]:
            assert "endCursor" not in page["pageInfo"]
            return found
        params["after"] = page["pageInfo"]["endCursor"]
    raise AssertionError("the pages do not end")


@pytest.mark.parametrize("first", [1, 4, 9, 100])
@pytest.mark.parametrize("name", LISTS)
async def test_every_item_is_given_once_whatever_the_size_of_pages(name: str, first: int) -> None:
    node, answer = LISTS[name]
    async with serving(node, answer) as (operation, _):
        assert await gone_through(operation, first) == ITEMS


@pytest.mark.parametrize("name", LISTS)
async def test_the_upstreams_own_parameters_give_way(name: str) -> None:
    node, _ = LISTS[name]
    [operation] = adapter_of(document({"/things": {"get": node}})).operations.values()
    shown = {parameter.name for parameter in operation.parameters}
    assert {"first", "after", "fields"} <= shown
    assert not shown & {"page", "per_page", "size", "offset", "limit", "cursor", "starting_after", "ending_before"}
    assert operation.returns["properties"]["items"] == {"type": "array", "items": {"type": "object"}}


@pytest.mark.parametrize("name", LISTS)
async def test_they_are_there_where_an_operator_wants_them(name: str) -> None:
    node, _ = LISTS[name]
    [operation] = adapter_of(document({"/things": {"get": node}}), OpenApiOptions(paging=False)).operations.values()
    shown = {parameter.name for parameter in operation.parameters}
    assert "first" not in shown
    assert {parameter["name"] for parameter in node["parameters"]} <= shown


async def test_without_a_size_one_page_of_the_upstream_is_given() -> None:
    node, answer = LISTS["tokens"]
    async with serving(node, answer) as (operation, upstream):
        page = await call(operation)
    assert page["items"] == ITEMS[:5]
    assert page["pageInfo"]["hasNextPage"]
    assert upstream.targets == ["/things"]


async def test_what_stands_beside_the_list_is_kept_and_a_total_is_said() -> None:
    node, answer = LISTS["offsets"]
    async with serving(node, answer) as (operation, _):
        page = await call(operation, first=3)
    assert page["pageInfo"]["totalCount"] == len(ITEMS)
    assert page["rest"] == {"total": len(ITEMS)}


async def test_only_the_fields_that_are_asked_for_are_given() -> None:
    node, answer = LISTS["pages"]
    async with serving(node, answer) as (operation, _):
        page = await call(operation, first=2, fields=["name", "gone"])
    assert page["items"] == [{"name": "Item 0"}, {"name": "Item 1"}]


async def test_a_cursor_is_good_for_the_same_list_only() -> None:
    node, answer = LISTS["pages"]
    filtered = {**node, "parameters": [*node["parameters"], text("state")]}
    async with serving(filtered, answer) as (operation, upstream):
        page = await call(operation, first=2, state="open")
        cursor = page["pageInfo"]["endCursor"]
        upstream.requests.clear()
        for params in (
            {"first": 2, "after": cursor},
            {"first": 2, "after": cursor, "state": "closed"},
            {"first": 2, "after": cursor[:-2] + "AA", "state": "open"},
            {"first": 2, "after": "", "state": "open"},
            {"first": 2, "after": "ü", "state": "open"},
            {"first": 2, "after": "A" * 20_000, "state": "open"},
        ):
            with pytest.raises(AqlError, match="no cursor of this list"):
                await call(operation, **params)
        with pytest.raises(AqlError, match="goes with 'first'"):
            await call(operation, after=cursor, state="open")
        assert upstream.requests == []
        again = await call(operation, first=2, after=cursor, state="open")
    assert again["items"] == ITEMS[2:4]


async def test_a_link_leads_nowhere_else_and_takes_no_key_along(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_KEY", "s3cret")
    node, answer = LISTS["links"]
    schemes = {"key": {"type": "apiKey", "in": "query", "name": "key"}}
    async with serving({**node, "security": [{"key": []}]}, answer, components={"securitySchemes": schemes}) as (
        operation,
        upstream,
    ):
        page = await call(operation, first=4)
        cursor = page["pageInfo"]["endCursor"]
        await call(operation, first=4, after=cursor)
    assert [target.partition("?")[0] for target in upstream.targets] == ["/things", "/things"]
    assert upstream.targets[1].count("key=") == 1
    assert "s3cret" not in json.dumps(page)


@pytest.mark.parametrize(
    "answer",
    [
        lambda query, base: ({"data": ITEMS[:1], "meta": {"next_cursor": "same"}}, ""),
        lambda query, base: ({"data": [], "meta": {"next_cursor": f"{query.get('cursor', '')}x"}}, ""),
        lambda query, base: ({"data": ITEMS[:1], "meta": {"next_cursor": f"{query.get('cursor', '')}x"}}, ""),
    ],
    ids=["in a ring", "empty for ever", "for ever"],
)
async def test_pages_without_end_are_not_followed_without_end(answer: Answer) -> None:
    async with serving(LISTS["tokens"][0], answer) as (operation, upstream):
        await call(operation, first=100)
    assert len(upstream.requests) <= MOST_PAGES


async def test_a_link_that_does_not_go_on_ends_the_list() -> None:
    async with serving(
        LISTS["links"][0], lambda query, base: (ITEMS[:3], f'<{base}/things?per_page=3>; rel="next"')
    ) as (operation, upstream):
        page = await call(operation, first=3)
    assert page["pageInfo"] == {"hasNextPage": False, "hasPreviousPage": False}
    assert len(upstream.requests) == 1


@pytest.mark.parametrize("data", [{"error": "x"}, {"data": "none"}, 5, None], ids=str)
async def test_an_answer_without_the_promised_list_is_given_as_it_is(data: Any) -> None:
    async with serving(LISTS["tokens"][0], lambda query, base: (data, "")) as (operation, _):
        assert await call(operation, first=3) == data


async def test_more_than_a_page_may_have_is_cut_with_a_warning() -> None:
    node, answer = LISTS["pages of a fixed size"]
    async with serving(node, answer) as (operation, _):
        context = told()
        await operation.function(**{**operation.defaults, "first": 500, CONTEXT: context})
    [warning] = context.warnings
    assert warning.code == "VALIDATION_TRUNCATED_WARNING"


@pytest.mark.parametrize(
    "node",
    [
        listed({"type": "object", "properties": {"name": {"type": "string"}}}, number("page")),
        listed({"type": "object", "properties": {"a": ARRAY, "b": ARRAY}}, number("page")),
        listed(ARRAY, text("page")),
        listed(ARRAY, number("limit")),
        listed(wrapped(), text("cursor")),
        listed(ARRAY, number("page"), text("first")),
        get(number("page")),
    ],
    ids=["no list", "two lists", "page is a text", "no position", "no next", "first is taken", "no schema"],
)
async def test_what_gives_no_pages_is_left_alone(node: Node) -> None:
    [operation] = adapter_of(document({"/things": {"get": node}})).operations.values()
    assert operation.parameter("after") is None
    assert {parameter["name"] for parameter in node["parameters"]} <= {one.name for one in operation.parameters}


@pytest.mark.parametrize(
    ("schema", "path"),
    [
        ({"type": "object", "properties": {"pets": ARRAY, "page": {"type": "integer"}}}, ("pets",)),
        ({"type": "object", "properties": {"tags": ARRAY, "items": ARRAY}}, ("items",)),
        ({"type": "object", "properties": {"result": wrapped()}}, ("result", "data")),
        ({"allOf": [{"type": "object", "properties": {"total": {}}}, wrapped()]}, ("data",)),
        ({"type": ["array", "null"], "items": {}}, ()),
    ],
)
async def test_the_list_is_found_where_it_is(schema: Node, path: tuple[str, ...]) -> None:
    node = listed(schema, number("page"))
    [operation] = adapter_of(document({"/things": {"get": node}})).operations.values()
    function: Any = operation.function
    assert function.paging.items == path


def test_a_position_is_read_as_it_was_written_with_the_same_key_only() -> None:
    position = Position((("a", "b c"), ("a", "é")), True, 5, 3)
    cursors = PositionCursors(b"k" * 32, "shop")
    written = cursors.write(position, "about")
    assert cursors.read(written, "about") == position
    for other in (PositionCursors(b"x" * 32, "shop"), PositionCursors(b"k" * 32, "other")):
        with pytest.raises(AqlError):
            other.read(written, "about")
