"""The pipes of an MCP server that is a process: one line a message, everything bounded.

Messages are read and written by whoever wants the next one, without tasks and queues in between: every call to a server
goes through here, and each hand that it passes through makes it later.
"""

import json
import re
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

import anyio
import mcp_types as types
import orjson
from anyio.abc import AsyncResource, ByteReceiveStream, Process
from mcp.shared.message import SessionMessage
from pydantic_core import PydanticSerializationError

from headgate.sources.mcp.density import MOST_PARTS, is_dense
from headgate.sources.mcp.last_words import LastWords

__all__ = ["Incoming", "Outgoing", "Pipes"]

_LONGEST_LINE: Final = 16_000_000
"""A message may need twenty times as much memory when it is read."""
_MOST_NOISE: Final = 10_000
"""How many lines that are no messages a server may write: some log to the wrong stream."""
_WATCH_SECONDS: Final = 0.25
_PARTS: Final = re.compile(r'"(?:[^"\\]|\\.)*+"?|[\[\]{}]|[^"\[\]{}]+')
"""Texts, brackets, and what is between them."""


@dataclass
class Pipes:
    """The pipes of one process. ``ended`` is told when nothing can come of them any more, and why."""

    process: Process
    ended: Callable[[str], None]
    words: LastWords
    is_closing: bool = False
    _noise: int = 0
    _is_read: bool = True
    """Whether the process takes what is written, as far as is known."""
    _all_heard: anyio.Event = field(default_factory=anyio.Event)
    _over: anyio.Event = field(default_factory=anyio.Event)
    _turn: anyio.Lock = field(default_factory=lambda: anyio.Lock(fast_acquire=True))

    async def messages(self) -> AsyncIterator[SessionMessage]:
        """Every message, until the process ends or writes what no server should."""
        why = "it ended"
        try:
            async for line in _lines(self.process.stdout):
                message = self._message(line)
                if message is not None:
                    yield SessionMessage(message)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            pass  # our own end, or the process's, in the midst of something
        except ValueError as error:
            why = str(error)
        if not self.is_closing:
            with anyio.move_on_after(_WATCH_SECONDS):
                await self._all_heard.wait()  # its last words say why it ended
        self._end(why)

    async def write(self, message: types.JSONRPCMessage) -> None:
        """Send a message, whole before the next begins. A BrokenResourceError if nobody reads it."""
        pipe = self.process.stdin
        async with self._turn:
            if pipe is None or self.is_closing:
                raise anyio.ClosedResourceError
            try:
                if self._is_read:
                    await pipe.send(_line(message) + b"\n")
                    return
            except (OSError, anyio.BrokenResourceError):
                self._is_read = False  # whoever waits for a turn need not try
        with anyio.move_on_after(3 * _WATCH_SECONDS):
            await self._over.wait()  # mostly it has ended, and how it did says more
        self._end("it does not read any more")
        raise anyio.BrokenResourceError

    async def watch(self) -> None:
        """See the process end, even if a child that it leaves behind holds its pipes."""
        while self.process.returncode is None:  # noqa: ASYNC110  (there is no event for this)
            await anyio.sleep(_WATCH_SECONDS)
        await anyio.sleep(_WATCH_SECONDS)  # what it has written before is still read
        self._end("it ended")

    def _end(self, why: str) -> None:
        self._over.set()
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

    async def read_errors(self) -> None:
        """Hear what it says beside its messages, so that it never waits for somebody to listen."""
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, ValueError):
            async for line in _lines(self.process.stderr, cut=True):
                self.words.hear(line)
        self._all_heard.set()


class Incoming(AsyncResource):
    """Messages as the SDK wants to read them."""

    def __init__(self, messages: AsyncIterator[SessionMessage]) -> None:
        self._messages = messages

    async def receive(self) -> SessionMessage:
        """The next one."""
        try:
            return await anext(self._messages)
        except StopAsyncIteration:
            raise anyio.EndOfStream from None

    def __aiter__(self) -> AsyncIterator[SessionMessage]:
        return self._messages

    async def aclose(self) -> None:
        """Nothing: the pipes are closed with the process."""


class Outgoing(AsyncResource):
    """Where the SDK wants to write messages."""

    def __init__(self, pipes: Pipes) -> None:
        self._pipes = pipes
        self._is_closed = False

    async def send(self, item: SessionMessage) -> None:
        """Write one."""
        if self._is_closed:
            raise anyio.ClosedResourceError
        await self._pipes.write(item.message)

    async def aclose(self) -> None:
        """Take nothing any more."""
        self._is_closed = True


def _line(message: types.JSONRPCMessage) -> bytes:
    """A message as it is written; what is no UTF-8 is escaped, so that the server may judge it."""
    try:
        return message.model_dump_json(by_alias=True, exclude_unset=True).encode()
    except PydanticSerializationError:
        return json.dumps(message.model_dump(by_alias=True, exclude_unset=True)).encode()


def _unreadable_answer(line: bytes) -> types.JSONRPCError | None:
    """An error in the place of an answer that cannot be read, so that nobody waits for it any longer."""
    try:
        said = json.loads(_outermost(line))
    except ValueError:
        return None
    number = said.get("id") if isinstance(said, dict) else None
    if not isinstance(number, int | str) or isinstance(number, bool) or "method" in said:
        return None
    error = types.ErrorData(code=types.PARSE_ERROR, message="the answer cannot be read")
    return types.JSONRPCError(jsonrpc="2.0", id=number, error=error)


def _outermost(line: bytes) -> str:
    """A message with nothing inside its objects and lists: no reader takes what is nested too deeply."""
    depth, shown = 0, []
    for part in _PARTS.findall(line.decode("utf-8", "replace")):
        depth -= part in "]}"
        if depth < 1 or (depth == 1 and part not in "[{]}"):
            shown.append(part)
        elif depth == 1 and part in "[{":
            shown.append("null")
        depth += part in "[{"
    return "".join(shown)


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
