"""From the rows of a backend to what a caller gets: nested items, cursors, page information and summaries."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from headgate.protocol.results import Notice
from headgate.query.backends import Fetched, Groups, Reads, Row
from headgate.query.building import Branch, Build, Leaf, compiled, shown
from headgate.query.caches import keep
from headgate.query.collections import COMPUTED, Field
from headgate.query.cursors import Cursors
from headgate.query.kinds import utc
from headgate.query.shapes import Direction, Paging, Path, Query, SortKey, Summaries, Window

__all__ = ["Shaper", "left_out_notice", "summaries_answer"]

_NO_VALUE: Final = "null"
_MISSING: Final = object()


class Shaper:
    """Shapes pages. How the rows of a shape become items is worked out once."""

    def __init__(self, cursors: Cursors) -> None:
        self._cursors = cursors
        self._builders: dict[tuple[tuple[Path, ...], tuple[Path, ...], Reads | None], Build] = {}
        self._writers: dict[tuple[tuple[Path, ...], tuple[SortKey, ...]], Callable[[Row], str]] = {}

    def page(self, query: Query, fetched: Fetched) -> dict[str, Any]:
        """A page with what is needed to go on. The rows may hold one more than the page, which tells of more."""
        window = query.window
        more = len(fetched.rows) > window.size
        rows = _turned(fetched.rows, window)
        items = self.items(query.listing.columns, query.selection, rows, fetched.reads)
        if window.paging is not Paging.CURSOR:
            return {"items": items, "pagination": _pagination(query, len(items), more, fetched.total)}
        page: dict[str, Any] = {"items": items}
        if window.edges:
            write = self._writer(query)
            page = {
                "edges": [
                    {"node": item, "cursor": write(row, place)}
                    for place, (item, row) in enumerate(zip(items, rows, strict=True))
                ]
            }
        page["pageInfo"] = self._page_info(query, rows, more, fetched.total)
        return page

    def table(self, query: Query, fetched: Fetched) -> dict[str, Any]:
        """The same page as a table: the selected paths once, then a row for each item. What is not there is null."""
        window = query.window
        more = len(fetched.rows) > window.size
        rows = _turned(fetched.rows, window)
        cells = [_cell(path, query.listing.columns) for path in query.selection]
        page: dict[str, Any] = {
            "columns": [path.text for path in query.selection],
            "rows": [[cell(row) for cell in cells] for row in shown(rows, fetched.reads)],
        }
        if window.paging is not Paging.CURSOR:
            return {**page, "pagination": _pagination(query, len(rows), more, fetched.total)}
        return {**page, "pageInfo": self._page_info(query, rows, more, fetched.total)}

    def _page_info(self, query: Query, rows: Sequence[Row], more: bool, total: int | None) -> dict[str, Any]:
        window = query.window
        backward = window.direction is Direction.BACKWARD
        started = window.cursor is not None or window.offset > 0
        info: dict[str, Any] = {
            "hasNextPage": started if backward else more,
            "hasPreviousPage": more if backward else started,
        }
        if rows:
            write = self._writer(query)
            info["startCursor"] = write(rows[0], 0)
            info["endCursor"] = write(rows[-1], len(rows) - 1)
        if total is None and not more and not started:
            total = len(rows)
        if total is not None:
            info["totalCount"] = total
        return info

    def _writer(self, query: Query) -> Callable[[Row, int], str]:
        """Writes the cursor of a row: the values that it is sorted by, or its place where there is no key."""
        listing, offset = query.listing, query.window.offset
        if not listing.collection.key:
            purpose = self._cursors.place_purpose(listing)
            return lambda _row, place: self._cursors.write_place(purpose, offset + place + 1)
        key = (listing.columns, listing.order)
        write = self._writers.get(key)
        if write is None:
            write = keep(self._writers, key, self._cursors.writer(listing))
        return lambda row, _place: write(row)

    def items(
        self, columns: tuple[Path, ...], selection: tuple[Path, ...], rows: Sequence[Row], reads: Reads | None = None
    ) -> list[dict[str, Any]]:
        """The items that rows are."""
        key = (columns, selection, reads)
        build = self._builders.get(key)
        if build is None:
            build = keep(self._builders, key, _builder(columns, selection, reads))
        return build(rows)


def _turned(rows: Sequence[Row], window: Window) -> Sequence[Row]:
    """The rows of a page in its order, without the one that only tells of more."""
    page = rows[: window.size]
    return page[::-1] if window.direction is Direction.BACKWARD else page


def _builder(columns: tuple[Path, ...], selection: tuple[Path, ...], reads: Reads | None) -> Build:
    if all(path in columns and not path.keys for path in selection):
        return compiled(_tree(columns, selection), len(columns), reads)
    parts = [_part(path, columns) for path in selection]

    def build(rows: Sequence[Row]) -> list[dict[str, Any]]:
        items: list[dict[str, Any]] = []
        for row in shown(rows, reads):
            item: dict[str, Any] = {}
            for part in parts:
                part.put(item, row)
            items.append(item)
        return items

    return build


def _tree(columns: tuple[Path, ...], selection: tuple[Path, ...]) -> Branch:
    """Where each selected column belongs in an item."""
    item = Branch()
    for path in selection:
        part, here = _part(path, columns), item
        for name, presence in part.hops:
            here = _branch(here, name, presence)
        *way, last = part.steps
        for name in way:
            here = _branch(here, name, None)
        here.inside[last] = Leaf(columns.index(path))
    return item


def _branch(here: Branch, name: str, presence: int | None) -> Branch:
    branch = here.inside.setdefault(name, Branch(presence))
    return branch if isinstance(branch, Branch) else Branch()


@dataclass(frozen=True, slots=True)
class _Part:
    """Puts one selected value where it belongs in an item, inside the items that relationships lead to."""

    hops: tuple[tuple[str, int], ...]
    """The relationships on the way, each with the place of what tells whether it leads anywhere."""
    steps: tuple[str, ...]
    value: Callable[[Row], Any]

    def put(self, item: dict[str, Any], row: Row) -> None:
        """Add the value; null stands where a relationship leads nowhere, and nothing where JSON lacks a key."""
        here = item
        for hop, presence in self.hops:
            if row[presence] is None:
                here[hop] = None
                return
            here = here.setdefault(hop, {})
        value = self.value(row)
        if value is _MISSING:
            return
        *way, last = self.steps
        for step in way:
            here = here.setdefault(step, {})
        here[last] = value


def _cell(path: Path, columns: tuple[Path, ...]) -> Callable[[Row], Any]:
    """What a row has of a path: null where a relationship on the way leads nowhere, or JSON lacks a key."""
    part = _part(path, columns)
    places = [presence for _, presence in part.hops]
    if not places and not path.keys:
        return part.value

    def cell(row: Row) -> Any:
        value = None if any(row[place] is None for place in places) else part.value(row)
        return None if value is _MISSING else value

    return cell


def _part(path: Path, columns: tuple[Path, ...]) -> _Part:
    names = tuple(hop.name for hop in path.hops)
    hops = tuple((hop.name, _index(columns, names[: place + 1], hop.remote[0])) for place, hop in enumerate(path.hops))
    steps = (COMPUTED, path.field.name) if path.computed else (path.field.name,)
    return _Part(hops, (*steps, *path.keys), _value(path, columns, names))


def _index(columns: tuple[Path, ...], hops: tuple[str, ...], field: str) -> int:
    text = ".".join((*hops, field))
    return next(place for place, path in enumerate(columns) if path.text == text)


def _value(path: Path, columns: tuple[Path, ...], hops: tuple[str, ...]) -> Callable[[Row], Any]:
    if path in columns:
        place = columns.index(path)
        return lambda row: row[place]
    if path.computed:
        return _function(path, columns, hops)
    place, keys = _index(columns, hops, path.field.name), path.keys

    def inside(row: Row) -> Any:
        value = row[place]
        for key in keys:
            value = value.get(key, _MISSING) if isinstance(value, Mapping) else _MISSING
        return value

    return inside


def _function(path: Path, columns: tuple[Path, ...], hops: tuple[str, ...]) -> Callable[[Row], Any]:
    places = {name: _index(columns, hops, name) for name in path.collection.fields}
    function, make = path.collection.computed[path.field.name].function, path.collection.item

    def compute(row: Row) -> Any:
        fields = {name: _inner(path.collection.fields[name], row[place]) for name, place in places.items()}
        return function(make(fields) if make else fields) if function else None

    return compute


def _inner(field: Field, value: Any) -> Any:
    """A value as Python functions know it: a backend may give dates and decimals as texts, ready to be answered."""
    return None if value is None else field.kind.read(value)


def _pagination(query: Query, returned: int, more: bool, total: int | None) -> dict[str, Any]:
    window = query.window
    if total is None and not more and (returned or not window.offset):
        total = window.offset + returned
    if window.paging is Paging.OFFSET:
        answer: dict[str, Any] = {"limit": window.size, "offset": window.offset, "returned": returned}
    else:
        answer = {"page": window.number, "page_size": window.size}
    if total is not None:
        answer["total_items"] = total
        if window.paging is Paging.PAGE and window.size:
            answer["total_pages"] = -(-total // window.size)
    return answer | {"has_more": more}


def summaries_answer(asked: Summaries, groups: Sequence[Groups]) -> tuple[dict[str, Any], list[Notice]]:
    """The summaries by label, and a warning for each that shows not all of its groups."""
    answer: dict[str, Any] = {}
    notices: list[Notice] = []
    for label, aggregate, found in zip(asked.labels, asked.shape.aggregates, groups, strict=True):
        names = [function.value for function, _ in aggregate.functions]
        if aggregate.group_by is None:
            answer[label] = _values(names, found.rows[0])
            continue
        answer[label] = _by_group(names, found.rows)
        if found.total > len(found.rows):
            notices.append(left_out_notice(f"aggregate.{label}", found.total, len(found.rows)))
    return answer, notices


def _values(names: Sequence[str], row: Sequence[Any]) -> Any:
    return row[0] if len(names) == 1 else dict(zip(names, row, strict=True))


def _by_group(names: Sequence[str], rows: Sequence[Row]) -> dict[str, Any]:
    """By the group's value as text. The group without a value gets a name that no other has."""
    shown = {_text(value): _values(names, rest) for value, *rest in rows if value is not None}
    for value, *rest in rows:
        if value is None:
            name = _NO_VALUE
            while name in shown:
                name = f"({name})"
            shown[name] = _values(names, rest)
    return shown


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        value = utc(value)  # a driver may give it without its zone
    return value.isoformat().replace("+00:00", "Z") if hasattr(value, "isoformat") else str(value)


def left_out_notice(what: str, total: int, shown: int) -> Notice:
    """The warning when groups were left out."""
    return Notice(
        "VALIDATION_TRUNCATED_WARNING",
        f"'{what}' shows the {shown} largest of {total} groups: narrow the filter to see the others",
        {"field": what, "original_count": total, "truncated_count": shown, "limit": shown},
        "medium",
    )
