"""What checks can reach: nothing that was not allowed, everything kept, and servers of any form read."""

from typing import Any

import pytest

from headgate.client.endpoints import Endpoints
from headgate.client.wires import Tool
from headgate.conformance.choosing import spread
from headgate.conformance.fixtures import Fixtures
from headgate.conformance.openers import opener_of_adapter
from headgate.conformance.probe import NotAllowed, Options, named_in, opened_probe
from headgate.protocol.adapter_errors import AdapterError
from tests.conformance.servers import opener_of_server, toy_server

CATEGORIES = ("CREATE", "READ", "UPDATE", "DELETE", "EXECUTE")


def shop(asked: list[Any], extra: int = 0) -> Any:
    """A server with one operation of each category that notes what reaches it."""
    names = [f"{category.lower()}_thing" for category in CATEGORIES]
    listed: list[dict[str, Any]] = [
        {"name": name, "semantic_category": category, "endpoint": category, "description": name}
        for name, category in zip(names, CATEGORIES, strict=True)
    ]
    listed += [{"name": f"read_{number}", "semantic_category": "READ", "endpoint": "read"} for number in range(extra)]

    def answer(_tool: str, request: Any) -> object:
        asked.append(request)
        params = request.get("params") or {}
        if request.get("operation") != "introspect":
            return {"success": True, "data": "done"}
        if params["query"] == "types":
            return {"success": True, "data": {"types": []}}
        if "name" in params:
            found = next((one for one in listed if one["name"] == params["name"]), None)
            return {"success": True, "data": {"operation": found and {**found, "parameters": []}}}
        return {"success": True, "data": {"operations": listed}}

    return toy_server(answer, tuple(f"mcp_aql_{category.lower()}" for category in CATEGORIES))


@pytest.mark.anyio
@pytest.mark.parametrize("category", ["CREATE", "UPDATE", "DELETE", "EXECUTE"])
@pytest.mark.parametrize(
    "shape",
    [
        lambda name: {"operation": name},
        lambda name: {"operation": name.upper(), "params": {}},
        lambda name: {"operations": [{"operation": "read_thing"}, {"operation": name}]},
        lambda name: {"operations": [{"operations": [{"operation": name}]}]},
    ],
    ids=["alone", "in capitals", "in a batch", "in a batch in a batch"],
)
async def test_nothing_that_changes_something_is_sent_unless_it_was_allowed(category: str, shape: Any) -> None:
    asked: list[Any] = []
    request = shape(f"{category.lower()}_thing")
    opener = opener_of_server(shop(asked))
    async with opened_probe(opener, Options()) as probe:
        before = len(asked)
        with pytest.raises(NotAllowed, match=f"--allow {category.lower()}"):
            await probe.ask("mcp_aql_read", request)
        assert len(asked) == before
    async with opened_probe(opener, Options(allowed=frozenset({category}))) as probe:
        await probe.ask("mcp_aql_read", request)
        assert asked[-1] == request


@pytest.mark.anyio
async def test_what_the_fixtures_leave_alone_is_not_called_even_if_its_category_is_allowed() -> None:
    options = Options(allowed=frozenset(CATEGORIES), fixtures=Fixtures(leave_alone=frozenset({"delete_thing"})))
    async with opened_probe(opener_of_server(shop([])), options) as probe:
        with pytest.raises(NotAllowed, match="left alone"):
            await probe.ask("mcp_aql_delete", {"operation": "delete_thing"})
        assert "delete_thing" not in [one.name for one in probe.callable]


@pytest.mark.anyio
@pytest.mark.parametrize(
    "part",
    [
        {"operations": {"delete_thnig": {}}},
        {"words": {"delete_thnig": "throw it away"}},
        {"leave_alone": ["delete_thnig"]},
    ],
    ids=lambda part: next(iter(part)),
)
async def test_fixtures_for_an_operation_that_is_not_there_are_refused_before_any_is_called(part: Any) -> None:
    asked: list[Any] = []
    options = Options(allowed=frozenset(CATEGORIES), fixtures=Fixtures.of(part, "fixtures.toml"))
    with pytest.raises(AdapterError, match=f"'delete_thnig' in '{next(iter(part))}'.* Did you mean 'delete_thing'"):
        async with opened_probe(opener_of_server(shop(asked)), options):
            pytest.fail("there is nothing to be done")
    assert {request["operation"] for request in asked} == {"introspect"}


@pytest.mark.anyio
async def test_fixtures_may_speak_of_introspect_and_nothing_is_said_of_a_server_that_lists_nothing() -> None:
    options = Options(fixtures=Fixtures(leave_alone=frozenset({"introspect"})))
    async with opened_probe(opener_of_server(shop([])), options) as probe:
        assert probe.survey.operations
    empty = opener_of_server(toy_server(lambda _tool, _request: {"success": True, "data": {}}))
    async with opened_probe(empty, Options(fixtures=Fixtures(leave_alone=frozenset({"drop_all"})))) as probe:
        assert not probe.survey.operations


@pytest.mark.anyio
async def test_a_server_with_many_operations_is_looked_at_in_part_and_every_category_is_among_them() -> None:
    async with opened_probe(opener_of_server(shop([], extra=200)), Options(most_operations=20)) as probe:
        seen = {one.category for one in probe.survey.operations.values() if one.details}
        assert seen == set(CATEGORIES)
        assert probe.survey.left_out == len(probe.survey.operations) - 20


@pytest.mark.anyio
async def test_every_exchange_is_kept_and_told() -> None:
    told: list[str] = []
    async with opened_probe(
        opener_of_server(shop([])), Options(), lambda exchange: told.append(exchange.operation)
    ) as probe:
        before = len(probe.ledger)
        await probe.ask("mcp_aql_read", {"operation": "read_thing"})
        assert [one.operation for one in probe.ledger[before:]] == ["read_thing"] == told


@pytest.mark.parametrize(
    ("request_", "names"),
    [({}, []), ([1], []), ({"operation": 5}, []), ({"operation": "a"}, ["a"]), ({"operations": "a"}, [])],
)
def test_the_operations_of_a_request_are_found_in_any_form(request_: object, names: list[str]) -> None:
    assert list(named_in(request_)) == names


TOOLS = {
    "crude": (["mcp_aql_create", "mcp_aql_read"], "semantic", "", "mcp_aql_read"),
    "single": (["mcp_aql"], "single", "", "mcp_aql"),
    "all": (["mcp_aql_read", "mcp_aql"], "all", "", "mcp_aql_read"),
    "prefixed": (["shop_mcp_aql_read", "other"], "semantic", "shop_", "shop_mcp_aql_read"),
    "another profile": (["mcp_aql_query", "mcp_aql_manage"], "semantic", "", None),
    "none": (["read_file", "write_file"], "", "", None),
}


@pytest.mark.parametrize("name", TOOLS)
def test_the_mode_the_prefix_and_the_tool_of_an_operation_are_found_from_the_tools(name: str) -> None:
    tools, mode, prefix, read = TOOLS[name]
    endpoints = Endpoints.of([Tool({"name": tool}) for tool in tools])
    assert (endpoints.mode, endpoints.prefix) == (mode, prefix)
    assert endpoints.tool_of({"endpoint": "READ"}) == read
    assert endpoints.tool_of({"endpoint": "mcp_aql_read"}) == read


def test_a_tool_of_another_name_that_takes_operations_is_found_by_its_form() -> None:
    schema = {"type": "object", "properties": {"operation": {}, "params": {}}}
    endpoints = Endpoints.of([Tool({"name": "aql", "inputSchema": schema}), Tool({"name": "other"})])
    assert (endpoints.single, endpoints.likely) == ("aql", ("aql",))


def test_the_tool_that_introspection_names_is_taken_first() -> None:
    endpoints = Endpoints.of([Tool({"name": "mcp_aql_query"}), Tool({"name": "mcp_aql_manage"})])
    assert endpoints.tool_of({"endpoint": "query", "mcpTool": "mcp_aql_manage"}) == "mcp_aql_manage"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"valuse": {}}, "Did you mean 'values'"),
        ({"values": 1}, "must be a table"),
        ({"operations": {"get_book": 1}}, "'operations.get_book' must be a table"),
        ({"leave_alone": "x"}, "must be a list"),
        ({"words": {"get_book": [1]}}, "'words.get_book' must be a text"),
    ],
)
def test_what_is_wrong_in_a_file_of_fixtures_is_said(content: dict[str, Any], words: str) -> None:
    with pytest.raises(AdapterError, match=words):
        Fixtures.of(content, "fixtures.toml")


def test_fixtures_are_read_from_a_file(tmp_path: Any) -> None:
    file = tmp_path / "fixtures.toml"
    lines = ['leave_alone = ["drop_all"]', "[values]", 'isbn = "978"', "[operations.get_book]", "id = 1"]
    file.write_text("\n".join([*lines, "[words]", 'get_book = "one book"']))
    assert Fixtures.read(file) == Fixtures(
        {"isbn": "978"}, {"get_book": {"id": 1}}, {"get_book": ("one book",)}, frozenset({"drop_all"})
    )
    file.write_text("values = ")
    with pytest.raises(AdapterError, match="is no TOML"):
        Fixtures.read(file)
    with pytest.raises(AdapterError, match="cannot be read"):
        Fixtures.read(tmp_path / "none.toml")


@pytest.mark.parametrize(("count", "most", "expected"), [(3, 5, [0, 1, 2]), (10, 3, [0, 3, 6]), (0, 3, [])])
def test_a_spread_is_even_and_has_the_first(count: int, most: int, expected: list[int]) -> None:
    assert spread(range(count), most) == expected


@pytest.mark.anyio
async def test_a_server_of_ours_can_be_had_in_another_mode() -> None:
    from examples.library import library

    async with opened_probe(opener_of_adapter(library), Options()) as probe:
        assert probe.survey.endpoints.mode == "semantic"
        async with probe.elsewhere(mode="single") as other:
            assert other.survey.endpoints.mode == "single"
            assert {*other.survey.operations} == {*probe.survey.operations}
