"""MCP over standard input and output, one JSON message a line.

The SDK's transport drops what it cannot read and puts U+FFFD for what is not UTF-8. Here such a line gets a clear
error and the server lives on; and when input ends, requests in work are finished before the server stops.
"""

import os
import select
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final, NamedTuple, Self, TypeAlias

import anyio
import anyio.from_thread
import anyio.to_thread
import mcp_types as types
from anyio.abc import AsyncResource
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage

from headgate.server.binding import McpServer
from headgate.server.jsonrpc import Refused, line_of, read_message, refusal
from headgate.server.messages import max_message_size
from headgate.server.signals import wait_for_signal

__all__ = ["Pipes", "private_pipes", "run_stdio"]

_CHUNK: Final = 65536
_PIPE_TAKES: Final = 4096
_LOOK_UP_MS: Final = 200

_Incoming: TypeAlias = SessionMessage | Exception


class Pipes(NamedTuple):
    """The descriptors that a client writes to and reads from."""

    source: int
    sink: int


class _Line(NamedTuple):
    """A message, and how it is written."""

    message: types.JSONRPCMessage
    raw: bytes

    @classmethod
    def of(cls, message: types.JSONRPCMessage) -> Self:
        return cls(message, line_of(message))


async def run_stdio(server: McpServer, pipes: Pipes, grace_seconds: float) -> None:
    """Serve one client on standard input and output until input ends, a signal comes, or nobody reads any more."""
    send_in, incoming = anyio.create_memory_object_stream[_Incoming](0)
    outgoing, receive_out = anyio.create_memory_object_stream[_Line](0)
    reader = _Reader(pipes.source, send_in, outgoing.clone(), max_message_size(server.settings.limits))
    async with anyio.create_task_group() as tasks:

        async def read() -> None:
            async with reader.errors, reader.messages:
                await _read_until_asked_to_stop(reader)
                tasks.cancel_scope.deadline = anyio.current_time() + grace_seconds
                server.stop_listening()
                await reader.all_answered()

        async def write() -> None:
            try:
                await _write(pipes.sink, receive_out, reader)
            except OSError:  # the client is gone, and with it whoever would read an answer
                tasks.cancel_scope.cancel()

        tasks.start_soon(read)
        tasks.start_soon(write)
        answers = _Answers(outgoing, pipes.sink, reader)
        await server.run(incoming, answers, server.create_initialization_options())


async def _read_until_asked_to_stop(reader: "_Reader") -> None:
    async with anyio.create_task_group() as either:

        async def until_signal() -> None:
            await wait_for_signal()
            either.cancel_scope.cancel()

        either.start_soon(until_signal)
        await reader.run()
        either.cancel_scope.cancel()


class _Reader:
    """Reads lines, passes messages on, answers those that are none, and knows which requests wait for an answer."""

    def __init__(
        self,
        source: int,
        messages: MemoryObjectSendStream[_Incoming],
        errors: MemoryObjectSendStream[_Line],
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
                await self._refuse(
                    refusal(types.INVALID_REQUEST, f"Invalid request: the line is longer than {self._longest} bytes")
                )
            if too_long:
                rest = b""
        await self._take(rest)

    async def _take(self, line: bytes) -> None:
        if not line.strip():
            return
        try:
            message = read_message(line, "line")
        except Refused as refused:
            await self._refuse(refused.answer)
            return
        if isinstance(message, types.JSONRPCRequest):
            self._waiting.add(message.id)
        elif isinstance(message, types.JSONRPCNotification) and message.method == "notifications/cancelled":
            self._settle((message.params or {}).get("requestId"))
        await self.messages.send(SessionMessage(message))

    async def _refuse(self, answer: types.JSONRPCError | types.JSONRPCResponse) -> None:
        await self.errors.send(_Line.of(answer))

    def answered(self, message: types.JSONRPCMessage) -> None:
        """Note that a request has its answer."""
        if isinstance(message, types.JSONRPCResponse | types.JSONRPCError):
            self._settle(message.id)

    def _settle(self, request_id: object) -> None:
        if isinstance(request_id, str | int) and request_id in self._waiting:
            self._waiting.remove(request_id)
            self._answered.set()

    async def all_answered(self) -> None:
        """Wait until every request that was read has its answer."""
        while self._waiting:
            self._answered = anyio.Event()
            await self._answered.wait()


class _Answers(AsyncResource):
    """Where the server writes: at once, if nothing waits to be written before and the pipe takes it, else by a task."""

    def __init__(self, queue: MemoryObjectSendStream[_Line], sink: int, reader: _Reader) -> None:
        self._queue = queue
        self._sink = sink
        self._reader = reader

    async def send(self, item: SessionMessage) -> None:
        """Write one message, after all that were sent before."""
        line = _Line.of(item.message)
        if self._is_idle and self._is_written(line.raw):
            self._reader.answered(line.message)
        else:
            await self._queue.send(line)

    @property
    def _is_idle(self) -> bool:
        """Whether the task that writes waits for something to do: then it has written all."""
        return self._queue.statistics().tasks_waiting_receive > 0

    def _is_written(self, raw: bytes) -> bool:
        if not _takes_at_once(self._sink, raw) or not _has_room(self._sink, 0):
            return False
        with suppress(OSError):  # the client is gone, as the task will find too
            os.write(self._sink, raw)
            return True
        return False

    async def aclose(self) -> None:
        """Say that nothing comes any more."""
        await self._queue.aclose()


async def _write(sink: int, lines: MemoryObjectReceiveStream[_Line], reader: _Reader) -> None:
    async with lines:
        async for message, raw in lines:
            await _put(sink, raw)
            reader.answered(message)


async def _put(sink: int, raw: bytes) -> None:
    """Write all. What a writable pipe is sure to take goes at once; more may take its time, so a thread does it."""
    if _takes_at_once(sink, raw):
        await anyio.wait_writable(sink)
        os.write(sink, raw)
    else:
        await anyio.to_thread.run_sync(_write_all, sink, memoryview(raw))


def _takes_at_once(sink: int, raw: bytes) -> bool:
    """Whether a pipe takes all of it as soon as it takes anything."""
    return len(raw) <= _PIPE_TAKES and _can_be_awaited(sink)


def _write_all(sink: int, rest: memoryview) -> None:
    """Write in pieces that never block, so that a client which stops reading cannot keep the server from ending."""
    while rest:
        if sys.platform != "win32":
            _wait_for_room(sink)
        rest = rest[os.write(sink, rest[:_PIPE_TAKES]) :]


def _wait_for_room(sink: int) -> None:
    while not _has_room(sink, _LOOK_UP_MS):
        anyio.from_thread.check_cancelled()


def _has_room(sink: int, milliseconds: int) -> bool:
    """Whether a pipe takes something now, or within a time; also one that nobody reads, as writing to it then tells."""
    room = select.poll()
    room.register(sink, select.POLLOUT)
    return bool(room.poll(milliseconds))


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
def private_pipes() -> Iterator[Pipes]:
    """Copies of standard input and output for the wire alone, so that a stray ``print`` cannot break it."""
    source, sink = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    try:
        yield Pipes(source, sink)
    finally:
        sys.stdout.flush()  # what a handler printed must not wait until the wire is standard output again
        os.dup2(source, 0)
        os.dup2(sink, 1)
        os.close(source)
        os.close(sink)
