"""What lasts how long over HTTP: the session of the legacy era, the caller of the modern one, or nothing."""

import json

import anyio
import pytest
from mcp import Client

from headgate import Adapter, Context, Session, mcp_server
from headgate.server.sessions import Sessions
from tests.server.processes import INITIALIZE, WORKSHOP, Serving, serve_http, until
from tests.server.requests import Caller, legacy, modern


def noted(caller: Caller, text: str) -> list[str]:
    """What was kept before in the caller's session."""
    before = caller.execute("execute_note", {"text": text}).envelope["data"]["before"]
    assert isinstance(before, list)
    return before


def test_a_legacy_session_keeps_its_own_state(http_server: Serving) -> None:
    first, second = legacy(http_server.port), legacy(http_server.port)
    assert noted(first, "a") == []
    assert noted(second, "b") == []
    assert noted(first, "c") == ["a"]


def test_without_authentication_every_modern_request_stands_alone(http_server: Serving) -> None:
    client = modern(http_server.port)
    assert noted(client, "a") == []
    assert noted(client, "b") == []


def test_a_session_that_a_modern_client_claims_is_not_its_own(http_server: Serving) -> None:
    victim = legacy(http_server.port)
    assert noted(victim, "secret") == []
    forger = modern(http_server.port, **{"mcp-session-id": victim.headers["mcp-session-id"]})
    assert noted(forger, "x") == []
    assert noted(victim, "y") == ["secret"]
    assert forger.send(b"", "DELETE").status == 405
    assert noted(victim, "z") == ["secret", "y"]


def test_a_session_ends_when_its_client_says_so(http_server: Serving) -> None:
    client = legacy(http_server.port)
    noted(client, "a")
    assert client.send(b"", "DELETE", "/health").status == 405
    assert noted(client, "b") == ["a"]
    assert client.send(b"", "DELETE").status == 200
    assert client.call("get_echo", {"text": "x"}).status == 404


def test_an_unknown_session_is_not_found(http_server: Serving) -> None:
    stranger = Caller(http_server.port, "legacy", {**legacy(http_server.port).headers, "mcp-session-id": "made up"})
    assert stranger.call("get_echo", {"text": "x"}).status == 404
    assert stranger.send(b"", "DELETE").status == 404


def test_a_session_carries_the_name_of_its_server_and_counts_there_alone() -> None:
    with serve_http(WORKSHOP, "--replica", "one") as serving:
        client = legacy(serving.port)
        session = client.headers["mcp-session-id"]
        assert session.startswith("one.")
        assert noted(client, "a") == []
        assert noted(client, "b") == ["a"]
        for stranger in (session.replace("one.", "two."), session.removeprefix("one."), "one."):
            forger = Caller(serving.port, "legacy", {**client.headers, "mcp-session-id": stranger})
            assert forger.call("get_echo", {"text": "x"}).status == 404
        assert client.send(b"", "DELETE").status == 200
        assert client.call("get_echo", {"text": "x"}).status == 404


def test_an_operator_says_how_many_sessions_there_may_be_and_for_how_long() -> None:
    with serve_http(WORKSHOP, "--session-idle", "1", "--max-sessions", "2") as serving:
        first, _ = legacy(serving.port), legacy(serving.port)
        opening = Caller(serving.port, "legacy", {**first.headers})
        headers = {name: value for name, value in opening.headers.items() if name != "mcp-session-id"}
        opening = Caller(serving.port, "legacy", headers)
        assert opening.send(json.dumps(INITIALIZE).encode()).status == 503
        until(lambda: opening.send(json.dumps(INITIALIZE).encode()).status == 200, "room for another session")
        assert first.call("get_echo", {"text": "x"}).status == 404


class Clock:
    """A time that the test sets."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_sessions_end_when_nobody_has_used_them_for_long() -> None:
    clock, ended = Clock(), list[Session]()
    sessions = Sessions(100, on_end=ended.append, clock=clock)
    first = sessions.get("first")
    first.state["kept"] = True
    clock.now = 60
    second = sessions.get("second")
    clock.now = 120
    assert sessions.get("second") is second
    assert ended == [first]
    assert first.ended
    assert first.state == {}
    assert sessions.get("first") is not first


def test_a_session_in_use_does_not_end() -> None:
    clock = Clock()
    sessions = Sessions(100, clock=clock)
    session = sessions.get("one")
    for clock.now in range(0, 1000, 90):
        assert sessions.get("one") is session


def test_without_a_key_there_is_no_session_to_come_back_to() -> None:
    sessions = Sessions()
    assert sessions.get(None) is not sessions.get(None)


def test_ending_a_session_twice_or_one_that_never_was_is_no_trouble() -> None:
    sessions = Sessions()
    session = sessions.get("one")
    sessions.end("one")
    sessions.end("one")
    sessions.end("never")
    assert session.ended


def test_when_the_server_stops_all_sessions_end() -> None:
    sessions = Sessions()
    all_of_them = [sessions.get(key) for key in ("one", "two", "three")]
    sessions.end_all()
    assert all(session.ended for session in all_of_them)


@pytest.mark.anyio
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_in_process_the_connection_is_the_session(mode: str) -> None:
    seen: list[Session] = []
    adapter = Adapter("shelf")

    @adapter.read
    async def get_session(ctx: Context) -> None:
        """Look at the session."""
        seen.append(ctx.session)

    server = mcp_server(adapter)
    for _ in range(2):
        async with Client(server, mode=mode) as client:
            for _ in range(2):
                await client.call_tool("mcp_aql_read", {"operation": "get_session"})
    assert seen[0] is seen[1]
    assert seen[2] is seen[3]
    assert seen[0] is not seen[2]
    assert all(session.ended for session in seen)
    await anyio.lowlevel.checkpoint()
