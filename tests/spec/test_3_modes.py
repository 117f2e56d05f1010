"""Specification 3.3: which tools there are."""

import pytest

from tests.spec.conftest import Serve
from tests.spec.servers import stdio_server
from tests.spec.wires import Aql, Connections, Era, Wire, connected, error_of

pytestmark = pytest.mark.anyio

CRUDE = {"mcp_aql_create", "mcp_aql_read", "mcp_aql_update", "mcp_aql_delete", "mcp_aql_execute"}
NOT_SERVED = {"NOT_FOUND_OPERATION", "VALIDATION_ENDPOINT_MISMATCH"}


async def not_served(aql: Aql) -> list[str]:
    """The operations that introspection lists and that cannot be called through the tool it names."""
    missing = []
    for name in await aql.operation_names():
        tool = (await aql.operation(name))["mcpTool"]
        answer = await aql.call(tool, {"operation": name})
        if not answer["success"] and answer["error"]["code"] in NOT_SERVED:
            missing.append(name)
    return missing


@pytest.mark.proves("spec-3.3-one-endpoint-mode-supported", "spec-10.1-one-endpoint-mode-supported")
async def test_semantic_mode_serves_every_operation_through_the_tool_of_its_family(aql: Aql) -> None:
    assert set(await aql.tools()) == CRUDE
    assert len(await aql.operation_names()) > 20
    assert await not_served(aql) == []


@pytest.mark.parametrize(
    ("mode", "tools"),
    [("semantic", CRUDE), ("single", {"mcp_aql"}), ("all", CRUDE | {"mcp_aql"})],
)
@pytest.mark.proves(
    "spec-3.3-one-endpoint-mode-supported",
    "spec-3.3-both-endpoint-modes-supported",
    "spec-10.1-one-endpoint-mode-supported",
    "spec-10.1-both-endpoint-modes-supported",
)
async def test_the_same_adapter_is_served_in_each_mode_by_a_setting_alone(
    serve: Serve, mode: str, tools: set[str]
) -> None:
    async with serve(mode=mode) as aql:
        assert set(await aql.tools()) == tools
        assert await not_served(aql) == []


@pytest.mark.proves("spec-3.3-both-endpoint-modes-supported", "spec-10.1-both-endpoint-modes-supported")
async def test_the_mode_is_chosen_by_an_option_of_the_command_line(connections: Connections, era: Era) -> None:
    connection = connected(stdio_server("--mode", "single"), Wire("stdio", era), single=True)
    async with connections.open(connection) as aql:
        assert set(await aql.tools()) == {"mcp_aql"}
        assert (await aql.introspect("operations"))["_protocol"]["mode"] == "single"


@pytest.mark.proves("spec-3.3-one-endpoint-mode-supported")
async def test_in_single_mode_the_one_tool_takes_operations_of_every_category(serve: Serve, key: str) -> None:
    async with serve(mode="single", trust="community_reviewed") as aql:
        assert (await aql.create("create_note", note_id=key, title="One"))["success"]
        assert (await aql.update("update_note", note_id=key, input={"title": "Two"}))["success"]
        assert (await aql.read("get_note", note_id=key))["data"]["title"] == "Two"
        assert (await aql.delete("delete_note", note_id=key))["success"]
        assert (await aql.execute("execute_job", key=key))["success"]
        error_of(await aql.read("get_note", note_id=key), "NOT_FOUND_RESOURCE")
