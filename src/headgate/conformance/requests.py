"""Requests that a server should be able to answer, built from what it says of itself."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from headgate.conformance.building import Types, fits, is_free, named_types, value_for
from headgate.conformance.harvest import harvested
from headgate.conformance.probe import CannotBeSeen, Probe
from headgate.conformance.survey import SeenOperation, SeenParameter
from headgate.conformance.values import Exchange

__all__ = ["Attempt", "attempt", "known_types", "misgiven", "other_values", "valid_params", "value_for"]

_ATTEMPTS: Final = "requests.attempts"
_TYPES: Final = "requests.types"
_MOST_TYPES: Final = 60
_DEEPEST: Final = 4


@dataclass(frozen=True, slots=True)
class Attempt:
    """Parameters that an operation should take, and how it took them."""

    params: dict[str, Any]
    exchange: Exchange | None
    """What a call with them gave; None where the operation was not called, because that would change something."""
    given: bool
    """Whether a person gave them."""
    tries: tuple[Exchange, ...] = ()
    """All calls that were made to find them, each with the required parameters alone."""

    @property
    def worked(self) -> bool:
        """Whether they are known to work."""
        return self.exchange is not None and self.exchange.succeeded


async def valid_params(probe: Probe, operation: SeenOperation) -> dict[str, Any]:
    """Parameters that an operation takes: from the fixtures, an example, what the server lists, or its declarations.

    Those of a READ operation are tried, and the first that work are given. CannotBeSeen if one cannot be made.
    """
    return dict((await attempt(probe, operation)).params)


async def attempt(probe: Probe, operation: SeenOperation) -> Attempt:
    """The same with what became of it, made once for each operation."""
    kept: dict[str, Attempt] = probe.memory.setdefault(_ATTEMPTS, {})
    if operation.name not in kept:
        kept[operation.name] = await _attempted(probe, operation)
    return kept[operation.name]


async def known_types(probe: Probe, operation: SeenOperation) -> Types:
    """The details of the types that an operation's parameters name, and of those that these name."""
    kept: dict[str, Mapping[str, Any]] = probe.memory.setdefault(_TYPES, {})
    wanted = {name for parameter in operation.parameters for name in named_types(parameter.raw)}
    for _ in range(_DEEPEST):
        fresh = sorted(wanted - kept.keys())[: max(_MOST_TYPES - len(kept), 0)]
        for name in fresh:
            kept[name] = _type_in(await probe.introspect("types", name))
        wanted = {inner for name in fresh for inner in named_types(kept[name])}
    return {name: details for name, details in kept.items() if details}


async def misgiven(probe: Probe, operation: SeenOperation) -> str:
    """What in the parameters that a person gave for an operation breaks its declaration; nothing if they keep to it."""
    given = probe.options.fixtures.operations.get(operation.name)
    if given is None:
        return ""
    types = await known_types(probe, operation)
    for name, value in given.items():
        parameter = operation.parameter(name)
        if parameter is None:
            return f"the fixtures give '{name}', which is no parameter of '{operation.name}'"
        if not fits(parameter, value, types):
            return f"the fixtures give '{name}' a value which the declaration of '{operation.name}' does not allow"
    lacking = next((one.name for one in operation.parameters if one.required and one.name not in given), "")
    return f"the fixtures give no '{lacking}', which '{operation.name}' requires" if lacking else ""


async def other_values(probe: Probe, operation: SeenOperation, parameter: SeenParameter, value: object) -> list[Any]:
    """Values other than one, of which each may give another answer: of other things, and of one that does not exist."""
    found = (await harvested(probe)).values(operation, parameter)
    choices = parameter.raw.get("enum")
    made: list[Any] = list(choices) if isinstance(choices, list) else []
    if isinstance(value, str) and not made and is_free(parameter):
        made = [f"{value}zzqx"]
    if isinstance(value, int) and not isinstance(value, bool) and not made:
        made = [value + 1, 987_654_321]
    return [other for other in [*found[:2], *made[:3]] if other != value and fits(parameter, other)]


async def _attempted(probe: Probe, operation: SeenOperation) -> Attempt:
    fixtures = probe.options.fixtures
    is_read = operation.category == "READ" and probe.may_call(operation)
    if operation.name in fixtures.operations:
        params = dict(fixtures.operations[operation.name])
        exchange = await probe.call(operation, params) if is_read else None
        return Attempt(params, exchange, given=True)
    maker = _Maker(operation, fixtures.values, await known_types(probe, operation))
    if not is_read:
        return Attempt(maker.first(), None, given=False)
    return await _tried(probe, maker)


async def _tried(probe: Probe, maker: "_Maker") -> Attempt:
    """The first parameters that work; else the first that at least have the right form."""
    tries: list[Exchange] = []
    for make in (maker.of_example, maker.harvested, maker.made, maker.whole_example):
        params = await make(probe)
        if params is None or any(_params_of(one) == params for one in tries):
            continue
        exchange = await probe.call(maker.operation, params)
        if exchange.succeeded:
            minimal = () if make == maker.whole_example else (exchange,)
            return Attempt(params, exchange, given=False, tries=(*tries, *minimal))
        if make != maker.whole_example:
            tries.append(exchange)
    if not tries:
        raise CannotBeSeen(maker.missing())
    best = next((one for one in tries if not one.code.startswith("VALIDATION_")), tries[0])
    return Attempt(_params_of(best), best, given=False, tries=tuple(tries))


@dataclass(frozen=True, slots=True)
class _Maker:
    """Ways to the required parameters of one operation."""

    operation: SeenOperation
    known: Mapping[str, Any]
    types: Types

    @property
    def required(self) -> list[SeenParameter]:
        return [parameter for parameter in self.operation.parameters if parameter.required]

    def first(self) -> dict[str, Any]:
        """As an example has it, and what that lacks from the declarations."""
        shown = self.operation.examples[0] if self.operation.examples else {}
        known = {**shown, **self.known}
        return {**shown, **{one.name: value_for(one, known, self.types) for one in self.required}}

    async def of_example(self, _probe: Probe) -> dict[str, Any] | None:
        shown = next(iter(self.operation.examples), None)
        return None if shown is None else self._filled({**shown, **self.known})

    async def harvested(self, probe: Probe) -> dict[str, Any] | None:
        if not self.required:
            return None
        harvest = await harvested(probe)
        found = harvest.together(self.operation, self.required) or {
            one.name: values[0] for one in self.required if (values := harvest.values(self.operation, one))
        }
        return self._filled({**found, **self.known}) if found else None

    async def made(self, _probe: Probe) -> dict[str, Any] | None:
        return self._filled(self.known)

    async def whole_example(self, _probe: Probe) -> dict[str, Any] | None:
        shown = next(iter(self.operation.examples), None)
        return None if shown is None else {**shown, **{one: self.known[one] for one in shown if one in self.known}}

    def missing(self) -> str:
        """Why there are no parameters."""
        try:
            self.first()
        except CannotBeSeen as error:
            return f"'{self.operation.name}': {error}"
        return f"'{self.operation.name}' could not be called"

    def _filled(self, known: Mapping[str, Any]) -> dict[str, Any] | None:
        try:
            return {one.name: value_for(one, known, self.types) for one in self.required}
        except CannotBeSeen:
            return None


def _params_of(exchange: Exchange) -> dict[str, Any]:
    arguments = exchange.arguments
    params = arguments.get("params") if isinstance(arguments, Mapping) else None
    return dict(params) if isinstance(params, Mapping) else {}


def _type_in(exchange: Exchange) -> Mapping[str, Any]:
    found = exchange.data.get("type") if isinstance(exchange.data, Mapping) else None
    return found if isinstance(found, Mapping) else {}
