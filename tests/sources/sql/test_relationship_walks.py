"""Walks along relationships: as many statements as levels and relationships, however many items, and the same edges."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

import pytest

from headgate.query.backends import Edge, Key
from headgate.query.collections import Collection, Relationship
from tests.databases import Server
from tests.sources.sql.bookshelf import backend_of
from tests.sources.sql.comparing import difference
from tests.sources.sql.serving import Answer, Memory, Served, loaded, memory_of, served_from
from tests.sources.sql.worlds import Column, Reference, Row, Table, World

NODES = 10_000
BELOW = 21
"""How many each person leads: three levels of them are nearly all."""


def people() -> list[Row]:
    """A tree of ten thousand, whose head answers to somebody below, so that all ways lead round in a circle."""
    return [
        (number, (number - 1) // BELOW if number else NODES - 1, f"City {number % 7}", number % 5, None)
        for number in range(NODES)
    ]


def large() -> World:
    cities = Table(
        "city",
        (
            Column("name", "text"),
            Column("part", "integer"),
            Column("twin_name", "text", True),
            Column("twin_part", "integer", True),
        ),
        ("name", "part"),
        (),
        (Reference(("twin_name", "twin_part"), "city", ("name", "part")),),
        tuple((f"City {name}", part, f"City {name}", (part + 1) % 5) for name in range(7) for part in range(5)),
    )
    persons = Table(
        "person",
        (
            Column("id", "integer"),
            Column("boss_id", "integer", True),
            Column("city_name", "text"),
            Column("city_part", "integer"),
            Column("note", "text", True),
        ),
        ("id",),
        (),
        (Reference(("boss_id",), "person", ("id",)), Reference(("city_name", "city_part"), "city", ("name", "part"))),
        tuple(people()),
    )
    clubs = Table("club", (Column("code", "text"),), ("code",), (), (), tuple((f"Club {n}",) for n in range(40)))
    members = Table(
        "member",
        (Column("person_id", "integer"), Column("club_code", "text")),
        ("person_id", "club_code"),
        (),
        (Reference(("person_id",), "person", ("id",)), Reference(("club_code",), "club", ("code",))),
        tuple((number, f"Club {(number + step) % 40}") for number in range(0, NODES, 7) for step in (0, 3)),
    )
    friends = Table(
        "friend",
        (Column("one_id", "integer"), Column("other_id", "integer")),
        ("one_id", "other_id"),
        (),
        (Reference(("one_id",), "person", ("id",)), Reference(("other_id",), "person", ("id",))),
        tuple((number, (number + step) % 50) for number in range(50) for step in (1, 2, 49)),
    )
    return World(0, (cities, persons, clubs, members, friends))


ROUND = (
    "UPDATE person SET boss_id = 9999 WHERE id = 0",
    "UPDATE city SET twin_name = name, twin_part = CASE part WHEN 4 THEN 0 ELSE part + 1 END",
)
"""What closes the circles, once all rows are there."""


def straight(world: World) -> World:
    """The world before its circles are closed."""
    cities, persons, *rest = world.tables
    open_ended = [(row[0], None, *row[2:]) if row[0] == 0 else row for row in persons.rows]
    lonely = [(*row[:2], None, None) for row in cities.rows]
    return replace(world, tables=(replace(cities, rows=tuple(lonely)), replace(persons, rows=tuple(open_ended)), *rest))


class Counting(Memory):
    """Counts how often it is asked for edges."""

    follows = 0

    async def follow(
        self, collection: Collection, relationship: Relationship, keys: Sequence[Key], most: int
    ) -> list[Edge]:
        self.follows += 1
        return await super().follow(collection, relationship, keys, most)


@dataclass
class Walks:
    """The same large world in a database and in memory."""

    database: Served
    memory: Served
    runner: asyncio.Runner

    def ask(self, kind: str, name: str, direction: str, depth: int, **params: Any) -> tuple[Answer, int]:
        """The answer of the database, which is that of memory too, and how many statements it took."""
        root = {"element_type": kind, "element_name": name}
        given = {"root": root, "direction": direction, "depth": depth, "first": 1000, **params}
        counter = backend_of(self.database.engine).database
        before = counter.statements
        found = self.runner.run(self.database.ask("query_relationships", given))
        statements = counter.statements - before
        expected = self.runner.run(self.memory.ask("query_relationships", given))
        assert found["success"], found
        assert difference(expected, found) is None
        return found, statements

    def steps(self, kind: str, name: str, direction: str, depth: int, **params: Any) -> int:
        """How many times memory is asked for the edges of one relationship."""
        held = self.memory.held
        assert isinstance(held, Counting)
        before = held.follows
        root = {"element_type": kind, "element_name": name}
        given = {"root": root, "direction": direction, "depth": depth, **params}
        self.runner.run(self.memory.ask("query_relationships", given))
        return held.follows - before


@pytest.fixture(scope="module")
def walks(server: Server) -> Iterator[Walks]:
    world = large()
    with ExitStack() as stack:
        database = stack.enter_context(server.fresh())
        engine = stack.enter_context(database.connected())
        runner = stack.enter_context(asyncio.Runner())
        stack.enter_context(loaded(straight(world), engine))
        with engine.begin() as connection:
            for statement in ROUND:
                connection.exec_driver_sql(statement)
        serving = served_from(database.url, server.name, engine)
        served, schema = runner.run(serving.__aenter__())
        stack.callback(lambda: runner.run(serving.__aexit__(None, None, None)))
        yield Walks(served, memory_of(schema, world, Counting), runner)


def test_three_levels_over_ten_thousand_items_take_one_statement_each_and_one_for_the_root(walks: Walks) -> None:
    answer, statements = walks.ask("person", "0", "incoming", 3, relationship="person_boss")
    assert statements == 1 + 3
    assert len(answer["data"]["relationships"]) == 1000
    told = answer["warnings"][0]["details"]["original_count"]
    assert told == BELOW + BELOW**2 + BELOW**3


def test_every_relationship_is_asked_once_a_level(walks: Walks) -> None:
    _, statements = walks.ask("person", "4", "both", 2, include=["relationships"])
    steps = walks.steps("person", "4", "both", 2)
    assert statements == 1 + steps
    relationships = sum(len(one.relationships) for one in walks.database.catalog)
    assert steps <= 2 * relationships


@pytest.mark.parametrize("direction", ["incoming", "outgoing", "both"])
@pytest.mark.parametrize(
    ("kind", "name"), [("city", "City 3,2"), ("club", "Club 7"), ("person", "49"), ("member", "14,Club 17")]
)
def test_keys_of_several_parts_join_tables_and_circles_lead_to_the_same_edges(
    walks: Walks, kind: str, name: str, direction: str
) -> None:
    walks.ask(kind, name, direction, 2)


def test_a_walk_over_a_join_table_sees_its_other_side(walks: Walks) -> None:
    answer, statements = walks.ask("club", "Club 7", "both", 1, relationship="member")
    found = {one["target"]["element_type"] for one in answer["data"]["relationships"]}
    assert found == {"person"}
    assert statements == 2


def test_friends_of_friends_are_found_over_a_table_that_joins_one_to_itself(walks: Walks) -> None:
    answer, statements = walks.ask("person", "3", "outgoing", 3, relationship="friend")
    names = {one["target"]["element_name"] for one in answer["data"]["relationships"]}
    assert {"4", "5", "2", "6", "7"} <= names
    assert statements == 4


def test_the_edges_of_a_large_walk_go_on_from_a_cursor(walks: Walks) -> None:
    seen: list[Any] = []
    after: dict[str, str] = {}
    for _ in range(2):
        answer, _ = walks.ask(
            "person", "0", "incoming", 3, relationship="person_boss", include=["relationships"], **after
        )
        seen += [one["target"]["element_name"] for one in answer["data"]["relationships"]]
        after = {"after": answer["warnings"][0]["details"]["after"]}
    assert len(seen) == len(set(seen)) == 2000
