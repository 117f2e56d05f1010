"""Where one attempt is worked on: how far it is, and the word that it is to stop."""

import asyncio
import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from enum import Enum
from typing import Final

from headgate.executions.values import About
from headgate.store.executions import Execution, Progress

__all__ = ["Desk", "Stop"]

_LONGEST_MESSAGE: Final = 1000


class Stop(Enum):
    """Why an attempt is to stop."""

    ASKED = "asked"
    """Somebody wants it, or its session has ended."""
    LATE = "late"
    """Its time is over."""
    SHUTDOWN = "shutdown"
    """This process ends."""
    TAKEN = "taken"
    """Another process has it now: whatever comes of it here does not count."""


class Desk:
    """One attempt. Work in a thread reports here too, and hears here that it is to stop."""

    def __init__(self, execution: Execution) -> None:
        self.execution = execution
        self.about = About.read(execution.about)
        self.stop: Stop | None = None
        self.told = asyncio.Event()
        self.progress = Progress()
        self.has_news = False
        self._stopping: Callable[[], object] = _nothing
        self._forcing: Callable[[], object] = _nothing

    @property
    def reached(self) -> Execution:
        """The execution as far as it is now."""
        current, total, message = self.progress
        return replace(self.execution, done=current, total=total, message=message)

    def stops_by(self, stopping: Callable[[], object], forcing: Callable[[], object] | None = None) -> None:
        """How the work hears that it is to stop; and how it ends if it does not listen, where there is a way."""
        self._stopping, self._forcing = stopping, forcing or _nothing
        if self.stop is not None:
            stopping()

    def tell_to_stop(self, why: Stop) -> None:
        """Have the work stop; what it was told first counts."""
        if self.stop is None:
            self.stop = why
            self.told.set()
            self._stopping()

    def force(self) -> None:
        """End work that does not stop, where there is a way."""
        self._forcing()

    def report(self, current: float | None, total: float | None, message: str | None) -> None:
        """Note how far the work is; it is written down with that of others, a little later."""
        self.progress = Progress(_number(current), _number(total), _text(message))
        self.has_news = True


def _number(value: float | None) -> float | None:
    """A number that JSON has; no other says how far something is."""
    with suppress(OverflowError):  # a whole number may be too large for it
        return float(value) if value is not None and math.isfinite(value) else None
    return None


def _text(message: str | None) -> str | None:
    """What every database holds, and a person reads in one glance."""
    if message is None:
        return None
    text = str(message)[:_LONGEST_MESSAGE]
    return text.encode("utf-8", "replace").decode().replace("\0", "\ufffd")


def _nothing() -> None:
    """Nobody to tell."""
