"""A bundle of evidence, captured from a server that runs."""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from headgate.client.wires import WireError
from headgate.conformance.choosing import spread
from headgate.conformance.evidence.change_evidence import changes
from headgate.conformance.evidence.parameter_evidence import Trials, tried_operations
from headgate.conformance.evidence.transcripts import Case
from headgate.conformance.probe import CannotBeSeen, Probe
from headgate.conformance.requests import attempt
from headgate.conformance.survey import INTROSPECT, SeenOperation, Survey, entries
from headgate.conformance.trips import sample_of, trips_of
from headgate.conformance.values import Exchange
from headgate.conformance.variation import absent

__all__ = ["capture"]

_CRUDE: Final = frozenset({"create", "read", "update", "delete", "execute"})
_UNKNOWN_OPERATION: Final = "no_such_operation"
_MOST_ERRORS: Final = 20
_MOST_SEARCHES: Final = 20
_FIRST: Final = 3
_SENTENCE_ENDS: Final = re.compile(r"(?<=[.!?])\s|\n")


async def capture(probe: Probe, transcripts: Sequence[Case] = ()) -> dict[str, Any]:
    """Everything that a bundle tells of a server, as far as it may be tried. CannotBeSeen does not leave it."""
    trials = Trials(probe)
    operations = tried_operations(probe)
    name, version = probe.wire.server
    missing = [case for one in operations async for case in trials.missing(one)]
    unknown = [case for one in operations if (case := await trials.unknown(one)) is not None]
    accepted = {one.name: await trials.accepted(one) for one in operations}
    defaults = [case for one in operations async for case in trials.defaults(one)]
    batch = await _batch(probe)
    made = await changes(probe)
    return {
        "implementation": name or "unknown",
        "version": version or "unknown",
        "spec_version": str(probe.survey.protocol.get("version") or "unknown"),
        "endpoint_modes": await _modes(probe),
        "capabilities": {
            "field_selection": any("fields" in accepted.get(one.name, ()) for one in probe.readable),
            "batch_operations": batch is not None and batch.succeeded,
        },
        "introspection": _introspection(probe.survey),
        "accepted_parameters": accepted,
        "parameter_tests": {
            "missing_required": missing,
            "unknown_parameter": unknown,
            "optional_defaults": defaults,
        },
        "error_tests": await _errors(probe, trials, missing, unknown),
        "round_trip_tests": made.round_trips,
        "update_preservation_tests": made.updates,
        "batch_example": batch.envelope if batch is not None else None,
        "constraint_tests": made.constraints,
        "semantic_tests": list(transcripts) or await _found_by_search(probe),
        "notes": [*_left_out(probe), *made.notes],
    }


def _introspection(survey: Survey) -> dict[str, Any]:
    return {
        "operations_list": survey.operations_answer.envelope,
        "types_list": survey.types_answer.envelope,
        "operation_details": [one.details for one in survey.operations.values() if one.details],
    }


def _left_out(probe: Probe) -> list[str]:
    left = [one for one in probe.operations if not probe.may_call(one)]
    notes = []
    if left:
        wanted = sorted({one.category.lower() for one in left if one.category})
        allow = f"; --allow {','.join(wanted)} lets them be called" if wanted else ""
        notes.append(f"{len(left)} operations were not called, so nothing is told of how they behave{allow}")
    if probe.survey.left_out:
        notes.append(f"{probe.survey.left_out} operations were not looked at, because there are too many")
    return notes


# modes and batches


async def _modes(probe: Probe) -> list[str]:
    """The modes in which the server was seen."""
    found = _modes_in(probe.survey)
    for mode, name in (("semantic", "crude"), ("single", "single")):
        if name not in found:
            with suppress(CannotBeSeen, WireError):
                async with probe.elsewhere(mode=mode) as other:
                    found |= _modes_in(other.survey) & {name}
    return sorted(found)


def _modes_in(survey: Survey) -> set[str]:
    """By the tools and not by what is said: the five families, or those of them that are needed, are ``crude``."""
    endpoints = survey.endpoints
    if not survey.operations_answer.succeeded:
        return set()
    found = {"single"} if endpoints.single else set()
    if endpoints.families:
        names = endpoints.families.keys()
        found.add("crude" if names <= _CRUDE or names >= _CRUDE else "semantic")
    return found


async def _batch(probe: Probe) -> Exchange | None:
    """Two requests as one, both through the tool that answers introspection."""
    tool = probe.survey.introspection_tool
    requests: list[Mapping[str, object]] = []
    for operation in (one for one in probe.readable if one.tool == tool):
        with suppress(CannotBeSeen):
            tried = await attempt(probe, operation)
            if tried.worked:
                requests.append({"operation": operation.name, "params": tried.params})
        if requests:
            break
    requests.append({"operation": INTROSPECT, "params": {"query": "operations", "name": INTROSPECT}})
    exchange = await probe.batch(tool, requests)
    return exchange if exchange.envelope is not None else None


# errors


async def _errors(
    probe: Probe, trials: Trials, missing: Sequence[Mapping[str, Any]], unknown: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """What the server says of wrong requests, of every kind."""
    found = [
        *(_error("missing parameter", case) for case in spread(missing, _MOST_ERRORS)),
        *(_error("unknown parameter", case) for case in spread(unknown, _MOST_ERRORS)),
    ]
    for operation in spread(tried_operations(probe), _MOST_ERRORS):
        case = await trials.wrong_type(operation)
        found += [_error("wrong type", case)] if case is not None else []
    tool = probe.survey.introspection_tool
    exchange = await probe.ask(tool, {"operation": _UNKNOWN_OPERATION, "params": {}})
    found.append(_named("unknown operation", exchange, _UNKNOWN_OPERATION))
    found.append(_named("no operation", await probe.ask(tool, {"params": {}}), "operation"))
    return [*found, *await _wrong_endpoints(probe), *await _absent_things(probe)]


def _error(kind: str, case: Mapping[str, Any]) -> dict[str, Any]:
    name = f"{kind}: {case['operation']}.{case['parameter']}"
    return {"name": name, "must_mention": [case["parameter"]], "response": case["response"]}


def _named(name: str, exchange: Exchange, *mentioned: str) -> dict[str, Any]:
    return {"name": name, "must_mention": list(mentioned), "response": exchange.envelope}


async def _wrong_endpoints(probe: Probe) -> list[dict[str, Any]]:
    """Reading through the tool of another family, which must be refused."""
    reading = next(iter(probe.readable), None)
    if reading is None:
        return []
    tools = [tool for tool in probe.survey.endpoints.families.values() if tool != reading.tool]
    return [
        _named(f"wrong endpoint: {tool}", await probe.ask(tool, {"operation": reading.name}), reading.name)
        for tool in tools
    ]


async def _absent_things(probe: Probe) -> list[dict[str, Any]]:
    """Reading what does not exist."""
    found = []
    for trip in spread([one for one in trips_of(probe) if probe.may_call(one.get)], _MOST_ERRORS):
        keys, _ = await sample_of(probe, trip)
        last = trip.get.parameter(trip.keys[-1])
        other = absent(keys.get(trip.keys[-1]), last.raw if last else {}, probe.seed)
        if other is not None:
            exchange = await probe.call(trip.get, {**keys, trip.keys[-1]: other})
            found.append(_named(f"absent: {trip.resource}", exchange))
    return found


# meaning


async def _found_by_search(probe: Probe) -> list[dict[str, Any]]:
    """Without a model: what somebody who searches for the words of an operation gets to read."""
    cases: list[dict[str, Any]] = []
    itself = probe.survey.operations.get(INTROSPECT)
    few = {"first": _FIRST} if itself is not None and itself.parameter("first") else {}
    for operation in spread(probe.operations, _MOST_SEARCHES):
        words = probe.options.fixtures.words.get(operation.name) or (_brief(operation),)
        exchange = await probe.introspect("search", words[0], **few)
        data = exchange.data if exchange.succeeded else None
        found = entries(data.get("operations")) if isinstance(data, Mapping) else []
        if not found and not cases:
            return []  # there is no search
        cases.append(_searched(operation, {"query": "search", "name": words[0], **few}, found[:_FIRST]))
    return cases


def _brief(operation: SeenOperation) -> str:
    """The first sentence that is said of an operation, as far as a person would say it."""
    told = str(operation.listed.get("description") or operation.description or operation.name)
    return _SENTENCE_ENDS.split(told.strip(), maxsplit=1)[0]


def _searched(
    operation: SeenOperation, params: Mapping[str, Any], found: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    return {
        "name": f"search finds {operation.name}",
        "prompt": params["name"],
        "response_text": "\n".join(f"{one.get('name')}: {one.get('description')}" for one in found),
        "tool_calls": [{"operation": INTROSPECT, "params": dict(params)}],
        "structural": {"required_patterns": [operation.name]},
        "semantic": {
            "phrase_groups": [[operation.name]],
            "expected_operations": [INTROSPECT],
            "expected_parameters": [],
        },
    }
