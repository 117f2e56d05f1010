"""The other side of :mod:`headgate.engine.processes`: runs one function, and tells what came of it."""

import asyncio
import os
import pickle
import signal
import sys
import threading
import traceback
from typing import Any, BinaryIO

from headgate.adapter.context import Context, Session
from headgate.engine.encoding import encode, standing_alone
from headgate.engine.processes import CANCELLED, DONE, HEAD, PROGRESS, RAISED, REFUSED, Task
from headgate.executions.results import Cut, cut
from headgate.protocol.errors import AqlError
from headgate.sources.modules import load_module

__all__ = ["main"]


class _Attempt:
    """The attempt as the function sees it. A wish to stop interrupts it wherever it is."""

    is_to_stop = False

    def __init__(self, task: Task, wire: "_Wire") -> None:
        self.id = task.execution_id
        self.number = task.attempt
        self._wire = wire

    def report(self, current: float | None, total: float | None, message: str | None) -> None:
        self._wire.send(PROGRESS, (current, total, message))


class _Wire:
    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def send(self, word: str, content: object) -> None:
        raw = pickle.dumps((word, content))
        self._stream.write(HEAD.pack(len(raw)) + raw)
        self._stream.flush()


def main() -> None:
    """Do what the parent says, once."""
    source = os.fdopen(os.dup(0), "rb")
    wire = _Wire(os.fdopen(os.dup(1), "wb"))
    os.dup2(2, 1)  # what the function prints must not get into the wire
    head = source.read(HEAD.size)
    if len(head) < HEAD.size:
        return  # the parent has died before it could say anything
    (length,) = HEAD.unpack(head)
    task: Task = pickle.loads(source.read(length))  # noqa: S301  (from our own parent)
    threading.Thread(target=_end_with_parent, args=(source,), daemon=True).start()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal's interruption is for the parent, which tells us
    signal.signal(signal.SIGTERM, _raise)
    try:
        wire.send(DONE, _done(task, wire))
    except asyncio.CancelledError:
        wire.send(CANCELLED, None)
    except AqlError as error:
        wire.send(REFUSED, (error.error.code, error.error.message, error.error.details))
    except BaseException:  # noqa: BLE001  (told to the parent: a function that ends the program has failed)
        wire.send(RAISED, traceback.format_exc())


def _done(task: Task, wire: _Wire) -> Cut:
    sys.path[:] = task.path
    function: Any = load_module(task.module)
    for name in task.function.split("."):
        function = getattr(function, name)
    session = Session(lasting=False)
    attempt = _Attempt(task, wire)
    context = Context(task.operation, task.request_id, task.caller, session, attempt=attempt, is_async=False)
    given = {task.context_parameter: context} if task.context_parameter else {}
    data = function(**task.values, **given)
    return cut(standing_alone(data), encode, tuple(context.warnings))


def _raise(_signal: int, _frame: object) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # so that it can clean up
    raise asyncio.CancelledError


def _end_with_parent(source: BinaryIO) -> None:
    source.read()
    os._exit(1)


if __name__ == "__main__":
    main()
