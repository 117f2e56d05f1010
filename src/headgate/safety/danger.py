"""How dangerous an operation is: declared, or told by its category and its name (Danger Levels 3.3, 5)."""

from collections.abc import Mapping
from dataclasses import dataclass
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

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why, in words for people; there is always one for what is not safe."""
        if self.danger.reasons or self.level is DangerLevel.SAFE:
            return self.danger.reasons
        named = f"its name matches '{self.origin}'" if "*" in self.origin else "its kind of operation is so"
        return (f"The operation is {self.level}: {named}",)


def classify(operation: Operation, declared: Danger | None = None) -> Classified:
    """What an operator declares in a policy goes before what the author declares; without both, kind and name tell."""
    if declared is not None:
        return Classified(declared, "policy")
    if operation.danger is not None:
        return Classified(operation.danger, "declared")
    level, origin = DEFAULT_LEVELS[operation.category], "category"
    for higher, patterns in PATTERNS.items():
        pattern = next((one for one in patterns if fnmatchcase(operation.name, one)), None)
        if pattern is not None and higher.rank > level.rank:
            level, origin = higher, pattern
    return Classified(Danger(level), origin)
