"""A server of notes on the bare SDK: what can be made, read, changed, deleted and confirmed, in one class.

A fault is a subclass with one method, or one word, of its own.
"""

import copy
import json
import secrets
from collections.abc import Callable, Mapping
from typing import Any

from mcp.server import Server

from headgate.client.wires import Era, InProcess, NotOpened, open_wire
from headgate.conformance.checks import ALL_CHECKS
from headgate.conformance.probe import Opener
from headgate.conformance.report import Report
from headgate.conformance.values import Demand, Verdict
from tests.conformance.servers import report_of, toy_server

__all__ = ["ALLOWED", "OURS", "Notes", "Record", "Wrong", "complaints", "opener_of_notes", "parameter", "report_on"]

Record = dict[str, Any]
ALLOWED = frozenset({"CREATE", "UPDATE", "DELETE", "EXECUTE"})
AREAS = ("round-trips.", "updates.", "constraints.", "batches.", "confirmation.", "features.", "concurrency.")
OURS = tuple(check for check in ALL_CHECKS if check.id.startswith(AREAS))
KINDS: dict[str, type | tuple[type, ...]] = {"string": str, "integer": int, "array": list, "object": dict}


class Wrong(Exception):
    """A failure, with its code."""

    def __init__(self, code: str, message: str, **details: object) -> None:
        super().__init__(message)
        self.code = code
        self.details = details


def parameter(name: str, kind: str, *, required: bool = False, **more: object) -> Record:
    return {"name": name, "type": kind, "required": required, "description": f"The {name}", **more}


FIELDS: tuple[Record, ...] = (
    parameter("title", "string", required=True, minLength=1, maxLength=80),
    parameter("pages", "integer", minimum=0, maximum=1000),
    parameter("summary", "string"),
    parameter("tags", "array", items={"type": "string"}),
    parameter("meta", "object"),
)
OWN = [parameter("id", "string"), parameter("author", "string", readOnly=True)]
KEY = parameter("note_id", "string", required=True)
DRY = parameter("dry_run", "boolean")
TOKEN = parameter("confirmation_token", "string")
INPUT = parameter("input", "NoteInput", required=True)


class Notes:
    """Notes in memory."""

    modes: tuple[str, ...] = ("semantic", "single")
    gated = True
    knows_batches = True
    capabilities: Mapping[str, object] = {"batch": True, "field_selection": True}
    fields = FIELDS

    def __init__(self) -> None:
        self.notes: dict[str, Record] = {}
        self.tokens: dict[str, str] = {}
        self.made = 0
        for title in ("Bread", "Salt"):
            meta = {"mood": "calm", "rating": 3, "place": {"town": "Oslo", "street": "Main"}}
            self._put({"title": title, "pages": 7, "summary": "short", "tags": ["a", "b"], "meta": meta})

    def started_in(self, mode: str) -> str:
        """The mode that it has when it is started in one."""
        return mode

    def _put(self, fields: Record) -> Record:
        self.made += 1
        note = {"id": f"note_{self.made}", "author": "clerk", "version": 1, **copy.deepcopy(fields)}
        self.notes[note["id"]] = note
        return note

    # what is told

    @property
    def operations(self) -> dict[str, tuple[str, list[Record]]]:
        """Every operation with its category and its parameters."""
        return {
            "introspect": ("READ", [parameter("query", "string", required=True), parameter("name", "string")]),
            "list_notes": ("READ", [parameter("fields", "string | string[]")]),
            "get_note": ("READ", [KEY]),
            "create_note": ("CREATE", list(self.fields)),
            "update_note": ("UPDATE", [KEY, INPUT, parameter("if_match", "string"), DRY]),
            "delete_note": ("DELETE", [KEY, DRY, TOKEN]),
        }

    def types(self) -> list[Record]:
        """Every type."""
        return [
            {"name": "Note", "kind": "object", "fields": [*OWN, *self.fields]},
            {"name": "NoteInput", "kind": "object", "fields": [{**one, "required": False} for one in self.fields]},
        ]

    def entry(self, name: str, mode: str) -> Record:
        """An operation in full."""
        category, parameters = self.operations[name]
        tool = "mcp_aql" if mode == "single" else f"mcp_aql_{category.lower()}"
        returns = {"name": "Note", "kind": "object"}
        said = {"name": name, "semantic_category": category, "endpoint": category.lower(), "description": name}
        return {**said, "mcpTool": tool, "parameters": parameters, "returns": returns, "examples": []}

    def introspect(self, params: Record, mode: str) -> Record:
        """What is asked of the server itself."""
        name = params.get("name")
        if params["query"] == "types":
            told = {one["name"]: one for one in self.types()}
            return (
                {"type": told.get(name)} if name else {"types": [dict(list(one.items())[:2]) for one in self.types()]}
            )
        if name:
            return {"operation": self.entry(name, mode) if name in self.operations else None}
        protocol = {"version": "1.0.0", "capabilities": dict(self.capabilities)}
        return {"operations": [self.entry(one, mode) for one in self.operations], "_protocol": protocol}

    # what is done

    def find(self, params: Record) -> Record:
        """The note that is meant."""
        if params["note_id"] not in self.notes:
            raise Wrong("NOT_FOUND_RESOURCE", f"Resource 'note' not found: '{params['note_id']}'")
        return self.notes[params["note_id"]]

    def shown(self, note: Record) -> Record:
        """A note as it is answered."""
        return {**copy.deepcopy(note), "_etag": f'"{note["version"]}"'}

    def list_notes(self, _params: Record) -> object:
        return {"items": [self.shown(note) for note in self.notes.values()]}

    def get_note(self, params: Record) -> object:
        return self.shown(self.find(params))

    def create_note(self, params: Record) -> object:
        return self.shown(self._put(params))

    def update_note(self, params: Record) -> object:
        note = self.find(params)
        if "if_match" in params:
            self.match(note, params["if_match"])
        self.check_input(params["input"])
        changed = copy.deepcopy(note)
        self.merge(changed, params["input"])
        if not params.get("dry_run"):
            self.notes[note["id"]] = {**changed, "version": note["version"] + 1}
        return self.shown(changed)

    def match(self, note: Record, tag: str) -> None:
        if tag != f'"{note["version"]}"':
            raise Wrong("CONFLICT_VERSION_MISMATCH", "The note was changed by somebody else")

    def check_input(self, given: Record) -> None:
        """Refuse what may not stand in ``input``."""
        known = {one["name"]: one for one in self.fields}
        for name, value in given.items():
            self.check_name(name, known)
            if value is not None and name in known:
                self.check_kind(name, value, known[name]["type"])

    def check_name(self, name: str, known: Mapping[str, Record]) -> None:
        if name == "author":
            raise Wrong("VALIDATION_READ_ONLY_FIELD", "Field 'author' is read-only and cannot be updated")
        if name == "note_id":
            raise Wrong("VALIDATION_UNKNOWN_FIELD", "The identifier 'note_id' stands beside 'input'")
        if name not in known:
            raise Wrong("VALIDATION_UNKNOWN_FIELD", f"Unknown field '{name}'")

    def check_kind(self, name: str, value: object, kind: str) -> None:
        if not isinstance(value, KINDS.get(kind, object)):
            raise Wrong("VALIDATION_INVALID_TYPE", f"'{name}' expected '{kind}'")

    def merge(self, old: Record, given: Record) -> None:
        """Objects merge, null removes, the rest is replaced."""
        for name, value in given.items():
            if value is None:
                old.pop(name, None)
            elif isinstance(value, dict) and isinstance(old.get(name), dict):
                self.merge(old[name], value)
            else:
                old[name] = value

    def delete_note(self, params: Record) -> object:
        if not params.get("dry_run") and self.gated:
            self.confirm(params)
        note = self.find(params)
        if not params.get("dry_run"):
            self.notes.pop(note["id"])
        return {"note_id": note["id"]}

    def confirm(self, params: Record) -> None:
        """Let pass what was agreed to."""
        call = json.dumps({name: value for name, value in params.items() if name != "confirmation_token"})
        if "confirmation_token" in params:
            self.redeem(params["confirmation_token"], call)
            return
        token = f"conf_{secrets.token_urlsafe(16)}"
        self.tokens[token] = call
        raise Wrong("CONFIRMATION_REQUIRED", "This operation requires confirmation", confirmation_token=token)

    def redeem(self, token: str, call: str) -> None:
        if self.tokens.get(token) != call:
            raise Wrong("TOKEN_INVALID", "The token is not for this")
        del self.tokens[token]

    # the way of a request

    def answer(self, tool: str, request: Any, mode: str) -> Record:
        """The envelope of one request, or of a batch."""
        try:
            if "operations" in request and self.knows_batches:
                return self.batch(tool, request["operations"], mode)
            return {"success": True, "data": self.perform(tool, request, mode)}
        except Wrong as error:
            told = {"code": error.code, "message": str(error), "details": error.details}
            return {"success": False, "error": told}

    def perform(self, tool: str, request: Any, mode: str) -> object:
        name = request.get("operation") if isinstance(request, dict) else None
        if not isinstance(name, str):
            raise Wrong("VALIDATION_MISSING_PARAM", "Missing required parameter 'operation'")
        if name not in self.operations:
            raise Wrong("NOT_FOUND_OPERATION", f"Unknown operation: '{name}'")
        category, parameters = self.operations[name]
        if tool not in ("mcp_aql", f"mcp_aql_{category.lower()}"):
            raise Wrong("VALIDATION_ENDPOINT_MISMATCH", f"Operation '{name}' belongs elsewhere")
        params = request.get("params") or {}
        self.check_params(parameters, params)
        if name == "introspect":
            return self.introspect(params, mode)
        perform: Callable[[Record], object] = getattr(self, name)
        return perform(params)

    def check_params(self, parameters: list[Record], params: Record) -> None:
        for one in parameters:
            self.check_param(one, params)
        known = {one["name"] for one in parameters}
        if unknown := [name for name in params if name not in known]:
            raise Wrong("VALIDATION_UNKNOWN_PARAM", f"Unknown parameter '{unknown[0]}'")

    def check_param(self, one: Record, params: Record) -> None:
        if one["name"] not in params:
            if one["required"]:
                raise Wrong("VALIDATION_MISSING_PARAM", f"Missing required parameter '{one['name']}'")
            return
        kind = "object" if one["name"] == "input" else one["type"]
        if not isinstance(params[one["name"]], KINDS.get(kind, object)):
            raise Wrong("VALIDATION_INVALID_TYPE", f"Parameter '{one['name']}' expected '{kind}'")

    def batch(self, tool: str, requests: Any, mode: str) -> Record:
        """Every request with its own answer, up to one that must be confirmed."""
        if not isinstance(requests, list) or not all(isinstance(one, dict) for one in requests):
            raise Wrong("VALIDATION_INVALID_TYPE", "Parameter 'operations' expected 'array' of objects")
        results: list[Record] = []
        for index, request in enumerate(requests):
            result = self.answer(tool, request, mode)
            entry = {"index": index, "operation": request.get("operation"), "result": result}
            if result.get("error", {}).get("code") == "CONFIRMATION_REQUIRED":
                pending = [{"index": index + 1 + place, **one} for place, one in enumerate(requests[index + 1 :])]
                return self.batch_answer(len(requests), results, halted_at=entry, pending_operations=pending)
            results.append(entry)
        return self.batch_answer(len(requests), results)

    def batch_answer(self, total: int, results: list[Record], **halt: Any) -> Record:
        worked = sum(one["result"]["success"] for one in results)
        summary = {"total": total, "succeeded": worked, "failed": len(results) - worked}
        if halt:
            summary |= {"halted": 1, "pending": len(halt["pending_operations"])}
        return {"success": True, "data": None, "results": results, "summary": summary, **halt}


def opener_of_notes(notes: Notes) -> Opener:
    """A way to a server in the mode that is wanted, if it has it."""

    def server(mode: str) -> Server[Any]:
        families = ("read", "create", "update", "delete")
        single, several = ("mcp_aql",), tuple(f"mcp_aql_{family}" for family in families)
        tools = {"single": single, "semantic": several, "all": (*single, *several)}[mode]
        return toy_server(lambda tool, request: notes.answer(tool, request, mode), tools)

    def open_it(*, mode: str | None = None, era: Era = "auto") -> Any:
        if mode is not None and mode not in notes.modes:
            raise NotOpened(f"there is no {mode} mode")
        return open_wire(InProcess(server(notes.started_in(mode or notes.modes[0]))), era=era)

    return open_it


async def report_on(notes: Notes, **options: Any) -> Report:
    """A run of all checks of our areas, with everything allowed unless said otherwise."""
    return await report_of(opener_of_notes(notes), *OURS, **{"allowed": ALLOWED, **options})


def complaints(report: Report) -> tuple[list[str], list[str]]:
    """The checks of MUST level that failed, and the others that warned."""
    failed = [one.check.id for one in report.results if one.verdict is Verdict.FAIL]
    warned = [one.check.id for one in report.results if one.verdict is Verdict.WARN]
    assert all(one.check.demand is Demand.MUST for one in report.results if one.verdict is Verdict.FAIL)
    return failed, warned
