"""The page about long work tells what the code does: its tables are complete, its requests are answered as shown."""

import dataclasses
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from examples.reports import reports
from headgate import Background, mcp_server
from headgate.executions.operations import execution_operations
from headgate.executions.service import Executions
from headgate.protocol.lifecycle import STATES
from headgate.store.opening import open_store
from tests.shown import blocks, exchanges, same, sections

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "executions.md"

pytestmark = pytest.mark.anyio


def table(heading: str) -> dict[str, list[str]]:
    """The rows of the table under a heading, by what stands first in each."""
    lines = (line for line in sections(PAGE)[heading].splitlines() if line.startswith("| `"))
    cells = ([cell.strip(" `") for cell in line[1:-1].split("|")] for line in lines)
    return {row[0]: row[1:] for row in cells}


def test_every_state_is_there_with_the_core_state_that_it_stands_for() -> None:
    told = {state: row[0] for state, row in table("States").items()}
    assert told == {state.value: "" if row.core is state else row.core.value for state, row in STATES.items()}


def test_every_part_of_a_declaration_is_there_with_its_default() -> None:
    told = {name: row[0] for name, row in table("What an author declares").items()}
    assert told == {field.name: spelt(field.default) for field in dataclasses.fields(Background)}


def spelt(default: object) -> str:
    if default is None or default == ():
        return "none"
    if isinstance(default, float):
        return f"{default:.0f}"
    return json.dumps(default)


def test_every_operation_is_there() -> None:
    made = execution_operations(Executions("reports", open_store("memory:")))
    assert list(table("What a caller sees")) == list(made)


async def test_the_requests_are_answered_as_shown() -> None:
    shown = [one for block in blocks(PAGE) for one in exchanges(block)]
    assert len(shown) == 2
    server = mcp_server(reports)
    async with Client(server) as client:
        started = await called(client, json.loads(shown[0].request))
        assert same(shown[0].answer, json.dumps(started))
        request = json.loads(shown[1].request)
        request["params"] = {"execution_id": started["data"]["execution_id"], "wait_seconds": 0.02}
        while (seen := await called(client, request))["data"].get("progress", {}).get("current") != 3:
            pass
        assert same(shown[1].answer, json.dumps(seen))
    await server.close()


async def called(client: Client, request: dict[str, Any]) -> dict[str, Any]:
    tool = "mcp_aql_read" if request["operation"].startswith("get_") else "mcp_aql_execute"
    result = await client.call_tool(tool, request)
    answer: dict[str, Any] = json.loads(text_of(result.content))
    return answer


def text_of(content: Iterable[Any]) -> str:
    return "".join(part.text for part in content)
