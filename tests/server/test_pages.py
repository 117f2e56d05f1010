"""Hosts that can open a page are sent to the console's, in both eras; that it was opened proves nothing."""

import json
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import mcp_types as types
import pytest
from mcp import Client
from mcp.client.session import ClientSession

from headgate import Adapter, mcp_server
from headgate.adapter.context import Session
from headgate.engine.stages import Reply
from headgate.protocol.errors import AqlError
from headgate.safety.approvals import approve, approve_changed, turn_down, waiting
from headgate.safety.loop.persons import challenges, override, show_code
from headgate.server.asking import Page, after_page
from headgate.server.binding import McpServer
from headgate.server.settings import SettingError, Settings

pytestmark = pytest.mark.anyio

MODES = pytest.mark.parametrize("mode", ["auto", "legacy"], ids=["modern", "legacy"])
CONSOLE = "http://127.0.0.1:8081"
DELETE, READ, EXECUTE, CREATE = (f"mcp_aql_{family}" for family in ("delete", "read", "execute", "create"))
CALL = {"operation": "delete_user", "params": {"user_id": "alice"}}
ANSWERS = {action: types.ElicitResult(action=action) for action in ("accept", "decline", "cancel")}
LIES = {
    "a yes": types.ElicitResult(action="accept", content={"confirm": True}),
    "an approval": types.ElicitResult(action="accept", content={"approved": True, "token": "x"}),
    "a no": types.ElicitResult(action="decline"),
    "nothing": types.ElicitResult(action="cancel"),
}
FAILED = types.ErrorData(code=types.INTERNAL_ERROR, message="no browser")
PERSON = {"confirmation": {"by": "person"}}


class Browser:
    """A host whose user's browser is opened: what was opened, and what a person did there before it answered."""

    def __init__(self, answer: types.ElicitResult | types.ErrorData = ANSWERS["accept"]) -> None:
        self.answer = answer
        self.opened: list[str] = []
        self.said: list[str] = []
        self.meanwhile: Callable[[str], Any] | None = None

    async def __call__(self, context: Any, params: Any) -> types.ElicitResult | types.ErrorData:
        assert params.mode == "url"
        self.opened.append(params.url)
        self.said.append(params.message)
        if self.meanwhile is not None:
            await self.meanwhile(params.url)
        return self.answer


class Served:
    """A server in process whose deletions a person must approve, and what ran in it."""

    def __init__(self, **settings: Any) -> None:
        self.ran: list[str] = []
        adapter = Adapter("users")

        @adapter.delete
        async def delete_user(user_id: str) -> str:
            """Delete a user."""
            self.ran.append(user_id)
            return user_id

        @adapter.read
        async def get_user(user_id: str) -> str:
            """Read a user."""
            if user_id.startswith("appr_") or "/" in user_id:
                raise AqlError("CONFLICT_STATE", "as the service says", {"approval_id": user_id})
            return user_id

        self.server: McpServer = mcp_server(adapter, **{"policy": PERSON, "console_url": CONSOLE, **settings})

    def client(self, mode: str, browser: Browser | None = None) -> Client:
        return Client(self.server, mode=mode, elicitation_callback=browser)

    async def asked(self) -> str:
        """The id of the one approval that waits."""
        [grant] = await waiting(self.server.store, 0.0)
        return grant.approval_id

    async def approve(self, url: str) -> None:
        """What a person does on the page."""
        assert await approve(self.server.store, url.rpartition("/")[2], "ana", time.time)


@pytest.fixture
async def serve() -> AsyncIterator[Callable[..., Served]]:
    made: list[Served] = []

    def served(**settings: Any) -> Served:
        made.append(Served(**settings))
        return made[-1]

    yield served
    for one in made:
        await one.server.store.close()


Serve = Callable[..., Served]


def envelope_of(result: Any) -> Any:
    return json.loads(result.content[0].text)


def code_of(result: Any) -> str:
    envelope = envelope_of(result)
    return "" if envelope["success"] else str(envelope["error"]["code"])


# What is opened


@MODES
async def test_the_page_is_that_of_the_approval_and_holds_nothing_secret(serve: Serve, mode: str) -> None:
    served, browser = serve(), Browser()
    async with served.client(mode, browser) as client:
        result = await client.call_tool(DELETE, CALL)
    asked = await served.asked()
    assert browser.opened == [f"{CONSOLE}/approvals/{asked}"]
    assert browser.said == ["This waits for a person's decision, which is made in the console."]
    assert "conf_" not in str(result)
    assert served.ran == []


@pytest.mark.parametrize(
    ("mode", "answer"),
    [
        *(
            pytest.param(mode, answer, id=f"{mode}: {name}")
            for name, answer in LIES.items()
            for mode in ("auto", "legacy")
        ),
        pytest.param("legacy", FAILED, id="legacy: a failure"),
    ],
)
async def test_whatever_the_host_answers_the_call_still_waits_for_the_person(
    serve: Serve, mode: str, answer: types.ElicitResult | types.ErrorData
) -> None:
    served, browser = serve(), Browser(answer)
    async with served.client(mode, browser) as client:
        result = await client.call_tool(DELETE, CALL)
        assert code_of(result) == "CONFIRMATION_REQUIRED"
        assert served.ran == []
        asked = await served.asked()
        assert asked in envelope_of(result)["error"]["message"]
        await served.approve(asked)
        confirmed = {"operation": "delete_user", "params": {"user_id": "alice", "confirmation_token": asked}}
        assert code_of(await client.call_tool(DELETE, confirmed)) == ""
    assert served.ran == ["alice"]
    assert len(browser.opened) == 1


@MODES
@pytest.mark.parametrize("action", ANSWERS)
async def test_what_the_person_did_meanwhile_counts(serve: Serve, mode: str, action: str) -> None:
    """A modern host calls again under the approval; a legacy one has its answer, and the model calls again."""
    served, browser = serve(), Browser(ANSWERS[action])
    browser.meanwhile = served.approve
    async with served.client(mode, browser) as client:
        result = await client.call_tool(DELETE, CALL)
        if mode == "auto":
            assert code_of(result) == ""
        else:
            assert code_of(result) == "CONFIRMATION_REQUIRED"
            asked = envelope_of(result)["error"]["details"]["approval_id"]
            assert code_of(await client.call_tool(DELETE, {**CALL, "_confirmation": asked})) == ""
    assert served.ran == ["alice"]


@MODES
async def test_a_person_who_refuses_on_the_page_is_heard(serve: Serve, mode: str) -> None:
    served, browser = serve(), Browser()

    async def refuse(url: str) -> None:
        assert await turn_down(served.server.store, url.rpartition("/")[2], "ana", time.time)

    browser.meanwhile = refuse
    async with served.client(mode, browser) as client:
        await client.call_tool(DELETE, CALL)
        assert code_of(await client.call_tool(DELETE, CALL)) == "PERMISSION_DENIED"
    assert served.ran == []


async def test_a_person_who_changes_the_call_on_the_page_is_heard(serve: Serve) -> None:
    served, browser = serve(), Browser()

    async def change(url: str) -> None:
        other = await approve_changed(served.server.store, url.rpartition("/")[2], {"user_id": "bob"}, "ana", time.time)
        assert other

    browser.meanwhile = change
    async with served.client("auto", browser) as client:
        details = envelope_of(await client.call_tool(DELETE, CALL))["error"]["details"]
        assert details["approved_params"] == {"user_id": "bob"}
        again = {"operation": "delete_user", "params": {"user_id": "bob"}, "_confirmation": details["approval_id"]}
        assert code_of(await client.call_tool(DELETE, again)) == ""
    assert served.ran == ["bob"]


@MODES
async def test_a_page_is_opened_once_however_often_the_model_asks(serve: Serve, mode: str) -> None:
    served, browser = serve(), Browser()
    async with served.client(mode, browser) as client:
        for _ in range(3):
            assert code_of(await client.call_tool(DELETE, CALL)) == "CONFIRMATION_REQUIRED"
        asked = await served.asked()
        for _ in range(2):
            assert code_of(await client.call_tool(DELETE, {**CALL, "_confirmation": asked})) == "CONFIRMATION_REQUIRED"
        other = {"operation": "delete_user", "params": {"user_id": "bob"}}
        assert code_of(await client.call_tool(DELETE, other)) == "CONFIRMATION_REQUIRED"
    assert len(browser.opened) == len(set(browser.opened)) == 2


# Who is not sent anywhere


@MODES
async def test_a_host_that_can_open_nothing_gets_the_ordinary_answer(serve: Serve, mode: str) -> None:
    served = serve()
    async with served.client(mode) as client:
        result = await client.call_tool(DELETE, CALL)
    assert code_of(result) == "CONFIRMATION_REQUIRED"
    assert CONSOLE not in str(result)


@MODES
@pytest.mark.parametrize(
    "capability",
    [None, types.ElicitationCapability(), types.ElicitationCapability(form=types.FormElicitationCapability())],
    ids=["none", "elicitation of no kind", "forms alone"],
)
async def test_a_host_that_has_not_said_that_it_opens_pages_is_sent_to_none(
    serve: Serve, mode: str, capability: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    declared = types.ClientCapabilities(elicitation=capability)
    monkeypatch.setattr(ClientSession, "_build_capabilities", lambda *_, **__: declared)
    served, browser = serve(), Browser()
    async with served.client(mode, browser) as client:
        assert code_of(await client.call_tool(DELETE, CALL)) == "CONFIRMATION_REQUIRED"
    assert browser.opened == []


@MODES
async def test_a_host_that_opens_pages_alone_is_sent_to_one(
    serve: Serve, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    declared = types.ClientCapabilities(elicitation=types.ElicitationCapability(url=types.UrlElicitationCapability()))
    monkeypatch.setattr(ClientSession, "_build_capabilities", lambda *_, **__: declared)
    served, browser = serve(), Browser()
    async with served.client(mode, browser) as client:
        await client.call_tool(DELETE, CALL)
    assert len(browser.opened) == 1


@MODES
async def test_without_a_console_there_is_no_page(serve: Serve, mode: str) -> None:
    served, browser = serve(console_url=None), Browser()
    async with served.client(mode, browser) as client:
        assert code_of(await client.call_tool(DELETE, CALL)) == "CONFIRMATION_REQUIRED"
    assert browser.opened == []


@MODES
async def test_what_waits_for_nobody_opens_nothing(serve: Serve, mode: str) -> None:
    served, browser = serve(), Browser()
    async with served.client(mode, browser) as client:
        assert code_of(await client.call_tool(READ, {"operation": "get_user", "params": {"user_id": "a"}})) == ""
        assert code_of(await client.call_tool(READ, {"operation": "get_user"})) == "VALIDATION_MISSING_PARAM"
    assert browser.opened == []


@MODES
@pytest.mark.parametrize(
    "said", ["appr_short", "appr_../../sign-out", "../../sign-out", f"appr_{'x' * 16}/../x", f"appr_{'x' * 16}?a=b"]
)
async def test_what_an_adapter_says_is_no_address(serve: Serve, mode: str, said: str) -> None:
    """An error may repeat whatever some other service has said."""
    served, browser = serve(), Browser()
    async with served.client(mode, browser) as client:
        await client.call_tool(READ, {"operation": "get_user", "params": {"user_id": said}})
    assert browser.opened == []


@MODES
async def test_a_batch_opens_nothing(serve: Serve, mode: str) -> None:
    served, browser = serve(), Browser()
    async with served.client(mode, browser) as client:
        await client.call_tool(DELETE, {"operations": [CALL]})
    assert (browser.opened, served.ran) == ([], [])


# Agents

LOOP = {"autonomy": {"start": "free"}}
BOT = {"element_name": "bot"}


def step(hint: str) -> dict[str, Any]:
    return {"operation": "record_execution_step", "params": {**BOT, "next_action_hint": hint}}


@MODES
async def test_an_agent_that_is_blocked_sends_its_host_to_the_page_of_the_challenge(serve: Serve, mode: str) -> None:
    served, browser = serve(policy=LOOP), Browser()
    async with served.client(mode, browser) as client:
        assert code_of(await client.call_tool(EXECUTE, {"operation": "execute_agent", "params": BOT})) == ""
        await client.call_tool(CREATE, step("rm -rf /srv"))
        [challenge] = await challenges(served.server.store, time.time())
        code = await show_code(served.server.store, challenge.id, "console", "ana", time.time)
        for _ in range(3):
            result = await client.call_tool(CREATE, step("read a file"))
            assert code_of(result) == "PERMISSION_DENIED", "that a page was opened verifies nothing"
        assert browser.opened == [f"{CONSOLE}/codes/{challenge.id}"]
        assert code
        assert code not in str((result, browser.opened, browser.said))
        assert code.replace("-", "") not in str((result, browser.opened))
        assert await override(served.server.store, "bot", "ana", "a false alarm", time.time)
        assert code_of(await client.call_tool(CREATE, step("read a file"))) == ""


@MODES
async def test_a_quota_that_a_person_extends_on_the_page_goes_on(serve: Serve, mode: str) -> None:
    quota = {"metric": "requests_per_hour", "warn": 1, "pause": 1, "hard_stop": 9, "confirm": "person"}
    served, browser = serve(policy={"quota": [quota]}), Browser()
    browser.meanwhile = served.approve
    call = {"operation": "get_user", "params": {"user_id": "a"}}
    async with served.client(mode, browser) as client:
        assert code_of(await client.call_tool(READ, call)) == ""
        result = await client.call_tool(READ, call)
        if mode == "legacy":
            assert code_of(result) == "RATE_LIMIT_QUOTA_PAUSE"
            asked = envelope_of(result)["error"]["details"]["approval_id"]
            result = await client.call_tool(READ, {**call, "_quota_continue": asked})
        assert code_of(result) == ""
    assert len(browser.opened) == 1


# The state that a modern host hands back

A = f"appr_{'a' * 16}"


async def test_a_state_that_nobody_was_given_gives_no_right(serve: Serve) -> None:
    served, browser = serve(), Browser()
    async with served.client("auto", browser) as client:
        for state in ("page:", "page:x", f"page:{A}", f"page:_confirmation:{A}", "page:_confirmation:", "page:a:b:c"):
            result = await client.session.call_tool(DELETE, CALL, request_state=state, allow_input_required=True)
            assert not envelope_of(result)["success"], state
    assert served.ran == []


async def test_the_state_of_one_caller_is_worth_nothing_to_another(serve: Serve) -> None:
    served, browser = serve(), Browser()
    async with served.client("auto", browser) as client:
        result = await client.session.call_tool(DELETE, CALL, allow_input_required=True)
        assert isinstance(result, types.InputRequiredResult)
        await served.approve(await served.asked())
        async with served.client("auto", Browser()) as other:
            stolen = await other.session.call_tool(
                DELETE, CALL, request_state=result.request_state, allow_input_required=True
            )
            assert code_of(stolen) == "TOKEN_INVALID"
        again = await client.session.call_tool(
            DELETE, CALL, request_state=result.request_state, allow_input_required=True
        )
        assert code_of(again) == ""
    assert served.ran == ["alice"]


@pytest.mark.parametrize(
    ("state", "arguments", "expected"),
    [
        ("conf_x", {}, (False, {})),
        (f"page:_confirmation:{A}", {"operation": "o"}, (True, {"operation": "o", "_confirmation": A})),
        (f"page:_quota_continue:{A}", {"operation": "o"}, (True, {"operation": "o", "_quota_continue": A})),
        ("page::some-challenge", {"operation": "o"}, (True, {"operation": "o"})),
        (f"page:params:{A}", {"operation": "o"}, (True, {"operation": "o"})),
        (f"page:_confirmation:{A}", [1], (True, [1])),
    ],
)
def test_a_call_goes_on_under_the_approval_that_it_waited_for(state: str, arguments: Any, expected: Any) -> None:
    assert after_page(state, arguments) == expected


def test_a_page_is_news_to_a_session_once_and_to_single_requests_each_time() -> None:
    page = Page(f"{CONSOLE}/approvals/{A}", A, "_confirmation")
    lasting, single = Session(), Session(lasting=False)
    assert [page.is_news({}, lasting) for _ in range(3)] == [True, False, False]
    assert [page.is_news({}, single) for _ in range(3)] == [True, True, True]
    assert not page.is_news({"params": {"confirmation_token": A}}, single)
    assert page.is_news([A], single), "arguments that are no object carry nothing"
    assert page.is_news({}, Session())


def test_an_answer_that_waits_for_nothing_of_headgates_has_no_page() -> None:
    for said in ("", "x", A + "x", "0" * 36, "00000000-0000-4000-8000-00000000000g"):
        assert Page.of(CONSOLE, Reply("{}", True, False, "r", None, said)) is None


# The setting


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (None, None),
        ("http://127.0.0.1:8081", "http://127.0.0.1:8081"),
        ("https://gate.example/console/", "https://gate.example/console"),
        ("http://[::1]:8081", "http://[::1]:8081"),
    ],
)
def test_the_address_of_a_console_is_kept(given: str | None, kept: str | None) -> None:
    assert Settings.of(console_url=given).console_url == kept


@pytest.mark.parametrize(
    "given",
    [
        "",
        "127.0.0.1:8081",
        "ftp://gate.example",
        "javascript:alert(1)",
        "http://",
        "http:///console",
        "http://ana:secret@gate.example",
        "http://gate.example?token=x",
        "http://gate.example/#x",
        "http://gate example",
        5,
    ],
    ids=str,
)
def test_what_is_no_address_of_a_console_is_refused(given: Any) -> None:
    with pytest.raises(SettingError, match="console_url must be an address"):
        Settings.of(console_url=given)


def test_what_tells_persons_is_a_function() -> None:
    async def tell(_challenge: object) -> None:
        """Nobody."""

    assert Settings.of(announce=tell).announce is tell
    assert Settings.of(announce=None).announce is None
    with pytest.raises(SettingError, match="announce must be a function, not 'mail'"):
        Settings.of(announce="mail")
