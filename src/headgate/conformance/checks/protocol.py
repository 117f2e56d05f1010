"""Introspection Fidelity: what a server says of itself in ``_protocol``, and whether that is so."""

import re
from collections.abc import AsyncIterator, Iterator, Mapping
from functools import partial
from typing import Any, Final

from headgate.conformance.checks.introspection import findings_of, seen_details
from headgate.conformance.probe import Probe
from headgate.conformance.registry import check, unseen
from headgate.conformance.shapes import OBJECT, PROTOCOL, faults, shown
from headgate.conformance.survey import INTROSPECT, SeenParameter
from headgate.conformance.values import Area, Demand, Finding

__all__: list[str] = []

_must = partial(check, demand=Demand.MUST, area=Area.INTROSPECTION)
_should = partial(check, demand=Demand.SHOULD, area=Area.INTROSPECTION)

_SEMVER: Final = re.compile(r"\d+\.\d+\.\d+(-[a-zA-Z0-9.-]+)?", re.ASCII)
_LEVELS: Final = ("level-1", "level-2")
_MODES: Final = ("semantic", "single", "all")
_CONCURRENCY: Final = ("serialized", "read-concurrent", "fully-concurrent", "resource-locked")
_LOOP: Final = ("enforcing", "monitoring", "logging", "disabled")
_KB: Final = 1024
_LIMITS: Final = {
    "max_request_size": (64 * _KB, 10 * _KB * _KB),
    "max_response_size": (_KB * _KB, 100 * _KB * _KB),
    "max_string_length": (64 * _KB, 10 * _KB * _KB),
    "max_array_elements": (100, 100_000),
    "max_nesting_depth": (8, 64),
}
"""The ranges that 4.7.5 leaves open; a kilobyte of 1,000 bytes is no fault, see ``_limit_faults``."""
_DECIMAL: Final = 0.9
_DEPRECATED: Final = re.compile(r"\bdeprecated\b|\bobsolete\b", re.IGNORECASE)
_GUIDANCE: Final = re.compile(
    r"\binstead\b|\buse\b|\breplaced? (?:by|with)\b|\bin favou?r of\b|\bsee\b|\bmigrate\b|\bno longer\b", re.IGNORECASE
)


def _said(probe: Probe, key: str) -> Any:
    return probe.survey.protocol.get(key)


def _judged(probe: Probe, wrong: list[str]) -> Iterator[Finding]:
    """What is wrong with ``_protocol``, wherever there is a list of operations to look in."""
    if isinstance(probe.survey.operations_answer.data, Mapping) and probe.survey.operations_answer.succeeded:
        yield from findings_of(INTROSPECT, wrong, probe.survey.operations_answer)


@_must(
    "protocol.version",
    "The list of operations tells the version of MCP-AQL in '_protocol.version'.",
    section="introspection 4.1.1",
    level=1,
    how="Looks for a semantic version there.",
    proves=("intro-4.1.1-protocol-version-present", "intro-8.1-protocol-version-present"),
)
async def version(probe: Probe) -> AsyncIterator[Finding]:
    """Such as 1.0.0-draft."""
    data = probe.survey.operations_answer.data
    protocol = data.get("_protocol") if isinstance(data, Mapping) else None
    wrong = []
    if not OBJECT.fits(protocol):
        wrong = [f"'_protocol' is {shown(protocol)}; expected an object with at least a 'version'"]
    elif not isinstance(told := _said(probe, "version"), str) or not _SEMVER.fullmatch(told):
        wrong = [f"'_protocol.version' is {shown(told)}; expected a version such as 1.0.0-draft"]
    for finding in _judged(probe, wrong):
        yield finding


@_must(
    "protocol.capabilities",
    "Where '_protocol.capabilities' is given, its flags are true or false.",
    section="introspection 4.1.1",
    level=1,
    how="Looks at the nine capabilities that the texts name.",
    proves=(),
)
async def capabilities(probe: Probe) -> AsyncIterator[Finding]:
    """Further capabilities may have any value."""
    if "capabilities" in probe.survey.protocol:
        for finding in _judged(probe, list(faults(probe.survey.protocol, PROTOCOL))):
            yield finding


@_should(
    "protocol.conformance",
    "'_protocol.conformance' states the level of conformance.",
    section="introspection 4.1.1",
    level=1,
    how="Looks for level-1 or level-2 there.",
    proves=("intro-4.1.1-protocol-conformance-present", "spec-10.2-conformance-level-stated"),
)
async def conformance(probe: Probe) -> AsyncIterator[Finding]:
    """Whether it is so, the rest of the run tells."""
    told = _said(probe, "conformance")
    wrong = [f"'_protocol.conformance' is {shown(told)}; expected one of {', '.join(_LEVELS)}"]
    for finding in _judged(probe, [] if told in _LEVELS else wrong):
        yield finding


@_should(
    "protocol.mode",
    "'_protocol.mode' states the endpoint mode.",
    section="introspection 4.1.1",
    level=1,
    how="Looks for semantic, single or all there; crude is an old name.",
    proves=("intro-4.1.1-protocol-mode-present", "intro-4.1.1-mode-semantic-not-crude"),
)
async def mode(probe: Probe) -> AsyncIterator[Finding]:
    """One of three words."""
    told = _said(probe, "mode")
    wrong = [f"'_protocol.mode' is {shown(told)}; expected one of {', '.join(_MODES)}"]
    for finding in _judged(probe, [] if told in _MODES else wrong):
        yield finding


@_should(
    "protocol.mode-true",
    "The mode that is stated is the mode of the tools.",
    section="introspection 4.1.1",
    level=1,
    how="Compares '_protocol.mode' with the names of the tools.",
    proves=("intro-4.1.1-protocol-mode-present",),
)
async def mode_true(probe: Probe) -> AsyncIterator[Finding]:
    """One tool for all, one for each family, or both."""
    told, seen = _said(probe, "mode"), probe.survey.endpoints.mode
    if told in _MODES and seen:
        tools = ", ".join(probe.survey.endpoints.likely)
        wrong = [f"'_protocol.mode' is '{told}', but the tools are those of '{seen}': {tools}"]
        for finding in _judged(probe, [] if told == seen else wrong):
            yield finding


@_should(
    "protocol.limits",
    "'_protocol.limits' states the five limits, each within its range.",
    section="specification 4.7.5",
    level=2,
    how="Looks at the figures there.",
    proves=(
        "spec-4.7.5-limits-in-protocol-metadata",
        "spec-4.7.5-configured-limits-documented",
        "spec-4.7.5-limits-configurable-within-range",
    ),
)
async def limits(probe: Probe) -> AsyncIterator[Finding]:
    """So that a client can look before it sends."""
    told = _said(probe, "limits")
    wrong = list(_limit_faults(told)) if isinstance(told, Mapping) else [_no_limits(told)]
    for finding in _judged(probe, wrong):
        yield finding


def _no_limits(told: object) -> str:
    return f"'_protocol.limits' is {shown(told)}; expected an object with {', '.join(_LIMITS)}"


def _limit_faults(told: Mapping[str, Any]) -> Iterator[str]:
    for name, (least, most) in _LIMITS.items():
        value = told.get(name)
        if isinstance(value, bool) or not isinstance(value, int):
            yield f"'{name}' is {shown(value)}; expected a whole number"
        elif not least * _DECIMAL <= value <= most:
            yield f"'{name}' is {value}; it may be set from {least} to {most}"


@_must(
    "protocol.concurrency",
    "Where '_protocol.concurrency' is stated, it is one of the four categories.",
    section="specification 9.3.1",
    level=2,
    how="Looks at the word there; a server may document it elsewhere.",
    proves=("spec-9.3.1-concurrency-behaviour-documented",),
)
async def concurrency(probe: Probe) -> AsyncIterator[Finding]:
    """From serialized to fully-concurrent."""
    told = _said(probe, "concurrency")
    if told is not None:
        wrong = [f"'_protocol.concurrency' is {shown(told)}; expected one of {', '.join(_CONCURRENCY)}"]
        for finding in _judged(probe, [] if told in _CONCURRENCY else wrong):
            yield finding


@_should(
    "protocol.session-id",
    "Where '_protocol.session_id' is stated, it is a text.",
    section="specification 2.3.5",
    level=2,
    how="Looks at it; whether each connection has one of its own is seen elsewhere.",
    proves=("spec-2.3.5-session-id-in-protocol-metadata",),
)
async def session_id(probe: Probe) -> AsyncIterator[Finding]:
    """A server that tracks no sessions states none."""
    if "session_id" in probe.survey.protocol:
        told = _said(probe, "session_id")
        wrong = [f"'_protocol.session_id' is {shown(told)}; expected a text"]
        for finding in _judged(probe, [] if isinstance(told, str) and told else wrong):
            yield finding


@_should(
    "protocol.session-id-in-errors",
    "Where a session id is stated, errors carry it.",
    section="specification 2.3.5",
    level=2,
    how="Asks for an operation that does not exist, and looks for the id anywhere in the answer.",
    proves=("spec-2.3.5-session-id-in-errors",),
)
async def session_id_in_errors(probe: Probe) -> AsyncIterator[Finding]:
    """In the error's details or in metadata, as the server likes."""
    told = _said(probe, "session_id")
    if not isinstance(told, str) or not told:
        return
    again = await probe.introspect("operations")
    if again.succeeded and again.answer is not None and told not in str(again.answer.raw):
        yield unseen(INTROSPECT, "every request here is a session of its own", again)
        return
    exchange = await probe.ask(probe.survey.introspection_tool, {"operation": f"no_such_operation_{probe.seed}"})
    if exchange.failed and exchange.answer is not None:
        wrong = [f"the error does not hold the session id '{told}', which '_protocol' states"]
        for finding in findings_of(INTROSPECT, [] if told in str(exchange.answer.raw) else wrong, exchange):
            yield finding


@_must(
    "protocol.safety-loop",
    "Whether the server has the execution safety loop is told by 'capabilities.execution_safety_loop'.",
    section="specification 8.6.1",
    level=2,
    how="Looks at the word there, and for the loop's operations in the list.",
    proves=(
        "spec-8.6.1-safety-loop-support-documented",
        "spec-8.6.1-safety-loop-capability-value",
        "spec-8.6.7-enforcement-state-in-introspection",
    ),
)
async def safety_loop(probe: Probe) -> AsyncIterator[Finding]:
    """A server without the loop and without a word of it needs none."""
    told = probe.survey.capabilities.get("execution_safety_loop")
    present = {"execute_agent", "record_execution_step"} <= set(probe.survey.operations)
    if told is not None and told is not False:
        wrong = [f"'execution_safety_loop' is {shown(told)}; expected one of {', '.join(_LOOP)}"]
        for finding in _judged(probe, [] if told in _LOOP else wrong):
            yield finding
    elif present:
        words = "the server has 'record_execution_step', but no capability 'execution_safety_loop' tells its state"
        for finding in _judged(probe, [words]):
            yield finding


@_should(
    "protocol.deprecated-parameters",
    "A parameter that is deprecated says what to use instead.",
    section="introspection 8.2.4",
    level=2,
    how="Reads the descriptions of parameters that call themselves deprecated.",
    proves=("intro-8.2.4-deprecated-parameters-marked", "intro-8.2.4-deprecated-parameters-migration-guidance"),
)
async def deprecated_parameters(probe: Probe) -> AsyncIterator[Finding]:
    """In its description."""
    for operation, exchange in seen_details(probe):
        for parameter in operation.parameters:
            if _deprecated(parameter):
                words = f"'{parameter.name}' is deprecated, and its description does not say what to use instead"
                wrong = [] if _GUIDANCE.search(parameter.description) else [words]
                for finding in findings_of(f"{operation.name}.{parameter.name}", wrong, exchange):
                    yield finding


def _deprecated(parameter: SeenParameter) -> bool:
    return parameter.raw.get("deprecated") is True or bool(_DEPRECATED.search(parameter.description))
