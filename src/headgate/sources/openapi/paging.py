"""Which operations give lists in pages, and how one asks for the next: by their parameters and their answers."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from headgate.sources.openapi.parameters import Located
from headgate.sources.openapi.references import Found, References

__all__ = ["Paging", "Turn", "paging_of"]


class Turn(StrEnum):
    """How the next page is asked for."""

    LINK = "link"
    TOKEN = "token"  # noqa: S105  (a word for a place in a list)
    LAST = "last"
    PAGE = "page"
    OFFSET = "offset"


_TOKENS: Final = frozenset(
    {
        *("cursor", "pagetoken", "nexttoken", "continuationtoken", "continue", "marker", "startcursor", "nextcursor"),
        *("pagecursor", "after", "pageafter", "nextpagetoken", "startafter", "scrollid", "offset"),
    }
)
_LASTS: Final = frozenset({"startingafter"})
_PAGES: Final = frozenset({"page", "pagenumber", "pageno", "pageindex", "currentpage"})
_OFFSETS: Final = frozenset({"offset", "skip", "start", "startat", "startindex", "pageoffset"})
_SIZES: Final = frozenset(
    {
        *("limit", "perpage", "pagesize", "pagelimit", "size", "maxresults", "top", "take", "itemsperpage"),
        *("maxitems", "resultsperpage", "count"),
    }
)
_NEXTS: Final = frozenset(
    {
        *("nextcursor", "nextpagetoken", "nexttoken", "continuationtoken", "continue", "nextmarker", "endcursor"),
        *("nextpagecursor", "scrollid", "nextpage", "after", "next"),
    }
)
_WRAPPERS: Final = frozenset(
    {
        *("meta", "metadata", "pagination", "paging", "pageinfo", "responsemetadata", "cursors", "cursor", "page"),
        *("next", "nextpage", "links", "data", "result", "response"),
    }
)
_LISTS: Final = ("data", "items", "results", "values", "records", "entries", "list", "content", "objects", "resources")
_BACKWARD: Final = frozenset({"before", "endingbefore", "pagebefore", "previouscursor"})
_DEEPEST: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Paging:
    """How to go through a list. Paths lead into the answer; an empty one of ``items`` means that it is the list."""

    turn: Turn
    items: tuple[str, ...]
    position: str = ""
    size: str = ""
    largest: int | None = None
    usual: int | None = None
    """How many items a page has at most, and how many if nobody says it, where the document tells."""
    start: int = 1
    following: tuple[str, ...] = ()
    replaced: frozenset[str] = frozenset()
    """The upstream's own parameters for which ``first`` and ``after`` stand."""


def paging_of(
    parameters: Iterable[Located], answer: Found | None, *, has_links: bool, references: References
) -> Paging | None:
    """How an operation's list is paged, or None if it gives no list, or nothing tells how to go on."""
    shape = _Shape(references)
    items = shape.list_in(answer) if answer is not None else None
    if items is None or answer is None:
        return None
    query = {one.name: one for one in parameters if one.where == "query"}
    size = next((one for one in query.values() if _word(one.name) in _SIZES and _is_number(one)), None)
    sized: dict[str, Any] = (
        {"size": size.name, "largest": _told(size, "maximum"), "usual": _told(size, "default")} if size else {}
    )
    for turn, position, more in _turns(query, shape.following(answer), has_links=has_links):
        names = {name for name in (position, size.name if size else "") if name}
        replaced = names | {name for name in query if _word(name) in _BACKWARD}
        if turn is Turn.LINK:
            replaced |= {name for name in query if _word(name) in _PAGES | _OFFSETS | _TOKENS}
        return Paging(turn=turn, items=items, position=position, replaced=frozenset(replaced), **sized, **more)
    return None


def _turns(
    query: Mapping[str, Located], nexts: list[tuple[str, ...]], *, has_links: bool
) -> Iterator[tuple[Turn, str, dict[str, Any]]]:
    """The ways that seem possible, the surest first."""
    if has_links:
        yield Turn.LINK, "", {}
    for name in (one for one in query if _word(one) in _TOKENS and not _is_number(query[one])):
        following = next((path for path in nexts if _leads_to(path, name)), None)
        if following:
            yield Turn.TOKEN, name, {"following": following}
    for name in (one for one in query if _word(one) in _LASTS):
        yield Turn.LAST, name, {}
    for name in (one for one in query if _word(one) in _PAGES and _is_number(query[one])):
        yield Turn.PAGE, name, {"start": _first_page(query[name])}
    for name in (one for one in query if _word(one) in _OFFSETS and _is_number(query[one])):
        yield Turn.OFFSET, name, {"start": 0}


def _leads_to(path: tuple[str, ...], name: str) -> bool:
    """Whether what stands there is meant for that parameter: named as the next, or like it below what is."""
    last = _word(path[-1])
    above = {_word(step) for step in path[:-1]}
    return (last in _NEXTS and last not in ("next", "nextpage", "after")) or (
        last == _word(name) and bool(above & {"next", "nextpage", "paging", "cursors", "cursor"})
    )


def _word(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _is_number(one: Located) -> bool:
    declared = one.schema.schema.get("type")
    return declared in ("integer", "number") or (isinstance(declared, list) and "integer" in declared)


def _told(one: Located, key: str) -> int | None:
    found = one.schema.schema.get(key)
    return int(found) if isinstance(found, int | float) and found >= 1 else None


def _first_page(one: Located) -> int:
    """What the first page is called: its default, or its lowest number, if that is 0 or 1."""
    for key in ("default", "minimum"):
        if one.schema.schema.get(key) in (0, 1) and not isinstance(one.schema.schema[key], bool):
            return int(one.schema.schema[key])
    return 1


@dataclass(frozen=True)
class _Shape:
    """Looks into the schema of an answer."""

    references: References

    def list_in(self, answer: Found) -> tuple[str, ...] | None:
        """The path to the list that an answer is or holds."""
        node, file = self.references.resolved(*answer)
        if _is_array(node):
            return ()
        return self._list_below(Found(node, file)) or next(
            (
                (name, *inner)
                for name, child in self._properties(Found(node, file))
                if _word(name) in _WRAPPERS and (inner := self._list_below(child))
            ),
            None,
        )

    def _list_below(self, found: Found) -> tuple[str, ...] | None:
        arrays = [name for name, child in self._properties(found) if _is_array(child.node)]
        known = next((name for name in _LISTS if name in arrays), None)
        if known:
            return (known,)
        return (arrays[0],) if len(arrays) == 1 else None

    def following(self, answer: Found) -> list[tuple[str, ...]]:
        """The paths to whatever may tell of a next page."""
        return list(self._following(self.references.resolved(*answer), _DEEPEST))

    def _following(self, found: Found, deepest: int) -> Iterator[tuple[str, ...]]:
        inner = list(self._properties(found))
        for name, child in inner:
            if not _is_array(child.node) and not self._properties_of(child.node):
                yield (name,)
        for name, child in inner:
            if deepest and _word(name) in _WRAPPERS and self._properties_of(child.node):
                yield from ((name, *path) for path in self._following(child, deepest - 1))

    def _properties(self, found: Found, depth: int = 0) -> Iterator[tuple[str, Found]]:
        node, file = self.references.resolved(*found)
        for part in self._parts(node) if depth < _DEEPEST else ():
            yield from self._properties(Found(part, file), depth + 1)
        for name, child in self._properties_of(node).items():
            yield name, self.references.resolved(child, file)

    @staticmethod
    def _properties_of(node: Mapping[str, Any]) -> Mapping[str, Any]:
        properties = node.get("properties")
        return properties if isinstance(properties, Mapping) else {}

    @staticmethod
    def _parts(node: Mapping[str, Any]) -> list[Any]:
        parts = node.get("allOf")
        return parts if isinstance(parts, list) else []


def _is_array(node: Mapping[str, Any]) -> bool:
    return node.get("type") in ("array", ["array"], ["array", "null"])
