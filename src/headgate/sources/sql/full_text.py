"""Text search through an index: FTS5 of SQLite, tsvector of PostgreSQL."""

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

from sqlalchemy import Dialect, FromClause, String, cast, column, func, literal, literal_column, table
from sqlalchemy.types import Double

from headgate.sources.sql.schema import FullText, TableMap

__all__ = ["FullTextWords", "full_text_words", "search_text"]

FullTextWords: TypeAlias = Callable[[TableMap, FromClause, FromClause, Any], tuple[FromClause, Any, Any]]
"""Takes a table, its alias, what is joined so far and the words; gives what is joined, the condition, the rank."""


def _fts5(mapped: TableMap, alias: FromClause, source: FromClause, words: Any) -> tuple[FromClause, Any, Any]:
    """The rows whose texts the index finds; bm25 gives the best the least number."""
    index = _index(mapped)
    found = table(index.name, column("rowid"))
    own: Any = literal_column(found.name)
    joined = source.join(found, found.c.rowid == alias.c[_row_id(mapped)])
    return joined, own.op("MATCH")(words), -func.bm25(own)


def _row_id(mapped: TableMap) -> str:
    """The integer primary key, which is the rowid that the index knows."""
    return next(iter(mapped.table.primary_key.columns)).key


def _tsvector(mapped: TableMap, alias: FromClause, source: FromClause, words: Any) -> tuple[FromClause, Any, Any]:
    """The rows whose vector matches. The words come ready for ``websearch_to_tsquery``."""
    index = _index(mapped)
    vector = alias.c[index.name]
    configuration = [cast(literal(index.configuration), _Regconfig())] if index.configuration else []
    query = func.websearch_to_tsquery(*configuration, words)
    return source, vector.op("@@")(query), cast(func.ts_rank(vector, query), Double())


class _Regconfig(String):
    """The name of a text search configuration."""

    __visit_name__ = "REGCONFIG"


def _index(mapped: TableMap) -> FullText:
    if mapped.full_text is None:
        raise LookupError(f"{mapped.table.name} has no text index")
    return mapped.full_text


def search_text(dialect_name: str, words: Sequence[str]) -> str:
    """Words and phrases as the index takes them, any of which may match; quotes inside them are no syntax."""
    if dialect_name == "sqlite":
        return " OR ".join('"' + word.replace('"', '""') + '"' for word in words)
    return " or ".join('"' + word.replace('"', " ") + '"' for word in words)


_WORDS: Final[dict[str, FullTextWords]] = {"sqlite": _fts5, "postgresql": _tsvector}


def full_text_words(dialect: Dialect) -> FullTextWords | None:
    """How the database is asked for texts, if it can be."""
    return _WORDS.get(dialect.name)
