"""What MariaDB and MySQL tell of their tables: sizes, and the checks that their own listing of a table hides."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Final

from sqlalchemy import Connection, text

from headgate.sources.sql.extras import TableExtras

__all__ = ["read_extras"]

_TABLES: Final = text("""
    SELECT table_name, table_type, table_rows FROM information_schema.tables
    WHERE table_schema = COALESCE(:schema, DATABASE())
""")
_CHECKS: Final = text("""
    SELECT table_name, check_clause FROM information_schema.check_constraints
    WHERE constraint_schema = COALESCE(:schema, DATABASE()) ORDER BY table_name, constraint_name
""")


def read_extras(connection: Connection, schema: str | None) -> Mapping[str, TableExtras]:
    """What is known of each table of a database, or of the one that is connected to."""
    is_mariadb = bool(getattr(connection.dialect, "is_mariadb", False))
    checks = _checks(connection, schema) if is_mariadb else None
    return {
        name: TableExtras(
            writable="VIEW" not in kind,
            estimated_rows=None if rows is None or "VIEW" in kind else int(rows),
            checks=None if checks is None else tuple(checks[name]),
        )
        for name, kind, rows in connection.execute(_TABLES, {"schema": schema})
    }


def _checks(connection: Connection, schema: str | None) -> defaultdict[str, list[str]]:
    """Those of columns too, such as ``json_valid``, by which a column of JSON is known."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for table, clause in connection.execute(_CHECKS, {"schema": schema}):
        found[table].append(clause)
    return found
