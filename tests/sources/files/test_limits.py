"""Limits, quotas, prices and confirmations of a file become the policy of whoever serves it."""

from typing import Any

import pytest

from headgate.protocol.categories import Category
from headgate.safety.decisions import Effect
from headgate.safety.policy.limits import ApiLimit, Measure, Price, Quota
from headgate.safety.policy.patterns import Patterns
from tests.sources.files.texts import GET_ITEM, changed, file_of, head, mistakes_in


def limited(**limits: Any) -> dict[str, Any]:
    search = {"name": "search_items", "maps_to": "GET /search", "description": "x"}
    return head(rate_limits=limits, operations={"read": [GET_ITEM, search]})


def test_the_simple_form_counts_everything() -> None:
    found = file_of(limited(requests_per_minute=60, requests_per_hour=1000, requests_per_day=9000, burst_limit=5))
    assert found.policy.api_limits == (
        ApiLimit(limit=60, window="minute"),
        ApiLimit(limit=1000, window="hour"),
        ApiLimit(limit=9000, window="day"),
        ApiLimit(limit=5, window="second"),
    )


def test_a_limit_may_be_of_an_endpoint_or_a_category() -> None:
    limits = [
        {"scope": "global", "limit": 5000, "window": "hour", "remaining_header": "X-Left", "reset_header": "X-Reset"},
        {"scope": "endpoint", "endpoint": "GET /s*", "limit": 30, "window": "minute"},
        {"scope": "category", "category": "read", "limit": 9, "window": "second"},
    ]
    assert file_of(limited(api_limits=limits)).policy.api_limits == (
        ApiLimit(limit=5000, window="hour"),
        ApiLimit(limit=30, window="minute", operations=Patterns(("search_items",))),
        ApiLimit(limit=9, window="second", category=Category.READ),
    )


def test_quotas_and_prices_are_counted_in_millionths() -> None:
    found = file_of(
        limited(
            quotas={
                "enabled": True,
                "limits": [
                    {"metric": "requests_per_hour", "warn": 4, "pause": 5, "hard_stop": 6},
                    {"metric": "cost_per_day", "warn": 0.5, "pause": 1, "currency": "EUR"},
                ],
            },
            cost={
                "model": "per_call",
                "currency": "EUR",
                "pricing": [{"endpoint": "*", "cost_per_call": 0.001}, {"endpoint": "GET /search", "cost_per_call": 2}],
            },
        )
    )
    assert found.policy.quotas == (
        Quota(measure=Measure.REQUESTS, window="hour", warn=4, pause=5, hard_stop=6),
        Quota(measure=Measure.COST, window="day", warn=500_000, pause=1_000_000, currency="EUR"),
    )
    assert found.policy.prices == (
        Price(operations=Patterns(), cost=1_000),
        Price(operations=Patterns(("search_items",)), cost=2_000_000),
    )


def test_quotas_that_are_off_count_nothing() -> None:
    quotas = {"enabled": False, "limits": [{"metric": "requests_per_day", "warn": 1}]}
    assert file_of(limited(quotas=quotas)).policy.quotas == ()


API = {"scope": "global", "limit": 1, "window": "day"}


@pytest.mark.parametrize(
    ("limits", "path"),
    [
        ({"requests_per_minute": 0}, "rate_limits.requests_per_minute"),
        ({"requests_per_week": 1}, "rate_limits.requests_per_week"),
        ({"api_limits": API}, "rate_limits.api_limits"),
        ({"api_limits": [{**API, "scope": "all"}]}, "rate_limits.api_limits[0].scope"),
        ({"api_limits": [{**API, "limit": "many"}]}, "rate_limits.api_limits[0].limit"),
        ({"api_limits": [{**API, "window": "week"}]}, "rate_limits.api_limits[0].window"),
        ({"api_limits": [{"scope": "global"}]}, "rate_limits.api_limits[0].limit"),
        ({"api_limits": [{**API, "scope": "endpoint"}]}, "rate_limits.api_limits[0].endpoint"),
        ({"api_limits": [{**API, "category": "read"}]}, "rate_limits.api_limits[0].category"),
        ({"api_limits": [{**API, "scope": "category", "category": "reads"}]}, "rate_limits.api_limits[0].category"),
        ({"api_limits": [{**API, "scope": "endpoint", "endpoint": 5}]}, "rate_limits.api_limits[0].endpoint"),
        ({"api_limits": [{**API, "reset_header": 5}]}, "rate_limits.api_limits[0].reset_header"),
        ({"api_limits": [API, API]}, "rate_limits"),
        ({"requests_per_day": 1, "api_limits": [API]}, "rate_limits"),
        ({"quotas": {"limits": [{"metric": "calls_per_day", "warn": 1}]}}, "rate_limits.quotas.limits[0].metric"),
        ({"quotas": {"limits": [{"warn": 1}]}}, "rate_limits.quotas.limits[0].metric"),
        ({"quotas": {"limits": [{"metric": "requests_per_day"}]}}, "rate_limits.quotas.limits[0].warn"),
        (
            {"quotas": {"limits": [{"metric": "requests_per_day", "warn": 5, "pause": 3}]}},
            "rate_limits.quotas.limits[0]",
        ),
        ({"quotas": {"limits": [{"metric": "cost_per_day", "warn": 5}]}}, "rate_limits.quotas.limits[0]"),
        ({"quotas": {"limits": [], "persistence": "file"}}, "rate_limits.quotas.persistence"),
        ({"quotas": {}}, "rate_limits.quotas.limits"),
        ({"cost": {"currency": "EUR"}}, "rate_limits.cost.pricing"),
        ({"cost": {"currency": "Euro", "pricing": []}}, "rate_limits.cost.currency"),
        ({"cost": {"model": "per_byte", "currency": "EUR", "pricing": []}}, "rate_limits.cost.model"),
        (
            {"cost": {"currency": "EUR", "pricing": [{"endpoint": "*", "cost_per_call": 1e-9}]}},
            "rate_limits.cost.pricing[0]",
        ),
        ({"cost": {"currency": "EUR", "pricing": [{"endpoint": "*"}]}}, "rate_limits.cost.pricing[0].cost_per_call"),
    ],
)
def test_a_limit_that_makes_no_sense_is_told(limits: dict[str, Any], path: str) -> None:
    assert path in [one.path for one in mistakes_in(limited(**limits))]


def test_prices_in_another_currency_than_the_quota_are_told() -> None:
    limits = {
        "cost": {"currency": "EUR", "pricing": [{"endpoint": "*", "cost_per_call": 1}]},
        "quotas": {"limits": [{"metric": "cost_per_day", "warn": 5, "currency": "USD"}]},
    }
    assert [one.path for one in mistakes_in(limited(**limits))] == ["rate_limits.quotas.limits[0].currency"]


def test_a_confirmation_that_the_file_demands_is_a_rule() -> None:
    (rule,) = file_of(changed("operations.read.0.requires_confirmation", True)).policy.rules
    assert (rule.effect, rule.operations) == (Effect.CONFIRM, Patterns(("get_item",)))
    assert file_of(head()).policy.rules == ()
