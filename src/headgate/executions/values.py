"""What is known of an execution beyond its row: who started it, how it runs, what came of it."""

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from headgate.adapter.background import Background
from headgate.adapter.context import Caller
from headgate.protocol.errors import AqlError, ErrorDetail
from headgate.protocol.lifecycle import State
from headgate.protocol.results import Notice
from headgate.protocol.times import timestamp
from headgate.store.executions import Execution, Progress

__all__ = ["About", "Outcome", "new_id", "percentage", "read_error", "state_object", "unfit", "wire_error"]

_PREFIX: Final = "exec_"


def new_id(now: float) -> str:
    """An id that nobody can guess; in the order of ids, executions are in the order of their time."""
    return f"{_PREFIX}{int(now * 1_000_000):014x}{secrets.token_hex(10)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What stays the same from start to end."""

    caller: Caller
    request_id: str
    background: Background
    session_id: str
    audited: bool = False
    """Whether the audit tells of its start, and so of its end."""
    hides: bool = False
    """Whether some of its parameters must never be shown."""
    shown: Mapping[str, object] = field(default_factory=dict)
    """Its parameters as a person may see them."""

    def text(self) -> str:
        """As it is kept."""
        caller = self.caller
        return json.dumps(
            {
                "caller": [caller.subject, caller.client_id, sorted(caller.scopes), caller.label],
                "request_id": self.request_id,
                "background": self.background.wire(),
                "session_id": self.session_id,
                "audited": self.audited,
                "hides": self.hides,
                "shown": self.shown,
            },
            default=str,
        )

    @classmethod
    def read(cls, text: str) -> "About":
        """What was kept."""
        wire = json.loads(text)
        subject, client_id, scopes, label = wire.pop("caller")
        caller = Caller(subject, client_id, frozenset(scopes), label)
        return cls(**{**wire, "caller": caller, "background": Background.read(wire["background"])})


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a result looks like, without the result itself."""

    size: int
    pieces: int
    items: int | None = None
    """How many items it has, if it is a list."""
    warnings: tuple[Notice, ...] = ()

    def text(self) -> str:
        """As it is kept."""
        warnings = [[one.code, one.message, one.details, one.severity] for one in self.warnings]
        wire = {"size": self.size, "pieces": self.pieces, "items": self.items, "warnings": warnings}
        return json.dumps(wire, default=str)

    @classmethod
    def read(cls, text: str) -> "Outcome":
        """What was kept."""
        wire = json.loads(text)
        return cls(**{**wire, "warnings": tuple(Notice(*one) for one in wire["warnings"])})


def wire_error(error: ErrorDetail) -> str:
    """An error as it is kept; details that have no JSON form are left out."""
    try:
        return json.dumps(error.wire())
    except (TypeError, ValueError):
        return json.dumps({"code": error.code, "message": error.message})


def read_error(text: str) -> dict[str, Any]:
    """The error that was kept, as it stands in answers."""
    error: dict[str, Any] = json.loads(text)
    return error


def percentage(progress: Progress) -> float | None:
    """How much is done, if that is known."""
    current, total = progress.current, progress.total
    if current is None or not total or total < 0:
        return None
    return round(min(100.0, max(0.0, 100.0 * current / total)), 1)


def _progress(progress: Progress) -> dict[str, object]:
    said = {"current": progress.current, "total": progress.total, "message": progress.message}
    shown: dict[str, object] = {name: _plain(value) for name, value in said.items() if value is not None}
    done = percentage(progress)
    return shown if done is None else {"percentage": _plain(done), **shown}


def _plain(value: float | str) -> object:
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 2**53 else value


def state_object(execution: Execution, progress: Progress | None = None) -> dict[str, object]:
    """The state of an execution as answers have it (Spec 8.4.3)."""
    state = execution.state
    wire: dict[str, object] = {"execution_id": execution.id, "status": state.core.value}
    if state is not state.core:
        wire["state"] = state.value
    wire["operation"] = execution.operation
    wire["created_at"] = timestamp(execution.created_at)
    for name, at in (("started_at", execution.started_at), ("finished_at", execution.finished_at)):
        if at is not None:
            wire[name] = timestamp(at)
    shown = _progress(progress or execution.progress)
    if shown:
        wire["progress"] = shown
    if execution.attempt > 1:
        wire["attempt"] = execution.attempt
    if execution.error is not None:
        wire["error" if state is State.FAILED else "last_error"] = read_error(execution.error)
    return wire


def unfit(execution: Execution, message: str, **details: object) -> AqlError:
    """The refusal of something that an execution is not in the right state for."""
    status = execution.state.core.value
    more: Mapping[str, object] = {"execution_id": execution.id, "status": status, **details}
    return AqlError("CONFLICT_EXECUTION_STATE", f"The execution is {status}{message}", more)
