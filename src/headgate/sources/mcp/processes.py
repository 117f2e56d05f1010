"""An MCP server as a process: one line a message, everything bounded, and nothing left running."""

import json
import logging
import os
import re
import signal
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Final

import anyio
import mcp_types as types
import orjson
from anyio.abc import ByteReceiveStream, Process
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client.stdio import get_default_environment
from mcp.shared.message import SessionMessage
from pydantic_core import PydanticSerializationError

from headgate.adapter.masking import scrubbed
from headgate.protocol.adapter_errors import AdapterError
from headgate.sources.mcp.configuration import McpSpec
from headgate.sources.mcp.density import MOST_PARTS, is_dense
from headgate.sources.words import clean

__all__ = ["LastWords", "process_streams"]

_LOG: Final = logging.getLogger("headgate.upstream")
_LONGEST_LINE: Final = 16_000_000
"""A message may need twenty times as much memory when it is read."""
_MOST_NOISE: Final = 10_000
"""How many lines that are no messages a server may write: some log to the wrong stream."""
_MOST_HEARD: Final = 40
_MOST_SHOWN: Final = 8
_MOST_TOLD: Final = 3
_TROUBLE: Final = re.compile(r"error\b|\bcannot\b|\bnot found\b|\bno such\b", re.IGNORECASE)
_GRACE_SECONDS: Final = 2.0
_POLL_SECONDS: Final = 0.02
_WATCH_SECONDS: Final = 0.25

_Streams = tuple[MemoryObjectReceiveStream[Any], MemoryObjectSendStream[Any]]


@dataclass
class LastWords:
    """What a server wrote to its standard error last, for the operator's log alone."""

    name: str
    secrets: frozenset[str] = frozenset()
    lines: deque[str] = field(default_factory=lambda: deque(maxlen=_MOST_HEARD))
    noise: str = ""
    """The beginning of the first line on its standard output that was no message."""
    status: int = 0
    """The HTTP status from 400 on that it answered with last, if it is no process."""

    def hear(self, line: bytes) -> None:
        """One line."""
        text = scrubbed(clean(line.decode("utf-8", "replace"), 300), self.secrets)
        if text:
            self.lines.append(text)
            _LOG.debug("%s: %s", self.name, text)

    def note(self, line: bytes) -> None:
        """A line among its messages that is none."""
        self.noise = self.noise or scrubbed(clean(line[:400].decode("utf-8", "replace"), 100), self.secrets)

    @property
    def telling(self) -> str:
        """What says most of why it ended: the last line that speaks of an error, or else the last few."""
        said = [line for line in self.lines if not line.startswith("at ")]
        return next((line for line in reversed(said) if _TROUBLE.search(line)), " / ".join(said[-_MOST_TOLD:]))

    def __str__(self) -> str:
        return "\n".join(f"  {line}" for line in [*self.lines][-_MOST_SHOWN:])


@asynccontextmanager
async def process_streams(spec: McpSpec, words: LastWords, ended: Callable[[str], None]) -> AsyncIterator[_Streams]:
    """Start a server, and give the streams of its messages. ``ended`` is told if it ends by itself, and how."""
    process = await _started(spec)
    incoming, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
    wire = _Wire(process, ended, words)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(wire.read_messages, incoming)
        tasks.start_soon(wire.write_messages, outgoing)
        tasks.start_soon(wire.read_errors)
        tasks.start_soon(wire.watch)
        try:
            yield read, write
        finally:
            with anyio.CancelScope(shield=True):
                wire.is_closing = True
                write.close()
                await _stop(process)
                for stream in (incoming, read, write, outgoing):
                    stream.close()
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


@dataclass
class _Wire:
    """The pipes of one process."""

    process: Process
    ended: Callable[[str], None]
    words: LastWords
    is_closing: bool = False
    _noise: int = 0
    _all_heard: anyio.Event = field(default_factory=anyio.Event)

    async def read_messages(self, incoming: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        """Pass on every message, until the process ends or writes what no server should."""
        why = "it ended"
        async with incoming:
            try:
                async for line in _lines(self.process.stdout):
                    message = self._message(line)
                    if message is not None:
                        await incoming.send(SessionMessage(message))
            except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                pass  # our own end, or the process's, in the midst of something
            except ValueError as error:
                why = str(error)
            if not self.is_closing:
                with anyio.move_on_after(_WATCH_SECONDS):
                    await self._all_heard.wait()  # its last words say why it ended
            self._end(why)

    async def watch(self) -> None:
        """See the process end, even if a child that it leaves behind holds its pipes."""
        while self.process.returncode is None:  # noqa: ASYNC110  (there is no event for this)
            await anyio.sleep(_WATCH_SECONDS)
        await anyio.sleep(_WATCH_SECONDS)  # what it has written before is still read
        self._end("it ended")

    def _end(self, why: str) -> None:
        if not self.is_closing:
            self.ended(why)

    def _message(self, line: bytes) -> types.JSONRPCMessage | None:
        if not line.strip():
            return None
        if is_dense(line):
            raise ValueError(f"it sent a message of more than {MOST_PARTS} lists and objects")
        try:
            return types.jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValueError:
            answer = _deep_message(line) or _unreadable_answer(line)
        if answer is None:
            self._noise += 1
            self.words.note(line)
            if self._noise > _MOST_NOISE:
                raise ValueError("it writes something else than messages of MCP")
        return answer

    async def write_messages(self, outgoing: MemoryObjectReceiveStream[SessionMessage]) -> None:
        """Send every message."""
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
            async with outgoing:
                async for message in outgoing:
                    if self.process.stdin is not None:
                        await self.process.stdin.send(_line(message.message) + b"\n")

    async def read_errors(self) -> None:
        """Hear what it says beside its messages, so that it never waits for somebody to listen."""
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, ValueError):
            async for line in _lines(self.process.stderr, cut=True):
                self.words.hear(line)
        self._all_heard.set()


def _line(message: types.JSONRPCMessage) -> bytes:
    """A message as it is written; what is no UTF-8 is escaped, so that the server may judge it."""
    try:
        return message.model_dump_json(by_alias=True, exclude_unset=True).encode()
    except PydanticSerializationError:
        return json.dumps(message.model_dump(by_alias=True, exclude_unset=True)).encode()


def _unreadable_answer(line: bytes) -> types.JSONRPCError | None:
    """An error in the place of an answer that cannot be read, so that nobody waits for it any longer."""
    try:
        said = json.loads(line)
    except (ValueError, RecursionError):
        return None
    number = said.get("id") if isinstance(said, dict) else None
    if not isinstance(number, int | str) or isinstance(number, bool) or "method" in said:
        return None
    error = types.ErrorData(code=types.PARSE_ERROR, message="the answer cannot be read")
    return types.JSONRPCError(jsonrpc="2.0", id=number, error=error)


def _deep_message(line: bytes) -> types.JSONRPCMessage | None:
    """A message that only the slower reader takes, because something in it is nested deeply."""
    try:
        return types.jsonrpc_message_adapter.validate_python(orjson.loads(line), by_name=False)
    except ValueError:
        return None


async def _lines(stream: ByteReceiveStream | None, *, cut: bool = False) -> AsyncIterator[bytes]:
    """The lines of a stream. One that is too long is cut, or else an error."""
    if stream is None:
        return
    parts: list[bytes] = []
    size = 0
    longest = 10_000 if cut else _LONGEST_LINE
    async for chunk in stream:
        *whole, rest = chunk.split(b"\n")
        for line in whole:
            yield b"".join([*parts, line])
            parts, size = [], 0
        size += len(rest)
        if size <= longest:
            parts.append(rest)
        elif not cut:
            raise ValueError(f"it sent a message of more than {longest // 1_000_000} MB")


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
