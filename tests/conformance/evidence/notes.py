"""A small server of notes over the bare SDK, which has all that evidence is taken of, and faults that can be chosen."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from headgate.client.wires import Era, InProcess, open_wire
from headgate.conformance.probe import Opener, Unswitchable
from tests.conformance.servers import toy_server

__all__ = ["FAMILIES", "Notes"]

FAMILIES = ("create", "read", "update", "delete", "execute")
Json = dict[str, Any]


def _parameter(name: str, kind: str, *, required: bool = False, **more: Any) -> Json:
    return {"name": name, "type": kind, "required": required, "description": f"The {name}.", **more}


_ID = _parameter("note_id", "string", required=True)
_PARAMETERS: Mapping[str, tuple[Json, ...]] = {
    "introspect": (_parameter("query", "string", required=True), _parameter("name", "string")),
    "list_notes": (_parameter("first", "integer", default=10, minimum=1), _parameter("fields", "string[]")),
    "get_note": (_ID,),
    "create_note": (
        _parameter("title", "string", required=True, maxLength=40),
        _parameter("stars", "integer", maximum=5),
        _parameter("secret", "string", sensitive=True),
    ),
    "update_note": (_ID, _parameter("input", "object", required=True)),
    "delete_note": (_ID, _parameter("confirmation_token", "string")),
    "execute_sweep": (_parameter("anything", "any"),),
}
_KINDS = {"string": str, "integer": int, "object": dict, "string[]": list, "any": object}
_CATEGORIES = {"introspect": "READ", "list_notes": "READ", "get_note": "READ"}


@dataclass
class Notes:
    """What the server keeps, and how it misbehaves."""

    strict: bool = True
    """Whether unknown parameters are refused."""
    hidden: frozenset[str] = frozenset()
    """Parameters that are taken although they are not documented."""
    refused: frozenset[str] = frozenset()
    """Parameters that are documented and called unknown."""
    wrapped: bool = False
    """Whether a note stands in the data by its name."""
    forgetful: bool = False
    """Whether an update loses the rest."""
    says_details: bool = True
    """Whether an error has details."""
    whole: bool = False
    """Whether a note is given as one object."""
    others: Mapping[str, tuple[Json, ...]] = field(default_factory=dict)
    """Further operations, which always work."""
    of_input: str = "What to change. The note_id is read-only."
    """What is documented of the input of updates."""
    searches: bool = True
    keeps: bool = False
    """Whether notes cannot be deleted."""
    batches: bool = True
    modes: tuple[str, ...] = ("semantic", "single")
    families: tuple[str, ...] = FAMILIES
    notes: dict[str, Json] = field(default_factory=lambda: {"n-1": {"note_id": "n-1", "title": "first", "stars": 1}})
    ran: list[Json] = field(default_factory=list)
    """Everything that was done, in order."""

    def opener(self) -> Opener:
        """The way to it, in those of its modes that it has; the first is the one that it starts in."""

        def open_it(*, mode: str | None = None, era: Era = "auto") -> Any:
            wanted = mode or self.modes[0]
            if wanted not in self.modes:
                raise Unswitchable("it has one mode")
            tools = ("mcp_aql",) if wanted == "single" else tuple(f"mcp_aql_{family}" for family in self.families)
            return open_wire(InProcess(toy_server(self.answer, tools)), era=era)

        return open_it

    def answer(self, tool: str, request: Any) -> object:
        """One envelope."""
        if "operations" in request and self.batches:
            return self._batch(tool, request["operations"])
        name, params = request.get("operation"), request.get("params") or {}
        if name not in self.parameters:
            return _failure("NOT_FOUND_OPERATION", f"There is no operation '{name}': give a known operation.")
        family = tool.removeprefix("mcp_aql").removeprefix("_")
        if family not in ("", _category(name).lower()):
            return _failure("VALIDATION_ENDPOINT_MISMATCH", f"'{name}' is not called here.")
        return self._problem(name, params) or self._performed(name, params)

    def _batch(self, tool: str, requests: list[Json]) -> Json:
        results = [
            {"index": place, "operation": one["operation"], "result": self.answer(tool, one)}
            for place, one in enumerate(requests)
        ]
        summary = {"total": len(results), "succeeded": len(results), "failed": 0}
        return {"success": True, "data": None, "results": results, "summary": summary}

    @property
    def parameters(self) -> Mapping[str, tuple[Json, ...]]:
        """Those of each operation."""
        whole = {"create_note": (_parameter("note", "object", required=True),)} if self.whole else {}
        return {**_PARAMETERS, **whole, **self.others}

    def _problem(self, name: str, params: Json) -> Json | None:
        known = {one["name"]: one for one in self.parameters[name]}
        for missing in (one for one in known if known[one]["required"] and one not in params):
            return _failure("VALIDATION_MISSING_PARAM", f"Give the parameter '{missing}'.", param_name=missing)
        for given, value in params.items():
            if given in known and not _fits(known[given], value):
                return _failure("VALIDATION_INVALID_TYPE", f"'{given}' is of a wrong kind.", param_name=given)
        unknown = [one for one in params if (one not in known and one not in self.hidden) or one in self.refused]
        if unknown and self.strict:
            details = {"unknown_params": unknown} if self.says_details else {}
            return _failure(
                "VALIDATION_UNKNOWN_PARAM", f"Unknown: '{unknown[0]}'. Known: {', '.join(known)}", **details
            )
        return None

    def _performed(self, name: str, params: Json) -> Json:
        self.ran.append({"operation": name, **params})
        performed = getattr(self, f"_{name}", lambda _params: _success({}))
        return performed(params)

    def _introspect(self, params: Json) -> Json:
        query, name = params["query"], params.get("name") or ""
        if query == "types":
            return _success({"types": [{"name": "Note", "kind": "object"}]} if not name else {"type": None})
        if query == "operations":
            listed = [_listed(one) for one in self.parameters]
            return _success({"operations": listed} if not name else {"operation": self._details(name)})
        if query == "search" and self.searches:
            return _success({"operations": [_listed(one) for one in self.parameters if _words(one) in name.lower()]})
        return _failure("VALIDATION_INVALID_ENUM", "'query' must be operations or types")

    def _details(self, name: str) -> Json | None:
        if name not in self.parameters:
            return None
        listed = _listed(name)
        told = [
            {**one, "description": self.of_input} if one["name"] == "input" else one for one in self.parameters[name]
        ]
        return {
            **listed,
            "mcpTool": f"mcp_aql_{listed['endpoint']}",
            "permissions": {"readOnly": listed["endpoint"] == "read", "destructive": listed["endpoint"] == "delete"},
            "parameters": told,
            "returns": {"name": "Note", "kind": "object"},
        }

    def _list_notes(self, params: Json) -> Json:
        size = params.get("first", 10)
        return _success({"items": list(self.notes.values())[:size], "pageInfo": {"pageSize": size}})

    def _get_note(self, params: Json) -> Json:
        note = self.notes.get(params["note_id"])
        return self._shown(note) if note else _failure("NOT_FOUND_RESOURCE", "There is no such note.")

    def _create_note(self, params: Json) -> Json:
        given = params["note"] if self.whole else params
        note = {"note_id": f"n-{len(self.ran)}", **{key: given[key] for key in given if key != "secret"}}
        self.notes[note["note_id"]] = note
        return self._shown(note)

    def _update_note(self, params: Json) -> Json:
        change = params["input"]
        if "note_id" in change or len(str(change.get("title", ""))) > 40 or change.get("stars", 0) > 5:
            return _failure("VALIDATION_INVALID_VALUE", "'input' cannot be so.")
        note = self.notes[params["note_id"]]
        kept = {"note_id": note["note_id"]} if self.forgetful else note
        self.notes[params["note_id"]] = {**kept, **change}
        return self._shown(self.notes[params["note_id"]])

    def _delete_note(self, params: Json) -> Json:
        if self.keeps:
            return _failure("PERMISSION_DENIED", "Notes stay.")
        if params.get("confirmation_token") != "yes":
            return {
                **_failure("CONFIRMATION_REQUIRED", "Agree first."),
                "confirmation": {"token": "yes", "expires_at": "2099-01-01T00:00:00Z"},
            }
        return _success(self.notes.pop(params["note_id"]))

    def _shown(self, note: Json) -> Json:
        return _success({"note": note} if self.wrapped else note)


def _fits(parameter: Json, value: object) -> bool:
    return isinstance(value, _KINDS.get(parameter["type"], object)) and not (
        parameter["type"] != "any" and isinstance(value, bool)
    )


def _category(name: str) -> str:
    return _CATEGORIES.get(name) or name.partition("_")[0].upper()


def _words(name: str) -> str:
    return name.replace("_", " ")


def _listed(name: str) -> Json:
    category = _category(name)
    words = {"name": name, "semantic_category": category, "endpoint": category.lower()}
    return {**words, "description": f"{_words(name).capitalize()}, as one does. And more."}


def _success(data: Any) -> Json:
    return {"success": True, "data": data}


def _failure(code: str, message: str, **details: Any) -> Json:
    return {"success": False, "error": {"code": code, "message": message, **({"details": details} if details else {})}}
