"""What a server's own lists tell of the things that it has: names and identifiers that further requests can use."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from headgate.conformance.building import fits
from headgate.conformance.choosing import spread
from headgate.conformance.probe import Probe
from headgate.conformance.survey import SeenOperation, SeenParameter
from headgate.protocol.names import resource_of, singular, verb_of

__all__ = ["Harvest", "harvested", "things_in"]

_MEMORY: Final = "harvest"
_MOST_LISTS: Final = 30
_MOST_THINGS: Final = 20
_NEVER: Final = frozenset({"count", "export", "introspect"})
"""Verbs of operations that give no things, or too many."""
_ENDINGS: Final = ("_id", "_name", "_key", "_slug", "_uuid", "_code", "_number")


@dataclass(frozen=True, slots=True)
class Harvest:
    """The things that a server has listed, by what they are."""

    things: Mapping[str, list[Any]]
    """By the singular of the resource's name; a thing is an object, or a bare value."""

    def values(self, operation: SeenOperation, parameter: SeenParameter) -> list[Any]:
        """Values of existing things that a parameter could mean, the likeliest first."""
        found: list[Any] = []
        for value in self._candidates(operation, parameter.name):
            if _is_scalar(value) and value not in found and fits(parameter, value):
                found.append(value)
        return found

    def together(self, operation: SeenOperation, parameters: Sequence[SeenParameter]) -> dict[str, Any]:
        """The values of one existing thing, if an operation's own resource has one that tells them all."""
        for thing in self._named(_singular_of(resource_of(operation.name))):
            if isinstance(thing, Mapping) and all(_tells(thing, one) for one in parameters):
                return {one.name: thing[one.name] for one in parameters}
        return {}

    def _candidates(self, operation: SeenOperation, name: str) -> Iterator[Any]:
        own = _singular_of(resource_of(operation.name))
        ending = next((ending for ending in _ENDINGS if name.endswith(ending)), "")
        meant = _singular_of(name.removesuffix(ending)) if ending else own
        for thing in self._named(meant):
            yield from _members(thing, name, *([ending[1:], "id", "name"] if ending else []))
        for thing in self._named(_singular_of(name)):
            yield from (thing,) if _is_scalar(thing) else _members(thing, "name", "id")
        for thing in self._named(own):
            yield from (thing,) if _is_scalar(thing) else _members(thing, name)
        if ending:
            for things in self.things.values():
                for thing in things:
                    yield from _members(thing, name)

    def _named(self, resource: str) -> list[Any]:
        exact = self.things.get(resource)
        if exact is not None:
            return exact
        last = resource.rpartition("_")[2]
        return self.things.get(last, [])


async def harvested(probe: Probe) -> Harvest:
    """What the lists of a server hold, asked for once."""
    kept = probe.memory.get(_MEMORY)
    if not isinstance(kept, Harvest):
        kept = probe.memory[_MEMORY] = Harvest(await _gathered(probe))
    return kept


async def _gathered(probe: Probe) -> dict[str, list[Any]]:
    things: dict[str, list[Any]] = {}
    for operation in spread([one for one in probe.readable if _is_list(one)], _MOST_LISTS):
        exchange = await probe.call(operation, {})
        if exchange.succeeded:
            row = things.setdefault(_singular_of(resource_of(operation.name)), [])
            row += things_in(exchange.data)[:_MOST_THINGS]
    return things


def things_in(data: object) -> list[Any]:
    """The things in an answer: the list that it is, or the longest of those that it holds."""
    if isinstance(data, list):
        return data
    lists = [value for value in data.values() if isinstance(value, list)] if isinstance(data, Mapping) else []
    return max(lists, key=len, default=[])


def _is_list(operation: SeenOperation) -> bool:
    return verb_of(operation.name) not in _NEVER and not any(one.required for one in operation.parameters)


def _singular_of(words: str) -> str:
    first, cut, last = words.rpartition("_")
    return f"{first}{cut}{singular(last)}"


def _members(thing: object, *names: str) -> Iterator[Any]:
    if isinstance(thing, Mapping):
        yield from (thing[name] for name in names if name in thing)


def _tells(thing: Mapping[str, Any], parameter: SeenParameter) -> bool:
    value = thing.get(parameter.name)
    return _is_scalar(value) and fits(parameter, value)


def _is_scalar(value: object) -> bool:
    return isinstance(value, (str, int)) and not isinstance(value, bool) and value != ""
