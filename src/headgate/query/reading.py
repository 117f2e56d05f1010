"""From the parameters of a request to a query: a filter, words, an order, fields, summaries and a page."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from headgate.protocol.requests import parse_stringified
from headgate.protocol.results import Notice
from headgate.query.caches import keep
from headgate.query.collections import Collection
from headgate.query.conditions import Filters
from headgate.query.cursors import Cursors
from headgate.query.paging import PAGING, PageReader, QueryOptions
from headgate.query.paths import Resolver
from headgate.query.refusals import not_allowed, unknown_name, wrong_type
from headgate.query.selecting import Selector
from headgate.query.shapes import (
    RANK,
    Condition,
    Listing,
    Paging,
    Path,
    Query,
    SortKey,
    Summaries,
    TextShape,
    Window,
    is_remembered,
)
from headgate.query.summarizing import SummaryReader, sortable

__all__ = ["Asked", "Reader"]

_WORD: Final = re.compile(r'"([^"]*)"|(\S+)')
_MOST_WORDS: Final = 20
_OF_ITEMS: Final = ("fields", "preset", "sort", *PAGING)


class Asked(NamedTuple):
    """What a request asks of a collection: a page, summaries, or both."""

    query: Query | None
    summaries: Summaries | None
    warnings: tuple[Notice, ...] = ()


class Reader:
    """Reads the parameters of collection operations for one catalog."""

    def __init__(self, resolver: Resolver, cursors: Cursors, options: QueryOptions) -> None:
        self.resolver = resolver
        self.cursors = cursors
        self.options = options
        self._selector = Selector(resolver)
        self._filters = Filters(resolver)
        self._summaries = SummaryReader(resolver)
        self._pages = PageReader(cursors, options)
        self.selection = self._selector.selection
        self._listings: dict[object, Listing] = {}

    def read(self, params: Mapping[str, Any], collection: Collection, default_preset: str) -> Asked:
        """Everything that a list or search operation was asked."""
        values: list[Any] = []
        given = params.get("filter")
        condition = self._filters.read(given, collection, values) if given else None
        sort = _sort(params.get("sort"))
        text = self._text(params.get("query"), collection, values, ranked=not sort)
        aggregate = params.get("aggregate")
        summaries = None
        if aggregate is not None:
            summaries = self._summaries.summaries(aggregate, collection, condition, text, tuple(values))
            if not params.get("include_items") and not any(params.get(name) is not None for name in _OF_ITEMS):
                return Asked(None, summaries)
        selection = self.selection(collection, params.get("fields"), params.get("preset"), default_preset)
        listing = self._listing(collection, condition, text, sort, selection)
        window, warnings = self._pages.window(params, listing)
        if summaries is not None and not params.get("include_items"):
            return Asked(None, summaries)  # what was said of the items was right, and they are not asked for
        return Asked(self._pages.query(listing, values, window, selection), summaries, warnings)

    def _listing(
        self,
        collection: Collection,
        condition: Condition | None,
        text: TextShape | None,
        sort: object,
        selection: tuple[Path, ...],
    ) -> Listing:
        """The shape of all items that are meant, worked out once for each way of filtering, sorting and selecting."""
        by = tuple(sort.items()) if isinstance(sort, dict) else None
        key = (collection, condition, text, by, selection) if by or not sort else None
        try:
            found = self._listings.get(key) if key else None
        except TypeError:  # what is sorted by is no text: refused below
            found, key = None, None
        if found is None:
            order = self._order(sort, collection, text)
            columns = self._selector.columns(selection, order, collection)
            found = Listing(collection, columns, condition, text, order)
            if key and is_remembered(found):
                keep(self._listings, key, found)
        return found

    def one(self, collection: Collection, key: Sequence[Any], selection: tuple[Path, ...]) -> Query:
        """The query for the one item of a key."""
        values: list[Any] = []
        condition = self._filters.read(dict(zip(collection.key, key, strict=True)), collection, values)
        known = (collection, condition, selection)
        listing = self._listings.get(known)
        if listing is None:
            columns = self._selector.columns(selection, (), collection)
            listing = keep(self._listings, known, Listing(collection, columns, condition))
        return Query(listing, tuple(values), Window(Paging.CURSOR, 1), selection)

    # text

    @staticmethod
    def _text(query: object, collection: Collection, values: list[Any], *, ranked: bool) -> TextShape | None:
        if query is None:
            return None
        if not isinstance(query, str):
            raise wrong_type("query", "string", query)
        words = list(dict.fromkeys(word for word in _words(query)))
        if not words:
            raise not_allowed("query", "query", "holds no word to search for")
        if len(words) > _MOST_WORDS:
            raise not_allowed("query", "query", f"holds {len(words)} words; {_MOST_WORDS} are allowed")
        if not collection.searchable:
            raise not_allowed("query", collection.name, "have no texts to search")
        slot = len(values)
        values.extend(words)
        return TextShape(len(words), ranked, slot)

    # sorting

    def _order(self, sort: object, collection: Collection, text: TextShape | None) -> tuple[SortKey, ...]:
        keys = [SortKey(RANK, descending=True)] if text and text.ranked else []
        given = sort if isinstance(sort, list | tuple) else [sort] if sort else []
        for place, one in enumerate(given):
            keys.append(self._sort_key(one, collection, "sort" if len(given) == 1 else f"sort[{place}]"))
        sorted_by = {key.path for key in keys}
        last = collection.key or (name for name, one in collection.fields.items() if one.can_sort)
        ends = (self.resolver.path(collection, name, "sort") for name in last)
        descending = bool(given) and keys[-1].descending  # so that an index can be read in either direction
        return (*keys, *(SortKey(path, descending) for path in ends if path not in sorted_by))

    def _sort_key(self, given: object, collection: Collection, where: str) -> SortKey:
        if not isinstance(given, Mapping):
            raise wrong_type(where, "object", given)
        unknown = [name for name in given if name not in ("field", "order")]
        if unknown:
            raise unknown_name(where, "key", unknown[0], ["field", "order"])
        field = given.get("field")
        if not isinstance(field, str):
            raise wrong_type(f"{where}.field", "string", field)
        order = given.get("order", "asc")
        if order not in ("asc", "desc"):
            raise not_allowed(f"{where}.order", str(order), "is no order", ("asc", "desc"))
        path = self.resolver.path(collection, field, where)
        if not path.field.can_sort or path.keys:
            raise not_allowed(where, field, "cannot be sorted by", sortable(collection))
        return SortKey(path, order == "desc")


def _sort(given: object) -> object:
    """What is sorted by; a field's name alone is understood, with a minus before it for the other direction."""
    if not isinstance(given, str):
        return given
    return parse_stringified(given) or {
        "field": given.removeprefix("-"),
        "order": "desc" if given.startswith("-") else "asc",
    }


def _words(query: str) -> Iterator[str]:
    for match in _WORD.finditer(query):
        word = (match[1] if match[1] is not None else match[2]).strip()
        if word:
            yield word
