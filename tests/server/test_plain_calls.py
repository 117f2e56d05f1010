"""A call without anything unusual is answered before MCP's own models read it; nobody can tell from the answer."""

from typing import Any

import mcp_types as types
import pytest
from mcp import Client
from mcp.server.context import CallNext, HandlerResult

from headgate import Adapter, NotFound, mcp_server

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


async def test_a_modern_answer_says_which_server_gave_it() -> None:
    async with Client(mcp_server(shelf()), mode="auto") as client:
        result = await client.call_tool("mcp_aql_read", {"operation": "get_book", "params": {"number": 1}})
    assert (result.meta or {})[types.SERVER_INFO_META_KEY]["name"] == "shelf"
