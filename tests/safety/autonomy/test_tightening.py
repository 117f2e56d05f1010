"""What an agent demands of itself can only make its rules stricter (Spec 8.7.4)."""

from hypothesis import given
from hypothesis import strategies as st

from headgate.protocol.autonomy import Tolerance
from headgate.safety.autonomy.evaluation import evaluate
from headgate.safety.autonomy.rules import AgentRules, Tightening
from headgate.safety.autonomy.verdicts import History
from tests.safety.autonomy.situations import of_risk, situation

PATTERNS = st.lists(st.sampled_from(["*", "walk*", "walk the dog", "run*", "?ing", "read_*", ""]), max_size=4).map(
    tuple
)
RULES = st.builds(
    AgentRules,
    max_autonomous_steps=st.integers(1, 50),
    risk_tolerance=st.sampled_from(Tolerance),
    deny=PATTERNS,
    requires_approval=PATTERNS,
    auto_approve=PATTERNS,
)
DEMANDS = st.builds(
    Tightening,
    max_autonomous_steps=st.none() | st.integers(0, 1_000),
    risk_tolerance=st.none() | st.sampled_from(Tolerance),
    deny=PATTERNS,
    requires_approval=PATTERNS,
    auto_approve=st.none() | PATTERNS,
)
HINTS = st.sampled_from(["walk the dog", "sing", "run; walk the dog", "read_file", "dance"])


@given(RULES, DEMANDS)
def test_no_demand_loosens_anything(rules: AgentRules, own: Tightening) -> None:
    after = rules.tightened(own)
    assert after.max_autonomous_steps <= rules.max_autonomous_steps
    assert after.risk_tolerance.threshold <= rules.risk_tolerance.threshold
    assert {*after.deny} >= {*rules.deny}
    assert {*after.requires_approval} >= {*rules.requires_approval}
    assert {*after.auto_approve} <= {*rules.auto_approve}


@given(RULES, DEMANDS)
def test_every_demand_is_met(rules: AgentRules, own: Tightening) -> None:
    after = rules.tightened(own)
    assert own.max_autonomous_steps is None or after.max_autonomous_steps <= own.max_autonomous_steps
    assert own.risk_tolerance is None or after.risk_tolerance.threshold <= own.risk_tolerance.threshold
    assert {*after.deny} == {*rules.deny, *own.deny}
    assert {*after.requires_approval} == {*rules.requires_approval, *own.requires_approval}
    assert own.auto_approve is None or {*after.auto_approve} <= {*own.auto_approve}


@given(RULES, DEMANDS, HINTS, st.integers(0, 100), st.integers(0, 50))
def test_no_step_gets_further_than_under_the_operators_own_rules(
    rules: AgentRules, own: Tightening, hint: str, score: int, taken: int
) -> None:
    found = {"history": History(taken), "scorer": of_risk(score)}
    before = evaluate(situation(hint, rules=rules, **found))
    after = evaluate(situation(hint, rules=rules.tightened(own), **found))
    goes_on = [verdict.way.rank == 0 for verdict in (before, after)]
    assert goes_on != [False, True]


@given(RULES, DEMANDS)
def test_the_same_demand_twice_is_the_same(rules: AgentRules, own: Tightening) -> None:
    once = rules.tightened(own)
    assert once.tightened(own) == once


@given(RULES)
def test_who_demands_nothing_is_under_the_operators_rules(rules: AgentRules) -> None:
    after = rules.tightened(Tightening())
    assert (after.max_autonomous_steps, after.risk_tolerance) == (rules.max_autonomous_steps, rules.risk_tolerance)
    assert [{*after.deny}, {*after.requires_approval}] == [{*rules.deny}, {*rules.requires_approval}]
    assert after.auto_approve == rules.auto_approve


def test_the_rules_are_named_as_the_specification_names_them() -> None:
    assert AgentRules(deny=("a*",), requires_approval=("b*",), auto_approve=("c*",)).wire() == {
        "maxAutonomousSteps": 25,
        "riskTolerance": "moderate",
        "deny": ["a*"],
        "requiresApproval": ["b*"],
        "autoApprove": ["c*"],
    }
