"""Pages of an API, however it hands them out, as ``first`` and ``after`` (Cursor-Based Pagination)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlsplit

from headgate.adapter.context import Context
from headgate.adapter.parameters import Parameter
from headgate.protocol.canonical import digest
from headgate.protocol.errors import AqlError, Invalid
from headgate.sources.files.sealing import Seal
from headgate.sources.files.values import Paging
from headgate.sources.http.links import links_of
from headgate.sources.http.messages import Answer
from headgate.sources.http.origins import origin_of
from headgate.sources.shapes import NOT_GIVEN

__all__ = ["AFTER", "FIRST", "PAGE", "Pager", "Turn", "paging_parameters"]

FIRST: Final = "first"
AFTER: Final = "after"

PAGE: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        "items": {"type": "array", "items": {}},
        "pageInfo": {
            "type": "object",
            "properties": {
                "hasNextPage": {"type": "boolean"},
                "hasPreviousPage": {"type": "boolean"},
                "endCursor": {"type": "string"},
                "totalCount": {"type": "integer"},
            },
            "required": ["hasNextPage", "hasPreviousPage"],
        },
    },
    "required": ["items", "pageInfo"],
}
"""What an operation with pages answers."""

_SEAL: Final = Seal()
_ITEMS: Final = ("items", "data", "results", "records", "entries", "values", "value", "list", "rows", "content")
_CURSORS: Final = (
    *("next_cursor", "nextCursor", "next_page_token", "nextPageToken", "next_token", "nextToken", "cursor", "next"),
    *("meta.next_cursor", "meta.nextCursor", "pagination.next_cursor", "pagination.nextCursor", "paging.next"),
    *("page_info.end_cursor", "pageInfo.endCursor", "response_metadata.next_cursor", "cursors.after"),
    *("paging.cursors.after", "links.next", "_links.next.href"),
)
_LONGEST_CURSOR: Final = 8_000


def paging_parameters(paging: Paging) -> tuple[Parameter, Parameter]:
    """The two parameters by which callers turn pages."""
    words = f"How many items a page has; {paging.default_limit} unless said, no more than {paging.max_limit}."
    size = {"type": "integer", "minimum": 1, "description": words}
    place = {
        "type": "string",
        "description": "The 'endCursor' of the page before, to go on behind it. Give 'first' too.",
    }
    return (
        Parameter(FIRST, size, required=False, default=NOT_GIVEN),
        Parameter(AFTER, place, required=False, default=NOT_GIVEN),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One page that is asked for."""

    values: Mapping[str, object]
    size: int
    purpose: str
    state: Any = None
    """Where the page begins, as the page before has told; None for the first one."""
    query: Mapping[str, object] = field(default_factory=dict)
    place: str = ""
    """The path and query that the upstream itself has linked to."""


@dataclass(frozen=True, slots=True)
class Pager:
    """Turns the pages of one operation."""

    operation: str
    paging: Paging

    def turn(self, values: Mapping[str, object], context: Context | None) -> Turn:
        """The page that a call asks for. A cursor of another call is refused."""
        rest = {name: value for name, value in values.items() if name not in (FIRST, AFTER)}
        purpose = f"{self.operation} {self.paging.style} {digest(rest)}"
        after = values.get(AFTER)
        if after is not None and FIRST not in values:
            raise Invalid(AFTER, f"it goes with '{FIRST}', which says how many items to give")
        size = self._size(values.get(FIRST), context)
        state = None if after is None else _opened(after, purpose)
        is_linked = self.paging.style == "link" and state is not None
        return Turn(
            values=rest,
            size=size,
            purpose=purpose,
            state=state,
            query={} if is_linked else self._query(state, size),
            place=str(state) if is_linked else "",
        )

    def _size(self, wanted: object, context: Context | None) -> int:
        if not isinstance(wanted, int):
            return self.paging.default_limit
        size = min(wanted, self.paging.max_limit)
        if size < wanted and context is not None:
            context.warn(
                "VALIDATION_TRUNCATED_WARNING",
                f"'{FIRST}' was {wanted}; a page has no more than {size} items. Go on with '{AFTER}'",
                severity="low",
                field=FIRST,
                original_count=wanted,
                truncated_count=size,
                limit=size,
            )
        return size

    def _query(self, state: Any, size: int) -> dict[str, object]:
        """What is added to the query for a page."""
        paging = self.paging
        start = {"page": paging.start, "offset": 0}.get(paging.style) if state is None else state
        place = {} if start is None else {paging.param_name: start}
        return {**place, paging.per_page_param: size}

    def page(self, turn: Turn, answer: Answer, data: object, base_url: str) -> dict[str, Any]:
        """The items of an answer, and how to go on."""
        items = self._items(data)
        following = self._following(turn, answer, data, len(items), base_url)
        info: dict[str, Any] = {"hasNextPage": following is not None, "hasPreviousPage": turn.state is not None}
        if following is not None:
            info["endCursor"] = _SEAL.close(following, turn.purpose)
        total = self._total(data)
        return {"items": items, "pageInfo": info if total is None else {**info, "totalCount": total}}

    def _items(self, data: object) -> list[object]:
        found = _under(data, self.paging.items_field) if self.paging.items_field else _guessed(data)
        if not isinstance(found, list):
            message = f"The answer to '{self.operation}' has no list: its adapter file must name one as 'items_field'"
            raise AqlError("SERIALIZATION_PARSE_ERROR", message, {"field": self.paging.items_field})
        return found

    def _total(self, data: object) -> int | None:
        total = _under(data, self.paging.total_field) if self.paging.total_field else None
        return total if isinstance(total, int) and not isinstance(total, bool) else None

    def _following(self, turn: Turn, answer: Answer, data: object, count: int, base_url: str) -> object:
        """Where the next page begins, or None if there is none: a page that leads to itself is the last."""
        following: object
        match self.paging.style:
            case "link":
                following = _linked(answer, base_url)
            case "cursor":
                following = self._cursor(data)
            case "page":
                following = self._counted(turn, data, count, (turn.state or self.paging.start) + 1)
            case _:
                following = self._counted(turn, data, count, (turn.state or 0) + count)
        return None if following == turn.state or count == 0 else following

    def _cursor(self, data: object) -> object:
        paths = (self.paging.cursor_field,) if self.paging.cursor_field else _CURSORS
        found = (_under(data, path) for path in paths)
        is_usable = (one for one in found if isinstance(one, str | int) and not isinstance(one, bool))
        return next((one for one in is_usable if one != "" and len(str(one)) <= _LONGEST_CURSOR), None)

    def _counted(self, turn: Turn, data: object, count: int, following: int) -> int | None:
        """The next page where pages are counted: there is one if this is full, and the total does not say otherwise."""
        total = self._total(data)
        if total is None:
            return following if count >= turn.size else None
        done = following if self.paging.style == "offset" else (following - self.paging.start) * turn.size
        return following if done < total else None


def _opened(after: object, purpose: str) -> object:
    try:
        return _SEAL.open(str(after), purpose)
    except ValueError:
        rule = (
            "it is no cursor of this list: give one from a page of the same call, unchanged, or start anew without it"
        )
        raise Invalid(AFTER, rule) from None


def _linked(answer: Answer, base_url: str) -> str | None:
    """The path and query of the next page; a link to anywhere else is not followed."""
    url = links_of(answer).get("next")
    if url is None or len(url) > _LONGEST_CURSOR:
        return None
    try:
        is_own = origin_of(url) == origin_of(base_url)
    except AqlError:
        return None
    parts = urlsplit(url)
    return f"{parts.path or '/'}{'?' if parts.query else ''}{parts.query}" if is_own else None


def _guessed(data: object) -> object:
    """The one list of an answer: itself, under a usual name, or the only one that it has."""
    if isinstance(data, list) or not isinstance(data, Mapping):
        return data
    lists = [name for name, value in data.items() if isinstance(value, list)]
    usual = [name for name in _ITEMS if name in lists]
    if usual:
        return data[usual[0]]
    if len(lists) == 1:
        return data[lists[0]]
    inner = list(_inner_lists(data))
    return inner[0] if len(inner) == 1 else None


def _inner_lists(data: Mapping[str, object]) -> Iterator[list[object]]:
    """The lists one level down, as XML has them below its root."""
    for value in data.values():
        if isinstance(value, Mapping):
            yield from (child for child in value.values() if isinstance(child, list))


def _under(data: object, path: str) -> object:
    """What stands under a dot path, or None."""
    here = data
    for step in path.split("."):
        if not isinstance(here, Mapping) or step not in here:
            return None
        here = here[step]
    return here
