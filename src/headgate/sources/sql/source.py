"""A database as an adapter: its tables and views become collections."""

import logging
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

from headgate.adapter.adapter import Adapter
from headgate.protocol.adapter_errors import AdapterError
from headgate.protocol.names import camel_to_snake
from headgate.query.kinds import Kind
from headgate.sources.sql.backend import SqlBackend
from headgate.sources.sql.database import Database, DatabaseOptions
from headgate.sources.sql.reflection import reflect
from headgate.sources.sql.schema import Schema, TableMap
from headgate.sources.sql.settings import SqlSettings
from headgate.sources.sql.troubles import explained_end
from headgate.sources.sql.values import TimeStyle

__all__ = ["sql_adapter"]

_LOG: Final = logging.getLogger("headgate")
_SAMPLED: Final = 1000


def sql_adapter(
    source: str | Path,
    options: DatabaseOptions | None = None,
    settings: SqlSettings | None = None,
    *,
    name: str | None = None,
    description: str = "",
) -> Adapter:
    """The adapter of a database. An AdapterError says why it cannot be reached, or what a setting gets wrong."""
    database = Database.open(source, options or DatabaseOptions())
    schema = reflect(database.engine, settings or SqlSettings())
    for note in schema.notes:
        _LOG.warning("%s", note)
    if not schema.tables:
        raise AdapterError(f"'{_shown(database)}' has no tables that can be served.")
    backend = SqlBackend(database, schema, _styles(database, schema))
    adapter = Adapter(name or _name(database), description or f"The database {_shown(database)}")
    locked = [name for name, mapped in schema.tables.items() if not mapped.writable or database.options.read_only]
    left_out = {name: ("create",) for name, mapped in schema.tables.items() if not mapped.creatable}
    adapter.add_collections(schema.catalog, backend, read_only=locked, leave_out=left_out)
    adapter.collections.transactions.append(partial(_joined, database))
    adapter.on_close(database.close)
    return adapter


@asynccontextmanager
async def _joined(database: Database) -> AsyncIterator[None]:
    """One transaction for all that follows; what the database refuses at its end has a code too."""
    with explained_end():
        async with database.joined():
            yield


def _shown(database: Database) -> str:
    url = database.url
    if url.get_backend_name() == "sqlite":
        return _readable(Path(url.database or "").name)
    return url.database or url.host or "database"


def _name(database: Database) -> str:
    stem = Path(database.url.database or "database").stem
    return camel_to_snake(_readable(stem)) or "database"


def _readable(name: str) -> str:
    """A file's name as a text that can be stored and sent; the system does not ask names to be UTF-8."""
    return os.fsencode(name).decode("utf-8", "replace")


def _styles(database: Database, schema: Schema) -> Mapping[tuple[str, str], TimeStyle]:
    """How each column of SQLite writes moments, by one that is there: values are compared and stored the same way."""
    if database.dialect.name != "sqlite":
        return {}
    styles: dict[tuple[str, str], TimeStyle] = {}
    with database.engine.connect() as connection:
        for mapped in schema.tables.values():
            for name, field in mapped.collection.fields.items():
                style = _style(connection, mapped, name) if field.kind is Kind.DATETIME else None
                if style:
                    styles[mapped.collection.name, name] = style
    return styles


def _style(connection: Any, mapped: TableMap, name: str) -> TimeStyle | None:
    """The style of the moments in some rows, as they are stored and not as SQLAlchemy would read them."""
    quote = connection.dialect.identifier_preparer.quote
    column, table = quote(mapped.columns[name].name), quote(mapped.table.name)
    first = f"SELECT {column} AS moment FROM {table} LIMIT {_SAMPLED}"  # noqa: S608  (names, each quoted)
    found = connection.exec_driver_sql(f"SELECT DISTINCT moment FROM ({first}) WHERE moment IS NOT NULL")  # noqa: S608
    return TimeStyle.of([row[0] for row in found])
