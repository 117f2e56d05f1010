"""What may be decided of a call, and which of several decisions counts: the most restrictive."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

__all__ = ["Decision", "Effect", "Who", "most_restrictive"]


class Effect(StrEnum):
    """The three answers of a gate."""

    ALLOW = "allow"
    CONFIRM = "confirm"
    DENY = "deny"

    @property
    def rank(self) -> int:
        """0 for allow to 2 for deny."""
        return _RANKS[self]


_RANKS: Final[Mapping[Effect, int]] = {effect: rank for rank, effect in enumerate(Effect)}


class Who(StrEnum):
    """Who may confirm: the client by repeating the call, or only a person through a channel of their own."""

    CLIENT = "client"
    PERSON = "person"


@dataclass(frozen=True, slots=True)
class Decision:
    """What was decided, by which rule, and what the caller is told."""

    effect: Effect
    rule: str
    reason: str = ""
    who: Who = Who.CLIENT
    remember: bool = False
    """Whether a confirmation counts for the operation as long as the session lasts."""
    code: str = ""
    """The error code of a denial."""


def most_restrictive(decisions: Iterable[Decision]) -> Decision:
    """The one that counts. Of equal ones the first; of confirmations, a person's before a client's."""
    return max(decisions, key=lambda one: (one.effect.rank, one.who is Who.PERSON))
