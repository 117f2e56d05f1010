"""What a database says of its tables, in one form for all databases and before anything is made of it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from sqlalchemy.types import TypeEngine

__all__ = ["ColumnFacts", "DatabaseFacts", "ForeignKey", "IndexFacts", "TableFacts", "TableId"]

TableId: TypeAlias = tuple[str, str]
"""A schema and a table in it. The schema that names without one mean is empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnFacts:
    """One column."""

    name: str
    type: TypeEngine[Any]
    nullable: bool = True
    declared: str | None = None
    """The type as it was written, where the database leaves types to the author: SQLite."""
    stored: frozenset[str] = frozenset()
    """Where a type was not declared: what some of its values are."""
    default: str | None = None
    """The default, in SQL."""
    generated: str | None = None
    """The expression of a generated column."""
    counted: bool = False
    """Whether the database numbers the rows in it: identity, serial, autoincrement, SQLite's row number."""
    never_given: bool = False
    """Whether the database refuses to be given a value."""
    comment: str = ""


@dataclass(frozen=True, slots=True)
class ForeignKey:
    """Columns whose values are those of a row in another table."""

    columns: tuple[str, ...]
    target: TableId
    target_columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class IndexFacts:
    """A table of words: an FTS5 table, or a column of type tsvector."""

    name: str
    columns: tuple[str, ...] = ()
    configuration: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableFacts:
    """One table or view."""

    schema: str
    name: str
    columns: tuple[ColumnFacts, ...]
    key: tuple[str, ...] = ()
    uniques: tuple[tuple[str, ...], ...] = ()
    foreign_keys: tuple[ForeignKey, ...] = ()
    checks: tuple[str, ...] = ()
    constraints: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The columns that each constraint and unique index is about, by its name."""
    comment: str = ""
    is_view: bool = False
    writable: bool = True
    exact_text: bool = False
    estimated_rows: int | None = None
    words: IndexFacts | None = None

    @property
    def id(self) -> TableId:
        """Its schema and its name."""
        return self.schema, self.name

    @property
    def label(self) -> str:
        """Its name as settings and notes write it."""
        return f"{self.schema}.{self.name}" if self.schema else self.name

    def place(self, columns: tuple[str, ...]) -> int:
        """Where the first of some columns stands."""
        return next((place for place, column in enumerate(self.columns) if column.name in columns), len(self.columns))

    def nullable(self, columns: tuple[str, ...]) -> bool:
        """Whether one of some columns may be null."""
        return any(column.nullable for column in self.columns if column.name in columns)


@dataclass(frozen=True, slots=True)
class DatabaseFacts:
    """The tables of a database, and what had to be left out."""

    dialect: str
    tables: tuple[TableFacts, ...]
    notes: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[TableFacts]:
        return iter(self.tables)
