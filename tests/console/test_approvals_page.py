"""Approvals in the console: everything that is asked is shown, and a person decides it once."""

import json
import re
from typing import Annotated, Any

import anyio
import httpx2
import pytest

from headgate import Caller, Param, Session
from headgate.safety.grants import GRANT, Grant
from tests.console.desks import PERSON, Desk, desk, dumped, stall, text_of
from tests.safety.guarding import code_of
from tests.safety.supervising import RISKY, Supervised

pytestmark = pytest.mark.anyio

LATE = "It waits no longer, so nothing was"


def state_of(answer: httpx2.Response) -> str:
    """What the page says of the state."""
    found = re.search(r'id="state"[^>]*>(.*?)</dd>', answer.text, re.DOTALL)
    assert found, answer.text
    return " ".join(re.sub(r"<[^>]*>", " ", found[1]).split())


async def grant_of(at: Desk, approval: str) -> Grant:
    record = await at.store.find(GRANT, approval.removeprefix("appr_"))
    assert record
    return Grant.read(record)


async def test_what_waits_is_listed_with_all_of_its_arguments_the_oldest_first() -> None:
    async with desk() as at:
        browser = await at.operator()
        assert "Nothing waits for a person." in text_of(await browser.get("/approvals"))
        caller = Caller(subject="bo", client_id="assistant")
        first = await at.asked("delete_label", {"number": 41}, caller=caller)
        at.clock.move(1)
        second = await at.asked("delete_old", {"before": "2020"})
        page = await browser.get("/approvals")
        text = text_of(page)
        assert page.text.index(first) < page.text.index(second)
        assert '"number": 41' in text
        assert "bo via assistant" in text
        assert "2 waiting" in text
        at.clock.move(900)
        assert "Nothing waits for a person." in text_of(await browser.get("/approvals"))


async def test_one_is_shown_in_full() -> None:
    async with desk() as at:
        browser = await at.operator()
        caller = Caller(subject="bo", client_id="assistant")
        approval = await at.asked("delete_account", {"name": "x" * 50_000}, caller=caller)
        page = await browser.get(f"/approvals/{approval}")
        assert page.status_code == 200
        text = text_of(page)
        assert "x" * 50_000 in text, "who decides sees all of it"
        for words in ("delete_account", "stall", "bo via assistant", approval, "destructive", "in 15 min"):
            assert words in text
        assert state_of(page) == "waits"


@pytest.mark.parametrize("path", ["/approvals/appr_nothing", "/approvals/%00", "/approvals/..%2F", "/approvals/<b>"])
async def test_what_is_not_there_is_missing(path: str) -> None:
    async with desk() as at:
        browser = await at.operator()
        answer = await browser.get(path)
        assert answer.status_code == 404
        for action in ("approve", "refuse", "change", "token"):
            missing = await browser.post(f"{path}/{action}", {"params": "{}"})
            assert missing.status_code == 404, action
        assert await at.events() == ["signed in"]


# approving and refusing


async def test_approved_the_call_runs_once_as_it_was_asked() -> None:
    async with desk() as at:
        browser = await at.operator()
        approval = await at.asked()
        answer = await browser.post(f"/approvals/{approval}/approve")
        assert (answer.status_code, answer.headers["location"]) == (303, f"/approvals/{approval}")
        page = await browser.get(f"/approvals/{approval}")
        assert state_of(page) == "approved by ana"
        assert f"/approvals/{approval}/approve" not in page.text, "there is nothing more to decide"
        assert (await at.call("delete_label", {"number": 1}, token=approval))["success"]
        assert at.made == ["delete 1"]
        assert state_of(await browser.get(f"/approvals/{approval}")) == "approved by ana, and used"
        assert "ana" in [one.details.get("by") for one in await at.audit() if one.event == "approved"]


async def test_refused_with_a_reason_the_call_never_runs() -> None:
    async with desk() as at:
        browser = await at.operator()
        approval = await at.asked()
        answer = await browser.post(f"/approvals/{approval}/refuse", {"reason": "  not on a Friday "})
        assert answer.status_code == 303
        assert state_of(await browser.get(f"/approvals/{approval}")) == "refused by ana: not on a Friday"
        assert code_of(await at.call("delete_label", {"number": 1}, token=approval)) == "PERMISSION_DENIED"
        assert at.made == []
        other = await at.asked("delete_label", {"number": 2})
        await browser.post(f"/approvals/{other}/refuse")
        assert state_of(await browser.get(f"/approvals/{other}")) == "refused by ana", "a reason is not needed"


async def test_a_reason_that_nobody_would_read_is_refused_itself() -> None:
    async with desk() as at:
        browser = await at.operator()
        approval = await at.asked()
        answer = await browser.post(f"/approvals/{approval}/refuse", {"reason": "x" * 501})
        assert answer.status_code == 422
        assert "in up to 500 characters: nothing was refused." in text_of(answer)
        assert (await grant_of(at, approval)).is_pending
        assert (await browser.post(f"/approvals/{approval}/refuse", {"reason": "x" * 500})).status_code == 303


@pytest.mark.parametrize("action", ["approve", "refuse", "change", "token"])
async def test_who_decides_too_late_decides_nothing_and_is_told(action: str) -> None:
    async with desk() as at:
        browser = await at.operator()
        approval = await at.asked()
        at.clock.move(900)
        before = await dumped(at.store)
        answer = await browser.post(f"/approvals/{approval}/{action}", {"params": '{"number": 2}'})
        assert answer.status_code == 409
        assert "It waits no longer" in text_of(answer)
        assert state_of(answer) == "refused: nobody approved in time"
        assert await dumped(at.store) == before
        assert not (await at.call("delete_label", {"number": 1}, token=approval))["success"]
        assert at.made == []


@pytest.mark.parametrize("first", ["approve", "refuse", "change"])
@pytest.mark.parametrize("second", ["approve", "refuse", "change", "token"])
async def test_the_second_operator_changes_nothing_of_what_the_first_has_decided(first: str, second: str) -> None:
    async with desk() as at:
        ana, bo = await at.operator("ana"), await at.operator("bo")
        approval = await at.asked()
        form = {"params": '{"number": 2}', "reason": "no"}
        assert (await ana.post(f"/approvals/{approval}/{first}", form)).status_code == 303
        before = await dumped(at.store)
        late = await bo.post(f"/approvals/{approval}/{second}", form)
        assert late.status_code == 409
        assert "It waits no longer" in text_of(late)
        assert await dumped(at.store) == before


async def test_of_two_operators_at_once_exactly_one_wins() -> None:
    async with desk() as at:
        browsers = [await at.operator(name) for name in ("ana", "bo")]
        for number in range(10):
            approval = await at.asked("delete_label", {"number": number})
            answers: list[httpx2.Response] = []

            async def decide(browser: Any, action: str, answers: Any = answers, approval: str = approval) -> None:
                answers.append(await browser.post(f"/approvals/{approval}/{action}"))

            async with anyio.create_task_group() as tasks:
                for browser in browsers:
                    for action in ("approve", "refuse"):
                        tasks.start_soon(decide, browser, action)
            assert sorted(one.status_code for one in answers) == [303, 409, 409, 409]
            assert all(LATE in text_of(one) for one in answers if one.status_code == 409)
        decided = [one.event for one in await at.audit() if one.event in ("approved", "revoked")]
        assert len(decided) == 10


async def test_an_approval_that_was_lost_to_another_is_not_shown_as_ones_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """The other may be faster between the look and the write."""
    async with desk() as at:
        browser = await at.operator()
        approval = await at.asked()

        async def too_late(*_: object) -> bool:
            return False

        monkeypatch.setattr(at.store, "replace", too_late)
        monkeypatch.setattr(at.store, "change", too_late)
        for action in ("approve", "refuse", "change"):
            answer = await browser.post(f"/approvals/{approval}/{action}", {"params": '{"number": 2}'})
            assert answer.status_code == 409, action


# several


async def test_several_are_approved_or_refused_together() -> None:
    async with desk() as at:
        browser = await at.operator()
        ids = [await at.asked("delete_label", {"number": number}) for number in range(4)]
        answer = await browser.post("/approvals", {"id": ids[:2]})
        assert answer.status_code == 200
        assert "2 approved." in text_of(answer)
        answer = await browser.post("/approvals", {"id": [ids[2], ids[2], ids[0]], "refuse": "yes"})
        assert "1 refused. 1 waited no longer." in text_of(answer)
        assert answer.status_code == 200
        states = [state_of(await browser.get(f"/approvals/{one}")) for one in ids]
        assert states == ["approved by ana", "approved by ana", "refused by ana", "waits"]


@pytest.mark.parametrize(("form", "word"), [({}, "approved"), ({"refuse": "yes"}, "refused")])
async def test_without_a_choice_nothing_is_decided(form: dict[str, str], word: str) -> None:
    async with desk() as at:
        browser = await at.operator()
        approval = await at.asked()
        answer = await browser.post("/approvals", form)
        assert answer.status_code == 422
        assert f"Nothing was chosen, so nothing was {word}." in text_of(answer)
        assert (await grant_of(at, approval)).is_pending


async def test_of_a_group_that_waits_no_longer_nothing_is_decided() -> None:
    async with desk() as at:
        browser = await at.operator()
        answer = await browser.post("/approvals", {"id": ["appr_nothing", "\x00"]})
        assert answer.status_code == 409
        assert "0 approved. 2 waited no longer." in text_of(answer)


# changing


async def test_changed_the_caller_is_told_which_call_it_may_send_and_no_other_runs() -> None:
    async with desk() as at:
        browser = await at.operator()
        approval = await at.asked("delete_label", {"number": 1})
        page = await browser.get(f"/approvals/{approval}")
        assert "{\n  &#34;number&#34;: 1\n}" in page.text, "the arguments stand there to be changed"
        answer = await browser.post(f"/approvals/{approval}/change", {"params": ' {"number":\r\n 7} '})
        assert answer.status_code == 303
        other = answer.headers["location"].rpartition("/")[2]
        assert other != approval
        told = await at.call("delete_label", {"number": 1}, token=approval)
        assert code_of(told) == "CONFIRMATION_REQUIRED"
        details = told["error"]["details"]
        assert (details["approval_id"], details["approved_params"]) == (other, {"number": 7})
        assert not (await at.call("delete_label", {"number": 1}, token=other))["success"]
        assert at.made == []
        assert (await at.call("delete_label", details["approved_params"], token=other))["success"]
        assert at.made == ["delete 7"]
        assert state_of(await browser.get(f"/approvals/{approval}")) == f"changed: {other} was approved in its place"
        assert state_of(await browser.get(f"/approvals/{other}")) == "approved by ana, and used"


NOT_JSON = "The parameters are not JSON:"


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("", f"{NOT_JSON} look into line 1, column 1. Nothing was approved."),
        ('{"number": 1', f"{NOT_JSON} look into line 1, column 13."),
        ('{\n"number": one}', f"{NOT_JSON} look into line 2, column 11."),
        ("{'number': 1}", NOT_JSON),
        ('{"number": NaN}', f"{NOT_JSON} it has a number that is none, or is too deep."),
        ('{"number": -Infinity}', f"{NOT_JSON} it has a number that is none, or is too deep."),
        ('{"number": 1e999}', ""),
        ('{"number": ' + "9" * 5000 + "}", f"{NOT_JSON} it has a number that is none, or is too deep."),
        ("[" * 100_000, f"{NOT_JSON} it has a number that is none, or is too deep."),
        ('{"number": ' + "[" * 100 + "]" * 100 + "}", ""),
        ("[1]", "The parameters must be a JSON object: { … }. Nothing was approved."),
        ("7", "The parameters must be a JSON object"),
        ("null", "The parameters must be a JSON object"),
        ("{}", "number"),
        ('{"number": "many"}', "number"),
        ('{"number": 1, "nmber": 2}', "nmber"),
        ('{"number": 1, "a\\ud800": 2}', ""),
        ('{"number": {"\\ud800": 2}}', ""),
        ('{"number": 1, "confirmation_token": 7}', ""),
    ],
    ids=lambda text: text[:40],
)
async def test_what_the_server_would_not_take_is_not_approved_and_stays_to_be_put_right(typed: str, words: str) -> None:
    async with desk() as at:
        browser = await at.operator()
        approval = await at.asked()
        before = await dumped(at.store)
        answer = await browser.post(f"/approvals/{approval}/change", {"params": typed})
        assert answer.status_code == 422, answer.text
        assert words in text_of(answer)
        assert "Nothing was approved." in text_of(answer)
        assert f">{typed[:30]}".replace('"', "&#34;").replace("'", "&#39;") in answer.text
        assert await dumped(at.store) == before


@pytest.mark.parametrize("text", ["a\u202eb", "\x1b[2J", "<b>&amp;\u200b", "\U0001f600 é", "\ue000", "\x85"])
async def test_what_stands_there_to_be_changed_is_visible_and_the_same_again(text: str) -> None:
    async with desk() as at:
        browser = await at.operator()
        approval = await at.asked("delete_account", {"name": text})
        page = await browser.get(f"/approvals/{approval}")
        found = re.search(r"<textarea[^>]*>(.*?)</textarea>", page.text, re.DOTALL)
        assert found
        shown = httpx2.Response(200, text=found[1]).text
        draft = json.loads(re.sub("&#34;", '"', shown).replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
        assert draft == {"name": text}
        assert not re.search("[\u202e\x00\x1b\u200b\x85]", page.text)


async def test_a_call_with_a_hidden_value_is_approved_or_refused_as_it_is() -> None:
    async with desk() as at:
        browser = await at.operator()
        approval = await at.asked("delete_account", {"name": "bo", "password": "tops3cret"})
        page = await browser.get(f"/approvals/{approval}")
        assert "tops3cret" not in page.text
        assert '"password": "***"' in text_of(page)
        assert "<textarea" not in page.text
        for typed in ('{"name": "bo"}', '{"name": "bo", "password": "***"}', '{"name": "bo", "password": "other"}'):
            answer = await browser.post(f"/approvals/{approval}/change", {"params": typed})
            assert answer.status_code == 422
            assert "This call can only be approved or refused as it is. Nothing was approved." in text_of(answer)
        assert (await browser.post(f"/approvals/{approval}/approve")).status_code == 303
        call = {"name": "bo", "password": "tops3cret"}
        assert (await at.call("delete_account", call, token=approval))["success"]


async def test_a_hidden_value_within_a_list_is_hidden_too() -> None:
    adapter = stall([])

    @adapter.delete
    def delete_keys(keys: list[Annotated[str, Param(sensitive=True)]]) -> None:
        """Throw keys away."""

    async with desk(adapter=adapter) as at:
        page = await (await at.operator()).get(f"/approvals/{await at.asked('delete_keys', {'keys': ['tops3cret']})}")
        assert "tops3cret" not in page.text
        assert "<textarea" not in page.text


async def test_a_hidden_value_cannot_be_put_where_others_would_read_it() -> None:
    async with desk() as at:
        browser = await at.operator()
        approval = await at.asked("delete_account", {"name": "bo"})
        typed = '{"name": "bo", "password": "tops3cret"}'
        answer = await browser.post(f"/approvals/{approval}/change", {"params": typed})
        assert answer.status_code == 422
        assert "A value that must stay hidden cannot be given here" in text_of(answer)
        assert "tops3cret" not in repr(await dumped(at.store))
        assert "tops3cret" not in await at.told()


async def test_what_is_not_of_the_server_beside_the_console_cannot_be_changed_or_tried_there() -> None:
    """Two servers on one state may have operations of the same name, which are not the same."""
    async with desk() as at:
        done: list[object] = []
        there = Supervised(at.store, PERSON, clock=at.clock, adapter=stall(done, "another stall"))
        approval = await there.approval("delete_old", {"before": "2020"})
        browser = await at.operator()
        page = await browser.get(f"/approvals/{approval}")
        assert page.status_code == 200
        assert "<textarea" not in page.text
        assert "What would happen" not in page.text
        answer = await browser.post(f"/approvals/{approval}/change", {"params": '{"before": "2021"}'})
        assert answer.status_code == 422
        assert (await browser.post(f"/approvals/{approval}/approve")).status_code == 303
        assert (await there.call("delete_old", {"before": "2020"}, token=approval))["success"]
        assert (done, at.made) == (["old 2020"], [])


async def test_without_an_engine_nothing_can_be_changed_or_tried_but_all_can_be_decided() -> None:
    async with desk(has_engine=False) as at:
        browser = await at.operator()
        approval = await at.asked("delete_old", {"before": "2020"})
        page = await browser.get(f"/approvals/{approval}")
        assert "<textarea" not in page.text
        assert "What would happen" not in page.text
        answer = await browser.post(f"/approvals/{approval}/change", {"params": "{}"})
        assert answer.status_code == 422
        assert (await browser.post(f"/approvals/{approval}/approve")).status_code == 303
        for path in ("/", "/approvals", "/codes", "/agents", "/audit"):
            assert (await browser.get(path)).status_code == 200
            assert 'href="/operations"' not in (await browser.get(path)).text
        for path in ("/operations", "/operations/delete_old"):
            assert (await browser.get(path)).status_code == 404
        assert (await browser.post("/operations/delete_old")).status_code == 404


# what would happen


async def effect_on(at: Desk, operation: str, params: object) -> str:
    browser = await at.operator()
    page = await browser.get(f"/approvals/{await at.asked(operation, params)}")
    assert page.status_code == 200
    _, found, rest = text_of(page).partition("What would happen ")
    return rest.partition(" Decide ")[0] if found else ""


UPDATES = f"""{PERSON}
[[rule]]
name = "whatever else there is"
decision = "confirm"
confirm = "person"
categories = ["UPDATE", "CREATE", "READ"]
"""


@pytest.mark.parametrize(
    ("operation", "params", "expected"),
    [
        ("update_item", {"id": 1, "input": {"price": 12.5, "name": "Item 1"}}, "Field Now Then price 10.0 12.5"),
        ("update_item", {"id": 1, "input": {"name": "Item 1"}}, "Nothing would change: all fields have these values"),
        ("delete_old", {"before": "2020"}, '7 would be affected. { "names": [ "a", "b" ] }'),
        ("delete_old", {"before": "never"}, "A dry run fails: "),
        ("update_item", {"id": 99, "input": {"name": "x"}}, "A dry run fails: "),
        ("delete_label", {"number": 1}, ""),
        ("get_nothing", {}, ""),
        ("create_label", {"text": "a", "count": 1}, ""),
        ("delete_account", {"name": "bo", "password": "tops3cret"}, ""),
    ],
    ids=str,
)
async def test_what_would_happen_is_told_where_it_can_be_tried(operation: str, params: object, expected: str) -> None:
    async with desk(UPDATES) as at:
        found = await effect_on(at, operation, params)
        assert found.startswith(expected) if expected else found == ""
        assert at.made == [], "nothing has happened"


async def test_what_has_hidden_values_is_not_tried() -> None:
    adapter = stall([])

    @adapter.delete
    def delete_safe(pin: Annotated[str, Param(sensitive=True)], dry_run: bool = False) -> None:
        """Open and empty a safe."""
        raise AssertionError

    async with desk(adapter=adapter) as at:
        found = await effect_on(at, "delete_safe", {"pin": "123456"})
        assert found == "Nothing was tried: some of the values are hidden."


@pytest.mark.parametrize(
    "answer", [None, 7, [1], "text", {"dry_run": True}, {"affected": None}, {"before": {}, "after": 1}]
)
async def test_a_dry_run_may_answer_anything(answer: object) -> None:
    adapter = stall([])

    @adapter.delete
    def delete_things(dry_run: bool = False) -> Any:
        """Throw things away."""
        return answer

    async with desk(adapter=adapter) as at:
        assert isinstance(await effect_on(at, "delete_things", {}), str)


async def test_an_agent_that_asks_to_start_is_not_started_by_looking() -> None:
    rules = PERSON.replace('start = "free"\n', "")
    async with desk(rules) as at:
        browser = await at.operator()
        approval = await at.approval("execute_agent", {"element_name": "bot", "task": "tidy"})
        page = await browser.get(f"/approvals/{approval}")
        assert page.status_code == 200
        assert 'Let agent "bot" work under supervision? Its task: "tidy"' in text_of(page)
        assert "No agent has worked" in text_of(await browser.get("/agents"))
        answer = await browser.post(
            f"/approvals/{approval}/change", {"params": '{"element_name": "bot", "task": "rest"}'}
        )
        assert answer.status_code == 303
        other = answer.headers["location"].rpartition("/")[2]
        changed = {"element_name": "bot", "task": "rest"}
        assert (await at.call("execute_agent", changed, token=other))["success"]


# agents' pauses


async def test_a_pause_of_an_agent_is_decided_as_it_is() -> None:
    async with desk() as at:
        browser = await at.operator()
        grant = await at.paused()
        page = await browser.get(f"/approvals/{grant.approval_id}")
        assert RISKY in text_of(page)
        assert "<textarea" not in page.text
        assert "What would happen" not in page.text
        answer = await browser.post(f"/approvals/{grant.approval_id}/change", {"params": "{}"})
        assert answer.status_code == 422
        assert (await browser.post(f"/approvals/{grant.approval_id}/approve")).status_code == 303
        assert (await at.step(RISKY))["continue"] is True


async def test_the_reason_of_a_refusal_reaches_the_agent() -> None:
    async with desk() as at:
        browser = await at.operator()
        grant = await at.paused()
        await browser.post(f"/approvals/{grant.approval_id}/refuse", {"reason": "ask the press office"})
        directive = await at.step(RISKY)
        assert directive["continue"] is False
        assert "ask the press office" in json.dumps(directive)


# tokens


async def test_a_token_is_shown_once_and_confirms_through_another_client() -> None:
    async with desk() as at:
        browser = await at.operator()
        grant = await at.paused()
        before = await browser.get(f"/approvals/{grant.approval_id}")
        assert "conf_" not in before.text
        page = await browser.post(f"/approvals/{grant.approval_id}/token")
        assert page.status_code == 200
        [token] = re.findall(r"conf_[\w-]{20,}", page.text)
        assert token not in (await browser.get(f"/approvals/{grant.approval_id}")).text
        assert token not in repr(await dumped(at.store))
        own = await at.confirm(grant, token, session=at.session)
        assert code_of(own) == "PERMISSION_DENIED", "the agent itself cannot, even with the right token"
        assert (await at.confirm(grant, token))["success"]
        state = state_of(await browser.get(f"/approvals/{grant.approval_id}"))
        assert state.startswith("approved by ")
        late = await browser.post(f"/approvals/{grant.approval_id}/token")
        assert late.status_code == 409
        assert "It waits no longer: there is no token." in text_of(late)


async def test_withdrawn_with_its_session_it_says_so() -> None:
    async with desk() as at:
        browser = await at.operator()
        session = Session()
        approval = await at.asked("delete_label", {"number": 1}, session=session)
        at.gatekeeper.session_ended(session.id)
        await at.gatekeeper.tidy()
        assert state_of(await browser.get(f"/approvals/{approval}")) == "withdrawn"
