"""What is known of executions beyond their rows: ids, what stays the same, errors, and the state object of 8.4.3."""

import json
from dataclasses import replace
from datetime import datetime

import pytest

from headgate.adapter.background import Background
from headgate.adapter.context import Caller
from headgate.executions.values import About, Outcome, new_id, percentage, state_object, unfit, wire_error
from headgate.protocol.errors import ErrorDetail
from headgate.protocol.lifecycle import State
from headgate.protocol.results import Notice
from headgate.store.executions import Progress
from tests.executions.books import BROKEN, NOW, made


def moment(text: object) -> float:
    """The time that an answer tells, in ISO 8601."""
    return datetime.fromisoformat(str(text)).timestamp()


def test_ids_are_in_the_order_of_their_time_and_cannot_be_guessed() -> None:
    times = [NOW, NOW + 0.000_01, NOW + 1, NOW * 1000]
    ids = [new_id(at) for at in times]
    assert ids == sorted(ids)
    assert len({new_id(NOW) for _ in range(1000)}) == 1000
    assert all(one.startswith("exec_") and len(one) == len(ids[0]) for one in ids[:3])


def test_what_stays_the_same_is_read_as_it_was_written() -> None:
    about = About(
        caller=Caller("ann", "client", frozenset({"b", "a"}), "her laptop"),
        request_id="req_1",
        background=Background(retries=3, key=("customer", "place"), timeout=2.5, session="fail"),
        session_id="sess_1",
        audited=True,
        hides=True,
        shown={"api_key": "***", "place": "Köln"},
    )
    assert About.read(about.text()) == about


def test_an_outcome_is_read_as_it_was_written() -> None:
    outcome = Outcome(size=7, pieces=1, items=2, warnings=(Notice("OLD", "It is old", {"days": 3}, "low"),))
    assert Outcome.read(outcome.text()) == outcome


def test_an_error_with_details_that_are_no_json_is_kept_without_them() -> None:
    kept = json.loads(wire_error(ErrorDetail("INTERNAL_ERROR", "It broke", {"shelf": object()})))
    assert kept == {"code": "INTERNAL_ERROR", "message": "It broke"}
    kept = json.loads(wire_error(ErrorDetail("INTERNAL_ERROR", "It broke", {"shelf": 3})))
    assert kept == {"code": "INTERNAL_ERROR", "message": "It broke", "details": {"shelf": 3}}


@pytest.mark.parametrize(
    ("current", "total", "expected"),
    [
        (None, 10, None),
        (5, None, None),
        (5, 0, None),
        (5, -10, None),
        (0, 10, 0.0),
        (1, 3, 33.3),
        (10, 10, 100.0),
        (12, 10, 100.0),
        (-1, 10, 0.0),
    ],
)
def test_the_percentage_is_told_where_it_is_known(
    current: float | None, total: float | None, expected: float | None
) -> None:
    assert percentage(Progress(current, total)) == expected


def test_an_execution_that_waits_is_told_by_its_id_its_state_and_its_start() -> None:
    execution = made()
    told = state_object(execution)
    assert moment(told.pop("created_at")) == NOW
    assert told == {"execution_id": execution.id, "status": "pending", "operation": execution.operation}


def test_progress_is_told_in_plain_numbers_with_what_is_known() -> None:
    execution = replace(made(), state=State.RUNNING, done=45.0, total=100.0, message="Step 5")
    assert state_object(execution)["progress"] == {
        "percentage": 45,
        "current": 45,
        "total": 100,
        "message": "Step 5",
    }
    assert state_object(execution, Progress(1.5, 3))["progress"] == {"percentage": 50, "current": 1.5, "total": 3}
    assert state_object(execution, Progress(message="on its way"))["progress"] == {"message": "on its way"}


def test_a_state_that_headgate_adds_is_told_beside_the_core_one_with_its_attempt_and_the_last_error() -> None:
    execution = replace(made(), state=State.RETRYING, attempt=2, started_at=NOW, error=wire_error(BROKEN))
    told = state_object(execution)
    assert (told["status"], told["state"], told["attempt"]) == ("running", "retrying", 2)
    assert "error" not in told
    assert told["last_error"] == {"code": BROKEN.code, "message": BROKEN.message}


def test_what_has_failed_tells_why_and_when() -> None:
    execution = replace(
        made(), state=State.FAILED, attempt=1, started_at=NOW, finished_at=NOW + 60, error=wire_error(BROKEN)
    )
    told = state_object(execution)
    assert (told["status"], told["error"]) == ("failed", {"code": BROKEN.code, "message": BROKEN.message})
    assert (moment(told["started_at"]), moment(told["finished_at"])) == (NOW, NOW + 60)
    assert "attempt" not in told


def test_a_refusal_tells_the_core_state_and_what_would_have_to_be() -> None:
    execution = replace(made(), state=State.STUCK)
    error = unfit(execution, ", and only a failed one can be retried", hint=1).error
    assert (error.code, error.message) == (
        "CONFLICT_EXECUTION_STATE",
        "The execution is running, and only a failed one can be retried",
    )
    assert error.details == {"execution_id": execution.id, "status": "running", "hint": 1}
