"""Level 2 Features: both endpoint modes, field selection, batches."""

from collections.abc import AsyncIterator

from headgate.client.wires import NotOpened
from headgate.conformance.checks.batches import batch_of_one
from headgate.conformance.probe import Probe
from headgate.conformance.registry import broken, check, holds
from headgate.conformance.survey import Survey
from headgate.conformance.values import Area, Demand, Finding

__all__: list[str] = []

_SELECTING = ("fields", "preset", "select")


@check(
    "features.both-modes",
    "The server can be had in semantic and in single mode, with the same operations.",
    section="specification 10.1",
    demand=Demand.MUST,
    area=Area.LEVEL_2,
    level=2,
    how="Opens the server once more in the other mode: with MCP_AQL_ENDPOINT_MODE, or where --other-mode says.",
    proves=(
        "spec-10.1-both-endpoint-modes-supported",
        "spec-3.3-both-endpoint-modes-supported",
    ),
)
async def both_modes(probe: Probe) -> AsyncIterator[Finding]:
    """One server, two forms."""
    mode = probe.survey.endpoints.mode
    if mode == "all":
        yield holds("server")
        return
    other = "single" if mode == "semantic" else "semantic"
    try:
        async with probe.elsewhere(mode=other) as there:
            wrong = _wrong(probe.survey, there.survey, other)
            answer = there.survey.operations_answer
            yield broken("server", wrong, answer) if wrong else holds("server", answer)
    except NotOpened as error:
        yield broken("server", f"it has {mode} mode, and in {other} mode there is no server: {error}")


def _wrong(here: Survey, there: Survey, wanted: str) -> str:
    """What keeps a server from being the same in the mode that was wanted."""
    if there.endpoints.mode not in (wanted, "all"):
        tools = ", ".join(f"'{name}'" for name in there.endpoints.likely)
        return (
            f"{wanted} mode was asked for with MCP_AQL_ENDPOINT_MODE, and the tools are still {tools}; "
            "if it is switched otherwise, --other-mode names the same server in its other mode"
        )
    lost = sorted(set(here.operations) - set(there.operations))
    if here.operations and not there.operations:
        return f"in {wanted} mode introspection lists no operations"
    return f"in {wanted} mode there is no '{lost[0]}' (of {len(lost)} that are missing)" if lost else ""


@check(
    "features.field-selection",
    "Answers can be narrowed to some fields.",
    section="specification 10.1",
    demand=Demand.SHOULD,
    area=Area.LEVEL_2,
    level=2,
    how="Looks for a parameter 'fields' of an operation of READ.",
    proves=("spec-10.1-field-selection-implemented",),
)
async def field_selection(probe: Probe) -> AsyncIterator[Finding]:
    """Who needs two fields gets two fields."""
    readable = [one for one in probe.operations if one.category == "READ"]
    if any(one.parameter(name) for one in readable for name in _SELECTING):
        yield holds("server", probe.survey.operations_answer)
    elif readable:
        yield broken("server", "no operation of READ takes 'fields'", probe.survey.operations_answer)


@check(
    "features.batches",
    "Several operations can be sent as one batch.",
    section="specification 10.1",
    demand=Demand.SHOULD,
    area=Area.LEVEL_2,
    level=2,
    how="Sends a batch with one introspection.",
    proves=("spec-10.1-batch-operations-implemented", "ops-7.1-batch-request-format"),
)
async def batches(probe: Probe) -> AsyncIterator[Finding]:
    """Several in one."""
    exchange = await batch_of_one(probe)
    if isinstance((exchange.envelope or {}).get("results"), list):
        yield holds("server", exchange)
    elif exchange.failed or exchange.succeeded:
        yield broken("server", "a batch {'operations': [...]} was not answered with 'results'", exchange)
