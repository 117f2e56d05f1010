"""Guesses are counted by agent, in the store: after ten in a minute nothing is verified, each time twice as long."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from headgate import Caller, Session
from headgate.safety.loop.challenges import Challenge
from headgate.safety.loop.deciding import LOCKOUT
from headgate.safety.loop.persons import challenges, override
from headgate.store.opening import open_store
from headgate.store.sql import SqlStore
from tests.safety.guarding import Clock, code_of
from tests.safety.supervising import DEADLY, FREE, RISKY, Supervised, supervised

pytestmark = pytest.mark.anyio

ROBOT = Caller(subject="robot")
STRANGER = Caller(subject="stranger")


@asynccontextmanager
async def server(path: Path, clock: Clock, rules: str = FREE) -> AsyncIterator[Supervised]:
    """A server that starts, does something, and ends."""
    store = open_store(str(path))
    try:
        yield Supervised(store, rules, clock=clock)
    finally:
        await store.close()


async def fail(found: Supervised, challenge: Challenge, times: int) -> list[str]:
    return [code_of(await found.verify(challenge.id, "WRONG", session=Session())) for _ in range(times)]


async def open_challenge(found: Supervised) -> Challenge:
    """The challenge that would release the agent; it reports, so that there is one."""
    assert code_of(await found.report(caller=ROBOT)) == "PERMISSION_DENIED"
    return await found.challenge()


def wait_of(envelope: Any) -> object:
    assert code_of(envelope) == "RATE_LIMIT_EXCEEDED", envelope
    return envelope["error"]["details"]["retry_after_seconds"]


async def test_a_lockout_doubles_however_often_the_server_is_started_anew(tmp_path: Path) -> None:
    """Each server makes one failure, so that every count has to come out of the store."""
    clock, path = Clock(), tmp_path / "state.db"
    async with server(path, clock) as found:
        await found.start(caller=ROBOT)
        await found.blocked(caller=ROBOT)
    for seconds in (60, 120, 240, 480):
        for _ in range(10):
            async with server(path, clock) as found:
                challenge = await open_challenge(found)
                assert await fail(found, challenge, 1) == ["TOKEN_INVALID"]
            clock.move(1)
        clock.move(-1)
        async with server(path, clock) as found:
            code = await found.code_for(await open_challenge(found))
            challenge = await found.challenge()
            assert wait_of(await found.verify(challenge.id, code)) == seconds
            clock.move(seconds - 0.5)
            assert wait_of(await found.verify(challenge.id, code)) == 0.5
            clock.move(0.5)
    async with server(path, clock) as found:
        challenge = await open_challenge(found)
        assert (await found.verify(challenge.id, await found.code_for(challenge)))["success"]


async def test_ten_failures_in_a_minute_are_allowed_and_no_more(store: SqlStore) -> None:
    found = Supervised(store)
    await found.start(caller=ROBOT)
    challenge = await found.blocked(caller=ROBOT)
    assert await fail(found, challenge, 9) == ["TOKEN_INVALID"] * 9
    code = await found.code_for(challenge)
    found.clock.move(59)
    assert await fail(found, challenge, 1) == ["TOKEN_INVALID"], "the tenth"
    assert await fail(found, challenge, 1) == ["RATE_LIMIT_EXCEEDED"]
    assert wait_of(await found.verify(challenge.id, code)) == 60


async def test_failures_that_are_spread_out_lock_nobody_out(store: SqlStore) -> None:
    found = Supervised(store)
    await found.start(caller=ROBOT)
    await found.blocked(caller=ROBOT)
    for _ in range(30):
        challenge = await open_challenge(found)
        assert await fail(found, challenge, 1) == ["TOKEN_INVALID"]
        found.clock.move(8)
    challenge = await open_challenge(found)
    assert (await found.verify(challenge.id, await found.code_for(challenge)))["success"]


@pytest.mark.parametrize("most", [1, 3])
async def test_an_operator_may_allow_fewer_failures(store: SqlStore, most: int) -> None:
    found = Supervised(store, f"{FREE}failures_per_minute = {most}\n")
    await found.start(caller=ROBOT)
    challenge = await found.blocked(caller=ROBOT)
    assert await fail(found, challenge, most + 1) == ["TOKEN_INVALID"] * most + ["RATE_LIMIT_EXCEEDED"]


async def test_what_is_refused_meanwhile_does_not_make_it_longer(store: SqlStore) -> None:
    found = Supervised(store)
    await found.start(caller=ROBOT)
    challenge = await found.blocked(caller=ROBOT)
    await fail(found, challenge, 10)
    for _ in range(15):
        found.clock.move(1)
        assert await fail(found, challenge, 1) == ["RATE_LIMIT_EXCEEDED"]
    found.clock.move(45)
    assert (await found.verify(challenge.id, await found.code_for(challenge)))["success"]


async def test_after_a_day_without_one_a_lockout_is_as_short_as_the_first(store: SqlStore) -> None:
    found = Supervised(store)
    await found.start(caller=ROBOT)
    await found.blocked(caller=ROBOT)
    for seconds in (60, 120):
        await fail(found, await open_challenge(found), 10)
        found.clock.move(seconds)
    found.clock.move(86400)
    await fail(found, await open_challenge(found), 10)
    challenge = await open_challenge(found)
    assert wait_of(await found.verify(challenge.id, "WRONG")) == 60
    kept = await store.find(LOCKOUT, "bot")
    assert kept
    assert kept.value["times"] == 1


async def test_a_lockout_never_gets_longer_than_a_thousand_minutes(store: SqlStore) -> None:
    found = Supervised(store)
    await found.start(caller=ROBOT)
    await found.blocked(caller=ROBOT)
    waits = []
    for _ in range(13):
        challenge = await open_challenge(found)
        await fail(found, challenge, 10)
        waits.append(wait_of(await found.verify(challenge.id, "WRONG")))
        found.clock.move(float(str(waits[-1])))
    assert waits == [60 * 2 ** min(number, 10) for number in range(13)]


async def test_an_agent_that_is_locked_out_keeps_no_other_from_being_verified(store: SqlStore) -> None:
    found = Supervised(store)
    await found.start(caller=ROBOT)
    await found.start("other", caller=STRANGER)
    first = await found.blocked(caller=ROBOT)
    await found.step(DEADLY, name="other", caller=STRANGER)
    [second] = [one for one in await challenges(store, found.clock()) if one.id != first.id]
    await fail(found, first, 10)
    assert (await found.verify(second.id, await found.code_for(second)))["success"]
    assert wait_of(await found.verify(first.id, await found.code_for(first))) == 60


async def test_an_administrator_can_lift_the_block_meanwhile(store: SqlStore) -> None:
    found = Supervised(store)
    await found.start(caller=ROBOT)
    await fail(found, await found.blocked(caller=ROBOT), 10)
    assert await override(store, "bot", "ana", "locked out", found.clock)
    assert (await found.step(caller=ROBOT))["continue"] is True


async def test_wrong_tokens_for_an_agents_pause_are_counted_with_its_wrong_codes(store: SqlStore) -> None:
    found = Supervised(store)
    await found.start(caller=ROBOT)
    await found.step(RISKY, caller=ROBOT)
    pending = await found.pending()
    token = await found.token_for(pending)
    for _ in range(10):
        assert code_of(await found.confirm(pending, "conf_" + "x" * 59)) == "TOKEN_INVALID"
    assert wait_of(await found.confirm(pending, token)) == 60
    found.clock.move(60)
    assert (await found.confirm(pending, token))["success"]


async def test_guesses_at_nothing_are_counted_by_who_guesses(store: SqlStore) -> None:
    found = Supervised(store)
    await found.start(caller=ROBOT)
    challenge = await found.blocked(caller=ROBOT)
    for number in range(10):
        assert code_of(await found.verify(f"none {number}", "WRONG", caller=STRANGER)) == "TOKEN_INVALID"
    assert wait_of(await found.verify("none", "WRONG", caller=STRANGER)) == 60
    code = await found.code_for(challenge)
    assert (await found.verify(challenge.id, code))["success"], "others are not concerned"


async def test_every_failure_and_every_refusal_is_on_record(store: SqlStore) -> None:
    found = Supervised(store)
    await found.start(caller=ROBOT)
    challenge = await found.blocked(caller=ROBOT)
    await fail(found, challenge, 12)
    told = [entry for entry in await found.audit() if entry.event == "verification failed"]
    assert [entry.code for entry in told] == ["TOKEN_INVALID"] * 10 + ["RATE_LIMIT_EXCEEDED"] * 2
    assert {entry.details["agent"] for entry in told} == {"bot"}
    assert {entry.operation for entry in told} == {"verify_challenge"}


async def test_a_limit_says_how_many_there_may_be_and_how_long_to_wait(store: SqlStore) -> None:
    async with supervised() as found:
        await found.start(caller=ROBOT)
        challenge = await found.blocked(caller=ROBOT)
        await fail(found, challenge, 10)
        details = (await found.verify(challenge.id, "WRONG"))["error"]["details"]
        assert details == {"limit": 10, "remaining": 0, "window": "minute", "retry_after_seconds": 60}
