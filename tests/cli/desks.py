"""A small MCP server for commands that look at one: it starts at once, and tells whether anything was called."""

import json
import sys
from pathlib import Path
from typing import Any, Final

__all__ = ["CALLED", "desk", "serve"]

CALLED: Final = "called.txt"
TOOLS: Final[list[dict[str, Any]]] = [
    {
        "name": "list_notes",
        "description": "Lists the notes.",
        "inputSchema": {"type": "object", "properties": {"query": {"type": "string"}}},
        "annotations": {"readOnlyHint": True},
    },
    {"name": "frobNotes", "description": "Frobs.", "inputSchema": {"type": "object"}},
    {
        "name": "updateNote",
        "title": "Update a note",
        "description": "Updates a note.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "noteId": {"type": "string"},
                "newTitle": {"type": "string", "description": "Its title", "default": "x", "pattern": "^x"},
                "mood": {"type": "string", "enum": ["good", "bad"]},
                "size": {"type": "integer", "maximum": 10**30},
            },
            "required": ["noteId", "newTitle"],
        },
    },
    {"name": "delete note!", "description": "\u001b[31mDeletes a note.", "inputSchema": {"type": "object"}},
]


def desk(folder: Path, *tools: str) -> str:
    """The command of a server in a folder, with some of the tools or all."""
    script = folder / "desk.py"
    script.write_text("import sys\nfrom tests.cli.desks import serve\nserve(sys.argv[1:])\n")
    root = Path(__file__).parents[2]
    return " ".join(["stdio:env", f"PYTHONPATH={root}", sys.executable, "-S", str(script), *tools])


def serve(names: list[str]) -> None:
    """Answer on standard output what is asked on standard input."""
    for line in sys.stdin:
        asked = json.loads(line)
        if "id" in asked:
            answer = {"jsonrpc": "2.0", "id": asked["id"], **_answer(asked, names)}
            sys.stdout.write(f"{json.dumps(answer)}\n")
            sys.stdout.flush()


def _answer(asked: dict[str, Any], names: list[str]) -> dict[str, Any]:
    match asked["method"]:
        case "initialize":
            version = asked["params"]["protocolVersion"]
            server = {"name": "desk", "version": "1.2"}
            return {"result": {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": server}}
        case "tools/list":
            return {"result": {"tools": [tool for tool in TOOLS if not names or tool["name"] in names]}}
        case "tools/call":
            Path(sys.argv[0]).with_name(CALLED).write_text("called")
    return {"error": {"code": -32601, "message": "not known"}}
