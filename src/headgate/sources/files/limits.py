"""The block ``rate_limits``: what an API permits, what its user wants to spend, and what calls cost (Rate Limiting)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fnmatch import fnmatchcase
from itertools import pairwise
from typing import Final

from headgate.protocol.categories import Category
from headgate.safety.policy.limits import MICRO, ApiLimit, Measure, Price, Quota
from headgate.safety.policy.patterns import ANYTHING, Patterns
from headgate.sources.files.headroom import Telling
from headgate.sources.files.spots import Spot
from headgate.sources.files.values import Entry

__all__ = ["LIMIT_KEYS", "Limits", "read_limits"]

_SIMPLE: Final[Mapping[str, str]] = {
    "requests_per_minute": "minute",
    "requests_per_hour": "hour",
    "requests_per_day": "day",
    "burst_limit": "second",
}
LIMIT_KEYS: Final = (*_SIMPLE, "api_limits", "quotas", "cost")
_API_KEYS: Final = ("scope", "endpoint", "category", "limit", "window", "remaining_header", "reset_header")
_SCOPES: Final = ("global", "endpoint", "category")
_WINDOWS: Final = ("second", "minute", "hour", "day")
_QUOTA_KEYS: Final = ("metric", "warn", "pause", "hard_stop", "currency")
_LEVELS: Final[Sequence[str]] = ("warn", "pause", "hard_stop")
_METRICS: Final[Mapping[str, tuple[Measure, str]]] = {
    f"{measure}_per_{window}": (measure, window) for measure in Measure for window in ("minute", "hour", "day", "month")
}
_MOST: Final = 10**12


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a file, in the policy's own values."""

    api_limits: tuple[ApiLimit, ...] = ()
    quotas: tuple[Quota, ...] = ()
    prices: tuple[Price, ...] = ()
    telling: tuple[Telling, ...] = ()


def read_limits(spot: Spot, entries: Sequence[Entry]) -> Limits:
    """The limits of a file; endpoints are those of its operations."""
    fields = spot.fields(LIMIT_KEYS)
    limits = [*_simple(fields), *(_api_limits(fields["api_limits"], entries) if "api_limits" in fields else ())]
    currency, prices = _cost(fields["cost"], entries) if "cost" in fields else (None, ())
    quotas = tuple(_quotas(fields["quotas"], currency)) if "quotas" in fields else ()
    keys = [limit.key for limit in limits]
    for key in {key for key in keys if keys.count(key) > 1}:
        spot.wrong("each limit once", "Leave one of the two out.", found=f"two limits of '{key}'")
    return Limits(tuple(limits), quotas, prices, tuple(_telling(fields.get("api_limits"))))


def _telling(spot: Spot | None) -> Iterator[Telling]:
    """The headers of limits of all operations; both must be there to know until when to wait."""
    for one in spot.value if spot is not None and isinstance(spot.value, list) else ():
        match one:
            case {"scope": "global", "remaining_header": str(remaining), "reset_header": str(reset)}:
                yield Telling(remaining, reset)
            case _:
                pass


def _simple(fields: Mapping[str, Spot]) -> Iterator[ApiLimit]:
    for name, window in _SIMPLE.items():
        limit = fields[name].whole(1, _MOST) if name in fields else None
        if limit is not None:
            yield ApiLimit(limit=limit, window=window)


def _api_limits(spot: Spot, entries: Sequence[Entry]) -> Iterator[ApiLimit]:
    for item in spot.items():
        fields = item.fields(_API_KEYS, ("scope", "limit", "window"))
        scope = fields["scope"].choice(_SCOPES) if "scope" in fields else None
        limit = fields["limit"].whole(1, _MOST) if "limit" in fields else None
        window = fields["window"].choice(_WINDOWS) if "window" in fields else None
        for name in ("endpoint", "category"):
            _check_scope(item, name, scope, given=name in fields)
        for name in ("remaining_header", "reset_header"):
            if name in fields:
                fields[name].text()
        operations = _operations(fields["endpoint"], entries) if "endpoint" in fields else ANYTHING
        category = _category(fields["category"]) if "category" in fields else None
        if scope and limit and window:
            yield ApiLimit(limit=limit, window=window, operations=operations, category=category)


def _check_scope(item: Spot, name: str, scope: str | None, *, given: bool) -> None:
    here = item.below(name, None)
    if scope == name and not given:
        fix = f"Add '{name}:', which says which."
        here.wrong(f"the field '{name}'", fix, found="none", code="SCHEMA_MISSING_FIELD")
    elif scope is not None and scope != name and given:
        here.wrong(f"'scope: {name}' beside it", f"Correct the scope, or remove '{name}'.", found=f"'{scope}'")


def _category(spot: Spot) -> Category | None:
    word = spot.choice([category.value.lower() for category in Category])
    return Category(word.upper()) if word else None


def _operations(spot: Spot, entries: Sequence[Entry]) -> Patterns:
    """The operations whose mapping an endpoint such as ``POST /search/*`` matches."""
    pattern = spot.text()
    if pattern is None:
        return ANYTHING
    names = tuple(one.name for one in entries if fnmatchcase(one.maps_to, pattern.replace("[", "[[]")))
    if pattern == "*":
        return ANYTHING
    if not names:
        fix = "Write it as 'maps_to' has it; '*' stands for anything."
        spot.wrong("an endpoint of one of the operations", fix, code="SCHEMA_UNRESOLVED_REF")
    return Patterns(names)


def _quotas(spot: Spot, currency: str | None) -> Iterator[Quota]:
    fields = spot.fields(("enabled", "limits", "persistence", "reset_schedule"), ("limits",))
    enabled = fields["enabled"].flag() if "enabled" in fields else True
    for name in ("persistence", "reset_schedule"):
        if name in fields:
            fix = "Remove it: the server counts in its own state."
            fields[name].wrong("nothing of how it is counted", fix)
    if "limits" in fields:
        quotas = [quota for item in fields["limits"].items() if (quota := _quota(item, currency))]
        yield from quotas if enabled else ()


def _quota(item: Spot, prices: str | None) -> Quota | None:
    fields = item.fields(_QUOTA_KEYS, ("metric", "warn"))
    metric = fields["metric"].choice(list(_METRICS)) if "metric" in fields else None
    if metric is None:
        return None
    measure, window = _METRICS[metric]
    amounts = {name: _amount(fields[name], measure) for name in _LEVELS if name in fields}
    _check_order(item, amounts)
    currency = fields["currency"].text() if "currency" in fields else None
    if measure is Measure.COST and prices is None:
        fix = "Add 'cost:' with 'pricing:'."
        item.wrong("prices, without which nothing costs anything", fix, found="none", code="SCHEMA_MISSING_FIELD")
    elif measure is Measure.COST and currency not in (None, prices):
        fields["currency"].wrong(f"'{prices}', in which the prices are", "Use the same.")
    if not amounts.get("warn"):
        return None
    return Quota(
        measure=measure,
        window=window,
        warn=amounts["warn"] or 1,
        pause=amounts.get("pause"),
        hard_stop=amounts.get("hard_stop"),
        currency=prices or "" if measure is Measure.COST else "",
    )


def _amount(spot: Spot, measure: Measure) -> int | None:
    if measure is not Measure.COST:
        return spot.whole(1, _MOST)
    amount = spot.number(0, _MOST)
    return None if amount is None else _millionths(spot, amount)


def _millionths(spot: Spot, amount: float) -> int | None:
    exact = Decimal(str(amount)) * MICRO
    if exact != exact.to_integral_value():
        spot.wrong("an amount of whole millionths", "Round it.")
        return None
    return int(exact)


def _check_order(item: Spot, amounts: Mapping[str, int | None]) -> None:
    given = [(name, amount) for name, amount in amounts.items() if amount is not None]
    for (lower, least), (upper, most) in pairwise(given):
        if least > most:
            item.wrong(f"'{lower}' to be no more than '{upper}'", "Correct one of them.", found="more")


def _cost(spot: Spot, entries: Sequence[Entry]) -> tuple[str | None, tuple[Price, ...]]:
    fields = spot.fields(("model", "currency", "pricing"), ("currency", "pricing"))
    if "model" in fields:
        fields["model"].choice(("per_call",))
    currency = fields["currency"].text(longest=3) if "currency" in fields else None
    prices = tuple(_prices(fields["pricing"], entries)) if "pricing" in fields else ()
    return currency or "", prices


def _prices(spot: Spot, entries: Sequence[Entry]) -> Iterator[Price]:
    for item in spot.items():
        fields = item.fields(("endpoint", "cost_per_call"), ("endpoint", "cost_per_call"))
        operations = _operations(fields["endpoint"], entries) if "endpoint" in fields else ANYTHING
        amount = fields["cost_per_call"].number(0, _MOST) if "cost_per_call" in fields else None
        cost = None if amount is None else _millionths(item, amount)
        if cost is not None:
            yield Price(operations=operations, cost=cost)
