"""Safety Loop: reports, directives and challenges.

An agent of the checker's own, named after the run, reports actions that it never takes. What blocks it leaves it
blocked: nobody but a person can lift that. All of this needs ``--allow create,execute``.
"""

from collections.abc import AsyncIterator, Mapping
from typing import Final

from headgate.conformance.probe import Probe
from headgate.conformance.registry import broken, check, holds, unseen
from headgate.conformance.supervision import (
    DREADFUL,
    HARMLESS,
    START,
    STEP,
    Agent,
    alarms_in,
    begun_agent,
    blocked_agent,
    directive_in,
    loop_mode,
    may_go_on,
    verification_in,
)
from headgate.conformance.values import Area, Demand, Finding

__all__: list[str] = []

_VALUES: Final = ("enforcing", "monitoring", "logging", "disabled")
_OPERATIONS: Final = ("execute_agent", "record_execution_step", "complete_execution", "abort_execution")
_MOST_STEPS: Final = 60


@check(
    "safety.value",
    "What introspection says of the safety loop is one of four words.",
    section="specification 8.6.1",
    demand=Demand.SHOULD,
    area=Area.SAFETY_LOOP,
    level=2,
    how="Looks at '_protocol.capabilities.execution_safety_loop', where it is told.",
    proves=("spec-8.6.1-safety-loop-capability-value", "spec-8.6.7-enforcement-state-in-introspection"),
)
async def value(probe: Probe) -> AsyncIterator[Finding]:
    """Enforcing, monitoring, logging or disabled."""
    told = probe.survey.capabilities.get("execution_safety_loop")
    if told is None or told is False:
        return
    answer = probe.survey.operations_answer
    if told in _VALUES:
        yield holds("server", answer)
    else:
        yield broken("server", f"'execution_safety_loop' is '{told}'; expected is {', '.join(_VALUES)}", answer)


@check(
    "safety.operations-present",
    "Where the safety loop is active, its operations are there.",
    section="specification 8.6.2",
    demand=Demand.MUST,
    area=Area.SAFETY_LOOP,
    level=2,
    how="Looks for execute_agent, record_execution_step, complete_execution and abort_execution in introspection.",
    proves=(),
)
async def operations_present(probe: Probe) -> AsyncIterator[Finding]:
    """There is a loop to report to."""
    if loop_mode(probe) not in _VALUES[:3] or not probe.survey.operations:
        return
    missing = [name for name in _OPERATIONS if name not in probe.survey.operations]
    answer = probe.survey.operations_answer
    if missing:
        yield broken("server", f"the safety loop is {loop_mode(probe)}, but there is no {', '.join(missing)}", answer)
    else:
        yield holds("server", answer)


@check(
    "safety.step-parameters",
    "A step can say what was done and what came of it.",
    section="specification 8.6.3",
    demand=Demand.SHOULD,
    area=Area.SAFETY_LOOP,
    level=2,
    how="Looks for 'stepDescription' and 'outcome', in whatever letters, among its parameters.",
    proves=("spec-8.6.3-step-description-accepted", "spec-8.6.3-step-outcome-accepted"),
)
async def step_parameters(probe: Probe) -> AsyncIterator[Finding]:
    """A failure can be told, and so be judged."""
    step = probe.survey.operations.get(STEP)
    if step is None or not step.details:
        return
    declared = {parameter.name.replace("_", "").lower() for parameter in step.parameters}
    missing = [name for name in ("stepDescription", "outcome") if name.lower() not in declared]
    answer = probe.survey.details_answers[STEP]
    yield broken(STEP, f"it has no parameter '{missing[0]}'", answer) if missing else holds(STEP, answer)


@check(
    "safety.step-requires-agent",
    "A step without the name of its agent is refused.",
    section="specification 8.6.3",
    demand=Demand.MUST,
    area=Area.SAFETY_LOOP,
    level=2,
    how="Reports a step without 'element_name' (--allow create,execute).",
    proves=("spec-8.6.3-step-element-name-required",),
)
async def step_requires_agent(probe: Probe) -> AsyncIterator[Finding]:
    """Somebody must be reporting."""
    if loop_mode(probe) in _VALUES[:3]:
        said = await Agent(probe, "").report(HARMLESS, nameless=True)
        if said.succeeded:
            yield broken(STEP, "a step without 'element_name' was taken", said)
        elif said.failed:
            yield holds(STEP, said)


@check(
    "safety.step-requires-hint",
    "A step that does not say what is to be done next is refused.",
    section="specification 8.6.3",
    demand=Demand.MUST,
    area=Area.SAFETY_LOOP,
    level=2,
    how="Reports a step without 'nextActionHint' (--allow create,execute).",
    proves=("spec-8.6.3-next-action-hint-required",),
)
async def step_requires_hint(probe: Probe) -> AsyncIterator[Finding]:
    """There must be something to judge."""
    if loop_mode(probe) in _VALUES[:3]:
        agent = await begun_agent(probe, "silent")
        said = await agent.report(None)
        await agent.end()
        if said.succeeded:
            yield broken(STEP, "a step without 'nextActionHint' was taken", said)
        elif said.failed:
            yield holds(STEP, said)


@check(
    "safety.directive-shape",
    "Every step is answered with a directive: 'continue' and its 'factors'.",
    section="specification 8.7.1",
    demand=Demand.MUST,
    area=Area.SAFETY_LOOP,
    level=2,
    how="Reports a harmless step and looks at the directive (--allow create,execute).",
    proves=(
        "spec-8.7.1-directive-has-continue-and-factors",
        "spec-8.6.2-every-report-is-evaluated",
    ),
)
async def directive_shape(probe: Probe) -> AsyncIterator[Finding]:
    """An agent can read what it may do."""
    if loop_mode(probe) not in _VALUES[:2]:
        return
    agent = await begun_agent(probe, "plain")
    said = await agent.report(HARMLESS, "success")
    await agent.end()
    directive = directive_in(said)
    if directive is None:
        if said.succeeded:
            yield broken(STEP, "the answer holds no directive", said)
    elif not isinstance(directive.get("continue"), bool):
        yield broken(STEP, "the directive has no 'continue' that is true or false", said)
    elif not _are_texts(directive.get("factors")):
        yield broken(STEP, "the directive has no 'factors': a list of sentences", said)
    else:
        yield holds(STEP, said)


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


@check(
    "safety.monitoring-never-blocks",
    "A loop that only monitors stops nobody.",
    section="specification 8.6.4",
    demand=Demand.MUST,
    area=Area.SAFETY_LOOP,
    level=2,
    how="Reports a dreadful step to a loop in mode 'monitoring' (--allow create,execute).",
    proves=("spec-8.6.4-monitoring-mode-never-blocks",),
)
async def monitoring_never_blocks(probe: Probe) -> AsyncIterator[Finding]:
    """It tells what it would have done."""
    if loop_mode(probe) != "monitoring":
        return
    agent = await begun_agent(probe, "watched")
    said = await agent.report(DREADFUL)
    await agent.end()
    if may_go_on(said):
        yield holds(STEP, said)
    elif directive_in(said) is not None:
        yield broken(STEP, "a loop that monitors answered with a directive that blocks", said)


@check(
    "safety.failure-pauses",
    "After a failure an agent is told to wait.",
    section="specification 8.7.2",
    demand=Demand.SHOULD,
    area=Area.SAFETY_LOOP,
    level=2,
    how="Reports a step with the outcome 'failure' (--allow create,execute).",
    proves=("spec-8.7.2-failed-outcome-pauses", "spec-8.7.5-previous-outcome-stage-exists"),
)
async def failure_pauses(probe: Probe) -> AsyncIterator[Finding]:
    """One failure does not lead to the next."""
    if loop_mode(probe) != "enforcing":
        return
    agent = await begun_agent(probe, "failing")
    said = await agent.report(HARMLESS, "failure")
    await agent.end()
    if may_go_on(said):
        yield broken(STEP, "an agent whose step had failed was told to go on", said)
    elif directive_in(said) is not None:
        yield holds(STEP, said)


@check(
    "safety.step-limit",
    "After a number of steps an agent is told to wait for a person.",
    section="specification 8.7.5",
    demand=Demand.MUST,
    area=Area.SAFETY_LOOP,
    level=2,
    how="Reports harmless steps until 'stepsRemaining' is used up, at most 60 (--allow create,execute).",
    proves=(
        "spec-8.7.5-step-limit-stage-exists",
        "spec-8.7.2-step-limit-pauses",
    ),
)
async def step_limit(probe: Probe) -> AsyncIterator[Finding]:
    """No agent runs on forever."""
    if loop_mode(probe) != "enforcing":
        return
    agent = await begun_agent(probe, "tireless")
    try:
        yield await _limited(agent)
    finally:
        await agent.end()


async def _limited(agent: Agent) -> Finding:
    first = said = await agent.report(f"{HARMLESS}, page 0")
    left = (directive_in(first) or {}).get("stepsRemaining")
    if not isinstance(left, int) or left > _MOST_STEPS:
        return unseen(STEP, "how many steps are left is not told, or is more than can be tried", first)
    for page in range(1, left + 2):
        said = await agent.report(f"{HARMLESS}, page {page}")
        if not may_go_on(said):
            return holds(STEP, said)
    return broken(STEP, f"{left} steps were left, and after {left + 1} more it may still go on", first, said)


@check(
    "safety.verification-id",
    "Who is stopped is told by a notification which challenge a person has to meet.",
    section="specification 8.8.1",
    demand=Demand.MUST,
    area=Area.SAFETY_LOOP,
    level=2,
    how="Reports a dreadful step; if it stops the agent, looks for 'danger_zone' with a 'verificationId' "
    "(--allow create,execute).",
    proves=(
        "spec-8.7.3-danger-zone-has-verification-id",
        "spec-8.8.1-hard-block-sets-stopped",
        "spec-8.8.2-directive-carries-challenge-id",
        "spec-8.8-high-tiers-need-verification",
        "spec-8.7.2-deny-patterns-stop",
    ),
)
async def verification_id(probe: Probe) -> AsyncIterator[Finding]:
    """There is a way back that leads through a person."""
    if loop_mode(probe) != "enforcing":
        return
    found = await blocked_agent(probe)
    if found is None:
        yield unseen(STEP, "nothing that was reported stopped the agent: what is denied is for the server to say")
        return
    said = found.said
    if verification_in(said):
        yield holds(STEP, said)
    else:
        yield broken(STEP, "'stopped' is true, but no notification 'danger_zone' has a 'verificationId'", said)


@check(
    "safety.broadcast",
    "When an agent is stopped, every other executing agent is told.",
    section="specification 8.8.1",
    demand=Demand.MUST,
    area=Area.SAFETY_LOOP,
    level=2,
    how="Lets one agent report a dreadful step, and looks for 'danger_zone' in the next directive of another "
    "(--allow create,execute).",
    proves=("spec-8.8.1-hard-block-broadcast-to-all",),
)
async def broadcast(probe: Probe) -> AsyncIterator[Finding]:
    """An alarm is heard by all."""
    found = await blocked_agent(probe) if loop_mode(probe) == "enforcing" else None
    if found is None or not alarms_in(found.said) or directive_in(found.heard) is None:
        return
    if alarms_in(found.heard):
        yield holds(STEP, found.said, found.heard)
    else:
        words = "an agent was stopped, and the next directive of another has no notification 'danger_zone'"
        yield broken(STEP, words, found.said, found.heard)


@check(
    "safety.blocked-stays-blocked",
    "A stopped agent stays stopped, whatever it reports.",
    section="specification 8.8.3",
    demand=Demand.MUST,
    area=Area.SAFETY_LOOP,
    level=2,
    how="Reports a harmless step for an agent that was stopped (--allow create,execute).",
    proves=("spec-8.8.3-blocked-agent-operations-rejected", "spec-8.6.4-stopped-agents-cannot-proceed"),
)
async def blocked_stays_blocked(probe: Probe) -> AsyncIterator[Finding]:
    """A kind word does not lift it."""
    found = await blocked_agent(probe) if loop_mode(probe) == "enforcing" else None
    if found is not None:
        agent, before = found.agent, found.said
        said = await agent.report(HARMLESS)
        if may_go_on(said):
            yield broken(STEP, "a stopped agent was told to go on", before, said)
        else:
            yield holds(STEP, said)


@check(
    "safety.new-execution-keeps-block",
    "A stopped agent cannot begin anew.",
    section="specification 8.8.3",
    demand=Demand.MUST,
    area=Area.SAFETY_LOOP,
    level=2,
    how="Calls execute_agent for an agent that was stopped, then reports a step (--allow create,execute).",
    proves=("spec-8.8.3-new-execution-keeps-block",),
)
async def new_execution_keeps_block(probe: Probe) -> AsyncIterator[Finding]:
    """The block lies on the agent, not on its execution."""
    found = await blocked_agent(probe) if loop_mode(probe) == "enforcing" else None
    if found is not None:
        agent, before = found.agent, found.said
        begun = await agent.start()
        if begun.succeeded:
            yield broken(START, "a stopped agent was let begin anew", before, begun)
        else:
            yield holds(START, begun)


@check(
    "safety.made-up-code-refused",
    "A challenge is not met with a code that somebody made up.",
    section="specification 8.8.2",
    demand=Demand.MUST,
    area=Area.SAFETY_LOOP,
    level=2,
    how="Calls verify_challenge with the challenge of a stopped agent and a false code (--allow create,execute).",
    proves=(),
)
async def made_up_code_refused(probe: Probe) -> AsyncIterator[Finding]:
    """Whoever has not seen the code does not know it."""
    found = await blocked_agent(probe) if loop_mode(probe) == "enforcing" else None
    verify = probe.survey.operations.get("verify_challenge")
    if found is None or verify is None:
        return
    before = found.said
    challenge = verification_in(before)
    required = [parameter.name for parameter in verify.parameters if parameter.required]
    code = next((name for name in required if "code" in name.lower()), "code")
    number = next((name for name in required if "id" in name.lower() and name != code), "challenge_id")
    if challenge:
        said = await probe.call(verify, {number: challenge, code: "000000"})
        if said.succeeded and not (isinstance(said.data, Mapping) and said.data.get("verified") is False):
            yield broken("verify_challenge", "a made-up code was taken", before, said)
        else:
            yield holds("verify_challenge", said)
