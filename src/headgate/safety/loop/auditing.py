"""What the audit tells of agents, and of persons who decide about them."""

from typing import Final

from headgate.safety.loop.agents import Agent
from headgate.store.audit import Entry

__all__ = [
    "ABORTED",
    "BLOCKED_AGENT",
    "CHALLENGED",
    "COMPLETED",
    "OVERRIDDEN",
    "PAUSED",
    "SELF_APPROVAL",
    "SHOWN",
    "STARTED",
    "STEP",
    "TURNED_DOWN",
    "UNVERIFIED",
    "VERIFIED",
    "entry_of_agent",
]

STARTED: Final = "agent started"
STEP: Final = "agent step"
PAUSED: Final = "agent paused"
BLOCKED_AGENT: Final = "agent blocked"
COMPLETED: Final = "agent completed"
ABORTED: Final = "agent aborted"
CHALLENGED: Final = "challenge renewed"
SHOWN: Final = "code shown"
VERIFIED: Final = "verified"
UNVERIFIED: Final = "verification failed"
TURNED_DOWN: Final = "verification refused"
SELF_APPROVAL: Final = "self-approval refused"
OVERRIDDEN: Final = "block overridden"


def entry_of_agent(agent: Agent, event: str, at: float, **details: object) -> Entry:
    """What happened to an agent; where a person did it, ``by`` says who."""
    execution = agent.execution
    about: dict[str, object] = {"agent": agent.name, "execution": execution.id if execution else "", **details}
    return Entry(
        at=at,
        event=event,
        adapter=execution.adapter if execution else "",
        caller=execution.caller if execution else "",
        details={name: one for name, one in about.items() if one != ""},
    )
