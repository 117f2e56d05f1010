"""What PostgreSQL tells of its tables: sizes, rights, collations, and columns of type tsvector."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from sqlalchemy import Connection, bindparam, text

from headgate.sources.sql.extras import TableExtras
from headgate.sources.sql.facts import IndexFacts

__all__ = ["read_extras"]

_TABLES: Final = text("""
    SELECT c.oid, c.relname, c.relkind, c.reltuples,
           c.relispartition
               OR EXISTS (SELECT FROM pg_catalog.pg_inherits h WHERE h.inhrelid = c.oid)
                   AND NOT EXISTS (SELECT FROM pg_catalog.pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0
                                       AND NOT a.attisdropped AND a.attinhcount = 0),
           has_table_privilege(c.oid, 'SELECT'),
           has_table_privilege(c.oid, 'INSERT') OR has_table_privilege(c.oid, 'UPDATE')
               OR has_table_privilege(c.oid, 'DELETE') OR has_any_column_privilege(c.oid, 'INSERT, UPDATE'),
           EXISTS (SELECT FROM pg_catalog.pg_depend d
                   WHERE d.classid = 'pg_catalog.pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f')
      AND CASE WHEN CAST(:schema AS text) IS NULL THEN pg_catalog.pg_table_is_visible(c.oid)
               ELSE n.nspname = :schema END
      AND n.nspname NOT IN ('pg_catalog', 'information_schema')
""")
_COLLATED: Final = text("""
    SELECT DISTINCT a.attrelid
    FROM pg_catalog.pg_attribute a
    JOIN pg_catalog.pg_collation c ON c.oid = a.attcollation
    LEFT JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
    WHERE a.attrelid IN :tables AND a.attnum > 0 AND NOT a.attisdropped
      AND (t.typname = 'citext'
           OR c.collname NOT IN ('default', 'C', 'POSIX', 'C.UTF-8', 'C.utf8', 'ucs_basic', 'pg_c_utf8'))
""").bindparams(bindparam("tables", expanding=True))
_VECTORS: Final = text("""
    SELECT a.attrelid, a.attname, pg_catalog.pg_get_expr(d.adbin, d.adrelid),
           (SELECT encode(g.tgargs, 'escape') FROM pg_catalog.pg_trigger g
            JOIN pg_catalog.pg_proc p ON p.oid = g.tgfoid
            WHERE g.tgrelid = a.attrelid AND p.proname = 'tsvector_update_trigger'
              AND strpos(encode(g.tgargs, 'escape'), a.attname || '\\000') = 1 LIMIT 1),
           ARRAY(SELECT o.attname::text FROM pg_catalog.pg_attribute o
                 WHERE o.attrelid = a.attrelid AND o.attnum > 0 AND NOT o.attisdropped ORDER BY o.attnum)
    FROM pg_catalog.pg_attribute a
    LEFT JOIN pg_catalog.pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
    WHERE a.attrelid IN :tables AND a.atttypid = 'pg_catalog.tsvector'::regtype AND NOT a.attisdropped
    ORDER BY a.attrelid, a.attnum
""").bindparams(bindparam("tables", expanding=True))
_DATABASE: Final = text("SELECT to_jsonb(d) FROM pg_catalog.pg_database d WHERE d.datname = current_database()")
_BY_CODE_POINTS: Final = frozenset({"C", "POSIX", "C.UTF-8", "C.UTF8", "PG_C_UTF8", "PG_UNICODE_FAST"})
_CONFIGURATION: Final = re.compile(r"to_tsvector\(\s*'(?:pg_catalog\.)?(\w+)'")
_IDENTIFIER: Final = re.compile(r"'(?:[^']|'')*'|\"((?:[^\"]|\"\")+)\"|([a-z_][\w$]*)(?!\s*\()", re.IGNORECASE)
_VIEWS: Final = ("v", "m")


def read_extras(connection: Connection, schema: str | None) -> Mapping[str, TableExtras]:
    """What is known of each table of a schema, or of those that names without one mean."""
    rows = [tuple(row) for row in connection.execute(_TABLES, {"schema": schema})]
    oids = [row[0] for row in rows]
    if not oids:
        return {}
    collated = {row[0] for row in connection.execute(_COLLATED, {"tables": oids})}
    words = dict(_words(connection, oids))
    exact = _is_exact(connection.execute(_DATABASE).scalar_one())
    return {row[1]: _extras(row, exact and row[0] not in collated, words.get(row[0])) for row in rows}


def _extras(row: tuple[Any, ...], exact: bool, words: IndexFacts | None) -> TableExtras:
    _oid, _name, kind, estimate, is_partition, readable, writable, of_extension = row
    return TableExtras(
        left_out=is_partition or of_extension or not readable,
        note="" if readable else "the database does not allow its rows to be read",
        writable=writable and kind not in _VIEWS,
        exact_text=exact,
        estimated_rows=None if estimate < 0 or kind == "v" else int(estimate),
        words=words,
    )


def _is_exact(database: Mapping[str, Any]) -> bool:
    """Whether the database's own collation is that of code points; which column says so depends on the version."""
    provider = database.get("datlocprovider", "c")
    named = database.get("datlocale") if provider == "b" else database["datcollate"]
    return provider != "i" and str(named).upper() in _BY_CODE_POINTS


def _words(connection: Connection, oids: list[int]) -> Iterator[tuple[int, IndexFacts]]:
    """The first tsvector of each table; the last that is yielded for a table is the one that stands."""
    rows = [tuple(row) for row in connection.execute(_VECTORS, {"tables": oids})]
    for oid, name, expression, arguments, columns in reversed(rows):
        yield oid, _index(name, expression or "", arguments or "", columns)


def _index(name: str, expression: str, arguments: str, columns: list[str]) -> IndexFacts:
    if arguments:
        _column, configuration, *sources = arguments.removesuffix("\\000").split("\\000")
        return IndexFacts(name, tuple(sources), configuration.rpartition(".")[2])
    match = _CONFIGURATION.search(expression)
    named = {one[1] or one[2] for one in _IDENTIFIER.finditer(expression)}
    return IndexFacts(name, tuple(column for column in columns if column in named), match[1] if match else "")
