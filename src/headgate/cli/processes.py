"""The processes that work on executions: which are known, and whether they look alive."""

import time
from collections.abc import Sequence
from typing import Final, NamedTuple

import anyio
from rich.table import Table
from rich.text import Text

from headgate.cli.audit_rows import time_shown
from headgate.cli.output import complain, console, print_line
from headgate.executions.ledger import Ledger
from headgate.executions.places import is_dead, is_here
from headgate.protocol.times import ago
from headgate.protocol.visible import json_line, visible
from headgate.store.interface import Store
from headgate.store.workers import Worker

__all__ = ["Heard", "describe", "listen", "show_processes"]

PATIENCE_SECONDS: Final = 6.0
"""How long a process on another machine is listened for: a little longer than the pause between two of its beats."""
_SECONDS_BETWEEN_LOOKS: Final = 0.25

_COLOURS: Final = {"alive": "green", "gone": "red", "silent": "yellow"}


class Heard(NamedTuple):
    """A process that is known, and what was heard of it."""

    worker: Worker
    sign: str
    """``alive``, ``gone``, or ``silent`` if it is on another machine and nothing was heard of it."""

    @property
    def looks_alive(self) -> bool:
        """Whether it is not known to be gone."""
        return self.sign != "gone"


async def listen(store: Store, *, patient: bool = True) -> list[Heard]:
    """The processes that are known. Of those on other machines only their beats tell, which takes some seconds."""
    ledger = Ledger(store)
    known = await ledger.workers()
    beats = {one.id: one.beats for one in known}
    elsewhere = {one.id for one in known if not is_here(one)}
    if elsewhere and patient:
        complain(f"listening for {PATIENCE_SECONDS:g} seconds at the most to processes on other machines")
    end = time.monotonic() + (PATIENCE_SECONDS if patient else 0.0)
    heard: set[str] = set()
    while heard < elsewhere and time.monotonic() < end:
        await anyio.sleep(_SECONDS_BETWEEN_LOOKS)
        heard |= {one.id for one in await ledger.workers() if one.beats != beats.get(one.id, one.beats)}
    return [Heard(one, _sign(one, one.id in elsewhere, one.id in heard)) for one in known]


def _sign(worker: Worker, is_elsewhere: bool, was_heard: bool) -> str:
    if is_elsewhere:
        return "alive" if was_heard else "silent"
    return "gone" if is_dead(worker) else "alive"


def describe(worker: Worker) -> str:
    """A process in words."""
    return f"{worker.id}, process {worker.pid} on {_machine(worker)}"


def show_processes(found: Sequence[Heard], now: float, *, as_json: bool) -> None:
    """Print them."""
    terminal = console()
    if as_json:
        print_line(json_line({"workers": [_wire(one) for one in found]}))
    elif not found:
        complain("no process works on executions of this state")
    elif terminal.is_terminal:
        terminal.print(_table(found, now))
    else:
        for one in found:
            print_line("\t".join(_cells(one, time_shown(one.worker.started_at))))


def _table(found: Sequence[Heard], now: float) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for column in ("worker", "adapter", "machine", "process", "takes jobs", "sign", "started"):
        table.add_column(column, overflow="fold", justify="right" if column == "process" else "left")
    for one in found:
        cells = [Text(cell) for cell in _cells(one, ago(one.worker.started_at, now))]
        cells[5].stylize(_COLOURS[one.sign])
        table.add_row(*cells)
    return table


def _cells(one: Heard, started: str) -> list[str]:
    worker = one.worker
    takes = "yes" if worker.takes_jobs else "no"
    cells = (worker.id, worker.adapter, _machine(worker), str(worker.pid), takes, one.sign, started)
    return [visible(cell) for cell in cells]


def _machine(worker: Worker) -> str:
    """The machine's name; what follows it tells containers apart."""
    return worker.place.partition(" ")[0]


def _wire(one: Heard) -> dict[str, object]:
    worker = one.worker
    return {
        "worker": worker.id,
        "adapter": worker.adapter,
        "machine": _machine(worker),
        "process": worker.pid,
        "takes_jobs": worker.takes_jobs,
        "sign": one.sign,
        "started_at": time_shown(worker.started_at),
    }
