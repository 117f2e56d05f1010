"""What an upstream wants to know reaches the user whose call it is, over every pair of eras, and nobody else."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp import Client
from mcp.client.session import ClientSession

from headgate.adapter.context import Caller, Session, UserAnswer, UserQuestion
from headgate.protocol.danger import Danger, DangerLevel
from headgate.server import parking
from headgate.server.binding import McpServer, mcp_server
from headgate.sources.curation import Choice, Curation
from headgate.sources.mcp import pending
from headgate.sources.mcp.configuration import McpSpec
from tests.sources.mcp.opening import Opened, heard_by, lines, opened, until

pytestmark = pytest.mark.anyio

ABOVE = pytest.mark.parametrize("above", ["legacy", "modern"])
"""The era of the server behind headgate."""
BELOW = pytest.mark.parametrize("below", ["legacy", "auto"], ids=["for a legacy host", "for a modern host"])
"""The era of the host in front of it."""

TOOL = "mcp_aql"
ANSWERS = {
    "a filled form": types.ElicitResult(action="accept", content={"colour": "green"}),
    "a refusal": types.ElicitResult(action="decline"),
    "a closed form": types.ElicitResult(action="cancel"),
}


@asynccontextmanager
async def served(server: Opened, **settings: Any) -> AsyncIterator[McpServer]:
    """What a source offers, as a server of its own."""
    made = mcp_server(server.adapter, mode="single", **settings)
    await made.open()
    try:
        yield made
    finally:
        await made.close()
        await made.store.close()


@asynccontextmanager
async def hosted(spec: McpSpec, era: str, callback: Any, **options: Any) -> AsyncIterator[Client]:
    """A host in front of headgate in front of a server."""
    async with opened(spec, **options) as server, in_front_of(server, era, callback) as client:
        yield client


@asynccontextmanager
async def in_front_of(server: Opened, era: str, callback: Any = None) -> AsyncIterator[Client]:
    """The same before a server that is open."""
    async with served(server) as gate, Client(gate, mode=era, elicitation_callback=callback) as client:
        yield client


Behind = Mapping[str, Opened]


@pytest.fixture(scope="module")
async def behind() -> AsyncIterator[Behind]:
    """A server of each era, for the tests that leave it as it is."""
    async with opened(lines()) as legacy, opened(lines(ERA="modern")) as modern:
        yield {"legacy": legacy, "modern": modern}


class Host:
    """A host that asks its user, and notes what it showed."""

    def __init__(self, answer: types.ElicitResult | types.ErrorData) -> None:
        self.answer = answer
        self.shown: list[Any] = []

    async def __call__(self, context: Any, params: Any) -> types.ElicitResult | types.ErrorData:
        self.shown.append(params)
        return self.answer


def asking(operation: str = "ask", /, **params: object) -> dict[str, object]:
    return {"operation": operation, "params": params}


def data_of(result: Any) -> Any:
    envelope = json.loads(result.content[0].text)
    assert envelope["success"], envelope
    return envelope["data"]


def wire(answer: types.ElicitResult) -> Any:
    return answer.model_dump(mode="json", by_alias=True, exclude_none=True)


@ABOVE
@BELOW
@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
async def test_a_form_is_shown_and_the_answer_comes_back(
    behind: Behind, above: str, below: str, answer: types.ElicitResult
) -> None:
    host = Host(answer)
    async with in_front_of(behind[above], below, host) as client:
        data = data_of(await client.call_tool(TOOL, asking(message="Which colour?")))
    assert data["answers"] == [wire(answer)]
    [shown] = host.shown
    assert (shown.mode, shown.message) == ("form", "Which colour?")
    assert shown.requested_schema["properties"] == {"colour": {"type": "string"}}


@ABOVE
@BELOW
async def test_a_page_is_opened(behind: Behind, above: str, below: str) -> None:
    host = Host(types.ElicitResult(action="accept"))
    async with in_front_of(behind[above], below, host) as client:
        data = data_of(await client.call_tool(TOOL, asking(message="Log in", url="https://example.org/in")))
    assert data["answers"] == [{"action": "accept"}]
    [shown] = host.shown
    assert (shown.mode, shown.message, shown.url) == ("url", "Log in", "https://example.org/in")


@ABOVE
@BELOW
async def test_several_questions_are_put_one_after_the_other(behind: Behind, above: str, below: str) -> None:
    host = Host(ANSWERS["a filled form"])
    async with in_front_of(behind[above], below, host) as client:
        data = data_of(await client.call_tool(TOOL, asking(times=3)))
    assert data["answers"] == [wire(ANSWERS["a filled form"])] * 3
    assert len(host.shown) == 3


@ABOVE
@BELOW
async def test_a_host_that_cannot_be_asked_answers_with_nothing(behind: Behind, above: str, below: str) -> None:
    async with in_front_of(behind[above], below) as client:
        assert data_of(await client.call_tool(TOOL, asking()))["answers"] == [{"action": "cancel"}]


@ABOVE
async def test_a_host_whose_user_cannot_be_asked_after_all_answers_with_nothing(above: str) -> None:
    host = Host(types.ErrorData(code=-32600, message="no"))
    async with hosted(lines(ERA=above), "legacy", host) as client:
        for params in ({}, {"url": "https://example.org"}):
            assert data_of(await client.call_tool(TOOL, asking(**params)))["answers"] == [{"action": "cancel"}]


ABILITIES = {
    "forms alone": (types.ElicitationCapability(form=types.FormElicitationCapability()), ["accept", "cancel"]),
    "forms as they were first declared": (types.ElicitationCapability(), ["accept", "cancel"]),
    "pages alone": (types.ElicitationCapability(url=types.UrlElicitationCapability()), ["cancel", "accept"]),
}


@BELOW
@pytest.mark.parametrize(("ability", "actions"), ABILITIES.values(), ids=ABILITIES)
async def test_nothing_is_asked_that_a_host_cannot_show(
    below: str, ability: types.ElicitationCapability, actions: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        ClientSession, "_build_capabilities", lambda self, version: types.ClientCapabilities(elicitation=ability)
    )
    async with hosted(lines(), below, Host(types.ElicitResult(action="accept"))) as client:
        done = [
            data_of(await client.call_tool(TOOL, asking(**params)))["answers"][0]["action"]
            for params in ({}, {"url": "https://example.org/in"})
        ]
    assert done == actions


async def test_an_upstream_that_asks_without_end_is_stopped() -> None:
    async with opened(lines(ERA="modern")) as server:
        given = {"resultType": "input_required", "inputRequests": {}, "requestState": "x"}
        error = await server.error("give", text=json.dumps(given))
    assert error["code"] == "INTERNAL_ERROR"


async def test_an_upstream_gets_nothing_but_a_users_word() -> None:
    async with opened(lines(ERA="modern")) as server:
        wanted = {"q": {"method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 1}}}
        given = {"resultType": "input_required", "inputRequests": wanted, "requestState": "x"}
        error = await server.error("give", text=json.dumps(given))
    assert error["code"] == "INTERNAL_ERROR"
    assert "cannot be given here" in error["details"]["upstream_error"]


async def test_a_question_takes_as_long_as_its_user_needs_even_amid_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    async def slowly(question: UserQuestion) -> UserAnswer:
        await asyncio.sleep(0.6)
        return UserAnswer("accept", {"colour": "red"})

    async with opened(lines(timeout=0.3)) as server:
        asked = asyncio.create_task(server.call("ask", ask=slowly))
        await until(lambda: any(one._questions for one in server.source._upstream._link.calls._under_way))  # type: ignore[union-attr]
        [call] = server.source._upstream._link.calls._under_way  # type: ignore[union-attr]
        await call.progressed(1, 2, None)
        envelope = await asked
    assert envelope["data"]["answers"] == [{"action": "accept", "content": {"colour": "red"}}]


# whose question it is


def noting(name: str, shown: list[str]) -> Callable[[UserQuestion], Any]:
    async def ask(question: UserQuestion) -> UserAnswer:
        shown.append(f"{name}: {question.message}")
        return UserAnswer("accept", {"colour": name})

    return ask


async def test_a_question_that_may_be_anothers_reaches_nobody(tmp_path: Path) -> None:
    log, shown = tmp_path / "log", list[str]()
    async with opened(lines(LOG=str(log))) as server:
        hanging = asyncio.create_task(server.call("hang", session=Session(), ask=noting("first", shown)))
        await until(lambda: '"hang"' in log.read_text())
        envelope = await server.call("ask", session=Session(), ask=noting("second", shown))
        assert envelope["data"]["answers"] == [{"action": "cancel"}]
        assert shown == []
        hanging.cancel()
        await asyncio.gather(hanging, return_exceptions=True)


async def test_a_modern_upstream_asks_each_user_his_own_question() -> None:
    shown: list[str] = []
    async with opened(lines(ERA="modern")) as server:
        envelopes = await asyncio.gather(
            *(
                server.call("ask", {"message": f"for {name}"}, session=Session(), ask=noting(name, shown))
                for name in ("ann", "bob", "cid")
            )
        )
    assert [one["data"]["answers"][0]["content"]["colour"] for one in envelopes] == ["ann", "bob", "cid"]
    assert sorted(shown) == ["ann: for ann", "bob: for bob", "cid: for cid"]


async def test_two_calls_of_one_user_may_both_ask() -> None:
    shown: list[str] = []
    session = Session()
    async with opened(lines()) as server:
        envelopes = await asyncio.gather(
            *(server.call("ask", session=session, ask=noting("ann", shown)) for _ in range(3))
        )
    assert [one["data"]["answers"][0]["action"] for one in envelopes] == ["accept"] * 3


async def test_one_session_of_two_callers_is_not_one_user(tmp_path: Path) -> None:
    log, shown, session = tmp_path / "log", list[str](), Session()
    async with opened(lines(LOG=str(log))) as server:
        hanging = asyncio.create_task(
            server.call("hang", session=session, caller=Caller("ann"), ask=noting("a", shown))
        )
        await until(lambda: '"hang"' in log.read_text())
        envelope = await server.call("ask", session=session, caller=Caller("bob"), ask=noting("b", shown))
        assert envelope["data"]["answers"] == [{"action": "cancel"}]
        hanging.cancel()
        await asyncio.gather(hanging, return_exceptions=True)


async def test_a_late_question_of_a_call_that_was_given_up_does_not_reach_the_next_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, shown = tmp_path / "log", list[str]()
    async with opened(lines(timeout=0.2, LOG=str(log))) as server:
        first = Session()
        await server.call("hang", session=first, ask=noting("first", shown))
        envelope = await server.call("ask", session=Session(), ask=noting("second", shown))
        assert envelope["data"]["answers"] == [{"action": "cancel"}], "it may have been the first one's"
        envelope = await server.call("ask", session=first, ask=noting("first", shown))
        assert envelope["data"]["answers"][0]["action"] == "accept"
        monkeypatch.setattr(pending, "_LINGERING_SECONDS", -1.0)
        server.source._upstream._link.calls._left.clear()  # type: ignore[union-attr]
        await server.call("hang", session=first, ask=noting("first", shown))
        envelope = await server.call("ask", session=Session(), ask=noting("second", shown))
        assert envelope["data"]["answers"][0]["action"] == "accept", "in time it is forgotten"
    assert shown == ["first: Which?", "second: Which?"]


async def test_a_question_without_a_call_reaches_nobody(tmp_path: Path) -> None:
    log, shown = tmp_path / "log", list[str]()
    async with opened(lines(LOG=str(log))) as server:
        await server.call("ask_later", ask=noting("ann", shown))
        [answer] = await until(lambda: [one for one in heard_by(log) if one.get("id") == "late"])
    assert answer["result"] == {"action": "cancel"}
    assert shown == []


# calls that wait for a modern host


STATE = "requestState"


@asynccontextmanager
async def modern(gate: McpServer, name: str = "host") -> AsyncIterator[ClientSession]:
    """A modern host that answers by hand, request by request."""
    info = types.Implementation(name=name, version="1")
    async with Client(gate, client_info=info, elicitation_callback=Host(ANSWERS["a refusal"])) as client:
        yield client.session


async def begun(session: ClientSession, **params: object) -> types.InputRequiredResult:
    result = await session.call_tool(TOOL, asking(**params), allow_input_required=True)
    assert isinstance(result, types.InputRequiredResult)
    return result


async def went_on(
    session: ClientSession, state: str | None, content: Mapping[str, Any] | None, key: str = "answer"
) -> Any:
    answer = types.ElicitResult(action="accept" if content else "decline", content=dict(content) if content else None)
    return await session.call_tool(
        TOOL, asking(), input_responses={key: answer}, request_state=state, allow_input_required=True
    )


def error_of(result: Any) -> Any:
    return json.loads(result.content[0].text)["error"]


async def test_an_answer_counts_once_and_for_its_caller_alone() -> None:
    async with (
        opened(lines()) as server,
        served(server) as gate,
        modern(gate, "ann") as ann,
        modern(gate, "bob") as bob,
    ):
        state = (await begun(ann)).request_state
        assert error_of(await went_on(bob, state, {"colour": "b"}))["code"] == "NOT_FOUND_RESOURCE"
        assert data_of(await went_on(ann, state, {"colour": "a"}))["answers"][0]["content"] == {"colour": "a"}
        assert error_of(await went_on(ann, state, {"colour": "c"}))["code"] == "NOT_FOUND_RESOURCE"
        assert error_of(await went_on(ann, "asked:guessed", {"colour": "c"}))["code"] == "NOT_FOUND_RESOURCE"


async def test_each_question_of_a_call_has_a_state_of_its_own() -> None:
    async with opened(lines()) as server, served(server) as gate, modern(gate) as host:
        first = (await begun(host, times=2)).request_state
        second = (await went_on(host, first, {"colour": "a"})).request_state
        assert first != second
        assert error_of(await went_on(host, first, {"colour": "x"}))["code"] == "NOT_FOUND_RESOURCE"
        data = data_of(await went_on(host, second, {"colour": "b"}))
    assert [one["content"]["colour"] for one in data["answers"]] == ["a", "b"]


@pytest.mark.parametrize("key", ["answer", "something_else"], ids=["no answer", "an answer to something else"])
async def test_what_is_no_answer_is_a_question_without_one(key: str) -> None:
    async with opened(lines()) as server, served(server) as gate, modern(gate) as host:
        state = (await begun(host)).request_state
        content = None if key == "answer" else {"colour": "red"}
        action = "decline" if key == "answer" else "cancel"
        assert data_of(await went_on(host, state, content, key))["answers"] == [{"action": action}]


async def test_a_call_that_nobody_answers_ends_and_its_upstream_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parking, "_PATIENCE_SECONDS", 0.1)
    log = tmp_path / "log"
    async with opened(lines(LOG=str(log))) as server, served(server) as gate, modern(gate) as host:
        state = (await begun(host)).request_state
        await until(lambda: any(one.get("method") == "notifications/cancelled" for one in heard_by(log)))
        assert error_of(await went_on(host, state, {"colour": "late"}))["code"] == "NOT_FOUND_RESOURCE"


async def test_those_that_wait_are_bounded_and_the_oldest_give_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parking, "_MOST_WAITING", 2)
    async with opened(lines()) as server, served(server) as gate, modern(gate) as host:
        states = [(await begun(host)).request_state for _ in range(3)]
        assert error_of(await went_on(host, states[0], {"colour": "a"}))["code"] == "NOT_FOUND_RESOURCE"
        for state in states[1:]:
            assert data_of(await went_on(host, state, {"colour": "a"}))["answers"][0]["action"] == "accept"


async def test_what_waits_ends_with_the_server(tmp_path: Path) -> None:
    log = tmp_path / "log"
    async with opened(lines(LOG=str(log))) as server:
        async with served(server) as gate, modern(gate) as host:
            await begun(host)
            assert await gate.finish(10.0), "nobody waits for an answer that cannot come"
        await until(lambda: any(one.get("method") == "notifications/cancelled" for one in heard_by(log)))


async def test_an_upstream_that_dies_while_its_question_waits_is_an_error_after_the_answer() -> None:
    async with opened(lines()) as server, served(server) as gate, modern(gate) as host:
        state = (await begun(host)).request_state
        await server.call("end")
        result = await went_on(host, state, {"colour": "a"})
    assert error_of(result)["code"] == "TRANSPORT_NETWORK_ERROR"


async def test_a_host_that_leaves_amid_the_work_ends_it(tmp_path: Path) -> None:
    log = tmp_path / "log"
    async with opened(lines(LOG=str(log))) as server, served(server) as gate, modern(gate) as host:
        state = (await begun(host, times=2)).request_state
        assert state is not None
        async with asyncio.timeout(10):
            again = await went_on(host, state, {"colour": "a"})
        hanging = asyncio.create_task(host.call_tool(TOOL, asking("hang"), allow_input_required=True))
        await until(lambda: '"hang"' in log.read_text())
        hanging.cancel()
        await asyncio.gather(hanging, return_exceptions=True)
        await until(lambda: any(one.get("method") == "notifications/cancelled" for one in heard_by(log)))
        assert data_of(await went_on(host, again.request_state, {"colour": "b"}))["answers"][1]["action"] == "accept"


@ABOVE
@BELOW
async def test_progress_arrives_after_the_question_too(behind: Behind, above: str, below: str) -> None:
    told: list[float] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        told.append(progress)

    async with in_front_of(behind[above], below, Host(ANSWERS["a filled form"])) as client:
        result = await client.call_tool(TOOL, asking(steps=2), progress_callback=note)
    assert data_of(result)["answers"][0]["action"] == "accept"
    assert told == [1, 2]


PAGE = {"mode": "url", "elicitationId": "e1", "url": "https://example.org/in", "message": "Log in, please"}


@ABOVE
@BELOW
async def test_a_page_that_must_be_opened_first_is_shown_and_said(behind: Behind, above: str, below: str) -> None:
    host = Host(types.ElicitResult(action="accept"))
    async with in_front_of(behind[above], below, host) as client:
        error = error_of(await client.call_tool(TOOL, asking("demand_page", pages=[PAGE, {"url": 5}, "odd"])))
    assert error["code"] == "PERMISSION_DENIED"
    assert "call again after" in error["message"]
    assert error["details"]["pages"] == [{"url": "https://example.org/in", "message": "Log in, please"}]
    [shown] = host.shown
    assert (shown.mode, shown.url) == ("url", "https://example.org/in")


@pytest.mark.parametrize("data", [None, [], {"elicitations": 5}], ids=["nothing", "a list", "a number"])
async def test_pages_that_are_none_are_not_shown(data: object) -> None:
    line = {"jsonrpc": "2.0", "id": 77, "error": {"code": -32042, "message": "no", "data": data}}
    shown: list[str] = []
    async with opened(lines()) as server:
        text = json.dumps(line).replace("77", "%ID%")
        envelope = await server.call("show_line", {"line": text}, ask=noting("ann", shown))
    assert envelope["error"]["code"] == "PERMISSION_DENIED"
    assert "pages" not in envelope["error"]["details"]
    assert shown == []


@BELOW
async def test_a_confirmed_operation_may_ask_as_well(below: str) -> None:
    shown: list[str] = []

    async def host(context: Any, params: Any) -> types.ElicitResult:
        shown.append(params.message)
        is_gate = "confirm" in params.requested_schema["properties"]
        return types.ElicitResult(action="accept", content={"confirm": True} if is_gate else {"colour": "red"})

    danger = Danger(DangerLevel.DESTRUCTIVE, ("it repaints everything",))
    curation = Curation(operations={"ask": Choice(danger=danger)})
    async with hosted(lines(), below, host, curation=curation) as client:
        data = data_of(await client.call_tool(TOOL, asking(message="Which colour?")))
    assert data["answers"][0]["content"] == {"colour": "red"}
    assert len(shown) == 2
    assert shown[0].startswith("Run ask(")
    assert shown[1] == "Which colour?"
