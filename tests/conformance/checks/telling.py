"""A server that only tells of itself, all of it in plain data, for tests to spoil."""

import json
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import mcp_types as types
from mcp.server import Server, ServerRequestContext

from headgate.conformance.checks import ALL_CHECKS
from headgate.conformance.report import Report
from headgate.conformance.values import Check, Demand, Verdict
from tests.conformance.servers import opener_of_server, report_of

__all__ = ["OURS", "Spoil", "Told", "failing", "fine", "report_on", "warned"]

_MODULES = ("introspection", "documentation", "types", "protocol", "naming", "guidance")
OURS: tuple[Check, ...] = tuple(one for one in ALL_CHECKS if one.run.__module__.rpartition(".")[2] in _MODULES)
"""The checks of what a server tells."""


def _tool(family: str, read_only: bool, destructive: bool) -> dict[str, Any]:
    return {
        "name": f"mcp_aql_{family}",
        "description": f"Operations to {family}. Begin with introspect.",
        "inputSchema": {"type": "object"},
        "annotations": {"readOnlyHint": read_only, "destructiveHint": destructive},
    }


def _operation(name: str, category: str, parameters: list[dict[str, Any]], params: dict[str, Any]) -> dict[str, Any]:
    family = category.lower()
    return {
        "name": name,
        "semantic_category": category,
        "endpoint": family,
        "mcpTool": f"mcp_aql_{family}",
        "description": f"{name.partition('_')[0].capitalize()} something.",
        "permissions": {"readOnly": category == "READ", "destructive": category in ("UPDATE", "DELETE", "EXECUTE")},
        "parameters": parameters,
        "returns": {"name": "Book", "kind": "object"},
        "examples": [{"request": {"operation": name, "params": params}}],
    }


def _parameter(name: str, kind: str, required: bool = False, **more: Any) -> dict[str, Any]:
    return {"name": name, "type": kind, "required": required, "description": f"Which {name} is meant.", **more}


_LISTING = [
    _parameter("first", "integer"),
    _parameter("genre", "Genre"),
    _parameter("fields", "string[]"),
    _parameter("aggregate", "object"),
]


@dataclass
class Told:
    """Everything that the server tells; tests change it as they like."""

    tools: list[dict[str, Any]]
    details: dict[str, Any]
    operations: list[Any]
    type_details: dict[str, Any]
    types: list[Any]
    protocol: Any
    read: Callable[[Any], Any] = lambda _params: {"items": [{"title": "Emma", "_computed": {"age": 210}}]}
    """What ``list_books`` answers to its parameters, where that is no refusal."""
    instead: Callable[[Any, Any], Any] = lambda _query, _name: None
    """What is answered to a query and a name in place of the rest; nothing: the rest."""


def fine() -> Told:
    """A server that tells everything as it should be told."""
    details = {
        one["name"]: one
        for one in (
            _operation("introspect", "READ", [_parameter("query", "string", True), _parameter("name", "string")], {}),
            _operation("list_books", "READ", deepcopy(_LISTING), {"first": 3, "fields": ["title"]}),
            _operation("create_book", "CREATE", [_parameter("title", "string", True)], {"title": "Emma"}),
            _operation("delete_book", "DELETE", [_parameter("book_id", "string", True)], {"book_id": "1"}),
        )
    }
    details["list_books"] |= {
        "computed_fields": [{"name": "age", "type": "integer"}],
        "aggregation_support": {"supported": True, "functions": ["count"]},
    }
    details["introspect"]["examples"][0]["request"]["params"] = {"query": "operations"}
    entry = ("name", "semantic_category", "endpoint", "description")
    fields = [
        {"name": "title", "type": "string", "required": True},
        {"name": "genre", "type": "Genre", "required": False},
    ]
    type_details: dict[str, dict[str, Any]] = {
        "Book": {"name": "Book", "kind": "object", "fields": fields},
        "Genre": {"name": "Genre", "kind": "enum", "values": ["novel", "essay"]},
        "Isbn": {"name": "Isbn", "kind": "scalar"},
        "Found": {"name": "Found", "kind": "union", "members": ["Book", "Genre"]},
    }
    protocol_types = {
        "SemanticCategory": "enum",
        "OperationInput": "object",
        "OperationResult": "union",
        "OperationSuccess": "object",
        "OperationFailure": "object",
        "EndpointPermissions": "object",
    }
    needs: dict[str, dict[str, Any]] = {"enum": {"values": []}, "object": {"fields": []}, "union": {"members": []}}
    type_details |= {name: {"name": name, "kind": kind, **needs[kind]} for name, kind in protocol_types.items()}
    return Told(
        tools=[_tool("read", True, False), _tool("create", False, False), _tool("delete", False, True)],
        details=details,
        operations=[{key: one[key] for key in entry} for one in details.values()],
        type_details=type_details,
        types=[{"name": one["name"], "kind": one["kind"]} for one in type_details.values()],
        protocol={
            "version": "1.0.0-draft",
            "conformance": "level-2",
            "mode": "semantic",
            "concurrency": "serialized",
            "capabilities": {"batch": False, "execution_safety_loop": "disabled"},
            "limits": {
                "max_request_size": 1_048_576,
                "max_response_size": 10_485_760,
                "max_string_length": 1_048_576,
                "max_array_elements": 10_000,
                "max_nesting_depth": 32,
            },
        },
    )


def _refusal(code: str, message: str) -> dict[str, Any]:
    return {"success": False, "error": {"code": code, "message": message}}


def _answer(told: Told, arguments: Any) -> Any:
    params = arguments.get("params") or {}
    query, name = params.get("query"), params.get("name")
    other = told.instead(query, name)
    if other is not None:
        return other
    if arguments.get("operation") == "list_books":
        said = told.read(params)
        return said if "success" in said else {"success": True, "data": said}
    if arguments.get("operation") != "introspect":
        return _refusal("NOT_FOUND_OPERATION", f"Unknown operation: '{arguments.get('operation')}'")
    if query not in ("operations", "types"):
        return _refusal("VALIDATION_MISSING_PARAM", "Missing required parameter 'query'")
    return {"success": True, "data": _data(told, query, name)}


def _data(told: Told, query: object, name: Any) -> Any:
    if query == "types":
        return {"types": told.types} if name is None else {"type": told.type_details.get(name)}
    if name is not None:
        return {"operation": told.details.get(name)}
    return {"_protocol": told.protocol, "operations": told.operations}


def _server(told: Told) -> Server[Any]:
    async def list_tools(_ctx: ServerRequestContext, _params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[types.Tool.model_validate(tool) for tool in told.tools])

    async def call_tool(_ctx: ServerRequestContext, params: types.CallToolRequestParams) -> types.CallToolResult:
        text = json.dumps(_answer(told, params.arguments))
        return types.CallToolResult(content=[types.TextContent(type="text", text=text)])

    return Server("telling", on_list_tools=list_tools, on_call_tool=call_tool, get_tool_input_schema=lambda _name: None)


Spoil = Callable[[Told], object]
"""Makes one thing wrong."""


async def report_on(told: Told, *checks: Check) -> Report:
    """What the checks of this area, or some of them, say of a server."""
    return await report_of(opener_of_server(_server(told)), *(checks or OURS))


def _ids(report: Report, *verdicts: Verdict) -> set[str]:
    return {result.check.id for result in report.results if result.verdict in verdicts}


def failing(report: Report) -> set[str]:
    """The checks of MUST that failed."""
    return _ids(report, Verdict.FAIL)


def warned(report: Report) -> set[str]:
    """The checks of SHOULD that are broken."""
    found = _ids(report, Verdict.WARN)
    assert all(result.check.demand is Demand.SHOULD for result in report.results if result.check.id in found)
    return found
