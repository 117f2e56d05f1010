"""MCP servers made with the SDK: over streamable HTTP in both eras, over the older stream of events, and over pipes."""

import asyncio
import json
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, Literal

import anyio
import mcp_types as types
import uvicorn
from mcp.server import Server, ServerRequestContext
from mcp.server.sse import SseServerTransport
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from headgate.sources.mcp.configuration import McpSpec

Era = Literal["legacy", "modern", "sse"]
Context = ServerRequestContext[Any, Any]
FORM = {"type": "object", "properties": {"colour": {"type": "string"}}, "required": ["colour"]}
EMPTY: dict[str, Any] = {"type": "object", "properties": {}}


def text(words: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=words)])


class Room:
    """A server with some tools, and what happened in it."""

    def __init__(self) -> None:
        self.names = ["get_headers", "wait", "ask", "step", "get_large", "grow"]
        self.cancelled = asyncio.Event()
        self.waiting = asyncio.Event()
        self.release = asyncio.Event()
        self.sessions: list[Any] = []
        self.refuses = 0
        """The HTTP status that calls are answered with, if they are to be refused."""
        self.requests: list[tuple[str, str, dict[str, str]]] = []
        self._bus = InMemorySubscriptionBus()
        self.news = ListenHandler(self._bus)
        self.server: Server[Any] = Server(
            "room",
            version="1.0",
            on_list_tools=self.list_tools,
            on_call_tool=self.call,
            on_subscriptions_listen=self.news,
        )

    async def list_tools(self, ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        self.sessions.append(ctx.session)
        return types.ListToolsResult(tools=[types.Tool(name=name, input_schema=EMPTY) for name in self.names])

    async def call(self, ctx: Context, params: types.CallToolRequestParams) -> Any:
        tool: Callable[..., Awaitable[Any]] = getattr(self, f"do_{params.name}")
        return await tool(ctx, params)

    async def do_get_headers(self, ctx: Context, params: types.CallToolRequestParams) -> Any:
        return text(json.dumps(dict(ctx.request.headers) if ctx.request else {}))

    async def do_wait(self, ctx: Context, params: types.CallToolRequestParams) -> Any:
        self.waiting.set()
        try:
            await self.release.wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        return text("done")

    async def do_ask(self, ctx: Context, params: types.CallToolRequestParams) -> Any:
        if params.input_responses is not None:
            [answer] = params.input_responses.values()
            return text(
                json.dumps({"action": getattr(answer, "action", ""), "content": getattr(answer, "content", None)})
            )
        if not ctx.session.can_send_request:
            wanted = types.ElicitRequest(params=types.ElicitRequestFormParams(message="Which?", requested_schema=FORM))
            return types.InputRequiredResult(
                input_requests={"q": wanted}, request_state="s", result_type="input_required"
            )
        given = await ctx.session.elicit_form("Which?", FORM, ctx.request_id)
        return text(json.dumps({"action": given.action, "content": given.content}))

    async def do_step(self, ctx: Context, params: types.CallToolRequestParams) -> Any:
        for step in (1, 2, 3):
            await ctx.session.report_progress(step, 3, f"step {step}")
        return text("done")

    async def do_get_large(self, ctx: Context, params: types.CallToolRequestParams) -> Any:
        return text("x" * 3_000_000)

    async def do_grow(self, ctx: Context, params: types.CallToolRequestParams) -> Any:
        self.names.append("get_more")
        await self.tell()
        return text("grown")

    async def tell(self) -> None:
        """Tell everybody that the tools have changed, as each era does."""
        await self._bus.publish(ToolsListChanged())
        for session in self.sessions:
            await session.send_tool_list_changed()


class _Door:
    """Notes every request; in front of a modern room, it turns those away who begin with a handshake."""

    def __init__(self, app: ASGIApp, room: Room, *, modern: bool) -> None:
        self._app = app
        self._room = room
        self._modern = modern

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        body = await request.body()
        self._room.requests.append((request.method, body.decode(), dict(request.headers)))
        if self._room.refuses and b'"tools/call"' in body:
            await Response(status_code=self._room.refuses)(scope, receive, send)
            return
        if self._modern and b'"initialize"' in body:
            error = {"code": -32022, "message": "old", "data": {"supported": ["2026-07-28"], "requested": "x"}}
            answer = {"jsonrpc": "2.0", "id": json.loads(body)["id"], "error": error}
            await Response(json.dumps(answer), 400, media_type="application/json")(scope, receive, send)
            return
        await self._app(scope, _again(body, receive), send)


def _again(body: bytes, receive: Receive) -> Receive:
    given = [{"type": "http.request", "body": body, "more_body": False}]

    async def received() -> Any:
        return given.pop() if given else await receive()

    return received


def _app(room: Room, era: Era) -> ASGIApp:
    if era != "sse":
        return room.server.streamable_http_app()
    transport = SseServerTransport("/messages/")

    async def connect(request: Request) -> Response:
        async with transport.connect_sse(request.scope, request.receive, request._send) as (read, write):
            await room.server.run(read, write, room.server.create_initialization_options())
        return Response()

    routes = [Route("/mcp", connect), Mount("/messages/", transport.handle_post_message)]
    return Starlette(routes=routes)


@asynccontextmanager
async def listening(app: ASGIApp, port: int = 0) -> AsyncIterator[int]:
    """An application on a port of this machine."""
    place = socket.create_server(("127.0.0.1", port))
    config = uvicorn.Config(app, log_level="critical", lifespan="on", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve([place]))
    try:
        while not server.started:
            assert not serving.done()
            await asyncio.sleep(0.005)
        yield place.getsockname()[1]
    finally:
        server.should_exit = server.force_exit = True
        await serving
        place.close()


@asynccontextmanager
async def open_room(
    era: Era, room: Room | None = None, port: int = 0, **more: Any
) -> AsyncIterator[tuple[Room, McpSpec]]:
    """A room that is served, and how it is reached."""
    room = room or Room()
    async with listening(_Door(_app(room, era), room, modern=era == "modern"), port) as found:
        url = f"http://127.0.0.1:{found}/mcp"
        try:
            yield room, McpSpec(name="room", url=url, transport="sse" if era == "sse" else "http", **more)
        finally:
            room.release.set()
            room.news.close()


async def _over_pipes() -> None:
    room = Room()
    async with stdio_server() as (read, write):
        await room.server.run(read, write, room.server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(_over_pipes)
    sys.exit()
