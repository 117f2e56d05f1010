"""Introspection Fidelity: how operations and parameters are called."""

import re
from collections.abc import AsyncIterator, Mapping
from functools import partial
from typing import Final

from headgate.conformance.checks.introspection import findings_of, seen_details
from headgate.conformance.probe import Probe
from headgate.conformance.registry import check
from headgate.conformance.survey import INTROSPECT, SeenOperation
from headgate.conformance.values import Area, Demand, Finding

__all__: list[str] = []

_must = partial(check, demand=Demand.MUST, area=Area.INTROSPECTION, level=1)
_should = partial(check, demand=Demand.SHOULD, area=Area.INTROSPECTION)

_SNAKE: Final = re.compile(r"[a-z][a-z0-9_]*", re.ASCII)
_RESERVED: Final[Mapping[str, str]] = {
    "execute_agent": "EXECUTE",
    "record_execution_step": "CREATE",
    "complete_execution": "EXECUTE",
    "abort_execution": "EXECUTE",
    "confirm_operation": "EXECUTE",
    "verify_challenge": "CREATE",
}
"""The names that 8.5.4 keeps for itself beside ``introspect``, and what they are."""
_LOOP_NAMES: Final = frozenset({"nextActionHint", "stepDescription"})
"""8.6.3 writes them so, against 4.3: whoever follows it is not blamed."""
_CANONICAL: Final[Mapping[str, frozenset[str]]] = {
    "CREATE": frozenset({"create"}),
    "READ": frozenset({"get", "list"}),
    "UPDATE": frozenset({"update"}),
    "DELETE": frozenset({"delete"}),
    "EXECUTE": frozenset({"execute", "cancel"}),
}
_OVERSTATED: Final[Mapping[str, frozenset[str]]] = {
    "READ": frozenset({"create", "update", "delete", "execute", "cancel"}),
    "CREATE": frozenset({"update", "delete"}),
}
"""Verbs whose work is more than the category admits."""
_VERBS: Final = frozenset(
    {
        *(
            "create",
            "add",
            "upload",
            "register",
            "import",
            "insert",
            "get",
            "list",
            "search",
            "find",
            "export",
            "count",
        ),
        *("update", "edit", "set", "rename", "move", "patch", "merge", "delete", "remove", "purge", "unregister"),
        *("clear", "drop", "execute", "cancel", "run", "start", "stop", "resume", "trigger", "invoke", "query"),
    }
)
"""The verbs of operations 6.2."""
_LAST: Final = frozenset({"create", "get", "list", "update", "delete", "execute", "cancel", "add", "edit", "remove"})


def _own(probe: Probe) -> list[SeenOperation]:
    """The operations that the adapter has named itself."""
    kept = {INTROSPECT, *_RESERVED}
    return [one for one in probe.survey.operations.values() if one.name not in kept and _SNAKE.fullmatch(one.name)]


def _verb(operation: SeenOperation) -> str:
    return operation.name.partition("_")[0]


@_must(
    "naming.operations-snake-case",
    "The names of operations are in snake_case.",
    section="specification 8.5.2",
    how="Looks at every name in the list.",
    proves=("spec-8.5.2-operation-names-snake-case", "ops-2.4-operation-names-snake-case"),
)
async def operations_snake_case(probe: Probe) -> AsyncIterator[Finding]:
    """A small letter, then small letters, digits and underscores."""
    for name in probe.survey.operations:
        wrong = [] if not name or _SNAKE.fullmatch(name) else [f"'{name}' is not in snake_case (^[a-z][a-z0-9_]*$)"]
        for finding in findings_of(name, wrong, probe.survey.operations_answer):
            yield finding


@_must(
    "naming.parameters-snake-case",
    "The names of parameters are in snake_case.",
    section="specification 4.3",
    how="Looks at every parameter in the details of all operations.",
    proves=(
        "spec-4.3-parameter-names-snake-case",
        "ops-4.1-parameter-names-snake-case",
        "ops-4.1-canonical-names-snake-case",
    ),
)
async def parameters_snake_case(probe: Probe) -> AsyncIterator[Finding]:
    """Except for two that the text itself writes otherwise."""
    for operation, exchange in seen_details(probe):
        exempt = _LOOP_NAMES if operation.name == "record_execution_step" else frozenset()
        for parameter in operation.parameters:
            if parameter.name and parameter.name not in exempt:
                words = f"'{parameter.name}' is not in snake_case (^[a-z][a-z0-9_]*$)"
                wrong = [] if _SNAKE.fullmatch(parameter.name) else [words]
                for finding in findings_of(f"{operation.name}.{parameter.name}", wrong, exchange):
                    yield finding


@_must(
    "naming.reserved-names",
    "Names that the protocol keeps for itself are not used for something else.",
    section="specification 8.5.4",
    how="Compares the category of operations with reserved names with what they are reserved for.",
    proves=("spec-8.5.4-reserved-names-refused",),
)
async def reserved_names(probe: Probe) -> AsyncIterator[Finding]:
    """The category shows it; the rest of the safety loop has checks of its own."""
    for name, category in _RESERVED.items():
        operation = probe.survey.operations.get(name)
        if operation is not None and operation.category:
            words = f"'{name}' is reserved for a {category} operation of the protocol, and is {operation.category} here"
            wrong = [] if operation.category == category else [words]
            for finding in findings_of(name, wrong, probe.survey.operations_answer):
                yield finding


@_should(
    "naming.verb-resource",
    "An operation that acts on a resource is called by its verb first.",
    section="specification 8.5.2",
    level=1,
    how="Looks for names that end in their verb.",
    proves=("spec-8.5.2-operation-names-verb-resource",),
)
async def verb_resource(probe: Probe) -> AsyncIterator[Finding]:
    """A name of one word is that of an operation on the whole, and its author knows."""
    for operation in _own(probe):
        first, _, rest = operation.name.partition("_")
        last = rest.rpartition("_")[2]
        if rest:
            words = f"'{operation.name}' has its verb last; expected verb_resource, such as '{last}_{first}'"
            wrong = [words] if last in _LAST and first not in _VERBS else []
            for finding in findings_of(operation.name, wrong, probe.survey.operations_answer):
                yield finding


@_should(
    "naming.canonical-verbs",
    "An operation begins with the canonical verb of its category, or its description names that verb.",
    section="specification 8.5.3",
    level=2,
    how="Looks at names that begin with one of the other verbs of operations 6.2.",
    proves=(
        "spec-8.5.1-canonical-verbs-used",
        "spec-8.5.3-other-verbs-equivalent-named",
        "ops-6.2-canonical-verbs-used",
    ),
)
async def canonical_verbs(probe: Probe) -> AsyncIterator[Finding]:
    """Verbs that the texts do not know are beyond judgement."""
    for operation in _own(probe):
        canonical = _CANONICAL.get(operation.category, frozenset())
        if not canonical or _verb(operation) not in _VERBS:
            continue
        named = set(re.findall(r"[a-z]+", operation.description.lower()))
        verbs = " or ".join(f"'{verb}'" for verb in sorted(canonical))
        words = f"'{operation.name}' does not begin with {verbs}, and its description does not name {verbs} either"
        exchange = probe.survey.details_answers.get(operation.name, probe.survey.operations_answer)
        wrong = [] if _verb(operation) in canonical or canonical & named else [words]
        for finding in findings_of(operation.name, wrong, exchange):
            yield finding


@_should(
    "naming.classification",
    "An operation does no more by its name than its category admits.",
    section="specification 8.1",
    level=1,
    how="Looks for operations such as delete_… among those that are said only to read or to add.",
    proves=("spec-10.1-operations-classified-correctly", "ops-6.1-endpoint-follows-semantics"),
)
async def classification(probe: Probe) -> AsyncIterator[Finding]:
    """What it really does, the round trips see."""
    for operation in _own(probe):
        if operation.category:
            words = f"'{operation.name}' is a {operation.category} operation, which its name contradicts"
            wrong = [words] if _verb(operation) in _OVERSTATED.get(operation.category, ()) else []
            for finding in findings_of(operation.name, wrong, probe.survey.operations_answer):
                yield finding
