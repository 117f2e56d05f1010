"""``confirm: person``: the client learns no token, a person approves or turns down, and the call runs once."""

from typing import Any

import pytest

from headgate import Caller, Session
from headgate.safety.approvals import approve, turn_down, waiting
from headgate.store.sql import SqlStore
from tests.safety.deletions import ANN, CALL, Shop
from tests.safety.guarding import code_of

pytestmark = pytest.mark.anyio

PERSON = '[confirmation]\nby = "person"\nrefusals_per_minute = 1000\n'


@pytest.fixture
def guard(store: SqlStore) -> Shop:
    return Shop(store, PERSON)


async def test_the_answer_has_the_id_of_an_approval_and_no_token(guard: Shop) -> None:
    reply = await guard.engine.call({"operation": "delete_thing", "params": CALL}, session=guard.session)
    assert "conf_" not in reply.text
    assert "confirmation_token'" not in reply.text
    assert reply.question is None, "so no host asks its user instead"
    envelope = await guard.call("delete_thing", CALL)
    assert set(envelope) == {"success", "error"}
    details = envelope["error"]["details"]
    assert "confirmation_token" not in details
    assert details["approval_id"] in envelope["error"]["message"]


async def test_asking_again_for_the_same_call_gives_the_same_approval(guard: Shop) -> None:
    first = await guard.approval("delete_thing", CALL)
    assert await guard.approval("delete_thing", {"text": CALL["text"], **CALL}) == first
    others = [
        await guard.approval("delete_thing", {**CALL, "one": 1.0}),
        await guard.approval("delete_thing", CALL, caller=ANN),
        await guard.approval("delete_thing", CALL, session=Session()),
        await guard.approval("delete_other", CALL),
    ]
    assert len({first, *others}) == 5
    assert len(await waiting(guard.store, guard.clock())) == 5


async def test_what_has_expired_is_asked_for_anew(guard: Shop) -> None:
    first = await guard.approval("delete_thing", CALL)
    guard.clock.move(899)
    assert await guard.approval("delete_thing", CALL) == first, "a person has a quarter of an hour"
    guard.clock.move(1)
    assert await guard.approval("delete_thing", CALL) != first


async def test_what_nobody_has_approved_in_time_is_refused_at_that_very_moment(guard: Shop) -> None:
    approval = await guard.approval("delete_thing", CALL)
    guard.clock.move(899)
    assert code_of(await guard.call("delete_thing", CALL, token=approval)) == "CONFIRMATION_REQUIRED", "it still waits"
    guard.clock.move(1)
    refused = (await guard.call("delete_thing", CALL, token=approval))["error"]
    assert (refused["code"], refused["message"].partition(",")[0]) == (
        "TOKEN_EXPIRED",
        "Nobody approved this call in time",
    )
    assert await approve(guard.store, approval, "root", guard.clock) is None


async def test_who_was_turned_down_cannot_wear_a_person_down(guard: Shop) -> None:
    approval = await guard.approval("delete_thing", CALL)
    await turn_down(guard.store, approval, "root", guard.clock)
    assert await guard.code("delete_thing", CALL) == "PERMISSION_DENIED"
    assert await waiting(guard.store, guard.clock()) == []
    guard.clock.move(900)
    assert await guard.approval("delete_thing", CALL) != approval, "a no lasts as long as the question would have"


async def test_until_a_person_approves_the_approval_is_no_token(guard: Shop) -> None:
    approval = await guard.approval("delete_thing", CALL)
    envelope = await guard.call("delete_thing", CALL, token=approval)
    assert code_of(envelope) == "CONFIRMATION_REQUIRED"
    assert "still waits" in envelope["error"]["message"]
    last = (await guard.audit())[-1]
    assert (last.event, last.code) == ("refused", "CONFIRMATION_REQUIRED")
    assert guard.ran == []


@pytest.mark.parametrize("by_token", [True, False], ids=["with the token", "with the approval's id"])
async def test_once_approved_the_call_runs_once(guard: Shop, by_token: bool) -> None:
    approval = await guard.approval("delete_thing", CALL)
    token = await approve(guard.store, approval, "root", guard.clock)
    assert token is not None
    first, second = (token, approval) if by_token else (approval, token)
    assert (await guard.call("delete_thing", CALL, token=first))["success"]
    await guard.refused("TOKEN_ALREADY_USED", CALL, first)
    await guard.refused("TOKEN_ALREADY_USED", CALL, second)
    assert len(guard.ran) == 1
    assert token not in await guard.told()


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        pytest.param({"params": {**CALL, "one": True}}, "TOKEN_SCOPE_MISMATCH", id="with another parameter"),
        pytest.param({"operation": "delete_other"}, "TOKEN_SCOPE_MISMATCH", id="for another operation"),
        pytest.param({"caller": ANN}, "TOKEN_INVALID", id="by another caller"),
        pytest.param({"session": Session()}, "TOKEN_INVALID", id="in another session"),
    ],
)
async def test_an_approval_is_for_its_call_alone(guard: Shop, changed: dict[str, Any], code: str) -> None:
    approval = await guard.approval("delete_thing", CALL)
    await approve(guard.store, approval, "root", guard.clock)
    await guard.refused(code, **{"params": CALL, "token": approval, **changed})


async def test_what_is_turned_down_does_not_run(guard: Shop) -> None:
    approval = await guard.approval("delete_thing", CALL)
    assert await turn_down(guard.store, approval, "root", guard.clock)
    envelope = await guard.call("delete_thing", CALL, token=approval)
    assert code_of(envelope) == "PERMISSION_DENIED"
    assert "turned this call down" in envelope["error"]["message"]
    assert guard.ran == []
    assert await approve(guard.store, approval, "root", guard.clock) is None
    assert not await turn_down(guard.store, approval, "root", guard.clock)


async def test_what_is_approved_cannot_be_approved_again_nor_turned_down(guard: Shop) -> None:
    approval = await guard.approval("delete_thing", CALL)
    assert await approve(guard.store, approval, "root", guard.clock)
    assert await approve(guard.store, approval, "root", guard.clock) is None
    assert not await turn_down(guard.store, approval, "root", guard.clock)
    assert await waiting(guard.store, guard.clock()) == []


async def test_an_approval_that_comes_too_late_is_none(guard: Shop) -> None:
    approval = await guard.approval("delete_thing", CALL)
    guard.clock.move(900)
    assert await waiting(guard.store, guard.clock()) == []
    assert await approve(guard.store, approval, "root", guard.clock) is None


@pytest.mark.parametrize("text", ["appr_" + "A" * 16, "appr_", "A" * 16, "", "appr_\0", "appr_" + "x" * 500], ids=ascii)
async def test_an_approval_that_nobody_asked_for_cannot_be_given_or_used(guard: Shop, text: str) -> None:
    assert await approve(guard.store, text, "root", guard.clock) is None
    assert not await turn_down(guard.store, text, "root", guard.clock)
    assert await guard.code("delete_thing", CALL, token=text) in ("TOKEN_INVALID", "VALIDATION_INVALID_ENCODING")
    assert guard.ran == []


async def test_the_grant_of_a_client_is_no_approval(store: SqlStore) -> None:
    guard = Shop(store)
    token = await guard.token("delete_thing", CALL)
    approval = "appr_" + token[5:21]
    assert await waiting(store, guard.clock()) == []
    assert await approve(store, approval, "root", guard.clock) is None
    assert not await turn_down(store, approval, "root", guard.clock)
    await guard.refused("TOKEN_INVALID", CALL, approval)


async def test_a_person_sees_the_call_that_they_approve(guard: Shop) -> None:
    await guard.approval("delete_thing", CALL, caller=ANN)
    [grant] = await waiting(guard.store, guard.clock())
    assert (grant.binding.operation, grant.binding.caller) == ("delete_thing", '["ann",null]')
    assert (grant.danger, dict(grant.params)) == ("destructive", CALL)
    assert grant.message.startswith("Run delete_thing(one=1, ")


async def test_the_oldest_waits_first(guard: Shop) -> None:
    for number in range(3):
        await guard.approval("delete_thing", {"one": number})
        guard.clock.move(1)
    assert [grant.params["one"] for grant in await waiting(guard.store, guard.clock())] == [0, 1, 2]


async def test_the_cooldown_begins_with_the_approval(store: SqlStore) -> None:
    guard = Shop(store, PERSON + '[danger."delete_thing"]\nlevel = "destructive"\ncooldown_seconds = 10')
    approval = await guard.approval("delete_thing", CALL)
    guard.clock.move(60)
    await approve(store, approval, "root", guard.clock)
    error = await guard.refused("RATE_LIMIT_EXCEEDED", CALL, approval)
    assert error["details"]["retry_after_seconds"] == 10
    guard.clock.move(10)
    assert (await guard.call("delete_thing", CALL, token=approval))["success"]


async def test_the_audit_tells_who_approved_and_what_became_of_it(guard: Shop) -> None:
    approval = await guard.approval("delete_thing", CALL, caller=ANN)
    await approve(guard.store, approval, "root", guard.clock)
    await guard.call("delete_thing", CALL, token=approval, caller=ANN)
    entries = await guard.audit()
    assert [entry.event for entry in entries] == ["proposed", "issued", "approved", "approved", "executed", "returned"]
    issued, by_person = entries[1:3]
    assert issued.details.items() >= {"who": "person", "purpose": "confirmation"}.items()
    assert by_person.details["by"] == "root"
    assert by_person.details["grant"] == approval.removeprefix("appr_")
    await guard.approval("delete_other", {"one": 1})
    [other] = await waiting(guard.store, guard.clock())
    await turn_down(guard.store, other.approval_id, "root", guard.clock)
    last = (await guard.audit())[-1]
    assert (last.event, last.operation, last.details["by"]) == ("revoked", "delete_other", "root")


# An approval is for one purpose.

PAUSED = """
[[rule]]
name = "a person"
decision = "confirm"
confirm = "person"
[[quota]]
metric = "requests_per_minute"
warn = 1
pause = 1
confirm = "person"
"""


async def test_the_approval_of_a_quota_is_no_confirmation_and_the_other_way_round(store: SqlStore) -> None:
    guard = Shop(store, PAUSED + "[confirmation]\nrefusals_per_minute = 1000")

    async def approved() -> str:
        approval = await guard.approval("delete_thing", CALL)
        assert await approve(store, approval, "root", guard.clock)
        return approval

    assert (await guard.call("delete_thing", CALL, token=await approved()))["success"]
    confirmation = await approved()
    paused = await guard.call("delete_thing", CALL, token=confirmation)
    assert code_of(paused) == "RATE_LIMIT_QUOTA_PAUSE"
    assert "confirmation_token" not in paused["error"]["details"]
    quota = paused["error"]["details"]["approval_id"]
    assert await approve(store, quota, "root", guard.clock)
    guard.clock.move(61)  # the window has passed, so that nothing is paused any more
    await guard.refused("TOKEN_INVALID", CALL, quota)
    assert await guard.code("delete_thing", CALL, token=confirmation, _quota_continue=confirmation) == "TOKEN_INVALID"
    assert len(guard.ran) == 1


async def test_an_approval_of_somebody_cannot_be_taken_by_whoever_has_the_same_name_elsewhere(guard: Shop) -> None:
    approval = await guard.approval("delete_thing", CALL, caller=Caller(subject="ann", client_id="desk"))
    await approve(guard.store, approval, "root", guard.clock)
    await guard.refused("TOKEN_INVALID", CALL, approval, caller=ANN)


async def test_a_client_cannot_take_an_approval_back_by_its_id(guard: Shop) -> None:
    approval = await guard.approval("delete_thing", CALL)
    await guard.gatekeeper.withdraw(approval, "somebody else")
    assert [grant.approval_id for grant in await waiting(guard.store, guard.clock())] == [approval]
    token = await approve(guard.store, approval, "root", guard.clock)
    await guard.gatekeeper.withdraw(approval, "somebody else")
    assert (await guard.call("delete_thing", CALL, token=token))["success"]


async def test_a_call_for_which_nobody_will_be_asked_is_in_the_audit_too(guard: Shop) -> None:
    approval = await guard.approval("delete_thing", CALL)
    await turn_down(guard.store, approval, "root", guard.clock)
    assert await guard.code("delete_thing", CALL) == "PERMISSION_DENIED"
    last = (await guard.audit())[-1]
    assert (last.event, last.operation, last.code) == ("proposed", "delete_thing", "PERMISSION_DENIED")
