"""Round-Trip Integrity: what is made can be read, what is deleted is gone, what is read stays as it is."""

from collections.abc import AsyncIterator, Mapping
from typing import Any, Final

from headgate.conformance.choosing import spread
from headgate.conformance.journeys import Journey, journeys_of, problems_of, unrelated
from headgate.conformance.likeness import differing, same
from headgate.conformance.probe import CannotBeSeen, Probe
from headgate.conformance.registry import broken, check, holds, unseen
from headgate.conformance.survey import SeenParameter
from headgate.conformance.trips import CONTROL, Trip, sample_of, thing_in, trips_of
from headgate.conformance.values import Area, Demand, Exchange, Finding
from headgate.conformance.variation import absent

__all__: list[str] = []

_MOST: Final = 10
_READS: Final = 4
_MISSING: Final = "NOT_FOUND_RESOURCE"
_OTHERWISE: Final = ("VALIDATION_", "PERMISSION_", "RATE_LIMIT_", "CONFIRMATION_")
"""What may be said of an identifier that was made up, before anything is looked for."""
_SECRET: Final = ("write only", "never shown", "never returned", "not returned", "password", "secret")


@check(
    "round-trips.create-read",
    "What was made is read back with every field that it was made with.",
    section="introspection 8.1.1",
    demand=Demand.MUST,
    area=Area.ROUND_TRIPS,
    level=1,
    how="Makes one thing of a few resources, reads it by its identifier, and compares; needs --allow create,delete.",
    proves=("intro-8.1.1-parameter-names-match-handler", "spec-10.1-operations-classified-correctly"),
)
async def create_read(probe: Probe) -> AsyncIterator[Finding]:
    """Nothing is lost on the way."""
    for journey in await journeys_of(probe):
        for finding in [one async for one in _compared(probe, journey)]:
            yield finding
    for problem in problems_of(probe):
        yield unseen("server", problem)


async def _compared(probe: Probe, journey: Journey) -> AsyncIterator[Finding]:
    trip, read = journey.trip, journey.reads[0]
    exchanges = (journey.made.answer, read)
    if journey.thing is None:
        if journey.made.sure and read.failed and read.code == _MISSING:
            words = f"'{trip.get.name}' does not find what was made just before: it was answered with {_MISSING}"
            yield broken(trip.get.name, words, *exchanges)
        return
    known = await _known_fields(probe, journey)
    lost = [
        f"'{name}' was {_shown(value)} and is {_shown(journey.thing.get(name)) if name in journey.thing else 'gone'}"
        for name, value in journey.sent.items()
        if _comes_back(name, value, journey.fields) and not same(value, journey.thing.get(name))
        if name in journey.thing or name in known
    ]
    if lost:
        subject = trip.create.name if trip.create is not None else trip.resource
        words = f"what was made is not what '{trip.get.name}' reads: {'; '.join(lost)}"
        yield broken(subject, words, *exchanges)
    elif journey.left:
        yield unseen(trip.resource, journey.left)
        yield holds(trip.resource, *exchanges)
    else:
        yield holds(trip.resource, *exchanges)


def _comes_back(name: str, value: object, fields: Mapping[str, SeenParameter]) -> bool:
    """Whether a field may be expected in an answer: no control, no null, nothing that is kept secret."""
    declared = fields.get(name)
    if value is None or name in CONTROL or name.startswith("_"):
        return False
    if declared is None:
        return True
    hidden = declared.raw.get("sensitive") or declared.raw.get("writeOnly") or declared.raw.get("write_only")
    words = f"{declared.description} {declared.raw.get('format', '')}".lower().replace("-", " ")
    return not hidden and not any(word in words for word in _SECRET)


async def _known_fields(probe: Probe, journey: Journey) -> set[str]:
    """The fields that things of this resource are known to have: the type's, or those of another thing."""
    _, exchange = await sample_of(probe, journey.trip)
    sample = thing_in(exchange, journey.trip) if exchange is not None else None
    told = journey.trip.get.details.get("returns")
    named = str(told.get("name")) if isinstance(told, Mapping) else ""
    typed: Mapping[str, Any] = probe.memory.get("trips.types", {}).get(named, {})
    return {*typed, *(sample or {}), *(thing_in(journey.made.answer, journey.trip) or {})}


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


@check(
    "round-trips.delete-gone",
    "What was deleted can no longer be read.",
    section="specification 8.1",
    demand=Demand.MUST,
    area=Area.ROUND_TRIPS,
    level=1,
    how="Deletes what the checks have made, and reads it again; needs --allow create,delete.",
    proves=("spec-10.1-operations-classified-correctly",),
)
async def delete_gone(probe: Probe) -> AsyncIterator[Finding]:
    """Deleting deletes."""
    journeys = await journeys_of(probe)
    if journeys and not any(journey.trip.delete for journey in journeys) and (why := unrelated(probe, "DELETE")):
        yield unseen("server", why)
    for journey in journeys:
        trip, deleted, gone = journey.trip, journey.deleted, journey.gone
        if trip.delete is None:
            continue
        if not probe.may_call(trip.delete):
            yield unseen(trip.delete.name, f"it needs --allow delete; {journey.left}")
        elif deleted is None or gone is None:
            yield unseen(trip.delete.name, f"it was not deleted: {journey.left}")
        elif not _is_there(thing_in(gone, trip)):
            yield holds(trip.delete.name, deleted, gone)
        else:
            words = f"'{trip.delete.name}' was answered with success, but '{trip.get.name}' still reads the same thing"
            yield broken(trip.delete.name, words, deleted, gone)


def _is_there(thing: Mapping[str, Any] | None) -> bool:
    """Whether a thing is there, and nothing in it says that it is deleted."""
    words = ("deleted", "removed", "archived")
    told = [value for name, value in (thing or {}).items() if any(word in name.lower() for word in words)]
    state = str((thing or {}).get("status", "")).lower()
    return bool(thing) and not any(told) and state not in words


@check(
    "round-trips.read-changes-nothing",
    "A thing that is read twice is the same twice.",
    section="specification 8.1",
    demand=Demand.MUST,
    area=Area.ROUND_TRIPS,
    level=1,
    how="Reads one thing of a few resources twice; if the answers differ, again, in case somebody else changed it.",
    proves=("spec-10.1-operations-classified-correctly",),
)
async def read_changes_nothing(probe: Probe) -> AsyncIterator[Finding]:
    """READ has no side effects."""
    for trip in spread([trip for trip in trips_of(probe) if not trip.moves and probe.may_call(trip.get)], _MOST):
        keys, first = await sample_of(probe, trip)
        if first is None:
            continue
        reads = [first, await probe.call(trip.get, keys)]
        while (changed := _changed(reads, trip)) and len(reads) < _READS:
            reads.append(await probe.call(trip.get, keys))
        if changed:
            words = f"each of {_READS} readings one after another gave another value of {', '.join(changed)}"
            yield broken(trip.get.name, f"{words}; an operation of READ must change nothing", *reads[-2:])
        elif thing_in(reads[-1], trip) is not None:
            yield holds(trip.get.name, *reads[-2:])


def _changed(reads: list[Exchange], trip: Trip) -> list[str]:
    """What differs between the last two readings."""
    one, other = (thing_in(read, trip) for read in reads[-2:])
    return [f"'{name}'" for name in differing(one, other)] if one is not None and other is not None else []


@check(
    "round-trips.missing-resource-code",
    "A thing that does not exist is answered with NOT_FOUND_RESOURCE.",
    section="operations 8.1",
    demand=Demand.MUST,
    area=Area.ROUND_TRIPS,
    level=1,
    how="Reads things by identifiers of the right form that nobody has; and, if it may delete, one that was deleted.",
    proves=("ops-8.1-missing-resource-error-code", "ops-8.3-standard-error-codes-used"),
)
async def missing_resource_code(probe: Probe) -> AsyncIterator[Finding]:
    """The one code for what is not there."""
    try:
        journeys = await journeys_of(probe)
    except CannotBeSeen:
        journeys = []
    for journey in journeys:
        gone = journey.gone
        if gone is not None and gone.failed and gone.code:
            yield _coded(gone, journey.trip)
        elif gone is not None and _is_null(gone, journey.trip):
            yield _answered_with_null(gone, journey.trip)
    for trip in spread([trip for trip in trips_of(probe) if probe.may_call(trip.get)], _MOST):
        keys, exists = await sample_of(probe, trip)
        names = {one.name: one.raw for one in trip.get.parameters}
        made = {name: absent(value, names.get(name, {}), probe.seed) for name, value in keys.items()}
        if not made or exists is None or None in made.values():
            continue
        exchange = await probe.call(trip.get, made)
        if exchange.failed and exchange.code and not exchange.code.startswith(_OTHERWISE):
            yield _coded(exchange, trip)
        elif _is_null(exchange, trip):
            yield _answered_with_null(exchange, trip)


def _is_null(exchange: Exchange, trip: Trip) -> bool:
    """Whether nothing was given with success: null, or null under the name of the resource."""
    data = exchange.data
    return exchange.succeeded and (data is None or data == {trip.resource: None})


def _answered_with_null(exchange: Exchange, trip: Trip) -> Finding:
    words = f"a {trip.resource} that does not exist was answered with success and null, so no code could be seen"
    return unseen(trip.get.name, f"{words}; expected a failure with {_MISSING}", exchange)


def _coded(exchange: Exchange, trip: Trip) -> Finding:
    if exchange.code == _MISSING:
        return holds(trip.get.name, exchange)
    words = f"a {trip.resource} that does not exist was answered with {exchange.code}; expected {_MISSING}"
    return broken(trip.get.name, words, exchange)
