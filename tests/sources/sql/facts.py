"""What pages say of themselves, held against the facts."""

from collections.abc import Mapping, Sequence
from typing import Any

from tests.sources.sql.random_queries import Case
from tests.sources.sql.serving import Answer, Meanwhile, Served

__all__ = ["untrue"]

_PAGING = ("first", "after", "last", "before", "edges", "limit", "offset", "page", "page_size")
_ALL = {"first": 100}


async def untrue(case: Case, answers: Sequence[Answer], memory: Served, meanwhile: Meanwhile | None) -> str | None:
    """What some pages say that is not so, or which items they leave out or show twice; None if all is well."""
    if not all(answer["success"] for answer in answers) or not case.operation.startswith(("list_", "search_")):
        return None
    params = {name: value for name, value in case.params.items() if name not in _PAGING}
    whole = await memory.ask(case.operation, {**params, **_ALL})
    if "items" not in whole["data"] or whole["data"]["pageInfo"]["hasNextPage"]:
        return None  # no items were asked for, or they are more than one page shows
    items = whole["data"]["items"]
    pages = [answer["data"] for answer in answers]
    if meanwhile is not None:
        return _unsteady(items, pages, memory, meanwhile)
    return _wrong_totals(items, pages) or (None if case.way == "once" else _wrong_walk(case, items, pages))


def _wrong_totals(items: Sequence[Any], pages: Sequence[Answer]) -> str | None:
    for page in pages:
        told = {**page.get("pageInfo", {}), **page.get("pagination", {})}
        for name in ("totalCount", "total_items"):
            if told.get(name, len(items)) != len(items):
                return f"{name} is {told[name]}, and there are {len(items)}"
    return None


def _wrong_walk(case: Case, items: Sequence[Any], pages: Sequence[Answer]) -> str | None:
    backwards = case.way == "backwards"
    seen: list[Any] = []
    for number, page in enumerate(pages):
        seen = page["items"] + seen if backwards else seen + page["items"]
        info, more = page.get("pageInfo"), len(seen) < len(items)
        if info is None:
            told, true = [page["pagination"]["has_more"]], [more]
        else:
            told = [info["hasNextPage"], info["hasPreviousPage"]]
            true = [number > 0, more] if backwards else [more, number > 0]
        if told != true:
            return f"page {number} says {told}, and it is {true}"
    return None if seen == items else f"all pages together are {seen}, not {items}"


def _unsteady(items: Sequence[Answer], pages: Sequence[Answer], memory: Served, meanwhile: Meanwhile) -> str | None:
    """Items that stay are seen once and in order, whatever comes and goes; none is seen twice."""
    names = memory.catalog[meanwhile.name].key
    stay = {_key(item, names) for item in items} & {_key(item, names) for item in meanwhile.staying(memory)}
    seen = [_key(item, names) for page in pages for item in page["items"]]
    if len(set(seen)) != len(seen):
        return f"an item was seen twice: {seen}"
    expected = [key for key in (_key(item, names) for item in items) if key in stay]
    found = [key for key in seen if key in stay]
    return None if found == expected else f"of those that stay, {found} were seen, not {expected}"


def _key(item: Mapping[str, Any], names: Sequence[str]) -> tuple[Any, ...]:
    return tuple(item[name] for name in names)
