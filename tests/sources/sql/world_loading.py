"""Worlds in real databases: declared as users of each engine declare them, filled, read back and dropped.

``load(world, connection)`` makes the tables and the rows in the connection's transaction; ``read`` gives the rows as
the values of the description; ``drop`` takes the tables away, so that one database serves many worlds.
"""

import json
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import sqlalchemy
from psycopg.types.json import Jsonb
from sqlalchemy import Connection, ForeignKeyConstraint, MetaData, PrimaryKeyConstraint, UniqueConstraint
from sqlalchemy.types import UserDefinedType

from tests.databases import ServerName
from tests.sources.sql.world_values import Kind, Value
from tests.sources.sql.worlds import Column, Row, Table, World

__all__ = ["drop", "load", "metadata", "read"]

_TYPES: dict[ServerName, dict[Kind, tuple[str, ...]]] = {
    "sqlite": {
        "text": ("TEXT", "VARCHAR(80)", "NVARCHAR(80)"),
        "integer": ("INTEGER", "BIGINT", "INT"),
        "number": ("REAL", "FLOAT", "DOUBLE"),
        "decimal": ("DECIMAL(12, 2)", "NUMERIC(12,2)"),
        "boolean": ("BOOLEAN", "BOOL"),
        "date": ("DATE",),
        "datetime": ("DATETIME", "TIMESTAMP"),
        "json": ("JSON",),
    },
    "postgresql": {
        "text": ("TEXT", "VARCHAR(80)"),
        "integer": ("INTEGER", "BIGINT"),
        "number": ("DOUBLE PRECISION",),
        "decimal": ("NUMERIC(12, 2)",),
        "boolean": ("BOOLEAN",),
        "date": ("DATE",),
        "datetime": ("TIMESTAMPTZ",),
        "json": ("JSONB",),
    },
    "mariadb": {  # the first three texts can be keys
        "text": ("VARCHAR(80)", "VARCHAR(80) COLLATE utf8mb4_bin", "VARCHAR(80) COLLATE utf8mb4_unicode_ci", "TEXT"),
        "integer": ("INT", "BIGINT"),
        "number": ("DOUBLE",),
        "decimal": ("DECIMAL(12,2)",),
        "boolean": ("BOOLEAN", "TINYINT(1)"),
        "date": ("DATE",),
        "datetime": ("DATETIME(6)",),
        "json": ("JSON",),
    },
}


class _Declared(UserDefinedType[Any]):
    """A type as it is spelled, without any conversion of values."""

    cache_ok = True

    def __init__(self, spelled: str) -> None:
        self.spelled = spelled

    def get_col_spec(self, **_: Any) -> str:
        return self.spelled


def _json_text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _utc_text(value: Any) -> str:
    return f"{value:%Y-%m-%d %H:%M:%S.%f}"


_WRITE: dict[ServerName, dict[Kind, Callable[[Any], Any]]] = {
    "sqlite": {"decimal": str, "date": date.isoformat, "datetime": _utc_text, "json": _json_text},
    "postgresql": {"json": Jsonb},
    "mariadb": {"datetime": lambda value: value.replace(tzinfo=None), "json": _json_text},
}
_READ: dict[ServerName, dict[Kind, Callable[[Any], Value]]] = {
    "sqlite": {
        "boolean": bool,
        "decimal": lambda value: Decimal(str(value)).quantize(Decimal("0.01")),
        "date": date.fromisoformat,
        "datetime": lambda value: datetime.fromisoformat(value).replace(tzinfo=UTC),
        "json": json.loads,
    },
    "postgresql": {"datetime": lambda value: value.astimezone(UTC)},
    "mariadb": {"boolean": bool, "datetime": lambda value: value.replace(tzinfo=UTC), "json": json.loads},
}


def metadata(world: World, server: ServerName) -> MetaData:
    """The tables as they are declared on an engine."""
    declared = MetaData()
    for table in world.tables:
        sqlalchemy.Table(
            table.name,
            declared,
            *(_column(column, server) for column in table.columns),
            PrimaryKeyConstraint(*table.key),
            *(UniqueConstraint(*unique) for unique in table.uniques),
            *(
                ForeignKeyConstraint(link.columns, [f"{link.table}.{name}" for name in link.target])
                for link in table.references
            ),
        )
    return declared


def load(world: World, connection: Connection) -> MetaData:
    """Make a world in an empty database."""
    server = _server(connection)
    declared = metadata(world, server)
    declared.create_all(connection, checkfirst=False)
    for table in world.tables:
        if table.rows:
            connection.execute(declared.tables[table.name].insert(), _written(table, server))
    return declared


def read(world: World, connection: Connection) -> dict[str, dict[Row, Row]]:
    """The rows of each table by their keys, in the values of the description."""
    server = _server(connection)
    declared = metadata(world, server)
    return {table.name: _by_key(table, _read(table, server, declared, connection)) for table in world.tables}


def drop(world: World, connection: Connection) -> None:
    """Take the tables of a world away."""
    metadata(world, _server(connection)).drop_all(connection, checkfirst=False)


def _server(connection: Connection) -> ServerName:
    names: dict[str, ServerName] = {
        "sqlite": "sqlite",
        "postgresql": "postgresql",
        "mariadb": "mariadb",
        "mysql": "mariadb",
    }
    return names[connection.dialect.name]


def _column(column: Column, server: ServerName) -> "sqlalchemy.Column[Any]":
    spellings = _TYPES[server][column.kind]
    spelled = _Declared(spellings[column.spelling % len(spellings)])
    return sqlalchemy.Column(column.name, spelled, nullable=column.nullable)


def _written(table: Table, server: ServerName) -> list[dict[str, Any]]:
    ways = [_WRITE[server].get(column.kind) for column in table.columns]
    names = [column.name for column in table.columns]
    return [
        {
            name: value if way is None or value is None else way(value)
            for name, way, value in zip(names, ways, row, strict=True)
        }
        for row in table.rows
    ]


def _read(table: Table, server: ServerName, declared: MetaData, connection: Connection) -> list[Row]:
    ways = [_READ[server].get(column.kind) for column in table.columns]
    return [
        tuple(value if way is None or value is None else way(value) for way, value in zip(ways, row, strict=True))
        for row in connection.execute(declared.tables[table.name].select())
    ]


def _by_key(table: Table, rows: list[Row]) -> dict[Row, Row]:
    places = [table.columns.index(table.column(name)) for name in table.key]
    return {tuple(row[place] for place in places): row for row in rows}
