"""What the tests of MCP servers as sources start from: a server's spec, its source, and an engine in front of it."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headgate.adapter.adapter import Adapter
from headgate.adapter.context import AskUser, Caller, Progress, Session
from headgate.engine.pipeline import Engine
from headgate.sources.mcp.configuration import McpSpec
from headgate.sources.mcp.source import McpSource

SERVER = str(Path(__file__).with_name("line_server.py"))
PATIENCE = 30.0
"""Seconds after which whatever was waited for will not come."""


def lines(name: str = "lines", timeout: float | None = None, **env: str) -> McpSpec:
    """How the server of plain lines is started."""
    return McpSpec(name=name, command=sys.executable, args=("-S", SERVER), env=env, timeout=timeout)


@dataclass
class Opened:
    """A source that is open, and an engine for what it offers."""

    source: McpSource
    adapter: Adapter
    engine: Engine

    async def call(
        self,
        operation: str,
        params: Mapping[str, object] | None = None,
        *,
        session: Session | None = None,
        caller: Caller | None = None,
        progress: Progress | None = None,
        ask: AskUser | None = None,
        attaches: bool = False,
    ) -> Any:
        """The envelope that a call is answered with."""
        reply = await self.engine.call(
            {"operation": operation, "params": dict(params or {})},
            session=session,
            caller=caller or Caller(),
            progress=progress,
            ask_user=ask,
            attaches=attaches,
        )
        return json.loads(reply.text)

    async def data(self, operation: str, **params: object) -> Any:
        """What a call that succeeds gives."""
        envelope = await self.call(operation, params)
        assert envelope["success"], envelope
        return envelope["data"]

    async def error(self, operation: str, **params: object) -> Any:
        """What a call that fails says."""
        envelope = await self.call(operation, params)
        assert not envelope["success"], envelope
        return envelope["error"]


@asynccontextmanager
async def opened(spec: McpSpec, **options: Any) -> AsyncIterator[Opened]:
    """A source, open for as long as the block lasts."""
    source = McpSource(spec, **options)
    try:
        adapter = await source.open()
        yield Opened(source, adapter, Engine(adapter))
    finally:
        await source.close()


async def next_version(source: McpSource) -> Adapter:
    """What a source offers after its next change."""
    changes = source.changes()
    assert isinstance(changes, AsyncGenerator)
    async with asyncio.timeout(PATIENCE), aclosing(changes):
        return await anext(changes)


async def until(condition: Callable[[], Any]) -> Any:
    """What a condition gives, or what that leads to, once it is true."""
    async with asyncio.timeout(PATIENCE):
        while True:
            found = condition()
            value = await found if isinstance(found, Awaitable) else found
            if value:
                return value
            await asyncio.sleep(0.01)


def is_running(pid: int) -> bool:
    """Whether a process is there, and is not only waiting to be buried."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        return not Path("/proc").is_dir()
    return state != "Z"


def heard_by(log: Path) -> list[dict[str, Any]]:
    """The messages that a server has got."""
    return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
