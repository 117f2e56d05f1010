"""Lists: words, filters, order, summaries, pages and the fields that are shown."""

import base64
import binascii
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from tests.conformance.faulty.world import Museum, Record, Refusal

__all__ = ["PRESETS", "listed", "shown"]

PRESETS: Final = ("minimal", "standard", "full")
_HIDDEN: Final = {"minimal": None, "standard": ("dimensions", "created_at"), "full": ()}
_CURSOR_NAMES: Final = ("first", "after", "last", "before")
_ORDERS: Final = ("asc", "desc")


def listed(
    museum: Museum, rows: Sequence[Record], params: Mapping[str, Any], style: str, fields: Sequence[str]
) -> Record:
    """The answer of a list: its summaries, or one page of its items."""
    rows = _matching(museum, rows, params.get("query"))
    rows = _filtered(museum, rows, params.get("filter", {}), fields)
    rows = _sorted(museum, rows, params.get("sort"), fields)
    preset = params.get("fields", "standard")
    if "aggregate" not in params:
        return _page(museum, rows, params, style, preset, fields)
    counted = _page_rows(rows, params) if museum.has("aggregate-of-the-page") else rows
    summaries = {label: _summary(museum, counted, how, fields) for label, how in params["aggregate"].items()}
    if params.get("include_items") or museum.has("items-beside-summaries"):
        return {"aggregations": summaries, **_page(museum, rows, params, style, preset, fields)}
    return {"aggregations": summaries}


def _page_rows(rows: Sequence[Record], params: Mapping[str, Any]) -> Sequence[Record]:
    return rows[: params.get("first", 5)]


def _matching(museum: Museum, rows: Sequence[Record], query: object) -> Sequence[Record]:
    if not isinstance(query, str):
        return rows
    words = re.findall(r"\w+", query.lower())
    wanted = all if museum.has("all-words-wanted") else any
    return [row for row in rows if wanted(word in f"{row.get('title')} {row.get('maker')}".lower() for word in words)]


def _filtered(
    museum: Museum, rows: Sequence[Record], wanted: Mapping[str, Any], fields: Sequence[str]
) -> Sequence[Record]:
    for name, value in wanted.items():
        if name not in fields:
            if museum.has("unknown-filter-ignored"):
                continue
            raise _unfit("filter", f"it knows no field '{name}'", fields)
        if isinstance(value, dict | list):
            raise _unfit("filter", f"'{name}' takes a plain value", fields)
        if not museum.has("filter-ignored"):
            rows = [row for row in rows if row.get(name) == value]
    return rows


def _sorted(
    museum: Museum, rows: Sequence[Record], sort: Mapping[str, Any] | None, fields: Sequence[str]
) -> Sequence[Record]:
    if sort is None:
        return rows
    name, order = str(sort.get("field")), sort.get("order", "asc")
    if (
        (name not in fields and not museum.has("unknown-sort-ignored"))
        or order not in _ORDERS
        or set(sort) - {"field", "order"}
    ):
        raise _unfit("sort", "it takes 'field', one that is known, and 'order', 'asc' or 'desc'", fields)
    if museum.has("sort-ignored") or name not in fields:
        return rows
    known = sorted((row for row in rows if name in row), key=lambda row: row[name], reverse=order == "desc")
    return [*known, *(row for row in rows if name not in row)]


def _unfit(name: str, why: str, fields: Sequence[str]) -> Refusal:
    words = f"Parameter '{name}' is not understood: {why}. Known fields: {', '.join(fields)}"
    return Refusal("VALIDATION_INVALID_VALUE", words, param_name=name, allowed=list(fields))


def _summary(museum: Museum, rows: Sequence[Record], how: object, fields: Sequence[str]) -> Any:
    functions = ("count", "sum", "avg", "min", "max")
    if not isinstance(how, dict) or not how or set(how) - {*functions, "group_by"} or not set(how) & set(functions):
        raise _unfit("aggregate", "each label takes an object of count, group_by, sum, avg, min or max", fields)
    for name, field in how.items():
        if name != "count" and field not in fields:
            raise _unfit("aggregate", f"'{name}' names no known field", fields)
    wanted = [(name, how[name]) for name in functions if name in how]
    if "group_by" not in how:
        return _values(rows, wanted)
    groups: dict[str, list[Record]] = {}
    for row in rows:
        key = row.get(how["group_by"])
        groups.setdefault(str(key).lower() if isinstance(key, bool | None) else str(key), []).append(row)
    if museum.has("groups-lose-one"):
        groups.pop(next(iter(groups)), None)
    return {key: _values(group, wanted) for key, group in groups.items()}


def _values(rows: Sequence[Record], wanted: Sequence[tuple[str, Any]]) -> Any:
    values = {name: _value(rows, name, field) for name, field in wanted}
    return next(iter(values.values())) if len(values) == 1 else values


def _value(rows: Sequence[Record], name: str, field: Any) -> Any:
    if name == "count":
        return len(rows)
    numbers = [row[field] for row in rows if field in row]
    if not all(isinstance(number, int | float) for number in numbers):
        raise Refusal(
            "VALIDATION_INVALID_VALUE",
            f"Parameter 'aggregate' cannot compute '{name}' of '{field}': it holds no numbers",
            param_name="aggregate",
        )
    compute: dict[str, Callable[[list[Any]], Any]] = {
        "sum": sum,
        "min": min,
        "max": max,
        "avg": lambda all_: sum(all_) / len(all_),
    }
    return compute[name](numbers) if numbers else None


def shown(museum: Museum, row: Record, fields: object, known: Sequence[str]) -> Record:
    """The fields of a thing that are asked for."""
    if museum.has("fields-ignored"):
        return row
    if isinstance(fields, str):
        if fields not in PRESETS:
            raise _unfit("fields", f"there is no preset '{fields}', only {', '.join(PRESETS)}", known)
        hidden = _HIDDEN[fields]
        if hidden is None:
            return {name: row[name] for name in ("id", "title", "name", "borrower") if name in row}
        return {name: value for name, value in row.items() if name not in hidden}
    assert isinstance(fields, list)
    picked: Record = {}
    for path in fields:
        _pick(museum, picked, row, path, known)
    return picked


def _pick(museum: Museum, picked: Record, row: Record, path: str, known: Sequence[str]) -> None:
    name, _, inner = path.partition(".")
    if name not in (*known, "dimensions", "materials", "_etag"):
        if museum.has("unknown-field-ignored"):
            return
        raise _unfit("fields", f"there is no field '{path}'", known)
    if name not in row:
        return
    if not inner:
        picked[name] = row[name]
    elif isinstance(row[name], dict) and inner in row[name]:
        picked.setdefault(name, {})[inner] = row[name][inner]


def _page(
    museum: Museum, rows: Sequence[Record], params: Mapping[str, Any], style: str, preset: object, fields: Sequence[str]
) -> Record:
    cut = {"cursor": _by_cursor, "offset": _by_offset, "page": _by_page}[style]
    page, told = cut(museum, rows, params)
    items = [shown(museum, row, preset, fields) for row in page]
    return {"items": items, **({} if museum.has("page-metadata-left-out") else told)}


def _by_cursor(museum: Museum, rows: Sequence[Record], params: Mapping[str, Any]) -> tuple[Sequence[Record], Record]:
    given = {name for name in _CURSOR_NAMES if name in params}
    if not _fits(given) and not museum.has("mixed-paging-taken"):
        raise Refusal(
            "VALIDATION_INVALID_VALUE",
            "Parameters 'first' and 'after', or 'last' and 'before', go together, and no others",
            param_name="first",
        )
    ids = [row["id"] for row in rows]
    start = _place(museum, ids, params["after"]) + 1 if "after" in given else 0
    end = _place(museum, ids, params["before"]) if "before" in given else len(rows)
    if museum.has("cursor-repeats") and start:
        start -= 1
    size = params.get("first", params.get("last", 7 if museum.has("default-differs") else 5))
    size += museum.has("page-too-large")
    start, end = (max(start, end - size), end) if "last" in given else (start, min(end, start + size))
    page = rows[start:end]
    info: Record = {
        "hasNextPage": end < len(rows) or museum.has("always-a-next-page"),
        "hasPreviousPage": start > 0,
        "totalCount": len(page) if museum.has("total-of-the-page") else len(rows),
    }
    if page:
        info |= {"startCursor": _cursor(page[0]["id"]), "endCursor": _cursor(page[-1]["id"])}
    return page, {"pageInfo": info}


def _fits(given: set[str]) -> bool:
    return given in (set(), {"first"}, {"first", "after"}, {"last"}, {"last", "before"})


def _cursor(name: str) -> str:
    return base64.urlsafe_b64encode(f"cursor:{name}:{binascii.crc32(name.encode()):x}".encode()).decode().rstrip("=")


def _place(museum: Museum, ids: Sequence[str], cursor: str) -> int:
    try:
        name = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode().split(":")[1]
    except (ValueError, IndexError):
        name = ""
    if name in ids and _cursor(name) == cursor:
        return ids.index(name)
    if museum.has("false-cursor-taken"):
        return -1
    raise Refusal(
        "VALIDATION_INVALID_VALUE",
        f"The cursor '{cursor}' is none of this list. Begin anew without it.",
        param_name="after",
    )


def _by_offset(museum: Museum, rows: Sequence[Record], params: Mapping[str, Any]) -> tuple[Sequence[Record], Record]:
    limit, offset = params.get("limit", 3), params.get("offset", 0)
    page = rows[offset : offset + limit]
    told = {"limit": limit, "offset": offset, "returned": len(page), "total_items": len(rows)}
    return page, {"pagination": {**told, "has_more": offset + limit < len(rows)}}


def _by_page(museum: Museum, rows: Sequence[Record], params: Mapping[str, Any]) -> tuple[Sequence[Record], Record]:
    page, size = params.get("page", 1), max(params.get("page_size", 3), 1)
    told = {"page": page, "page_size": size, "total_items": len(rows), "total_pages": -(-len(rows) // size)}
    return rows[(page - 1) * size : page * size], {"pagination": {**told, "has_more": page * size < len(rows)}}
