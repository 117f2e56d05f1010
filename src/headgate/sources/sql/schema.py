"""What is known of a database: its tables as collections, and which column stands behind each field."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Column, Table

from headgate.query.collections import Catalog, Collection

__all__ = ["FullText", "Schema", "TableMap"]


@dataclass(frozen=True, slots=True)
class FullText:
    """An index that finds words in a table's texts: an FTS5 table, or a column of type tsvector."""

    name: str
    """The FTS5 table, or the tsvector column."""
    columns: tuple[str, ...] = ()
    """The fields whose words it knows."""
    configuration: str = ""
    """PostgreSQL's configuration that the index was made with, such as 'english'."""


@dataclass(frozen=True, eq=False)
class TableMap:
    """A collection and the table or view that holds it."""

    collection: Collection
    table: Table
    columns: Mapping[str, Column[Any]]
    """The column of each field."""
    writable: bool = True
    creatable: bool = True
    """Whether rows can be added: not where a column that nobody may fill must have a value."""
    full_text: FullText | None = None
    estimated_rows: int | None = None
    """How many rows there were as the server started, where the database tells at once."""
    constraints: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The columns of each constraint and unique index, by its name: a database may tell no more than that."""
    exact_text: bool = True
    """Whether the table's texts compare by the numbers of their characters without being told to."""


@dataclass(frozen=True)
class Schema:
    """The collections of a database."""

    catalog: Catalog
    tables: Mapping[str, TableMap]
    """By the name of the collection."""
    links: Mapping[str, Table] = field(default_factory=dict)
    """The tables in the middle of many-to-many relationships, by the name that ``Through`` uses."""
    notes: tuple[str, ...] = ()
    """What could not be served as it stands in the database, and why, in words for its owner."""
