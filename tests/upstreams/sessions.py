"""A server of others as a client of the SDK sees it: its tools, and what its calls give."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import anyio
from mcp import Client, MCPError, types
from mcp.client import ClientRequestContext
from mcp.client.stdio import StdioServerParameters, stdio_client

__all__ = ["PATIENCE", "Answer", "Session", "connected"]

PATIENCE = 60.0
"""Seconds after which an answer will not come."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a call gave: a result in MCP's form, or an error of the protocol; and the progress that was told."""

    result: Mapping[str, Any] | None = None
    error: str | None = None
    progress: tuple[tuple[float, float | None], ...] = ()

    @property
    def failed(self) -> bool:
        """Whether it is a failure of either kind."""
        return self.result is None or bool(self.result.get("isError"))


@dataclass(slots=True)
class Session:
    """A connection to a server, kept over many calls."""

    client: Client
    tools: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    async def listed(self) -> Self:
        """Read the list of tools, all pages of it."""
        found: dict[str, Mapping[str, Any]] = {}
        cursor: str | None = None
        while True:
            page = await self.client.list_tools(cursor=cursor)
            found |= {tool.name: tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in page.tools}
            cursor = page.next_cursor
            if not cursor:
                self.tools = found
                return self

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> Answer:
        """Call a tool."""
        told: list[tuple[float, float | None]] = []

        async def hear(progress: float, total: float | None, message: str | None) -> None:
            told.append((progress, total))

        try:
            with anyio.fail_after(PATIENCE):
                result = await self.client.call_tool(tool, dict(arguments), progress_callback=hear)
        except MCPError as error:
            return Answer(error=str(error), progress=tuple(told))
        return Answer(result.model_dump(mode="json", by_alias=True, exclude_none=True), progress=tuple(told))


async def _say_yes(context: ClientRequestContext, params: types.ElicitRequestParams) -> types.ElicitResult:
    """What the person says whenever something is asked."""
    return types.ElicitResult(action="accept", content={"name": "Ada", "check": True})


@asynccontextmanager
async def connected(
    command: Sequence[str],
    folder: Path,
    side: Path,
    *,
    environment: Mapping[str, str] | None = None,
    legacy: bool = True,
) -> AsyncIterator[Session]:
    """A session with the server that the command starts in the folder; what it complains of is kept aside."""
    program = StdioServerParameters(
        command=command[0], args=list(command[1:]), cwd=folder, env=None if environment is None else dict(environment)
    )
    with (side / "errors.log").open("w") as errors:
        transport = stdio_client(program, errlog=errors)
        mode = "legacy" if legacy else "auto"
        async with Client(transport, mode=mode, elicitation_callback=_say_yes) as client:
            yield await Session(client).listed()
