"""Requests that are no requests, and parameters in two places: what the checks hold against a server, and what not."""

from typing import Any

import pytest

from headgate.conformance.values import Verdict
from tests.conformance.checks.stall import ITEMS, Arguments, Twist, failure, looked_at, params_in, success

pytestmark = pytest.mark.anyio

REQUIRED, TEXT, OBJECT = "requests.operation-required", "requests.operation-text", "requests.params-object"
METADATA, FIRST, BESIDE = "requests.metadata-ignored", "requests.params-first", "parameters.unknown-top-level"


def _without_operation(_tool: str, arguments: Arguments, answer: Arguments) -> Any:
    return answer if "operation" in arguments else success([])


def _odd_operation(_tool: str, arguments: Arguments, answer: Arguments) -> Any:
    return success([]) if arguments.get("operation", "there is none") in ("", 5, None) else answer


def _odd_params(_tool: str, arguments: Arguments, answer: Arguments) -> Any:
    return success([]) if isinstance(arguments.get("params"), str) else answer


def _no_metadata(_tool: str, arguments: Arguments, answer: Arguments) -> Any:
    return failure("VALIDATION_UNKNOWN_PARAM") if "_meta" in arguments else answer


def _outer_first(_tool: str, arguments: Arguments, answer: Arguments) -> Any:
    if arguments.get("operation") == "get_item" and "item_id" in arguments:
        found = next((one for one in ITEMS if one["item_id"] == arguments["item_id"]), None)
        return success(found) if found else failure("NOT_FOUND_RESOURCE")
    return answer


def _nothing_beside(_tool: str, arguments: Arguments, answer: Arguments) -> Any:
    beside = {*arguments} - {"operation", "params"}
    return failure("VALIDATION_MISSING_PARAM") if beside and "params" not in arguments else answer


def _silent_beside(_tool: str, arguments: Arguments, answer: Arguments) -> Any:
    code = answer.get("error", {}).get("code")
    return success([]) if code == "VALIDATION_UNKNOWN_PARAM" and "zz_no_such_parameter" in arguments else answer


def _silent_everywhere(_tool: str, arguments: Arguments, answer: Arguments) -> Any:
    return success([]) if "zz_no_such_parameter" in params_in(arguments) else answer


def _always_alike(_tool: str, arguments: Arguments, answer: Arguments) -> Any:
    return success("the same") if answer["success"] or "NOT_FOUND_RESOURCE" in str(answer) else answer


def _refusing_both(_tool: str, arguments: Arguments, answer: Arguments) -> Any:
    inner = arguments.get("params")
    both = isinstance(inner, dict) and any(name in arguments for name in inner)
    return failure("VALIDATION_INVALID_VALUE") if both else answer


def _coded(code: str) -> Twist:
    def twist(_tool: str, arguments: Arguments, answer: Arguments) -> Any:
        odd = not isinstance(arguments.get("operation"), str) or not arguments["operation"]
        return failure(code) if odd or "_meta" in arguments or not isinstance(arguments["params"], dict) else answer

    return twist


@pytest.mark.parametrize("check", [REQUIRED, TEXT, OBJECT, METADATA, FIRST, BESIDE])
async def test_a_server_that_reads_requests_as_it_should_passes(check: str) -> None:
    assert (await looked_at(check)).verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("check", "twist"),
    [
        pytest.param(REQUIRED, _without_operation, id="a request without an operation is answered"),
        pytest.param(TEXT, _odd_operation, id="an operation that is no name is answered"),
        pytest.param(OBJECT, _odd_params, id="a text is taken for parameters"),
        pytest.param(METADATA, _no_metadata, id="metadata is an unknown parameter"),
        pytest.param(FIRST, _outer_first, id="the top level wins"),
        pytest.param(BESIDE, _silent_beside, id="an unknown name at the top level is passed over"),
    ],
)
async def test_a_fault_in_reading_requests_is_found(check: str, twist: Twist) -> None:
    result = await looked_at(check, twist)

    assert result.verdict is Verdict.FAIL
    assert result.broken[0].exchanges


@pytest.mark.parametrize(
    ("check", "twist"),
    [
        pytest.param(FIRST, _nothing_beside, id="the top level is not taken at all"),
        pytest.param(BESIDE, _nothing_beside, id="so nothing can be unknown there"),
        pytest.param(BESIDE, _silent_everywhere, id="unknown names pass anywhere, which is another check's matter"),
        pytest.param(FIRST, _always_alike, id="all answers are the same"),
        pytest.param(FIRST, _refusing_both, id="two values are refused"),
        pytest.param(REQUIRED, _coded("INTERNAL_ERROR"), id="a breakdown without an operation"),
        pytest.param(TEXT, _coded("INTERNAL_ERROR"), id="a breakdown over an odd operation"),
        pytest.param(OBJECT, _coded("INTERNAL_ERROR"), id="a breakdown over odd parameters"),
        pytest.param(METADATA, _coded("PERMISSION_DENIED"), id="a caller who may not ask"),
    ],
)
async def test_what_shows_nothing_is_held_against_nobody(check: str, twist: Twist) -> None:
    assert (await looked_at(check, twist)).verdict is Verdict.SKIP


async def test_a_list_shows_which_of_two_counts_counted() -> None:
    def outer_count(_tool: str, arguments: Arguments, answer: Arguments) -> Any:
        counted = "first" in arguments and answer["success"]
        return success({"items": ITEMS[: arguments["first"]], "state": "new"}) if counted else answer

    listing = [
        {"name": "state", "type": "string", "required": True, "enum": ["new"]},
        {"name": "first", "type": "integer", "required": False},
    ]

    assert (await looked_at(FIRST, outer_count, details={"list_items": listing})).verdict is Verdict.FAIL
