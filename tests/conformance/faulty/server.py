"""The museum as an MCP server: tools, envelopes and batches."""

import json
import secrets
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Final, Literal, cast

import anyio.lowlevel
import mcp_types as types
from mcp.server import Server, ServerRequestContext
from mcp.shared.exceptions import MCPError

from headgate.client.wires import Answer, Era, InProcess, Refused, Tool, Wire, open_wire
from headgate.conformance.probe import Opener
from headgate.sources.mcp.last_words import LastWords
from tests.conformance.faulty.declarations import OPERATIONS, Declared
from tests.conformance.faulty.introspection import introspected
from tests.conformance.faulty.keeping import Keeping
from tests.conformance.faulty.requests import operation_of, params_of, refuse_oversized
from tests.conformance.faulty.supervising import Supervising
from tests.conformance.faulty.world import Museum, Record, Refusal

__all__ = ["museum_opener"]

_FAMILIES: Final = ("create", "read", "update", "delete", "execute")
_HINTS: Final = {"create": (False, False), "read": (True, False)}
_QUICK_START: Final = '{"operation": "introspect", "params": {"query": "operations"}}'
Handler = Callable[[Mapping[str, Any]], Record]


def museum_opener(museum: Museum, *, direct: bool = False) -> Opener:
    """A way to a museum: each connection is a session of its own. The direct way leaves out MCP, and is quicker."""

    def open_it(*, mode: str | None = None, era: Era = "auto") -> AbstractAsyncContextManager[Wire]:
        return _session(museum, mode or "semantic", era, direct=direct)

    return open_it


@asynccontextmanager
async def _session(museum: Museum, mode: str, era: Era, *, direct: bool) -> AsyncIterator[Wire]:
    name = f"session_{secrets.token_hex(8)}"
    desk = _Desk(museum, mode, name)
    try:
        if direct:
            yield _DirectWire(desk, tuple(_tools(museum, mode)))
        else:
            async with open_wire(InProcess(_server(desk, tuple(_tools(museum, mode)))), era=era) as wire:
                yield wire
    finally:
        museum.end(name)


def _server(desk: "_Desk", tools: tuple[types.Tool, ...]) -> Server[Any]:
    """A server for one connection."""

    async def list_tools(_ctx: ServerRequestContext, _params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=list(tools))

    async def call_tool(_ctx: ServerRequestContext, params: types.CallToolRequestParams) -> types.CallToolResult:
        text = await desk.answered(params.name, params.arguments or {})
        return types.CallToolResult(content=[types.TextContent(type="text", text=text)])

    return Server(
        "museum",
        version="1.0.0",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        get_tool_input_schema=lambda _name: None,
    )


class _DirectWire(Wire):
    """The same desk without MCP in between: what is sent and answered goes through JSON, and nothing else."""

    def __init__(self, desk: "_Desk", tools: tuple[types.Tool, ...]) -> None:
        told = (tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in tools)
        super().__init__(cast("Any", None), LastWords("the museum"), tools=tuple(Tool(raw) for raw in told))
        self._desk = desk

    @property
    def era(self) -> Literal["modern", "legacy"]:
        """As the SDK would say it."""
        return "legacy"

    @property
    def server(self) -> tuple[str, str]:
        """As the SDK would say it."""
        return ("museum", "1.0.0")

    async def call(self, tool: str, arguments: object, **_how: Any) -> Answer:
        """Ask the desk; what it throws is an error of JSON-RPC, as the SDK makes it."""
        sent = json.loads(json.dumps(arguments))
        if not isinstance(sent, dict):
            raise Refused(types.INVALID_PARAMS, "Invalid request parameters")
        try:
            text = await self._desk.answered(tool, sent)
        except MCPError as error:
            raise Refused(error.error.code, error.error.message) from None
        return Answer({"content": [{"type": "text", "text": text}]})


def _tools(museum: Museum, mode: str) -> Iterator[types.Tool]:
    names = (
        ["mcp_aql"]
        if mode == "single" and not museum.has("one-mode-only")
        else [f"mcp_aql_{family}" for family in _FAMILIES]
    )
    schema = {
        "type": "object",
        "properties": {"operation": {"type": "string"}, "params": {"type": "object"}, "operations": {"type": "array"}},
    }
    for name in names:
        family = name.removeprefix("mcp_aql_")
        known = ", ".join(one.name for one in OPERATIONS if one.family == family or mode == "single")
        words = f"The museum: {known}. Begin with 'introspect', such as {_QUICK_START}."
        read_only, destructive = _HINTS.get(family, (False, True))
        hints = types.ToolAnnotations(read_only_hint=read_only, destructive_hint=destructive)
        if museum.has("annotations-wrong"):
            hints = types.ToolAnnotations(read_only_hint=True, destructive_hint=False)
        yield types.Tool(name=name, description=words, input_schema=schema, annotations=hints)


class _Desk:
    """Where the requests of one connection arrive."""

    def __init__(self, museum: Museum, mode: str, session: str) -> None:
        self._current: tuple[str, dict[str, Any]] = ("", {})
        self._museum = museum
        self._mode = "semantic" if museum.has("one-mode-only") else mode
        self._session = session
        self._keeping = Keeping(museum, session)
        self._supervising = Supervising(museum, session, self._keeping)

    async def answered(self, tool: str, arguments: dict[str, Any]) -> str:
        """The text of the answer to a request."""
        if self._museum.has("requests-mixed-up"):
            self._current = (tool, arguments)
            for _ in range(20):
                await anyio.lowlevel.checkpoint()
            tool, arguments = self._current
        answer = self._answer(tool, arguments)
        return answer if isinstance(answer, str) else json.dumps(answer)

    def _answer(self, tool: str, arguments: dict[str, Any]) -> Record | str:
        """The envelope for a request."""
        family = None if self._mode == "single" else tool.removeprefix("mcp_aql_")
        try:
            refuse_oversized(self._museum, arguments)
            if "operations" in arguments:
                return self._batch(arguments["operations"], family)
        except Refusal as refusal:
            return self._finished("", self._failure(refusal))
        name = str(arguments.get("operation"))
        if self._museum.has("malformed-params-thrown") and not isinstance(arguments.get("params", {}), dict):
            raise MCPError(types.INVALID_PARAMS, "params must be an object")
        return self._finished(name, self._single(arguments, family))

    def _single(self, arguments: dict[str, Any], family: str | None) -> Record:
        operation = None
        try:
            operation = operation_of(self._museum, arguments, family)
            params = params_of(self._museum, operation, arguments)
            data = self._handler(operation)(params)
            if self._museum.has("claims-believed") and "admin" in (arguments.get("_meta") or {}).get("roles", []):
                data = {**data, "secrets": ["the combination of the safe"]}
            return {"success": True, "data": data, **self._warnings(params)}
        except Refusal as refusal:
            if (
                refusal.code.startswith("NOT_FOUND_OP")
                and self._museum.has("unknown-operation-answered")
                and operation is None
            ):
                return {"success": True, "data": None}
            return self._failure(refusal, plain=operation is not None and operation.name == "introspect")

    def _handler(self, operation: Declared) -> Handler:
        if operation.name == "introspect":
            return lambda params: introspected(self._museum, params, self._mode, self._session)
        if operation.name == "query_loans" and self._museum.has("documented-operation-breaks"):
            return _breaking_down
        found: Handler = getattr(self._keeping, operation.name, None) or getattr(self._supervising, operation.name)
        return found

    def _warnings(self, params: Mapping[str, Any]) -> Record:
        if "preset" not in params:
            return {}
        if self._museum.has("warnings-as-text"):
            return {"warnings": "'preset' is deprecated"}
        words = "Parameter 'preset' is deprecated: use 'fields'"
        return {"warnings": [{"code": "DEPRECATION_WARNING", "message": words, "severity": "low"}]}

    def _failure(self, refusal: Refusal, plain: bool = False) -> Record:
        error: Record = {"code": refusal.code, "message": refusal.message}
        if refusal.details and not plain:
            error["details"] = refusal.details
        return {"success": False, "error": _bent_error(self._museum, error)}

    def _finished(self, name: str, envelope: Record) -> Record | str:
        if envelope["success"] is False and name != "introspect" and not self._museum.has("session-id-left-out"):
            envelope = {**envelope, "_meta": {"session_id": self._session}}
        return _bent_envelope(self._museum, name, envelope)

    # batches

    def _batch(self, requests: object, family: str | None) -> Record:
        museum = self._museum
        if not isinstance(requests, list) or not requests or not all(_is_request(one) for one in requests):
            if not museum.has("malformed-batch-taken"):
                raise Refusal(
                    "VALIDATION_INVALID_TYPE",
                    "Parameter 'operations' expected a list of requests, each with an 'operation'",
                    param_name="operations",
                )
            requests = [one for one in requests if _is_request(one)] if isinstance(requests, list) else []
        results: list[Record] = []
        for index, request in enumerate(requests):
            result = self._single(request, family)
            entry = {"index": index, "operation": request["operation"], "result": result}
            if _wants_confirmation(result) and not museum.has("batch-does-not-halt"):
                return self._halted(results, entry, requests)
            results.append(entry)
            if museum.has("batch-stops") and not result["success"]:
                break
        return _bent_batch(
            museum, {"success": True, "data": None, "results": results, "summary": _summary(results, len(requests))}
        )

    @staticmethod
    def _halted(results: list[Record], entry: Record, requests: list[Record]) -> Record:
        index = entry["index"]
        pending = [
            {"index": place, "operation": request["operation"], "params": request.get("params", {})}
            for place, request in enumerate(requests)
            if place > index
        ]
        summary = {**_summary(results, len(requests)), "halted": 1, "pending": len(pending)}
        told = {"halted_at": entry, "pending_operations": pending, "summary": summary}
        return {"success": True, "data": None, "results": results, **told}


def _breaking_down(_params: Mapping[str, Any]) -> Record:
    raise Refusal("INTERNAL_ERROR", "Something in the museum is broken. Try it later.")


def _is_request(value: object) -> bool:
    return isinstance(value, dict) and isinstance(value.get("operation"), str) and bool(value["operation"])


def _wants_confirmation(result: Record) -> bool:
    error = result.get("error")
    return isinstance(error, dict) and error.get("code") == "CONFIRMATION_REQUIRED"


def _summary(results: list[Record], total: int) -> Record:
    succeeded = sum(entry["result"]["success"] is True for entry in results)
    return {"total": total, "succeeded": succeeded, "failed": len(results) - succeeded}


def _bent_batch(museum: Museum, answer: Record) -> Record:
    """A batch as some fault shows it."""
    failed = answer["summary"]["failed"]
    if museum.has("batch-fails-as-a-whole") and failed:
        answer["success"] = False
        answer["error"] = {"code": "INTERNAL_ERROR", "message": "Some requests of the batch failed"}
        del answer["data"]
    if museum.has("batch-reversed"):
        answer["results"].reverse()
    if museum.has("batch-without-results"):
        answer["results"] = [{**entry["result"]} for entry in answer["results"]]
    if museum.has("batch-cuts-lists"):
        for entry in answer["results"]:
            entry["result"] = {**entry["result"], **_cut(entry["result"].get("data"))}
    if museum.has("batch-summary-wrong"):
        answer["summary"] |= {"succeeded": answer["summary"]["total"], "failed": 0}
    return answer


def _cut(data: object) -> Record:
    """Lists without their items."""
    return {"data": {**data, "items": []}} if isinstance(data, dict) and "items" in data else {}


def _bent_error(museum: Museum, error: Record) -> Any:
    """An error as some fault shows it."""
    if museum.has("error-as-text"):
        return error["message"]
    if museum.has("code-left-out"):
        del error["code"]
    if museum.has("message-left-out"):
        del error["message"]
    if museum.has("code-in-small-letters") and error.get("code") == "VALIDATION_OUT_OF_RANGE":
        error["code"] = "validation-out-of-range"
    return _bent_message(museum, error)


def _bent_message(museum: Museum, error: Record) -> Record:
    code = error.get("code", "")
    if museum.has("words-of-python") and code == "VALIDATION_INVALID_TYPE":
        error["message"] += ": TypeError: unsupported operand type(s) for +: 'int' and 'str'"
    if museum.has("trace-in-message") and code == "NOT_FOUND_RESOURCE":
        error["message"] += (
            '\nTraceback (most recent call last):\n  File "museum.py", line 12, in find\n    return rows[name]'
        )
    if museum.has("path-in-message") and code == "NOT_FOUND_RESOURCE":
        error["message"] += " (looked in /srv/museum/src/books/keeper.py)"
    if museum.has("operation-not-named") and code in ("NOT_FOUND_OPERATION", "VALIDATION_ENDPOINT_MISMATCH"):
        error["message"] = "There is no such operation here"
    if museum.has("words-say-nothing") and code.startswith("VALIDATION_"):
        error["message"] = "Invalid request"
    return error


def _bent_envelope(museum: Museum, name: str, envelope: Record) -> Record | str:
    """An answer as some fault shows it."""
    fine = envelope["success"] is True
    if museum.has("success-as-text") and name == "list_rooms" and fine:
        return {**envelope, "success": "true"}
    if museum.has("data-left-out") and name == "cancel_execution" and fine:
        return {"success": True}
    if museum.has("error-beside-data") and fine:
        return {**envelope, "error": None}
    if museum.has("data-beside-error") and not fine:
        return {**envelope, "data": None}
    if museum.has("metadata-bare"):
        return {**envelope, "requestId": secrets.token_hex(4)}
    if museum.has("answer-no-json") and name == "cancel_execution" and fine:
        return "OK, cancelled"
    return envelope
