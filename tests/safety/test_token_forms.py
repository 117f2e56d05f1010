"""What is no token, no longer one, or one for another purpose."""

import json
from typing import Any

import pytest

from headgate import Session
from headgate.protocol.danger import Trust
from headgate.store.records import Record
from headgate.store.sql import SqlStore
from tests.safety.deletions import ANN, CALL, Shop
from tests.safety.guarding import code_of

pytestmark = pytest.mark.anyio


@pytest.fixture
def guard(store: SqlStore) -> Shop:
    return Shop(store, "[confirmation]\nrefusals_per_minute = 1000")


# What is no token at all.

MALFORMED = {
    "nothing in it": "",
    "a space": " ",
    "a word": "please",
    "the prefix alone": "conf_",
    "a short one": "conf_abc",
    "a long one": "conf_" + "a" * 59,
    "one that is too long": "conf_" + "a" * 76,
    "a huge one": "conf_" + "a" * 900_000,
    "a newline behind": "conf_" + "a" * 59 + "\n",
    "a quote": "conf_' OR '1'='1' --aaaaaaaaaaaaaaaa",
    "a wildcard": "conf_%%%%%%%%%%%%%%%%%%%%%%%%%%%",
    "letters of another script": "conf_" + "\u0430" * 59,
    "digits of another script": "conf_" + "\u0661" * 59,
    "an emoji": "conf_" + "\U0001f511" * 20,
    "an unknown approval": "appr_" + "a" * 16,
    "an approval of nothing": "appr_",
    "another prefix": "sess_" + "a" * 59,
}


@pytest.mark.parametrize("text", MALFORMED.values(), ids=MALFORMED)
async def test_what_is_no_token_is_not_valid(guard: Shop, text: str) -> None:
    error = await guard.refused("TOKEN_INVALID", CALL, text)
    assert set(error["details"]) == {"token"}
    assert len(error["details"]["token"]) <= 80


@pytest.mark.parametrize(
    "text",
    ["conf_\ud800" + "a" * 40, "\udfff", "conf_\0" + "a" * 40],
    ids=["half a character", "the other half", "a null character"],
)
async def test_a_token_with_what_is_no_text_is_refused_before_anything_is_looked_up(guard: Shop, text: str) -> None:
    envelope = await guard.call("delete_thing", CALL, token=text)
    assert code_of(envelope) == "VALIDATION_INVALID_ENCODING"
    assert guard.ran == []


@pytest.mark.parametrize("value", [1, True, 1.5, [], ["conf_x"], {}, {"token": "x"}], ids=repr)
async def test_a_token_that_is_no_text_is_of_the_wrong_type(guard: Shop, value: object) -> None:
    for arguments in (
        {"operation": "delete_thing", "params": {**CALL, "confirmation_token": value}},
        {"operation": "delete_thing", "params": CALL, "_confirmation": value},
        {"operation": "delete_thing", "params": CALL, "_quota_continue": value},
    ):
        assert code_of(await guard.ask(arguments)) == "VALIDATION_INVALID_TYPE"
    assert guard.ran == []


async def test_parts_of_a_right_token_are_no_token(guard: Shop) -> None:
    token = await guard.token("delete_thing", CALL)
    inner, secret = token[5:21], token[21:]
    last = "A" if token[-1] != "A" else "B"
    for text in (
        token[:-1],
        token + "A",
        token[:-1] + last,
        token.swapcase(),
        inner,
        inner + secret,
        "conf_" + inner,
        "appr_" + inner,
        "appr_" + inner + secret,
        "quota_continue_" + inner + secret,
        "conf_" + inner + "A" * len(secret),
        "conf_" + "A" * 16 + secret,
        "conf_conf_" + inner + secret,
        f" {token}",
    ):
        await guard.refused("TOKEN_INVALID", CALL, text)
    assert (await guard.call("delete_thing", CALL, token=token))["success"]


async def test_unknown_wrong_foreign_and_revoked_tokens_are_answered_alike(guard: Shop) -> None:
    revoked = await guard.token("delete_thing", CALL)
    await guard.gatekeeper.withdraw(revoked, "the user declined")
    foreign = await guard.token("delete_thing", CALL, caller=ANN)
    elsewhere = await guard.token("delete_thing", CALL, session=Session())
    wrong = await guard.token("delete_thing", CALL)
    wrong = wrong[:-8] + "AAAAAAAA"
    unknown = "conf_" + "B" * 59
    answers = set()
    for token in (revoked, foreign, elsewhere, wrong, unknown):
        assert len(token) == len(unknown)
        reply = await guard.engine.call(
            {"operation": "delete_thing", "params": {**CALL, "confirmation_token": token}}, session=guard.session
        )
        answers.add(reply.text.replace(token, "TOKEN"))
        assert (await guard.audit())[-1].details == {}, "which of these it is must not even be in the audit of the call"
    assert len(answers) == 1
    assert guard.ran == []


async def test_a_token_that_was_taken_back_stays_so(guard: Shop) -> None:
    token = await guard.token("delete_thing", CALL)
    await guard.gatekeeper.withdraw(token, "the user declined")
    revoked = (await guard.audit())[-1]
    assert (revoked.event, revoked.details["reason"]) == ("revoked", "the user declined")
    await guard.refused("TOKEN_INVALID", CALL, token)
    guard.clock.move(1000)
    await guard.refused("TOKEN_INVALID", CALL, token)


async def test_a_used_token_cannot_be_taken_back_and_a_wrong_one_takes_nothing_back(guard: Shop) -> None:
    token = await guard.token("delete_thing", CALL)
    await guard.gatekeeper.withdraw(token[:-4] + "AAAA", "nobody")
    assert (await guard.call("delete_thing", CALL, token=token))["success"]
    before = await guard.events()
    await guard.gatekeeper.withdraw(token, "too late")
    assert await guard.events() == before


async def test_the_end_of_the_session_revokes_what_it_has_left(guard: Shop) -> None:
    used, left, other = [await guard.token("delete_thing", CALL) for _ in range(2)] + [
        await guard.token("delete_thing", CALL, session=Session())
    ]
    assert (await guard.call("delete_thing", CALL, token=used))["success"]
    guard.gatekeeper.session_ended(guard.session.id)
    await guard.gatekeeper.tidy()
    revoked = [entry for entry in await guard.audit() if entry.event == "revoked"]
    assert [entry.details["reason"] for entry in revoked] == ["the session is over"]
    await guard.refused("TOKEN_INVALID", CALL, left)
    assert other


async def test_sessions_that_end_do_not_make_confirmations_dearer_the_more_there_are(
    guard: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All grants are looked through for them together, and not with each call."""
    looks: list[str] = []
    listed = SqlStore.list

    async def watched(store: SqlStore, kind: str, **more: Any) -> list[Record]:
        looks.append(kind)
        return await listed(store, kind, **more)

    await guard.token("delete_thing", CALL)
    monkeypatch.setattr(SqlStore, "list", watched)
    for _ in range(20):
        session = Session()
        await guard.token("delete_thing", CALL, session=session)
        guard.gatekeeper.session_ended(session.id)
    assert looks == []
    guard.clock.move(11)
    await guard.token("delete_thing", CALL)
    assert looks == ["grant", "grant"], "a page with all of them, and one that is empty"
    assert len([entry for entry in await guard.audit() if entry.event == "revoked"]) == 20


async def test_the_store_holds_no_token_and_no_secret(guard: Shop) -> None:
    token = await guard.token("delete_thing", CALL)
    kept = json.dumps([record.value for record in await guard.store.list("grant")])
    assert token not in kept
    assert token[21:] not in kept
    assert token[5:21] in kept


# Purposes.

QUOTA = """
[[quota]]
metric = "requests_per_minute"
warn = 1
pause = 1
"""


async def test_a_quota_token_is_no_confirmation_and_a_confirmation_no_quota_token(store: SqlStore) -> None:
    guard = Shop(store, QUOTA)
    first, second, third = [await guard.token("delete_thing", CALL) for _ in range(3)]
    assert (await guard.call("delete_thing", CALL, token=first))["success"]
    paused = await guard.call("delete_thing", CALL, token=second)
    assert code_of(paused) == "RATE_LIMIT_QUOTA_PAUSE"
    quota_token = paused["error"]["details"]["confirmation_token"]
    assert quota_token.startswith("quota_continue_")
    await guard.refused("TOKEN_INVALID", CALL, quota_token)
    assert await guard.code("delete_thing", CALL, token=second, _quota_continue=third) == "TOKEN_INVALID"
    assert await guard.code("delete_thing", CALL, token=second, _quota_continue=second) == "TOKEN_INVALID"
    assert len(guard.ran) == 1
    assert (await guard.call("delete_thing", CALL, token=second, _quota_continue=quota_token))["success"]
    assert len(guard.ran) == 2


async def test_the_token_of_a_quota_is_for_one_call_too(store: SqlStore) -> None:
    guard = Shop(store, QUOTA, trust=Trust.CERTIFIED)
    await guard.call("delete_thing", CALL)
    paused = await guard.call("delete_thing", CALL)
    token = paused["error"]["details"]["confirmation_token"]
    for other, code in (
        ({**CALL, "one": True}, "TOKEN_SCOPE_MISMATCH"),
        ({**CALL, "one": 1.0}, "TOKEN_SCOPE_MISMATCH"),
    ):
        assert await guard.code("delete_thing", other, _quota_continue=token) == code
    assert await guard.code("delete_thing", CALL, _quota_continue=token, caller=ANN) == "TOKEN_INVALID"
    assert await guard.code("delete_thing", CALL, _quota_continue=token, session=Session()) == "TOKEN_INVALID"
    assert await guard.code("delete_other", CALL, _quota_continue=token) == "TOKEN_SCOPE_MISMATCH"
    assert len(guard.ran) == 1
    assert (await guard.call("delete_thing", CALL, _quota_continue=token))["success"]
    assert await guard.code("delete_thing", CALL, _quota_continue=token) == "TOKEN_ALREADY_USED"
