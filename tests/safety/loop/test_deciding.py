"""``confirm_operation`` and ``verify_challenge``: what they take, from whom, and what they answer otherwise."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from headgate import Caller, Session
from headgate.safety.approvals import approve, approve_changed, turn_down
from headgate.safety.grants import Binding, Grant
from headgate.safety.loop.persons import override
from headgate.store.sql import SqlStore
from tests.safety.guarding import code_of
from tests.safety.supervising import DEADLY, GRAVE, RISKY, Supervised, supervised
from tests.safety.supervising import PERSON as SOMEBODY

pytestmark = pytest.mark.anyio

ROBOT = Caller(subject="robot", client_id="host")
ANA = Caller(subject="ana", client_id="host")
ORDER: dict[str, Any] = {"order_id": 1}
PERSON = '[autonomy]\nstart = "free"\n[confirmation]\nby = "person"\n'


@pytest.fixture
async def agent() -> AsyncIterator[Supervised]:
    """An agent that waits for a confirmation."""
    async with supervised() as found:
        await found.start(caller=ROBOT)
        await found.step(RISKY, caller=ROBOT)
        yield found


# Confirming


async def test_a_confirmation_says_what_was_confirmed_and_is_on_record(agent: Supervised) -> None:
    pending = await agent.pending()
    envelope = await agent.confirm(pending, await agent.token_for(pending), caller=ANA)
    assert envelope["data"] == {
        "confirmed": True,
        "approval_id": pending.approval_id,
        "operation": "record_execution_step",
    }
    last = (await agent.audit())[-1]
    assert (last.event, last.details["grant"]) == ("approved", pending.id)
    assert "ana" in str(last.details["by"])


async def test_who_confirms_twice_is_told_the_same(agent: Supervised) -> None:
    pending = await agent.pending()
    token = await agent.token_for(pending)
    for _ in range(2):
        assert (await agent.confirm(pending, token))["success"]
    assert (await agent.events()).count("approved") == 1


@pytest.mark.parametrize("way", ["the id alone", "another's", "shown before", "misspelt", "nothing", "unknown id"])
async def test_only_the_token_that_was_shown_last_confirms(agent: Supervised, way: str) -> None:
    pending = await agent.pending()
    first = await agent.token_for(pending)
    second = await agent.token_for(pending)
    tokens = {
        "the id alone": pending.approval_id,
        "another's": "conf_" + "A" * 59,
        "shown before": first,
        "misspelt": second[:-1] + ("x" if second[-1] != "x" else "y"),
        "nothing": "-",
        "unknown id": second,
    }
    params = {"approval_id": "appr_none" if way == "unknown id" else pending.approval_id, "token": tokens[way]}
    envelope = await agent.call("confirm_operation", params, session=agent.desk, caller=SOMEBODY)
    assert code_of(envelope) == "TOKEN_INVALID"
    assert (await agent.pending()).id == pending.id
    assert (await agent.confirm(pending, second))["success"], "a wrong try takes nothing from the right one"


@pytest.mark.parametrize("way", ["late", "turned down", "changed"])
async def test_what_waits_no_longer_cannot_be_confirmed(store: SqlStore, way: str) -> None:
    found = Supervised(store, PERSON)
    asked = await found.approval("delete_order", ORDER)
    pending = await found.pending()
    token = await found.token_for(pending)
    if way == "late":
        found.clock.move(900)
    elif way == "turned down":
        assert await turn_down(store, asked, "ana", found.clock)
    else:
        assert await approve_changed(store, asked, {"order_id": 2}, "ana", found.clock)
    assert code_of(await found.confirm(pending, token)) == "TOKEN_INVALID"
    assert not (await found.call("delete_order", ORDER, token=asked))["success"]
    assert found.done == []


async def test_what_was_approved_in_the_console_is_confirmed_with_the_token_that_it_gave(agent: Supervised) -> None:
    pending = await agent.pending()
    token = await approve(agent.store, pending.approval_id, "ana", agent.clock)
    assert (await agent.confirm(pending, str(token)))["success"]


async def test_a_caller_without_an_agent_cannot_confirm_its_own_call_from_any_session(store: SqlStore) -> None:
    found = Supervised(store, PERSON)
    asked = await found.approval("delete_order", ORDER, caller=ROBOT)
    pending = await found.pending()
    token = await found.token_for(pending)
    for session in (found.session, Session(), Session(lasting=False)):
        envelope = await found.confirm(pending, token, caller=ROBOT, session=session)
        assert code_of(envelope) == "PERMISSION_DENIED"
    assert (await found.events()).count("self-approval refused") == 3
    assert (await found.confirm(pending, token, caller=ANA))["success"]
    assert await found.code("delete_order", ORDER, token=asked, caller=ROBOT) == ""


WHOSE = [
    pytest.param(("ann", "s"), "ann", "other", True, id="the same caller elsewhere"),
    pytest.param(("ann", "s"), "bea", "s", True, id="another caller in the same session"),
    pytest.param(("ann", "s"), "bea", "t", False, id="another caller elsewhere"),
    pytest.param(("ann", "s"), None, "s", True, id="nobody in the same session"),
    pytest.param(("ann", "s"), None, None, False, id="nobody for somebody"),
    pytest.param(("ann", None), "ann", None, True, id="a caller without sessions"),
    pytest.param(("ann", None), "bea", None, False, id="another caller without sessions"),
    pytest.param(("anonymous", None), None, None, True, id="those who cannot be told apart"),
    pytest.param(("anonymous", None), "ann", None, False, id="somebody for those"),
    pytest.param(("anonymous", "s"), None, "t", False, id="nobody elsewhere"),
    pytest.param(("anonymous", "s"), None, "s", True, id="nobody here"),
]


@pytest.mark.parametrize(("bound", "identity", "session", "expected"), WHOSE)
def test_a_call_is_of_who_cannot_be_told_from_its_caller(
    bound: tuple[str, str | None], identity: str | None, session: str | None, expected: bool
) -> None:
    binding = Binding(adapter="a", operation="o", params_digest="", caller=bound[0], policy="", session=bound[1])
    assert binding.is_of(identity, session) is expected


# Verifying


@pytest.mark.parametrize("hint", [GRAVE, DEADLY], ids=["paused", "blocked"])
async def test_a_verification_says_what_was_verified_and_is_on_record(store: SqlStore, hint: str) -> None:
    found = Supervised(store)
    await found.start("Bot", caller=ROBOT)
    await found.step(hint, caller=ROBOT)
    challenge = await found.challenge()
    envelope = await found.verify(challenge.id, await found.code_for(challenge), caller=ANA)
    assert envelope["data"] == {"verified": True, "challenge_id": challenge.id, "agent": "Bot"}
    last = (await found.audit())[-1]
    assert (last.event, last.operation) == ("verified", "verify_challenge")
    assert last.details == {"agent": "Bot", "challenge": challenge.id}
    assert "ana" in last.caller


async def test_a_verification_begins_the_count_of_steps_anew(store: SqlStore) -> None:
    found = Supervised(store, '[autonomy]\nstart = "free"\nmax_autonomous_steps = 3\n')
    await found.start(caller=ROBOT)
    for number in range(2):
        assert (await found.step(f"read page {number}", caller=ROBOT))["continue"] is True
    await found.step(GRAVE, caller=ROBOT)
    await found.release()
    assert (await found.step(GRAVE, caller=ROBOT))["stepsRemaining"] == 2


async def test_a_code_for_what_was_released_otherwise_counts_no_more(store: SqlStore) -> None:
    found = Supervised(store)
    await found.start(caller=ROBOT)
    challenge = await found.blocked(caller=ROBOT)
    code = await found.code_for(challenge)
    assert await override(store, "bot", "ana", "a false alarm", found.clock)
    assert code_of(await found.verify(challenge.id, code)) == "TOKEN_INVALID"


@pytest.mark.parametrize("hint", [GRAVE, DEADLY], ids=["paused", "blocked"])
@pytest.mark.parametrize("session", [Session(), Session(lasting=False), None], ids=["another", "none", "its own"])
async def test_an_agent_cannot_verify_for_itself_from_any_session(
    store: SqlStore, hint: str, session: Session | None
) -> None:
    found = Supervised(store)
    await found.start(caller=ROBOT)
    await found.step(hint, caller=ROBOT)
    challenge = await found.challenge()
    code = await found.code_for(challenge)
    where = {"session": session or found.session}
    assert code_of(await found.verify(challenge.id, code, caller=ROBOT, **where)) == "PERMISSION_DENIED"
    assert (await found.agent()).leave is None
    assert (await found.verify(challenge.id, code, caller=ANA))["success"], "and that try made no code void"


async def test_who_has_worked_as_the_agent_before_cannot_verify_for_it(store: SqlStore) -> None:
    found = Supervised(store)
    first, second = Session(), Session()
    await found.start(session=first)
    assert await found.code("complete_execution", {"element_name": "bot"}, session=first) == ""
    await found.start(session=second)
    await found.step(DEADLY, session=second)
    challenge = await found.challenge()
    code = await found.code_for(challenge)
    for session in (first, second):
        assert code_of(await found.verify(challenge.id, code, session=session)) == "PERMISSION_DENIED"
    assert (await found.verify(challenge.id, code))["success"]


async def test_codes_and_tokens_are_in_no_event_of_a_call(store: SqlStore) -> None:
    """Both parameters are marked as to be hidden, so that nothing that logs parameters shows them."""
    found = Supervised(store)
    operations = found.engine.introspector.operations
    for name, parameter in (("verify_challenge", "code"), ("confirm_operation", "token")):
        declared = operations[name].parameter(parameter)
        assert declared
        assert declared.schema["x-sensitive"] is True


def test_an_approval_is_called_by_its_id() -> None:
    assert Grant.approval_of("x") == "appr_x"
