"""The table of a policy file that rules the safety loop, and the agents in it."""

from collections.abc import Iterator, Mapping
from typing import Final

from headgate.protocol.autonomy import LoopMode, Tolerance
from headgate.safety.autonomy.rules import AgentRules
from headgate.safety.autonomy.texts import folded
from headgate.safety.loop.agents import LONGEST_NAME, agent_key
from headgate.safety.loop.settings import LoopSettings, Unreported
from headgate.safety.policy.tables import Mistake, Place, Table, named, number, one_of, one_or_more, text, whole

__all__ = ["read_autonomy"]

_RULE_KEYS: Final = ("max_autonomous_steps", "risk_tolerance", "deny", "requires_approval", "auto_approve")
_LOOP_KEYS: Final = ("mode", "start", "unreported", "challenge_seconds", "approval_seconds", "failures_per_minute")
_MOST_STEPS: Final = 1_000_000
_LONGEST_PATTERN: Final = 200
_LONGEST_CHALLENGE: Final = 3600
_LONGEST_APPROVAL: Final = 86_400
_MOST_FAILURES: Final = 10


def read_autonomy(content: object, place: Place) -> LoopSettings:
    """How agents are supervised. Where nothing else is said, what is decided counts."""
    here = place.below("autonomy")
    table = Table(content, here, (*_RULE_KEYS, *_LOOP_KEYS, "agents"))
    usual = LoopSettings()
    rules = _rules(table, usual.rules)
    return LoopSettings(
        mode=table.take("mode", one_of(list(LoopMode)), LoopMode.ENFORCING),
        rules=rules,
        agents=dict(_agents(table, rules)),
        unreported=table.take("unreported", one_of(list(Unreported)), usual.unreported),
        starts_freely=table.take("start", one_of(("person", "free")), "person") == "free",
        challenge_seconds=table.take(
            "challenge_seconds", number(0, _LONGEST_CHALLENGE, above=True), usual.challenge_seconds
        ),
        approval_seconds=table.take(
            "approval_seconds", number(0, _LONGEST_APPROVAL, above=True), usual.approval_seconds
        ),
        failures_per_minute=table.take("failures_per_minute", whole(1, _MOST_FAILURES), usual.failures_per_minute),
    )


def _rules(table: Table, usual: AgentRules) -> AgentRules:
    return AgentRules(
        max_autonomous_steps=table.take("max_autonomous_steps", whole(1, _MOST_STEPS), usual.max_autonomous_steps),
        risk_tolerance=table.take("risk_tolerance", one_of(list(Tolerance)), usual.risk_tolerance),
        deny=table.take("deny", _patterns, usual.deny),
        requires_approval=table.take("requires_approval", _patterns, usual.requires_approval),
        auto_approve=table.take("auto_approve", _patterns, usual.auto_approve),
    )


def _agents(table: Table, usual: AgentRules) -> Iterator[tuple[str, AgentRules]]:
    """What is ruled of single agents; what a table leaves open is as for all."""
    if "agents" not in table:
        return
    content = table.value("agents")
    place = table.place.key("agents")
    if not isinstance(content, Mapping) or not content:
        Table(content, place, ())  # notes what is wrong
        return
    seen: dict[str, str] = {}
    for name, said in content.items():
        here = place.below(f"agent {named(name)}")
        key = agent_key(str(name))
        if not key or len(str(name)) > LONGEST_NAME:
            here.note(f"this is no name: it must have 1 to {LONGEST_NAME} characters, some of them visible")
        elif key in seen:
            here.note(f"this reads the same as {named(seen[key])}, so both are one agent: leave one of them out")
        seen.setdefault(key, str(name))
        yield key, _rules(Table(said, here, _RULE_KEYS), usual)


def _patterns(value: object) -> tuple[str, ...]:
    if value == []:
        return ()
    return one_or_more(_pattern)(value)


def _pattern(value: object) -> str:
    pattern = text(value)
    if len(pattern) > _LONGEST_PATTERN:
        raise Mistake(f"{named(pattern)} is too long: a pattern has {_LONGEST_PATTERN} characters at most")
    if not folded(pattern):
        raise Mistake(f"{named(pattern)} is no pattern: nothing in it can be seen")
    return pattern
