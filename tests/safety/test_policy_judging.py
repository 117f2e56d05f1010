"""Judging is monotone: whatever is added can only restrict, and whatever is vouched for can only ease."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.adapter.context import ANONYMOUS, Caller
from headgate.protocol.categories import Category
from headgate.protocol.danger import Danger, DangerLevel, Trust
from headgate.safety.decisions import Decision, Effect, Who
from headgate.safety.judging import Judgement, Standing, judge
from headgate.safety.policy.conditions import Condition
from headgate.safety.policy.patterns import ANYTHING, Patterns
from headgate.safety.policy.rules import DEFAULT_RULE, Confirmation, Facts, Policy, Rule
from tests.safety.policies import policy
from tests.safety.shop import build_shop

OPERATIONS = build_shop().operations
ALICE = Caller("alice", None, frozenset({"admin"}))

CONDITIONS = st.sampled_from(
    [
        Condition("number", "gt", 100),
        Condition("number", "eq", 5),
        Condition("amount", "gte", 100),
        Condition("status", "ne", "open"),
        Condition("address.country", "in", ("NO", "SE")),
        Condition("address.verified", "eq", True),
        Condition("tags", "matches", "^secret"),
        Condition("reason", "present", False),
    ]
)
ROWS = st.sampled_from([Condition("affected_rows", "gt", 10), Condition("affected_rows", "eq", 0)])
SELECTIONS = st.sampled_from(
    [ANYTHING, Patterns(("delete_*",)), Patterns(("!get_*",)), Patterns(("create_refund", "purge_*"))]
)
RULES = st.builds(
    Rule,
    name=st.sampled_from("abcdef"),
    effect=st.sampled_from(Effect),
    operations=SELECTIONS,
    categories=st.frozensets(st.sampled_from(Category), max_size=2),
    sources=st.sampled_from([ANYTHING, Patterns(("shop",)), Patterns(("other",))]),
    callers=st.sampled_from([ANYTHING, Patterns(("alice",)), Patterns(("anonymous",)), Patterns(("!scope:admin",))]),
    conditions=st.lists(CONDITIONS, max_size=2).map(tuple),
    affected_rows=st.lists(ROWS, max_size=1).map(tuple),
    who=st.sampled_from(Who),
    remember=st.booleans(),
)
POLICIES = st.builds(
    Policy,
    default=st.sampled_from(Effect),
    rules=st.lists(RULES, max_size=4).map(tuple),
    confirmation=st.builds(Confirmation, by=st.sampled_from(Who)),
)
NUMBERS = st.sampled_from([0, 5, 101, "101", "x", None])
PARAMS = st.fixed_dictionaries(
    {},
    optional={
        "number": NUMBERS,
        "amount": NUMBERS,
        "status": st.sampled_from(["open", "closed"]),
        "address": st.sampled_from([None, {"country": "NO"}, {"country": "DK", "verified": False}, "NO"]),
        "tags": st.lists(st.sampled_from(["secret", "public"]), max_size=2),
        "reason": st.sampled_from(["", "because"]),
    },
)
FACTS = st.builds(
    Facts,
    operation=st.sampled_from(list(OPERATIONS.values())),
    source=st.just("shop"),
    caller=st.sampled_from([ANONYMOUS, ALICE, Caller("bob")]),
    params=PARAMS,
    affected_rows=st.sampled_from([None, 0, 11]),
)
TRUSTS = st.sampled_from(Trust)


def judged(policy: Policy, facts: Facts, trust: Trust) -> Judgement:
    return judge(Standing.of(policy, facts, trust), facts)


def strictness(decision: Decision) -> tuple[int, bool]:
    """How restrictive: what is decided, and of what must be confirmed, by whom."""
    return decision.effect.rank, decision.effect is Effect.CONFIRM and decision.who is Who.PERSON


def strict(policy: Policy, facts: Facts, trust: Trust) -> tuple[int, bool]:
    return strictness(judged(policy, facts, trust).decision)


@given(POLICIES, RULES, st.integers(0, 4), FACTS, TRUSTS)
def test_a_rule_that_is_added_never_eases_where_all_is_allowed_by_default(
    policy: Policy, rule: Rule, place: int, facts: Facts, trust: Trust
) -> None:
    open_policy = replace(policy, default=Effect.ALLOW)
    more = replace(open_policy, rules=(*policy.rules[:place], rule, *policy.rules[place:]))
    assert strict(more, facts, trust) >= strict(open_policy, facts, trust)


@given(POLICIES, RULES, FACTS, TRUSTS)
def test_a_rule_that_is_added_never_eases_what_another_rule_decides(
    policy: Policy, rule: Rule, facts: Facts, trust: Trust
) -> None:
    if any(one.matches(facts) for one in policy.rules):
        assert strict(replace(policy, rules=(*policy.rules, rule)), facts, trust) >= strict(policy, facts, trust)


@given(POLICIES, RULES, FACTS, TRUSTS)
def test_a_rule_that_is_added_never_goes_below_danger_and_trust_or_itself(
    policy: Policy, rule: Rule, facts: Facts, trust: Trust
) -> None:
    got = strict(replace(policy, rules=(*policy.rules, rule)), facts, trust)
    assert got >= strict(Policy(), facts, trust)
    if rule.matches(facts):
        assert got >= strictness(rule.decision)


@given(POLICIES, RULES, FACTS, TRUSTS)
def test_a_rule_that_does_not_remember_never_makes_a_confirmation_last(
    policy: Policy, rule: Rule, facts: Facts, trust: Trust
) -> None:
    before = judged(replace(policy, default=Effect.ALLOW), facts, trust).decision
    rules = (*policy.rules, replace(rule, remember=False))
    after = judged(replace(policy, default=Effect.ALLOW, rules=rules), facts, trust).decision
    assert after.remember <= before.remember or before.effect is not Effect.CONFIRM


@given(POLICIES, FACTS, TRUSTS, st.sampled_from(DangerLevel), st.booleans())
def test_more_danger_never_eases(policy: Policy, facts: Facts, trust: Trust, level: DangerLevel, reauth: bool) -> None:
    def of(danger: DangerLevel) -> tuple[int, bool]:
        declared = Danger(danger, requires_reauth=reauth)
        return strict(replace(policy, danger=((ANYTHING, declared),)), facts, trust)

    assert of(level.next) >= of(level)


@given(POLICIES, FACTS, TRUSTS)
def test_repetition_never_eases(policy: Policy, facts: Facts, trust: Trust) -> None:
    standing = Standing.of(policy, facts, trust)
    escalated = judge(standing.escalated(), facts).decision
    assert strictness(escalated) >= strictness(judge(standing, facts).decision)


@given(POLICIES, FACTS, TRUSTS, TRUSTS)
def test_more_trust_never_restricts(policy: Policy, facts: Facts, one: Trust, other: Trust) -> None:
    low, high = sorted((one, other), key=lambda trust: trust.rank)
    assert strict(policy, facts, high) <= strict(policy, facts, low)


@given(POLICIES, FACTS, TRUSTS)
def test_the_order_of_rules_decides_nothing(policy: Policy, facts: Facts, trust: Trust) -> None:
    one = judged(policy, facts, trust).decision
    other = judged(replace(policy, rules=policy.rules[::-1]), facts, trust).decision
    assert (one.effect, one.remember, strictness(one)) == (other.effect, other.remember, strictness(other))


@given(POLICIES, FACTS, TRUSTS)
def test_rows_that_nobody_knows_never_ease_where_all_is_allowed_by_default(
    policy: Policy, facts: Facts, trust: Trust
) -> None:
    open_policy = replace(policy, default=Effect.ALLOW)
    unknown = strict(open_policy, replace(facts, affected_rows=None), trust)
    assert unknown >= strict(open_policy, facts, trust)


@given(POLICIES, FACTS, TRUSTS)
def test_what_counts_is_never_less_than_anything_considered(policy: Policy, facts: Facts, trust: Trust) -> None:
    judgement = judged(policy, facts, trust)
    assert all(strictness(judgement.decision) >= strictness(one) for one in judgement.considered)


def facts(name: str, caller: Caller = ANONYMOUS, rows: int | None = None, **params: Any) -> Facts:
    return Facts(OPERATIONS[name], "shop", caller, params, rows)


SHOP_POLICY = policy("""
    default = "confirm"
    [[rule]]
    name = "anybody may read"
    decision = "allow"
    categories = "read"
    [[rule]]
    name = "small refunds"
    decision = "allow"
    operations = "create_refund"
    callers = "scope:admin"
    when = { amount = { lte = 100 }, "items.price" = { lte = 50 }, "address.verified" = true }
    [[rule]]
    name = "much money"
    decision = "confirm"
    operations = "create_refund"
    when = { amount = { gt = 100 } }
    confirm = "person"
    reason = "The owner decides."
    [[rule]]
    name = "never unknown countries"
    decision = "deny"
    operations = "create_refund"
    when = { "address.country" = { not_in = ["NO", "SE"] }, address = { present = true } }
    [[rule]]
    name = "many rows"
    decision = "deny"
    categories = "delete"
    affected_rows = { gt = 10 }
""")
NORWAY = {"country": "NO"}


@pytest.mark.parametrize(
    ("asked", "trust", "effect", "by"),
    [
        pytest.param(facts("get_order", number=1), "validated", "allow", None, id="reading"),
        pytest.param(facts("get_order", number=1), "untested", "deny", None, id="reading from what nobody knows"),
        pytest.param(
            facts("create_refund", ALICE, number=1, amount=100, address=NORWAY, items=[{"sku": "a", "price": 50}]),
            "validated",
            "allow",
            None,
            id="a small refund",
        ),
        pytest.param(
            facts("create_refund", ALICE, amount="100.00", address=NORWAY, items=[{"sku": "a", "price": 50}]),
            "validated",
            "allow",
            None,
            id="a small refund, as an exact decimal",
        ),
        pytest.param(
            facts("create_refund", ANONYMOUS, amount=5, address=NORWAY, items=[{"sku": "a", "price": 5}]),
            "validated",
            "confirm",
            DEFAULT_RULE,
            id="by nobody in particular",
        ),
        pytest.param(
            facts("create_refund", ALICE, amount=5, address=NORWAY, items=[{"price": 5}, {"price": 51}]),
            "validated",
            "confirm",
            DEFAULT_RULE,
            id="one of its items is too dear",
        ),
        pytest.param(
            facts("create_refund", ALICE, amount=5, address=NORWAY | {"verified": False}, items=[{"price": 5}]),
            "validated",
            "confirm",
            DEFAULT_RULE,
            id="not verified, where the default would be",
        ),
        pytest.param(
            facts("create_refund", ALICE, amount="1e3", address=NORWAY),
            "validated",
            "confirm",
            "much money",
            id="much money, as text",
        ),
        pytest.param(
            facts("create_refund", ALICE, amount=5, address={"country": "DK"}),
            "validated",
            "deny",
            "never unknown countries",
            id="a country that is not known",
        ),
        pytest.param(
            facts("create_refund", ALICE, amount=5, address={}),
            "validated",
            "deny",
            "never unknown countries",
            id="no country",
        ),
        pytest.param(facts("delete_order", rows=11), "validated", "deny", "many rows", id="many rows"),
        pytest.param(facts("delete_order"), "validated", "deny", "many rows", id="nobody knows how many rows"),
        pytest.param(
            facts("delete_order", rows=10),
            "validated",
            "confirm",
            "destructive operations of a validated adapter",
            id="few rows",
        ),
        pytest.param(
            facts("delete_order", rows=10), "certified", "confirm", DEFAULT_RULE, id="few rows, fully trusted"
        ),
        pytest.param(
            facts("purge_orders"),
            "validated",
            "deny",
            "dangerous operations of a validated adapter",
            id="danger alone",
        ),
    ],
)
def test_a_policy_in_use(asked: Facts, trust: str, effect: str, by: str | None) -> None:
    decision = judged(SHOP_POLICY, asked, Trust(trust)).decision
    assert decision.effect == effect
    assert by is None or decision.rule == by


def test_what_a_rule_says_of_who_confirms_is_in_its_decision() -> None:
    decision = judged(SHOP_POLICY, facts("create_refund", amount=101), Trust.VALIDATED).decision
    assert (decision.who, decision.reason, decision.remember) == (Who.PERSON, "The owner decides.", False)
