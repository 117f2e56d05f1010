"""Parameter Handling: what is declared is taken, and everything else is refused before it can do harm."""

from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any, Final

from headgate.conformance.makings import send
from headgate.conformance.probe import Probe
from headgate.conformance.registry import broken, check, holds, unseen
from headgate.conformance.trials import (
    NONSENSE,
    Trial,
    edge_trials,
    inconclusive,
    missing_trials,
    names,
    shown,
    unknown_trials,
    wrong_type_trials,
)
from headgate.conformance.values import Area, Demand, Exchange, Finding

__all__: list[str] = []

_MISSING: Final = "VALIDATION_MISSING_PARAM"
_TYPE: Final = "VALIDATION_INVALID_TYPE"
_UNKNOWN: Final = "VALIDATION_UNKNOWN_PARAM"
_CLAMPED: Final = frozenset({"first", "last", "limit", "page_size"})
"""What may be cut to its largest value with a warning."""
_FIELD: Final = "VALIDATION_UNKNOWN_FIELD"
_ENUM: Final = "VALIDATION_INVALID_ENUM"


def _refused(trial: Trial, words: str) -> Iterator[Finding]:
    """Whether a request with a fault was refused."""
    if trial.exchange.succeeded:
        yield broken(trial.subject, f"{words}{trial.left}", trial.exchange)
    elif inconclusive(trial.exchange):
        yield unseen(trial.subject, f"it was answered with {trial.exchange.code}", trial.exchange)
    elif trial.tells:
        yield holds(trial.subject, trial.exchange)


def _coded(trials: list[Trial], wanted: str, fault: str) -> Iterator[Finding]:
    """Whether refusals have the right code. Where faults are let through, what fails later on is no refusal."""
    some_taken = any(trial.exchange.succeeded for trial in trials)
    for trial in trials:
        code = trial.exchange.code
        if not trial.tells or not code or (some_taken and not code.startswith("VALIDATION_")):
            continue
        if code == wanted:
            yield holds(trial.subject, trial.exchange)
        else:
            words = f"{fault.format(trial.subject)} was refused with {code}; expected {wanted}"
            yield broken(trial.subject, words, trial.exchange)


@check(
    "parameters.missing-refused",
    "A request that lacks a required parameter is refused.",
    section="operations 5.4",
    demand=Demand.MUST,
    area=Area.PARAMETERS,
    level=1,
    how="Calls operations with everything that they need but one required parameter.",
    proves=(
        "ops-5.4-required-params-verified",
        "ops-5.1-requests-validated-before-execution",
        "intro-8.1-required-flag-per-parameter",
        "intro-8.1.1-required-status-matches-handler",
        "intro-8.1.2-required-parameters-flagged-true",
    ),
)
async def missing_refused(probe: Probe) -> AsyncIterator[Finding]:
    """Required means required."""
    for trial in await missing_trials(probe):
        name = trial.parameter.name if trial.parameter else ""
        words = f"'{trial.operation.name}' was answered without '{name}', which is documented as required; "
        for finding in _refused(trial, f"{words}expected {_MISSING}, or 'required': false in introspection"):
            yield finding


@check(
    "parameters.missing-code",
    "The refusal of a missing parameter has the code VALIDATION_MISSING_PARAM.",
    section="operations 8.1",
    demand=Demand.MUST,
    area=Area.PARAMETERS,
    level=1,
    how="Looks at the codes of the refusals of requests without a required parameter.",
    proves=("ops-8.1-missing-param-error-code", "ops-8.3-standard-error-codes-used"),
)
async def missing_code(probe: Probe) -> AsyncIterator[Finding]:
    """One code for what is missing."""
    for finding in _coded(await missing_trials(probe), _MISSING, "A request without '{}'"):
        yield finding


@check(
    "parameters.wrong-type-refused",
    "A parameter of another type than the declared one is refused.",
    section="operations 5.4",
    demand=Demand.MUST,
    area=Area.PARAMETERS,
    level=1,
    how="Gives objects where texts, numbers or booleans are declared, texts where objects are, a word where numbers or "
    "booleans are, and a fraction where whole numbers are.",
    proves=(
        "ops-5.4-param-types-validated",
        "ops-5.1-requests-validated-before-execution",
        "intro-8.1.1-parameter-types-match-handler",
    ),
)
async def wrong_type_refused(probe: Probe) -> AsyncIterator[Finding]:
    """Declared types are kept."""
    for trial in await wrong_type_trials(probe):
        if trial.exchange.code.startswith("NOT_FOUND_"):
            continue  # refused, but perhaps for another reason
        told = trial.parameter.raw.get("type") if trial.parameter else ""
        words = f"'{trial.operation.name}' was answered although '{trial.subject.partition('.')[2]}' was "
        words += f"{shown(trial.value)}, which is no {told}; expected {_TYPE}"
        for finding in _refused(trial, words):
            yield finding


@check(
    "parameters.wrong-type-code",
    "The refusal of a wrong type has the code VALIDATION_INVALID_TYPE.",
    section="operations 8.1",
    demand=Demand.MUST,
    area=Area.PARAMETERS,
    level=1,
    how="Looks at the codes of the refusals of values of a wrong type.",
    proves=("ops-8.1-invalid-type-error-code", "ops-8.3-standard-error-codes-used"),
)
async def wrong_type_code(probe: Probe) -> AsyncIterator[Finding]:
    """One code for wrong types. A wrong type is no member of an enumeration either, so both codes are right there."""
    judged = [trial for trial in await wrong_type_trials(probe) if not _of_another_fault(trial)]
    for finding in _coded(judged, _TYPE, "A value of a wrong type for '{}'"):
        yield finding


def _of_another_fault(trial: Trial) -> bool:
    """Whether the refusal of a wrong type may rest on something else, or is judged elsewhere."""
    code, parameter = trial.exchange.code, trial.parameter
    if parameter is None or code.startswith("NOT_FOUND_") or code == _UNKNOWN:
        return True
    if isinstance(trial.value, float):
        return True  # a fraction is a number, and the texts do not say which code it has where a whole one is wanted
    if code == _MISSING:
        about = trial.exchange.details.get("param_name", parameter.name)  # perhaps one that is needed beside it
        return about != parameter.name or not names(trial.exchange, parameter.name)
    return code == _ENUM and parameter.raw.get("enum") is not None


@check(
    "parameters.unknown-refused",
    "A parameter that the operation does not define is refused.",
    section="specification 4.6",
    demand=Demand.MUST,
    area=Area.PARAMETERS,
    level=1,
    how=f"Adds a parameter '{NONSENSE}' to requests that are right without it.",
    proves=(
        "spec-4.6-unknown-params-rejected",
        "spec-4.6.2-strict-mode-is-default",
        "ops-5.4-unknown-params-rejected",
        "intro-8.2.1-unknown-params-rejected",
        "intro-8.2.1-unknown-params-not-ignored",
    ),
)
async def unknown_refused(probe: Probe) -> AsyncIterator[Finding]:
    """No silence about typing mistakes."""
    for trial in await unknown_trials(probe):
        words = f"'{trial.operation.name}' was answered although it has no parameter '{NONSENSE}'; expected {_UNKNOWN}"
        for finding in _refused(trial, words):
            yield finding


@check(
    "parameters.unknown-code",
    "The refusal of an unknown parameter has the code VALIDATION_UNKNOWN_PARAM.",
    section="specification 4.6",
    demand=Demand.MUST,
    area=Area.PARAMETERS,
    level=1,
    how="Looks at the codes of the refusals of an unknown parameter.",
    proves=("spec-4.6-unknown-params-error-code", "ops-8.3-standard-error-codes-used"),
)
async def unknown_code(probe: Probe) -> AsyncIterator[Finding]:
    """One code for unknown names. An update that takes its fields beside its parameters is another check's matter."""
    judged = [trial for trial in await unknown_trials(probe) if trial.exchange.code != _FIELD]
    for finding in _coded(judged, _UNKNOWN, "An unknown parameter of '{}'"):
        yield finding


@check(
    "parameters.unknown-details",
    "The refusal of an unknown parameter names the operation, the unknown names and the right ones.",
    section="specification 4.6",
    demand=Demand.SHOULD,
    area=Area.PARAMETERS,
    level=1,
    how="Looks at 'operation', 'unknown_params' and 'valid_params' in the details of the refusals.",
    proves=("spec-4.6-unknown-params-error-code", "ops-8.4-error-messages-actionable"),
)
async def unknown_details(probe: Probe) -> AsyncIterator[Finding]:
    """Enough to repair the request."""
    for trial in await unknown_trials(probe):
        if trial.exchange.code == _UNKNOWN:
            lacking = _lacking(trial)
            words = (
                f"the details of the refusal have no {lacking}; expected 'operation', 'unknown_params', 'valid_params'"
            )
            yield broken(trial.subject, words, trial.exchange) if lacking else holds(trial.subject, trial.exchange)


def _lacking(trial: Trial) -> str:
    details = trial.exchange.details
    if not isinstance(details.get("operation"), str):
        return "'operation'"
    names = details.get("unknown_params")
    if not isinstance(names, list) or NONSENSE not in names:
        return f"'unknown_params' with '{NONSENSE}' in it"
    return "" if isinstance(details.get("valid_params"), list) else "list 'valid_params'"


@check(
    "parameters.constraints-enforced",
    "A value beyond a documented constraint is refused.",
    section="operations 5.4",
    demand=Demand.MUST,
    area=Area.PARAMETERS,
    level=1,
    how="Goes one step beyond each minimum, maximum, length, pattern and set of values that introspection shows.",
    proves=("ops-5.4-param-constraints-applied", "ops-5.1-requests-validated-before-execution"),
)
async def constraints_enforced(probe: Probe) -> AsyncIterator[Finding]:
    """What is documented is kept."""
    for trial, constraint in await edge_trials(probe, inside=False):
        name = trial.subject.partition(".")[2]
        if trial.exchange.succeeded and name in _CLAMPED and (trial.exchange.envelope or {}).get("warnings"):
            yield unseen(trial.subject, "it was cut to the largest, with a warning", trial.exchange)
            continue
        words = f"'{trial.operation.name}' was answered although '{name}' was {shown(trial.value)}, beyond "
        words += f"{constraint}; expected a refusal with a code that begins with VALIDATION_"
        for finding in _refused(trial, words):
            yield finding


@check(
    "parameters.order",
    "Of several faults in a request, the first kind in the order of validation is reported.",
    section="operations 5.4",
    demand=Demand.MAY,
    area=Area.PARAMETERS,
    level=1,
    how="Sends requests that lack a parameter, or have one of a wrong type, and have an unknown one beside it.",
    proves=(),
)
async def order(probe: Probe) -> AsyncIterator[Finding]:
    """Missing and wrong types come before unknown names. The texts list the steps and demand no order of reporting."""
    several = [(_MISSING, trial) for trial in (await missing_trials(probe))[:6]]
    several += [(_TYPE, trial) for trial in (await wrong_type_trials(probe))[:6]]
    for wanted, trial in several:
        if trial.exchange.code != wanted:
            continue
        exchange, _ = await send(probe, trial.operation, {**_params_of(trial.exchange), NONSENSE: "probe"})
        if exchange.code == wanted:
            yield holds(trial.subject, exchange)
        elif exchange.code == _UNKNOWN:
            words = (
                f"a request with two faults was refused with {_UNKNOWN}; expected {wanted}, which is looked for first"
            )
            yield broken(trial.subject, words, trial.exchange, exchange)


def _params_of(exchange: Exchange) -> Mapping[str, Any]:
    params = exchange.arguments.get("params") if isinstance(exchange.arguments, Mapping) else None
    return params if isinstance(params, Mapping) else {}
