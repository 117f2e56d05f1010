"""The error codes as data: what each means, how its message reads, and who can repair it (Structured Error Codes)."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

__all__ = ["CATEGORIES", "REGISTRY", "REPAIRABLE", "CodeRow", "code_for_http_status", "is_callers_to_repair"]


@dataclass(frozen=True, slots=True)
class CodeRow:
    """One code: what it means, how its message reads, and what its details hold."""

    code: str
    meaning: str
    message: str
    details: tuple[str, ...] = ()

    def wire(self) -> dict[str, object]:
        """The row as ``introspect {query: "errors"}`` shows it."""
        return {
            "code": self.code,
            "meaning": self.meaning,
            "message": self.message,
            "details": list(self.details),
            "repairable": is_callers_to_repair(self.code),
        }


def _row(code: str, meaning: str, message: str, details: str = "") -> CodeRow:
    return CodeRow(code, meaning, message, tuple(details.split()))


_ROWS: Final = (
    _row(
        "VALIDATION_MISSING_PARAM",
        "A required parameter was not given",
        "Missing required parameter '{name}'. Expected: {type} ({description})",
        "param_name operation",
    ),
    _row(
        "VALIDATION_INVALID_TYPE",
        "A value is not of the declared type",
        "Parameter '{name}' expected '{type}', got '{type}'",
        "param_name expected_type actual_type",
    ),
    _row(
        "VALIDATION_UNKNOWN_PARAM",
        "The operation has no such parameter",
        "Unknown parameter(s) for operation '{operation}': {names}",
        "operation unknown_params valid_params",
    ),
    _row(
        "VALIDATION_UNKNOWN_FIELD",
        "An object has no such field",
        "Unknown field(s) in '{name}' for operation '{operation}': {names}",
        "operation unknown_fields valid_fields",
    ),
    _row(
        "VALIDATION_READ_ONLY_FIELD",
        "The field can be read but not changed",
        "Field '{name}' is read-only and cannot be updated",
        "operation field",
    ),
    _row(
        "VALIDATION_INVALID_ENUM",
        "The value is not one of the allowed ones",
        "Parameter '{name}' must be one of: {values}",
        "param_name allowed_values",
    ),
    _row(
        "VALIDATION_OUT_OF_RANGE",
        "A number, length or count is outside its bounds",
        "Parameter '{name}' must be {bounds}",
        "param_name minimum maximum",
    ),
    _row(
        "VALIDATION_PATTERN_MISMATCH",
        "A text does not have the demanded form",
        "Parameter '{name}' must match the pattern '{pattern}'",
        "param_name pattern",
    ),
    _row(
        "VALIDATION_INVALID_VALUE",
        "The value breaks another rule of the operation",
        "Parameter '{name}' is not valid: {rule}",
        "param_name",
    ),
    _row(
        "VALIDATION_INVALID_ENCODING",
        "The text is not UTF-8, or holds characters that are not allowed",
        "Invalid character encoding in request",
        "location byte_offset",
    ),
    _row(
        "VALIDATION_PAYLOAD_TOO_LARGE",
        "A size limit is exceeded",
        "Payload exceeds {limit_type} limit of {limit}",
        "limit_type limit_value actual_value unit",
    ),
    _row(
        "VALIDATION_ENDPOINT_MISMATCH",
        "The operation belongs to another endpoint",
        "Operation '{operation}' must be called via {tool}, not {tool}",
        "operation expected_endpoint actual_endpoint",
    ),
    _row(
        "NOT_FOUND_OPERATION",
        "There is no such operation",
        "Unknown operation: '{operation}'",
        "operation available",
    ),
    _row(
        "NOT_FOUND_RESOURCE",
        "There is no such resource",
        "Resource '{type}' not found: '{id}'",
        "resource_type resource_id",
    ),
    _row(
        "PERMISSION_DENIED",
        "The caller may not do this",
        "Permission denied: '{reason}'",
        "reason required_scope",
    ),
    _row(
        "PERMISSION_TRUST_LEVEL_INSUFFICIENT",
        "The adapter is not trusted enough",
        "Operation '{operation}' requires trust level '{required}', adapter has '{actual}'",
        "operation required_trust actual_trust danger_level",
    ),
    _row(
        "PERMISSION_DANGER_LEVEL_DENIED",
        "The operation is too dangerous for the adapter's trust",
        "Operation '{operation}' (danger: {danger}) denied for adapter trust level '{trust}'",
        "operation danger_level adapter_trust minimum_trust_required reasons",
    ),
    _row(
        "CONFIRMATION_REQUIRED",
        "The operation waits for an explicit confirmation",
        "This operation requires confirmation",
        "operation danger_level reasons confirmation_message confirmation_token expires_at",
    ),
    _row(
        "RATE_LIMIT_EXCEEDED",
        "Too many requests in a time",
        "API rate limit exceeded",
        "limit remaining window resets_at retry_after_seconds",
    ),
    _row(
        "RATE_LIMIT_QUOTA_PAUSE",
        "A quota asks for a confirmation before more is used",
        "Quota pause threshold reached",
        "metric current pause_threshold hard_stop_threshold confirmation_token expires_at",
    ),
    _row(
        "RATE_LIMIT_QUOTA_EXHAUSTED",
        "A quota is used up",
        "Quota exhausted",
        "metric current hard_stop_threshold resets_at",
    ),
    _row("TOKEN_INVALID", "The token is unknown", "The token is not valid", "token"),
    _row("TOKEN_EXPIRED", "The token is too old", "The token has expired", "token expired_at current_time"),
    _row("TOKEN_ALREADY_USED", "The token was used before", "The token was already used", "token consumed_at"),
    _row(
        "TOKEN_SCOPE_MISMATCH",
        "The token was given for another call",
        "The token was issued for another operation or other parameters",
        "token token_operation requested_operation",
    ),
    _row(
        "CONFLICT_ALREADY_EXISTS",
        "There is already such a resource",
        "Resource '{type}' already exists: '{id}'",
        "resource_type resource_id",
    ),
    _row(
        "CONFLICT_VERSION_MISMATCH",
        "The resource changed since it was read",
        "Resource '{type}' was changed meanwhile: read it again and retry",
        "resource_type resource_id current_etag",
    ),
    _row(
        "CONFLICT_REFERENCED",
        "Other resources refer to the one that would go",
        "Resource '{type}' is still referred to by others: remove or change those first",
        "resource_type",
    ),
    _row(
        "CONFLICT_ROLLED_BACK",
        "Another operation of the same transaction failed, so this one was undone or not begun",
        "The operation was undone, since operation {index} of the same transaction failed",
        "failed_index",
    ),
    _row(
        "CONFLICT_EXECUTION_STATE",
        "The execution is not in a state in which this can be done",
        "The execution is {status}, so {what} is not possible",
        "execution_id status error",
    ),
    _row(
        "INTERNAL_TIMEOUT",
        "The work took longer than its operation allows",
        "The work took longer than {seconds} seconds",
        "timeout_seconds",
    ),
    _row(
        "INTERNAL_INTERRUPTED",
        "The process that did the work ended before it was done",
        "The work was interrupted",
        "",
    ),
    _row(
        "INTERNAL_SESSION_ENDED",
        "The session that the work was bound to ended before it was done",
        "The session of the work has ended",
        "",
    ),
    _row(
        "INTERNAL_ERROR",
        "The server failed; the request may be right",
        "Internal error: '{words}'",
        "request_id",
    ),
    *(
        _row(
            f"SCHEMA_{name}",
            meaning,
            "{field}: expected {expected}, found {found}",
            "path expected found fix",
        )
        for name, meaning in (
            ("MISSING_FIELD", "An adapter file lacks a field"),
            ("INVALID_TYPE", "A field of an adapter file has the wrong type"),
            ("UNRESOLVED_REF", "A reference in an adapter file leads nowhere"),
            ("DUPLICATE_NAME", "A name stands twice in an adapter file"),
            ("INVALID_NAME", "A name in an adapter file has the wrong form"),
        )
    ),
    _row(
        "PLUGIN_NOT_FOUND",
        "A plugin named by an adapter is not there",
        "Plugin '{name}' not found",
        "plugin",
    ),
    *(
        _row(f"TRANSPORT_{name}", meaning, meaning, "target")
        for name, meaning in (
            ("DNS_ERROR", "The upstream host name could not be resolved"),
            ("CONNECTION_REFUSED", "The upstream refused the connection"),
            ("TIMEOUT", "The upstream did not answer in time"),
            ("TLS_ERROR", "The upstream's certificate or encryption failed"),
            ("NETWORK_ERROR", "The connection to the upstream broke"),
        )
    ),
    _row(
        "PROTOCOL_INVALID_MAPPING",
        "An operation is mapped to no upstream request",
        "Invalid mapping",
        "mapping",
    ),
    _row(
        "PROTOCOL_MISSING_PARAM",
        "An upstream path lacks a parameter",
        "Missing parameter '{name}'",
        "param_name",
    ),
    _row("SERIALIZATION_CIRCULAR_REF", "A value refers to itself", "The value refers to itself", "path"),
    _row(
        "SERIALIZATION_PARSE_ERROR",
        "An upstream answer cannot be read",
        "The answer cannot be read",
        "position",
    ),
    _row(
        "AUTH_CONFIG_INVALID",
        "The credentials are set up wrongly",
        "Invalid authentication settings",
        "setting",
    ),
    _row("AUTH_CREDENTIAL_MISSING", "A credential is not set", "The credential '{name}' is not set", "variable"),
)

REGISTRY: Final[Mapping[str, CodeRow]] = MappingProxyType({row.code: row for row in _ROWS})
"""Every code that headgate answers with."""

REPAIRABLE: Final = (
    "VALIDATION_",
    "NOT_FOUND_",
    "PERMISSION_",
    "RATE_LIMIT_",
    "CONFIRMATION_",
    "TOKEN_",
    "CONFLICT_",
)
CATEGORIES: Final = (
    *REPAIRABLE,
    "SCHEMA_",
    "INTERNAL_",
    "PLUGIN_",
    "TRANSPORT_",
    "PROTOCOL_",
    "SERIALIZATION_",
    "AUTH_",
)
"""The words that every code begins with."""


def is_callers_to_repair(code: str) -> bool:
    """Whether the caller can mend this itself; the rest is an error of the tool in MCP's sense."""
    return code.startswith(REPAIRABLE)


def code_for_http_status(status: int) -> str:
    """The code that an upstream HTTP status stands for."""
    if status >= 500:
        return "INTERNAL_ERROR"
    return _HTTP_CODES.get(status, "VALIDATION_INVALID_TYPE")


_HTTP_CODES: Final = {
    401: "PERMISSION_DENIED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND_RESOURCE",
    409: "CONFLICT_ALREADY_EXISTS",
    429: "RATE_LIMIT_EXCEEDED",
}
