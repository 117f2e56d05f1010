"""Confirmation: what must be agreed to first. All of it is seen on things that were made for it."""

from collections.abc import AsyncIterator, Iterator
from typing import Final

from headgate.conformance.agreeing import TOKEN, WANTED, token_in
from headgate.conformance.journeys import Farewell, Journey, journeys_of
from headgate.conformance.probe import Probe
from headgate.conformance.registry import broken, check, holds, unseen
from headgate.conformance.trips import thing_in
from headgate.conformance.values import Area, Demand, Exchange, Finding

__all__: list[str] = []

_HOW: Final = "needs --allow create,delete, and a server that asks before it deletes."
_ELSEWHERE: Final = ("approval", "challenge", "verification", "pending", "request_id", "url", "channel")
"""What details are called that lead to somebody else who must agree."""
_REFUSED: Final = ("TOKEN_", "CONFIRMATION_", "PERMISSION_", "VALIDATION_")
_GONE: Final = "NOT_FOUND_RESOURCE"


async def _farewells(probe: Probe) -> list[tuple[Journey, Farewell, str]]:
    """What was asked about confirmations, with the name of the operation."""
    return [
        (journey, journey.farewell, journey.trip.delete.name)
        for journey in await journeys_of(probe)
        if journey.farewell is not None and journey.trip.delete is not None
    ]


def _by_a_person(name: str, farewell: Farewell) -> Iterator[Finding]:
    """What can be said where no token was given."""
    if not token_in(farewell.asked):
        yield unseen(name, "somebody else has to agree, so the checks cannot", farewell.asked)


@check(
    "confirmation.token",
    "An answer that asks for a confirmation has a token, or says who must confirm.",
    section="operations 7.5.2",
    demand=Demand.MUST,
    area=Area.CONFIRMATION,
    level=2,
    how=f"Looks at every answer {WANTED} of the run.",
    proves=("ops-7.5.2-halted-operation-gives-token",),
)
async def token(probe: Probe) -> AsyncIterator[Finding]:
    """There is a way on."""
    seen: set[str] = set()
    for exchange in [one for one in probe.ledger if one.code == WANTED]:
        if exchange.operation in seen:
            continue
        seen.add(exchange.operation)
        if token_in(exchange) or _says_who(exchange):
            yield holds(exchange.operation, exchange)
        else:
            words = f"{WANTED} without '{TOKEN}' in its details, and without a word of who must confirm"
            yield broken(exchange.operation, words, exchange)


def _says_who(exchange: Exchange) -> bool:
    keys = [str(key).lower() for key in exchange.details]
    return any(word in key for key in keys for word in _ELSEWHERE) or "approv" in exchange.message.lower()


@check(
    "confirmation.nothing-before",
    "Nothing happens before it is confirmed.",
    section="operations 7.5.2",
    demand=Demand.MUST,
    area=Area.CONFIRMATION,
    level=2,
    how=f"Reads what was to be deleted after the answer {WANTED}; {_HOW}",
    proves=("ops-7.5.2-confirmation-halts-batch",),
)
async def nothing_before(probe: Probe) -> AsyncIterator[Finding]:
    """To ask is not to act."""
    for journey, farewell, name in await _farewells(probe):
        still = farewell.still
        if still is None or journey.thing is None:
            continue
        if thing_in(still, journey.trip) is not None:
            yield holds(name, farewell.asked, still)
        elif still.failed and still.code == _GONE:
            words = f"'{name}' was answered with {WANTED}, and the thing is gone already"
            yield broken(name, words, farewell.asked, still)


@check(
    "confirmation.works",
    "What is sent once more with the token runs.",
    section="operations 7.5.3",
    demand=Demand.MUST,
    area=Area.CONFIRMATION,
    level=2,
    how=f"Sends the same request with '{TOKEN}'; {_HOW}",
    proves=("ops-7.5.2-halted-answer-allows-continuation",),
)
async def works(probe: Probe) -> AsyncIterator[Finding]:
    """A token opens what it was given for."""
    for _journey, farewell, name in await _farewells(probe):
        for finding in _by_a_person(name, farewell):
            yield finding
        agreed = farewell.agreed
        if agreed is None:
            continue
        if agreed.succeeded:
            yield holds(name, farewell.asked, agreed)
        elif agreed.code.startswith(("TOKEN_", "CONFIRMATION_", "VALIDATION_")):
            words = f"'{name}' with the token that it gave just before was answered with {agreed.code}"
            yield broken(name, f"{words}; expected success", farewell.asked, agreed)


@check(
    "confirmation.once",
    "A token can be used once.",
    section="confirmation tokens",
    demand=Demand.SHOULD,
    area=Area.CONFIRMATION,
    level=2,
    how=f"Sends a confirmed request again with the same token, and with one that nobody gave; {_HOW}",
    proves=(),
)
async def once(probe: Probe) -> AsyncIterator[Finding]:
    """What is used up is used up."""
    for _journey, farewell, name in await _farewells(probe):
        again, invented = farewell.again, farewell.invented
        if again is None or invented is None:
            continue
        if again.failed and again.code.startswith(_REFUSED):
            yield holds(name, again)
        elif again.succeeded or _looked_first(again, invented):
            words = f"a token that was used before was taken again by '{name}'; expected TOKEN_ALREADY_USED"
            yield broken(name, words, invented, again)
        else:
            yield unseen(name, f"{again.code} does not tell whether the token was looked at", again)


def _looked_first(again: Exchange, invented: Exchange) -> bool:
    """Whether tokens are looked at before things: then one that leads to a missing thing was taken."""
    return invented.failed and invented.code.startswith(_REFUSED) and again.code == _GONE


@check(
    "confirmation.bound",
    "A token is good only for the parameters that it was given for.",
    section="confirmation tokens",
    demand=Demand.SHOULD,
    area=Area.CONFIRMATION,
    level=2,
    how=f"Makes two things, and deletes the one with the token of the other; {_HOW}",
    proves=(),
)
async def bound(probe: Probe) -> AsyncIterator[Finding]:
    """A token opens nothing else."""
    for journey, farewell, name in await _farewells(probe):
        if farewell.elsewhere is None:
            continue
        tried, read = farewell.elsewhere
        if tried.succeeded and thing_in(read, journey.trip) is None:
            words = f"'{name}' deleted a thing with the token that was given for another; expected TOKEN_SCOPE_MISMATCH"
            yield broken(name, words, farewell.asked, tried, read)
        elif tried.failed:
            yield holds(name, tried, read)
