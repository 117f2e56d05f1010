"""All that is decided of one call, from danger and trust to the last rule: one pure function."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from headgate.protocol.danger import Danger, DangerLevel, Trust
from headgate.safety.danger import Classified, classify
from headgate.safety.decisions import Decision, Effect, Who, most_restrictive
from headgate.safety.policy.rules import DEFAULT_RULE, Facts, Policy, Rule, by_default, decide_by_rules
from headgate.safety.trust import decide_by_trust

__all__ = ["Judgement", "Standing", "is_denied_anyway", "judge"]


@dataclass(frozen=True, slots=True)
class Standing:
    """What is known of an operation before any call: its danger, and the rules that may match."""

    classified: Classified
    trust: Trust
    rules: tuple[Rule, ...]
    default: Effect
    confirmed_by: Who
    own_default: Effect = Effect.ALLOW
    """What becomes of calls that no rule of their source's own policy matches."""

    @classmethod
    def of(cls, policy: Policy, facts: Facts, trust: Trust) -> "Standing":
        """How the operation of a call stands under a policy."""
        operation = facts.operation
        classified = classify(operation, policy.declared_danger(operation))
        rules = policy.concerning(operation, facts.source)
        own_default = policy.own_default(facts.source)
        return cls(classified, trust, rules, policy.default, policy.confirmation.by, own_default)

    @property
    def depends_on_the_call(self) -> bool:
        """Whether calls may be decided differently, by who calls or with what."""
        return any(rule.conditions or rule.affected_rows or rule.callers.given for rule in self.rules)

    @property
    def needs_a_dry_run(self) -> bool:
        """Whether a rule asks how many rows a call would affect."""
        return any(rule.affected_rows for rule in self.rules)

    @property
    def always_anew(self) -> bool:
        """Whether every single call needs a person."""
        return self.classified.danger.requires_reauth

    def escalated(self) -> "Standing":
        """The same with the operation one level more dangerous, because it is repeated so often."""
        danger = self.classified.danger
        reasons = (*danger.reasons, "It was repeated so often: it counts as more dangerous")
        higher = replace(danger, level=danger.level.next, reasons=reasons)
        return replace(self, classified=Classified(higher, self.classified.origin))


@dataclass(frozen=True, slots=True)
class Judgement:
    """What was decided, out of what was considered."""

    decision: Decision
    considered: tuple[Decision, ...]
    danger: Danger

    @property
    def level(self) -> DangerLevel:
        """How dangerous the operation was taken to be."""
        return self.danger.level

    def beside(self, other: "Judgement") -> "Judgement":
        """The same where a call is two things at once: the more restrictive decision counts."""
        decision = most_restrictive((self.decision, other.decision))
        return replace(self, decision=decision, considered=(*self.considered, *other.considered))

    def by_a_person(self) -> "Judgement":
        """The same where only a person may confirm, each call for itself."""
        return replace(self, decision=replace(self.decision, who=Who.PERSON, remember=False))


def judge(standing: Standing, facts: Facts) -> Judgement:
    """Decide one call: danger and trust first, then every rule that matches; the most restrictive counts.

    A rule can only restrict what danger and trust permit. Whoever wants less asking raises the trust, or declares the
    operation less dangerous, and so says openly what they vouch for.
    """
    by_rules = (*decide_by_rules(standing.rules, standing.default, facts), *_by_own_default(standing, facts))
    by_trust = decide_by_trust(standing.classified, standing.trust)
    counts = most_restrictive(_as_told(by_trust, by_rules))
    if counts.effect is Effect.CONFIRM:
        by_person = standing.confirmed_by is Who.PERSON or standing.always_anew
        counts = replace(
            counts,
            who=Who.PERSON if by_person else counts.who,
            remember=not standing.always_anew and _may_be_remembered(by_rules),
        )
    return Judgement(counts, (by_trust, *by_rules), standing.classified.danger)


def _by_own_default(standing: Standing, facts: Facts) -> Iterator[Decision]:
    """What the policy of the source itself decides where none of its rules does."""
    if standing.own_default is Effect.ALLOW or any(rule.source and rule.matches(facts) for rule in standing.rules):
        return
    yield by_default(standing.own_default)


def _as_told(by_trust: Decision, by_rules: Sequence[Decision]) -> Sequence[Decision]:
    """The decisions in the order in which one of several equal ones is told.

    What trust denies, it denies first. Else a rule that an operator wrote says most, and the default least.
    """
    is_default = any(one.rule == DEFAULT_RULE for one in by_rules)
    return (by_trust, *by_rules) if by_trust.effect is Effect.DENY or is_default else (*by_rules, by_trust)


def is_denied_anyway(standing: Standing, facts: Facts) -> bool:
    """Whether a call is denied however many rows it would affect, so that nobody learns how many there are."""
    certain = (rule for rule in standing.rules if not rule.affected_rows and rule.effect is Effect.DENY)
    by_trust = decide_by_trust(standing.classified, standing.trust).effect
    return by_trust is Effect.DENY or any(rule.matches(facts) for rule in certain)


def _may_be_remembered(decisions: Iterable[Decision]) -> bool:
    """Whether a rule lets a confirmation count for the session, and none that asks for one does not."""
    asking = [one.remember for one in decisions if one.effect is Effect.CONFIRM]
    return bool(asking) and all(asking)
