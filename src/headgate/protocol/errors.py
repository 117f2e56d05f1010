"""The exceptions that carry an error to the caller (Spec 5.1).

What an author raises, and the code that the caller sees::

    AqlError                      any code of the registry
    ├── Invalid                   VALIDATION_INVALID_VALUE
    ├── NotFound                  NOT_FOUND_RESOURCE
    ├── Denied                    PERMISSION_DENIED
    ├── Conflict                  CONFLICT_ALREADY_EXISTS
    │   └── VersionMismatch       CONFLICT_VERSION_MISMATCH
    ├── RateLimited               RATE_LIMIT_EXCEEDED
    └── Unavailable               INTERNAL_ERROR, with words that are safe to show

Every other exception of a handler becomes INTERNAL_ERROR, and its text stays in the log.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from headgate.protocol.error_codes import CATEGORIES, REPAIRABLE

__all__ = [
    "AqlError",
    "ConfirmationRequired",
    "Conflict",
    "Denied",
    "ErrorDetail",
    "Invalid",
    "NotFound",
    "RateLimited",
    "Unavailable",
    "VersionMismatch",
    "harmless",
    "quoted",
    "retry_in",
]


_CODE: Final = re.compile(r"[A-Z][A-Z0-9_]*\Z")
_PLAIN: Final = re.compile(r"[^\s'\"`\\/<>\x00-\x1f\x7f]{1,80}\Z")
_LIKE_A_TRACE: Final = re.compile(r"(?i:at\s)|[a-z]Error|Exception|Traceback|__\w+__|\.py\b|\b0x|/src/")


def quoted(value: object, otherwise: str = "") -> str:
    """A value in single quotes if it is short and plain, so that a message can never be abused; else the fallback."""
    text = str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""
    return f"'{text}'" if _PLAIN.match(text) and text.isprintable() and harmless(text) else otherwise


def harmless(text: str) -> bool:
    """Whether a text can stand in a message without being taken for part of a program's trace."""
    return _LIKE_A_TRACE.search(text) is None


@dataclass(frozen=True, slots=True)
class ErrorDetail:
    """A code, a message for people, and what else helps to repair the request."""

    code: str
    message: str
    details: Mapping[str, object] | None = None
    confirmation: Mapping[str, object] | None = None
    """What a client needs to confirm; it stands beside the error in the answer."""
    question: str = ""
    """All that a host's user is asked before that; it is no part of the answer."""

    def wire(self) -> dict[str, object]:
        """The error as it stands in an answer."""
        wire: dict[str, object] = {"code": self.code, "message": self.message}
        if self.details:
            wire["details"] = dict(self.details)
        return wire


class AqlError(Exception):
    """A failure with a code, which the caller gets as a structured error."""

    def __init__(self, code: str, message: str, details: Mapping[str, object] | None = None) -> None:
        if not _CODE.match(code) or not code.startswith(CATEGORIES):
            raise ValueError(
                f"'{code}' is not an error code: use one of the registry, or one that starts with a known "
                f"category such as {', '.join(REPAIRABLE)}."
            )
        super().__init__(f"{code}: {message}")
        self.error = ErrorDetail(code, message, details)


class ConfirmationRequired(AqlError):
    """The call waits for a confirmation, of an operation or to go on beyond a quota."""

    def __init__(
        self,
        message: str,
        details: Mapping[str, object],
        confirmation: Mapping[str, object] | None = None,
        *,
        question: str = "",
        code: str = "CONFIRMATION_REQUIRED",
    ) -> None:
        super().__init__(code, message, details)
        self.error = ErrorDetail(code, message, details, confirmation, question)


class Invalid(AqlError):
    """A parameter's value is of the right type but breaks a rule that only the handler knows."""

    def __init__(self, param_name: str, rule: str, **details: object) -> None:
        super().__init__(
            "VALIDATION_INVALID_VALUE",
            f"Parameter '{param_name}' is not valid: {rule}",
            {"param_name": param_name, **details},
        )


class NotFound(AqlError):
    """The resource that was asked for does not exist."""

    def __init__(self, resource_type: str, resource_id: object, **details: object) -> None:
        shown = quoted(resource_id)
        super().__init__(
            "NOT_FOUND_RESOURCE",
            f"Resource '{resource_type}' not found" + (f": {shown}" if shown else ""),
            {"resource_type": resource_type, "resource_id": resource_id, **details},
        )


class Denied(AqlError):
    """The caller may not do this."""

    def __init__(self, reason: str, *, required_scope: str | None = None, **details: object) -> None:
        scope = {"required_scope": required_scope} if required_scope else {}
        super().__init__("PERMISSION_DENIED", f"Permission denied: '{reason}'", {"reason": reason, **scope, **details})


class Conflict(AqlError):
    """Something of that identity exists already."""

    def __init__(self, resource_type: str, resource_id: object, message: str = "", **details: object) -> None:
        shown = quoted(resource_id)
        super().__init__(
            "CONFLICT_ALREADY_EXISTS",
            message or f"Resource '{resource_type}' already exists" + (f": {shown}" if shown else ""),
            {"resource_type": resource_type, "resource_id": resource_id, **details},
        )


class VersionMismatch(Conflict):
    """The resource changed since the caller read it: ``if_match`` is stale (Spec 9.3.2)."""

    def __init__(self, resource_type: str, resource_id: object, current_etag: str) -> None:
        shown = quoted(resource_id)
        AqlError.__init__(
            self,
            "CONFLICT_VERSION_MISMATCH",
            f"Resource '{resource_type}'{f' {shown}' if shown else ''} was changed meanwhile: read it again and retry",
            {"resource_type": resource_type, "resource_id": resource_id, "current_etag": current_etag},
        )


def retry_in(seconds: float) -> str:
    """When to try again, in words; of the very number that stands in the details, so that neither is too early."""
    return f"retry in {seconds:.15g} seconds"


class RateLimited(AqlError):
    """The caller, or this server towards its upstream, asks too often."""

    def __init__(self, retry_after_seconds: float, **details: object) -> None:
        super().__init__(
            "RATE_LIMIT_EXCEEDED",
            f"API rate limit exceeded: {retry_in(retry_after_seconds)}",
            {"retry_after_seconds": retry_after_seconds, **details},
        )


class Unavailable(AqlError):
    """Something behind the server failed; the words are the author's and safe to show."""

    def __init__(self, words: str, **details: object) -> None:
        super().__init__("INTERNAL_ERROR", f"Internal error: '{words}'", details)
