"""One thing of each resource is made, read, changed in every way, and deleted. What was seen is kept for all checks.

A check of round trips asks nothing itself: it judges what a journey has recorded, and only the step that it is about.
"""

from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import anyio

from headgate.conformance.agreeing import TOKEN, WANTED, call_agreed, token_in
from headgate.conformance.choosing import spread
from headgate.conformance.probe import CannotBeSeen, NotAllowed, Probe
from headgate.conformance.survey import SeenParameter
from headgate.conformance.trips import INPUT, Made, Trip, fields_of, make, thing_in, trips_of
from headgate.conformance.updating import Step, Updates
from headgate.conformance.values import Exchange, Finding
from headgate.protocol.names import RESERVED_OPERATIONS

__all__ = ["Farewell", "Journey", "journeys_of", "problems_of", "unrelated", "updated"]

_MEMORY: Final = "journeys"
_MOST: Final = 5
_CLEANING_SECONDS: Final = 10.0
_UNRELATED: Final = (
    "could not find out which operations create, read and delete the same thing; "
    "name them after it, such as 'create_note', 'get_note' and 'delete_note' (found: {})"
)
_MOVING: Final = "a {} may change by itself, since there are operations of EXECUTE that start or stop it"


@dataclass(slots=True)
class Farewell:
    """How a thing went that may only be deleted when somebody agrees."""

    asked: Exchange
    """The first try, which was answered with CONFIRMATION_REQUIRED."""
    still: Exchange | None = None
    """The thing was read after that."""
    elsewhere: tuple[Exchange, Exchange] | None = None
    """Another thing was to be deleted with the token of this one, and then read."""
    halted: tuple[Exchange, Exchange] | None = None
    """A batch of deletions without a token, and the thing read afterwards."""
    agreed: Exchange | None = None
    """Deleted with a token."""
    again: Exchange | None = None
    """The same token once more."""
    invented: Exchange | None = None
    """A token that nobody gave, in the same situation."""


@dataclass(slots=True)
class Journey:
    """All that was seen of one thing."""

    made: Made
    fields: Mapping[str, SeenParameter]
    """What is declared of the fields of its resource."""
    reads: tuple[Exchange, Exchange]
    """Right after it was made, twice."""
    steps: Mapping[str, list[Step]] = field(default_factory=dict)
    """The updates, by what they were for."""
    farewell: Farewell | None = None
    dry_delete: tuple[Exchange, Exchange] | None = None
    """Deleted with ``dry_run``, and read."""
    deleted: Exchange | None = None
    gone: Exchange | None = None
    """Read after it was deleted."""

    @property
    def trip(self) -> Trip:
        """The operations of its resource."""
        return self.made.trip

    @property
    def update_name(self) -> str:
        """What updates of it are called."""
        return self.trip.update.name if self.trip.update is not None else self.trip.resource

    def updates(self, kind: str) -> list[Step]:
        """The updates of a kind that were tried."""
        return self.steps.get(kind, [])

    @property
    def thing(self) -> Mapping[str, Any] | None:
        """The thing as it was read first."""
        return thing_in(self.reads[0], self.trip)

    @property
    def sent(self) -> Mapping[str, Any]:
        """The fields that it was made with: what stands in one object that is no field itself stands for itself."""
        known = {*(self.thing or {}), *(name for name in self.fields if name != INPUT)}
        sent: dict[str, Any] = {}
        for name, value in self.made.params.items():
            wraps = isinstance(value, Mapping) and (name not in (self.thing or {})) and set(value) & known
            sent |= value if wraps else {name: value}
        return sent

    @property
    def left(self) -> str:
        """What is still there, in a sentence; nothing if it was taken away."""
        if self.deleted is not None and self.deleted.succeeded:
            return ""
        return f"the {self.trip.resource} {dict(self.made.keys)} was made for this and is still there"


async def journeys_of(probe: Probe) -> list[Journey]:
    """The journeys of a few resources. NotAllowed if nothing may be made, CannotBeSeen if nothing could be."""
    makeable = [trip for trip in trips_of(probe) if trip.create is not None]
    able = [trip for trip in makeable if not trip.moves]
    if not able:
        _say_why(probe, makeable)
    allowed = [trip for trip in able if trip.create is not None and probe.may_call(trip.create)]
    if able and not allowed:
        raise NotAllowed("it needs something that was made for it: --allow create,update,delete")
    found: dict[str, Journey | str] = probe.memory.setdefault(_MEMORY, {})
    for trip in spread(_best_first(allowed), _MOST):
        if trip.resource not in found:
            found[trip.resource] = f"the journey of a {trip.resource} took too long"  # unless it comes to its end
            found[trip.resource] = await _travelled(probe, trip)
    journeys = [one for one in found.values() if isinstance(one, Journey)]
    if found and not journeys:
        raise CannotBeSeen(problems_of(probe)[0])
    return journeys


def _say_why(probe: Probe, makeable: list[Trip]) -> None:
    """CannotBeSeen if there is something to see, and it was not understood."""
    if makeable:
        raise CannotBeSeen(_MOVING.format(makeable[0].resource))
    if words := unrelated(probe, "CREATE", "UPDATE", "DELETE"):
        raise CannotBeSeen(words)


def unrelated(probe: Probe, *categories: str) -> str:
    """That operations of some categories belong to nothing that can be made and read, in a sentence."""
    told = [one.name for one in probe.operations if one.category in categories and one.name not in RESERVED_OPERATIONS]
    return _UNRELATED.format(", ".join(f"'{name}'" for name in told[:_MOST])) if told else ""


def problems_of(probe: Probe) -> list[str]:
    """Why some resources had no journey."""
    found: dict[str, Journey | str] = probe.memory.get(_MEMORY, {})
    return [one for one in found.values() if isinstance(one, str)]


async def updated(probe: Probe, judge: Callable[[Journey], Iterator[Finding]]) -> AsyncIterator[Finding]:
    """What a judge says of every thing that can be updated. NotAllowed if nobody allowed that."""
    all_of_them = await journeys_of(probe)
    journeys = [journey for journey in all_of_them if journey.trip.update is not None]
    allowed = [journey for journey in journeys if journey.trip.update and probe.may_call(journey.trip.update)]
    if journeys and not allowed:
        raise NotAllowed("it needs to change what was made for it: --allow create,update,delete")
    if all_of_them and not journeys and (words := unrelated(probe, "UPDATE")):
        raise CannotBeSeen(words)
    for journey in allowed:
        for finding in judge(journey):
            yield finding


def _best_first(trips: list[Trip]) -> list[Trip]:
    """Those with which most can be done."""
    return sorted(trips, key=lambda trip: (trip.update is None) + (trip.delete is None))


async def _travelled(probe: Probe, trip: Trip) -> Journey | str:
    try:
        made = await make(probe, trip, probe.seed)
    except CannotBeSeen as error:
        return str(error)
    journey = Journey(made, await fields_of(probe, trip), (made.answer, made.answer))
    try:
        journey.reads = (await _read(probe, made), await _read(probe, made))
        if trip.update is not None and probe.may_call(trip.update) and journey.thing is not None:
            journey.steps = await Updates(probe, made, journey.fields, trip.update, journey.thing).all()
        await _part(probe, journey)
    finally:
        if journey.deleted is None:
            await _clean(probe, made)
    return journey


async def _read(probe: Probe, made: Made) -> Exchange:
    return await probe.call(made.trip.get, made.keys)


async def _clean(probe: Probe, made: Made) -> None:
    """Take a thing away, even if the check was broken off."""
    delete = made.trip.delete
    if delete is not None and probe.may_call(delete):
        with anyio.move_on_after(_CLEANING_SECONDS, shield=True):
            await call_agreed(probe, delete, made.trip.naming(delete, made.keys))


async def _part(probe: Probe, journey: Journey) -> None:
    """Delete the thing, in a dry run first, and with a confirmation if one is wanted."""
    made, delete = journey.made, journey.trip.delete
    if delete is None or not probe.may_call(delete):
        return
    keys = made.trip.naming(delete, made.keys)
    if delete.parameter("dry_run") is not None:
        dry = await call_agreed(probe, delete, {**keys, "dry_run": True})
        journey.dry_delete = (dry, await _read(probe, made))
    first = await probe.call(delete, keys)
    if first.code == WANTED:
        journey.farewell = Farewell(first, await _read(probe, made))
        await _bid(probe, journey, journey.farewell, keys)
    else:
        journey.deleted = first
    if journey.deleted is not None and journey.deleted.succeeded:
        journey.gone = await _read(probe, made)


async def _bid(probe: Probe, journey: Journey, farewell: Farewell, keys: Mapping[str, Any]) -> None:
    """Everything that can be tried with tokens: on another thing, in a batch, and twice."""
    delete = journey.trip.delete
    assert delete is not None  # noqa: S101  (it has just asked for a confirmation)
    token = token_in(farewell.asked)
    if not token:
        return
    first = not probe.memory.get("journeys.tokens")
    if first:
        probe.memory["journeys.tokens"] = True
        await _try_elsewhere(probe, journey, farewell, token)
        farewell.halted = (
            await probe.batch(delete.tool, [{"operation": delete.name, "params": dict(keys)}] * 2),
            await _read(probe, journey.made),
        )
    token = token_in(await probe.call(delete, keys)) or token
    farewell.agreed = journey.deleted = await probe.call(delete, {**keys, TOKEN: token})
    if farewell.agreed.succeeded and first:
        farewell.invented = await probe.call(delete, {**keys, TOKEN: token[:5] + token[:4:-1]})
        farewell.again = await probe.call(delete, {**keys, TOKEN: token})


async def _try_elsewhere(probe: Probe, journey: Journey, farewell: Farewell, token: str) -> None:
    """Use the token of one thing for another."""
    trip, delete = journey.trip, journey.trip.delete
    assert delete is not None  # noqa: S101  (there is a token for it)
    try:
        other = await make(probe, trip, f"{probe.seed}b")
    except CannotBeSeen:
        return
    try:
        tried = await probe.call(delete, {**trip.naming(delete, other.keys), TOKEN: token})
        farewell.elsewhere = (tried, await _read(probe, other))
    finally:
        if farewell.elsewhere is None or farewell.elsewhere[1].succeeded:
            await _clean(probe, other)
