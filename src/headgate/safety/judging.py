"""All that is decided of one call, from danger and trust to the last rule: one pure function."""

from dataclasses import dataclass, replace

from headgate.protocol.danger import Danger, DangerLevel, Trust
from headgate.safety.danger import Classified, classify
from headgate.safety.decisions import Decision, Effect, Who, most_restrictive
from headgate.safety.policy.rules import Facts, Policy, Rule, decide_by_rules
from headgate.safety.trust import decide_by_trust

__all__ = ["Judgement", "Standing", "judge"]


@dataclass(frozen=True, slots=True)
class Standing:
    """What is known of an operation before any call: its danger, and the rules that may match."""

    classified: Classified
    trust: Trust
    rules: tuple[Rule, ...]
    default: Effect
    confirmed_by: Who

    @classmethod
    def of(cls, policy: Policy, facts: Facts, trust: Trust) -> "Standing":
        """How the operation of a call stands under a policy."""
        operation = facts.operation
        classified = classify(operation, policy.declared_danger(operation.name))
        rules = policy.concerning(operation, facts.source)
        return cls(classified, trust, rules, policy.default, policy.confirmation.by)

    @property
    def depends_on_the_call(self) -> bool:
        """Whether calls may be decided differently, by who calls or with what."""
        return any(rule.conditions or rule.affected_rows or rule.callers.given for rule in self.rules)

    @property
    def needs_a_dry_run(self) -> bool:
        """Whether a rule asks how many rows a call would affect."""
        return any(rule.affected_rows for rule in self.rules)

    def escalated(self) -> "Standing":
        """The same with the operation one level more dangerous, because it is repeated so often."""
        danger = self.classified.danger
        reasons = (*danger.reasons, "It was repeated so often that it counts as more dangerous")
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


def judge(standing: Standing, facts: Facts) -> Judgement:
    """Decide one call: danger and trust first, then every rule that matches; the most restrictive counts.

    A rule can only restrict what danger and trust permit. Whoever wants less asking raises the trust, or declares the
    operation less dangerous, and so says openly what they vouch for.
    """
    considered = (
        decide_by_trust(standing.classified, standing.trust),
        *decide_by_rules(standing.rules, standing.default, facts),
    )
    counts = most_restrictive(considered)
    if counts.effect is Effect.CONFIRM and (standing.confirmed_by is Who.PERSON or _must_be_anew(standing)):
        counts = replace(counts, who=Who.PERSON)
    if _must_be_anew(standing):
        counts = replace(counts, remember=False)
    return Judgement(counts, considered, standing.classified.danger)


def _must_be_anew(standing: Standing) -> bool:
    return standing.classified.danger.requires_reauth
