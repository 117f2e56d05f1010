"""What the museum says of itself."""

import re
from collections.abc import Mapping
from typing import Any, Final

from tests.conformance.faulty.declarations import EXHIBIT_FIELDS, LIMITS, Declared, Wanted
from tests.conformance.faulty.kinds import TYPES
from tests.conformance.faulty.offers import offered
from tests.conformance.faulty.world import Museum, Record, Refusal

__all__ = ["introspected", "tool_of"]

_PERMISSIONS: Final = {
    "CREATE": (False, False),
    "READ": (True, False),
    "UPDATE": (False, True),
    "DELETE": (False, True),
    "EXECUTE": (False, True),
}
_CAPABILITIES: Final = {
    "batch": True,
    "field_selection": True,
    "aggregations": True,
    "pagination": True,
    "warnings": True,
    "confirmation": True,
    "execution_safety_loop": "enforcing",
}


def introspected(museum: Museum, params: Mapping[str, Any], mode: str, session: str) -> Record:
    """The answer to ``introspect``."""
    query, name = params["query"], params.get("name")
    if query not in ("operations", "types", "search"):
        query = "operations"
    if query == "search":
        return {"operations": _found(museum, mode, name or "")}
    if query == "types":
        return _types(museum, name)
    if name is None:
        return _listed(museum, mode, session)
    return {"operation": _detailed(museum, mode, name)}


def _listed(museum: Museum, mode: str, session: str) -> Record:
    entries = [
        _entry(museum, one)
        for one in offered(museum)
        if not (museum.has("introspect-not-listed") and one.name == "introspect")
    ]
    if museum.has("name-listed-twice"):
        entries.append(entries[-1])
    if museum.has("list-by-another-name"):
        return {"_protocol": _protocol(museum, mode, session), "items": entries}
    return {"_protocol": _protocol(museum, mode, session), "operations": entries}


def _protocol(museum: Museum, mode: str, session: str) -> Record:
    told: Record = {
        "version": "1.0" if museum.has("version-no-semver") else "1.0.0-draft",
        "conformance": "level-2",
        "mode": "single" if museum.has("mode-untrue") else mode,
        "session_id": "session" if museum.has("session-id-shared") else session,
        "limits": dict(LIMITS),
        "concurrency": "parallel" if museum.has("concurrency-unknown") else "serialized",
        "supports_etag": True,
        "max_concurrent_requests": 10,
        "capabilities": dict(_CAPABILITIES),
    }
    if museum.has("version-left-out"):
        del told["version"]
    if museum.has("safety-loop-undeclared"):
        del told["capabilities"]["execution_safety_loop"]
    if museum.has("safety-loop-oddly-declared"):
        told["capabilities"]["execution_safety_loop"] = "on"
    if museum.has("capability-as-text"):
        told["capabilities"]["warnings"] = "yes"
    if museum.has("monitoring-blocks"):
        told["capabilities"]["execution_safety_loop"] = "monitoring"
    if museum.has("limits-left-out"):
        del told["limits"]
    return told


def _entry(museum: Museum, one: Declared) -> Record:
    entry = _entry_of_details(museum, one)
    if museum.has("entry-without-description") and one.name == "list_rooms":
        del entry["description"]
    if museum.has("list-and-details-differ") and one.name == "cancel_execution":
        entry |= {"semantic_category": "UPDATE", "endpoint": "update"}
    return entry


def _name(museum: Museum, one: Declared) -> str:
    return "listLoans" if museum.has("camel-case-operation") and one.name == "list_loans" else one.name


def _category(museum: Museum, one: Declared) -> str:
    if museum.has("category-made-up") and one.name == "list_loans":
        return "QUERY"
    if museum.has("introspect-no-read") and one.name == "introspect":
        return "CREATE"
    return one.category


def _is_untold(museum: Museum, one: Declared) -> bool:
    return museum.has("grammar-untold") and one.name == "query_loans"


def tool_of(one: Declared, mode: str) -> str:
    """The tool that runs an operation."""
    return "mcp_aql" if mode == "single" else f"mcp_aql_{one.family}"


def _detailed(museum: Museum, mode: str, name: str) -> Record | None:
    one = next((one for one in offered(museum) if _name(museum, one) == name), None)
    if one is None and museum.has("unknown-operation-an-error"):
        raise Refusal("NOT_FOUND_OPERATION", f"Unknown operation: '{name}'")
    if one is None or (museum.has("details-missing") and name == "list_rooms"):
        return None
    read_only, destructive = _PERMISSIONS.get(_category(museum, one), (True, False))
    told = {
        **_entry_of_details(museum, one),
        "mcpTool": tool_of(one, mode),
        "permissions": {"readOnly": read_only, "destructive": destructive},
        "parameters": [_parameter(museum, one, wanted) for wanted in _wanted(museum, one)],
        "returns": {"name": one.returns[0], "kind": one.returns[1]},
        "examples": [{"description": one.description, "request": {"operation": name, "params": one.example}}],
        **one.more,
    }
    return _bent(museum, one, told)


def _entry_of_details(museum: Museum, one: Declared) -> Record:
    return {
        "name": _name(museum, one),
        "semantic_category": _category(museum, one),
        "endpoint": one.category if museum.has("endpoint-in-capitals") else one.family,
        "description": "Query loans" if _is_untold(museum, one) else one.description,
    }


def _wanted(museum: Museum, one: Declared) -> tuple[Wanted, ...]:
    if museum.has("flat-update") and one.name == "update_exhibit":
        flat = tuple(Wanted(field.name, field.type, field.description, False, {}) for field in EXHIBIT_FIELDS)
        return (one.parameters[0], *flat, *one.parameters[2:])
    return one.parameters


def _parameter(museum: Museum, one: Declared, wanted: Wanted) -> Record:
    told = {
        "name": wanted.name,
        "type": wanted.type,
        "required": wanted.required,
        "description": wanted.description,
        **wanted.more,
    }
    where = (one.name, wanted.name)
    if museum.has("camel-case-parameter") and where == ("list_rooms", "page_size"):
        told["name"] = "pageSize"
    if museum.has("type-left-out") and where == ("abort_execution", "reason"):
        del told["type"]
    if museum.has("required-as-text") and where == ("abort_execution", "reason"):
        told["required"] = "no"
    if museum.has("fields-untyped") and wanted.name == "fields":
        told["type"] = "any"
    if museum.has("descriptions-left-out") and where == ("abort_execution", "reason"):
        del told["description"]
    return told


def _bent(museum: Museum, one: Declared, told: Record) -> Record:
    """The details as some fault shows them."""
    if museum.has("returns-left-out") and one.name == "list_rooms":
        del told["returns"]
    if museum.has("permissions-wrong") and one.category == "UPDATE":
        told["permissions"] = {"readOnly": False, "destructive": False}
    if museum.has("tool-does-not-exist") and one.name == "cancel_execution":
        told["mcpTool"] = "mcp_aql_operate"
    if _is_untold(museum, one):
        told["parameters"][0]["description"] = "The query"
    if museum.has("examples-left-out") and one.name == "list_rooms":
        del told["examples"]
    if museum.has("example-does-not-fit") and one.name == "list_rooms":
        told["examples"][0]["request"]["params"] = {"floor": 1}
    if museum.has("type-not-listed") and one.name == "abort_execution":
        told["returns"] = {"name": "Abortion", "kind": "object"}
    if museum.has("camel-case-parameter") and one.name == "list_rooms":
        told["examples"][0]["request"]["params"] = {"page": 1, "pageSize": 2}
    if museum.has("flat-update") and one.name == "update_exhibit":
        told["examples"][0]["request"]["params"] = {"exhibit_id": "ex_1", "on_display": False}
    return told


def _types(museum: Museum, name: str | None) -> Record:
    if museum.has("types-refused"):
        raise Refusal("VALIDATION_INVALID_ENUM", "Parameter 'query' must be one of operations, search")
    if name is None:
        return {"types": [_type_entry(museum, one) for one in TYPES]}
    found = next((one for one in TYPES if one["name"] == name), None)
    if found is None and museum.has("unknown-type-an-error"):
        raise Refusal("NOT_FOUND_RESOURCE", f"Type '{name}' not found")
    if name == "Hall" and museum.has("type-details-missing"):
        found = None
    if name == "Hall" and museum.has("enum-without-values"):
        found = {key: value for key, value in (found or {}).items() if key != "values"}
    return {"type": found}


def _type_entry(museum: Museum, one: Record) -> Record:
    entry = {key: one[key] for key in ("name", "kind", "description")}
    if museum.has("type-kind-made-up") and one["name"] == "Loan":
        entry["kind"] = "record"
    return entry


def _found(museum: Museum, mode: str, words: str) -> list[Record]:
    asked = set(re.findall(r"[a-z]+", words.lower()))
    ranked = sorted(offered(museum), key=lambda one: -_score(one, asked))
    if museum.has("search-finds-nothing"):
        ranked = ranked[::-1]
    return [_entry_of_details(museum, one) for one in ranked[:5]]


def _score(one: Declared, asked: set[str]) -> float:
    said = set(re.findall(r"[a-z]+", f"{one.name} {one.description}".lower().replace("_", " ")))
    return len(asked & said) / (1 + 0.01 * len(said))
