"""Operations 7: several operations in one request."""

from typing import Any

import pytest

from tests.spec.conftest import Serve
from tests.spec.wires import Aql, Envelope, error_of
from tests.support import schema_errors

pytestmark = pytest.mark.anyio


def create(note_id: str, **params: Any) -> dict[str, Any]:
    return {"operation": "create_note", "params": {"note_id": note_id, "title": "One", **params}}


def get(note_id: str) -> dict[str, Any]:
    return {"operation": "get_note", "params": {"note_id": note_id}}


def codes(answer: Envelope) -> list[str | None]:
    """The code of each result, None for a success."""
    results = [item["result"] for item in answer["results"]]
    return [None if result["success"] else result["error"]["code"] for result in results]


@pytest.mark.proves(
    "ops-7.1-batch-request-format",
    "ops-7.2-batch-results-per-operation",
    "ops-7.2-batch-answer-has-summary",
    "spec-10.1-batch-operations-implemented",
)
async def test_a_batch_is_answered_operation_by_operation_with_a_summary(aql: Aql, key: str) -> None:
    requests = [create(f"{key}-a"), create(f"{key}-b"), create(f"{key}-a")]
    assert schema_errors({"operations": requests}, "batch-operation") == []
    answer = await aql.batch("create", *requests)
    assert answer["success"] is True
    assert answer["data"] is None
    assert [(item["index"], item["operation"]) for item in answer["results"]] == [
        (0, "create_note"),
        (1, "create_note"),
        (2, "create_note"),
    ]
    assert [item["result"]["data"]["note_id"] for item in answer["results"][:2]] == [f"{key}-a", f"{key}-b"]
    assert codes(answer) == [None, None, "CONFLICT_ALREADY_EXISTS"]
    assert answer["summary"] == {"total": 3, "succeeded": 2, "failed": 1}
    assert schema_errors(answer, "batch-operation") == []


@pytest.mark.proves("spec-10.1-batch-operations-implemented", "ops-7.1-batch-request-format")
async def test_introspection_and_the_tools_say_that_batches_are_taken(aql: Aql) -> None:
    assert (await aql.introspect("operations"))["_protocol"]["capabilities"]["batch"] is True
    for tool in (await aql.tools()).values():
        assert tool.input_schema["properties"]["operations"]["type"] == "array"


@pytest.mark.proves("ops-7.3-batch-runs-in-order")
async def test_the_operations_of_a_batch_take_effect_in_the_order_of_the_array(serve: Serve, key: str) -> None:
    async with serve(mode="single", trust="community_reviewed") as aql:
        answer = await aql.batch(
            "any",
            get(key),
            create(key),
            get(key),
            {"operation": "update_note", "params": {"note_id": key, "input": {"title": "Two"}}},
            get(key),
            {"operation": "delete_note", "params": {"note_id": key}},
            get(key),
        )
        missing = "NOT_FOUND_RESOURCE"
        assert codes(answer) == [missing, None, None, None, None, None, missing]
        titles = [answer["results"][index]["result"]["data"]["title"] for index in (2, 4)]
        assert titles == ["One", "Two"]


@pytest.mark.proves("ops-7.3-batch-runs-in-order")
async def test_the_handlers_of_a_batch_are_reached_one_after_the_other(aql: Aql, key: str) -> None:
    await aql.batch("execute", *[{"operation": name, "params": {"key": key}} for name in ("execute_job", "cancel_job")])
    await aql.batch("execute", *[{"operation": name, "params": {"key": key}} for name in ("cancel_job", "execute_job")])
    assert await aql.runs(key) == ["execute_job", "cancel_job", "cancel_job", "execute_job"]


ACCOUNT = {"account_id": "a", "password": "x"}
FAULTY: dict[str, Any] = {
    "unknown-operation": {"operation": "create_widget"},
    "missing-parameter": {"operation": "create_note"},
    "wrong-endpoint": {"operation": "delete_note", "params": {"note_id": "n"}},
    "handler-refuses": {"operation": "register_account", "params": {**ACCOUNT, "fault": "refuse"}},
    "handler-breaks": {"operation": "register_account", "params": {**ACCOUNT, "fault": "break"}},
    "no-operation": {"params": {}},
    "empty": {},
    "null": None,
    "text": "create_note",
    "list": [],
    "bad-params": {"operation": "create_note", "params": [1]},
    "nested-batch": {"operations": []},
}


@pytest.mark.parametrize("faulty", FAULTY.values(), ids=FAULTY)
@pytest.mark.proves(
    "ops-7.3-batch-continues-after-failure",
    "ops-7.3-batch-success-despite-failures",
    "ops-7.2-batch-results-per-operation",
)
async def test_one_failure_keeps_no_later_operation_from_running(aql: Aql, key: str, faulty: Any) -> None:
    arguments = {"operations": [create(f"{key}-a"), faulty, create(f"{key}-b")]}
    answer = await aql.call("mcp_aql_create", arguments)
    assert answer["success"] is True
    assert [item["result"]["success"] for item in answer["results"]] == [True, False, True]
    assert [item["index"] for item in answer["results"]] == [0, 1, 2]
    assert answer["summary"] == {"total": 3, "succeeded": 2, "failed": 1}
    assert (await aql.read("get_note", note_id=f"{key}-b"))["success"]


@pytest.mark.proves("ops-7.3-batch-success-despite-failures", "ops-7.2-batch-answer-has-summary")
async def test_a_batch_of_nothing_but_failures_is_a_success(aql: Aql) -> None:
    answer = await aql.batch("read", {"operation": "get_widget"}, {"operation": "get_note"})
    assert answer["success"] is True
    assert codes(answer) == ["NOT_FOUND_OPERATION", "VALIDATION_MISSING_PARAM"]
    assert answer["summary"] == {"total": 2, "succeeded": 0, "failed": 2}


@pytest.mark.proves("ops-7.3-batch-results-independent")
async def test_each_result_is_what_the_operation_answers_by_itself(aql: Aql, key: str) -> None:
    await aql.create("create_note", note_id=key, title="One")
    requests: list[dict[str, Any]] = [
        get(key),
        {"operation": "get_nothing"},
        {"operation": "get_note", "note_id": key},
        {"operation": "get_note", "params": {"note_id": f"{key}-none"}},
        {"operation": "get_text", "params": {"text": 5}},
        {"operation": "get_text", "params": {"text": "x", "more": 1}},
        {"operation": "introspect", "params": {"query": "operations", "name": "get_note"}},
    ]
    alone = [await aql.call("mcp_aql_read", request) for request in requests]
    together = await aql.batch("read", *requests)
    assert [item["result"] for item in together["results"]] == alone


MALFORMED: dict[str, Any] = {
    "empty": {"operations": []},
    "null": {"operations": None},
    "object": {"operations": {"operation": "get_nothing"}},
    "number": {"operations": 5},
    "text": {"operations": "all"},
    "extra": {"operations": [{"operation": "get_nothing"}], "params": {}},
    "unknown": {"operations": [{"operation": "get_nothing"}], "parallel": True},
}


@pytest.mark.parametrize("arguments", MALFORMED.values(), ids=MALFORMED)
@pytest.mark.proves("ops-7.3-batch-failure-only-batch-level", "ops-7.1-batch-request-format")
async def test_a_malformed_batch_fails_as_a_whole(aql: Aql, arguments: dict[str, Any]) -> None:
    answer = await aql.call("mcp_aql_read", arguments)
    assert error_of(answer)["code"].startswith("VALIDATION_")
    assert "results" not in answer
    assert schema_errors(answer, "batch-operation") == []


@pytest.mark.proves("ops-7.3-batch-failure-only-batch-level")
async def test_a_request_with_one_operation_and_a_batch_is_neither(aql: Aql, key: str) -> None:
    arguments = {"operation": "create_note", "note_id": key, "title": "One", "operations": [create(key)]}
    assert error_of(await aql.call("mcp_aql_create", arguments))["code"].startswith("VALIDATION_")
    assert await aql.runs(key) == []


@pytest.mark.proves("ops-7.3-batch-failure-only-batch-level", "spec-4.7.5-array-elements-limit-enforced")
async def test_a_batch_over_a_limit_fails_as_a_whole(aql: Aql) -> None:
    answer = await aql.batch("read", *[{"operation": "get_nothing"}] * 10_001)
    error = error_of(answer, "VALIDATION_PAYLOAD_TOO_LARGE")
    assert error["details"] == {
        "limit_type": "array_elements",
        "limit_value": 10_000,
        "actual_value": 10_001,
        "unit": "elements",
    }
    assert "results" not in answer


@pytest.mark.proves("ops-7.4-batch-stays-in-family")
async def test_an_operation_of_another_family_in_a_batch_is_not_run(aql: Aql, key: str) -> None:
    await aql.create("create_note", note_id=key, title="One")
    answer = await aql.batch("read", get(key), {"operation": "delete_note", "params": {"note_id": key}}, get(key))
    assert codes(answer) == [None, "VALIDATION_ENDPOINT_MISMATCH", None]
    assert "delete_note" not in await aql.runs(key)
    assert (await aql.read("get_note", note_id=key))["success"]


@pytest.mark.proves("ops-7.2-batch-results-per-operation", "spec-10.3-extensions-keep-core-behaviour")
async def test_a_warning_in_a_batch_stays_with_its_operation(aql: Aql, key: str) -> None:
    stringified = {"operation": "get_text", "params": f'{{"text": "{key}"}}'}
    answer = await aql.batch("read", {"operation": "get_nothing"}, stringified)
    first, second = (item["result"] for item in answer["results"])
    assert first == {"success": True, "data": None}
    assert second["data"] == key
    assert [warning["code"] for warning in second["warnings"]] == ["VALIDATION_STRINGIFIED_WARNING"]
    assert schema_errors(answer, "operation-result") == []
