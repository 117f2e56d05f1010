"""Through a collection page by page, compared with one larger page of the same."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from headgate.conformance.listing import SIZES, Listing, Page, canonical, page_of
from headgate.conformance.probe import Probe
from headgate.conformance.values import Exchange

__all__ = ["Walk", "walk_back", "walk_by_cursor", "walk_by_number"]

_LARGE: Final = 12
_MOST_PAGES: Final = 12
_CHANGES: Final = "the collection changes while it is looked at"


@dataclass(frozen=True, slots=True)
class Walk:
    """What became of a walk: fine if there is neither a problem nor a reason why it could not be judged."""

    problem: str = ""
    unclear: str = ""
    pages: tuple[Page, ...] = ()

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        """The requests of the walk, the last few where there are many."""
        return tuple(page.exchange for page in self.pages)[-3:]


def _step(count: int) -> int:
    """How large small pages are, so that there are several."""
    return 1 if count <= 3 else 2 if count <= 6 else 3


async def walk_by_cursor(probe: Probe, listing: Listing, _style: str) -> Walk:
    """Forwards, with ``first`` and ``after``."""
    large = await page_of(probe, listing.operation, {**listing.params, "first": _LARGE})
    if large is None:
        return Walk(unclear="no page could be had")
    step, pages, cursor = _step(len(large.items)), list[Page](), None
    while len(pages) < _MOST_PAGES:
        asked = {**listing.params, "first": step, **({} if cursor is None else {"after": cursor})}
        page = await page_of(probe, listing.operation, asked)
        if page is None:
            return Walk(unclear="a page could not be had", pages=tuple(pages))
        pages.append(page)
        cursor = page.cursor("endCursor")
        if _is_enough(pages, large) or (page.more is False and cursor is None):
            break
        if cursor is None or page.more is None:
            return Walk(unclear="'pageInfo' does not tell how to go on", pages=tuple(pages))
    return await _judged(probe, listing, {"first": _LARGE}, large, pages)


async def walk_by_number(probe: Probe, listing: Listing, style: str) -> Walk:
    """Forwards, by offset or by the number of the page."""
    size = SIZES[style]
    first = {"offset": 0} if style == "offset" else {"page": 1}
    asked = {size: _LARGE, **first}
    large = await page_of(probe, listing.operation, {**listing.params, **asked})
    if large is None:
        return Walk(unclear="no page could be had")
    step, pages = _step(len(large.items)), list[Page]()
    while len(pages) < _MOST_PAGES:
        place = {"offset": len(pages) * step} if style == "offset" else {"page": len(pages) + 1}
        page = await page_of(probe, listing.operation, {**listing.params, size: step, **place})
        if page is None:
            return Walk(unclear="a page could not be had", pages=tuple(pages))
        pages.append(page)
        if _is_enough(pages, large):
            break
    return await _judged(probe, listing, asked, large, pages)


def _is_enough(pages: Sequence[Page], large: Page) -> bool:
    """Whether all has been seen. Where the last page says that more follows, one more page shows whether that is so."""
    gathered = sum(len(page.items) for page in pages)
    if not pages[-1].items or gathered > len(large.items):
        return True
    return gathered == len(large.items) and pages[-1].more is not True


async def _judged(probe: Probe, listing: Listing, asked: dict[str, Any], large: Page, pages: list[Page]) -> Walk:
    problem = _problem(large, pages)
    if problem and await _has_changed(probe, listing, asked, large):
        return Walk(unclear=_CHANGES, pages=tuple(pages))
    return Walk(problem=problem, pages=tuple(pages))


async def _has_changed(probe: Probe, listing: Listing, asked: dict[str, Any], page: Page) -> bool:
    """Whether a page is another one when it is asked for again."""
    again = await page_of(probe, listing.operation, {**listing.params, **asked})
    return again is None or list(map(canonical, again.items)) != list(map(canonical, page.items))


def _problem(large: Page, pages: Sequence[Page]) -> str:
    expected = Counter(map(canonical, large.items))
    if max(expected.values(), default=1) > 1:
        return ""  # items that cannot be told apart show nothing
    gathered = Counter(canonical(item) for page in pages for item in page.items)
    twice = sum(1 for count in gathered.values() if count > 1)
    if twice:
        return f"{twice} of {len(gathered)} items came twice"
    return _dishonest(large, pages) or _lost(expected, gathered)


def _lost(expected: Counter[bytes], gathered: Counter[bytes]) -> str:
    missing = len(expected - gathered)
    return f"{missing} of {len(expected)} items of one larger page did not come" if missing else ""


def _dishonest(large: Page, pages: Sequence[Page]) -> str:
    """Where the end of a collection is told wrongly."""
    seen = 0
    for place, page in enumerate(pages, start=1):
        seen += len(page.items)
        if page.more is False and seen < len(large.items):
            return f"page {place} says that nothing follows, after {seen} of at least {len(large.items)} items"
    if pages[-1].items == () and len(pages) > 1 and pages[-2].more is True:
        return f"page {len(pages) - 1} says that more follows, and the next page is empty"
    return _miscounted(pages[-1], seen)


def _miscounted(last: Page, seen: int) -> str:
    """Where another number of items is told than there are: all of them were seen if nothing follows."""
    if last.total is None or last.total == seen or (last.more is not False and last.total > seen):
        return ""
    return f"the last page says that there are {last.total} items in all, and {seen} came"


async def walk_back(probe: Probe, listing: Listing, forth: Walk) -> Walk:
    """Backwards with ``last`` and ``before``, from the last page of a walk: all before it comes again."""
    full = [page for page in forth.pages if page.items]
    cursor = full[-1].cursor("startCursor") if full else None
    if len(full) < 2 or cursor is None:
        return Walk(unclear="there are too few pages to go back")
    wanted = Counter(canonical(item) for page in full[:-1] for item in page.items)
    pages: list[Page] = []
    while cursor is not None and len(pages) < _MOST_PAGES and _count(pages) < wanted.total():
        asked = {**listing.params, "last": len(full[0].items), "before": cursor}
        page = await page_of(probe, listing.operation, asked)
        if page is None:
            return Walk(unclear="a page could not be had", pages=tuple(pages))
        pages.append(page)
        cursor = page.cursor("startCursor") if page.items else None
    gathered = Counter(canonical(item) for page in pages for item in page.items)
    if gathered != wanted and await _has_changed(probe, listing, {"first": len(full[0].items)}, full[0]):
        return Walk(unclear=_CHANGES, pages=tuple(pages))
    if gathered != wanted:
        missing, others = (wanted - gathered).total(), (gathered - wanted).total()
        return Walk(f"{missing} items that came before did not come again, and {others} others came", "", tuple(pages))
    return Walk(pages=tuple(pages))


def _count(pages: Sequence[Page]) -> int:
    return sum(len(page.items) for page in pages)
