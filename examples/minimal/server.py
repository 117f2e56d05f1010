"""The smallest MCP-AQL server that keeps to level 1, on the bare MCP SDK: notes, behind one tool."""

import json
from typing import Any

import anyio
import mcp_types as types
from mcp.server import Server, ServerRequestContext
from mcp.server.stdio import stdio_server

Json = dict[str, Any]
NOTES: dict[str, Json] = {"n1": {"note_id": "n1", "title": "Milk", "text": "Two bottles"}}


def text(name: str, description: str, *, required: bool = True, **more: Any) -> Json:
    return {"name": name, "type": "string", "required": required, "description": description, **more}


def operation(name: str, category: str, description: str, *parameters: Json, **example: str) -> Json:
    row: Json = {"name": name, "semantic_category": category, "endpoint": category.lower(), "description": description}
    row |= {"mcpTool": "mcp_aql", "permissions": {"readOnly": category == "READ", "destructive": False}}
    returns, request = {"name": "Note", "kind": "object"}, {"operation": name, "params": example}
    return row | {"parameters": list(parameters), "returns": returns, "examples": [{"request": request}]}


ID, TITLE, TEXT = text("note_id", "its id"), text("title", "what it is about"), text("text", "what it says")
WHAT, NAME = text("query", "what to look at", enum=["operations", "types"]), text("name", "just one", required=False)
NOTE = {"name": "Note", "kind": "object", "fields": [ID, TITLE, TEXT]}
ROWS = [
    operation("introspect", "READ", "Discover operations and types.", WHAT, NAME, query="operations"),
    operation("list_notes", "READ", "List all notes."),
    operation("get_note", "READ", "Get one note by its id.", ID, note_id="n1"),
    operation("create_note", "CREATE", "Write a new note.", TITLE, TEXT, title="Tea", text="Green"),
]
ITEMS: dict[str, dict[str, Json]] = {"operations": {row["name"]: row for row in ROWS}, "types": {"Note": NOTE}}
PROTOCOL = {"version": "1.0.0-draft", "conformance": "level-1", "mode": "single"}


def problem(request: Json, given: Json) -> tuple[str, str] | None:  # noqa: C901
    def is_too_much(value: Any, depth: int = 1) -> bool:
        inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        return depth > 33 or len(inner) > 10_000 or any(is_too_much(one, depth + 1) for one in inner)

    try:
        if len(json.dumps(request, ensure_ascii=False).encode()) > 1_048_576 or is_too_much(request):
            return "VALIDATION_PAYLOAD_TOO_LARGE", "Payload exceeds a limit: 1048576 bytes, 10000 elements, 32 levels"
    except UnicodeEncodeError:
        return "VALIDATION_INVALID_ENCODING", "Invalid character encoding in request"
    if not isinstance(name := request.get("operation"), str) or not name:
        return "VALIDATION_MISSING_PARAM", "Missing required parameter 'operation'. Expected: string (its name)"
    if (row := ITEMS["operations"].get(name)) is None:
        return "NOT_FOUND_OPERATION", f"Unknown operation: '{name}'"
    known = {one["name"]: one for one in row["parameters"]}
    for key, what in ((key, one["description"]) for key, one in known.items() if one["required"] and key not in given):
        return "VALIDATION_MISSING_PARAM", f"Missing required parameter '{key}'. Expected: string ({what})"
    for key, value in given.items():
        if key not in known:
            return "VALIDATION_UNKNOWN_PARAM", f"Unknown parameter(s) for operation '{name}': {key}"
        if not isinstance(value, str):
            return "VALIDATION_INVALID_TYPE", f"Parameter '{key}' expected 'string'"
        if value not in known[key].get("enum", [value]):
            return "VALIDATION_INVALID_ENUM", f"Parameter '{key}' must be one of: operations, types"
    if name == "get_note" and given["note_id"] not in NOTES:
        return "NOT_FOUND_RESOURCE", f"Resource 'note' not found: '{given['note_id']}'"
    return None


def done(operation: str, query: str = "", name: str | None = None, **params: str) -> Any:
    if operation == "create_note":
        return NOTES.setdefault(note_id := f"n{len(NOTES) + 1}", {"note_id": note_id, **params})
    if operation != "introspect":
        return NOTES[params["note_id"]] if operation == "get_note" else list(NOTES.values())
    if name is not None:
        return {query[:-1]: ITEMS[query].get(name)}  # null where there is no such thing
    briefly = ("name", "kind", "semantic_category", "endpoint", "description")
    listed = {query: [{key: row[key] for key in briefly if key in row} for row in ITEMS[query].values()]}
    return {"_protocol": PROTOCOL, **listed} if query == "operations" else listed


async def list_tools(_context: ServerRequestContext, _params: Any) -> types.ListToolsResult:
    return types.ListToolsResult(tools=[types.Tool(name="mcp_aql", input_schema={"type": "object"})])


async def call_tool(_context: ServerRequestContext, call: types.CallToolRequestParams) -> types.CallToolResult:
    request = call.arguments or {}
    given = {key: value for key, value in request.items() if key != "operation" and not key.startswith("_")}
    given |= given.pop("params") if isinstance(given.get("params"), dict) else {}
    failed = (wrong := problem(request, given)) and {"error": {"code": wrong[0], "message": wrong[1]}}
    said = {"success": not failed, **(failed or {"data": done(request["operation"], **given)})}
    return types.CallToolResult(content=[types.TextContent(type="text", text=json.dumps(said))])


async def main() -> None:
    server: Server[Any] = Server("notes", on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


anyio.run(main)
