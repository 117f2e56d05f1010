"""What an agent in the safety loop is answered: directives, tiers and notifications (Spec 8.7). Pure values."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final, TypeAlias

from headgate.protocol.times import timestamp

__all__ = [
    "Directive",
    "LoopMode",
    "Notification",
    "NotificationType",
    "Risk",
    "Scorer",
    "StepOutcome",
    "Tier",
    "Tolerance",
    "worst_of",
]


class LoopMode(StrEnum):
    """How far the safety loop goes (Spec 8.6.1)."""

    ENFORCING = "enforcing"
    MONITORING = "monitoring"
    LOGGING = "logging"
    DISABLED = "disabled"


class StepOutcome(StrEnum):
    """How the step before went, in the agent's own words."""

    SUCCESS = "success"
    FAILURE = "failure"
    SKIPPED = "skipped"


class Tier(StrEnum):
    """How grave an action is, and so what it takes to go on (Spec 8.7.2, Stage 4)."""

    ADVISORY = "advisory"
    CONFIRM = "confirm"
    VERIFY = "verify"
    DANGER_ZONE = "danger_zone"

    @classmethod
    def of(cls, score: int) -> "Tier":
        """The tier of a risk between 0 and 100."""
        return next(tier for tier, highest in _HIGHEST.items() if score <= highest)

    @property
    def scores(self) -> tuple[int, int]:
        """The lowest and the highest risk in it."""
        lower = [highest for highest in _HIGHEST.values() if highest < _HIGHEST[self]]
        return (lower[-1] + 1 if lower else 0), _HIGHEST[self]


_HIGHEST: Final = {Tier.ADVISORY: 30, Tier.CONFIRM: 60, Tier.VERIFY: 85, Tier.DANGER_ZONE: 100}


class Tolerance(StrEnum):
    """How much risk an agent may take without a pause (Spec 8.7.2, Stage 5)."""

    CONSERVATIVE = "conservative"
    MODERATE = "moderate"
    AGGRESSIVE = "aggressive"

    @property
    def threshold(self) -> int:
        """The risk above which it pauses."""
        return _THRESHOLDS[self]


_THRESHOLDS: Final = {Tolerance.CONSERVATIVE: 25, Tolerance.MODERATE: 50, Tolerance.AGGRESSIVE: 75}


@dataclass(frozen=True, slots=True)
class Risk:
    """How dangerous an action is, from 0 to 100, and why."""

    score: int
    factors: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not 0 <= self.score <= 100:
            raise ValueError(f"A risk is between 0 and 100, not {self.score}.")


Scorer: TypeAlias = Callable[[str], Risk]
"""Tells the risk of an action from its description."""


_UNTOLD: Final = Risk(61, ("The adapter's own function could not tell the risk: a person must",))


def worst_of(scorers: Sequence[Scorer], hint: str) -> Risk:
    """The gravest risk that any of several tells, with its reasons."""
    return max((_told_by(scorer, hint) for scorer in scorers), key=lambda risk: risk.score)


def _told_by(scorer: Scorer, hint: str) -> Risk:
    try:
        risk: object = scorer(hint)
    except Exception:  # noqa: BLE001  # an author's mistake must not let anything pass
        return _UNTOLD
    return risk if isinstance(risk, Risk) else _UNTOLD


class NotificationType(StrEnum):
    """What a notification tells of (Spec 8.7.3)."""

    PERMISSION_PENDING = "permission_pending"
    AUTONOMY_PAUSE = "autonomy_pause"
    DANGER_ZONE = "danger_zone"
    STATUS = "status"
    ERROR = "error"


@dataclass(frozen=True, slots=True, kw_only=True)
class Notification:
    """Something that an agent must know before its next step."""

    type: NotificationType
    message: str
    at: float
    operation: str = ""
    reason: str = ""
    level: str = ""
    verification_id: str = ""

    def wire(self) -> dict[str, object]:
        """As the specification writes it."""
        said = {
            "operation": self.operation,
            "reason": self.reason,
            "level": self.level,
            "verificationId": self.verification_id,
        }
        metadata = {name: value for name, value in said.items() if value}
        shown: dict[str, object] = {"type": self.type.value, "message": self.message}
        if metadata:
            shown["metadata"] = metadata
        return {**shown, "timestamp": timestamp(self.at)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Directive:
    """Whether the agent may do what it reported, and why (Spec 8.7.1)."""

    goes_on: bool
    factors: tuple[str, ...]
    stopped: bool = False
    reason: str = ""
    steps_remaining: int | None = None
    tier: Tier | None = None
    notifications: tuple[Notification, ...] = ()

    def __post_init__(self) -> None:
        if self.stopped and self.goes_on:
            raise ValueError("An agent that is stopped cannot go on.")

    def wire(self) -> dict[str, object]:
        """As the specification writes it; what is not known is left out."""
        directive: dict[str, object] = {"continue": self.goes_on, "factors": list(self.factors)}
        if self.stopped:
            directive["stopped"] = True
        if self.reason:
            directive["reason"] = self.reason
        if self.steps_remaining is not None:
            directive["stepsRemaining"] = self.steps_remaining
        if self.tier is not None:
            directive["nextStepRisk"] = self.tier.value
        if self.notifications:
            directive["notifications"] = [one.wire() for one in self.notifications]
        return directive

    def advisory(self) -> "Directive":
        """The same where nothing is enforced: it tells what would have happened, and lets the agent go on."""
        if self.goes_on:
            return self
        would = "stopped" if self.stopped else "paused"
        said = f"Not enforced: it would have been {would}" + (f" ({self.reason})" if self.reason else "")
        return replace(self, goes_on=True, stopped=False, reason="", factors=(*self.factors, said))
