"""A token counts once, and for a time: too late, too early, again, and too often."""

import pytest

from headgate import Adapter, Session
from headgate.safety.policy.rules import Confirmation, Policy
from headgate.store.sql import SqlStore
from tests.safety.deletions import ANN, CALL, Shop
from tests.safety.guarding import Guarded

pytestmark = pytest.mark.anyio


@pytest.fixture
def guard(store: SqlStore) -> Shop:
    return Shop(store, "[confirmation]\nrefusals_per_minute = 1000")


# Too late, too early, again.


@pytest.mark.parametrize(
    ("seconds", "code"), [(300, ""), (330, ""), (330.001, "TOKEN_EXPIRED"), (2000, "TOKEN_EXPIRED")]
)
async def test_a_token_counts_until_the_skew_after_its_end(guard: Shop, seconds: float, code: str) -> None:
    token = await guard.token("delete_thing", CALL)
    guard.clock.move(seconds)
    if not code:
        assert (await guard.call("delete_thing", CALL, token=token))["success"]
        return
    error = await guard.refused(code, CALL, token)
    assert error["details"]["expired_at"] == "2026-02-04T10:18:20.000Z"
    assert error["details"]["current_time"] > error["details"]["expired_at"]


@pytest.mark.parametrize("skew", [0, 300])
@pytest.mark.parametrize(
    ("level", "trust", "seconds"), [("destructive", "validated", 300), ("forbidden", "certified", 120)]
)
async def test_the_life_of_a_token_follows_its_danger_and_the_skew(
    store: SqlStore, level: str, trust: str, seconds: float, skew: int
) -> None:
    rules = f'[confirmation]\nclock_skew_seconds = {skew}\n[danger."delete_*"]\nlevel = "{level}"'
    guard = Shop(store, rules, trust=trust)
    late, punctual = [await guard.token("delete_thing", CALL) for _ in range(2)]
    guard.clock.move(seconds + skew)
    assert (await guard.call("delete_thing", CALL, token=punctual))["success"]
    guard.clock.move(0.001)
    await guard.refused("TOKEN_EXPIRED", CALL, late)


async def test_the_life_of_a_token_can_be_set(store: SqlStore) -> None:
    guard = Shop(store, "[confirmation]\nclock_skew_seconds = 0\nseconds = {destructive = 10}")
    token = await guard.token("delete_thing", CALL)
    guard.clock.move(10.001)
    await guard.refused("TOKEN_EXPIRED", CALL, token)


async def test_a_used_token_is_told_so_until_it_expires(guard: Shop) -> None:
    token = await guard.token("delete_thing", CALL)
    guard.clock.move(5)
    assert (await guard.call("delete_thing", CALL, token=token))["success"]
    error = await guard.refused("TOKEN_ALREADY_USED", CALL, token)
    assert error["details"]["consumed_at"] == "2026-02-04T10:13:25.000Z"
    guard.clock.move(1000)
    await guard.refused("TOKEN_EXPIRED", CALL, token)
    assert len(guard.ran) == 1


async def test_a_used_token_is_used_for_every_other_call_too(guard: Shop) -> None:
    token = await guard.token("delete_thing", CALL)
    await guard.call("delete_thing", CALL, token=token)
    await guard.refused("TOKEN_ALREADY_USED", {"one": 2}, token)
    await guard.refused("TOKEN_ALREADY_USED", CALL, token, "delete_other")


async def test_a_token_is_used_up_even_if_the_call_then_fails(store: SqlStore) -> None:
    adapter = Adapter("shop")

    @adapter.delete
    async def delete_thing() -> None:
        """Break."""
        raise RuntimeError("it broke")

    guard = Guarded(adapter, store)
    token = await guard.token("delete_thing")
    assert await guard.code("delete_thing", token=token) == "INTERNAL_ERROR"
    assert await guard.code("delete_thing", token=token) == "TOKEN_ALREADY_USED"


async def test_before_the_cooldown_is_over_a_right_token_has_to_wait_and_is_not_used_up(store: SqlStore) -> None:
    guard = Shop(store, '[danger."delete_thing"]\nlevel = "destructive"\ncooldown_seconds = 10')
    token = await guard.token("delete_thing", CALL)
    for wait in (10, 4.5):
        error = await guard.refused("RATE_LIMIT_EXCEEDED", CALL, token)
        assert error["details"]["retry_after_seconds"] == wait
        guard.clock.move(5.5 if wait == 10 else 4.499)
    error = await guard.refused("RATE_LIMIT_EXCEEDED", CALL, token)
    guard.clock.move(error["details"]["retry_after_seconds"])
    assert (await guard.call("delete_thing", CALL, token=token))["success"]


# Floods.


async def test_too_many_refusals_stop_even_a_right_token_until_the_first_is_a_minute_old(store: SqlStore) -> None:
    guard = Shop(store, "[confirmation]\nrefusals_per_minute = 3")
    right = await guard.token("delete_thing", CALL)
    for _ in range(3):
        await guard.refused("TOKEN_INVALID", CALL, "conf_" + "x" * 59)
        guard.clock.move(1)
    error = await guard.refused("RATE_LIMIT_EXCEEDED", CALL, right)
    assert error["details"] == {"limit": 3, "remaining": 0, "window": "minute", "retry_after_seconds": 57.0}
    guard.clock.move(56.999)
    error = await guard.refused("RATE_LIMIT_EXCEEDED", CALL, right)
    guard.clock.move(error["details"]["retry_after_seconds"])
    assert (await guard.call("delete_thing", CALL, token=right))["success"]


async def test_a_flood_does_not_stop_other_callers_nor_other_sessions(store: SqlStore) -> None:
    guard = Shop(store, "[confirmation]\nrefusals_per_minute = 1")
    elsewhere = Session()
    anns = await guard.token("delete_thing", CALL, caller=ANN)
    theirs = await guard.token("delete_thing", CALL, session=elsewhere)
    await guard.refused("TOKEN_INVALID", CALL, "conf_" + "x" * 59)
    await guard.refused("RATE_LIMIT_EXCEEDED", CALL, "conf_" + "x" * 59)
    assert (await guard.call("delete_thing", CALL, token=anns, caller=ANN))["success"]
    assert (await guard.call("delete_thing", CALL, token=theirs, session=elsewhere))["success"]


async def test_every_kind_of_refused_token_counts_and_asking_does_not(store: SqlStore) -> None:
    guard = Shop(store, "[confirmation]\nrefusals_per_minute = 4")
    old, used, other = [await guard.token("delete_thing", CALL) for _ in range(3)]
    await guard.call("delete_thing", CALL, token=used)
    for _ in range(20):
        await guard.token("delete_thing", CALL)
    await guard.refused("TOKEN_ALREADY_USED", CALL, used)
    await guard.refused("TOKEN_SCOPE_MISMATCH", {"one": 2}, other)
    await guard.refused("TOKEN_INVALID", CALL, "")
    guard.clock.move(0.5)
    await guard.refused("TOKEN_INVALID", CALL, old[:-1])
    await guard.refused("RATE_LIMIT_EXCEEDED", CALL, old)
    assert len(guard.ran) == 1


async def test_a_clock_that_steps_back_brings_no_token_back(guard: Shop) -> None:
    token = await guard.token("delete_thing", CALL)
    await guard.call("delete_thing", CALL, token=token)
    guard.clock.move(-3600)
    await guard.refused("TOKEN_ALREADY_USED", CALL, token)


async def test_tokens_are_thrown_away_within_an_hour_of_their_end_and_then_unknown(guard: Shop) -> None:
    token = await guard.token("delete_thing", CALL)
    guard.clock.move(300 + 3600)
    await guard.gatekeeper.tidy()
    assert await guard.store.list("grant") == []
    await guard.refused("TOKEN_INVALID", CALL, token)


async def test_no_two_tokens_are_alike_and_each_has_the_right_form(guard: Shop) -> None:
    tokens = {await guard.token("delete_thing", CALL) for _ in range(50)}
    assert len(tokens) == 50
    assert all(8 <= len(token) <= 80 and token.startswith("conf_") for token in tokens)


async def test_only_tokens_that_can_still_be_used_take_up_room(store: SqlStore) -> None:
    guard = Shop(store, Policy(confirmation=Confirmation(max_live=3)))
    used, withdrawn, _ = [await guard.token("delete_thing", CALL) for _ in range(3)]
    error = (await guard.call("delete_thing", CALL))["error"]
    assert error["code"] == "RATE_LIMIT_EXCEEDED"
    assert error["details"]["limit"] == 3
    assert (await guard.call("delete_thing", CALL, token=used))["success"]
    await guard.gatekeeper.withdraw(withdrawn, "the user declined")
    guard.clock.move(10)
    for _ in range(2):
        await guard.token("delete_thing", CALL)
    assert await guard.code("delete_thing", CALL) == "RATE_LIMIT_EXCEEDED"
    guard.clock.move(290)
    await guard.token("delete_thing", CALL)
