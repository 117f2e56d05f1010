"""Collections: which fields of which items, and in which order."""

import re
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from headgate.conformance.listing import (
    Listing,
    Scalar,
    canonical,
    listings,
    page_in,
    refusal,
    scalar_fields,
    with_items,
)
from headgate.conformance.ordering import is_sorted
from headgate.conformance.probe import Probe
from headgate.conformance.registry import broken, check, holds, unseen
from headgate.conformance.values import Area, Demand, Exchange, Finding

__all__: list[str] = []

_UNKNOWN: Final = "no_such_field"
_PRESETS: Final = ("minimal", "standard", "full")
_LISTS: Final = ("array", "string[]", "array<string>", "list", "string_array")
_MOST_TRIES: Final = 5
_LONGEST: Final = 60
_ORDERS: Final = ("asc", "desc")


def _named_first(names: Iterable[str], listing: Listing, parameter: str) -> list[str]:
    """Field names, those that an example or a description of a parameter mentions before the rest."""
    shown = [example.get(parameter) for example in listing.operation.examples]
    declared = listing.operation.parameter(parameter)
    texts = f"{shown} {declared.description if declared else ''}"
    return sorted(names, key=lambda name: not re.search(rf"\b{re.escape(name)}\b", texts))


# fields


def _takes_list(listing: Listing) -> bool:
    return listing.takes_type("fields", *_LISTS)


@check(
    "selection.fields",
    "Items have the fields that were asked for, and no others.",
    section="collection querying 2.4",
    demand=Demand.SHOULD,
    area=Area.COLLECTIONS,
    level=2,
    how="Asks collections that take a list in 'fields' for two fields that their items have; an identifier and "
    "metadata may come beside them.",
    proves=("ops-4.2-selection-uses-fields", "cq-5-advertised-controls-not-ignored"),
)
async def fields(probe: Probe) -> AsyncIterator[Finding]:
    """A selection is what was selected."""
    for listing in with_items(await listings(probe), 1):
        names = list(scalar_fields(listing.items))[-2:]
        if not _takes_list(listing) or not names or len(listing.items[0]) <= len(names):
            continue
        exchange = await probe.call(listing.operation, {**listing.few(), "fields": names})
        page = page_in(exchange)
        if page is None or not page.items:
            yield unseen(listing.name, "no items were given with a list in 'fields'", exchange)
            continue
        words = _wrong_fields(page.items, names)
        yield broken(listing.name, f"'{listing.name}' {words}", exchange) if words else holds(listing.name, exchange)


def _wrong_fields(items: Sequence[Any], names: list[str]) -> str:
    asked = ", ".join(map(repr, names))
    for item in items:
        if not isinstance(item, Mapping):
            return f"gave an item that is no object although 'fields' was {asked}"
        more = [name for name in item if name not in names and name != "id" and not name.startswith(("_", "@"))]
        if more:
            return f"gave {', '.join(map(repr, more[:3]))} although 'fields' was {asked}"
        fewer = [name for name in names if name not in item]
        if fewer:
            return f"did not give {', '.join(map(repr, fewer))} although 'fields' was {asked}"
    return ""


def _presets(listing: Listing) -> list[str]:
    """The presets that introspection names for an operation."""
    declared = listing.operation.parameter("fields")
    if declared is None or not listing.takes_type("fields", "string"):
        return []
    told = f"{declared.raw.get('enum', '')} {declared.description} {listing.operation.description}"
    return [name for name in _PRESETS if re.search(rf"\b{name}\b", told)]


@check(
    "selection.presets",
    "The presets of fields that introspection names can be used, and a smaller one gives no more than a larger one.",
    section="collection querying 2.4",
    demand=Demand.SHOULD,
    area=Area.COLLECTIONS,
    level=2,
    how="Asks collections for each of 'minimal', 'standard' and 'full' that introspection names for 'fields'.",
    proves=(
        "ops-4.2-selection-uses-fields",
        "cq-6-field-selection-told",
    ),
)
async def presets(probe: Probe) -> AsyncIterator[Finding]:
    """A preset is there, and is what its name says."""
    for listing in with_items(await listings(probe), 1):
        known: dict[str, set[str]] = {}
        exchange: Exchange | None = None
        for name in _presets(listing):
            exchange = await probe.call(listing.operation, {**listing.few(3), "fields": name})
            if exchange.failed:
                words = f"'{listing.name}' refused the preset '{name}', which introspection names: {exchange.message}"
                yield broken(f"{listing.name}.{name}", words, exchange)
            page = page_in(exchange)
            if page is not None and scalar_fields(page.items):
                known[name] = {key for item in page.items for key in item if not key.startswith("_")}
        if exchange is not None and known:
            yield _nested(listing, known, exchange)


def _nested(listing: Listing, known: Mapping[str, set[str]], exchange: Exchange) -> Finding:
    held = list(known.items())
    for (small, few), (large, many) in pairwise(held):
        if few - many:
            more = ", ".join(map(repr, sorted(few - many)[:3]))
            return broken(listing.name, f"'{listing.name}': '{small}' gives {more}, and '{large}' does not", exchange)
    if "minimal" in known and known["minimal"] == known.get("full") and len(listing.items[0]) > len(known["minimal"]):
        return broken(listing.name, f"'{listing.name}': 'full' gives less than no preset at all", exchange)
    return holds(listing.name, exchange)


async def _unknown(probe: Probe, parameter: str, value: object, what: str, *types: str) -> AsyncIterator[Finding]:
    """What becomes of a name that no item has."""
    for listing in await listings(probe):
        if not listing.takes(parameter) or (types and not listing.takes_type(parameter, *types)):
            continue
        exchange = await probe.call(listing.operation, {**listing.few(3), parameter: value})
        words = f"'{listing.name}' took '{_UNKNOWN}' as {what}; a validation error is expected"
        for finding in refusal(f"{listing.name}.{parameter}", exchange, words):
            yield finding


@check(
    "selection.unknown-field-refused",
    "A field that there is not is refused where fields are selected.",
    section="collection querying 5",
    demand=Demand.SHOULD,
    area=Area.COLLECTIONS,
    level=2,
    how="Asks collections that take a list in 'fields' for a field that no item has.",
    proves=("cq-5-advertised-controls-not-ignored",),
)
async def unknown_field_refused(probe: Probe) -> AsyncIterator[Finding]:
    """A slip is told."""
    async for finding in _unknown(probe, "fields", [_UNKNOWN], "a field to select", *_LISTS):
        yield finding


# filter


def _telling(listing: Listing) -> Iterator[tuple[str, Scalar]]:
    """Fields with a value that some of the items have and others have not."""
    values = scalar_fields(listing.items)
    for name in _named_first(values, listing, "filter"):
        value = next((one for one in values[name] if one is not None), None)
        if value is None or isinstance(value, float) or (isinstance(value, str) and not 0 < len(value) <= _LONGEST):
            continue
        if any(canonical(other) != canonical(value) for other in values[name]):
            yield name, value


@check(
    "selection.filter",
    "A filter on a value gives the items that have it, and no others.",
    section="collection querying 2.2",
    demand=Demand.SHOULD,
    area=Area.COLLECTIONS,
    level=2,
    how="Takes a value that some of the items have, asks with {field: value} in 'filter', and looks at every item that "
    "comes. A field that cannot be filtered by is left, and the next is taken.",
    proves=("ops-4.2-filtering-uses-filter-object", "cq-2.2-filter-is-object", "cq-5-advertised-controls-not-ignored"),
)
async def filter_(probe: Probe) -> AsyncIterator[Finding]:
    """What is advertised is applied."""
    for listing in with_items(await listings(probe), 2):
        if not listing.takes_type("filter", "object"):
            continue
        yield await _filtered(probe, listing)


async def _filtered(probe: Probe, listing: Listing) -> Finding:
    for name, value in list(_telling(listing))[:_MOST_TRIES]:
        exchange = await probe.call(listing.operation, {**listing.few(), "filter": {name: value}})
        page = page_in(exchange)
        if page is None:
            continue
        if not page.items:
            words = f"'{listing.name}' found nothing with '{name}' equal to '{value}', which an item of it has"
            return broken(listing.name, words, listing.page.exchange, exchange)
        others = [item[name] for item in page.items if isinstance(item, Mapping) and not _fits(item, name, value)]
        if others:
            words = f"'{listing.name}' gave an item with '{name}' '{others[0]}' although the filter was '{value}'"
            return broken(listing.name, words, exchange)
        return holds(listing.name, exchange)
    return unseen(listing.name, "no field was found that its items can be filtered by")


def _fits(item: Mapping[str, Any], name: str, value: Scalar) -> bool:
    """Whether an item has a value; one that does not show the field cannot be judged."""
    if name not in item or canonical(item[name]) == canonical(value):
        return True
    return isinstance(value, str) and isinstance(item[name], str) and value.casefold() in item[name].casefold()


@check(
    "selection.unknown-filter-refused",
    "A filter on a field that there is not is refused.",
    section="collection querying 2.2, 5",
    demand=Demand.SHOULD,
    area=Area.COLLECTIONS,
    level=2,
    how="Asks collections that take 'filter' with a key that no item has.",
    proves=("cq-2.2-unsupported-filter-keys-rejected", "cq-5-unsupported-filter-keys-rejected"),
)
async def unknown_filter_refused(probe: Probe) -> AsyncIterator[Finding]:
    """A slip does not widen an answer."""
    async for finding in _unknown(probe, "filter", {_UNKNOWN: "x"}, "a key of 'filter'", "object"):
        yield finding


# sort


def _sorting(listing: Listing, field: str, order: str) -> dict[str, Any]:
    """How an order is asked for: the preferred form, or the older one where only that is declared."""
    if listing.takes_type("sort", "object"):
        return {"sort": {"field": field, "order": order}}
    return {"sort": field, "order": order} if listing.takes("sort", "order") else {}


def _sortable(listing: Listing) -> list[str]:
    """Fields whose items differ in them: whole numbers first, whose order nobody disputes."""
    values = scalar_fields(listing.items)
    telling = [name for name, held in values.items() if len({canonical(one) for one in held if one is not None}) > 1]
    named = _named_first(telling, listing, "sort")
    return sorted(named, key=lambda name: not all(type(one) is int for one in values[name]))


@check(
    "selection.sort",
    "Items come in the order that was asked for, upwards and downwards.",
    section="collection querying 2.3",
    demand=Demand.SHOULD,
    area=Area.COLLECTIONS,
    level=2,
    how="Asks for items sorted by a field in which they differ, both ways. Texts may be sorted with or without regard "
    "to case and signs; items without a value may stand anywhere.",
    proves=("ops-4.2-sorting-uses-sort-object", "cq-2.3-sort-shape", "cq-5-advertised-controls-not-ignored"),
)
async def sort(probe: Probe) -> AsyncIterator[Finding]:
    """What is advertised is applied."""
    for listing in with_items(await listings(probe), 2):
        if _sorting(listing, "", ""):
            yield await _sorted(probe, listing)


async def _sorted(probe: Probe, listing: Listing) -> Finding:
    for name in _sortable(listing)[:_MOST_TRIES]:
        for order in _ORDERS:
            exchange = await probe.call(listing.operation, {**listing.few(), **_sorting(listing, name, order)})
            page = page_in(exchange)
            values = [item[name] for item in page.items if isinstance(item, Mapping) and name in item] if page else []
            if not values:
                break
            seen = scalar_fields(listing.items)[name]
            if not is_sorted(values, seen, descending=order == "desc"):
                words = f"'{listing.name}', sorted by '{name}' {order}, gave {_shown(values)}"
                return broken(listing.name, words, exchange)
        else:
            return holds(listing.name, exchange)
    return unseen(listing.name, "no field was found that its items can be sorted by")


def _shown(values: Sequence[Scalar]) -> str:
    return ", ".join(f"'{value}'" for value in values[:6])


@check(
    "selection.unknown-sort-refused",
    "An order by a field that there is not is refused.",
    section="collection querying 5",
    demand=Demand.SHOULD,
    area=Area.COLLECTIONS,
    level=2,
    how="Asks collections that take an object in 'sort' to be sorted by a field that no item has.",
    proves=("cq-5-unsupported-sort-fields-rejected",),
)
async def unknown_sort_refused(probe: Probe) -> AsyncIterator[Finding]:
    """A slip is told."""
    async for finding in _unknown(probe, "sort", {"field": _UNKNOWN, "order": "asc"}, "the field of 'sort'", "object"):
        yield finding
