"""Introspection in short: what was asked, a line each, and every parameter in it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.github import github
from headgate import Adapter, Category, Engine, Operation, Param, Parameter, Patch
from headgate.adapter.compact import Shortened, call_of, name_of
from tests.adapter.library import engine, library
from tests.engine.asking import ask, error

pytestmark = pytest.mark.anyio


@dataclass
class Ticket:
    """A place in a room."""

    room: str
    seat: int = 1


def tickets() -> Adapter:
    adapter = Adapter("tickets")

    @adapter.read
    async def list_tickets(
        room: str, since: date | None = None, state: Literal["open", "used"] = "open"
    ) -> list[Ticket]:
        """List tickets. Those of yesterday are kept apart.

        Args:
            room: The room.
            since: Only those sold from this day on. Earlier ones are kept apart.
        """
        return []

    @adapter.create
    async def create_ticket(ticket: Ticket, code: Annotated[str, Param(sensitive=True)] = "secret") -> Ticket:
        """Sell a ticket

        Args:
            code: What opens the till.
        """
        return ticket

    @adapter.update
    async def update_ticket(number: int, input: Patch[Ticket], code: str = "") -> Ticket:  # noqa: A002  (the spec's word)
        """Change a ticket.

        Args:
            code: What opens the till.
        """
        raise NotImplementedError

    return adapter


async def told(adapter: Adapter | None = None, **params: Any) -> Any:
    answer = await ask(Engine(adapter or tickets()), "introspect", format="compact", **params)
    return answer["data"]


LISTING = (
    'list_tickets(room: string, since?: date | null, state?: open|used = "open", format?: records|table = "records")'
    " -> Ticket[] # List tickets. Those of yesterday are kept apart. since: Only those sold from this day on."
    " format: 'table' names the fields once, in columns, and gives each record as a row."
)
CREATING = (
    "create_ticket(ticket: {room: string, seat?: integer}, code?: string, dry_run?: boolean = false) -> Ticket"
    " # Sell a ticket. ticket: A place in a room. code: What opens the till."
    " dry_run: Only tell whether it would run, and run nothing."
)


async def test_operations_are_told_by_their_tool_with_types_words_and_what_they_give() -> None:
    shown = (await told(query="operations", names=["list_tickets", "create_ticket"]))["operations"]
    assert shown == {"mcp_aql_read": [LISTING], "mcp_aql_create": [CREATING]}


async def test_what_several_operations_say_alike_is_said_once_in_an_answer() -> None:
    lines = (await told(query="operations", names=["create_ticket", "update_ticket"]))["operations"]
    assert str(lines).count("What opens the till") == 1


async def test_the_list_has_each_operation_with_what_must_be_given() -> None:
    lines = (await told(query="operations"))["operations"]
    assert lines["mcp_aql_read"] == ["list_tickets(room, …)", "introspect(query, …)"]
    assert lines["mcp_aql_update"] == ["update_ticket(number, input, …)"]


async def test_the_list_goes_on_after_a_name() -> None:
    page = await told(query="operations", first=1, after="list_tickets")
    assert page["operations"] == {"mcp_aql_create": ["create_ticket(ticket, …)"]}
    assert page["page"] == {"total": 4, "returned": 1, "after": "create_ticket"}


async def test_a_search_finds_the_best_first_with_types_and_words() -> None:
    found = (await told(github(), query="search", name="open a new issue", first=2))["operations"]
    assert found["mcp_aql_create"][0] == (
        "create_issue(owner: string, repo: string, title: string, …) # Open a new issue in a repository"
    )


async def test_one_name_and_names_are_answered_alike_and_unknown_ones_are_named() -> None:
    one = await told(query="operations", name="create_ticket")
    assert one == await told(query="operations", names=["create_ticket"])
    assert await told(query="operations", names=["nothing"]) == {"operations": {}, "unknown": ["nothing"]}


async def test_types_groups_and_collections_have_short_forms_too() -> None:
    assert "Ticket = {room: string, seat?: integer} # A place in a room." in (await told(query="types"))["types"]
    assert (await told(query="types", names=["SemanticCategory", "Nothing"])) == {
        "types": [
            "SemanticCategory = CREATE | READ | UPDATE | DELETE | EXECUTE # The effect of an operation on stored state"
        ],
        "unknown": ["Nothing"],
    }
    assert await told(query="groups") == {"groups": {"tickets.ticket": 3}}
    assert (await told(query="groups", name="tickets.ticket"))["operations"]["mcp_aql_create"] == [
        "create_ticket(ticket: {room: string, seat?: integer}, …) # Sell a ticket"
    ]
    assert (await told(query="groups", name="nothing")) == {"operations": {}, "unknown": ["nothing"]}
    shelf = (await told(library(), query="collections"))["collections"]
    assert shelf["authors"].startswith("id: integer, name, country, mentor_id: integer")
    assert (await told(library(), query="collections", name="author"))["collections"].keys() == {"authors"}


async def test_what_has_no_short_form_is_told_in_full() -> None:
    full = await ask(Engine(tickets()), "introspect", query="limits")
    assert await told(query="limits") == full["data"]


async def test_several_operations_or_types_are_told_in_full_at_once() -> None:
    made = Engine(tickets())
    both = (await ask(made, "introspect", query="operations", names=["list_tickets", "nope", "create_ticket"]))["data"]
    alone = (await ask(made, "introspect", query="operations", name="create_ticket"))["data"]["operation"]
    assert both["operations"][1] == alone
    assert both["unknown"] == ["nope"]
    types = (await ask(made, "introspect", query="types", names=["Ticket"]))["data"]["types"]
    assert [one["name"] for one in types] == ["Ticket"]


@pytest.mark.parametrize(
    "params",
    [{"query": "operations", "name": "x", "names": ["y"]}, {"query": "limits", "names": ["y"]}],
    ids=["both", "query"],
)
async def test_names_that_cannot_be_meant_are_refused(params: dict[str, Any]) -> None:
    assert (await error(Engine(tickets()), "introspect", **params))["code"] == "VALIDATION_INVALID_VALUE"


async def test_introspection_tells_of_itself_in_whole_sentences() -> None:
    line = (await told(query="operations", name="introspect"))["operations"]["mcp_aql_read"][0]
    assert "# Discover available operations and types. " in line
    assert "names?: string[] | null" in line
    assert "Similar to" not in line


async def test_a_form_that_nobody_knows_is_refused_with_those_there_are() -> None:
    refused = await error(Engine(tickets()), "introspect", query="operations", format="brief")
    assert refused["code"] == "VALIDATION_INVALID_ENUM"
    assert "compact" in refused["message"]


async def test_a_listing_in_short_has_its_fields_and_how_to_filter() -> None:
    made = engine()
    answer = await ask(made, "introspect", query="operations", name="list_books", format="compact")
    [line] = answer["data"]["operations"]["mcp_aql_read"]
    assert "binding: cloth|paper" in line
    assert "filter: {field: value}" in line
    full = await ask(made, "introspect", query="operations", name="list_books")
    assert len(str(answer)) < len(str(full)) / 2


# every parameter, whatever it is

SCHEMAS: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
    [
        {},
        {"type": "string"},
        {"type": ["string", "null"], "format": "date"},
        {"type": "integer", "default": 3},
        {"enum": ["a", "b", None]},
        {"enum": list(range(50))},
        {"const": 1},
        {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
        {"type": "array", "items": {"enum": ["a", "b"]}},
        {"type": "object", "properties": {"a": {"type": "object", "properties": {"b": {"properties": {"c": {}}}}}}},
        {"$ref": "#/$defs/Deep"},
    ]
)
NAMES = st.lists(st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True), unique=True, max_size=8).map(
    lambda names: [name for name in names if name not in ("operation", "params", "operations", "transaction")]
)


async def _nothing(**_params: object) -> None:
    pass


@st.composite
def operations(draw: st.DrawFn) -> Operation:
    parameters = tuple(
        Parameter(
            name,
            {**draw(SCHEMAS), "description": draw(st.sampled_from(["", f"The {name}.", "Words (a: b, c), d."]))},
            required=draw(st.booleans()),
        )
        for name in draw(NAMES)
    )
    deep = {"Deep": {"type": "object", "properties": {"deep": {"$ref": "#/$defs/Deep"}}}}
    return Operation("do_it", Category.EXECUTE, _nothing, parameters, "Do it", definitions=deep)


def outer_names(line: str) -> Iterator[str]:
    """What stands before a colon inside the call's own parentheses, and not deeper."""
    depth, inside = 0, ""
    for sign in line[line.index("(") :]:
        depth += (sign in "({") - (sign in ")}")
        inside += sign if depth == 1 and sign != "(" else ""
        if depth == 0:
            break
    return (part.strip().rstrip("?") for part in re.findall(r"([a-z][a-z0-9_]*\??): ", inside))


@given(operations())
def test_every_parameter_is_named_once_with_a_question_mark_if_it_may_be_left_out(operation: Operation) -> None:
    line = Shortened().operation(operation, operation.parameters)
    assert line.startswith(call_of(operation, operation.parameters))
    assert list(outer_names(line)) == [one.name for one in operation.parameters]
    for one in operation.parameters:
        assert (f"{one.name}?: " in line) is not one.required or line.count(f"{one.name}") > 1
    assert "\n" not in line


@given(operations())
def test_in_the_list_only_what_is_required_is_named(operation: Operation) -> None:
    required = [one.name for one in operation.parameters if one.required]
    rest = ["…"] if len(required) < len(operation.parameters) else []
    assert name_of(operation) == f"do_it({', '.join([*required, *rest])})"
