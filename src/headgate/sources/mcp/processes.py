"""An MCP server as a process: started in a group of its own, and nothing of it left running."""

import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Final, TypeAlias

import anyio
from anyio.abc import Process
from mcp.client.stdio import get_default_environment

from headgate.protocol.adapter_errors import AdapterError
from headgate.sources.mcp.configuration import McpSpec
from headgate.sources.mcp.last_words import LastWords
from headgate.sources.mcp.pipes import Incoming, Outgoing, Pipes

__all__ = ["process_streams"]

_GRACE_SECONDS: Final = 2.0
_POLL_SECONDS: Final = 0.02

_Streams: TypeAlias = tuple[Incoming, Outgoing]


@asynccontextmanager
async def process_streams(spec: McpSpec, words: LastWords, ended: Callable[[str], None]) -> AsyncIterator[_Streams]:
    """Start a server, and give the streams of its messages. ``ended`` is told if it ends by itself, and how."""
    process = await _started(spec)
    pipes = Pipes(process, ended, words)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(pipes.read_errors)
        tasks.start_soon(pipes.watch)
        try:
            yield Incoming(pipes.messages()), Outgoing(pipes)
        finally:
            with anyio.CancelScope(shield=True):
                pipes.is_closing = True
                await _stop(process)
            tasks.cancel_scope.cancel()


async def _started(spec: McpSpec) -> Process:
    try:
        return await anyio.open_process(
            [spec.command, *spec.args],
            env=get_default_environment() | dict(spec.env),
            cwd=spec.cwd,
            start_new_session=True,  # so that whatever it starts can be ended with it
        )
    except FileNotFoundError:
        is_lost = spec.cwd is not None and not await anyio.Path(spec.cwd).is_dir()
        missing = spec.cwd if is_lost else spec.command
        raise AdapterError(f"MCP server '{spec.name}' cannot be started: there is no '{missing}' here") from None
    except (OSError, ValueError):
        raise AdapterError(f"MCP server '{spec.name}' cannot be started: '{spec.command}' is no program") from None


async def _stop(process: Process) -> None:
    """Close its input and wait; then end it, and all that it has started."""
    if process.stdin is not None:
        with suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
            await process.stdin.aclose()
    if not await _is_gone(process, _GRACE_SECONDS):
        _signal(process, signal.SIGTERM)
        if not await _is_gone(process, _GRACE_SECONDS):
            _signal(process, signal.SIGKILL)
            await _is_gone(process, _GRACE_SECONDS)
    _signal(process, signal.SIGKILL)  # what it has left behind in its group
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            with suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
                await stream.aclose()
    transport = getattr(getattr(process, "_process", None), "_transport", None)
    if transport is not None:
        with suppress(ProcessLookupError, PermissionError):
            transport.close()  # which stays open as long as a grandchild holds a pipe


async def _is_gone(process: Process, seconds: float) -> bool:
    """Whether it ends in time. Not by waiting for its pipes, which a child of it may hold open."""
    with anyio.move_on_after(seconds):
        while process.returncode is None:  # noqa: ASYNC110  (there is no event for this)
            await anyio.sleep(_POLL_SECONDS)
    return process.returncode is not None


def _signal(process: Process, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)
