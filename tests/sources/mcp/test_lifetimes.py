"""Servers that are killed, hang, or never start: whose calls they concern, and how soon they are back."""

import asyncio
import gc
import json
import logging
import os
import signal
import sys
import time
from pathlib import Path

import anyio
import mcp_types as types
import pytest
from mcp.shared.message import SessionMessage

from headgate.protocol.adapter_errors import AdapterError
from headgate.sources.mcp import links, processes, upstream
from headgate.sources.mcp.configuration import McpSpec
from headgate.sources.mcp.last_words import LastWords
from headgate.sources.mcp.processes import process_streams
from headgate.sources.mcp.source import McpSource
from tests.sources.mcp.opening import Opened, heard_by, is_running, lines, opened, until

pytestmark = pytest.mark.anyio

SOURCE = Path(lines().args[1]).read_text()
ERAS = pytest.mark.parametrize("era", ["legacy", "modern"])


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes that do not end by themselves are ended soon."""
    monkeypatch.setattr(processes, "_GRACE_SECONDS", 0.1)


async def under_way(log: Path, tool: str) -> None:
    """Wait until a server has got a call."""
    await until(lambda: any(message.get("params", {}).get("name") == tool for message in heard_by(log)))


async def pid_of(server: Opened) -> int:
    return int(await server.data("pid"))


def program(code: str, name: str = "odd") -> McpSpec:
    return McpSpec(name=name, command=sys.executable, args=("-S", "-c", code))


# kill -9


@ERAS
async def test_a_kill_amid_a_call_concerns_its_caller_alone_and_the_server_is_back(tmp_path: Path, era: str) -> None:
    log = tmp_path / "log"
    async with opened(lines("one", ERA=era, LOG=str(log))) as one, opened(lines("two")) as two:
        pid = await pid_of(one)
        other = asyncio.create_task(two.data("sleep", seconds=0.5))
        call = asyncio.create_task(one.error("hang"))
        await under_way(log, "hang")
        killed = time.monotonic()
        os.kill(pid, signal.SIGKILL)
        error = await call
        told = time.monotonic()
        assert await pid_of(one) != pid
        back = time.monotonic()
        assert await other == "awake"
        assert await two.data("echo", value=1) == {"value": 1}
    known, again = told - killed, back - killed
    sys.stdout.write(f"\n{era}: the caller knew after {known:.3f} s, the next call was answered after {again:.3f} s\n")
    assert error["code"] == "TRANSPORT_NETWORK_ERROR"
    assert error["details"] == {"target": "one", "tool": "hang"}
    assert "'one' broke off" in error["message"]
    assert "not known" in error["message"], "whether it had an effect is not claimed"


async def test_a_server_that_reads_nothing_any_more_is_started_again(impatient: None) -> None:
    async with opened(lines()) as server:
        pid = await pid_of(server)
        assert await server.data("turn_deaf") == "what?"
        error = await server.error("echo", value=1)
        assert error["code"] == "TRANSPORT_NETWORK_ERROR"
        assert "it does not read any more" in error["message"]
        assert await pid_of(server) != pid


async def test_all_calls_of_a_killed_server_end_and_none_of_them_is_sent_again(tmp_path: Path) -> None:
    log = tmp_path / "log"
    async with opened(lines(LOG=str(log))) as server:
        pid = await pid_of(server)
        calls = [asyncio.create_task(server.error("hang")) for _ in range(10)]
        await until(lambda: log.read_text().count('"hang"') == 10)
        os.kill(pid, signal.SIGKILL)
        errors = await asyncio.gather(*calls)
        assert {error["code"] for error in errors} == {"TRANSPORT_NETWORK_ERROR"}
        assert await pid_of(server) != pid
        assert log.read_text().count('"hang"') == 10


async def test_calls_that_wait_to_be_sent_to_a_server_that_is_killed_end_with_it_in_silence(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with opened(lines()) as server:
        pid = await pid_of(server)
        os.kill(pid, signal.SIGSTOP)
        calls = [asyncio.create_task(server.error("echo", value="x" * 100_000)) for _ in range(40)]
        await anyio.wait_all_tasks_blocked()
        os.kill(pid, signal.SIGKILL)
        errors = await asyncio.gather(*calls)
        assert {error["code"] for error in errors} == {"TRANSPORT_NETWORK_ERROR"}
        assert await pid_of(server) != pid
    assert [record.message for record in caplog.records if record.name == "asyncio"] == []


async def test_calls_that_wait_to_be_sent_to_a_server_that_is_being_closed_end_in_silence_too(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "_GRACE_SECONDS", 0.1)
    long = types.JSONRPCRequest(jsonrpc="2.0", id=1, method="x" * 200_000)
    async with process_streams(lines(), LastWords("lines"), lambda _why: None) as (_, server):
        os.kill(server._pipes.process.pid, signal.SIGSTOP)
        calls = [asyncio.create_task(server.send(SessionMessage(long))) for _ in range(40)]
        await anyio.wait_all_tasks_blocked()
    ends = await asyncio.gather(*calls, return_exceptions=True)
    assert {type(end) for end in ends} <= {anyio.BrokenResourceError, anyio.ClosedResourceError}
    assert [record.message for record in caplog.records if record.name == "asyncio"] == []


async def test_a_killed_server_whose_child_holds_its_pipes_is_missed_too() -> None:
    async with opened(lines()) as server:
        pid, child = await pid_of(server), int(await server.data("get_child"))
        call = asyncio.create_task(server.error("hang"))
        await asyncio.sleep(0)
        os.kill(pid, signal.SIGKILL)
        assert (await call)["code"] == "TRANSPORT_NETWORK_ERROR"
        await until(lambda: not is_running(child))
        assert await pid_of(server) != pid


async def test_a_server_that_ends_by_itself_is_back_before_it_is_needed() -> None:
    async with opened(lines()) as server:
        pid = await pid_of(server)
        os.kill(pid, signal.SIGTERM)
        await until(lambda: not server.source.is_up)
        await until(lambda: server.source.is_up)
        assert await pid_of(server) != pid


async def test_a_crash_loop_is_told_at_once_with_the_time_until_the_next_attempt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    tools = tmp_path / "tools.json"
    tools.write_text(json.dumps([{"name": "pid", "inputSchema": {"type": "object"}}]))
    monkeypatch.setattr(upstream, "_PATIENCE_SECONDS", 0.1)
    async with opened(lines(TOOLS=str(tools))) as server:
        tools.unlink()
        os.kill(await pid_of(server), signal.SIGKILL)
        await until(lambda: server.source._upstream._failures >= 3)
        errors = [await server.error("pid") for _ in range(3)]
        tools.write_text("[]")
    assert {error["code"] for error in errors} == {"TRANSPORT_CONNECTION_REFUSED"}
    assert all(error["details"]["retry_after_seconds"] >= 1 for error in errors)
    assert "Nothing was sent" in errors[0]["message"]
    assert caplog.text.count("No such file") == 1, "the operator reads its last words, once"
    assert "No such file" not in str(errors), "the model does not"


async def test_attempts_to_start_again_grow_rarer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    delays: list[float] = []
    enough = asyncio.Event()
    real = anyio.sleep

    async def noted(seconds: float) -> None:
        is_keeper = asyncio.current_task() is server.source._upstream._keeper
        if not is_keeper or seconds < 0.2:  # others sleep too, and the keeper while it ends a process
            await real(seconds)
            return
        delays.append(seconds)
        if len(delays) == 10:
            enough.set()
        await real(0)

    tools = tmp_path / "tools.json"
    tools.write_text(json.dumps([{"name": "pid", "inputSchema": {"type": "object"}}]))
    async with opened(lines(TOOLS=str(tools))) as server:
        pid = await pid_of(server)
        tools.unlink()
        monkeypatch.setattr(anyio, "sleep", noted)
        os.kill(pid, signal.SIGKILL)
        await enough.wait()
        monkeypatch.undo()
    assert delays[:10] == [0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30.0, 30.0]


# servers that never start


NEVER = {
    "no such program": (McpSpec(name="odd", command="no-such-program-here"), "there is no 'no-such-program-here' here"),
    "no such folder": (
        McpSpec(name="odd", command=sys.executable, cwd="/no/such/folder"),
        "there is no '/no/such/folder'",
    ),
    "no program": (McpSpec(name="odd", command="/etc/hostname"), "'/etc/hostname' is no program"),
    "a zero in its name": (McpSpec(name="odd", command="a\0b"), "is no program"),
    "one that ends at once": (program("raise SystemExit(3)"), "it ended, or does not speak MCP"),
    "one that says something else": (program("print('hello')"), "it ended, or does not speak MCP"),
    "one that refuses": (
        program(
            "import sys, json\nfor line in sys.stdin:\n  m = json.loads(line)\n  if 'id' in m: print(json.dumps("
            "{'jsonrpc': '2.0', 'id': m['id'], 'error': {'code': -32000, 'message': 'key s3cret'}}), flush=True)"
        ),
        "it does not answer as a server of MCP does",
    ),
    "one of another time": (
        program(
            "import sys, json\nfor line in sys.stdin:\n  m = json.loads(line)\n  if 'id' in m: print(json.dumps("
            "{'jsonrpc': '2.0', 'id': m['id'], 'result': {'protocolVersion': '1999-01-01', 'capabilities': {}, "
            "'serverInfo': {'name': 'x', 'version': '1'}}}), flush=True)"
        ),
        "it speaks an unknown version of MCP",
    ),
    "one that greets oddly": (
        program(
            "import sys, json\nfor line in sys.stdin:\n  m = json.loads(line)\n  if 'id' in m: print(json.dumps("
            "{'jsonrpc': '2.0', 'id': m['id'], 'result': {}}), flush=True)"
        ),
        "it does not speak MCP",
    ),
}


@pytest.mark.parametrize(("spec", "words"), NEVER.values(), ids=NEVER)
async def test_a_server_that_cannot_be_started_says_why_and_is_not_tried_again(
    spec: McpSpec, words: str, caplog: pytest.LogCaptureFixture
) -> None:
    source = McpSource(spec)
    with pytest.raises(AdapterError) as caught:
        await source.open()
    assert str(caught.value).startswith("MCP server 'odd': ")
    assert words in str(caught.value)
    assert "s3cret" not in str(caught.value)
    assert not [task for task in asyncio.all_tasks() if task.get_name() == "upstream odd"], "nobody goes on trying"
    await source.close()


async def test_a_server_with_a_problem_is_not_started(tmp_path: Path) -> None:
    source = McpSource(McpSpec(name="odd", command=sys.executable, problem="MCP server 'odd': 'env' is wrong"))
    with pytest.raises(AdapterError, match="'env' is wrong"):
        await source.open()
    await source.close()


async def test_a_silent_server_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upstream, "_START_SECONDS", 0.3)
    source = McpSource(program("import sys\nfor line in sys.stdin: pass"))
    with pytest.raises(AdapterError, match=r"did not list its tools within 0\.3 seconds"):
        await source.open()
    await source.close()


async def test_what_could_not_be_opened_can_be_opened_later(tmp_path: Path) -> None:
    tools = tmp_path / "tools.json"
    source = McpSource(lines(TOOLS=str(tools)))
    with pytest.raises(AdapterError):
        await source.open()
    tools.write_text(json.dumps([{"name": "pid", "inputSchema": {"type": "object"}}]))
    assert list((await source.open()).operations) == ["pid"]
    await source.close()


# closing


async def test_closing_leaves_no_process_behind_not_even_of_a_child() -> None:
    async with opened(lines()) as server:
        pids = [await pid_of(server), int(await server.data("get_child"))]
        assert all(map(is_running, pids))
    for pid in pids:
        await until(lambda pid=pid: not is_running(pid))  # type: ignore[misc]


async def test_a_server_that_does_not_want_to_end_is_ended(impatient: None) -> None:
    stubborn = (
        "import signal, runpy, sys, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        f"sys.argv = ['x']\nrunpy.run_path({lines().args[1]!r}, run_name='__main__')\ntime.sleep(600)"
    )
    async with opened(program(stubborn, "lines")) as server:
        pid = await pid_of(server)
    await until(lambda: not is_running(pid))


async def test_closing_while_the_server_starts_leaves_nothing(tmp_path: Path, impatient: None) -> None:
    mark = tmp_path / "pid"
    source = McpSource(program(f"import os, time\nopen({str(mark)!r}, 'w').write(str(os.getpid()))\ntime.sleep(600)"))
    opening = asyncio.create_task(source.open())
    await until(lambda: mark.exists() and mark.read_text())
    await source.close()
    with pytest.raises(AdapterError, match="it was closed"):
        await opening
    await until(lambda: not is_running(int(mark.read_text())))


async def test_giving_up_the_start_leaves_nothing(tmp_path: Path, impatient: None) -> None:
    mark = tmp_path / "pid"
    source = McpSource(program(f"import os, time\nopen({str(mark)!r}, 'w').write(str(os.getpid()))\ntime.sleep(600)"))
    opening = asyncio.create_task(source.open())
    await until(lambda: mark.exists() and mark.read_text())
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening
    await until(lambda: not is_running(int(mark.read_text())))
    await source.close()


async def test_calls_under_way_end_with_their_server_and_later_ones_start_nothing(tmp_path: Path) -> None:
    log = tmp_path / "log"
    async with opened(lines(LOG=str(log))) as server:
        call = asyncio.create_task(server.error("hang"))
        await under_way(log, "hang")
    assert (await call)["code"] == "TRANSPORT_NETWORK_ERROR"
    error = await server.error("pid")
    assert error["code"] == "TRANSPORT_CONNECTION_REFUSED"
    assert "it was closed" in error["message"]
    assert not server.source.is_up
    await server.source.close()


async def test_nothing_is_left_to_be_collected(caplog: pytest.LogCaptureFixture) -> None:
    McpSource(lines())
    async with opened(lines(timeout=0.2)) as server:
        await server.error("hang")
        await server.error("end")
    gc.collect()
    assert not [record for record in caplog.records if record.name == "asyncio" and record.levelno > logging.INFO]
    assert not [task for task in asyncio.all_tasks() if task.get_name() == "upstream lines"]


# time


@ERAS
async def test_a_call_without_an_answer_ends_in_time_and_the_server_is_told(tmp_path: Path, era: str) -> None:
    log = tmp_path / "log"
    async with opened(lines(timeout=0.3, ERA=era, LOG=str(log))) as server:
        pid = await pid_of(server)
        error = await server.error("hang")
        assert error["code"] == "TRANSPORT_TIMEOUT"
        assert error["message"] == "'lines' did not answer within 0.3 seconds, and was told to stop"
        [call] = [message for message in heard_by(log) if message.get("params", {}).get("name") == "hang"]
        found = await until(lambda: [m for m in heard_by(log) if m["method"] == "notifications/cancelled"])
        assert found[0]["params"]["requestId"] == call["id"]
        assert await pid_of(server) == pid, "a server that lives is left alone"


@ERAS
async def test_a_server_that_hangs_is_started_anew(era: str, impatient: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(links, "_PING_SECONDS", 0.3)
    async with opened(lines(timeout=0.3, ERA=era)) as server:
        pid = await pid_of(server)
        assert (await server.error("sleep", seconds=600))["code"] == "TRANSPORT_TIMEOUT"
        await until(lambda: not is_running(pid))
        await until(lambda: server.source.is_up)
        assert await pid_of(server) != pid


async def test_a_server_that_knows_no_ping_is_alive_all_the_same(tmp_path: Path) -> None:
    code = SOURCE.replace('"ping"', '"pong"')
    async with opened(McpSpec(name="lines", command=sys.executable, args=("-S", "-c", code), timeout=0.2)) as server:
        pid = await pid_of(server)
        await server.error("hang")
        await until(lambda: not server.source._upstream._looking)
        assert await pid_of(server) == pid


@ERAS
async def test_progress_reaches_the_caller_and_gives_the_call_more_time(era: str) -> None:
    told: list[tuple[float, float | None, str | None]] = []

    async def progress(current: float, total: float | None, message: str | None) -> None:
        told.append((current, total, message))

    async with opened(lines(timeout=0.6, ERA=era)) as server:
        envelope = await server.call("step", {"steps": 5}, progress=progress)
    assert envelope == {"success": True, "data": "done"}
    assert told == [(step, 5, f"step {step}") for step in range(1, 6)]


@ERAS
async def test_progress_that_is_no_number_is_not_passed_on(era: str) -> None:
    told: list[tuple[float, float | None]] = []

    async def progress(done: float, total: float | None, message: str | None) -> None:
        told.append((done, total))

    step = '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%ID%'
    news = "\n".join(
        f'{step},"progress":{done},"total":{total}}}}}' for done, total in (("1e999", 3), (1, "1e999"), (2, 3))
    )
    answer = '{"jsonrpc":"2.0","id":%ID%,"result":{"resultType":"complete","content":[]}}'
    async with opened(lines(ERA=era)) as server:
        assert (await server.call("show_line", {"line": f"{news}\n{answer}"}, progress=progress))["success"]
        await until(lambda: len(told) == 2)
    assert told == [(1, None), (2, 3)]


@ERAS
async def test_a_caller_who_leaves_takes_the_call_with_him(tmp_path: Path, era: str) -> None:
    log = tmp_path / "log"
    async with opened(lines(ERA=era, LOG=str(log))) as server:
        call = asyncio.create_task(server.call("hang"))
        await under_way(log, "hang")
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await until(lambda: any(message["method"] == "notifications/cancelled" for message in heard_by(log)))
        assert await server.data("echo", value=1) == {"value": 1}


async def test_what_a_server_writes_beside_its_messages_holds_nothing_up(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "headgate.upstream")
    async with opened(lines()) as server:
        assert await server.data("show_in_log", text="x" * 300_000 + "\nlast words") == "heard"
        await until(lambda: "lines: last words" in caplog.text)
