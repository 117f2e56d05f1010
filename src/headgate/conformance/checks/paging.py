"""Collections: pages, cursors and what is said beside the items."""

from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any, Final

from headgate.conformance.listing import SIZES, Listing, Page, listings, page_in, refusal, with_items
from headgate.conformance.probe import Probe
from headgate.conformance.registry import broken, check, holds, unseen
from headgate.conformance.values import Area, Demand, Finding
from headgate.conformance.walking import Walk, walk_back, walk_by_cursor, walk_by_number

__all__: list[str] = []

_SMALL: Final = 2
_MOST_MIXED: Final = 4
_NO_CURSOR: Final = "no-such-cursor"


def _missing(told: Mapping[str, Any] | None, where: str, wanted: Mapping[str, type]) -> str:
    """What the metadata of a page lacks, in words."""
    if told is None:
        return f"the answer has no object 'data.{where}'"
    lacking = [name for name, kind in wanted.items() if not isinstance(told.get(name), kind)]
    return f"'data.{where}' lacks {', '.join(map(repr, lacking))}" if lacking else ""


@check(
    "paging.metadata",
    "A page by cursor says in 'pageInfo' whether more follows, and where.",
    section="operations 4.4.3",
    demand=Demand.SHOULD,
    area=Area.COLLECTIONS,
    level=2,
    how="Asks collections that take 'first' for two items, and looks for hasNextPage, hasPreviousPage and, where there "
    "are items, startCursor and endCursor.",
    proves=(
        "ops-4.4.3-paginated-answers-carry-metadata",
        "ops-4.4.3-cursor-paging-has-page-info",
        "cq-5-applied-controls-told",
    ),
)
async def metadata(probe: Probe) -> AsyncIterator[Finding]:
    """A client can go on without knowing the server."""
    for listing in await listings(probe):
        if not listing.takes("first", "after"):
            continue
        exchange = await probe.call(listing.operation, {**listing.params, "first": _SMALL})
        page = page_in(exchange)
        if page is None:
            continue
        wanted: dict[str, type] = {"hasNextPage": bool, "hasPreviousPage": bool}
        wanted |= {"startCursor": str, "endCursor": str} if page.items else {}
        words = _missing(page.page_info, "pageInfo", wanted)
        if words:
            yield broken(listing.name, f"'{listing.name}' was asked with 'first', and {words}", exchange)
        else:
            yield holds(listing.name, exchange)


async def _numbered(probe: Probe, asked: Mapping[str, int]) -> AsyncIterator[Finding]:
    """The metadata of pages by offset or by number: what was asked for is said again."""
    for listing in await listings(probe):
        if not listing.takes(*asked):
            continue
        exchange = await probe.call(listing.operation, {**listing.params, **asked})
        page = page_in(exchange)
        if page is None:
            continue
        words = _missing(page.pagination, "pagination", dict.fromkeys(asked, int))
        told = page.pagination or {}
        if not words and any(told[name] != value for name, value in asked.items()):
            seen = {name: told[name] for name in asked}
            words = f"'data.pagination' says {seen} where {dict(asked)} was asked for"
        yield (
            broken(
                listing.name, f"'{listing.name}' was asked with {' and '.join(map(repr, asked))}, and {words}", exchange
            )
            if words
            else holds(listing.name, exchange)
        )


@check(
    "paging.offset-metadata",
    "A page by offset says in 'pagination' which limit and offset it was made with.",
    section="operations 4.4.3",
    demand=Demand.SHOULD,
    area=Area.COLLECTIONS,
    level=2,
    how="Asks collections that take 'limit' and 'offset' for two items after the first.",
    proves=(
        "ops-4.4.3-paginated-answers-carry-metadata",
        "ops-4.4.3-offset-paging-has-pagination",
        "ops-4.2-offset-paging-uses-limit-offset",
        "cq-5-applied-controls-told",
    ),
)
async def offset_metadata(probe: Probe) -> AsyncIterator[Finding]:
    """What was applied is said."""
    async for finding in _numbered(probe, {"limit": _SMALL, "offset": 1}):
        yield finding


@check(
    "paging.page-metadata",
    "A numbered page says in 'pagination' which page it is and how large.",
    section="operations 4.4.3",
    demand=Demand.SHOULD,
    area=Area.COLLECTIONS,
    level=2,
    how="Asks collections that take 'page' and 'page_size' for the first page of two items.",
    proves=(
        "ops-4.4.3-paginated-answers-carry-metadata",
        "ops-4.4.3-page-paging-has-pagination",
        "cq-5-applied-controls-told",
    ),
)
async def page_metadata(probe: Probe) -> AsyncIterator[Finding]:
    """What was applied is said."""
    async for finding in _numbered(probe, {"page": 1, "page_size": _SMALL}):
        yield finding


@check(
    "paging.size",
    "A page has no more items than were asked for.",
    section="collection querying 2.6",
    demand=Demand.SHOULD,
    area=Area.COLLECTIONS,
    level=2,
    how="Asks collections with more than two items for two, with each of 'first', 'last', 'limit' and 'page_size' that "
    "they take.",
    proves=("cq-5-advertised-controls-not-ignored",),
)
async def size(probe: Probe) -> AsyncIterator[Finding]:
    """What is advertised is not ignored."""
    for listing in with_items(await listings(probe), _SMALL + 1):
        for name in (*SIZES.values(), "last"):
            if not listing.takes(name):
                continue
            exchange = await probe.call(listing.operation, {**listing.params, name: _SMALL})
            page = page_in(exchange)
            if page is None:
                continue
            if len(page.items) > _SMALL:
                words = f"'{listing.name}' gave {len(page.items)} items although '{name}' was {_SMALL}"
                yield broken(f"{listing.name}.{name}", words, exchange)
            else:
                yield holds(f"{listing.name}.{name}", exchange)


def _styles(listing: Listing) -> Iterator[str]:
    if listing.takes("first", "after"):
        yield "cursor"
    if listing.takes("limit", "offset"):
        yield "offset"
    if listing.takes("page", "page_size"):
        yield "page"


@check(
    "paging.walk",
    "Page after page, every item comes once, and the end and the number of all items are told truly.",
    section="collection querying 2.6",
    demand=Demand.SHOULD,
    area=Area.COLLECTIONS,
    level=2,
    how="Takes up to twelve items in one page, then the same in small pages, forwards and backwards, and compares; if "
    "the collection has changed meanwhile, nothing is held against it.",
    proves=(
        "ops-4.4.3-paginated-answers-carry-metadata",
        "ops-4.2-cursor-paging-uses-first-after",
    ),
)
async def walk(probe: Probe) -> AsyncIterator[Finding]:
    """Nothing is lost or repeated between pages."""
    for listing in await listings(probe):
        for style in _styles(listing):
            if len(listing.items) < 2:
                yield unseen(listing.name, f"'{listing.name}' has fewer than two items, which cannot show pages")
                break
            gone = await (walk_by_cursor if style == "cursor" else walk_by_number)(probe, listing, style)
            yield _told(listing, style, gone)
            if style == "cursor" and listing.takes("last", "before") and gone.problem == "" and gone.pages:
                yield _told(listing, "cursor, backwards", await walk_back(probe, listing, gone))


def _told(listing: Listing, style: str, gone: Walk) -> Finding:
    subject = f"{listing.name} by {style}"
    if gone.unclear:
        return unseen(subject, gone.unclear, *gone.exchanges)
    if gone.problem:
        return broken(subject, f"'{listing.name}', page by page ({style}): {gone.problem}", *gone.exchanges)
    return holds(subject, *gone.exchanges)


def _mixed(listing: Listing, page: Page) -> Iterator[dict[str, Any]]:
    """The combinations that contradict themselves, of those parameters that are declared."""
    after, before = page.cursor("endCursor"), page.cursor("startCursor")
    values: dict[str, Any] = {
        **dict.fromkeys(("first", "last", "limit", "page_size"), _SMALL),
        **dict.fromkeys(("offset", "page"), 1),
        **({"after": after} if after else {}),
        **({"before": before} if before else {}),
    }
    pairs = [
        *(("first", "last"), ("first", "before"), ("last", "after")),
        *(("first", "limit"), ("first", "offset"), ("first", "page"), ("first", "page_size")),
        *(("limit", "page"), ("offset", "page"), ("limit", "page_size"), ("offset", "page_size")),
    ]
    for pair in pairs:
        if listing.takes(*pair) and all(name in values for name in pair):
            yield {name: values[name] for name in pair}
    for cursor, size_name in (("after", "first"), ("before", "last")):
        if listing.takes(cursor, size_name) and cursor in values and not _has_default(listing, size_name):
            yield {cursor: values[cursor]}


def _has_default(listing: Listing, name: str) -> bool:
    """Whether a size is documented that applies where none is said: then a cursor alone is complete."""
    parameter = listing.operation.parameter(name)
    return parameter is not None and parameter.raw.get("default") is not None


@check(
    "paging.mixed-refused",
    "Paging parameters that contradict each other are refused.",
    section="collection querying 2.6, 5",
    demand=Demand.SHOULD,
    area=Area.COLLECTIONS,
    level=2,
    how="Sends each contradictory combination of the paging parameters that an operation declares: two styles at once, "
    "'first' with 'last', a cursor with the size of the other direction, or with none where no default is documented.",
    proves=("cq-2.6-mixed-styles-rejected", "cq-5-mixed-pagination-rejected"),
)
async def mixed_refused(probe: Probe) -> AsyncIterator[Finding]:
    """No combination is silently made something of."""
    for listing in with_items(await listings(probe), _SMALL)[:_MOST_MIXED]:
        for asked in _mixed(listing, listing.page):
            exchange = await probe.call(listing.operation, {**listing.params, **asked})
            names = " with ".join(map(repr, asked)) if len(asked) > 1 else f"'{next(iter(asked))}' without a size"
            words = f"'{listing.name}' took {names}; a validation error is expected"
            for finding in refusal(f"{listing.name}: {' and '.join(asked)}", exchange, words):
                yield finding


@check(
    "paging.false-cursor-refused",
    "A cursor that the server never gave is refused.",
    section="collection querying 5",
    demand=Demand.SHOULD,
    area=Area.COLLECTIONS,
    level=2,
    how="Asks collections for the items after and before a cursor that is a made-up text.",
    proves=("cq-5-advertised-controls-not-ignored",),
)
async def false_cursor_refused(probe: Probe) -> AsyncIterator[Finding]:
    """It is not taken for the beginning."""
    for listing in await listings(probe):
        for cursor, size_name in (("after", "first"), ("before", "last")):
            if not listing.takes(cursor, size_name):
                continue
            asked = {**listing.params, size_name: _SMALL, cursor: _NO_CURSOR}
            words = f"'{listing.name}' took '{_NO_CURSOR}' in '{cursor}', which is no cursor; it is to be refused"
            exchange = await probe.call(listing.operation, asked)
            for finding in refusal(f"{listing.name}.{cursor}", exchange, words):
                yield finding
