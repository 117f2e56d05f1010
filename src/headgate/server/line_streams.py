"""Messages as lines of two descriptors, as the SDK wants to read and write them; and what is owed meanwhile."""

import os
import select
import socket
import stat
import sys
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final, NamedTuple, Self

import anyio
import anyio.from_thread
import anyio.to_thread
import mcp_types as types
from anyio.abc import AsyncResource
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.dispatcher import as_request_id, coerce_request_id
from mcp.shared.message import SessionMessage

from headgate.server.jsonrpc import Refused, id_by_ends, line_of, read_message, refusal

__all__ = ["Answers", "Debts", "Incoming", "Line", "Lines", "TooLong", "put", "write_lines"]

_CHUNK: Final = 65536
_PIPE_TAKES: Final = getattr(select, "PIPE_BUF", 512)
"""As much as a pipe takes at once as soon as it takes anything; a socket too, if its buffer is many times larger."""
_SOCKET_HOLDS: Final = 16 * _PIPE_TAKES
_MOST_UNWRITTEN: Final = 16_000_000
"""How many bytes may wait to be written. From a client that does not read its answers nothing more is read."""
_END: Final = 512
"""How much is kept of both ends of a line that is too long."""
_LOOK_UP_MS: Final = 200
_LEFT: Final = types.ErrorData(code=types.CONNECTION_CLOSED, message="the client has left")
_OTHER_ERA: Final = (
    "Invalid request: this connection began with a handshake, so requests of the newer protocol are not accepted"
)


class Line(NamedTuple):
    """A message, and how it is written."""

    message: types.JSONRPCMessage
    raw: bytes

    @classmethod
    def of(cls, message: types.JSONRPCMessage) -> Self:
        """The line of a message."""
        return cls(message, line_of(message))


class Debts:
    """What is owed: answers to the client, answers of the client, and what waits to be written."""

    def __init__(self) -> None:
        self._answers: Counter[types.RequestId] = Counter()
        self._asked: set[types.RequestId] = set()
        self._unwritten = 0
        self._changed = anyio.Event()

    @property
    def any_answer(self) -> bool:
        """Whether a request of the client has no answer yet."""
        return bool(self._answers)

    @property
    def is_all_written(self) -> bool:
        """Whether nothing waits to be written."""
        return not self._unwritten

    @property
    def is_read(self) -> bool:
        """Whether the client reads what is written to it, as far as is known."""
        return self._unwritten <= _MOST_UNWRITTEN

    @property
    def asked(self) -> frozenset[types.RequestId]:
        """The questions that the client has not answered."""
        return frozenset(self._asked)

    def heard(self, message: types.JSONRPCMessage) -> None:
        """Note what the client says."""
        match message:
            case types.JSONRPCRequest():
                self._answers[coerce_request_id(message.id)] += 1
            case types.JSONRPCNotification(method="notifications/cancelled"):
                self._settle((message.params or {}).get("requestId"))
            case types.JSONRPCResponse() | types.JSONRPCError() if message.id is not None:
                self._asked.discard(coerce_request_id(message.id))
            case _:
                pass

    @contextmanager
    def unwritten(self, line: Line) -> Iterator[None]:
        """Count a message as one that waits to be written, until that is done or given up."""
        self._unwritten += len(line.raw)
        try:
            yield
        finally:
            self._unwritten -= len(line.raw)
            self.change()

    def said(self, message: types.JSONRPCMessage) -> None:
        """Note what was said to the client."""
        match message:
            case types.JSONRPCRequest():
                self._asked.add(coerce_request_id(message.id))
                self.change()
            case types.JSONRPCNotification(method="notifications/cancelled"):
                self._take_back((message.params or {}).get("requestId"))
            case types.JSONRPCResponse() | types.JSONRPCError():
                self._settle(message.id)
            case _:
                pass

    def change(self) -> None:
        """Wake whoever waits for something to change."""
        self._changed.set()

    async def changed(self) -> None:
        """Wait until something is not as it is now."""
        self._changed = anyio.Event()
        await self._changed.wait()

    def _take_back(self, request_id: object) -> None:
        """Nobody waits for the answer to a question any more."""
        if (known := as_request_id(request_id)) is not None:
            self._asked.discard(coerce_request_id(known))

    def _settle(self, request_id: object) -> None:
        known = as_request_id(request_id)
        if known is None:
            return
        key = coerce_request_id(known)  # '1' and 1 are one request, as they are to the SDK
        if key in self._answers:
            self._answers[key] -= 1
            if not self._answers[key]:
                del self._answers[key]
            self.change()


class TooLong(NamedTuple):
    """What is kept of a line that is too long: its ends, which tell whose request it was."""

    head: bytes
    tail: bytes


class Lines:
    """Bytes as they come, cut into lines."""

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._rest = b""
        self._head: bytes | None = None
        """How a line begins that is too long."""

    @property
    def too_long(self) -> str:
        """What such a line is answered with."""
        return f"Invalid request: the line is longer than {self._longest} bytes"

    def of(self, chunk: bytes) -> list[bytes | TooLong]:
        """The lines that end in a chunk. No bytes are the end, and with it that of the last line."""
        *whole, self._rest = (self._rest + (chunk or b"\n")).split(b"\n")
        lines: list[bytes | TooLong] = [*whole]
        if whole and self._head is not None:
            lines[0] = TooLong(self._head, whole[0][-_END:])
            self._head = None
        if self._head is None and len(self._rest) > self._longest:
            self._head = self._rest[:_END]
        if self._head is not None:
            self._rest = self._rest[-_END:]
        return lines


class Incoming(AsyncResource):
    """Messages as the SDK wants to read them, without tasks and queues in between: read when the next one is asked for.

    Lines that are no messages are answered here. The end comes when every request that was read has its answer; what
    the client is still asked then, it will not answer any more.
    """

    def __init__(
        self,
        source: int,
        debts: Debts,
        refusals: MemoryObjectSendStream[Line],
        longest: int,
        ended: Callable[[], None],
    ) -> None:
        self._source = source
        self._can_be_awaited = _can_be_awaited(source)
        self._debts = debts
        self._refusals = refusals
        self._lines = Lines(longest)
        self._ended = ended
        self._ready: deque[SessionMessage] = deque()
        self._is_over = False
        self._is_handshake = False
        self._reading: anyio.CancelScope | None = None

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
        raise anyio.EndOfStream

    async def opens_with_handshake(self) -> bool:
        """Whether the first message is that of the older protocol; then all that follow must be."""
        opening = self._ready[0].message if await self._is_there() else None
        self._is_handshake = isinstance(opening, types.JSONRPCRequest) and opening.method == "initialize"
        return self._is_handshake

    async def _is_there(self) -> bool:
        """Whether another message comes; if not, all requests have their answers."""
        while not self._ready:
            if self._is_over:
                self._leave_unanswered()
                if not self._ready and not self._debts.any_answer:
                    return False
                if not self._ready:
                    await self._debts.changed()
            elif self._debts.is_read:
                await self._take_some()
            else:
                await self._debts.changed()
        return True

    def stop(self) -> None:
        """Read nothing more."""
        if not self._is_over:
            self._is_over = True
            self._ended()
        if self._reading is not None:
            self._reading.cancel()
        self._debts.change()

    def _leave_unanswered(self) -> None:
        """Let nobody wait for what the client will not answer any more."""
        for request_id in self._debts.asked:
            error = types.JSONRPCError(jsonrpc="2.0", id=request_id, error=_LEFT)
            self._debts.heard(error)
            self._ready.append(SessionMessage(error))

    async def _take_some(self) -> None:
        with anyio.CancelScope() as self._reading:
            chunk = await self._chunk()
        self._reading = None
        if self._is_over:
            return
        for line in self._lines.of(chunk):
            await self._take(line)
        if not chunk:
            self.stop()

    async def _chunk(self) -> bytes:
        """Some bytes, or none at the end. A file can only be read in a thread."""
        if self._can_be_awaited:
            await anyio.wait_readable(self._source)
            return os.read(self._source, _CHUNK)
        return await anyio.to_thread.run_sync(os.read, self._source, _CHUNK, abandon_on_cancel=True)

    async def _take(self, line: bytes | TooLong) -> None:
        if isinstance(line, TooLong):
            await self._refuse(refusal(types.INVALID_REQUEST, self._lines.too_long, id_by_ends(*line)))
            return
        if not line.strip():
            return
        try:
            message = read_message(line, "line")
        except Refused as refused:
            await self._refuse(refused.answer)
            return
        self._debts.heard(message)
        self._ready.append(SessionMessage(message))

    async def _refuse(self, answer: types.JSONRPCError | types.JSONRPCResponse) -> None:
        line = Line.of(answer)
        with self._debts.unwritten(line):
            await self._refusals.send(line)

    async def aclose(self) -> None:
        """Take nothing any more."""
        await self._refusals.aclose()


def _is_modern(request: types.JSONRPCRequest) -> bool:
    """Whether it says the version of the newer protocol, as every request of that does."""
    meta = (request.params or {}).get("_meta")
    return isinstance(meta, dict) and types.PROTOCOL_VERSION_META_KEY in meta and request.method != "initialize"


class Answers(AsyncResource):
    """Where the server writes: at once, if nothing waits to be written before and there is room, else by a task."""

    def __init__(self, sink: int, debts: Debts, queue: MemoryObjectSendStream[Line]) -> None:
        self._sink = sink
        self._is_quick = _is_quick(sink)
        self._debts = debts
        self._queue = queue

    async def send(self, item: SessionMessage) -> None:
        """Write one message, after all that were sent before."""
        line = Line.of(item.message)
        if self._is_idle and self._is_written(line.raw):
            self._debts.said(line.message)
            return
        with self._debts.unwritten(line):
            await self._queue.send(line)

    @property
    def _is_idle(self) -> bool:
        """Whether nothing is on its way to the task that writes, nor in its hands."""
        return self._debts.is_all_written and self._queue.statistics().tasks_waiting_receive > 0

    def _is_written(self, raw: bytes) -> bool:
        if not self._is_quick or len(raw) > _PIPE_TAKES or not _has_room(self._sink, 0):
            return False
        with suppress(OSError):  # the client is gone, as the task will find too
            os.write(self._sink, raw)
            return True
        return False

    async def aclose(self) -> None:
        """Say that nothing comes any more."""
        await self._queue.aclose()


async def write_lines(sink: int, debts: Debts, lines: MemoryObjectReceiveStream[Line]) -> None:
    """Write what comes until nothing comes any more. An OSError if nobody reads it."""
    is_quick = _is_quick(sink)
    async with lines:
        async for line in lines:
            with debts.unwritten(line):
                await put(sink, line.raw, is_quick=is_quick)
            debts.said(line.message)


async def put(sink: int, raw: bytes, *, is_quick: bool) -> None:
    """Write all. What is sure to be taken goes at once; more may take its time, so a thread does it."""
    if is_quick and len(raw) <= _PIPE_TAKES:
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
    """Whether something is taken now, or within a time; also by what nobody reads, as writing to it then tells."""
    room = select.poll()
    room.register(sink, select.POLLOUT)
    return bool(room.poll(milliseconds))


def _is_quick(sink: int) -> bool:
    """Whether a short line is written without blocking where there is room. Node.js gives its programs sockets."""
    mode = os.fstat(sink).st_mode
    if sys.platform == "win32" or not stat.S_ISSOCK(mode):
        return sys.platform != "win32" and stat.S_ISFIFO(mode)
    with socket.socket(fileno=os.dup(sink)) as copy:
        return copy.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF) >= _SOCKET_HOLDS


def _can_be_awaited(descriptor: int) -> bool:
    mode = os.fstat(descriptor).st_mode
    return sys.platform != "win32" and (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(descriptor))
