"""Collections: summaries."""

from collections.abc import AsyncIterator, Mapping
from typing import Any, Final

from headgate.conformance.listing import Listing, canonical, items_in, listings, scalar_fields, with_items
from headgate.conformance.probe import Probe
from headgate.conformance.registry import broken, check, holds, unseen
from headgate.conformance.values import Area, Demand, Exchange, Finding

__all__: list[str] = []

_COUNT: Final = {"total": {"count": True}}
_MOST_TRIES: Final = 4


def _summaries(exchange: Exchange) -> Mapping[str, Any]:
    found = exchange.data.get("aggregations") if isinstance(exchange.data, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _number(value: object) -> int | None:
    """A count, alone or under the name of its function."""
    if isinstance(value, Mapping):
        value = value.get("count")
    return value if isinstance(value, int) and not isinstance(value, bool) else None


async def _summed(probe: Probe, listing: Listing, aggregate: object, **more: object) -> Exchange:
    return await probe.call(listing.operation, {**listing.params, "aggregate": aggregate, **more})


async def _summing(probe: Probe) -> list[Listing]:
    return [listing for listing in await listings(probe) if listing.takes_type("aggregate", "object")]


@check(
    "aggregation.count",
    "A count stands in 'aggregations' under the name that was given to it, and counts the whole collection.",
    section="collection querying 2.5",
    demand=Demand.SHOULD,
    area=Area.COLLECTIONS,
    level=2,
    how="Asks collections that take 'aggregate' for {total: {count: true}}, and compares with the items seen.",
    proves=("ops-4.2-aggregation-uses-aggregate-object", "cq-2.5-aggregate-shape"),
)
async def count(probe: Probe) -> AsyncIterator[Finding]:
    """Not only the page is counted."""
    for listing in await _summing(probe):
        exchange = await _summed(probe, listing, _COUNT)
        if not exchange.succeeded:
            continue
        told = _number(_summaries(exchange).get("total"))
        words = "the answer has no number 'data.aggregations.total'" if told is None else _miscounted(listing, told)
        if words:
            words = f"'{listing.name}' was asked to count, and {words}"
            yield broken(listing.name, words, listing.page.exchange, exchange)
        else:
            yield holds(listing.name, exchange)


def _miscounted(listing: Listing, told: int) -> str:
    page, seen = listing.page, len(listing.items)
    if page.total is not None and page.total != told:
        return f"says {told} where its pages say {page.total}"
    if told < seen or (page.more is True and told == seen):
        return f"says {told} although there are {seen} items or more"
    if page.more is False and page.total is None and told != seen:
        return f"says {told} although {seen} items are all there are"
    return ""


@check(
    "aggregation.groups",
    "The counts of groups sum up to the count of the whole.",
    section="collection querying 2.5",
    demand=Demand.SHOULD,
    area=Area.COLLECTIONS,
    level=2,
    how="Asks in one request for a count and for a count by a field with few values: one that the introspection of the "
    "operation names as groupable, or one that the items have.",
    proves=("ops-4.2-aggregation-uses-aggregate-object", "cq-2.5-aggregate-shape"),
)
async def groups(probe: Probe) -> AsyncIterator[Finding]:
    """Every item is in one group."""
    for listing in with_items(await _summing(probe), 1):
        yield await _grouped(probe, listing)


async def _grouped(probe: Probe, listing: Listing) -> Finding:
    for name in _groupable(listing)[:_MOST_TRIES]:
        exchange = await _summed(probe, listing, {**_COUNT, "by_field": {"group_by": name, "count": True}})
        told, grouped = _number(_summaries(exchange).get("total")), _summaries(exchange).get("by_field")
        if not exchange.succeeded or told is None:
            continue
        if not isinstance(grouped, Mapping):
            words = (
                f"'{listing.name}' was asked for groups by '{name}', and gave no object 'data.aggregations.by_field'"
            )
            return broken(listing.name, words, exchange)
        counts = [_number(value) for value in grouped.values()]
        total = sum(one or 0 for one in counts)
        if total < told and (exchange.envelope or {}).get("warnings"):
            continue  # it says that some groups are left out
        if None in counts or total != told:
            words = f"'{listing.name}': the groups by '{name}' sum up to {total}, and all are {told}"
            return broken(listing.name, words, exchange)
        return holds(listing.name, exchange)
    return unseen(listing.name, "no field was found that its items can be grouped by")


def _groupable(listing: Listing) -> list[str]:
    """Fields to group by, those with the fewest values first."""
    values = scalar_fields(listing.items)
    support = listing.operation.details.get("aggregation_support")
    told = support.get("groupable_fields") if isinstance(support, Mapping) else None
    names = [name for name in values if not isinstance(told, list) or name in told]
    return sorted(names, key=lambda name: len({canonical(one) for one in values[name]}))


@check(
    "aggregation.summary-only",
    "Summaries come without the items, unless 'include_items' is true.",
    section="collection querying 2.5",
    demand=Demand.SHOULD,
    area=Area.COLLECTIONS,
    level=2,
    how="Asks collections that have items for a count, without and, where it is declared, with 'include_items'.",
    proves=("cq-2.5-summary-by-default",),
)
async def summary_only(probe: Probe) -> AsyncIterator[Finding]:
    """A summary costs no page of items."""
    for listing in with_items(await _summing(probe), 1):
        exchange = await _summed(probe, listing, _COUNT)
        if not exchange.succeeded:
            continue
        found = items_in(exchange.data)
        if found:
            words = f"'{listing.name}' gave {len(found)} items beside a summary, and nobody had asked for them"
            yield broken(listing.name, words, exchange)
            continue
        yield holds(listing.name, exchange)
        if listing.takes("include_items"):
            with_them = await _summed(probe, listing, _COUNT, include_items=True)
            if with_them.succeeded and not items_in(with_them.data):
                words = f"'{listing.name}' gave no items beside a summary although 'include_items' was true"
                yield broken(listing.name, words, with_them)
