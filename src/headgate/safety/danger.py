"""How dangerous an operation is: declared, or told by its category and its name (Danger Levels 3.3, 5)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Final

from headgate.adapter.operations import Operation
from headgate.protocol.danger import DEFAULT_LEVELS, Danger, DangerLevel

__all__ = ["PATTERNS", "Classified", "classify"]

PATTERNS: Final[Mapping[DangerLevel, tuple[str, ...]]] = {
    DangerLevel.SAFE: ("get_*", "list_*", "search_*", "count_*", "check_*", "introspect*"),
    DangerLevel.DANGEROUS: (
        "force_*",
        "*_permanently",
        "bulk_delete*",
        "override_*",
        "bypass_*",
        "*_without_backup",
        "purge_*",
    ),
    DangerLevel.FORBIDDEN: (
        "drop_*",
        "delete_all*",
        "truncate_*",
        "reset_*",
        "destroy_*",
        "wipe_*",
        "*_production",
    ),
}
"""What a name tells. The highest level wins, and a name alone never makes an operation safer than its category."""


@dataclass(frozen=True, slots=True)
class Classified:
    """An operation's danger, and what it follows from: ``policy``, ``declared``, ``category`` or the name's pattern."""

    danger: Danger
    origin: str

    @property
    def level(self) -> DangerLevel:
        """How dangerous."""
        return self.danger.level


def classify(operation: Operation, declared: Danger | None = None) -> Classified:
    """What an operator declares in a policy goes before what the author declares; without both, kind and name tell.

    There is always a reason for what is not safe.
    """
    if declared is not None:
        return Classified(_reasoned(declared, f"The policy declares it {declared.level}"), "policy")
    if operation.danger is not None:
        return Classified(_reasoned(operation.danger, f"It is declared {operation.danger.level}"), "declared")
    level, origin = DEFAULT_LEVELS[operation.category], "category"
    reason = f"Operations of the category {operation.category} are {level}"
    for higher, patterns in PATTERNS.items():
        pattern = next((one for one in patterns for name in operation.known_as if fnmatchcase(name, one)), None)
        if pattern is not None and higher.rank > level.rank:
            level, origin = higher, pattern
            reason = f"Operations named '{pattern}' are {level}"
    return Classified(_reasoned(Danger(level), reason), origin)


def _reasoned(danger: Danger, reason: str) -> Danger:
    return danger if danger.reasons or danger.level is DangerLevel.SAFE else replace(danger, reasons=(reason,))
