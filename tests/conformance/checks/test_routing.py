"""Endpoint Routing: what the checks hold against a server, and what not."""

from typing import Any

import pytest

from headgate.conformance.values import Verdict
from tests.conformance.checks.stall import Arguments, Twist, failure, looked_at, success

pytestmark = pytest.mark.anyio

ROUTING = (
    "routing.wrong-endpoint-refused",
    "routing.wrong-endpoint-code",
    "routing.unknown-operation-refused",
    "routing.unknown-operation-code",
    "routing.case-sensitive",
)


def _misrouted(instead: Arguments) -> Twist:
    def twist(_tool: str, _arguments: Arguments, answer: Arguments) -> Any:
        mismatch = answer.get("error", {}).get("code") == "VALIDATION_ENDPOINT_MISMATCH"
        return instead if mismatch else answer

    return twist


def _unknown(instead: Arguments) -> Twist:
    def twist(_tool: str, arguments: Arguments, answer: Arguments) -> Any:
        return instead if "no_such" in str(arguments.get("operation")) else answer

    return twist


def _shouting(_tool: str, arguments: Arguments, answer: Arguments) -> Any:
    return success([]) if str(arguments.get("operation")).isupper() else answer


def _anything(_tool: str, _arguments: Arguments, _answer: Arguments) -> Any:
    return success([])


@pytest.mark.parametrize("check", ROUTING)
async def test_a_server_that_routes_as_it_should_passes(check: str) -> None:
    assert (await looked_at(check)).verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("check", "twist", "verdict"),
    [
        pytest.param(ROUTING[0], _misrouted(success([])), Verdict.FAIL, id="a wrong endpoint answers"),
        pytest.param(ROUTING[1], _misrouted(failure("INTERNAL_ERROR")), Verdict.WARN, id="with another code"),
        pytest.param(ROUTING[1], _misrouted(failure("NOT_FOUND_OPERATION")), Verdict.WARN, id="as if it did not exist"),
        pytest.param(ROUTING[2], _unknown(success([])), Verdict.FAIL, id="an unknown operation is answered"),
        pytest.param(ROUTING[3], _unknown(failure("NOT_FOUND_RESOURCE")), Verdict.FAIL, id="a code for resources"),
        pytest.param(ROUTING[4], _shouting, Verdict.FAIL, id="letters do not count"),
    ],
)
async def test_a_fault_of_routing_is_found(check: str, twist: Twist, verdict: Verdict) -> None:
    result = await looked_at(check, twist)

    assert result.verdict is verdict
    assert result.broken[0].exchanges


@pytest.mark.parametrize(
    ("check", "twist"),
    [
        pytest.param(ROUTING[0], _misrouted(failure("INTERNAL_ERROR")), id="a breakdown is no answer"),
        pytest.param(ROUTING[0], _misrouted(failure("PERMISSION_DENIED")), id="whoever may not ask cannot see"),
        pytest.param(ROUTING[1], _misrouted(failure("PERMISSION_DENIED")), id="nor judge its code"),
        pytest.param(ROUTING[0], _anything, id="who answers everything fails elsewhere, at endpoints"),
        pytest.param(ROUTING[4], _anything, id="who answers everything fails elsewhere, at letters"),
        pytest.param(ROUTING[2], _unknown(failure("RATE_LIMIT_EXCEEDED")), id="too many requests"),
        pytest.param(ROUTING[3], _unknown(failure("RATE_LIMIT_EXCEEDED")), id="too many requests, the code"),
        pytest.param(ROUTING[3], _unknown({"success": False, "error": "no"}), id="no code is another check's matter"),
    ],
)
async def test_what_shows_nothing_is_held_against_nobody(check: str, twist: Twist) -> None:
    assert (await looked_at(check, twist)).verdict is Verdict.SKIP


@pytest.mark.parametrize("check", ROUTING[:2])
async def test_one_tool_for_everything_has_no_wrong_endpoint(check: str) -> None:
    assert (await looked_at(check, tools=("mcp_aql",))).verdict is Verdict.SKIP
