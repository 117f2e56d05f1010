"""The values of a policy, and what its rules decide of a call. Pure: it reads no file and asks nobody."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Final

from headgate.adapter.context import Caller
from headgate.adapter.operations import Operation
from headgate.protocol.canonical import digest
from headgate.protocol.categories import Category
from headgate.protocol.danger import Danger, DangerLevel, Trust
from headgate.safety.decisions import Decision, Effect, Who
from headgate.safety.loop.settings import LoopSettings
from headgate.safety.policy.conditions import Condition, Steps
from headgate.safety.policy.limits import ApiLimit, Price, Quota, price_of
from headgate.safety.policy.patterns import ANYTHING, Patterns, matches_caller
from headgate.safety.policy.shapes import default_under

__all__ = [
    "DEFAULT_RULE",
    "AuditSettings",
    "Confirmation",
    "Escalation",
    "Facts",
    "Policy",
    "Rule",
    "by_default",
    "decide_by_rules",
]

_LONGEST: Final[Mapping[DangerLevel, float]] = {DangerLevel.FORBIDDEN: 300.0}
"""The longest life of a token where it is not 15 minutes (Confirmation Tokens 5.1)."""

DEFAULT_RULE: Final = "the policy's default"


@dataclass(frozen=True, slots=True)
class Facts:
    """What rules may look at: the operation, from which adapter, who calls it, with what.

    ``affected_rows`` is what a dry run told, or None if there was none or it did not tell.
    """

    operation: Operation
    source: str
    caller: Caller
    params: Mapping[str, object]
    affected_rows: int | None = None
    read: Mapping[str, object] = field(default_factory=dict)
    """What the handler gets in place of some parameters: a rule must not be dodged by another spelling."""

    def default(self, steps: Steps) -> object:
        """What stands in for a value that is not given, as JSON, or None."""
        return default_under(self.operation, steps)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Calls that it matches are allowed, must be confirmed, or are denied. All that it says must be true of a call."""

    name: str
    effect: Effect
    operations: Patterns = ANYTHING
    categories: frozenset[Category] = frozenset()
    sources: Patterns = ANYTHING
    callers: Patterns = ANYTHING
    conditions: tuple[Condition, ...] = ()
    affected_rows: tuple[Condition, ...] = ()
    who: Who = Who.CLIENT
    remember: bool = False
    reason: str = ""
    optional: bool = False
    """Whether it may match no operation at all without being taken for a mistake."""
    source: str = ""
    """The one source whose own policy it is part of."""

    def concerns(self, operation: Operation, source: str) -> bool:
        """Whether it may match calls of an operation."""
        in_category = not self.categories or operation.category in self.categories
        is_from = self.sources.match(source) and self.source in ("", source)
        return in_category and is_from and self.operations.match(*operation.known_as)

    def matches(self, facts: Facts) -> bool:
        """Whether it matches a call. In doubt a rule that restricts does, and one that allows does not."""
        in_doubt = self.effect is not Effect.ALLOW
        return (
            self.concerns(facts.operation, facts.source)
            and matches_caller(self.callers, facts.caller)
            and all(_holds(condition, facts, in_doubt) for condition in self.conditions)
            and all(_rows_meet(condition, facts.affected_rows, in_doubt) for condition in self.affected_rows)
        )

    @property
    def decision(self) -> Decision:
        """What it decides of a call that it matches."""
        code = "PERMISSION_DENIED" if self.effect is Effect.DENY else ""
        return Decision(self.effect, self.name, self.reason, self.who, self.remember, code)


def _holds(condition: Condition, facts: Facts, in_doubt: bool) -> bool:
    """Whether a condition holds of a call as it was sent and as the handler gets it: in doubt either is enough."""
    forms = [facts.params, {**facts.params, **facts.read}] if facts.read else [facts.params]
    found = [condition.holds(form, in_doubt=in_doubt, default=facts.default) for form in forms]
    return any(found) if in_doubt else all(found)


def _rows_meet(condition: Condition, rows: int | None, in_doubt: bool) -> bool:
    return in_doubt if rows is None else condition.judge(rows, in_doubt=in_doubt)


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmation:
    """How confirmations are asked for, and how long they count."""

    by: Who = Who.CLIENT
    elicit: bool = True
    """Whether a host that can ask its user is asked first."""
    skip_in_batches: bool = False
    """Whether a batch goes on after an operation that must be confirmed (Operations 7.5.4)."""
    outlive_session: bool = False
    clock_skew_seconds: float = 30.0
    max_live: int = 10_000
    refusals_per_minute: int = 10
    seconds: Mapping[DangerLevel, float] = field(
        default_factory=lambda: {**dict.fromkeys(DangerLevel, 300.0), DangerLevel.FORBIDDEN: 120.0}
    )
    quota_seconds: float = 300.0

    def life(self, level: DangerLevel, who: Who) -> float:
        """How long a confirmation of an operation counts: a person has as long as the specification allows."""
        return max(self.seconds[level], _LONGEST.get(level, 900.0)) if who is Who.PERSON else self.seconds[level]


@dataclass(frozen=True, slots=True, kw_only=True)
class Escalation:
    """Repetition that makes an operation count as one level more dangerous."""

    after: int
    seconds: float
    levels: frozenset[DangerLevel]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditSettings:
    """What the audit holds beyond what it must, and for how long."""

    all_operations: bool = False
    keep_days: float | None = None


@dataclass(frozen=True, kw_only=True)
class Policy:
    """All that an operator rules. Without one, danger and trust alone decide."""

    name: str = ""
    trust: Trust | None = None
    default: Effect = Effect.ALLOW
    rules: tuple[Rule, ...] = ()
    danger: tuple[tuple[Patterns, Danger], ...] = ()
    confirmation: Confirmation = field(default_factory=Confirmation)
    escalation: Escalation | None = None
    api_limits: tuple[ApiLimit, ...] = ()
    quotas: tuple[Quota, ...] = ()
    prices: tuple[Price, ...] = ()
    audit: AuditSettings = field(default_factory=AuditSettings)
    autonomy: LoopSettings = field(default_factory=LoopSettings)
    parts: tuple[tuple[str, "Policy"], ...] = ()
    """What is ruled of single sources, by their names: only of their own operations."""

    @cached_property
    def part_of(self) -> Mapping[str, "Policy"]:
        """What is ruled of single sources."""
        return dict(self.parts)

    @cached_property
    def all_rules(self) -> tuple[Rule, ...]:
        """The rules of all, then those of each source."""
        own = (replace(rule, source=source) for source, part in self.parts for rule in part.rules)
        return (*self.rules, *own)

    @cached_property
    def all_api_limits(self) -> tuple[ApiLimit, ...]:
        """The limits of all, then those of each source."""
        own = (replace(limit, source=source) for source, part in self.parts for limit in part.api_limits)
        return (*self.api_limits, *own)

    @cached_property
    def all_quotas(self) -> tuple[Quota, ...]:
        """The quotas of all, then those of each source."""
        own = (replace(quota, source=source) for source, part in self.parts for quota in part.quotas)
        return (*self.quotas, *own)

    def beside(self, other: "Policy") -> "Policy":
        """What two policies rule of the same together: all that restricts, and of the rest this one's word first."""
        return replace(
            self,
            default=max(self.default, other.default, key=lambda effect: effect.rank),
            rules=(*self.rules, *other.rules),
            danger=(*self.danger, *other.danger),
            api_limits=(*self.api_limits, *other.api_limits),
            quotas=(*self.quotas, *other.quotas),
            prices=(*other.prices, *self.prices),
        )

    def price(self, operation: Operation) -> int:
        """What a call costs, in millionths: what its source's own policy says goes before what is said of all."""
        part = self.part_of.get(operation.source)
        return (price_of(part.prices, *operation.known_as) if part else 0) or price_of(self.prices, *operation.known_as)

    def own_default(self, source: str) -> Effect:
        """What becomes of calls that no rule of their source's own policy matches."""
        part = self.part_of.get(source)
        return part.default if part else Effect.ALLOW

    @cached_property
    def version(self) -> str:
        """A digest of all that it rules: what was confirmed under one policy does not count under another."""
        return digest(_plain({**asdict(self), "name": ""}))[:16]

    def declared_danger(self, operation: Operation) -> Danger | None:
        """What it declares of an operation's danger; the first pattern that matches counts, its source's own first."""
        part = self.part_of.get(operation.source)
        declared = (*(part.danger if part else ()), *self.danger)
        return next((danger for patterns, danger in declared if patterns.match(*operation.known_as)), None)

    def concerning(self, operation: Operation, source: str) -> tuple[Rule, ...]:
        """The rules that may match calls of an operation."""
        return tuple(rule for rule in self.all_rules if rule.concerns(operation, source))


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return {str(key): _plain(child) for key, child in value.items()}
    if isinstance(value, frozenset):
        return sorted(str(child) for child in value)
    if isinstance(value, list | tuple):
        return [_plain(child) for child in value]
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def decide_by_rules(rules: tuple[Rule, ...], default: Effect, facts: Facts) -> Iterator[Decision]:
    """What each rule that matches decides; where none does, the default."""
    matching = [rule.decision for rule in rules if rule.matches(facts)]
    if matching:
        yield from matching
        return
    yield by_default(default)


def by_default(effect: Effect) -> Decision:
    """What is decided where no rule says anything."""
    code = "PERMISSION_DENIED" if effect is Effect.DENY else ""
    reason = "no rule of the policy allows it" if effect is Effect.DENY else ""
    return Decision(effect, DEFAULT_RULE, reason, code=code)
