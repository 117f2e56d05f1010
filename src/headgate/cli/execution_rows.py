"""Executions as they are shown: a table with bars or plain lines for people, JSON for programs."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final, NamedTuple

from rich.console import RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from headgate.cli.audit_rows import time_shown
from headgate.cli.output import console, print_line
from headgate.executions.values import About, Outcome, percentage, read_error, state_object
from headgate.protocol.lifecycle import State
from headgate.protocol.times import ago, span
from headgate.protocol.visible import json_line, visible
from headgate.safety.searching import caller_shown
from headgate.store.executions import Execution

__all__ = ["print_all", "print_lines", "show_one", "state_shown", "table_of", "wire_of"]

_COLOURS: Final = {
    State.RUNNING: "green",
    State.RETRYING: "yellow",
    State.CANCELLING: "yellow",
    State.STUCK: "red",
    State.COMPLETED: "blue",
    State.FAILED: "red",
    State.CANCELLED: "magenta",
}
_BAR_WIDTH: Final = 12
_WIDE: Final = 100
_SHORTEST: Final = 15
"""Characters of an id that are shown of each; more where some would look alike."""


def state_shown(state: State) -> str:
    """The core state, and the exact one where that says more."""
    return state.value if state is state.core else f"{state.core.value} ({state.value})"


def _took(execution: Execution, now: float) -> float | None:
    """Seconds that it has been worked on, or has taken."""
    if execution.started_at is None:
        return None
    return max(0.0, (now if execution.finished_at is None else execution.finished_at) - execution.started_at)


def _error(execution: Execution) -> str:
    error = read_error(execution.error) if execution.error is not None else None
    return f"{error['code']}: {error['message']}" if error else ""


def _message(execution: Execution) -> str:
    """What it is at; why it failed, or why the attempt before did."""
    if execution.state is State.COMPLETED:
        return ""
    message = execution.message or ""
    return message if execution.state is State.RUNNING and message else _error(execution) or message


def _share(execution: Execution) -> float | None:
    """How much is done: of what has completed all, however far it had said it was."""
    return 100.0 if execution.state is State.COMPLETED else percentage(execution.progress)


def _done(execution: Execution) -> str:
    done = _share(execution)
    return "" if done is None else f"{done:.0f}%"


# many


def print_all(found: Sequence[Execution]) -> None:
    """All of them for programs."""
    print_line(json_line({"executions": [wire_of(one) for one in found]}))


def print_lines(found: Sequence[Execution], now: float) -> None:
    """One line for each, for a pipe."""
    for one in found:
        print_line("\t".join(_cells(one, now)))


def _cells(execution: Execution, now: float) -> list[str]:
    seconds, done = _took(execution, now), _share(execution)
    cells = (
        *(execution.id, execution.operation, execution.adapter, execution.state.core.value, execution.state.value),
        "" if done is None else f"{done:g}",
        time_shown(execution.created_at),
        "" if seconds is None else f"{seconds:.3f}",
        caller_shown(execution.owner),
        _message(execution),
    )
    return [visible(cell) for cell in cells]


def table_of(found: Sequence[Execution], now: float, width: int) -> Table:
    """A table of them, each with a bar that tells how far it is; a narrow one has less."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    columns = [one for one in _COLUMNS if width >= _WIDE or not one.needs_room]
    if len({one.adapter for one in found}) == 1:
        columns = [one for one in columns if one.name != "adapter"]
    for column in columns:
        table.add_column(column.name, no_wrap=not column.shrinks, justify="right" if column.is_right else "left")
    length = _length_of(found)
    for one in found:
        shown = replace(one, id=one.id[:length])
        table.add_row(*(column.cell(shown, now) for column in columns))
    return table


class _Column(NamedTuple):
    name: str
    cell: Callable[[Execution, float], RenderableType]
    shrinks: bool = False
    """Whether it gives room to others; each cell still has one line."""
    is_right: bool = False
    needs_room: bool = False


def _plain(words: str, style: str = "") -> Text:
    return Text(visible(words), style, no_wrap=True, overflow="ellipsis")


def _state(execution: Execution, _now: float) -> Text:
    return _plain(state_shown(execution.state), _COLOURS.get(execution.state, ""))


def _seconds(execution: Execution, now: float) -> str:
    seconds = _took(execution, now)
    return "" if seconds is None else span(seconds)


def _bar(execution: Execution, _now: float) -> RenderableType:
    done = _share(execution)
    if done is not None:
        colour = _COLOURS.get(execution.state, "")
        return ProgressBar(100, done, width=_BAR_WIDTH, complete_style=colour, finished_style=colour)
    if execution.state in (State.RUNNING, State.CANCELLING, State.STUCK):
        return ProgressBar(total=None, pulse=True, width=_BAR_WIDTH)
    return ""


_COLUMNS: Final = (
    _Column("id", lambda one, _now: _plain(one.id)),
    _Column("operation", lambda one, _now: _plain(one.operation), shrinks=True),
    _Column("adapter", lambda one, _now: _plain(one.adapter), shrinks=True, needs_room=True),
    _Column("state", _state),
    _Column("progress", _bar),
    _Column("", lambda one, _now: _done(one), is_right=True),
    _Column("took", _seconds, is_right=True),
    _Column("asked", lambda one, now: ago(one.created_at, now), is_right=True, needs_room=True),
    _Column("caller", lambda one, _now: _plain(caller_shown(one.owner)), shrinks=True, needs_room=True),
    _Column("message", lambda one, _now: _plain(_message(one)), shrinks=True),
)


def _length_of(found: Sequence[Execution]) -> int:
    """How many characters of each id tell them apart."""
    ids = sorted(one.id for one in found)
    return max([_SHORTEST, *(_common(left, right) + 1 for left, right in pairwise(ids))])


def _common(left: str, right: str) -> int:
    return next((at for at, (one, other) in enumerate(zip(left, right, strict=False)) if one != other), len(left))


# one


def wire_of(execution: Execution, *, in_full: bool = False) -> dict[str, object]:
    """What programs read of it."""
    shown = {
        **state_object(execution),
        "state": execution.state.value,
        "adapter": execution.adapter,
        "caller": execution.owner,
        "attempt": execution.attempt,
    }
    if not in_full:
        return shown
    about = About.read(execution.about)
    moments = {"due_at": execution.due_at, "asked_to_stop_at": execution.asked_at, "expires_at": execution.expires_at}
    more: dict[str, object] = {name: time_shown(at) for name, at in moments.items() if at is not None}
    if execution.asked_by is not None:
        more["asked_to_stop_by"] = execution.asked_by
    if execution.outcome is not None:
        outcome = Outcome.read(execution.outcome)
        more["result"] = {"characters": outcome.size, "items": outcome.items}
    return {
        **shown,
        **more,
        "failed_attempts": execution.tries,
        "interruptions": execution.interruptions,
        "worker": execution.worker,
        "session": about.session_id,
        "request_id": about.request_id,
        "params": about.shown,
    }


def show_one(execution: Execution, worker: str, advice: Sequence[str], now: float) -> None:
    """Everything that is known of it, and what can be done about it."""
    terminal = console()
    state = (state_shown(execution.state), _COLOURS.get(execution.state, ""))
    lines = [
        *_facts(execution, worker, now),
        *(("next" if number == 0 else "or", one) for number, one in enumerate(advice)),
    ]
    terminal.print(Text.assemble((visible(execution.id), "bold"), "  ", state), soft_wrap=True)
    for name, words in lines:
        terminal.print(Text.assemble((f"  {name:<11}", "dim"), visible(words)), soft_wrap=True)
    terminal.print(Text("  parameters", style="dim"), soft_wrap=True)
    params = About.read(execution.about).shown
    for line in json.dumps(params, indent=2, ensure_ascii=False).split("\n"):
        terminal.print(Text(f"    {visible(line)}"), soft_wrap=True)


def _facts(execution: Execution, worker: str, now: float) -> Iterator[tuple[str, str]]:
    about = About.read(execution.about)
    yield "operation", f"{execution.operation} of {execution.adapter}"
    yield "caller", caller_shown(execution.owner)
    yield "asked", f"{_moment(execution.created_at, now)}, in request {about.request_id}"
    if execution.started_at is not None:
        yield "began", _moment(execution.started_at, now)
    if execution.due_at is not None and execution.due_at > now:
        yield "due", f"in {span(execution.due_at - now)}, {time_shown(execution.due_at)}"
    if execution.finished_at is not None:
        yield "ended", _ended(execution, now)
    if how_far := _how_far(execution):
        yield "progress", how_far
    yield "attempt", _attempts(execution, about)
    if worker:
        yield "worker", worker
    if execution.asked_at is not None:
        yield "to stop", f"wanted by {execution.asked_by} {_moment(execution.asked_at, now)}"
    if execution.error is not None:
        yield "error", _error(execution)
    if execution.outcome is not None:
        yield "result", _size(Outcome.read(execution.outcome))
    if execution.expires_at is not None:
        yield "kept", f"until {time_shown(execution.expires_at)}"


def _moment(at: float, now: float) -> str:
    return f"{ago(at, now)}, {time_shown(at)}"


def _ended(execution: Execution, now: float) -> str:
    seconds = _took(execution, now)
    after = "before it had begun" if seconds is None else f"after {span(seconds)}"
    return f"{_moment(execution.finished_at or now, now)}, {after}"


def _how_far(execution: Execution) -> str:
    current, total, message = execution.progress
    said = [_done(execution)] if _done(execution) else []
    if current is not None:
        said.append(f"{current:g}" if total is None else f"{current:g} of {total:g}")
    return ", ".join([*said, *([message] if message else [])])


def _attempts(execution: Execution, about: About) -> str:
    counted = {"failed": execution.tries, "interrupted": execution.interruptions}
    told = [f"{number} {what}" for what, number in counted.items() if number]
    allowed = f"{about.background.retries} more after a failure" if about.background.retries else ""
    return ", ".join(filter(None, [str(execution.attempt), *told, allowed]))


def _size(outcome: Outcome) -> str:
    items = "" if outcome.items is None else f"{outcome.items:,} items, "
    return f"{items}{outcome.size:,} characters of JSON"
