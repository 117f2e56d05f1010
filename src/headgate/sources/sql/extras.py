"""What only one kind of database tells of its tables, in one form for all of them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from sqlalchemy import Connection, Dialect

from headgate.sources.sql.facts import IndexFacts

__all__ = ["NO_EXTRAS", "ExtrasReader", "TableExtras", "extras_reader"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TableExtras:
    """What is known of one table beyond what every database tells."""

    left_out: bool = False
    """Whether it is no table of the author's: a partition, a part of an index, a part of an extension."""
    note: str = ""
    """Why it is left out, where the owner would wonder."""
    writable: bool = True
    exact_text: bool = False
    estimated_rows: int | None = None
    words: IndexFacts | None = None
    checks: tuple[str, ...] | None = None
    """Its checks, where they are known better than from the database library."""
    declared: Mapping[str, str] = field(default_factory=dict)
    stored: Mapping[str, frozenset[str]] = field(default_factory=dict)
    counted: tuple[str, ...] = ()
    """Columns that number the rows."""


NO_EXTRAS: Final = TableExtras()
ExtrasReader: TypeAlias = Callable[[Connection, str | None], Mapping[str, TableExtras]]
"""Takes a schema, or None for the usual one; gives what is known of its tables by their names."""


def extras_reader(dialect: Dialect) -> ExtrasReader:
    """The reader for a database. Its module is imported only if it is used."""
    match dialect.name:
        case "sqlite":
            from headgate.sources.sql.sqlite_extras import read_extras  # noqa: PLC0415
        case "postgresql":
            from headgate.sources.sql.postgresql_extras import read_extras  # noqa: PLC0415
        case "mysql" | "mariadb":
            from headgate.sources.sql.mysql_extras import read_extras  # noqa: PLC0415
        case _:
            return _nothing
    return read_extras


def _nothing(_connection: Connection, _schema: str | None) -> Mapping[str, TableExtras]:
    return {}
