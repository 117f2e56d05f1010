"""Errors are exceptions by their code, and say what a caller needs to act on."""

import pytest

from headgate.client import errors
from headgate.client.errors import AqlFailure, ConfirmationRequired, RateLimitFailure, failure_of

KINDS = {
    "VALIDATION_MISSING_PARAM": errors.ValidationFailure,
    "NOT_FOUND_RESOURCE": errors.NotFoundFailure,
    "PERMISSION_DENIED": errors.PermissionFailure,
    "CONFIRMATION_REQUIRED": errors.ConfirmationRequired,
    "CONFLICT_VERSION_MISMATCH": errors.ConflictFailure,
    "RATE_LIMIT_EXCEEDED": errors.RateLimitFailure,
    "TOKEN_EXPIRED": errors.TokenFailure,
    "INTERNAL_ERROR": errors.InternalFailure,
    "PLUGIN_NOT_FOUND": AqlFailure,
    "": AqlFailure,
}


@pytest.mark.parametrize(("code", "kind"), KINDS.items())
def test_the_category_of_a_code_is_the_kind_of_exception(code: str, kind: type[AqlFailure]) -> None:
    failure = failure_of({"code": code, "message": "so it is", "details": {"a": 1}})
    assert type(failure) is kind
    assert (failure.code, failure.message, failure.details, failure.sent) == (code, "so it is", {"a": 1}, True)
    assert str(failure) == (f"{code}: so it is" if code else "so it is")


def test_an_error_of_another_form_is_a_failure_all_the_same() -> None:
    failure = failure_of({"code": 404, "message": ["no"], "details": "none"})
    assert (failure.code, failure.message, failure.details) == ("", "the server gives no reason", {})


def test_what_must_be_confirmed_says_what_and_how() -> None:
    failure = failure_of(
        {
            "code": "CONFIRMATION_REQUIRED",
            "message": "This operation requires confirmation",
            "details": {
                "confirmation_token": "conf_1",
                "confirmation_message": "Delete it?",
                "reasons": ["It is gone then"],
                "danger_level": "destructive",
                "expires_at": "2026-11-18T12:00:00Z",
            },
        }
    )
    assert isinstance(failure, ConfirmationRequired)
    assert (failure.token, failure.approval_id, failure.question) == ("conf_1", None, "Delete it?")
    assert (failure.reasons, failure.danger_level) == (("It is gone then",), "destructive")
    assert failure.expires_at == "2026-11-18T12:00:00Z"


def test_what_stands_beside_the_error_is_taken_where_the_details_have_none() -> None:
    beside = {"token": "conf_2", "message": "Sure?", "reasons": ["because"], "expires_at": "soon"}
    failure = failure_of({"code": "CONFIRMATION_REQUIRED", "message": "wait"}, None, {"confirmation": beside})
    assert isinstance(failure, ConfirmationRequired)
    assert (failure.token, failure.question, failure.reasons, failure.expires_at) == (
        "conf_2",
        "Sure?",
        ("because",),
        "soon",
    )


def test_what_a_person_must_approve_has_no_token() -> None:
    failure = failure_of({"code": "CONFIRMATION_REQUIRED", "message": "wait", "details": {"approval_id": "appr_1"}})
    assert isinstance(failure, ConfirmationRequired)
    assert (failure.token, failure.approval_id, failure.question) == (None, "appr_1", "wait")
    assert (failure.reasons, failure.danger_level, failure.expires_at) == ((), "", None)


@pytest.mark.parametrize(("told", "seconds"), [(3, 3.0), (0.5, 0.5), (True, None), ("3", None), (None, None)])
def test_a_limit_says_when_to_try_again(told: object, seconds: float | None) -> None:
    failure = failure_of({"code": "RATE_LIMIT_EXCEEDED", "message": "x", "details": {"retry_after_seconds": told}})
    assert isinstance(failure, RateLimitFailure)
    assert (failure.retry_after, failure.token) == (seconds, None)


def test_every_exception_is_in_the_tree_that_is_drawn() -> None:
    drawn = errors.__doc__ or ""
    kinds = [name for name in errors.__all__ if isinstance(getattr(errors, name), type)]
    assert len(kinds) > 20
    assert [name for name in kinds if name not in drawn] == []
    assert all(issubclass(getattr(errors, name), errors.ClientError) for name in kinds)
