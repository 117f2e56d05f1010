"""Sessions and Concurrency: requests at the same time, and updates that nobody else's are lost to."""

from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any, Final

import anyio

from headgate.conformance.choosing import spread
from headgate.conformance.journeys import Journey, journeys_of
from headgate.conformance.likeness import same
from headgate.conformance.probe import Probe
from headgate.conformance.registry import broken, check, holds
from headgate.conformance.trips import Trip, sample_of, thing_in, trips_of
from headgate.conformance.updating import Step
from headgate.conformance.values import Area, Demand, Exchange, Finding

__all__: list[str] = []

_AT_ONCE: Final = 10
_MOST: Final = 5
_TAGS: Final = ("_etag", "_version")
_CONFLICT: Final = "CONFLICT_VERSION_MISMATCH"


def _versioned(probe: Probe) -> list[Trip]:
    """The resources that say they have versions; failing that, all that can be updated where the server says so."""
    able = [trip for trip in trips_of(probe) if trip.update is not None and probe.may_call(trip.get)]
    named = [trip for trip in able if trip.update is not None and trip.update.parameter("if_match") is not None]
    claimed = probe.survey.protocol.get("supports_etag") is True
    return spread(named or (able if claimed else []), _MOST)


@check(
    "concurrency.etag-given",
    "A thing whose updates take 'if_match' is read with its '_etag' or '_version'.",
    section="specification 9.3.2",
    demand=Demand.SHOULD,
    area=Area.SESSIONS,
    level=2,
    how="Reads one thing of each resource that has versions.",
    proves=("spec-9.3.2-mutable-resources-carry-etag",),
)
async def etag_given(probe: Probe) -> AsyncIterator[Finding]:
    """Who must give a version can know it."""
    for trip in _versioned(probe):
        _, exchange = await sample_of(probe, trip)
        thing = thing_in(exchange, trip) if exchange is not None else None
        if exchange is None or thing is None:
            continue
        data: Mapping[str, Any] = exchange.data
        if any(tag in place for tag in _TAGS for place in (thing, data)):
            yield holds(trip.get.name, exchange)
        else:
            yield broken(trip.get.name, "it has versions, but is read without '_etag' and '_version'", exchange)


async def _tagged(probe: Probe) -> AsyncIterator[tuple[Journey, str, list[Step]]]:
    """The updates with 'if_match': the first with the right tag, the second with the same, which is stale then."""
    if not any(trip.update is not None and trip.update.parameter("if_match") for trip in trips_of(probe)):
        return
    for journey in await journeys_of(probe):
        if journey.trip.update is not None:
            yield journey, journey.trip.update.name, journey.steps.get("stale", [])


@check(
    "concurrency.if-match",
    "An update with the current tag in 'if_match' is applied.",
    section="specification 9.3.2",
    demand=Demand.SHOULD,
    area=Area.SESSIONS,
    level=2,
    how="Updates what was made with its own tag; needs --allow create,update,delete.",
    proves=("spec-9.3.2-if-match-precondition-accepted",),
)
async def if_match(probe: Probe) -> AsyncIterator[Finding]:
    """Who knows the version may change it."""
    async for _journey, name, steps in _tagged(probe):
        for step in steps[:1]:
            if step.asked.succeeded:
                yield holds(name, *step.exchanges)
            elif step.asked.code.startswith(("CONFLICT_", "VALIDATION_")):
                words = f"an update with the tag that was read just before was answered with {step.asked.code}"
                yield broken(name, f"{words}; expected success", *step.exchanges)


@check(
    "concurrency.stale-refused",
    "An update with a stale tag in 'if_match' is refused with CONFLICT_VERSION_MISMATCH.",
    section="specification 9.3.2",
    demand=Demand.SHOULD,
    area=Area.SESSIONS,
    level=2,
    how="Updates what was made twice with the same tag; needs --allow create,update,delete.",
    proves=("spec-9.3.2-stale-precondition-is-conflict",),
)
async def stale_refused(probe: Probe) -> AsyncIterator[Finding]:
    """Nobody's change is lost."""
    async for _journey, name, steps in _tagged(probe):
        if len(steps) > 1 and _changed(steps[0]):
            for finding in _judged_stale(name, steps[0], steps[1]):
                yield finding


def _changed(step: Step) -> bool:
    return step.now is not None and same(step.given, step.now.get(step.field))


def _judged_stale(name: str, first: Step, second: Step) -> Iterator[Finding]:
    if second.asked.code == _CONFLICT:
        yield holds(name, first.asked, second.asked)
    elif second.asked.succeeded or second.asked.code:
        was = "with success" if second.asked.succeeded else f"with {second.asked.code}"
        words = f"an update with a tag from before another update was answered {was}; expected {_CONFLICT}"
        yield broken(name, words, first.asked, second.asked)


@check(
    "concurrency.parallel-reads",
    "Requests that are sent at the same time are answered each with its own answer.",
    section="specification 9.3",
    demand=Demand.MUST,
    area=Area.SESSIONS,
    level=2,
    how=f"Sends {_AT_ONCE} different introspections without waiting for answers.",
    proves=("spec-9.3.1-concurrency-behaviour-documented",),
)
async def parallel_reads(probe: Probe) -> AsyncIterator[Finding]:
    """Nobody gets somebody else's answer."""
    names = spread([one.name for one in probe.operations], _AT_ONCE)
    answers: dict[str, Exchange] = {}

    async def ask(name: str) -> None:
        answers[name] = await probe.introspect("operations", name)

    async with anyio.create_task_group() as group:
        for name in names:
            group.start_soon(ask, name)
    for name, exchange in answers.items():
        told = _told(exchange)
        if told == name:
            yield holds(name, exchange)
        elif told:
            words = f"of {len(names)} introspections at the same time, the one of '{name}' was answered with '{told}'"
            yield broken(name, words, exchange)


def _told(exchange: Exchange) -> str:
    found = exchange.data.get("operation") if isinstance(exchange.data, Mapping) else None
    return str(found.get("name", "")) if isinstance(found, Mapping) else ""
