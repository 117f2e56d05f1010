"""The operations of one resource, found from names and parameters; making one thing of it, and taking it away again."""

import re
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from headgate.conformance.agreeing import TOKEN, call_agreed
from headgate.conformance.harvest import harvested
from headgate.conformance.nouns import VERBS, moves_by_itself, named_after, noun_of, phrase_of, put_somewhere
from headgate.conformance.probe import CannotBeSeen, Probe
from headgate.conformance.requests import valid_params, value_for
from headgate.conformance.survey import SeenOperation, SeenParameter, entries
from headgate.conformance.values import Exchange
from headgate.conformance.variation import fresh, number_from, unlike
from headgate.protocol.names import resource_of, verb_of

__all__ = [
    "CONTROL",
    "INPUT",
    "Made",
    "Trip",
    "fields_of",
    "made_by",
    "make",
    "sample_of",
    "thing_in",
    "trips_of",
    "type_fields",
]

INPUT: Final = "input"
CONTROL: Final = frozenset({INPUT, TOKEN, "if_match", "dry_run", "fields", "preset", "idempotency_key", "confirm"})
"""Parameters that are no fields of the resource."""
_IDENTIFYING: Final = ("id", "key", "slug", "uuid", "name", "number", "code")
_SPOKEN: Final = ("name", "title", "label")
_CAPITAL: Final = re.compile(r"(?<=[a-z0-9])([A-Z])")


@dataclass(frozen=True, slots=True)
class Trip:
    """What can be done with one resource."""

    resource: str
    get: SeenOperation
    create: SeenOperation | None = None
    update: SeenOperation | None = None
    delete: SeenOperation | None = None
    moves: bool = False
    """Whether its things change although nobody changes them."""

    @property
    def keys(self) -> tuple[str, ...]:
        """The parameters that say which thing is meant."""
        return tuple(one.name for one in self.get.parameters if one.required)

    def naming(self, operation: SeenOperation, keys: Mapping[str, Any]) -> dict[str, Any]:
        """The same identifiers as another operation calls them."""
        if all(operation.parameter(name) for name in keys):
            return dict(keys)
        wanted = [one.name for one in operation.parameters if one.required and one.name != INPUT]
        return dict(zip(wanted, keys.values(), strict=False))


@dataclass(frozen=True, slots=True)
class Made:
    """One thing that was made, and how to find it."""

    trip: Trip
    keys: Mapping[str, Any]
    sure: bool
    """Whether its identifiers are certain, not guessed."""
    params: Mapping[str, Any]
    """With which it was made."""
    answer: Exchange


def trips_of(probe: Probe) -> list[Trip]:
    """The resources whose things can be read one by one."""
    gets = _best_by_noun([one for one in probe.operations if _gets(one)])
    nouns = frozenset(noun_of(one.name) for one in gets.values())
    return [_trip(probe, resource, get, nouns) for resource, get in gets.items()]


def _gets(operation: SeenOperation) -> bool:
    told = operation.category == "READ" and verb_of(operation.name) in VERBS["READ"] and "_" in operation.name
    return told and any(one.required for one in operation.parameters)


def _best_by_noun(gets: Sequence[SeenOperation]) -> dict[str, SeenOperation]:
    """What reads the things of each resource; what else reads them stands under its own full name."""
    best: dict[str, SeenOperation] = {}
    for one in sorted(gets, key=_odd):
        best.setdefault(noun_of(one.name), one)
    resources = {phrase_of(one.name): one for one in best.values()}
    others = {resource_of(one.name): one for one in gets if one not in best.values()}
    return resources | {name: one for name, one in others.items() if name not in resources}


def _odd(get: SeenOperation) -> tuple[bool, bool]:
    """Whether a reading finds its thing by something else than an identifier, and is not called after it alone."""
    return not _identifies(get), resource_of(get.name) != noun_of(get.name)


def _identifies(get: SeenOperation) -> bool:
    names = [one.name for one in get.parameters if one.required]
    return all(name == noun_of(get.name) or name.endswith(_IDENTIFYING) for name in names)


def _trip(probe: Probe, resource: str, get: SeenOperation, nouns: frozenset[str]) -> Trip:
    create = _of_resource(probe, "CREATE", resource, get, nouns)
    loose = create is None or put_somewhere(create.name)
    update, delete = (
        found if found is not None and (loose or not put_somewhere(found.name)) else None
        for found in (_of_resource(probe, one, resource, get, nouns) for one in ("UPDATE", "DELETE"))
    )
    kept = any((create, update, delete))
    return Trip(
        resource, get, create, update, delete, moves=moves_by_itself(get, resource, probe.operations, kept=kept)
    )


def _of_resource(
    probe: Probe, category: str, resource: str, get: SeenOperation, nouns: frozenset[str]
) -> SeenOperation | None:
    """The operation of a category that is called after a resource; one that is called nearly so, if there is one."""
    able = [one for one in probe.operations if one.category == category and verb_of(one.name) in VERBS[category]]
    fitting = [one for one in able if _fits(one, get)]
    exact = [f"{verb}_{noun}" for verb in VERBS[category] for noun in (resource, f"{resource}s")]
    named = sorted((one for one in able if one.name in exact), key=lambda one: exact.index(one.name))
    if named:
        return named[0] if category == "CREATE" or _finds_the_same(named[0], get) else None
    noun = noun_of(get.name)
    near = [one for one in fitting if named_after(one, noun, get) and noun_of(one.name) not in nouns - {noun}]
    near.sort(key=lambda one: noun_of(one.name) != noun)
    return near[0] if near and resource == phrase_of(get.name) and _identifies(get) else None


def _fits(operation: SeenOperation, get: SeenOperation) -> bool:
    """Whether an operation can be meant for what another reads: it makes it without its id, or finds it by it."""
    if operation.category != "CREATE":
        return _finds_the_same(operation, get)
    ids = {one.name for one in get.parameters if one.required and one.name.endswith("id")}
    return not ids & {one.name for one in operation.parameters if one.required}


def _finds_the_same(operation: SeenOperation, get: SeenOperation) -> bool:
    keys = {one.name for one in get.parameters if one.required}
    wanted = {one.name for one in operation.parameters if one.required} - {INPUT}
    return keys <= {one.name for one in operation.parameters} or len(keys) == len(wanted)


# reading


def thing_in(exchange: Exchange, trip: Trip) -> Mapping[str, Any] | None:
    """The thing in an answer: all of its data, or what stands there by the name of the resource."""
    data = exchange.data if exchange.succeeded else None
    if not isinstance(data, Mapping) or data == {trip.resource: None}:
        return None
    for name in (trip.resource, "item", "resource", "result"):
        inner = data.get(name)
        if isinstance(inner, Mapping) and not set(trip.keys) & set(data):
            return inner
    return data


async def type_fields(probe: Probe, name: str) -> Mapping[str, SeenParameter]:
    """The fields of a declared type; nothing where it has none or is not declared."""
    kept: dict[str, Mapping[str, SeenParameter]] = probe.memory.setdefault("trips.types", {})
    if name not in kept:
        listed = any(one.get("name") == name for one in probe.survey.types)
        data = (await probe.introspect("types", name)).data if listed else None
        told = data.get("type") if isinstance(data, Mapping) else None
        fields = entries(told.get("fields")) if isinstance(told, Mapping) else []
        kept[name] = {str(one.get("name")): SeenParameter(one) for one in fields}
    return kept[name]


async def fields_of(probe: Probe, trip: Trip) -> dict[str, SeenParameter]:
    """What is declared of the fields of a resource, by whatever declares them; the narrowest declaration wins."""
    found: dict[str, SeenParameter] = {}
    found |= await _returned_fields(probe, trip)
    for operation in (trip.create, trip.update):
        for parameter in operation.parameters if operation else ():
            inner = await type_fields(probe, parameter.types[0] if parameter.types else "")
            if inner and (parameter.name == INPUT or parameter.name not in found):
                found |= inner
            elif parameter.name not in {*CONTROL, *trip.keys}:
                found[parameter.name] = parameter
    return found


async def sample_of(probe: Probe, trip: Trip) -> tuple[dict[str, Any], Exchange | None]:
    """The identifiers of a thing that exists, and how it was answered; no answer where none is known."""
    kept: dict[str, tuple[dict[str, Any], Exchange | None]] = probe.memory.setdefault("trips.samples", {})
    if trip.resource not in kept:
        kept[trip.resource] = await _sampled(probe, trip)
    return kept[trip.resource]


async def _sampled(probe: Probe, trip: Trip) -> tuple[dict[str, Any], Exchange | None]:
    try:
        params = await valid_params(probe, trip.get)
    except CannotBeSeen:
        return {}, None
    keys = {name: value for name, value in params.items() if name in trip.keys}
    exchange = await probe.call(trip.get, keys)
    return keys, exchange if thing_in(exchange, trip) is not None else None


# making


async def make(probe: Probe, trip: Trip, salt: str) -> Made:
    """Make one thing; CannotBeSeen if no request that can be thought of is taken."""
    create = trip.create
    if create is None:
        raise CannotBeSeen(f"nothing makes a '{trip.resource}'")
    refused: Exchange | None = None
    async for params in _tries(probe, trip, create, salt):
        exchange = await call_agreed(probe, create, params)
        if exchange.succeeded:
            return made_by(trip, params, exchange)
        refused = exchange
    why = f"{refused.code}: {refused.message}" if refused is not None else "no request for it can be built"
    raise CannotBeSeen(f"'{create.name}' made nothing ({why}); give its parameters in the fixtures")


async def _tries(probe: Probe, trip: Trip, create: SeenOperation, salt: str) -> AsyncIterator[Mapping[str, Any]]:
    """Requests that are more and more modest: every field with a value of its own, every field, the required ones,
    and these nearly as they were given.
    """
    given = {**await valid_params(probe, create), **await _foreign(probe, trip, create)}
    plain = {name: value for name, value in given.items() if name not in CONTROL or name == INPUT}
    declared = await fields_of(probe, trip) | {one.name: one for one in create.parameters}
    sample = await _thing_there(probe, trip)
    optional = _optional(sample, trip, create, plain)
    full = {**plain, **optional}
    telling = await _telling(probe, trip, full, sample, declared)
    spoken = [name for name in plain if name in {*trip.keys, *_SPOKEN}]
    seen: list[Mapping[str, Any]] = []
    for params, unique in (
        (telling, list(full)),
        (full, list(full)),
        (plain, list(plain)),
        (plain, spoken),
        (plain, []),
    ):
        made = {
            name: _unique(name, value, trip, declared, salt) if name in unique else value
            for name, value in params.items()
        }
        if made not in seen:
            seen.append(made)
            yield made


async def _foreign(probe: Probe, trip: Trip, create: SeenOperation) -> dict[str, Any]:
    """Identifiers of other things that exist, unless a person has given the parameters."""
    fixtures = probe.options.fixtures
    wanted = [one for one in create.parameters if one.required and one.name.endswith("_id")]
    if create.name in fixtures.operations or not wanted:
        return {}
    harvest = await harvested(probe)
    found = {one.name: harvest.values(create, one) for one in wanted if one.name not in fixtures.values}
    return {name: values[0] for name, values in found.items() if values and name != trip.keys[-1]}


def _unique(name: str, value: Any, trip: Trip, declared: Mapping[str, SeenParameter], salt: str) -> Any:
    raw = declared[name].raw if name in declared else {}
    if isinstance(value, Mapping):
        return {inner: _unique(inner, one, trip, declared, salt) for inner, one in value.items()}
    if isinstance(value, int) and not isinstance(value, bool) and name == trip.keys[-1]:
        return number_from(salt, {"maximum": 999_999, **raw})
    foreign = name.endswith("_id") and name not in trip.keys
    return value if foreign else fresh(value, raw, salt)


async def _thing_there(probe: Probe, trip: Trip) -> Mapping[str, Any]:
    _, exchange = await sample_of(probe, trip)
    return (thing_in(exchange, trip) if exchange is not None else None) or {}


async def _telling(
    probe: Probe,
    trip: Trip,
    params: Mapping[str, Any],
    sample: Mapping[str, Any],
    declared: Mapping[str, SeenParameter],
) -> dict[str, Any]:
    """The same with values that are neither defaults nor those of an existing thing, so that it shows if they are lost.

    Only fields that things are known to have are touched, and nothing that a person has given.
    """
    fixtures = probe.options.fixtures
    given = {*fixtures.operations.get(trip.create.name if trip.create else "", ()), *fixtures.values}
    known = {*sample, *await _returned_fields(probe, trip)} - given

    def told(name: str, value: Any) -> Any:
        if isinstance(value, Mapping) and name not in {*sample, *given}:
            return {inner: told(inner, one) for inner, one in value.items()}
        one = declared.get(name)
        if one is None or name not in known or not _is_field(one, trip, ()):
            return value
        taken = (one.raw.get("default"), sample.get(name))
        return unlike(name, value, [other for other in taken if other is not None], one.raw)

    return {name: told(name, value) for name, value in params.items()}


async def _returned_fields(probe: Probe, trip: Trip) -> Mapping[str, SeenParameter]:
    returns = trip.get.details.get("returns")
    return await type_fields(probe, str(returns.get("name")) if isinstance(returns, Mapping) else "")


def _optional(
    sample: Mapping[str, Any], trip: Trip, create: SeenOperation, given: Mapping[str, Any]
) -> Mapping[str, Any]:
    """Values for parameters that may be left out: as an existing thing has them, or made up."""
    wanted = [one for one in create.parameters if not one.required and _is_field(one, trip, given)]
    return {one.name: value for one in wanted if (value := _value(one, sample)) not in (None, {}, [])}


def _is_field(parameter: SeenParameter, trip: Trip, given: Iterable[str]) -> bool:
    name = parameter.name
    bound = name in {*CONTROL, *trip.keys, *given, "id"} or name.endswith(("_id", "_token")) or name.startswith("_")
    return not bound and not parameter.raw.get("deprecated") and "deprecated" not in parameter.description.lower()


def _value(parameter: SeenParameter, sample: Mapping[str, Any]) -> Any:
    if sample.get(parameter.name) is not None:
        return sample[parameter.name]
    items = parameter.raw.get("items")
    kind = items.get("type") if isinstance(items, Mapping) and not items.get("enum") else None
    if "array" in parameter.types or "string[]" in parameter.types:
        return ["probe one", "probe two"] if kind == "string" or "string[]" in parameter.types else None
    try:
        return value_for(parameter, {})
    except CannotBeSeen:
        return None


def made_by(trip: Trip, params: Mapping[str, Any], exchange: Exchange) -> Made:
    """What a call of ``create`` made; CannotBeSeen if its answer does not tell the identifiers."""
    keys: dict[str, Any] = {}
    sure = True
    for name in trip.keys:
        found = next(_identifiers(name, trip, params, exchange), None)
        if found is None:
            raise CannotBeSeen(f"the answer to '{exchange.operation}' does not tell the '{name}' of what was made")
        keys[name], certain = found
        sure = sure and certain
    return Made(trip, keys, sure, params, exchange)


def _plainly(thing: Mapping[str, Any]) -> dict[str, Any]:
    """The same with names in snake_case beside its own: what a server passes on may be named as it was there."""
    return {_CAPITAL.sub(r"_\1", name).lower(): value for name, value in thing.items()} | dict(thing)


def _identifiers(name: str, trip: Trip, params: Mapping[str, Any], exchange: Exchange) -> Iterator[tuple[Any, bool]]:
    """What may be an identifier of the new thing and whether that is certain, the likeliest first."""
    thing = thing_in(exchange, trip)
    if isinstance(exchange.data, str | int):
        yield exchange.data, False
    spoken: Sequence[str] = (name, "id", f"{trip.resource}_id") if len(trip.keys) == 1 else (name,)
    places = [_plainly(one) for one in (thing or {}, *(thing or {}).values()) if isinstance(one, Mapping)]
    for place in places:
        own = place is places[0]
        yield from ((place[one], own or one == name) for one in spoken if isinstance(place.get(one), str | int))
    for given in (params, *(value for value in params.values() if isinstance(value, Mapping))):
        if isinstance(given.get(name), str | int):
            yield given[name], True
