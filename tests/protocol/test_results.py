"""Envelopes: one success or one failure, alone or in a batch (Spec 5; Operations 3, 7)."""

from typing import Any

import pytest

from headgate.protocol.errors import ErrorDetail
from headgate.protocol.results import BatchItem, BatchSuccess, Failure, Notice, Pending, Success
from tests.support import schema_errors

ERROR = ErrorDetail("NOT_FOUND_OPERATION", "Unknown operation: 'x'", {"operation": "x"})
CONFIRM = ErrorDetail("CONFIRMATION_REQUIRED", "This operation requires confirmation", {"confirmation_token": "conf_1"})
GOOD = BatchItem(0, "get_a", Success(1).wire(), succeeded=True)
BAD = BatchItem(1, "x", Failure(ERROR).wire(), succeeded=False)
HALTED = BatchItem(2, "delete_a", Failure(CONFIRM).wire(), succeeded=False)


@pytest.mark.parametrize(
    ("envelope", "wire"),
    [
        pytest.param(Success(None), {"success": True, "data": None}, id="null"),
        pytest.param(Success({"a": 1}), {"success": True, "data": {"a": 1}}, id="data"),
        pytest.param(
            Success([], (Notice("A_WARNING", "x"),)),
            {"success": True, "data": [], "warnings": [{"code": "A_WARNING", "message": "x"}]},
            id="a warning",
        ),
        pytest.param(
            Success([], (Notice("A_WARNING", "x", {"k": 1}, "high"),)),
            {
                "success": True,
                "data": [],
                "warnings": [{"code": "A_WARNING", "message": "x", "details": {"k": 1}, "severity": "high"}],
            },
            id="a warning in full",
        ),
        pytest.param(
            Failure(ERROR),
            {
                "success": False,
                "error": {
                    "code": "NOT_FOUND_OPERATION",
                    "message": "Unknown operation: 'x'",
                    "details": {"operation": "x"},
                },
            },
            id="a failure",
        ),
    ],
)
def test_an_envelope_is_written_as_the_specification_says(envelope: Success | Failure, wire: dict[str, Any]) -> None:
    assert envelope.wire() == wire
    assert schema_errors(wire, "operation-result") == []


def test_a_batch_that_ran_to_its_end_counts_what_succeeded_and_failed() -> None:
    wire = BatchSuccess((GOOD, BAD)).wire()
    assert wire["summary"] == {"total": 2, "succeeded": 1, "failed": 1}
    assert wire["results"] == [
        {"index": 0, "operation": "get_a", "result": {"success": True, "data": 1}},
        {"index": 1, "operation": "x", "result": Failure(ERROR).wire()},
    ]
    assert (wire["success"], wire["data"]) == (True, None)
    assert set(wire) == {"success", "data", "results", "summary"}
    assert schema_errors(wire, "batch-operation") == schema_errors(wire, "operation-result") == []


def test_a_halted_batch_says_where_and_what_is_left() -> None:
    wire = BatchSuccess((GOOD, BAD), HALTED, (Pending(3, "get_b", {"id": 1}), Pending(4, "get_c", {}))).wire()
    assert wire["halted_at"] == {"index": 2, "operation": "delete_a", "result": Failure(CONFIRM).wire()}
    assert wire["pending_operations"] == [
        {"index": 3, "operation": "get_b", "params": {"id": 1}},
        {"index": 4, "operation": "get_c"},
    ]
    assert wire["summary"] == {"total": 5, "succeeded": 1, "failed": 1, "halted": 1, "pending": 2}
    assert schema_errors(wire, "batch-operation") == []


def test_a_batch_that_halted_at_its_last_operation_has_nothing_pending() -> None:
    wire = BatchSuccess((), HALTED).wire()
    assert wire["pending_operations"] == []
    assert wire["summary"] == {"total": 1, "succeeded": 0, "failed": 0, "halted": 1, "pending": 0}
    assert schema_errors(wire, "batch-operation") == []
