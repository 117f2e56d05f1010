"""A plain function in a process of its own: whatever it does, the server answers, and it can be stopped for sure.

The process gets one message, says how far it is, and gives its result already cut into pieces. It ends when its input
ends, so that none is left behind by a server that dies.
"""

import asyncio
import pickle
import struct
import sys
from contextlib import suppress
from typing import Any, Final, NamedTuple

from headgate.adapter.operations import Operation
from headgate.executions.desks import Desk
from headgate.executions.results import Cut
from headgate.protocol.errors import AqlError
from headgate.sources.modules import whereabouts

__all__ = [
    "CANCELLED",
    "DONE",
    "HEAD",
    "PROGRESS",
    "RAISED",
    "REFUSED",
    "ChildFailed",
    "ChildGone",
    "Task",
    "in_process",
]

HEAD: Final = struct.Struct("!Q")
"""What stands before each message: its length."""

_FAREWELL_SECONDS: Final = 2.0

PROGRESS, DONE, REFUSED, RAISED, CANCELLED = "progress", "done", "refused", "raised", "cancelled"


class Task(NamedTuple):
    """What a process is to do. Functions are named, since the process loads the module itself."""

    path: list[str]
    module: str
    function: str
    values: dict[str, Any]
    context_parameter: str | None
    operation: str
    request_id: str
    caller: Any
    execution_id: str
    attempt: int


class ChildFailed(Exception):
    """The function has broken, or its process has."""

    def __init__(self, trace: str) -> None:
        super().__init__("a process has failed")
        self.trace = trace


class ChildGone(Exception):
    """The process has ended before the function has, as when the system kills it."""


async def in_process(operation: Operation, values: dict[str, Any], desk: Desk) -> Cut:
    """What the function gives, from a process that exists for this call alone."""
    execution = desk.execution
    task = Task(
        list(sys.path),
        whereabouts(operation.function.__module__),
        operation.function.__qualname__,
        values,
        operation.context_parameter,
        operation.name,
        desk.about.request_id,
        desk.about.caller,
        execution.id,
        execution.attempt,
    )
    raw = pickle.dumps(task)
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "headgate.engine.child",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=2**20,
    )
    desk.stops_by(lambda: _signal(child.terminate), lambda: _signal(child.kill))
    try:
        return await _followed(child, raw, desk)
    finally:
        _signal(child.kill)
        await child.wait()


def _signal(send: Any) -> None:
    try:
        send()
    except ProcessLookupError:
        return


async def _farewell(child: asyncio.subprocess.Process) -> None:
    """Let a process that has told its last word end by itself, as programs do, unless that takes long."""
    with suppress(TimeoutError):
        async with asyncio.timeout(_FAREWELL_SECONDS):
            await child.wait()


async def _followed(child: asyncio.subprocess.Process, raw: bytes, desk: Desk) -> Cut:
    if child.stdin is None or child.stdout is None:
        raise ChildFailed("the process has no pipes")
    child.stdin.write(HEAD.pack(len(raw)) + raw)
    try:
        await child.stdin.drain()
        while True:
            (length,) = HEAD.unpack(await child.stdout.readexactly(HEAD.size))
            word, content = pickle.loads(await child.stdout.readexactly(length))  # noqa: S301  (from our own child)
            if word == PROGRESS:
                desk.report(*content)
                continue
            await _farewell(child)
            match word:
                case "done":
                    made: Cut = content
                    return made
                case "refused":
                    raise AqlError(*content)
                case "cancelled":
                    raise asyncio.CancelledError
                case _:
                    raise ChildFailed(str(content))
    except (asyncio.IncompleteReadError, ConnectionError):
        if desk.stop is not None:
            raise asyncio.CancelledError from None
        raise ChildGone(f"its process ended by itself with code {await child.wait()}") from None
