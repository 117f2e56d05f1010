"""Introspection Fidelity: the list of operations and their details are there, whole, and of one mind.

The survey has asked for most of it already. What follows looks at those answers, and asks only for what nobody has:
names that do not exist, and queries that make no sense.
"""

from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, Final

from headgate.conformance.probe import Probe
from headgate.conformance.registry import broken, check, holds, unseen
from headgate.conformance.shapes import ENTRY, category_faults, details_faults, faults, shown
from headgate.conformance.survey import CATEGORIES, INTROSPECT, SeenOperation
from headgate.conformance.values import Area, Demand, Exchange, Finding

__all__ = ["FLAGS", "findings_of", "seen_details"]

_must = partial(check, demand=Demand.MUST, area=Area.INTROSPECTION, level=1)
_should = partial(check, demand=Demand.SHOULD, area=Area.INTROSPECTION, level=1)

FLAGS: Final = {
    "CREATE": (False, False),
    "READ": (True, False),
    "UPDATE": (False, True),
    "DELETE": (False, True),
    "EXECUTE": (False, True),
}
"""Read-only and destructive, by category (6.1)."""


def findings_of(subject: str, faults: Iterable[str], *exchanges: Exchange) -> Iterator[Finding]:
    """A finding for each fault, or one that all is well."""
    found = list(faults)
    yield from (broken(subject, words, *exchanges) for words in found)
    if not found:
        yield holds(subject, *exchanges)


def seen_details(probe: Probe) -> Iterator[tuple[SeenOperation, Exchange]]:
    """The operations whose details were given, ``introspect`` among them, with the answers that gave them."""
    for name, exchange in probe.survey.details_answers.items():
        operation = probe.survey.operations[name]
        if operation.details:
            yield operation, exchange


def _listed(probe: Probe) -> list[Any]:
    """The entries of the list as they are, objects or not."""
    data = probe.survey.operations_answer.data
    told = data.get("operations") if isinstance(data, Mapping) else None
    return told if isinstance(told, list) else []


def _name_of(entry: object, index: int) -> str:
    name = entry.get("name") if isinstance(entry, Mapping) else None
    return name if isinstance(name, str) and name else f"operations[{index}]"


@_must(
    "introspection.operations-listed",
    "'introspect' answers the list of operations.",
    section="introspection 8.1",
    how="Asks for 'operations' without a name.",
    proves=(
        "spec-7.2-introspect-operation-implemented",
        "spec-7.3-four-introspection-queries-answered",
        "spec-10.1-introspect-operation-implemented",
        "spec-10.2-operations-documented-in-introspection",
        "ops-9.1-introspect-operation-implemented",
        "intro-2.1-introspect-operation-implemented",
        "intro-8.1-both-query-types-supported",
        "intro-8.1-operation-list-complete",
    ),
)
async def operations_listed(probe: Probe) -> AsyncIterator[Finding]:
    """A success whose data have a list."""
    answer = probe.survey.operations_answer
    if answer.kind in ("silent", "lost"):
        return
    data = answer.data
    if not answer.succeeded:
        said = f"{answer.code} {answer.message}".strip() or answer.problem or "no envelope of success"
        yield broken(INTROSPECT, f"the list of operations was not given, but: {said}", answer)
    elif not isinstance(data, Mapping) or not isinstance(data.get("operations"), list):
        yield broken(INTROSPECT, f"'data' is {shown(data)}; expected an object with a list 'operations'", answer)
    else:
        yield holds(INTROSPECT, answer)


@_must(
    "introspection.entry-shape",
    "Each operation in the list has a name, a semantic category, an endpoint and a description.",
    section="introspection 3.2",
    how="Looks at every entry of the list.",
    proves=(
        "spec-10.1-family-and-category-documented",
        "ops-5.1-schema-has-semantic-category",
        "ops-5.1-schema-has-endpoint-family",
        "ops-5.1-schema-has-description",
        "intro-8.1-operation-list-complete",
        "intro-8.2-family-and-category-documented",
    ),
)
async def entry_shape(probe: Probe) -> AsyncIterator[Finding]:
    """Four texts, none of them empty."""
    answer = probe.survey.operations_answer
    for index, entry in enumerate(_listed(probe)):
        for finding in findings_of(_name_of(entry, index), faults(entry, ENTRY), answer):
            yield finding


@_must(
    "introspection.categories",
    "Each operation has one of the five semantic categories.",
    section="specification 6.2",
    how="Looks at every entry of the list and at all details.",
    proves=("spec-6.2-exactly-one-semantic-category", "ops-5.1-schema-has-semantic-category"),
)
async def categories(probe: Probe) -> AsyncIterator[Finding]:
    """In capitals, as the text writes them; the list speaks first, the details only where it is in order."""
    answer = probe.survey.operations_answer
    wrong: set[str] = set()
    for index, entry in enumerate(_listed(probe)):
        told = entry.get("semantic_category") if isinstance(entry, Mapping) else None
        for words in category_faults(told):
            wrong.add(_name_of(entry, index))
            yield broken(_name_of(entry, index), words, answer)
    for operation, exchange in seen_details(probe):
        if operation.name not in wrong and isinstance(operation.details.get("semantic_category"), str):
            told = operation.details["semantic_category"]
            for finding in findings_of(operation.name, category_faults(told), exchange):
                yield finding


@_must(
    "introspection.names-unique",
    "No two operations have the same name.",
    section="specification 6.2",
    how="Counts the names in the list.",
    proves=("spec-6.2-exactly-one-endpoint-family", "spec-6.2-exactly-one-semantic-category"),
)
async def names_unique(probe: Probe) -> AsyncIterator[Finding]:
    """A name stands for one category and one endpoint."""
    answer = probe.survey.operations_answer
    names = Counter(entry["name"] for entry in _listed(probe) if isinstance(entry, Mapping) and _named(entry))
    repeated = [name for name, count in names.items() if count > 1]
    for name in repeated:
        yield broken(name, f"'{name}' stands {names[name]} times in the list of operations; expected once", answer)
    if names and not repeated:
        yield holds(INTROSPECT, answer)


def _named(entry: Mapping[str, Any]) -> bool:
    return isinstance(entry.get("name"), str)


@_must(
    "introspection.details-answered",
    "'introspect' with the name of an operation answers its details.",
    section="introspection 8.1",
    how="Asks for the details of each operation in the list.",
    proves=("spec-7.3-four-introspection-queries-answered", "intro-8.1-operation-details-complete"),
)
async def details_answered(probe: Probe) -> AsyncIterator[Finding]:
    """A success whose data have the operation."""
    for name, exchange in probe.survey.details_answers.items():
        if exchange.kind != "answered" or exchange.envelope is None:
            continue
        data = exchange.data
        if exchange.succeeded and isinstance(data, Mapping) and isinstance(data.get("operation"), Mapping):
            yield holds(name, exchange)
        else:
            got = shown(data) if exchange.succeeded else f"a failure: {exchange.code} {exchange.message}".strip()
            words = f"the details of '{name}', which is listed, are {got}; expected an object in 'data.operation'"
            yield broken(name, words, exchange)


@_must(
    "introspection.details-shape",
    "The details of an operation have all their members, each of its type.",
    section="introspection 3.3",
    how="Looks at the details of each operation, without its parameters.",
    proves=("intro-8.1-operation-details-complete", "spec-10.1-standard-formats-used"),
)
async def details_shape(probe: Probe) -> AsyncIterator[Finding]:
    """What the list has wrong already is not said twice."""
    for operation, exchange in seen_details(probe):
        for finding in findings_of(operation.name, details_faults(operation.details, operation.listed), exchange):
            yield finding


@_must(
    "introspection.list-and-details-agree",
    "The list and the details of an operation say the same of its name, category and endpoint.",
    section="introspection 8.1.1",
    how="Compares each entry of the list with the details.",
    proves=("intro-8.1-operation-details-complete", "intro-8.1-type-names-consistent"),
)
async def list_and_details_agree(probe: Probe) -> AsyncIterator[Finding]:
    """Where both say anything."""
    for operation, exchange in seen_details(probe):
        differing = (
            f"'{key}' is {shown(operation.details[key])} in the details and {shown(operation.listed[key])} in the list"
            for key in ("name", "semantic_category", "endpoint")
            if isinstance(operation.details.get(key), str)
            and isinstance(operation.listed.get(key), str)
            and operation.details[key] != operation.listed[key]
        )
        answers = (probe.survey.operations_answer, exchange)
        for finding in findings_of(operation.name, differing, *answers):
            yield finding


@_must(
    "introspection.permissions",
    "The permission flags of an operation are those of its semantic category.",
    section="specification 6.1",
    how="Compares 'permissions' with 'semantic_category' in the details of each operation.",
    proves=("spec-6.1-categories-carry-permission-flags",),
)
async def permissions(probe: Probe) -> AsyncIterator[Finding]:
    """Only where the flags are flags and the category is beyond doubt."""
    for operation, exchange in seen_details(probe):
        flags = operation.details.get("permissions")
        category = operation.details.get("semantic_category")
        if category not in CATEGORIES or operation.listed.get("semantic_category") != category:
            continue
        if not isinstance(flags, Mapping):
            continue
        expected = zip(("readOnly", "destructive"), FLAGS[category], strict=True)
        wrong = (
            f"'{flag}' is {shown(flags[flag])} for a {category} operation; expected {shown(value)}"
            for flag, value in expected
            if isinstance(flags.get(flag), bool) and flags[flag] is not value
        )
        for finding in findings_of(operation.name, wrong, exchange):
            yield finding


@_must(
    "introspection.tool-exists",
    "'mcpTool' names a tool that the server has, the one of the operation's endpoint.",
    section="introspection 3.3",
    how="Looks the tools up in the list of tools.",
    proves=(
        "spec-6.2-exactly-one-endpoint-family",
        "ops-6.1-endpoint-follows-semantics",
        "spec-3.3-one-endpoint-mode-supported",
    ),
)
async def tool_exists(probe: Probe) -> AsyncIterator[Finding]:
    """An agent calls what it reads here."""
    for operation, exchange in seen_details(probe):
        tool = operation.details.get("mcpTool")
        if isinstance(tool, str) and tool:
            for finding in findings_of(operation.name, _tool_faults(probe, operation, tool), exchange):
                yield finding


def _tool_faults(probe: Probe, operation: SeenOperation, tool: str) -> Iterator[str]:
    endpoints = probe.survey.endpoints
    if tool not in {one.name for one in probe.survey.tools}:
        yield f"'mcpTool' is '{tool}', which is not among the tools of the server"
        return
    if operation.details.get("endpoint") != operation.listed.get("endpoint"):
        return
    expected = endpoints.families.get(operation.endpoint)
    if expected is not None and tool not in (expected, endpoints.single):
        yield f"'mcpTool' is '{tool}', but the tool of the endpoint '{operation.endpoint}' is '{expected}'"


@_must(
    "introspection.introspect-is-read",
    "'introspect' is a READ operation.",
    section="introspection 8.1",
    how="Looks at its own category, in the list or in its details.",
    proves=(
        "ops-9.1-introspect-operation-implemented",
        "intro-2.1-introspect-operation-implemented",
        "intro-8.1-introspect-operation-implemented",
    ),
)
async def introspect_is_read(probe: Probe) -> AsyncIterator[Finding]:
    """Wherever it is documented."""
    listed = probe.survey.operations.get(INTROSPECT)
    exchange = probe.survey.operations_answer if listed else await probe.introspect("operations", INTROSPECT)
    told: object = listed.listed if listed else None
    if not listed and isinstance(exchange.data, Mapping):
        told = exchange.data.get("operation")
    category = told.get("semantic_category") if isinstance(told, Mapping) else None
    if category is None:
        yield unseen(INTROSPECT, "the server does not document 'introspect' itself", exchange)
    elif category in CATEGORIES:
        wrong = [] if category == "READ" else [f"the category of 'introspect' is '{category}'; expected READ"]
        for finding in findings_of(INTROSPECT, wrong, exchange):
            yield finding


@_should(
    "introspection.lists-itself",
    "'introspect' is in the list of operations.",
    section="introspection 8.2",
    how="Looks it up in the list.",
    proves=("intro-8.2-introspect-lists-itself",),
)
async def lists_itself(probe: Probe) -> AsyncIterator[Finding]:
    """With whatever else is wrong about its entry."""
    if probe.survey.operations:
        missing = [] if INTROSPECT in probe.survey.operations else ["'introspect' is not in the list of operations"]
        for finding in findings_of(INTROSPECT, missing, probe.survey.operations_answer):
            yield finding


async def _unknown(probe: Probe, query: str, key: str) -> AsyncIterator[Finding]:
    name = f"no_such_{key}_{probe.seed}"
    exchange = await probe.introspect(query, name)
    if exchange.kind != "answered" or exchange.envelope is None:
        return
    data = exchange.data
    if exchange.succeeded and isinstance(data, Mapping) and key in data and data[key] is None:
        yield holds(INTROSPECT, exchange)
    else:
        got = f"'data' is {shown(data)}" if exchange.succeeded else f"it failed with {exchange.code or 'no code'}"
        yield broken(
            INTROSPECT, f"there is no {key} '{name}', and {got}; expected success with '{key}': null", exchange
        )


@_must(
    "introspection.unknown-operation-null",
    "The details of an operation that does not exist are null, and no error.",
    section="introspection 4.3",
    how="Asks for an operation with an invented name.",
    proves=("intro-4.3-unknown-operation-yields-null", "intro-8.1-unknown-operation-yields-null"),
)
async def unknown_operation_null(probe: Probe) -> AsyncIterator[Finding]:
    """A success all the same."""
    async for finding in _unknown(probe, "operations", "operation"):
        yield finding


@_must(
    "introspection.unknown-type-null",
    "The details of a type that does not exist are null, and no error.",
    section="introspection 8.1",
    how="Asks for a type with an invented name.",
    proves=("intro-8.1-unknown-type-yields-null",),
)
async def unknown_type_null(probe: Probe) -> AsyncIterator[Finding]:
    """A success all the same; a server that has no types at all is not asked."""
    if probe.survey.types_answer.succeeded:
        async for finding in _unknown(probe, "types", "type"):
            yield finding


@_must(
    "introspection.query-required",
    "'introspect' without 'query' is refused.",
    section="specification 7.2",
    how="Calls it with no parameters.",
    proves=("spec-7.2-introspect-query-param-required",),
)
async def query_required(probe: Probe) -> AsyncIterator[Finding]:
    """Which code the refusal has is not looked at here."""
    request = {"operation": INTROSPECT, "params": {}}
    exchange = await probe.ask(probe.survey.introspection_tool, request)
    if exchange.succeeded:
        words = "'introspect' was answered without 'query', which is required; expected VALIDATION_MISSING_PARAM"
        yield broken(INTROSPECT, words, exchange)
    elif exchange.failed:
        yield holds(INTROSPECT, exchange)


@_should(
    "introspection.unknown-query-refused",
    "A query that the server does not know is refused.",
    section="introspection 2.2",
    how="Asks with an invented query.",
    proves=(),
)
async def unknown_query_refused(probe: Probe) -> AsyncIterator[Finding]:
    """Beside 'operations' and 'types' a server may have queries of its own, but not this one."""
    query = f"no_such_query_{probe.seed}"
    exchange = await probe.introspect(query)
    if exchange.succeeded:
        words = f"'introspect' was answered with 'query' set to '{query}'; expected a refusal that names the queries"
        yield broken(INTROSPECT, words, exchange)
    elif exchange.failed:
        yield holds(INTROSPECT, exchange)
