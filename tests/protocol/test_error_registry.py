"""The error registry and the exceptions that carry it (Spec 5.1; Structured Error Codes)."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate import AqlError, Conflict, Denied, Invalid, NotFound, RateLimited, Unavailable, VersionMismatch
from headgate.protocol.error_codes import REGISTRY, code_for_http_status, is_callers_to_repair
from headgate.protocol.errors import ErrorDetail, harmless, quoted
from tests.support import schema_errors

COMPANION_CODES = [
    "VALIDATION_MISSING_PARAM",
    "VALIDATION_INVALID_TYPE",
    "VALIDATION_UNKNOWN_PARAM",
    "VALIDATION_UNKNOWN_FIELD",
    "VALIDATION_READ_ONLY_FIELD",
    "VALIDATION_INVALID_ENUM",
    "VALIDATION_OUT_OF_RANGE",
    "VALIDATION_PATTERN_MISMATCH",
    "VALIDATION_INVALID_VALUE",
    "VALIDATION_INVALID_ENCODING",
    "VALIDATION_PAYLOAD_TOO_LARGE",
    "VALIDATION_ENDPOINT_MISMATCH",
    "NOT_FOUND_OPERATION",
    "NOT_FOUND_RESOURCE",
    "PERMISSION_DENIED",
    "PERMISSION_TRUST_LEVEL_INSUFFICIENT",
    "PERMISSION_DANGER_LEVEL_DENIED",
    "CONFIRMATION_REQUIRED",
    "RATE_LIMIT_EXCEEDED",
    "RATE_LIMIT_QUOTA_PAUSE",
    "RATE_LIMIT_QUOTA_EXHAUSTED",
    "TOKEN_INVALID",
    "TOKEN_EXPIRED",
    "TOKEN_ALREADY_USED",
    "TOKEN_SCOPE_MISMATCH",
    "CONFLICT_ALREADY_EXISTS",
    "CONFLICT_VERSION_MISMATCH",
    "INTERNAL_ERROR",
    "PLUGIN_NOT_FOUND",
    "TRANSPORT_DNS_ERROR",
    "TRANSPORT_CONNECTION_REFUSED",
    "TRANSPORT_TIMEOUT",
    "TRANSPORT_TLS_ERROR",
    "TRANSPORT_NETWORK_ERROR",
    "PROTOCOL_INVALID_MAPPING",
    "PROTOCOL_MISSING_PARAM",
    "SERIALIZATION_CIRCULAR_REF",
    "SERIALIZATION_PARSE_ERROR",
    "AUTH_CONFIG_INVALID",
    "AUTH_CREDENTIAL_MISSING",
    "SCHEMA_MISSING_FIELD",
    "SCHEMA_INVALID_TYPE",
    "SCHEMA_UNRESOLVED_REF",
    "SCHEMA_DUPLICATE_NAME",
    "SCHEMA_INVALID_NAME",
]
OWN_CODES = [
    "CONFLICT_EXECUTION_STATE",
    "CONFLICT_REFERENCED",
    "CONFLICT_ROLLED_BACK",
    "INTERNAL_INTERRUPTED",
    "INTERNAL_SESSION_ENDED",
    "INTERNAL_TIMEOUT",
]
"""What the protocol has no code for, in one of its categories, as it allows."""

TRACE = re.compile(r"at\s+\S+", re.IGNORECASE)


def test_the_registry_holds_the_codes_of_the_protocol_and_few_of_its_own() -> None:
    assert sorted(REGISTRY) == sorted(COMPANION_CODES + OWN_CODES)


@pytest.mark.parametrize("code", COMPANION_CODES + OWN_CODES)
def test_every_code_can_be_raised_and_is_documented(code: str) -> None:
    row = REGISTRY[code]
    assert AqlError(code, row.message).error.code == code == row.code
    assert row.meaning
    assert row.wire() == {
        "code": code,
        "meaning": row.meaning,
        "message": row.message,
        "details": list(row.details),
        "repairable": is_callers_to_repair(code),
    }


@pytest.mark.parametrize("row", REGISTRY.values(), ids=lambda row: row.code)
def test_no_message_of_the_registry_can_be_taken_for_a_trace(row: object) -> None:
    assert not TRACE.search(str(getattr(row, "message", "")))


@pytest.mark.parametrize(
    ("code", "repairable"),
    [
        ("VALIDATION_MISSING_PARAM", True),
        ("NOT_FOUND_RESOURCE", True),
        ("PERMISSION_DENIED", True),
        ("RATE_LIMIT_EXCEEDED", True),
        ("CONFIRMATION_REQUIRED", True),
        ("TOKEN_EXPIRED", True),
        ("CONFLICT_ALREADY_EXISTS", True),
        ("INTERNAL_ERROR", False),
        ("TRANSPORT_TIMEOUT", False),
        ("SCHEMA_INVALID_TYPE", False),
    ],
)
def test_what_the_caller_can_repair_is_no_error_of_the_tool(code: str, repairable: bool) -> None:
    assert is_callers_to_repair(code) is repairable


@pytest.mark.parametrize(
    "code", ["", "validation_x", "VALIDATION-X", "VALIDATION_x", "MY_OWN", "VALIDATION_\n", "VALIDATION_X "]
)
def test_a_code_outside_the_categories_cannot_be_raised(code: str) -> None:
    with pytest.raises(ValueError, match="is not an error code"):
        AqlError(code, "x")


def test_a_code_of_ones_own_in_a_known_category_can_be_raised() -> None:
    assert AqlError("VALIDATION_ISBN", "x").error == ErrorDetail("VALIDATION_ISBN", "x")


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (400, "VALIDATION_INVALID_TYPE"),
        (401, "PERMISSION_DENIED"),
        (403, "PERMISSION_DENIED"),
        (404, "NOT_FOUND_RESOURCE"),
        (409, "CONFLICT_ALREADY_EXISTS"),
        (418, "VALIDATION_INVALID_TYPE"),
        (422, "VALIDATION_INVALID_TYPE"),
        (429, "RATE_LIMIT_EXCEEDED"),
        (500, "INTERNAL_ERROR"),
        (503, "INTERNAL_ERROR"),
        (599, "INTERNAL_ERROR"),
    ],
)
def test_an_upstream_status_stands_for_a_code(status: int, code: str) -> None:
    assert code_for_http_status(status) == code


RAISED = [
    pytest.param(
        Invalid("isbn", "it has a wrong check digit", expected="3"),
        "VALIDATION_INVALID_VALUE",
        "Parameter 'isbn' is not valid: it has a wrong check digit",
        {"param_name": "isbn", "expected": "3"},
        id="Invalid",
    ),
    pytest.param(
        NotFound("book", "b1", shelf=2),
        "NOT_FOUND_RESOURCE",
        "Resource 'book' not found: 'b1'",
        {"resource_type": "book", "resource_id": "b1", "shelf": 2},
        id="NotFound",
    ),
    pytest.param(
        NotFound("book", 7),
        "NOT_FOUND_RESOURCE",
        "Resource 'book' not found: '7'",
        {"resource_type": "book", "resource_id": 7},
        id="NotFound by number",
    ),
    pytest.param(
        NotFound("book", "look at me"),
        "NOT_FOUND_RESOURCE",
        "Resource 'book' not found",
        {"resource_type": "book", "resource_id": "look at me"},
        id="NotFound by an odd id",
    ),
    pytest.param(
        Denied("read only", required_scope="write"),
        "PERMISSION_DENIED",
        "Permission denied: 'read only'",
        {"reason": "read only", "required_scope": "write"},
        id="Denied",
    ),
    pytest.param(
        Denied("no"), "PERMISSION_DENIED", "Permission denied: 'no'", {"reason": "no"}, id="Denied without a scope"
    ),
    pytest.param(
        Conflict("book", "b1"),
        "CONFLICT_ALREADY_EXISTS",
        "Resource 'book' already exists: 'b1'",
        {"resource_type": "book", "resource_id": "b1"},
        id="Conflict",
    ),
    pytest.param(
        Conflict("book", "b 1", "It is lent"),
        "CONFLICT_ALREADY_EXISTS",
        "It is lent",
        {"resource_type": "book", "resource_id": "b 1"},
        id="Conflict in own words",
    ),
    pytest.param(
        VersionMismatch("book", "b1", 'W/"1"'),
        "CONFLICT_VERSION_MISMATCH",
        "Resource 'book' 'b1' was changed meanwhile: read it again and retry",
        {"resource_type": "book", "resource_id": "b1", "current_etag": 'W/"1"'},
        id="VersionMismatch",
    ),
    pytest.param(
        VersionMismatch("book", "b 1", 'W/"1"'),
        "CONFLICT_VERSION_MISMATCH",
        "Resource 'book' was changed meanwhile: read it again and retry",
        {"resource_type": "book", "resource_id": "b 1", "current_etag": 'W/"1"'},
        id="VersionMismatch of an odd id",
    ),
    pytest.param(
        RateLimited(1.50, limit=5),
        "RATE_LIMIT_EXCEEDED",
        "API rate limit exceeded: retry in 1.5 seconds",
        {"retry_after_seconds": 1.5, "limit": 5},
        id="RateLimited",
    ),
    pytest.param(
        Unavailable("the library is closed", opens="9:00"),
        "INTERNAL_ERROR",
        "Internal error: 'the library is closed'",
        {"opens": "9:00"},
        id="Unavailable",
    ),
]


@pytest.mark.parametrize(("error", "code", "message", "details"), RAISED)
def test_an_exception_carries_its_code_message_and_details(
    error: AqlError, code: str, message: str, details: dict[str, object]
) -> None:
    assert error.error == ErrorDetail(code, message, details)
    assert error.error.wire() == {"code": code, "message": message, "details": details}
    assert str(error) == f"{code}: {message}"
    assert not TRACE.search(message)


@pytest.mark.parametrize(("error", "code", "message", "details"), RAISED)
def test_an_error_fits_the_schema_of_results(
    error: AqlError, code: str, message: str, details: dict[str, object]
) -> None:
    assert schema_errors({"success": False, "error": error.error.wire()}, "operation-result") == []


def test_a_version_mismatch_is_a_conflict() -> None:
    assert isinstance(VersionMismatch("book", 1, "x"), Conflict)


def test_an_error_without_details_has_none_on_the_wire() -> None:
    assert ErrorDetail("INTERNAL_ERROR", "x", {}).wire() == {"code": "INTERNAL_ERROR", "message": "x"}


@pytest.mark.parametrize("value", ["b1", "Größe", "a.b[0]", "x" * 80, 12, -1, "😀"], ids=str)
def test_a_plain_value_is_quoted(value: object) -> None:
    assert quoted(value, "odd") == f"'{value}'"


@pytest.mark.parametrize(
    "value",
    [
        *(
            "",
            " ",
            "a b",
            "x" * 81,
            "a'b",
            'a"b',
            "a`b",
            "a\\b",
            "/etc/passwd",
            "<b>",
            "a\nb",
            "a\x7f",
            "\u200b",
            "\ud800",
        ),
        *("TypeError", "KeyErrors", "Traceback", "SomeException", "main.py", "0x7f", True, None, 1.5, ["a"]),
    ],
    ids=repr,
)
def test_anything_else_is_not(value: object) -> None:
    assert quoted(value, "odd") == "odd"
    assert quoted(value) == ""


@pytest.mark.parametrize(
    "text", ["look at it", "AT\tnoon", "that x", "ValueError", "Traceback", "a.py", "/src/x", "__init__"]
)
def test_what_looks_like_a_trace_is_not_harmless(text: str) -> None:
    assert not harmless(text)


@pytest.mark.parametrize("text", ["a matter", "at", "error", "attach", "The format", "errors of python"])
def test_plain_words_are_harmless(text: str) -> None:
    assert harmless(text)


@given(st.text())
def test_what_is_quoted_can_never_be_taken_for_a_trace(text: str) -> None:
    assert not TRACE.search(f"Unknown operation: {quoted(text, '(odd)')}. Use introspect")
