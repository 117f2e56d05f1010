"""Several servers on one store: what a caller may confirm is theirs on all of them, and nobody else's."""

import pytest

from headgate import Adapter, Caller, Session, Trust
from headgate.store.sql import SqlStore
from tests.safety.guarding import Clock, Guarded

pytestmark = pytest.mark.anyio

ADA, BOB = Caller(subject="ada", client_id="web"), Caller(subject="bob", client_id="web")
THING = {"thing_id": "a"}


def things() -> Adapter:
    adapter = Adapter("things")

    @adapter.delete
    async def delete_thing(thing_id: str) -> str:
        """Remove a thing."""
        return thing_id

    return adapter


def servers(store: SqlStore, rules: str = "") -> tuple[Guarded, Guarded]:
    """Two of them, each with sessions of its own; one clock."""
    clock = Clock()
    return Guarded(things(), store, rules, clock=clock), Guarded(things(), store, rules, clock=clock)


def own() -> Session:
    """What a server makes of an authenticated caller whose connection has no session."""
    return Session(is_callers_own=True)


async def test_a_token_of_one_server_is_used_on_another_once(store: SqlStore) -> None:
    first, second = servers(store)
    token = await first.token("delete_thing", THING, caller=ADA, session=own())
    assert await second.code("delete_thing", THING, token=token, caller=BOB, session=own()) == "TOKEN_INVALID"
    assert (await second.call("delete_thing", THING, token=token, caller=ADA, session=own()))["success"]
    assert await first.code("delete_thing", THING, token=token, caller=ADA, session=own()) == "TOKEN_ALREADY_USED"


async def test_one_server_that_stops_takes_nothing_from_the_callers_of_another(store: SqlStore) -> None:
    first, second = servers(store)
    session = own()
    token = await first.token("delete_thing", THING, caller=ADA, session=session)
    session.end()
    first.gatekeeper.session_ended(session.id)
    await first.gatekeeper.tidy()
    assert (await second.call("delete_thing", THING, token=token, caller=ADA, session=own()))["success"]


async def test_refused_tokens_are_counted_by_all_servers_together(store: SqlStore) -> None:
    pair = servers(store, "[confirmation]\nrefusals_per_minute = 4")
    bad = "conf_" + "x" * 59
    codes = [
        await pair[turn % 2].code("delete_thing", THING, token=bad, caller=ADA, session=own()) for turn in range(6)
    ]
    assert codes == ["TOKEN_INVALID"] * 4 + ["RATE_LIMIT_EXCEEDED"] * 2


async def test_repetition_escalates_on_all_servers_together(store: SqlStore) -> None:
    rules = '[escalation]\nafter = 2\nwithin = "minute"\nlevels = ["destructive"]'
    clock = Clock()
    pair = [Guarded(things(), store, rules, trust=Trust.COMMUNITY_REVIEWED, clock=clock) for _ in range(2)]
    codes = [await pair[turn % 2].code("delete_thing", THING, caller=ADA, session=own()) for turn in range(4)]
    assert codes == ["", "", "CONFIRMATION_REQUIRED", "CONFIRMATION_REQUIRED"]


async def test_nobody_without_a_name_can_keep_others_from_confirming(store: SqlStore) -> None:
    first, _ = servers(store, "[confirmation]\nrefusals_per_minute = 2")
    token = await first.token("delete_thing", THING, session=Session(lasting=False))
    for letter in "abcdefgh":
        bad = "conf_" + letter * 59
        assert await first.code("delete_thing", THING, token=bad, session=Session(lasting=False)) == "TOKEN_INVALID"
    assert (await first.call("delete_thing", THING, token=token, session=Session(lasting=False)))["success"]


async def test_whoever_has_no_name_cannot_try_one_token_for_long(store: SqlStore) -> None:
    first, _ = servers(store, "[confirmation]\nrefusals_per_minute = 2")
    token = await first.token("delete_thing", THING, session=Session(lasting=False))
    guesses = [token[:-1] + letter for letter in "abcd" if letter != token[-1]][:3]
    codes = [await first.code("delete_thing", THING, token=one, session=Session(lasting=False)) for one in guesses]
    assert codes == ["TOKEN_INVALID", "TOKEN_INVALID", "RATE_LIMIT_EXCEEDED"]
    assert await first.code("delete_thing", THING, token=token, session=Session(lasting=False)) == "RATE_LIMIT_EXCEEDED"
