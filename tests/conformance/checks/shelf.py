"""A small collection behind the bare SDK, right in every way that the checks of collections and data look at.

A test makes it wrong in one way: it changes what is asked before it is answered (``before``), what is answered
(``after``), or what is declared (``declare``).
"""

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from headgate.conformance.checks import ALL_CHECKS
from headgate.conformance.values import CheckResult
from tests.conformance.servers import opener_of_server, report_of, toy_server

Json = dict[str, Any]

GENRES = ("novel", "poetry", "novel", "drama", "poetry", "novel", "drama", "novel")
ITEMS: list[Json] = [
    {
        "id": number,
        "title": f"{word} Tales",
        "genre": GENRES[number - 1],
        "price": f"{number * 7 % 5}.50",
        "copies": number * 5 % 8,
        "is_new": number % 2 == 0,
        "added_at": f"2026-01-{number:02}T10:30:00Z",
    }
    for number, word in enumerate(("Amber", "Birch", "Cedar", "Dusty", "Ember", "Frosty", "Grassy", "Hazel"), start=1)
]
PRESETS = {"minimal": ["id", "title"], "standard": list(ITEMS[0])[:5], "full": list(ITEMS[0])}
LIMITS = {
    "max_request_size": 200_000,
    "max_response_size": 10_485_760,
    "max_string_length": 100_000,
    "max_array_elements": 1_000,
    "max_nesting_depth": 16,
}


class Wrong(Exception):
    """A request that is refused."""

    def __init__(self, code: str, message: str, **details: Any) -> None:
        super().__init__(message)
        self.code, self.details = code, details


def _parameter(name: str, kind: str, words: str, required: bool = False, **more: Any) -> Json:
    return {"name": name, "type": kind, "required": required, "description": words, **more}


SHARED = [
    _parameter("filter", "object", "Only items with these values, such as {genre: 'novel'}."),
    _parameter("sort", "object", "Sort object with field and order."),
    _parameter("fields", "string | string[]", "A preset (minimal, standard, full) or a list of fields."),
    _parameter("aggregate", "object", "Named summaries."),
    _parameter("include_items", "boolean", "Items beside summaries."),
    *(_parameter(name, "integer", "How many items.", minimum=1) for name in ("first", "last", "limit", "page_size")),
    *(_parameter(name, "string", "A cursor.") for name in ("after", "before")),
    *(_parameter(name, "integer", "Which items.", minimum=0) for name in ("offset", "page")),
]


def operation(name: str, words: str, parameters: list[Json]) -> Json:
    """The details of a READ operation."""
    return {
        "name": name,
        "semantic_category": "READ",
        "endpoint": "read",
        "mcpTool": "mcp_aql_read",
        "description": words,
        "permissions": {"readOnly": True, "destructive": False},
        "parameters": parameters,
        "returns": {"name": "object", "kind": "object"},
        "examples": [],
    }


def details() -> dict[str, Json]:
    """What is declared."""
    query = _parameter("query", "string", "Words to look for; any may match.", required=True)
    introspect = [
        _parameter("query", "string", "What to tell.", required=True, enum=["operations", "types", "search"]),
        _parameter("name", "string", "Which."),
    ]
    told = [
        operation("list_tales", "List the tales on the shelf.", SHARED),
        operation("search_tales", "Search tales by words of their titles.", [query, *SHARED]),
        operation("introspect", "Discover operations.", introspect),
    ]
    for one in told[:2]:
        one["aggregation_support"] = {"supported": True, "functions": ["count", "group_by"]}
    return {one["name"]: one for one in told}


@dataclass
class Shelf:
    """The server."""

    items: list[Json] = field(default_factory=lambda: [dict(item) for item in ITEMS])
    before: Callable[[Json], Json] = lambda params: params
    after: Callable[[Json, Json], Json] = lambda _params, answer: answer
    declare: Callable[[dict[str, Json]], None] = lambda _details: None
    limits: Mapping[str, int] = field(default_factory=lambda: dict(LIMITS))
    told_limits: Mapping[str, int] | None = field(default_factory=lambda: dict(LIMITS))
    refuse: Callable[[str, Json], Json] = lambda code, error: {"success": False, "error": error | {"code": code}}
    checks_encoding: bool = True
    takes_top_level: bool = True
    """Whether what stands beside 'operation' and 'params' is looked at at all."""

    def answer(self, _tool: str, request: Any) -> object:
        """Whatever is asked."""
        try:
            seen = request if self.takes_top_level else {key: request.get(key) for key in ("operation", "params")}
            self._look_at(seen)
            return self._routed(seen)
        except Wrong as wrong:
            return self.refuse(wrong.code, {"message": str(wrong), "details": wrong.details})

    def _look_at(self, request: Any) -> None:
        waiting = [(request, 1)]
        if len(json.dumps(request)) > self.limits["max_request_size"]:
            raise Wrong("VALIDATION_PAYLOAD_TOO_LARGE", "Too large", limit_type="request_size")
        for value, depth in waiting:
            if isinstance(value, str):
                self._look_at_text(value)
            elif isinstance(value, list | dict):
                if depth > self.limits["max_nesting_depth"]:
                    raise Wrong("VALIDATION_PAYLOAD_TOO_LARGE", "Too deep", limit_type="nesting_depth")
                if isinstance(value, list) and len(value) > self.limits["max_array_elements"]:
                    raise Wrong("VALIDATION_PAYLOAD_TOO_LARGE", "Too long", limit_type="array_elements")
                waiting += [(one, depth + 1) for one in (value.values() if isinstance(value, dict) else value)]

    def _look_at_text(self, text: str) -> None:
        if self.checks_encoding and ("\0" in text or any("\ud800" <= letter <= "\udfff" for letter in text)):
            raise Wrong("VALIDATION_INVALID_ENCODING", "No text")
        if len(text) > self.limits["max_string_length"]:
            raise Wrong("VALIDATION_PAYLOAD_TOO_LARGE", "Too long", limit_type="string_length")

    def _routed(self, request: Json) -> object:
        told = details()
        self.declare(told)
        name, params = request["operation"], dict(request.get("params") or {})
        if name not in told:
            raise Wrong("NOT_FOUND_OPERATION", f"Unknown operation: '{name}'")
        params |= {key: value for key, value in request.items() if key not in ("operation", "params")}
        known = {parameter["name"] for parameter in told[name]["parameters"]}
        if unknown := [key for key in params if key not in known and not key.startswith("_")]:
            raise Wrong("VALIDATION_UNKNOWN_PARAM", f"Unknown: {unknown}")
        params = {key: value for key, value in params.items() if not key.startswith("_")}
        if name == "introspect":
            return self._told(told, params)
        return self.after(params, {"success": True, "data": self._listed(self.before(dict(params)))})

    def _told(self, told: dict[str, Json], params: Json) -> Json:
        query, name = params["query"], params.get("name")
        listed = ("name", "semantic_category", "endpoint", "description")
        if query == "types":
            return {"success": True, "data": {"types": []}}
        if query == "search":
            words = str(name).lower().split()
            best = sorted(told, key=lambda one: -sum(word in told[one]["description"].lower() for word in words))
            return self.after(params, {"success": True, "data": {"operations": [{"name": one} for one in best]}})
        if name is not None:
            return {"success": True, "data": {"operation": told.get(name) if isinstance(name, str) else None}}
        protocol = {"version": "1.0.0", **({"limits": self.told_limits} if self.told_limits else {})}
        entries = [{key: one[key] for key in listed} for one in told.values()]
        return {"success": True, "data": {"operations": entries, "_protocol": protocol}}

    def _listed(self, params: Json) -> Json:
        found = self._filtered(params.get("filter") or {})
        words = str(params.get("query", "")).lower().split()
        found = [item for item in found if not words or any(word in item["title"].lower() for word in words)]
        if "sort" in params:
            by = params["sort"]["field"]
            self._known(by)
            found.sort(key=lambda item: item[by], reverse=params["sort"].get("order") == "desc")
        summary = {"aggregations": self._summed(found, params["aggregate"])} if "aggregate" in params else {}
        if summary and not params.get("include_items"):
            return summary
        page = _paged(found, params)
        page["items"] = [self._selected(item, params.get("fields", "full")) for item in page["items"]]
        return {**summary, **page}

    def _known(self, *names: str) -> None:
        for name in names:
            if name not in ITEMS[0]:
                raise Wrong("VALIDATION_INVALID_VALUE", f"Unknown field '{name}'")

    def _filtered(self, wanted: Json) -> list[Json]:
        self._known(*wanted)
        return [item for item in self.items if all(item[name] == value for name, value in wanted.items())]

    def _selected(self, item: Json, fields: str | list[str]) -> Json:
        names = PRESETS[fields] if isinstance(fields, str) else fields
        self._known(*names)
        return {name: item[name] for name in names if name in item}

    def _summed(self, found: list[Json], wanted: Json) -> Json:
        def value(how: Json) -> object:
            if "group_by" not in how:
                return len(found)
            self._known(how["group_by"])
            return dict(Counter(str(item[how["group_by"]]) for item in found))

        return {name: value(how) for name, how in wanted.items()}


STYLES = ({"first", "after"}, {"last", "before"}, {"limit", "offset"}, {"page", "page_size"})


def _paged(found: list[Json], params: Json) -> Json:
    given = set(params) & set().union(*STYLES)
    if not any(given <= style for style in STYLES):
        raise Wrong("VALIDATION_INVALID_VALUE", "Two styles of paging")
    if given in ({"after"}, {"before"}):
        raise Wrong("VALIDATION_INVALID_VALUE", "A cursor without a size")
    if given & {"limit", "offset"}:
        size, start = params.get("limit", 25), params.get("offset", 0)
        said = {"limit": size, "offset": start, "has_more": start + size < len(found)}
        return {"items": found[start : start + size], "pagination": said}
    if given & {"page", "page_size"}:
        size, number = params.get("page_size", 25), params.get("page", 1)
        said = {"page": number, "page_size": size, "total_items": len(found)}
        return {"items": found[(number - 1) * size : number * size], "pagination": said}
    start, end = _cut(found, params)
    said = {"hasNextPage": end < len(found), "hasPreviousPage": start > 0, "totalCount": len(found)}
    cursors = {"startCursor": f"c{start}", "endCursor": f"c{end - 1}"} if end > start else {}
    return {"items": found[start:end], "pageInfo": said | cursors}


def _cut(found: list[Json], params: Json) -> tuple[int, int]:
    places = {}
    for name in ("after", "before"):
        cursor = params.get(name, "c0")
        if not (cursor.startswith("c") and cursor[1:].isdigit()):
            raise Wrong("VALIDATION_INVALID_VALUE", "No cursor")
        places[name] = int(cursor[1:])
    if "last" in params:
        end = places["before"] if "before" in params else len(found)
        return max(0, end - params["last"]), end
    start = places["after"] + 1 if "after" in params else 0
    return start, min(len(found), start + params.get("first", 25))


async def results_on(shelf: Shelf, *prefixes: str, **options: Any) -> dict[str, CheckResult]:
    """What becomes of the checks whose ids begin like this."""
    chosen = [check for check in ALL_CHECKS if check.id.startswith(prefixes)]
    report = await report_of(opener_of_server(toy_server(shelf.answer)), *chosen, **options)
    return {result.check.id: result for result in report.results}


def verdicts(results: Mapping[str, CheckResult]) -> dict[str, str]:
    """Each check with its verdict alone."""
    return {id_: result.verdict.value for id_, result in results.items()}


def found_wrong(results: Mapping[str, CheckResult]) -> set[str]:
    """The checks that something is wrong by."""
    return {id_ for id_, result in results.items() if result.broken}
