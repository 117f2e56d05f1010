"""What introspection tells of danger, policy and quotas: to a machine in full, to a model in a sentence."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from headgate.adapter.context import ANONYMOUS, Context
from headgate.adapter.operations import Operation
from headgate.protocol.autonomy import LoopMode
from headgate.protocol.danger import DEFAULT_LEVELS, DangerLevel, Trust
from headgate.safety.danger import PATTERNS
from headgate.safety.decisions import Effect
from headgate.safety.gatekeeper import Gatekeeper
from headgate.safety.judging import judge
from headgate.safety.policy.rules import Facts, Rule
from headgate.safety.trust import MATRIX, decide_by_trust

if TYPE_CHECKING:
    from headgate.safety.loop.service import SafetyLoop

__all__ = ["Description"]

_QUERIES: Final[Mapping[str, str]] = {
    "danger": "how dangerous each operation is, and what that means here, or with name one",
    "policies": "the rules that concern operations, or with name those of one",
    "quota_status": "limits and quotas with what is used of them",
}

_LOOP: Final = "safety_loop"
_LOOP_QUERY: Final[Mapping[str, str]] = {
    _LOOP: "how agents are supervised, with the default configuration, or with name one agent's"
}


class Description:
    """Tells what a gatekeeper knows, and what the safety loop demands."""

    def __init__(self, gatekeeper: Gatekeeper, loop: "SafetyLoop | None" = None) -> None:
        self._gatekeeper = gatekeeper
        self._loop = loop

    @property
    def queries(self) -> Mapping[str, str]:
        """The queries that are answered here."""
        return {**_QUERIES, **(_LOOP_QUERY if self._loop else {})}

    @property
    def capabilities(self) -> Mapping[str, object]:
        """How far the safety loop goes; without one it is disabled, which must be said as well (Spec 8.6.1, 8.6.7)."""
        mode = self._loop.mode if self._loop else LoopMode.DISABLED
        return {"execution_safety_loop": mode.value}

    def may_ask(self, operation: Operation) -> bool:
        """Whether a call may have to be confirmed."""
        return self._gatekeeper.may_ask(operation.name)

    def note(self, operation: Operation) -> str:
        """What a model should know before it calls; nothing of operations that simply run."""
        gatekeeper = self._gatekeeper
        standing = gatekeeper.standings.get(operation.name)
        if standing is None:
            return ""
        level = standing.classified.level
        if decide_by_trust(standing.classified, standing.trust).effect is Effect.DENY:
            return f"Danger: {level}. Denied here: the adapter's trust is '{standing.trust}'."
        if self.may_ask(operation):
            return (
                f"Danger: {level}. It may have to be confirmed: the answer is then CONFIRMATION_REQUIRED; "
                "once the user agrees, call again with confirmation_token."
            )
        return f"Danger: {level}." if level.is_grave else ""

    async def answer(self, query: str, name: str | None, context: Context) -> object:
        """The data of one of the queries."""
        if query == "quota_status":
            return await self._gatekeeper.meter.status(context.caller)
        if query == _LOOP and self._loop is not None:
            return self._loop.describe(name)
        return self._danger(name) if query == "danger" else self._policies(name)

    def trust_of(self, source: str) -> str:
        """How far a source is trusted."""
        return self._gatekeeper.trusts.get(source, self._gatekeeper.trust).value

    @property
    def _trusts(self) -> Mapping[str, object]:
        """How far each source is trusted, where there are several."""
        trusts = self._gatekeeper.trusts
        return {"trusts": {source: level.value for source, level in trusts.items()}} if trusts else {}

    # danger

    def _danger(self, name: str | None) -> object:
        operations = self._gatekeeper.operations
        if name is not None:
            found = operations.get(name)
            return {"operation": self._row(found) if found else None}
        return {
            "trust": self._gatekeeper.trust.value,
            **self._trusts,
            "levels": [
                {
                    "level": level.value,
                    "rank": level.rank,
                    "patterns": list(PATTERNS.get(level, ())),
                    "decisions": {trust.value: _shown_effect(level, trust) for trust in Trust},
                }
                for level in DangerLevel
            ],
            "defaults": {category.value: level.value for category, level in DEFAULT_LEVELS.items()},
            "operations": [self._row(operation) for operation in operations.values()],
        }

    def _row(self, operation: Operation) -> dict[str, object]:
        gatekeeper = self._gatekeeper
        classified = gatekeeper.standings[operation.name].classified
        danger = classified.danger
        facts = Facts(operation, gatekeeper.source_of(operation), ANONYMOUS, {})
        decision = judge(gatekeeper.standings[operation.name], facts).decision
        row: dict[str, object] = {
            "name": operation.name,
            "level": classified.level.value,
            "dangerous": classified.level.is_grave,
            "reasons": list(danger.reasons),
            "origin": classified.origin,
            "decision": decision.effect.value,
            "requires_confirmation": self.may_ask(operation),
        }
        if danger.confirmation_message:
            row["confirmation_message"] = danger.confirmation_message
        if danger.cooldown_seconds:
            row["cooldown_seconds"] = danger.cooldown_seconds
        if danger.requires_reauth:
            row["requires_reauth"] = True
        return row

    # policies

    def _policies(self, name: str | None) -> object:
        policy = self._gatekeeper.policy
        standing = self._gatekeeper.standings.get(name) if name is not None else None
        rules = policy.all_rules if name is None else standing.rules if standing else ()
        confirmation = policy.confirmation
        defaults = {source: part.default.value for source, part in policy.parts}
        return {
            "version": self._gatekeeper.confirmations.policy,
            "trust": self._gatekeeper.trust.value,
            **self._trusts,
            "default": policy.default.value,
            **({"defaults": defaults} if defaults else {}),
            "most_restrictive_wins": True,
            "rules": [_rule(rule) for rule in rules],
            "confirmation": {
                "by": confirmation.by.value,
                "batches": "skip" if confirmation.skip_in_batches else "halt",
                "tokens_outlive_session": confirmation.outlive_session,
                "seconds": {level.value: seconds for level, seconds in confirmation.seconds.items()},
            },
        }


def _shown_effect(level: DangerLevel, trust: Trust) -> str:
    """The decision of the matrix; where nothing is allowed at all, introspection still is."""
    if level is DangerLevel.SAFE and MATRIX[level][trust] is Effect.DENY:
        return "introspect_only"
    return MATRIX[level][trust].value


def _rule(rule: Rule) -> dict[str, object]:
    """A rule as far as callers may know it: who else is named in it is not theirs to see."""
    wire: dict[str, Any] = {"name": rule.name, "decision": rule.effect.value}
    if rule.source:
        wire["source"] = rule.source
    if rule.operations.given:
        wire["operations"] = list(rule.operations.given)
    if rule.categories:
        wire["categories"] = sorted(category.value for category in rule.categories)
    if rule.conditions:
        wire["parameters"] = sorted({condition.path for condition in rule.conditions})
    if rule.affected_rows:
        wire["depends_on_affected_rows"] = True
    if rule.callers.given:
        wire["depends_on_caller"] = True
    if rule.effect is Effect.CONFIRM:
        wire["confirmed_by"] = rule.who.value
        wire["remembered_for_session"] = rule.remember
    if rule.reason:
        wire["reason"] = rule.reason
    return wire
