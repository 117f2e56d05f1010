"""A server over stdio without any library: it takes unknown parameters, and what it says is hostile wherever it can be.

Started by itself: ``python tests/conformance/leaky.py [FAULT…]``. It imports nothing of ours, and so starts at once.
"""

import json
import os
import sys
from typing import Any

__all__ = ["HOSTILE", "TOKEN"]

HOSTILE = "\x1b[2J[red]<script>alert(1)</script>`|@everyone\u202e\n# x](http://evil.example)&amp;"
TOKEN = "tok-0123456789"  # noqa: S105  (nobody's)
PARAMETER = {"name": "name", "type": "string", "required": True, "description": "The name of the thing"}
OPERATIONS: dict[str, list[dict[str, Any]]] = {
    "introspect": [
        {"name": "query", "type": "string", "required": True, "description": "operations or types"},
        {"name": "name", "type": "string", "required": False, "description": "One of them"},
    ],
    "get_thing": [PARAMETER],
}


def entry(name: str) -> dict[str, Any]:
    return {"name": name, "semantic_category": "READ", "endpoint": "read", "description": f"Does {name}. Says nothing."}


def details(name: str) -> dict[str, Any] | None:
    if name not in OPERATIONS:
        return None
    return entry(name) | {
        "mcpTool": "mcp_aql_read",
        "permissions": {"readOnly": True, "destructive": False},
        "parameters": OPERATIONS[name],
        "returns": {"name": "object", "kind": "object"},
    }


def introspected(params: dict[str, Any]) -> dict[str, Any]:
    name = params.get("name")
    if params.get("query") == "types":
        return {"type": None} if name else {"types": []}
    if name:
        return {"operation": details(name)}
    return {"operations": [entry(name) for name in OPERATIONS], "_protocol": {"version": "1.0.0-draft"}}


def failure(code: str, message: str) -> dict[str, Any]:
    return {"success": False, "error": {"code": code, "message": message}}


def answered(arguments: dict[str, Any], faults: set[str]) -> dict[str, Any]:
    operation, params = arguments.get("operation"), arguments.get("params") or {}
    if not isinstance(params, dict) and "frail" not in faults:
        return failure("VALIDATION_INVALID_TYPE", "'params' must be an object")
    if operation == "introspect":
        if "query" not in params:
            return failure("VALIDATION_MISSING_PARAM", "Missing required parameter 'query'")
        return {"success": True, "data": introspected(params)}
    if operation != "get_thing":
        return failure("NOT_FOUND_OPERATION", f"Unknown operation '{operation}'")
    if "name" not in params:
        return failure("VALIDATION_MISSING_PARAM", "Missing required parameter 'name'")
    if not isinstance(params["name"], str):
        return failure("VALIDATION_INVALID_TYPE", "Parameter 'name' must be a string")
    if "strict" in faults and params.keys() - {"name"}:
        return failure("VALIDATION_UNKNOWN_PARAM", "Unknown parameter")
    return {"success": True, "data": {"name": HOSTILE, "token": os.environ.get("LEAKY_TOKEN", TOKEN)}}


def result_of(method: str, params: dict[str, Any], faults: set[str]) -> dict[str, Any]:
    if method == "initialize":
        return {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": f"leaky {HOSTILE}" if "hostile" in faults else "leaky", "version": "1.2"},
        }
    if method == "tools/list":
        return {"tools": [{"name": "mcp_aql_read", "inputSchema": {"type": "object"}}]}
    text = json.dumps(answered(params.get("arguments") or {}, faults))
    return {"content": [{"type": "text", "text": text}] * (2 if "parts" in faults else 1)}


def main() -> None:
    faults = {*sys.argv[1:]}
    for line in sys.stdin:
        message = json.loads(line)
        if "silent" in faults and message.get("method") == "tools/call":
            continue
        if "id" in message and "method" in message:
            result = result_of(message["method"], message.get("params") or {}, faults)
            sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
