"""Specification 5 and operations 3: every answer is one envelope."""

from typing import Any

import pytest

from headgate.engine.events import Answered, Event
from tests.spec.conftest import Serve
from tests.spec.wires import Aql, data_of, envelope_in
from tests.support import schema_errors

pytestmark = pytest.mark.anyio

Asked = tuple[str, dict[str, Any]]

SUCCESSES: dict[str, Asked] = {
    "nothing": ("mcp_aql_read", {"operation": "get_nothing"}),
    "text": ("mcp_aql_read", {"operation": "get_text", "params": {"text": ""}}),
    "list": ("mcp_aql_read", {"operation": "list_notes", "params": {"prefix": "no such"}}),
    "object": ("mcp_aql_read", {"operation": "get_times"}),
    "with-a-warning": ("mcp_aql_read", {"operation": "get_text", "params": '{"text": "x"}'}),
    "execution": ("mcp_aql_execute", {"operation": "execute_job", "params": {"key": "answers"}}),
    "introspection": ("mcp_aql_read", {"operation": "introspect", "params": {"query": "operations"}}),
}
FAILURES: dict[str, Asked] = {
    "no-operation": ("mcp_aql_read", {}),
    "unknown-operation": ("mcp_aql_read", {"operation": "get_unheard_of"}),
    "wrong-endpoint": ("mcp_aql_delete", {"operation": "get_nothing"}),
    "missing": ("mcp_aql_read", {"operation": "get_text"}),
    "wrong-type": ("mcp_aql_read", {"operation": "get_text", "params": {"text": 5}}),
    "unknown-parameter": ("mcp_aql_read", {"operation": "get_nothing", "params": {"x": 1}}),
    "bad-params": ("mcp_aql_read", {"operation": "get_nothing", "params": [1]}),
    "not-found": ("mcp_aql_read", {"operation": "get_note", "params": {"note_id": "never"}}),
    "denied": ("mcp_aql_read", {"operation": "get_vault", "params": {"key": "x"}}),
    "rate-limit": ("mcp_aql_read", {"operation": "get_feed"}),
    "fault": ("mcp_aql_execute", {"operation": "execute_fault", "params": {"kind": "arithmetic"}}),
    "fault-in-a-thread": ("mcp_aql_execute", {"operation": "execute_sync_fault", "params": {"key": "x"}}),
    "unencodable": ("mcp_aql_execute", {"operation": "execute_fault", "params": {"kind": "answer"}}),
    "too-large": ("mcp_aql_read", {"operation": "get_blob", "params": {"size": 11_000_000}}),
    "introspection": ("mcp_aql_read", {"operation": "introspect", "params": {"query": "everything"}}),
    "batch": ("mcp_aql_read", {"operations": 5}),
}


@pytest.mark.parametrize(("tool", "asked"), SUCCESSES.values(), ids=SUCCESSES)
@pytest.mark.proves(
    "spec-5.1-discriminated-response-envelope",
    "spec-10.1-standard-formats-used",
    "ops-3.1-discriminated-response-envelope",
    "ops-3.1-success-has-no-error",
    "ops-3.2-success-has-true-and-data",
)
async def test_a_success_has_true_and_data_and_no_error(aql: Aql, tool: str, asked: dict[str, Any]) -> None:
    result = await aql.result(tool, asked)
    envelope = envelope_in(result)
    assert envelope["success"] is True
    assert "data" in envelope
    assert "error" not in envelope
    assert not result.is_error
    assert schema_errors(envelope, "operation-result") == []


@pytest.mark.parametrize(("tool", "asked"), FAILURES.values(), ids=FAILURES)
@pytest.mark.proves(
    "spec-5.1-discriminated-response-envelope",
    "spec-10.1-standard-formats-used",
    "ops-3.1-discriminated-response-envelope",
    "ops-3.1-failure-has-no-data",
    "ops-3.3-failure-has-false-and-error",
    "ops-5.4-validation-failures-are-answers",
    "ops-8.2-errors-are-structured-objects",
    "ops-8.2-error-has-readable-message",
)
async def test_a_failure_has_false_and_an_error_with_code_and_message_and_no_data(
    aql: Aql, tool: str, asked: dict[str, Any]
) -> None:
    envelope = await aql.call(tool, asked)
    assert envelope["success"] is False
    assert "data" not in envelope
    assert isinstance(envelope["error"], dict)
    assert isinstance(envelope["error"]["code"], str)
    assert len(envelope["error"]["message"].split()) > 2
    assert schema_errors(envelope, "operation-result") == []


@pytest.mark.proves("ops-3.2-success-has-true-and-data")
async def test_an_answer_of_nothing_is_data_null(aql: Aql) -> None:
    assert await aql.read("get_nothing") == {"success": True, "data": None}


@pytest.mark.parametrize("given", [*SUCCESSES.items(), *FAILURES.items()], ids=lambda given: given[0])
@pytest.mark.proves("ops-3.4-metadata-fields-underscored")
async def test_nothing_stands_beside_the_payload_without_an_underscore(aql: Aql, given: tuple[str, Asked]) -> None:
    _, (tool, asked) = given
    payload = {"success", "data", "error", "warnings", "results", "summary"}
    envelope = await aql.call(tool, {**asked, "_request_id": "mine", "_meta": {"trace": True}})
    assert [key for key in envelope if key not in payload and not key.startswith("_")] == []


@pytest.mark.proves("ops-3.4-metadata-fields-underscored")
async def test_metadata_that_a_resource_carries_is_underscored(aql: Aql, key: str) -> None:
    note = data_of(await aql.create("create_note", note_id=key, title="One"))
    assert set(note) - {"note_id", "title", "pages", "created_at"} == {"_etag"}
    protocol = [name for name in await aql.introspect("operations") if name != "operations"]
    assert protocol == ["_protocol"]


@pytest.mark.proves("ops-5.4-validation-failures-are-answers", "ops-3.1-discriminated-response-envelope")
async def test_each_call_is_answered_exactly_once(serve: Serve) -> None:
    heard: list[Event] = []
    async with serve(listeners=[heard.append]) as aql:
        for tool, asked in [*SUCCESSES.values(), *FAILURES.values()]:
            await aql.call(tool, asked)
    answers = [event for event in heard if isinstance(event, Answered)]
    assert len(answers) == len(SUCCESSES) + len(FAILURES)
