"""Persons, agents and servers that decide or report at the same moment, on each kind of store: one of them counts."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from headgate import Caller, Session
from headgate.safety.approvals import approve, approve_changed, turn_down
from headgate.safety.grants import GRANT, Grant
from headgate.safety.loop.persons import challenges, end_execution, override, show_code
from headgate.store.opening import open_store
from headgate.store.sql import SqlStore
from tests.safety.deletions import CALL, Shop
from tests.safety.guarding import Clock, code_of
from tests.safety.supervising import DEADLY, FREE, GRAVE, Supervised
from tests.store.entries import broken

pytestmark = pytest.mark.anyio

PERSON = '[confirmation]\nby = "person"\nrefusals_per_minute = 1000\n'
OTHER: dict[str, Any] = {"one": 2}
ROBOT = Caller(subject="robot", client_id="host")

Deciding = Callable[[SqlStore, str, Clock], Awaitable[object]]
DECISIONS: dict[str, Deciding] = {
    "approved": lambda store, asked, clock: approve(store, asked, "ana", clock),
    "changed": lambda store, asked, clock: approve_changed(store, asked, OTHER, "bo", clock),
    "turned down": lambda store, asked, clock: turn_down(store, asked, "cy", clock),
}


async def decided(store: SqlStore, asked: str) -> str:
    """What became of what waited."""
    record = await store.find(GRANT, asked.removeprefix("appr_"))
    assert record
    grant = Grant.read(record)
    ways = {
        "approved": grant.is_approved,
        "changed": bool(grant.replaced_by),
        "turned down": bool(grant.turned_down_by),
    }
    [way] = [name for name, is_so in ways.items() if is_so]
    return way


async def test_of_many_decisions_at_once_one_counts_and_the_others_say_so(store: SqlStore) -> None:
    guard = Shop(store, PERSON)
    for turn in range(6):
        asked = await guard.approval("delete_thing", {**CALL, "one": turn})
        names = [*DECISIONS] * 3
        answers = await asyncio.gather(*(DECISIONS[name](store, asked, guard.clock) for name in names))
        winners = [name for name, answer in zip(names, answers, strict=True) if answer]
        assert len(winners) == 1
        assert await decided(store, asked) == winners[0]
        told = [one for one in await guard.audit() if one.details.get("grant") == asked.removeprefix("appr_")]
        assert len([one for one in told if "by" in one.details]) == 1
    assert await broken(store) is None


@pytest.mark.parametrize("late", DECISIONS)
async def test_who_decides_as_the_time_runs_out_decides_or_does_not_and_nothing_runs_after_it(
    store: SqlStore, late: str
) -> None:
    """The clock moves on by half a second each time that somebody looks."""
    guard = Shop(store, PERSON)
    asked = await guard.approval("delete_thing", CALL)
    guard.clock.move(900 - 1)

    class Running(Clock):
        def __call__(self) -> float:
            self.now += 0.5
            return self.now

    clock = Running(guard.clock.now)
    answers = [await DECISIONS[late](store, asked, clock) for _ in range(3)]
    assert sum(bool(answer) for answer in answers) <= 1
    guard.clock.now = clock.now + 120
    assert not (await guard.call("delete_thing", CALL, token=asked))["success"]
    assert guard.ran == []


async def test_the_changed_call_runs_once_however_many_send_it(store: SqlStore) -> None:
    guard = Shop(store, PERSON)
    asked = await guard.approval("delete_thing", CALL)
    grant = await approve_changed(store, asked, OTHER, "ana", guard.clock)
    assert grant
    sent = [(OTHER, grant.approval_id), (CALL, asked), (CALL, grant.approval_id)] * 4
    answers = await asyncio.gather(*(guard.call("delete_thing", params, token=token) for params, token in sent))
    assert [code_of(answer) for answer in answers].count("") == 1
    assert guard.ran == [(2, None, None, None)]


# Verification


def servers(store: SqlStore, count: int = 2, rules: str = FREE) -> list[Supervised]:
    """Several servers on one store, with one clock; a caller is the same on all of them."""
    clock = Clock()
    return [Supervised(store, rules, clock=clock) for _ in range(count)]


@pytest.mark.parametrize("hint", [GRAVE, DEADLY], ids=["paused", "blocked"])
async def test_of_many_verifications_at_once_on_several_servers_one_counts(store: SqlStore, hint: str) -> None:
    one, two = servers(store)
    await one.start(caller=ROBOT)
    await one.step(hint, caller=ROBOT)
    challenge = await one.challenge()
    code = await one.code_for(challenge)
    tries = [server.verify(challenge.id, code, session=Session()) for server in (one, two) * 4]
    codes = sorted(code_of(answer) for answer in await asyncio.gather(*tries))
    assert codes == ["", *["TOKEN_INVALID"] * 7]
    events = Counter(await one.events())
    assert (events["verified"], events["verification failed"]) == (1, 7)
    assert (await two.step(hint, caller=ROBOT))["continue"] is True
    assert (await one.step(hint, caller=ROBOT))["continue"] is False, "it was verified once"


async def test_a_verification_and_an_override_at_once_lift_the_block_once(store: SqlStore) -> None:
    one, two = servers(store)
    for turn in range(6):
        name = f"bot {turn}"
        await one.start(name, session=Session())
        agent = await one.agent(name)
        assert agent.execution
        session = Session(id=agent.execution.marks[0].removeprefix("session:"))
        await one.step(DEADLY, name=name, session=session)
        challenge = await one.challenge()
        code = await one.code_for(challenge)
        verified, overridden = await asyncio.gather(
            two.verify(challenge.id, code), override(store, name, "ana", "a false alarm", one.clock)
        )
        assert verified["success"] is not overridden
        agent = await one.agent(name)
        assert agent.block is None
        assert (agent.leave is not None) is verified["success"], "an override is no leave for the action"
        assert await challenges(store, one.clock()) == []


async def test_a_verification_while_the_agent_reports_is_not_lost(store: SqlStore) -> None:
    one, two = servers(store)
    await one.start(caller=ROBOT)
    for _ in range(5):
        await one.step(GRAVE, caller=ROBOT)
        challenge = await one.challenge()
        code = await one.code_for(challenge)
        answers = await asyncio.gather(
            two.verify(challenge.id, code),
            *(server.step(GRAVE, caller=ROBOT) for server in (one, two)),
        )
        assert answers[0]["success"]
        went_on = [directive["continue"] for directive in answers[1:]]
        if not any(went_on):
            assert (await one.step(GRAVE, caller=ROBOT))["continue"] is True
        else:
            assert went_on.count(True) == 1
        assert await end_execution(store, "bot", "ana", "next turn", one.clock)
        await one.start(caller=ROBOT)


async def test_codes_that_are_shown_while_others_guess_are_void_or_count_but_never_both(store: SqlStore) -> None:
    one, two = servers(store)
    await one.start(caller=ROBOT)
    challenge = await one.blocked(caller=ROBOT)
    for _ in range(4):
        shown, wrong = await asyncio.gather(
            show_code(store, challenge.id, "console", "ana", one.clock), two.verify(challenge.id, "WRONG")
        )
        assert shown
        assert code_of(wrong) == "TOKEN_INVALID"
    kept = await one.challenge()
    assert kept.failures == 4
    assert len(kept.codes) <= 1


async def test_failures_on_several_servers_at_once_are_all_counted(store: SqlStore) -> None:
    one, two = servers(store)
    await one.start(caller=ROBOT)
    challenge = await one.blocked(caller=ROBOT)
    wrong = [server.verify(challenge.id, "WRONG", session=Session()) for server in (one, two) * 5]
    assert [code_of(answer) for answer in await asyncio.gather(*wrong)] == ["TOKEN_INVALID"] * 10
    code = await one.code_for(challenge)
    assert code_of(await two.verify(challenge.id, code)) == "RATE_LIMIT_EXCEEDED"
    one.clock.move(59.9)
    assert code_of(await one.verify(challenge.id, code)) == "RATE_LIMIT_EXCEEDED"
    one.clock.move(0.1)
    assert (await one.verify(challenge.id, code))["success"]


# Steps


async def test_steps_that_two_servers_record_at_once_are_all_there(store: SqlStore) -> None:
    one, two = servers(store, rules=f"{FREE}max_autonomous_steps = 100\n")
    await one.start(caller=ROBOT)
    hints = [f"read page {number} of the manual" for number in range(16)]
    tries = [(one, two)[place % 2].step(hint, caller=ROBOT) for place, hint in enumerate(hints)]
    directives = await asyncio.gather(*tries)
    assert all(directive["continue"] for directive in directives)
    assert sorted(directive["stepsRemaining"] for directive in directives) == list(range(84, 100))
    execution = (await one.agent()).execution
    assert execution
    assert (execution.steps, execution.taken) == (16, 16)
    steps = execution.recent
    assert [step.number for step in steps] == list(range(1, 17))
    assert {step.hint for step in steps} == set(hints)
    told = [entry for entry in await one.audit() if entry.event == "agent step"]
    assert [entry.details["number"] for entry in told] == list(range(1, 17))
    assert [entry.details["hint"] for entry in told] == [step.hint for step in steps]


async def test_the_limit_of_steps_holds_however_many_come_at_once(store: SqlStore) -> None:
    one, two = servers(store, rules=f"{FREE}max_autonomous_steps = 5\n")
    await one.start(caller=ROBOT)
    tries = [(one, two)[number % 2].step(f"read page {number}", caller=ROBOT) for number in range(12)]
    directives = await asyncio.gather(*tries)
    assert [directive["continue"] for directive in directives].count(True) == 5
    assert (await one.pending()).reasons[0] == "Step limit exceeded", "and one question waits for a person"


async def test_of_several_that_would_block_an_agent_at_once_one_makes_the_challenge(store: SqlStore) -> None:
    one, two = servers(store)
    await one.start(caller=ROBOT)
    answers = await asyncio.gather(*(server.report(DEADLY, caller=ROBOT) for server in (one, two) * 3))
    assert sum(answer["success"] for answer in answers) == 1, "the others come too late to report anything"
    assert {code_of(answer) for answer in answers} == {"", "PERMISSION_DENIED"}
    challenge = await one.challenge()
    block = (await one.agent()).block
    assert block
    assert block.challenge_id == challenge.id


async def test_of_several_that_start_one_agent_at_once_one_does(store: SqlStore) -> None:
    one, two = servers(store)
    params = {"element_name": "bot"}
    tries = [server.call("execute_agent", params, session=Session()) for server in (one, two) * 3]
    codes = sorted(code_of(answer) for answer in await asyncio.gather(*tries))
    assert codes == ["", *["CONFLICT_ALREADY_EXISTS"] * 5]


async def test_agents_that_one_caller_starts_at_once_are_all_known_as_its_own(store: SqlStore) -> None:
    one, two = servers(store)
    names = [f"bot {number}" for number in range(6)]
    await asyncio.gather(*((one, two)[place % 2].start(name, caller=ROBOT) for place, name in enumerate(names)))
    await one.step(DEADLY, name=names[0], caller=ROBOT)
    for name in names[1:]:
        assert code_of(await two.call("get_order", {"order_id": 1}, caller=ROBOT)) == "PERMISSION_DENIED", name
    await one.release()
    for name in names:
        assert await end_execution(store, name, "ana", "", one.clock)
        assert code_of(await two.call("get_order", {"order_id": 1}, caller=ROBOT)) == ""


async def test_a_challenge_that_has_lapsed_is_renewed_once_however_many_ask(store: SqlStore) -> None:
    one, two = servers(store)
    await one.start(caller=ROBOT)
    first = await one.blocked(caller=ROBOT)
    one.clock.move(301)
    answers = await asyncio.gather(*(server.report(caller=ROBOT) for server in (one, two) * 3))
    second = await one.challenge()
    assert second.id != first.id
    assert {answer["error"]["details"]["verification_id"] for answer in answers} == {second.id}
    assert Counter(await one.events())["challenge renewed"] == 1


async def test_stores_of_two_processes_see_each_others_blocks_at_once(shared_url: str) -> None:
    first, second = open_store(shared_url), open_store(shared_url)
    clock = Clock()
    try:
        one, two = Supervised(first, clock=clock), Supervised(second, clock=clock)
        await one.start("ann", caller=Caller(subject="ann"))
        await two.start("bea", caller=Caller(subject="bea"))
        await one.step(DEADLY, name="ann", caller=Caller(subject="ann"))
        challenge = await two.challenge()
        [note] = (await two.step(name="bea", caller=Caller(subject="bea")))["notifications"]
        assert (note["type"], note["metadata"]["verificationId"]) == ("danger_zone", challenge.id)
        await two.release(challenge)
        assert "notifications" not in await two.step(name="bea", caller=Caller(subject="bea"))
        directive = await one.step(DEADLY, name="ann", caller=Caller(subject="ann"))
        assert directive["continue"] is True
    finally:
        await first.close()
        await second.close()
