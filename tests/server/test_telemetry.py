"""Spans: where something can read them, each bears the name of the operation; elsewhere none is made."""

import importlib.util

import pytest
from mcp import Client
from opentelemetry import trace

from headgate import Adapter, mcp_server

pytestmark = pytest.mark.anyio


class Span(trace.NonRecordingSpan):
    """A span that remembers what is written on it."""

    def __init__(self) -> None:
        super().__init__(trace.INVALID_SPAN_CONTEXT)
        self.written: dict[str, object] = {}

    def set_attribute(self, key: str, value: object) -> None:
        self.written[key] = value


def shelf() -> Adapter:
    adapter = Adapter("shelf")

    @adapter.read
    async def get_book() -> str:
        """Get a book."""
        return "a book"

    return adapter


async def test_without_the_sdk_of_opentelemetry_no_spans_are_made() -> None:
    assert importlib.util.find_spec("opentelemetry.sdk") is None, "the tests run without it"
    assert len(mcp_server(shelf()).middleware) == 1


async def test_with_it_the_span_bears_the_operations_name(monkeypatch: pytest.MonkeyPatch) -> None:
    span = Span()
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: object())
    monkeypatch.setattr(trace, "get_current_span", lambda *_: span)
    server = mcp_server(shelf())
    assert len(server.middleware) == 2
    async with Client(server) as client:
        await client.call_tool("mcp_aql_read", {"operation": "get_book"})
    assert span.written["headgate.operation"] == "get_book"
