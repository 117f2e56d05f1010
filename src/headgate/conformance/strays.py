"""Requests that are sent to the tool of another endpoint family, and do no harm if they are carried out there."""

from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from headgate.conformance.building import fits
from headgate.conformance.choosing import spread
from headgate.conformance.makings import makings_of, send
from headgate.conformance.probe import CannotBeSeen, Probe
from headgate.conformance.requests import Attempt, valid_params
from headgate.conformance.survey import SeenOperation
from headgate.conformance.trials import SAFETY_LOOP, Trial, attempts, can_pretend, harmless, remembered
from headgate.conformance.trips import Trip, sample_of, trips_of
from headgate.conformance.variation import absent

__all__ = ["Stray", "strays_of"]

_MOST_READING: Final = 12
_MOST_CHANGING: Final = 12
_NOT_THERE: Final = "NOT_FOUND_"


@dataclass(frozen=True, slots=True)
class Stray:
    """A request that was sent where it does not belong."""

    trial: Trial
    tool: str

    @property
    def carried_out(self) -> bool:
        """Whether it was answered as if it belonged there; what changes something may be about what is not there."""
        exchange = self.trial.exchange
        changes = self.trial.operation.category != "READ"
        return exchange.succeeded or (changes and exchange.code == "NOT_FOUND_RESOURCE")


async def strays_of(probe: Probe) -> list[Stray]:
    """Operations sent to the tool of every other family; none where there is one tool for all."""

    async def make() -> list[Stray]:
        families = list(dict.fromkeys(probe.survey.endpoints.families.values()))
        if len(families) < 2:
            return []
        asked = spread(await attempts(probe), _MOST_READING)
        asked += spread([one async for one in _changing(probe)], _MOST_CHANGING)
        return [
            await _sent(probe, operation, base, tool)
            for operation, base in asked
            for tool in (families if operation.tool in families else [])
            if tool != operation.tool
        ]

    return await remembered(probe, "routing.strays", make)


async def _sent(probe: Probe, operation: SeenOperation, base: Attempt, tool: str) -> Stray:
    exchange, left = await send(probe, operation, base.params, tool)
    return Stray(Trial(operation, base, exchange, left=left), tool)


async def _changing(probe: Probe) -> AsyncIterator[tuple[SeenOperation, Attempt]]:
    """What changes something, if it may be called: about nothing that exists, or only in pretence, or to be undone."""
    seen: set[str] = set()
    for trip in trips_of(probe):
        for operation in (trip.update, trip.delete):
            if operation is not None and probe.may_call(operation) and operation.name not in seen | SAFETY_LOOP:
                seen.add(operation.name)
                params = await _about_nothing(probe, trip, operation)
                if params is not None:
                    yield operation, Attempt(params, None, given=False)
    for making in (await makings_of(probe)).values():
        yield making.create, Attempt(dict(making.params), None, given=False)
    for operation, base in await harmless(probe, making=False):
        if operation.category != "READ" and operation.name not in seen | SAFETY_LOOP:
            yield operation, base


async def _about_nothing(probe: Probe, trip: Trip, operation: SeenOperation) -> dict[str, Any] | None:
    """Parameters of an operation for a thing that does not exist; None if that is not sure."""
    keys = await _absent_keys(probe, trip)
    if keys is None:
        return None
    try:
        usual = await valid_params(probe, operation)  # of which an example may name further things that exist
    except CannotBeSeen:
        return None
    pretence = {"dry_run": True} if can_pretend(operation) else {}
    needed = {one.name: usual[one.name] for one in operation.parameters if one.required and one.name in usual}
    named = trip.naming(operation, keys)
    return {**needed, **named, **pretence} if len(named) == len(keys) else None


async def _absent_keys(probe: Probe, trip: Trip) -> Mapping[str, Any] | None:
    """Identifiers of the right form that nobody has: it was asked."""
    if not probe.may_call(trip.get):
        return None
    keys, exists = await sample_of(probe, trip)
    if exists is None:
        return None
    for made in _made_up(probe, trip, keys):
        if (await probe.call(trip.get, made)).code.startswith(_NOT_THERE):
            return made
    return None


def _made_up(probe: Probe, trip: Trip, keys: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """With longer numbers than anybody has, and of the very form of one that exists."""
    declared = {one.name: one for one in trip.get.parameters}
    for ruled in (False, True):
        made = {name: absent(value, declared[name].raw if ruled else {}, probe.seed) for name, value in keys.items()}
        if made and all(value is not None and fits(declared[name], value) for name, value in made.items()):
            yield made
