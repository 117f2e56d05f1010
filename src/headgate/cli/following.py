"""Long work that a call has started: followed to its end with a bar, and its whole result."""

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from shlex import quote
from typing import Any, Final, NamedTuple

import anyio
import orjson

from headgate.adapter.background import EXECUTION_ID
from headgate.adapter.context import Progress
from headgate.cli.exits import FAILED, OK
from headgate.cli.failures import failure_lines
from headgate.cli.output import complain, print_json
from headgate.cli.progress import Bar, progress
from headgate.cli.state import same_state
from headgate.client.targets import Envelope, Target
from headgate.executions.operations import CANCEL, GET, RESULT
from headgate.protocol.lifecycle import CORE, TERMINAL, State
from headgate.protocol.visible import visible

__all__ = ["Carried", "Place", "carried_on", "show_result", "tell_warnings"]

_PAGE: Final = 1000
_SECONDS_WATCHED: Final = 2
"""How long one request waits for the end, where somebody sees the bar."""
_SECONDS_UNWATCHED: Final = 20
_LONGEST_PAUSE: Final = 60.0


@dataclass(frozen=True, slots=True)
class Place:
    """Where an execution was started, so that another command finds it."""

    source: str | None
    state: str | None

    def command(self, operation: str, execution_id: str, *more: str) -> str:
        """A call about an execution, as a person types it."""
        source = f"-s {quote(self.source)}" if self.source else ""
        words = ("headgate call", operation, f"{EXECUTION_ID}={quote(execution_id)}", *more)
        return " ".join(filter(None, (*words, source, same_state(self.state))))


class _Started(NamedTuple):
    """The state of an execution in an answer."""

    id: str
    status: State
    operation: str
    wire: Mapping[str, Any]

    @classmethod
    def of(cls, answer: Envelope) -> "_Started | None":
        """The execution that an answer is about; None if it is about something else."""
        wire = answer.get("data")
        if not isinstance(wire, dict) or wire.get("status") not in {*CORE}:
            return None
        execution_id = wire.get(EXECUTION_ID)
        if not isinstance(execution_id, str):
            return None
        return cls(execution_id, State(wire["status"]), str(wire.get("operation", "")), wire)


class Carried(NamedTuple):
    """What came of an answer: where the command has waited for long work, the answer at its end."""

    answer: Envelope
    is_end: bool = False
    note: str = ""
    """What the caller should know of work that goes on."""


async def carried_on(target: Target, operation: str, answer: Envelope, place: Place, *, waits: bool) -> Carried:
    """Wait for the end of long work that a call has started, if that is wanted, or it would end with this process."""
    started = _Started.of(answer)
    if started is None:
        return Carried(answer)
    is_over = started.status in TERMINAL
    runs_here = not is_over and await target.works_on(started.id)
    if not waits and not runs_here:
        waiting = place.command(GET, started.id, "--wait")
        is_news = not is_over and operation not in (GET, CANCEL)
        return Carried(answer, note=f"it goes on by itself; wait for its result: {waiting}" if is_news else "")
    tell_warnings(answer)
    if runs_here and not waits:
        complain("the work runs in this process, so the command waits for it")
    try:
        return Carried(await _followed(target, started), is_end=True)
    except Exception:
        complain(f"what became of it, once the server is there: {place.command(GET, started.id, '--wait')}")
        raise
    except anyio.get_cancelled_exc_class():  # which is what Ctrl-C does
        complain(_left(started.id, place, runs_here=runs_here))
        raise


def _left(execution_id: str, place: Place, *, runs_here: bool) -> str:
    """What becomes of an execution that is waited for no longer."""
    if runs_here:
        return "the work runs in this process, and ends with it"
    waiting, cancelling = place.command(GET, execution_id, "--wait"), place.command(CANCEL, execution_id)
    return f"it goes on by itself; wait again: {waiting}; cancel it: {cancelling}"


async def _followed(target: Target, started: _Started) -> Envelope:
    """The answer with all of the result, once there is one, or one that says why there is none."""
    with progress(visible(started.operation)) as bar:
        answer = await _ended(target, started, bar)
    return await _result(target, started.id) if answer.get("success") else answer


async def _ended(target: Target, started: _Started, bar: Bar) -> Envelope:
    """The state in which an execution has ended."""

    async def tell(current: float, total: float | None, message: str | None) -> None:
        bar(current, total, visible(message or ""))

    seconds = _SECONDS_WATCHED if sys.stderr.isatty() else _SECONDS_UNWATCHED
    while True:
        asked = {EXECUTION_ID: started.id, "wait_seconds": seconds}
        answer = await _asked(target, GET, asked, tell)
        state = _Started.of(answer)
        if state is None or state.status in TERMINAL:
            return answer
        far = state.wire.get("progress") or {}
        words = far.get("message") or state.wire.get("state") or state.status
        bar(far.get("current") or 0, far.get("total"), visible(str(words)))


async def _result(target: Target, execution_id: str) -> Envelope:
    """The answer with all of the result: what came in pages is joined."""
    answer = first = await _asked(target, RESULT, {EXECUTION_ID: execution_id, "first": _PAGE})
    parts: list[Any] = []
    while page := (answer.get("data") or {}).get("page"):
        parts.append(answer["data"]["result"])
        if not page.get("has_next"):
            joined = _joined(parts, is_text=page.get("of") == "text")
            told = {name: value for name, value in first["data"].items() if name != "page"}
            return {**first, "data": {**told, "result": joined}}
        answer = await _asked(target, RESULT, {EXECUTION_ID: execution_id, "first": _PAGE, "after": page["after"]})
    return answer


def _joined(parts: list[Any], *, is_text: bool) -> Any:
    return orjson.loads("".join(parts)) if is_text else [item for part in parts for item in part]


async def _asked(
    target: Target, operation: str, params: Mapping[str, object], tell: Progress | None = None
) -> Envelope:
    """The answer to a call; where calls are limited, it is made again when there is room."""
    while True:
        answer = await target.call(operation, params, tell)
        error = answer.get("error") or {}
        pause = (error.get("details") or {}).get("retry_after_seconds")
        if error.get("code") != "RATE_LIMIT_EXCEEDED" or not isinstance(pause, int | float):
            return answer
        await anyio.sleep(min(float(pause), _LONGEST_PAUSE))


def show_result(answer: Envelope, *, whole: bool) -> int:
    """Print the result of an execution, or say why there is none."""
    succeeded = bool(answer.get("success"))
    if whole:
        print_json(answer, compact=True)
    elif succeeded:
        tell_warnings(answer)
        print_json(answer["data"]["result"], compact=False)
    else:
        for line in _why(answer.get("error") or {}):
            complain(line)
    return OK if succeeded else FAILED


def _why(error: Mapping[str, Any]) -> Iterable[str]:
    details = error.get("details") or {}
    if details.get("status") == State.CANCELLED and not details.get("error"):
        return [f"'{details.get(EXECUTION_ID)}' was cancelled"]
    return failure_lines(details.get("error") or error)


def tell_warnings(answer: Envelope) -> None:
    """Say what an answer warns of."""
    for warning in answer.get("warnings", ()):
        complain(f"warning: {warning.get('message')}")
