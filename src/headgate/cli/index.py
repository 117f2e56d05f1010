"""``headgate index``: a text index for one collection of a database, shown before it is made."""

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, TypeVar

from cyclopts import Parameter

from headgate.cli.exits import FAILED, OK
from headgate.cli.output import complain, guarded, print_line
from headgate.cli.questions import agrees
from headgate.cli.targets import Source, Tables, settings_of
from headgate.protocol.suggestions import did_you_mean, nearest
from headgate.server.settings import SettingError
from headgate.sources.databases import is_database

if TYPE_CHECKING:
    from headgate.sources.sql.database import Database
    from headgate.sources.sql.settings import SqlSettings

__all__ = ["index"]

T = TypeVar("T")


def index(
    collection: Annotated[str, Parameter(help="The collection, such as books.")],
    /,
    *,
    source: Source = None,
    fields: Annotated[
        tuple[str, ...], Parameter(help="A field whose words are found; may be repeated. Without one: all texts.")
    ] = (),
    language: Annotated[
        str, Parameter(help="PostgreSQL's text search configuration, such as english.", show_default=True)
    ] = "simple",
    dry_run: Annotated[bool, Parameter(help="Only show the statements.", negative=(), show_default=False)] = False,
    yes: Annotated[bool, Parameter(help="Run them without asking.", negative=(), show_default=False)] = False,
    tables: Tables = None,
) -> int:
    """Make a text index, so that search_… finds words quickly and ranks what it finds.

    The statements are shown first. They change the database: SQLite gets a table and three triggers, PostgreSQL a
    column and an index.
    """

    async def work() -> int:
        if source is None or not is_database(source):
            raise SettingError("--source must be a database: its URL, or a file of SQLite")
        return await _make(source, settings_of(tables), collection, fields, language, dry_run=dry_run, yes=yes)

    return guarded(work)


async def _make(
    source: str, settings: "SqlSettings", name: str, fields: Sequence[str], language: str, *, dry_run: bool, yes: bool
) -> int:
    from headgate.sources.sql.database import Database  # noqa: PLC0415  (a third of a second of imports)
    from headgate.sources.sql.reflection import reflect  # noqa: PLC0415
    from headgate.sources.sql.text_index import index_statements  # noqa: PLC0415

    database = Database.open(source)
    try:
        mapped = _chosen(reflect(database.engine, settings).tables, name, "There is no collection")
        chosen = tuple(fields) or mapped.collection.searchable
        for field in fields:
            _chosen(mapped.collection.fields, field, f"'{name}' has no field")
        statements = index_statements(mapped, database.dialect, chosen, language)
        for statement in statements:
            print_line(f"{statement};")
        if dry_run:
            return OK
        if not yes and not _agrees():
            complain("nothing was changed; --yes runs the statements without asking")
            return FAILED
        _run(database, statements)
    finally:
        await database.close()
    complain(f"{name} have a text index on {', '.join(chosen)}")
    return OK


def _run(database: "Database", statements: Sequence[str]) -> None:
    from sqlalchemy.exc import DBAPIError  # noqa: PLC0415

    doubled = "%%" if database.dialect.name == "postgresql" else "%"
    try:
        with database.engine.begin() as connection:
            for statement in statements:
                connection.exec_driver_sql(statement.replace("%", doubled))
    except DBAPIError as error:
        raise SettingError(
            f"The database refuses, and nothing was changed: {str(error.orig).splitlines()[0]}"
        ) from None


def _chosen(known: Mapping[str, T], name: str, otherwise: str) -> T:
    if name not in known:
        raise SettingError(f"{otherwise} '{name}'{did_you_mean(nearest(name, list(known))) or '.'}")
    return known[name]


def _agrees() -> bool:
    if not sys.stdin.isatty():
        return False
    return agrees("Run these statements?")
