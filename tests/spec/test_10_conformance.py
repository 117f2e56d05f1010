"""Specification 10: what the server claims, and what it adds."""

import tomllib
from typing import Any

import pytest

from tests.spec.conftest import Serve
from tests.spec.test_5_answers import FAILURES, SUCCESSES
from tests.spec.wires import Aql, envelope_in
from tests.support import schema_errors
from tests.test_requirements import MANIFEST

pytestmark = pytest.mark.anyio

PROTOCOL_FIELDS = {
    *("version", "conformance", "mode", "capabilities"),
    *("limits", "concurrency", "supports_etag", "max_concurrent_requests", "session_id"),
}
"""What the specification itself puts into `_protocol`."""

CAPABILITIES = {
    *("batch", "field_selection", "aggregations", "computed_fields", "pagination"),
    *("relationship_queries", "warnings", "confirmation", "dangerous_operations"),
    "execution_safety_loop",
}
WARNINGS = {
    *("RATE_LIMIT_QUOTA_WARNING", "DEPRECATION_WARNING", "VALIDATION_TRUNCATED_WARNING"),
    "PERFORMANCE_SLOW_QUERY_WARNING",
}


def proved_level() -> str:
    """The highest level of which no demand is still open in the manifest."""
    rows = tomllib.loads(MANIFEST.read_text())["requirement"]
    demands = [row for row in rows if row["section"] == "specification 10.1" and row["level"] == "MUST"]
    waiting = {row["text"].partition(":")[0] for row in demands if "open" in row}
    assert "Level 1" not in waiting
    return "level-1" if "Level 2" in waiting else "level-2"


@pytest.mark.proves("spec-10.1-level-two-includes-level-one", "spec-10.2-conformance-level-stated")
async def test_the_level_that_the_server_states_is_no_higher_than_what_is_proved(aql: Aql) -> None:
    stated = (await aql.introspect("operations"))["_protocol"]["conformance"]
    assert stated in ("level-1", "level-2")
    assert stated <= proved_level()


@pytest.mark.proves("spec-10.2-conformance-level-stated")
async def test_the_level_is_the_same_in_every_place_where_it_is_stated(aql: Aql) -> None:
    in_list = (await aql.introspect("operations"))["_protocol"]["conformance"]
    assert (await aql.introspect("adapter_info"))["protocol"]["conformance"] == in_list


async def additions(aql: Aql) -> set[str]:
    """Everything that the server has beyond the specification, by name."""
    parameters = {p["name"]: p for p in (await aql.operation("introspect"))["parameters"]}
    listed = await aql.introspect("operations", first=3)
    strict = await aql.read("get_sample", key="k", count=0, size="medium")
    failed = await aql.result("mcp_aql_read", {"operation": "get_note"})
    stringified = await aql.call("mcp_aql_read", {"operation": "get_text", "params": '{"text": "x"}'})
    lenient = await aql.read("get_text", text="x", foreign=1)
    warnings = {warning["code"] for answer in (stringified, lenient) for warning in answer["warnings"]}
    return {
        *(set(parameters["query"]["enum"]) - {"operations", "types"}),
        *(set(parameters) - {"query", "name"}),
        *(set(listed["_protocol"]) - PROTOCOL_FIELDS),
        *(set(listed["_protocol"]["capabilities"]) - CAPABILITIES),
        *(set(strict["error"]["details"]) - {"param_name", "minimum", "maximum", "operation"}),
        *(key for key in failed.meta or {} if not key.startswith("io.modelcontextprotocol/")),
        *(warnings - WARNINGS),
    }


@pytest.mark.proves("spec-10.2-extensions-are-documented", "spec-10.3-extensions-are-documented")
async def test_everything_that_the_server_adds_is_listed_among_its_extensions(serve: Serve) -> None:
    async with serve(strict=False) as aql:
        found = await additions(aql)
        documented = "\n".join((await aql.introspect("adapter_info"))["extensions"])
    assert {
        "search",
        "errors",
        "limits",
        "adapter_info",
        "first",
        "after",
        "page",
        "problems",
        "headgate/sessionId",
    } <= found
    assert {name for name in found if f"'{name}'" not in documented} == set()


@pytest.mark.proves("spec-10.2-extensions-are-documented", "spec-10.3-extensions-are-documented")
async def test_the_ways_in_which_requests_may_differ_are_documented(aql: Aql) -> None:
    conventions = (await aql.introspect("adapter_info"))["conventions"]
    assert "camelCase" in conventions["parameters"]
    assert "beside" in conventions["parameters"]
    assert "underscore" in conventions["unknown_parameters"]
    assert "JSON text" in conventions["text"]
    assert "operations" in conventions["batch"]


@pytest.mark.proves("spec-10.3-extensions-keep-core-behaviour", "spec-10.1-standard-formats-used")
async def test_with_every_extension_on_all_answers_still_fit_the_schemas(serve: Serve) -> None:
    heard: list[object] = []
    async with serve(mode="all", structured_content=True, listeners=[heard.append], index_tokens=10_000) as aql:
        for tool, asked in [*SUCCESSES.values(), *FAILURES.values()]:
            result = await aql.result(tool, asked)
            envelope = envelope_in(result)
            assert schema_errors(envelope, "operation-result") == []
            assert result.structured_content == envelope
        for name in await aql.operation_names():
            envelope = await aql.read("introspect", query="operations", name=name)
            assert schema_errors(envelope, "introspection-response") == []
    assert heard


@pytest.mark.parametrize("query", ["search", "errors", "limits", "adapter_info"])
@pytest.mark.proves("spec-10.3-extensions-keep-core-behaviour")
async def test_an_added_introspection_query_answers_in_the_common_envelope(aql: Aql, query: str) -> None:
    params: dict[str, Any] = {"query": query, **({"name": "note"} if query == "search" else {})}
    envelope = await aql.read("introspect", **params)
    assert set(envelope) == {"success", "data"}
    assert envelope["success"] is True
    assert schema_errors(envelope, "operation-result") == []
