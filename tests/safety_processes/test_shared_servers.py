"""Several servers on one store behave as one: what one of them counts or spends, all of them have counted or spent."""

from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.databases import Server
from tests.safety_processes.ledger import LEDGER, TRACES, traces_in
from tests.safety_processes.racing import POLICY, SUCCESS
from tests.server.processes import serve_http
from tests.server.requests import Caller, modern

SERVERS = 4
LIMIT, WARN, PAUSE, HARD_STOP = 25, 5, 10, 15
LIMITS = f"""
[[api_limit]]
scope = "endpoint"
endpoint = "get_limited"
limit = {LIMIT}
window = "hour"

[[quota]]
metric = "requests_per_day"
operations = ["get_metered"]
warn = {WARN}
pause = {PAUSE}
hard_stop = {HARD_STOP}
"""

Envelope = dict[str, Any]


@dataclass(frozen=True)
class Servers:
    """Four servers on one store, each asked by somebody without a session, and many at once."""

    callers: Sequence[Caller]
    pool: ThreadPoolExecutor
    traces: Path

    def call(
        self, place: int, operation: str, *, tool: str = "mcp_aql_read", quota: str = "", **params: str
    ) -> Envelope:
        """Call an operation of one of the servers."""
        beside = {"_quota_continue": quota} if quota else {}
        arguments = {"operation": operation, "params": params, **beside}
        return self.callers[place % SERVERS].request("tools/call", {"name": tool, "arguments": arguments}).envelope

    def at_once(self, times: int, operation: str, **params: str) -> list[Envelope]:
        """So many calls, in turn to each of the servers."""
        return list(self.pool.map(lambda place: self.call(place, operation, **params), range(times)))


@pytest.fixture(scope="module")
def servers(shared_server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    folder = tmp_path_factory.mktemp("servers")
    policy, traces = folder / "policy.toml", folder / "traces"
    policy.write_text(POLICY + LIMITS)
    with shared_server.fresh() as made, ExitStack() as stack, ThreadPoolExecutor(8 * SERVERS) as pool:
        # All of them at once: they find no tables in the store, and make them together.
        words = (LEDGER, "--state", made.url, "--policy", str(policy))
        starting = [serve_http(*words, env={TRACES: str(traces)}) for _ in range(SERVERS)]
        running = list(pool.map(stack.enter_context, starting))
        yield Servers([modern(serving.port) for serving in running], pool, traces)


def codes(envelopes: Sequence[Envelope]) -> Counter[str]:
    """How many got which answer."""
    return Counter(SUCCESS if one["success"] else one["error"]["code"] for one in envelopes)


def test_a_limit_is_one_for_all_servers(servers: Servers) -> None:
    answers = servers.at_once(4 * LIMIT, "get_limited", key="a")
    assert codes(answers) == {SUCCESS: LIMIT, "RATE_LIMIT_EXCEEDED": 3 * LIMIT}
    for place in range(SERVERS):
        refused = servers.call(place, "get_limited", key="a")["error"]
        assert refused["details"]["remaining"] == 0
        assert 0 < refused["details"]["retry_after_seconds"] <= 3600


def test_a_quota_warns_pauses_and_stops_for_all_servers(servers: Servers) -> None:
    answers = servers.at_once(3 * PAUSE, "get_metered", key="a")
    assert codes(answers) == {SUCCESS: PAUSE, "RATE_LIMIT_QUOTA_PAUSE": 2 * PAUSE}
    warned = [one["warnings"][0]["details"]["current"] for one in answers if one.get("warnings")]
    assert sorted(warned) == list(range(WARN, PAUSE + 1))

    paused = servers.call(0, "get_metered", key="a")["error"]
    assert paused["code"] == "RATE_LIMIT_QUOTA_PAUSE"
    leave = paused["details"]["confirmation_token"]
    assert servers.call(1, "get_metered", key="a", quota=leave)["success"]
    assert servers.call(2, "get_metered", key="a", quota=leave)["error"]["code"] == "TOKEN_ALREADY_USED"

    rest = HARD_STOP - PAUSE - 1
    answers = servers.at_once(4 * HARD_STOP, "get_metered", key="a")
    assert codes(answers) == {SUCCESS: rest, "RATE_LIMIT_QUOTA_EXHAUSTED": 4 * HARD_STOP - rest}
    current = [one["error"]["details"]["current"] for one in answers if not one["success"]]
    assert set(current) == {HARD_STOP}


def test_a_token_of_one_server_counts_once_on_all_of_them(servers: Servers) -> None:
    before = len(traces_in(servers.traces))
    for turn in range(2 * SERVERS):
        key = f"entry {turn}"
        asked = servers.call(turn, "delete_entry", tool="mcp_aql_delete", key=key)["error"]
        assert asked["code"] == "CONFIRMATION_REQUIRED"
        token = asked["details"]["confirmation_token"]
        times = 5 * SERVERS
        answers = servers.at_once(times, "delete_entry", tool="mcp_aql_delete", key=key, confirmation_token=token)
        assert codes(answers) == {SUCCESS: 1, "TOKEN_ALREADY_USED": times - 1}
    assert [trace.key for trace in traces_in(servers.traces)[before:]] == [
        f"entry {turn}" for turn in range(2 * SERVERS)
    ]
