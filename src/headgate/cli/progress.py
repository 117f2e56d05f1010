"""A bar for what takes long, on a terminal alone."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, TextIO

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

__all__ = ["Bar", "progress"]

PATIENCE_SECONDS: Final = 1.0
"""What takes less needs no bar."""


class Bar:
    """Appears once something has taken a second; ``bar(done, total)`` tells how far it is."""

    def __init__(self, words: str, stream: TextIO, clock: Callable[[], float]) -> None:
        self._words = words
        self._stream = stream
        self._clock = clock
        self._began = clock()
        self._shown: tuple[Progress, TaskID] | None = None

    def __call__(self, done: int, total: int) -> None:
        """Tell how far it is."""
        if self._shown is None and self._stream.isatty() and self._clock() - self._began >= PATIENCE_SECONDS:
            self._shown = self._started()
        if self._shown is not None:
            shown, task = self._shown
            shown.update(task, completed=done, total=total)

    def _started(self) -> tuple[Progress, TaskID]:
        columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f}%"))
        shown = Progress(
            *columns,
            TimeRemainingColumn(),
            console=Console(file=self._stream),
            transient=True,
            redirect_stdout=False,  # what a command prints belongs where its user sends it, bar or not
            redirect_stderr=False,
        )
        shown.start()
        return shown, shown.add_task(self._words)

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
