"""Four servers on one PostgreSQL behind one address are one server, whichever of them a request comes to."""

import subprocess
from collections import Counter
from typing import Any

import pytest

from tests.cli.supervision import code_for
from tests.replicas.fleet import LIMIT, NAMES, Fleet
from tests.server.processes import HEADGATE, environment, until
from tests.server.requests import legacy

pytestmark = pytest.mark.xdist_group("replicas")


def headgate(*words: str) -> str:
    """What a command prints."""
    done = subprocess.run(
        [HEADGATE, *words], env=environment(), capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_requests_of_the_newer_era_go_round(ships: Fleet) -> None:
    answered = Counter(ships.ask("get_late", milliseconds=0)[0] for _ in range(4 * len(NAMES)))
    assert answered == dict.fromkeys(NAMES, 4)


def test_pages_go_on_with_any_server(ships: Fleet) -> None:
    seen: list[int] = []
    asked: dict[str, Any] = {"first": 50, "sort": "-id"}
    answered = []
    for _ in range(4):
        name, envelope = ships.ask("list_parts", **asked)
        answered.append(name)
        seen += [item["id"] for item in envelope["data"]["items"]]
        asked["after"] = envelope["data"]["pageInfo"]["endCursor"]
    assert seen == list(range(200, 0, -1))
    assert len(set(answered)) == 4


def test_a_confirmation_of_one_server_counts_once_on_all(ships: Fleet) -> None:
    _, asked = ships.ask("delete_entry", "delete", key="a")
    token = asked["error"]["details"]["confirmation_token"]
    answers = list(
        ships.pool.map(lambda _: ships.ask("delete_entry", "delete", key="a", confirmation_token=token)[1], range(16))
    )
    codes = Counter("done" if one["success"] else one["error"]["code"] for one in answers)
    assert codes == {"done": 1, "TOKEN_ALREADY_USED": 15}


def test_a_person_decides_once_for_all(ships: Fleet) -> None:
    _, asked = ships.ask("delete_entry", "delete", key="grave")
    approval = asked["error"]["details"]["approval_id"]
    assert ships.code("delete_entry", "delete", key="grave", confirmation_token=approval) == "CONFIRMATION_REQUIRED"
    headgate("approvals", "approve", approval, "--yes", "--state", ships.state)
    assert ships.data("delete_entry", "delete", key="grave", confirmation_token=approval) == "grave"


def test_a_limit_is_counted_by_all_together(ships: Fleet) -> None:
    answers = list(ships.pool.map(lambda _: ships.ask("get_limited", key="a"), range(3 * LIMIT)))
    assert len({name for name, one in answers if one["success"]}) > 1
    codes = Counter("done" if one["success"] else one["error"]["code"] for _, one in answers)
    assert codes == {"done": LIMIT, "RATE_LIMIT_EXCEEDED": 2 * LIMIT}


def test_an_execution_is_seen_and_ended_through_any_server(ships: Fleet) -> None:
    started = ships.data("execute_delivery", "execute", gate="far")
    execution = {"execution_id": started["execution_id"]}
    until(lambda: ships.data("get_execution", **execution)["status"] == "running", "the delivery")
    waiting = ships.pool.submit(ships.ask, "get_execution", **execution, wait_seconds=30)
    for seen in ships.everywhere("get_execution", **execution):
        assert seen["data"]["status"] == "running"
    (ships.folder / "far").touch()
    _, ended = waiting.result()
    assert ended["data"]["status"] == "completed"
    assert [one["data"]["result"] for one in ships.everywhere("get_execution_result", **execution)] == ["far"] * 4


def test_an_execution_is_cancelled_through_any_server(ships: Fleet) -> None:
    started = ships.data("execute_delivery", "execute", gate="never")
    execution = {"execution_id": started["execution_id"]}
    ships.data("cancel_execution", "execute", **execution)
    assert ships.data("get_execution", **execution, wait_seconds=30)["status"] == "cancelled"


def test_a_blocked_agent_is_blocked_everywhere_until_somebody_verifies_anywhere(ships: Fleet) -> None:
    by: dict[str, Any] = {"by": "robot"}
    ships.data("execute_agent", "execute", **by, element_name="robot", task="Tidy up")
    for hint, goes_on in (("list_parts", True), ("drop_table parts", False)):
        step = ships.data("record_execution_step", "create", **by, element_name="robot", next_action_hint=hint)
        assert step["directive"]["continue"] is goes_on
    challenge = step["directive"]["notifications"][0]["metadata"]["verificationId"]
    for refused in ships.everywhere("list_parts", **by):
        assert refused["error"]["code"] == "PERMISSION_DENIED"
    verified = {"challenge_id": challenge, "code": code_for(ships.state, challenge)}
    ships.data("verify_challenge", "create", by="boss", **verified)
    for answered in ships.everywhere("list_parts", **by, first=1):
        assert answered["success"]


def test_the_audit_is_one_chain_of_all_servers(ships: Fleet) -> None:
    for answered in ships.everywhere("delete_entry", "delete", key="chain"):
        assert answered["error"]["code"] == "CONFIRMATION_REQUIRED"
    assert "are as they were written" in headgate("audit", "verify", "--state", ships.state)


def test_a_session_of_the_older_era_stays_with_the_server_that_has_it(ships: Fleet) -> None:
    callers = [legacy(ships.port, **ships.credentials()) for _ in range(8)]
    for caller in callers:
        name = caller.headers["mcp-session-id"].partition(".")[0]
        answers = [caller.call("get_late", {"milliseconds": 0}) for _ in range(5)]
        assert {ships.name_of(answer) for answer in answers} == {name}
        assert all(answer.envelope["success"] for answer in answers)
    assert {caller.headers["mcp-session-id"].partition(".")[0] for caller in callers} == set(NAMES)
    assert callers[0].send(b"", "DELETE").status == 200
    assert callers[0].call("get_late", {"milliseconds": 0}).status == 404
