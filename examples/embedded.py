"""A headgate server inside an application of one's own, and a client in the same process."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
from mcp import Client
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, Route

from headgate import Adapter, mcp_server

clock = Adapter("clock", description="Counts how often it is asked")
asked = 0


@clock.execute
async def execute_tick() -> int:
    """Count one more."""
    global asked  # noqa: PLW0603
    asked += 1
    return asked


server = mcp_server(clock, mode="single")
mcp_app = server.streamable_http_app(streamable_http_path="/")


async def home(_request: Request) -> PlainTextResponse:
    return PlainTextResponse("my own page\n")


@asynccontextmanager
async def lifespan(_app: Starlette) -> AsyncIterator[None]:
    async with server.session_manager.run():
        yield


app = Starlette(routes=[Route("/", home), Mount("/tools", mcp_app)], lifespan=lifespan)


async def main() -> None:
    async with Client(server) as client:
        answer = await client.call_tool("mcp_aql", {"operation": "execute_tick"})
        print(answer.content[0].model_dump()["text"])


if __name__ == "__main__":
    anyio.run(main)
