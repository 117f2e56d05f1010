"""What an operator rules of agents, and what an agent may add for itself: only more restriction (Spec 8.7.4)."""

from dataclasses import dataclass, replace
from typing import Final

from headgate.protocol.autonomy import Tolerance

__all__ = ["DEFAULT_DENY", "DEFAULT_REQUIRES_APPROVAL", "AgentRules"]

DEFAULT_DENY: Final = ("rm -rf*", "drop_*", "delete_all*", "truncate_*", "wipe_*", "destroy_*")
DEFAULT_REQUIRES_APPROVAL: Final = ("delete_*", "force_*", "*--force*", "deploy_*", "git push*")


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRules:
    """The five elements of the evaluation that may be set, for all agents or for one."""

    max_autonomous_steps: int = 25
    risk_tolerance: Tolerance = Tolerance.MODERATE
    deny: tuple[str, ...] = DEFAULT_DENY
    requires_approval: tuple[str, ...] = DEFAULT_REQUIRES_APPROVAL
    auto_approve: tuple[str, ...] = ()

    def tightened(self, own: "Tightening") -> "AgentRules":
        """These rules with what an agent demands of itself; nothing in it can loosen them."""
        limits = (self.max_autonomous_steps, own.max_autonomous_steps)
        strictest = min(self.risk_tolerance, own.risk_tolerance or self.risk_tolerance, key=lambda one: one.threshold)
        auto = self.auto_approve
        if own.auto_approve is not None:
            auto = tuple(one for one in auto if one in own.auto_approve)
        return replace(
            self,
            max_autonomous_steps=min(limit for limit in limits if limit is not None),
            risk_tolerance=strictest,
            deny=_joined(self.deny, own.deny),
            requires_approval=_joined(self.requires_approval, own.requires_approval),
            auto_approve=auto,
        )

    def wire(self) -> dict[str, object]:
        """As the specification names them."""
        return {
            "maxAutonomousSteps": self.max_autonomous_steps,
            "riskTolerance": self.risk_tolerance.value,
            "deny": list(self.deny),
            "requiresApproval": list(self.requires_approval),
            "autoApprove": list(self.auto_approve),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Tightening:
    """What an agent asks for itself as it starts."""

    max_autonomous_steps: int | None = None
    risk_tolerance: Tolerance | None = None
    deny: tuple[str, ...] = ()
    requires_approval: tuple[str, ...] = ()
    auto_approve: tuple[str, ...] | None = None


def _joined(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*first, *second)))
