"""What an agent is paused for can be refused by a person, as well as verified; what it is blocked for stays."""

from collections.abc import AsyncIterator

import anyio
import pytest

from headgate import Session
from headgate.safety.loop.persons import refuse_challenge
from tests.safety.guarding import code_of
from tests.safety.supervising import GRAVE, HARMLESS, RISKY, Supervised, supervised

pytestmark = pytest.mark.anyio


@pytest.fixture
async def agent() -> AsyncIterator[Supervised]:
    async with supervised() as found:
        await found.start()
        yield found


async def refused(found: Supervised, challenge_id: str, reason: str = "not on a Friday", by: str = "ana") -> bool:
    return await refuse_challenge(found.store, challenge_id, by, reason, found.clock)


async def test_the_agent_goes_on_with_anything_else_and_is_told_why(agent: Supervised) -> None:
    assert (await agent.step(GRAVE))["continue"] is False
    challenge = await agent.challenge()
    assert await refused(agent, challenge.id)
    directive = await agent.step(HARMLESS)
    assert directive["continue"] is True
    [note] = directive["notifications"]
    assert (note["type"], note["message"]) == ("status", f"A person refused: {GRAVE}")
    assert note["metadata"]["reason"] == "not on a Friday"
    again = await agent.step(GRAVE)
    assert (again["continue"], again["reason"]) == (False, "A person has refused this action")


async def test_a_code_that_was_shown_before_is_void(agent: Supervised) -> None:
    await agent.step(GRAVE)
    challenge = await agent.challenge()
    code = await agent.code_for(challenge)
    assert await refused(agent, challenge.id)
    assert code_of(await agent.verify(challenge.id, code)) == "TOKEN_INVALID"
    assert (await agent.step(GRAVE))["continue"] is False


async def test_a_block_stays(agent: Supervised) -> None:
    challenge = await agent.blocked()
    assert not await refused(agent, challenge.id)
    assert (await agent.agent()).block is not None


async def test_what_is_over_or_unknown_is_not_refused(agent: Supervised) -> None:
    assert not await refused(agent, "nothing")
    await agent.step(GRAVE)
    first = await agent.challenge()
    await agent.release(first)
    assert not await refused(agent, first.id)
    await agent.step(GRAVE)  # once with the leave of the person
    await agent.step("drop the table of customers")
    second = await agent.challenge()
    agent.clock.move(301)
    assert not await refused(agent, second.id)


async def test_of_two_persons_one_refuses(agent: Supervised) -> None:
    await agent.step(GRAVE)
    challenge = await agent.challenge()
    done: list[bool] = []

    async def refuse(by: str) -> None:
        done.append(await refused(agent, challenge.id, by=by))

    async with anyio.create_task_group() as tasks:
        for by in ("ana", "bo"):
            tasks.start_soon(refuse, by)
    assert sorted(done) == [False, True]
    rows = [entry for entry in await agent.audit() if entry.event == "verification refused"]
    assert len(rows) == 1
    assert rows[0].details["by"] in ("ana", "bo")


async def test_while_a_person_is_asked_to_begin_anew_is_no_way_around(agent: Supervised) -> None:
    for hint in (GRAVE, RISKY):
        await agent.step(hint)
        envelope = await agent.call("execute_agent", {"element_name": "bot"}, session=Session())
        assert code_of(envelope) == "CONFLICT_ALREADY_EXISTS"
        if hint == GRAVE:
            await agent.release()
            await agent.step(hint)
