"""The statements that give a table a text index: FTS5 with triggers on SQLite, a generated tsvector on PostgreSQL."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

from sqlalchemy import Dialect

from headgate.protocol.adapter_errors import AdapterError
from headgate.query.kinds import Kind
from headgate.sources.sql.schema import TableMap

__all__ = ["index_statements"]

_SUFFIX: Final = "_fts"
_VECTOR: Final = "search_words"

Quote: TypeAlias = Callable[[str], str]


def index_statements(mapped: TableMap, dialect: Dialect, fields: Sequence[str], language: str) -> list[str]:
    """What must be run so that the words of some fields are found through an index."""
    make = _MAKERS.get(dialect.name)
    name = mapped.collection.name
    if make is None:
        raise AdapterError(f"A text index can be made on SQLite and PostgreSQL, not on {dialect.name}.")
    if mapped.full_text is not None:
        raise AdapterError(f"'{name}' has a text index already: '{mapped.full_text.name}'.")
    if not mapped.writable:
        raise AdapterError(f"'{name}' is a view or has no key: a text index needs a table.")
    if not fields:
        raise AdapterError(f"'{name}' has no texts to index.")
    return make(mapped, dialect.identifier_preparer.quote, [mapped.columns[one].name for one in fields], language)


def _fts5(mapped: TableMap, quote: Quote, columns: Sequence[str], _language: str) -> list[str]:
    """An index beside the table, which triggers keep in step with it."""
    key = mapped.collection.key
    if len(key) != 1 or mapped.collection.fields[key[0]].kind is not Kind.INTEGER:
        raise AdapterError(
            f"'{mapped.collection.name}' needs one whole number as its key to have a text index on SQLite."
        )
    table, row_id = mapped.table.name, mapped.columns[key[0]].name
    index = f"{table}{_SUFFIX}"
    listed = ", ".join(map(quote, columns))
    new, old = (", ".join(f"{side}.{quote(column)}" for column in columns) for side in ("new", "old"))
    add = f"INSERT INTO {quote(index)}(rowid, {listed}) VALUES (new.{quote(row_id)}, {new});"  # noqa: S608  (names, each quoted)
    gone = f"VALUES ('delete', old.{quote(row_id)}, {old});"
    remove = f"INSERT INTO {quote(index)}({quote(index)}, rowid, {listed}) {gone}"
    options = f"content={_text(table)}, content_rowid={_text(row_id)}"
    return [
        f"CREATE VIRTUAL TABLE {quote(index)} USING fts5({listed}, {options})",
        f"INSERT INTO {quote(index)}({quote(index)}) VALUES ('rebuild')",  # noqa: S608
        f"CREATE TRIGGER {quote(f'{index}_insert')} AFTER INSERT ON {quote(table)} BEGIN {add} END",
        f"CREATE TRIGGER {quote(f'{index}_delete')} AFTER DELETE ON {quote(table)} BEGIN {remove} END",
        f"CREATE TRIGGER {quote(f'{index}_update')} AFTER UPDATE ON {quote(table)} BEGIN {remove} {add} END",
    ]


def _tsvector(mapped: TableMap, quote: Quote, columns: Sequence[str], language: str) -> list[str]:
    """A column that the database computes, and an index on it."""
    table = ".".join(quote(part) for part in (mapped.table.schema, mapped.table.name) if part)
    texts = " || ' ' || ".join(f"coalesce({quote(column)}, '')" for column in columns)
    index = f"{mapped.table.name}_{_VECTOR}"
    words = f"to_tsvector({_text(language)}::regconfig, {texts})"
    return [
        f"ALTER TABLE {table} ADD COLUMN {quote(_VECTOR)} tsvector GENERATED ALWAYS AS ({words}) STORED",
        f"CREATE INDEX {quote(index)} ON {table} USING gin ({quote(_VECTOR)})",
    ]


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


_MAKERS: Final[Mapping[str, Callable[[TableMap, Quote, Sequence[str], str], list[str]]]] = {
    "sqlite": _fts5,
    "postgresql": _tsvector,
}
