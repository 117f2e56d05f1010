"""Calls: the right tool is found, what is not declared is not sent, and what a server says beside its data is kept."""

from typing import Any

import pytest

from headgate import Adapter, AqlFailure, connect, mcp_server
from headgate.client.answers import Caution
from headgate.client.errors import NotFoundFailure, PermissionFailure, ValidationFailure
from tests.client.shops import Toy, details, shop

pytestmark = pytest.mark.anyio

ALL = ("mcp_aql_create", "mcp_aql_read", "mcp_aql_update", "mcp_aql_delete", "mcp_aql_execute")


async def test_a_verb_goes_to_its_endpoint_and_call_to_the_one_that_introspection_tells() -> None:
    toy = Toy([details("delete_x", "DELETE")], {"delete_x": lambda _params: "gone"})
    async with connect(toy.server(*ALL)) as aql:
        assert await aql.call("delete_x") == "gone"
        assert await aql.delete("delete_x") == "gone"
        await aql.read("delete_x")  # which a real server refuses
    assert [tool for tool, asked in toy.requests if asked["operation"] == "delete_x"] == [
        "mcp_aql_delete",
        "mcp_aql_delete",
        "mcp_aql_read",
    ]


async def test_a_real_server_refuses_the_wrong_endpoint_by_its_code() -> None:
    async with connect(shop()) as aql:
        with pytest.raises(ValidationFailure) as failed:
            await aql.read("create_note", text="hi")
    assert (failed.value.code, failed.value.sent) == ("VALIDATION_ENDPOINT_MISMATCH", True)


async def test_parameters_may_be_given_as_an_object() -> None:
    toy = Toy([details("get_x", "READ", "from", "self", "to")], {"get_x": lambda params: params})
    async with connect(toy.server()) as aql:
        assert await aql.call("get_x", {"from": 1, "self": 2}, to=3) == {"from": 1, "self": 2, "to": 3}


@pytest.mark.proves("spec-4.6.2-clients-assume-strict-validation")
async def test_what_is_not_declared_is_refused_before_it_is_sent() -> None:
    toy = Toy([details("get_x", "READ", "number!", "colour")], {"get_x": lambda params: params})
    async with connect(toy.server()) as aql:
        for method in (aql.call, aql.read):
            with pytest.raises(ValidationFailure) as failed:
                await method("get_x", number=1, color="red")
            assert (failed.value.code, failed.value.sent) == ("VALIDATION_UNKNOWN_PARAM", False)
            assert failed.value.message.endswith("'color'. Did you mean 'colour'?")
            assert failed.value.details["valid_params"] == ["number", "colour"]
        assert toy.sent == []
        await aql.call("get_x", {"number": 1, "_trace": "x"})  # metadata is nobody's parameter
    assert toy.sent == [{"operation": "get_x", "params": {"number": 1, "_trace": "x"}}]


async def test_an_unknown_operation_is_told_with_the_nearest_known_ones() -> None:
    async with connect(shop()) as aql:
        with pytest.raises(NotFoundFailure, match=r"Did you mean 'get_order'") as failed:
            await aql.call("get_ordr")
        assert (failed.value.code, failed.value.sent) == ("NOT_FOUND_OPERATION", False)
        with pytest.raises(NotFoundFailure) as told:
            await aql.read("get_ordr")
        assert told.value.sent


async def test_introspection_is_asked_once_and_again_after_a_refresh() -> None:
    toy = Toy([details("get_x")], {"get_x": lambda _params: 1})
    async with connect(toy.server()) as aql:
        for _ in range(3):
            await aql.call("get_x")
            await aql.operations()
            await aql.types()
        asked = len(toy.requests) - len(toy.sent)
        assert asked == 4  # which tool answers, the details, the list, the types
        await aql.refresh()
        await aql.call("get_x")
        assert len(toy.requests) - len(toy.sent) == asked + 2


async def test_a_server_without_introspection_is_called_all_the_same() -> None:
    toy = Toy([], {"introspect": lambda _params: {"success": False, "error": "no"}, "get_x": lambda params: params})
    async with connect(toy.server()) as aql:
        assert await aql.call("get_x", anything=1) == {"anything": 1}
        assert await aql.read("get_x", anything=1) == {"anything": 1}
    async with connect(toy.server(*ALL)) as aql:
        assert await aql.delete("get_x") == {}


async def test_warnings_are_kept_and_told() -> None:
    heard: list[Caution] = []
    async with connect(shop(), on_warning=heard.append) as aql:
        result = await aql.result("get_old_order", {"order_id": 1})
        await aql.read("get_order", order_id=1)
    [warning] = result.warnings
    assert warning.code == "DEPRECATION_WARNING"
    assert list(aql.warnings) == heard == [warning]
    assert result.meta == {}


async def test_what_is_odd_is_kept_once_with_the_request_that_showed_it() -> None:
    listed = [details("get_x", endpoint="READ"), details("get_y", "LOOK"), {"name": "get_z"}]
    toy = Toy(listed, {"get_x": lambda _params: {"success": True, "items": [1]}}, protocol={})
    async with connect(toy.server()) as aql:
        for _ in range(2):
            assert await aql.call("get_x") == {"items": [1]}
        result = await aql.result("get_x")
        await aql.operations()
        seen = {(one.section, one.words, one.request.operation) for one in aql.oddities}
        assert len(seen) == len(aql.oddities)
    assert {
        ("specification 5.1", "a success has no 'data'", "get_x"),
        ("introspection 4.1", "the endpoint of 'get_x' is 'READ', not in small letters", "introspect"),
        ("introspection 3.2", "'get_y' has no semantic category of the five", "introspect"),
        ("introspection 3.2", "'get_z' has no endpoint", "introspect"),
        ("introspection 4.1.1", "the list of operations has no '_protocol'", "introspect"),
    } <= seen
    assert [odd.words for odd in result.oddities] == ["a success has no 'data'"]


async def test_upper_case_endpoints_lead_to_the_right_tool() -> None:
    toy = Toy([details("get_x", endpoint="READ")], {"get_x": lambda _params: 1})
    async with connect(toy.server("mcp_aql_delete", "mcp_aql_read")) as aql:
        assert await aql.call("get_x") == 1
    assert toy.requests[-1][0] == "mcp_aql_read"


async def test_an_error_that_is_a_text_is_a_failure_with_its_words() -> None:
    toy = Toy([details("get_x")], {"get_x": lambda _params: {"success": False, "error": "it broke"}})
    async with connect(toy.server()) as aql:
        with pytest.raises(AqlFailure, match="it broke") as failed:
            await aql.call("get_x")
    assert (failed.value.code, repr(failed.value.request)) == ("", "Request('get_x', {})")


class Refusing(Toy):
    """A server that only tells the list of its operations, and that as a bare list."""

    def _introspected(self, params: dict[str, Any]) -> object:
        return self.operations


async def test_details_are_taken_from_the_list_where_there_are_none() -> None:
    toy = Refusing([{"name": "get_x", "semantic_category": "READ", "endpoint": "read"}], {"get_x": lambda got: got})
    async with connect(toy.server()) as aql:
        assert await aql.call("get_x", a=1) == {"a": 1}
        info = await aql.operation("get_x")
        assert info is not None
        assert (info.parameters, info.sensitive, info.declares("a")) == (None, None, False)
        assert await aql.operation("get_y") is None


async def test_types_operations_search_and_protocol_are_values() -> None:
    async with connect(shop()) as aql:
        found = await aql.search("read an order", first=2)
        assert [one.name for one in found][:1] == ["get_order"]
        assert len(found) <= 2
        kinds = {one.name: one.kind for one in await aql.types()}
        union = await aql.type("OperationResult")
        enum = await aql.type("SemanticCategory")
        assert union is not None
        assert enum is not None
        assert (kinds["OperationResult"], union.kind, len(union.members)) == ("union", "union", 2)
        assert set(enum.values) == {"CREATE", "READ", "UPDATE", "DELETE", "EXECUTE"}
        assert await aql.type("Nonsense") is None
        assert (await aql.protocol()).capabilities["batch"] is True
        order = await aql.operation("get_order")
        assert order is not None
        assert (order.category, order.endpoint, order.tool) == ("READ", "read", "mcp_aql_read")
        [number] = order.parameters or ()
        assert (number.name, number.type, number.required) == ("order_id", "integer", True)


async def test_a_server_without_a_search_is_searched_here() -> None:
    def introspect(params: dict[str, Any]) -> object:
        if params["query"] == "search":
            return {"success": False, "error": {"code": "VALIDATION_INVALID_ENUM", "message": "no"}}
        return {"_protocol": {"version": "1"}, "operations": [details("get_book"), details("get_hat")]}

    async with connect(Toy([], {"introspect": introspect}).server()) as aql:
        assert [one.name for one in await aql.search("a hat please")] == ["get_hat"]


async def test_a_long_list_of_operations_is_read_to_its_end() -> None:
    adapter = Adapter("many")

    def read(x: int = 0) -> int:
        """Read something."""
        return x

    for number in range(1203):
        adapter.read(name=f"get_thing_{number}")(read)
    async with connect(mcp_server(adapter)) as aql:
        names = [one.name for one in await aql.operations()]
    assert len(names) == len(set(names)) == 1204


@pytest.mark.parametrize(
    "page", [{"total": 5, "after": 7}, {"total": 5, "after": "get_x"}, "none", {"total": 1}], ids=str
)
async def test_a_list_whose_pages_lead_nowhere_ends(page: object) -> None:
    toy = Toy([details("get_x")], {}, protocol={"version": "1", "page": page})
    async with connect(toy.server()) as aql:
        assert [one.name for one in await aql.operations()] == ["get_x"]
    assert len(toy.requests) <= 3


async def test_introspection_that_is_refused_now_and_then_is_no_hindrance() -> None:
    def introspect(params: dict[str, Any]) -> object:
        if params.get("name") == "introspect":
            return {"operation": None}
        return {"success": False, "error": {"code": "PERMISSION_DENIED", "message": "not for you"}}

    toy = Toy([], {"introspect": introspect, "get_x": lambda params: params})
    async with connect(toy.server()) as aql:
        assert await aql.read("get_x", a=1) == {"a": 1}
        with pytest.raises(PermissionFailure):
            await aql.operations()
