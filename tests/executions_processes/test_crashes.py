"""A server that dies or stops on one machine leaves nothing that runs for ever: it fails or goes on, as declared."""

import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.databases import Server
from tests.executions_processes.running import Place
from tests.server.processes import PATIENCE, is_listening, until

IMPATIENT = """
from headgate.cli import main, running

running._GRACE_SECONDS = 1.5
main()
"""


@pytest.fixture
def place(sqlite: Server, tmp_path: Path) -> Iterator[Place]:
    with sqlite.fresh() as made:
        yield Place(made.url, tmp_path)


@pytest.fixture
def impatient(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs that wait only for a moment for what is under way when they are to stop, not for ten seconds."""
    program = tmp_path / "headgate"
    program.write_text(f"#!{sys.executable}\n{IMPATIENT}")
    program.chmod(0o700)
    monkeypatch.setattr("tests.server.processes.HEADGATE", str(program))


def test_after_a_crash_what_was_under_way_fails_or_is_resumed_and_what_waited_has_its_turn(place: Place) -> None:
    with place.served("before") as server:
        once = [server.start("execute_until", gate="gate") for _ in range(3)]
        again = [server.start("execute_until_again", gate="gate") for _ in range(3)]
        thread, process = (server.start(f"execute_{kind}_until", gate="gate") for kind in ("thread", "process"))
        in_turn = [server.start("execute_in_turn", gate="gate") for _ in range(3)]
        lost = [*once, thread, process, in_turn[0]]
        for execution_id in (*lost, *again):
            place.trace(execution_id)
        server.serving.stop(signal.SIGKILL)

    place.open("gate")
    place.open("gate 2")
    with place.served("after") as server:
        for execution_id in lost:
            state = server.state(execution_id, wait=60)
            assert (state["status"], state["error"]["code"]) == ("failed", "INTERNAL_INTERRUPTED")
            assert place.attempts(execution_id) == ["before"]
        for execution_id in again:
            assert server.result(execution_id) == 2
            assert place.attempts(execution_id) == ["before", "after"]
        for execution_id in in_turn[1:]:
            assert server.result(execution_id) == 1
            assert place.attempts(execution_id) == ["after"]
        for status in ("pending", "running"):
            assert server.call("list_executions", tool="mcp_aql_read", filter={"status": status})["items"] == []


def test_a_server_that_is_to_stop_finishes_what_is_short_and_interrupts_the_rest_as_declared(
    place: Place, impatient: None
) -> None:
    with place.served("before") as server:
        short = server.start("execute_until", gate="soon")
        once = server.start("execute_until", gate="late")
        again = server.start("execute_until_again", gate="late")
        for execution_id in (short, once, again):
            place.trace(execution_id)
        server.serving.process.send_signal(signal.SIGTERM)
        until(lambda: not is_listening(server.serving.port), "the end of listening")
        place.open("soon")
        assert server.serving.process.wait(PATIENCE) == 0
    place.trace(once, "cancelled")
    place.trace(again, "cancelled")

    place.open("late 2")
    with place.served("after") as server:
        assert server.result(short) == 1
        state = server.state(once)
        assert (state["status"], state["error"]["code"]) == ("failed", "INTERNAL_INTERRUPTED")
        assert server.result(again) == 2
    assert [place.attempts(one) for one in (short, once, again)] == [["before"], ["before"], ["before", "after"]]
