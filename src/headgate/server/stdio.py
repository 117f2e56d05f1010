"""MCP over standard input and output, one JSON message a line.

The SDK's transport drops what it cannot read and puts U+FFFD for what is not UTF-8. Here such a line gets a clear
error and the server lives on; and when input ends, requests in work are finished before the server stops.
"""

import json
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeAlias

import anyio
import anyio.to_thread
import mcp_types as types
import orjson
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage

from headgate.server.binding import McpServer
from headgate.server.messages import max_message_size
from headgate.server.signals import wait_for_signal

__all__ = ["read_message", "run_stdio"]

_CHUNK: Final = 65536
_PIPE_TAKES: Final = 4096
_ENDLESS: Final = "subscriptions/listen"

_Incoming: TypeAlias = SessionMessage | Exception


async def run_stdio(server: McpServer, grace_seconds: float) -> None:
    """Serve one client on standard input and output until input ends or a signal comes."""
    send_in, incoming = anyio.create_memory_object_stream[_Incoming](0)
    outgoing, receive_out = anyio.create_memory_object_stream[SessionMessage](0)
    with _private_pipes() as (source, sink):
        reader = _Reader(source, send_in, outgoing.clone(), max_message_size(server.settings.limits))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_write, sink, receive_out, reader)
            tasks.start_soon(_read_until_asked_to_stop, reader, grace_seconds)
            await server.run(incoming, outgoing, server.create_initialization_options())
            tasks.cancel_scope.cancel()


async def _read_until_asked_to_stop(reader: "_Reader", grace_seconds: float) -> None:
    async with reader.errors, reader.messages:
        async with anyio.create_task_group() as either:

            async def until_signal() -> None:
                await wait_for_signal()
                either.cancel_scope.cancel()

            either.start_soon(until_signal)
            await reader.run()
            either.cancel_scope.cancel()
        with anyio.move_on_after(grace_seconds):
            await reader.all_answered()


class _Reader:
    """Reads lines, passes messages on, answers those that are none, and knows which requests wait for an answer."""

    def __init__(
        self,
        source: int,
        messages: MemoryObjectSendStream[_Incoming],
        errors: MemoryObjectSendStream[SessionMessage],
        longest: int,
    ) -> None:
        self.messages = messages
        self.errors = errors
        self._source = source
        self._longest = longest
        self._waiting: set[types.RequestId] = set()
        self._answered = anyio.Event()

    async def run(self) -> None:
        """Read until the input ends."""
        rest, too_long = b"", False
        while chunk := await _read(self._source):
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                if not too_long:
                    await self._take(line)
                too_long = False
            if len(rest) > self._longest and not too_long:
                too_long = True
                await self.errors.send(_error(types.INVALID_REQUEST, f"The line is longer than {self._longest} bytes"))
            if too_long:
                rest = b""

    async def _take(self, line: bytes) -> None:
        if not line.strip():
            return
        message = read_message(line)
        if isinstance(message.message, types.JSONRPCError) and message.message.error.code in _OUR_ERRORS:
            await self.errors.send(message)
            return
        if isinstance(message.message, types.JSONRPCRequest) and message.message.method != _ENDLESS:
            self._waiting.add(message.message.id)
        await self.messages.send(message)

    def answered(self, message: SessionMessage) -> None:
        """Note that a request has its answer."""
        if isinstance(message.message, types.JSONRPCResponse | types.JSONRPCError) and message.message.id is not None:
            self._waiting.discard(message.message.id)
            if not self._waiting:
                self._answered.set()
                self._answered = anyio.Event()

    async def all_answered(self) -> None:
        """Wait until every request that was read has its answer."""
        while self._waiting:
            await self._answered.wait()


_OUR_ERRORS: Final = (types.PARSE_ERROR, types.INVALID_REQUEST)


def read_message(line: bytes) -> SessionMessage:
    """The message in a line, or the JSON-RPC error to answer it with."""
    try:
        raw = _json(line)
    except UnicodeDecodeError as error:
        return _error(types.PARSE_ERROR, f"Parse error: the line is not UTF-8 from byte {error.start} on")
    except (ValueError, RecursionError):
        return _error(types.PARSE_ERROR, "Parse error: the line is not JSON")
    return _message(raw)


def _json(line: bytes) -> Any:
    """Fast and strict; what that refuses is read once more, so that a lone surrogate can be named by the engine."""
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError:
        return json.loads(line.decode(), parse_constant=_refuse)


def _refuse(constant: str) -> None:
    raise ValueError(constant)


def _message(raw: Any) -> SessionMessage:
    try:
        message = types.jsonrpc_message_adapter.validate_python(raw, by_name=False)
    except ValueError:
        return _error(types.INVALID_REQUEST, "Invalid request: not a JSON-RPC 2.0 message", _id_of(raw))
    if isinstance(message, types.JSONRPCNotification) and "id" in raw:
        return _error(types.INVALID_REQUEST, "Invalid request: the id must be a string or an integer")
    return SessionMessage(message)


def _id_of(raw: Any) -> types.RequestId | None:
    found = raw.get("id") if isinstance(raw, dict) else None
    return found if isinstance(found, str | int) and not isinstance(found, bool) else None


def _error(code: int, message: str, request_id: types.RequestId | None = None) -> SessionMessage:
    return SessionMessage(
        types.JSONRPCError(jsonrpc="2.0", id=request_id, error=types.ErrorData(code=code, message=message))
    )


async def _write(sink: int, messages: MemoryObjectReceiveStream[SessionMessage], reader: _Reader) -> None:
    async with messages:
        async for message in messages:
            raw = message.message.model_dump_json(by_alias=True, exclude_unset=True).encode()
            try:
                await _put(sink, raw + b"\n")
            except BrokenPipeError:
                return  # the client is gone; the reader sees the end of input
            reader.answered(message)


async def _put(sink: int, raw: bytes) -> None:
    """Write all. What a writable pipe is sure to take goes at once; more may block, so a thread does it."""
    if len(raw) <= _PIPE_TAKES and _can_be_awaited(sink):
        await anyio.wait_writable(sink)
        _write_all(sink, raw)
    else:
        await anyio.to_thread.run_sync(_write_all, sink, raw, abandon_on_cancel=True)


def _write_all(sink: int, raw: bytes) -> None:
    while raw:
        raw = raw[os.write(sink, raw) :]


async def _read(source: int) -> bytes:
    """Some bytes, or none at the end. A file can only be read in a thread."""
    if _can_be_awaited(source):
        await anyio.wait_readable(source)
        return os.read(source, _CHUNK)
    return await anyio.to_thread.run_sync(os.read, source, _CHUNK, abandon_on_cancel=True)


def _can_be_awaited(descriptor: int) -> bool:
    mode = os.fstat(descriptor).st_mode
    return sys.platform != "win32" and (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(descriptor))


@contextmanager
def _private_pipes() -> Iterator[tuple[int, int]]:
    """Copies of standard input and output for the wire alone, so that a stray ``print`` cannot break it."""
    source, sink = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    try:
        yield source, sink
    finally:
        os.dup2(source, 0)
        os.dup2(sink, 1)
        os.close(source)
        os.close(sink)
