"""Asking the person at the terminal."""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["agrees"]


def agrees(question: str) -> bool:
    """Whether the person says yes. Everything else is a no, Ctrl-C too."""
    try:
        with _plain_interrupts():
            sys.stderr.write(f"{question} [y/N] ")
            sys.stderr.flush()
            return sys.stdin.readline().strip().lower() in ("y", "yes")
    except KeyboardInterrupt:
        sys.stderr.write("\n")
        return False


@contextmanager
def _plain_interrupts() -> Iterator[None]:
    """While a person is asked, Ctrl-C ends the question at once; the event loop would only note it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
