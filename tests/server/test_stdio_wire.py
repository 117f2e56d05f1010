"""The wire of stdio: whatever bytes come, a clear answer, and the server lives on until it is no longer needed."""

import fcntl
import itertools
import json
import os
import select
import signal
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.shared.message import SessionMessage

from headgate.server.line_streams import Answers, Debts, Incoming, Line, Lines, TooLong, put, write_lines
from tests.server.mutations import mutated
from tests.server.processes import (
    HEADGATE,
    INITIALIZE,
    INITIALIZED,
    MODERN_META,
    PATIENCE,
    WORKSHOP,
    Pipes,
    environment,
    lines,
    serve_pipes,
    tool_call,
    until,
)


@pytest.fixture(scope="module")
def pipes() -> Iterator[Pipes]:
    """A server that every test of this module leaves alive."""
    with serve_pipes() as started:
        yield started
        started.close()
        assert started.ended() == 0


BAD_LINES: dict[str, tuple[bytes, int, str]] = {
    "not UTF-8": (b'{"id":1,"method":"\xff"}\n', -32700, "Parse error: the line is not UTF-8 from byte 18 on"),
    "not JSON": (b"hello\n", -32700, "Parse error: the line is not JSON"),
    "NaN": (b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"n":NaN}}\n', -32700, "Parse error: the line is not JSON"),
    "deep": (b"[" * 50_000 + b"]" * 50_000 + b"\n", -32700, "Parse error: the line is nested too deeply"),
    "batch": (b"[]\n", -32600, "Invalid request: not a JSON-RPC 2.0 message"),
    "null byte": (b"\x00\r\n", -32700, "Parse error: the line is not JSON"),
    "too long": (b"x" * 5_000_000 + b"\n", -32600, "Invalid request: the line is longer than 4194304 bytes"),
    "wrong id": (
        b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}\n',
        -32600,
        "Invalid request: the id must be a string or an integer",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("line", "code", "message"), BAD_LINES.values(), ids=BAD_LINES)
def test_a_bad_line_gets_a_clear_error_and_the_server_lives_on(
    pipes: Pipes, line: bytes, code: int, message: str
) -> None:
    pipes.send(line)
    assert pipes.receive() == {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": message}}
    assert pipes.is_alive()


LONG_REQUESTS: dict[str, tuple[bytes, object]] = {
    "its id first, as the Python SDK writes": (
        b'{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"%b"}}',
        3,
    ),
    "its id last, as the TypeScript SDK writes": (
        b'{"method":"tools/call","params":{"name":"%b"},"jsonrpc":"2.0","id":4}',
        4,
    ),
    "a text as id": (b'{ "jsonrpc": "2.0", "id": "a1", "method": "ping", "params": {"x": "%b"} }', "a1"),
    "an answer": (b'{"jsonrpc":"2.0","id":5,"result":{"x":"%b"}}', None),
    "an answer with its id last": (b'{"result":{"x":"%b"},"jsonrpc":"2.0","id":6}', None),
    "an id within its parameters": (b'{"method":"ping","params":{"x":"%b","id":7}}', None),
    "an id within a text": (b'{"method":"ping","params":"%b,\\"id\\":8}","jsonrpc":"2.0"}', None),
    "a damaged id": (b'{"jsonrpc":"2.0","id":"\xff","method":"ping","params":"%b"}', None),
}  # fmt: skip


@pytest.mark.parametrize(("line", "number"), LONG_REQUESTS.values(), ids=LONG_REQUESTS)
def test_a_request_that_is_too_long_is_refused_by_its_id_where_that_is_sure(
    pipes: Pipes, line: bytes, number: object
) -> None:
    pipes.send(line % (b"x" * 5_000_000) + b"\n")
    answer = pipes.receive()
    assert (answer["id"], answer["error"]["code"]) == (number, -32600)
    assert pipes.is_alive()


SURROGATES: dict[str, bytes] = {
    "id": b'{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}\n',
    "method": b'{"jsonrpc":"2.0","id":1,"method":"\\ud800"}\n',
    "tool": b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"\\ud800"}}\n',
    "progress token": b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"mcp_aql_execute",'
    b'"_meta":{"progressToken":"\\udfff"},"arguments":{"operation":"execute_steps","params":{"count":1}}}}\n',
}


@pytest.mark.parametrize("line", SURROGATES.values(), ids=SURROGATES)
def test_a_lone_surrogate_anywhere_in_a_message_does_not_end_the_server(pipes: Pipes, line: bytes) -> None:
    pipes.send(line)
    assert pipes.receive()["jsonrpc"] == "2.0"
    assert pipes.is_alive()


REFUSED: dict[str, tuple[bytes, str]] = {
    "lone surrogate": (b'{"operation":"get_echo","params":{"text":"\\ud800"}}', "VALIDATION_INVALID_ENCODING"),
    "infinite number": (b'{"operation":"get_number","params":{"number":1e400}}', "VALIDATION_INVALID_VALUE"),
    "huge integer": (b'{"operation":"get_number","params":{"number":99999999999999999999999}}', "VALIDATION_"),
    "text": (b'"get_echo"', "VALIDATION_INVALID_TYPE"),
    "list": (b"[1, 2]", "VALIDATION_INVALID_TYPE"),
    "number": (b"7", "VALIDATION_INVALID_TYPE"),
    "deep": (b'{"operation":"get_echo","text":' + b"[" * 500 + b"]" * 500 + b"}", "VALIDATION_PAYLOAD_TOO_LARGE"),
}  # fmt: skip


@pytest.mark.parametrize(("arguments", "code"), REFUSED.values(), ids=REFUSED)
def test_arguments_that_cannot_be_meant_get_an_envelope(pipes: Pipes, arguments: bytes, code: str) -> None:
    pipes.send(
        b'{"jsonrpc":"2.0","id":"e","method":"tools/call","params":{"name":"mcp_aql_read","arguments":'
        + arguments
        + b"}}\n"
    )
    envelope = pipes.envelope("e")
    assert envelope["success"] is False
    assert envelope["error"]["code"].startswith(code)


@pytest.mark.parametrize(
    ("params", "error"),
    [
        ({"name": "mcp_aql_raed"}, {"code": -32602, "message": "Unknown tool. Did you mean 'mcp_aql_read'?"}),
        (
            {"name": "hammer", "arguments": "text"},
            {"code": -32602, "message": "Unknown tool. There is mcp_aql_read, mcp_aql_execute."},
        ),
    ],
)
def test_an_unknown_tool_is_answered_with_the_nearest(pipes: Pipes, params: Any, error: Any) -> None:
    pipes.send({"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": params})
    assert pipes.answer(5)["error"] == error


def test_a_call_without_a_tool_is_an_error_of_the_protocol(pipes: Pipes) -> None:
    pipes.send({"jsonrpc": "2.0", "id": 6, "method": "tools/call", "params": {"arguments": "text"}})
    assert pipes.answer(6)["error"]["code"] == -32602


def test_blank_lines_and_carriage_returns_are_no_matter(pipes: Pipes) -> None:
    pipes.send(b"\n", b"\r\n", b"   \n", b'{"jsonrpc":"2.0","id":7,"method":"ping"}\r\n')
    assert pipes.receive() == {"jsonrpc": "2.0", "id": 7, "result": {}}


def test_an_error_that_the_client_reports_is_not_sent_back_to_it(pipes: Pipes) -> None:
    pipes.send({"jsonrpc": "2.0", "id": 8, "error": {"code": -32600, "message": "mine"}})
    pipes.send({"jsonrpc": "2.0", "id": 9, "method": "ping"})
    assert pipes.receive()["id"] == 9


def test_what_a_handler_prints_does_not_reach_the_wire(pipes: Pipes) -> None:
    pipes.send(tool_call(10, "get_noise"))
    message = pipes.receive()
    assert message["id"] == 10
    assert message["result"]["isError"] is False
    for said in ("printed", "written", "straight to the descriptor"):
        pipes.serving.logged(said)


LINES = st.lists(
    st.binary(max_size=12).map(lambda line: line.replace(b"\n", b"")) | st.just(b"x" * 60), min_size=1, max_size=8
)


@given(lines=LINES, pieces=st.lists(st.integers(1, 20), min_size=1))
def test_lines_are_the_same_however_the_bytes_come_and_those_too_long_are_told_once(
    lines: list[bytes], pieces: list[int]
) -> None:
    rest, sizes = b"\n".join(lines), itertools.cycle(pieces)
    reader, came = Lines(20), []
    while rest:
        size = next(sizes)
        chunk, rest = rest[:size], rest[size:]
        came += reader.of(chunk)
    came += reader.of(b"")
    assert [TooLong if isinstance(line, TooLong) else line for line in came] == [
        line if len(line) < 60 else TooLong for line in lines
    ]


@pytest.mark.parametrize("size", [1, 4000, 5000, 70_000, 1_000_000])
def test_answers_of_every_size_arrive_whole(pipes: Pipes, size: int) -> None:
    pipes.send(tool_call(11, "get_blob", {"size": size}))
    assert pipes.envelope(11) == {"success": True, "data": "x" * size}


def test_requests_run_at_the_same_time_and_a_cancelled_one_is_forgotten(pipes: Pipes, tmp_path: Path) -> None:
    wait = tool_call(12, "execute_wait", {"folder": str(tmp_path), "name": "a"}, tool="mcp_aql_execute")
    pipes.send(wait)
    until((tmp_path / "a.begun").exists, "the handler")
    assert pipes.is_alive()
    pipes.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 12}})
    for odd in ({}, {"requestId": [12]}, {"requestId": {"id": 12}}, {"requestId": None}, {"requestId": "unheard of"}):
        pipes.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": odd})
    pipes.send({"jsonrpc": "2.0", "method": "notifications/cancelled"})
    assert pipes.is_alive()


def test_no_line_however_damaged_ends_the_server(pipes: Pipes) -> None:
    for line in mutated(2000, seed=1):
        pipes.send(line + b"\n")
    assert pipes.is_alive()
    assert not [line for line in pipes.answers.seen if "pydantic" in line or "Traceback" in line]


def test_the_modern_era_needs_no_handshake() -> None:
    with serve_pipes(greet=False) as pipes:
        call = tool_call(1, "get_echo", {"text": "hi"})
        call["params"]["_meta"] = MODERN_META
        pipes.send(call)
        assert pipes.envelope(1)["data"] == "hi"
        discover = {"jsonrpc": "2.0", "id": 2, "method": "server/discover", "params": {"_meta": MODERN_META}}
        pipes.send(discover)
        assert pipes.answer(2)["result"]["capabilities"]["extensions"] == {
            "headgate/mcp-aql": {"version": "1.0.0-draft"}
        }


@pytest.mark.parametrize("method", ["tools/call", "server/discover"])
def test_after_a_handshake_no_request_is_of_the_newer_protocol(method: str) -> None:
    with serve_pipes() as pipes:
        enveloped = tool_call(1, "get_echo", {"text": "hi"}) | {"method": method}
        enveloped["params"]["_meta"] = MODERN_META
        pipes.send(enveloped)
        error = pipes.answer(1)["error"]
        assert error["code"] == -32600
        assert "this connection began with a handshake" in error["message"]
        pipes.send(tool_call(2, "get_echo", {"text": "hi"}))
        assert pipes.envelope(2)["data"] == "hi"
        pipes.close()
        assert pipes.ended() == 0, "the refused request counts as answered"


def test_a_handshake_comes_too_late_after_a_request_of_the_newer_protocol() -> None:
    with serve_pipes(greet=False) as pipes:
        call = tool_call(1, "get_echo", {"text": "hi"})
        call["params"]["_meta"] = MODERN_META
        pipes.send(call, INITIALIZE)
        assert pipes.envelope(1)["data"] == "hi"
        assert pipes.answer("hello")["error"]["code"] == -32022


def test_when_input_ends_requests_in_work_are_finished(tmp_path: Path) -> None:
    with serve_pipes() as pipes:
        pipes.send(tool_call(1, "execute_wait", {"folder": str(tmp_path), "name": "a"}, tool="mcp_aql_execute"))
        until((tmp_path / "a.begun").exists, "the handler")
        pipes.close()
        (tmp_path / "a.go").touch()
        assert pipes.envelope(1)["data"] == "a is done"
        assert pipes.ended() == 0


def test_a_signal_lets_requests_in_work_finish(tmp_path: Path) -> None:
    with serve_pipes() as pipes:
        pipes.send(tool_call(1, "execute_wait", {"folder": str(tmp_path), "name": "a"}, tool="mcp_aql_execute"))
        until((tmp_path / "a.begun").exists, "the handler")
        pipes.process.send_signal(signal.SIGTERM)
        (tmp_path / "a.go").touch()
        assert pipes.envelope(1)["data"] == "a is done"
        assert pipes.ended() == 0


def test_a_listener_is_told_that_the_server_stops() -> None:
    with serve_pipes(greet=False) as pipes:
        wanted = {"notifications": {"toolsListChanged": True}, "_meta": MODERN_META}
        pipes.send({"jsonrpc": "2.0", "id": "news", "method": "subscriptions/listen", "params": wanted})
        assert pipes.receive()["method"] == "notifications/subscriptions/acknowledged"
        pipes.close()
        assert pipes.answer("news")["result"]["resultType"] == "complete"
        assert pipes.ended() == 0


def test_when_nobody_reads_any_more_the_server_ends() -> None:
    reader, writer = os.pipe()
    with subprocess.Popen(
        [HEADGATE, "serve", WORKSHOP], stdin=subprocess.PIPE, stdout=writer, env=environment()
    ) as process:
        os.close(writer)
        os.close(reader)
        assert process.stdin
        process.stdin.write(lines(INITIALIZE))
        process.stdin.flush()
        assert process.wait(PATIENCE) == 0


def test_what_a_module_prints_while_it_is_loaded_does_not_reach_the_wire(tmp_path: Path) -> None:
    (tmp_path / "noisy.py").write_text(NOISY)
    done = subprocess.run(
        [HEADGATE, "serve", "noisy.py"],
        input=b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n',
        capture_output=True,
        cwd=tmp_path,
        env=environment(),
        timeout=PATIENCE,
        check=True,
    )
    assert done.stdout == b'{"jsonrpc":"2.0","id":1,"result":{}}\n'
    assert b"printed" in done.stderr
    assert b"written" in done.stderr


NOISY = """
import os
print("printed")
os.write(1, b"written")
from headgate import Adapter
noisy = Adapter("noisy")
"""


@pytest.mark.anyio
async def test_a_reader_that_pauses_for_ever_does_not_keep_the_server_from_ending() -> None:
    reader, writer = os.pipe()
    try:
        with anyio.fail_after(PATIENCE):
            with anyio.move_on_after(0.3) as scope:
                await put(writer, b"x" * 1_000_000, is_quick=True)
            assert scope.cancelled_caught
    finally:
        os.close(reader)
        os.close(writer)


def pipe() -> tuple[int, int]:
    source, sink = os.pipe()
    fcntl.fcntl(sink, fcntl.F_SETPIPE_SZ, 8192)
    return source, sink


def sockets(held: int) -> tuple[int, int]:
    """As Node.js gives them to the programs that it starts."""
    ours, theirs = socket.socketpair()
    theirs.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, held)
    return ours.detach(), theirs.detach()


ENDS: dict[str, tuple[Callable[[], tuple[int, int]], bool]] = {
    "a pipe": (pipe, True),
    "a socket": (partial(sockets, 100_000), True),
    "a socket that holds little": (partial(sockets, 4096), False),
}


@pytest.mark.anyio
@pytest.mark.parametrize(("ends", "is_quick"), ENDS.values(), ids=ENDS)
async def test_a_short_message_leaves_at_once_where_it_is_sure_to_be_taken(
    ends: Callable[[], tuple[int, int]], is_quick: bool
) -> None:
    source, sink = ends()
    queue, taken = anyio.create_memory_object_stream[Line](0)
    debts = Debts()
    async with Answers(sink, debts, queue) as answers, anyio.create_task_group() as tasks:
        tasks.start_soon(write_lines, sink, debts, taken)
        await anyio.wait_all_tasks_blocked()
        sending = answers.send(SessionMessage(types.JSONRPCNotification(jsonrpc="2.0", method="now")))
        with suppress(StopIteration):
            sending.send(None)  # as far as it comes before another task has its turn
        has_left = bool(select.select([source], [], [], 0)[0])
        sending.close()
        tasks.cancel_scope.cancel()
    assert has_left is is_quick
    os.close(source)
    os.close(sink)


@pytest.mark.anyio
@pytest.mark.parametrize("ends", [ends for ends, _ in ENDS.values()], ids=ENDS)
async def test_messages_arrive_whole_and_in_their_order_whether_there_is_room_or_not(
    ends: Callable[[], tuple[int, int]],
) -> None:
    """Written at once where there is room, and by a task where there is none."""
    source, sink = ends()
    queue, queued = anyio.create_memory_object_stream[Line](0)
    debts = Debts()
    incoming = Incoming(source, debts, queue.clone(), 1000, ended=lambda: None)
    sizes = [(1, 700, 4000, 5000, 20_000)[place * 7 // 3 % 5] for place in range(300)]
    sent = [f"{place}." + "x" * size for place, size in enumerate(sizes)]

    def read() -> list[str]:
        """Whatever comes, with pauses in which the pipe fills."""
        came: list[str] = []
        with os.fdopen(source, "rb") as pipe:
            for line in pipe:
                came.append(json.loads(line)["method"])
                if len(came) % 50 == 0:
                    threading.Event().wait(0.02)
        return came

    async def send() -> None:
        async with incoming, Answers(sink, debts, queue) as answers:
            for place, method in enumerate(sent):
                await answers.send(SessionMessage(types.JSONRPCNotification(jsonrpc="2.0", method=method)))
                if place % 7 == 0:
                    await anyio.sleep(0.001)

    with ThreadPoolExecutor(1) as beside:
        came = beside.submit(read)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(write_lines, sink, debts, queued)
            tasks.start_soon(send)
        os.close(sink)
        assert came.result(PATIENCE) == sent


def test_the_last_line_is_answered_even_if_it_is_not_ended() -> None:
    given = lines(
        INITIALIZE,
        INITIALIZED,
        tool_call(1, "get_blob", {"size": 100_000}),
        b'{"jsonrpc":"2.0","id":2,"method":"ping"}',
    )
    done = subprocess.run(
        [HEADGATE, "serve", WORKSHOP], input=given, capture_output=True, env=environment(), check=True
    )
    assert {json.loads(line)["id"] for line in done.stdout.splitlines()} == {"hello", 1, 2}


def test_input_and_output_may_be_files_and_the_last_error_is_still_written(tmp_path: Path) -> None:
    source, sink = tmp_path / "in", tmp_path / "out"
    source.write_bytes(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\nnot a message')
    with source.open() as given, sink.open("w") as taken:
        subprocess.run(
            [HEADGATE, "serve", WORKSHOP], stdin=given, stdout=taken, env=environment(), timeout=PATIENCE, check=True
        )
    written = [json.loads(line) for line in sink.read_text().splitlines()]
    assert sorted(str(message.get("result", message.get("error"))) for message in written) == [
        "{'code': -32700, 'message': 'Parse error: the line is not JSON'}",
        "{}",
    ]
