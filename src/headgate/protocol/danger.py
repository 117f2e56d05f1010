"""How dangerous an operation is, and how far an adapter is trusted (Danger Levels; Trust Levels)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from headgate.protocol.adapter_errors import AdapterError
from headgate.protocol.categories import Category
from headgate.protocol.suggestions import did_you_mean, nearest

__all__ = ["DEFAULT_LEVELS", "Danger", "DangerLevel", "Trust", "danger_from", "trust_from"]


class DangerLevel(StrEnum):
    """The five levels, from what changes nothing to what nobody should do."""

    SAFE = "safe"
    REVERSIBLE = "reversible"
    DESTRUCTIVE = "destructive"
    DANGEROUS = "dangerous"
    FORBIDDEN = "forbidden"

    @property
    def rank(self) -> int:
        """0 for safe to 4 for forbidden."""
        return _DANGER_RANKS[self]

    @property
    def is_grave(self) -> bool:
        """Whether it may do what cannot simply be undone: level 2 and up, which is always audited."""
        return self.rank >= DangerLevel.DESTRUCTIVE.rank

    @property
    def next(self) -> "DangerLevel":
        """One level higher; forbidden is the highest."""
        return list(DangerLevel)[min(self.rank + 1, DangerLevel.FORBIDDEN.rank)]


class Trust(StrEnum):
    """The five levels of trust, through which an adapter rises one at a time."""

    UNTESTED = "untested"
    GENERATED = "generated"
    VALIDATED = "validated"
    COMMUNITY_REVIEWED = "community_reviewed"
    CERTIFIED = "certified"

    @property
    def rank(self) -> int:
        """0 for untested to 4 for certified."""
        return _TRUST_RANKS[self]


_DANGER_RANKS: Final[Mapping[DangerLevel, int]] = {level: rank for rank, level in enumerate(DangerLevel)}
_TRUST_RANKS: Final[Mapping[Trust, int]] = {level: rank for rank, level in enumerate(Trust)}


DEFAULT_LEVELS: Final[Mapping[Category, DangerLevel]] = {
    Category.READ: DangerLevel.SAFE,
    Category.CREATE: DangerLevel.REVERSIBLE,
    Category.UPDATE: DangerLevel.REVERSIBLE,
    Category.EXECUTE: DangerLevel.REVERSIBLE,
    Category.DELETE: DangerLevel.DESTRUCTIVE,
}
"""What an operation is taken for by its category alone (Danger Levels 3.3)."""

_LONGEST_COOLDOWN: Final = 120.0
"""A token lives a few minutes; a longer wait would leave no time to use it."""

_PLACEHOLDER: Final = re.compile(r"\{([^{}]*)\}")


@dataclass(frozen=True, slots=True)
class Danger:
    """What an author or an operator declares of an operation's danger.

    ``confirmation_message`` may name parameters, such as ``Delete '{owner}/{repo}'?``. ``cooldown_seconds`` must pass
    between the confirmation and the run. With ``requires_reauth`` only a person confirms, each time anew.
    """

    level: DangerLevel
    reasons: tuple[str, ...] = ()
    confirmation_message: str = ""
    cooldown_seconds: float = 0.0
    requires_reauth: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "level", _level(self.level))
        if not 0 <= self.cooldown_seconds <= _LONGEST_COOLDOWN:
            raise AdapterError(
                f"A cooldown of {self.cooldown_seconds:g} seconds is not possible: 0 to {_LONGEST_COOLDOWN:g} are."
            )

    @property
    def named_parameters(self) -> tuple[str, ...]:
        """The parameters that the message names."""
        return tuple(_PLACEHOLDER.findall(self.confirmation_message))

    def message(self, shown: Mapping[str, str]) -> str:
        """The message with each parameter's value in the place of its name; one that is not given is said so."""
        return _PLACEHOLDER.sub(lambda found: shown.get(found[1], "(not given)"), self.confirmation_message)


def danger_from(given: "Danger | DangerLevel | str | None") -> Danger | None:
    """The declaration that a decorator was given, where a word is enough."""
    return given if given is None or isinstance(given, Danger) else Danger(_level(given))


def _level(given: DangerLevel | str) -> DangerLevel:
    try:
        return DangerLevel(given)
    except ValueError:
        raise _unknown(given, "danger level", list(DangerLevel)) from None


def trust_from(given: Trust | str | None) -> Trust | None:
    """The trust that an adapter was given, where a word is enough."""
    try:
        return None if given is None else Trust(given)
    except ValueError:
        raise _unknown(str(given), "level of trust", list(Trust)) from None


def _unknown(given: str, what: str, known: list[str]) -> AdapterError:
    hint = did_you_mean(nearest(given, known, 1))
    return AdapterError(f"'{given}' is not a {what}; there are {', '.join(known)}{hint}")
