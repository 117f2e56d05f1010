"""``headgate index``: a text index for one collection of a database, shown before it is made."""

import sys
from collections.abc import Sequence
from typing import Annotated

from cyclopts import Parameter

from headgate.cli.exits import FAILED, OK
from headgate.cli.output import complain, guarded, print_line
from headgate.cli.targets import Source
from headgate.protocol.suggestions import did_you_mean, nearest
from headgate.server.settings import SettingError
from headgate.sources.databases import is_database

__all__ = ["index"]


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
) -> int:
    """Make a text index, so that search_… finds words quickly and ranks what it finds.

    The statements are shown first. They change the database: SQLite gets a table and three triggers, PostgreSQL a
    column and an index.
    """

    async def work() -> int:
        if source is None or not is_database(source):
            raise SettingError("--source must be a database: its URL, or a file of SQLite")
        return _make(source, collection, fields, language, dry_run=dry_run, yes=yes)

    return guarded(work)


def _make(source: str, name: str, fields: Sequence[str], language: str, *, dry_run: bool, yes: bool) -> int:
    from headgate.sources.sql.database import Database  # noqa: PLC0415  (a third of a second of imports)
    from headgate.sources.sql.reflection import reflect  # noqa: PLC0415
    from headgate.sources.sql.text_index import index_statements  # noqa: PLC0415

    database = Database.open(source)
    tables = reflect(database.engine).tables
    if name not in tables:
        raise SettingError(f"There is no collection '{name}'{did_you_mean(nearest(name, list(tables))) or '.'}")
    mapped = tables[name]
    for field in fields:
        if field not in mapped.collection.fields:
            known = list(mapped.collection.searchable)
            raise SettingError(f"'{name}' has no field '{field}'{did_you_mean(nearest(field, known)) or '.'}")
    chosen = tuple(fields) or mapped.collection.searchable
    statements = index_statements(mapped, database.dialect, chosen, language)
    for statement in statements:
        print_line(f"{statement};")
    if dry_run:
        return OK
    if not yes and not _agrees():
        complain("nothing was changed; --yes runs the statements without asking")
        return FAILED
    with database.engine.begin() as connection:
        for statement in statements:
            connection.exec_driver_sql(
                statement.replace("%", "%%") if database.dialect.name == "postgresql" else statement
            )
    complain(f"{name} have a text index on {', '.join(chosen)}")
    return OK


def _agrees() -> bool:
    if not sys.stdin.isatty():
        return False
    sys.stderr.write("Run these statements? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")
