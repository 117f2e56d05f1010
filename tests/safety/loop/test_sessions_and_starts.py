"""Who may start, go on with and end an execution; sessions that end; and what an execution leaves behind."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from headgate import Caller, Session
from headgate.safety.approvals import approve, waiting
from headgate.safety.grants import GRANT, Grant
from headgate.safety.loop.agents import MARK
from headgate.safety.loop.challenges import CHALLENGE, Challenge
from headgate.safety.loop.persons import agents, challenges, end_execution, find_agent, override, show_code, show_token
from headgate.store.sql import SqlStore
from tests.safety.guarding import code_of
from tests.safety.supervising import DEADLY, FREE, GRAVE, HARMLESS, RISKY, Supervised, supervised

pytestmark = pytest.mark.anyio

ROBOT = Caller(subject="robot")
ASKING = '[autonomy]\nmode = "enforcing"\n'
BOT: dict[str, Any] = {"element_name": "bot"}


@pytest.fixture
async def agent() -> AsyncIterator[Supervised]:
    async with supervised() as found:
        await found.start()
        yield found


async def ended(found: Supervised, session: Session) -> None:
    """A session is over, and there was time to tidy up."""
    session.end()
    found.gatekeeper.session_ended(session.id)
    await found.gatekeeper.tidy()


# Sessions that end


async def test_with_its_session_an_execution_ends(agent: Supervised) -> None:
    await agent.step()
    await ended(agent, agent.session)
    kept = await agent.agent()
    assert (kept.execution, kept.owner) == (None, "idle")
    last = [entry for entry in await agent.audit() if entry.event == "agent aborted"][-1]
    assert (last.details["words"], last.details["steps"]) == ("Its session is over", 1)
    await agent.start(session=Session())


async def test_a_block_outlasts_the_session(agent: Supervised) -> None:
    await agent.blocked()
    await ended(agent, agent.session)
    kept = await agent.agent()
    assert kept.execution is None
    assert kept.block
    assert await agent.code("execute_agent", BOT, session=Session()) == "PERMISSION_DENIED"


async def test_an_execution_of_a_known_caller_outlasts_its_session(store: SqlStore) -> None:
    found = Supervised(store)
    first = Session()
    await found.start(caller=ROBOT, session=first)
    await ended(found, first)
    assert (await found.step(caller=ROBOT, session=Session()))["continue"] is True


async def test_sessions_in_which_no_agent_worked_leave_nothing(agent: Supervised) -> None:
    await ended(agent, Session())
    assert (await agent.agent()).execution is not None


async def test_a_session_whose_agent_is_known_no_more_ends_quietly(agent: Supervised) -> None:
    assert await agent.store.remove("agent", "bot")
    await ended(agent, agent.session)
    assert await find_agent(agent.store, "bot") is None


async def test_tokens_that_outlive_sessions_do_so_with_a_loop_too(store: SqlStore) -> None:
    found = Supervised(store, f"{FREE}[confirmation]\noutlive_session = true\n")
    session = Session()
    token = await found.token("delete_order", {"order_id": 1}, session=session)
    await found.start(session=session)
    await ended(found, session)
    assert (await found.agent()).execution is None
    assert await found.code("delete_order", {"order_id": 1}, token=token, session=Session()) == ""


async def test_one_session_that_ends_takes_no_other_with_it(store: SqlStore) -> None:
    found = Supervised(store)
    one, two = Session(), Session()
    await found.start("one", session=one)
    await found.start("two", session=two)
    await ended(found, one)
    assert (await found.agent("one")).execution is None
    assert (await found.step(name="two", session=two))["continue"] is True


async def test_what_nobody_needs_to_know_of_a_session_is_forgotten(store: SqlStore) -> None:
    found = Supervised(store)
    session = Session()
    await found.start(session=session)
    assert [record.key for record in await store.list(MARK)] == [f"session:{session.id}"]
    await ended(found, session)
    assert await store.list(MARK) == []
    await found.start(session=Session())
    found.clock.move(30 * 86400 + 1)
    await store.purge(found.clock())
    assert await store.list(MARK) == [], "even if the end of it was never noticed"


async def test_which_agents_a_caller_speaks_for_is_known_as_long_as_they_matter(store: SqlStore) -> None:
    found = Supervised(store)
    for name in ("one", "two", "three"):
        await found.start(name, caller=ROBOT)
    await found.step(DEADLY, name="two", caller=ROBOT)
    await found.release()
    assert await end_execution(store, "one", "ana", "", found.clock)
    await found.start("four", caller=ROBOT)
    [record] = [one for one in await store.list(MARK) if one.key.startswith("caller:")]
    assert record.value == {"agents": ["two", "three", "four"]}
    assert record.expires_at is None
    found.clock.move(400 * 86400)
    await store.purge(found.clock())
    await found.step("rm -rf /home", name="two", caller=ROBOT)
    assert await found.code("get_order", {"order_id": 1}, caller=ROBOT) == "PERMISSION_DENIED"


# Executions that nobody goes on with


@pytest.mark.parametrize(
    ("rules", "seconds", "expected"),
    [
        (FREE, 3600, "CONFLICT_ALREADY_EXISTS"),
        (FREE, 3601, ""),
        (ASKING, 0, ""),
    ],
    ids=["lately", "an hour ago", "a person lets it"],
)
async def test_an_agent_that_was_left_behind_may_be_started_anew_elsewhere(
    store: SqlStore, rules: str, seconds: float, expected: str
) -> None:
    found = Supervised(store, rules)
    await found.start()
    await found.step()
    found.clock.move(seconds)
    session = Session()
    envelope = await found.call("execute_agent", BOT, session=session)
    if rules == ASKING:
        asked = envelope["error"]["details"]["approval_id"]
        assert await approve(store, asked, "ana", found.clock)
        envelope = await found.call("execute_agent", BOT, token=asked, session=session)
    assert code_of(envelope) == expected
    if expected:
        assert (await found.step())["continue"] is True, "who is at work is not disturbed"
    else:
        assert (await found.step(session=session))["continue"] is True
        assert code_of(await found.report()) == "PERMISSION_DENIED", "the other one is no longer"
        events = [one for one in await found.events() if one.startswith("agent ")]
        assert events[-4:-1] == ["agent step", "agent aborted", "agent started"]


async def test_who_works_must_end_it_before_starting_anew(store: SqlStore) -> None:
    found = Supervised(store, ASKING)
    await found.start()
    found.clock.move(10_000)
    asked = await found.approval("execute_agent", {**BOT, "task": "again"})
    assert await approve(store, asked, "ana", found.clock)
    envelope = await found.call("execute_agent", {**BOT, "task": "again"}, token=asked)
    assert code_of(envelope) == "CONFLICT_ALREADY_EXISTS"
    assert "complete or abort it first" in envelope["error"]["message"]


async def test_starting_anew_is_no_way_out_of_a_block(store: SqlStore) -> None:
    found = Supervised(store)
    await found.start()
    await found.blocked()
    found.clock.move(100_000)
    assert await found.code("execute_agent", BOT, session=Session()) == "PERMISSION_DENIED"


async def test_a_new_execution_begins_with_nothing_of_the_last_one(agent: Supervised) -> None:
    await agent.step(RISKY)
    await agent.refuse()
    await agent.step()
    assert await agent.code("complete_execution", BOT) == ""
    await agent.start()
    kept = await agent.agent()
    assert kept.execution
    assert (kept.execution.steps, kept.execution.taken, kept.refused, kept.notes) == (0, 0, (), ())
    directive = await agent.step(RISKY)
    assert directive["reason"] == "A person must confirm this action", "it may be asked for again"


# What an execution leaves behind


ENDS = {
    "completed": lambda found: found.code("complete_execution", BOT),
    "aborted": lambda found: found.code("abort_execution", BOT),
    "ended by a person": lambda found: end_execution(found.store, "bot", "ana", "enough", found.clock),
    "its session is over": lambda found: ended(found, found.session),
}


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
async def test_a_question_about_a_step_that_will_not_be_taken_is_withdrawn(agent: Supervised, end: Any) -> None:
    await agent.step(RISKY)
    pending = await agent.pending()
    token = await agent.token_for(pending)
    await end(agent)
    assert await waiting(agent.store, agent.clock()) == []
    record = await agent.store.find(GRANT, pending.id)
    assert record
    assert Grant.read(record).revoked_at == agent.clock()
    assert not await approve(agent.store, pending.approval_id, "ana", agent.clock)
    assert await show_token(agent.store, pending.approval_id, "ana", agent.clock) is None
    assert code_of(await agent.confirm(pending, token)) == "TOKEN_INVALID"
    revoked = next(entry for entry in await agent.audit() if entry.event == "revoked")
    assert revoked.details["reason"] == "the execution is over"


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
async def test_a_challenge_for_a_step_that_will_not_be_taken_is_given_up(agent: Supervised, end: Any) -> None:
    await agent.step(GRAVE)
    challenge = await agent.challenge()
    code = await agent.code_for(challenge)
    await end(agent)
    assert await challenges(agent.store, agent.clock()) == []
    record = await agent.store.find(CHALLENGE, challenge.id)
    assert record
    kept = Challenge.read(record)
    assert (kept.closed_at, kept.codes) == (agent.clock(), ())
    assert await show_code(agent.store, challenge.id, "console", "ana", agent.clock) is None
    assert code_of(await agent.verify(challenge.id, code)) == "TOKEN_INVALID"


@pytest.mark.parametrize("way", ["approved", "expired", "verified", "forgotten"])
async def test_what_was_decided_before_the_end_stays_decided(agent: Supervised, way: str) -> None:
    await agent.step(GRAVE if way in ("verified", "expired") else RISKY)
    if way == "approved":
        await agent.allow()
    elif way == "verified":
        await agent.release()
    elif way == "expired":
        agent.clock.move(301)
    else:
        await agent.store.remove(GRANT, (await agent.pending()).id)
    before = [(record.key, record.version) for kind in (GRANT, CHALLENGE) for record in await agent.store.list(kind)]
    assert await agent.code("complete_execution", BOT) == ""
    after = [(record.key, record.version) for kind in (GRANT, CHALLENGE) for record in await agent.store.list(kind)]
    assert after == before


async def test_a_person_ends_what_is_executed_and_nothing_else(agent: Supervised) -> None:
    assert await end_execution(agent.store, "BOT", "ana", "enough", agent.clock)
    last = (await agent.audit())[-1]
    assert (last.event, last.details["by"], last.details["reason"]) == ("agent aborted", "ana", "enough")
    assert not await end_execution(agent.store, "bot", "ana", "again", agent.clock)
    assert not await end_execution(agent.store, "nobody", "ana", "", agent.clock)


# What persons see


async def test_all_agents_are_found_by_their_names(agent: Supervised) -> None:
    for name in ("Zoe", "ann"):
        await agent.start(name, session=Session())
    assert [one.name for one in await agents(agent.store)] == ["ann", "bot", "Zoe"]
    found = await find_agent(agent.store, "zОe")  # noqa: RUF001
    assert found
    assert found.name == "Zoe"
    assert await find_agent(agent.store, "zed") is None


async def test_nothing_can_be_lifted_or_shown_where_nothing_is_held_up(agent: Supervised) -> None:
    assert not await override(agent.store, "bot", "ana", "x", agent.clock)
    assert await show_code(agent.store, "none", "console", "ana", agent.clock) is None
    assert await show_token(agent.store, "appr_none", "ana", agent.clock) is None


async def test_a_token_is_shown_for_what_waits_alone(agent: Supervised) -> None:
    await agent.step(RISKY)
    pending = await agent.pending()
    assert await show_token(agent.store, pending.approval_id, "ana", agent.clock)
    agent.clock.move(900)
    assert await show_token(agent.store, pending.approval_id, "ana", agent.clock) is None


async def test_codes_and_tokens_that_are_shown_at_once_are_all_right(agent: Supervised) -> None:
    challenge = await agent.blocked()
    ways = [show_code(agent.store, challenge.id, f"channel {n}", "ana", agent.clock) for n in range(5)]
    codes = await asyncio.gather(*ways)
    assert len(set(codes)) == 5
    assert len((await agent.challenge()).codes) == 5
    assert (await agent.verify(challenge.id, str(codes[2])))["success"]
    shown = [entry.details for entry in await agent.audit() if entry.event == "code shown"]
    assert sorted(str(one["channel"]) for one in shown) == [f"channel {n}" for n in range(5)]


async def test_an_override_without_a_challenge_lifts_the_block_too(agent: Supervised) -> None:
    challenge = await agent.blocked()
    await agent.store.remove(CHALLENGE, challenge.id)
    assert await override(agent.store, "bot", "ana", "lost", agent.clock)
    assert (await agent.step())["continue"] is True


async def test_a_block_whose_challenge_was_lost_gets_a_new_one(agent: Supervised) -> None:
    challenge = await agent.blocked()
    await agent.store.remove(CHALLENGE, challenge.id)
    assert code_of(await agent.report()) == "PERMISSION_DENIED"
    await agent.release()
    assert (await agent.step(HARMLESS))["continue"] is True
