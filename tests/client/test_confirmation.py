"""Confirmation: whoever can be asked is asked, by whichever way the server asks; nobody else confirms anything."""

from typing import Any

import anyio
import pytest

from headgate import Engine, connect, mcp_server
from headgate.client.errors import ConfirmationRequired, NoAnswer, PermissionFailure, RateLimitFailure
from headgate.client.questions import Patience, Question, answering
from headgate.server.settings import Settings
from tests.client.shops import Toy, details, shop
from tests.conformance.servers import toy_server

pytestmark = pytest.mark.anyio


async def test_without_anybody_to_ask_it_is_raised_and_the_token_counts_afterwards() -> None:
    done: list[str] = []
    async with connect(shop(done)) as aql:
        with pytest.raises(ConfirmationRequired) as failed:
            await aql.delete("delete_order", order_id=1)
        assert failed.value.token is not None
        assert (failed.value.danger_level, done) == ("destructive", [])
        assert failed.value.reasons
        assert await aql.delete("delete_order", order_id=1, confirmation_token=failed.value.token) == "gone"
    assert done == ["delete 1"]


@pytest.mark.parametrize("era", ["modern", "legacy"])
async def test_a_server_that_asks_its_user_is_answered(era: Any) -> None:
    done: list[str] = []
    asked: list[str] = []

    async def decide(question: Question) -> bool:
        asked.append(question.message)
        return '"order_id":1' in question.message

    async with connect(mcp_server(shop(done)), confirm=decide, era=era) as aql:
        assert await aql.call("delete_order", order_id=1) == "gone"
        with pytest.raises(PermissionFailure):
            await aql.call("delete_order", order_id=2)
    assert len(asked) == 2
    assert done == ["delete 1"]


async def test_a_token_in_an_answer_is_sent_once_the_person_agrees() -> None:
    done: list[str] = []
    asked: list[Question] = []

    def decide(question: Question) -> bool:
        asked.append(question)
        return bool(question.params["order_id"] == 1)

    settings = Settings()
    store = settings.store()
    try:
        async with connect(settings.engine(shop(done), store), confirm=decide) as aql:
            assert await aql.call("delete_order", order_id=1) == "gone"
            with pytest.raises(ConfirmationRequired):
                await aql.call("delete_order", order_id=2)
    finally:
        await store.close()
    assert done == ["delete 1"]
    assert [(one.operation, one.danger_level) for one in asked] == [("delete_order", "destructive")] * 2
    assert asked[0].reasons
    assert asked[0].expires_at


def gated(code: str, place: str, **more: Any) -> Any:
    def answer(params: dict[str, Any]) -> object:
        if params.get(place) == "tok_1":
            return "done"
        told = {"confirmation_token": "tok_1", **more}
        return {"success": False, "error": {"code": code, "message": "wait", "details": told}}

    return answer


async def test_a_quota_goes_on_with_its_own_token() -> None:
    toy = Toy([details("get_x")], {"get_x": gated("RATE_LIMIT_QUOTA_PAUSE", "_quota_continue")})
    async with connect(toy.server(), confirm=lambda question: question.message == "wait") as aql:
        assert await aql.call("get_x") == "done"
    async with connect(toy.server()) as aql:
        with pytest.raises(RateLimitFailure) as failed:
            await aql.call("get_x")
    assert failed.value.token == "tok_1"  # noqa: S105


async def test_the_time_that_a_call_must_cool_down_is_waited(monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    toy = Toy([details("get_x")], {"get_x": gated("CONFIRMATION_REQUIRED", "confirmation_token", cooldown_seconds=7)})
    async with connect(toy.server(), confirm=lambda _question: True) as aql:
        monkeypatch.setattr(anyio, "sleep", sleep)
        assert await aql.call("get_x") == "done"
    assert waited == [7.0]


async def test_a_server_that_does_not_listen_is_not_asked_without_end() -> None:
    toy = Toy([details("get_x")], {"get_x": gated("CONFIRMATION_REQUIRED", "nowhere")})
    async with connect(toy.server(), confirm=lambda _question: True) as aql:
        with pytest.raises(ConfirmationRequired):
            await aql.call("get_x")
    assert len(toy.sent) == 4


async def test_what_a_person_elsewhere_must_approve_is_nobodys_to_confirm_here() -> None:
    asked: list[Question] = []

    def agree(question: Question) -> bool:
        asked.append(question)
        return True

    details_of = {"code": "CONFIRMATION_REQUIRED", "message": "wait", "details": {"approval_id": "appr_1"}}
    toy = Toy([details("get_x")], {"get_x": lambda _params: {"success": False, "error": details_of}})
    async with connect(toy.server(), confirm=agree) as aql:
        with pytest.raises(ConfirmationRequired) as failed:
            await aql.call("get_x")
    assert (failed.value.approval_id, asked) == ("appr_1", [])


YES_NO = {"type": "object", "properties": {"confirm": {"type": "boolean"}}, "required": ["confirm"]}
NAMED = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
FORMS = {
    "yes": ({"message": "Sure?", "requestedSchema": YES_NO}, True, {"action": "accept", "content": {"confirm": True}}),
    "no": ({"message": "Sure?", "requestedSchema": YES_NO}, False, {"action": "decline"}),
    "not a clear yes": ({"message": "Sure?", "requestedSchema": YES_NO}, "yes", {"action": "decline"}),
    "a form to fill in": ({"message": "Who?", "requestedSchema": NAMED}, True, {"action": "cancel"}),
    "a page to open": ({"mode": "url", "message": "Look", "url": "http://x"}, True, {"action": "cancel"}),
    "no form": ({"message": "?"}, True, {"action": "cancel"}),
    "nothing to fill in": (
        {"message": "Sure?", "requestedSchema": {"type": "object", "properties": {}}},
        True,
        {"action": "accept", "content": {}},
    ),
}


@pytest.mark.parametrize(("asked", "said", "answer"), FORMS.values(), ids=FORMS)
async def test_a_question_of_a_server_is_answered_with_yes_or_no_and_nothing_more(
    asked: dict[str, Any], said: Any, answer: dict[str, Any]
) -> None:
    assert await answering(lambda _question: said, Patience(1))(asked) == answer


@pytest.mark.parametrize("era", ["modern", "legacy"])
async def test_the_time_that_a_person_needs_is_not_counted(era: Any) -> None:
    done: list[str] = []

    async def decide(_question: Question) -> bool:
        await anyio.sleep(0.6)  # longer than an answer may take
        return True

    async with connect(mcp_server(shop(done)), confirm=decide, era=era, seconds=0.5) as aql:
        assert await aql.call("delete_order", order_id=1) == "gone"
    assert done == ["delete 1"]


async def test_a_server_that_is_silent_is_given_up_also_where_a_person_could_be_asked() -> None:
    async def forever(_tool: str, _arguments: object) -> None:
        await anyio.sleep_forever()

    async with connect(toy_server(forever, ("mcp_aql",)), confirm=lambda _question: True, seconds=0.1) as aql:
        with pytest.raises(NoAnswer):
            await aql.call("get_x")


async def test_an_engine_without_a_gate_asks_nothing() -> None:
    async with connect(Engine(shop())) as aql:
        assert await aql.call("get_order", order_id=1) == {"order_id": 1}
