"""Transport and Format: requests that are no requests, and where parameters and metadata may stand."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from headgate.conformance.checks.defaults import difference
from headgate.conformance.choosing import spread
from headgate.conformance.probe import Probe
from headgate.conformance.registry import broken, check, holds, unseen
from headgate.conformance.requests import Attempt, other_values
from headgate.conformance.survey import SeenOperation, SeenParameter
from headgate.conformance.trials import NONSENSE, attempts, inconclusive, remembered, unknown_trials
from headgate.conformance.values import Area, Demand, Exchange, Finding

__all__: list[str] = []

_NO_OPERATIONS: Final[tuple[tuple[str, object], ...]] = (
    ("an empty text", ""),
    ("a number", 5),
    ("null", None),
    ("a list", ["introspect"]),
    ("an object", {"name": "introspect"}),
)
_NO_PARAMS: Final[tuple[tuple[str, object], ...]] = (
    ("a text", "probe probe"),
    ("a number", 7),
    ("a list", ["probe"]),
)
_WITH_AND_WITHOUT: Final[tuple[Mapping[str, object], ...]] = ({}, {"params": {"query": "operations"}})
_META: Final[Mapping[str, object]] = {"_meta": {"label": "probe"}, "_request_id": "probe-1"}
_OWN: Final = frozenset({"operation", "params", "operations"})
_COUNTS: Final = ("first", "limit", "page_size")
_MOST_OPERATIONS: Final = 5


@check(
    "requests.operation-required",
    "A request without an operation is refused.",
    section="specification 4.1",
    demand=Demand.MUST,
    area=Area.FORMAT,
    level=1,
    how="Sends nothing, and parameters without an operation.",
    proves=("spec-4.1-operation-field-required", "ops-2.2-operation-field-required"),
)
async def operation_required(probe: Probe) -> AsyncIterator[Finding]:
    """Nothing runs that nobody asked for."""
    tool = probe.survey.introspection_tool
    requests: tuple[Mapping[str, object], ...] = ({}, {"params": {}}, {"params": {"query": "operations"}})
    for request in requests:
        exchange = await probe.ask(tool, request)
        if exchange.succeeded:
            words = "a request without 'operation' was answered; expected a refusal such as VALIDATION_MISSING_PARAM"
            yield broken(tool, words, exchange)
        elif exchange.failed and not inconclusive(exchange):
            yield holds(tool, exchange)


@check(
    "requests.operation-text",
    "An operation that is no name is refused.",
    section="operations 2.2",
    demand=Demand.MUST,
    area=Area.FORMAT,
    level=1,
    how="Sends an empty text, a number, null, a list and an object as the operation.",
    proves=("ops-2.2-operation-is-nonempty-string",),
)
async def operation_text(probe: Probe) -> AsyncIterator[Finding]:
    """An operation is a text that is not empty."""
    tool = probe.survey.introspection_tool
    requests = [(words, {"operation": value, **more}) for words, value in _NO_OPERATIONS for more in _WITH_AND_WITHOUT]
    for words, request in requests:
        exchange = await probe.ask(tool, request)
        if exchange.succeeded:
            said = f"a request was answered whose 'operation' was {words}; expected a refusal"
            yield broken(tool, said, exchange)
        elif exchange.failed and not inconclusive(exchange):
            yield holds(tool, exchange)


@check(
    "requests.params-object",
    "Parameters that are no object are refused.",
    section="operations 2.2",
    demand=Demand.MUST,
    area=Area.FORMAT,
    level=1,
    how="Sends a text, a number and a list in place of the parameters of READ operations.",
    proves=("ops-2.1-standard-input-structure", "spec-10.1-standard-formats-used"),
)
async def params_object(probe: Probe) -> AsyncIterator[Finding]:
    """Parameters have names. An operation that needs none shows it best: it would work without them."""
    worked = [(operation, base) for operation, base in await attempts(probe) if base.worked]
    telling = [one for one in worked if not one[1].params] or worked
    for operation, _ in spread(telling, _MOST_OPERATIONS):
        for words, value in _NO_PARAMS:
            exchange = await probe.ask(operation.tool, {"operation": operation.name, "params": value})
            if exchange.succeeded:
                said = f"'{operation.name}' was answered although 'params' was {words}; expected a refusal"
                yield broken(operation.name, said, exchange)
            elif exchange.failed and not inconclusive(exchange):
                yield holds(operation.name, exchange)


@check(
    "requests.metadata-ignored",
    "Metadata beside the parameters, with an underscore before its name, is never an unknown parameter.",
    section="specification 4.6.1",
    demand=Demand.MUST,
    area=Area.FORMAT,
    level=1,
    how="Adds '_meta' and '_request_id' to requests that work without them.",
    proves=("spec-4.6.1-underscore-metadata-not-refused",),
)
async def metadata_ignored(probe: Probe) -> AsyncIterator[Finding]:
    """Labels do no harm."""
    worked = [(operation, base) for operation, base in await attempts(probe) if base.worked]
    for operation, base in spread(worked, _MOST_OPERATIONS):
        request = {"operation": operation.name, "params": base.params, **_META}
        exchange = await probe.ask(operation.tool, request)
        if exchange.succeeded:
            yield holds(operation.name, exchange)
        elif exchange.failed and not inconclusive(exchange):
            words = f"'{operation.name}' refused a request with '_meta' and '_request_id' beside 'params', which works "
            yield broken(operation.name, f"{words}without them; expected that they are passed over", exchange)


# parameters beside 'params'


@dataclass(frozen=True, slots=True)
class _Beside:
    """An operation that takes its parameters beside ``params``, and how that is known."""

    operation: SeenOperation
    base: Attempt
    exchange: Exchange


async def _beside(probe: Probe) -> list[_Beside]:
    """Operations that work with their required parameters at the top level."""

    async def make() -> list[_Beside]:
        worked = [(one, base) for one, base in await attempts(probe) if base.worked and base.params]
        found = []
        for operation, base in spread([one for one in worked if not _OWN & one[1].params.keys()], _MOST_OPERATIONS):
            exchange = await probe.ask(operation.tool, {**base.params, "operation": operation.name})
            if exchange.succeeded:
                found.append(_Beside(operation, base, exchange))
        return found

    return await remembered(probe, "requests.beside", make)


@check(
    "parameters.unknown-top-level",
    "An unknown parameter is refused at the top level too, where parameters are taken there.",
    section="specification 4.6.1",
    demand=Demand.MUST,
    area=Area.PARAMETERS,
    level=1,
    how=f"Adds '{NONSENSE}' beside 'params', in operations that take their parameters there.",
    proves=("spec-4.6.1-unknown-params-top-level", "intro-8.2.1-unknown-params-not-ignored"),
)
async def unknown_top_level(probe: Probe) -> AsyncIterator[Finding]:
    """No silence there either. Where an unknown name is taken anywhere, that is another check's matter."""
    strict = {trial.operation.name for trial in await unknown_trials(probe) if trial.tells}
    for one in await _beside(probe):
        name = one.operation.name
        if name not in strict:
            continue
        for request in ({**one.base.params}, {"params": one.base.params}):
            exchange = await probe.ask(one.operation.tool, {**request, "operation": name, NONSENSE: "probe"})
            if exchange.succeeded:
                words = f"'{name}' was answered although '{NONSENSE}' stood beside its parameters; "
                yield broken(name, f"{words}expected VALIDATION_UNKNOWN_PARAM", one.exchange, exchange)
            elif exchange.failed and not inconclusive(exchange):
                yield holds(name, exchange)


@check(
    "requests.params-first",
    "Where a parameter stands both in 'params' and beside it, the one in 'params' counts.",
    section="specification 4.2",
    demand=Demand.MUST,
    area=Area.FORMAT,
    level=1,
    how="Gives one value in 'params' and another beside it, where the two give different answers.",
    proves=("spec-4.2-params-take-precedence", "ops-2.3-params-take-precedence"),
)
async def params_first(probe: Probe) -> AsyncIterator[Finding]:
    """There is one order of precedence."""
    for one in await _beside(probe):
        finding = None
        for parameter in one.operation.parameters:
            if finding is None and parameter.name not in _OWN:
                finding = await _preferred(probe, one, parameter)
        if finding is None:
            finding = unseen(one.operation.name, "no two values are known that give different answers")
        yield finding


async def _preferred(probe: Probe, one: _Beside, parameter: SeenParameter) -> Finding | None:
    """Which of two values counted; None where no two were found that can be told apart."""
    tool, name = one.operation.tool, one.operation.name
    for inner, outer in await _pairs(probe, one, parameter):
        params = {**one.base.params, parameter.name: inner}
        wanted = await probe.call(one.operation, params)
        unwanted = await probe.call(one.operation, {**params, parameter.name: outer})
        again = await probe.call(one.operation, params)
        if not wanted.succeeded or not _alike(wanted, again, again) or _alike(wanted, again, unwanted):
            continue
        both = await probe.ask(tool, {"operation": name, "params": params, parameter.name: outer})
        subject = f"{name}.{parameter.name}"
        if _alike(wanted, again, both):
            return holds(subject, both)
        if _alike(unwanted, unwanted, both):
            words = f"'{parameter.name}' was {inner!r} in 'params' and {outer!r} beside it, and the latter counted; "
            return broken(subject, f"{words}expected the answer for {inner!r}", wanted, unwanted, both)
    return None


async def _pairs(probe: Probe, one: _Beside, parameter: SeenParameter) -> list[tuple[Any, Any]]:
    value = one.base.params.get(parameter.name)
    if value is None:
        return [(1, 2)] if parameter.name in _COUNTS else []
    return [(value, other) for other in await other_values(probe, one.operation, parameter, value)]


def _alike(once: Exchange, again: Exchange, other: Exchange) -> bool:
    """Whether two answers say the same."""
    if once.succeeded and other.succeeded:
        return difference(once.data, again.data, other.data) is None
    return once.failed and other.failed and once.code == other.code
