"""How an operation runs that takes long: in the background, with a lifecycle of its own (Spec 8.4)."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal, TypeAlias, get_args

from headgate.protocol.adapter_errors import AdapterError
from headgate.protocol.lifecycle import CORE, State
from headgate.protocol.suggestions import did_you_mean, nearest

__all__ = [
    "EXECUTION_ID",
    "RUNS_IN_BACKGROUND",
    "STATE_OBJECT",
    "Background",
    "Interrupted",
    "SessionEnd",
    "background_from",
]

Interrupted: TypeAlias = Literal["fail", "resume"]
SessionEnd: TypeAlias = Literal["detached", "cancel", "fail"]

_DAY: Final = 86400.0

EXECUTION_ID: Final = "execution_id"
STATE_OBJECT: Final[Mapping[str, Any]] = {
    "type": "object",
    "description": "An execution of long work",
    "properties": {
        EXECUTION_ID: {"type": "string"},
        "status": {"type": "string", "enum": [state.value for state in CORE]},
        "state": {"type": "string", "description": "A state that says more than status, where there is one"},
        "operation": {"type": "string"},
        "created_at": {"type": "string", "format": "date-time"},
        "started_at": {"type": "string", "format": "date-time"},
        "finished_at": {"type": "string", "format": "date-time"},
        "progress": {
            "type": "object",
            "properties": {
                "percentage": {"type": "number"},
                "current": {"type": "number"},
                "total": {"type": "number"},
                "message": {"type": "string"},
            },
        },
        "attempt": {"type": "integer", "description": "Which attempt it is at, after the first"},
        "error": {"type": "object", "description": "Why it has failed"},
        "last_error": {"type": "object", "description": "Why the attempt before failed, where another one follows"},
    },
    "required": [EXECUTION_ID, "status"],
}

RUNS_IN_BACKGROUND: Final = (
    "It runs in the background: the call answers at once with an execution_id. Follow it with get_execution, fetch its "
    "result with get_execution_result, stop it with cancel_execution."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Background:
    """What an author declares of long work: ``@adapter.execute(background=Background(retries=3, timeout=600))``."""

    retries: int = 0
    """How often an attempt that failed is followed by another one; errors that the caller must mend are final."""
    backoff: float = 1.0
    """Seconds before the first of them; each later one waits twice as long, five minutes at most."""
    timeout: float | None = None
    """Seconds that an attempt may take."""
    concurrency: int | None = None
    """How many executions of the operation run at once, on all machines together."""
    key: str | tuple[str, ...] = ()
    """Parameters of which each set of values has one execution at a time: ``key="customer_id"``."""
    interrupted: Interrupted = "fail"
    """What becomes of it when the process that works on it dies: it fails, or runs once more from its start."""
    session: SessionEnd = "detached"
    """What becomes of it when the session that started it ends: nothing, or it is cancelled, or it fails."""
    process: bool = False
    """Whether a plain function runs in a process of its own rather than in a thread."""
    cleanup: float = 10.0
    """Seconds to clean up after it was told to stop; after that it counts as stuck, and a process is killed."""
    retry: bool = True
    """Whether a caller may run it again after it has failed."""
    keep: float = 7 * _DAY
    """Seconds for which it can be looked up, with its result, once it has ended."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", _names(self.key))
        _whole("retries", self.retries, 0)
        _whole("concurrency", self.concurrency, 1, or_none=True)
        for name in ("backoff", "cleanup", "keep"):
            _seconds(name, getattr(self, name))
        _seconds("timeout", self.timeout, or_none=True)
        _choice("interrupted", self.interrupted, get_args(Interrupted))
        _choice("session", self.session, get_args(SessionEnd))

    @property
    def keys(self) -> tuple[str, ...]:
        """The parameters that make its key."""
        return self.key if isinstance(self.key, tuple) else (self.key,)

    def lifecycle(self, *, reports: bool, hides: bool) -> dict[str, object]:
        """What introspection tells of it (Spec 8.4.5)."""
        return {
            "states": [state.value for state in State],
            "supports_cancel": True,
            "supports_retry": self.retry and not hides,
            "progress_reporting": reports,
        }

    def wire(self) -> dict[str, Any]:
        """The declaration as it is kept with each execution."""
        return {**asdict(self), "key": list(self.keys)}

    @classmethod
    def read(cls, wire: Mapping[str, Any]) -> "Background":
        """The declaration that was kept."""
        return cls(**{**wire, "key": tuple(wire["key"])})


def background_from(said: "Background | bool") -> Background | None:
    """What a decorator says, as the declaration that it means."""
    if isinstance(said, bool):
        return Background() if said else None
    if not isinstance(said, Background):
        raise AdapterError("background= must be True or a Background(…).")
    return said


def _names(key: object) -> tuple[str, ...]:
    names = (key,) if isinstance(key, str) else key
    if isinstance(names, tuple | list) and all(isinstance(name, str) for name in names):
        return tuple(names)
    raise AdapterError(f"Background key must be the name of a parameter, or several, not '{key}'.")


def _whole(name: str, value: object, least: int, *, or_none: bool = False) -> None:
    if or_none and value is None:
        return
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise AdapterError(f"Background {name} must be a whole number, {least} or more, not '{value}'.")


def _seconds(name: str, value: object, *, or_none: bool = False) -> None:
    if or_none and value is None:
        return
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value < float("inf"):
        raise AdapterError(f"Background {name} must be a number of seconds, more than 0, not '{value}'.")


def _choice(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        near = did_you_mean(nearest(value, known, 1))
        raise AdapterError(f"Background {name} must be one of {', '.join(known)}, not '{value}'{near}")
