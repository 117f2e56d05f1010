"""Sessions and Concurrency: what belongs to a session, and what a client may claim."""

from collections.abc import AsyncIterator
from typing import Final

from headgate.conformance.agreeing import TOKEN, call_agreed, token_in
from headgate.conformance.probe import CannotBeSeen, NotAllowed, Probe
from headgate.conformance.registry import broken, check, holds, unseen
from headgate.conformance.survey import SeenOperation
from headgate.conformance.trips import Made, make, trips_of
from headgate.conformance.values import Area, Demand, Exchange, Finding

__all__: list[str] = []

_CLAIMS: Final = {"session_id": "somebody-else", "user": "admin", "roles": ["admin"], "agent": "trusted"}


@check(
    "sessions.meta-is-label",
    "What a request claims in '_meta' changes nothing in its answer.",
    section="specification 2.3.5",
    demand=Demand.MUST,
    area=Area.SESSIONS,
    level=2,
    how="Asks for the types twice, once with claims of another session and of rights in '_meta'.",
    proves=("spec-2.3.5-client-meta-only-labels", "spec-2.3.5-client-meta-never-identity"),
)
async def meta_is_label(probe: Probe) -> AsyncIterator[Finding]:
    """Nobody is believed who they say they are."""
    tool = probe.survey.introspection_tool
    request = {"operation": "introspect", "params": {"query": "types"}}
    plain = await probe.ask(tool, request)
    claimed = await probe.ask(tool, {**request, "_meta": _CLAIMS})
    if not plain.succeeded or not claimed.succeeded:
        return  # whether '_meta' is taken at all is another check's matter
    if plain.data == claimed.data:
        yield holds("introspect", claimed)
    else:
        yield broken("introspect", "the answer differs when '_meta' claims another session", plain, claimed)


@check(
    "sessions.own-id",
    "Each session has an id of its own, which the server has made.",
    section="specification 2.3.5",
    demand=Demand.SHOULD,
    area=Area.SESSIONS,
    level=2,
    how="Compares '_protocol.session_id' of two connections, where it is told.",
    proves=("spec-2.3.5-own-session-id-generated",),
)
async def own_id(probe: Probe) -> AsyncIterator[Finding]:
    """Two sessions are two."""
    if not _session_of(probe.survey.operations_answer):
        return
    here = await probe.introspect("operations")
    async with probe.elsewhere() as other:
        there = await other.introspect("operations")
    if not _session_of(here) or not _session_of(there):
        yield unseen("server", "the id of a session was not told again")
    elif _session_of(here) == _session_of(there):
        yield broken("server", f"two connections have the same session id '{_session_of(here)}'", here, there)
    else:
        yield holds("server", here, there)


def _session_of(exchange: Exchange) -> str:
    data = exchange.data
    protocol = data.get("_protocol") if isinstance(data, dict) else None
    told = protocol.get("session_id") if isinstance(protocol, dict) else None
    return told if isinstance(told, str) else ""


@check(
    "sessions.token-ends",
    "A token that confirms something is no longer good when its session is over.",
    section="specification 2.3.3",
    demand=Demand.SHOULD,
    area=Area.SESSIONS,
    level=2,
    how="Asks for a token over a connection of its own, closes that, and tries the token on the first connection; "
    "needs --allow create,delete, and a server that asks before it deletes. A server may keep tokens on purpose.",
    proves=("spec-2.3.3-confirmation-tokens-end-with-session", "spec-2.3.3-state-invalidated-on-any-end"),
)
async def token_ends(probe: Probe) -> AsyncIterator[Finding]:
    """What was asked in one session is not answered in another."""
    able = [(trip, trip.delete) for trip in trips_of(probe) if trip.create is not None and trip.delete is not None]
    for trip, delete in able[:1]:
        assert trip.create is not None  # noqa: S101  (or it would not be among them)
        if not probe.may_call(trip.create) or not probe.may_call(delete):
            raise NotAllowed("it needs something that was made for it: --allow create,delete")
        made = await make(probe, trip, f"{probe.seed}s")
        async for finding in _outlived(probe, made, delete):
            yield finding


async def _outlived(probe: Probe, made: Made, delete: SeenOperation) -> AsyncIterator[Finding]:
    keys = made.trip.naming(delete, made.keys)
    gone = False
    try:
        async with probe.elsewhere() as other:
            asked = await other.call(delete, keys)
        gone = asked.succeeded
        token = token_in(asked)
        if not token:
            raise CannotBeSeen(f"'{delete.name}' gives no token that could be tried")
        tried = await probe.call(delete, {**keys, TOKEN: token})
        gone = tried.succeeded
        if gone:
            words = f"'{delete.name}' ran with a token that was given in a session that is over; expected TOKEN_INVALID"
            yield broken(delete.name, words, asked, tried)
        elif tried.failed:
            yield holds(delete.name, tried)
    finally:
        if not gone:
            await call_agreed(probe, delete, keys)
