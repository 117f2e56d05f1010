"""Batches: several requests in one, answered one by one. Only READ operations are sent, except where a batch halts."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from headgate.conformance.agreeing import WANTED
from headgate.conformance.choosing import spread
from headgate.conformance.journeys import journeys_of
from headgate.conformance.probe import CannotBeSeen, Probe
from headgate.conformance.registry import broken, check, holds, unseen
from headgate.conformance.requests import attempt
from headgate.conformance.survey import INTROSPECT, entries
from headgate.conformance.trips import thing_in
from headgate.conformance.values import Area, Demand, Exchange, Finding

__all__: list[str] = ["batch_of_one"]

_MEMORY: Final = "batches"
_SEVERAL: Final = 2
_SPREAD: Final = 6
_COUNTS: Final = ("total", "succeeded", "failed")
_MALFORMED: Final[tuple[tuple[str, object], ...]] = (
    ("a text", "probe"),
    ("a number", 5),
    ("an object", {"operation": INTROSPECT}),
    ("a list of numbers", [1, 2]),
)


@dataclass(frozen=True, slots=True)
class _Batches:
    """What was answered to batches."""

    alone: tuple[Exchange, ...]
    """The same requests, one by one."""
    fine: Exchange
    """A batch of requests that work."""
    mixed: Exchange
    """The same with one in the middle that cannot work."""


def _request(exchange: Exchange) -> Mapping[str, Any]:
    return exchange.arguments if isinstance(exchange.arguments, Mapping) else {}


def _results(exchange: Exchange) -> list[Mapping[str, Any]]:
    return entries((exchange.envelope or {}).get("results"))


def _sent(exchange: Exchange) -> list[Mapping[str, Any]]:
    return entries(_request(exchange).get("operations"))


def _result_of(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    result = entry.get("result")
    return result if isinstance(result, Mapping) else {}


async def _working(probe: Probe) -> list[Exchange]:
    """Requests of READ operations that work, all of one tool, as different as they can be."""
    tool = probe.survey.introspection_tool
    found: list[Exchange] = []
    for operation in spread([one for one in probe.readable if one.tool == tool], _SPREAD):
        try:
            tried = await attempt(probe, operation)
        except CannotBeSeen:
            continue
        if tried.worked and tried.exchange is not None:
            found.append(tried.exchange)
    if len(found) < _SEVERAL:
        found += [await probe.introspect("operations", INTROSPECT), await probe.introspect("types")]
    return [one for one in found if one.succeeded][:3]


async def batch_of_one(probe: Probe) -> Exchange:
    """How a batch with a single request is answered."""
    request = {"operation": INTROSPECT, "params": {"query": "types"}}
    key = f"{_MEMORY}.one"
    if key not in probe.memory:
        probe.memory[key] = await probe.batch(probe.survey.introspection_tool, [request])
    exchange: Exchange = probe.memory[key]
    return exchange


async def _batches(probe: Probe) -> _Batches | None:
    """The batches that all checks judge; None where the server neither declares nor knows them."""
    if _MEMORY not in probe.memory:
        declared = probe.declares("batch") or probe.declares("batch_operations")
        knows = bool(_results(await batch_of_one(probe)))
        probe.memory[_MEMORY] = await _tried(probe) if declared or knows else None
    batches: _Batches | None = probe.memory[_MEMORY]
    return batches


async def _tried(probe: Probe) -> _Batches | None:
    alone = await _working(probe)
    if not alone:
        return None
    requests = [_request(one) for one in alone]
    wrong = {"operation": f"probe_{probe.seed}", "params": {}}
    tool = probe.survey.introspection_tool
    fine = await probe.batch(tool, requests)
    mixed = await probe.batch(tool, [requests[0], wrong, *requests[1:]])
    return _Batches(tuple(alone), fine, mixed)


@check(
    "batches.results-each",
    "A batch is answered with one result for each of its operations, with index and name.",
    section="operations 7.2",
    demand=Demand.MUST,
    area=Area.BATCHES,
    level=2,
    how="Sends a few READ operations that work as one batch.",
    proves=("ops-7.1-batch-request-format", "ops-7.2-batch-results-per-operation"),
)
async def results_each(probe: Probe) -> AsyncIterator[Finding]:
    """Nothing is left without an answer of its own."""
    batches = await _batches(probe)
    if batches is None or batches.fine.envelope is None:
        return
    wrong = _wrong_results(batches.fine)
    yield broken("server", wrong, batches.fine) if wrong else holds("server", batches.fine)


def _wrong_results(exchange: Exchange) -> str:
    sent, results = _sent(exchange), _results(exchange)
    if exchange.failed:
        return f"a batch of {len(sent)} operations that work alone was refused with {exchange.code or 'an error'}"
    if len(results) != len(sent):
        return f"a batch of {len(sent)} operations was answered with {len(results)} results"
    for entry in results:
        if not isinstance(entry.get("index"), int) or isinstance(entry.get("index"), bool):
            return "a result has no 'index' that says which operation it belongs to"
        if not isinstance(entry.get("operation"), str):
            return "a result has no 'operation' that names what it belongs to"
        if not isinstance(_result_of(entry).get("success"), bool):
            return "a result has no object 'result' with 'success'"
    return ""


@check(
    "batches.order",
    "The results of a batch stand in the order of its operations.",
    section="operations 7.3",
    demand=Demand.MUST,
    area=Area.BATCHES,
    level=2,
    how="Sends a few different READ operations as one batch, and compares index and name of each result.",
    proves=("ops-7.3-batch-runs-in-order",),
)
async def order(probe: Probe) -> AsyncIterator[Finding]:
    """First come, first served."""
    batches = await _batches(probe)
    if batches is None or len(_results(batches.fine)) != len(_sent(batches.fine)):
        return
    asked = [request.get("operation") for request in _sent(batches.fine)]
    named = [entry.get("operation") for entry in _results(batches.fine)]
    places = [entry["index"] for entry in _results(batches.fine) if isinstance(entry.get("index"), int)]
    if all(isinstance(name, str) for name in named) and named != asked:
        words = f"the operations {_listed(asked)} were answered as {_listed(named)}"
        yield broken("server", words, batches.fine)
    elif places and places != sorted(places):
        yield broken("server", f"the results have the indexes {places}; expected them in order", batches.fine)
    elif places and places != list(range(len(asked))):
        yield broken("server", f"the results have the indexes {places}; they count from 0", batches.fine)
    else:
        yield holds("server", batches.fine)


def _listed(names: Sequence[object]) -> str:
    return ", ".join(f"'{name}'" for name in names)


@check(
    "batches.independent",
    "An operation in a batch is answered as it is alone.",
    section="operations 7.3",
    demand=Demand.MUST,
    area=Area.BATCHES,
    level=2,
    how="Compares the data of READ operations in a batch and alone; what differs between two calls alone is left out.",
    proves=("ops-7.3-batch-results-independent",),
)
async def independent(probe: Probe) -> AsyncIterator[Finding]:
    """A batch changes nothing about its operations."""
    batches = await _batches(probe)
    if batches is None:
        return
    for alone, entry in zip(batches.alone, _by_place(batches.fine), strict=False):
        result = _result_of(entry)
        if "data" not in result or entry.get("operation") != alone.operation:
            continue
        if result["data"] == alone.data:
            yield holds(alone.operation, batches.fine)
            continue
        again = await probe.ask(alone.tool, alone.arguments)
        if again.data == alone.data:
            words = f"'{alone.operation}' was answered in a batch with other data than alone"
            yield broken(alone.operation, words, alone, batches.fine)


def _by_place(exchange: Exchange) -> list[Mapping[str, Any]]:
    """The results in the order of their indexes, where all have one."""
    results = _results(exchange)
    indexed = all(isinstance(entry.get("index"), int) for entry in results)
    return sorted(results, key=lambda entry: int(entry["index"])) if indexed else results


@check(
    "batches.go-on",
    "A failed operation does not keep the later ones of its batch from running.",
    section="operations 7.3",
    demand=Demand.MUST,
    area=Area.BATCHES,
    level=2,
    how="Sends a batch of READ operations with an unknown operation in the middle.",
    proves=("ops-7.3-batch-continues-after-failure",),
)
async def go_on(probe: Probe) -> AsyncIterator[Finding]:
    """Each stands for itself."""
    batches = await _batches(probe)
    if batches is None or not _results(batches.fine) or not _results(batches.mixed):
        return
    count = len(_sent(batches.mixed))
    worked = [_result_of(entry).get("success") is True for entry in _by_place(batches.mixed)]
    if len(worked) == count and worked[0] and all(worked[2:]):
        yield holds("server", batches.mixed)
    elif len(worked) < count:
        words = f"of {count} operations of which the second is unknown, {len(worked)} were answered"
        yield broken("server", f"{words}; the later ones must run all the same", batches.mixed)
    elif worked[0]:
        words = "operations that work alone failed in a batch after one that is unknown"
        yield broken("server", words, batches.mixed)


@check(
    "batches.success",
    "A batch that was worked through has 'success: true', even if operations in it failed.",
    section="operations 7.3",
    demand=Demand.MUST,
    area=Area.BATCHES,
    level=2,
    how="Sends a batch of READ operations with an unknown operation in the middle.",
    proves=("ops-7.3-batch-success-despite-failures", "ops-7.3-batch-failure-only-batch-level"),
)
async def success(probe: Probe) -> AsyncIterator[Finding]:
    """The failure of one is not the failure of all."""
    batches = await _batches(probe)
    if batches is None or not batches.fine.succeeded:
        return
    if batches.mixed.succeeded:
        yield holds("server", batches.mixed)
    elif batches.mixed.failed:
        words = "a batch has 'success: false' because one of its operations is unknown; expected true"
        yield broken("server", words, batches.mixed)


@check(
    "batches.summary",
    "The summary of a batch agrees with its results.",
    section="operations 7.2",
    demand=Demand.MUST,
    area=Area.BATCHES,
    level=2,
    how="Counts the results of batches with and without a failure.",
    proves=("ops-7.2-batch-answer-has-summary",),
)
async def summary(probe: Probe) -> AsyncIterator[Finding]:
    """The figures are right."""
    batches = await _batches(probe)
    for exchange in (batches.fine, batches.mixed) if batches is not None else ():
        if _results(exchange):
            wrong = _wrong_summary(exchange)
            yield broken("server", wrong, exchange) if wrong else holds("server", exchange)


def _wrong_summary(exchange: Exchange) -> str:
    told = (exchange.envelope or {}).get("summary")
    if not isinstance(told, Mapping):
        return "a batch was answered without an object 'summary'; expected total, succeeded and failed"
    results = _results(exchange)
    outcomes = [_result_of(entry).get("success") for entry in results]
    if not all(isinstance(outcome, bool) for outcome in outcomes):
        return ""
    worked, failed = outcomes.count(True), outcomes.count(False)
    whole = len(results) == len(_sent(exchange))
    seen = {"total": len(results) if whole else told.get("total"), "succeeded": worked, "failed": failed}
    wrong = [name for name in _COUNTS if told.get(name) != seen[name]]
    return ", ".join(f"'summary.{name}' is {told.get(name)!r}, and the results say {seen[name]}" for name in wrong)


@check(
    "batches.malformed-refused",
    "A batch that is no list of requests is refused.",
    section="operations 7.3",
    demand=Demand.MUST,
    area=Area.BATCHES,
    level=2,
    how="Sends a text, a number, an object and a list of numbers as 'operations'.",
    proves=("ops-7.1-batch-request-format", "ops-7.3-batch-failure-only-batch-level"),
)
async def malformed_refused(probe: Probe) -> AsyncIterator[Finding]:
    """Nothing can be done with it."""
    if await _batches(probe) is None:
        return
    for words, value in _MALFORMED:
        exchange = await probe.ask(probe.survey.introspection_tool, {"operations": value})
        fine = [entry for entry in _results(exchange) if _result_of(entry).get("success") is not False]
        if exchange.failed or (_results(exchange) and not fine):
            yield holds("server", exchange)
        elif exchange.succeeded:
            yield broken("server", f"'operations' was {words}, and was answered with success", exchange)


@check(
    "batches.one-family",
    "A batch cannot be used to call an operation through the endpoint of another family.",
    section="operations 7.4",
    demand=Demand.SHOULD,
    area=Area.BATCHES,
    level=2,
    how="Sends a READ operation in a batch to the tools of the other families.",
    proves=("ops-7.4-batch-stays-in-family",),
)
async def one_family(probe: Probe) -> AsyncIterator[Finding]:
    """A batch stays in its family."""
    batches = await _batches(probe)
    if batches is None or probe.survey.endpoints.single is not None:
        return
    request = _request(batches.alone[0])
    for tool in probe.survey.endpoints.families.values():
        if tool == batches.alone[0].tool:
            continue
        exchange = await probe.batch(tool, [request])
        if (await probe.ask(tool, request)).succeeded:
            continue
        if any(_result_of(entry).get("success") is True for entry in _results(exchange)):
            words = f"'{request.get('operation')}' ran in a batch of '{tool}', although it belongs to"
            yield broken(tool, f"{words} '{batches.alone[0].tool}'", exchange)
        elif exchange.failed or _results(exchange):
            yield holds(tool, exchange)


@check(
    "batches.halt",
    "A batch halts at the operation that asks for confirmation, and says where.",
    section="operations 7.5.2",
    demand=Demand.SHOULD,
    area=Area.BATCHES,
    level=2,
    how="Sends two deletions of what was made without a token; needs --allow create,delete, and a server that asks.",
    proves=(
        "ops-7.5.2-confirmation-halts-batch",
        "ops-7.5.2-halted-operation-gives-token",
        "ops-7.5.2-halted-answer-allows-continuation",
        "ops-7.5.5-halt-is-not-failure",
        "ops-7.5.5-halted-and-pending-counted",
    ),
)
async def halt(probe: Probe) -> AsyncIterator[Finding]:
    """What waits for a person does not let the rest run ahead."""
    if await _batches(probe) is None:
        return
    for journey in await journeys_of(probe):
        if journey.farewell is None or journey.farewell.halted is None or journey.trip.delete is None:
            continue
        batch, read = journey.farewell.halted
        if thing_in(read, journey.trip) is None or batch.envelope is None:
            yield unseen(journey.trip.delete.name, "the batch was not answered as one that waits", batch)
            continue
        wrong = _wrong_halt(batch)
        yield broken(journey.trip.delete.name, wrong, batch) if wrong else holds(journey.trip.delete.name, batch)


def _wrong_halt(exchange: Exchange) -> str:
    envelope = exchange.envelope or {}
    if any(entry.get("status") == "pending_confirmation" for entry in _results(exchange)):
        return ""
    halted = envelope.get("halted_at")
    if not isinstance(halted, Mapping) or halted.get("index") != 0:
        return "a batch whose first operation asks for confirmation has no 'halted_at' with the index 0"
    error = _result_of(halted).get("error")
    if not isinstance(error, Mapping) or error.get("code") != WANTED:
        return f"'halted_at' does not hold the answer {WANTED}"
    if len(entries(envelope.get("pending_operations"))) != 1:
        return "'pending_operations' does not list the operation that did not run"
    return _wrong_halted_counts(exchange)


def _wrong_halted_counts(exchange: Exchange) -> str:
    if not exchange.succeeded:
        return "a batch that waits for a confirmation has no 'success: true'; to wait is no failure"
    told = (exchange.envelope or {}).get("summary")
    counts = told if isinstance(told, Mapping) else {}
    expected = {"failed": 0, "halted": 1, "pending": 1}
    wrong = [name for name, count in expected.items() if counts.get(name) != count]
    return ", ".join(f"'summary.{name}' is {counts.get(name)!r}; expected {expected[name]}" for name in wrong)
