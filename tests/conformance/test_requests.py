"""Valid requests are found: from fixtures, examples, what a server lists, and what it declares."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from headgate.conformance.fixtures import Fixtures
from headgate.conformance.probe import CannotBeSeen, Options, Probe, opened_probe
from headgate.conformance.requests import attempt, known_types, other_values, valid_params
from headgate.conformance.survey import SeenOperation
from tests.conformance.servers import opener_of_server, toy_server

pytestmark = pytest.mark.anyio

LISTS: dict[str, Any] = {
    "list_books": {"items": [{"id": 7, "title": "Emma"}, {"id": 9, "title": "Persuasion"}], "others": [1]},
    "list_cities": ["Delft", "Ghent"],
    "list_order_lines": [{"order_id": 3, "line": 1, "book_id": 9}],
    "list_nothing": "nothing",
}
TYPES: dict[str, Any] = {
    "Place": {"name": "Place", "kind": "object", "fields": [{"name": "kind", "type": "Kind", "required": True}]},
    "Kind": {"name": "Kind", "kind": "enum", "values": ["town"]},
}


def needs(**parameters: Any) -> list[dict[str, Any]]:
    return [
        {"name": name, "required": True, **(kind if isinstance(kind, dict) else {"type": kind})}
        for name, kind in parameters.items()
    ]


def server(operations: dict[str, list[dict[str, Any]]], examples: dict[str, Any], works: Any) -> Any:
    def details(name: str) -> dict[str, Any]:
        category = "DELETE" if name.startswith("delete_") else "READ"
        shown = [{"request": {"operation": name, "params": examples[name]}}] if name in examples else []
        return {
            "name": name,
            "semantic_category": category,
            "parameters": operations.get(name, []),
            "examples": shown,
        }

    def introspected(query: str, name: str | None = None) -> Any:
        if query == "types":
            return {"type": TYPES.get(name)} if name else {"types": []}
        return (
            {"operation": details(name)} if name else {"operations": [details(one) for one in {**LISTS, **operations}]}
        )

    def answer(_tool: str, arguments: Any) -> Any:
        name, params = arguments["operation"], arguments.get("params", {})
        if name == "introspect":
            return {"success": True, "data": introspected(**params)}
        assert not name.startswith("delete_"), "nothing that changes something is tried"
        if name in LISTS or works(params):
            return {"success": True, "data": LISTS.get(name, params)}
        return {"success": False, "error": {"code": "NOT_FOUND_RESOURCE", "message": "It is not there."}}

    return toy_server(answer, ("mcp_aql",))


@asynccontextmanager
async def probing(
    operations: dict[str, list[dict[str, Any]]], *, examples: Any = None, works: Any = bool, fixtures: Any = None
) -> AsyncIterator[tuple[Probe, SeenOperation]]:
    opener = opener_of_server(server(operations, examples or {}, works))
    options = Options(fixtures=Fixtures.of(fixtures or {}, "test"))
    async with opened_probe(opener, options) as probe:
        yield probe, probe.survey.operations[next(iter(operations))]


@pytest.mark.parametrize(
    ("name", "parameters", "found"),
    [
        pytest.param("get_book", needs(id="integer"), {"id": 7}, id="the id of the same resource"),
        pytest.param("get_book", needs(book_id="integer"), {"book_id": 7}, id="an id with the resource in its name"),
        pytest.param("get_cover", needs(book_id="integer"), {"book_id": 7}, id="the id of another resource"),
        pytest.param("get_old_book", needs(id="integer"), {"id": 7}, id="a resource with a word before it"),
        pytest.param("get_book", needs(title="string"), {"title": "Emma"}, id="a field of the resource"),
        pytest.param("get_weather", needs(city="string"), {"city": "Delft"}, id="a bare value of a list"),
        pytest.param("get_city", needs(name="string"), {"name": "Delft"}, id="a bare value of the resource's list"),
        pytest.param(
            "get_order_line", needs(order_id="integer", line="integer"), {"order_id": 3, "line": 1}, id="both"
        ),
        pytest.param("get_order", needs(order_id="integer"), {"order_id": 3}, id="a reference in any list"),
        pytest.param("get_place", needs(place="Place"), {"place": {"kind": "town"}}, id="an object of a named type"),
        pytest.param("get_day", needs(day={"type": "string", "format": "date"}), {"day": "2026-02-04"}, id="a format"),
    ],
)
async def test_required_parameters_are_found(name: str, parameters: list[dict[str, Any]], found: Any) -> None:
    async with probing({name: parameters}) as (probe, operation):
        assert await valid_params(probe, operation) == found


async def test_what_does_not_fit_a_declaration_is_not_taken_from_a_list() -> None:
    parameters = needs(id={"type": "integer", "minimum": 8})
    async with probing({"get_book": parameters}) as (probe, operation):
        assert await valid_params(probe, operation) == {"id": 9}


async def test_an_example_goes_before_what_is_listed_if_it_works() -> None:
    async with probing({"get_book": needs(id="integer")}, examples={"get_book": {"id": 5, "more": 1}}) as (probe, one):
        assert await valid_params(probe, one) == {"id": 5}


async def test_what_is_listed_stands_in_for_an_example_that_does_not_work() -> None:
    def works(params: Any) -> bool:
        return bool(params.get("id") == 7)

    case = probing({"get_book": needs(id="integer")}, examples={"get_book": {"id": 5}}, works=works)
    async with case as (probe, operation):
        made = await attempt(probe, operation)

    assert made.worked
    assert made.params == {"id": 7}
    assert len(made.tries) == 2


async def test_a_whole_example_is_tried_when_the_required_parameters_alone_do_not_work() -> None:
    case = probing(
        {"get_rank": needs(id="integer")}, examples={"get_rank": {"id": 1, "of": 2}}, works=lambda p: "of" in p
    )
    async with case as (probe, operation):
        assert await valid_params(probe, operation) == {"id": 1, "of": 2}


async def test_where_nothing_works_the_right_form_is_given() -> None:
    async with probing({"get_thing": needs(key="string")}, works=lambda _params: False) as (probe, operation):
        made = await attempt(probe, operation)

    assert not made.worked
    assert isinstance(made.params["key"], str)


@pytest.mark.parametrize(
    ("fixtures", "found"),
    [
        ({"operations": {"get_book": {"id": 42, "lang": "nl"}}}, {"id": 42, "lang": "nl"}),
        ({"values": {"id": 43}}, {"id": 43}),
    ],
    ids=["for the operation", "by name"],
)
async def test_fixtures_go_before_everything(fixtures: Any, found: Any) -> None:
    async with probing({"get_book": needs(id="integer")}, fixtures=fixtures) as (probe, operation):
        assert await valid_params(probe, operation) == found


async def test_parameters_of_what_changes_something_are_made_and_not_tried() -> None:
    async with probing({"delete_book": needs(id="integer")}, examples={"delete_book": {"force": True}}) as (probe, one):
        made = await attempt(probe, one)

    assert made.exchange is None
    assert made.params["force"] is True
    assert isinstance(made.params["id"], int)


async def test_what_cannot_be_made_names_the_operation_the_parameter_and_the_fixtures() -> None:
    async with probing({"get_thing": needs(odd="Unheard")}) as (probe, operation):
        with pytest.raises(CannotBeSeen, match=r"'get_thing'.*'odd'.*--fixtures"):
            await valid_params(probe, operation)


async def test_a_server_is_asked_once_for_each_thing() -> None:
    async with probing({"get_place": needs(place="Place")}) as (probe, operation):
        first = await valid_params(probe, operation)
        asked = len(probe.ledger)
        again = await valid_params(probe, operation)
        types = await known_types(probe, operation)

    assert first == again
    assert set(types) == {"Place", "Kind"}
    assert len(probe.ledger) == asked


@pytest.mark.parametrize(
    ("parameter", "value", "others"),
    [
        pytest.param({"type": "integer"}, 7, [9, 8, 987_654_321], id="numbers"),
        pytest.param({"type": "string", "enum": ["a", "b"]}, "a", ["b"], id="choices"),
        pytest.param({"type": "string"}, "x", ["xzzqx"], id="texts"),
        pytest.param({"type": "string", "pattern": "^x$"}, "x", [], id="texts with rules"),
        pytest.param({"type": "boolean"}, True, [], id="booleans"),
    ],
)
async def test_other_values_keep_to_the_declaration(parameter: Any, value: Any, others: list[Any]) -> None:
    async with probing({"get_book": needs(id=parameter)}) as (probe, operation):
        found = await other_values(probe, operation, operation.parameters[0], value)

    assert found == others
