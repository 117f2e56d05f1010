"""What holds an agent up: the question that a person is asked, and the challenge that a person must meet."""

from dataclasses import replace

from headgate.protocol.autonomy import Tier
from headgate.protocol.visible import visible
from headgate.safety.autonomy.verdicts import Verdict
from headgate.safety.decisions import Who
from headgate.safety.grants import Binding, Grant, Purpose, new_grant
from headgate.safety.loop.agents import RECORD_STEP, Agent, Execution, Pause, hint_digest, named
from headgate.safety.loop.challenges import Challenge, new_challenge
from headgate.safety.loop.notifying import status

__all__ = ["challenge_of", "grant_of", "refused"]


def grant_of(agent: Agent, execution: Execution, verdict: Verdict, hint: str, now: float, seconds: float) -> Grant:
    """What a person is asked before an agent may take a step."""
    grant, _ = new_grant(
        purpose=Purpose.CONFIRMATION,
        binding=Binding(
            adapter=execution.adapter,
            operation=RECORD_STEP,
            params_digest=hint_digest(hint),
            caller=execution.caller,
            policy=execution.id,
            session=None,
        ),
        who=Who.PERSON,
        danger=verdict.tier or Tier.CONFIRM.value,
        message=f"Agent {named(agent.name)} is about to: {visible(hint)}",
        reasons=(verdict.reason, *verdict.factors),
        params={"element_name": agent.name, "next_action_hint": hint},
        issued_at=now,
        expires_at=now + seconds,
        agent=agent.key,
    )
    return grant


def challenge_of(
    agent: Agent,
    execution: Execution | None,
    hint: str,
    tier: Tier,
    verdict: Verdict,
    now: float,
    seconds: float,
    *,
    digest: str,
    blocks: bool,
) -> Challenge:
    """What a person must verify before an agent may go on."""
    return new_challenge(
        agent=agent.key,
        name=agent.name,
        execution=execution.id if execution else "",
        hint=hint,
        digest=digest,
        tier=tier.value,
        reason=verdict.reason,
        factors=verdict.factors,
        blocks=blocks,
        made_at=now,
        expires_at=now + seconds,
    )


def refused(agent: Agent, pause: Pause, now: float, reason: str) -> Agent:
    """An agent after a person has refused what it was paused for: it may go on, but not with that."""
    free = replace(agent, pause=None, refused=(*agent.refused, pause.digest))
    return free.told(status(f"A person refused: {pause.hint}", now, reason))
