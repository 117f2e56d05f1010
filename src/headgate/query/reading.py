"""From the parameters of a request to a query: sorting, fields, summaries and pages, checked against a collection."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar

from headgate.protocol.errors import quoted
from headgate.protocol.requests import parse_stringified
from headgate.protocol.results import Notice
from headgate.query.collections import COMPUTED, Collection
from headgate.query.conditions import read_filter
from headgate.query.cursors import Cursors
from headgate.query.paths import Resolver
from headgate.query.refusals import contradiction, not_allowed, unknown_name, wrong_type
from headgate.query.shapes import (
    RANK,
    Aggregate,
    AggregateShape,
    Condition,
    Direction,
    Function,
    Listing,
    Paging,
    Path,
    Query,
    SortKey,
    Summaries,
    TextShape,
    Window,
)

__all__ = ["Asked", "QueryOptions", "Reader"]

K = TypeVar("K")
V = TypeVar("V")

_WORD: Final = re.compile(r'"([^"]*)"|(\S+)')
_MOST_WORDS: Final = 20
_MOST_AGGREGATES: Final = 50
_MOST_LABEL: Final = 100
_STYLES: Final[Mapping[Paging, tuple[str, ...]]] = {
    Paging.CURSOR: ("first", "after", "last", "before", "edges"),
    Paging.OFFSET: ("limit", "offset"),
    Paging.PAGE: ("page", "page_size"),
}
_PAGING: Final = tuple(name for names in _STYLES.values() for name in names)
_MOST_CACHED: Final = 1000
_PAIRS: Final = (
    ("first", "last", "take a page from one end"),
    ("first", "before", "'before' goes with 'last'"),
    ("last", "after", "'after' goes with 'first'"),
)


@dataclass(frozen=True, slots=True)
class QueryOptions:
    """The bounds of pages and summaries."""

    page_size: int = 25
    max_page_size: int = 100
    max_groups: int = 100


@dataclass(frozen=True, slots=True)
class Asked:
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
        self._selections: dict[tuple[Collection, object, object, str], tuple[Path, ...]] = {}
        self._outlines: dict[object, tuple[tuple[SortKey, ...], tuple[Path, ...]]] = {}

    def read(self, params: Mapping[str, Any], collection: Collection, default_preset: str) -> Asked:
        """Everything that a list or search operation was asked."""
        values: list[Any] = []
        given = params.get("filter")
        condition = read_filter(given, collection, self.resolver, values) if given else None
        sort = params.get("sort")
        text = self._text(params.get("query"), collection, values, ranked=not sort)
        aggregate = params.get("aggregate")
        summaries = None
        if aggregate is not None:
            summaries = self._summaries(aggregate, collection, condition, text, tuple(values))
            if not params.get("include_items"):
                return Asked(None, summaries)
        selection = self.selection(collection, params.get("fields"), params.get("preset"), default_preset)
        order, columns = self._outline(sort, collection, text, selection)
        listing = Listing(collection, columns, condition, text, order)
        window, warnings = self._window(params, listing)
        return Asked(_seeking(listing, values, window, selection), summaries, warnings)

    def _outline(
        self, sort: object, collection: Collection, text: TextShape | None, selection: tuple[Path, ...]
    ) -> tuple[tuple[SortKey, ...], tuple[Path, ...]]:
        """The order and the columns of a listing, worked out once for each way of sorting and selecting."""
        by = tuple(sort.items()) if isinstance(sort, dict) else None
        key = (collection, by, bool(text and text.ranked), selection) if by or not sort else None
        try:
            found = self._outlines.get(key) if key else None
        except TypeError:  # what is sorted by is no text: refused below
            found, key = None, None
        if found is None:
            order = self._order(sort, collection, text)
            found = order, self._columns(selection, order, collection)
            if key:
                _keep(self._outlines, key, found)
        return found

    def one(self, collection: Collection, key: Sequence[Any], selection: tuple[Path, ...]) -> Query:
        """The query for the one item of a key."""
        values: list[Any] = []
        condition = read_filter(dict(zip(collection.key, key, strict=True)), collection, self.resolver, values)
        listing = Listing(collection, self._columns(selection, (), collection), condition)
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
        return (*keys, *(SortKey(path) for path in ends if path not in sorted_by))

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
            raise not_allowed(where, field, "cannot be sorted by", self.sortable(collection))
        return SortKey(path, order == "desc")

    @staticmethod
    def sortable(collection: Collection) -> list[str]:
        """The fields that the items of a collection can be put in order by."""
        computed = (f"{COMPUTED}.{name}" for name, one in collection.computed_fields.items() if one.can_sort)
        return [*(name for name, one in collection.fields.items() if one.can_sort), *computed]

    # fields

    def selection(self, collection: Collection, fields: object, preset: object, default: str) -> tuple[Path, ...]:
        """The paths that an answer shows. A list extends the preset if both are given."""
        key = (collection, tuple(fields) if isinstance(fields, list) else fields, preset, default)
        try:
            found = self._selections.get(key)
        except TypeError:  # a list inside the list: refused below
            found = None
        if found is None:
            found = tuple(dict.fromkeys(self._selected(collection, fields, preset, default)))
            _keep(self._selections, key, found)
        return found

    def _selected(self, collection: Collection, fields: object, preset: object, default: str) -> Iterator[Path]:
        fields = parse_stringified(fields) or fields
        if isinstance(fields, str):
            yield from self._preset(collection, fields, "fields")
        if preset is not None or fields is None:
            yield from self._preset(collection, default if preset is None else preset, "preset")
        if isinstance(fields, list | tuple):
            for place, name in enumerate(fields):
                if not isinstance(name, str):
                    raise wrong_type(f"fields[{place}]", "string", name)
                yield from self._field(collection, name)
        elif fields is not None and not isinstance(fields, str):
            raise wrong_type("fields", "string | array", fields)

    def _preset(self, collection: Collection, name: object, where: str) -> Iterator[Path]:
        if not isinstance(name, str):
            raise wrong_type(where, "string", name)
        if name not in collection.presets:
            raise unknown_name(where, "preset", name, list(collection.presets))
        for field in collection.presets[name]:
            yield from self._field(collection, field)

    def _field(self, collection: Collection, name: str) -> Iterator[Path]:
        """A path; a relationship alone stands for what is essential of its item."""
        start, _, last = name.rpartition(".")
        owner = self._owner(collection, start)
        relationship = owner.relationships.get(last) if owner else None
        if relationship is None or relationship.many:
            yield self.resolver.path(collection, name, "fields")
            return
        for field in self.resolver.catalog[relationship.target].presets["minimal"]:
            yield self.resolver.path(collection, f"{name}.{field}", "fields")

    def _owner(self, collection: Collection, start: str) -> Collection | None:
        for hop in start.split(".") if start else ():
            relationship = collection.relationships.get(hop)
            if relationship is None or relationship.many:
                return None
            collection = self.resolver.catalog[relationship.target]
        return collection

    def _columns(
        self, selection: tuple[Path, ...], order: Sequence[SortKey], collection: Collection
    ) -> tuple[Path, ...]:
        """What must be fetched: what is shown, what cursors are made of, and what Python functions compute from."""
        extra = [key.path for key in order]
        for path in selection:
            if _in_python(path):
                prefix = path.text.removesuffix(f"{COMPUTED}.{path.field.name}")
                extra += [self.resolver.path(collection, prefix + name, "fields") for name in path.collection.fields]
            if path.hops:
                extra.append(self._presence(path, collection))
            if path.keys:
                extra.append(self.whole(path, collection))
        shown = [path for path in selection if not path.keys and not _in_python(path)]
        return tuple(dict.fromkeys((*shown, *extra)))

    def whole(self, path: Path, collection: Collection) -> Path:
        """The field in which a path inside JSON lies."""
        return self.resolver.path(collection, path.text.removesuffix("." + ".".join(path.keys)), "fields")

    def _presence(self, path: Path, collection: Collection) -> Path:
        """The path that tells whether the item at the end of a path's hops is there at all."""
        steps = ".".join(hop.name for hop in path.hops)
        return self.resolver.path(collection, f"{steps}.{path.hops[-1].remote[0]}", "fields")

    # summaries

    def _summaries(
        self,
        given: Mapping[str, object],
        collection: Collection,
        condition: Condition | None,
        text: TextShape | None,
        values: tuple[Any, ...],
    ) -> Summaries:
        if not given:
            raise not_allowed("aggregate", "aggregate", "names no summary, such as {total: {count: true}}")
        if len(given) > _MOST_AGGREGATES:
            raise not_allowed("aggregate", "aggregate", f"names more than {_MOST_AGGREGATES} summaries")
        aggregates = tuple(self._aggregate(label, one, collection) for label, one in given.items())
        shape = AggregateShape(collection, aggregates, condition, text)
        return Summaries(shape, values, tuple(given))

    def _aggregate(self, label: str, given: object, collection: Collection) -> Aggregate:
        where = f"aggregate.{label}" if quoted(label) else "aggregate"
        if len(label) > _MOST_LABEL:
            raise not_allowed("aggregate", "aggregate", f"has a label of more than {_MOST_LABEL} characters")
        if not isinstance(given, Mapping):
            raise wrong_type(where, "object", given)
        functions: list[tuple[Function, Path | None]] = []
        group_by = None
        for name, value in given.items():
            if name == "group_by":
                group_by = self._group(value, where, collection)
            elif name == "count":
                if not isinstance(value, bool):
                    raise wrong_type(f"{where}.count", "boolean", value)
                functions += [(Function.COUNT, None)] if value else []
            else:
                functions.append(self._function(name, value, where, collection))
        if not functions:
            raise not_allowed(
                where, "group_by" if group_by else label, "needs a function", [one.value for one in Function]
            )
        return Aggregate(tuple(functions), group_by)

    def _group(self, given: object, where: str, collection: Collection) -> Path:
        path = self._aggregated(given, f"{where}.group_by", collection)
        if not path.field.can_group or path.keys:
            raise not_allowed(f"{where}.group_by", path.text, "cannot be grouped by", groupable(collection))
        return path

    def _function(self, name: str, given: object, where: str, collection: Collection) -> tuple[Function, Path]:
        known = [*(one.value for one in Function), "group_by"]
        if name not in known:
            raise unknown_name(where, "function", name, known)
        function = Function(name)
        path = self._aggregated(given, f"{where}.{name}", collection)
        is_fit = (
            path.field.kind.row.numeric if function in (Function.SUM, Function.AVG) else path.field.kind.row.ordered
        )
        if not is_fit or path.keys or not path.field.filterable:
            fit = numeric(collection) if function in (Function.SUM, Function.AVG) else self.sortable(collection)
            raise not_allowed(f"{where}.{name}", path.text, f"has no {name}", fit)
        return function, path

    def _aggregated(self, given: object, where: str, collection: Collection) -> Path:
        if not isinstance(given, str):
            raise wrong_type(where, "string", given)
        return self.resolver.path(collection, given, where)

    # pages

    def _window(self, params: Mapping[str, Any], listing: Listing) -> tuple[Window, tuple[Notice, ...]]:
        used = [name for name in _PAGING if params.get(name) is not None]
        if not used:
            return Window(Paging.CURSOR, self.options.page_size), ()
        style = _style(used)
        wanted, name = _size(params, self.options.page_size)
        size = min(wanted, self.options.max_page_size)
        warnings = () if size == wanted else (_clamped(name, wanted, size),)
        if used == ["first"]:
            return Window(Paging.CURSOR, size), warnings
        if style is Paging.CURSOR:
            return self._from_cursor(params, listing, size), warnings
        number = params.get("page") or 1
        offset = (params.get("offset") or 0) if style is Paging.OFFSET else (number - 1) * size
        return Window(style, size, offset, number), warnings

    def _from_cursor(self, params: Mapping[str, Any], listing: Listing, size: int) -> Window:
        for one, other, rule in _PAIRS:
            if params.get(one) is not None and params.get(other) is not None:
                raise contradiction((one, other), rule)
        for name, needed in (("after", "first"), ("before", "last")):
            if params.get(name) is not None and params.get(needed) is None:
                raise not_allowed(name, name, f"goes with '{needed}', which says how many items to give")
        backward = params.get("last") is not None
        where = "before" if backward else "after"
        text, edges = params.get(where), bool(params.get("edges"))
        if not listing.collection.key:
            return self._without_key(text, listing.collection, size, backward=backward, edges=edges)
        cursor = None if text is None else self.cursors.read(text, listing, where)
        direction = Direction.BACKWARD if backward else Direction.FORWARD
        return Window(Paging.CURSOR, size, direction=direction, cursor=cursor, edges=edges)

    def _without_key(
        self, cursor: str | None, collection: Collection, size: int, *, backward: bool, edges: bool
    ) -> Window:
        """Items that nothing tells apart can only be counted, from the start."""
        if backward:
            raise not_allowed(
                "last", collection.name, "have no key to go back by: page forwards, or sort the other way"
            )
        offset = 0 if cursor is None else self.cursors.read_place(cursor, collection.name, "after")
        return Window(Paging.CURSOR, size, offset, edges=edges)


def _in_python(path: Path) -> bool:
    """Whether a path names what a Python function computes, which no backend can fetch."""
    return path.computed and path.collection.computed[path.field.name].function is not None


def groupable(collection: Collection) -> list[str]:
    """The fields that items can be grouped by."""
    computed = (f"{COMPUTED}.{name}" for name, one in collection.computed_fields.items() if one.can_group)
    return [*(name for name, one in collection.fields.items() if one.can_group), *computed]


def numeric(collection: Collection) -> list[str]:
    """The fields that can be summed up."""
    both = {**collection.fields, **{f"{COMPUTED}.{name}": one for name, one in collection.computed_fields.items()}}
    return [name for name, one in both.items() if one.kind.row.numeric and one.filterable]


def _words(query: str) -> Iterator[str]:
    for match in _WORD.finditer(query):
        word = (match[1] if match[1] is not None else match[2]).strip()
        if word:
            yield word


def _keep(cache: dict[K, V], key: K, value: V) -> None:
    """Remember something, within bounds: what callers may ask for has none."""
    if len(cache) >= _MOST_CACHED:
        cache.clear()
    cache[key] = value


def _style(used: Sequence[str]) -> Paging:
    by_style = {style: [name for name in names if name in used] for style, names in _STYLES.items()}
    found = [style for style, names in by_style.items() if names]
    if len(found) > 1:
        raise contradiction([by_style[style][0] for style in found], "page by cursor, by offset, or by number")
    return found[0]


def _size(params: Mapping[str, Any], default: int) -> tuple[int, str]:
    for name in ("first", "last", "limit", "page_size"):
        if params.get(name) is not None:
            return params[name], name
    return default, ""


def _clamped(name: str, wanted: int, most: int) -> Notice:
    return Notice(
        "VALIDATION_TRUNCATED_WARNING",
        f"'{name}' was {wanted}; a page has {most} items at most. Go on with the cursor or page that follows",
        {"field": name, "original_count": wanted, "truncated_count": most, "limit": most},
        "low",
    )


def _seeking(listing: Listing, values: list[Any], window: Window, selection: tuple[Path, ...]) -> Query:
    cursor = window.cursor
    if cursor is None and window.direction is Direction.FORWARD and not window.offset:
        return Query(listing, tuple(values), window, selection)
    seek = None if cursor is None else tuple(value is None for value in cursor)
    shape = replace(
        listing,
        direction=window.direction,
        seek=seek,
        seek_slot=len(values),
        skips=window.offset > 0,
    )
    there = [value for value in cursor or () if value is not None]
    return Query(shape, (*values, *there), window, selection)
