"""Rules that change nothing, because others or danger and trust decide as much already."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from headgate.adapter.operations import Operation
from headgate.protocol.danger import Trust
from headgate.safety.danger import classify
from headgate.safety.decisions import Decision, Effect, Who
from headgate.safety.policy.rules import Policy, Rule
from headgate.safety.trust import decide_by_trust

__all__ = ["Idleness"]

_DOES: Final = {Effect.ALLOW: "allows", Effect.CONFIRM: "asks for", Effect.DENY: "denies"}


@dataclass(frozen=True, slots=True)
class Idleness:
    """Looks for rules that change nothing; ``matched`` has the operations of each, in the order of the rules."""

    policy: Policy
    matched: Sequence[Sequence[Operation]]
    trust: Trust | None

    def found(self) -> Iterator[tuple[int, str]]:
        """The place of each such rule, and why it is one."""
        for place in range(len(self.policy.rules)):
            why = self._why(place) if self.matched[place] else ""
            if why:
                yield place, f"it changes nothing: {why}"

    def _why(self, place: int) -> str:
        rule = self.policy.rules[place]
        if rule.effect is Effect.ALLOW and self.policy.default is Effect.ALLOW:
            return "an allow rule lifts no other, and without any rule all is allowed already"
        above = next((other for other in range(len(self.policy.rules)) if self._shadows(other, place)), None)
        if above is not None:
            other = self.policy.rules[above]
            return f"rule {above + 1} ('{other.name}') {_DOES[other.effect]} all of it in any case"
        if rule.effect is not Effect.ALLOW and all(self._is_decided(rule, one) for one in self.matched[place]):
            return f"danger and trust ({self.trust}) decide as much for all of it by themselves"
        return ""

    def _shadows(self, other: int, place: int) -> bool:
        """Whether a rule makes another needless; of two that do so to each other, the first stays."""
        return other != place and self._covers(other, place) and (other < place or not self._covers(place, other))

    def _covers(self, above: int, below: int) -> bool:
        """Whether a rule applies to all calls that another does, and restricts them as much."""
        one, other = self.policy.rules[above], self.policy.rules[below]
        if one.conditions or one.affected_rows or (one.callers.given and one.callers != other.callers):
            return False
        return set(self.matched[above]) >= set(self.matched[below]) and _is_as_strict(one.decision, other.decision)

    def _is_decided(self, rule: Rule, operation: Operation) -> bool:
        """Whether danger and trust decide as much as a rule, which also keeps a stricter default away."""
        if self.trust is None or any(other.remember for other in self.policy.rules):
            return False
        classified = classify(operation, self.policy.declared_danger(operation))
        decision = decide_by_trust(classified, self.trust)
        is_as_strict = _is_as_strict(decision, rule.decision) or (
            decision.effect is rule.effect and self.policy.confirmation.by is Who.PERSON
        )
        return is_as_strict and self.policy.default.rank <= decision.effect.rank


def _is_as_strict(one: Decision, other: Decision) -> bool:
    if one.effect is not other.effect:
        return one.effect.rank > other.effect.rank
    asks_as_much = one.who is Who.PERSON or other.who is Who.CLIENT
    return one.effect is not Effect.CONFIRM or (asks_as_much and (other.remember or not one.remember))
