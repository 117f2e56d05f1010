"""What each stage of the pipeline gives to the next. Only the stage before can make it, so none can be skipped."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Final, NamedTuple

from headgate.adapter.contents import Part
from headgate.adapter.context import AskUser, Caller, Progress, Session
from headgate.adapter.operations import Operation
from headgate.protocol.requests import Request
from headgate.protocol.results import Notice
from headgate.safety.gatekeeper import Admission

__all__ = ["NO_CONTROLS", "Call", "Controls", "Encoded", "Outcome", "Permitted", "Question", "Reply", "Routed", "Scope"]


class Scope(NamedTuple):
    """Where a request comes from: through which endpoint family, from whom, in which session."""

    request_id: str
    endpoint: str | None
    caller: Caller
    session: Session
    progress: Progress | None = None
    asks_user: bool = False
    """Whether the host can ask its user, so that the model itself never gets a token."""
    batched: bool = False
    """Whether it is one of several, for which nobody can be asked."""
    unsettled: list[Callable[[bool], Awaitable[None]]] | None = None
    """What is written down of each operation only when it is known whether all of them are kept."""
    ask_user: AskUser | None = None
    """How a handler may ask the user of whoever calls."""
    attaches: bool = False
    """Whether pictures and sounds can be sent beside the answer."""


class Routed(NamedTuple):
    """A request whose operation is known and was called through the right endpoint."""

    request: Request
    operation: Operation


class Controls(NamedTuple):
    """What comes with a call for the gate alone, and never reaches a handler."""

    token: str | None = None
    quota_token: str | None = None


NO_CONTROLS: Final = Controls()


class Call(NamedTuple):
    """An operation with parameters that are right: typed and defaulted, and as they were given."""

    operation: Operation
    values: dict[str, object]
    given: Mapping[str, object]
    warnings: tuple[Notice, ...]
    controls: Controls = NO_CONTROLS
    dry_run: bool = False


class Permitted(NamedTuple):
    """A call that the gate lets pass, and under what; without a guard, or where nothing concerns it, under nothing."""

    call: Call
    admission: Admission | None = None


class Outcome(NamedTuple):
    """What a handler gave, the warnings that it added, and how long it took."""

    call: Call
    data: object
    warnings: tuple[Notice, ...] = ()
    duration_ms: float | None = None
    """None if no handler was called."""
    execution: str = ""
    """The execution that was started, if the call only starts its work."""


class Question(NamedTuple):
    """What a host's user is asked, and the token under which the call runs if they agree."""

    text: str
    token: str


class Encoded(NamedTuple):
    """One envelope as JSON, and the code if it tells of a failure."""

    raw: bytes
    code: str | None = None
    question: Question | None = None
    waits_for: str = ""
    execution: str = ""
    attachments: tuple[Part, ...] = ()


class Reply(NamedTuple):
    """What a tool call gets: one JSON text, and whether it tells of an error that the caller cannot repair."""

    text: str
    failed: bool
    is_error: bool
    request_id: str
    question: Question | None = None
    """What to ask the user, if the call waits for a confirmation that the client may give."""
    waits_for: str = ""
    """The approval or the challenge that a person must decide about elsewhere, if the call waits for that."""
    execution: str = ""
    """The execution that the call has started, if it was a call alone and its work goes on in the background."""
    attachments: tuple[Part, ...] = ()
    """What is sent beside the text, where the caller can take it."""
    session_id: str = ""
    """The session in which it was answered."""
