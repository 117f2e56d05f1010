"""Parameter Handling: what the checks hold against a server, and what not."""

from typing import Any

import pytest

from headgate.conformance.values import Verdict
from tests.conformance.checks.stall import Arguments, Twist, failure, looked_at, params_in, success

pytestmark = pytest.mark.anyio

NAMES = (
    "missing-refused",
    "missing-code",
    "wrong-type-refused",
    "wrong-type-code",
    "unknown-refused",
    "unknown-code",
    "unknown-details",
    "constraints-enforced",
    "order",
)
ALL = frozenset({"CREATE", "UPDATE", "DELETE", "EXECUTE"})
NONSENSE = "zz_no_such_parameter"


def instead_of(code: str, instead: Arguments) -> Twist:
    """Another answer wherever a request is refused with a code."""

    def twist(_tool: str, _arguments: Arguments, answer: Arguments) -> Any:
        return instead if answer.get("error", {}).get("code") == code else answer

    return twist


MISSING, TYPE, UNKNOWN = "VALIDATION_MISSING_PARAM", "VALIDATION_INVALID_TYPE", "VALIDATION_UNKNOWN_PARAM"
RANGE, ENUM = "VALIDATION_OUT_OF_RANGE", "VALIDATION_INVALID_ENUM"


def _unknown_first(_tool: str, arguments: Arguments, answer: Arguments) -> Any:
    return failure(UNKNOWN) if NONSENSE in params_in(arguments) else answer


def _not_found(_tool: str, arguments: Arguments, answer: Arguments) -> Any:
    """Everything that is asked for is not there, whatever else is wrong."""
    return failure("NOT_FOUND_RESOURCE") if arguments.get("operation") in ("get_item", "find_items") else answer


def _clamped(_tool: str, arguments: Arguments, answer: Arguments) -> Any:
    many = params_in(arguments).get("first")
    return {**success([]), "warnings": [{"code": "X"}]} if isinstance(many, int) and many > 4 else answer


@pytest.mark.parametrize("allowed", [frozenset(), ALL], ids=["only READ", "everything allowed"])
@pytest.mark.parametrize("name", NAMES)
async def test_a_server_that_takes_what_it_declares_passes(name: str, allowed: frozenset[str]) -> None:
    assert (await looked_at(f"parameters.{name}", allowed=allowed)).verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("name", "twist", "verdict"),
    [
        pytest.param("missing-refused", instead_of(MISSING, success([])), Verdict.FAIL, id="required is optional"),
        pytest.param("missing-code", instead_of(MISSING, failure(TYPE)), Verdict.FAIL, id="missing is a wrong type"),
        pytest.param("wrong-type-refused", instead_of(TYPE, success([])), Verdict.FAIL, id="any type is taken"),
        pytest.param("wrong-type-code", instead_of(TYPE, failure(RANGE)), Verdict.FAIL, id="a type has another code"),
        pytest.param("wrong-type-code", instead_of(TYPE, failure("INTERNAL_ERROR")), Verdict.FAIL, id="types break it"),
        pytest.param("unknown-refused", instead_of(UNKNOWN, success([])), Verdict.FAIL, id="unknown is passed over"),
        pytest.param("unknown-code", instead_of(UNKNOWN, failure(TYPE)), Verdict.FAIL, id="unknown has another code"),
        pytest.param("unknown-details", instead_of(UNKNOWN, failure(UNKNOWN)), Verdict.WARN, id="no details"),
        pytest.param(
            "unknown-details", instead_of(UNKNOWN, failure(UNKNOWN, operation="x")), Verdict.WARN, id="no names"
        ),
        pytest.param(
            "unknown-details",
            instead_of(UNKNOWN, failure(UNKNOWN, operation="x", unknown_params=[NONSENSE])),
            Verdict.WARN,
            id="no right names",
        ),
        pytest.param("constraints-enforced", instead_of(RANGE, success([])), Verdict.FAIL, id="bounds are not kept"),
        pytest.param("constraints-enforced", instead_of(ENUM, success([])), Verdict.FAIL, id="choices are not kept"),
        pytest.param("order", _unknown_first, Verdict.PASS, id="unknown names may be looked for first"),
    ],
)
async def test_a_fault_is_found(name: str, twist: Twist, verdict: Verdict) -> None:
    result = await looked_at(f"parameters.{name}", twist)

    assert result.verdict is verdict
    assert result.broken
    assert all(
        (finding.exchanges and "expected" in finding.words) or "details" in finding.words for finding in result.broken
    )


@pytest.mark.parametrize(
    ("name", "twist"),
    [
        pytest.param("missing-refused", instead_of(MISSING, failure("CONFIRMATION_REQUIRED")), id="a person is asked"),
        pytest.param("missing-refused", instead_of(MISSING, failure("INTERNAL_ERROR")), id="it breaks down"),
        pytest.param("missing-code", instead_of(MISSING, failure("PERMISSION_DENIED")), id="nobody may ask"),
        pytest.param("missing-code", instead_of(MISSING, {"success": False, "error": "no"}), id="there is no code"),
        pytest.param("missing-code", instead_of(MISSING, success([])), id="nothing is refused"),
        pytest.param("missing-code", _not_found, id="the right request is not found either"),
        pytest.param("wrong-type-code", instead_of(TYPE, success([])), id="no type is refused"),
        pytest.param("wrong-type-refused", instead_of(TYPE, failure("NOT_FOUND_RESOURCE")), id="it is looked up"),
        pytest.param("wrong-type-code", instead_of(TYPE, failure(UNKNOWN)), id="its name is not known"),
        pytest.param(
            "wrong-type-code", instead_of(TYPE, failure(MISSING, "'other' is missing")), id="another is missing"
        ),
        pytest.param("wrong-type-code", instead_of(TYPE, failure(MISSING, param_name="other")), id="another is needed"),
        pytest.param("unknown-code", instead_of(UNKNOWN, success([])), id="no name is refused"),
        pytest.param("unknown-details", instead_of(UNKNOWN, failure(TYPE)), id="details of another code"),
        pytest.param("order", instead_of(MISSING, failure(TYPE)), id="one fault has another code already"),
    ],
)
async def test_what_shows_nothing_fails_nothing(name: str, twist: Twist) -> None:
    assert (await looked_at(f"parameters.{name}", twist)).verdict in (Verdict.SKIP, Verdict.PASS)
    assert not (await looked_at(f"parameters.{name}", twist)).broken


async def test_a_count_that_is_cut_with_a_warning_is_no_fault() -> None:
    assert not (await looked_at("parameters.constraints-enforced", _clamped)).broken


async def test_where_types_are_taken_at_all_a_later_failure_is_no_wrong_code() -> None:
    def careless(_tool: str, arguments: Arguments, answer: Arguments) -> Any:
        wrong = answer.get("error", {}).get("code") == TYPE
        later = failure("INTERNAL_ERROR") if arguments["operation"] == "get_item" else success([])
        return later if wrong else answer

    assert (await looked_at("parameters.wrong-type-refused", careless)).verdict is Verdict.FAIL
    assert not (await looked_at("parameters.wrong-type-code", careless)).broken


async def test_an_operation_whose_parameters_cannot_be_made_must_still_refuse_none_at_all() -> None:
    secret = [{"name": "item_id", "type": "Secret", "required": True}]
    twist = instead_of(MISSING, success([]))

    assert (await looked_at("parameters.missing-refused", twist, details={"get_item": secret})).verdict is Verdict.FAIL


async def test_what_changes_something_is_only_asked_to_pretend() -> None:
    seen: list[Arguments] = []

    def noting(_tool: str, arguments: Arguments, answer: Arguments) -> Any:
        if arguments.get("operation") == "create_item":
            seen.append(params_in(arguments))
        return answer

    for name in ("missing-refused", "wrong-type-refused", "unknown-refused", "constraints-enforced"):
        await looked_at(f"parameters.{name}", noting, allowed=ALL)

    assert seen
    assert all(params["dry_run"] is True for params in seen)


async def test_nothing_that_changes_something_is_asked_unless_it_is_allowed() -> None:
    seen: list[str] = []

    def noting(_tool: str, arguments: Arguments, answer: Arguments) -> Any:
        seen.append(arguments["operation"])
        return answer

    for name in NAMES:
        await looked_at(f"parameters.{name}", noting)

    assert "get_item" in seen
    assert "create_item" not in seen
