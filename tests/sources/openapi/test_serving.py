"""A document behind the whole engine: found, checked, gated, tried, called and explained as any other adapter."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from headgate import Engine
from headgate.sources.openapi.options import OpenApiOptions
from tests.engine.asking import ask, error
from tests.sources.http.upstream import Received, Upstream, reply, running
from tests.sources.openapi.making import Node, adapter_of, document, get

pytestmark = pytest.mark.anyio

PET: Node = {
    "type": "object",
    "required": ["petName"],
    "properties": {"petName": {"type": "string", "maxLength": 10}, "kind": {"type": "string", "enum": ["cat", "dog"]}},
}
BODY: Node = {"required": True, "content": {"application/json": {"schema": PET}}}
LISTED: Node = {
    "200": {"description": "Pets", "content": {"application/json": {"schema": {"type": "array", "items": PET}}}}
}
PAGE: Node = {"name": "page", "in": "query", "schema": {"type": "integer"}}
PETS: Node = document(
    {
        "/pets": {"get": get(PAGE, responses=LISTED), "post": get(requestBody=BODY)},
        "/pets/{petId}": {"put": get(requestBody=BODY), "delete": get()},
    }
)


@asynccontextmanager
async def served() -> AsyncIterator[tuple[Engine, Upstream]]:
    async def script(received: Received, writer: object) -> bytes:
        if received.method == "GET":
            pets = [{"petName": f"pet {number}"} for number in range(3)] if "page" not in received.target else []
            return reply(200, json.dumps(pets).encode(), content_type="application/json")
        if received.target == "/pets/404":
            return reply(404)
        return reply(200, received.body or b"null", content_type="application/json")

    async with running(script) as upstream:
        adapter = adapter_of(PETS, OpenApiOptions(base_url=upstream.url))
        try:
            yield Engine(adapter), upstream
        finally:
            await adapter.close()


async def data(engine: Engine, operation: str, **params: Any) -> Any:
    envelope = await ask(engine, operation, **params)
    assert envelope["success"], envelope
    return envelope["data"]


async def test_every_operation_can_be_introspected() -> None:
    async with served() as (engine, _):
        for name in ("list_pets", "create_pet", "update_pet", "delete_pet"):
            found = await data(engine, "introspect", query="operations", name=name)
            assert found["operation"]["name"] == name
            assert found["operation"]["parameters"]
        types = await data(engine, "introspect", query="types")
        assert types["types"]


async def test_a_list_may_be_a_table_and_the_upstream_does_not_hear_of_it() -> None:
    async with served() as (engine, upstream):
        answer = await data(engine, "list_pets", format="table")
        assert (answer["columns"], answer["rows"]) == (["petName"], [["pet 0"], ["pet 1"], ["pet 2"]])
        assert "format" not in upstream.targets[-1]
        assert (await data(engine, "list_pets", format="records"))["items"][0] == {"petName": "pet 0"}


async def test_calls_arrive_as_the_document_says() -> None:
    async with served() as (engine, upstream):
        assert await data(engine, "create_pet", pet_name="Rex", kind="dog") == {"petName": "Rex", "kind": "dog"}
        assert await data(engine, "update_pet", pet_id="a/b", input={"pet_name": "Tom"}) == {"petName": "Tom"}
        assert await data(engine, "delete_pet", pet_id="1") is None
    assert [(one.method, one.target) for one in upstream.requests] == [
        ("POST", "/pets"),
        ("PUT", "/pets/a%2Fb"),
        ("DELETE", "/pets/1"),
    ]


async def test_a_list_comes_in_pages() -> None:
    async with served() as (engine, _):
        page = await data(engine, "list_pets", first=2, fields=["petName"])
        assert page["items"] == [{"petName": "pet 0"}, {"petName": "pet 1"}]
        rest = await data(engine, "list_pets", first=2, after=page["pageInfo"]["endCursor"])
        assert rest["items"] == [{"petName": "pet 2"}]
        assert rest["pageInfo"] == {"hasNextPage": False, "hasPreviousPage": True}
        envelope = await ask(engine, "list_pets", first=1000)
    assert envelope["warnings"][0]["code"] == "VALIDATION_TRUNCATED_WARNING"


async def test_what_is_only_tried_sends_nothing() -> None:
    async with served() as (engine, upstream):
        await data(engine, "create_pet", pet_name="Rex", dry_run=True)
        await data(engine, "delete_pet", pet_id="1", dry_run=True)
    assert upstream.requests == []


async def test_what_is_wrong_is_said_before_anything_is_sent() -> None:
    async with served() as (engine, upstream):
        assert (await error(engine, "create_pet", pet_name="far too long a name"))["code"] == "VALIDATION_OUT_OF_RANGE"
        assert (await error(engine, "create_pet", pet_name="a", kind="cow"))["code"] == "VALIDATION_INVALID_ENUM"
        assert (await error(engine, "create_pet"))["code"] == "VALIDATION_MISSING_PARAM"
        assert (await error(engine, "delete_pet", pet_id=".."))["code"] == "VALIDATION_INVALID_VALUE"
        assert (await error(engine, "list_pets", after="x"))["code"] == "VALIDATION_INVALID_VALUE"
    assert upstream.requests == []


async def test_an_upstreams_refusal_is_an_error_of_the_registry() -> None:
    async with served() as (engine, _):
        found = await error(engine, "delete_pet", pet_id="404")
    assert found["code"] == "NOT_FOUND_RESOURCE"
    assert found["message"] == "Resource 'pet' not found: '404'"
