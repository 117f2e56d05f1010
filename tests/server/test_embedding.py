"""A server inside somebody else's program: in process, mounted in a web application, with settings and listeners."""

import contextlib
from collections.abc import AsyncIterator
from typing import Any

import anyio
import httpx2
import mcp_types as types
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, Route

from headgate import Adapter, Context, Limits, mcp_server
from headgate.engine.events import Event, Executed
from headgate.server.binding import McpServer
from tests.server.processes import MODERN_META

pytestmark = pytest.mark.anyio

MODES = pytest.mark.parametrize("mode", ["auto", "legacy"])


def shelf() -> Adapter:
    adapter = Adapter("shelf", "Books on a shelf.", version="4.5.6")

    @adapter.read
    async def get_book(number: int, ctx: Context) -> dict[str, object]:
        """Get a book."""
        await ctx.progress(1, 2, "looking")
        count = ctx.session.state.get("count", 0)
        assert isinstance(count, int)
        ctx.session.state["count"] = count + 1
        return {"number": number, "asked": count + 1, "label": ctx.caller.label}

    return adapter


async def ask(client: Client, **params: Any) -> types.CallToolResult:
    return await client.call_tool("mcp_aql_read", {"operation": "get_book", "params": params})


def text(result: types.CallToolResult) -> str:
    assert isinstance(result.content[0], types.TextContent)
    return result.content[0].text


@MODES
async def test_a_server_is_used_in_process(mode: str) -> None:
    steps: list[tuple[float, float | None, str | None]] = []

    async def progressed(progress: float, total: float | None, message: str | None) -> None:
        steps.append((progress, total, message))

    async with Client(mcp_server(shelf()), mode=mode) as client:
        assert client.server_info
        assert (client.server_info.name, client.server_info.version) == ("shelf", "4.5.6")
        assert client.instructions == (
            "Books on a shelf. Call a tool with an operation and its params, or with several as a list of operations. "
            "The operation 'introspect' tells what there is and how to call it."
        )
        result = await client.call_tool(
            "mcp_aql_read", {"operation": "get_book", "params": {"number": 7}}, progress_callback=progressed
        )
        assert text(result) == '{"success":true,"data":{"number":7,"asked":1,"label":"mcp"}}'
        assert result.structured_content is None
    assert steps == [(1, 2, "looking")]


async def test_an_adapter_without_a_description_has_instructions_all_the_same() -> None:
    async with Client(mcp_server(Adapter("shelf"))) as client:
        assert (client.instructions or "").startswith("Call a tool with an operation")


@MODES
async def test_the_extension_is_declared_in_both_eras(mode: str) -> None:
    async with Client(mcp_server(shelf()), mode=mode) as client:
        declared = client.server_capabilities.model_dump(by_alias=True)
        place = "extensions" if mode == "auto" else "experimental"
        assert declared[place] == {"headgate/mcp-aql": {"version": "1.0.0-draft"}}


async def test_answers_may_be_structured_too() -> None:
    async with Client(mcp_server(shelf(), structured_content=True)) as client:
        right, wrong = await ask(client, number=7), await ask(client)
        assert right.structured_content == {"success": True, "data": {"number": 7, "asked": 1, "label": "mcp"}}
        assert wrong.structured_content
        assert wrong.structured_content["success"] is False


async def test_clients_may_keep_the_list_of_tools_as_long_as_the_operator_says() -> None:
    async with Client(mcp_server(shelf(), cache_seconds=90)) as client:
        listed = await client.list_tools()
        assert (listed.ttl_ms, listed.cache_scope) == (90_000, "public")
    async with Client(mcp_server(shelf(), cache_seconds=90), mode="legacy") as client:
        assert (await client.list_tools()).ttl_ms == 0


async def test_listeners_hear_who_asked_for_what() -> None:
    heard: list[Event] = []
    async with Client(mcp_server(shelf(), listeners=[heard.append])) as client:
        await ask(client, number=1)
    executed = [event for event in heard if isinstance(event, Executed)]
    assert [(event.operation, event.caller.label) for event in executed] == [("get_book", "mcp")]


@contextlib.asynccontextmanager
async def mounted(server: McpServer, **options: Any) -> AsyncIterator[httpx2.AsyncClient]:
    """The server at /v1/mcp of another application, and a client of that application."""
    inner = server.streamable_http_app(**options)

    async def hello(_request: Request) -> PlainTextResponse:
        return PlainTextResponse("hello")

    app = Starlette(routes=[Route("/hello", hello), Mount("/v1", app=inner)])
    async with (
        server.session_manager.run(),
        httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url="http://127.0.0.1:8000") as http,
    ):
        yield http


@MODES
async def test_a_server_is_mounted_in_another_application(mode: str) -> None:
    server = mcp_server(shelf())
    async with mounted(server) as http:
        assert (await http.get("/hello")).text == "hello"
        url = "http://127.0.0.1:8000/v1/mcp"
        async with Client(streamable_http_client(url, http_client=http), mode=mode) as client:
            assert '"asked":1' in text(await ask(client, number=1))
            assert ('"asked":2' in text(await ask(client, number=1))) == (mode == "legacy")
        assert not server.sessions.get("any").ended
        assert len(server.sessions._alive) == 1, "what the client ended is gone"


async def test_a_session_that_no_transport_has_proved_does_not_count() -> None:
    server = mcp_server(shelf())
    async with mounted(server, stateless_http=True, json_response=True) as http:
        call = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": "mcp_aql_read", "arguments": {"operation": "get_book", "params": {"number": 1}}},
        }
        headers = {"Accept": "application/json, text/event-stream", "mcp-session-id": "claimed"}
        for _ in range(2):
            answer = (await http.post("/v1/mcp", json=call, headers=headers)).json()
            assert '"asked":1' in answer["result"]["content"][0]["text"]


async def test_the_largest_request_that_the_limits_allow_fits_through() -> None:
    size = 9 * 1024 * 1024
    server = mcp_server(shelf(), limits=Limits(max_request_size=10 * 1024 * 1024, max_string_length=10 * 1024 * 1024))
    params = {
        "name": "mcp_aql_read",
        "arguments": {"operation": "get_book", "params": {"number": "x" * size}},
        "_meta": MODERN_META,
    }
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    headers = {
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": "mcp_aql_read",
    }
    async with mounted(server) as http:
        answer = await http.post("/v1/mcp", json=message, headers=headers)
        assert "VALIDATION_INVALID_TYPE" in answer.json()["result"]["content"][0]["text"]


async def test_a_websocket_is_none_of_our_business() -> None:
    server = mcp_server(shelf())
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "websocket.connect"}

    app = server.streamable_http_app()
    await app({"type": "websocket", "path": "/nothing", "headers": []}, receive, send)
    assert sent[-1]["type"] == "websocket.close"
    await anyio.lowlevel.checkpoint()
