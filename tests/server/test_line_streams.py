"""What is owed over standard input and output: answers, questions, and room for what is written."""

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp.shared.message import SessionMessage

from headgate import Adapter, mcp_server
from headgate.server import line_streams
from headgate.server.line_streams import Answers, Debts, Line, write_lines
from headgate.server.stdio import Pipes, run_stdio
from tests.server.processes import INITIALIZED, PATIENCE, lines, tool_call
from tests.sources.mcp.opening import lines as line_server
from tests.sources.mcp.opening import opened

pytestmark = pytest.mark.anyio

LONG_GRACE = 10 * PATIENCE
"""Seconds that no test lasts."""


def request(number: types.RequestId) -> types.JSONRPCRequest:
    return types.JSONRPCRequest(jsonrpc="2.0", id=number, method="tools/call")


def answer(number: types.RequestId) -> types.JSONRPCResponse:
    return types.JSONRPCResponse(jsonrpc="2.0", id=number, result={})


def cancelled(number: Any) -> types.JSONRPCNotification:
    return types.JSONRPCNotification(jsonrpc="2.0", method="notifications/cancelled", params={"requestId": number})


class Client:
    """Whoever holds the other ends of the pipes."""

    def __init__(self, sink: int, source: int) -> None:
        self.sink = sink
        self.source = source
        self._came = b""

    def tell(self, *messages: Any) -> None:
        os.write(self.sink, lines(*messages))

    def leave(self) -> None:
        os.close(self.sink)

    async def heard(self) -> Any:
        """The next message."""
        while b"\n" not in self._came:
            await anyio.wait_readable(self.source)
            self._came += os.read(self.source, 65536)
        line, _, self._came = self._came.partition(b"\n")
        return json.loads(line)


@asynccontextmanager
async def served(adapter: Adapter, grace: float = LONG_GRACE, **capabilities: Any) -> AsyncIterator[Client]:
    """A server on pipes in this process, which must have ended by itself when the block is left."""
    (source, to_server), (from_server, sink) = os.pipe(), os.pipe()
    server = mcp_server(adapter)
    running = asyncio.create_task(run_stdio(server, Pipes(source, sink), grace))
    client = Client(to_server, from_server)
    hello = {"protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": {"name": "c", "version": "1"}}
    client.tell({"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": hello})
    try:
        with anyio.fail_after(PATIENCE):
            await client.heard()
            client.tell(INITIALIZED)
            yield client
            await running
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        await server.store.close()
        for end in (source, from_server, sink):
            os.close(end)


SETTLED: dict[str, tuple[list[types.JSONRPCMessage], list[types.JSONRPCMessage], bool]] = {
    "a request": ([request(1)], [], True),
    "answered": ([request(1)], [answer(1)], False),
    "cancelled": ([request(1), cancelled(1)], [], False),
    "cancelled as a text": ([request(1), cancelled("1")], [], False),
    "a text cancelled as a number": ([request("5"), cancelled(5)], [], False),
    "another one cancelled": ([request(1), cancelled(2)], [], True),
    "true is not 1": ([request(1), cancelled(True)], [], True),
    "nothing is cancelled": ([request(1), cancelled(None), cancelled([1])], [], True),
    "an answered one cancelled": ([request(1), request(2)], [answer(1), answer(1)], True),
    "two of the same number": ([request(1), request("1")], [answer(1)], True),
    "both of the same number": ([request(1), request("1")], [answer(1), answer("1")], False),
}  # fmt: skip


@pytest.mark.parametrize(("heard", "said", "is_owed"), SETTLED.values(), ids=SETTLED)
async def test_every_request_is_owed_an_answer_unless_it_is_cancelled(
    heard: list[types.JSONRPCMessage], said: list[types.JSONRPCMessage], is_owed: bool
) -> None:
    debts = Debts()
    for message in heard:
        debts.heard(message)
    for message in said:
        debts.said(message)
    assert debts.any_answer is is_owed


async def test_a_question_is_owed_an_answer_by_the_client_unless_it_is_taken_back() -> None:
    debts = Debts()
    debts.said(request(1))
    debts.said(request(2))
    debts.said(request(3))
    debts.heard(answer("1"))
    debts.said(cancelled("3"))
    debts.said(cancelled(None))
    assert debts.asked == {2}


async def test_a_client_reads_as_long_as_little_waits_to_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    line = Line.of(answer(1))
    monkeypatch.setattr(line_streams, "_MOST_UNWRITTEN", len(line.raw))
    debts, reads = Debts(), []
    with debts.unwritten(line):
        reads.append(debts.is_read)
        with debts.unwritten(line):
            reads.append(debts.is_read)
        reads.append(debts.is_read)
    assert reads == [True, False, True]


async def test_what_is_given_up_before_it_is_written_does_not_wait_any_more() -> None:
    queue, _lines = anyio.create_memory_object_stream[Line](0)
    (source, sink), debts = os.pipe(), Debts()
    async with Answers(sink, debts, queue) as answers:
        with anyio.move_on_after(0.01) as giving_up:
            await answers.send(SessionMessage(answer(1)))  # nobody takes lines here
    assert giving_up.cancelled_caught
    assert debts.is_all_written
    _lines.close()
    os.close(source)
    os.close(sink)


async def test_a_short_message_does_not_overtake_a_long_one() -> None:
    queue, taken = anyio.create_memory_object_stream[Line](0)
    (source, sink), debts = os.pipe(), Debts()
    came: list[str] = []

    async def read() -> None:
        pending = b""
        while pending.count(b"\n") < 2:
            await anyio.wait_readable(source)
            pending += os.read(source, 65536)
        came.extend(json.loads(line)["method"][0] for line in pending.splitlines())

    async with Answers(sink, debts, queue) as answers, anyio.create_task_group() as tasks:
        tasks.start_soon(write_lines, sink, debts, taken)
        await anyio.wait_all_tasks_blocked()
        for method in ("1" * 8000, "2"):  # each by a task of its own, in this order
            tasks.start_soon(answers.send, SessionMessage(types.JSONRPCNotification(jsonrpc="2.0", method=method)))
        with anyio.fail_after(PATIENCE):
            await read()
        tasks.cancel_scope.cancel()
    assert came == ["1", "2"]
    os.close(source)
    os.close(sink)


async def test_who_leaves_amid_a_question_is_not_waited_for() -> None:
    adapter = Adapter("users")
    ran: list[str] = []

    @adapter.delete
    async def delete_user(user_id: str) -> str:
        """Delete a user."""
        ran.append(user_id)
        return user_id

    async with served(adapter, elicitation={}) as client:
        client.tell(tool_call(1, "delete_user", {"user_id": "alice"}, tool="mcp_aql_delete"))
        assert (await client.heard())["method"] == "elicitation/create"
        client.leave()
        told = (await client.heard())["result"]["content"][0]["text"]
        assert json.loads(told)["error"]["code"] == "CONFIRMATION_REQUIRED"
    assert ran == []


async def test_a_question_after_the_end_has_no_answer_either() -> None:
    adapter = Adapter("users")
    has_left = anyio.Event()

    @adapter.delete
    async def delete_user(user_id: str) -> str:
        """Delete a user."""
        return user_id

    @adapter.execute
    async def execute_wait() -> str:
        """Wait until the client has left."""
        await has_left.wait()
        return "done"

    async with served(adapter, elicitation={}) as client:
        client.tell(tool_call(1, "execute_wait", {}, tool="mcp_aql_execute"))
        client.tell(tool_call(2, "delete_user", {"user_id": "alice"}, tool="mcp_aql_delete"))
        client.leave()
        messages = [await client.heard() for _ in range(2)]
        assert [message.get("method", message.get("id")) for message in messages] == ["elicitation/create", 2]
        has_left.set()
        assert (await client.heard())["id"] == 1


async def test_from_a_client_that_does_not_read_nothing_more_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_streams, "_MOST_UNWRITTEN", 500_000)
    adapter = Adapter("blobs")
    made: list[int] = []

    @adapter.read
    async def get_blob(number: int) -> str:
        """Get much."""
        made.append(number)
        return "x" * 100_000

    async with served(adapter) as client:
        os.set_blocking(client.sink, False)
        calls = [lines(tool_call(number, "get_blob", {"number": number})) for number in range(2000)]
        sent = 0
        with anyio.move_on_after(1):
            for call in calls:
                await anyio.wait_writable(client.sink)
                sent += os.write(client.sink, call) == len(call)
        assert len(made) < sent < 2000, "what is not read stays in the pipe"
        heard = [(await client.heard())["id"] for _ in range(sent)]
        assert sorted(heard) == list(range(sent)), "and is answered when the client reads again"
        client.leave()


async def test_a_call_to_an_mcp_server_is_answered_when_grace_is_over() -> None:
    async with opened(line_server()) as upstream, served(upstream.adapter, grace=0.2) as client:
        client.tell(tool_call(1, "hang", {}, tool="mcp_aql_execute"))
        await anyio.wait_all_tasks_blocked()
        client.leave()
        assert (await client.heard())["error"] == {"code": types.CONNECTION_CLOSED, "message": "Connection closed"}
