"""One step of a relationship for many items at once: one statement, however many they are."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import orjson
from sqlalchemy import ARRAY, FromClause, Select, and_, any_, bindparam, column, func, select, tuple_
from sqlalchemy.types import Text

from headgate.query.backends import Key
from headgate.query.collections import Collection, Relationship
from headgate.query.kinds import Kind
from headgate.sources.sql.schema import TableMap
from headgate.sources.sql.statements import Bound, Statement

if TYPE_CHECKING:
    from headgate.sources.sql.backend import SqlBackend

__all__ = ["follow_statement"]

_KEYS: Final = "keys"


def follow_statement(
    backend: "SqlBackend", collection: Collection, relationship: Relationship, keys: Sequence[Key], most: int
) -> tuple[Statement, Any]:
    """The statement that finds the edges from any of the keys, with its parameters."""
    start, end = backend.schema.tables[collection.name], backend.schema.tables[relationship.target]
    near, far = start.table.alias("s"), end.table.alias("e")
    source = _joined(backend, relationship, start, end, near, far)
    shown = [(near, start, name) for name in collection.key] + [(far, end, name) for name in end.collection.key]
    columns = [alias.c[mapped.columns[name].key] for alias, mapped, name in shown]
    bounds: dict[str, Bound] = {}
    condition, values = _among(backend, start, near, keys, bounds)
    chosen: Select[Any] = select(*(one.label(f"c{place}") for place, one in enumerate(columns)))
    order = [
        backend.compiler.words(mapped.collection.fields[name].kind, mapped.exact_text).ordered(one)
        for one, (_, mapped, name) in zip(columns, shown, strict=True)
    ]
    chosen = chosen.select_from(source).where(condition).order_by(*order).limit(most)
    results = [
        (mapped.collection.fields[name].kind, mapped.columns[name].type, backend.path(mapped.collection, name))
        for _, mapped, name in shown
    ]
    statement = backend.compiler.compile(chosen, bounds, results)
    return statement, backend.prepare(statement).parameters(values, 0, 0)


def _joined(
    backend: "SqlBackend",
    relationship: Relationship,
    start: TableMap,
    end: TableMap,
    near: FromClause,
    far: FromClause,
) -> FromClause:
    local = [near.c[start.columns[name].key] for name in relationship.local]
    remote = [far.c[end.columns[name].key] for name in relationship.remote]
    if relationship.through is None:
        return near.join(far, and_(*(a == b for a, b in zip(local, remote, strict=True))))
    through = relationship.through
    middle = backend.schema.links[through.table].alias("m")
    here = and_(*(a == middle.c[b] for a, b in zip(local, through.near, strict=True)))
    there = and_(*(middle.c[a] == b for a, b in zip(through.far, remote, strict=True)))
    return near.join(middle, here).join(far, there)


def _among(
    backend: "SqlBackend", mapped: TableMap, near: FromClause, keys: Sequence[Key], bounds: dict[str, Bound]
) -> tuple[Any, list[Any]]:
    """That an item is one of some, in a form that takes any number of them where the database has one."""
    columns = [near.c[mapped.columns[name].key] for name in mapped.collection.key]
    match backend.database.dialect.name:
        case "sqlite":
            return _in_json(columns, _plain(backend, mapped, keys), bounds)
        case "postgresql":
            return _in_arrays(backend, mapped, columns, _plain(backend, mapped, keys), bounds)
        case _:
            return _listed(backend, mapped, columns, keys, bounds)


def _plain(backend: "SqlBackend", mapped: TableMap, keys: Sequence[Key]) -> list[list[Any]]:
    """The keys as the driver takes them."""
    binds = [
        backend.binder(
            mapped.collection.fields[name].kind, mapped.columns[name].type, backend.path(mapped.collection, name)
        )
        for name in mapped.collection.key
    ]
    if not any(binds):
        return [list(key) for key in keys]
    return [[bind(value) if bind else value for bind, value in zip(binds, key, strict=True)] for key in keys]


def _in_json(columns: Sequence[Any], keys: list[list[Any]], bounds: dict[str, Bound]) -> tuple[Any, list[Any]]:
    """All keys as one JSON text, so that SQLite's bound on parameters does not matter."""
    bounds[_KEYS] = Bound(0, Kind.TEXT, Text())
    each = func.json_each(bindparam(_KEYS, type_=Text())).table_valued(column("value"), name="wanted")
    parts = [func.json_extract(each.c.value, f"$[{place}]") for place in range(len(columns))]
    return tuple_(*columns).in_(select(*parts)), [orjson.dumps(keys).decode()]


def _in_arrays(
    backend: "SqlBackend", mapped: TableMap, columns: Sequence[Any], keys: list[list[Any]], bounds: dict[str, Bound]
) -> tuple[Any, list[Any]]:
    """All values of each part of the key as one array."""
    arrays = []
    for place, (one, name) in enumerate(zip(columns, mapped.collection.key, strict=True)):
        words = backend.compiler.words(mapped.collection.fields[name].kind)
        label = f"{_KEYS}{place}"
        bounds[label] = Bound(place, Kind.ARRAY, ARRAY(words.bound_type(one.type)))
        arrays.append(bindparam(label, type_=bounds[label].type))
    values = [list(part) for part in zip(*keys, strict=True)]
    if len(columns) == 1:
        return columns[0] == any_(arrays[0]), values
    names = [f"k{place}" for place in range(len(columns))]
    wanted = func.unnest(*arrays).table_valued(*names, name="wanted").render_derived()
    return tuple_(*columns).in_(select(wanted)), values


def _listed(
    backend: "SqlBackend", mapped: TableMap, columns: Sequence[Any], keys: Sequence[Key], bounds: dict[str, Bound]
) -> tuple[Any, list[Any]]:
    """Every key spelled out. Texts are found through the index first, and then compared exactly."""
    fields = [mapped.collection.fields[name] for name in mapped.collection.key]
    paths = [backend.path(mapped.collection, one.name) for one in fields]
    words = [backend.compiler.words(one.kind, mapped.exact_text) for one in fields]
    types = [one.bound_type(part.type) for one, part in zip(words, columns, strict=True)]
    values = [value for key in keys for value in key]
    parameters = []
    for slot in range(len(values)):
        place = slot % len(columns)
        bounds[f"k{slot}"] = Bound(slot, fields[place].kind, types[place], path=paths[place])
        parameters.append(bindparam(f"k{slot}", type_=types[place]))
    width = len(columns)
    rows = [parameters[start : start + width] for start in range(0, len(parameters), width)]
    ways = [list(columns)]
    if any(one.kind is Kind.TEXT for one in words):
        pairs = zip(words, columns, strict=True)
        ways.append([one.collated(part) if one.kind is Kind.TEXT else part for one, part in pairs])
    if width == 1:
        return and_(*(way[0].in_(parameters) for way in ways)), values
    return and_(*(tuple_(*way).in_([tuple_(*row) for row in rows]) for way in ways)), values
