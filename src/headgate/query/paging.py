"""From the paging parameters of a request to a window: by cursor, by offset, or by number, and never two at once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from headgate.protocol.results import Notice
from headgate.query.caches import keep
from headgate.query.cursors import Cursors
from headgate.query.refusals import contradiction, not_allowed
from headgate.query.shapes import Direction, Listing, Paging, Path, Query, Window, is_remembered

__all__ = ["PAGING", "PageReader", "QueryOptions"]

_STYLES: Final[Mapping[Paging, tuple[str, ...]]] = {
    Paging.CURSOR: ("first", "after", "last", "before", "edges"),
    Paging.OFFSET: ("limit", "offset"),
    Paging.PAGE: ("page", "page_size"),
}
PAGING: Final = tuple(name for names in _STYLES.values() for name in names)
_PLAIN: Final = (["first", "after"], ["last", "before"])
_BY_CURSOR: Final = frozenset(_STYLES[Paging.CURSOR])
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


class PageReader:
    """Reads which page is asked for."""

    def __init__(self, cursors: Cursors, options: QueryOptions) -> None:
        self.cursors = cursors
        self.options = options
        self._seeking: dict[tuple[object, ...], Listing] = {}

    def window(self, params: Mapping[str, Any], listing: Listing) -> tuple[Window, tuple[Notice, ...]]:
        """The window that is asked for, and a warning if it is larger than a page may be."""
        used = [name for name in PAGING if params.get(name) is not None and params[name] is not False]
        if not used:
            return Window(Paging.CURSOR, self.options.page_size), ()
        style = _style(used)
        wanted, name = _size(params, self.options.page_size)
        size = min(wanted, self.options.max_page_size)
        warnings = () if size == wanted else (_clamped(name, wanted, size),)
        if used == ["first"]:
            return Window(Paging.CURSOR, size), warnings
        if style is Paging.CURSOR:
            if used not in _PLAIN:
                _refuse_contradictions(params)
            return self._from_cursor(params, listing, size), warnings
        number = params.get("page") or 1
        offset = (params.get("offset") or 0) if style is Paging.OFFSET else (number - 1) * size
        return Window(style, size, offset, number), warnings

    def _from_cursor(self, params: Mapping[str, Any], listing: Listing, size: int) -> Window:
        backward = params.get("last") is not None
        where = "before" if backward else "after"
        text, edges = params.get(where), bool(params.get("edges"))
        if not listing.collection.key:
            return self._without_key(text, listing, size, backward=backward, edges=edges)
        cursor = None if text is None else self.cursors.read(text, listing, where)
        direction = Direction.BACKWARD if backward else Direction.FORWARD
        return Window(Paging.CURSOR, size, direction=direction, cursor=cursor, edges=edges)

    def _without_key(self, cursor: str | None, listing: Listing, size: int, *, backward: bool, edges: bool) -> Window:
        """Items that nothing tells apart can only be counted, from the start."""
        if backward:
            raise not_allowed(
                "last", listing.collection.name, "have no key to go back by: page forwards, or sort the other way"
            )
        purpose = self.cursors.place_purpose(listing)
        offset = 0 if cursor is None else self.cursors.read_place(cursor, purpose, "after")
        return Window(Paging.CURSOR, size, offset, edges=edges)

    def query(self, listing: Listing, values: Sequence[Any], window: Window, selection: tuple[Path, ...]) -> Query:
        """The query for a window of a listing."""
        cursor = window.cursor
        if cursor is None and window.direction is Direction.FORWARD and not window.offset:
            return Query(listing, tuple(values), window, selection)
        seek = None if cursor is None else tuple([value is None for value in cursor])
        place = (window.direction is Direction.BACKWARD, seek, len(values), window.offset > 0)
        shape = self._seeking.get((listing, place))
        if shape is None:
            shape = _seeking(listing, window, seek, len(values))
            if is_remembered(shape):
                keep(self._seeking, (listing, place), shape)
        there = [value for value in cursor or () if value is not None]
        return Query(shape, (*values, *there), window, selection)


def _seeking(listing: Listing, window: Window, seek: tuple[bool, ...] | None, slot: int) -> Listing:
    return replace(listing, direction=window.direction, seek=seek, seek_slot=slot, skips=window.offset > 0)


def _refuse_contradictions(params: Mapping[str, Any]) -> None:
    for one, other, rule in _PAIRS:
        if params.get(one) is not None and params.get(other) is not None:
            raise contradiction((one, other), rule)
    for name, needed in (("after", "first"), ("before", "last")):
        if params.get(name) is not None and params.get(needed) is None:
            raise not_allowed(name, name, f"goes with '{needed}', which says how many items to give")


def _style(used: Sequence[str]) -> Paging:
    if _BY_CURSOR.issuperset(used):
        return Paging.CURSOR
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
        f"'{name}' was {wanted}; a page has no more than {most} items. Go on with the cursor or page after it",
        {"field": name, "original_count": wanted, "truncated_count": most, "limit": most},
        "low",
    )
