"""Small random relational worlds: tables, keys, references and rows, the same for the same seed on every machine.

``build(seed)`` describes a world and touches no database; ``world_loading`` makes it in a real one. Values are few, so
that ties, NULLs and matches are frequent. Nothing here knows headgate: what is compared with a world is compared with
an independent description.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from random import Random

from tests.sources.sql.world_values import VALUES, Kind, Value, key_text

__all__ = ["Column", "Reference", "Row", "Table", "World", "build"]

Row = tuple[Value, ...]

_PLAIN_TABLES = ("author", "book", "city", "invoice", "person", "tag", "visit")
_ODD_TABLES = ("Order Details", "UserGroup", "order", "Straße", "50% off", "it's")
_PLAIN_COLUMNS = ("name", "title", "amount", "price", "active", "born", "seen", "note", "rating", "details", "level")
_ODD_COLUMNS = (
    "Unit Price",
    "isActive",
    "select",
    "größe",
    'in"ches',
    "100%",
    "a`b",
    "from",
    "x:y",
    "(z)",
    "e.f",
    "[g]",
)
_ROLES = ("parent", "owner", "origin", "other")
_KINDS: tuple[Kind, ...] = ("text", "text", "integer", "number", "decimal", "boolean", "date", "datetime", "json")
_ALONE = {"integer", "text"}
_NULLS = 0.25


@dataclass(frozen=True)
class Column:
    """A column; ``spelling`` picks one of the types that its kind is declared with on each engine."""

    name: str
    kind: Kind
    nullable: bool = False
    spelling: int = 0


@dataclass(frozen=True)
class Reference:
    """A foreign key: each of these columns to the column of the target's primary key in the same place."""

    columns: tuple[str, ...]
    table: str
    target: tuple[str, ...]


@dataclass(frozen=True)
class Table:
    """A table with its rows, in the order in which they are inserted."""

    name: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    uniques: tuple[tuple[str, ...], ...]
    references: tuple[Reference, ...]
    rows: tuple[Row, ...]

    @cached_property
    def records(self) -> tuple[dict[str, Value], ...]:
        """The rows by the names of the columns."""
        names = [column.name for column in self.columns]
        return tuple(dict(zip(names, row, strict=True)) for row in self.rows)

    def column(self, name: str) -> Column:
        """The column of this name."""
        return next(column for column in self.columns if column.name == name)

    def key_of(self, record: dict[str, Value]) -> Row:
        """The values of the primary key in a record."""
        return tuple(record[name] for name in self.key)


@dataclass(frozen=True)
class World:
    """Tables, each after the ones that it refers to."""

    seed: int
    tables: tuple[Table, ...]

    def table(self, name: str) -> Table:
        """The table of this name."""
        return next(table for table in self.tables if table.name == name)


def build(seed: int, *, odd_names: bool = True) -> World:
    """The world of a seed: one to three tables, often with one more that joins many to many."""
    chance = Random(seed)  # noqa: S311  # the same world for the same seed
    odd = odd_names and chance.random() < 0.4
    names = chance.sample(_PLAIN_TABLES + (_ODD_TABLES if odd else ()), 4)
    columns = _PLAIN_COLUMNS + (_ODD_COLUMNS if odd else ())
    tables: list[Table] = []
    for name in names[: chance.randint(1, 3)]:
        tables.append(_table(chance, name, columns, tables))
    if chance.random() < 0.5:
        tables.append(_join_table(chance, names[3], columns, tables))
    return World(seed, tuple(tables))


def _table(chance: Random, name: str, names: tuple[str, ...], before: list[Table]) -> Table:
    count = chance.choice((0, 1, 6, 14, 20, 26, 32, 38))
    key, keys = _key(chance, count)
    own = _own_columns(chance, names, chance.randint(2, 6))
    itself = Table(name, key, tuple(column.name for column in key), (), (), tuple(keys))
    targets = [chance.choice([*before, itself]) for _ in range(chance.choice((0, 1, 1, 2)))]
    links = [_Link.to(chance, target, role) for target, role in zip(targets, _ROLES, strict=False)]
    uniques = _uniques(chance, own)
    own = [replace(column, spelling=column.spelling % 3) if (column.name,) in uniques else column for column in own]
    pools = [_Pool.of(chance, column, alone=(column.name,) in uniques) for column in own]
    columns = (*key, *(column for link in links for column in link.columns), *own)
    at = {column.name: place for place, column in enumerate(columns)}
    rows = _rows(chance, name, keys, links, pools, [tuple(at[column] for column in unique) for unique in uniques])
    order = list(range(len(columns)))
    if chance.random() < 0.3:
        chance.shuffle(order)
    return Table(
        name,
        tuple(columns[place] for place in order),
        itself.key,
        uniques,
        tuple(link.reference for link in links),
        tuple(tuple(row[place] for place in order) for row in rows),
    )


def _join_table(chance: Random, name: str, names: tuple[str, ...], before: list[Table]) -> Table:
    links = [
        _Link.to(chance, chance.choice(before), role, nullable=False) for role in chance.sample(("left", "right"), 2)
    ]
    left, right = (link.keys for link in links)
    possible = len(left) * len(right)
    pairs = chance.sample(range(possible), min(possible, chance.randint(0, 35)))
    own = _own_columns(chance, names, chance.randint(0, 2))
    pools = [_Pool.of(chance, column) for column in own]
    key = tuple(column for link in links for column in link.columns)
    return Table(
        name,
        (*key, *own),
        tuple(column.name for column in key),
        (),
        tuple(link.reference for link in links),
        tuple(
            (*left[pair // len(right)], *right[pair % len(right)], *(pool.draw(chance) for pool in pools))
            for pair in pairs
        ),
    )


def _key(chance: Random, count: int) -> tuple[tuple[Column, ...], list[Row]]:
    """The columns of a primary key, and as many distinct keys."""
    style = chance.choice(("integer", "integer", "text", "integers", "mixed"))
    if style == "integer":
        return (Column("id", "integer"),), [(number,) for number in chance.sample(range(-2, 90), count)]
    if style == "text":
        spelled = Column("code", "text", spelling=chance.randrange(3))
        return (spelled,), [(key_text(number),) for number in chance.sample(range(90), count)]
    pairs = [divmod(number, 13) for number in chance.sample(range(39), count)]
    if style == "integers":
        return (Column("part", "integer"), Column("line", "integer")), list(pairs)
    spelled = Column("code", "text", spelling=chance.randrange(3))
    return (Column("part", "integer"), spelled), [(part, key_text(number)) for part, number in pairs]


def _own_columns(chance: Random, names: tuple[str, ...], count: int) -> list[Column]:
    return [
        Column(name, chance.choice(_KINDS), chance.random() < 0.6, chance.randrange(12))
        for name in chance.sample(names, count)
    ]


def _uniques(chance: Random, own: list[Column]) -> tuple[tuple[str, ...], ...]:
    """Constraints over what every collation tells apart: two columns that are no texts, or one with ``key_text``."""
    style = chance.choice(("none", "none", "one", "two"))
    fit = {"one": _ALONE, "two": {"boolean", "date", "integer"}}.get(style, set())
    names = tuple(column.name for column in own if column.kind in fit)
    wanted = 2 if style == "two" else 1
    return (names[:wanted],) if len(names) >= wanted else ()


@dataclass(frozen=True)
class _Link:
    """A reference that is being made, with the keys that its columns may hold."""

    reference: Reference
    columns: tuple[Column, ...]
    keys: Sequence[Row]
    nullable: bool

    @classmethod
    def to(cls, chance: Random, target: Table, role: str, *, nullable: bool | None = None) -> "_Link":
        nullable = (not target.rows or chance.random() < 0.5) if nullable is None else nullable
        columns = tuple(
            Column(f"{role}_{name}", found.kind, nullable, found.spelling)
            for name in target.key
            for found in [target.column(name)]
        )
        places = [target.columns.index(target.column(name)) for name in target.key]
        keys = [tuple(row[place] for place in places) for row in target.rows]
        return cls(Reference(tuple(c.name for c in columns), target.name, target.key), columns, keys, nullable)

    def draw(self, chance: Random, keys: Sequence[Row]) -> Row:
        if self.nullable and (not keys or chance.random() < _NULLS):
            return (None,) * len(self.columns)
        return keys[int(chance.random() * len(keys))]


@dataclass(frozen=True)
class _Pool:
    """The few values that a column holds."""

    values: list[Value]
    nullable: bool
    alone: bool = False

    @classmethod
    def of(cls, chance: Random, column: Column, *, alone: bool = False) -> "_Pool":
        possible = VALUES[column.kind]
        if alone:
            return cls(_distinct(chance, column.kind), column.nullable, alone=True)
        if column.kind == "integer" and column.spelling % 2 == 0:
            possible = [value for value in possible if isinstance(value, int) and abs(value) < 2**31]
        return cls(chance.sample(possible, min(len(possible), chance.randint(2, 5))), column.nullable)

    def draw(self, chance: Random) -> Value:
        if self.nullable and chance.random() < _NULLS:
            return None
        if self.alone:
            return self.values.pop()
        return self.values[int(chance.random() * len(self.values))]


def _distinct(chance: Random, kind: Kind) -> list[Value]:
    numbers = chance.sample(range(60), 40)
    return [key_text(number) for number in numbers] if kind == "text" else [*numbers]


def _rows(
    chance: Random, name: str, keys: list[Row], links: list[_Link], pools: list[_Pool], uniques: list[tuple[int, ...]]
) -> list[Row]:
    """Rows whose references lead to rows that are there already, without those that a constraint forbids."""
    taken: set[tuple[Value, ...]] = set()
    rows: list[Row] = []
    there: list[Row] = []
    for key in keys:
        referred = [link.draw(chance, [*there, key] if link.reference.table == name else link.keys) for link in links]
        row = (*key, *(value for found in referred for value in found), *(pool.draw(chance) for pool in pools))
        held = [tuple(row[place] for place in unique) for unique in uniques]
        if any(None not in values and values in taken for values in held):
            continue
        taken.update(held)
        there.append(key)
        rows.append(row)
    return rows
