"""The contenders as servers: ``python -m benchmarks.servers NAME`` on stdio, with a port after it on HTTP.

A proxy takes a port, or - for stdio, and after it the command or the address of its upstream.

Each is written as its own documentation shows it. FastMCP is there only in the environment of ``make bench``.
"""

import sys
from importlib import import_module
from typing import Any

import anyio
import mcp_types as types
import uvicorn
from mcp.server import Server, ServerRequestContext
from mcp.server.stdio import stdio_server

from benchmarks.books import answer
from headgate.cli.serve import serve

__all__ = ["bare", "command", "fastmcp", "tuned"]

_TOOL = types.Tool(
    name="get_book",
    description="Get one book by its ISBN.",
    input_schema={
        "type": "object",
        "properties": {"isbn": {"type": "string"}, "copies": {"type": "integer", "default": 1}},
        "required": ["isbn"],
    },
)


async def _list_tools(
    _ctx: ServerRequestContext, _params: types.PaginatedRequestParams | None
) -> types.ListToolsResult:
    return types.ListToolsResult(tools=[_TOOL])


async def _call_tool(_ctx: ServerRequestContext, params: types.CallToolRequestParams) -> types.CallToolResult:
    text = await answer(**(params.arguments or {}))
    return types.CallToolResult(content=[types.TextContent(text=text)])


def bare() -> Server:
    """The SDK's low-level server with one tool, as its documentation shows it."""
    return Server("library", on_list_tools=_list_tools, on_call_tool=_call_tool)


def tuned() -> Server:
    """The same without what headgate too leaves out: spans that nobody reads, and listing the tools at each call."""
    server = Server(
        "library", on_list_tools=_list_tools, on_call_tool=_call_tool, get_tool_input_schema=lambda _name: None
    )
    server.middleware.clear()
    return server


def fastmcp() -> Any:
    """A FastMCP server with one tool that gives the same text and no structured content beside it."""
    server = import_module("fastmcp").FastMCP("library")
    server.tool(name="get_book", output_schema=None)(answer)
    return server


def command(name: str, port: int | None = None) -> list[str]:
    """What starts one of them: on stdio, or with a port on HTTP."""
    return [sys.executable, "-m", "benchmarks.servers", name, *([] if port is None else [str(port)])]


async def _serve_stdio(server: Server) -> None:
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


def _serve_sdk(server: Server, port: int | None) -> None:
    if port is None:
        anyio.run(_serve_stdio, server)
    else:
        uvicorn.run(server.streamable_http_app(), host="127.0.0.1", port=port, log_level="warning")


def _serve_fastmcp(port: int | None) -> None:
    http = {"transport": "http", "host": "127.0.0.1", "port": port}
    fastmcp().run(show_banner=False, log_level="warning", **(http if port else {}))


def _serve_headgate(port: int | None) -> None:
    serve("benchmarks.books:library", http=f"127.0.0.1:{port}" if port else None, log_level="warning")


def _target(upstream: list[str]) -> Any:
    """An upstream as FastMCP takes it: an address, or a configuration with a command."""
    if upstream[0].startswith("http"):
        return upstream[0]
    return {"mcpServers": {"library": {"command": upstream[0], "args": upstream[1:]}}}


def _run_proxy(port: str, upstream: list[str]) -> None:
    proxy = import_module("fastmcp.server").create_proxy(_target(upstream), name="proxy")
    http = {} if port == "-" else {"transport": "http", "host": "127.0.0.1", "port": int(port)}
    proxy.run(show_banner=False, log_level="warning", **http)


async def _run_connected(port: str, upstream: list[str]) -> None:
    """The same with one client that is connected before the first call, and stays so."""
    http = {} if port == "-" else {"transport": "http", "host": "127.0.0.1", "port": int(port)}
    async with import_module("fastmcp").Client(_target(upstream)) as client:
        proxy = import_module("fastmcp.server").create_proxy(client, name="proxy")
        await proxy.run_async(show_banner=False, log_level="warning", **http)


def _run_connected_proxy(port: str, upstream: list[str]) -> None:
    anyio.run(_run_connected, port, upstream)


_PROXIES = {"fastmcp-proxy": _run_proxy, "fastmcp-connected": _run_connected_proxy}
_SERVE = {
    "headgate": _serve_headgate,
    "bare": lambda port: _serve_sdk(bare(), port),
    "tuned": lambda port: _serve_sdk(tuned(), port),
    "fastmcp": _serve_fastmcp,
}

if __name__ == "__main__":
    if sys.argv[1] in _PROXIES:
        _PROXIES[sys.argv[1]](sys.argv[2], sys.argv[3:])
    else:
        _SERVE[sys.argv[1]](int(sys.argv[2]) if len(sys.argv) > 2 else None)
