"""Asking the person at the terminal."""

import os
import select
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["agrees", "answer"]


def agrees(question: str) -> bool:
    """Whether the person says yes. Everything else is a no, Ctrl-C too."""
    return (answer(f"{question} [y/N] ") or "").lower() in ("y", "yes")


def answer(question: str) -> str | None:
    """What the person types; None if it is Ctrl-C."""
    with _interruptions() as interrupted:
        sys.stderr.write(question)
        sys.stderr.flush()
        ready, _, _ = select.select([sys.stdin, interrupted], [], [])
        if interrupted in ready:
            sys.stderr.write("\n")
            return None
        return sys.stdin.readline().strip()


@contextmanager
def _interruptions() -> Iterator[int]:
    """A descriptor that can be read once Ctrl-C was pressed, which then does nothing else.

    A handler written in Python would not do: a signal that comes just before the read begins, or to another
    thread, is only noted, and the read would go on waiting for a line.
    """
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    handler = signal.signal(signal.SIGINT, lambda *_: None)
    waking = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    try:
        yield reading
    finally:
        signal.set_wakeup_fd(waking)
        signal.signal(signal.SIGINT, handler)
        os.close(reading)
        os.close(writing)
