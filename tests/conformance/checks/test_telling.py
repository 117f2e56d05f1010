"""Each check of what a server tells, on a server with the one fault that it is meant for."""

from collections.abc import Callable
from typing import Any

import pytest

from headgate.conformance.checks.types import names_in
from headgate.conformance.values import Check, Demand, Outcome, Verdict
from tests.conformance.checks.telling import OURS, Spoil, Told, failing, fine, report_on, warned

pytestmark = pytest.mark.anyio

DEMANDS = {check.id: check.demand for check in OURS}


def put(get: Callable[[Told], Any], *path: Any) -> Spoil:
    """Sets the last but one of a path to the last."""
    *way, key, value = path

    def spoil(told: Told) -> None:
        found = get(told)
        for step in way:
            found = found[step]
        found[key] = value

    return spoil


def drop(get: Callable[[Told], Any], *path: Any) -> Spoil:
    def spoil(told: Told) -> None:
        found = get(told)
        for step in path[:-1]:
            found = found[step]
        del found[path[-1]]

    return spoil


def both(key: str, value: object) -> Spoil:
    """Changes an operation in the list and in its details."""

    def spoil(told: Told) -> None:
        for entry in told.operations:
            if entry["name"] == "list_books":
                entry[key] = value
        told.details["list_books"][key] = value

    return spoil


def rename(old: str, new: str) -> Spoil:
    def spoil(told: Told) -> None:
        told.details = {new if name == old else name: one for name, one in told.details.items()}
        for one in (*told.operations, *told.details.values()):
            if one["name"] == old:
                one["name"] = new
                one["description"] = "Books, some or all."
        told.details[new]["examples"][0]["request"]["operation"] = new

    return spoil


def rename_parameter(new: str) -> Spoil:
    return put(details, "list_books", "parameters", 0, "name", new)


def details(told: Told) -> Any:
    return told.details


def operations(told: Told) -> Any:
    return told.operations


def protocol(told: Told) -> Any:
    return told.protocol


def types(told: Told) -> Any:
    return told.types


def type_details(told: Told) -> Any:
    return told.type_details


REFUSED = {"success": False, "error": {"code": "VALIDATION_UNKNOWN_FIELD", "message": "There is no such field"}}
FAILURE = {"success": False, "error": {"code": "NOT_FOUND_OPERATION", "message": "There is no such thing"}}


def answer(query: object, name: object, said: object) -> Spoil:
    """One question is answered otherwise."""
    return lambda told: setattr(told, "instead", lambda q, n: said if (q, n) == (query, name) else None)


def data(query: object, name: object, value: object) -> Spoil:
    return answer(query, name, {"success": True, "data": value})


def fail(query: str, name: object = None) -> Spoil:
    return answer(query, name, FAILURE)


def unknown(start: str, said: object) -> Spoil:
    """What nobody knows is answered otherwise."""
    return lambda told: setattr(told, "instead", lambda q, n: said if f"{q} {n}".find(start) >= 0 else None)


def shrinking(told: Told) -> None:
    """The second list of operations is shorter than the first."""
    asked: list[object] = []

    def instead(query: object, name: object) -> Any:
        asked.append((query, name))
        if asked.count(("operations", None)) < 2 or (query, name) != ("operations", None):
            return None
        return {"success": True, "data": {"_protocol": told.protocol, "operations": told.operations[:-1]}}

    told.instead = instead


def executing(told: Told) -> None:
    """``introspect`` is said to execute something."""
    for one in (told.operations[0], told.details["introspect"]):
        one["semantic_category"] = "EXECUTE"
    told.details["introspect"]["permissions"] = {"readOnly": False, "destructive": True}


def looping(told: Told) -> None:
    """The operations of the safety loop are there, and not a word of its state."""
    del told.protocol["capabilities"]
    for name in ("execute_agent", "record_execution_step"):
        category = "EXECUTE" if name == "execute_agent" else "CREATE"
        told.operations.append(told.operations[2] | {"name": name, "semantic_category": category})
        told.details[name] = told.details["create_book"] | {"name": name, "semantic_category": category}
    told.details["execute_agent"]["permissions"] = {"readOnly": False, "destructive": True}


def misusing(told: Told) -> None:
    """A name of the protocol for something else."""
    told.operations.append(told.operations[1] | {"name": "verify_challenge"})
    told.details["verify_challenge"] = told.details["list_books"] | {"name": "verify_challenge"}


DEFECTS: list[tuple[str, str, Spoil]] = [
    ("introspection.operations-listed", "the query fails", fail("operations")),
    ("introspection.operations-listed", "no list in it", data("operations", None, {"_protocol": {"version": "1.0.0"}})),
    ("introspection.entry-shape", "an entry is a text", lambda told: told.operations.append("list_books")),
    ("introspection.entry-shape", "no description", drop(operations, 1, "description")),
    ("introspection.entry-shape", "blank description", put(operations, 1, "description", " ")),
    ("introspection.entry-shape", "endpoint is a number", put(operations, 1, "endpoint", 5)),
    ("introspection.entry-shape", "no category", drop(operations, 1, "semantic_category")),
    ("introspection.categories", "a sixth", both("semantic_category", "QUERY")),
    ("introspection.categories", "in small letters", both("semantic_category", "read")),
    ("introspection.names-unique", "twice", lambda told: told.operations.append(told.operations[1])),
    ("introspection.details-answered", "null", put(details, "list_books", None)),
    ("introspection.details-answered", "failure", fail("operations", "list_books")),
    ("introspection.details-shape", "no tool", drop(details, "list_books", "mcpTool")),
    ("introspection.details-shape", "no returns", drop(details, "create_book", "returns")),
    ("introspection.details-shape", "a kind of its own", put(details, "list_books", "returns", "kind", "list")),
    ("introspection.details-shape", "flags as texts", put(details, "list_books", "permissions", "readOnly", "yes")),
    ("introspection.details-shape", "no description", drop(details, "list_books", "description")),
    ("introspection.list-and-details-agree", "endpoint", put(details, "list_books", "endpoint", "create")),
    ("introspection.list-and-details-agree", "name", put(details, "list_books", "name", "books")),
    ("introspection.list-and-details-agree", "category", put(details, "list_books", "semantic_category", "CREATE")),
    ("introspection.permissions", "READ writes", put(details, "list_books", "permissions", "readOnly", False)),
    ("introspection.permissions", "DELETE harmless", put(details, "delete_book", "permissions", "destructive", False)),
    ("introspection.tool-exists", "no such tool", put(details, "list_books", "mcpTool", "mcp_aql_query")),
    ("introspection.tool-exists", "another family's", put(details, "list_books", "mcpTool", "mcp_aql_create")),
    ("introspection.parameter-shape", "no type", drop(details, "list_books", "parameters", 0, "type")),
    ("introspection.parameter-shape", "a text", put(details, "list_books", "parameters", 0, "first")),
    ("introspection.parameter-shape", "enum", put(details, "list_books", "parameters", 0, "enum", "1, 2")),
    ("introspection.parameter-shape", "minLength", put(details, "list_books", "parameters", 0, "minLength", -1)),
    ("introspection.required-is-boolean", "missing", drop(details, "list_books", "parameters", 0, "required")),
    ("introspection.required-is-boolean", "text", put(details, "list_books", "parameters", 0, "required", "no")),
    ("introspection.unknown-operation-null", "failure", unknown("no_such_operation", FAILURE)),
    ("introspection.unknown-operation-null", "empty", unknown("no_such_operation", {"success": True, "data": {}})),
    ("introspection.unknown-type-null", "failure", unknown("no_such_type", FAILURE)),
    ("introspection.query-required", "a guess", data(None, None, {"operations": []})),
    ("introspection.introspect-is-read", "EXECUTE", executing),
    ("introspection.feature-parameters-typed", "any", put(details, "list_books", "parameters", 0, "type", "any")),
    ("types.listed", "failure", fail("types")),
    ("types.listed", "an object", data("types", None, {"types": {"Book": {}}})),
    ("types.entry-shape", "no name", drop(types, 0, "name")),
    ("types.entry-shape", "a text", put(types, 0, "Book")),
    ("types.entry-shape", "no kind", drop(types, 0, "kind")),
    ("types.entry-shape", "a kind of its own", put(types, 0, "kind", "list")),
    ("types.details", "null", put(type_details, "Genre", None)),
    ("types.details", "failure", fail("types", "Genre")),
    ("types.details-shape", "no values", drop(type_details, "Genre", "values")),
    ("types.details-shape", "no fields", drop(type_details, "Book", "fields")),
    ("types.details-shape", "no members", drop(type_details, "Found", "members")),
    ("types.details-shape", "another kind", put(type_details, "Isbn", {"name": "Isbn", "kind": "enum", "values": []})),
    ("types.details-shape", "another name", put(type_details, "Genre", "name", "Genres")),
    ("types.details-shape", "a field without type", drop(type_details, "Book", "fields", 0, "type")),
    ("types.names-consistent", "result", put(details, "list_books", "returns", "name", "book")),
    ("types.names-consistent", "parameter", put(details, "list_books", "parameters", 0, "type", "Count | null")),
    ("types.names-consistent", "member", put(type_details, "Found", "members", ["Book", "Film"])),
    ("types.names-consistent", "field", put(type_details, "Book", "fields", 0, "type", "Title[]")),
    ("types.protocol-types", "missing", drop(types, -1)),
    ("protocol.version", "missing", drop(protocol, "version")),
    ("protocol.version", "no version", put(protocol, "version", "draft")),
    ("protocol.version", "no object", lambda told: setattr(told, "protocol", "1.0.0")),
    ("protocol.capabilities", "text", put(protocol, "capabilities", "batch", "yes")),
    ("protocol.capabilities", "list", put(protocol, "capabilities", ["batch"])),
    ("protocol.conformance", "missing", drop(protocol, "conformance")),
    ("protocol.conformance", "level 3", put(protocol, "conformance", "level-3")),
    ("protocol.mode", "missing", drop(protocol, "mode")),
    ("protocol.mode", "crude", put(protocol, "mode", "crude")),
    ("protocol.mode-true", "single", put(protocol, "mode", "single")),
    ("protocol.limits", "missing", drop(protocol, "limits")),
    ("protocol.limits", "one missing", drop(protocol, "limits", "max_nesting_depth")),
    ("protocol.limits", "beyond its range", put(protocol, "limits", "max_nesting_depth", 1000)),
    ("protocol.concurrency", "a fifth", put(protocol, "concurrency", "parallel")),
    ("protocol.session-id", "a number", put(protocol, "session_id", 5)),
    ("protocol.session-id-in-errors", "missing", put(protocol, "session_id", "s-1")),
    (
        "collections.examples-combine",
        "one at a time",
        put(details, "list_books", "examples", 0, "request", "params", {"first": 3}),
    ),
    ("collections.aggregation-told", "missing", drop(details, "list_books", "aggregation_support")),
    ("collections.aggregation-told", "none", put(details, "list_books", "aggregation_support", "functions", [])),
    (
        "collections.computed-fields",
        "refused",
        lambda told: setattr(told, "read", lambda params: REFUSED if "fields" in params else {"items": []}),
    ),
    (
        "collections.computed-fields",
        "left out",
        lambda told: setattr(told, "read", lambda _params: [{"title": "Emma"}]),
    ),
    ("protocol.safety-loop", "yes", put(protocol, "capabilities", "execution_safety_loop", True)),
    (
        "protocol.deprecated-parameters",
        "no word of another",
        put(details, "list_books", "parameters", 1, "description", "Deprecated."),
    ),
    ("protocol.safety-loop", "unsaid", looping),
    ("naming.reserved-names", "another purpose", misusing),
    ("naming.operations-snake-case", "camel", rename("list_books", "listBooks")),
    ("naming.parameters-snake-case", "camel", rename_parameter("firstFew")),
    ("naming.verb-resource", "verb last", rename("list_books", "books_list")),
    ("naming.canonical-verbs", "another verb", rename("list_books", "find_books")),
    ("naming.classification", "a deletion that reads", rename("list_books", "delete_books")),
    ("introspection.lists-itself", "missing", drop(operations, 0)),
    ("introspection.examples", "none", put(details, "list_books", "examples", [])),
    ("introspection.examples-fit", "unknown", put(details, "list_books", "examples", 0, "request", "params", {"x": 1})),
    ("introspection.examples-fit", "missing", put(details, "create_book", "examples", 0, "request", "params", {})),
    ("introspection.examples-fit", "a list", put(details, "create_book", "examples", 0, "request", "params", [])),
    (
        "introspection.examples-fit",
        "another's",
        put(details, "create_book", "examples", 0, "request", "operation", "list_books"),
    ),
    ("introspection.examples-use-params", "beside", put(details, "list_books", "examples", 0, "request", "first", 1)),
    ("introspection.descriptions", "none", drop(details, "list_books", "parameters", 0, "description")),
    ("introspection.descriptions", "name", put(details, "list_books", "parameters", 0, "description", "First")),
    ("introspection.consistent", "shrinks", shrinking),
    ("introspection.endpoint-lowercase", "capitals", both("endpoint", "READ")),
    ("introspection.endpoint-lowercase", "tool", both("endpoint", "mcp_aql_read")),
    ("introspection.tool-annotations", "none", lambda told: told.tools[0].pop("annotations")),
    ("introspection.tool-annotations", "taken for destructive", lambda told: told.tools[1]["annotations"].clear()),
    ("introspection.tools-name-introspect", "silent", lambda told: told.tools[0].pop("description")),
    ("introspection.no-additions", "entry", put(operations, 0, "version", 1)),
    ("introspection.no-additions", "parameter", put(details, "list_books", "parameters", 0, "maxItems", 1)),
    ("introspection.no-additions", "inside", put(details, "list_books", "permissions", "admin", False)),
    ("introspection.unknown-query-refused", "answered", unknown("no_such_query", {"success": True, "data": {}})),
]


async def test_a_server_that_tells_everything_well_breaks_nothing() -> None:
    report = await report_on(fine())
    assert (failing(report), warned(report)) == (set(), set())
    assert {one.check.id for one in report.results if one.verdict is Verdict.SKIP} == {
        "protocol.session-id",
        "protocol.session-id-in-errors",
        "protocol.deprecated-parameters",
        "naming.reserved-names",
    }


@pytest.mark.parametrize(
    ("check", "spoil"), [pytest.param(one, spoil, id=f"{one}: {how}") for one, how, spoil in DEFECTS]
)
async def test_each_fault_is_found_by_its_check_and_by_no_other_of_must(check: str, spoil: Spoil) -> None:
    told = fine()
    spoil(told)
    report = await report_on(told)
    if DEMANDS[check] is Demand.MUST:
        assert failing(report) == {check}
    else:
        assert failing(report) == set()
        assert check in warned(report)
    found = next(one for one in report.results if one.check.id == check)
    assert all(finding.words for finding in found.broken)


def test_every_check_has_a_fault() -> None:
    assert {check for check, _how, _spoil in DEFECTS} == set(DEMANDS)


def only(check: str) -> Check:
    return next(one for one in OURS if one.id == check)


async def test_an_error_that_carries_the_session_is_fine() -> None:
    told = fine()
    told.protocol["session_id"] = "s-1"
    told.instead = lambda query, _name: {**FAILURE, "_meta": {"session": "s-1"}} if query is None else None
    report = await report_on(told, only("protocol.session-id-in-errors"))
    assert report.results[0].verdict is Verdict.PASS


@pytest.mark.parametrize("said", [{"items": []}, FAILURE], ids=["nothing to select from", "refused for other reasons"])
async def test_a_computed_field_that_nobody_could_see_is_not_blamed(said: Any) -> None:
    told = fine()
    told.read = lambda _params: said
    report = await report_on(told, only("collections.computed-fields"))
    assert report.results[0].verdict is Verdict.SKIP


async def test_what_is_documented_nowhere_is_not_held_against_introspect() -> None:
    told = fine()
    del told.operations[0], told.details["introspect"]
    report = await report_on(told, only("introspection.introspect-is-read"))
    assert [finding.outcome for finding in report.results[0].findings] == [Outcome.UNSEEN]


async def test_introspect_is_found_in_its_details_where_the_list_has_it_not() -> None:
    told = fine()
    executing(told)
    del told.operations[0]
    report = await report_on(told, only("introspection.introspect-is-read"))
    assert failing(report) == {"introspection.introspect-is-read"}


async def test_a_deprecated_parameter_that_says_what_to_use_is_fine() -> None:
    told = fine()
    told.details["list_books"]["parameters"][1]["description"] = "Deprecated: use 'filter' instead."
    report = await report_on(told, only("protocol.deprecated-parameters"))
    assert report.results[0].verdict is Verdict.PASS


async def test_the_names_that_the_safety_loop_writes_otherwise_are_not_blamed() -> None:
    told = fine()
    looping(told)
    hint = {"name": "nextActionHint", "type": "string", "required": True, "description": "What comes next."}
    told.details["record_execution_step"]["parameters"] = [hint]
    report = await report_on(told, only("naming.parameters-snake-case"))
    assert report.results[0].verdict is Verdict.PASS


@pytest.mark.parametrize("entry", [None, 5, [], {"operations": 5}, {"operations": [None, {}, {"name": None}]}])
async def test_nonsense_in_place_of_a_list_is_judged_and_nothing_breaks(entry: object) -> None:
    told = fine()
    data("operations", None, entry)(told)
    report = await report_on(told)
    assert failing(report) & {"introspection.operations-listed", "introspection.entry-shape"}


@pytest.mark.parametrize(
    ("written", "names"),
    [
        ("string | string[]", []),
        ("Book[] | null", ["Book"]),
        ("Map<string, Book>", ["Book"]),
        ("'red' | \"green\"", []),
        ("list of books", []),
        ("date-time", []),
        ("", []),
        (None, []),
    ],
)
def test_names_of_types_are_found_in_how_a_type_is_written(written: object, names: list[str]) -> None:
    assert list(names_in(written)) == names


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (put(operations, 0, "version", 1), "OperationInfo (introspection 3.2)"),
        (put(details, "list_books", "permissions", "admin", False), "OperationDetails (introspection 3.3)"),
        (put(details, "list_books", "parameters", 0, "maxItems", 1), "ParameterInfo (introspection 3.4)"),
    ],
    ids=["entry", "details", "parameter"],
)
async def test_a_member_too_many_is_told_with_its_section_and_what_to_do(spoil: Spoil, words: str) -> None:
    told = fine()
    spoil(told)
    report = await report_on(told)
    (finding,) = (one for result in report.results for one in result.broken)
    assert words in finding.words
    assert "say it in the description" in finding.words
