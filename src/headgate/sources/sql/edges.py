"""One step of a relationship for many items at once: one statement, however many they are."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import orjson
from sqlalchemy import ARRAY, FromClause, Select, and_, any_, bindparam, column, func, or_, select
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
    kinds = [mapped.collection.fields[name].kind for name in mapped.collection.key]
    dialect = backend.database.dialect.name
    if dialect == "sqlite":
        return _in_json(columns, backend, mapped, keys, bounds)
    if dialect == "postgresql" and len(columns) == 1:
        words = backend.compiler.words(kinds[0])
        bounds[_KEYS] = Bound(0, Kind.ARRAY, ARRAY(words.bound_type(columns[0].type)))
        return columns[0] == any_(bindparam(_KEYS, type_=bounds[_KEYS].type)), [[key[0] for key in keys]]
    return _listed(backend, mapped, columns, keys, bounds)


def _in_json(
    columns: Sequence[Any], backend: "SqlBackend", mapped: TableMap, keys: Sequence[Key], bounds: dict[str, Bound]
) -> tuple[Any, list[Any]]:
    """All keys as one JSON text, so that SQLite's bound on parameters does not matter."""
    bounds[_KEYS] = Bound(0, Kind.TEXT, Text())
    binds = [
        backend.binder(mapped.collection.fields[name].kind, None, backend.path(mapped.collection, name))
        for name in mapped.collection.key
    ]
    plain = [[bind(value) if bind else value for bind, value in zip(binds, key, strict=True)] for key in keys]
    each = func.json_each(bindparam(_KEYS, type_=Text())).table_valued(column("value"), name="wanted")
    if len(columns) == 1:
        text = orjson.dumps([key[0] for key in plain]).decode()
        return columns[0].in_(select(each.c.value)), [text]
    parts = [func.json_extract(each.c.value, f"$[{place}]") for place in range(len(columns))]
    same = and_(*(one == part for one, part in zip(columns, parts, strict=True)))
    return select(each.c.value).where(same).exists(), [orjson.dumps(plain).decode()]


def _listed(
    backend: "SqlBackend", mapped: TableMap, columns: Sequence[Any], keys: Sequence[Key], bounds: dict[str, Bound]
) -> tuple[Any, list[Any]]:
    """Every key spelled out."""
    values: list[Any] = []
    ways = []
    for key in keys:
        parts = []
        for one, name, value in zip(columns, mapped.collection.key, key, strict=True):
            words = backend.compiler.words(mapped.collection.fields[name].kind, mapped.exact_text)
            type_ = words.bound_type(one.type)
            label = f"k{len(values)}"
            bounds[label] = Bound(len(values), words.kind, type_, path=backend.path(mapped.collection, name))
            parts.append(words.equal(one, bindparam(label, type_=type_)))
            values.append(value)
        ways.append(and_(*parts))
    if len(columns) == 1 and mapped.collection.fields[mapped.collection.key[0]].kind is not Kind.TEXT:
        names = [bindparam(label, type_=bounds[label].type) for label in bounds]
        return columns[0].in_(names), values
    return or_(*ways), values
