"""Whoever cancels long work, through whichever process: the work hears of it at once, and what does not stop is shown.

How long it takes until the work hears of it is printed with ``-s``; ``make chaos`` shows it too.
"""

import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import pytest

from tests.databases import Server
from tests.executions_processes.running import Asked, Place
from tests.server.processes import until

KINDS = ("sqlite", "postgresql")
WORK = {
    "an async function": "execute_until",
    "a thread": "execute_thread_until",
    "a process": "execute_process_until",
}


@dataclass(frozen=True)
class Servers:
    """Two servers on one state."""

    place: Place
    one: Asked
    other: Asked


@pytest.fixture(
    scope="module",
    params=[pytest.param(kind, marks=pytest.mark.xdist_group(f"cancelling on {kind}")) for kind in KINDS],
)
def servers(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    database: Server = request.getfixturevalue(request.param)
    with database.fresh() as made, ExitStack() as stack, pytest.MonkeyPatch.context() as patch:
        patch.delenv("COVERAGE_PROCESS_CONFIG", raising=False)  # the lines that run here are counted elsewhere
        place = Place(made.url, tmp_path_factory.mktemp("cancelling"))
        if request.param == "postgresql":
            stack.enter_context(place.worked("worker"))
        yield Servers(place, *(stack.enter_context(place.served(name)) for name in ("one", "other")))


def shown_as(server: Asked, execution_id: str, state: str) -> Any:
    """What a server tells of an execution once it is in a state."""
    until(lambda: server.state(execution_id)["state"] == state, state)
    return server.state(execution_id)


def test_running_work_hears_that_it_is_cancelled_through_another_server(servers: Servers) -> None:
    place, heard = servers.place, {}
    started = {name: servers.one.start(operation, gate="never") for name, operation in WORK.items()}
    for name, execution_id in started.items():
        place.trace(execution_id)
        asked = time.monotonic()
        assert servers.other.call("cancel_execution", execution_id=execution_id)["state"] == "cancelling"
        heard[name] = place.trace(execution_id, "cancelled").at - asked
        for server in (servers.one, servers.other):
            assert server.state(execution_id, wait=60)["status"] == "cancelled"
    kind = place.state.partition(":")[0]
    told = ", ".join(f"{name} {seconds * 1000:.0f} ms" for name, seconds in heard.items())
    sys.stdout.write(f"\ncancelled through another server on {kind}, until the work heard of it: {told}\n")


def test_work_that_does_not_stop_is_shown_as_stuck_by_every_server_and_is_cancelled_once_it_has(
    servers: Servers,
) -> None:
    place = servers.place
    execution_id = servers.one.start("execute_stubbornly", gate="open at last")
    place.trace(execution_id)
    servers.other.call("cancel_execution", execution_id=execution_id)
    for server in (servers.one, servers.other):
        assert shown_as(server, execution_id, "stuck")["status"] == "running"
    place.open("open at last")
    place.trace(execution_id, "cancelled")
    for server in (servers.one, servers.other):
        ended = server.state(execution_id, wait=60)
        assert ended["status"] == "cancelled"
        assert "state" not in ended


def test_work_that_waits_for_its_turn_is_cancelled_at_once_and_never_begins(servers: Servers) -> None:
    place = servers.place
    first = servers.one.start("execute_in_turn", gate="turn")
    place.trace(first)
    second = servers.one.start("execute_in_turn", gate="turn")
    third = servers.one.start("execute_in_turn", gate="turn")
    assert servers.other.call("cancel_execution", execution_id=second)["status"] == "cancelled"
    place.open("turn")
    assert [servers.other.result(execution_id) for execution_id in (first, third)] == [1, 1]
    assert not place.attempts(second)
