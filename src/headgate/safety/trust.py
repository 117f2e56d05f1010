"""What an adapter's trust permits (Danger Levels 4.1), and how trust may change (Trust Levels 4)."""

from collections.abc import Mapping
from typing import Final

from headgate.protocol.danger import DangerLevel, Trust
from headgate.safety.danger import Classified
from headgate.safety.decisions import Decision, Effect, Who

__all__ = ["DEFAULT_TRUST", "MATRIX", "decide_by_trust", "minimum_trust", "refused_change"]

DEFAULT_TRUST: Final = Trust.VALIDATED
"""What an operator serves is vouched for by that act."""

_A, _C, _D = Effect.ALLOW, Effect.CONFIRM, Effect.DENY

MATRIX: Final[Mapping[DangerLevel, Mapping[Trust, Effect]]] = {
    level: dict(zip(Trust, row, strict=True))
    for level, row in {
        DangerLevel.SAFE: (_D, _A, _A, _A, _A),
        DangerLevel.REVERSIBLE: (_D, _D, _A, _A, _A),
        DangerLevel.DESTRUCTIVE: (_D, _D, _C, _A, _A),
        DangerLevel.DANGEROUS: (_D, _D, _D, _C, _A),
        DangerLevel.FORBIDDEN: (_D, _D, _D, _D, _C),
    }.items()
}
"""By danger, then by trust. Introspection is open in every case, and so is not asked here."""


def minimum_trust(level: DangerLevel) -> Trust:
    """The lowest trust under which an operation of this level can be used at all."""
    return next(trust for trust in Trust if MATRIX[level][trust] is not Effect.DENY)


def decide_by_trust(classified: Classified, trust: Trust) -> Decision:
    """What danger and trust alone decide. The code tells which of the two stands in the way."""
    level = classified.level
    effect = MATRIX[level][trust]
    rule = f"{level} operations of a {trust} adapter"
    if effect is Effect.DENY:
        code = "PERMISSION_DANGER_LEVEL_DENIED" if level.is_grave else "PERMISSION_TRUST_LEVEL_INSUFFICIENT"
        return Decision(effect, rule, code=code)
    reason = "; ".join(classified.danger.reasons)
    if classified.danger.requires_reauth:
        return Decision(Effect.CONFIRM, "operations for which a person is asked each time", reason, Who.PERSON)
    return Decision(effect, rule, reason)


def refused_change(old: Trust, new: Trust) -> str:
    """Why trust cannot change this way, or nothing if it can: it rises one level at a time, and may fall at once."""
    if new is old:
        return f"it is {old} already"
    if new.rank > old.rank + 1:
        following = list(Trust)[old.rank + 1]
        return f"trust rises by one level: from {old} to {following} first"
    return ""
