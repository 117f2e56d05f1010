"""What an agent is paused for may be refused by a person; and who cannot be told from a blocked agent does not pass."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from headgate import Caller, Session
from headgate.safety.approvals import approve
from headgate.safety.loop.challenges import CHALLENGE, Challenge
from headgate.safety.loop.persons import challenges, refuse_challenge, show_code
from headgate.store.sql import SqlStore
from tests.safety.guarding import code_of
from tests.safety.supervising import DEADLY, FREE, GRAVE, HARMLESS, RISKY, Supervised, supervised

pytestmark = pytest.mark.anyio

ROBOT = Caller(subject="robot")
NOTE: dict[str, Any] = {"text": "x"}
BOT: dict[str, Any] = {"element_name": "bot"}


@pytest.fixture
async def agent() -> AsyncIterator[Supervised]:
    """An agent that must be verified."""
    async with supervised() as found:
        await found.start()
        await found.step(GRAVE)
        yield found


async def refuse(found: Supervised, reason: str = "never") -> bool:
    challenge = await found.challenge()
    return await refuse_challenge(found.store, challenge.id, "ana", reason, found.clock)


async def test_what_was_refused_is_not_done_and_the_agent_goes_on_with_something_else(agent: Supervised) -> None:
    challenge = await agent.challenge()
    code = await agent.code_for(challenge)
    assert await refuse(agent)
    directive = await agent.step(HARMLESS)
    assert directive["continue"] is True
    [note] = directive["notifications"]
    assert (note["type"], note["message"], note["metadata"]["reason"]) == (
        "status",
        f"A person refused: {GRAVE}",
        "never",
    )
    for _ in range(2):
        assert (await agent.step(GRAVE))["reason"] == "A person has refused this action"
    assert await challenges(agent.store, agent.clock()) == []
    assert code_of(await agent.verify(challenge.id, code)) == "TOKEN_INVALID"


async def test_a_refusal_is_on_record_with_who_and_why(agent: Supervised) -> None:
    challenge = await agent.challenge()
    assert await refuse(agent, "not on a Friday")
    last = (await agent.audit())[-1]
    assert last.event == "verification refused"
    assert last.details.items() >= {"by": "ana", "reason": "not on a Friday", "challenge": challenge.id}.items()
    record = await agent.store.find(CHALLENGE, challenge.id)
    assert record
    kept = Challenge.read(record)
    assert (kept.closed_at, kept.refused_by, kept.refused_because, kept.codes) == (
        agent.clock(),
        "ana",
        "not on a Friday",
        (),
    )


@pytest.mark.parametrize("way", ["unknown", "refused", "verified", "expired", "its agent is forgotten", "released"])
async def test_what_waits_no_longer_cannot_be_refused(agent: Supervised, way: str) -> None:
    challenge = await agent.challenge()
    if way == "refused":
        assert await refuse(agent)
    elif way == "verified":
        await agent.release(challenge)
    elif way == "expired":
        agent.clock.move(300)
    elif way == "released":
        kept = await agent.store.find("agent", "bot")
        assert kept
        free = {name: value for name, value in kept.value.items() if name != "pause"}
        assert await agent.store.replace(type(kept)(kept.kind, kept.key, free, kept.owner, None, kept.version))
    elif way == "its agent is forgotten":
        assert await agent.store.remove("agent", "bot")
    wanted = "none" if way == "unknown" else challenge.id
    before = await agent.events()
    assert not await refuse_challenge(agent.store, wanted, "bo", "", agent.clock)
    assert await agent.events() == before


async def test_a_block_is_verified_or_lifted_and_never_refused() -> None:
    async with supervised() as found:
        await found.start()
        await found.blocked()
        assert not await refuse(found)
        assert (await found.agent()).block is not None


async def test_a_refused_challenge_shows_no_code(agent: Supervised) -> None:
    challenge = await agent.challenge()
    assert await refuse(agent)
    assert await show_code(agent.store, challenge.id, "console", "ana", agent.clock) is None


# To begin anew is no way around a question


@pytest.mark.parametrize("hint", [RISKY, GRAVE])
async def test_while_a_person_is_asked_nobody_else_begins_the_agent_anew(store: SqlStore, hint: str) -> None:
    found = Supervised(store, '[autonomy]\nmode = "enforcing"\n')
    await found.start()
    await found.step(hint)
    other = Session()
    params = {**BOT, "task": "around it"}
    asked = await found.approval("execute_agent", params, session=other)
    assert await approve(store, asked, "ana", found.clock)
    envelope = await found.call("execute_agent", params, token=asked, session=other)
    assert code_of(envelope) == "CONFLICT_ALREADY_EXISTS"
    assert (await found.agent()).pause is not None
    found.clock.move(901)
    await found.start(session=other)
    assert (await found.agent()).pause is None, "what nobody has decided in time is over"


# Who cannot be told from a blocked agent


@pytest.mark.parametrize(
    ("who", "expected"),
    [
        pytest.param({"session": Session()}, "PERMISSION_DENIED", id="another session"),
        pytest.param({"session": Session(lasting=False)}, "PERMISSION_DENIED", id="a single request"),
        pytest.param({"session": Session(), "caller": ROBOT}, "", id="somebody who has proved who it is"),
    ],
)
async def test_while_an_agent_without_a_name_is_blocked_nobody_without_one_changes_anything(
    store: SqlStore, who: dict[str, Any], expected: str
) -> None:
    found = Supervised(store, FREE)
    await found.start()
    assert await found.code("create_note", NOTE, **who) == ""
    await found.step(DEADLY)
    envelope = await found.call("create_note", NOTE, **who)
    assert code_of(envelope) == expected
    if expected:
        assert "nothing proves that this is somebody else" in envelope["error"]["message"]
        assert envelope["error"]["details"]["agent"] == "bot"
    assert await found.code("get_order", {"order_id": 1}, session=Session()) == "", "to look is no harm"
    await found.release()
    assert await found.code("create_note", NOTE, **who) == ""


async def test_another_agent_that_is_at_work_goes_on_meanwhile(store: SqlStore) -> None:
    found = Supervised(store, FREE)
    other = Session()
    await found.start()
    await found.start("other", session=other)
    await found.step(DEADLY)
    assert await found.code("create_note", NOTE, session=other) == ""
