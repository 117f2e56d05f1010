"""What each stage of the pipeline gives to the next. Only the stage before can make it, so none can be skipped."""

from collections.abc import Mapping
from typing import NamedTuple

from headgate.adapter.context import Caller, Progress, Session
from headgate.adapter.operations import Operation
from headgate.protocol.requests import Request
from headgate.protocol.results import Notice

__all__ = ["Call", "Encoded", "Outcome", "Permitted", "Reply", "Routed", "Scope"]


class Scope(NamedTuple):
    """Where a request comes from: through which endpoint family, from whom, in which session."""

    request_id: str
    endpoint: str | None
    caller: Caller
    session: Session
    progress: Progress | None = None


class Routed(NamedTuple):
    """A request whose operation is known and was called through the right endpoint."""

    request: Request
    operation: Operation


class Call(NamedTuple):
    """An operation with parameters that are right: typed and defaulted, and as they were given."""

    operation: Operation
    values: dict[str, object]
    given: Mapping[str, object]
    warnings: tuple[Notice, ...]


class Permitted(NamedTuple):
    """A call that the gate lets pass."""

    call: Call


class Outcome(NamedTuple):
    """What a handler gave, and the warnings that it added."""

    call: Call
    data: object
    warnings: tuple[Notice, ...]


class Encoded(NamedTuple):
    """One envelope as JSON, and the code if it tells of a failure."""

    raw: bytes
    code: str | None = None


class Reply(NamedTuple):
    """What a tool call gets: one JSON text, and whether it tells of an error that the caller cannot repair."""

    text: str
    failed: bool
    is_error: bool
    request_id: str
