"""Collections: what introspection tells of their controls is enough to use them."""

from collections.abc import AsyncIterator, Iterator, Mapping
from functools import partial
from typing import Any, Final

from headgate.conformance.checks.introspection import findings_of, seen_details
from headgate.conformance.choosing import spread
from headgate.conformance.probe import CannotBeSeen, Probe
from headgate.conformance.registry import check, holds, unseen
from headgate.conformance.requests import valid_params
from headgate.conformance.shapes import shown
from headgate.conformance.survey import SeenOperation, entries
from headgate.conformance.values import Area, Demand, Exchange, Finding

__all__: list[str] = []

_should = partial(check, demand=Demand.SHOULD, area=Area.COLLECTIONS, level=2)

_CONTROLS: Final[Mapping[str, str]] = {
    **{name: name for name in ("query", "filter", "sort", "fields", "aggregate")},
    **dict.fromkeys(("first", "after", "last", "before", "limit", "offset", "page", "page_size"), "paging"),
}
"""The control that a parameter belongs to."""
_COLLECTIONS: Final = ("list_", "search_", "query_")
_FEW: Final = 2
_MOST_ASKED: Final = 5


def _controls(names: object) -> set[str]:
    return {_CONTROLS[name] for name in names if name in _CONTROLS} if isinstance(names, Mapping | list) else set()


@_should(
    "collections.examples-combine",
    "A collection with several controls has an example that uses more than one of them.",
    section="collection querying 6",
    how="Looks at the examples of collections that take several of query, filter, sort, fields, aggregate, paging.",
    proves=("cq-4.2-example-composes-controls", "cq-6-examples-combine-controls"),
)
async def examples_combine(probe: Probe) -> AsyncIterator[Finding]:
    """How they go together is shown."""
    for operation, exchange in seen_details(probe):
        offered = _controls([parameter.name for parameter in operation.parameters])
        if operation.name.startswith(_COLLECTIONS) and len(offered) >= _FEW and operation.examples:
            combined = any(len(_controls(params)) >= _FEW for params in operation.examples)
            words = f"no example of '{operation.name}' uses more than one of {', '.join(sorted(offered))}"
            for finding in findings_of(operation.name, [] if combined else [words], exchange):
                yield finding


@_should(
    "collections.aggregation-told",
    "An operation that takes 'aggregate' tells in 'aggregation_support' with which functions.",
    section="collection querying 6",
    how="Looks at the details of operations with that parameter.",
    proves=("cq-6-aggregation-functions-told",),
)
async def aggregation_told(probe: Probe) -> AsyncIterator[Finding]:
    """Nobody has to guess at what can be summed up."""
    for operation, exchange in seen_details(probe):
        if operation.parameter("aggregate") is not None:
            told = operation.details.get("aggregation_support")
            functions = told.get("functions") if isinstance(told, Mapping) and told.get("supported") is True else None
            words = f"'{operation.name}' takes 'aggregate', and 'aggregation_support' is {shown(told)}"
            wrong = [] if functions else [f"{words}; expected 'supported': true and the functions"]
            for finding in findings_of(operation.name, wrong, exchange):
                yield finding


@_should(
    "collections.computed-fields",
    "A computed field that introspection tells of can be selected under '_computed.'.",
    section="collection querying 2.4",
    how="Asks operations with 'computed_fields' and a parameter 'fields' for one of them.",
    proves=("cq-2.4-computed-fields-prefixed", "cq-6-computed-fields-told"),
)
async def computed_fields(probe: Probe) -> AsyncIterator[Finding]:
    """What is computed is told apart from what is stored."""
    telling = [one for one in probe.readable if _computed(one) and one.parameter("fields") is not None]
    for operation in spread(telling, _MOST_ASKED):
        name = _computed(operation)[0]
        try:
            params = await valid_params(probe, operation)
        except CannotBeSeen as error:
            yield unseen(operation.name, str(error))
            continue
        exchange = await probe.call(operation, {**params, "fields": [f"_computed.{name}"]})
        for finding in _selected(operation, name, exchange):
            yield finding


def _computed(operation: SeenOperation) -> list[str]:
    told = entries(operation.details.get("computed_fields"))
    return [entry["name"] for entry in told if isinstance(entry.get("name"), str)]


def _selected(operation: SeenOperation, name: str, exchange: Exchange) -> Iterator[Finding]:
    if exchange.failed and exchange.code.startswith("VALIDATION_"):
        words = f"'fields' of '{operation.name}' was refused with ['_computed.{name}'], which introspection tells of"
        yield from findings_of(operation.name, [words], exchange)
    elif exchange.succeeded:
        items = list(_items(exchange.data))
        if not items:
            yield unseen(operation.name, "there was nothing to select from", exchange)
        elif any(isinstance(item.get("_computed"), Mapping) and name in item["_computed"] for item in items):
            yield holds(operation.name, exchange)
        else:
            words = f"'{operation.name}' did not give '_computed.{name}', although it was asked for"
            yield from findings_of(operation.name, [words], exchange)


def _items(data: Any) -> Iterator[Mapping[str, Any]]:
    """The items of a page, or the one item that was answered."""
    if isinstance(data, Mapping):
        inner = data.get("items")
        yield from entries(inner) if isinstance(inner, list) else [data]
    else:
        yield from entries(data)
