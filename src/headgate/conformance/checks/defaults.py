"""Parameter Handling: what introspection says of parameters is true, of defaults and constraints too."""

from collections.abc import AsyncIterator, Mapping
from typing import Any, Final

from headgate.conformance.building import is_free, value_for
from headgate.conformance.choosing import spread
from headgate.conformance.makings import send
from headgate.conformance.probe import CannotBeSeen, Probe
from headgate.conformance.registry import broken, check, holds, unseen
from headgate.conformance.requests import Attempt, attempt, known_types, misgiven
from headgate.conformance.survey import SeenOperation, SeenParameter
from headgate.conformance.trials import (
    NONSENSE,
    Trial,
    attempts,
    edge_trials,
    inconclusive,
    names,
    shown,
    unknown_trials,
)
from headgate.conformance.values import Area, Demand, Exchange, Finding

__all__: list[str] = []

_MOST_OPERATIONS: Final = 30
_MOST_DEFAULTS: Final = 4
_CROSS_CUTTING: Final[Mapping[str, Any]] = {
    "fields": "minimal",
    "limit": 1,
    "offset": 0,
    "first": 1,
    "after": "probe",
    "page": 1,
    "page_size": 1,
    "sort": {"field": "id", "order": "asc"},
    "filter": {},
    "query": "probe",
    "preset": "minimal",
    "dry_run": True,
}
_MOST_COMPLETE: Final = 15
_ABSENT: Final = object()
_MOST_VALID: Final = 60
_MOST_OPTIONAL: Final = 100
_PLAIN: Final = frozenset({"string", "integer", "number", "boolean"})
_TYPE: Final = "VALIDATION_INVALID_TYPE"
_UNKNOWN: Final = "VALIDATION_UNKNOWN_PARAM"
_RULES: Final = ("VALIDATION_INVALID_ENUM", "VALIDATION_OUT_OF_RANGE", "VALIDATION_PATTERN_MISMATCH")
_FORMAL: Final = ("VALIDATION_MISSING_PARAM", _TYPE, _UNKNOWN, *_RULES)
"""Codes for what a declaration would have to tell."""


@check(
    "parameters.defaults-applied",
    "Leaving a parameter out is the same as giving its documented default.",
    section="operations 5.4",
    demand=Demand.MUST,
    area=Area.PARAMETERS,
    level=1,
    how="Calls READ operations without a parameter, twice, and with its default, and compares what is steady.",
    proves=("ops-5.4-param-defaults-applied", "intro-8.2-parameter-defaults-documented"),
)
async def defaults_applied(probe: Probe) -> AsyncIterator[Finding]:
    """A documented default is the true one."""
    able = [(operation, base) for operation, base in await attempts(probe) if base.worked and _with_defaults(operation)]
    for operation, base in spread(able, _MOST_OPERATIONS):
        for parameter in spread(_with_defaults(operation), _MOST_DEFAULTS):
            finding = await _compared(probe, operation, base, parameter)
            if finding is not None:
                yield finding


def _with_defaults(operation: SeenOperation) -> list[SeenParameter]:
    return [one for one in operation.parameters if one.raw.get("default") is not None and not one.raw.get("sensitive")]


async def _compared(probe: Probe, operation: SeenOperation, base: Attempt, parameter: SeenParameter) -> Finding | None:
    plain = {name: value for name, value in base.params.items() if name != parameter.name}
    once = await probe.call(operation, plain)
    explicit = await probe.call(operation, {**plain, parameter.name: parameter.raw["default"]})
    again = await probe.call(operation, plain)
    subject = f"{operation.name}.{parameter.name}"
    if not (once.succeeded and again.succeeded):
        return None
    if not explicit.succeeded:
        return unseen(subject, f"its own default was refused with {explicit.code}", explicit)
    where = difference(once.data, again.data, explicit.data)
    if where is None:
        return holds(subject, explicit)
    words = f"'{operation.name}' gives another answer with '{parameter.name}' = {parameter.raw['default']!r}, its "
    words += f"documented default, than without it (in '{where}'); expected the same"
    return broken(subject, words, once, explicit)


def difference(once: object, again: object, other: object, path: str = "data") -> str | None:
    """Where the third differs from the first two, which differ from each other only in what is not steady."""
    if once == other or (once != again and not _same_shape(once, again)):
        return None
    if isinstance(once, Mapping) and isinstance(again, Mapping) and isinstance(other, Mapping):
        names = [name for name in sorted({*once, *other}) if not _is_unsteady(str(name))]
        inner = [(f"{path}.{name}", *(one.get(name, _ABSENT) for one in (once, again, other))) for name in names]
    elif isinstance(once, list) and isinstance(again, list) and isinstance(other, list) and len(once) == len(other):
        inner = [(f"{path}[{place}]", *three) for place, three in enumerate(zip(once, again, other, strict=True))]
    else:
        return path
    found = (difference(first, second, third, where) for where, first, second, third in inner)
    return next((where for where in found if where is not None), None)


def _same_shape(once: object, again: object) -> bool:
    """Whether it is worth looking inside two values that are not equal."""
    if isinstance(once, list) and isinstance(again, list):
        return len(once) == len(again)
    return isinstance(once, Mapping) and isinstance(again, Mapping)


def _is_unsteady(name: str) -> bool:
    """Whether a member may tell how it was asked for: metadata, and what leads to the next page."""
    return name.startswith("_") or "cursor" in name.lower() or "token" in name.lower()


@check(
    "parameters.complete",
    "No parameter is taken that introspection does not list.",
    section="introspection 8.1.2",
    demand=Demand.MUST,
    area=Area.PARAMETERS,
    level=1,
    how="Tries well-known parameters such as 'fields' and 'limit' on READ operations that do not document them.",
    proves=(
        "intro-8.1.2-every-accepted-parameter-listed",
        "spec-10.2-operations-documented-in-introspection",
        "cq-6-controls-in-parameters",
    ),
)
async def complete(probe: Probe) -> AsyncIterator[Finding]:
    """Nothing is hidden. Where any name is taken, that is another check's matter."""
    strict = [
        trial
        for trial in await unknown_trials(probe)
        if trial.operation.category == "READ" and trial.base and trial.base.worked and trial.tells
    ]
    for trial in spread(strict, _MOST_COMPLETE):
        base: dict[str, Any] = trial.base.params if trial.base else {}
        for name, value in _CROSS_CUTTING.items():
            if trial.operation.parameter(name) is None:
                yield _hidden(trial.operation, name, await probe.call(trial.operation, {**base, name: value}))


def _hidden(operation: SeenOperation, name: str, exchange: Exchange) -> Finding:
    subject = f"{operation.name}.{name}"
    if not exchange.succeeded:
        return holds(subject, exchange)
    words = f"'{operation.name}' takes '{name}', which its introspection does not list, although it refuses "
    return broken(subject, f"{words}'{NONSENSE}'; expected that '{name}' is documented, or refused", exchange)


@check(
    "parameters.edges-accepted",
    "A value just within a documented constraint is taken.",
    section="introspection 8.1.1",
    demand=Demand.MUST,
    area=Area.PARAMETERS,
    level=1,
    how="Sends the smallest, the largest, the shortest, the longest, and the first and last of documented values.",
    proves=("intro-8.1.1-parameter-types-match-handler",),
)
async def edges_accepted(probe: Probe) -> AsyncIterator[Finding]:
    """Nor is anything refused that is documented as right."""
    for trial, constraint in await edge_trials(probe, inside=True):
        if not trial.exchange.code.startswith("VALIDATION_"):
            yield holds(trial.subject, trial.exchange)
        elif trial.parameter is not None and await _usual_is_taken(probe, trial, trial.parameter):
            words = f"'{trial.operation.name}' refused {shown(trial.value)} for '{trial.parameter.name}' with "
            words += f"{trial.exchange.code}, although it is within {constraint}; expected that it is taken"
            yield broken(trial.subject, words, trial.exchange)
        else:
            yield unseen(trial.subject, "other values that its declaration allows are refused too", trial.exchange)


async def _usual_is_taken(probe: Probe, trial: Trial, parameter: SeenParameter) -> bool:
    """Whether an ordinary value of the same parameter is taken: only then is it the edge that is refused."""
    params = trial.base.params if trial.base is not None else {}
    types = await known_types(probe, trial.operation)
    try:
        usual = value_for(parameter, params, types)
    except CannotBeSeen:
        return False
    if usual == trial.value:
        return trial.exchange.code in _RULES
    exchange, _ = await send(probe, trial.operation, {**params, parameter.name: usual})
    return not exchange.code.startswith("VALIDATION_")


@check(
    "parameters.valid-accepted",
    "A request that is built from introspection alone is not refused as invalid.",
    section="introspection 8.1.1",
    demand=Demand.MUST,
    area=Area.PARAMETERS,
    level=1,
    how="Calls READ operations with their required parameters alone, and with each optional one in turn.",
    proves=(
        "intro-8.1.1-parameter-names-match-handler",
        "intro-8.1.1-parameter-types-match-handler",
        "intro-8.1.1-required-status-matches-handler",
        "intro-8.1.2-optional-parameters-flagged-false",
        "ops-2.1-standard-input-structure",
    ),
)
async def valid_accepted(probe: Probe) -> AsyncIterator[Finding]:
    """Introspection is true. Of what a person gave and it forbids nothing can be seen."""
    wrong = {one.name: words for one in probe.operations if (words := await misgiven(probe, one))}
    for name, words in wrong.items():
        yield unseen(name, words)
    left = _MOST_OPTIONAL
    for operation in spread([one for one in probe.readable if one.name not in wrong], _MOST_VALID):
        try:
            base = await attempt(probe, operation)
        except CannotBeSeen as error:
            yield unseen(operation.name, str(error))
            continue
        yield _judged_valid(operation, base)
        for parameter in [one for one in operation.parameters if not one.required and base.worked][: left // 4 + 1]:
            finding = await _with_optional(probe, operation, base, parameter)
            left -= finding is not None
            if finding is not None:
                yield finding


def _judged_valid(operation: SeenOperation, base: Attempt) -> Finding:
    if base.worked or not base.tries:
        return _judged_given(operation, base)
    last = next((one for one in base.tries if not one.code.startswith("VALIDATION_")), base.tries[-1])
    if inconclusive(last) or _made_upstream(last):
        return unseen(operation.name, f"it was answered with {last.code}", last)
    if not last.code.startswith("VALIDATION_"):
        return holds(operation.name, last)
    free = [one.name for one in operation.parameters if one.required and is_free(one)]
    if last.code not in _FORMAL and free:
        why = f"no meaningful value for '{free[0]}' is known; a file for --fixtures can give one"
        return unseen(operation.name, why, last)
    words = f"'{operation.name}' refused a request that keeps to its introspection, with {last.code}: {last.message}"
    return broken(operation.name, words, last)


def _judged_given(operation: SeenOperation, base: Attempt) -> Finding:
    """What works, or what a person gave: that it is refused may have a reason which only that person knows."""
    exchanges = tuple(filter(None, [base.exchange]))
    refused = next((one.code for one in exchanges if one.code.startswith("VALIDATION_")), "")
    if refused:
        return unseen(operation.name, f"the fixtures give parameters that are refused with {refused}", *exchanges)
    return holds(operation.name, *exchanges)


@check(
    "parameters.valid-answered",
    "What introspection documents can be called: a right request does not end in an internal error.",
    section="introspection 8.1.1",
    demand=Demand.SHOULD,
    area=Area.PARAMETERS,
    level=1,
    how="Looks at READ operations of which no request could be made that works, and at the codes of their answers.",
    proves=("intro-8.1.1-parameter-names-match-handler",),
)
async def valid_answered(probe: Probe) -> AsyncIterator[Finding]:
    """Behind every name stands something that works. Refusals are other checks' matter."""
    for operation, base in await attempts(probe):
        asked = base.tries or tuple(filter(None, [base.exchange]))
        telling = [
            one for one in asked if one.failed and not one.code.startswith("VALIDATION_") and not _made_upstream(one)
        ]
        if base.worked:
            yield holds(operation.name, *asked[-1:])
        elif telling and all(one.code.startswith("INTERNAL_") for one in telling):
            words = f"'{operation.name}' answered a request that keeps to its introspection with {telling[-1].code}; "
            yield broken(operation.name, f"{words}expected an answer, or a refusal that says why", telling[-1])
        elif telling:
            yield holds(operation.name, telling[-1])


def _made_upstream(exchange: Exchange) -> bool:
    """Whether the refusal comes from a system behind the server, which introspection cannot know all about."""
    return "http_status" in exchange.details or "upstream_error" in exchange.details


async def _with_optional(
    probe: Probe, operation: SeenOperation, base: Attempt, parameter: SeenParameter
) -> Finding | None:
    """What became of one optional parameter: its name must be known, and its type too if that is a plain one."""
    if parameter.name in base.params:
        return None
    try:
        value = value_for(parameter, probe.options.fixtures.values, await known_types(probe, operation))
    except CannotBeSeen:
        return None
    exchange = await probe.call(operation, {**base.params, parameter.name: value})
    subject = f"{operation.name}.{parameter.name}"
    wrong = [_UNKNOWN, *([_TYPE] if set(parameter.types) <= _PLAIN and not _made_upstream(exchange) else [])]
    if exchange.code in wrong and names(exchange, parameter.name):
        words = f"'{operation.name}' refused its documented parameter '{parameter.name}' = {shown(value)} with "
        return broken(subject, f"{words}{exchange.code}; expected that it is taken", exchange)
    return holds(subject, exchange)
