"""Requests with one thing wrong, sent once and judged by several checks: is it refused, and with which code?"""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from headgate.conformance.building import Edge, edges, wrong_values
from headgate.conformance.choosing import spread
from headgate.conformance.makings import makings_of, send
from headgate.conformance.probe import CannotBeSeen, Probe
from headgate.conformance.requests import Attempt, attempt, known_types
from headgate.conformance.survey import SeenOperation, SeenParameter
from headgate.conformance.values import Exchange

__all__ = [
    "NONSENSE",
    "SAFETY_LOOP",
    "Trial",
    "attempts",
    "can_pretend",
    "edge_trials",
    "harmless",
    "inconclusive",
    "missing_trials",
    "names",
    "remembered",
    "shown",
    "unknown_trials",
    "wrong_type_trials",
]

NONSENSE: Final = "zz_no_such_parameter"
"""A name that no parameter has."""

_MOST_OPERATIONS: Final = 60
_MOST_TRIALS: Final = 120
_MOST_OF_ONE: Final = 8
"""How many parameters are tried of an operation that makes things."""
_MOST_ALIKE: Final = 2
"""How often parameters of one name and declaration are tried, in different operations."""
_ELSEWHERE: Final = ("CONFIRMATION_", "PERMISSION_", "RATE_LIMIT_", "TOKEN_", "TRANSPORT_", "AUTH_")
"""Codes of refusals that have nothing to do with what was wrong."""
SAFETY_LOOP: Final = frozenset(
    {
        *("execute_agent", "record_execution_step", "complete_execution", "abort_execution"),
        *("confirm_operation", "verify_challenge"),
    }
)
"""They have checks of their own, and what is sent to them has consequences."""
_PATIENT: Final = re.compile("wait|timeout|seconds|minutes|delay|sleep|duration")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Trial:
    """A request with one fault, and what it would have been without."""

    operation: SeenOperation
    base: Attempt | None
    """The request without the fault; None where none can be made."""
    exchange: Exchange
    parameter: SeenParameter | None = None
    value: Any = None
    left: str = ""
    """What it made and could not be taken away, in a sentence."""

    @property
    def subject(self) -> str:
        """What it is about."""
        return f"{self.operation.name}.{self.parameter.name}" if self.parameter is not None else self.operation.name

    @property
    def tells(self) -> bool:
        """Whether a failure can come of the fault: not if the request fails in the same way without it."""
        code = self.exchange.code
        if not self.exchange.failed or code.startswith(_ELSEWHERE):
            return False
        without = self.base.exchange if self.base is not None else None
        return without is None or not (without.failed and without.code == code)


def inconclusive(exchange: Exchange) -> bool:
    """Whether a failure says nothing of what was asked: it came from a guard, or from a breakdown."""
    return exchange.failed and exchange.code.startswith((*_ELSEWHERE, "INTERNAL_"))


def names(exchange: Exchange, parameter: str) -> bool:
    """Whether an error speaks of a parameter."""
    return parameter in exchange.message or parameter in repr(exchange.details)


def shown(value: Any) -> str:
    """A value that was sent, in a sentence."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:40]}… ({len(text)} characters)"


async def remembered(probe: Probe, name: str, make: Callable[[], Awaitable[T]]) -> T:
    """What was found out before, or is now."""
    if name not in probe.memory:
        probe.memory[name] = await make()
    found: T = probe.memory[name]
    return found


async def attempts(probe: Probe, most: int = _MOST_OPERATIONS) -> list[tuple[SeenOperation, Attempt]]:
    """READ operations with parameters that they should take; those for which none can be made are left out."""
    found = []
    for operation in spread(probe.readable, most):
        try:
            found.append((operation, await attempt(probe, operation)))
        except CannotBeSeen:
            continue
    return found


async def harmless(probe: Probe, *, making: bool = True) -> list[tuple[SeenOperation, Attempt]]:
    """The same, and operations that change something, if they may be called and can be asked to change nothing.

    Those that make things are among them, if whatever they make may be deleted again.
    """
    found = await attempts(probe)
    if making:
        makings = (await makings_of(probe)).values()
        found += [(one.create, Attempt(dict(one.params), one.answer, given=False)) for one in makings]
    for operation in spread([one for one in probe.callable if can_pretend(one)], _MOST_OPERATIONS // 2):
        try:
            made = await attempt(probe, operation)
        except CannotBeSeen:
            continue
        found.append((operation, Attempt({**made.params, "dry_run": True}, None, made.given)))
    return found


def can_pretend(operation: SeenOperation) -> bool:
    """Whether an operation that changes something can be asked only to tell what it would do."""
    switch = operation.parameter("dry_run")
    return operation.category != "READ" and switch is not None and switch.types == ("boolean",)


async def missing_trials(probe: Probe) -> list[Trial]:
    """Each required parameter left out."""

    async def make() -> list[Trial]:
        found: list[Trial] = []
        for operation in spread([one for one in probe.callable if one.name not in SAFETY_LOOP], _MOST_OPERATIONS):
            required = [one for one in operation.parameters if one.required and not _is_input(operation, one)]
            if required and len(found) < _MOST_TRIALS:
                found += await _without_each(probe, operation, required[:3])
        return found

    return await remembered(probe, "trials.missing", make)


async def _without_each(probe: Probe, operation: SeenOperation, required: list[SeenParameter]) -> list[Trial]:
    pretending = {"dry_run": True} if can_pretend(operation) else {}
    try:
        base = await attempt(probe, operation)
    except CannotBeSeen:
        return [await _trial(probe, operation, None, pretending, required[0])]
    params = {**base.params, **pretending}
    return [await _trial(probe, operation, base, _without(params, one.name), one) for one in required]


async def _trial(
    probe: Probe,
    operation: SeenOperation,
    base: Attempt | None,
    params: Mapping[str, Any],
    parameter: SeenParameter | None = None,
    value: Any = None,
) -> Trial:
    exchange, left = await send(probe, operation, params)
    return Trial(operation, base, exchange, parameter, value, left)


def _without(params: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in params.items() if key != name}


async def wrong_type_trials(probe: Probe) -> list[Trial]:
    """Parameters with a value of a type that they surely do not take."""

    async def make() -> list[Trial]:
        found: list[Trial] = []
        seen: dict[str, int] = {}
        for operation, base in await harmless(probe):
            types = await known_types(probe, operation)
            for parameter in _some_of(operation):
                values = wrong_values(parameter, types)
                if not values or _is_input(operation, parameter) or parameter.name == "dry_run":
                    continue
                if len(found) >= _MOST_TRIALS or not _is_new(parameter, seen):
                    continue
                for value in values:
                    params = {**base.params, parameter.name: value}
                    found.append(await _trial(probe, operation, base, params, parameter, value))
        return found

    return await remembered(probe, "trials.types", make)


async def unknown_trials(probe: Probe) -> list[Trial]:
    """A parameter that no operation has."""

    async def make() -> list[Trial]:
        return [
            await _trial(probe, operation, base, {**base.params, NONSENSE: "probe"})
            for operation, base in await harmless(probe)
        ]

    return await remembered(probe, "trials.unknown", make)


async def edge_trials(probe: Probe, *, inside: bool) -> list[tuple[Trial, str]]:
    """Values on one side of every documented constraint, and the constraint in words."""
    found: list[tuple[Trial, str]] = []
    seen: dict[str, int] = {}
    for operation, base in await harmless(probe, making=not inside):
        types = await known_types(probe, operation)
        for parameter in _some_of(operation):
            near = [edge for edge in edges(parameter, types) if edge.inside is inside and not _waits(parameter, edge)]
            if not near or len(found) >= _MOST_TRIALS or not _is_new(parameter, seen):
                continue
            for edge in near:
                params = {**base.params, parameter.name: edge.value}
                found.append((await _trial(probe, operation, base, params, parameter, edge.value), edge.constraint))
    return found


def _some_of(operation: SeenOperation) -> list[SeenParameter]:
    return spread(operation.parameters, _MOST_OF_ONE if operation.category == "CREATE" else len(operation.parameters))


def _waits(parameter: SeenParameter, edge: Edge) -> bool:
    """Whether a right value could make the server wait for longer than anybody does."""
    patient = bool(_PATIENT.search(parameter.name))
    return edge.inside and patient and isinstance(edge.value, (int, float)) and edge.value > 1


def _is_input(operation: SeenOperation, parameter: SeenParameter) -> bool:
    """The ``input`` of updates has checks of its own."""
    return operation.category == "UPDATE" and parameter.name == "input"


def _is_new(parameter: SeenParameter, seen: dict[str, int]) -> bool:
    """Whether a parameter of this name and declaration was not tried often enough yet."""
    rules = {key: value for key, value in parameter.raw.items() if key not in ("description", "default")}
    key = repr(sorted(rules.items(), key=lambda rule: rule[0]))
    seen[key] = seen.get(key, 0) + 1
    return seen[key] <= _MOST_ALIKE
