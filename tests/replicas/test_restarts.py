"""Servers behind one address may be killed and replaced while they are called: the others go on."""

import os
import signal

import pytest

from tests.replicas.crowd import CUT_OFF, calling
from tests.replicas.fleet import NAMES, Fleet
from tests.server.processes import until
from tests.server.requests import legacy

pytestmark = pytest.mark.xdist_group("replicas")

ROUNDS = int(os.environ.get("HEADGATE_ROLLING", "1"))
"""How often all servers are restarted, one after the other."""


def test_of_a_server_that_is_killed_only_the_calls_that_it_works_on_are_lost(ships: Fleet) -> None:
    victim = ships.replicas[1]
    with calling(ships) as crowd:
        crowd.served_more()
        assert victim.stop(signal.SIGKILL) == -signal.SIGKILL
        crowd.served_more()
        lost = crowd.failed
        crowd.served_more()
        assert crowd.failed == lost, "calls are still lost when the server is long gone"
        victim.start()
        before = crowd.answers[victim.name]
        until(lambda: crowd.answers[victim.name] > before, "an answer of the server that is back")
    assert crowd.failed == lost <= len(crowd.callers), crowd.answers
    assert set(crowd.answers) <= {*NAMES, "status 502", CUT_OFF}


def test_all_servers_are_restarted_one_after_the_other_and_nobody_notices(ships: Fleet) -> None:
    with calling(ships) as crowd:
        for _ in range(ROUNDS):
            for replica in ships.replicas:
                crowd.served_more()
                assert replica.stop() == 0
                crowd.served_more()
                replica.start()
        crowd.served_more()
    assert set(crowd.answers) == set(NAMES)


def test_who_had_a_session_with_a_server_that_was_restarted_begins_a_new_one(ships: Fleet) -> None:
    caller = legacy(ships.port, **ships.credentials())
    name = caller.headers["mcp-session-id"].partition(".")[0]
    replica = ships.replicas[NAMES.index(name)]
    assert replica.stop() == 0
    assert caller.call("get_late", {"milliseconds": 0}).status == 404
    again = legacy(ships.port, **ships.credentials())
    assert again.call("get_late", {"milliseconds": 0}).envelope["success"]
    replica.start()
    assert caller.call("get_late", {"milliseconds": 0}).status == 404
