"""Endpoint Routing: an operation is answered where it belongs, and nowhere else."""

from collections.abc import AsyncIterator, Iterator
from typing import Final

from headgate.conformance.choosing import spread
from headgate.conformance.probe import Probe
from headgate.conformance.registry import broken, check, holds, unseen
from headgate.conformance.strays import Stray, strays_of
from headgate.conformance.survey import INTROSPECT
from headgate.conformance.trials import attempts, inconclusive, remembered
from headgate.conformance.values import Area, Demand, Exchange, Finding

__all__: list[str] = []

_NO_OPERATION: Final = "zz_no_such_operation"
_MISMATCH: Final = "VALIDATION_ENDPOINT_MISMATCH"
_NOT_FOUND: Final = "NOT_FOUND_OPERATION"
_MOST_SHOUTED: Final = 4


async def _unknown_answers(probe: Probe) -> dict[str, Exchange]:
    """What each tool says to an operation that does not exist."""

    async def make() -> dict[str, Exchange]:
        tools = dict.fromkeys(probe.survey.endpoints.likely)
        return {tool: await probe.ask(tool, {"operation": _NO_OPERATION, "params": {}}) for tool in tools}

    return await remembered(probe, "routing.unknown", make)


@check(
    "routing.wrong-endpoint-refused",
    "An operation is refused by the tools of other endpoint families.",
    section="specification 6.2",
    demand=Demand.MUST,
    area=Area.ROUTING,
    level=1,
    how="In semantic mode, sends READ operations to the tool of every other family; those that change something too, "
    "if they may be called: about things that do not exist, in pretence, or making what is deleted again.",
    proves=(
        "spec-6.2-wrong-endpoint-rejected",
        "spec-6.2-exactly-one-endpoint-family",
        "spec-10.1-wrong-endpoint-rejected",
        "ops-6.3-endpoint-of-call-validated",
        "ops-6.3-wrong-endpoint-rejected",
    ),
)
async def wrong_endpoint_refused(probe: Probe) -> AsyncIterator[Finding]:
    """Families are kept apart. A tool that answers whatever it is asked is another check's matter."""
    unknown = await _unknown_answers(probe)
    for stray in await strays_of(probe):
        to_nonsense = unknown.get(stray.tool)
        if to_nonsense is not None and to_nonsense.succeeded:
            yield unseen(stray.tool, "it answers operations that do not exist, too", stray.trial.exchange)
        else:
            for finding in _kept_apart(stray, to_nonsense.code if to_nonsense is not None else ""):
                yield finding


def _kept_apart(stray: Stray, unknown_code: str) -> Iterator[Finding]:
    """Whether a request was refused there. Whoever has the code of what is unknown may mean the operation."""
    operation, exchange = stray.trial.operation, stray.trial.exchange
    if stray.carried_out and (exchange.succeeded or exchange.code != unknown_code):
        words = f"'{operation.name}' belongs to '{operation.tool}' but was answered by '{stray.tool}'"
        words += "" if exchange.succeeded else ", which looked for what it should be done to"
        yield broken(operation.name, f"{words}; expected a refusal with {_MISMATCH}{stray.trial.left}", exchange)
    elif inconclusive(exchange):
        yield unseen(operation.name, f"it was answered with {exchange.code}", exchange)
    elif stray.trial.tells:
        yield holds(operation.name, exchange)


@check(
    "routing.wrong-endpoint-code",
    "The refusal of an operation by a wrong endpoint has the code VALIDATION_ENDPOINT_MISMATCH.",
    section="operations 6.3",
    demand=Demand.SHOULD,
    area=Area.ROUTING,
    level=1,
    how="Looks at the codes of operations that were sent to the tools of other families.",
    proves=("ops-6.3-wrong-endpoint-error-code",),
)
async def wrong_endpoint_code(probe: Probe) -> AsyncIterator[Finding]:
    """One code for the wrong door."""
    for stray in await strays_of(probe):
        name, exchange = stray.trial.operation.name, stray.trial.exchange
        if not stray.trial.tells or not exchange.code or stray.carried_out:
            continue
        if exchange.code == _MISMATCH:
            yield holds(name, exchange)
        else:
            words = f"'{name}' was refused by '{stray.tool}' with {exchange.code}; expected {_MISMATCH}"
            yield broken(name, words, exchange)


@check(
    "routing.unknown-operation-refused",
    "An operation that does not exist is refused.",
    section="operations 2.2",
    demand=Demand.MUST,
    area=Area.ROUTING,
    level=1,
    how=f"Asks every tool for '{_NO_OPERATION}'.",
    proves=("ops-2.2-operation-name-is-defined", "ops-5.1-operation-defined-by-schema"),
)
async def unknown_operation_refused(probe: Probe) -> AsyncIterator[Finding]:
    """Only what is defined can be called."""
    for tool, exchange in (await _unknown_answers(probe)).items():
        if exchange.succeeded:
            words = f"'{tool}' answered '{_NO_OPERATION}', which does not exist; expected {_NOT_FOUND}"
            yield broken(tool, words, exchange)
        elif exchange.failed and not inconclusive(exchange):
            yield holds(tool, exchange)


@check(
    "routing.unknown-operation-code",
    "The refusal of an operation that does not exist has the code NOT_FOUND_OPERATION.",
    section="operations 8.1",
    demand=Demand.MUST,
    area=Area.ROUTING,
    level=1,
    how=f"Looks at the codes of the answers to '{_NO_OPERATION}'.",
    proves=("ops-8.1-unknown-operation-error-code", "ops-8.3-standard-error-codes-used"),
)
async def unknown_operation_code(probe: Probe) -> AsyncIterator[Finding]:
    """One code for unknown operations."""
    for tool, exchange in (await _unknown_answers(probe)).items():
        if exchange.failed and exchange.code == _NOT_FOUND:
            yield holds(tool, exchange)
        elif exchange.failed and exchange.code and not exchange.code.startswith(("PERMISSION_", "RATE_LIMIT_")):
            words = f"'{tool}' refused '{_NO_OPERATION}', which does not exist, with {exchange.code}; "
            yield broken(tool, f"{words}expected {_NOT_FOUND}", exchange)


@check(
    "routing.case-sensitive",
    "The name of an operation in other letters is not the operation.",
    section="operations 2.4",
    demand=Demand.MUST,
    area=Area.ROUTING,
    level=1,
    how="Asks for READ operations in capital letters.",
    proves=("ops-2.4-operation-names-case-sensitive",),
)
async def case_sensitive(probe: Probe) -> AsyncIterator[Finding]:
    """Names are exact."""
    anything = {tool for tool, exchange in (await _unknown_answers(probe)).items() if exchange.succeeded}
    asked = [(INTROSPECT, probe.survey.introspection_tool, {"query": "operations"})]
    worked = [(one.name, one.tool, base.params) for one, base in await attempts(probe) if base.worked]
    for name, tool, params in [*asked, *spread(worked, _MOST_SHOUTED)]:
        if name.upper() == name or tool in anything or name.upper() in probe.survey.operations:
            continue
        exchange = await probe.ask(tool, {"operation": name.upper(), "params": params})
        if exchange.succeeded:
            words = f"'{name.upper()}' was answered as if it were '{name}'; expected {_NOT_FOUND}"
            yield broken(name, words, exchange)
        elif exchange.failed and not inconclusive(exchange):
            yield holds(name, exchange)
