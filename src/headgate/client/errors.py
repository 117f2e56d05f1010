"""What a client raises, one tree for everything::

    ClientError
    ├── AqlFailure                an error of MCP-AQL: code, message, details, request
    │   ├── ValidationFailure     VALIDATION_…
    │   ├── NotFoundFailure       NOT_FOUND_…
    │   ├── PermissionFailure     PERMISSION_…
    │   ├── ConfirmationRequired  CONFIRMATION_REQUIRED: token or approval_id, question, expires_at
    │   ├── ConflictFailure       CONFLICT_…
    │   ├── RateLimitFailure      RATE_LIMIT_…: retry_after, token
    │   ├── TokenFailure          TOKEN_…
    │   └── InternalFailure       INTERNAL_…
    ├── ServerError               there is no answer that MCP-AQL has a word for
    │   ├── Unreachable           no connection
    │   ├── NoAnswer              nothing came in time
    │   ├── ConnectionLost        the connection is over
    │   ├── RequestRefused        an error of JSON-RPC in place of an answer
    │   └── NotAql                a server, or an answer, of another kind
    ├── PagesRepeat               a server whose pages do not come to an end
    ├── CannotFollow              long work whose state nobody can be asked for
    ├── ExecutionEnded            long work without a result
    │   ├── ExecutionFailed       it has failed: error
    │   └── ExecutionCancelled    somebody has cancelled it
    └── Held                      a supervised agent that may not go on
        ├── Paused                until a person decides
        ├── Stopped               until it is verified out of band
        └── Unreported            something was not reported first

What the client itself can tell is wrong before it is sent, such as a parameter that is not declared, is the same error
that a strict server gives; ``sent`` is then false.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from headgate.client.requests import Request

if TYPE_CHECKING:
    from headgate.client.directives import Directive

__all__ = [
    "AqlFailure",
    "CannotFollow",
    "ClientError",
    "ConfirmationRequired",
    "ConflictFailure",
    "ConnectionLost",
    "ExecutionCancelled",
    "ExecutionEnded",
    "ExecutionFailed",
    "Held",
    "InternalFailure",
    "NoAnswer",
    "NotAql",
    "NotFoundFailure",
    "PagesRepeat",
    "Paused",
    "PermissionFailure",
    "RateLimitFailure",
    "RequestRefused",
    "ServerError",
    "Stopped",
    "TokenFailure",
    "Unreachable",
    "Unreported",
    "ValidationFailure",
    "failure_of",
]


class ClientError(Exception):
    """Whatever a client raises."""


class AqlFailure(ClientError):
    """The operation did not do what was asked, and this is why."""

    prefix: ClassVar[str] = ""

    def __init__(
        self,
        code: str,
        message: str,
        details: Mapping[str, Any] | None = None,
        *,
        request: Request | None = None,
        envelope: Mapping[str, Any] | None = None,
        sent: bool = True,
    ) -> None:
        super().__init__(f"{code}: {message}" if code else message)
        self.code = code
        """Empty where a server gave none."""
        self.message = message
        self.details: Mapping[str, Any] = details or {}
        self.request = request
        self.envelope: Mapping[str, Any] = envelope or {}
        self.sent = sent
        """False if the client noticed it by itself."""


class ValidationFailure(AqlFailure):
    """The request is wrong."""

    prefix = "VALIDATION_"


class NotFoundFailure(AqlFailure):
    """There is no such operation or resource."""

    prefix = "NOT_FOUND_"


class PermissionFailure(AqlFailure):
    """The caller may not do this."""

    prefix = "PERMISSION_"


class ConflictFailure(AqlFailure):
    """It exists already, or it was changed meanwhile."""

    prefix = "CONFLICT_"


class TokenFailure(AqlFailure):
    """A token of confirmation does not count."""

    prefix = "TOKEN_"


class InternalFailure(AqlFailure):
    """Something behind the server is broken."""

    prefix = "INTERNAL_"


class RateLimitFailure(AqlFailure):
    """Too much was asked for."""

    prefix = "RATE_LIMIT_"

    @property
    def retry_after(self) -> float | None:
        """Seconds until it makes sense to try again, where that is known."""
        seconds = self.details.get("retry_after_seconds")
        return float(seconds) if isinstance(seconds, int | float) and not isinstance(seconds, bool) else None

    @property
    def token(self) -> str | None:
        """What lets a call go on beyond a quota, once somebody agrees."""
        return _text(self.details.get("confirmation_token"))


class ConfirmationRequired(AqlFailure):
    """Somebody must agree first; nothing has happened."""

    prefix = "CONFIRMATION_"

    @property
    def token(self) -> str | None:
        """What makes the same call count as confirmed."""
        return _text(self.details.get("confirmation_token")) or _text(self._beside.get("token"))

    @property
    def approval_id(self) -> str | None:
        """What a person elsewhere must approve, where no client may confirm it."""
        return _text(self.details.get("approval_id"))

    @property
    def question(self) -> str:
        """What the person is asked."""
        said = _text(self.details.get("confirmation_message")) or _text(self._beside.get("message"))
        return said or self.message

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why it must be confirmed."""
        said = self.details.get("reasons", self._beside.get("reasons"))
        return tuple(map(str, said)) if isinstance(said, list) else ()

    @property
    def danger_level(self) -> str:
        """How dangerous it is."""
        return _text(self.details.get("danger_level")) or ""

    @property
    def expires_at(self) -> str | None:
        """Until when the token counts."""
        return _text(self.details.get("expires_at")) or _text(self._beside.get("expires_at"))

    @property
    def _beside(self) -> Mapping[str, Any]:
        beside = self.envelope.get("confirmation")
        return beside if isinstance(beside, Mapping) else {}


class ServerError(ClientError):
    """There is no answer that MCP-AQL has a word for."""


class Unreachable(ServerError):
    """No connection could be made."""


class NoAnswer(ServerError):
    """No answer came in time."""


class ConnectionLost(ServerError):
    """The connection is over."""


class RequestRefused(ServerError):
    """An error of JSON-RPC in place of an answer."""


class NotAql(ServerError):
    """The server speaks MCP but not MCP-AQL, or an answer is none."""


class PagesRepeat(ClientError):
    """The pages of a server lead back to where they were: walking on would never end."""


class CannotFollow(ClientError):
    """Long work was started, and the server declares no operation that tells or ends it."""


class ExecutionEnded(ClientError):
    """Long work has ended, and not with a result."""

    def __init__(self, message: str, execution_id: str, state: Mapping[str, Any]) -> None:
        super().__init__(message)
        self.execution_id = execution_id
        self.state = state


class ExecutionFailed(ExecutionEnded):
    """Long work has failed; ``error`` says why, where the server says it."""

    def __init__(self, message: str, execution_id: str, state: Mapping[str, Any], error: AqlFailure | None) -> None:
        super().__init__(message, execution_id, state)
        self.error = error


class ExecutionCancelled(ExecutionEnded):
    """Somebody has cancelled long work."""


class Held(ClientError):
    """A supervised agent may not do what it wants to; ``directive`` says why, where there is one."""

    def __init__(self, message: str, directive: "Directive | None" = None) -> None:
        super().__init__(message)
        self.directive = directive


class Paused(Held):
    """The agent waits until a person has decided."""


class Stopped(Held):
    """The agent is blocked until it is verified out of band."""


class Unreported(Held):
    """Something was called while an agent is supervised, and not through its run, where it is reported first."""


_KINDS: tuple[type[AqlFailure], ...] = (
    ValidationFailure,
    NotFoundFailure,
    PermissionFailure,
    ConfirmationRequired,
    ConflictFailure,
    RateLimitFailure,
    TokenFailure,
    InternalFailure,
)


def failure_of(
    error: Mapping[str, Any], request: Request | None = None, envelope: Mapping[str, Any] | None = None
) -> AqlFailure:
    """The exception for an error in an answer, by the category of its code; an unknown one is a plain AqlFailure."""
    code, details = _text(error.get("code")) or "", error.get("details")
    kind = next((kind for kind in _KINDS if code.startswith(kind.prefix)), AqlFailure)
    message = _text(error.get("message")) or "the server gives no reason"
    return kind(code, message, details if isinstance(details, Mapping) else {}, request=request, envelope=envelope)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
