"""Long work and connections: progress on every way to a server, and what a connection that goes takes with it."""

import contextlib
import http.client
import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp import Client, StdioServerParameters

from headgate import Adapter, Context, Session, mcp_server
from headgate.engine.events import Decided, Event
from headgate.executions.ledger import Ledger
from headgate.server.binding import McpServer
from headgate.server.sessions import Sessions
from headgate.store.interface import StoreError
from tests.server.errands import ERRANDS, Place, make_errands
from tests.server.lines import TASKS, Message, connected, envelope_in
from tests.server.processes import (
    HEADGATE,
    MODERN_META,
    PATIENCE,
    Serving,
    environment,
    serve_http,
    serve_pipes,
    tool_call,
    until,
)
from tests.server.requests import Caller, Era, legacy, modern
from tests.server.test_embedding import mounted

pytestmark = pytest.mark.anyio

ERAS = pytest.mark.parametrize("era", ["modern", "legacy"])


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.fixture(scope="module")
def serving() -> Iterator[Serving]:
    """A server over HTTP, for all tests of this module."""
    with serve_http(ERRANDS, "--state", "memory:") as serving:
        yield serving


async def ended(server: McpServer, execution_id: str) -> Message:
    """The state of an execution once it has ended, whoever was there when it did."""
    async with connected(server) as line:
        return await line.ended(execution_id)


# progress


class Steps:
    """What a client hears of progress."""

    def __init__(self) -> None:
        self.heard: list[tuple[float, float | None, str | None]] = []
        self.first = anyio.Event()

    async def __call__(self, progress: float, total: float | None, message: str | None) -> None:
        self.heard.append((progress, total, message))
        self.first.set()


@pytest.fixture(params=["in process", "stdio", "http"])
async def target(request: pytest.FixtureRequest, serving: Serving) -> AsyncIterator[Any]:
    """What a client connects to, for each transport."""
    if request.param == "in process":
        server = mcp_server(make_errands())
        yield server
        await server.close()
    elif request.param == "stdio":
        words = ["serve", ERRANDS, "--state", "memory:"]
        yield StdioServerParameters(command=HEADGATE, args=words, env=environment())
    else:
        yield serving.url


async def asked(client: Client, operation: str, steps: Steps | None = None, **params: Any) -> Any:
    """The data of an operation's answer, and progress on the way to it if somebody listens."""
    family = "read" if operation.startswith("get_") else "execute"
    arguments = {"operation": operation, "params": params}
    result = await client.call_tool(f"mcp_aql_{family}", arguments, progress_callback=steps)
    assert isinstance(result, types.CallToolResult)
    envelope = envelope_in(result.model_dump())
    assert envelope["success"], envelope
    return envelope["data"]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_who_waits_and_asked_for_it_hears_of_progress(target: Any, mode: str, place: Place) -> None:
    async with Client(target, mode=mode) as client:
        for operation in ("get_execution", "get_execution_result"):
            name, steps = operation, Steps()
            started = await asked(client, "execute_errand", **place.params(name))
            found: list[Message] = []

            async def wait(operation: str, execution_id: str, steps: Steps, found: list[Message]) -> None:
                found.append(await asked(client, operation, steps, execution_id=execution_id, wait_seconds=60))

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(wait, operation, started["execution_id"], steps, found)
                with anyio.fail_after(PATIENCE):
                    await steps.first.wait()
                place.go(name)
            assert steps.heard == [(1, 4, f"{name} is under way")]
            assert found[0]["status"] == "completed"
        thread = Steps()
        assert await asked(client, "get_steps", thread, count=3) == 3
        assert thread.heard == [(step, 3, f"step {step}") for step in (1, 2, 3)]


# requests that are dropped


class Caught:
    """A request over HTTP whose client hangs up when the test says so."""

    def __init__(self, operation: str, **params: Any) -> None:
        message = tool_call(1, operation, params, tool=f"mcp_aql_{operation.partition('_')[0]}".replace("get", "read"))
        self._body = json.dumps({**message, "params": {**message["params"], "_meta": MODERN_META}}).encode()
        names = {"mcp-method": "tools/call", "mcp-name": message["params"]["name"], "host": "127.0.0.1:8000"}
        plain = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
        headers = {**names, **plain, "mcp-protocol-version": "2026-07-28"}
        self._headers = [(name.encode(), value.encode()) for name, value in headers.items()]
        self._parts = iter([{"type": "http.request", "body": self._body, "more_body": False}])
        self.hang_up = anyio.Event()
        self.answered = False

    async def run(self, app: Any) -> None:
        """Have the application serve it, until it has noticed that nobody is there."""
        scope = {
            "type": "http",
            "method": "POST",
            "path": "/mcp",
            "raw_path": b"/mcp",
            "query_string": b"",
            "headers": self._headers,
            "server": ("127.0.0.1", 8000),
            "client": ("127.0.0.1", 1),
            "scheme": "http",
            "root_path": "",
            "http_version": "1.1",
        }
        await app(scope, self._receive, self._send)

    async def _receive(self) -> Any:
        for part in self._parts:
            return part
        await self.hang_up.wait()
        return {"type": "http.disconnect"}

    async def _send(self, _message: object) -> None:
        self.answered = True


@contextlib.asynccontextmanager
async def applied(server: McpServer) -> AsyncIterator[Any]:
    """The application of a server, running."""
    app = server.streamable_http_app()
    async with server.session_manager.run():
        yield app


async def test_who_hangs_up_while_the_work_is_being_started_has_started_it(place: Place) -> None:
    request = Caught("execute_errand", **place.params("a"))

    def listen(event: Event) -> None:
        if isinstance(event, Decided):
            request.hang_up.set()

    server = mcp_server(make_errands(), state=f"sqlite:///{place.folder}/state.db", listeners=[listen])
    async with applied(server) as app:
        await request.run(app)
        assert not request.answered
        await place.come("a", "begun")
        async with connected(server) as line:
            [found] = (await line.envelope("list_executions"))["data"]["items"]
            place.go("a")
            assert (await line.ended(found["execution_id"]))["status"] == "completed"
    await server.store.close()


async def test_who_hangs_up_while_waiting_takes_nothing_with_it(place: Place) -> None:
    server = mcp_server(make_errands())
    async with applied(server) as app, connected(server) as line:
        execution_id = await line.started("execute_errand", **place.params("a"))
        await place.come("a", "begun")
        request = Caught("get_execution", execution_id=execution_id, wait_seconds=60)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(request.run, app)
            await anyio.wait_all_tasks_blocked()
            request.hang_up.set()
        assert not request.answered
        assert (await line.state(execution_id))["status"] == "running"
        place.go("a")
        assert (await line.ended(execution_id))["status"] == "completed"


def connection_of(client: Caller, operation: str, **params: Any) -> http.client.HTTPConnection:
    """A connection on which a request is under way."""
    connection = http.client.HTTPConnection("127.0.0.1", client.port, timeout=PATIENCE)
    connection.request("POST", "/mcp", json.dumps(tool_call("dropped", operation, params)), dict(client.headers))
    return connection


def test_in_the_legacy_era_only_the_end_of_the_session_ends_what_is_bound_to_it(serving: Serving, place: Place) -> None:
    client = legacy(serving.port)
    started = {name: client.execute(f"execute_{name}", place.params(name)) for name in ("errand", "bound_errand")}
    ids = {name: answer.envelope["data"]["execution_id"] for name, answer in started.items()}
    assert all("warnings" not in answer.envelope for answer in started.values())
    until(lambda: all(place.has(name, "begun") for name in ids), "the errands")
    connection = connection_of(client, "get_execution", execution_id=ids["errand"], wait_seconds=60)
    connection.getresponse()
    connection.close()
    for execution_id in ids.values():
        assert client.call("get_execution", {"execution_id": execution_id}).envelope["data"]["status"] == "running"
    assert client.send(b"", "DELETE").status == 200
    other = modern(serving.port)
    stopped = other.call("get_execution", {"execution_id": ids["bound_errand"], "wait_seconds": 60})
    assert stopped.envelope["data"]["status"] == "cancelled"
    place.go("errand")
    done = other.call("get_execution", {"execution_id": ids["errand"], "wait_seconds": 60})
    assert done.envelope["data"]["status"] == "completed"


def test_a_request_without_a_session_is_told_that_its_work_goes_on(serving: Serving, place: Place) -> None:
    answer = modern(serving.port).execute("execute_bound_errand", place.params("a")).envelope
    assert [warning["code"] for warning in answer["warnings"]] == ["EXECUTION_UNBOUND_WARNING"]
    place.go("a")
    asked = {"execution_id": answer["data"]["execution_id"], "wait_seconds": 60}
    assert modern(serving.port).call("get_execution", asked).envelope["data"]["status"] == "completed"


def test_over_http_a_stream_tells_of_a_task_to_its_end(serving: Serving, place: Place) -> None:
    answer = modern(serving.port).execute("execute_errand", place.params("a"))
    execution_id = answer.envelope["data"]["execution_id"]
    meta = {**MODERN_META, "io.modelcontextprotocol/clientCapabilities": {"extensions": {TASKS: {}}}}
    params = {"notifications": {"taskIds": [execution_id]}, "_meta": meta}
    message = {"jsonrpc": "2.0", "id": "news", "method": "subscriptions/listen", "params": params}
    headers = {**modern(serving.port).headers, "Mcp-Method": "subscriptions/listen"}
    connection = http.client.HTTPConnection("127.0.0.1", serving.port, timeout=PATIENCE)
    with contextlib.closing(connection):
        connection.request("POST", "/mcp", json.dumps(message), headers)
        frames = (json.loads(line[6:]) for line in connection.getresponse() if line.startswith(b"data: "))
        assert next(frames)["params"]["notifications"] == {"taskIds": [execution_id]}
        assert next(frames)["params"]["status"] == "working"
        place.go("a")
        told = next(frame["params"] for frame in frames if frame["params"]["status"] != "working")
        assert (told["status"], envelope_in(told["result"])["data"]["result"]) == ("completed", "a is done")


# pipes


def test_a_server_whose_client_is_gone_finishes_what_it_can_before_it_ends(place: Place) -> None:
    state, names = ("--state", f"sqlite:///{place.folder}/state.db"), ("errand", "bound_errand")
    with serve_pipes(*state, source=ERRANDS) as pipes:
        for name in names:
            pipes.send(tool_call(name, f"execute_{name}", place.params(name), tool="mcp_aql_execute"))
        ids = [pipes.envelope(name)["data"]["execution_id"] for name in names]
        until(lambda: all(place.has(name, "begun") for name in names), "the errands")
        pipes.close()
        until(lambda: place.has("bound_errand", "cancelled"), "the end of the session")
        place.go("errand")
        assert pipes.ended() == 0
    with serve_pipes(*state, source=ERRANDS) as pipes:
        for execution_id in ids:
            pipes.send(tool_call(execution_id, "get_execution", {"execution_id": execution_id}))
        found = [pipes.envelope(execution_id)["data"]["status"] for execution_id in ids]
        assert found == ["completed", "cancelled"]
        pipes.close()
        assert pipes.ended() == 0


@ERAS
async def test_what_is_not_finished_when_a_server_ends_fails_or_is_resumed_by_the_next_one(
    place: Place, era: Era
) -> None:
    state = f"sqlite:///{place.folder}/state.db"
    names = ("errand", "bound_errand", "failing_errand", "resumed_errand")
    first = mcp_server(make_errands(), state=state)
    async with connected(first, era) as line:
        ids = {name: await line.started(f"execute_{name}", **place.params(name)) for name in names}
        for name in names:
            await place.come(name, "begun")
    await first.close()
    await first.store.close()
    second = mcp_server(make_errands(), state=state)
    place.go("resumed_errand")
    await second.open()
    async with connected(second, era) as line:
        found = {name: await line.ended(execution_id) for name, execution_id in ids.items()}
    await second.close()
    await second.store.close()
    assert {name: one["status"] for name, one in found.items()} == {
        "errand": "failed",
        "bound_errand": "cancelled",
        "failing_errand": "failed",
        "resumed_errand": "completed",
    }
    assert found["errand"]["error"]["code"] == "INTERNAL_INTERRUPTED"
    assert found["failing_errand"]["error"]["code"] == "INTERNAL_SESSION_ENDED"
    assert found["resumed_errand"]["attempt"] == 2


# sessions that end at an awkward moment


async def test_a_session_that_nobody_uses_any_more_ends_with_what_is_bound_to_it(place: Place) -> None:
    server, now = mcp_server(make_errands()), [0.0]
    server.sessions = Sessions(100, on_end=server._forget, clock=lambda: now[0])
    session = server.sessions.get("a client that was killed")
    call = {"operation": "execute_bound_errand", "params": place.params("a")}
    reply = await server.engine.call(call, session=session)
    await place.come("a", "begun")
    await server.tidy()
    assert not session.ended
    now[0] = 101
    await server.tidy()
    assert (await ended(server, reply.execution))["status"] == "cancelled"
    await server.close()


async def test_what_is_started_while_its_session_ends_ends_too(place: Place) -> None:
    server, session = mcp_server(make_errands()), Session()
    session.end()
    call = {"operation": "execute_bound_errand", "params": place.params("a")}
    reply = await server.engine.call(call, session=session)
    assert (await ended(server, reply.execution))["status"] == "cancelled"
    await server.close()


def _away(monkeypatch: pytest.MonkeyPatch, times: int) -> list[str]:
    """Have the store be away when sessions end, so often; which sessions it was asked about."""
    asked: list[str] = []
    end_session = Ledger.end_session

    async def end(ledger: Ledger, session: str) -> list[Any]:
        asked.append(session)
        if len(asked) <= times:
            raise StoreError("the database is away")
        return await end_session(ledger, session)

    monkeypatch.setattr(Ledger, "end_session", end)
    return asked


async def test_the_end_of_a_session_is_told_to_a_store_that_was_away(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headgate.executions.service._SECONDS_UNTIL_ANOTHER_TRY", 0)
    asked = _away(monkeypatch, 2)
    server = mcp_server(make_errands())
    async with connected(server) as line:
        execution_id = await line.started("execute_bound_errand", **place.params("a"))
        await place.come("a", "begun")
    assert (await ended(server, execution_id))["status"] == "cancelled"
    assert len(asked) == 3
    await server.close()


async def test_a_store_that_stays_away_keeps_nobody_from_ending(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headgate.executions.service._SECONDS_UNTIL_ANOTHER_TRY", 60)
    monkeypatch.setattr("headgate.executions.service._SECONDS_FOR_SESSIONS", 0)
    _away(monkeypatch, 1)
    server = mcp_server(make_errands())
    async with connected(server) as line:
        await line.started("execute_bound_errand", **place.params("a"))
        await place.come("a", "begun")
    with anyio.fail_after(PATIENCE):
        await server.close()
    assert place.has("a", "cancelled")


# embedding


async def test_an_application_takes_up_what_was_left_when_it_starts_and_ends_its_work_when_it_ends(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headgate.server.binding._GRACE_SECONDS", 0.0)
    state = f"sqlite:///{place.folder}/state.db"
    server = mcp_server(make_errands(), state=state)
    async with mounted(server), connected(server) as line:
        execution_id = await line.started("execute_resumed_errand", **place.params("a"))
        await place.come("a", "begun")
    assert place.has("a", "cancelled")
    await server.store.close()
    place.go("a")
    again = mcp_server(make_errands(), state=state)
    assert again.engine.executions
    async with mounted(again):
        executions = again.engine.executions
        found = await executions.ledger.find(execution_id)
        assert found
        assert (await executions.wait(found, PATIENCE)).state == "completed"
    await again.store.close()


async def test_a_server_is_closed_by_the_last_of_those_who_opened_it(place: Place) -> None:
    server = mcp_server(make_errands())
    await server.open()
    async with mounted(server), connected(server) as line:
        execution_id = await line.started("execute_errand", **place.params("a"))
        await place.come("a", "begun")
    assert not place.has("a", "cancelled")
    await server.close()
    assert place.has("a", "cancelled")
    assert (await ended(server, execution_id))["status"] == "failed"
    await server.close()


async def test_a_server_that_was_closed_can_be_opened_again(place: Place) -> None:
    server = mcp_server(make_errands())
    for name in ("a", "b"):
        async with mounted(server), connected(server) as line:
            execution_id = await line.started("execute_errand", **place.params(name))
            place.go(name)
            assert (await line.ended(execution_id))["status"] == "completed"


async def test_who_opens_a_server_at_the_same_time_opens_it_once(place: Place) -> None:
    server = mcp_server(make_errands(), state=f"sqlite:///{place.folder}/state.db")
    assert server.engine.executions
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(server.open)
        tasks.start_soon(server.open)
    assert len(server.engine.executions.host._tasks) == 1
    await server.close()
    await server.close()
    await server.store.close()


# a new version of the adapter


def versioned(word: str, place: Place) -> Adapter:
    adapter = Adapter("errands")

    @adapter.execute(background=True)
    async def execute_errand(name: str, ctx: Context) -> str:
        """Say which version this is."""
        (place.folder / f"{name}.begun").touch()
        while not place.has(name, "go"):  # noqa: ASYNC110
            await anyio.sleep(0.01)
        return word

    return adapter


async def test_what_is_under_way_goes_on_when_the_adapter_is_replaced(place: Place) -> None:
    server = mcp_server(versioned("old", place))
    async with connected(server) as line:

        async def result(execution_id: str) -> Any:
            place.go("a")
            place.go("b")
            await line.ended(execution_id)
            return (await line.envelope("get_execution_result", execution_id=execution_id))["data"]["result"]

        before = await line.started("execute_errand", name="a")
        await place.come("a", "begun")
        await server.replace(versioned("new", place))
        after = await line.started("execute_errand", name="b")
        assert [await result(before), await result(after)] == ["old", "new"]
    await server.close()


async def test_what_is_under_way_can_be_followed_although_the_new_version_has_no_long_work(place: Place) -> None:
    server = mcp_server(versioned("old", place))
    async with connected(server) as line:
        execution_id = await line.started("execute_errand", name="a")
        await place.come("a", "begun")
        await server.replace(Adapter("errands"))
        place.go("a")
        assert (await line.ended(execution_id))["status"] == "completed"
        assert "result" in await line.request("tasks/get", {"taskId": execution_id})
    await server.close()


async def test_long_work_that_comes_with_a_new_version_is_taken_up_at_once(place: Place) -> None:
    server = mcp_server(Adapter("errands"))
    await server.open()
    await server.replace(versioned("new", place))
    assert server.engine.executions
    assert [one.id for one in await server.engine.executions.ledger.workers()] == [server.engine.executions.host.id]
    await server.close()


async def test_a_store_that_is_away_does_not_keep_a_new_version_from_being_served(place: Place) -> None:
    server = mcp_server(Adapter("errands"))
    await server.open()
    await server.store.close()
    await server.replace(versioned("new", place))
    assert "execute_errand" in server.engine.adapter.operations
    await server.close()
