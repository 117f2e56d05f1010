"""A policy file that is right becomes exactly the policy that it says."""

import tomllib
from pathlib import Path

import pytest

from headgate.protocol.categories import Category
from headgate.protocol.danger import Danger, DangerLevel, Trust
from headgate.safety.decisions import Effect, Who
from headgate.safety.policy.conditions import Condition
from headgate.safety.policy.limits import ApiLimit, Measure, Price, Quota, price_of
from headgate.safety.policy.patterns import Patterns
from headgate.safety.policy.reading import policy_from, read_policy
from headgate.safety.policy.rules import AuditSettings, Confirmation, Escalation, Policy, Rule

EVERYTHING = """
trust = "validated"
default = "confirm"

[[rule]]
name = "ask before deleting much"
decision = "confirm"
operations = ["delete_*", "!delete_draft"]
categories = ["DELETE", "execute"]
sources = ["shop"]
callers = ["alice", "scope:admin", "client:web-*", "anonymous", "!bob"]
when = { amount = { gt = 100, lte = 2.5e3 }, "address.country" = "NO", reason = { present = false } }
affected_rows = { gt = 10 }
confirm = "person"
remember = "session"
reason = "Ask the data owner."
optional = true

[[rule]]
name = "never these"
decision = "deny"
operations = "purge_*"
when = { sku = { matches = "^X" }, status = { in = ["a", "b"] }, tags = { eq = ["x", "y"] }, force = true }

[danger."purge_*"]
level = "reversible"
reasons = ["There is a copy", "Every night"]
confirmation_message = "Purge {what}?"
cooldown_seconds = 5
requires_reauth = true

[danger.archive_book]
level = "dangerous"
reasons = "Nobody finds it again"

[confirmation]
by = "person"
elicit = false
batches = "skip"
outlive_session = true
clock_skew_seconds = 61.5
max_live = 2000
refusals_per_minute = 3
seconds = { destructive = 900, forbidden = 299.5, quota = 600, safe = 1 }

[escalation]
after = 10
within = "hour"
levels = ["reversible", "safe"]

[[api_limit]]
scope = "global"
limit = 1000
window = "day"

[[api_limit]]
scope = "endpoint"
endpoint = ["search_*", "list_*"]
limit = 30
window = "minute"

[[api_limit]]
scope = "category"
category = "read"
limit = 5
window = "second"

[[quota]]
metric = "requests_per_hour"
warn = 4000
pause = 4800
hard_stop = 5000
per = "caller"
operations = "search_*"
confirm = "person"

[[quota]]
metric = "cost_per_month"
warn = 0.1
hard_stop = 25

[cost]
currency = "USD"
pricing = [
    { operations = "*", cost_per_call = 0.000001 },
    { operations = ["premium_*"], cost_per_call = 0.07 },
    { operations = "premium_trial", cost_per_call = 0 },
]

[audit]
operations = "all"
keep_days = 90
"""

ASK = Rule(
    name="ask before deleting much",
    effect=Effect.CONFIRM,
    operations=Patterns(("delete_*", "!delete_draft")),
    categories=frozenset({Category.DELETE, Category.EXECUTE}),
    sources=Patterns(("shop",)),
    callers=Patterns(("alice", "scope:admin", "client:web-*", "anonymous", "!bob")),
    conditions=(
        Condition("amount", "gt", 100),
        Condition("amount", "lte", 2500.0),
        Condition("address.country", "eq", "NO"),
        Condition("reason", "present", False),
    ),
    affected_rows=(Condition("affected_rows", "gt", 10),),
    who=Who.PERSON,
    remember=True,
    reason="Ask the data owner.",
    optional=True,
)
NEVER = Rule(
    name="never these",
    effect=Effect.DENY,
    operations=Patterns(("purge_*",)),
    conditions=(
        Condition("sku", "matches", "^X"),
        Condition("status", "in", ("a", "b")),
        Condition("tags", "eq", ("x", "y")),
        Condition("force", "eq", True),
    ),
)
ALL_OF_IT = Policy(
    name="policy.toml",
    trust=Trust.VALIDATED,
    default=Effect.CONFIRM,
    rules=(ASK, NEVER),
    danger=(
        (
            Patterns(("purge_*",)),
            Danger(DangerLevel.REVERSIBLE, ("There is a copy", "Every night"), "Purge {what}?", 5.0, True),
        ),
        (Patterns(("archive_book",)), Danger(DangerLevel.DANGEROUS, ("Nobody finds it again",))),
    ),
    confirmation=Confirmation(
        by=Who.PERSON,
        elicit=False,
        skip_in_batches=True,
        outlive_session=True,
        clock_skew_seconds=61.5,
        max_live=2000,
        refusals_per_minute=3,
        seconds={
            DangerLevel.SAFE: 1.0,
            DangerLevel.REVERSIBLE: 300.0,
            DangerLevel.DESTRUCTIVE: 900.0,
            DangerLevel.DANGEROUS: 300.0,
            DangerLevel.FORBIDDEN: 299.5,
        },
        quota_seconds=600.0,
    ),
    escalation=Escalation(after=10, seconds=3600.0, levels=frozenset({DangerLevel.REVERSIBLE, DangerLevel.SAFE})),
    api_limits=(
        ApiLimit(limit=1000, window="day"),
        ApiLimit(limit=30, window="minute", operations=Patterns(("search_*", "list_*"))),
        ApiLimit(limit=5, window="second", category=Category.READ),
    ),
    quotas=(
        Quota(
            measure=Measure.REQUESTS,
            window="hour",
            warn=4000,
            pause=4800,
            hard_stop=5000,
            operations=Patterns(("search_*",)),
            per_caller=True,
            who=Who.PERSON,
        ),
        Quota(measure=Measure.COST, window="month", warn=100_000, hard_stop=25_000_000, currency="USD"),
    ),
    prices=(
        Price(operations=Patterns(("*",)), cost=1),
        Price(operations=Patterns(("premium_*",)), cost=70_000),
        Price(operations=Patterns(("premium_trial",)), cost=0),
    ),
    audit=AuditSettings(all_operations=True, keep_days=90.0),
)


def test_a_file_with_everything_in_it(tmp_path: Path) -> None:
    file = tmp_path / "policy.toml"
    file.write_text(EVERYTHING)
    assert read_policy(file) == ALL_OF_IT
    assert read_policy(str(file)) == ALL_OF_IT


def test_a_table_of_a_larger_file(tmp_path: Path) -> None:
    file = tmp_path / "headgate.toml"
    file.write_text('source = "shop.db"\nstate = "memory:"\n[policy]\ndefault = "deny"\n')
    assert read_policy(file) == Policy(name="headgate.toml", default=Effect.DENY)


def test_what_is_already_read_needs_no_file() -> None:
    assert policy_from({"default": "deny"}, "policy") == Policy(name="policy", default=Effect.DENY)


def test_a_mark_of_the_byte_order_is_no_part_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "policy.toml"
    file.write_bytes(b'\xef\xbb\xbftrust = "certified"\r\n')
    assert read_policy(file).trust is Trust.CERTIFIED


def test_what_is_not_said_is_as_usual() -> None:
    rule = policy_from({"rule": [{"name": "stop", "decision": "deny"}]}, "policy").rules[0]
    assert rule == Rule(name="stop", effect=Effect.DENY)
    escalation = policy_from({"escalation": {"after": 1, "within": "month"}}, "policy").escalation
    assert escalation
    assert escalation.seconds == 30 * 24 * 60 * 60
    assert escalation.levels == {DangerLevel.REVERSIBLE, DangerLevel.DESTRUCTIVE, DangerLevel.DANGEROUS}


@pytest.mark.parametrize(
    ("written", "millionths"),
    [("0.1", 100_000), ("1e-6", 1), ("0.29", 290_000), ("4.35", 4_350_000), ("1234567.891011", 1_234_567_891_011)],
)
def test_costs_are_exact(written: str, millionths: int) -> None:
    toml = f'[cost]\ncurrency = "EUR"\npricing = [{{ operations = "*", cost_per_call = {written} }}]'
    assert price_of(policy_from(tomllib.loads(toml), "policy").prices, "get_book") == millionths


def test_the_last_price_that_matches_counts() -> None:
    prices = ALL_OF_IT.prices
    assert [price_of(prices, name) for name in ("get_book", "premium_find", "premium_trial")] == [1, 70_000, 0]


class TestVersion:
    """What was confirmed under one policy does not count under another."""

    def test_the_name_of_a_file_rules_nothing(self) -> None:
        content = tomllib.loads(EVERYTHING)
        assert policy_from(content, "a.toml").version == policy_from(content, "elsewhere/b.toml").version

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            ("gt = 100", "gt = 101"),
            ("gt = 100", "gt = 100.0"),
            ("gt = 100", "gte = 100"),
            ('in = ["a", "b"]', 'in = ["a", "c"]'),
            ("force = true", 'force = "true"'),
            ('decision = "deny"', 'decision = "confirm"'),
            ("cooldown_seconds = 5", "cooldown_seconds = 6"),
            ("safe = 1 }", "safe = 2 }"),
            ("keep_days = 90", "keep_days = 91"),
            ('"!bob"', '"!bert"'),
        ],
    )
    def test_whatever_it_rules_makes_it_another(self, old: str, new: str) -> None:
        changed = EVERYTHING.replace(old, new, 1)
        assert changed != EVERYTHING
        assert policy_from(tomllib.loads(changed), "p").version != policy_from(tomllib.loads(EVERYTHING), "p").version
