"""Introspection Fidelity: what an agent reads before it calls anything is whole and can be followed."""

from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from headgate.conformance.checks.introspection import FLAGS, findings_of, seen_details
from headgate.conformance.choosing import spread
from headgate.conformance.probe import Probe
from headgate.conformance.registry import broken, check, holds
from headgate.conformance.shapes import (
    DETAILS,
    ENTRY,
    PARAMETER,
    REQUIRED,
    TYPE_DETAILS,
    TYPE_ENTRY,
    Shape,
    additions,
    faults,
    shown,
)
from headgate.conformance.survey import CATEGORIES, INTROSPECT, SeenOperation, entries
from headgate.conformance.values import Area, Demand, Exchange, Finding

__all__: list[str] = []

_must = partial(check, demand=Demand.MUST, area=Area.INTROSPECTION)
_should = partial(check, demand=Demand.SHOULD, area=Area.INTROSPECTION)

_FEATURES: Final = frozenset(
    {
        *("fields", "query", "filter", "sort", "aggregate", "dry_run"),
        *("first", "after", "last", "before", "limit", "offset", "page", "page_size"),
    }
)
_NO_TYPE: Final = frozenset({"any", "unknown", "mixed", "*", "?"})
_MOST_ASKED: Final = 5
_CRUDE: Final = frozenset(category.lower() for category in CATEGORIES)


def _parameters(probe: Probe) -> Iterator[tuple[str, Any, Exchange]]:
    """Every parameter as it stands in introspection, object or not, with a name for it."""
    for operation, exchange in seen_details(probe):
        told = operation.details.get("parameters")
        for index, parameter in enumerate(told if isinstance(told, list) else []):
            name = parameter.get("name") if isinstance(parameter, Mapping) else None
            yield f"{operation.name}.{name if isinstance(name, str) and name else index}", parameter, exchange


@_must(
    "introspection.parameter-shape",
    "Each parameter has a name and a type, and whatever else is said of it has the form laid down.",
    section="introspection 3.4",
    level=1,
    how="Looks at every parameter in the details of all operations.",
    proves=("ops-5.2-parameter-has-type", "spec-10.1-standard-formats-used"),
)
async def parameter_shape(probe: Probe) -> AsyncIterator[Finding]:
    """Its 'required' is looked at by itself."""
    for subject, parameter, exchange in _parameters(probe):
        for finding in findings_of(subject, faults(parameter, PARAMETER), exchange):
            yield finding


@_must(
    "introspection.required-is-boolean",
    "Each parameter says with true or false whether it is required.",
    section="introspection 8.1.2",
    level=1,
    how="Looks at 'required' of every parameter.",
    proves=(
        "ops-4.3-required-flag-per-parameter",
        "intro-8.1-required-flag-per-parameter",
        "intro-8.1.2-required-parameters-flagged-true",
        "intro-8.1.2-optional-parameters-flagged-false",
    ),
)
async def required_is_boolean(probe: Probe) -> AsyncIterator[Finding]:
    """Never left out."""
    for subject, parameter, exchange in _parameters(probe):
        if isinstance(parameter, Mapping):
            for finding in findings_of(subject, faults(parameter, REQUIRED), exchange):
                yield finding


@_must(
    "introspection.feature-parameters-typed",
    "Feature parameters, such as fields, limit and offset, are listed with their types.",
    section="introspection 8.1.2",
    level=1,
    how="Looks at the types of the parameters that the texts name for all adapters.",
    proves=("intro-8.1.2-feature-parameters-fully-typed",),
)
async def feature_parameters_typed(probe: Probe) -> AsyncIterator[Finding]:
    """A type that says nothing is none."""
    for operation, exchange in seen_details(probe):
        for parameter in operation.parameters:
            if parameter.name in _FEATURES and parameter.types:
                empty = [part for part in parameter.types if part.lower() in _NO_TYPE]
                words = (f"'{parameter.name}' has the type '{part}', which tells nothing" for part in empty)
                for finding in findings_of(f"{operation.name}.{parameter.name}", words, exchange):
                    yield finding


@_should(
    "introspection.descriptions",
    "Each parameter has a description with meaning.",
    section="introspection 8.2",
    level=1,
    how="Looks for descriptions that are missing, empty, or only the name again.",
    proves=("intro-8.2-descriptions-for-all-parameters",),
)
async def descriptions(probe: Probe) -> AsyncIterator[Finding]:
    """Enough to go on."""
    for operation, exchange in seen_details(probe):
        for parameter in operation.parameters:
            said = "".join(filter(str.isalnum, parameter.description.lower()))
            empty = said in ("", "".join(filter(str.isalnum, parameter.name.lower())))
            words = f"'{parameter.name}' has the description {shown(parameter.description)}, which tells nothing"
            for finding in findings_of(f"{operation.name}.{parameter.name}", [words] if empty else [], exchange):
                yield finding


@_should(
    "introspection.examples",
    "Each operation has an example.",
    section="introspection 8.2",
    level=1,
    how="Looks at the details of each operation.",
    proves=("intro-8.2-examples-for-all-operations",),
)
async def examples(probe: Probe) -> AsyncIterator[Finding]:
    """One at the least."""
    for operation, exchange in seen_details(probe):
        missing = [] if operation.details.get("examples") else [f"'{operation.name}' has no example"]
        for finding in findings_of(operation.name, missing, exchange):
            yield finding


def _requests(operation: SeenOperation) -> Iterator[Mapping[str, Any]]:
    """The requests of its examples that are requests for itself."""
    for example in entries(operation.details.get("examples")):
        request = example.get("request")
        if isinstance(request, Mapping) and isinstance(request.get("operation"), str):
            yield request


def _beside(request: Mapping[str, Any]) -> set[str]:
    """The parameters beside ``params``."""
    return {name for name in request if name not in ("operation", "params") and not name.startswith("_")}


@_should(
    "introspection.examples-fit",
    "Examples call their own operation, with documented parameters and all required ones.",
    section="introspection 8.2",
    level=1,
    how="Compares the requests of the examples with the parameters of the operation.",
    proves=("intro-8.2-examples-for-all-operations", "ops-2.1-standard-input-structure"),
)
async def examples_fit(probe: Probe) -> AsyncIterator[Finding]:
    """What an agent copies works."""
    for operation, exchange in seen_details(probe):
        for request in _requests(operation):
            for finding in findings_of(operation.name, _example_faults(operation, request), exchange):
                yield finding


def _example_faults(operation: SeenOperation, request: Mapping[str, Any]) -> Iterator[str]:
    if request["operation"] != operation.name:
        yield f"an example of '{operation.name}' calls '{request['operation']}'"
        return
    params = request.get("params", {})
    if not isinstance(params, Mapping):
        yield f"'params' in an example is {shown(params)}; expected an object"
        return
    given = {*params, *_beside(request)}
    documented = {parameter.name for parameter in operation.parameters}
    for name in sorted(given - documented):
        yield f"an example gives '{name}', which is not among the parameters of '{operation.name}'"
    for parameter in operation.parameters:
        if parameter.required and parameter.name not in given:
            yield f"an example leaves out '{parameter.name}', which is required"


@_should(
    "introspection.examples-use-params",
    "Examples give their parameters in 'params'.",
    section="operations 2.3",
    level=2,
    how="Looks for parameters beside 'params' in the examples.",
    proves=("ops-2.3-examples-use-params-object",),
)
async def examples_use_params(probe: Probe) -> AsyncIterator[Finding]:
    """The place that is recommended."""
    for operation, exchange in seen_details(probe):
        for request in _requests(operation):
            words = (f"an example gives '{name}' beside 'params'; expected inside it" for name in _beside(request))
            for finding in findings_of(operation.name, words, exchange):
                yield finding


@_should(
    "introspection.consistent",
    "The same introspection has the same answer again.",
    section="introspection 7.3",
    level=1,
    how="Asks once more for both lists and for the details of a few operations.",
    proves=("intro-7.3-introspection-consistent-within-session", "intro-7.3-cache-renewed-only-on-change"),
)
async def consistent(probe: Probe) -> AsyncIterator[Finding]:
    """Without '_protocol', which may hold what a request brings with it."""
    before: dict[tuple[str, str | None], Exchange] = {
        ("operations", None): probe.survey.operations_answer,
        ("types", None): probe.survey.types_answer,
    }
    for operation, exchange in spread(list(seen_details(probe)), _MOST_ASKED):
        before["operations", operation.name] = exchange
    for (query, name), first in before.items():
        again = await probe.introspect(query, name)
        if first.succeeded and again.succeeded:
            words = f"'{query}'{f' of {name}' if name else ''} was answered differently the second time"
            different = _without_protocol(first.data) != _without_protocol(again.data)
            for finding in findings_of(name or query, [words] if different else [], first, again):
                yield finding


def _without_protocol(data: object) -> object:
    return {key: value for key, value in data.items() if key != "_protocol"} if isinstance(data, Mapping) else data


@_should(
    "introspection.endpoint-lowercase",
    "An endpoint of the standard profile is the family's name in small letters, not the name of its tool.",
    section="introspection 4.1",
    level=1,
    how="Looks at the endpoint of each operation in the list.",
    proves=("intro-4.1-endpoint-is-lowercase-family",),
)
async def endpoint_lowercase(probe: Probe) -> AsyncIterator[Finding]:
    """Families of other profiles are named as their authors like."""
    tools = {tool: family for family, tool in probe.survey.endpoints.families.items()}
    for operation in probe.survey.operations.values():
        told = operation.listed.get("endpoint")
        family = tools.get(told, told.lower()) if isinstance(told, str) else ""
        if family in _CRUDE:
            wrong = [] if told == family else [f"'endpoint' is '{told}'; expected '{family}'"]
            for finding in findings_of(operation.name, wrong, probe.survey.operations_answer):
                yield finding


@_should(
    "introspection.tool-annotations",
    "The tools say by their annotations whether they only read and whether they can destroy.",
    section="specification 6.1",
    level=2,
    how="Compares the annotations of each tool with the categories of its operations.",
    proves=("spec-6.1-categories-carry-permission-flags",),
)
async def tool_annotations(probe: Probe) -> AsyncIterator[Finding]:
    """What MCP takes for granted counts as said: a tool without annotations may write and destroy."""
    for tool in probe.survey.tools:
        held = {one.category for one in probe.survey.operations.values() if one.tool == tool.name}
        if tool.name not in probe.survey.endpoints.likely or not held or "" in held:
            continue
        expected = {
            "readOnlyHint": all(FLAGS[category][0] for category in held),
            "destructiveHint": any(FLAGS[category][1] for category in held),
        }
        told = {"readOnlyHint": tool.hint("readOnlyHint") or False, "destructiveHint": True}
        given = tool.hint("destructiveHint")
        told["destructiveHint"] = not told["readOnlyHint"] if given is None else given
        wrong = (
            f"'{hint}' of '{tool.name}' amounts to {shown(told[hint])}; expected {shown(value)}: "
            f"it takes {', '.join(sorted(held))} operations"
            for hint, value in expected.items()
            if told[hint] is not value
        )
        for finding in findings_of(tool.name, wrong):
            yield finding


@_should(
    "introspection.tools-name-introspect",
    "The description of each tool tells of 'introspect'.",
    section="introspection 1.1",
    level=2,
    how="Looks for the word in the descriptions of the tools.",
    proves=(),
)
async def tools_name_introspect(probe: Probe) -> AsyncIterator[Finding]:
    """An agent cannot find it otherwise."""
    for tool in probe.survey.tools:
        if tool.name in probe.survey.endpoints.likely:
            words = f"the description of '{tool.name}' does not name 'introspect', so an agent cannot find it"
            silent = INTROSPECT not in tool.description.lower()
            for finding in findings_of(tool.name, [words] if silent else []):
                yield finding


@_should(
    "introspection.no-additions",
    "Introspection has no members beyond those laid down.",
    section="introspection 3",
    level=1,
    how="Looks at the objects of both lists and of all details for members that the normative schema does not allow: "
    "OperationInfo (3.2), OperationDetails (3.3), ParameterInfo (3.4), TypeInfo (3.5).",
    proves=("spec-10.3-extensions-keep-core-behaviour",),
)
async def no_additions(probe: Probe) -> AsyncIterator[Finding]:
    """The schema allows none where introspection 8.3 would: what is added may be refused by a strict client."""
    added = list(_added(probe))
    for subject, words, exchange in added:
        yield broken(subject, words, exchange)
    if probe.survey.operations and not added:
        yield holds(INTROSPECT)


def _added(probe: Probe) -> Iterator[tuple[str, str, Exchange]]:
    survey = probe.survey
    for operation in survey.operations.values():
        yield from _told(operation.name, operation.listed, _ENTRY_PART, survey.operations_answer)
    for operation, exchange in seen_details(probe):
        yield from _told(operation.name, operation.details, _DETAILS_PART, exchange)
        for parameter in operation.parameters:
            yield from _told(f"{operation.name}.{parameter.name}", parameter.raw, _PARAMETER_PART, exchange)
    for entry in survey.types:
        yield from _told(str(entry.get("name")), entry, _TYPE_PART, survey.types_answer)


_ANY_TYPE: Final[Shape] = {**TYPE_ENTRY, **{key: one for shape in TYPE_DETAILS.values() for key, one in shape.items()}}
"""Operations 9.6 shows types with their values and fields already in the list."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A kind of object in introspection, and where its members are laid down."""

    name: str
    section: str
    shape: Shape
    instead: str = "say it in the description"


_ENTRY_PART: Final = _Part("OperationInfo", "introspection 3.2", ENTRY)
_DETAILS_PART: Final = _Part("OperationDetails", "introspection 3.3", DETAILS)
_PARAMETER_PART: Final = _Part(
    "ParameterInfo",
    "introspection 3.4",
    {**PARAMETER, **REQUIRED},
    "say it in the description, or in a type that 'type' names",
)
_TYPE_PART: Final = _Part("TypeInfo", "introspection 3.5", _ANY_TYPE)


def _told(
    subject: str, value: Mapping[str, Any], part: _Part, exchange: Exchange
) -> Iterator[tuple[str, str, Exchange]]:
    names = ", ".join(f"'{name}'" for name in additions(value, part.shape))
    if names:
        words = f"{names} of '{subject}': {part.name} ({part.section}) has no such member and allows no others"
        yield subject, f"{words}; {part.instead}", exchange
