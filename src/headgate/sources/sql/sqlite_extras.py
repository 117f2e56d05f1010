"""What SQLite tells of its tables: declared types, checks and FTS5 indexes, from the text they were created with."""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from headgate.sources.sql.extras import TableExtras
from headgate.sources.sql.facts import IndexFacts
from headgate.sources.sql.sqlite_types import is_known

__all__ = ["read_extras"]

_VIRTUAL: Final = re.compile(
    r"\s*CREATE\s+VIRTUAL\s+TABLE\s.*?\bUSING\s+(\w+)\s*(?:\((.*)\))?\s*\Z", re.IGNORECASE | re.DOTALL
)
_SHADOWS: Final = (
    *("data", "idx", "content", "docsize", "config", "segments", "segdir", "stat", "node", "rowid", "parent"),
)
_FOREIGN_COLLATION: Final = re.compile(r"\bCOLLATE\s+[\"'`\[]?(?!BINARY\b)\w", re.IGNORECASE)
_WITHOUT_ROWID: Final = re.compile(r"\)[^()]*\bWITHOUT\s+ROWID\b[^()]*\Z", re.IGNORECASE)
_CHECK: Final = re.compile(
    r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|--[^\n]*|/\*.*?\*/|\bCHECK\s*\(", re.IGNORECASE | re.DOTALL
)
_SKIPPED: Final = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|[()]", re.DOTALL)
_ARGUMENT: Final = re.compile(r"(?:'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|[^,'\"])+", re.DOTALL)
_UNQUOTED: Final = re.compile(r"\s*[\"'`\[]?(.*?)[\"'`\]]?\s*\Z", re.DOTALL)
_SAMPLE: Final = 50
_STEPS: Final = 2_000_000
"""How much of SQLite's work may go into a sample: a few hundredths of a second."""


@dataclass(frozen=True, slots=True)
class _Made:
    """A table or view and the text it was created with."""

    name: str
    sql: str
    is_view: bool

    @property
    def module(self) -> str:
        """The module of a virtual table, such as fts5."""
        match = _VIRTUAL.match(self.sql)
        return match[1].lower() if match else ""

    @property
    def arguments(self) -> str:
        """What the module was told."""
        match = _VIRTUAL.match(self.sql)
        return (match[2] or "") if match else ""


def read_extras(connection: Connection, schema: str | None) -> Mapping[str, TableExtras]:
    """What is known of each table of the file, or of one that is attached to it."""
    reader = _Reader(connection, f"{_quoted(schema)}." if schema else "")
    return {made.name: reader.extras(made) for made in reader.made}


class _Reader:
    def __init__(self, connection: Connection, prefix: str) -> None:
        self._connection = connection
        self._prefix = prefix
        self.made = [
            _Made(name, text or "", kind == "view")
            for name, kind, text in self._rows(f"SELECT name, type, sql FROM {prefix}sqlite_master")  # noqa: S608
            if kind in ("table", "view")
        ]
        virtual = [made.name for made in self.made if made.module]
        self._shadows = {f"{name}_{part}" for name in virtual for part in _SHADOWS}
        self._foreign = any(_FOREIGN_COLLATION.search(made.sql) for made in self.made)
        self._words = dict(self._indexes())

    def _rows(self, statement: str) -> list[Any]:
        return list(self._connection.exec_driver_sql(statement))

    def _indexes(self) -> Iterator[tuple[str, "_Words"]]:
        for made in self.made:
            words = _fts5(made) if made.module == "fts5" else None
            if words is not None:
                yield words.table, words

    def extras(self, made: _Made) -> TableExtras:
        """What is known of one of them."""
        if made.name in self._shadows or made.module.startswith("fts"):
            return TableExtras(left_out=True)
        columns = self._columns(made)
        declared = {name: type_ for name, type_, _key in columns}
        row_number = None if _WITHOUT_ROWID.search(made.sql) else _row_number(columns)
        return TableExtras(
            writable=not made.is_view and not made.module,
            exact_text=not (self._foreign if made.is_view else _FOREIGN_COLLATION.search(made.sql)),
            estimated_rows=self._estimated_rows(made),
            words=self._index(made, row_number),
            checks=tuple(_checks(made.sql)),
            declared=declared,
            stored=self._stored(made, [name for name, type_ in declared.items() if not is_known(type_)]),
            counted=(row_number,) if row_number else (),
        )

    def _columns(self, made: _Made) -> list[tuple[str, str, int]]:
        """Names, declared types and places in the primary key; none of a view that no longer works."""
        with suppress(DBAPIError):
            rows = self._rows(f"PRAGMA {self._prefix}table_xinfo({_quoted(made.name)})")
            return [(row[1], row[2], row[5]) for row in rows]
        return []

    def _index(self, made: _Made, row_number: str | None) -> IndexFacts | None:
        """The index of a table's words, if its rows are numbered as those of the table."""
        words = self._words.get(made.name.lower())
        if words is None or row_number is None or words.rowid not in ("rowid", row_number.lower()):
            return None
        return words.index

    def _estimated_rows(self, made: _Made) -> int | None:
        """At most how many rows there are, by their first and last number."""
        if made.is_view or made.module or _WITHOUT_ROWID.search(made.sql):
            return None
        table = f"{self._prefix}{_quoted(made.name)}"
        span = f"SELECT (SELECT max(rowid) FROM {table}) - (SELECT min(rowid) FROM {table}) + 1"  # noqa: S608
        with suppress(DBAPIError):
            return int(self._rows(span)[0][0] or 0)
        return None

    def _stored(self, made: _Made, columns: list[str]) -> dict[str, frozenset[str]]:
        """What the values of some columns are in the first rows, unless it takes long to find them."""
        if not columns:
            return {}
        types = ", ".join(f"typeof({_quoted(name)})" for name in columns)
        statement = f"SELECT {types} FROM {self._prefix}{_quoted(made.name)} LIMIT {_SAMPLE}"  # noqa: S608
        raw: Any = self._connection.connection.driver_connection
        raw.set_progress_handler(lambda: 1, _STEPS)
        try:
            rows = self._rows(statement)
        except DBAPIError:
            return {}
        finally:
            raw.set_progress_handler(None, 0)
        return {name: frozenset(row[place] for row in rows) for place, name in enumerate(columns)}


def _row_number(columns: list[tuple[str, str, int]]) -> str | None:
    """The column that stands for SQLite's own number of a row."""
    key = [(name, type_) for name, type_, place in columns if place]
    return key[0][0] if len(key) == 1 and key[0][1].upper() == "INTEGER" else None


@dataclass(frozen=True, slots=True)
class _Words:
    table: str
    rowid: str
    index: IndexFacts


def _fts5(made: _Made) -> _Words | None:
    """The index over another table; one that holds the texts itself is nobody's."""
    options: dict[str, str] = {}
    columns = []
    for argument in _ARGUMENT.findall(made.arguments):
        name, equals, value = argument.partition("=")
        if equals:
            options[name.strip().lower()] = _unquoted(value)
        elif not argument.upper().rstrip().endswith("UNINDEXED"):
            columns.append(_unquoted(argument))
    if not options.get("content"):
        return None
    rowid = options.get("content_rowid", "rowid").lower()
    return _Words(options["content"].lower(), rowid, IndexFacts(made.name, tuple(columns)))


def _unquoted(text: str) -> str:
    match = _UNQUOTED.match(text)
    return match[1] if match else text


def _checks(sql: str) -> Iterator[str]:
    for match in _CHECK.finditer(sql):
        if match[0][:5].upper() == "CHECK":
            end = _closing(sql, match.end())
            if end is not None:
                yield sql[match.end() : end]


def _closing(sql: str, start: int) -> int | None:
    """Where the parenthesis is closed that was opened before."""
    depth = 1
    for match in _SKIPPED.finditer(sql, start):
        depth += {"(": 1, ")": -1}.get(match[0], 0)
        if depth == 0:
            return match.start()
    return None


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
