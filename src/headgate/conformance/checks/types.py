"""Introspection Fidelity: the types that a server speaks of can be looked up, and are told whole."""

import re
from collections.abc import AsyncIterator, Iterator, Mapping
from functools import partial
from typing import Any, Final, cast

from headgate.conformance.checks.introspection import findings_of, seen_details
from headgate.conformance.choosing import spread
from headgate.conformance.probe import Probe
from headgate.conformance.registry import broken, check, holds
from headgate.conformance.shapes import TYPE_ENTRY, faults, shown, type_details_faults
from headgate.conformance.survey import INTROSPECT, entries
from headgate.conformance.values import Area, Demand, Exchange, Finding

__all__ = ["PROTOCOL_TYPES", "names_in"]

_must = partial(check, demand=Demand.MUST, area=Area.INTROSPECTION)

_MOST_ASKED: Final = 60
_ASKED: Final = "types.details"
"""Under this name the details that were asked for are remembered."""
PROTOCOL_TYPES: Final = {
    "SemanticCategory": "enum",
    "OperationInput": "object",
    "OperationResult": "union",
    "OperationSuccess": "object",
    "OperationFailure": "object",
    "EndpointPermissions": "object",
}
_PRIMITIVES: Final = frozenset(
    {
        *("string", "text", "str", "number", "integer", "int", "long", "float", "double", "decimal", "bigint"),
        *("boolean", "bool", "object", "array", "list", "map", "record", "dict", "tuple", "set", "json"),
        *("null", "none", "void", "undefined", "any", "unknown", "mixed", "never"),
        *("date", "time", "datetime", "timestamp", "duration", "uuid", "uri", "url", "email"),
        *("binary", "bytes", "base64", "file", "id", "enum", "union", "scalar"),
    }
)
_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_VALUE: Final = re.compile(r"""["'][^"']*["']""")
_NOTATION: Final = re.compile(r"\s*([|<>,&])\s*")
_PLAIN: Final = re.compile(r"[A-Za-z0-9_\[\]<>|(),.?]*")
"""A type that is written with names alone; prose such as 'list of books' names none."""


async def _details(probe: Probe) -> dict[str, tuple[Mapping[str, Any], Exchange]]:
    """The listed types, each with the answer to the question for its details; asked once in a run."""
    if _ASKED not in probe.memory:
        named = {entry["name"]: entry for entry in probe.survey.types if _has_name(entry)}
        chosen = spread(list(named), _MOST_ASKED)
        probe.memory[_ASKED] = {name: (named[name], await probe.introspect("types", name)) for name in chosen}
    return cast("dict[str, tuple[Mapping[str, Any], Exchange]]", probe.memory[_ASKED])


def _has_name(entry: Mapping[str, Any]) -> bool:
    return isinstance(entry.get("name"), str) and bool(entry["name"])


def _type_in(exchange: Exchange) -> Mapping[str, Any] | None:
    told = exchange.data.get("type") if isinstance(exchange.data, Mapping) else None
    return told if isinstance(told, Mapping) else None


@_must(
    "types.listed",
    "'introspect' answers the list of types.",
    section="introspection 8.1",
    level=1,
    how="Asks for 'types' without a name.",
    proves=(
        "spec-7.3-four-introspection-queries-answered",
        "intro-8.1-both-query-types-supported",
        "intro-8.1-type-list-complete",
    ),
)
async def listed(probe: Probe) -> AsyncIterator[Finding]:
    """A success whose data have a list, be it empty."""
    answer = probe.survey.types_answer
    if answer.kind != "answered" or answer.envelope is None or not probe.survey.operations_answer.succeeded:
        return
    if not answer.succeeded:
        yield broken(INTROSPECT, f"the list of types was not given, but: {answer.code} {answer.message}", answer)
    elif not isinstance(answer.data, Mapping) or not isinstance(answer.data.get("types"), list):
        yield broken(INTROSPECT, f"'data' is {shown(answer.data)}; expected an object with a list 'types'", answer)
    else:
        yield holds(INTROSPECT, answer)


@_must(
    "types.entry-shape",
    "Each type in the list has a name and a kind: enum, object, scalar or union.",
    section="introspection 3.5",
    level=1,
    how="Looks at every entry of the list of types.",
    proves=("intro-8.1-type-list-complete",),
)
async def entry_shape(probe: Probe) -> AsyncIterator[Finding]:
    """Two texts."""
    answer = probe.survey.types_answer
    told = answer.data.get("types") if isinstance(answer.data, Mapping) else None
    for index, entry in enumerate(told if isinstance(told, list) else []):
        name = entry["name"] if isinstance(entry, Mapping) and _has_name(entry) else f"types[{index}]"
        for finding in findings_of(name, faults(entry, TYPE_ENTRY), answer):
            yield finding


@_must(
    "types.details",
    "'introspect' with the name of a type answers its details.",
    section="introspection 8.1",
    level=1,
    how="Asks for the details of each type in the list.",
    proves=(
        "spec-7.3-four-introspection-queries-answered",
        "spec-9.2-adapter-types-discoverable",
        "intro-8.1-type-details-complete",
    ),
)
async def details(probe: Probe) -> AsyncIterator[Finding]:
    """A success whose data have the type."""
    for name, (_entry, exchange) in (await _details(probe)).items():
        if exchange.kind != "answered" or exchange.envelope is None:
            continue
        if exchange.succeeded and _type_in(exchange) is not None:
            yield holds(name, exchange)
        else:
            got = shown(exchange.data) if exchange.succeeded else f"a failure: {exchange.code} {exchange.message}"
            words = f"the details of the type '{name}', which is listed, are {got}; expected an object in 'data.type'"
            yield broken(name, words, exchange)


@_must(
    "types.details-shape",
    "The details of a type have what its kind needs: values, fields or members.",
    section="introspection 3.6",
    level=1,
    how="Looks at the details of each type in the list.",
    proves=("intro-8.1-type-details-complete",),
)
async def details_shape(probe: Probe) -> AsyncIterator[Finding]:
    """And they are of the type that was asked for."""
    for name, (entry, exchange) in (await _details(probe)).items():
        told = _type_in(exchange)
        if exchange.succeeded and told is not None:
            for finding in findings_of(name, type_details_faults(told, entry), exchange):
                yield finding


@_must(
    "types.names-consistent",
    "A type has one name wherever it is spoken of, and can be looked up by it.",
    section="introspection 8.1",
    level=1,
    how="Collects the names in parameters, results, fields and unions, and looks each up in the list of types.",
    proves=("intro-8.1-type-names-consistent", "spec-9.2-adapter-types-discoverable", "intro-8.1-type-list-complete"),
)
async def names_consistent(probe: Probe) -> AsyncIterator[Finding]:
    """Names of common primitives need no entry, and those of the protocol's own types neither."""
    known = _known(probe)
    if known is None:
        return
    used: dict[str, tuple[str, Exchange]] = {}
    for place, name, exchange in [*_used_by_operations(probe), *_used_by_types(await _details(probe))]:
        used.setdefault(name, (place, exchange))
    lower = {name.lower(): name for name in known}
    for name, (place, exchange) in used.items():
        near = lower.get(name.lower())
        hint = f"; the list has '{near}'" if near else ""
        words = f"the type '{name}' is spoken of in {place}, but is not in the list of types{hint}"
        unknown = name not in known and name not in PROTOCOL_TYPES
        for finding in findings_of(name, [words] if unknown else [], probe.survey.types_answer, exchange):
            yield finding


def _known(probe: Probe) -> set[str] | None:
    """The names in the list of types; nothing where there is no list, or one that is not in order."""
    answer = probe.survey.types_answer
    told = answer.data.get("types") if answer.succeeded and isinstance(answer.data, Mapping) else None
    if not isinstance(told, list) or any(not isinstance(entry, Mapping) or not _has_name(entry) for entry in told):
        return None
    return {entry["name"] for entry in told}


def _used_by_operations(probe: Probe) -> Iterator[tuple[str, str, Exchange]]:
    for operation, exchange in seen_details(probe):
        for parameter in operation.parameters:
            for name in names_in(parameter.raw.get("type")):
                yield f"'{operation.name}.{parameter.name}'", name, exchange
        returns = operation.details.get("returns")
        if isinstance(returns, Mapping) and returns.get("kind") != "scalar":
            for name in names_in(returns.get("name")):
                yield f"what '{operation.name}' returns", name, exchange


def _used_by_types(types: Mapping[str, tuple[Mapping[str, Any], Exchange]]) -> Iterator[tuple[str, str, Exchange]]:
    for owner, (_entry, exchange) in types.items():
        told = _type_in(exchange) or {}
        members = told.get("members")
        for member in members if isinstance(members, list) else []:
            for name in names_in(member):
                yield f"the union '{owner}'", name, exchange
        for field in entries(told.get("fields")):
            for name in names_in(field.get("type")):
                yield f"the fields of '{owner}'", name, exchange


def names_in(written: object) -> Iterator[str]:
    """The names of types that are no primitives in how a type is written, such as ``Book[] | null``."""
    plain = _NOTATION.sub(r"\1", _VALUE.sub("", written)) if isinstance(written, str) else ""
    if _PLAIN.fullmatch(plain):
        yield from (name for name in _NAME.findall(plain) if name.lower() not in _PRIMITIVES)


@check(
    "types.protocol-types",
    "The protocol's own types are in the list, each of its kind.",
    section="introspection 5.3",
    demand=Demand.SHOULD,
    area=Area.INTROSPECTION,
    level=2,
    how="Looks the six up in the list of types.",
    proves=("intro-5.3-protocol-types-listed", "intro-8.2-protocol-types-listed"),
)
async def protocol_types(probe: Probe) -> AsyncIterator[Finding]:
    """From SemanticCategory to EndpointPermissions."""
    answer = probe.survey.types_answer
    kinds = {entry["name"]: entry.get("kind") for entry in probe.survey.types if _has_name(entry)}
    for name, kind in PROTOCOL_TYPES.items():
        if not answer.succeeded:
            return
        wrong = [] if kinds.get(name) == kind else [f"the type '{name}' of kind {kind} is not in the list of types"]
        for finding in findings_of(name, wrong, answer):
            yield finding
