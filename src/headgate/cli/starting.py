"""What is told while sources start: a line when something changes, or on a terminal one that changes itself."""

from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, Final, TextIO

import anyio
from rich.console import Console

from headgate.adapter.parts import PartState
from headgate.sources.gate.gate import Gate

__all__ = ["progress_line", "starting"]

_PATIENCE_SECONDS: Final = 1.0
"""What takes less needs no words."""
_NAMED: Final = 5


def progress_line(gate: Gate) -> str:
    """How far it is, such as ``3 of 5 sources ready; waiting for github, files``."""
    parts = [part for part in gate.parts() if part.state is not PartState.DISABLED]
    ready = sum(part.state is PartState.READY for part in parts)
    waiting = gate.waited_for()
    more = f" and {len(waiting) - _NAMED} more" if len(waiting) > _NAMED else ""
    failed = [part.name for part in parts if part.state is PartState.FAILED]
    words = [f"{ready} of {len(parts)} sources ready"]
    words += [f"waiting for {', '.join(waiting[:_NAMED])}{more}"] if waiting else []
    words += [f"failed: {', '.join(failed)}"] if failed else []
    return "; ".join(words)


@contextmanager
def starting(gate: Gate, stream: TextIO, *, plainly: bool) -> Iterator[Callable[[], Coroutine[Any, Any, None]]]:
    """A function that waits until it is known of all sources whether they open, and tells how far they are.

    Where nobody watches, it tells it ``plainly`` in a line for each change, or not at all.
    """
    if not stream.isatty():
        yield lambda: _wait(gate, lambda line: _write(stream, line) if plainly else None)
        return
    console = Console(file=stream)
    with console.status("headgate: starting", spinner="dots") as status:
        yield lambda: _wait(gate, lambda line: status.update(f"headgate: {line}"))


def _write(stream: TextIO, line: str) -> None:
    stream.write(f"headgate: {line}\n")
    stream.flush()


async def _wait(gate: Gate, tell: Callable[[str], None]) -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_tell, gate, tell)
        await gate.settled()
        tasks.cancel_scope.cancel()


async def _tell(gate: Gate, tell: Callable[[str], None]) -> None:
    await anyio.sleep(_PATIENCE_SECONDS)
    told = ""
    while True:
        line = progress_line(gate)
        if line != told:
            tell(line)
            told = line
        await gate.next_settled()
