"""What an operation of a file sends, byte for byte, and what becomes of the answer."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.adapter.adapter import Adapter
from headgate.protocol.categories import Category
from headgate.protocol.errors import AqlError, Invalid
from headgate.protocol.names import is_snake_case
from headgate.sources.files.plugins.formats import JSON
from headgate.sources.files.plugins.rest import RestPlan, mapped
from headgate.sources.files.values import Entry, Sent, Target
from tests.sources.files.texts import adapter_of, called, head
from tests.sources.http.upstream import Script, Upstream, always, reply, running

pytestmark = pytest.mark.anyio

OK = always(reply(200, b'{"ok":true}', content_type="application/json"))


@asynccontextmanager
async def served(
    operations: dict[str, Any], script: Script = OK, target: dict[str, Any] | None = None, **changes: Any
) -> AsyncIterator[tuple[Adapter, Upstream]]:
    """An adapter of these operations before a server that writes down what arrives."""
    async with running(script) as upstream:
        plugins = {"transport": "http", "protocol": "rest", "serialization": "json", **(target or {})}
        adapter = adapter_of(
            head(operations=operations, target={"base_url": f"{upstream.url}/v1", **plugins}, **changes)
        )
        try:
            yield adapter, upstream
        finally:
            await adapter.close()


def read(maps_to: str, **params: Any) -> dict[str, Any]:
    return {"read": [{"name": "get_item", "maps_to": maps_to, "params": params}]}


STRING = {"type": "string"}
NEEDED = {"type": "string", "required": True}


async def test_a_path_parameter_stands_in_the_path_and_the_rest_in_the_query() -> None:
    params = {"id": NEEDED, "page": {"type": "integer"}, "sort": STRING}
    async with served(read("GET /items/{id}", **params)) as (adapter, upstream):
        answer = await called(adapter, "get_item", id="a b/c", page=2)
    assert answer == {"ok": True}
    assert [(one.method, one.target, one.body) for one in upstream.requests] == [
        ("GET", "/v1/items/a%20b%2Fc?page=2", b"")
    ]
    assert upstream.requests[0].headers["accept"] == "application/json, */*;q=0.5"


@pytest.mark.parametrize(
    ("value", "query"),
    [
        ("a&b=c d?#é", "q=a%26b%3Dc%20d%3F%23%C3%A9"),
        (["a", "b"], "q=a&q=b"),
        ([], ""),
        (True, "q=true"),
        (1.5, "q=1.5"),
        (10**20, "q=100000000000000000000"),
        ({"a": [1]}, "q=%7B%22a%22%3A%5B1%5D%7D"),
        (None, ""),
        ([1, None, 2], "q=1&q=2"),
    ],
)
async def test_a_query_carries_every_kind_of_value(value: object, query: str) -> None:
    async with served(read("GET /items", q={"schema": {}})) as (adapter, upstream):
        await called(adapter, "get_item", q=value)
    assert upstream.targets == [f"/v1/items?{query}" if query else "/v1/items"]


async def test_what_is_not_given_is_not_sent_and_a_default_is() -> None:
    params = {"size": {"type": "integer", "default": 30}, "sort": STRING, "empty": {"type": "string", "default": ""}}
    async with served(read("GET /items", **params)) as (adapter, upstream):
        await called(adapter, "get_item")
    assert upstream.targets == ["/v1/items?size=30&empty="]


async def test_a_post_has_its_parameters_in_the_body() -> None:
    create = {
        "name": "create_item",
        "maps_to": "POST /shops/{shop}/items",
        "params": {
            "shop": NEEDED,
            "title": NEEDED,
            "tags": {"type": "array"},
            "notify": {"type": "boolean", "in": "query"},
        },
    }
    async with served({"create": [create]}) as (adapter, upstream):
        await called(adapter, "create_item", shop="x", title="é", tags=["a", 1], notify=True)
    (request,) = upstream.requests
    assert (request.method, request.target) == ("POST", "/v1/shops/x/items?notify=true")
    assert json.loads(request.body) == {"title": "é", "tags": ["a", 1]}
    assert request.headers["content-type"] == "application/json"


async def test_a_dry_run_is_never_part_of_a_request() -> None:
    create = {"name": "create_item", "maps_to": "POST /items", "params": {"title": NEEDED}}
    async with served({"create": [create]}) as (adapter, upstream):
        operation = adapter.operations["create_item"]
        await called(adapter, "create_item", title="x")
    assert operation.tries_nothing
    assert json.loads(upstream.requests[0].body) == {"title": "x"}


async def test_a_dry_run_of_the_upstream_itself_is_sent() -> None:
    params = {"title": NEEDED, "dry_run": {"type": "boolean", "default": False}}
    create = {"name": "create_item", "maps_to": "POST /items", "params": params}
    async with served({"create": [create]}) as (adapter, upstream):
        assert not adapter.operations["create_item"].tries_nothing
        await called(adapter, "create_item", title="x", dry_run=True)
    assert json.loads(upstream.requests[0].body) == {"title": "x", "dry_run": True}


async def test_a_body_that_may_be_empty_is_still_a_body() -> None:
    create = {"name": "create_item", "maps_to": "POST /items", "params": {"title": STRING}}
    run = {"name": "execute_refresh", "maps_to": "POST /refresh"}
    async with served({"create": [create], "execute": [run]}) as (adapter, upstream):
        await called(adapter, "create_item")
        await called(adapter, "execute_refresh")
    assert [request.body for request in upstream.requests] == [b"{}", b""]
    assert "content-type" not in upstream.requests[1].headers


async def test_an_update_takes_its_changes_in_input() -> None:
    update = {
        "name": "update_item",
        "maps_to": "PATCH /items/{itemId}",
        "params": {
            "itemId": NEEDED,
            "newTitle": NEEDED,
            "price": {"type": ["number", "null"]},
            "lang": {**STRING, "in": "query"},
        },
    }
    async with served({"update": [update]}) as (adapter, upstream):
        names = [one.name for one in adapter.operations["update_item"].parameters]
        await called(adapter, "update_item", item_id="7", input={"new_title": "x", "price": None}, lang="de")
    assert names == ["item_id", "lang", "input", "dry_run"]
    assert upstream.targets == ["/v1/items/7?lang=de"]
    assert json.loads(upstream.requests[0].body) == {"newTitle": "x", "price": None}


async def test_an_update_may_write_its_input_out() -> None:
    given = {"required": True, "type": "object", "properties": {"title": STRING}, "additionalProperties": False}
    update = {"name": "update_item", "maps_to": "PUT /items/{id}", "params": {"id": NEEDED, "input": given}}
    async with served({"update": [update]}) as (adapter, upstream):
        await called(adapter, "update_item", id="7", input={"title": "x"})
    assert json.loads(upstream.requests[0].body) == {"title": "x"}


async def test_foreign_spellings_are_sent_as_they_are_there() -> None:
    params = {
        "pageSize": {"type": "integer"},
        "X-Trace": {**STRING, "in": "header"},
        "sort": {**STRING, "sent_as": "order[by]"},
    }
    async with served(read("GET /items", **params)) as (adapter, upstream):
        names = [one.name for one in adapter.operations["get_item"].parameters]
        await called(adapter, "get_item", page_size=5, x_trace="t1", sort="a")
    assert names == ["page_size", "x_trace", "sort"]
    assert all(is_snake_case(name) for name in names)
    assert upstream.targets == ["/v1/items?pageSize=5&order%5Bby%5D=a"]
    assert upstream.requests[0].headers["x-trace"] == "t1"


async def test_a_delete_has_its_parameters_in_the_query_unless_it_says_otherwise() -> None:
    params = {"id": NEEDED, "force": {"type": "boolean"}, "why": {**STRING, "in": "body"}}
    delete = {"name": "delete_item", "maps_to": "DELETE /items/{id}", "params": params}
    async with served({"delete": [delete]}) as (adapter, upstream):
        await called(adapter, "delete_item", id="1", force=False, why="old")
    (request,) = upstream.requests
    assert (request.target, request.body) == ("/v1/items/1?force=false", b'{"why":"old"}')


@pytest.mark.parametrize("value", ["..", ".", "", "a/../b", "..\\x"])
async def test_a_path_parameter_cannot_leave_its_segment(value: str) -> None:
    async with served(read("GET /items/{id}/parts", id=NEEDED)) as (adapter, upstream):
        with pytest.raises(Invalid):
            await called(adapter, "get_item", id=value)
    assert upstream.requests == []


@given(st.text(min_size=1))
def test_no_text_whatever_makes_another_path(value: str) -> None:
    entry = Entry(name="x", category=Category.READ, maps_to="GET /a/{id}/b", summary="x", sent={"id": Sent("id")})
    target = Target(transport="http", protocol="rest", serialization="json", base_url="https://x.example")
    mapping = mapped(entry.maps_to)
    assert mapping
    try:
        request = RestPlan(entry, target, JSON, mapping, None).request({"id": value})
    except Invalid:
        return
    path = request.url.removeprefix("https://x.example/")
    assert path.count("/") == 2
    assert not {"?", "#", "\\"} & set(path)


async def test_a_header_cannot_become_two() -> None:
    async with served(read("GET /items", trace={**STRING, "in": "header"})) as (adapter, upstream):
        with pytest.raises(AqlError):
            await called(adapter, "get_item", trace="a\r\nX-Evil: 1")
    assert upstream.requests == []


@pytest.mark.parametrize(
    ("auth", "header", "expected"),
    [
        ({"type": "none"}, "authorization", None),
        ({"type": "bearer", "token_env": "SHOP_T"}, "authorization", "Bearer s3cret-value"),
        ({"type": "bearer"}, "authorization", "Bearer by-name"),
        ({"type": "bearer", "header": "Authorization", "prefix": "Bearer "}, "authorization", "Bearer by-name"),
        ({"type": "api_key", "header_name": "X-Shop-Key", "key_env": "SHOP_T"}, "x-shop-key", "s3cret-value"),
        ({"type": "api_key", "param_name": "key", "key_env": "SHOP_T", "in": "cookie"}, "cookie", "key=s3cret-value"),
        (
            {"type": "basic", "username_env": "SHOP_U", "password_env": "SHOP_T"},
            "authorization",
            "Basic YWRhOnMzY3JldC12YWx1ZQ==",
        ),
    ],
    ids=["none", "bearer", "bearer by name", "bearer as in the schema", "api key", "cookie", "basic"],
)
async def test_credentials_come_from_the_environment(
    auth: dict[str, str], header: str, expected: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_T", "s3cret-value")
    monkeypatch.setenv("SHOP_U", "ada")
    monkeypatch.setenv("ITEMS_TOKEN", "by-name")
    async with served(read("GET /items"), auth=auth) as (adapter, upstream):
        await called(adapter, "get_item")
    assert upstream.requests[0].headers.get(header) == expected


async def test_a_key_may_stand_in_the_query(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_T", "k 1")
    auth = {"type": "api_key", "param_name": "key", "key_env": "SHOP_T", "in": "query"}
    async with served(read("GET /items", q=STRING), auth=auth) as (adapter, upstream):
        await called(adapter, "get_item", q="x")
    assert upstream.targets == ["/v1/items?q=x&key=k%201"]


async def test_a_missing_credential_is_named_and_nothing_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SHOP_T", raising=False)
    auth = {"type": "bearer", "token_env": "SHOP_T"}
    async with served(read("GET /items"), auth=auth) as (adapter, upstream):
        with pytest.raises(AqlError) as caught:
            await called(adapter, "get_item")
    assert caught.value.error.code == "AUTH_CREDENTIAL_MISSING"
    assert "'SHOP_T'" in caught.value.error.message
    assert upstream.requests == []


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (400, "VALIDATION_INVALID_TYPE"),
        (401, "PERMISSION_DENIED"),
        (404, "NOT_FOUND_RESOURCE"),
        (409, "CONFLICT_ALREADY_EXISTS"),
        (500, "INTERNAL_ERROR"),
    ],
)
async def test_a_status_becomes_a_code(status: int, code: str) -> None:
    script = always(reply(status, b'{"message":"no such thing"}', content_type="application/json"))
    async with served(read("GET /items/{id}", id=NEEDED), script) as (adapter, _):
        with pytest.raises(AqlError) as caught:
            await called(adapter, "get_item", id="i-9")
    error = caught.value.error
    assert error.code == code
    assert error.details
    assert error.details["http_status"] == status
    if code == "NOT_FOUND_RESOURCE":
        assert "'i-9'" in error.message


async def test_an_answer_that_is_no_json_is_told() -> None:
    script = always(reply(200, b"{broken", content_type="application/json"))
    async with served(read("GET /items"), script) as (adapter, _):
        with pytest.raises(AqlError) as caught:
            await called(adapter, "get_item")
    assert caught.value.error.code == "SERIALIZATION_PARSE_ERROR"


async def test_a_search_may_be_posted_if_it_says_why() -> None:
    search = {
        "name": "search_items",
        "maps_to": "POST /search",
        "rationale": "the query is too long for a URL",
        "params": {"query": NEEDED},
    }
    async with served({"read": [search]}) as (adapter, upstream):
        await called(adapter, "search_items", query="x")
    assert upstream.requests[0].body == b'{"query":"x"}'


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({}, {"id": 1, "owner": {"name": "Ada"}}),
        ({"fields": ["owner.name", "nothing"]}, {"owner": {"name": "Ada"}}),
        ({"fields": "id,size"}, {"id": 1, "size": 3}),
        ({"fields": '["size"]'}, {"size": 3}),
        ({"fields": ["owner.name", "owner"]}, {"owner": {"name": "Ada", "mail": "x"}}),
        ({"fields": ["tags.a"]}, {"tags": [{"a": 1}, {}]}),
        (
            {"fields": "full"},
            {"id": 1, "size": 3, "owner": {"name": "Ada", "mail": "x"}, "tags": [{"a": 1, "b": 2}, {"b": 3}]},
        ),
    ],
    ids=["default", "paths", "commas", "as text", "whole", "in lists", "full"],
)
async def test_the_fields_of_an_answer_can_be_chosen(params: dict[str, Any], expected: object) -> None:
    item = {"id": 1, "size": 3, "owner": {"name": "Ada", "mail": "x"}, "tags": [{"a": 1, "b": 2}, {"b": 3}]}
    operation = {
        "name": "get_item",
        "maps_to": "GET /item",
        "supports_fields": True,
        "default_fields": ["id", "owner.name"],
    }
    script = always(reply(200, json.dumps(item).encode(), content_type="application/json"))
    async with served({"read": [operation]}, script) as (adapter, upstream):
        assert await called(adapter, "get_item", **params) == expected
    assert upstream.targets == ["/v1/item"]


async def test_fields_of_a_list_are_chosen_in_each_item() -> None:
    operation = {"name": "list_items", "maps_to": "GET /items", "supports_fields": True}
    script = always(reply(200, b'[{"a":1,"b":2},{"b":3},5]', content_type="application/json"))
    async with served({"read": [operation]}, script) as (adapter, _):
        assert await called(adapter, "list_items", fields=["a"]) == [{"a": 1}, {}, 5]
        assert await called(adapter, "list_items") == [{"a": 1, "b": 2}, {"b": 3}, 5]


@pytest.mark.parametrize(
    "maps_to",
    [
        "GET /a b",
        "GET //x\\y",
        "get /a",
        "GET /{a}{",
        "GET /a\n",
        "GET  /a",
        "HEAD /a",
        "GET /./a",
        "GET /a/..",
        "TRACE /",
    ],
)
def test_a_mapping_of_another_form_is_none(maps_to: str) -> None:
    assert mapped(maps_to) is None


def test_a_mapping_comes_apart() -> None:
    found = mapped("PUT /a/{b}/c.{d}")
    assert found
    assert (found.method, found.path, found.placeholders) == ("PUT", "/a/{b}/c.{d}", ("b", "d"))


def test_a_path_without_its_parameter_is_refused() -> None:
    entry = Entry(name="x", category=Category.READ, maps_to="GET /a/{id}", summary="x", sent={"id": Sent("id")})
    target = Target(transport="http", protocol="rest", serialization="json", base_url="https://x.example")
    mapping = mapped(entry.maps_to)
    assert mapping
    with pytest.raises(AqlError) as caught:
        RestPlan(entry, target, JSON, mapping, None).request({})
    assert caught.value.error.code == "PROTOCOL_MISSING_PARAM"
