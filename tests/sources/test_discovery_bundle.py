"""The discovery bundle: what a server said, what was made of it, and no secret of how it was reached."""

import json
from typing import Any

import pytest

from headgate.sources.curation import Curation
from headgate.sources.mcp.bundle import discovery_bundle
from headgate.sources.mcp.captures import Capture
from headgate.sources.mcp.configuration import McpSpec

TIME = "2026-01-02T03:04:05+00:00"
SPEC = McpSpec(name="desk", command="/usr/bin/npx", args=("-y", "desk", "--key=s3cret"), env={"DESK_KEY": "s3cret"})


def capture(*tools: dict[str, Any], **server: Any) -> Capture:
    return Capture(tools, server, "Be kind.", "2025-11-25")


def tool(name: str, **properties: Any) -> dict[str, Any]:
    return {"name": name, "description": "Tells of it.", "inputSchema": {"type": "object", "properties": properties}}


def made(*tools: dict[str, Any], spec: McpSpec = SPEC, curation: Curation | None = None) -> dict[str, Any]:
    return discovery_bundle(spec, capture(*tools), TIME, curation)


def only(bundle: dict[str, Any]) -> dict[str, Any]:
    (operation,) = bundle["normalized_bundle"]["operations"]
    assert isinstance(operation, dict)
    return operation


def test_what_the_server_said_is_kept_word_for_word() -> None:
    odd = {**tool("getIt", x={"type": "string", "title": "X"}), "_meta": {"a": [1, None]}, "icons": []}
    bundle = made(odd)
    assert bundle["raw_capture"] == {"tools": [odd], "instructions": "Be kind.", "protocol_version": "2025-11-25"}
    assert bundle["schema_version"] == "1.0.0-draft"


def test_no_secret_of_a_command_is_in_it() -> None:
    bundle = made(tool("get_it"))
    assert "s3cret" not in json.dumps(bundle)
    assert bundle["source"] == {
        "name": "desk",
        "server_url": "stdio:npx",
        "transport": "stdio",
        "captured_at": TIME,
        "auth": {"type": "none"},
        "capture_config_redacted": {"command": "npx", "arguments": 3, "env": ["DESK_KEY"], "headers": []},
    }


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://user:s3cret@mcp.example.com:8443/mcp?key=s3cret#s3cret", "https://mcp.example.com:8443/mcp"),
        ("http://[::1]:80/mcp", "http://[::1]:80/mcp"),
        ("https://mcp.example.com", "https://mcp.example.com"),
    ],
)
def test_no_secret_of_an_address_is_in_it(url: str, shown: str) -> None:
    headers = {"X-Team": "s3cret", "Authorization": "Bearer s3cret"}
    bundle = made(tool("get_it"), spec=McpSpec(name="desk", url=url, headers=headers, transport="http"))
    assert "s3cret" not in json.dumps(bundle)
    source = bundle["source"]
    assert (source["server_url"], source["transport"]) == (shown, "streamable_http")
    assert source["auth"] == {"type": "bearer", "header": "Authorization", "prefix": "Bearer"}
    assert source["capture_config_redacted"] == {"env": [], "headers": ["Authorization", "X-Team"]}


def test_the_server_says_who_it_is_if_it_does() -> None:
    bundle: dict[str, Any] = discovery_bundle(SPEC, capture(name="desk", version="1", title=3, icons=[]), TIME)
    assert bundle["source"]["server"] == {"name": "desk", "version": "1"}


def test_parameters_have_their_own_names_and_where_they_stand() -> None:
    given = {"type": "string", "description": "Which", "default": "x", "enum": ["x", "y"], "pattern": "^.$"}
    operation = only(
        made(tool("listNotes", noteId=given, maxSize={"type": "integer", "minimum": 1}, odd={"enum": [1]}))
    )
    which, size, odd = operation["params"]
    assert which == {
        "name": "note_id",
        "original_name": "noteId",
        "required": False,
        "source_path": "inputSchema.properties.noteId",
        **given,
    }
    assert (size["name"], size["type"], size["minimum"]) == ("max_size", "integer", 1)
    assert "enum" not in odd


def test_fields_of_an_update_are_told_as_a_caller_gives_them() -> None:
    update = tool("updateNote", noteId={"type": "string"}, newTitle={"type": "string"}, input={"type": "string"})
    update["inputSchema"]["required"] = ["noteId", "newTitle"]
    operation = only(made(update))
    told = {one["name"]: (one["original_name"], one["required"]) for one in operation["params"]}
    assert told == {
        "note_id": ("noteId", True),
        "input.new_title": ("newTitle", True),
        "input.input": ("input", False),
    }


def test_each_inferred_value_has_its_provenance_and_its_evidence() -> None:
    declared = {**tool("get_it"), "annotations": {"readOnlyHint": True, "title": "Get it"}, "title": "Get it"}
    operation = only(made(declared))
    assert operation["title"] == "Get it"
    assert (operation["endpoint"], operation["endpoint_confidence"], operation["danger_level"]) == (
        "READ",
        "high",
        "safe",
    )
    assert operation["provenance"] == {
        "name": "name",
        "description": "description",
        "annotations": ["readOnlyHint", "title"],
        "input_schema_present": True,
        "inference_sources": {
            "operation_name": "direct_source_metadata",
            "description": "direct_source_metadata",
            "endpoint": "direct_source_metadata",
            "danger_level": "direct_source_metadata",
            "maps_to": "deterministic_normalization",
        },
    }


def test_what_is_not_clear_is_told_with_its_reasons() -> None:
    bundle = made({"name": "frobIt", "inputSchema": {"type": "object"}})
    operation = only(bundle)
    assert (operation["needs_review"], operation["endpoint_confidence"]) == (True, "low")
    assert operation["review_reasons"] == ["nothing is said of it"]
    assert operation["provenance"]["description"] == "name"
    notes = bundle["normalized_bundle"]["warnings"]
    assert [(note["code"], note["severity"], note["tool"], note["field"]) for note in notes] == [
        ("NEEDS_REVIEW", "warning", "frobIt", "endpoint"),
        ("NEEDS_REVIEW", "warning", "frobIt", "danger_level"),
    ]


def test_a_description_alone_gives_medium_confidence() -> None:
    deletes = {"name": "frobIt", "title": "Frob", "description": "Deletes it.", "inputSchema": {"type": "object"}}
    assert only(made(deletes))["endpoint_confidence"] == "medium"


def test_a_tool_that_is_left_out_is_told() -> None:
    bundle = made(tool("get_it"), tool("drop_it"), curation=Curation.of({"exclude": ["drop_*"]}, "here"))
    assert bundle["normalized_bundle"]["warnings"][0] == {
        "code": "TOOL_LEFT_OUT",
        "severity": "warning",
        "message": "No operation is made of this tool.",
        "tool": "drop_it",
    }
    assert len(bundle["raw_capture"]["tools"]) == 2


def test_what_an_operator_says_is_told_as_that() -> None:
    said = {"operations": {"frobIt": {"category": "read", "danger": "safe"}}}
    operation = only(made(tool("frobIt"), curation=Curation.of(said, "here")))
    sources = operation["provenance"]["inference_sources"]
    assert (sources["endpoint"], sources["danger_level"]) == ("manual_override", "manual_override")
    assert (operation["endpoint"], operation["endpoint_confidence"], operation["needs_review"]) == (
        "READ",
        "high",
        False,
    )
