"""What the operation for steps declares; how a loop behaves is shown on the faulty server and on headgate's own."""

from typing import Any

import pytest

from headgate.conformance.checks import ALL_CHECKS
from headgate.conformance.values import Verdict
from tests.conformance.servers import opener_of_server, result_of, toy_server

STEP = "record_execution_step"
CHECK = next(check for check in ALL_CHECKS if check.id == "safety.step-parameters")


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("names", "verdict", "missing"),
    [
        (["stepDescription", "outcome"], Verdict.PASS, ""),
        (["step_description", "outcome"], Verdict.PASS, ""),
        (["step_description"], Verdict.WARN, "outcome"),
        (["outcome"], Verdict.WARN, "stepDescription"),
    ],
)
async def test_a_step_should_say_what_was_done_and_what_came_of_it(
    names: list[str], verdict: Verdict, missing: str
) -> None:
    entry = {"name": STEP, "semantic_category": "CREATE", "endpoint": "create", "description": "Report a step."}
    parameters = [{"name": name, "type": "string", "required": False} for name in names]

    def answer(_tool: str, request: Any) -> object:
        if "name" in request["params"]:
            return {"success": True, "data": {"operation": {**entry, "parameters": parameters}}}
        return {"success": True, "data": {"operations": [entry], "types": []}}

    result = await result_of(opener_of_server(toy_server(answer)), CHECK)
    assert result.verdict is verdict
    assert all(missing in finding.words for finding in result.broken)


@pytest.mark.anyio
async def test_a_server_without_the_loop_is_not_asked_for_it() -> None:
    server = toy_server(lambda _tool, _request: {"success": True, "data": {"operations": [], "types": []}})
    assert (await result_of(opener_of_server(server), CHECK)).verdict is Verdict.SKIP
