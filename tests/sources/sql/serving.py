"""A world served from each database, and from memory, which is the measure of them all."""

import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

import sqlalchemy

from headgate import Engine
from headgate.adapter.adapter import Adapter
from headgate.query.backends import Change, Changed, Edge, Fetched, Groups, Key
from headgate.query.collections import Catalog, Collection, Relationship
from headgate.query.memory import list_items, summarize_items
from headgate.query.shapes import AggregateShape, Listing
from headgate.sources.sql.backend import SqlBackend
from headgate.sources.sql.connections import DatabaseOptions
from headgate.sources.sql.schema import Schema
from headgate.sources.sql.source import sql_adapter
from tests.sources.sql.random_queries import Case, Items
from tests.sources.sql.world_loading import _written, drop, load, metadata
from tests.sources.sql.worlds import Row, Table, World

__all__ = ["Answer", "Meanwhile", "Memory", "Served", "loaded", "memory_of", "pages", "served_from"]

Answer = dict[str, Any]
_LONGEST_WALK = 120


class Memory:
    """The rows of a world as the items of collections: answered by the in-memory meaning of every query."""

    def __init__(self, schema: Schema, world: World) -> None:
        self.schema = schema
        self.columns = {
            name: {field: column.name for field, column in mapped.columns.items()}
            for name, mapped in schema.tables.items()
        }
        self.tables: dict[str, Table] = {}
        self._items: dict[str, Sequence[Mapping[str, Any]]] = {}
        for name, mapped in schema.tables.items():
            self.put(name, world.table(mapped.table.name))

    def put(self, name: str, table: Table) -> None:
        """The rows of a collection, or other ones."""
        columns = self.columns[name].items()
        self.tables[name] = table
        self._items[name] = [{field: record[column] for field, column in columns} for record in table.records]

    @property
    def items(self) -> Items:
        """The items of each collection by its name."""
        return {name: self.items_of(name) for name in self.tables}

    def items_of(self, name: str) -> Sequence[Mapping[str, Any]]:
        """The items of one collection."""
        return self._items[name]

    async def fetch(self, listing: Listing, values: Sequence[Any], limit: int, offset: int = 0) -> Fetched:
        rows, _ = list_items(listing, values, self.items_of, limit, offset)
        return Fetched(rows)

    async def summarize(self, shape: AggregateShape, values: Sequence[Any], most: int) -> list[Groups]:
        return summarize_items(shape, values, self.items_of, most)

    async def follow(
        self, collection: Collection, relationship: Relationship, keys: Sequence[Key], most: int
    ) -> list[Edge]:
        wanted = set(keys)
        target = self.schema.catalog[relationship.target]
        ends: dict[Key, list[Key]] = {}
        for item in self.items_of(target.name):
            ends.setdefault(_of(item, relationship.remote), []).append(_of(item, target.key))
        beyond = self._beyond(relationship)
        edges = [
            Edge(_of(item, collection.key), end)
            for item in self.items_of(collection.name)
            if _of(item, collection.key) in wanted
            for far in beyond(_of(item, relationship.local))
            for end in ends.get(far, ())
        ]
        return sorted(edges, key=lambda edge: (edge.source, edge.target))[:most]

    def _beyond(self, relationship: Relationship) -> Callable[[Key], Sequence[Key]]:
        """From the values on this side to those that the other side must have: over a join table, if there is one."""
        through = relationship.through
        if through is None:
            return lambda near: () if None in near else (near,)
        joined: dict[Key, list[Key]] = {}
        for record in self.tables[through.table].records:
            joined.setdefault(_of(record, through.near), []).append(_of(record, through.far))
        return lambda near: joined.get(near, ())

    async def insert(self, collection: Collection, fields: Mapping[str, Any], *, dry_run: bool) -> Changed:
        raise NotImplementedError

    async def update(self, collection: Collection, change: Change, *, dry_run: bool) -> Changed:
        raise NotImplementedError

    async def delete(self, collection: Collection, key: Key, if_match: str | None, *, dry_run: bool) -> Changed:
        raise NotImplementedError


def _of(item: Mapping[str, Any], names: Sequence[str]) -> Key:
    return tuple(item[name] for name in names)


@dataclass
class Served:
    """An adapter that is asked, and how the rows behind it are changed."""

    name: str
    engine: Engine
    connection: sqlalchemy.Engine | None = None
    memory: Memory | None = None
    statements: list[str] = field(default_factory=list)

    async def ask(self, operation: str, params: Mapping[str, Any]) -> Answer:
        """The answer to a request, decoded."""
        reply = await self.engine.call({"operation": operation, "params": dict(params)})
        answer: Answer = json.loads(reply.text)
        return answer

    @property
    def held(self) -> Memory:
        """The items, if they are held in memory."""
        assert self.memory is not None
        return self.memory

    @property
    def catalog(self) -> Catalog:
        """The collections that are served."""
        return self.engine.adapter.collections.catalog

    def delete(self, table: Table, rows: Sequence[Row]) -> None:
        """Take rows of a table away."""
        if self.connection is None or not rows:
            return
        with self.connection.begin() as connection:
            declared = metadata(World(0, (table,)), _name(self.name)).tables[table.name]
            for record in _written(replace(table, rows=tuple(rows)), _name(self.name)):
                same = [declared.c[name] == record[name] for name in table.key]
                connection.execute(declared.delete().where(*same))

    def insert(self, table: Table, rows: Sequence[Row]) -> None:
        """Add rows to a table."""
        if self.connection is None or not rows:
            return
        with self.connection.begin() as connection:
            declared = metadata(World(0, (table,)), _name(self.name)).tables[table.name]
            connection.execute(declared.insert(), _written(replace(table, rows=tuple(rows)), _name(self.name)))


def _name(name: str) -> Any:
    return name


@contextmanager
def loaded(world: World, engine: sqlalchemy.Engine) -> Iterator[None]:
    """A world's tables in a database, taken away at the end."""
    with engine.begin() as connection:
        load(world, connection)
    try:
        yield
    finally:
        with engine.begin() as connection:
            drop(world, connection)


@asynccontextmanager
async def served_from(url: str, name: str, engine: sqlalchemy.Engine) -> AsyncIterator[tuple[Served, Schema]]:
    """The adapter of a database, which keeps the statements that were sent."""
    adapter = sql_adapter(url, DatabaseOptions(slow_seconds=3600))  # no warning depends on how busy the machine is
    backend = next(iter(adapter.collections._backends.values()))
    assert isinstance(backend, SqlBackend)
    served = Served(name, Engine(adapter), engine)
    backend.database.observer = lambda sql, _seconds: served.statements.append(sql)
    try:
        yield served, backend.schema
    finally:
        await adapter.close()


def memory_of(schema: Schema, world: World, kind: type[Memory] = Memory) -> Served:
    """The same collections over the rows of the description."""
    memory = kind(schema, world)
    adapter = Adapter("memory")
    adapter.add_collections(schema.catalog, memory, read_only=schema.tables)
    return Served("memory", Engine(adapter), memory=memory)


# pages


async def pages(served: Served, case: Case, meanwhile: "Meanwhile | None" = None) -> list[Answer]:
    """The answers to a case: to its one request, or to all that are needed to see every page."""
    found = [await served.ask(case.operation, case.params)]
    if meanwhile is not None:
        meanwhile.step(served)
    while len(found) < _LONGEST_WALK:
        further = _next(case, found[-1], len(found))
        if further is None:
            break
        found.append(await served.ask(case.operation, {**case.params, **further}))
        if meanwhile is not None:
            meanwhile.step(served)
    return found


def _next(case: Case, answer: Answer, number: int) -> Answer | None:
    """What the request for the next page says beside what it said before; None if there is no next page."""
    data = answer.get("data") or {}
    info, counted = data.get("pageInfo", {}), data.get("pagination", {})
    match case.way:
        case "forwards" | "changing" if info.get("hasNextPage"):
            return {"after": info["endCursor"]}
        case "backwards" if info.get("hasPreviousPage"):
            return {"before": info["startCursor"]}
        case "offsets" if counted.get("has_more"):
            return {"offset": number * case.params["limit"]}
        case "numbers" if counted.get("has_more"):
            return {"page": number + 1}
        case _:
            return None


@dataclass
class Meanwhile:
    """What others do to the rows of a collection between two pages: some come, some go, and some stay."""

    name: str
    table: Table
    stay: frozenset[Row]
    comes: list[Row]
    goes: list[Row]
    chance: Random
    here: list[Row] = field(default_factory=list)

    @classmethod
    def of(cls, memory: Memory, name: str, seed: int) -> "Meanwhile | None":
        """None if rows of other tables refer to these, so that they cannot go."""
        table = memory.tables[name]
        if any(link.table == table.name for other in memory.tables.values() for link in other.references):
            return None
        chance = Random(seed)  # noqa: S311
        rows = list(table.rows)
        chance.shuffle(rows)
        third = len(rows) // 3
        return cls(
            name, table, frozenset(_keys(table, rows[2 * third :])), rows[:third], rows[third : 2 * third], chance
        )

    def start(self, served: Served) -> None:
        """Before the first page."""
        self.here = [row for row in self.table.rows if row not in self.comes]
        served.delete(self.table, self.comes)
        self._tell(served)

    def step(self, served: Served) -> None:
        """After a page."""
        coming = [self.comes.pop() for _ in range(min(len(self.comes), self.chance.choice((0, 1, 2))))]
        going = [self.goes.pop() for _ in range(min(len(self.goes), self.chance.choice((0, 1, 2))))]
        self.here = [row for row in (*self.here, *coming) if row not in going]
        served.insert(self.table, coming)
        served.delete(self.table, going)
        self._tell(served)

    def end(self, served: Served) -> None:
        """As it was."""
        served.insert(self.table, [row for row in self.table.rows if row not in self.here])
        self.here = list(self.table.rows)
        self._tell(served)

    def staying(self, memory: Served) -> list[Mapping[str, Any]]:
        """The items that are there from beginning to end."""
        records = zip(memory.held.tables[self.name].records, memory.held.items_of(self.name), strict=True)
        return [item for record, item in records if self.table.key_of(record) in self.stay]

    def _tell(self, served: Served) -> None:
        if served.memory is not None:
            served.memory.put(self.name, replace(self.table, rows=tuple(self.here)))


def _keys(table: Table, rows: Sequence[Row]) -> list[Row]:
    return [table.key_of(record) for record in replace(table, rows=tuple(rows)).records]
