"""What an evaluation looks back upon, and what it comes to: values, which whoever only reads them loads alone."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from headgate.protocol.autonomy import StepOutcome, Tier

__all__ = ["History", "PastStep", "Report", "Verdict", "Way"]

_RECENT: Final = 20


class Way(StrEnum):
    """What becomes of a step."""

    CONTINUE = "continue"
    PAUSE = "pause"
    """until a person confirms"""
    VERIFY = "verify"
    """until a person verifies out of band"""
    STOP = "stop"
    """and the agent is blocked until a person verifies out of band"""

    @property
    def rank(self) -> int:
        """0 for going on to 3 for a stop."""
        return _RANKS[self]


_RANKS: Final = {way: rank for rank, way in enumerate(Way)}


@dataclass(frozen=True, slots=True)
class Report:
    """What an agent is about to do, and how its last step went."""

    hint: str
    outcome: StepOutcome | None = None


@dataclass(frozen=True, slots=True)
class PastStep:
    """A step that was reported before."""

    digest: str
    """Of the hint, as it reads."""
    score: int | None = None


@dataclass(frozen=True, slots=True)
class History:
    """What came before, as far as it matters: ``taken`` steps since a person last acted."""

    taken: int = 0
    steps: tuple[PastStep, ...] = ()

    def repetitions(self, digest: str) -> int:
        """How often the same was reported lately."""
        return sum(step.digest == digest for step in self.steps[-_RECENT:])


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was decided, and why."""

    way: Way
    factors: tuple[str, ...]
    reason: str = ""
    score: int | None = None
    tier: Tier | None = None
