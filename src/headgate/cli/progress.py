"""A bar for what takes long, on a terminal alone."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, TextIO

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskID, TextColumn, TimeRemainingColumn
from rich.text import Text

__all__ = ["Bar", "progress"]

PATIENCE_SECONDS: Final = 1.0
"""What takes less needs no bar."""


class _Share(ProgressColumn):
    """How much is done, if that is known."""

    def render(self, task: Task) -> Text:
        return Text("" if task.total is None else f"{task.percentage:>3.0f}%")


class Bar:
    """Appears once something has taken a second; ``bar(done, total)`` tells how far it is, as far as that is known."""

    def __init__(self, words: str, stream: TextIO, clock: Callable[[], float]) -> None:
        self._words = words
        self._stream = stream
        self._clock = clock
        self._began = clock()
        self._shown: tuple[Progress, TaskID] | None = None

    def __call__(self, done: float, total: float | None, message: str = "") -> None:
        """Tell how far it is, and what it is at."""
        if self._shown is None and self._stream.isatty() and self._clock() - self._began >= PATIENCE_SECONDS:
            self._shown = self._started()
        if self._shown is not None:
            shown, task = self._shown
            shown.update(task, completed=done, total=total, message=message)

    def _started(self) -> tuple[Progress, TaskID]:
        columns = (TextColumn("{task.description}", markup=False), BarColumn(), _Share(), TimeRemainingColumn())
        shown = Progress(
            *columns,
            TextColumn("{task.fields[message]}", markup=False),
            console=Console(file=self._stream),
            transient=True,
            redirect_stdout=False,  # what a command prints belongs where its user sends it, bar or not
            redirect_stderr=False,
        )
        shown.start()
        return shown, shown.add_task(self._words, total=None, message="")

    def close(self) -> None:
        """Take the bar away."""
        if self._shown is not None:
            self._shown[0].stop()


@contextmanager
def progress(words: str) -> Iterator[Bar]:
    """A bar on standard error, gone when the work is done."""
    bar = Bar(words, sys.stderr, time.monotonic)
    try:
        yield bar
    finally:
        bar.close()
