"""A call without anything unusual is answered before MCP's own models read it; nobody can tell from the answer."""

from typing import Any

import httpx2
import mcp_types as types
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.server.context import CallNext, HandlerResult

from headgate import Adapter, Context, NotFound, mcp_server

pytestmark = pytest.mark.anyio

MODES = pytest.mark.parametrize("mode", ["auto", "legacy"])
REQUESTS = pytest.mark.parametrize(
    "request_",
    [
        pytest.param({"operation": "get_book", "params": {"number": 1}}, id="a success"),
        pytest.param({"operation": "get_book", "params": {"number": 2}}, id="a handler's refusal"),
        pytest.param({"operation": "get_book", "params": {"number": "one"}}, id="a wrong parameter"),
        pytest.param({"operations": [{"operation": "get_book", "params": {"number": 1}}]}, id="a batch"),
    ],
)


def shelf() -> Adapter:
    adapter = Adapter("shelf", "Books on a shelf.")

    @adapter.read
    async def get_book(number: int) -> dict[str, object]:
        """Get a book."""
        if number != 1:
            raise NotFound("book", str(number))
        return {"number": number}

    return adapter


async def ask(client: Client, arguments: dict[str, Any], **more: Any) -> dict[str, Any]:
    """What a client gets, less the id that every request has for itself."""
    result = await client.call_tool("mcp_aql_read", arguments, **more)
    meta = {key: value for key, value in (result.meta or {}).items() if key != "headgate/requestId"}
    return result.model_dump(exclude={"meta"}) | {"meta": meta}


@MODES
@REQUESTS
async def test_a_plain_call_gets_what_one_through_all_checks_gets(mode: str, request_: dict[str, Any]) -> None:
    async with Client(mcp_server(shelf()), mode=mode) as client:
        assert await ask(client, request_) == await ask(client, request_, meta={"example.org/note": "unusual"})


@MODES
async def test_middleware_of_an_embedding_program_sees_every_call(mode: str) -> None:
    seen = []

    async def watch(ctx: Any, call_next: CallNext) -> HandlerResult:
        seen.append(ctx.method)
        return await call_next(ctx)

    server = mcp_server(shelf())
    server.middleware.append(watch)
    async with Client(server, mode=mode) as client:
        result = await client.call_tool("mcp_aql_read", {"operation": "get_book", "params": {"number": 1}})
    assert not result.is_error
    assert "tools/call" in seen


@MODES
async def test_a_failure_names_the_session_that_its_handler_saw(mode: str) -> None:
    seen, adapter = [], Adapter("shelf")

    @adapter.read
    async def get_nothing(ctx: Context) -> None:
        """Fail."""
        seen.append(ctx.session.id)
        raise NotFound("book", "1")

    app, url = mcp_server(adapter).streamable_http_app(), "http://127.0.0.1:8000/mcp"
    async with (
        app.router.lifespan_context(app),
        httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app)) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode) as client,
    ):
        result = await client.call_tool("mcp_aql_read", {"operation": "get_nothing"})
    assert [(result.meta or {})["headgate/sessionId"]] == seen


async def test_a_modern_answer_says_which_server_gave_it() -> None:
    async with Client(mcp_server(shelf()), mode="auto") as client:
        result = await client.call_tool("mcp_aql_read", {"operation": "get_book", "params": {"number": 1}})
    assert (result.meta or {})[types.SERVER_INFO_META_KEY]["name"] == "shelf"
