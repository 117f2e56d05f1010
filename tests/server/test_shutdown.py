"""The end of a server over HTTP: what is in work is finished, and streams that only wait are closed."""

import contextlib
import http.client
import json
import signal
import socket
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import anyio
import pytest
import uvicorn
from starlette.responses import PlainTextResponse

from headgate.server.addresses import Address, listen
from headgate.server.http import WebServer
from headgate.server.signals import wait_for_signal
from headgate.server.work import Work
from tests.server.processes import MODERN_META, PATIENCE, WORKSHOP, Serving, is_listening, serve_http, tool_call, until
from tests.server.requests import Answer, Caller, legacy, modern


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(12) as pool:
        yield pool


def waiting(threads: ThreadPoolExecutor, client: Caller, folder: Path, name: str) -> Future[Answer]:
    """A call that goes on until the test lets it."""
    call = threads.submit(client.execute, "execute_wait", {"folder": str(folder), "name": name})
    until((folder / f"{name}.begun").exists, "the handler")
    return call


def listening(threads: ThreadPoolExecutor, client: Caller) -> Future[Answer]:
    """A stream on which a client waits for news, once it is open."""
    connection = http.client.HTTPConnection("127.0.0.1", client.port, timeout=PATIENCE)
    if client.era == "legacy":
        connection.request("GET", "/mcp", headers=dict(client.headers))
    else:
        wanted = {"notifications": {"toolsListChanged": True}, "_meta": MODERN_META}
        message = {"jsonrpc": "2.0", "id": "news", "method": "subscriptions/listen", "params": wanted}
        headers = {**client.headers, "Mcp-Method": "subscriptions/listen"}
        connection.request("POST", "/mcp", json.dumps(message), headers)
    response = connection.getresponse()

    def rest() -> Answer:
        with contextlib.closing(connection):
            return Answer(response.status, {"content-type": "text/event-stream"}, response.read())

    return threads.submit(rest)


def stop(serving: Serving, folder: Path) -> None:
    """Ask the server to stop; let the calls go on as soon as it takes no more."""
    serving.process.send_signal(signal.SIGTERM)
    until(lambda: not is_listening(serving.port), "the end of listening")
    for begun in folder.glob("*.begun"):
        begun.with_suffix(".go").touch()


def test_requests_in_work_are_finished_in_both_eras(threads: ThreadPoolExecutor, tmp_path: Path) -> None:
    with serve_http(WORKSHOP) as serving:
        session = legacy(serving.port)
        calls = {name: waiting(threads, modern(serving.port), tmp_path, name) for name in ("a", "b")}
        calls |= {name: waiting(threads, session, tmp_path, name) for name in ("c", "d")}
        news = [listening(threads, session), listening(threads, modern(serving.port))]
        stop(serving, tmp_path)
        for name, call in calls.items():
            assert call.result(PATIENCE).envelope["data"] == f"{name} is done"
        assert serving.process.wait(PATIENCE) == 0
        assert news[0].result(PATIENCE).status == 200
        assert news[1].result(PATIENCE).message["result"]["resultType"] == "complete"
    assert not [line for line in serving.log.seen if "Error" in line or "ASGI" in line]


@pytest.mark.anyio
async def test_who_waits_to_be_accepted_when_listening_ends_is_answered() -> None:
    config = uvicorn.Config(PlainTextResponse("here"), log_config=None, lifespan="off")
    config.load()
    web = WebServer(config)
    web.lifespan = config.lifespan_class(config)
    with listen(Address("127.0.0.1", 0)) as sock, contextlib.ExitStack() as stack:
        await web.startup(sockets=[sock])
        place = sock.getsockname()
        clients = [stack.enter_context(socket.create_connection(place)) for _ in range(10)]
        for client in clients:  # all of them before the server has looked
            client.sendall(b"GET / HTTP/1.1\r\nhost: here\r\n\r\n")
        await web.shutdown([sock])
        assert all(client.recv(1000).startswith(b"HTTP/1.1 200 OK") for client in clients)
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(place)


def test_work_for_a_modern_client_that_has_gone_is_given_up(tmp_path: Path) -> None:
    with serve_http(WORKSHOP) as serving:
        call = tool_call(1, "execute_wait", {"folder": str(tmp_path), "name": "a"}, tool="mcp_aql_execute")
        call["params"]["_meta"] = MODERN_META
        headers = {**modern(serving.port).headers, "Mcp-Method": "tools/call", "Mcp-Name": "mcp_aql_execute"}
        connection = http.client.HTTPConnection("127.0.0.1", serving.port, timeout=PATIENCE)
        connection.request("POST", "/mcp", json.dumps(call), headers)
        until((tmp_path / "a.begun").exists, "the handler")
        connection.close()
        until((tmp_path / "a.cancelled").exists, "the end of the handler")
        assert serving.stop() == 0


def test_a_second_signal_ends_at_once(threads: ThreadPoolExecutor, tmp_path: Path) -> None:
    with serve_http(WORKSHOP) as serving:
        call = waiting(threads, modern(serving.port), tmp_path, "a")
        serving.process.send_signal(signal.SIGINT)
        until(lambda: not is_listening(serving.port), "the end of listening")
        serving.process.send_signal(signal.SIGINT)
        assert serving.process.wait(PATIENCE) == 0
        assert call.result(PATIENCE).status == 500


@pytest.mark.anyio
async def test_outside_the_main_thread_no_signal_is_waited_for() -> None:
    def wait() -> bool:
        async def shortly() -> bool:
            with anyio.move_on_after(0.05) as scope:
                await wait_for_signal()
            return scope.cancelled_caught

        return anyio.run(shortly)

    assert await anyio.to_thread.run_sync(wait)


@pytest.mark.anyio
async def test_work_is_finished_when_the_last_of_it_is() -> None:
    work = Work()
    assert await work.finish(0)
    with work:
        assert work.running == 1
        assert not await work.finish(0)
        async with anyio.create_task_group() as tasks:
            done: list[bool] = []

            async def wait() -> None:
                done.append(await work.finish(PATIENCE))

            tasks.start_soon(wait)
            tasks.start_soon(wait)
            await anyio.wait_all_tasks_blocked()
            with work:
                assert work.running == 2
            await anyio.wait_all_tasks_blocked()
            assert done == []
            work.__exit__()
            await anyio.wait_all_tasks_blocked()
            assert done == [True, True]
            work.__enter__()
    assert work.running == 0
