"""Evidence of what a server keeps: things are made, read, changed, and taken away again."""

from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from headgate.conformance.agreeing import call_agreed
from headgate.conformance.building import edges
from headgate.conformance.likeness import lasting, same
from headgate.conformance.probe import CannotBeSeen, Probe
from headgate.conformance.survey import SeenParameter
from headgate.conformance.trips import CONTROL, INPUT, Made, Trip, fields_of, make, thing_in, trips_of
from headgate.conformance.values import Exchange
from headgate.conformance.variation import another

__all__ = ["Changes", "changes"]

_MOST_TRIPS: Final = 25
_MOST_TRIED: Final = 5
_MOST_EDGES: Final = 12


@dataclass(frozen=True, slots=True)
class Changes:
    """The cases, and what could not be tried."""

    round_trips: list[dict[str, Any]] = field(default_factory=list)
    updates: list[dict[str, Any]] = field(default_factory=list)
    constraints: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


async def changes(probe: Probe) -> Changes:
    """Try every resource of which things may be made."""
    found = Changes()
    for place, trip in enumerate(_makeable(probe)[:_MOST_TRIPS]):
        try:
            made = await make(probe, trip, f"{probe.seed}{place}")
        except CannotBeSeen as error:
            found.notes.append(str(error))
            continue
        try:
            await _travel(probe, made, found)
        finally:
            await _remove(probe, made, found)
    return found


def _makeable(probe: Probe) -> list[Trip]:
    return [
        trip for trip in trips_of(probe) if trip.create and probe.may_call(trip.create) and probe.may_call(trip.get)
    ]


async def _travel(probe: Probe, made: Made, found: Changes) -> None:
    trip = made.trip
    read = await probe.call(trip.get, made.keys)
    before = dict(_submitted(made, read))
    found.round_trips.append(
        {"name": f"create and read: {trip.resource}", "expected_fields": before, "read_response": read.envelope}
    )
    if trip.update is None or not probe.may_call(trip.update):
        return
    changed = await _changed(probe, made, read)
    if changed is not None:
        after = await probe.call(trip.get, made.keys)
        kept = {path: value for path, value in before.items() if path.rpartition(".")[2] != changed}
        name = f"update of '{changed}': {trip.resource}"
        found.updates.append({"name": name, "preserved_fields": kept, "read_response": after.envelope})
    found.constraints.extend([case async for case in _constraints(probe, made)])


def _submitted(made: Made, read: Exchange) -> Iterator[tuple[str, Any]]:
    """Each submitted field by its path in the answer. What came back in another form is expected in that."""
    thing = thing_in(read, made.trip) or {}
    place = "data" if thing is read.data or not thing else f"data.{_place(thing, read)}"
    hidden = (
        {one.name for one in made.trip.create.parameters if one.raw.get("sensitive")} if made.trip.create else set()
    )
    for name, value in _fields(made.params, thing):
        if name not in hidden and lasting(name):
            got = thing.get(name)
            yield f"{place}.{name}", got if name in thing and same(value, got) else value


def _place(thing: Mapping[str, Any], read: Exchange) -> str:
    return str(next(key for key, value in read.data.items() if value is thing))


def _fields(params: Mapping[str, Any], thing: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """What was given of a thing; a parameter that holds all of it is looked into."""
    for name, value in params.items():
        holds_it = isinstance(value, Mapping) and name not in thing and not thing.keys().isdisjoint(value)
        if isinstance(value, Mapping) and (name == INPUT or holds_it):
            yield from value.items()
        elif name not in CONTROL:
            yield name, value


async def _changed(probe: Probe, made: Made, read: Exchange) -> str | None:
    """The field that could be changed by an update, if any could."""
    thing = thing_in(read, made.trip) or {}
    declared = await fields_of(probe, made.trip)
    names = [name for name, _ in _fields(made.params, thing) if name in thing and name not in made.trip.keys]
    for name in sorted(names, key=lambda name: name.endswith("_id"))[:_MOST_TRIED]:
        other = another(thing[name], declared[name].raw if name in declared else {}, probe.seed)
        if other is not None and (await _update(probe, made, {name: other})).succeeded:
            return name
    return None


async def _update(probe: Probe, made: Made, fields: Mapping[str, Any]) -> Exchange:
    update = made.trip.update
    assert update is not None  # noqa: S101  (whoever asks has looked)
    return await call_agreed(probe, update, {**made.trip.naming(update, made.keys), INPUT: dict(fields)})


async def _constraints(probe: Probe, made: Made) -> AsyncIterator[dict[str, Any]]:
    """What is tried on a thing of our own: values beyond a documented bound, and another identifier."""
    resource = made.trip.resource
    declared = await fields_of(probe, made.trip)
    beyond = [(name, edge) for name, one in declared.items() for edge in edges(one) if not edge.inside]
    for name, edge in beyond[:_MOST_EDGES]:
        exchange = await _update(probe, made, {name: edge.value})
        yield {"name": f"{resource}.{name}: {edge.constraint}", "documented": True, "response": exchange.envelope}
    key = made.trip.keys[-1]
    told = _input_of(made.trip)
    if told is not None and len(made.trip.keys) == 1:
        other = another(made.keys[key], {}, probe.seed)
        exchange = await _update(probe, made, {key: other})
        documented = _says_read_only(told, key, declared)
        yield {"name": f"{resource}.{key}: read-only", "documented": documented, "response": exchange.envelope}


def _input_of(trip: Trip) -> SeenParameter | None:
    return trip.update.parameter(INPUT) if trip.update else None


def _says_read_only(told: SeenParameter, key: str, declared: Mapping[str, SeenParameter]) -> bool:
    """Whether introspection lets one know: it calls the field read-only, or lists the fields without it."""
    words = told.description.replace(",", " ").replace(".", " ").split()
    listed = any(name in words for name in declared if name != key)
    if listed and key not in words:
        return True
    spoken = [told.description, declared[key].description if key in declared else ""]
    return any("read-only" in text.lower() or "read only" in text.lower() for text in spoken)


async def _remove(probe: Probe, made: Made, found: Changes) -> None:
    """Take away what was made."""
    delete, trip = made.trip.delete, made.trip
    if delete is not None and made.sure and probe.may_call(delete):
        exchange = await call_agreed(probe, delete, trip.naming(delete, made.keys))
        if exchange.succeeded:
            return
    where = ", ".join(f"{name} {value}" for name, value in made.keys.items())
    found.notes.append(f"the {trip.resource} with {where} was made and could not be deleted again")
