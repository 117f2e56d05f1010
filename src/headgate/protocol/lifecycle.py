"""The lifecycle of long work: its states, and the one table of what may follow what (Spec 8.4).

A client that knows the five core states alone understands every answer: each state that headgate adds stands for one of
them, and each step between added states is one of the six core transitions, or none at all.
"""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final, NamedTuple

__all__ = [
    "CORE",
    "LIVE",
    "STATES",
    "TERMINAL",
    "TRANSITIONS",
    "State",
    "Transition",
    "is_legal",
    "leading_to",
    "table",
]


class State(StrEnum):
    """Where an execution is."""

    PENDING = "pending"
    RUNNING = "running"
    RETRYING = "retrying"
    CANCELLING = "cancelling"
    STUCK = "stuck"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def core(self) -> "State":
        """The core state that it stands for (Spec 8.4.4)."""
        return STATES[self].core

    @property
    def is_terminal(self) -> bool:
        """Whether nothing follows, save the retry of what has failed (Spec 8.4.2)."""
        return self in TERMINAL


class _Row(NamedTuple):
    core: State
    meaning: str


STATES: Final[Mapping[State, _Row]] = MappingProxyType(
    {
        State.PENDING: _Row(State.PENDING, "It waits for its turn."),
        State.RUNNING: _Row(State.RUNNING, "It is being worked on."),
        State.RETRYING: _Row(State.RUNNING, "An attempt has failed or was interrupted, and another one follows."),
        State.CANCELLING: _Row(State.RUNNING, "It was asked to stop, and is cleaning up."),
        State.STUCK: _Row(State.RUNNING, "It was told to stop, and has not done so in the time that it had for it."),
        State.COMPLETED: _Row(State.COMPLETED, "It has finished, and its result is kept."),
        State.FAILED: _Row(State.FAILED, "It has ended with an error."),
        State.CANCELLED: _Row(State.CANCELLED, "It has ended because somebody wanted it to."),
    }
)

CORE: Final = tuple(state for state, row in STATES.items() if row.core is state)
TERMINAL: Final = frozenset({State.COMPLETED, State.FAILED, State.CANCELLED})
LIVE: Final = tuple(state for state in State if state not in TERMINAL)


class Transition(NamedTuple):
    """One step that an execution may take, and what takes it."""

    source: State
    target: State
    trigger: str


_CANCEL: Final = "cancel_execution, or the end of the session it is bound to"

TRANSITIONS: Final = (
    Transition(State.PENDING, State.RUNNING, "its turn comes"),
    Transition(State.PENDING, State.CANCELLED, _CANCEL),
    Transition(State.RUNNING, State.COMPLETED, "the work gives its result"),
    Transition(State.RUNNING, State.FAILED, "the work fails for good, takes too long, or is interrupted"),
    Transition(State.RUNNING, State.CANCELLED, "who worked on it is gone, and it was to be stopped"),
    Transition(State.RUNNING, State.RETRYING, "an attempt fails or is interrupted, and another one is declared"),
    Transition(State.RUNNING, State.CANCELLING, _CANCEL),
    Transition(State.RUNNING, State.STUCK, "its time is over, and it does not stop"),
    Transition(State.RETRYING, State.RUNNING, "the next attempt begins"),
    Transition(State.RETRYING, State.CANCELLED, _CANCEL),
    Transition(State.RETRYING, State.FAILED, "its session ended, and the operation says that it then fails"),
    Transition(State.CANCELLING, State.CANCELLED, "the work has cleaned up"),
    Transition(State.CANCELLING, State.COMPLETED, "the work was done before it could be stopped"),
    Transition(State.CANCELLING, State.FAILED, "its session ended, and the operation says that it then fails"),
    Transition(State.CANCELLING, State.STUCK, "the work does not stop"),
    Transition(State.STUCK, State.CANCELLED, "the work has stopped after all"),
    Transition(State.STUCK, State.COMPLETED, "the work was done after all"),
    Transition(State.STUCK, State.FAILED, "the work has ended after its time was over"),
    Transition(State.FAILED, State.RETRYING, "retry_execution"),
)

_LEGAL: Final = frozenset((one.source, one.target) for one in TRANSITIONS)


def is_legal(source: State, target: State) -> bool:
    """Whether an execution may go from one state to another."""
    return (source, target) in _LEGAL


def leading_to(target: State) -> tuple[State, ...]:
    """The states from which one may be reached."""
    return tuple(one.source for one in TRANSITIONS if one.target is target)


def table() -> dict[str, object]:
    """All states with what each stands for, and what leads from one to another, as introspection shows them."""
    return {
        "states": [
            {
                "state": state.value,
                "maps_to": row.core.value,
                "terminal": state.is_terminal,
                "description": row.meaning,
            }
            for state, row in STATES.items()
        ],
        "transitions": [
            {"from": one.source.value, "to": one.target.value, "trigger": one.trigger} for one in TRANSITIONS
        ],
    }
