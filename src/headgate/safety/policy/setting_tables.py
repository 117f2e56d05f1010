"""The tables of a policy file that are neither rules nor limits: danger, confirmation, escalation and audit."""

from collections.abc import Iterator, Mapping
from typing import Final

from headgate.protocol.adapter_errors import AdapterError
from headgate.protocol.danger import Danger, DangerLevel
from headgate.safety.decisions import Who
from headgate.safety.policy.limits import WINDOWS
from headgate.safety.policy.patterns import NOT, Patterns
from headgate.safety.policy.rule_tables import operation_patterns
from headgate.safety.policy.rules import AuditSettings, Confirmation, Escalation, Policy
from headgate.safety.policy.tables import (
    Mistake,
    Place,
    Table,
    flag,
    named,
    number,
    one_of,
    one_or_more,
    text,
    texts,
    whole,
)

__all__ = ["note_unusable_cooldowns", "read_audit", "read_confirmation", "read_danger", "read_escalation"]

_DANGER_KEYS: Final = ("level", "reasons", "confirmation_message", "cooldown_seconds", "requires_reauth")
_CONFIRMATION_KEYS: Final = (
    *("by", "elicit", "batches", "outlive_session", "clock_skew_seconds", "max_live", "refusals_per_minute"),
    "seconds",
)
_QUOTA: Final = "quota"
_LONGEST_SECONDS: Final[Mapping[str, float]] = {
    **dict.fromkeys(DangerLevel, 900),
    DangerLevel.FORBIDDEN: 300,
    _QUOTA: 600,
}
"""How long a confirmation may count at the most (Confirmation Tokens)."""

_LONGEST_SKEW: Final = 300
_FEWEST_LIVE: Final = 1000
_MOST: Final = 10**9
_CENTURY_DAYS: Final = 36_500
_ESCALATING: Final = (DangerLevel.REVERSIBLE, DangerLevel.DESTRUCTIVE, DangerLevel.DANGEROUS)


def read_danger(content: object, place: Place) -> tuple[tuple[Patterns, Danger], ...]:
    """What the operator declares of operations' danger, the first pattern that matches before others."""
    if not isinstance(content, Mapping) or not content:
        Table(content, place.below("danger"), ())  # notes what is wrong
        return ()
    return tuple(_danger(pattern, said, place.below(f"danger {named(pattern)}")) for pattern, said in content.items())


def _danger(pattern: str, content: object, place: Place) -> tuple[Patterns, Danger]:
    patterns = place.read(_danger_pattern, pattern, Patterns())
    table = Table(content, place, _DANGER_KEYS, ("level",))
    level = table.take("level", one_of(list(DangerLevel)), DangerLevel.FORBIDDEN)
    cooldown = table.take("cooldown_seconds", _cooldown, 0.0)
    return patterns, Danger(
        level,
        table.take("reasons", texts, ()),
        table.take("confirmation_message", text, ""),
        cooldown,
        table.take("requires_reauth", flag, False),
    )


def _danger_pattern(value: object) -> Patterns:
    if str(value).startswith(NOT):
        raise Mistake("a '!' means nothing here: name the operations themselves")
    return operation_patterns(value)


def _cooldown(value: object) -> float:
    seconds = number(0, _MOST)(value)
    try:
        Danger(DangerLevel.SAFE, cooldown_seconds=seconds)  # which knows how long one may be
    except AdapterError as error:
        raise Mistake(str(error)) from None
    return seconds


def note_unusable_cooldowns(policy: Policy, place: Place) -> None:
    """Note each wait that is over only when the confirmation no longer counts."""
    for patterns, danger in policy.danger:
        seconds = policy.confirmation.seconds[danger.level]
        if danger.cooldown_seconds and danger.cooldown_seconds >= seconds:
            here = place.below(f"danger {named(patterns.given[0])}") if patterns.given else place
            here.key("cooldown_seconds").note(
                f"a confirmation of {danger.level} operations counts for {seconds:g} seconds, so it would be void "
                "before it may be used: choose fewer here, or more in [confirmation] seconds"
            )


def read_confirmation(content: object, place: Place) -> Confirmation:
    """How confirmations are asked for."""
    table = Table(content, place.below("confirmation"), _CONFIRMATION_KEYS)
    usual = Confirmation()
    seconds = dict(_seconds(table))
    return Confirmation(
        by=table.take("by", one_of(list(Who)), usual.by),
        elicit=table.take("elicit", flag, usual.elicit),
        skip_in_batches=table.take("batches", one_of(("halt", "skip")), "halt") == "skip",
        outlive_session=table.take("outlive_session", flag, usual.outlive_session),
        clock_skew_seconds=table.take("clock_skew_seconds", number(0, _LONGEST_SKEW), usual.clock_skew_seconds),
        max_live=table.take("max_live", whole(_FEWEST_LIVE, _MOST), usual.max_live),
        refusals_per_minute=table.take("refusals_per_minute", whole(1, _MOST), usual.refusals_per_minute),
        seconds={level: seconds.get(level, usual.seconds[level]) for level in DangerLevel},
        quota_seconds=seconds.get(_QUOTA, usual.quota_seconds),
    )


def _seconds(table: Table) -> Iterator[tuple[str, float]]:
    if "seconds" not in table:
        return
    inner = Table(table.value("seconds"), table.place.key("seconds"), tuple(_LONGEST_SECONDS))
    for name, longest in _LONGEST_SECONDS.items():
        if name in inner:
            yield name, inner.take(name, number(0, longest, above=True), longest)


def read_escalation(content: object, place: Place) -> Escalation:
    """From when on repetition makes an operation more dangerous."""
    table = Table(content, place.below("escalation"), ("after", "within", "levels"), ("after", "within"))
    return Escalation(
        after=table.take("after", whole(1, _MOST), 1),
        seconds=WINDOWS[table.take("within", one_of(tuple(WINDOWS)), "minute")],
        levels=table.take("levels", _levels, frozenset(_ESCALATING)),
    )


def _levels(value: object) -> frozenset[DangerLevel]:
    levels = frozenset(one_or_more(one_of(list(DangerLevel)))(value))
    if DangerLevel.FORBIDDEN in levels:
        raise Mistake("'forbidden' is the highest level already: leave it out")
    return levels


def read_audit(content: object, place: Place) -> AuditSettings:
    """What the audit holds, and for how long."""
    table = Table(content, place.below("audit"), ("operations", "keep_days"))
    return AuditSettings(
        all_operations=table.take("operations", one_of(("all", "dangerous")), "dangerous") == "all",
        keep_days=table.take("keep_days", number(0, _CENTURY_DAYS, above=True), None),
    )
