"""What a request that fails is answered: a code and words that are safe, never a secret, never a trace."""

import logging
import traceback
from dataclasses import dataclass, replace
from typing import Final

import orjson

from headgate.adapter.introspection import CONFIRMATION_TOKEN, INTROSPECT
from headgate.adapter.masking import MASK, scrubbed, secrets_of
from headgate.adapter.operations import Operation
from headgate.engine import events, refusals
from headgate.engine.encoding import encode, encode_if_possible
from headgate.engine.stages import Encoded, Question, Scope
from headgate.engine.telling import Teller, about
from headgate.protocol.errors import ErrorDetail
from headgate.protocol.limits import Limits
from headgate.protocol.requests import Request
from headgate.protocol.results import Failure

__all__ = ["Failures", "has_no_room_for_details", "without_secrets"]

_LOG: Final = logging.getLogger("headgate")
_LONGEST_MESSAGE: Final = 1000


@dataclass(frozen=True, slots=True)
class Failures:
    """Makes the envelopes of requests that fail, and tells of them."""

    limits: Limits
    tell: Teller

    def refused(
        self,
        error: ErrorDetail,
        scope: Scope,
        operation: Operation | None = None,
        request: Request | None = None,
        *,
        brief: bool = False,
    ) -> Encoded:
        """The envelope of an error with a code. Secrets of the request stay out of it."""
        if operation is not None and request is not None and operation.has_secrets:
            error = without_secrets(error, secrets_of(operation, request.params))
        name = request.operation if request else None
        if brief or name == INTROSPECT:
            error = ErrorDetail(error.code, error.message)
        elif error.code.startswith("INTERNAL_"):
            error = ErrorDetail(error.code, error.message, {**(error.details or {}), **_trail(scope)})
        if self.tell.is_heard:
            self.tell(events.Refused(*about(scope), name, _without_token(error)))
        return self._failure(replace(error, confirmation=None) if scope.batched else error)

    def broken(
        self,
        error: BaseException,
        scope: Scope,
        operation: Operation | None,
        request: Request,
        *,
        brief: bool = False,
    ) -> Encoded:
        """The envelope when a handler broke. What broke is for the log alone."""
        secret = secrets_of(operation, request.params) if operation else frozenset()
        trace = scrubbed("".join(traceback.format_exception(error)), secret)
        _LOG.error("%s failed in operation '%s'\n%s", scope.request_id, request.operation, trace)
        detail = refusals.internal_error(_trail(scope))
        if brief or request.operation == INTROSPECT:
            detail = ErrorDetail(detail.code, detail.message)
        if self.tell.is_heard:
            self.tell(events.Failed(*about(scope), request.operation, detail))
        return self._failure(detail)

    def _failure(self, error: ErrorDetail) -> Encoded:
        """The envelope of a failure. Details that cannot be written, or are too many, are left out."""
        raw = encode_if_possible(Failure(error).wire())
        if raw is None or len(raw) > self.limits.max_response_size:
            _LOG.error("the details of an error with code %s could not be answered", error.code)
            raw = encode(Failure(ErrorDetail(error.code, error.message[:_LONGEST_MESSAGE])).wire())
        return Encoded(raw, error.code, _question(error), _waits_for(error))


def _question(error: ErrorDetail) -> Question | None:
    if error.confirmation is None:
        return None
    return Question(error.question, str(error.confirmation["token"]))


def _waits_for(error: ErrorDetail) -> str:
    details = error.details or {}
    return str(details.get("approval_id") or details.get("verification_id") or "")


def without_secrets(error: ErrorDetail, secrets: frozenset[str]) -> ErrorDetail:
    """The error with every secret replaced, also inside the objects that an author put into its details."""
    details = orjson.loads(encode_if_possible(error.details) or b"null")
    return replace(error, message=scrubbed(error.message, secrets), details=scrubbed(details, secrets))


def _without_token(error: ErrorDetail) -> ErrorDetail:
    """The error as others may see it: the right to the call is its caller's alone."""
    if not error.details or CONFIRMATION_TOKEN not in error.details:
        return error
    return ErrorDetail(error.code, error.message, {**error.details, CONFIRMATION_TOKEN: MASK})


def has_no_room_for_details(arguments: object, error: ErrorDetail) -> bool:
    """Whether the schema of the answer forbids them: introspection's, and a batch's unless Spec 4.7.5 demands them."""
    if not isinstance(arguments, dict):
        return False
    if "operation" in arguments:
        return bool(arguments["operation"] == INTROSPECT)
    return "operations" in arguments and error.code != "VALIDATION_PAYLOAD_TOO_LARGE"


def _trail(scope: Scope) -> dict[str, object]:
    """What lets a person find the request in the log."""
    return {"request_id": scope.request_id, "session_id": scope.session.id}
