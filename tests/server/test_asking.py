"""Hosts that can ask their user are asked, in both eras: nothing happens before the answer, and it counts once."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.session import ClientSession
from mcp.client.streamable_http import streamable_http_client

from headgate import Adapter, mcp_server
from headgate.server.binding import McpServer
from tests.server.processes import HEADGATE, environment, serve_http

pytestmark = pytest.mark.anyio

MODES = pytest.mark.parametrize("mode", ["auto", "legacy"], ids=["modern", "legacy"])
CALL = {"operation": "delete_user", "params": {"user_id": "alice"}}
TOOL = "mcp_aql_delete"

YES = types.ElicitResult(action="accept", content={"confirm": True})
REFUSALS = {
    "a form that was sent without a yes": types.ElicitResult(action="accept", content={"confirm": False}),
    "a form without the field": types.ElicitResult(action="accept", content={}),
    "a form with another field": types.ElicitResult(action="accept", content={"confirmed": True}),
    "a form without content": types.ElicitResult(action="accept"),
    "a text for a yes": types.ElicitResult(action="accept", content={"confirm": "true"}),
    "a number for a yes": types.ElicitResult(action="accept", content={"confirm": 1}),
    "a refusal": types.ElicitResult(action="decline"),
    "a refusal with a yes in it": types.ElicitResult(action="decline", content={"confirm": True}),
    "a form that was closed": types.ElicitResult(action="cancel"),
}


class Host:
    """A host that asks its user: what it showed, and what had run by then."""

    def __init__(self, ran: list[str], answer: types.ElicitResult | types.ErrorData = YES) -> None:
        self.ran = ran
        self.answer = answer
        self.shown: list[str] = []
        self.ran_before: list[int] = []

    async def __call__(self, context: Any, params: Any) -> types.ElicitResult | types.ErrorData:
        self.shown.append(params.message)
        self.ran_before.append(len(self.ran))
        assert params.requested_schema["required"] == ["confirm"]
        return self.answer


class Served:
    """A server in process, and what ran in it."""

    def __init__(self, **settings: Any) -> None:
        self.ran: list[str] = []
        adapter = Adapter("users")

        @adapter.delete
        async def delete_user(user_id: str, reason: str = "") -> str:
            """Delete a user."""
            self.ran.append(user_id)
            return user_id

        @adapter.delete
        async def delete_group(user_id: str) -> str:
            """Delete a group."""
            self.ran.append(f"group {user_id}")
            return user_id

        self.server: McpServer = mcp_server(adapter, **settings)

    def client(self, mode: str, callback: Any = None) -> Client:
        return Client(self.server, mode=mode, elicitation_callback=callback)

    async def events(self) -> list[tuple[str, str]]:
        return [(row.entry.event, row.entry.code) async for row in self.server.store.rows()]


@pytest.fixture
async def serve() -> AsyncIterator[Callable[..., Served]]:
    made: list[Served] = []

    def served(**settings: Any) -> Served:
        made.append(Served(**settings))
        return made[-1]

    yield served
    for one in made:
        await one.server.store.close()


def envelope_of(result: Any) -> Any:
    return json.loads(result.content[0].text)


def code_of(result: Any) -> str:
    envelope = envelope_of(result)
    return "" if envelope["success"] else str(envelope["error"]["code"])


Serve = Callable[..., Served]


@MODES
async def test_the_user_is_asked_and_the_call_runs_once(serve: Serve, mode: str) -> None:
    served = serve()
    host = Host(served.ran)
    async with served.client(mode, host) as client:
        result = await client.call_tool(TOOL, CALL)
    assert envelope_of(result) == {"success": True, "data": "alice"}
    assert served.ran == ["alice"]
    assert host.ran_before == [0], "nothing had happened when the user was asked"
    [shown] = host.shown
    assert shown.startswith('Run delete_user(user_id="alice")?\n- ')
    assert [event for event, _ in await served.events()] == ["proposed", "issued", "approved", "executed", "returned"]


@MODES
@pytest.mark.parametrize("answer", REFUSALS.values(), ids=REFUSALS)
async def test_whatever_is_no_clear_yes_is_a_no(serve: Serve, mode: str, answer: types.ElicitResult) -> None:
    served = serve()
    host = Host(served.ran, answer)
    async with served.client(mode, host) as client:
        result = await client.call_tool(TOOL, CALL)
    assert code_of(result) == "PERMISSION_DENIED"
    assert "conf_" not in str(result.content)
    assert served.ran == []
    events = await served.events()
    assert [event for event, _ in events] == ["proposed", "issued", "revoked"]


@MODES
async def test_each_call_is_asked_for_itself(serve: Serve, mode: str) -> None:
    served = serve()
    host = Host(served.ran)
    async with served.client(mode, host) as client:
        for _ in range(2):
            assert code_of(await client.call_tool(TOOL, CALL)) == ""
    assert host.ran_before == [0, 1]


@MODES
async def test_a_host_that_cannot_ask_gets_the_token(serve: Serve, mode: str) -> None:
    served = serve()
    async with served.client(mode) as client:
        asked = await client.call_tool(TOOL, CALL)
        assert code_of(asked) == "CONFIRMATION_REQUIRED"
        token = envelope_of(asked)["error"]["details"]["confirmation_token"]
        confirmed = {"operation": "delete_user", "params": {"user_id": "alice", "confirmation_token": token}}
        assert served.ran == []
        assert code_of(await client.call_tool(TOOL, confirmed)) == ""
        assert code_of(await client.call_tool(TOOL, confirmed)) == "TOKEN_ALREADY_USED"
    assert served.ran == ["alice"]


@MODES
async def test_a_host_that_can_only_open_pages_gets_the_token(
    serve: Serve, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    only_urls = types.ClientCapabilities(elicitation=types.ElicitationCapability(url=types.UrlElicitationCapability()))
    monkeypatch.setattr(ClientSession, "_build_capabilities", lambda *_, **__: only_urls)
    served = serve()
    host = Host(served.ran)
    async with served.client(mode, host) as client:
        assert code_of(await client.call_tool(TOOL, CALL)) == "CONFIRMATION_REQUIRED"
    assert (host.shown, served.ran) == ([], [])


@MODES
async def test_where_the_policy_forbids_it_no_host_is_asked(serve: Serve, mode: str) -> None:
    served = serve(policy={"confirmation": {"elicit": False}})
    host = Host(served.ran)
    async with served.client(mode, host) as client:
        assert code_of(await client.call_tool(TOOL, CALL)) == "CONFIRMATION_REQUIRED"
    assert (host.shown, served.ran) == ([], [])


@MODES
async def test_where_a_person_must_confirm_the_host_is_not_asked(serve: Serve, mode: str) -> None:
    served = serve(policy={"confirmation": {"by": "person"}})
    host = Host(served.ran)
    async with served.client(mode, host) as client:
        result = await client.call_tool(TOOL, CALL)
    assert "approval_id" in envelope_of(result)["error"]["details"]
    assert "conf_" not in str(result.content)
    assert (host.shown, served.ran) == ([], [])


@MODES
async def test_what_is_denied_is_not_asked(serve: Serve, mode: str) -> None:
    served = serve(trust="generated")
    host = Host(served.ran)
    async with served.client(mode, host) as client:
        assert code_of(await client.call_tool(TOOL, CALL)) == "PERMISSION_DANGER_LEVEL_DENIED"
    assert (host.shown, served.ran) == ([], [])


@MODES
async def test_a_batch_halts_with_its_token_and_asks_nobody(serve: Serve, mode: str) -> None:
    served = serve()
    host = Host(served.ran)
    async with served.client(mode, host) as client:
        envelope = envelope_of(await client.call_tool(TOOL, {"operations": [CALL, CALL]}))
    assert envelope["summary"] == {"total": 2, "succeeded": 0, "failed": 0, "halted": 1, "pending": 1}
    assert (host.shown, served.ran) == ([], [])


async def test_a_legacy_host_that_fails_to_ask_gets_the_token(serve: Serve) -> None:
    served = serve()
    host = Host(served.ran, types.ErrorData(code=types.INTERNAL_ERROR, message="the window is gone"))
    async with served.client("legacy", host) as client:
        result = await client.call_tool(TOOL, CALL)
        token = envelope_of(result)["error"]["details"]["confirmation_token"]
        assert served.ran == []
        assert code_of(await client.call_tool(TOOL, {**CALL, "_confirmation": token})) == ""
    assert served.ran == ["alice"]


@MODES
async def test_the_cooldown_is_waited_for(serve: Serve, mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    danger = {"delete_user": {"level": "destructive", "cooldown_seconds": 45}}
    served = serve(policy={"danger": danger})
    gatekeeper = served.server.engine.gatekeeper
    assert gatekeeper is not None
    now, slept = [1_770_200_000.0], []
    really = anyio.sleep

    async def sleep(seconds: float) -> None:
        if seconds != 45:  # somebody else's, who would otherwise never let anybody else go on
            await really(seconds)
            return
        slept.append((seconds, list(served.ran)))
        now[0] += seconds

    for part in (gatekeeper, gatekeeper.confirmations, gatekeeper.meter):
        object.__setattr__(part, "clock", lambda: now[0])
    monkeypatch.setattr("headgate.server.binding.anyio.sleep", sleep)
    async with served.client(mode, Host(served.ran)) as client:
        assert code_of(await client.call_tool(TOOL, CALL)) == ""
    assert slept == [(45.0, [])]
    assert served.ran == ["alice"]


@MODES
async def test_what_was_agreed_to_can_be_remembered_for_the_session(serve: Serve, mode: str) -> None:
    served = serve(policy={"rule": [{"name": "once", "decision": "confirm", "remember": "session"}]})
    host = Host(served.ran)
    async with served.client(mode, host) as client:
        for user in ("alice", "bob"):
            call = {"operation": "delete_user", "params": {"user_id": user}}
            assert code_of(await client.call_tool(TOOL, call)) == ""
    assert (len(host.shown), served.ran) == (1, ["alice", "bob"])
    async with served.client(mode, host) as client:
        assert code_of(await client.call_tool(TOOL, CALL)) == ""
    assert len(host.shown) == 2, "another session is asked again"


# A modern host by hand: the state that it hands back, changed in every way.


@asynccontextmanager
async def asked(served: Served) -> AsyncIterator[tuple[Client, str]]:
    """A modern client whose user is being asked, and the state that it was given."""
    async with served.client("auto", Host(served.ran)) as client:
        result = await client.session.call_tool(TOOL, CALL, allow_input_required=True)
        assert isinstance(result, types.InputRequiredResult)
        assert served.ran == []
        assert result.request_state is not None
        yield client, result.request_state


async def go_on(client: Client, state: str, answer: Any = YES, call: Any = CALL) -> Any:
    return await client.session.call_tool(
        TOOL, call, input_responses={"confirm": answer}, request_state=state, allow_input_required=True
    )


async def test_a_sealed_answer_counts_once(serve: Serve) -> None:
    served = serve()
    async with asked(served) as (client, state):
        assert code_of(await go_on(client, state)) == ""
        assert code_of(await go_on(client, state)) == "TOKEN_ALREADY_USED"
        assert code_of(await go_on(client, state)) == "TOKEN_ALREADY_USED"
    assert served.ran == ["alice"]


async def test_of_many_sealed_answers_at_once_one_counts(serve: Serve) -> None:
    served = serve()
    codes: list[str] = []
    async with asked(served) as (client, state):

        async def answer() -> None:
            codes.append(code_of(await go_on(client, state)))

        async with anyio.create_task_group() as tasks:
            for _ in range(10):
                tasks.start_soon(answer)
    assert sorted(codes) == ["", *["TOKEN_ALREADY_USED"] * 9]
    assert served.ran == ["alice"]


CHANGED = {
    "another value": {"operation": "delete_user", "params": {"user_id": "bob"}},
    "a value of another Unicode form": {"operation": "delete_user", "params": {"user_id": "alice\u200b"}},
    "a parameter more": {"operation": "delete_user", "params": {"user_id": "alice", "reason": ""}},
    "another operation": {"operation": "delete_group", "params": {"user_id": "alice"}},
}


@pytest.mark.parametrize("call", CHANGED.values(), ids=CHANGED)
async def test_the_answer_to_one_call_is_none_to_another(serve: Serve, call: Any) -> None:
    served = serve()
    async with asked(served) as (client, state):
        assert code_of(await go_on(client, state, call=call)) == "TOKEN_SCOPE_MISMATCH"
        assert served.ran == []
        assert code_of(await go_on(client, state)) == ""


@pytest.mark.parametrize(
    "state",
    ["", "please", "conf_" + "x" * 59, "appr_" + "x" * 16, "{}", "x" * 5000],
    ids=lambda text: text[:20] or "nothing",
)
async def test_a_state_that_was_never_given_is_refused(serve: Serve, state: str) -> None:
    served = serve()
    async with asked(served) as (client, _):
        assert code_of(await go_on(client, state)) == "TOKEN_INVALID"
    assert served.ran == []


async def test_a_state_of_another_connection_is_refused(serve: Serve) -> None:
    served = serve()
    async with asked(served) as (_, state), served.client("auto", Host(served.ran)) as other:
        assert code_of(await go_on(other, state)) == "TOKEN_INVALID"
    assert served.ran == []


@pytest.mark.parametrize("answer", REFUSALS.values(), ids=REFUSALS)
async def test_after_a_no_the_state_is_worth_nothing(serve: Serve, answer: types.ElicitResult) -> None:
    served = serve()
    async with asked(served) as (client, state):
        assert code_of(await go_on(client, state, answer)) == "PERMISSION_DENIED"
        assert code_of(await go_on(client, state)) == "TOKEN_INVALID"
    assert served.ran == []


async def test_a_state_without_an_answer_is_a_no(serve: Serve) -> None:
    served = serve()
    async with asked(served) as (client, state):
        result = await client.session.call_tool(TOOL, CALL, request_state=state, allow_input_required=True)
        assert code_of(result) == "PERMISSION_DENIED"
        assert code_of(await go_on(client, state)) == "TOKEN_INVALID"
    assert served.ran == []


async def test_an_answer_to_another_question_is_a_no(serve: Serve) -> None:
    served = serve()
    async with asked(served) as (client, state):
        result = await client.session.call_tool(
            TOOL, CALL, input_responses={"another": YES}, request_state=state, allow_input_required=True
        )
        assert code_of(result) == "PERMISSION_DENIED"
    assert served.ran == []


async def test_an_answer_without_a_state_asks_again(serve: Serve) -> None:
    served = serve()
    async with asked(served) as (client, _):
        result = await client.session.call_tool(TOOL, CALL, input_responses={"confirm": YES}, allow_input_required=True)
        assert isinstance(result, types.InputRequiredResult)
    assert served.ran == []


async def test_a_yes_lets_no_batch_pass(serve: Serve) -> None:
    served = serve()
    async with asked(served) as (client, state):
        envelope = envelope_of(await go_on(client, state, call={"operations": [CALL]}))
        assert envelope["summary"]["halted"] == 1
    assert served.ran == []


# Over real transports.

PROGRAM = '''
from pathlib import Path
from headgate import Adapter

users = Adapter("users")


@users.delete
async def delete_user(user_id: str) -> str:
    """Delete a user."""
    with Path(__file__).with_name("ran.txt").open("a") as file:
        file.write(user_id + "\\n")
    return user_id
'''


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "users_program.py"
    path.write_text(PROGRAM)
    return path


async def check(client: Client, host: Host) -> None:
    """The user says yes, and then no."""
    assert code_of(await client.call_tool(TOOL, CALL)) == ""
    assert (host.ran_before, len(host.ran)) == ([0], 1)
    host.answer = types.ElicitResult(action="decline")
    assert code_of(await client.call_tool(TOOL, CALL)) == "PERMISSION_DENIED"
    assert (host.ran_before, len(host.ran)) == ([0, 1], 1)


class Lines(list[str]):
    """The lines of a file, counted whenever they are."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __len__(self) -> int:
        return len(self.path.read_text().splitlines()) if self.path.exists() else 0


@MODES
async def test_users_are_asked_over_pipes(program: Path, mode: str) -> None:
    host = Host(Lines(program.with_name("ran.txt")))
    server = StdioServerParameters(command=HEADGATE, args=["serve", f"{program}:users"], env=environment())
    async with Client(server, mode=mode, elicitation_callback=host) as client:
        await check(client, host)


@MODES
async def test_users_are_asked_over_http(program: Path, mode: str) -> None:
    host = Host(Lines(program.with_name("ran.txt")))
    with serve_http(f"{program}:users") as serving:
        async with Client(streamable_http_client(serving.url), mode=mode, elicitation_callback=host) as client:
            await check(client, host)


BATCHES = {
    "a batch of one": {"operations": [CALL]},
    "a batch of several": {"operations": [{**CALL, "params": {"user_id": "bob"}}, CALL]},
}


@MODES
@pytest.mark.parametrize("batch", BATCHES.values(), ids=BATCHES)
@pytest.mark.parametrize("batches", ["halt", "skip"])
async def test_a_batch_gives_no_token_to_a_model_whose_user_can_be_asked(
    serve: Serve, mode: str, batch: dict[str, Any], batches: str
) -> None:
    served = serve(policy={"confirmation": {"batches": batches}})
    host = Host(served.ran, types.ElicitResult(action="decline"))
    async with served.client(mode, host) as client:
        result = await client.call_tool(TOOL, batch)
    envelope = envelope_of(result)
    asked = envelope["halted_at"] if batches == "halt" else envelope["results"][0]
    assert asked["result"]["error"]["code"] == "CONFIRMATION_REQUIRED"
    assert "by itself" in asked["result"]["error"]["message"]
    assert "conf_" not in json.dumps(envelope)
    assert "appr_" not in json.dumps(envelope)
    assert served.ran == []
    assert "issued" not in [event for event, _ in await served.events()]


@MODES
async def test_a_batch_has_a_token_where_nobody_can_be_asked(serve: Serve, mode: str) -> None:
    served = serve()
    async with served.client(mode) as client:
        envelope = envelope_of(await client.call_tool(TOOL, {"operations": [CALL]}))
        token = envelope["halted_at"]["result"]["error"]["details"]["confirmation_token"]
        again = {**CALL, "params": {**CALL["params"], "confirmation_token": token}}  # type: ignore[dict-item]
        assert envelope_of(await client.call_tool(TOOL, {"operations": [again]}))["summary"]["succeeded"] == 1
    assert served.ran == ["alice"]


@MODES
async def test_the_user_sees_all_that_will_be_done(serve: Serve, mode: str) -> None:
    served = serve()
    host = Host(served.ran)
    reason = "clean up " + "x" * 3000 + " AND THE REST"
    async with served.client(mode, host) as client:
        await client.call_tool(TOOL, {**CALL, "params": {"user_id": "alice", "reason": reason}})
    (question,) = host.shown
    assert reason in question
    assert "NOT ALL" not in question


@MODES
async def test_the_user_is_told_loudly_if_not_all_can_be_shown(serve: Serve, mode: str) -> None:
    served = serve()
    host = Host(served.ran, types.ElicitResult(action="decline"))
    async with served.client(mode, host) as client:
        await client.call_tool(TOOL, {**CALL, "params": {"user_id": "alice", "reason": "x" * 20_000}})
    (question,) = host.shown
    assert "NOT ALL IS SHOWN" in question
    assert len(question) < 11_000


@MODES
async def test_the_user_is_asked_before_a_quota_is_exceeded(serve: Serve, mode: str) -> None:
    quota = {"metric": "requests_per_hour", "warn": 1, "pause": 1, "hard_stop": 5}
    served = serve(trust="community_reviewed", policy={"quota": [quota]})
    host = Host(served.ran)
    async with served.client(mode, host) as client:
        for user in ("a", "b", "c"):
            result = await client.call_tool(TOOL, {"operation": "delete_user", "params": {"user_id": user}})
            assert code_of(result) == ""
    assert served.ran == ["a", "b", "c"]
    (question,) = host.shown  # once lifted, the pause stays so for the hour
    assert "requests_per_hour" in question


@MODES
async def test_a_quota_that_the_user_does_not_extend_stays_paused(serve: Serve, mode: str) -> None:
    quota = {"metric": "requests_per_hour", "warn": 1, "pause": 1, "hard_stop": 5}
    served = serve(trust="community_reviewed", policy={"quota": [quota]})
    host = Host(served.ran, types.ElicitResult(action="decline"))
    async with served.client(mode, host) as client:
        codes = [code_of(await client.call_tool(TOOL, CALL)) for _ in range(2)]
    assert codes == ["", "PERMISSION_DENIED"]
    assert served.ran == ["alice"]
    assert (await served.events())[-1][0] == "revoked"
