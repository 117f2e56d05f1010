"""Collections page by page, in whatever style an operation declares; one page is held at a time."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from headgate.client.descriptions import OperationInfo, objects
from headgate.client.errors import PagesRepeat
from headgate.protocol.tables import records_of

__all__ = ["Page", "page_of", "walk"]

_SIZE: Final = 100
_CURSOR: Final = ("first", "after")
_BACK: Final = ("last", "before")
_OFFSET: Final = ("limit", "offset")

Ask = Callable[[Mapping[str, Any]], Awaitable[Any]]
"""Sends the operation with parameters, and gives the data."""


@dataclass(frozen=True, slots=True)
class Page:
    """Some items, and where it goes on."""

    items: list[Any]
    cursor: str | None
    """Where the next page begins, if the server says so."""
    has_more: bool | None
    """Whether another page follows; None where that is not said."""


def page_of(data: object) -> Page:
    """The page in the data of an answer: a bare list, items, edges, a table, or the one list that there is."""
    if not isinstance(data, Mapping):
        return Page(data if isinstance(data, list) else [], None, False if data is None else None)
    info = _info(data)
    return Page(_items(data), _text(info, "endCursor", "end_cursor", "next_cursor", "nextCursor"), _flag(info))


def _info(data: Mapping[str, Any]) -> Mapping[str, Any]:
    found = (data.get(name) for name in ("pageInfo", "page_info", "pagination"))
    return next((info for info in found if isinstance(info, Mapping)), data)


def _items(data: Mapping[str, Any]) -> list[Any]:
    if isinstance(data.get("items"), list):
        return list(data["items"])
    table = records_of(data)
    if table is not None:
        return list(table)
    if isinstance(data.get("edges"), list):
        return [edge["node"] for edge in objects(data["edges"]) if "node" in edge]
    lists = [value for name, value in data.items() if isinstance(value, list) and not name.startswith("_")]
    return list(lists[0]) if len(lists) == 1 else []


def _text(info: Mapping[str, Any], *names: str) -> str | None:
    return next((info[name] for name in names if isinstance(info.get(name), str) and info[name]), None)


def _flag(info: Mapping[str, Any]) -> bool | None:
    names = ("hasNextPage", "has_next_page", "has_more", "hasMore", "has_next")
    return next((info[name] for name in names if isinstance(info.get(name), bool)), None)


def walk(ask: Ask, operation: OperationInfo | None, params: Mapping[str, Any]) -> AsyncIterator[Any]:
    """Every item, in the order of the server; with ``last`` or ``before`` from there to the first, the last first."""
    if operation is not None and operation.declares(*_BACK) and params.keys() & {*_BACK}:
        return _backwards(ask, {"last": _size(operation, "last"), **params})
    if operation is not None and operation.declares(*_CURSOR) and not params.keys() & {"limit", "page", "page_size"}:
        return _by_cursor(ask, {"first": _size(operation, "first"), **params})
    if operation is not None and operation.declares(*_OFFSET) and not params.keys() & {"page", "page_size"}:
        return _by_offset(ask, {"limit": _size(operation, "limit"), **params})
    if operation is not None and operation.declares("page"):
        return _by_number(ask, dict(params))
    return _alone(ask, params)


def _size(operation: OperationInfo, name: str) -> int:
    parameter = operation.parameter(name)
    most = parameter.maximum if parameter else None
    return _SIZE if most is None else max(1, min(_SIZE, int(most)))


async def _alone(ask: Ask, params: Mapping[str, Any]) -> AsyncIterator[Any]:
    for item in page_of(await ask(params)).items:
        yield item


async def _by_cursor(ask: Ask, params: dict[str, Any]) -> AsyncIterator[Any]:
    seen = _Seen()
    while True:
        page = page_of(await ask(params))
        for item in page.items:
            yield item
        if page.cursor is None or page.has_more is False or (page.has_more is None and not page.items):
            return
        seen.note(page.cursor)
        params = {**params, "after": page.cursor}


async def _backwards(ask: Ask, params: dict[str, Any]) -> AsyncIterator[Any]:
    seen = _Seen()
    while True:
        data = await ask(params)
        items = page_of(data).items
        for item in reversed(items):
            yield item
        info = _info(data) if isinstance(data, Mapping) else {}
        cursor = _text(info, "startCursor", "start_cursor")
        more = info.get("hasPreviousPage", info.get("has_previous_page", bool(items)))
        if cursor is None or more is False:
            return
        seen.note(cursor)
        params = {**params, "before": cursor}


class _Seen:
    """Finds that cursors go in a circle, of whatever length, and remembers only two of them."""

    def __init__(self) -> None:
        self._last = self._kept = ""
        self._count = 0

    def note(self, cursor: str) -> None:
        """Take the next cursor; PagesRepeat if it was there before, at the latest after the circle was walked twice."""
        if cursor in (self._last, self._kept):
            raise PagesRepeat(f"The server gives the cursor '{cursor}' again: its pages do not come to an end.")
        self._count += 1
        self._last = cursor
        if self._count & (self._count - 1) == 0:
            self._kept = cursor


async def _by_offset(ask: Ask, params: dict[str, Any]) -> AsyncIterator[Any]:
    offset, page = int(params.get("offset") or 0), Page([], None, True)
    while page.has_more is not False:
        page = _next(page_of(await ask({**params, "offset": offset})), page)
        for item in page.items:
            yield item
        offset += len(page.items)


async def _by_number(ask: Ask, params: dict[str, Any]) -> AsyncIterator[Any]:
    number, page = int(params.get("page") or 1), Page([], None, True)
    while page.has_more is not False:
        page = _next(page_of(await ask({**params, "page": number})), page)
        for item in page.items:
            yield item
        number += 1


def _next(page: Page, before: Page) -> Page:
    """The next page: an empty one is the last; one that was there already is none."""
    if not page.items:
        return Page([], None, False)
    if page.items == before.items:
        raise PagesRepeat("The server gives the same page again: its pages do not come to an end.")
    return page
