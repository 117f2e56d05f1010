"""The limits, quotas and prices of a policy file."""

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from itertools import pairwise
from typing import Final

from headgate.protocol.categories import Category
from headgate.safety.decisions import Who
from headgate.safety.policy.limits import MICRO, WINDOWS, ApiLimit, Measure, Price, Quota
from headgate.safety.policy.patterns import ANYTHING
from headgate.safety.policy.rule_tables import operation_patterns
from headgate.safety.policy.tables import Mistake, Place, Reader, Table, named, number, one_of, subtables, text, whole

__all__ = ["read_api_limits", "read_cost", "read_quotas"]

_SCOPES: Final = ("global", "endpoint", "category")
_API_WINDOWS: Final = ("second", "minute", "hour", "day")
_METRICS: Final[Mapping[str, tuple[Measure, str]]] = {
    f"{measure}_per_{name}": (measure, name) for measure in Measure for name in WINDOWS if name != "second"
}
_PRICE_KEYS: Final = ("operations", "cost_per_call")
_LEVELS: Final = ("warn", "pause", "hard_stop")
_CURRENCY: Final = re.compile(r"[A-Z]{3}\Z")
_MOST: Final = 10**12


def read_api_limits(content: object, place: Place) -> tuple[ApiLimit, ...]:
    """What an API behind the adapter permits."""
    taken: dict[str, str] = {}
    return tuple(
        _api_limit(one, place.below(f"api_limit {count}"), taken)
        for count, one in subtables(content, place, "api_limit")
    )


def _api_limit(content: object, place: Place, taken: dict[str, str]) -> ApiLimit:
    table = Table(content, place, ("scope", "endpoint", "category", "limit", "window"), ("scope", "limit", "window"))
    scope = table.take("scope", one_of(_SCOPES), "")
    for key in ("endpoint", "category"):
        if key == scope and key not in table:
            place.note(f"the key '{key}' is missing: with scope = \"{scope}\" it says which")
        if key != scope and key in table and scope:
            place.key(key).note(f'this is only for scope = "{key}", and here it is "{scope}"')
    limit = ApiLimit(
        limit=table.take("limit", whole(1, _MOST), 1),
        window=table.take("window", one_of(_API_WINDOWS), "day"),
        operations=table.take("endpoint", operation_patterns, ANYTHING),
        category=table.take("category", one_of(list(Category), any_case=True), None),
    )
    _note_twice(limit.key, place, taken)
    return limit


def _note_twice(key: str, place: Place, taken: dict[str, str]) -> None:
    """Two that count the same would count everything twice."""
    if key in taken:
        place.note(f"{taken[key]} counts the same already: leave one of them out")
    taken.setdefault(key, place.words)


def read_quotas(content: object, place: Place, currency: str | None) -> tuple[Quota, ...]:
    """How much there may be of something; ``currency`` is the one of the prices, or None if there are none."""
    taken: dict[str, str] = {}
    return tuple(
        _quota(one, place.below(f"quota {count}"), currency, taken) for count, one in subtables(content, place, "quota")
    )


def _quota(content: object, place: Place, currency: str | None, taken: dict[str, str]) -> Quota:
    known = ("metric", *_LEVELS, "per", "operations", "currency", "confirm")
    table = Table(content, place, known, ("metric", "warn"))
    metric = table.take("metric", one_of(list(_METRICS)), "")
    measure, window = _METRICS.get(metric, (Measure.COST, "month"))
    if "confirm" in table and "pause" not in table:
        place.key("confirm").note("this is only for a quota with 'pause', after which somebody must confirm")
    amounts = {key: table.take(key, _amount(measure), None) for key in _LEVELS}
    _note_disorder(amounts, place)
    quota = Quota(
        measure=measure,
        window=window,
        warn=amounts["warn"] or 1,
        pause=amounts["pause"],
        hard_stop=amounts["hard_stop"],
        operations=table.take("operations", operation_patterns, ANYTHING),
        per_caller=table.take("per", one_of(("adapter", "caller")), "adapter") == "caller",
        currency=_quota_currency(table, measure, currency) if metric else "",
        who=table.take("confirm", one_of(list(Who)), Who.CLIENT),
    )
    if metric:
        _note_twice(f"{quota.key} {quota.per_caller}", place, taken)
    return quota


def _quota_currency(table: Table, measure: Measure, prices: str | None) -> str:
    """The currency of a cost: the one that prices are in, as nobody changes money here."""
    given = table.take("currency", _currency, "")
    if measure is not Measure.COST:
        if "currency" in table:
            table.place.key("currency").note("this is only for a quota of cost")
        return ""
    if prices is None:
        table.place.note("nothing has a price, so it would count nothing: add [cost] with prices")
    elif given and prices and given != prices:
        table.place.key("currency").note(f"prices are in {prices}, so {given} would never be counted: use the same")
    return given or prices or ""


def _amount(measure: Measure) -> Reader[int]:
    """An amount above 0, in millionths if it is a cost."""
    return _millionths(above=True) if measure is Measure.COST else whole(1, _MOST)


def _millionths(*, above: bool) -> Reader[int]:
    def read(value: object) -> int:
        number(0, _MOST, above=above)(value)
        exact = Decimal(str(value)) * MICRO
        if exact != exact.to_integral_value():
            raise Mistake(f"{value} is finer than a millionth, in which costs are counted")
        return int(exact)

    return read


def _note_disorder(amounts: Mapping[str, int | None], place: Place) -> None:
    given = [(key, amount) for key, amount in amounts.items() if amount is not None]
    for (lower, least), (upper, most) in pairwise(given):
        if least > most:
            place.note(f"'{lower}' is above '{upper}': each must be the same as the one before or more")


def read_cost(content: object, place: Place) -> tuple[str, tuple[Price, ...]]:
    """What calls cost, and in which currency."""
    here = place.below("cost")
    table = Table(content, here, ("currency", "pricing"), ("currency", "pricing"))
    currency = table.take("currency", _currency, "")
    return currency, tuple(_prices(table.value("pricing"), here)) if "pricing" in table else ()


def _currency(value: object) -> str:
    code = text(value)
    if not _CURRENCY.match(code):
        raise Mistake(f"{named(code)} is no currency: write its three capital letters, such as USD")
    return code


def _prices(content: object, place: Place) -> Iterator[Price]:
    for count, one in subtables(content, place, "pricing"):
        table = Table(
            one, place.below(f"price {count}"), ("operations", "cost_per_call"), ("operations", "cost_per_call")
        )
        yield Price(
            operations=table.take("operations", operation_patterns, ANYTHING),
            cost=table.take("cost_per_call", _millionths(above=False), 0),
        )
