"""What tools cost in tokens: as they are served, and as they would with one for each operation."""

import json
from typing import Annotated, Any

import pytest

from headgate import Adapter, Param, mcp_server
from headgate.protocol.tokens import estimate
from headgate.server.costs import Saving, saving_of

pytestmark = pytest.mark.anyio


def adapter(count: int) -> Adapter:
    made = Adapter("many")
    for number in range(count):

        async def get_thing(thing_id: int, view: str = "short") -> str:
            """Read a thing in the view that is named."""
            return view

        get_thing.__name__ = f"get_thing_{number}"
        made.read(get_thing)
    return made


async def saving(count: int, **settings: Any) -> Saving:
    server = mcp_server(adapter(count), **settings)
    try:
        return saving_of(server)
    finally:
        await server.store.close()


@pytest.mark.parametrize(("discrete", "served", "tokens"), [(900, 300, 600), (100, 300, -200), (0, 0, 0)])
def test_what_is_spared_is_the_difference_and_may_be_less_than_nothing(discrete: int, served: int, tokens: int) -> None:
    assert Saving(discrete, served).tokens == tokens


async def test_each_operation_costs_what_its_tool_would() -> None:
    """A tool has a name, a description and a schema with the required parameters, as MCP demands."""
    found = await saving(1)
    [operation] = adapter(1).operations.values()
    tool = {
        "name": "get_thing_0",
        "description": operation.description or operation.summary,
        "inputSchema": {
            "type": "object",
            "properties": {one.name: one.schema for one in operation.parameters},
            "required": ["thing_id"],
        },
    }
    assert found.discrete == estimate(json.dumps(tool, separators=(",", ":"), ensure_ascii=False))


async def test_what_is_served_costs_the_same_however_many_operations_there_are() -> None:
    few, many = await saving(60), await saving(600)
    assert many.served <= few.served * 1.1
    assert many.discrete > few.discrete * 9
    assert many.tokens > few.tokens > 0


async def test_one_tool_for_all_costs_less_than_five() -> None:
    assert (await saving(20, mode="single")).served < (await saving(20)).served


async def test_where_there_is_one_operation_discrete_tools_would_be_cheaper() -> None:
    assert (await saving(1)).tokens < 0


async def test_the_operations_of_the_protocol_are_no_tools_that_were_spared() -> None:
    """Nobody would have those without headgate, so only the adapter's own count."""
    plain, supervised = await saving(5), await saving(5, safety_loop="enforcing")
    assert supervised.discrete == plain.discrete


async def test_what_is_counted_is_what_clients_are_sent() -> None:
    server = mcp_server(adapter(3))
    try:
        listed = server.listed_tools
        assert {tool["name"] for tool in listed} == set(server.tool_names)
        assert saving_of(server).served == sum(
            estimate(json.dumps(tool, separators=(",", ":"), ensure_ascii=False)) for tool in listed
        )
    finally:
        await server.store.close()


async def test_an_adapter_without_operations_has_nothing_to_spare() -> None:
    assert (await saving(0)).discrete == 0


async def test_a_number_of_any_length_in_a_schema_is_counted() -> None:
    async def get_thing(size: Annotated[int, Param(maximum=10**30)]) -> str:
        """Read a thing."""
        return str(size)

    made = Adapter("long")
    made.read(get_thing)
    server = mcp_server(made)
    try:
        assert saving_of(server).discrete > estimate(str(10**30))
    finally:
        await server.store.close()
