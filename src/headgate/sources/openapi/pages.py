"""A list of an upstream in pages of headgate's own: ``first`` and ``after``, whatever the upstream calls them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from headgate.adapter.context import Context
from headgate.adapter.parameters import Parameter, Schema
from headgate.protocol.errors import Invalid
from headgate.sources.http.credentials import ApiKey
from headgate.sources.http.links import links_of
from headgate.sources.http.messages import Answer, OutRequest
from headgate.sources.openapi.calling import Call, Prepared
from headgate.sources.openapi.cursors import Position, PositionCursors
from headgate.sources.openapi.escaping import json_text
from headgate.sources.openapi.paging import Paging, Turn
from headgate.sources.selecting import selected
from headgate.sources.shapes import NOT_GIVEN

__all__ = ["AFTER", "CONTEXT", "FIRST", "MOST_ITEMS", "MOST_PAGES", "Pages", "page_schema"]

MOST_ITEMS: Final = 100
MOST_PAGES: Final = 10
"""How many items one call gives, and how many of the upstream's pages it reads for them."""

CONTEXT: Final = "·context"
FIRST: Final = Parameter(
    "first",
    {
        "type": "integer",
        "minimum": 1,
        "description": f"How many items to give, {MOST_ITEMS} at most; as many as the upstream gives unless said.",
    },
    required=False,
    default=NOT_GIVEN,
)
AFTER: Final = Parameter(
    "after",
    {"type": "string", "description": "Go on after the 'endCursor' of the page before; goes with 'first'."},
    required=False,
    default=NOT_GIVEN,
)
_TOTALS: Final = ("total_count", "totalCount", "total", "total_items", "totalItems", "total_results", "totalResults")
_MORES: Final = ("has_more", "hasMore", "has_next", "hasNext", "has_next_page", "hasNextPage", "more")
_WRAPPERS: Final = ("meta", "metadata", "pagination", "paging", "page_info", "pageInfo", "page")


def page_schema(item: Schema) -> Schema:
    """The form of an answer in pages."""
    info = {"hasNextPage": {"type": "boolean"}, "hasPreviousPage": {"type": "boolean"}, "endCursor": {"type": "string"}}
    return {
        "type": "object",
        "properties": {
            "items": {"type": "array", "items": item},
            "pageInfo": {"type": "object", "properties": {**info, "totalCount": {"type": "integer"}}},
            "rest": {"type": "object"},
        },
    }


@dataclass(frozen=True, slots=True)
class _Page:
    """A page of the upstream: its items, where the next one is, and what else the answer says."""

    items: list[Any]
    following: Position | None
    rest: Mapping[str, Any]


@dataclass(frozen=True)
class Pages:
    """What is called instead of a call whose answer is a page of a list."""

    call: Call
    paging: Paging
    cursors: PositionCursors

    async def __call__(self, **values: Any) -> object:
        """A page, with what is needed to go on. An answer that holds no list is given as it is."""
        context: Context = values.pop(CONTEXT)
        first, after = values.pop(FIRST.name), values.pop(AFTER.name)
        fields = values.pop("fields", NOT_GIVEN) if self.call.selects else NOT_GIVEN
        if after is not NOT_GIVEN and first is NOT_GIVEN:
            raise Invalid("after", "'after' goes with 'first', which says how many items to give")
        most = self._clamped(first, context)
        prepared = self.call.prepared(values)
        about = json_text([prepared.url, sorted(prepared.query)])
        start = self._start(most) if after is NOT_GIVEN else self.cursors.read(after, about)
        found = await self._gathered(prepared, start, most)
        if not isinstance(found, _Page):
            return selected(found, fields)
        info = self._info(found, about, started=after is not NOT_GIVEN)
        return {
            "items": selected(found.items, fields),
            "pageInfo": info,
            **({"rest": dict(found.rest)} if found.rest else {}),
        }

    def _clamped(self, first: Any, context: Context) -> int | None:
        if first is NOT_GIVEN:
            return None
        if first > MOST_ITEMS:
            context.warn(
                "VALIDATION_TRUNCATED_WARNING",
                f"'first' was {first}; a page has no more than {MOST_ITEMS} items. Go on with the cursor after it",
                severity="low",
                field="first",
                original_count=first,
                truncated_count=MOST_ITEMS,
                limit=MOST_ITEMS,
            )
        return int(min(first, MOST_ITEMS))

    def _start(self, most: int | None) -> Position:
        size = min(most, self.paging.largest or MOST_ITEMS) if most is not None and self.paging.size else None
        return Position(size=size)

    async def _gathered(self, prepared: Prepared, position: Position, most: int | None) -> object:
        """As many items as are wanted, from as many pages as that takes; or an answer that is no page."""
        items: list[Any] = []
        seen: set[Position] = set()
        page = _Page([], position, {})
        for _ in range(MOST_PAGES):
            seen.add(position)
            answer = await self.call.send(self._request(prepared, position))
            found = self._page(self.call.data(answer, prepared), answer, position)
            if not isinstance(found, _Page):
                return found
            page = found
            left = page.items[position.skip :]
            if most is not None and len(items) + len(left) > most:
                taken = most - len(items)
                return replace(page, items=[*items, *left[:taken]], following=_skipping(position, taken))
            items += left
            if page.following is None or page.following in seen:  # a page that leads back would never end
                return replace(page, items=items, following=None)
            if most is None or len(items) >= most:
                break
            position = page.following
        return replace(page, items=items)

    def _request(self, prepared: Prepared, position: Position) -> OutRequest:
        if position.whole:
            return prepared.with_query(_escaped(position.query))
        names = {name for name, _ in position.query}
        kept = tuple(pair for pair in prepared.query if unquote(pair[0]) not in names)
        size = ((self.paging.size, str(position.size)),) if position.size is not None else ()
        return prepared.with_query((*kept, *_escaped((*position.query, *size))))

    def _page(self, data: Any, answer: Answer, position: Position) -> object:
        """The answer as a page, or as it is if there is no list where one was promised."""
        rest: dict[str, Any] = {}
        found = data
        for step in self.paging.items:
            if not isinstance(found, dict):
                return data
            rest |= {key: value for key, value in found.items() if key != step}
            found = found.get(step)
        if not isinstance(found, list):
            return data
        return _Page(found, self._following(data, found, rest, answer, position), rest)

    def _following(
        self, data: Any, items: list[Any], rest: Mapping[str, Any], answer: Answer, position: Position
    ) -> Position | None:
        """Where the next page is: what a link says goes before everything else."""
        link = links_of(answer).get("next")
        if link is not None:
            return self._linked(link, answer, position)
        if "link" in answer.headers or _told_of_more(rest) is False:
            return None
        paging = self.paging
        match paging.turn:
            case Turn.LINK:
                return None
            case Turn.TOKEN:
                token = _below(data, paging.following)
                return _at(paging.position, token, position) if isinstance(token, str | int) and token != "" else None
            case Turn.LAST:
                last = items[-1].get("id") if items and isinstance(items[-1], dict) else None
                return _at(paging.position, last, position) if last and _told_of_more(rest) else None
            case _:
                return self._counted(items, rest, position)

    def _counted(self, items: list[Any], rest: Mapping[str, Any], position: Position) -> Position | None:
        """The next page by its number, or by how many items were before."""
        paging = self.paging
        here = int(next((value for name, value in position.query if name == paging.position), paging.start))
        if not items or self._is_short(items, rest, position):
            return None
        if paging.turn is Turn.PAGE:
            return _at(paging.position, here + 1, position)
        total = _total(rest)
        reached = here + len(items)
        return None if total is not None and reached >= total else _at(paging.position, reached, position)

    def _is_short(self, items: list[Any], rest: Mapping[str, Any], position: Position) -> bool:
        """Whether a page is not full, and so the last. A size that the upstream may have cut tells nothing."""
        paging = self.paging
        size = paging.usual if position.size is None else position.size if paging.largest else None
        return size is not None and len(items) < size and _told_of_more(rest) is None and _total(rest) is None

    def _linked(self, link: str, answer: Answer, position: Position) -> Position | None:
        """The position that a link stands for. Only its query counts: requests go where they always go."""
        keys = {
            credential.name
            for way in self.call.security.alternatives
            for credential in way.credentials
            if isinstance(credential, ApiKey) and credential.where == "query"
        }
        here, there = (
            tuple(pair for pair in parse_qsl(urlsplit(url).query, keep_blank_values=True) if pair[0] not in keys)
            for url in (answer.url, link)
        )
        return Position(there, True, position.size) if there != here else None

    def _info(self, page: _Page, about: str, *, started: bool) -> dict[str, Any]:
        info: dict[str, Any] = {"hasNextPage": page.following is not None, "hasPreviousPage": started}
        if page.following is not None:
            info["endCursor"] = self.cursors.write(page.following, about)
        total = _total(page.rest)
        return info if total is None else {**info, "totalCount": total}


def _skipping(position: Position, taken: int) -> Position:
    return replace(position, skip=position.skip + taken)


def _at(name: str, value: object, before: Position) -> Position:
    return Position(((name, str(value)),), False, before.size)


def _escaped(pairs: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    return tuple((quote(name, safe=""), quote(value, safe="")) for name, value in pairs)


def _below(data: Any, path: tuple[str, ...]) -> object:
    for step in path:
        data = data.get(step) if isinstance(data, dict) else None
    return data


def _levels(rest: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield rest
    yield from (rest[name] for name in _WRAPPERS if isinstance(rest.get(name), dict))


def _told_of_more(rest: Mapping[str, Any]) -> bool | None:
    """What the upstream itself says of further items, if it says it."""
    said = (level[name] for level in _levels(rest) for name in _MORES if isinstance(level.get(name), bool))
    return next(said, None)


def _total(rest: Mapping[str, Any]) -> int | None:
    numbers = (level.get(name) for level in _levels(rest) for name in _TOTALS)
    return next((one for one in numbers if isinstance(one, int) and not isinstance(one, bool)), None)
