"""MCP over standard input and output, one JSON message a line.

The SDK's transport drops what it cannot read and puts U+FFFD for what is not UTF-8. Here such a line gets a clear
error and the server lives on; and when input ends, requests in work are finished before the server stops.
"""

import os
import select
import stat
import sys
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final, NamedTuple, Self

import anyio
import anyio.from_thread
import anyio.to_thread
import mcp_types as types
from anyio.abc import AsyncResource
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server.runner import serve_loop
from mcp.shared.message import SessionMessage

from headgate.server.binding import McpServer
from headgate.server.jsonrpc import Refused, line_of, read_message, refusal
from headgate.server.messages import max_message_size
from headgate.server.signals import wait_for_signal

__all__ = ["Pipes", "private_pipes", "run_stdio"]

_CHUNK: Final = 65536
_PIPE_TAKES: Final = 4096
"""As much as a pipe takes at once as soon as it takes anything."""
_LOOK_UP_MS: Final = 200
_OTHER_ERA: Final = (
    "Invalid request: this connection began with a handshake, so requests of the newer protocol are not accepted"
)


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
    outgoing, receive_out = anyio.create_memory_object_stream[_Line](0)

    def ended() -> None:
        tasks.cancel_scope.deadline = anyio.current_time() + grace_seconds
        server.stop_listening()

    incoming = _Incoming(pipes.source, outgoing.clone(), max_message_size(server.settings.limits), ended)
    answers = _Answers(outgoing, pipes.sink, incoming)

    async def write() -> None:
        try:
            await _write(pipes.sink, receive_out, incoming)
        except OSError:  # the client is gone, and with it whoever would read an answer
            tasks.cancel_scope.cancel()

    async def until_signal() -> None:
        await wait_for_signal()
        incoming.stop()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(write)
        async with anyio.create_task_group() as listening, incoming, answers:
            listening.start_soon(until_signal)
            await _serve(server, incoming, answers)
            listening.cancel_scope.cancel()


async def _serve(server: McpServer, incoming: "_Incoming", answers: "_Answers") -> None:
    """Serve in the era that the client opens with. For the handshake the SDK need not look into each message itself."""
    options = server.create_initialization_options()
    if not await incoming.opens_with_handshake():
        await server.run(incoming, answers, options)
        return
    async with server.lifespan(server) as session:
        await serve_loop(server, incoming, answers, lifespan_state=session, init_options=options)


class _Lines:
    """Bytes as they come, cut into lines. Of a line that is too long nothing is kept."""

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._rest = b""
        self._is_too_long = False

    @property
    def too_long(self) -> str:
        """What such a line is answered with."""
        return f"Invalid request: the line is longer than {self._longest} bytes"

    def of(self, chunk: bytes) -> tuple[list[bytes], bool]:
        """The lines that end in a chunk, and whether the one that does not has just become too long.

        No bytes are the end, and with it that of the last line.
        """
        *lines, self._rest = (self._rest + (chunk or b"\n")).split(b"\n")
        if lines and self._is_too_long:
            self._is_too_long = False
            del lines[0]
        is_new = not self._is_too_long and len(self._rest) > self._longest
        self._is_too_long = self._is_too_long or is_new
        if self._is_too_long:
            self._rest = b""
        return lines, is_new


class _Incoming(AsyncResource):
    """Messages as the SDK wants to read them, without tasks and queues in between: read when the next one is asked for.

    Lines that are no messages are answered here. The end comes when every request that was read has its answer.
    """

    def __init__(
        self, source: int, refusals: MemoryObjectSendStream[_Line], longest: int, ended: Callable[[], None]
    ) -> None:
        self._source = source
        self._can_be_awaited = _can_be_awaited(source)
        self._refusals = refusals
        self._lines = _Lines(longest)
        self._ended = ended
        self._ready: deque[SessionMessage] = deque()
        self._is_over = False
        self._is_handshake = False
        self._reading: anyio.CancelScope | None = None
        self._waiting: set[types.RequestId] = set()
        self._answered = anyio.Event()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def receive(self) -> SessionMessage:
        """The next message."""
        while await self._is_there():
            item = self._ready.popleft()
            request = item.message
            if not (self._is_handshake and isinstance(request, types.JSONRPCRequest) and _is_modern(request)):
                return item
            await self._refuse(refusal(types.INVALID_REQUEST, _OTHER_ERA, request.id))
        await self._all_answered()
        raise anyio.EndOfStream

    async def opens_with_handshake(self) -> bool:
        """Whether the first message is that of the older protocol; then all that follow must be."""
        opening = self._ready[0].message if await self._is_there() else None
        self._is_handshake = isinstance(opening, types.JSONRPCRequest) and opening.method == "initialize"
        return self._is_handshake

    async def _is_there(self) -> bool:
        while not self._ready and not self._is_over:
            await self._take_some()
        return bool(self._ready)

    def stop(self) -> None:
        """Read nothing more."""
        if not self._is_over:
            self._is_over = True
            self._ended()
        if self._reading is not None:
            self._reading.cancel()

    async def _take_some(self) -> None:
        with anyio.CancelScope() as self._reading:
            chunk = await self._chunk()
        self._reading = None
        if self._is_over:
            return
        lines, is_too_long = self._lines.of(chunk)
        for line in lines:
            await self._take(line)
        if is_too_long:
            await self._refuse(refusal(types.INVALID_REQUEST, self._lines.too_long))
        if not chunk:
            self.stop()

    async def _chunk(self) -> bytes:
        """Some bytes, or none at the end. A file can only be read in a thread."""
        if self._can_be_awaited:
            await anyio.wait_readable(self._source)
            return os.read(self._source, _CHUNK)
        return await anyio.to_thread.run_sync(os.read, self._source, _CHUNK, abandon_on_cancel=True)

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
        self._ready.append(SessionMessage(message))

    async def _refuse(self, answer: types.JSONRPCError | types.JSONRPCResponse) -> None:
        await self._refusals.send(_Line.of(answer))

    def answered(self, message: types.JSONRPCMessage) -> None:
        """Note that a request has its answer."""
        if isinstance(message, types.JSONRPCResponse | types.JSONRPCError):
            self._settle(message.id)

    def _settle(self, request_id: object) -> None:
        if isinstance(request_id, str | int) and request_id in self._waiting:
            self._waiting.remove(request_id)
            self._answered.set()

    async def _all_answered(self) -> None:
        while self._waiting:
            self._answered = anyio.Event()
            await self._answered.wait()

    async def aclose(self) -> None:
        """Take nothing any more."""
        await self._refusals.aclose()


def _is_modern(request: types.JSONRPCRequest) -> bool:
    """Whether it says the version of the newer protocol, as every request of that does."""
    meta = (request.params or {}).get("_meta")
    return isinstance(meta, dict) and types.PROTOCOL_VERSION_META_KEY in meta and request.method != "initialize"


class _Answers(AsyncResource):
    """Where the server writes: at once, if nothing waits to be written before and the pipe takes it, else by a task."""

    def __init__(self, queue: MemoryObjectSendStream[_Line], sink: int, incoming: _Incoming) -> None:
        self._queue = queue
        self._sink = sink
        self._is_pipe = _can_be_awaited(sink)
        self._incoming = incoming

    async def send(self, item: SessionMessage) -> None:
        """Write one message, after all that were sent before."""
        line = _Line.of(item.message)
        if self._is_idle and self._is_written(line.raw):
            self._incoming.answered(line.message)
        else:
            await self._queue.send(line)

    @property
    def _is_idle(self) -> bool:
        """Whether the task that writes waits for something to do: then it has written all."""
        return self._queue.statistics().tasks_waiting_receive > 0

    def _is_written(self, raw: bytes) -> bool:
        if not self._is_pipe or len(raw) > _PIPE_TAKES or not _has_room(self._sink, 0):
            return False
        with suppress(OSError):  # the client is gone, as the task will find too
            os.write(self._sink, raw)
            return True
        return False

    async def aclose(self) -> None:
        """Say that nothing comes any more."""
        await self._queue.aclose()


async def _write(sink: int, lines: MemoryObjectReceiveStream[_Line], incoming: _Incoming) -> None:
    async with lines:
        async for message, raw in lines:
            await _put(sink, raw)
            incoming.answered(message)


async def _put(sink: int, raw: bytes) -> None:
    """Write all. What a writable pipe is sure to take goes at once; more may take its time, so a thread does it."""
    if len(raw) <= _PIPE_TAKES and _can_be_awaited(sink):
        await anyio.wait_writable(sink)
        os.write(sink, raw)
    else:
        await anyio.to_thread.run_sync(_write_all, sink, memoryview(raw))


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
