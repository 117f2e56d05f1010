"""What agents are told with their next directive: each type, told once or for as long as it is true (Spec 8.7.3)."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from headgate import Caller, Session
from headgate.protocol.times import timestamp
from headgate.safety.approvals import approve, turn_down
from headgate.safety.loop.challenges import Challenge
from headgate.safety.loop.persons import end_execution, override
from headgate.store.sql import SqlStore
from tests.safety.guarding import Clock, code_of
from tests.safety.supervising import DEADLY, GRAVE, HARMLESS, RISKY, Supervised, supervised

pytestmark = pytest.mark.anyio

DELETE: dict[str, Any] = {"order_id": 1}


@pytest.fixture
async def agent() -> AsyncIterator[Supervised]:
    async with supervised() as found:
        await found.start()
        yield found


def types(directive: Any) -> list[str]:
    return [note["type"] for note in directive.get("notifications", ())]


async def told(agent: Supervised, hint: str = HARMLESS, **more: Any) -> list[str]:
    return types(await agent.step(hint, **more))


# permission_pending


async def test_an_operation_that_waits_is_told_with_every_directive_until_it_is_confirmed(agent: Supervised) -> None:
    asked = await agent.approval("delete_order", DELETE)
    [note] = (await agent.step())["notifications"]
    assert note["type"] == "permission_pending"
    assert note["metadata"]["operation"] == "delete_order"
    assert note["metadata"]["level"] == "destructive"
    assert note["metadata"]["reason"]
    assert asked in note["message"]
    assert await told(agent) == ["permission_pending"]
    grant = await agent.pending()
    assert code_of(await agent.confirm(grant, "conf_" + "x" * 59)) == "TOKEN_INVALID"
    assert await told(agent) == ["permission_pending"], "a failed confirmation clears nothing"
    assert (await agent.confirm(grant, await agent.token_for(grant)))["success"]
    [note] = (await agent.step())["notifications"]
    assert (note["type"], asked in note["message"]) == ("status", True)
    assert await told(agent) == [], "and then no more"


async def test_several_operations_that_wait_are_all_told_in_their_order(agent: Supervised) -> None:
    ids = [await agent.approval("delete_order", {"order_id": number}) for number in (3, 1, 2)]
    notes = (await agent.step())["notifications"]
    assert [note["type"] for note in notes] == ["permission_pending"] * 3
    assert all(one in note["message"] for one, note in zip(ids, notes, strict=True))
    assert await agent.approval("delete_order", {"order_id": 3}) == ids[0]
    assert len(await told(agent)) == 3, "asking for the same again is told once"


@pytest.mark.parametrize("way", ["refused", "late", "used"])
async def test_an_operation_that_waits_no_longer_is_told_once_or_not_at_all(agent: Supervised, way: str) -> None:
    asked = await agent.approval("delete_order", DELETE)
    if way == "refused":
        assert await turn_down(agent.store, asked, "ana", agent.clock, "keep it")
    elif way == "late":
        agent.clock.move(901)
    else:
        assert await approve(agent.store, asked, "ana", agent.clock)
        assert await agent.code("delete_order", DELETE, token=asked) == ""
    notes = (await agent.step()).get("notifications", [])
    said = {
        "refused": ["A person refused 'delete_order'"],
        "late": ["Nobody approved 'delete_order' in time"],
        "used": [],
    }
    assert [note["message"] for note in notes] == said[way]
    assert [note["type"] for note in notes] == ["status"] * len(said[way])
    if way == "refused":
        assert notes[0]["metadata"] == {"reason": "keep it"}
    assert await told(agent) == []


async def test_what_waits_for_one_agent_is_not_told_to_another(agent: Supervised) -> None:
    other = Session()
    await agent.start("other", session=other)
    await agent.approval("delete_order", DELETE)
    assert await told(agent, name="other", session=other) == []
    assert await told(agent) == ["permission_pending"]


async def test_an_execution_that_ends_takes_its_notifications_with_it(agent: Supervised) -> None:
    await agent.approval("delete_order", DELETE)
    assert await agent.code("complete_execution", {"element_name": "bot"}) == ""
    await agent.start()
    assert await told(agent) == []


# autonomy_pause


async def test_a_pause_to_be_confirmed_is_told_until_it_is(agent: Supervised) -> None:
    directive = await agent.step(RISKY)
    [note] = directive["notifications"]
    pending = await agent.pending()
    assert note["type"] == "autonomy_pause"
    assert pending.approval_id in note["message"]
    assert "verificationId" not in note["metadata"]
    assert note["metadata"]["reason"] == "; ".join(directive["factors"])
    assert await told(agent) == ["autonomy_pause"]
    assert await told(agent, RISKY) == ["autonomy_pause"]
    assert (await agent.confirm(pending, await agent.token_for(pending)))["success"]
    assert await told(agent, RISKY) == []


async def test_a_failed_confirmation_does_not_end_a_pause(agent: Supervised) -> None:
    await agent.step(RISKY)
    pending = await agent.pending()
    await agent.token_for(pending)
    assert code_of(await agent.confirm(pending, f"conf_{pending.id}wrong")) == "TOKEN_INVALID"
    assert await told(agent) == ["autonomy_pause"]


@pytest.mark.parametrize("way", ["verified", "expired"])
async def test_a_pause_to_be_verified_is_told_until_that_or_until_it_expires(agent: Supervised, way: str) -> None:
    [note] = (await agent.step(GRAVE))["notifications"]
    challenge = await agent.challenge()
    assert (note["type"], note["metadata"]["verificationId"]) == ("autonomy_pause", challenge.id)
    assert challenge.id in (await agent.step())["reason"]
    assert await told(agent) == ["autonomy_pause"]
    if way == "verified":
        await agent.release(challenge)
        [note] = (await agent.step())["notifications"]
        assert (note["type"], note["message"]) == ("status", f"A person has verified: {GRAVE}")
    else:
        agent.clock.move(300)
    assert await told(agent) == []


# danger_zone


async def test_a_block_is_broadcast_to_every_executing_agent_on_every_server(store: SqlStore) -> None:
    clock = Clock()
    servers = [Supervised(store, clock=clock) for _ in range(3)]
    callers = [Caller(subject=f"caller {number}") for number in range(3)]
    for number, server in enumerate(servers):
        await server.start(f"bot {number}", caller=callers[number])
    first = await servers[0].step(DEADLY, name="bot 0", caller=callers[0])
    challenge = await servers[2].challenge()
    [own] = [note for note in first["notifications"] if note["type"] == "danger_zone"]
    assert own["metadata"]["verificationId"] == challenge.id
    for _ in range(2):
        for number in (1, 2):
            [note] = (await servers[number].step(name=f"bot {number}", caller=callers[number]))["notifications"]
            assert (note["type"], note["metadata"]["verificationId"]) == ("danger_zone", challenge.id)
            assert "'bot 0' is blocked" in note["message"]
    await servers[1].start("late", caller=Caller(subject="late"))
    assert types(await servers[1].step(name="late", caller=Caller(subject="late"))) == ["danger_zone"]
    await servers[1].release(challenge)
    for number in (1, 2):
        assert types(await servers[number].step(name=f"bot {number}", caller=callers[number])) == []


async def test_an_override_clears_the_broadcast(agent: Supervised) -> None:
    other = Session()
    await agent.start("other", session=other)
    await agent.blocked()
    assert await told(agent, name="other", session=other) == ["danger_zone"]
    assert await override(agent.store, "bot", "ana", "a false alarm", agent.clock)
    assert await told(agent, name="other", session=other) == []
    [note] = (await agent.step())["notifications"]
    assert (note["type"], note["metadata"]["reason"]) == ("status", "a false alarm")


async def test_a_failed_verification_clears_nothing_and_an_expired_challenge_has_a_new_id(agent: Supervised) -> None:
    other = Session()
    await agent.start("other", session=other)
    first = await agent.blocked()
    await agent.verify(first.id, "WRONG")
    assert await told(agent, name="other", session=other) == ["danger_zone"]
    agent.clock.move(301)
    await agent.report()
    second = await agent.challenge()
    [note] = (await agent.step(name="other", session=other))["notifications"]
    assert note["metadata"]["verificationId"] == second.id != first.id


async def test_a_block_whose_execution_was_ended_is_still_told(agent: Supervised) -> None:
    other = Session()
    await agent.start("other", session=other)
    await agent.blocked()
    assert await end_execution(agent.store, "bot", "ana", "", agent.clock)
    assert await told(agent, name="other", session=other) == ["danger_zone"]


async def test_very_many_blocks_are_all_told(agent: Supervised) -> None:
    names = {f"bot {number:02}": Session() for number in range(60)}
    for name, session in names.items():
        await agent.start(name, session=session)
    for name, session in names.items():
        await agent.step(DEADLY, name=name, session=session)
    notes = (await agent.step())["notifications"]
    assert len({note["metadata"]["verificationId"] for note in notes}) == 60


# status


async def test_what_persons_decided_is_told_once_in_its_order(agent: Supervised) -> None:
    await agent.step(RISKY)
    await agent.refuse("no")
    notes = (await agent.step(RISKY.replace("quarterly", "yearly")))["notifications"]
    assert [note["type"] for note in notes] == ["status", "autonomy_pause"]
    await agent.refuse("not that either")
    notes = (await agent.step())["notifications"]
    assert [note["metadata"]["reason"] for note in notes] == ["not that either"]
    assert await told(agent) == []


# error


async def test_a_verification_that_fails_is_told_once_as_an_error(agent: Supervised) -> None:
    await agent.step(GRAVE)
    challenge = await agent.challenge()
    for _ in range(2):
        await agent.verify(challenge.id, "WRONG")
    notes = (await agent.step())["notifications"]
    assert [note["type"] for note in notes] == ["error", "error", "autonomy_pause"]
    assert {note["metadata"]["verificationId"] for note in notes} == {challenge.id}
    assert await told(agent) == ["autonomy_pause"]


async def test_guesses_at_a_challenge_that_an_agent_waits_for_no_longer_are_not_told_to_it(agent: Supervised) -> None:
    await agent.step(GRAVE)
    challenge = await agent.challenge()
    await agent.release(challenge)
    await agent.step()
    await agent.verify(challenge.id, "WRONG")
    assert await told(agent) == []


async def test_an_agent_is_told_if_nobody_could_be(caplog: pytest.LogCaptureFixture) -> None:
    """What tells persons may break; the agent is held up all the same, and its answer arrives."""

    async def broken(_challenge: Challenge) -> None:
        raise ConnectionError("no mail today")

    async with supervised(announce=broken) as found:
        await found.start()
        directive = await found.step(GRAVE)
        challenge = await found.challenge()
        assert directive["continue"] is False
        notes = (await found.step())["notifications"]
        assert [note["type"] for note in notes] == ["error", "autonomy_pause"]
        assert challenge.id in notes[0]["message"]
        assert notes[0]["metadata"]["verificationId"] == challenge.id
        assert await told(found) == ["autonomy_pause"]
        assert f"nobody was told that '{challenge.id}' waits to be verified" in caplog.text


async def test_persons_are_told_of_each_challenge_once() -> None:
    heard: list[str] = []

    async def hear(challenge: Challenge) -> None:
        heard.append(challenge.id)

    async with supervised(announce=hear) as found:
        await found.start()
        await found.step(GRAVE)
        first = await found.challenge()
        await found.step(GRAVE)
        assert heard == [first.id]
        found.clock.move(301)
        await found.step(DEADLY)
        second = await found.challenge()
        await found.report()
        found.clock.move(301)
        await found.report()
        third = await found.challenge()
        assert heard == [first.id, second.id, third.id]


async def test_each_notification_says_when_it_happened(agent: Supervised) -> None:
    await agent.step(GRAVE)
    begun = timestamp(agent.clock())
    agent.clock.move(60)
    [note] = (await agent.step())["notifications"]
    assert note["timestamp"] == begun
