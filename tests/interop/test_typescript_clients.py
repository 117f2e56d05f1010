"""The TypeScript SDK's clients, old and new, over stdio and HTTP: list, introspect, call, get a structured error."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.server.processes import HEADGATE, LIBRARY, PATIENCE, Serving, environment

MODERN, LEGACY = "2026-07-28", "2025-11-25"
CLIENTS = {
    "sdk 1": (("sdk-v1.mjs",), LEGACY),
    "client 2 legacy": (("sdk-v2.mjs", "legacy"), LEGACY),
    "client 2 auto": (("sdk-v2.mjs", "auto"), MODERN),
}


def visit(js: Path, *words: str) -> dict[str, Any]:
    """What a client saw."""
    done = subprocess.run(
        ["node", *words],
        cwd=js,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=2 * PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert isinstance(seen, dict)
    return seen


def envelope(result: dict[str, Any]) -> dict[str, Any]:
    (block,) = result["content"]
    found = json.loads(block["text"])
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize("transport", ["stdio", "http"])
@pytest.mark.parametrize(("words", "version"), CLIENTS.values(), ids=CLIENTS)
def test_a_client_gets_all_it_needs(
    js: Path, library: Serving, words: tuple[str, ...], version: str, transport: str
) -> None:
    seen = visit(js, *words, *((library.url,) if transport == "http" else (HEADGATE, "serve", LIBRARY)))
    assert seen["version"] in (version, None)
    assert (seen["server"]["name"], seen["server"]["version"]) == ("library", "1.0.0")
    place = "extensions" if version == MODERN else "experimental"
    assert seen["capabilities"][place] == {"headgate/mcp-aql": {"version": "1.0.0-draft"}}
    assert seen["capabilities"]["tools"]["listChanged"] is True
    _has_honest_tools(seen["tools"])
    _answers(seen)
    _explains_mistakes(seen)


def _has_honest_tools(tools: list[dict[str, Any]]) -> None:
    hints = {tool["name"]: tool["annotations"] for tool in tools}
    assert hints == {
        "mcp_aql_create": {"destructiveHint": False},
        "mcp_aql_read": {"readOnlyHint": True},
        "mcp_aql_update": {"destructiveHint": True},
        "mcp_aql_delete": {"destructiveHint": True},
        "mcp_aql_execute": {"destructiveHint": True},
    }


def _answers(seen: dict[str, Any]) -> None:
    operations = envelope(seen["introspection"])["data"]["operations"]
    assert "search_books" in [operation["name"] for operation in operations]
    assert envelope(seen["answer"])["data"][0]["title"] == "Pride and Prejudice"
    assert envelope(seen["written"])["data"]["name"] == "Edsger"


def _explains_mistakes(seen: dict[str, Any]) -> None:
    mistake = envelope(seen["mistake"])["error"]
    assert mistake["code"] == "VALIDATION_MISSING_PARAM"
    assert "Did you mean 'isbn'?" in mistake["details"]["problems"][1]["message"]
    assert seen["mistake"]["isError"] is False
    elsewhere = envelope(seen["elsewhere"])["error"]
    assert elsewhere["message"] == "Operation 'get_book' must be called via mcp_aql_read, not mcp_aql_delete"
    assert "Unknown tool. Did you mean 'mcp_aql_read'?" in seen["unknown"]["error"]
