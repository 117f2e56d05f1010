"""The MCP Inspector's command line over stdio and HTTP, in both eras."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.server.processes import HEADGATE, LIBRARY, PATIENCE, Serving, environment


class Inspector:
    """Runs the Inspector on a server, in a home of its own."""

    def __init__(self, js: Path, home: Path) -> None:
        self._program = str(js / "node_modules" / ".bin" / "mcp-inspector")
        self._home = home

    def ask(self, *words: str, era: str = "legacy", code: int = 0) -> Any:
        """The result of one method."""
        done = subprocess.run(
            [self._program, "--cli", "-q", "--format", "json", "--protocol-era", era, *words],
            env=environment({"HOME": str(self._home)}),
            capture_output=True,
            text=True,
            timeout=2 * PATIENCE,
            check=False,
        )
        assert done.returncode == code, done.stderr
        return json.loads(done.stdout)["result"]

    def call(self, server: tuple[str, ...], *arguments: str, tool: str = "mcp_aql_read", era: str = "legacy") -> Any:
        """The envelope that a tool answers with."""
        given = [word for argument in arguments for word in ("--tool-arg", argument)]
        result = self.ask(*server, "--method", "tools/call", "--tool-name", tool, *given, era=era)
        return json.loads(result["content"][0]["text"])


STDIO = (HEADGATE, "serve", LIBRARY)


@pytest.fixture
def inspector(js: Path, tmp_path: Path) -> Inspector:
    return Inspector(js, tmp_path)


@pytest.fixture
def http(library: Serving) -> tuple[str, ...]:
    return (library.url, "--transport", "http")


def test_it_lists_tools_without_a_complaint_about_their_schemas(inspector: Inspector, http: tuple[str, ...]) -> None:
    listed = inspector.ask(*http, "--strict", "--method", "tools/list", era="modern")
    assert [tool["name"] for tool in listed["tools"]][:2] == ["mcp_aql_create", "mcp_aql_read"]
    over_stdio = inspector.ask(*STDIO, "--method", "tools/list")
    assert over_stdio["tools"] == listed["tools"]


def test_it_introspects_over_http(inspector: Inspector, http: tuple[str, ...]) -> None:
    found = inspector.call(http, "operation=introspect", 'params={"query":"operations","name":"get_book"}')
    assert found["data"]["operation"]["mcpTool"] == "mcp_aql_read"


def test_it_introspects_over_stdio_in_the_modern_era(inspector: Inspector) -> None:
    found = inspector.call(STDIO, "operation=introspect", 'params={"query":"search","name":"lend"}', era="modern")
    assert found["data"]["operations"][0]["name"] == "create_loan"


def test_it_calls_over_http_in_the_modern_era(inspector: Inspector, http: tuple[str, ...]) -> None:
    found = inspector.call(http, "operation=get_book", 'params={"isbn":"9780141439518"}', era="modern")
    assert found["data"]["title"] == "Pride and Prejudice"


def test_it_calls_over_stdio_with_a_batch_of_operations(inspector: Inspector) -> None:
    requests = [{"operation": "list_members"}, {"operation": "get_bok"}]
    found = inspector.call(STDIO, f"operations={json.dumps(requests)}")
    assert found["summary"] == {"total": 2, "succeeded": 1, "failed": 1}
    assert found["results"][1]["result"]["error"]["code"] == "NOT_FOUND_OPERATION"


def test_it_gets_a_structured_error(inspector: Inspector, http: tuple[str, ...]) -> None:
    found = inspector.call(http, "operation=get_book", 'params={"isbn":"1"}')
    assert found["error"]["code"] == "VALIDATION_PATTERN_MISMATCH"
