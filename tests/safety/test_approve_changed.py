"""Edit-and-approve: a person changes a call, and that very call may run once; what was asked for never runs."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any

import pytest

from headgate import Adapter, Param, Session
from headgate.safety.approvals import approve, approve_changed, turn_down, waiting
from headgate.safety.grants import GRANT, Grant
from headgate.safety.loop.persons import show_token
from headgate.store.opening import open_store
from headgate.store.sql import SqlStore
from tests.engine.asking import answer
from tests.safety.deletions import ANN, CALL, Shop
from tests.safety.guarding import Clock, Guarded, code_of, codes_of
from tests.safety.supervising import RISKY, supervised

pytestmark = pytest.mark.anyio

PERSON = '[confirmation]\nby = "person"\nrefusals_per_minute = 1000\n'
OTHER: dict[str, Any] = {**CALL, "one": 2, "text": "tea"}


@pytest.fixture
def guard(store: SqlStore) -> Shop:
    return Shop(store, PERSON)


async def changed(guard: Shop, params: Any = None, **who: Any) -> tuple[str, str]:
    """The id that a call asked for, and that of the call in its place."""
    asked = await guard.approval("delete_thing", CALL, **who)
    grant = await approve_changed(guard.store, asked, OTHER if params is None else params, "ana", guard.clock)
    assert grant is not None
    return asked, grant.approval_id


# What may run


async def test_the_changed_call_runs_once(guard: Shop) -> None:
    asked, approved = await changed(guard)
    assert approved != asked
    assert (await guard.call("delete_thing", OTHER, token=approved))["success"]
    assert guard.ran == [(2, OTHER["two"], OTHER["three"], "tea")]
    await guard.refused("TOKEN_ALREADY_USED", OTHER, approved)


@pytest.mark.parametrize(
    ("other", "code"),
    [
        pytest.param({"params": CALL}, "TOKEN_SCOPE_MISMATCH", id="as it was asked for"),
        pytest.param({"params": {**OTHER, "one": 3}}, "TOKEN_SCOPE_MISMATCH", id="with another value"),
        pytest.param({"params": {**OTHER, "one": 2.0}}, "TOKEN_SCOPE_MISMATCH", id="with another number of that value"),
        pytest.param({"params": {**OTHER, "one": True}}, "TOKEN_SCOPE_MISMATCH", id="with a flag"),
        pytest.param({"params": {"one": 2}}, "TOKEN_SCOPE_MISMATCH", id="with less"),
        pytest.param({"operation": "delete_other"}, "TOKEN_SCOPE_MISMATCH", id="of another operation"),
        pytest.param({"caller": ANN}, "TOKEN_INVALID", id="by another caller"),
        pytest.param({"session": Session()}, "TOKEN_INVALID", id="in another session"),
    ],
)
async def test_nothing_else_runs_under_the_new_approval(guard: Shop, other: dict[str, Any], code: str) -> None:
    _, approved = await changed(guard)
    await guard.refused(code, **{"params": OTHER, "token": approved, **other})
    assert (await guard.call("delete_thing", OTHER, token=approved))["success"], "what was refused has not used it up"


@pytest.mark.parametrize("params", [CALL, OTHER, {"one": None}], ids=["as asked", "as changed", "otherwise"])
async def test_nothing_runs_under_the_old_id_and_its_owner_is_told(guard: Shop, params: dict[str, Any]) -> None:
    asked, approved = await changed(guard)
    error = await guard.refused("CONFIRMATION_REQUIRED", params, asked)
    assert approved in error["message"]
    assert error["details"] == {"operation": "delete_thing", "approval_id": approved, "approved_params": OTHER}


async def test_whoever_asks_again_without_an_id_is_told_the_same(guard: Shop) -> None:
    asked, approved = await changed(guard)
    envelope = await guard.call("delete_thing", CALL)
    assert code_of(envelope) == "CONFIRMATION_REQUIRED"
    assert envelope["error"]["details"]["approval_id"] == approved
    assert envelope["error"]["details"]["approved_params"] == OTHER
    assert await waiting(guard.store, guard.clock()) == [], "so that nobody is asked a second time"
    assert asked != approved


@pytest.mark.parametrize("who", [{"caller": ANN}, {"session": Session()}], ids=["caller", "session"])
async def test_what_was_changed_is_told_to_nobody_else(guard: Shop, who: dict[str, Any]) -> None:
    asked, approved = await changed(guard)
    envelope = await guard.call("delete_thing", CALL, token=asked, **who)
    assert code_of(envelope) == "TOKEN_INVALID"
    assert approved not in str(envelope)
    assert "tea" not in str(envelope)


async def test_the_caller_gets_there_by_doing_what_it_is_told(guard: Shop) -> None:
    asked, _ = await changed(guard)
    details = (await guard.call("delete_thing", CALL, token=asked))["error"]["details"]
    again = await guard.call("delete_thing", details["approved_params"], token=details["approval_id"])
    assert again["success"]


async def test_a_person_may_also_change_it_back_to_the_same(guard: Shop) -> None:
    asked, approved = await changed(guard, CALL)
    await guard.refused("CONFIRMATION_REQUIRED", CALL, asked)
    assert (await guard.call("delete_thing", CALL, token=approved))["success"]
    assert len(guard.ran) == 1


async def test_a_token_that_was_shown_before_the_change_is_worth_nothing(guard: Shop) -> None:
    asked = await guard.approval("delete_thing", CALL)
    token = await show_token(guard.store, asked, "ana", guard.clock)
    grant = await approve_changed(guard.store, asked, OTHER, "ana", guard.clock)
    assert token
    assert grant
    await guard.refused("CONFIRMATION_REQUIRED", CALL, token)
    forged = token.replace(asked.removeprefix("appr_"), grant.id)
    await guard.refused("TOKEN_INVALID", OTHER, forged)


async def test_a_cooldown_begins_as_the_person_approves(store: SqlStore) -> None:
    guard = Shop(store, f'{PERSON}[danger.delete_thing]\nlevel = "destructive"\ncooldown_seconds = 30\n')
    asked = await guard.approval("delete_thing", CALL)
    guard.clock.move(100)
    grant = await approve_changed(store, asked, OTHER, "ana", guard.clock)
    assert grant
    guard.clock.move(29.5)
    await guard.refused("RATE_LIMIT_EXCEEDED", OTHER, grant.approval_id)
    guard.clock.move(0.5)
    assert (await guard.call("delete_thing", OTHER, token=grant.approval_id))["success"]


async def test_the_changed_call_must_come_in_the_time_that_the_other_had(guard: Shop) -> None:
    asked = await guard.approval("delete_thing", CALL)
    guard.clock.move(899)
    grant = await approve_changed(guard.store, asked, OTHER, "ana", guard.clock)
    assert grant
    guard.clock.move(62)
    await guard.refused("TOKEN_EXPIRED", OTHER, grant.approval_id)


# What cannot be changed


@pytest.mark.parametrize("way", ["unknown", "approved", "turned down", "changed", "used", "expired"])
async def test_what_waits_no_longer_cannot_be_changed(guard: Shop, way: str) -> None:
    asked = await guard.approval("delete_thing", CALL)
    if way == "unknown":
        asked = "appr_0000000000000000"
    elif way in ("approved", "used"):
        assert await approve(guard.store, asked, "bo", guard.clock)
        if way == "used":
            assert (await guard.call("delete_thing", CALL, token=asked))["success"]
    elif way == "turned down":
        assert await turn_down(guard.store, asked, "bo", guard.clock)
    elif way == "changed":
        assert await approve_changed(guard.store, asked, {"one": 5}, "bo", guard.clock)
    else:
        guard.clock.move(900)
    before = await guard.events()
    assert await approve_changed(guard.store, asked, OTHER, "ana", guard.clock) is None
    assert await guard.events() == before
    assert not any(grant.params == OTHER for grant in await grants(guard))


async def grants(guard: Guarded) -> list[Grant]:
    return [Grant.read(record) for record in await guard.store.list(GRANT)]


@pytest.mark.parametrize("decide", [approve, turn_down], ids=["approved", "turned down"])
async def test_what_was_changed_cannot_be_decided_again(guard: Shop, decide: Any) -> None:
    asked, approved = await changed(guard)
    for one in (asked, approved):
        assert not await decide(guard.store, one, "bo", guard.clock)
    assert (await guard.call("delete_thing", OTHER, token=approved))["success"]


async def test_a_report_of_an_agent_is_approved_or_refused_as_it_is() -> None:
    """What an agent is about to do is its own: a person can say yes or no to it."""
    async with supervised() as found:
        await found.start()
        await found.step(RISKY)
        pause = await found.pending()
        other = {**pause.params, "next_action_hint": "read a file"}
        assert await approve_changed(found.store, pause.approval_id, other, "ana", found.clock) is None
        assert (await found.pending()).id == pause.id


async def test_leave_to_go_on_beyond_a_quota_has_nothing_to_change(store: SqlStore) -> None:
    adapter = Adapter("service")

    @adapter.read
    async def get_weather(town: str = "") -> str:
        """Get the weather."""
        return town

    rules = '[[quota]]\nmetric = "requests_per_minute"\nwarn = 1\npause = 1\nconfirm = "person"\n'
    guard = Guarded(adapter, store, rules)
    await guard.call("get_weather")
    asked = (await guard.call("get_weather"))["error"]["details"]["approval_id"]
    assert await approve_changed(store, asked, {"town": "Oslo"}, "ana", guard.clock) is None
    assert await approve(store, asked, "ana", guard.clock), "it still waits"


# What is on record


async def test_the_audit_tells_who_changed_what_into_what(guard: Shop) -> None:
    asked, approved = await changed(guard)
    revoked, granted = (await guard.audit())[-2:]
    old, new = asked.removeprefix("appr_"), approved.removeprefix("appr_")
    assert (revoked.event, revoked.params, revoked.operation) == ("revoked", CALL, "delete_thing")
    assert revoked.details.items() >= {"grant": old, "replaced_by": new, "by": "ana"}.items()
    assert (granted.event, granted.params, granted.operation) == ("approved", OTHER, "delete_thing")
    assert granted.details.items() >= {"grant": new, "replaces": old, "by": "ana"}.items()
    await guard.call("delete_thing", OTHER, token=approved)
    used = [one for one in await guard.audit() if one.event == "approved"][-1]
    assert (used.params, used.details["grant"]) == (OTHER, new)


async def test_the_record_of_the_new_call_asks_nothing_about_the_old_one(guard: Shop) -> None:
    asked, approved = await changed(guard)
    found = {grant.approval_id: grant for grant in await grants(guard)}
    old, new = found[asked], found[approved]
    assert "1" in old.message
    assert new.message == "Run delete_thing as a person has changed it?"
    assert (new.approved_by, new.approved_at, new.secret_hash) == ("ana", guard.clock(), None)
    assert (old.approved_at, old.revoked_at, old.replaced_by) == (None, guard.clock(), new.id)
    assert old.replaced_with == OTHER
    assert old.turned_down_by is None


async def test_a_refusal_is_on_record_with_its_reason(guard: Shop) -> None:
    asked = await guard.approval("delete_thing", CALL)
    assert await turn_down(guard.store, asked, "ana", guard.clock, "not on a Friday")
    last = (await guard.audit())[-1]
    assert (last.event, last.details["by"], last.details["reason"]) == ("revoked", "ana", "not on a Friday")
    envelope = await guard.call("delete_thing", CALL, token=asked)
    assert "not on a Friday" in str(envelope["error"])


async def test_a_refusal_without_a_reason_says_none(guard: Shop) -> None:
    asked = await guard.approval("delete_thing", CALL)
    assert await turn_down(guard.store, asked, "ana", guard.clock)
    assert "reason" not in (await guard.audit())[-1].details


async def test_a_value_that_must_stay_hidden_is_in_no_record_of_the_call_that_was_asked_for(store: SqlStore) -> None:
    """The changed call is bound to what a person wrote, and the hidden value of the old one is nowhere."""
    adapter = Adapter("vault")
    opened: list[tuple[int, str]] = []

    @adapter.delete
    async def delete_box(box: int, pin: Annotated[str, Param(sensitive=True)] = "none") -> str:
        """Delete a box."""
        opened.append((box, pin))
        return "gone"

    guard = Guarded(adapter, store, PERSON)
    asked = await guard.approval("delete_box", {"box": 1, "pin": "hush-4711"})
    grant = await approve_changed(store, asked, {"box": 2}, "ana", guard.clock)
    assert grant
    assert code_of(await guard.call("delete_box", {"box": 2, "pin": "hush-4711"}, token=grant.approval_id)) == (
        "TOKEN_SCOPE_MISMATCH"
    )
    assert (await guard.call("delete_box", {"box": 2}, token=grant.approval_id))["success"]
    assert opened == [(2, "none")]
    kept = [str(record) for record in await store.list(GRANT)]
    assert not any("hush" in text for text in (await guard.told(), *kept))


# Restarts, and other servers


async def test_after_a_restart_the_changed_call_still_runs_once(tmp_path: Path) -> None:
    clock, session = Clock(), Session()
    async with shop_on(tmp_path, clock, session) as first:
        asked = await first.approval("delete_thing", CALL)
    async with shop_on(tmp_path, clock, session) as second:
        grant = await approve_changed(second.store, asked, OTHER, "ana", clock)
        assert grant
    async with shop_on(tmp_path, clock, session) as third:
        error = await third.refused("CONFIRMATION_REQUIRED", CALL, asked)
        assert error["details"]["approved_params"] == OTHER
        assert (await third.call("delete_thing", OTHER, token=grant.approval_id))["success"]
    async with shop_on(tmp_path, clock, session) as fourth:
        await fourth.refused("TOKEN_ALREADY_USED", OTHER, grant.approval_id)


@asynccontextmanager
async def shop_on(folder: Path, clock: Clock, session: Session) -> AsyncIterator[Shop]:
    store = open_store(str(folder / "state.db"))
    try:
        guard = Shop(store, PERSON, clock=clock)
        guard.session = session
        yield guard
    finally:
        await store.close()


async def test_under_another_policy_the_changed_call_is_asked_for_anew(store: SqlStore) -> None:
    first = Shop(store, PERSON)
    _, approved = await changed(first)
    second = Shop(store, f'{PERSON}[audit]\noperations = "all"\n')
    second.session = first.session
    await second.refused("TOKEN_SCOPE_MISMATCH", OTHER, approved)


# Batches and transactions


async def test_a_batch_halts_before_a_call_that_was_changed_and_says_what_may_run(guard: Shop) -> None:
    asked, approved = await changed(guard)
    items = [{"operation": "delete_thing", "params": CALL, "_confirmation": asked}]
    halted = (await guard.ask({"operations": items}))["halted_at"]["result"]["error"]
    assert (halted["code"], halted["details"]["approval_id"]) == ("CONFIRMATION_REQUIRED", approved)
    item = {
        "operation": "delete_thing",
        "params": halted["details"]["approved_params"],
        "_confirmation": halted["details"]["approval_id"],
    }
    assert list(codes_of(await guard.ask({"operations": [item, item]}))) == ["", "TOKEN_ALREADY_USED"]
    assert [ran[0] for ran in guard.ran] == [2]


async def test_a_transaction_begins_only_when_its_changed_member_is_sent_as_it_was_approved(store: SqlStore) -> None:
    guard = Shop(store, PERSON)
    began: list[str] = []

    @asynccontextmanager
    async def transaction() -> AsyncIterator[None]:
        began.append("begun")
        yield

    guard.engine.adapter.collections.transactions.append(transaction)
    asked, approved = await changed(guard)

    async def together(params: Any, token: str) -> Any:
        item = {"operation": "delete_thing", "params": params, "_confirmation": token}
        return await answer(guard.engine, {"operations": [item], "transaction": True}, session=guard.session)

    for params, token in ((CALL, asked), (OTHER, asked), (CALL, approved)):
        [code] = codes_of(await together(params, token))
        assert code in ("CONFIRMATION_REQUIRED", "TOKEN_SCOPE_MISMATCH")
    assert began == []
    assert codes_of(await together(OTHER, approved)) == [""]
    assert (began, len(guard.ran)) == (["begun"], 1)


# Agents


async def test_an_agent_is_told_once_that_its_call_was_changed() -> None:
    rules = '[autonomy]\nmode = "enforcing"\nstart = "free"\n'
    async with supervised(rules) as found:
        await found.start()
        asked = await found.approval("delete_order", {"order_id": 1})
        grant = await approve_changed(found.store, asked, {"order_id": 2}, "ana", found.clock)
        assert grant
        assert grant.agent == "bot"
        [note] = (await found.step())["notifications"]
        assert note["type"] == "status"
        assert "changed 'delete_order'" in note["message"]
        assert "notifications" not in await found.step()
        told = (await found.call("delete_order", {"order_id": 1}))["error"]["details"]
        assert (told["approval_id"], told["approved_params"]) == (grant.approval_id, {"order_id": 2})
        assert (await found.call("delete_order", {"order_id": 2}, token=grant.approval_id))["success"]
        assert found.done == ["delete 2"]
