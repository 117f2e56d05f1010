"""Requests that make something, sent so that whatever they make is taken away again."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import anyio

from headgate.conformance.agreeing import TOKEN, call_agreed, token_in
from headgate.conformance.choosing import spread
from headgate.conformance.probe import CannotBeSeen, Probe
from headgate.conformance.survey import SeenOperation
from headgate.conformance.trips import Made, Trip, made_by, make, trips_of
from headgate.conformance.values import Exchange

__all__ = ["Making", "makings_of", "send"]

_MEMORY: Final = "makings"
_MOST: Final = 5
_CLEANING_SECONDS: Final = 10.0


@dataclass(frozen=True, slots=True)
class Making:
    """An operation that makes things which may be deleted again."""

    trip: Trip
    create: SeenOperation
    delete: SeenOperation
    params: Mapping[str, Any]
    """With which it has made one, that is gone by now."""
    answer: Exchange


async def makings_of(probe: Probe) -> dict[str, Making]:
    """A few operations that make things, by name: each has made one, and it could be deleted.

    None where nobody allowed to make and to delete.
    """
    if _MEMORY not in probe.memory:
        kept = probe.memory[_MEMORY] = dict[str, Making]()
        for trip in spread([trip for trip in trips_of(probe) if _may_come_and_go(probe, trip)], _MOST):
            made = await _tried(probe, trip)
            if made is not None:
                kept[made.create.name] = made
    found: dict[str, Making] = probe.memory[_MEMORY]
    return found


async def send(
    probe: Probe, operation: SeenOperation, params: Mapping[str, Any], tool: str = ""
) -> tuple[Exchange, str]:
    """Call an operation, through another tool if one is named, and take away what that made.

    What could not be taken away is told in a sentence.
    """
    making = (await makings_of(probe)).get(operation.name) if operation.category == "CREATE" else None
    if making is None:
        return await _asked(probe, operation, params, tool or operation.tool), ""
    with anyio.CancelScope(shield=True):
        exchange = await _asked(probe, operation, params, tool or operation.tool)
        gone = not exchange.succeeded or await _taken_away(probe, making.trip, making.delete, params, exchange)
    return exchange, "" if gone else f"; the {making.trip.resource} that it made could not be deleted again"


async def _asked(probe: Probe, operation: SeenOperation, params: Mapping[str, Any], tool: str) -> Exchange:
    exchange = await probe.ask(tool, {"operation": operation.name, "params": dict(params)})
    token = token_in(exchange) if operation.category == "CREATE" else ""
    if not token:
        return exchange
    return await probe.ask(tool, {"operation": operation.name, "params": {**params, TOKEN: token}})


def _may_come_and_go(probe: Probe, trip: Trip) -> bool:
    if trip.create is None or trip.delete is None or trip.moves or trip.create.parameter("dry_run") is not None:
        return False
    return probe.may_call(trip.create) and probe.may_call(trip.delete)


async def _tried(probe: Probe, trip: Trip) -> Making | None:
    """Make one thing, and delete it; None if either cannot be done."""
    create, delete = trip.create, trip.delete
    assert create is not None and delete is not None  # noqa: S101, PT018  (only such trips are asked for)
    with anyio.CancelScope(shield=True):
        try:
            made = await make(probe, trip, f"{probe.seed}m")
        except CannotBeSeen:
            return None
        gone = await _deleted(probe, delete, made)
    return Making(trip, create, delete, made.params, made.answer) if gone else None


async def _taken_away(
    probe: Probe, trip: Trip, delete: SeenOperation, params: Mapping[str, Any], exchange: Exchange
) -> bool:
    try:
        return await _deleted(probe, delete, made_by(trip, params, exchange))
    except CannotBeSeen:
        return False


async def _deleted(probe: Probe, delete: SeenOperation, made: Made) -> bool:
    """Whether a thing could be taken away, even if the check was broken off."""
    with anyio.move_on_after(_CLEANING_SECONDS, shield=True):
        return (await call_agreed(probe, delete, made.trip.naming(delete, made.keys))).succeeded
    return False
