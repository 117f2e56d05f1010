"""Specification 7 and 9.2, and the introspection text: what a server tells of itself."""

import re
from typing import Any

import pytest

from headgate import Adapter, Category, Operation, Parameter, mcp_server
from tests.spec.conftest import ConnectTo, Serve
from tests.spec.wires import Aql, Wire, data_of, error_of
from tests.support import schema_errors

pytestmark = pytest.mark.anyio

PROTOCOL_TYPES = {
    "SemanticCategory": "enum",
    "OperationInput": "object",
    "OperationResult": "union",
    "OperationSuccess": "object",
    "OperationFailure": "object",
    "EndpointPermissions": "object",
}
WORLD_TYPES = {
    "Note": "object",
    "NotePatch": "object",
    "Metadata": "object",
    "Origin": "object",
    "Priority": "enum",
    "Color": "enum",
    "Place": "object",
    "Door": "object",
    "DoorPatch": "object",
}
PRIMITIVES = {"string", "number", "integer", "boolean", "object", "array", "null", "any"}


def empty_adapter() -> Adapter:
    return Adapter("empty")


@pytest.mark.parametrize("mode", ["semantic", "single", "all"])
@pytest.mark.proves(
    "spec-7.2-introspect-operation-implemented",
    "spec-10.1-introspect-operation-implemented",
    "ops-9.1-introspect-operation-implemented",
    "intro-2.1-introspect-operation-implemented",
    "intro-8.1-introspect-operation-implemented",
)
async def test_an_adapter_with_nothing_else_answers_introspect_in_every_mode(serve: Serve, mode: str) -> None:
    async with serve(empty_adapter(), mode=mode) as aql:
        assert await aql.operation_names() == ["introspect"]
        details = await aql.operation("introspect")
        assert details["semantic_category"] == "READ"
        assert details["mcpTool"] in await aql.tools()
        assert details["mcpTool"] == ("mcp_aql" if mode == "single" else "mcp_aql_read")


@pytest.mark.proves(
    "spec-7.2-introspect-operation-implemented",
    "spec-10.1-introspect-operation-implemented",
    "ops-9.1-introspect-operation-implemented",
    "intro-2.1-introspect-operation-implemented",
    "intro-8.1-introspect-operation-implemented",
    "intro-8.2-introspect-lists-itself",
)
async def test_introspect_is_a_read_operation_that_lists_itself(aql: Aql) -> None:
    listed = (await aql.introspect("operations"))["operations"]
    own = [operation for operation in listed if operation["name"] == "introspect"]
    assert [(operation["semantic_category"], operation["endpoint"]) for operation in own] == [("READ", "read")]
    error_of(await aql.delete("introspect", query="operations"), "VALIDATION_ENDPOINT_MISMATCH")


@pytest.mark.proves("spec-7.2-introspect-query-param-required")
async def test_introspect_needs_a_query_and_no_name(aql: Aql) -> None:
    error_of(await aql.read("introspect"), "VALIDATION_MISSING_PARAM")
    error_of(await aql.read("introspect", name="get_note"), "VALIDATION_MISSING_PARAM")
    parameters = {p["name"]: p for p in (await aql.operation("introspect"))["parameters"]}
    assert parameters["query"]["required"] is True
    assert parameters["name"]["required"] is False
    assert {"operations", "types"} <= set(parameters["query"]["enum"])


@pytest.mark.proves("spec-7.3-four-introspection-queries-answered", "intro-8.1-both-query-types-supported")
async def test_introspect_answers_lists_and_single_items_of_operations_and_types(aql: Aql) -> None:
    assert set(await aql.introspect("operations")) == {"_protocol", "operations"}
    assert set(await aql.introspect("operations", "get_note")) == {"operation"}
    assert set(await aql.introspect("types")) == {"types"}
    assert set(await aql.introspect("types", "Note")) == {"type"}


ASKED: dict[str, dict[str, Any]] = {
    "operations": {"query": "operations"},
    "operation": {"query": "operations", "name": "update_note"},
    "no-operation": {"query": "operations", "name": "update_nothing"},
    "types": {"query": "types"},
    "type": {"query": "types", "name": "NotePatch"},
    "enum": {"query": "types", "name": "Priority"},
    "union": {"query": "types", "name": "OperationResult"},
    "no-type": {"query": "types", "name": "Nothing"},
    "no-query": {},
    "unknown-query": {"query": "everything"},
    "wrong-type": {"query": 5},
    "unknown-parameter": {"query": "types", "kind": "enum"},
    "wrong-page": {"query": "operations", "after": "nothing"},
}


@pytest.mark.parametrize("params", ASKED.values(), ids=ASKED)
@pytest.mark.proves(
    "intro-3.1-discriminated-response-envelope",
    "intro-8.1-discriminated-response-envelope",
    "spec-10.1-standard-formats-used",
)
async def test_an_introspection_answer_is_the_common_envelope_and_fits_its_own_schema(
    aql: Aql, params: dict[str, Any]
) -> None:
    envelope = await aql.read("introspect", **params)
    assert set(envelope) == ({"success", "data"} if envelope["success"] else {"success", "error"})
    assert schema_errors(envelope, "introspection-response") == []
    assert schema_errors(envelope, "operation-result") == []


@pytest.mark.proves(
    "intro-8.1-operation-list-complete",
    "spec-10.2-operations-documented-in-introspection",
    "spec-10.1-family-and-category-documented",
    "intro-8.2-family-and-category-documented",
)
async def test_the_list_has_every_operation_with_name_category_endpoint_and_description(aql: Aql) -> None:
    listed = (await aql.introspect("operations"))["operations"]
    assert {operation["name"] for operation in listed} == {
        *("list_runs", "create_note", "get_note", "list_notes", "search_notes", "list_papers", "update_note"),
        *("delete_note", "execute_job", "cancel_job", "get_sample", "get_text", "get_blob", "get_nothing"),
        *("get_times", "get_numbers", "upload_file", "import_file", "get_file", "register_account", "get_vault"),
        *("get_feed", "execute_fault", "execute_sync_fault", "get_session", "update_door", "list_arrivals"),
        *("execute_opening", "get_meeting", "list_gardens", "get_garden", "search_gardens", "count_gardens"),
        *("list_plants", "get_plant", "search_plants", "count_plants", "query_relationships", "introspect"),
        *("execute_crawl", "execute_tour", "execute_patrol", "get_execution", "list_executions"),
        *("get_execution_result", "cancel_execution", "retry_execution"),
    }
    for operation in listed:
        assert set(operation) == {"name", "semantic_category", "endpoint", "description"}
        assert len(operation["description"].split()) > 2


@pytest.mark.proves("intro-8.1-operation-list-complete")
async def test_a_long_list_can_be_read_to_its_end_page_by_page(serve: Serve) -> None:
    adapter = Adapter("long")
    names = [f"get_item_{number}" for number in range(1203)]
    for name in names:
        adapter.add(Operation(name, Category.READ, handler, summary="One item"))
    async with serve(adapter) as aql:
        read: list[str] = []
        after = None
        while True:
            page = await aql.introspect("operations", **({"after": after} if after else {}))
            read += [operation["name"] for operation in page["operations"]]
            more = page["_protocol"].get("page")
            assert more is not None
            if len(read) == more["total"]:
                break
            after = more["after"]
        assert read == [*names, "introspect"]


async def handler(**_: object) -> None: ...


@pytest.mark.proves(
    "intro-8.1-operation-details-complete",
    "ops-4.3-required-flag-per-parameter",
    "intro-8.1-required-flag-per-parameter",
    "intro-8.1.2-optional-parameters-flagged-false",
    "intro-8.1.2-required-parameters-flagged-true",
    "spec-10.2-operations-documented-in-introspection",
)
async def test_every_operation_has_details_with_all_their_parts(aql: Aql) -> None:
    for name in await aql.operation_names():
        details = await aql.operation(name)
        assert details["name"] == name
        assert details["semantic_category"]
        assert details["endpoint"]
        assert details["mcpTool"]
        assert details["description"]
        assert set(details["permissions"]) == {"readOnly", "destructive"}
        assert set(details["returns"]) >= {"name", "kind"}
        for parameter in details["parameters"]:
            assert isinstance(parameter["required"], bool), (name, parameter)


@pytest.mark.proves(
    "intro-8.1-operation-details-complete",
    "intro-8.1.2-required-parameters-flagged-true",
    "intro-8.1.2-optional-parameters-flagged-false",
    "ops-4.3-required-flag-per-parameter",
)
async def test_the_details_of_an_operation_are_those_that_its_author_wrote(aql: Aql) -> None:
    details = await aql.operation("create_note")
    assert details["description"].startswith("Create a note.")
    assert details["permissions"] == {"readOnly": False, "destructive": False}
    assert details["parameters"] == [
        {
            "name": "note_id",
            "type": "string",
            "required": True,
            "description": "An id of your choice",
            "minLength": 1,
            "maxLength": 100,
        },
        {
            "name": "title",
            "type": "string",
            "required": True,
            "description": "One line",
            "minLength": 1,
            "maxLength": 80,
        },
        {
            "name": "body",
            "type": "string | null",
            "required": False,
            "description": "The text itself",
            "default": None,
        },
        {
            "name": "pages",
            "type": "integer",
            "required": False,
            "description": "How long it is",
            "default": 1,
            "minimum": 1,
            "maximum": 500,
        },
        details["parameters"][4],
        {
            "name": "dry_run",
            "type": "boolean",
            "required": False,
            "description": "Only tell whether it would run, and run nothing.",
            "default": False,
        },
    ]
    assert details["parameters"][4]["name"] == "metadata"
    assert details["parameters"][4]["required"] is False


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("code", {"pattern": "^[A-Z]{3}-[0-9]+$"}),
        ("text", {"minLength": 2, "maxLength": 10}),
        ("count", {"minimum": 1, "maximum": 10, "type": "integer"}),
        ("ratio", {"minimum": 0, "maximum": 1, "type": "number"}),
        ("color", {"enum": ["red", "blue"], "type": "string"}),
        ("size", {"enum": ["small", "large"]}),
        ("flag", {"type": "boolean"}),
    ],
)
@pytest.mark.proves("intro-8.1.1-parameter-types-match-handler")
async def test_the_constraints_of_a_parameter_are_in_introspection(
    aql: Aql, name: str, shown: dict[str, object]
) -> None:
    assert shown.items() <= (await aql.parameter("get_sample", name)).items()


@pytest.mark.proves("intro-8.1-type-list-complete", "spec-9.2-adapter-types-discoverable")
async def test_the_list_of_types_has_every_type_of_the_adapter_with_its_kind(aql: Aql) -> None:
    kinds = {entry["name"]: entry["kind"] for entry in (await aql.introspect("types"))["types"]}
    assert WORLD_TYPES.items() <= kinds.items()
    assert kinds["ErrorDetail"] == "object"
    assert set(kinds) == {*WORLD_TYPES, *PROTOCOL_TYPES, "ErrorDetail"}


@pytest.mark.proves("intro-5.3-protocol-types-listed", "intro-8.2-protocol-types-listed")
async def test_the_types_of_the_protocol_are_listed_each_with_its_kind(aql: Aql) -> None:
    kinds = {entry["name"]: entry["kind"] for entry in (await aql.introspect("types"))["types"]}
    assert PROTOCOL_TYPES.items() <= kinds.items()


@pytest.mark.proves("intro-8.1-type-details-complete", "spec-9.2-adapter-types-discoverable")
async def test_the_details_of_a_type_have_what_its_kind_needs(aql: Aql) -> None:
    for entry in (await aql.introspect("types"))["types"]:
        details = (await aql.introspect("types", entry["name"]))["type"]
        assert (details["name"], details["kind"]) == (entry["name"], entry["kind"])
        needed = {"enum": "values", "object": "fields", "union": "members"}
        assert details[needed[details["kind"]]], entry


@pytest.mark.proves("intro-8.1-type-details-complete")
async def test_an_enum_shows_its_values_an_object_its_fields_and_a_union_its_members(aql: Aql) -> None:
    assert (await aql.introspect("types", "Color"))["type"]["values"] == ["red", "blue"]
    categories = (await aql.introspect("types", "SemanticCategory"))["type"]["values"]
    assert categories == ["CREATE", "READ", "UPDATE", "DELETE", "EXECUTE"]
    members = (await aql.introspect("types", "OperationResult"))["type"]["members"]
    assert members == ["OperationSuccess", "OperationFailure"]
    fields = {field["name"]: field for field in (await aql.introspect("types", "Note"))["type"]["fields"]}
    assert list(fields) == ["note_id", "title", "body", "pages", "metadata", "created_at"]
    assert {name for name, field in fields.items() if field["required"]} == {"note_id", "title", "created_at"}
    assert (fields["pages"]["type"], fields["pages"]["minimum"]) == ("integer", 1)


@pytest.mark.proves("intro-8.1-type-names-consistent")
async def test_every_type_name_in_introspection_is_a_primitive_or_can_be_looked_up(aql: Aql) -> None:
    known = {entry["name"] for entry in (await aql.introspect("types"))["types"]}
    used: set[str] = set()

    def note(parameter: dict[str, Any]) -> None:
        used.update(re.split(r" \| |\[\]", parameter["type"]))
        if "items" in parameter:
            note(parameter["items"])

    for name in await aql.operation_names():
        details = await aql.operation(name)
        used.update(re.split(r" \| |\[\]", details["returns"]["name"]))
        for parameter in details["parameters"]:
            note(parameter)
    for name in known:
        details = (await aql.introspect("types", name))["type"]
        used.update(details.get("members", ()))
        for field in details.get("fields", ()):
            note(field)
    used.discard("")
    assert used - known - PRIMITIVES == set()
    assert {"NotePatch", "Place", "Note"} <= used


@pytest.mark.parametrize("name", ["nonexistent_operation", "", "Get_Note", "Note"])
@pytest.mark.proves("intro-4.3-unknown-operation-yields-null", "intro-8.1-unknown-operation-yields-null")
async def test_an_operation_that_does_not_exist_is_null_and_no_error(aql: Aql, name: str) -> None:
    answer = await aql.read("introspect", query="operations", name=name)
    assert answer == {"success": True, "data": {"operation": None}}


@pytest.mark.parametrize("name", ["Nonexistent", "", "note", "get_note"])
@pytest.mark.proves("intro-8.1-unknown-type-yields-null")
async def test_a_type_that_does_not_exist_is_null_and_no_error(aql: Aql, name: str) -> None:
    answer = await aql.read("introspect", query="types", name=name)
    assert answer == {"success": True, "data": {"type": None}}


@pytest.mark.proves(
    "intro-4.1.1-protocol-version-present",
    "intro-8.1-protocol-version-present",
    "intro-4.1.1-protocol-conformance-present",
    "intro-4.1.1-protocol-mode-present",
    "intro-4.1.1-mode-semantic-not-crude",
    "spec-10.2-conformance-level-stated",
)
async def test_the_list_of_operations_begins_with_the_protocol_spoken(aql: Aql) -> None:
    protocol = (await aql.introspect("operations"))["_protocol"]
    assert protocol["version"] == "1.0.0-draft"
    assert re.fullmatch(r"\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?", protocol["version"])
    assert protocol["conformance"] in ("level-1", "level-2")
    assert protocol["mode"] == "semantic"


@pytest.mark.parametrize(
    ("settings", "mode"),
    [
        ({"mode": "single"}, "single"),
        ({"mode": "all"}, "all"),
        ({"mode": "semantic"}, "semantic"),
        ({"mode": "crude"}, "semantic"),
        ({"profile": "crude"}, "semantic"),
        ({"profile": "content"}, "semantic"),
    ],
    ids=str,
)
@pytest.mark.proves("intro-4.1.1-protocol-mode-present", "intro-4.1.1-mode-semantic-not-crude")
async def test_the_mode_in_force_is_told_and_never_called_crude(
    serve: Serve, settings: dict[str, str], mode: str
) -> None:
    async with serve(**settings) as aql:
        tool = "mcp_aql" if "mcp_aql" in await aql.tools() else next(t for t in await aql.tools() if "create" not in t)
        tool = "mcp_aql_search" if settings.get("profile") == "content" else tool
        answer = await aql.call(tool, {"operation": "introspect", "params": {"query": "operations"}})
        assert data_of(answer)["_protocol"]["mode"] == mode


@pytest.mark.proves("intro-7.3-introspection-consistent-within-session")
async def test_the_same_question_has_the_same_answer_throughout_a_session(aql: Aql, wire: Wire, key: str) -> None:
    def settled(data: Any) -> Any:
        if not wire.keeps_sessions:
            data.get("_protocol", {}).pop("session_id", None)
        return data

    questions = [("operations", None), ("operations", "update_note"), ("types", None), ("types", "Note")]
    before = [settled(await aql.introspect(query, name)) for query, name in questions]
    data_of(await aql.create("create_note", note_id=key, title="One"))
    error_of(await aql.read("no_such_operation"))
    assert [settled(await aql.introspect(query, name)) for query, name in questions] == before


class Watched(dict[str, Any]):
    """A schema that knows how often it is read."""

    reads = 0

    def get(self, key: str, default: Any = None) -> Any:
        self.reads += 1
        return super().get(key, default)

    def __getitem__(self, key: str) -> Any:
        self.reads += 1
        return super().__getitem__(key)


@pytest.mark.parametrize("query", ["operations", "types"])
@pytest.mark.proves("intro-7.3-introspection-responses-cached", "intro-8.2-introspection-responses-cached")
async def test_an_introspection_answer_is_made_once_and_then_reused(serve: Serve, query: str) -> None:
    schema = Watched({"type": "object", "properties": {"name": {"type": "string"}}, "description": "An item"})
    item = Parameter("item", Watched({"$ref": "#/$defs/Item", "description": "Which item"}))
    adapter = Adapter("watched")
    adapter.add(
        Operation("create_item", Category.CREATE, handler, (item,), "Create an item", definitions={"Item": schema})
    )
    name = {"operations": "create_item", "types": "Item"}[query]
    async with serve(adapter) as aql:
        first = await aql.introspect(query, name)
        listed = await aql.introspect(query)
        assert isinstance(item.schema, Watched)
        reads = schema.reads + item.schema.reads
        assert reads > 0
        assert await aql.introspect(query, name) == first
        assert await aql.introspect(query) == listed
        assert schema.reads + item.schema.reads == reads


@pytest.mark.proves("intro-7.3-cache-renewed-only-on-change", "intro-6.1-single-source-of-truth")
async def test_within_a_session_introspection_changes_when_the_configuration_does(connect_to: ConnectTo) -> None:
    server = mcp_server(versioned(1))
    async with connect_to(server) as aql:
        before = await aql.operation("get_item")
        assert await aql.operation("get_item") == before
        await server.replace(versioned(2))
        after = await aql.operation("get_item")
        assert (before["parameters"][0]["maximum"], after["parameters"][0]["maximum"]) == (1, 2)
        assert await aql.operation("get_item") == after


def versioned(maximum: int) -> Adapter:
    adapter = Adapter("versioned")
    item_id = Parameter("item_id", {"type": "integer", "maximum": maximum, "description": "Which item"})
    adapter.add(Operation("get_item", Category.READ, handler, (item_id,), "One item"))
    return adapter


@pytest.mark.proves("intro-6.1-single-source-of-truth", "intro-8.2-single-source-of-truth")
async def test_one_change_to_a_definition_shows_in_introspection_validation_and_routing(connect_to: ConnectTo) -> None:
    server = mcp_server(versioned(1))
    async with connect_to(server) as aql:
        error_of(await aql.read("get_item", item_id=2), "VALIDATION_OUT_OF_RANGE")
        await server.replace(versioned(2))
        data_of(await aql.read("get_item", item_id=2))
        moved = Adapter("versioned")
        moved.add(Operation("get_item", Category.EXECUTE, handler, (), "One item"))
        await server.replace(moved)
        details = await aql.operation("get_item")
        assert (details["endpoint"], details["mcpTool"], details["parameters"]) == ("execute", "mcp_aql_execute", [])
        error_of(await aql.read("get_item"), "VALIDATION_ENDPOINT_MISMATCH")
        data_of(await aql.execute("get_item"))
        assert set(await aql.tools()) == {"mcp_aql_read", "mcp_aql_execute"}


@pytest.mark.proves("intro-8.2-single-source-of-truth", "ops-5.1-operation-defined-by-schema")
async def test_an_operation_in_the_registry_is_at_once_listed_described_and_callable(serve: Serve) -> None:
    adapter = Adapter("grown")

    @adapter.create
    async def create_thing(thing_id: int) -> int:
        """Create a thing."""
        return thing_id

    async with serve(adapter) as aql:
        assert "create_thing" in await aql.operation_names()
        assert (await aql.parameter("create_thing", "thing_id"))["type"] == "integer"
        assert data_of(await aql.create("create_thing", thing_id=7)) == 7


@pytest.mark.proves("intro-8.2-descriptions-for-all-parameters")
async def test_every_parameter_has_a_description(aql: Aql) -> None:
    silent = [
        (name, parameter["name"])
        for name in await aql.operation_names()
        for parameter in (await aql.operation(name))["parameters"]
        if len(parameter.get("description", "").split()) < 2
    ]
    assert silent == []


@pytest.mark.proves("intro-8.2-descriptions-for-all-parameters")
async def test_what_a_docstring_says_of_a_parameter_is_its_description(serve: Serve) -> None:
    adapter = Adapter("documented")

    @adapter.read
    async def get_item(item_id: str, deep: bool = False) -> str:
        """One item.

        Args:
            item_id: The number on its back.
            deep: Whether to look inside as well.
        """
        return f"{item_id} {deep}"

    async with serve(adapter) as aql:
        shown = {p["name"]: p["description"] for p in (await aql.operation("get_item"))["parameters"]}
        assert shown == {"item_id": "The number on its back.", "deep": "Whether to look inside as well."}


@pytest.mark.proves("intro-8.2-parameter-defaults-documented")
async def test_the_default_of_a_parameter_is_shown(aql: Aql) -> None:
    parameters = {p["name"]: p for p in (await aql.operation("get_sample"))["parameters"]}
    defaults = {name: parameter["default"] for name, parameter in parameters.items() if not parameter["required"]}
    expected = {
        "text": "abc",
        "count": 5,
        "ratio": 0.5,
        "flag": False,
        "color": "red",
        "amount": "0.10",
        "day": None,
    }
    assert expected.items() <= defaults.items()
    assert "default" not in parameters["key"]


@pytest.mark.proves("intro-8.2-examples-for-all-operations", "ops-2.3-examples-use-params-object")
async def test_every_operation_has_an_example_with_its_parameters_in_params(aql: Aql) -> None:
    for name in await aql.operation_names():
        details = await aql.operation(name)
        assert details["examples"], name
        for example in details["examples"]:
            request = example["request"]
            assert set(request) <= {"operation", "params"}
            assert request["operation"] == name
            assert schema_errors(request, "operation-input") == []


@pytest.mark.proves("ops-2.3-examples-use-params-object")
async def test_the_examples_in_tool_descriptions_use_params(aql: Aql) -> None:
    for tool in (await aql.tools()).values():
        assert tool.description
        assert '"params"' in tool.description


@pytest.mark.proves("intro-8.2.2-required-nesting-documented")
async def test_introspection_shows_in_which_field_another_is_nested(aql: Aql) -> None:
    patch = (await aql.introspect("types", "NotePatch"))["type"]
    names = [field["name"] for field in patch["fields"]]
    assert "tags" not in names
    metadata = next(field for field in patch["fields"] if field["name"] == "metadata")
    assert "tags" in metadata["description"]
    whole = (await aql.introspect("types", "Note"))["type"]
    nested = next(field["type"] for field in whole["fields"] if field["name"] == "metadata")
    inner = (await aql.introspect("types", nested))["type"]
    assert "tags" in [field["name"] for field in inner["fields"]]


@pytest.mark.proves("intro-8.2.2-inapplicable-operations-noted")
async def test_introspection_notes_what_an_operation_does_not_apply_to(aql: Aql) -> None:
    assert "Not for notes whose title begins with 'Frozen'" in (await aql.operation("update_note"))["description"]


@pytest.mark.proves("intro-8.2.4-deprecated-parameters-marked", "intro-8.2.4-deprecated-parameters-migration-guidance")
async def test_a_deprecated_parameter_is_listed_with_a_notice_and_what_to_use_instead(aql: Aql, key: str) -> None:
    parameter = await aql.parameter("get_note", "with_body")
    assert "Deprecated" in parameter["description"]
    assert "2099-01-01" in parameter["description"]
    assert "use 'get_note' instead" in parameter["description"]
    data_of(await aql.create("create_note", note_id=key, title="One"))
    data_of(await aql.read("get_note", note_id=key, with_body=True))


@pytest.mark.proves("intro-8.2.4-deprecated-parameters-marked", "intro-8.2.4-deprecated-parameters-migration-guidance")
async def test_a_deprecated_operation_is_listed_with_a_notice_and_what_to_use_instead(aql: Aql) -> None:
    listed = (await aql.introspect("operations"))["operations"]
    brief = next(operation["description"] for operation in listed if operation["name"] == "list_papers")
    assert "deprecated" in brief
    assert "use 'list_notes' instead" in (await aql.operation("list_papers"))["description"]
