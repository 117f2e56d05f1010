"""Long work as tasks of MCP: for clients that declare the extension, and in no other answer."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp.server.auth.settings import AuthSettings
from mcp.server.subscriptions import ListenHandler
from pydantic import AnyHttpUrl

from headgate import Adapter, mcp_server
from headgate.engine.stages import Reply
from headgate.executions.service import Executions
from headgate.executions.values import wire_error
from headgate.protocol.errors import ErrorDetail
from headgate.protocol.lifecycle import State
from headgate.server.auth import StaticToken, StaticTokens
from headgate.server.binding import McpServer
from headgate.server.tasks import TaskParams, Tasks
from headgate.store.executions import Execution, Progress
from tests.server.errands import Place, make_errands
from tests.server.lines import TASKS, Line, Message, connected, envelope_in
from tests.server.processes import MODERN_META, PATIENCE

pytestmark = pytest.mark.anyio

NOT_FOUND, INVALID_PARAMS, INVALID_REQUEST, INTERNAL = -32601, -32602, -32600, -32603
MISSING_CAPABILITY, HEADER_MISMATCH = -32021, -32020
ABOUT_TASKS: dict[str, Message] = {
    "tasks/get": {},
    "tasks/update": {"inputResponses": {}},
    "tasks/cancel": {},
}
DECLARED: Message = {"extensions": {TASKS: {}}}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.fixture
async def server() -> AsyncIterator[McpServer]:
    made = mcp_server(make_errands())
    yield made
    await made.close()


@pytest.fixture
async def line(server: McpServer) -> AsyncIterator[Line]:
    async with connected(server) as line:
        yield line


async def task(line: Line, task_id: str) -> Message:
    """A task as the server tells it."""
    answer = await line.request("tasks/get", {"taskId": task_id})
    assert answer["result"].pop("resultType") == "complete"
    found: Message = answer["result"]
    return found


async def finished(line: Line, operation: str, **params: Any) -> Message:
    """A task that is over."""
    started = await line.call(operation, **params)
    await line.ended(started["taskId"])
    return await task(line, started["taskId"])


def executions_of(server: McpServer) -> Executions:
    assert server.engine.executions is not None
    return server.engine.executions


# who is told of tasks


async def test_a_server_with_long_work_declares_the_extension(line: Line) -> None:
    discovered = await line.request("server/discover")
    assert discovered["result"]["capabilities"]["extensions"][TASKS] == {}


async def test_a_server_without_long_work_knows_no_tasks() -> None:
    async with connected(mcp_server(Adapter("shelf"))) as line:
        discovered = await line.request("server/discover")
        assert TASKS not in discovered["result"]["capabilities"]["extensions"]
        for method, params in ABOUT_TASKS.items():
            assert (await line.request(method, {"taskId": "any", **params}))["error"]["code"] == NOT_FOUND
        listening = await line.ask("subscriptions/listen", {"notifications": {"taskIds": ["any"]}}, **DECLARED)
        await line.until(lambda: line.news)
        assert line.news[0]["params"]["notifications"] == {}
        assert listening not in line.answers


async def test_in_the_legacy_era_there_are_only_executions(server: McpServer) -> None:
    async with connected(server, "legacy") as line:
        assert TASKS not in json.dumps(line.answers["hello"])
        execution_id = await line.started("execute_count", count=1)
        for method, params in ABOUT_TASKS.items():
            answer = await line.request(method, {"taskId": execution_id, **params})
            assert answer["error"] == {"code": NOT_FOUND, "message": "Method not found", "data": method}


async def test_a_client_that_does_not_declare_the_extension_gets_an_execution(line: Line) -> None:
    result = await line.call("execute_count", count=1, tasks=False)
    assert result["resultType"] == "complete"
    execution_id = envelope_in(result)["data"]["execution_id"]
    for method, params in ABOUT_TASKS.items():
        error = (await line.request(method, {"taskId": execution_id, **params}, tasks=False))["error"]
        assert error["code"] == MISSING_CAPABILITY
        assert error["data"] == {"requiredCapabilities": {"extensions": {TASKS: {}}}}
    await line.ended(execution_id)


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param({"operation": "execute_count", "params": {"count": 1, "dry_run": True}}, id="a trial"),
        pytest.param({"operation": "execute_count", "params": {"count": "many"}}, id="a mistake"),
        pytest.param({"operations": [{"operation": "execute_count", "params": {"count": 1}}]}, id="a batch"),
    ],
)
async def test_what_starts_no_single_execution_is_no_task(line: Line, arguments: dict[str, Any]) -> None:
    answer = await line.request("tools/call", {"name": "mcp_aql_execute", "arguments": arguments})
    assert answer["result"]["resultType"] == "complete"
    assert answer["result"]["content"]


# one task from its start to its end


async def test_a_task_is_the_execution_that_the_call_has_started(line: Line, place: Place) -> None:
    started = await line.call("execute_errand", **place.params("a"))
    assert (started["resultType"], started["status"], started["ttlMs"]) == ("task", "working", None)
    assert started["statusMessage"] == "It waits for its turn."
    assert started["lastUpdatedAt"] == started["createdAt"]
    assert "content" not in started
    state = await line.state(started["taskId"])
    assert (state["operation"], state["created_at"]) == ("execute_errand", started["createdAt"])
    place.go("a")
    await line.ended(started["taskId"])


async def test_a_task_under_way_tells_how_far_it_is(line: Line, place: Place) -> None:
    started = await line.call("execute_errand", **place.params("a"))
    await place.come("a", "begun")
    seen = await task(line, started["taskId"])
    assert (seen["taskId"], seen["status"]) == (started["taskId"], "working")
    assert seen["statusMessage"] == "25 %: a is under way"
    assert (seen["createdAt"], seen["ttlMs"]) == (started["createdAt"], None)
    assert seen["lastUpdatedAt"] == (await line.state(started["taskId"]))["started_at"]
    assert isinstance(seen["pollIntervalMs"], int)
    assert not seen.keys() & {"result", "error", "inputRequests"}
    place.go("a")
    await line.ended(started["taskId"])


async def test_a_task_that_is_done_has_the_answer_of_get_execution_result(line: Line) -> None:
    done = await finished(line, "execute_count", count=3)
    assert (done["status"], done["result"]["resultType"], done["result"]["isError"]) == ("completed", "complete", False)
    asked = await line.envelope("get_execution_result", execution_id=done["taskId"])
    assert envelope_in(done["result"]) == asked
    assert asked["data"]["result"] == [0, 1, 2]
    assert done["lastUpdatedAt"] == asked["data"]["finished_at"]
    week = 7 * 24 * 60 * 60 * 1000
    assert week <= done["ttlMs"] < week + 60_000


async def test_of_a_long_result_a_task_has_the_first_page(line: Line) -> None:
    done = await finished(line, "execute_count", count=1000)
    data = envelope_in(done["result"])["data"]
    assert data["page"]["total"] == 1000
    rest = await line.envelope("get_execution_result", execution_id=done["taskId"], after=data["page"]["after"])
    assert rest["data"]["result"][0] == data["result"][-1] + 1


@pytest.mark.parametrize(("repairable", "code"), [(True, "NOT_FOUND_RESOURCE"), (False, "INTERNAL_ERROR")])
async def test_work_that_fails_is_a_completed_task_with_the_error_in_its_result(
    line: Line, repairable: bool, code: str
) -> None:
    done = await finished(line, "execute_fault", repairable=repairable)
    error = envelope_in(done["result"])["error"]
    assert (done["status"], error["code"], done["result"]["isError"]) == ("completed", code, not repairable)
    assert done["statusMessage"] == error["message"]
    assert "error" not in done
    assert done["result"]["_meta"]["headgate/requestId"]


async def test_a_task_is_cancelled(line: Line, place: Place) -> None:
    started = await line.call("execute_errand", **place.params("a"))
    await place.come("a", "begun")
    answer = await line.request("tasks/cancel", {"taskId": started["taskId"]})
    assert answer["result"].keys() == {"resultType", "_meta"}
    await line.ended(started["taskId"])
    seen = await task(line, started["taskId"])
    assert (seen["status"], place.has("a", "cancelled")) == ("cancelled", True)
    assert not seen.keys() & {"result", "error"}


async def test_a_wish_to_cancel_that_comes_too_late_is_acknowledged(line: Line) -> None:
    done = await finished(line, "execute_count", count=1)
    assert (await line.request("tasks/cancel", {"taskId": done["taskId"]}))["result"]["resultType"] == "complete"
    assert await task(line, done["taskId"]) == done


async def test_answers_that_no_task_has_asked_for_are_acknowledged_and_ignored(line: Line, place: Place) -> None:
    started = await line.call("execute_errand", **place.params("a"))
    responses = {"name": {"action": "accept", "content": {"name": "Luca"}}}
    update = {"taskId": started["taskId"], "inputResponses": responses}
    assert (await line.request("tasks/update", update))["result"]["resultType"] == "complete"
    assert (await task(line, started["taskId"]))["status"] == "working"
    place.go("a")
    await line.ended(started["taskId"])


STATUSES = {
    State.PENDING: "working",
    State.RUNNING: "working",
    State.RETRYING: "working",
    State.CANCELLING: "working",
    State.STUCK: "working",
    State.FAILED: "completed",
    State.CANCELLED: "cancelled",
}


@pytest.mark.parametrize(("state", "status"), STATUSES.items())
async def test_each_state_has_a_status(server: McpServer, line: Line, state: State, status: str) -> None:
    done = await finished(line, "execute_count", count=1)
    known = await executions_of(server).ledger.find(done["taskId"])
    assert known
    error = wire_error(ErrorDetail("INTERNAL_ERROR", "it broke")) if state is State.FAILED else None
    copy = replace(known, id=f"exec_{state}", state=state, ready=False, worker=None, error=error)
    await _put(server, copy)
    assert (await task(line, copy.id))["status"] == status


async def _put(server: McpServer, execution: Execution) -> None:
    """An execution as it may stand in the store, without all that leads there."""
    names = list(Execution.__dataclass_fields__)
    values = {name: getattr(execution, name) for name in names}
    values |= {"state": execution.state.value, "ready": int(execution.ready)}
    sql = f"INSERT INTO headgate.executions ({', '.join(names)}) VALUES ({', '.join(f':{name}' for name in names)})"  # noqa: S608
    await server.store.transact(lambda transaction: transaction.change(sql, **values))


@pytest.mark.parametrize(
    ("progress", "words"),
    [
        pytest.param(Progress(3, 12, "month 4"), "25 %: month 4", id="all"),
        pytest.param(Progress(None, None, "month 4"), "month 4", id="words alone"),
        pytest.param(Progress(1, 3, None), "33.3 %", id="numbers alone"),
        pytest.param(Progress(3, None, None), "It is being worked on.", id="no end in sight"),
    ],
)
async def test_the_message_is_what_the_work_has_reported(
    server: McpServer, line: Line, progress: Progress, words: str
) -> None:
    done = await finished(line, "execute_count", count=1)
    known = await executions_of(server).ledger.find(done["taskId"])
    assert known
    current, total, message = progress
    copy = replace(known, id="exec_copy", state=State.RUNNING, worker=None, done=current, total=total, message=message)
    await _put(server, copy)
    assert (await task(line, "exec_copy"))["statusMessage"] == words


# what is refused


@pytest.mark.parametrize(
    "task_id",
    [
        pytest.param("exec_that_never_was", id="unknown"),
        pytest.param("", id="empty"),
        pytest.param("x" * 300, id="long"),
        pytest.param("exec_\x00", id="a zero"),
        pytest.param("\ud800", id="half a character"),
    ],
)
@pytest.mark.parametrize("method", ABOUT_TASKS)
async def test_a_task_that_is_not_there_is_an_invalid_parameter(line: Line, method: str, task_id: str) -> None:
    answer = await line.request(method, {"taskId": task_id, **ABOUT_TASKS[method]})
    assert (answer["error"]["code"], answer["error"]["message"]) == (INVALID_PARAMS, "Task not found")


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("tasks/get", {}),
        ("tasks/get", {"taskId": 7}),
        ("tasks/update", {"taskId": "exec_1"}),
        ("tasks/cancel", {"task": "exec_1"}),
    ],
)
async def test_a_request_without_what_it_needs_is_invalid(line: Line, method: str, params: dict[str, Any]) -> None:
    assert (await line.request(method, params))["error"]["code"] == INVALID_PARAMS


@pytest.mark.parametrize(
    ("operation", "refused", "allowed"),
    [
        ("cancel_execution", ["tasks/cancel"], ["tasks/get", "tasks/update"]),
        ("get_execution", ["tasks/get", "tasks/update"], ["tasks/cancel"]),
    ],
)
async def test_what_the_policy_denies_of_an_execution_it_denies_of_a_task(
    place: Place, operation: str, refused: list[str], allowed: list[str]
) -> None:
    rule = {"name": "not this", "decision": "deny", "operations": operation}
    server = mcp_server(make_errands(), policy={"rule": [rule]})
    async with connected(server) as line:
        started = await line.call("execute_errand", **place.params("a"))
        for method in refused:
            error = (await line.request(method, {"taskId": started["taskId"], **ABOUT_TASKS[method]}))["error"]
            assert (error["code"], error["data"]) == (INVALID_REQUEST, {"code": "PERMISSION_DENIED"})
            assert "not this" in error["message"]
        for method in allowed:
            assert "result" in await line.request(method, {"taskId": started["taskId"], **ABOUT_TASKS[method]})
    place.go("a")
    await server.close(10)


async def test_a_token_for_a_confirmation_is_not_handed_out_beside_the_tool(place: Place) -> None:
    rule = {"name": "ask first", "decision": "confirm", "operations": "cancel_execution"}
    server = mcp_server(make_errands(), policy={"rule": [rule]})
    async with connected(server) as line:
        started = await line.call("execute_errand", **place.params("a"))
        error = (await line.request("tasks/cancel", {"taskId": started["taskId"]}))["error"]
        assert (error["code"], error["data"]) == (INVALID_REQUEST, {"code": "CONFIRMATION_REQUIRED"})
    place.go("a")
    await server.close(10)


async def test_a_store_that_is_out_of_reach_is_an_internal_error(server: McpServer, line: Line) -> None:
    done = await finished(line, "execute_count", count=1)
    await server.close()
    await server.store.close()
    for method, params in ABOUT_TASKS.items():
        answer = await line.request(method, {"taskId": done["taskId"], **params})
        assert (answer["error"]["code"], answer["error"]["data"]) == (INTERNAL, {"code": "INTERNAL_ERROR"})


async def test_a_task_that_goes_while_it_is_looked_for_is_not_found(server: McpServer) -> None:
    async def found_just_now(*_: object) -> Reply:
        return Reply('{"success":true,"data":{}}', False, False, "")

    known = executions_of(server)
    tasks = Tasks(executions=lambda: known, ask=found_just_now, shown=lambda *_: {}, news=server._news)
    async with connected(server) as line:
        contexts: list[Any] = []

        async def keep(ctx: Any, params: TaskParams) -> dict[str, Any]:
            contexts.append(ctx)
            return await tasks._get(ctx, params)

        server.add_request_handler("tasks/get", TaskParams, keep)
        assert (await line.request("tasks/get", {"taskId": "exec_1"}))["error"]["code"] == INVALID_PARAMS
        assert contexts


# confirmations and warnings


async def test_a_call_that_had_to_be_confirmed_is_answered_with_a_task_once_it_is() -> None:
    rule = {"name": "ask first", "decision": "confirm", "operations": "execute_count"}
    server = mcp_server(make_errands(), policy={"rule": [rule]})
    call = {"name": "mcp_aql_execute", "arguments": {"operation": "execute_count", "params": {"count": 1}}}
    async with connected(server) as line:

        async def ask(**more: Any) -> Message:
            answer = await line.answer(await line.ask("tools/call", {**call, **more}, elicitation={}, **DECLARED))
            result: Message = answer["result"]
            return result

        asked = await ask()
        assert asked["resultType"] == "input_required"
        yes = {"confirm": {"action": "accept", "content": {"confirm": True}}}
        started = await ask(requestState=asked["requestState"], inputResponses=yes)
        assert started["resultType"] == "task"
        await line.ended(started["taskId"])
    await server.close()


@asynccontextmanager
async def over_http(server: McpServer, **options: Any) -> AsyncIterator[httpx2.AsyncClient]:
    """A client of a server over HTTP of the modern era, without a network between them."""
    app = server.streamable_http_app(**options)
    async with (
        server.session_manager.run(),
        httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url="http://127.0.0.1:8000") as http,
    ):
        yield http


async def post(http: httpx2.AsyncClient, method: str, params: dict[str, Any], **headers: str) -> Message:
    """The answer to a request over HTTP, of a client that knows tasks."""
    meta = {**MODERN_META, "io.modelcontextprotocol/clientCapabilities": DECLARED}
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
    named = {"Mcp-Name": str(params.get("name") or params.get("taskId"))}
    given = {
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": method,
        **named,
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    answer: Message = (await http.post("/mcp", json=message, headers=given)).json()
    return answer


def start(operation: str, **params: Any) -> dict[str, Any]:
    return {"name": "mcp_aql_execute", "arguments": {"operation": operation, "params": params}}


async def test_the_message_of_a_new_task_has_what_its_caller_should_know(server: McpServer, place: Place) -> None:
    async with over_http(server) as http:
        started = (await post(http, "tools/call", start("execute_bound_errand", **place.params("a"))))["result"]
        assert started["resultType"] == "task"
        assert started["statusMessage"] == (
            "It waits for its turn. The execution would end with its session, and this connection has none: it goes on "
            "until it is done or cancelled"
        )
        place.go("a")


async def test_a_header_that_names_another_task_is_refused(server: McpServer) -> None:
    async with over_http(server) as http:
        started = (await post(http, "tools/call", start("execute_count", count=1)))["result"]
        asked = {"taskId": started["taskId"]}
        assert "result" in await post(http, "tasks/get", asked)
        assert (await post(http, "tasks/get", asked, Mcp_Name="exec_2"))["error"]["code"] == HEADER_MISMATCH


async def test_a_task_is_nobody_elses(server: McpServer, place: Place) -> None:
    secrets = {name: f"{name}-has-a-long-token" for name in ("alice", "bob")}
    tokens = StaticTokens(tuple(StaticToken.from_secret(name, secret) for name, secret in secrets.items()))
    unused = AuthSettings(issuer_url=AnyHttpUrl("http://127.0.0.1:8000"), resource_server_url=None)
    alice, bob = ({"Authorization": f"Bearer {secret}"} for secret in secrets.values())
    async with over_http(server, auth=unused, token_verifier=tokens) as http:
        call = start("execute_errand", **place.params("a"))
        started = (await post(http, "tools/call", call, **alice))["result"]
        for method, params in ABOUT_TASKS.items():
            asked = {"taskId": started["taskId"], **params}
            assert (await post(http, method, asked, **bob))["error"] == {
                "code": INVALID_PARAMS,
                "message": "Task not found",
            }
            assert "result" in await post(http, method, asked, **alice)
        place.go("a")


# news


async def listening(line: Line, **notifications: Any) -> int:
    """A stream of news, once it is acknowledged; its id."""
    before = len(line.news)
    stream = await line.ask("subscriptions/listen", {"notifications": notifications}, **DECLARED)
    await line.until(lambda: len(line.news) > before)
    assert line.news[before]["method"] == "notifications/subscriptions/acknowledged"
    return stream


def told_of(line: Line, task_id: str) -> list[Message]:
    """What was told of a task, in order."""
    told = [one["params"] for one in line.news if one["method"] == "notifications/tasks"]
    return [one for one in told if one["taskId"] == task_id]


async def test_a_client_that_listens_is_told_of_a_task_to_its_end(line: Line, place: Place) -> None:
    started = await line.call("execute_errand", **place.params("a"))
    await place.come("a", "begun")
    stream = await listening(line, taskIds=[started["taskId"]])
    await line.until(lambda: told_of(line, started["taskId"]))
    place.go("a")
    await line.until(lambda: told_of(line, started["taskId"])[-1]["status"] == "completed")
    first, *_, last = told_of(line, started["taskId"])
    assert (first["status"], first["statusMessage"]) == ("working", "25 %: a is under way")
    assert first["ttlMs"] is None
    for told in (first, last):
        assert told.pop("_meta") == {"io.modelcontextprotocol/subscriptionId": stream}
    asked = await task(line, started["taskId"])
    del asked["_meta"]
    assert last == asked


async def test_every_change_is_told_once(
    server: McpServer, line: Line, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    executions, looked = executions_of(server), anyio.Semaphore(0)
    progress_of = executions.progress_of

    def look(execution: Execution) -> Progress:
        looked.release()
        return progress_of(execution)

    started = await line.call("execute_errand", **place.params("a"))
    await place.come("a", "begun")
    monkeypatch.setattr(executions, "progress_of", look)
    await listening(line, taskIds=[started["taskId"], started["taskId"]])
    await line.until(lambda: told_of(line, started["taskId"]))
    with anyio.fail_after(PATIENCE):
        for _ in range(4):  # to acknowledge it, to see the change, to tell of it, and once more
            await looked.acquire()
    await line.request("tasks/cancel", {"taskId": started["taskId"]})
    await line.until(lambda: told_of(line, started["taskId"])[-1]["status"] == "cancelled")
    told = told_of(line, started["taskId"])
    assert all(before != after for before, after in pairwise(told))


async def test_only_tasks_that_are_there_for_the_client_are_acknowledged(line: Line) -> None:
    done = await finished(line, "execute_count", count=1)
    stream = await listening(line, taskIds=["exec_that_never_was", done["taskId"]], toolsListChanged=True)
    assert line.news[0]["params"]["notifications"] == {"taskIds": [done["taskId"]], "toolsListChanged": True}
    await line.until(lambda: told_of(line, done["taskId"]))
    assert told_of(line, done["taskId"])[0]["result"] == done["result"]
    assert stream not in line.answers, "there may be other news"


async def test_news_of_tasks_and_of_tools_come_on_one_stream(server: McpServer, line: Line, place: Place) -> None:
    started = await line.call("execute_errand", **place.params("a"))
    stream = await listening(line, taskIds=[started["taskId"]], toolsListChanged=True)
    await server.replace(make_errands())
    await line.until(lambda: "notifications/tools/list_changed" in [one["method"] for one in line.news])
    place.go("a")
    await line.until(
        lambda: told_of(line, started["taskId"])[-1:] and told_of(line, started["taskId"])[-1].get("result")
    )
    server.stop_listening()
    assert (await line.answer(stream))["result"]["resultType"] == "complete"


async def test_a_stream_that_ends_tells_of_nothing_more(server: McpServer, line: Line, place: Place) -> None:
    started = await line.call("execute_errand", **place.params("a"))
    stream = await listening(line, taskIds=[started["taskId"]])
    server.stop_listening()
    await line.answer(stream)
    told = len(line.news)
    place.go("a")
    await line.ended(started["taskId"])
    assert len(line.news) == told


async def test_news_of_tasks_are_for_clients_that_declare_the_extension(line: Line) -> None:
    asked = await line.request("subscriptions/listen", {"notifications": {"taskIds": ["exec_1"]}}, tasks=False)
    assert asked["error"]["code"] == MISSING_CAPABILITY
    assert asked["error"]["data"] == {"requiredCapabilities": {"extensions": {TASKS: {}}}}


@pytest.mark.parametrize("wanted", ["exec_1", [7], {}, [None]])
async def test_tasks_to_listen_to_are_a_list_of_ids(line: Line, wanted: object) -> None:
    asked = await line.request("subscriptions/listen", {"notifications": {"taskIds": wanted}})
    assert asked["error"] == {"code": INVALID_PARAMS, "message": "'taskIds' must be a list of task ids"}


async def test_a_stream_tells_of_so_many_tasks_and_no_more(line: Line, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headgate.server.tasks._MOST_FOLLOWED", 2)
    ids = [(await finished(line, "execute_count", count=1))["taskId"] for _ in range(3)]
    await listening(line, taskIds=ids)
    assert line.news[0]["params"]["notifications"]["taskIds"] == ids[:2]


async def test_a_stream_too_many_is_refused_in_clear_words() -> None:
    server = mcp_server(make_errands())
    narrow = ListenHandler(server._bus, max_subscriptions=0)
    object.__setattr__(server._tasks, "news", narrow)
    async with connected(server) as line:
        done = await finished(line, "execute_count", count=1)
        asked = await line.request("subscriptions/listen", {"notifications": {"taskIds": [done["taskId"]]}})
        assert asked["error"]["message"] == "Subscription limit reached"
    await server.close()
