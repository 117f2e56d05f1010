"""What a safety loop answers to a report: whether the agent may go on."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from headgate.client.descriptions import objects

__all__ = ["Directive"]


@dataclass(frozen=True, slots=True)
class Directive:
    """The word of the safety loop on a step (specification 8.7.1)."""

    goes_on: bool
    stopped: bool
    factors: tuple[str, ...]
    reason: str
    steps_remaining: int | None
    risk: str
    notifications: tuple[Mapping[str, Any], ...]

    @classmethod
    def of(cls, data: object, *, binding: bool) -> "Directive":
        """The directive in the answer to a report.

        Where the loop enforces, only a clear ``continue: true`` lets the agent go on; else it is advice.
        """
        told = data.get("directive", data) if isinstance(data, Mapping) else {}
        raw: Mapping[str, Any] = told if isinstance(told, Mapping) else {}
        stopped = binding and raw.get("stopped") is True
        factors, remaining = raw.get("factors"), raw.get("stepsRemaining")
        return cls(
            goes_on=not stopped and (raw.get("continue") is True or not binding),
            stopped=stopped,
            factors=tuple(map(str, factors)) if isinstance(factors, list) else (),
            reason=str(
                raw.get("reason") or ("" if "continue" in raw or not binding else "the server gave no directive")
            ),
            steps_remaining=remaining if isinstance(remaining, int) else None,
            risk=str(raw.get("nextStepRisk") or ""),
            notifications=tuple(objects(raw.get("notifications"))),
        )

    @property
    def words(self) -> str:
        """Why it is so, in a line."""
        return "; ".join(filter(None, (self.reason, *self.factors))) or "no reason is given"
