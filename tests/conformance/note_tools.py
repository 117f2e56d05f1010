"""An MCP server with ordinary tools, as others write them: no MCP-AQL in it. headgate makes that of it."""

import json
from typing import Any

import anyio
import mcp_types as types
from mcp.server import Server, ServerRequestContext
from mcp.server.stdio import stdio_server

NOTES: dict[str, dict[str, Any]] = {
    f"n{number}": {"noteId": f"n{number}", "title": f"Note {number}", "stars": number} for number in range(1, 6)
}


def tool(name: str, description: str, hints: dict[str, bool], required: list[str], **properties: Any) -> types.Tool:
    schema = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return types.Tool(
        name=name,
        description=description,
        input_schema=schema,
        annotations=types.ToolAnnotations(
            read_only_hint=hints.get("reads", False), destructive_hint=hints.get("destroys", False)
        ),
    )


NOTE_ID = {"type": "string", "description": "The id of a note", "minLength": 1, "maxLength": 40}
TITLE = {"type": "string", "description": "What it is about", "minLength": 1, "maxLength": 100}
STARS = {"type": "integer", "description": "How important it is", "minimum": 1, "maximum": 5, "default": 1}
TOOLS = [
    tool("listNotes", "List all notes.", {"reads": True}, []),
    tool("getNote", "Get one note by its id.", {"reads": True}, ["noteId"], noteId=NOTE_ID),
    tool("createNote", "Create a note.", {}, ["title"], title=TITLE, stars=STARS),
    tool("deleteNote", "Delete a note.", {"destroys": True}, ["noteId"], noteId=NOTE_ID),
]


def done(name: str, given: dict[str, Any]) -> Any:
    match name:
        case "listNotes":
            return {"notes": list(NOTES.values())}
        case "createNote":
            note_id = f"n{max(int(key[1:]) for key in NOTES) + 1}"
            NOTES[note_id] = {"noteId": note_id, "title": given["title"], "stars": given.get("stars", 1)}
            return NOTES[note_id]
        case "getNote":
            return NOTES.get(given["noteId"])
    return NOTES.pop(given["noteId"], None) and {"deleted": given["noteId"]}


async def list_tools(_ctx: ServerRequestContext, _params: Any) -> types.ListToolsResult:
    return types.ListToolsResult(tools=TOOLS)


async def call_tool(_ctx: ServerRequestContext, params: types.CallToolRequestParams) -> types.CallToolResult:
    said = done(params.name, params.arguments or {})
    text = json.dumps(said) if said is not None else "There is no such note"
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=said is None)


async def main() -> None:
    server: Server[Any] = Server("notes", on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(main)
