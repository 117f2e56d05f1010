"""Servers small enough to be written in a test: the bare SDK, and a function for each thing that they answer."""

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import mcp_types as types
from mcp.server import Server, ServerRequestContext

from headgate.client.wires import Era, InProcess, Wire, open_wire
from headgate.conformance.probe import Opener, Options
from headgate.conformance.report import Report
from headgate.conformance.running import BROKE_OFF, Finished, examine
from headgate.conformance.values import Check, CheckResult

Envelope = Mapping[str, Any]
Answering = Callable[[str, Any], Awaitable[object] | object]
"""The tool and its arguments in; an envelope, or any text, out."""


def toy_server(answer: Answering, tools: tuple[str, ...] = ("mcp_aql_read",)) -> Server[Any]:
    """A server with these tools, whose every answer is what the function says."""

    async def list_tools(_ctx: ServerRequestContext, _params: Any) -> types.ListToolsResult:
        schema = {"type": "object"}
        return types.ListToolsResult(tools=[types.Tool(name=name, input_schema=schema) for name in tools])

    async def call_tool(_ctx: ServerRequestContext, params: types.CallToolRequestParams) -> types.CallToolResult:
        said = answer(params.name, params.arguments)
        if isinstance(said, Awaitable):
            said = await said
        text = said if isinstance(said, str) else json.dumps(said)
        return types.CallToolResult(content=[types.TextContent(type="text", text=text)])

    return Server("toy", on_list_tools=list_tools, on_call_tool=call_tool, get_tool_input_schema=lambda _name: None)


def opener_of_server(server: Server[Any]) -> Opener:
    """A way to a server in this process."""

    def open_it(*, mode: str | None = None, era: Era = "auto") -> Any:
        return open_wire(InProcess(server), era=era)

    return open_it


async def report_of(opener: Opener, *checks: Check, level: int = 2, **options: Any) -> Report:
    """The whole report of a run of some checks."""
    report: Report | None = None
    async for event in examine(opener, Options(**options), target="toy", level=level, checks=checks):
        if isinstance(event, Finished):
            report = event.report
    assert report is not None
    words = [finding.words for result in report.results for finding in result.findings]
    assert not [told for told in words if told.startswith(BROKE_OFF)]
    return report


async def result_of(opener: Opener, check: Check, **options: Any) -> CheckResult:
    """What became of one check."""
    return (await report_of(opener, check, **options)).results[0]


__all__ = ["Answering", "Envelope", "Wire", "opener_of_server", "report_of", "result_of", "toy_server"]
