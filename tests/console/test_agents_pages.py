"""Agents in the console: what they do, what holds them up, and how a person lets them go on, or ends it."""

import json
import re

import anyio
import httpx2
import pytest
from starlette.requests import Request

from headgate import Caller, Session
from headgate.console.console import Console
from headgate.console.doors import Visit
from headgate.console.metrics import CONSOLE_CLIENT
from headgate.store.interface import Store
from tests.console.desks import PERSON, Browser, Desk, desk, dumped, text_of
from tests.console.test_approvals_page import state_of
from tests.safety.guarding import code_of
from tests.safety.supervising import DEADLY, GRAVE, HARMLESS, RISKY

pytestmark = pytest.mark.anyio

CODE = re.compile(r"(?:[2-9A-HJ-NP-Z]{4}-){6}[2-9A-HJ-NP-Z]{4}")
"""Seven groups of four letters and digits, none of which looks like another."""


async def shown_code(browser: Browser, challenge: str) -> str:
    page = await browser.post(f"/codes/{challenge}/show")
    assert page.status_code == 200
    [code] = CODE.findall(page.text)
    return str(code)


# codes


async def test_what_waits_to_be_verified_is_listed_without_any_code() -> None:
    async with desk() as at:
        browser = await at.operator()
        assert "No agent waits to be verified." in text_of(await browser.get("/codes"))
        challenge = await at.stopped("brute")
        await at.doubted("careful")
        page = await browser.get("/codes")
        text = text_of(page)
        assert f"/codes/{challenge.id}" in page.text
        assert "brute" in text
        assert "careful" in text
        assert "blocked" in text.lower()
        assert "2 waiting" in text
        assert CODE.search(page.text) is None
        at.clock.move(300)
        later = text_of(await browser.get("/codes"))
        assert "careful" not in later
        assert "brute" in later, "a block waits longer than its challenge"


async def test_a_code_is_shown_to_who_asks_and_is_nowhere_else() -> None:
    async with desk() as at:
        browser = await at.operator()
        challenge = await at.stopped()
        page = await browser.get(f"/codes/{challenge.id}")
        assert DEADLY in text_of(page)
        assert state_of(page) == "the agent is blocked"
        assert CODE.search(page.text) is None, "looking shows none"
        code = await shown_code(browser, challenge.id)
        for path in (f"/codes/{challenge.id}", "/codes", "/", "/audit", "/agent?name=brute"):
            assert code not in (await browser.get(path)).text
        kept = repr(await dumped(at.store)) + await at.told()
        assert code not in kept
        assert code.replace("-", "") not in kept
        [entry] = [one for one in await at.audit() if one.event == "code shown"]
        assert (entry.details["by"], entry.details["channel"]) == ("ana", "console")


@pytest.mark.parametrize("spelt", [str, str.lower, lambda code: code.replace("-", ""), lambda code: f"  {code} \r\n"])
async def test_with_the_code_the_agent_is_released_once(spelt: object) -> None:
    assert callable(spelt)
    async with desk() as at:
        browser = await at.operator()
        challenge = await at.stopped()
        code = await shown_code(browser, challenge.id)
        answer = await browser.post(f"/codes/{challenge.id}/verify", {"code": spelt(code)})
        assert (answer.status_code, answer.headers["location"]) == (303, f"/codes/{challenge.id}")
        page = await browser.get(f"/codes/{challenge.id}")
        assert state_of(page).startswith("verified")
        assert state_of(page).endswith("by console:ana via headgate console")
        assert f"/codes/{challenge.id}/verify" not in page.text
        assert (await at.agent("brute")).block is None
        again = await browser.post(f"/codes/{challenge.id}/verify", {"code": code})
        assert again.status_code == 422
        [entry] = [one for one in await at.audit() if one.event == "verified"]
        assert json.loads(entry.caller) == ["console:ana", "headgate console"]


async def test_a_wrong_try_makes_the_code_void() -> None:
    async with desk() as at:
        browser = await at.operator()
        challenge = await at.stopped()
        code = await shown_code(browser, challenge.id)
        answer = await browser.post(f"/codes/{challenge.id}/verify", {"code": "2222-2222"})
        assert answer.status_code == 422
        assert "That was not the code" in text_of(answer)
        assert "Wrong tries 1" in text_of(answer)
        late = await browser.post(f"/codes/{challenge.id}/verify", {"code": code})
        assert late.status_code == 422
        assert (await at.agent("brute")).block is not None
        fresh = await shown_code(browser, challenge.id)
        assert (await browser.post(f"/codes/{challenge.id}/verify", {"code": fresh})).status_code == 303


@pytest.mark.parametrize("code", ["", "\x00", "ß" * 1000, "\u202e", "<b>", "2" * 100_000])
async def test_an_odd_code_is_a_wrong_one(code: str) -> None:
    async with desk() as at:
        browser = await at.operator()
        challenge = await at.stopped()
        await shown_code(browser, challenge.id)
        assert (await browser.post(f"/codes/{challenge.id}/verify", {"code": code})).status_code == 422
        assert (await at.agent("brute")).block is not None


async def test_after_too_many_tries_nothing_is_verified_for_a_while_and_the_page_says_so() -> None:
    async with desk() as at:
        browser = await at.operator()
        challenge = await at.stopped()
        for _ in range(10):
            answer = await browser.post(f"/codes/{challenge.id}/verify", {"code": "wrong"})
            assert "That was not the code" in text_of(answer)
        code = await shown_code(browser, challenge.id)
        locked = await browser.post(f"/codes/{challenge.id}/verify", {"code": code})
        assert locked.status_code == 422
        assert "Too many tries have failed: nothing is verified for this agent for 60 seconds." in text_of(locked)
        at.clock.move(61)
        code = await shown_code(browser, challenge.id)
        assert (await browser.post(f"/codes/{challenge.id}/verify", {"code": code})).status_code == 303


async def test_an_expired_challenge_has_no_code_any_more() -> None:
    async with desk() as at:
        browser = await at.operator()
        challenge = await at.doubted()
        code = await shown_code(browser, challenge.id)
        at.clock.move(300)
        page = await browser.get(f"/codes/{challenge.id}")
        assert state_of(page).startswith("expired")
        assert f"/codes/{challenge.id}/show" not in page.text
        none = await browser.post(f"/codes/{challenge.id}/show")
        assert none.status_code == 409
        assert "It waits no longer: there is no code." in text_of(none)
        assert CODE.search(none.text) is None
        assert (await browser.post(f"/codes/{challenge.id}/verify", {"code": code})).status_code == 422


async def test_who_asks_for_a_code_of_a_block_gets_one_however_late() -> None:
    async with desk() as at:
        browser = await at.operator()
        challenge = await at.stopped()
        old = await shown_code(browser, challenge.id)
        at.clock.move(86400)
        browser = await at.operator()
        page = await browser.get(f"/codes/{challenge.id}")
        assert state_of(page) == "the agent is blocked", "time alone lifts no block"
        code = await shown_code(browser, challenge.id)
        assert (await browser.post(f"/codes/{challenge.id}/verify", {"code": old})).status_code == 422
        code = await shown_code(browser, challenge.id)
        assert (await browser.post(f"/codes/{challenge.id}/verify", {"code": code})).status_code == 303


async def test_a_challenge_that_was_given_up_is_closed() -> None:
    async with desk() as at:
        browser = await at.operator()
        challenge = await at.stopped()
        await browser.post("/agent/override", {"name": "brute", "reason": "a drill"})
        assert state_of(await browser.get(f"/codes/{challenge.id}")) == "closed"


async def test_who_refuses_says_why_and_the_agent_goes_on_without_it() -> None:
    async with desk() as at:
        browser = await at.operator()
        await at.start("careful")
        assert (await at.step(GRAVE, name="careful"))["continue"] is False
        challenge = await at.challenge()
        code = await shown_code(browser, challenge.id)
        answer = await browser.post(f"/codes/{challenge.id}/refuse", {"reason": " use the archive "})
        assert (answer.status_code, answer.headers["location"]) == (303, f"/codes/{challenge.id}")
        state = state_of(await browser.get(f"/codes/{challenge.id}"))
        assert state.startswith("refused")
        assert state.endswith("by ana : use the archive")
        late = await browser.post(f"/codes/{challenge.id}/verify", {"code": code})
        assert late.status_code == 422
        again = await browser.post(f"/codes/{challenge.id}/refuse", {"reason": "once more"})
        assert again.status_code == 409
        assert "It waits no longer, so nothing was refused." in text_of(again)
        assert (await at.step(GRAVE, name="careful"))["continue"] is False
        assert (await at.step(HARMLESS, name="careful"))["continue"] is True


async def test_a_block_cannot_be_refused_nor_for_a_reason_that_nobody_would_read() -> None:
    async with desk() as at:
        browser = await at.operator()
        block, doubt = await at.stopped(), await at.doubted()
        before = await dumped(at.store)
        assert (await browser.post(f"/codes/{block.id}/refuse", {"reason": "no"})).status_code == 409
        long = await browser.post(f"/codes/{doubt.id}/refuse", {"reason": "x" * 501})
        assert long.status_code == 422
        assert "in up to 500 characters: nothing was refused." in text_of(long)
        assert await dumped(at.store) == before


async def test_there_is_no_page_for_what_is_no_challenge() -> None:
    async with desk() as at:
        browser = await at.operator()
        for path in ("/codes/nothing", "/codes/%00", f"/codes/{'a' * 5000}"):
            assert (await browser.get(path)).status_code == 404
            assert (await browser.post(f"{path}/show")).status_code == 404
            assert (await browser.post(f"{path}/verify", {"code": "x"})).status_code == 404
            assert (await browser.post(f"{path}/refuse")).status_code == 404


async def test_of_two_operators_who_verify_at_once_one_succeeds() -> None:
    async with desk() as at:
        browsers = [await at.operator(name) for name in ("ana", "bo")]
        challenge = await at.stopped()
        code = await shown_code(browsers[0], challenge.id)
        answers: list[int] = []

        async def verify(browser: Browser) -> None:
            answers.append((await browser.post(f"/codes/{challenge.id}/verify", {"code": code})).status_code)

        async with anyio.create_task_group() as tasks:
            for browser in browsers:
                tasks.start_soon(verify, browser)
        assert sorted(answers) == [303, 422]
        assert (await at.events()).count("verified") == 1


async def test_without_an_engine_codes_are_shown_and_taken_too() -> None:
    async with desk(has_engine=False) as at:
        browser = await at.operator()
        challenge = await at.stopped()
        code = await shown_code(browser, challenge.id)
        assert (await browser.post(f"/codes/{challenge.id}/verify", {"code": code})).status_code == 303


# nobody decides about itself


async def test_an_operator_may_decide_and_the_agent_may_not_even_with_the_code() -> None:
    async with desk() as at:
        browser = await at.operator()
        await at.start("brute")
        challenge = await at.blocked(name="brute")
        code = await shown_code(browser, challenge.id)
        own = await at.verify(challenge.id, code, session=at.session)
        assert code_of(own) == "PERMISSION_DENIED"
        assert "self-approval refused" in await at.events()
        assert (await browser.post(f"/codes/{challenge.id}/verify", {"code": code})).status_code == 303


async def test_an_operator_who_plays_the_agent_cannot_decide_about_it() -> None:
    """Who starts an agent with the try-it form speaks for it from then on."""
    async with desk() as at:
        ana, bo = await at.operator("ana"), await at.operator("bo")
        answer = await ana.post("/operations/execute_agent", {"param.element_name": "brute"})
        assert "running" in answer.text
        form = {"param.element_name": "brute", "param.next_action_hint": DEADLY}
        assert "stopped" in (await ana.post("/operations/record_execution_step", form)).text
        challenge = await at.challenge()
        code = await shown_code(ana, challenge.id)
        own = await ana.post(f"/codes/{challenge.id}/verify", {"code": code})
        assert own.status_code == 422
        assert "who is held up cannot decide about it" in text_of(own)
        assert (await bo.post(f"/codes/{challenge.id}/verify", {"code": code})).status_code == 303


@pytest.mark.parametrize("path", ["/codes/{}/verify", "/codes/{}/show", "/agent/override", "/approvals"])
async def test_an_agent_that_can_send_any_request_gets_nowhere_without_a_sign_in(path: str) -> None:
    async with desk() as at:
        challenge = await at.stopped()
        before = await dumped(at.store)
        agent = at.browser()
        answer = await agent.post(path.format(challenge.id), {"name": "brute", "reason": "please", "csrf": "0" * 64})
        assert answer.status_code == 401
        assert await dumped(at.store) == before


async def test_no_caller_through_mcp_can_be_taken_for_an_operator(store: Store) -> None:
    at = Desk(store)
    browser = await at.operator()
    operator = await at.doors.operator_of(_request(browser))
    assert operator
    caller = Console(store).caller(Visit(_request(browser), operator, {}))
    assert caller == Caller(subject="console:ana", client_id=CONSOLE_CLIENT)
    assert caller.authenticated


def _request(browser: Browser) -> Request:
    cookie = f"headgate_console_8787={browser.cookie}".encode()
    return Request({"type": "http", "headers": [(b"cookie", cookie)]})


# agents


async def test_each_agent_is_listed_with_its_state() -> None:
    async with desk() as at:
        browser = await at.operator()
        assert "No agent has worked under the safety loop yet." in text_of(await browser.get("/agents"))
        await at.start("idler", session=Session())
        session = Session()
        await at.start("finisher", session=session)
        await at.call("complete_execution", {"element_name": "finisher", "summary": "done"}, session=session)
        await at.paused("waiter")
        await at.stopped("brute")
        text = text_of(await browser.get("/agents"))
        rows = dict(re.findall(r"\b(idler|finisher|brute|waiter) (executing|idle|blocked|paused)\b", text))
        assert rows == {"idler": "executing", "finisher": "idle", "brute": "blocked", "waiter": "paused"}


async def test_an_agent_is_shown_step_by_step_with_tier_and_factors() -> None:
    async with desk() as at:
        browser = await at.operator()
        await at.start("bot", task="tidy the archive")
        await at.step(HARMLESS, step_description="looked around", outcome="success")
        at.clock.move(60)
        await at.step(RISKY)
        page = await browser.get("/agent?name=bot")
        text = text_of(page)
        assert text.index(RISKY) < text.index(HARMLESS), "the latest first"
        for words in ("tidy the archive", "looked around", "Paused", "of 100", "1 min ago"):
            assert words in text
        execution = (await at.agent()).execution
        assert execution
        for step in execution.recent:
            for factor in step.factors:
                assert factor in text
        assert "/approvals/appr_" in page.text


@pytest.mark.parametrize("name", ["BRUTE", " brute ", "br\u200bute", "\uff42rute"])
async def test_an_agent_is_found_however_its_name_is_spelt(name: str) -> None:
    async with desk() as at:
        browser = await at.operator()
        await at.stopped("brute")
        page = await browser.get(str(httpx2.URL("/agent", params={"name": name})))
        assert page.status_code == 200
        assert "Blocked" in text_of(page)


@pytest.mark.parametrize("path", ["/agent", "/agent?name=", "/agent?name=nobody", "/agent?name=%00", "/agent?name=%ff"])
async def test_an_agent_that_nobody_knows_is_missing(path: str) -> None:
    async with desk() as at:
        assert (await (await at.operator()).get(path)).status_code == 404


@pytest.mark.parametrize("reason", [None, "", "  \r\n", "x" * 501])
@pytest.mark.parametrize("path", ["/agent/override", "/agent/end"])
async def test_whoever_overrides_or_ends_says_why(path: str, reason: str | None) -> None:
    async with desk() as at:
        browser = await at.operator()
        await at.stopped("brute")
        before = await dumped(at.store)
        answer = await browser.post(path, {"name": "brute"} | ({} if reason is None else {"reason": reason}))
        assert answer.status_code == 422
        assert "Say why, in up to 500 characters: nothing was changed." in text_of(answer)
        assert await dumped(at.store) == before


async def test_an_override_lifts_the_block_and_is_written_down_with_its_reason() -> None:
    async with desk() as at:
        browser = await at.operator()
        await at.stopped("brute")
        answer = await browser.post("/agent/override", {"name": "brute", "reason": " a drill "})
        assert (answer.status_code, answer.headers["location"]) == (303, "/agent?name=brute")
        assert (await at.agent("brute")).block is None
        [entry] = [one for one in await at.audit() if one.event == "block overridden"]
        assert (entry.details["by"], entry.details["reason"]) == ("ana", "a drill")
        again = await browser.post("/agent/override", {"name": "brute", "reason": "a drill"})
        assert again.status_code == 409
        assert "The agent is not blocked, so nothing was changed." in text_of(again)


async def test_an_execution_is_ended_and_the_block_stays() -> None:
    async with desk() as at:
        browser = await at.operator()
        await at.stopped("brute")
        answer = await browser.post("/agent/end", {"name": "brute", "reason": "enough"})
        assert answer.status_code == 303
        agent = await at.agent("brute")
        assert agent.execution is None
        assert agent.block is not None
        again = await browser.post("/agent/end", {"name": "brute", "reason": "enough"})
        assert again.status_code == 409
        assert "The agent executes nothing, so nothing was changed." in text_of(again)
        assert "It executes nothing now." in text_of(again)


@pytest.mark.parametrize("path", ["/agent/override", "/agent/end"])
async def test_nothing_is_decided_about_an_agent_that_nobody_knows(path: str) -> None:
    async with desk() as at:
        browser = await at.operator()
        assert (await browser.post(path, {"name": "nobody", "reason": "why not"})).status_code == 404
        assert (await browser.post(path, {"reason": "why not"})).status_code == 404


@pytest.mark.parametrize("name", ["a&b=c#d", "ä/ö?", "x\ny", "a\u202eb", "100%", "<b>"])
async def test_the_way_back_to_an_agent_is_its_own_address(name: str) -> None:
    async with desk() as at:
        browser = await at.operator()
        await at.stopped(name)
        answer = await browser.post("/agent/end", {"name": name, "reason": "enough"})
        assert answer.status_code == 303
        assert (await browser.get(answer.headers["location"])).status_code == 200
        assert answer.headers["location"].isascii()


async def test_an_agent_that_needs_no_leave_shows_its_first_minute() -> None:
    async with desk(PERSON) as at:
        browser = await at.operator()
        await at.start("bot")
        assert "No step yet." in text_of(await browser.get("/agent?name=bot"))
