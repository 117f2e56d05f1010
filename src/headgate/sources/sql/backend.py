"""A database as the backend of collections: statements are made once for each shape, and run on the driver."""

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypeAlias

from headgate.protocol.results import Notice
from headgate.query.backends import Change, Changed, Edge, Fetched, Groups, Key, Read, Row
from headgate.query.building import shown
from headgate.query.caches import keep
from headgate.query.collections import Collection, Relationship
from headgate.query.kinds import Kind
from headgate.query.paths import Resolver
from headgate.query.shapes import AggregateShape, Listing, Path, is_remembered
from headgate.sources.sql.database import Database
from headgate.sources.sql.edges import follow_statement
from headgate.sources.sql.full_text import search_text
from headgate.sources.sql.schema import Schema
from headgate.sources.sql.statements import LIMIT, OFFSET, Compiler, Statement
from headgate.sources.sql.troubles import explained
from headgate.sources.sql.values import Bind, TimeStyle, values_for
from headgate.sources.sql.writes import Writer

__all__ = ["SqlBackend"]

_LARGE: Final = 100_000
"""Rows from which on a search without an index is told of."""

Parameters: TypeAlias = Sequence[Any] | Mapping[str, Any]


class _Prepared:
    """A statement with everything worked out: how values are bound, and how rows are read."""

    def __init__(self, statement: Statement, backend: "SqlBackend") -> None:
        self.sql = statement.sql
        self._positional = backend.database.dialect.positional
        self._makers = [(name, backend.maker(name, statement)) for name in statement.order]
        reads = tuple(backend.reader(*column) for column in statement.columns)
        self.reads = reads if any(reads) else None

    def parameters(self, values: Sequence[Any], limit: int, offset: int) -> Parameters:
        """The values in the driver's form."""
        if self._positional:
            return [make(values, limit, offset) for _, make in self._makers]
        return {name: make(values, limit, offset) for name, make in self._makers}

    def read(self, rows: Sequence[Row]) -> Sequence[Row]:
        """The rows as they are answered."""
        return shown(rows, self.reads)


Make: TypeAlias = Callable[[Sequence[Any], int, int], Any]


class SqlBackend:
    """Executes shapes on a database."""

    def __init__(
        self, database: Database, schema: Schema, styles: Mapping[tuple[str, str], TimeStyle] | None = None
    ) -> None:
        self.database = database
        self.schema = schema
        self.compiler = Compiler(schema, database.dialect)
        self.values = values_for(database.dialect.name)
        self._styles = styles or {}
        self._listings: dict[Listing, list[_Prepared]] = {}
        self._summaries: dict[AggregateShape, list[tuple[_Prepared, list[int]]]] = {}
        self._resolver = Resolver(schema.catalog)
        self._writer = Writer(self)

    # reading

    async def fetch(self, listing: Listing, values: Sequence[Any], limit: int, offset: int = 0) -> Fetched:
        """A page, by as few statements as the database needs to find it through an index."""
        statements = self._listings.get(listing)
        if statements is None:
            statements = [self.prepare(statement) for statement in self.compiler.listing(listing)]
            if is_remembered(listing):
                keep(self._listings, listing, statements)
        started = time.perf_counter()
        rows: list[Row] = []
        with explained(self.schema.tables[listing.collection.name]):
            for one in statements:
                parameters = one.parameters(values, limit - len(rows), offset)
                found = await self.database.fetch(one.sql, parameters, likely_fast=offset == 0)
                rows = rows + found if rows else found
                if len(rows) >= limit:
                    break
        warnings = self._warnings(listing, time.perf_counter() - started)
        return Fetched(rows, warnings, reads=statements[0].reads)

    def _warnings(self, shape: Listing | AggregateShape, seconds: float) -> tuple[Notice, ...]:
        warnings: tuple[Notice, ...] = ()
        if seconds > self.database.options.slow_seconds:
            warnings = (_slow(shape, seconds, self.database.options.slow_seconds),)
        mapped = self.schema.tables[shape.collection.name]
        if shape.text and not mapped.full_text and (mapped.estimated_rows or 0) >= _LARGE:
            warnings += (_scanned(shape.collection, mapped.estimated_rows or 0),)
        return warnings

    async def summarize(self, shape: AggregateShape, values: Sequence[Any], most: int) -> list[Groups]:
        """All summaries, by one statement for each field that groups and one for the others."""
        prepared = self._summaries.get(shape)
        if prepared is None:
            prepared = [(self.prepare(statement), places) for statement, places in self.compiler.summaries(shape)]
            if is_remembered(shape):
                keep(self._summaries, shape, prepared)
        found: dict[int, Groups] = {}
        started = time.perf_counter()
        for one, places in prepared:
            with explained(self.schema.tables[shape.collection.name]):
                rows = await self.database.fetch(one.sql, one.parameters(values, most, 0))
            found |= _split(shape, places, rows, one.read(rows))
        first, *others = (found[place] for place in range(len(shape.aggregates)))
        return [replace(first, warnings=self._warnings(shape, time.perf_counter() - started)), *others]

    async def follow(
        self, collection: Collection, relationship: Relationship, keys: Sequence[Key], most: int
    ) -> list[Edge]:
        """The edges that start in any of some items, by one statement."""
        statement, parameters = follow_statement(self, collection, relationship, keys, most)
        with explained(self.schema.tables[collection.name]):
            rows = await self.database.fetch(statement.sql, parameters)
        width = len(collection.key)
        read = self.prepare(statement).read(rows)
        return [Edge(row[:width], row[width:]) for row in read]

    # writing

    async def insert(self, collection: Collection, fields: Mapping[str, Any], *, dry_run: bool) -> Changed:
        """Add a row."""
        return await self._writer.insert(collection, fields, dry_run=dry_run)

    async def update(self, collection: Collection, change: Change, *, dry_run: bool) -> Changed:
        """Change a row."""
        return await self._writer.update(collection, change, dry_run=dry_run)

    async def delete(self, collection: Collection, key: Key, if_match: str | None, *, dry_run: bool) -> Changed:
        """Remove a row."""
        return await self._writer.delete(collection, key, if_match, dry_run=dry_run)

    # values

    def path(self, collection: Collection, name: str) -> Path:
        """The path of a collection's own field."""
        return self._resolver.path(collection, name, name)

    def prepare(self, statement: Statement) -> _Prepared:
        """A statement ready to be run."""
        return _Prepared(statement, self)

    def reader(self, kind: Kind, type_: Any, path: Path | None) -> Read | None:
        """How the values of a column are read."""
        if kind is Kind.INTEGER and path is not None:
            return None  # only sums of integers come as anything else
        inner = path.field.item_kind if path and kind is Kind.ARRAY else None
        if inner is not None:
            read = self.values.read(inner, None)
            return None if read is None else lambda items: [None if item is None else read(item) for item in items]
        return self.values.read(kind, path.field.scale if path else None, type_, self._style(path))

    def binder(self, kind: Kind, type_: Any, path: Path | None) -> Bind | None:
        """How values are bound to compare with a field, or to be stored in it."""
        return self.values.bind(kind, type_, self._style(path))

    def _style(self, path: Path | None) -> TimeStyle | None:
        """How a column writes moments, where the database has no type for them."""
        return self._styles.get((path.collection.name, path.field.name)) if path and not path.computed else None

    def maker(self, name: str, statement: Statement) -> Make:
        """How one parameter of a statement is made."""
        if name == LIMIT:
            return lambda _values, limit, _offset: limit
        if name == OFFSET:
            return lambda _values, _limit, offset: offset
        bound = statement.bounds[name]
        if bound.slot < 0:
            constant = bound.constant
            return lambda _values, _limit, _offset: constant
        if bound.words:
            dialect, start, end = self.database.dialect.name, bound.slot, bound.slot + bound.words
            return lambda values, _limit, _offset: search_text(dialect, values[start:end])
        bind, slot = None if bound.stored else self.binder(bound.kind, bound.type, bound.path), bound.slot
        if bind is None:
            return lambda values, _limit, _offset: values[slot]
        return lambda values, _limit, _offset: None if values[slot] is None else bind(values[slot])


def _split(
    shape: AggregateShape, places: Sequence[int], stored: Sequence[Row], rows: Sequence[Row]
) -> dict[int, Groups]:
    """The results of one statement, given to the aggregates that it answers."""
    found: dict[int, Groups] = {}
    grouped = shape.aggregates[places[0]].group_by is not None
    if grouped:
        rows = _told_apart(stored, rows)
    start = 2 if grouped else 0
    for place in places:
        end = start + len(shape.aggregates[place].functions)
        own = [(row[1], *row[start:end]) if grouped else row[start:end] for row in rows]
        found[place] = Groups(own, rows[0][0] if grouped and rows else 1 if not grouped else 0)
        start = end
    return found


def _told_apart(stored: Sequence[Row], rows: Sequence[Row]) -> Sequence[Row]:
    """The groups, of which those that would look alike are shown as they are stored, so that none hides another."""
    labels = Counter(row[1] for row in rows)
    if len(labels) == len(rows):
        return rows
    pairs = zip(stored, rows, strict=True)
    return [row if labels[row[1]] == 1 else (row[0], str(was[1]), *row[2:]) for was, row in pairs]


def _slow(shape: Listing | AggregateShape, seconds: float, threshold: float) -> Notice:
    return Notice(
        "PERFORMANCE_SLOW_QUERY_WARNING",
        f"The query over {shape.collection.name} took {seconds:.1f} seconds: narrow the filter, or sort by a field "
        "that has an index",
        {
            "duration_ms": round(seconds * 1000),
            "threshold_ms": round(threshold * 1000),
            "suggestions": ["narrow the filter", "sort by an indexed field", "ask for fewer fields"],
        },
        "medium",
    )


def _scanned(collection: Collection, rows: int) -> Notice:
    return Notice(
        "PERFORMANCE_SLOW_QUERY_WARNING",
        f"About {rows} {collection.name} were read from end to end, since no text index covers them; an operator can "
        "make one with 'headgate index'",
        {"estimated_rows": rows, "suggestions": ["filter by a field", "headgate index"]},
        "low",
    )
