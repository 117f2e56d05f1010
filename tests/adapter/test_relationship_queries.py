"""``query_relationships``: from one item to others, step by step, both ways, in circles, and page by page."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

import pytest

from headgate import Adapter, Engine
from headgate.query.collections import Relationship
from tests.adapter.library import MENTOR, WRITTEN_BY, Author, Book, answered, engine, some_books
from tests.engine.asking import ask, error
from tests.support import schema_errors

pytestmark = pytest.mark.anyio


def root(kind: str, name: str) -> dict[str, str]:
    return {"element_type": kind, "element_name": name}


async def related(served: Engine, kind: str, name: str, direction: str, **more: Any) -> dict[str, Any]:
    """The answer, which has the form that is prescribed."""
    found: dict[str, Any] = await answered(
        served, "query_relationships", root=root(kind, name), direction=direction, **more
    )
    assert schema_errors(found, "relationship-query", "RelationshipResponse") == []
    return found


def told(found: dict[str, Any]) -> set[tuple[str, str, str, int]]:
    return {
        (
            one["type"],
            one["direction"],
            f"{one['target']['element_type']}:{one['target']['element_name']}",
            one["depth"],
        )
        for one in found["relationships"]
    }


def edges(found: dict[str, Any]) -> set[tuple[str, str, str]]:
    return {(edge["source"], edge["type"], edge["target"]) for edge in found["graph"]["edges"]}


async def test_one_step_forward_is_all_unless_said() -> None:
    found = await related(engine(), "book", "3", "outgoing")
    assert found == {
        "root": root("book", "3"),
        "relationships": [
            {"type": "written_by", "direction": "outgoing", "target": root("author", "3"), "depth": 1},
        ],
        "graph": {
            "nodes": [{"id": "book:3", **root("book", "3")}, {"id": "author:3", **root("author", "3")}],
            "edges": [{"source": "book:3", "target": "author:3", "type": "written_by"}],
        },
    }


async def test_backward_the_same_edge_is_seen_from_its_other_end() -> None:
    found = await related(engine(), "author", "1", "incoming")
    assert told(found) == {
        ("written_by", "incoming", "book:1", 1),
        ("written_by", "incoming", "book:4", 1),
        ("taught_by", "incoming", "author:3", 1),
    }
    assert edges(found) == {
        ("book:1", "written_by", "author:1"),
        ("book:4", "written_by", "author:1"),
        ("author:3", "taught_by", "author:1"),
    }


async def test_both_ways_several_steps_deep_every_edge_is_told_once() -> None:
    found = await related(engine(), "book", "3", "both", depth=3)
    assert told(found) == {
        ("written_by", "outgoing", "author:3", 1),
        ("taught_by", "outgoing", "author:1", 2),
        ("written_by", "incoming", "book:1", 3),
        ("written_by", "incoming", "book:4", 3),
    }
    assert len(found["graph"]["edges"]) == len(edges(found)) == 4
    assert [node["id"] for node in found["graph"]["nodes"]] == ["book:3", "author:3", "author:1", "book:1", "book:4"]


@pytest.mark.parametrize("wanted", ["written_by", "author"], ids=["by its type", "by its name"])
async def test_one_relationship_can_be_wanted_alone(wanted: str) -> None:
    found = await related(engine(), "book", "3", "outgoing", relationship=wanted, depth=2)
    assert told(found) == {("written_by", "outgoing", "author:3", 1)}


async def test_an_item_without_relations_stands_alone() -> None:
    found = await related(engine(), "author", "2", "outgoing")
    assert (found["relationships"], found["graph"]["edges"]) == ([], [])
    assert found["graph"]["nodes"] == [{"id": "author:2", **root("author", "2")}]


async def test_a_collection_may_be_named_in_the_plural() -> None:
    found = await related(engine(), "books", "3", "outgoing")
    assert found["root"] == root("book", "3")


# circles


@dataclass
class Node:
    """A place that leads to another."""

    id: int
    next_id: int | None = None


NEXT = Relationship(name="next", target="nodes", local=("next_id",), remote=("id",), type="leads_to")
BACK = Relationship(
    name="previous", target="nodes", local=("id",), remote=("next_id",), many=True, outgoing=False, type="leads_to"
)


def nodes(*pairs: tuple[int, int | None]) -> Engine:
    adapter = Adapter("places")
    adapter.collection(Node, key="id", items=[Node(*pair) for pair in pairs], relationships=[NEXT, BACK])
    return Engine(adapter)


async def test_an_edge_that_leads_back_is_shown_and_not_followed_again() -> None:
    found = await related(nodes((1, 2), (2, 3), (3, 1)), "node", "1", "outgoing", depth=5)
    assert [one["depth"] for one in found["relationships"]] == [1, 2, 3]
    assert edges(found) == {
        ("node:1", "leads_to", "node:2"),
        ("node:2", "leads_to", "node:3"),
        ("node:3", "leads_to", "node:1"),
    }
    assert len(found["graph"]["nodes"]) == 3


async def test_an_item_that_leads_to_itself_is_one_edge() -> None:
    found = await related(nodes((1, 1)), "node", "1", "both", depth=5)
    assert edges(found) == {("node:1", "leads_to", "node:1")}
    assert len(found["relationships"]) == 1


async def test_items_without_a_reference_are_not_related_through_that() -> None:
    found = await related(nodes((1, None), (2, None)), "node", "1", "both")
    assert found["relationships"] == []


async def test_a_way_is_followed_no_deeper_than_asked() -> None:
    chain = nodes(*((number, number + 1) for number in range(1, 8)))
    for depth in (1, 2, 5):
        found = await related(chain, "node", "1", "outgoing", depth=depth)
        assert [one["depth"] for one in found["relationships"]] == list(range(1, depth + 1))
    deeper = await error(chain, "query_relationships", root=root("node", "1"), direction="outgoing", depth=6)
    assert deeper["code"] == "VALIDATION_OUT_OF_RANGE"


# what is answered


@pytest.mark.parametrize(
    ("include", "keys", "graph"),
    [
        pytest.param(["root"], {"root"}, None, id="the root alone"),
        pytest.param(["relationships"], {"root", "relationships"}, None, id="relationships"),
        pytest.param(["graph.nodes"], {"root", "graph"}, {"nodes"}, id="nodes"),
        pytest.param(["graph.edges"], {"root", "graph"}, {"edges"}, id="edges"),
        pytest.param(["graph.nodes", "graph.edges"], {"root", "graph"}, {"nodes", "edges"}, id="the graph"),
        pytest.param([], {"root", "relationships", "graph"}, {"nodes", "edges"}, id="everything if nothing is said"),
    ],
)
async def test_include_picks_what_is_answered(include: list[str], keys: set[str], graph: set[str] | None) -> None:
    found = await related(engine(), "book", "1", "both", include=include)
    assert set(found) == keys
    assert set(found.get("graph", {})) == (graph or set())


async def test_a_section_that_does_not_exist_is_refused() -> None:
    found = await error(
        engine(), "query_relationships", root=root("book", "1"), direction="both", include=["graph.faces"]
    )
    assert found["code"] == "VALIDATION_INVALID_ENUM"


# pages


def star(rays: int) -> Engine:
    return nodes((1, None), *((number, 1) for number in range(2, rays + 2)))


async def test_many_relationships_come_in_pages_with_a_cursor_in_the_warning() -> None:
    served, seen = star(7), []
    after: dict[str, str] = {}
    for shown in (3, 3, 1):
        envelope = await ask(
            served, "query_relationships", root=root("node", "1"), direction="incoming", first=3, **after
        )
        records = envelope["data"]["relationships"]
        assert len(records) == shown
        seen += [one["target"]["element_name"] for one in records]
        warnings = envelope.get("warnings", [])
        if not warnings:
            break
        assert warnings[0]["code"] == "VALIDATION_TRUNCATED_WARNING"
        details = warnings[0]["details"]
        assert (details["original_count"], details["truncated_count"]) == (7, 3)
        assert details["after"] in warnings[0]["message"]
        after = {"after": details["after"]}
    assert seen == [str(number) for number in range(2, 9)]
    assert not warnings, "the last page has nothing more to tell"


async def test_a_hundred_are_shown_unless_said_and_none_if_none_are_wanted() -> None:
    asked = {"root": root("node", "1"), "direction": "incoming"}
    envelope = await ask(star(150), "query_relationships", **asked)
    assert len(envelope["data"]["relationships"]) == 100
    assert envelope["warnings"][0]["details"]["original_count"] == 150
    assert len((await answered(star(150), "query_relationships", **asked, first=150))["relationships"]) == 150
    assert (await answered(star(2), "query_relationships", **asked, first=0))["relationships"] == []


@pytest.mark.parametrize("cursor", ["", "x", "cursor_abc123", "A" * 30], ids=lambda cursor: cursor[:6] or "empty")
async def test_what_is_no_cursor_is_refused(cursor: str) -> None:
    found = await error(
        engine(), "query_relationships", root=root("book", "1"), direction="both", first=1, after=cursor
    )
    assert (found["code"], found["details"]["param_name"]) == ("VALIDATION_INVALID_VALUE", "after")


# mistakes


async def test_an_unknown_type_is_answered_with_the_nearest_and_the_known() -> None:
    found = await error(engine(), "query_relationships", root=root("bok", "1"), direction="both")
    assert found["code"] == "VALIDATION_UNKNOWN_FIELD"
    assert "Unknown type 'bok' in 'root.element_type'. Did you mean 'book'" in found["message"]
    assert found["details"]["valid_fields"] == ["author", "book"]


async def test_an_unknown_relationship_is_answered_with_the_nearest_and_the_known() -> None:
    found = await error(
        engine(), "query_relationships", root=root("book", "1"), direction="both", relationship="writen_by"
    )
    assert found["code"] == "VALIDATION_UNKNOWN_FIELD"
    assert "Did you mean 'written_by'" in found["message"]
    assert set(found["details"]["valid_fields"]) == {"written_by", "taught_by"}


async def test_an_item_that_is_not_there_is_told() -> None:
    found = await error(engine(), "query_relationships", root=root("book", "77"), direction="both")
    assert (found["code"], found["details"]["resource_id"]) == ("NOT_FOUND_RESOURCE", "77")


async def test_a_key_of_another_kind_is_refused() -> None:
    found = await error(engine(), "query_relationships", root=root("author", "Ibsen"), direction="both")
    assert (found["code"], found["details"]["param_name"]) == ("VALIDATION_INVALID_VALUE", "root.element_name")
    assert "'Ibsen' is no integer" in found["message"]


async def test_a_direction_must_be_one_of_three() -> None:
    found = await error(engine(), "query_relationships", root=root("book", "1"), direction="up")
    assert found["code"] == "VALIDATION_INVALID_ENUM"


# keys of several fields, other kinds, and collections that are not there


@dataclass
class Seat:
    """A chair in a row."""

    row: int
    chair: str
    guest: UUID | None = None


@dataclass
class Guest:
    """Somebody who sits."""

    id: UUID
    name: str = ""


IDENT = "123e4567-e89b-12d3-a456-426614174000"


def hall() -> Engine:
    adapter = Adapter("hall")
    taken_by = Relationship(name="taken_by", target="guests", local=("guest",), remote=("id",))
    adapter.collection(Seat, key=["row", "chair"], items=[Seat(1, "a", UUID(IDENT))], relationships=[taken_by])
    adapter.collection(Guest, key="id", items=[Guest(UUID(IDENT))])
    return Engine(adapter)


async def test_the_parts_of_a_key_are_joined_by_commas() -> None:
    found = await related(hall(), "seat", "1,a", "outgoing")
    assert edges(found) == {("seat:1,a", "seat_taken_by", f"guest:{IDENT}")}
    for name in ("1", "1,a,b"):
        wrong = await error(hall(), "query_relationships", root=root("seat", name), direction="outgoing")
        assert wrong["details"]["param_name"] == "root.element_name"
        assert "it needs the parts row, chair, joined by commas" in wrong["message"]


async def test_a_relationship_to_a_collection_that_is_not_there_is_not_followed() -> None:
    adapter = Adapter("library")
    shelf = Relationship(name="shelf", target="shelves", local=("isbn",), remote=("isbn",), type="stands_on")
    adapter.collection(Book, key="isbn", items=some_books(), relationships=[WRITTEN_BY, shelf])
    adapter.collection(Author, key="id", items=[Author(1, "Ibsen")], relationships=[MENTOR])
    found = await related(Engine(adapter), "book", "1", "both", depth=2)
    assert told(found) == {("written_by", "outgoing", "author:1", 1), ("written_by", "incoming", "book:4", 2)}
    features = adapter.operations["query_relationships"].features["relationship_capabilities"]
    assert isinstance(features, dict)
    assert features["relationship_types"] == ["written_by", "taught_by"]


async def test_without_relationships_there_is_nothing_to_query() -> None:
    adapter = Adapter("library")
    adapter.collection(Book, key="isbn", items=some_books())
    assert "query_relationships" not in adapter.operations
