"""The discovery bundle of an MCP server: what it said, word for word, and what was made of it (Discovery Bundle).

Nothing is called to make one. Secrets of how the server is started or reached are not in it.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any, Final
from urllib.parse import urlsplit

from headgate.adapter.context import Context
from headgate.adapter.operations import INPUT, Operation
from headgate.adapter.origins import Inferred, Provenance
from headgate.adapter.parameters import Parameter, Schema
from headgate.adapter.schemas import type_name
from headgate.protocol.adapter_errors import AdapterError
from headgate.protocol.categories import Category
from headgate.sources.curation import Curation, origin_of
from headgate.sources.mcp.captures import Capture
from headgate.sources.mcp.configuration import McpSpec
from headgate.sources.mcp.source import mcp_operations
from headgate.sources.shapes import shaped

__all__ = ["discovery_bundle"]

_VERSION: Final = "1.0.0-draft"
_HIGH: Final = 0.8
_MEDIUM: Final = 0.5
_CONSTRAINTS: Final = ("minimum", "maximum", "pattern", "format")
_BEARER: Final = "bearer "


def discovery_bundle(
    spec: McpSpec, capture: Capture, captured_at: str, curation: Curation | None = None
) -> dict[str, object]:
    """The bundle of what a server listed at a time, as JSON."""
    operations = mcp_operations(capture, spec.name, _never, curation or Curation())
    tools = {str(tool.get("name")): tool for tool in reversed(capture.tools)}
    return {
        "schema_version": _VERSION,
        "source": _source(spec, capture, captured_at),
        "raw_capture": {
            "tools": [dict(tool) for tool in capture.tools],
            "instructions": capture.instructions,
            "protocol_version": capture.protocol_version,
        },
        "normalized_bundle": {
            "operations": [_operation(one, tools[origin_of(one).own_name]) for one in operations],
            "warnings": [*_left_out(tools, operations), *(note for one in operations for note in _notes(one))],
        },
    }


async def _never(_tool: str, _arguments: Mapping[str, object], _context: Context) -> object:
    raise AdapterError("What a server was captured for is not called.")


# where it comes from


def _source(spec: McpSpec, capture: Capture, captured_at: str) -> dict[str, object]:
    said = {key: capture.server.get(key) for key in ("name", "version", "title")}
    server = {key: value for key, value in said.items() if isinstance(value, str)}
    return {
        "name": spec.name,
        "server_url": _address(spec),
        "transport": "streamable_http" if spec.url else "stdio",
        "captured_at": captured_at,
        **({"server": server} if server else {}),
        "auth": _auth(spec.headers),
        "capture_config_redacted": {
            **({"command": PurePath(spec.command).name, "arguments": len(spec.args)} if spec.command else {}),
            "env": sorted(spec.env),
            "headers": sorted(spec.headers),
        },
    }


def _address(spec: McpSpec) -> str:
    """Where it is, without names, passwords and keys that a URL or a command may carry."""
    if not spec.url:
        return f"stdio:{PurePath(spec.command).name}"
    parts = urlsplit(spec.url)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname or ""
    return f"{parts.scheme}://{host}{f':{parts.port}' if parts.port else ''}{parts.path}"


def _auth(headers: Mapping[str, str]) -> dict[str, str]:
    for name, value in headers.items():
        if value.lower().startswith(_BEARER):
            return {"type": "bearer", "header": name, "prefix": value[: len(_BEARER)].strip()}
    return {"type": "none"}


# what was made of it


def _operation(operation: Operation, tool: Mapping[str, Any]) -> dict[str, object]:
    origin = origin_of(operation)
    title = tool.get("title")
    return {
        "source_tool_name": origin.own_name,
        "operation_name": operation.name,
        **({"title": title} if isinstance(title, str) else {}),
        "description": operation.description or operation.summary,
        "endpoint": operation.category.value,
        "endpoint_confidence": _level(origin.category.confidence),
        "danger_level": origin.danger.value,
        "needs_review": origin.needs_review,
        "review_reasons": list(origin.category.evidence) if origin.needs_review else [],
        "params": list(_params(operation, tool.get("inputSchema"))),
        "maps_to": origin.maps_to,
        "returns": {"type": "object", "name": "result", "description": "What the tool answers, in an envelope."},
        "provenance": _provenance(operation, tool),
    }


def _level(confidence: float) -> str:
    return "high" if confidence >= _HIGH else "medium" if confidence >= _MEDIUM else "low"


def _provenance(operation: Operation, tool: Mapping[str, Any]) -> dict[str, object]:
    origin = origin_of(operation)
    annotations = tool.get("annotations")
    is_same = operation.name == origin.own_name
    return {
        "name": "name",
        "description": "description" if tool.get("description") else "title" if tool.get("title") else "name",
        "annotations": sorted(annotations) if isinstance(annotations, Mapping) else [],
        "input_schema_present": isinstance(tool.get("inputSchema"), Mapping),
        "inference_sources": {
            "operation_name": (Provenance.DIRECT if is_same else Provenance.NORMALIZED).value,
            "description": Provenance.DIRECT.value,
            "endpoint": origin.category.provenance.value,
            "danger_level": origin.danger.provenance.value,
            "maps_to": Provenance.NORMALIZED.value,
        },
    }


def _params(operation: Operation, schema: object) -> Iterator[dict[str, object]]:
    """Each property of the tool, under the name that a caller gives it by."""
    own = shaped(schema).own_names
    for parameter in operation.parameters:
        if parameter.name == INPUT and operation.category is Category.UPDATE:
            yield from _folded(parameter, own, operation)
        elif parameter.name in own:
            yield _param(parameter.name, own[parameter.name], parameter.schema, operation, parameter.required)


def _folded(parameter: Parameter, own: Mapping[str, str], operation: Operation) -> Iterator[dict[str, object]]:
    required = parameter.schema.get("required", ())
    for name, schema in parameter.schema.get("properties", {}).items():
        if name in own:
            yield _param(f"{INPUT}.{name}", own[name], schema, operation, name in required)


def _param(name: str, own: str, schema: Schema, operation: Operation, required: bool) -> dict[str, object]:
    choices = schema.get("enum")
    is_told = isinstance(choices, list) and all(isinstance(one, str) for one in choices)
    return {
        "name": name,
        "original_name": own,
        "type": type_name(schema, operation.definitions),
        "required": required,
        **({"description": schema["description"]} if "description" in schema else {}),
        **({"default": schema["default"]} if "default" in schema else {}),
        **({"enum": choices} if is_told else {}),
        **{key: schema[key] for key in _CONSTRAINTS if key in schema},
        "source_path": f"inputSchema.properties.{own}",
    }


# what is to be said of it


def _left_out(tools: Mapping[str, object], operations: Sequence[Operation]) -> Iterator[dict[str, str]]:
    made = {origin_of(one).own_name for one in operations}
    for name in reversed(list(tools)):
        if name not in made:
            yield {
                "code": "TOOL_LEFT_OUT",
                "severity": "warning",
                "message": "No operation is made of this tool.",
                "tool": name,
            }


def _notes(operation: Operation) -> Iterator[dict[str, str]]:
    """What each inferred value follows from, which the operations themselves have no room for."""
    origin = origin_of(operation)
    for name, told in (("endpoint", origin.category), ("danger_level", origin.danger)):
        if told.provenance is Provenance.HEURISTIC:
            yield _note(origin.own_name, name, told, needs_review=origin.needs_review)


def _note(tool: str, name: str, told: Inferred, *, needs_review: bool) -> dict[str, str]:
    return {
        "code": "NEEDS_REVIEW" if needs_review else "INFERRED",
        "severity": "warning" if needs_review else "info",
        "message": f"'{told.value}' is inferred with a confidence of {told.confidence:g}.",
        "tool": tool,
        "field": name,
        "heuristic": "; ".join(told.evidence),
    }
