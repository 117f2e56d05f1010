"""What is particular to connections: news that stop, parameters in headers, noise, secrets in what servers write."""

import asyncio
import importlib.util
import json
import logging
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp.shared import jsonrpc_dispatcher

from headgate.protocol.adapter_errors import AdapterError
from headgate.sources.mcp import links, pipes
from headgate.sources.mcp.configuration import McpSpec
from headgate.sources.mcp.last_words import LastWords
from headgate.sources.mcp.links import Link
from headgate.sources.mcp.source import McpSource
from headgate.sources.mcp.wires import raw_result
from tests.sources.mcp.opening import heard_by, lines, next_version, opened, until
from tests.sources.mcp.rooms import Room, open_room, text

pytestmark = pytest.mark.anyio

SOURCE = Path(lines().args[1]).read_text()


def changed(**replacements: str) -> McpSpec:
    """The server of plain lines, with some words of its program replaced."""
    code = SOURCE
    for old, new in replacements.items():
        code = code.replace(f'"{old}"', f'"{new}"')
    return McpSpec(name="lines", command=lines().command, args=("-S", "-c", code), env={"ERA": "modern"})


async def test_a_parameter_that_belongs_into_a_header_is_sent_in_one() -> None:
    room = Room()
    schema = {"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}}

    async def listed(ctx: Any, params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[types.Tool(name="get_headers", input_schema=schema)])

    async def headers(ctx: Any, params: Any) -> Any:
        return text(json.dumps({"header": ctx.request.headers.get("mcp-param-region"), "body": params.arguments}))

    room.list_tools = listed  # type: ignore[method-assign]
    room.do_get_headers = headers  # type: ignore[method-assign]
    room.server.add_request_handler("tools/list", types.PaginatedRequestParams, listed)
    async with open_room("modern", room) as (_, spec), opened(spec) as server:
        assert await server.data("get_headers", region="eu") == {"header": "eu", "body": {"region": "eu"}}


async def test_headers_of_an_odd_tool_hinder_nobody(tmp_path: Path) -> None:
    tools = tmp_path / "tools.json"
    odd = {"name": "get_odd", "inputSchema": {"properties": {"a": {"type": "string", "x-mcp-header": "A"}}}}
    tools.write_text(json.dumps([odd]))
    async with opened(lines(ERA="modern", TOOLS=str(tools))) as server:
        assert await server.data("get_odd", a="x") == {"a": "x"}


async def test_news_that_stop_are_asked_for_again_and_nothing_is_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(links, "_LISTEN_AGAIN_SECONDS", 0.05)
    room = Room()

    def asked() -> int:
        return sum("subscriptions/listen" in body for _, body, _ in room.requests)

    async with open_room("modern", room) as (_, spec), opened(spec) as server:
        await until(lambda: asked() == 1)
        await asyncio.sleep(0)
        room.names.append("get_more")
        room.news.close()
        adapter = await next_version(server.source)
        assert "get_more" in adapter.operations
        assert await server.data("step") == "done"


async def test_a_line_that_breaks_amid_the_news_is_found_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(links, "_LISTEN_AGAIN_SECONDS", 0.05)
    ended = '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"%LISTEN%"}}\n'
    answer = '{"jsonrpc":"2.0","id":%ID%,"result":{"resultType":"complete","content":[]}}'
    async with opened(lines(ERA="modern")) as server:
        link = server.source._upstream._link
        assert link is not None
        await until(lambda: link.session._listen_routes)
        [first] = link.session._listen_routes
        await server.data("show_line", line=ended.replace("%LISTEN%", str(first)) + answer)
        await until(lambda: link.session._listen_routes and first not in link.session._listen_routes)
        await server.data("list_more", names=["get_new"])
        assert "get_new" in (await next_version(server.source)).operations


async def test_a_modern_server_without_news_is_used_without_them(tmp_path: Path) -> None:
    async with opened(changed(**{"subscriptions/listen": "subscriptions/none"})) as server:
        assert await server.data("echo", value=1) == {"value": 1}
        assert server.source.is_up


async def test_a_server_that_lists_nothing_that_is_a_list_is_refused() -> None:
    source = McpSource(changed(tools="gadgets"))
    with pytest.raises(AdapterError, match="answers with no list of tools when it is asked for them"):
        await source.open()
    await source.close()


async def test_a_server_that_writes_nothing_but_noise_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipes, "_MOST_NOISE", 50)
    async with opened(lines()) as server:
        error = await server.error("show_line", line="noise\n" * 60)
        assert error["code"] == "TRANSPORT_NETWORK_ERROR"
        assert "it writes something else than messages of MCP" in error["message"]
        assert await server.data("echo", value=1) == {"value": 1}


async def test_a_message_that_is_too_long_ends_its_server_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipes, "_LONGEST_LINE", 1_000_000)
    async with opened(lines()) as server:
        error = await server.error("get_picture", size=2_000_000)
        assert error["code"] == "TRANSPORT_NETWORK_ERROR"
        assert "it sent a message of more than 1 MB" in error["message"]
        assert await server.data("echo", value=1) == {"value": 1}


async def test_a_request_of_a_server_that_nobody_knows_is_turned_down(tmp_path: Path) -> None:
    log = tmp_path / "log"
    asked = '{"jsonrpc":"2.0","id":"x","method":"roots/list"}\n{"jsonrpc":"2.0","id":"y","method":"no/such"}\n'
    answer = '{"jsonrpc":"2.0","id":%ID%,"result":{"content":[]}}'
    async with opened(lines(LOG=str(log))) as server:
        await server.data("show_line", line=asked + answer)
        await until(lambda: {"x", "y"} <= {one.get("id") for one in heard_by(log)})
    assert all("error" in one for one in heard_by(log) if one.get("id") in ("x", "y"))


async def test_secrets_stay_out_of_logs_and_errors(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with opened(lines(API_KEY="s3cret-value", REGION="north-west-9")) as server:
        assert await server.data("environment", name="API_KEY") == "***"
        assert await server.data("environment", name="REGION") == "north-west-9", "no secret by its name"
        await server.data("show_in_log", text="my key is s3cret-value")
        failed = json.dumps({"content": [{"type": "text", "text": "no: s3cret-value"}], "isError": True})
        errors = [
            await server.error("give", text=failed),
            await server.error("fail", code=-32602, message="bad s3cret-value"),
            await server.error("end"),
        ]
        told = [await server.call("introspect", {"query": query}) for query in ("operations", "adapter_info", "search")]
    headgates = "\n".join(record.getMessage() for record in caplog.records if record.name.startswith("headgate"))
    assert "my key is" in headgates
    assert "s3cret" not in headgates
    assert "s3cret" not in str(errors) + str(told)


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_news_that_cannot_be_read_stay_out_of_the_log(caplog: pytest.LogCaptureFixture, era: str) -> None:
    caplog.set_level(logging.DEBUG)
    news = '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":"s3cret-value"}}'
    answer = '{"jsonrpc":"2.0","id":%ID%,"result":{"resultType":"complete","content":[]}}'
    logging.getLogger("client").warning("somebody else's")
    async with opened(lines(API_KEY="s3cret-value", ERA=era)) as server:
        await server.data("show_line", line=f"{news}\n{answer}")
        assert await server.data("echo", value=1) == {"value": 1}
    assert "s3cret" not in caplog.text
    assert "somebody else's" in caplog.text


async def test_a_call_at_a_server_that_was_never_opened_is_a_mistake_of_ours() -> None:
    link = Link(lines(), LastWords("lines"), lambda: None)
    with pytest.raises(RuntimeError, match="not open"):
        _ = link.session


async def test_raw_results_need_a_wire() -> None:
    class Checked:
        async def send_request(self, *given: object, **more: object) -> None:
            """As a session that is over something else."""

    with pytest.raises(RuntimeError, match="not over a Wire"):
        await raw_result(Checked(), types.PingRequest())  # type: ignore[arg-type]


@pytest.mark.parametrize("era", ["legacy", "modern"])
@pytest.mark.parametrize(("is_there", "told"), [(True, "00-1-2-01"), (False, None)], ids=["traced", "not traced"])
async def test_a_server_hears_of_the_trace_where_something_can_read_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, era: str, is_there: bool, told: str | None
) -> None:
    log = tmp_path / "log"
    spec = object() if is_there else None
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: spec)
    monkeypatch.setattr(jsonrpc_dispatcher, "inject_trace_context", lambda meta: meta.update(traceparent="00-1-2-01"))
    async with opened(lines(ERA=era, LOG=str(log))) as server:
        await server.data("pid")
    [call] = [message for message in heard_by(log) if message["method"] == "tools/call"]
    assert call["params"]["_meta"].get("traceparent") == told
