"""What happens to a request, told sideways: audit, console and terminal read it; nothing on the way does."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from headgate.adapter.context import Caller
from headgate.protocol.categories import Category
from headgate.protocol.errors import ErrorDetail

__all__ = [
    "Answered",
    "Decided",
    "Event",
    "Executed",
    "Failed",
    "Listener",
    "Received",
    "Refused",
    "Validated",
]


@dataclass(frozen=True, slots=True)
class _About:
    """Which request an event is about, and whose it is."""

    request_id: str
    session_id: str
    caller: Caller


@dataclass(frozen=True, slots=True)
class Received(_About):
    """A tool call arrived; a batch says how many operations it holds. Labels are the client's words (Spec 2.3.5)."""

    endpoint: str | None
    operations: int
    labels: Mapping[str, object]
    in_session: bool = True
    """Whether the session is more than this one request."""


@dataclass(frozen=True, slots=True)
class Validated(_About):
    """The operation is known and its parameters are right. Sensitive values are masked."""

    operation: str
    category: Category
    params: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Decided(_About):
    """A gate decided: what, and by which rule."""

    operation: str
    decision: str
    rule: str = ""


@dataclass(frozen=True, slots=True)
class Executed(_About):
    """The handler ran and gave its answer."""

    operation: str
    duration_ms: float


@dataclass(frozen=True, slots=True)
class Refused(_About):
    """The request ended in an error with a code: before the handler ran, or because the handler said so."""

    operation: str | None
    error: ErrorDetail


@dataclass(frozen=True, slots=True)
class Failed(_About):
    """The handler broke; its trace is in the log under the request's id."""

    operation: str
    error: ErrorDetail


@dataclass(frozen=True, slots=True)
class Answered(_About):
    """The answer left, this large and after this time."""

    size: int
    duration_ms: float


Event: TypeAlias = Received | Validated | Decided | Executed | Refused | Failed | Answered

Listener: TypeAlias = Callable[[Event], None]
