"""Evidence of how a server treats parameters: which it accepts, and what it says of missing and unknown ones.

Only what was seen is written down. A parameter counts as accepted if a request with it was not refused because of it.
What changes something is asked with a further parameter that cannot exist: a server that refuses those refuses the
request before anything is done, and what it does not call unknown it knows.
"""

from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any, Final

from headgate.conformance.building import value_for, wrong_typed
from headgate.conformance.probe import CannotBeSeen, Probe
from headgate.conformance.requests import known_types, valid_params
from headgate.conformance.survey import INTROSPECT, SeenOperation, SeenParameter
from headgate.conformance.values import Exchange
from headgate.conformance.variation import another

__all__ = ["NONSENSE", "Trials", "told_unknown", "tried_operations"]

NONSENSE: Final = "no_such_parameter"
_CROSS_CUTTING: Final[Mapping[str, Any]] = {
    "query": "a",
    "filter": {},
    "sort": "id",
    "fields": ["id"],
    "first": 1,
    "limit": 1,
    "offset": 0,
    "page": 1,
    "page_size": 1,
}
"""Parameters that many operations have: where one is not documented, it should not be accepted."""
_SIZES: Final = frozenset({"first", "limit", "page_size"})
_DEEPEST: Final = 4


def tried_operations(probe: Probe) -> list[SeenOperation]:
    """The operations that may be called, ``introspect`` among them."""
    itself = probe.survey.operations.get(INTROSPECT)
    return [*([itself] if itself is not None and itself.details else []), *probe.callable]


class Trials:
    """What was tried with parameters, operation by operation."""

    def __init__(self, probe: Probe) -> None:
        self._probe = probe
        self._bases: dict[str, dict[str, Any]] = {}
        self._strict: bool | None = None

    async def base(self, operation: SeenOperation) -> dict[str, Any]:
        """Parameters that the operation should take; as many as can be made."""
        if operation.name not in self._bases:
            try:
                self._bases[operation.name] = await valid_params(self._probe, operation)
            except CannotBeSeen:
                self._bases[operation.name] = dict(await self._some(operation))
        return dict(self._bases[operation.name])

    async def _some(self, operation: SeenOperation) -> Mapping[str, Any]:
        return {
            one.name: value
            for one in operation.parameters
            if one.required and (value := await self._value(operation, one))
        }

    async def _value(self, operation: SeenOperation, parameter: SeenParameter) -> Any:
        """A value for a parameter: of an example, made, or if need be a wrong one, which shows as much."""
        shown = next((params[parameter.name] for params in operation.examples if parameter.name in params), None)
        if shown is not None:
            return shown
        types = await known_types(self._probe, operation)
        try:
            return value_for(parameter, self._probe.options.fixtures.values, types)
        except CannotBeSeen:
            return wrong_typed(parameter, types) or "probe"

    async def missing(self, operation: SeenOperation) -> AsyncIterator[dict[str, Any]]:
        """For each required parameter, the answer without it."""
        base = await self.base(operation)
        for parameter in operation.parameters:
            if parameter.required:
                params = {name: value for name, value in base.items() if name != parameter.name}
                yield _case(operation, parameter.name, await self._probe.call(operation, params))

    async def unknown(self, operation: SeenOperation) -> dict[str, Any] | None:
        """The answer to a parameter that does not exist; None where the operation would run in spite of it."""
        if operation.category != "READ" and not await self.is_strict():
            return None
        params = {**await self.base(operation), NONSENSE: "probe"}
        return _case(operation, NONSENSE, await self._probe.call(operation, params))

    async def wrong_type(self, operation: SeenOperation) -> dict[str, Any] | None:
        """The answer to a value of a wrong type; None where there is none, or the operation would run with it."""
        if operation.category != "READ" and not await self.is_strict():
            return None
        types = await known_types(self._probe, operation)
        for parameter in operation.parameters:
            value = wrong_typed(parameter, types)
            if value is not None:
                params = {**await self.base(operation), parameter.name: value}
                return _case(operation, parameter.name, await self._probe.call(operation, params))
        return None

    async def is_strict(self) -> bool:
        """Whether the server refuses parameters that do not exist."""
        if self._strict is None:
            itself = self._probe.survey.operations.get(INTROSPECT)
            tried = next(iter(self._probe.readable), itself)
            self._strict = tried is not None and await self._refuses(tried)
        return self._strict

    async def _refuses(self, operation: SeenOperation) -> bool:
        exchange = await self._probe.call(operation, {**await self.base(operation), NONSENSE: "probe"})
        return exchange.failed and NONSENSE in told_unknown(exchange, [NONSENSE])

    async def accepted(self, operation: SeenOperation) -> list[str]:
        """The parameters that were seen to be accepted, documented or not."""
        if operation.category != "READ" and not await self.is_strict():
            return [case["parameter"] async for case in self.missing(operation) if _names_it(case)]
        found = [one.name for one in operation.parameters if await self._accepts(operation, one)]
        return [*found, *[name async for name in self._hidden(operation)]]

    async def _accepts(self, operation: SeenOperation, parameter: SeenParameter) -> bool:
        params = await self.base(operation)
        params.setdefault(parameter.name, await self._value(operation, parameter))
        if operation.category == "READ":
            exchange = await self._probe.call(operation, params)
            return exchange.envelope is not None and parameter.name not in told_unknown(exchange, params)
        exchange = await self._probe.call(operation, {**params, NONSENSE: "probe"})
        unknown = told_unknown(exchange, [*params, NONSENSE])
        speaks_of_it = exchange.failed and (unknown or parameter.name in exchange.message)
        return bool(speaks_of_it) and parameter.name not in unknown

    async def _hidden(self, operation: SeenOperation) -> AsyncIterator[str]:
        """Parameters that are accepted although they are not documented."""
        if operation.category != "READ" or not await self.is_strict():
            return
        base = await self.base(operation)
        for name, value in _CROSS_CUTTING.items():
            if operation.parameter(name) is None:
                exchange = await self._probe.call(operation, {**base, name: value})
                if exchange.succeeded and not (exchange.envelope or {}).get("warnings"):
                    yield name

    async def defaults(self, operation: SeenOperation) -> AsyncIterator[dict[str, Any]]:
        """Where an answer tells what a parameter was, what it tells if the parameter is left out."""
        for parameter in operation.parameters if operation.category == "READ" else ():
            default = parameter.raw.get("default")
            if default is None or isinstance(default, Mapping | list):
                continue
            base = {name: value for name, value in (await self.base(operation)).items() if name != parameter.name}
            exchange = await self._probe.call(operation, base)
            path = await self._echo(operation, parameter, base, exchange)
            if path:
                yield {
                    **_case(operation, parameter.name, exchange),
                    "expected_value_path": path,
                    "expected_value": default,
                }

    async def _echo(
        self, operation: SeenOperation, parameter: SeenParameter, base: Mapping[str, Any], exchange: Exchange
    ) -> str:
        """Where an answer repeats the value of a parameter: what stands there changes with it."""
        paths = list(_paths(exchange.data, "data", parameter.name)) if exchange.succeeded else []
        other = another(parameter.raw["default"], parameter.raw, self._probe.seed)
        if not paths or other is None:
            return ""
        changed = await self._probe.call(operation, {**base, parameter.name: other})
        repeated = dict(_values(changed.data, "data"))
        return next((path for path in paths if changed.succeeded and repeated.get(path) == other), "")


def _case(operation: SeenOperation, parameter: str, exchange: Exchange) -> dict[str, Any]:
    return {"operation": operation.name, "parameter": parameter, "response": exchange.envelope}


def _names_it(case: Mapping[str, Any]) -> bool:
    response = case["response"]
    error = response.get("error") if isinstance(response, Mapping) and response.get("success") is False else None
    return isinstance(error, Mapping) and case["parameter"] in str(error.get("message"))


def told_unknown(exchange: Exchange, sent: Mapping[str, Any] | list[str]) -> set[str]:
    """Which of the parameters that were sent are called unknown: as the details say, or the message before any list."""
    problems = [exchange.error, *_problems(exchange.details.get("problems"))]
    unknown = [one for one in problems if _is_unknown(str(one.get("code")))]
    told = {name for one in unknown for name in _named(one) if name in sent}
    if told or not unknown:
        return told
    places = {name: exchange.message.find(name) for name in sent if name in exchange.message}
    return {min(places, key=lambda name: (places[name], -len(name)))} if places else set()


def _is_unknown(code: str) -> bool:
    return "UNKNOWN" in code and "PARAM" in code


def _problems(value: object) -> list[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def _named(problem: Mapping[str, Any]) -> Iterator[str]:
    details = problem.get("details")
    for place in (problem, details if isinstance(details, Mapping) else {}):
        for key in ("unknown_params", "unknown_parameters", "param_name", "parameter", "param"):
            value = place.get(key)
            yield from (value,) if isinstance(value, str) else _texts(value)


def _texts(value: object) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


def _paths(data: object, path: str, name: str) -> Iterator[str]:
    """Where a member is called like a parameter."""
    words = {name.replace("_", "").lower(), *(["pagesize"] if name in _SIZES else [])}
    return (place for place, _ in _values(data, path) if place.rpartition(".")[2].replace("_", "").lower() in words)


def _values(data: object, path: str, depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Every plain value in an object, with its path; lists are passed over, since they are the things themselves."""
    for key, value in data.items() if isinstance(data, Mapping) and depth < _DEEPEST else ():
        if isinstance(value, Mapping):
            yield from _values(value, f"{path}.{key}", depth + 1)
        elif not isinstance(value, list):
            yield f"{path}.{key}", value
