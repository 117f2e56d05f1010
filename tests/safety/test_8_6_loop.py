"""Section 8.6: agents report what they are about to do, and the answer counts."""

from collections.abc import AsyncIterator

import pytest

from headgate import Session
from tests.safety.guarding import code_of
from tests.safety.supervising import DEADLY, GRAVE, HARMLESS, RISKY, Supervised, supervised

pytestmark = pytest.mark.anyio

MODES = ("enforcing", "monitoring", "logging", "disabled")


def mode(name: str, *more: str) -> str:
    return "\n".join(["[autonomy]", f'mode = "{name}"', 'start = "free"', *more, ""])


@pytest.fixture
async def agent() -> AsyncIterator[Supervised]:
    """One agent at work, whose loop is enforced."""
    async with supervised() as found:
        await found.start()
        yield found


# 8.6.1 and 8.6.7: what introspection says


@pytest.mark.proves(
    "spec-8.6.1-safety-loop-support-documented",
    "spec-8.6.1-safety-loop-capability-value",
    "spec-8.6.7-enforcement-state-in-introspection",
)
@pytest.mark.parametrize("name", MODES)
async def test_introspection_says_how_far_the_loop_goes(name: str) -> None:
    async with supervised(mode(name)) as found:
        info = (await found.call("introspect", {"query": "operations"}))["data"]["_protocol"]
        assert info["capabilities"]["execution_safety_loop"] == name
        told = (await found.call("introspect", {"query": "safety_loop"}))["data"]
        assert told["execution_safety_loop"] == name


async def test_the_six_operations_stand_on_the_endpoints_of_the_specification() -> None:
    async with supervised() as found:
        listed = (await found.call("introspect", {"query": "operations"}))["data"]["operations"]
        where = {one["name"]: one["semantic_category"] for one in listed}
        assert (
            where.items()
            >= {
                "execute_agent": "EXECUTE",
                "record_execution_step": "CREATE",
                "complete_execution": "EXECUTE",
                "abort_execution": "EXECUTE",
                "confirm_operation": "EXECUTE",
                "verify_challenge": "CREATE",
            }.items()
        )


# 8.6.2 and 8.6.3: reports


@pytest.mark.proves("spec-8.6.2-every-report-is-evaluated", "spec-8.7.1-directive-has-continue-and-factors")
@pytest.mark.parametrize(
    ("hint", "goes_on"), [(HARMLESS, True), (RISKY, False), (GRAVE, False), (DEADLY, False)], ids=str
)
async def test_every_report_is_evaluated_and_answered_with_a_directive(
    agent: Supervised, hint: str, goes_on: bool
) -> None:
    directive = await agent.step(hint)
    assert directive["continue"] is goes_on
    assert directive["factors"]
    assert all(isinstance(factor, str) and factor for factor in directive["factors"])
    [step] = (await agent.agent()).execution.recent  # type: ignore[union-attr]
    assert step.factors == tuple(directive["factors"])
    entry = next(entry for entry in await agent.audit() if entry.event == "agent step")
    assert entry.details["hint"] == hint


@pytest.mark.proves("spec-8.6.3-step-element-name-required", "spec-8.6.3-next-action-hint-required")
@pytest.mark.parametrize("missing", ["element_name", "next_action_hint"])
async def test_a_report_needs_a_name_and_a_hint(agent: Supervised, missing: str) -> None:
    params = {"element_name": "bot", "next_action_hint": HARMLESS}
    del params[missing]
    envelope = await agent.call("record_execution_step", params)
    assert code_of(envelope) == "VALIDATION_MISSING_PARAM"
    assert missing in envelope["error"]["message"]


@pytest.mark.proves("spec-8.6.3-next-action-hint-readable")
@pytest.mark.parametrize("hint", ["", "   ", "\t\n", 5, True, ["read"], {"do": "read"}, "x" * 10_001], ids=repr)
async def test_a_hint_that_nobody_can_read_is_refused(agent: Supervised, hint: object) -> None:
    code = await agent.code("record_execution_step", {"element_name": "bot", "next_action_hint": hint})
    assert code.startswith("VALIDATION_")
    assert (await agent.agent()).execution.steps == 0  # type: ignore[union-attr]


@pytest.mark.proves("spec-8.6.3-step-description-accepted", "spec-8.6.3-step-outcome-accepted")
@pytest.mark.parametrize("outcome", ["success", "skipped", "failure", None])
@pytest.mark.parametrize("description", ["Read the file", None])
async def test_a_report_may_tell_what_was_done(agent: Supervised, outcome: str | None, description: str | None) -> None:
    told = {"outcome": outcome, "step_description": description}
    directive = await agent.step(**{name: value for name, value in told.items() if value is not None})
    assert directive["continue"] is (outcome != "failure")
    [step] = (await agent.agent()).execution.recent  # type: ignore[union-attr]
    assert (step.outcome, step.description) == (outcome or "", description or "")


async def test_an_outcome_that_is_none_of_the_three_is_refused(agent: Supervised) -> None:
    envelope = await agent.report(outcome="fine")
    assert code_of(envelope).startswith("VALIDATION_")


async def test_names_in_camel_case_are_understood(agent: Supervised) -> None:
    params = {"elementName": "bot", "nextActionHint": HARMLESS, "stepDescription": "done"}
    assert (await agent.call("record_execution_step", params))["data"]["directive"]["continue"] is True


# 8.6.4: directives


@pytest.mark.proves("spec-8.6.4-stopped-agents-cannot-proceed")
async def test_a_stopped_agent_gets_leave_for_nothing(agent: Supervised) -> None:
    await agent.blocked()
    for hint in (HARMLESS, RISKY, DEADLY):
        envelope = await agent.report(hint)
        assert code_of(envelope) == "PERMISSION_DENIED"
        directive = envelope["error"]["details"]["directive"]
        assert (directive["continue"], directive["stopped"]) == (False, True)
    for operation, params in (
        ("complete_execution", {"element_name": "bot"}),
        ("abort_execution", {"element_name": "bot"}),
        ("execute_agent", {"element_name": "bot"}),
        ("get_order", {"order_id": 1}),
        ("create_note", {"text": "x"}),
    ):
        assert await agent.code(operation, params) == "PERMISSION_DENIED", operation
    assert agent.done == []


@pytest.mark.proves("spec-8.6.4-paused-agents-need-a-person")
async def test_a_paused_agent_waits_for_a_person_whatever_else_it_reports(agent: Supervised) -> None:
    assert (await agent.step(RISKY))["continue"] is False
    for hint in (HARMLESS, "list the open tasks", RISKY):
        assert (await agent.step(hint))["continue"] is False
    assert await agent.code("create_note", {"text": "x"}) == "PERMISSION_DENIED"
    await agent.allow()
    assert (await agent.step(RISKY))["continue"] is True
    assert (await agent.step(HARMLESS))["continue"] is True


async def test_what_was_approved_may_be_done_once(agent: Supervised) -> None:
    await agent.step(RISKY)
    await agent.allow()
    assert (await agent.step(RISKY))["continue"] is True
    assert (await agent.step(RISKY))["continue"] is False


async def test_what_was_approved_is_no_leave_for_something_else(agent: Supervised) -> None:
    await agent.step(RISKY)
    await agent.allow()
    assert (await agent.step("publish the customer list"))["continue"] is False


async def test_what_a_person_refused_stays_refused_and_the_agent_is_told_why(agent: Supervised) -> None:
    await agent.step(RISKY)
    await agent.refuse("the press must not have it")
    directive = await agent.step(HARMLESS)
    assert directive["continue"] is True
    [note] = [one for one in directive["notifications"] if one["type"] == "status"]
    assert "refused" in note["message"]
    assert note["metadata"]["reason"] == "the press must not have it"
    for _ in range(3):
        assert (await agent.step(RISKY))["continue"] is False


async def test_a_pause_that_nobody_decides_about_ends_as_a_refusal(agent: Supervised) -> None:
    await agent.step(RISKY)
    agent.clock.move(901)
    directive = await agent.step(HARMLESS)
    assert directive["continue"] is True
    assert any("Nobody approved in time" in note["message"] for note in directive["notifications"])
    assert (await agent.step(RISKY))["continue"] is False


@pytest.mark.proves("spec-8.6.4-monitoring-mode-never-blocks")
@pytest.mark.parametrize("name", ["monitoring", "logging", "disabled"])
async def test_what_is_not_enforced_never_blocks(name: str) -> None:
    async with supervised(mode(name, "max_autonomous_steps = 2")) as found:
        await found.start()
        for hint in (DEADLY, GRAVE, RISKY, HARMLESS, DEADLY):
            directive = await found.step(hint, outcome="failure")
            assert directive["continue"] is True
            assert "stopped" not in directive
        assert await found.code("create_note", {"text": "x"}) == ""


async def test_monitoring_tells_what_would_have_happened() -> None:
    async with supervised(mode("monitoring")) as found:
        await found.start()
        assert any("would have been stopped" in factor for factor in (await found.step(DEADLY))["factors"])
        assert any("would have been paused" in factor for factor in (await found.step(RISKY))["factors"])


# executions


async def test_an_agent_starts_only_after_a_person_has_agreed() -> None:
    async with supervised('[autonomy]\nmode = "enforcing"\n') as found:
        params = {"element_name": "bot", "task": "tidy up"}
        approval = await found.approval("execute_agent", params)
        assert await found.code("execute_agent", params, token=approval) == "CONFIRMATION_REQUIRED"
        assert code_of(await found.report()) == "NOT_FOUND_RESOURCE"
        await found.allow()
        begun = (await found.call("execute_agent", params, token=approval))["data"]
        assert (begun["agent"], begun["state"]) == ("bot", "running")
        assert (await found.step())["continue"] is True


async def test_an_agent_executes_one_thing_at_a_time(agent: Supervised) -> None:
    assert await agent.code("execute_agent", {"element_name": "bot"}) == "CONFLICT_ALREADY_EXISTS"


async def test_an_execution_is_ended_by_completion_or_abortion(agent: Supervised) -> None:
    await agent.step()
    ended = (await agent.call("complete_execution", {"element_name": "bot", "summary": "done"}))["data"]
    assert (ended["state"], ended["steps"]) == ("completed", 1)
    assert code_of(await agent.report()) == "NOT_FOUND_RESOURCE"
    await agent.start()
    ended = (await agent.call("abort_execution", {"element_name": "bot", "reason": "no more"}))["data"]
    assert (ended["state"], ended["steps"]) == ("aborted", 0)
    assert [one for one in await agent.events() if one.startswith("agent")] == [
        "agent started",
        "agent step",
        "agent completed",
        "agent started",
        "agent aborted",
    ]


async def test_nobody_else_reports_for_an_agent(agent: Supervised) -> None:
    other = Session()
    for operation in ("record_execution_step", "complete_execution", "abort_execution"):
        params = {"element_name": "bot"} | ({"next_action_hint": HARMLESS} if "step" in operation else {})
        assert await agent.code(operation, params, session=other) == "PERMISSION_DENIED"
    assert (await agent.agent()).execution is not None


@pytest.mark.parametrize("name", ["BOT", "Bot ", "b\u200bot", "bоt", "ｂｏｔ", "bot\u00ad", "BO\u0301T"], ids=ascii)
async def test_a_name_that_reads_the_same_is_the_same_agent(agent: Supervised, name: str) -> None:
    assert await agent.code("execute_agent", {"element_name": name}) == "CONFLICT_ALREADY_EXISTS"


@pytest.mark.parametrize("name", ["", " ", "\u200b\u200b", "x" * 201], ids=ascii)
async def test_a_name_that_is_none_is_refused(agent: Supervised, name: str) -> None:
    assert (await agent.code("execute_agent", {"element_name": name})).startswith("VALIDATION_")
