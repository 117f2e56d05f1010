"""Collections as any server shows them: which operations list, and the items of an answer, whatever form it has."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import orjson

from headgate.conformance.choosing import spread
from headgate.conformance.probe import CannotBeSeen, Probe
from headgate.conformance.registry import broken, holds
from headgate.conformance.requests import valid_params
from headgate.conformance.survey import SeenOperation
from headgate.conformance.values import Exchange, Finding

__all__ = [
    "SIZES",
    "Listing",
    "Page",
    "Scalar",
    "canonical",
    "collection_operations",
    "items_in",
    "listings",
    "page_in",
    "page_of",
    "refusal",
    "scalar_fields",
    "with_items",
    "words_in",
]

Scalar: TypeAlias = str | int | float | bool | None

SIZES: Final = {"cursor": "first", "offset": "limit", "page": "page_size"}
"""The parameter that says how many items are wanted, in each style of paging."""
_SIGNS: Final = frozenset({*SIZES.values(), "after", "offset", "page", "filter", "sort", "aggregate"})
_FAMILIES: Final = ("list_", "search_", "query_")
_GRAPHS: Final = frozenset({"query_relationships"})
"""What is named like a collection and answers with a graph, whose form has no room for pages."""
_SAMPLE: Final = 12
_MOST_LISTS: Final = 8
_MOST_SEARCHES: Final = 4
_MOST_WORDS: Final = 4
_KEY: Final = "listings"
_WORD: Final = re.compile(r"[^\W\d_]{4,}")


@dataclass(frozen=True, slots=True)
class Page:
    """Some items of a collection, and what the answer says beside them."""

    exchange: Exchange
    items: tuple[Any, ...]

    @property
    def page_info(self) -> Mapping[str, Any] | None:
        """What is said of cursors."""
        return self._beside("pageInfo")

    @property
    def pagination(self) -> Mapping[str, Any] | None:
        """What is said of offsets and numbered pages."""
        return self._beside("pagination")

    @property
    def more(self) -> bool | None:
        """Whether more items follow, as the answer says; nothing where it does not."""
        said = (self.page_info or {}).get("hasNextPage", (self.pagination or {}).get("has_more"))
        return said if isinstance(said, bool) else None

    @property
    def total(self) -> int | None:
        """How many items there are in all, as the answer says; nothing where it does not."""
        said = (self.page_info or {}).get("totalCount", (self.pagination or {}).get("total_items"))
        return said if isinstance(said, int) and not isinstance(said, bool) else None

    def cursor(self, name: str) -> str | None:
        """One of the cursors in ``pageInfo``."""
        said = (self.page_info or {}).get(name)
        return said if isinstance(said, str) and said else None

    def _beside(self, name: str) -> Mapping[str, Any] | None:
        data = self.exchange.data
        said = data.get(name) if isinstance(data, Mapping) else None
        return said if isinstance(said, Mapping) else None


@dataclass(frozen=True, slots=True)
class Listing:
    """An operation that gives a collection, and its first few items."""

    operation: SeenOperation
    params: Mapping[str, Any]
    """What it cannot be called without."""
    page: Page

    @property
    def name(self) -> str:
        """What the operation is called."""
        return self.operation.name

    @property
    def items(self) -> tuple[Any, ...]:
        """The first few items."""
        return self.page.items

    def takes(self, *names: str) -> bool:
        """Whether the operation declares all of these parameters."""
        return all(self.operation.parameter(name) is not None for name in names)

    def takes_type(self, parameter: str, *types: str) -> bool:
        """Whether a parameter is declared with one of these types, or with none that is told."""
        declared = self.operation.parameter(parameter)
        return declared is not None and (not declared.types or not set(types).isdisjoint(declared.types))

    def few(self, most: int = _SAMPLE) -> dict[str, Any]:
        """The parameters for so many items at most, where that can be said."""
        return {**self.params, **_sized(self.operation, most)}


def canonical(value: object) -> bytes:
    """Two values that mean the same in JSON have the same text."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def items_in(data: object) -> list[Any] | None:
    """The items of an answer: ``items``, the nodes of ``edges``, a bare list, or the only list that there is."""
    if isinstance(data, list):
        return data
    if not isinstance(data, Mapping):
        return None
    if isinstance(data.get("items"), list):
        return list(data["items"])
    if isinstance(data.get("edges"), list):
        return [edge.get("node") if isinstance(edge, Mapping) else edge for edge in data["edges"]]
    lists = [value for value in data.values() if isinstance(value, list)]
    return lists[0] if len(lists) == 1 else None


async def page_of(probe: Probe, operation: SeenOperation, params: Mapping[str, Any]) -> Page | None:
    """The items that an operation gives; nothing where it fails or gives no list."""
    exchange = await probe.call(operation, params)
    return page_in(exchange)


def page_in(exchange: Exchange) -> Page | None:
    """The items of an exchange; nothing where it failed or holds no list."""
    items = items_in(exchange.data) if exchange.succeeded else None
    return None if items is None else Page(exchange, tuple(items))


def collection_operations(probe: Probe) -> list[SeenOperation]:
    """The READ operations that are named as collections are, whether they may be called or not."""
    named = [one for one in probe.operations if one.category == "READ" and one.name.startswith(_FAMILIES)]
    return [one for one in named if one.name not in _GRAPHS]


async def listings(probe: Probe) -> list[Listing]:
    """A spread of the operations that list, each with its first few items; they are asked once in a run."""
    if _KEY not in probe.memory:
        probe.memory[_KEY] = await _listings(probe)
    found: list[Listing] = probe.memory[_KEY]
    return found


async def _listings(probe: Probe) -> list[Listing]:
    able = [one for one in probe.readable if _may_list(one)]
    searches = [one for one in able if _needs_words(one)]
    plain = [one for one in able if one not in searches]
    found = [listing for one in spread(plain, _MOST_LISTS) if (listing := await _listed(probe, one))]
    for one in spread(searches, _MOST_SEARCHES):
        listing = await _searched(probe, one, found)
        found += [listing] if listing else []
    return found


def _may_list(operation: SeenOperation) -> bool:
    if operation.name in _GRAPHS:
        return False
    return operation.name.startswith(_FAMILIES) or any(one.name in _SIGNS for one in operation.parameters)


def _needs_words(operation: SeenOperation) -> bool:
    query = operation.parameter("query")
    return query is not None and query.required


async def _required(probe: Probe, operation: SeenOperation) -> dict[str, Any] | None:
    """What an operation cannot be called without; nothing where that cannot be made up."""
    names = {one.name for one in operation.parameters if one.required}
    if not names:
        return {}
    try:
        return {name: value for name, value in (await valid_params(probe, operation)).items() if name in names}
    except CannotBeSeen:
        return None


async def _listed(probe: Probe, operation: SeenOperation) -> Listing | None:
    params = await _required(probe, operation)
    if params is None:
        return None
    page = await page_of(probe, operation, {**params, **_sized(operation, _SAMPLE)})
    return Listing(operation, params, page) if page else None


async def _searched(probe: Probe, operation: SeenOperation, known: Iterable[Listing]) -> Listing | None:
    """A search, with words that find something: those of the items that other operations list."""
    params = await _required(probe, operation)
    if params is None:
        return None
    empty: Listing | None = None
    for words in _worth_trying(operation, params, known):
        asked = {**params, "query": words}
        page = await page_of(probe, operation, {**asked, **_sized(operation, _SAMPLE)})
        if page and page.items:
            return Listing(operation, asked, page)
        if page and empty is None:
            empty = Listing(operation, asked, page)
    return empty


def _worth_trying(operation: SeenOperation, params: Mapping[str, Any], known: Iterable[Listing]) -> Iterator[Any]:
    yield params.get("query")
    if isinstance(params.get("query"), str):
        resource = operation.name.partition("_")[2]
        near = sorted(known, key=lambda listing: listing.name.partition("_")[2] != resource)
        yield from [word for listing in near for word in words_in(listing.items)][:_MOST_WORDS]


def words_in(items: Sequence[Any]) -> list[str]:
    """A plain word of each text in the first items that a person would search for."""
    texts = [value for item in items[:3] if isinstance(item, Mapping) for value in item.values()]
    found = [max(_WORD.findall(text), key=len, default="") for text in texts if isinstance(text, str)]
    return list(dict.fromkeys(word for word in found if word))


def _sized(operation: SeenOperation, most: int) -> dict[str, int]:
    """The parameter that says how many items are wanted, within what it allows."""
    for name in SIZES.values():
        parameter = operation.parameter(name)
        if parameter is not None:
            highest = parameter.raw.get("maximum")
            return {name: min(most, highest) if isinstance(highest, int) and highest > 0 else most}
    return {}


def scalar_fields(items: Sequence[Any]) -> dict[str, list[Scalar]]:
    """The fields with a plain value in every item, each with its values; metadata is left out."""
    if not items or not all(isinstance(item, Mapping) for item in items):
        return {}
    names = [name for name in items[0] if not name.startswith("_") and all(_is_plain(item, name) for item in items)]
    return {name: [item[name] for item in items] for name in names}


def _is_plain(item: Mapping[str, Any], name: str) -> bool:
    return name in item and (item[name] is None or isinstance(item[name], str | int | float | bool))


def with_items(found: Iterable[Listing], least: int) -> list[Listing]:
    """Those that have shown enough items."""
    return [listing for listing in found if len(listing.items) >= least]


def refusal(subject: str, exchange: Exchange, words: str) -> Iterator[Finding]:
    """What it means that a request was refused, or that it was answered; any other outcome says nothing."""
    if exchange.succeeded:
        yield broken(subject, words, exchange)
    elif exchange.failed:
        yield holds(subject, exchange)
