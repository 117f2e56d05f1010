"""How the safety loop is run."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from headgate.protocol.autonomy import LoopMode
from headgate.safety.autonomy.rules import AgentRules

__all__ = ["LoopSettings", "Unreported"]


class Unreported(StrEnum):
    """What becomes of a changing operation of this server that its agent has not reported."""

    ALLOW = "allow"
    REFUSE = "refuse"
    """if an agent is executing in that session, or as that caller"""
    REQUIRE = "require"
    """always: whoever wants to change something must be executing"""


@dataclass(frozen=True, kw_only=True)
class LoopSettings:
    """What an operator rules of the loop and of the agents in it."""

    mode: LoopMode | None = None
    """None if there is no loop at all."""
    rules: AgentRules = field(default_factory=AgentRules)
    agents: Mapping[str, AgentRules] = field(default_factory=dict)
    """Rules for single agents, by the key of their names; they stand in place of the general ones."""
    unreported: Unreported = Unreported.ALLOW
    starts_freely: bool = False
    """Whether an agent may start without a person's approval."""
    challenge_seconds: float = 300.0
    approval_seconds: float = 900.0
    failures_per_minute: int = 10

    def rules_of(self, key: str) -> AgentRules:
        """The rules for an agent."""
        return self.agents.get(key, self.rules)
