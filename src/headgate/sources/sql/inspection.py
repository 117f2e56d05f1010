"""Asks a database for its tables, all at once, and leaves out what it cannot tell."""

import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from sqlalchemy import Connection, Inspector, inspect
from sqlalchemy.engine.interfaces import ReflectedColumn, ReflectedForeignKeyConstraint
from sqlalchemy.engine.reflection import ObjectKind
from sqlalchemy.exc import SAWarning, SQLAlchemyError

from headgate.sources.sql.extras import NO_EXTRAS, TableExtras, extras_reader
from headgate.sources.sql.facts import ColumnFacts, DatabaseFacts, ForeignKey, TableFacts, TableId

__all__ = ["read_facts"]

_About: TypeAlias = Mapping[str, Any]
_Many: TypeAlias = Callable[..., Mapping[tuple[str | None, str], Any]]
_One: TypeAlias = Callable[..., Any]

_QUESTIONS: Final[Mapping[str, tuple[_Many, _One]]] = {
    "columns": (Inspector.get_multi_columns, Inspector.get_columns),
    "key": (Inspector.get_multi_pk_constraint, Inspector.get_pk_constraint),
    "uniques": (Inspector.get_multi_unique_constraints, Inspector.get_unique_constraints),
    "indexes": (Inspector.get_multi_indexes, Inspector.get_indexes),
    "foreign_keys": (Inspector.get_multi_foreign_keys, Inspector.get_foreign_keys),
    "checks": (Inspector.get_multi_check_constraints, Inspector.get_check_constraints),
    "comment": (Inspector.get_multi_table_comment, Inspector.get_table_comment),
}
"""What is asked of all tables, and how one is asked if the answer for all fails because of one."""

_ONLY_OF_TABLES: Final = frozenset(_QUESTIONS) - {"columns", "comment"}
_BACKTICKS: Final = ("mysql", "mariadb")
_NAMES: Final = frozenset({"name", "column_names", "constrained_columns", "referred_columns", "referred_table"})
_PARTIAL: Final = ("postgresql_where", "sqlite_where")


def read_facts(connection: Connection, schemas: Sequence[str]) -> DatabaseFacts:
    """What the database says of the tables and views of some schemas, or of the one that is usual."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SAWarning)  # of types and clauses that are not known: they are shown as text
        inspector = inspect(connection)
        usual = inspector.default_schema_name or ""
        asked = [_Asked(connection, inspector, usual, None if name == usual else name) for name in schemas or (usual,)]
        tables = tuple(table for one in asked for table in one.tables())
    return DatabaseFacts(connection.dialect.name, tables, tuple(note for one in asked for note in one.notes))


@dataclass
class _Asked:
    """One schema, as it is asked for."""

    connection: Connection
    inspector: Inspector
    usual: str
    schema: str | None
    notes: list[str] = field(default_factory=list)

    def tables(self) -> Iterator[TableFacts]:
        """The tables and views, by their names."""
        extras = extras_reader(self.connection.dialect)(self.connection, self.schema)
        views = {*self.inspector.get_view_names(self.schema), *self._materialized()}
        answers = {name: self._answers(name) for name in _QUESTIONS}
        for name in sorted(answers["columns"]):
            about = {question: answer[name] for question, answer in answers.items() if name in answer}
            table = self._table(name, name in views, about, extras.get(name, NO_EXTRAS))
            if table is not None:
                yield table

    def _materialized(self) -> list[str]:
        try:
            return self.inspector.get_materialized_view_names(self.schema)
        except NotImplementedError:
            return []

    def _answers(self, question: str) -> Mapping[str, Any]:
        """The answers by table; a database that cannot answer has none."""
        kind = ObjectKind.TABLE if question in _ONLY_OF_TABLES else ObjectKind.ANY
        many, one = _QUESTIONS[question]
        try:
            found = {name: answer for (_, name), answer in many(self.inspector, self.schema, kind=kind).items()}
        except NotImplementedError:
            return {}
        except SQLAlchemyError:
            found = dict(self._one_by_one(one, kind))
        return _unescaped(found) if self.connection.dialect.name in _BACKTICKS else found

    def _one_by_one(self, ask: _One, kind: ObjectKind) -> Iterator[tuple[str, Any]]:
        self.connection.rollback()
        names = self.inspector.get_table_names(self.schema)
        names += self.inspector.get_view_names(self.schema) if kind is ObjectKind.ANY else []
        for name in names:
            try:
                yield name, ask(self.inspector, name, self.schema)
            except SQLAlchemyError as error:
                self.connection.rollback()
                self._note(name, _reason(error))

    def _note(self, name: str, reason: str) -> None:
        note = f"{name} is left out: {reason}."
        if note not in self.notes:
            self.notes.append(note)

    def _table(self, name: str, is_view: bool, about: _About, extras: TableExtras) -> TableFacts | None:
        if extras.left_out:
            if extras.note:
                self._note(name, extras.note)
            return None
        about = self._named_only(name, about)
        checks = extras.checks if extras.checks is not None else _texts(about.get("checks"), "sqltext")
        return TableFacts(
            schema=self.schema or "",
            name=name,
            columns=tuple(_column(column, extras) for column in about["columns"]),
            key=tuple((about.get("key") or {}).get("constrained_columns") or ()),
            uniques=tuple(_uniques(about)),
            foreign_keys=tuple(self._foreign_key(one) for one in about.get("foreign_keys") or ()),
            checks=checks,
            constraints=dict(_named(about)),
            comment=_comment(about),
            is_view=is_view,
            writable=extras.writable and not is_view,
            exact_text=extras.exact_text,
            estimated_rows=extras.estimated_rows,
            words=extras.words,
        )

    def _named_only(self, table: str, about: _About) -> _About:
        """What is said of a table without its columns of no name, which nobody could ask for."""
        columns = [column for column in about["columns"] if column["name"]]
        if len(columns) == len(about["columns"]):
            return about
        self.notes.append(f"{table}: a column without a name is left out.")
        key = about.get("key") or {}
        whole = key if "" not in key.get("constrained_columns", ()) else None
        kept = {
            question: [one for one in about.get(question) or () if "" not in one.get("column_names", ())]
            for question in ("uniques", "indexes")
        }
        foreign = [one for one in about.get("foreign_keys") or () if "" not in one["constrained_columns"]]
        return {**about, **kept, "columns": columns, "key": whole, "foreign_keys": foreign}

    def _foreign_key(self, found: ReflectedForeignKeyConstraint) -> ForeignKey:
        schema = found["referred_schema"]
        target: TableId = ("" if schema in (None, self.usual) else str(schema), found["referred_table"])
        return ForeignKey(tuple(found["constrained_columns"]), target, tuple(found["referred_columns"]))


def _unescaped(found: Any, is_name: bool = False) -> Any:
    """What SQLAlchemy reads of MySQL, with a backtick in a name where it leaves the two that stand for one."""
    if isinstance(found, dict):
        return {key: _unescaped(value, key in _NAMES) for key, value in found.items()}
    if isinstance(found, list):
        return [_unescaped(value, is_name) for value in found]
    return found.replace("``", "`") if is_name and isinstance(found, str) else found


def _reason(error: SQLAlchemyError) -> str:
    """The database's own words, on one line."""
    original = getattr(error, "orig", None) or error
    return " ".join(str(original).split()).rstrip(".")


def _column(found: ReflectedColumn, extras: TableExtras) -> ColumnFacts:
    name = found["name"]
    identity, generated = found.get("identity"), found.get("computed")
    default = found.get("default")
    is_serial = found.get("autoincrement") is True or (default or "").startswith("nextval(")
    return ColumnFacts(
        name=name,
        type=found["type"],
        nullable=found["nullable"],
        declared=extras.declared.get(name),
        stored=extras.stored.get(name, frozenset()),
        default=default,
        generated=generated["sqltext"] if generated else None,
        counted=identity is not None or is_serial or name in extras.counted,
        never_given=identity is not None and bool(identity.get("always")),
        comment=(found.get("comment") or "").strip(),
    )


def _uniques(about: _About) -> Iterator[tuple[str, ...]]:
    """The sets of columns whose values no two rows share."""
    for constraint in about.get("uniques") or ():
        yield tuple(constraint["column_names"])
    for index in about.get("indexes") or ():
        partial = any(index.get("dialect_options", {}).get(option) is not None for option in _PARTIAL)
        if index["unique"] and not partial and not index.get("expressions") and None not in index["column_names"]:
            yield tuple(index["column_names"])


def _named(about: _About) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The constraints that have names, with the columns that they speak of."""
    columns = [column["name"] for column in about["columns"]]
    for check in about.get("checks") or ():
        if check["name"]:
            yield check["name"], tuple(name for name in columns if _speaks_of(str(check["sqltext"]), name))
    for one in (*(about.get("uniques") or ()), *(about.get("indexes") or ())):
        if one["name"] and None not in one["column_names"]:
            yield one["name"], tuple(one["column_names"])


def _speaks_of(condition: str, column: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(column)}(?!\w)", condition) is not None


def _texts(answers: Sequence[Mapping[str, Any]] | None, name: str) -> tuple[str, ...]:
    return tuple(str(answer[name]) for answer in answers or ())


def _comment(about: _About) -> str:
    text = ((about.get("comment") or {}).get("text") or "").strip()
    return "" if text == "VIEW" else text  # MySQL says so of each view
