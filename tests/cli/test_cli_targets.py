"""Servers that cannot be talked to: one line, exit code 3, and the likely reason."""

import json
import socket
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

import mcp_types as types
import pytest
import uvicorn
from mcp.server import Server, ServerRequestContext
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from examples.town_library import library_adapter
from headgate import Engine
from headgate.cli.output import guarded
from headgate.client.targets import TargetError, connect, local, only
from tests.cli.commands import Shell
from tests.server.processes import Serving, until


@contextmanager
def web(app: Any) -> Iterator[str]:
    """An application that runs, and its address."""
    with socket.create_server(("127.0.0.1", 0)) as sock:
        server = uvicorn.Server(uvicorn.Config(app, log_config=None, access_log=False))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [sock]})
        thread.start()
        try:
            until(lambda: server.started, "the server")
            yield f"http://127.0.0.1:{sock.getsockname()[1]}/mcp"
        finally:
            server.should_exit = True
            thread.join()


def answering(status: int) -> Starlette:
    async def answer(_request: Request) -> Response:
        return Response("<html>", status, {"content-type": "text/html"})

    return Starlette(routes=[Route("/mcp", answer, methods=["GET", "POST", "DELETE"])])


def refused(shell: Shell, url: str, bearer: str = "") -> str:
    done = shell("call", "list_books", "-s", url, env={"HEADGATE_TOKEN": bearer})
    assert (done.code, done.out) == (3, "")
    assert done.err.count("\n") == 1, done.err
    return done.err.removeprefix(f"headgate: Cannot talk to {url}: ").rstrip("\n")


def test_a_server_that_is_not_there(shell: Shell) -> None:
    with socket.create_server(("127.0.0.1", 0)) as sock:
        url = f"http://127.0.0.1:{sock.getsockname()[1]}/mcp"
    assert refused(shell, url) == "All connection attempts failed"


def test_a_token_that_is_missing_or_wrong(shell: Shell, library: Serving) -> None:
    hint = "it wants a token that it accepts: set HEADGATE_TOKEN"
    assert refused(shell, library.url) == hint
    assert refused(shell, library.url, "somebody-elses-altogether") == hint


def test_another_path(shell: Shell, library: Serving) -> None:
    url = library.url.replace("/mcp", "/other")
    assert refused(shell, url) == "there is nothing; the address of an MCP server mostly ends with /mcp"


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("status", "message"),
    [
        (403, "it forbids access; the token may lack a scope"),
        (421, "it does not know itself by that name; its operator can add it with --allow-host"),
        (503, "it answers with status 503"),
        (200, "Unexpected content type: text/html"),
    ],
)
async def test_a_server_that_refuses(status: int, message: str) -> None:
    with web(answering(status)) as url, pytest.raises(TargetError) as error:
        async with connect(url):
            pass
    assert str(error.value) == f"Cannot talk to {url}: {message}"


@pytest.mark.anyio
async def test_what_is_no_url() -> None:
    with pytest.raises(TargetError, match="Cannot talk to http://: "):
        async with connect("http://"):
            pass


Handler = Callable[[ServerRequestContext[Any, Any], types.CallToolRequestParams], Awaitable[types.CallToolResult]]


def foreign(*tools: str, answer: Handler) -> Starlette:
    """A server that we did not write."""

    async def list_tools(_ctx: Any, _params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[types.Tool(name=tool, input_schema={"type": "object"}) for tool in tools])

    return Server("foreign", on_list_tools=list_tools, on_call_tool=answer).streamable_http_app()


def saying(text: str) -> Handler:
    async def answer(_ctx: Any, _params: types.CallToolRequestParams) -> types.CallToolResult:
        return types.CallToolResult(content=[types.TextContent(text=text)] if text else [])

    return answer


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("app", "message"),
    [
        (foreign("hammer", answer=saying("")), "{url} has no tool of MCP-AQL."),
        (foreign("mcp_aql", answer=saying("ouch")), "The tool 'mcp_aql' does not answer as MCP-AQL demands."),
        (foreign("mcp_aql", answer=saying("[]")), "The tool 'mcp_aql' does not answer as MCP-AQL demands."),
        (foreign("mcp_aql", answer=saying("")), "The tool 'mcp_aql' does not answer as MCP-AQL demands."),
        (foreign("mcp_aql", answer=saying('{"success":false}')), "None of the server's tools answers 'introspect'."),
    ],
    ids=["no tool", "no JSON", "no object", "nothing", "no introspection"],
)
async def test_a_server_that_speaks_something_else(app: Starlette, message: str) -> None:
    with web(app) as url, pytest.raises(TargetError) as error:
        async with connect(url) as target:
            await target.call("list_books", {})
    assert str(error.value) == message.replace("{url}", url)


@pytest.mark.anyio
async def test_introspection_is_found_wherever_it_is() -> None:
    asked: list[str] = []

    async def answer(_ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        arguments = params.arguments or {}
        asked.append(f"{params.name}.{arguments['operation']}")
        envelope: dict[str, Any] = {"success": params.name == "x_mcp_aql_help", "data": {"operation": None}}
        if arguments["operation"] == "get_thing":
            envelope = {"success": True, "data": 7}
        elif arguments["params"]["name"] == "get_thing":
            envelope["data"]["operation"] = {"mcpTool": "x_mcp_aql_use"}
        return types.CallToolResult(content=[types.TextContent(text=json.dumps(envelope))])

    with web(foreign("x_mcp_aql_use", "x_mcp_aql_help", answer=answer)) as url:
        async with connect(url, "token") as target:
            assert await target.call("get_thing", {}) == {"success": True, "data": 7}
            assert await target.call("get_thing", {}) == {"success": True, "data": 7}
    assert asked == [
        "x_mcp_aql_use.introspect",
        "x_mcp_aql_help.introspect",
        "x_mcp_aql_help.introspect",
        "x_mcp_aql_use.get_thing",
        "x_mcp_aql_use.get_thing",
    ]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ({"success": False, "error": {"code": "PERMISSION_DENIED", "message": "not today"}}, "not today"),
        ({"success": False}, "introspect gives no answer"),
    ],
)
def test_a_server_that_lists_nothing(shell: Shell, answer: dict[str, Any], message: str) -> None:
    async def reply(_ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        found = {"success": True} if "name" in (params.arguments or {})["params"] else answer
        return types.CallToolResult(content=[types.TextContent(text=json.dumps(found))])

    with web(foreign("mcp_aql", answer=reply)) as url:
        done = shell("ops", "-s", url)
    assert (done.code, done.err) == (2, f"headgate: {message}\n")


def test_several_errors_at_once_are_not_hidden() -> None:
    async def work() -> int:
        raise ExceptionGroup("several", [TargetError("one"), ValueError("two")])

    with pytest.raises(ExceptionGroup):
        guarded(work)


@pytest.mark.anyio
async def test_an_error_of_whoever_uses_a_target_comes_out_as_it_is() -> None:
    with web(foreign("mcp_aql", answer=saying("{}"))) as url, pytest.raises(ZeroDivisionError):
        async with connect(url):
            _ = 1 // 0


@pytest.mark.anyio
async def test_an_adapter_in_this_process_is_a_target_too() -> None:
    target = local(Engine(library_adapter()))
    assert (await target.call("list_members", {}))["success"] is True
    assert await target.works_on("exec_0") is False  # it has no long work at all


def test_errors_come_out_of_groups_of_one() -> None:
    inner = ValueError("x")
    assert only(ExceptionGroup("a", [ExceptionGroup("b", [inner])])) is inner
    pair = ExceptionGroup("a", [inner, TypeError("y")])
    assert only(pair) is pair


def test_a_source_that_cannot_be_loaded(shell: Shell) -> None:
    done = shell("ops", "-s", "no.such:module")
    assert (done.code, done.out) == (3, "")
    assert done.err == "headgate: There is no module 'no.such' here or among the installed packages\n"
