"""Specification 6 and operations 6: categories, families and the tools that stand for them."""

from typing import Any

import mcp_types as types
import pytest

from headgate import Adapter, Category, Family, Profile
from tests.spec.conftest import Serve
from tests.spec.wires import Aql, data_of, error_of

pytestmark = pytest.mark.anyio

FLAGS = {
    "CREATE": (False, False),
    "READ": (True, False),
    "UPDATE": (False, True),
    "DELETE": (False, True),
    "EXECUTE": (False, True),
}
"""Read-only and destructive, by category."""

BY_FAMILY: dict[str, tuple[str, dict[str, Any]]] = {
    "create": ("create_note", {"title": "One"}),
    "read": ("get_note", {}),
    "update": ("update_note", {"input": {"title": "Two"}}),
    "delete": ("delete_note", {}),
    "execute": ("execute_job", {}),
}
WRONG_PAIRS = [(family, other) for family in BY_FAMILY for other in BY_FAMILY if family != other]


@pytest.mark.proves("spec-6.1-categories-carry-permission-flags")
async def test_introspection_shows_what_each_category_may_do(aql: Aql) -> None:
    seen = set()
    for name in await aql.operation_names():
        details = await aql.operation(name)
        read_only, destructive = FLAGS[details["semantic_category"]]
        assert details["permissions"] == {"readOnly": read_only, "destructive": destructive}, name
        seen.add(details["semantic_category"])
    assert seen == set(FLAGS)


def _meaning(tool: types.Tool) -> tuple[bool, bool]:
    """Whether a tool only reads, and whether it may destroy; what its annotations leave unsaid is as MCP says."""
    told = tool.annotations
    assert told is not None
    read_only = told.read_only_hint or False
    return read_only, not read_only and told.destructive_hint is not False


@pytest.mark.proves("spec-6.1-categories-carry-permission-flags")
async def test_the_annotations_of_a_tool_show_what_its_category_may_do(aql: Aql) -> None:
    tools = await aql.tools()
    for category, (read_only, destructive) in FLAGS.items():
        assert _meaning(tools[f"mcp_aql_{category.lower()}"]) == (read_only, destructive)


@pytest.mark.parametrize(
    ("settings", "tool", "flags"),
    [
        ({"mode": "single"}, "mcp_aql", (False, True)),
        ({"profile": "discover"}, "mcp_aql_query", (True, False)),
        ({"profile": "discover"}, "mcp_aql_manage", (False, True)),
        ({"profile": "content"}, "mcp_aql_curate", (False, True)),
    ],
    ids=["single", "query", "manage", "curate"],
)
@pytest.mark.proves("spec-6.1-categories-carry-permission-flags")
async def test_a_tool_of_several_categories_is_as_risky_as_the_riskiest(
    serve: Serve, settings: dict[str, str], tool: str, flags: tuple[bool, bool]
) -> None:
    async with serve(**settings) as aql:
        assert _meaning((await aql.tools())[tool]) == flags


@pytest.mark.proves(
    "spec-6.2-exactly-one-semantic-category",
    "spec-6.2-exactly-one-endpoint-family",
    "ops-5.1-schema-has-endpoint-family",
    "ops-6.1-endpoint-follows-semantics",
    "spec-10.1-family-and-category-documented",
    "intro-8.2-family-and-category-documented",
    "intro-4.1-endpoint-is-lowercase-family",
)
async def test_under_crude_every_operation_is_in_the_family_named_after_its_category(aql: Aql) -> None:
    listed = (await aql.introspect("operations"))["operations"]
    assert len({operation["name"] for operation in listed}) == len(listed)
    for operation in listed:
        assert operation["semantic_category"] in FLAGS
        assert operation["endpoint"] == operation["semantic_category"].lower()
        details = await aql.operation(operation["name"])
        assert (details["semantic_category"], details["endpoint"]) == (
            operation["semantic_category"],
            operation["endpoint"],
        )
        assert details["mcpTool"] == f"mcp_aql_{operation['endpoint']}"


@pytest.mark.parametrize(("family", "other"), WRONG_PAIRS, ids=[f"{a}-through-{b}" for a, b in WRONG_PAIRS])
@pytest.mark.proves(
    "spec-6.2-wrong-endpoint-rejected",
    "spec-6.2-exactly-one-endpoint-family",
    "spec-10.1-wrong-endpoint-rejected",
    "ops-6.3-endpoint-of-call-validated",
    "ops-6.3-wrong-endpoint-rejected",
    "ops-6.3-wrong-endpoint-error-code",
)
async def test_an_operation_called_through_another_family_is_refused_and_not_run(
    aql: Aql, key: str, family: str, other: str
) -> None:
    operation, params = BY_FAMILY[family]
    identity = {"key": key} if family == "execute" else {"note_id": key}
    answer = await aql.call(f"mcp_aql_{other}", {"operation": operation, "params": {**identity, **params}})
    error = error_of(answer, "VALIDATION_ENDPOINT_MISMATCH")
    details = error["details"]
    assert details["operation"] == operation
    assert details["expected_endpoint"] == family
    assert details["actual_endpoint"] == other
    assert f"mcp_aql_{family}" in error["message"]
    assert await aql.runs(key) == []


@pytest.mark.proves("ops-6.3-endpoint-of-call-validated", "spec-6.2-wrong-endpoint-rejected")
async def test_the_endpoint_is_checked_before_the_parameters(aql: Aql) -> None:
    error_of(await aql.delete("create_note"), "VALIDATION_ENDPOINT_MISMATCH")


PROFILES = ["crude", "crude_authorize", "discover", "database", "device", "content"]


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.proves(
    "spec-6.2-exactly-one-endpoint-family",
    "spec-6.2-wrong-endpoint-rejected",
    "ops-5.1-schema-has-endpoint-family",
    "ops-6.1-endpoint-follows-semantics",
)
async def test_under_every_profile_each_operation_is_served_by_one_family_alone(serve: Serve, profile: str) -> None:
    async with serve(profile=profile) as aql:
        tools = set(await aql.tools())
        found = await introspected(aql)
        assert {operation["mcpTool"] for operation in found} == tools
        for operation in found:
            for tool in tools:
                answer = await aql.call(tool, {"operation": operation["name"], "params": {"no_such": 1}})
                refused = error_of(answer)["code"] == "VALIDATION_ENDPOINT_MISMATCH"
                assert refused == (tool != operation["mcpTool"])


async def introspected(aql: Aql) -> list[dict[str, Any]]:
    """Every operation in full, whichever tool `introspect` is behind."""
    question = {"operation": "introspect", "params": {"query": "operations"}}
    answers = {tool: await aql.call(tool, question) for tool in await aql.tools()}
    tool, listed = next((tool, answer["data"]["operations"]) for tool, answer in answers.items() if answer["success"])
    found = []
    for operation in listed:
        params = {"query": "operations", "name": operation["name"]}
        found.append(data_of(await aql.call(tool, {"operation": "introspect", "params": params}))["operation"])
    return found


@pytest.mark.parametrize(
    ("profile", "reading", "changing", "running"),
    [("discover", "query", "manage", "operate"), ("content", "search", "curate", "publish")],
)
@pytest.mark.proves("ops-6.1-endpoint-follows-semantics", "ops-5.1-schema-has-endpoint-family")
async def test_another_profile_sends_each_category_to_the_family_that_stands_for_it(
    serve: Serve, profile: str, reading: str, changing: str, running: str
) -> None:
    families = {"READ": reading, "EXECUTE": running, **dict.fromkeys(("CREATE", "UPDATE", "DELETE"), changing)}
    async with serve(profile=profile) as aql:
        for operation in await introspected(aql):
            if operation["name"] != "introspect":
                assert operation["endpoint"] == families[operation["semantic_category"]]
                assert operation["mcpTool"] == f"mcp_aql_{operation['endpoint']}"


@pytest.mark.proves("spec-6.2-exactly-one-endpoint-family", "ops-6.1-endpoint-follows-semantics")
@pytest.mark.parametrize("homes", [(), ("a", "b")], ids=["no home", "two homes"])
def test_a_profile_in_which_a_category_has_not_one_home_cannot_be_made(homes: tuple[str, ...]) -> None:
    everything = Family("rest", "Everything else", frozenset(Category) - {Category.READ})
    readers = tuple(Family(name, "Reading", frozenset({Category.READ})) for name in homes)
    with pytest.raises(ValueError, match="exactly one family"):
        Profile("broken", (everything, *readers))


@pytest.mark.proves("ops-6.1-endpoint-follows-semantics", "spec-10.1-operations-classified-correctly")
async def test_what_each_category_of_operation_does_agrees_with_the_guidelines(aql: Aql, key: str) -> None:
    async def notes() -> Any:
        return data_of(await aql.read("list_notes", prefix=key))

    before = await notes()
    error_of(await aql.update("update_note", note_id=key, input={"title": "Two"}), "NOT_FOUND_RESOURCE")
    error_of(await aql.confirmed("delete", "delete_note", note_id=key), "NOT_FOUND_RESOURCE")

    data_of(await aql.create("create_note", note_id=key, title="One"))  # adds, and overwrites nothing
    created = await notes()
    assert created != before
    error_of(await aql.create("create_note", note_id=key, title="Other"), "CONFLICT_ALREADY_EXISTS")
    assert await notes() == created

    first, second = await aql.read("get_note", note_id=key), await aql.read("get_note", note_id=key)
    assert first == second  # reading changes nothing and may be repeated
    assert await notes() == created

    data_of(await aql.update("update_note", note_id=key, input={"title": "Two"}))  # overwrites what exists
    assert [note["title"] for note in await notes()] == ["Two"]

    data_of(await aql.confirmed("delete", "delete_note", note_id=key))  # removes for good
    assert await notes() == before

    jobs = [data_of(await aql.execute("execute_job", key=key))["job_id"] for _ in range(2)]
    assert len(set(jobs)) == 2  # each execution makes new state


@pytest.mark.proves("spec-10.1-operations-classified-correctly")
async def test_an_operation_has_the_category_that_it_was_registered_with(serve: Serve) -> None:
    adapter = Adapter("classified")
    for name, decorate in {
        "upload_file": adapter.create,
        "search": adapter.read,
        "get_status": adapter.read,
        "purge_cache": adapter.delete,
        "cancel_task": adapter.execute,
    }.items():

        async def handler() -> None:
            """Something."""

        decorate(name=name)(handler)
    async with serve(adapter) as aql:
        listed = (await aql.introspect("operations"))["operations"]
        assert {operation["name"]: operation["semantic_category"] for operation in listed} == {
            "upload_file": "CREATE",
            "search": "READ",
            "get_status": "READ",
            "purge_cache": "DELETE",
            "cancel_task": "EXECUTE",
            "introspect": "READ",
        }


@pytest.mark.proves("spec-6.2-wrong-endpoint-rejected")
async def test_a_prefix_goes_before_every_tool_and_into_what_introspection_and_errors_say(serve: Serve) -> None:
    async with serve(prefix="notes_") as aql:
        assert all(tool.startswith("notes_mcp_aql_") for tool in await aql.tools())
        assert (await aql.operation("delete_note"))["mcpTool"] == "notes_mcp_aql_delete"
        error = error_of(await aql.read("delete_note", note_id="n"), "VALIDATION_ENDPOINT_MISMATCH")
        assert "notes_mcp_aql_delete" in error["message"]
        assert error["details"]["expected_endpoint"] == "delete"


@pytest.mark.proves("intro-4.1-endpoint-is-lowercase-family", "ops-6.3-wrong-endpoint-rejected")
async def test_the_single_tool_takes_every_operation_and_families_keep_their_names(serve: Serve) -> None:
    async with serve(mode="all") as aql:
        assert (await aql.operation("create_note"))["endpoint"] == "create"
        assert data_of(await aql.call("mcp_aql", {"operation": "get_nothing"})) is None
        error_of(await aql.call("mcp_aql_create", {"operation": "get_nothing"}), "VALIDATION_ENDPOINT_MISMATCH")
