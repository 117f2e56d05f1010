"""What is told while sources start: a line when something changes, or on a terminal one that changes itself."""

from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, TextIO

import anyio

from headgate.adapter.parts import PartState
from headgate.sources.gate.gate import Gate

__all__ = ["progress_line", "starting", "waiting_told"]

_PATIENCE_SECONDS: Final = 1.0
"""What takes less needs no words."""
_QUIET_SECONDS: Final = 3.0
"""The same for a command that ends, whose words may be read by a program."""
_NAMED: Final = 5


def progress_line(gate: Gate) -> str:
    """How far it is, such as ``3 of 5 sources ready; waiting for github, files``."""
    parts = [part for part in gate.parts() if part.state is not PartState.DISABLED]
    ready = sum(part.state is PartState.READY for part in parts)
    waiting = gate.waited_for()
    failed = [part.name for part in parts if part.state is PartState.FAILED]
    words = [f"{ready} of {len(parts)} sources ready"]
    words += [f"waiting for {_named(waiting)}"] if waiting else []
    words += [f"failed: {', '.join(failed)}"] if failed else []
    return "; ".join(words)


@contextmanager
def starting(gate: Gate, stream: TextIO, *, plainly: bool) -> Iterator[Callable[[], Coroutine[Any, Any, None]]]:
    """A function that waits until it is known of all sources whether they open, and tells how far they are.

    Where nobody watches, it tells it in a line for each change, ``plainly`` from early on.
    """
    if not stream.isatty():
        patience = _PATIENCE_SECONDS if plainly else _QUIET_SECONDS
        yield lambda: _wait(gate, lambda line: _write(stream, line), patience)
        return
    from rich.console import Console  # noqa: PLC0415  (for terminals alone)

    console = Console(file=stream)
    with console.status("headgate: starting", spinner="dots") as status:
        yield lambda: _wait(gate, lambda line: status.update(f"headgate: {line}"), _PATIENCE_SECONDS)


def _write(stream: TextIO, line: str) -> None:
    stream.write(f"headgate: {line}\n")
    stream.flush()


async def waiting_told(waiting: Callable[[], Sequence[str]], stream: TextIO) -> None:
    """Say once who is waited for, if it takes long."""
    await anyio.sleep(_QUIET_SECONDS)
    _write(stream, f"waiting for {_named(waiting())}")


def _named(waiting: Sequence[str]) -> str:
    more = f" and {len(waiting) - _NAMED} more" if len(waiting) > _NAMED else ""
    return f"{', '.join(waiting[:_NAMED])}{more}"


async def _wait(gate: Gate, tell: Callable[[str], None], patience: float) -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_tell, gate, tell, patience)
        await gate.settled()
        tasks.cancel_scope.cancel()


async def _tell(gate: Gate, tell: Callable[[str], None], patience: float) -> None:
    await anyio.sleep(patience)
    told = ""
    while True:
        line = progress_line(gate)
        if line != told:
            tell(line)
            told = line
        await gate.next_settled()
