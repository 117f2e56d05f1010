"""From what is known of a table to the fields of its collection."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Final

from sqlalchemy.types import NullType

from headgate.protocol.adapter_errors import AdapterError
from headgate.query.collections import Access, Field
from headgate.query.kinds import Kind
from headgate.sources.sql.checks import Bound, Rule, rules_of
from headgate.sources.sql.column_kinds import Meaning, meaning_of
from headgate.sources.sql.facts import ColumnFacts, TableFacts
from headgate.sources.sql.literals import constant
from headgate.sources.sql.names import CollectionName, field_names, is_faithful, why_reserved
from headgate.sources.sql.settings import FieldSettings, TableSettings, unknown
from headgate.sources.sql.sqlite_types import sqlite_meaning

__all__ = ["Shaped", "shaped"]

_VERSIONS: Final = frozenset({"version", "row_version", "lock_version"})
_NO_KEYS: Final = (Kind.JSON, Kind.ARRAY)
_GROWING: Final = (Kind.TEXT, Kind.ARRAY, Kind.JSON)
_OPAQUE: Final = re.compile(r"(?:\A|_)(?:uuid|guid|hash|token|checksum|etag)\Z")
_SECRET: Final = re.compile(
    r"(?:\A|_)(?:password|passwd|pwd|passphrase|secret|api_key|private_key|(?:access|refresh|auth)_token)(?:_|\Z)"
)
_UUID_LENGTH: Final = 36
_AS_IT_IS: Final = FieldSettings()
_HAVE_TEXTS: Final = ("sqlite", "postgresql")
"""Databases in which a value of every type has a text."""


@dataclass(frozen=True)
class Shaped:
    """A table that is served: its names, its fields, and the columns behind them."""

    facts: TableFacts
    settings: TableSettings
    name: CollectionName
    names: Mapping[str, str]
    """The field of each column that is shown."""
    fields: Mapping[str, Field]
    meanings: Mapping[str, Meaning]
    """By column, those included that are not shown."""
    key_columns: tuple[str, ...] = ()
    version: str | None = None

    @property
    def where(self) -> str:
        """The place of its settings."""
        return f"tables.{self.facts.label}"

    @property
    def key(self) -> tuple[str, ...]:
        """The fields that an item is known by."""
        return self.fields_of(self.key_columns)

    @property
    def writable(self) -> bool:
        """Whether items can be changed, which takes a key to know them by."""
        return self.facts.writable and bool(self.key_columns)

    def fields_of(self, columns: Iterable[str]) -> tuple[str, ...]:
        """The fields of some columns, all of which are shown."""
        return tuple(self.names[column] for column in columns)

    def shows(self, columns: Iterable[str]) -> bool:
        """Whether all of some columns are fields."""
        return all(column in self.names for column in columns)

    def is_unique(self, columns: Iterable[str]) -> bool:
        """Whether no two rows share the values of some columns."""
        given = {*columns}
        return any(given >= {*one} for one in (self.facts.key, self.key_columns, *self.facts.uniques) if one)

    @cached_property
    def references(self) -> frozenset[str]:
        """The columns that hold the keys of other rows."""
        return frozenset(column for one in self.facts.foreign_keys for column in one.columns)

    @property
    def texts(self) -> tuple[str, ...]:
        """The fields that hold words, as a search looks for them if it is not told where."""
        return tuple(self.names[column] for column in self.names if self._holds_words(column))

    def _holds_words(self, column: str) -> bool:
        field = self.fields[self.names[column]]
        return (
            (field.kind is Kind.TEXT and not field.choices and field.filterable and not field.sensitive)
            and column not in self.key_columns
            and column not in self.references
            and not _OPAQUE.search(field.name)
            and not self.meanings[column].hint
            and field.max_length != _UUID_LENGTH
        )


def shaped(facts: TableFacts, settings: TableSettings, name: CollectionName, dialect: str) -> Shaped:
    """A table as it is served. An AdapterError says which of its settings name nothing."""
    where = f"tables.{facts.label}"
    _check_columns(facts, settings, where)
    meanings = {column.name: _meaning(column, dialect) for column in facts.columns}
    rules = _rules(facts, meanings)
    shown = [column for column in facts.columns if _is_shown(column, settings, dialect)]
    key = _key(facts, settings, [column.name for column in shown if _can_be_key(meanings[column.name])], where)
    chosen = {column: one.name for column, one in settings.fields.items() if one.name}
    names = field_names([column.name for column in shown], key, chosen)
    _check_names(names, chosen, key, where)
    version = settings.version or _version(shown, meanings, key) if facts.writable else None
    maker = _FieldMaker(facts, settings, key, version, rules)
    fields = {names[one.name]: maker.field(one, names[one.name], meanings[one.name]) for one in shown}
    return Shaped(facts, settings, name, names, fields, meanings, key, names[version] if version else None)


def _check_columns(facts: TableFacts, settings: TableSettings, where: str) -> None:
    known = [column.name for column in facts.columns]
    versions = (settings.version,) if settings.version else ()
    given = {"fields": settings.fields, "key": settings.key, "version": versions, "search": settings.search or ()}
    for setting, columns in given.items():
        for column in columns:
            if column not in known:
                raise unknown(f"{where}.{setting}", "column", column, known)
            if setting != "fields" and settings.fields.get(column, _AS_IT_IS).hidden:
                raise AdapterError(f"{where}.{setting}: the column '{column}' is hidden, so it cannot be named here.")


def _check_names(names: Mapping[str, str], chosen: Mapping[str, str], key: tuple[str, ...], where: str) -> None:
    for column, name in chosen.items():
        reason = why_reserved(name, column in key)
        if reason:
            raise AdapterError(f"{where}.fields.{column}.name: '{name}' {reason}; choose another.")
    twice = [name for name, count in Counter(names.values()).items() if count > 1]
    if twice:
        raise AdapterError(f"{where}.fields: two columns are named '{twice[0]}'.")


def _is_shown(column: ColumnFacts, settings: TableSettings, dialect: str) -> bool:
    has_text = dialect in _HAVE_TEXTS or not isinstance(column.type, NullType)
    is_index = column.type.__visit_name__ == "TSVECTOR"
    return has_text and not is_index and not settings.fields.get(column.name, _AS_IT_IS).hidden


def _meaning(column: ColumnFacts, dialect: str) -> Meaning:
    return sqlite_meaning(column) if dialect == "sqlite" else meaning_of(column.type)


def _can_be_key(meaning: Meaning) -> bool:
    return meaning.comparable and meaning.kind not in _NO_KEYS


def _key(facts: TableFacts, settings: TableSettings, usable: list[str], where: str) -> tuple[str, ...]:
    """The chosen key, the primary key, or else the smallest set of columns that no two rows share."""
    if settings.key:
        unusable = [column for column in settings.key if column not in usable]
        if unusable:
            raise AdapterError(f"{where}.key: the values of '{unusable[0]}' cannot be compared, so it is no key.")
        return settings.key
    candidates = [facts.key, *sorted(facts.uniques, key=len)]
    for columns in candidates:
        is_certain = columns == facts.key or not facts.nullable(columns)
        if columns and is_certain and all(column in usable for column in columns):
            return columns
    return ()


def _version(shown: list[ColumnFacts], meanings: Mapping[str, Meaning], key: tuple[str, ...]) -> str | None:
    """The column that counts the changes of a row, known by its name."""
    for column in shown:
        is_count = meanings[column.name].kind is Kind.INTEGER and not column.nullable and not column.generated
        if is_count and column.name.lower() in _VERSIONS and column.name not in key:
            return column.name
    return None


def _rules(facts: TableFacts, meanings: Mapping[str, Meaning]) -> dict[str, list[Rule]]:
    """What the checks of the table and of its columns' types say, by the column in lower case."""
    found: dict[str, list[Rule]] = {}
    for check in facts.checks:
        for rule in rules_of(check):
            found.setdefault(rule.column, []).append(rule)
    for column, meaning in meanings.items():
        found.setdefault(column.lower(), []).extend(rule for rule in rules_of(meaning.check) if rule.column == "value")
    return found


@dataclass(frozen=True, slots=True)
class _FieldMaker:
    """Makes the fields of one table."""

    facts: TableFacts
    settings: TableSettings
    key: tuple[str, ...]
    version: str | None
    rules: Mapping[str, list[Rule]]

    def field(self, column: ColumnFacts, name: str, meaning: Meaning) -> Field:
        """The field of a column."""
        said = self.settings.fields.get(column.name, _AS_IT_IS)
        rules = self.rules.get(column.name.lower(), [])
        kind = Kind.JSON if meaning.kind is Kind.TEXT and any(rule.is_json for rule in rules) else meaning.kind
        nullable = column.nullable and column.name not in self.key
        sensitive = _is_secret(name, kind) if said.sensitive is None else said.sensitive
        comparable = meaning.comparable and not (sensitive and column.name not in self.key)  # or it could be guessed
        return Field(
            name=name,
            kind=kind,
            description=_description(column, said, meaning),
            nullable=nullable,
            access=self._access(column, said, meaning),
            optional=self._is_optional(column, nullable),
            default=None if column.default is None or self.facts.is_view else constant(column.default, kind),
            choices=meaning.choices or _choices(rules, kind),
            max_length=_length(meaning, rules) if kind is Kind.TEXT else None,
            minimum=max(_bounds(meaning.minimum, (rule.minimum for rule in rules), kind, 1), default=None),
            maximum=min(_bounds(meaning.maximum, (rule.maximum for rule in rules), kind, -1), default=None),
            scale=meaning.scale,
            item_kind=meaning.item_kind,
            filterable=comparable,
            sortable=comparable,
            sensitive=sensitive,
        )

    def _is_optional(self, column: ColumnFacts, nullable: bool) -> bool:
        given = column.default is not None or column.generated is not None
        return nullable or given or column.counted or column.name == self.version

    def _access(self, column: ColumnFacts, said: FieldSettings, meaning: Meaning) -> Access:
        is_given = column.generated is not None or column.never_given or column.name == self.version
        if is_given or said.read_only or not meaning.writable or not self.facts.writable:
            return Access.NEVER
        if column.name in self.key:
            return Access.ONCE
        if not said.append_only:
            return Access.ALWAYS
        if meaning.kind in _GROWING:
            return Access.APPEND
        where = f"tables.{self.facts.label}.fields.{column.name}.append_only"
        raise AdapterError(f"{where}: only texts and lists can grow; this is {meaning.kind.word}.")


def _description(column: ColumnFacts, said: FieldSettings, meaning: Meaning) -> str:
    """The owner's words, the database's, or the column's name where that of the field does not tell it."""
    own = said.description or column.comment or ("" if is_faithful(column.name) else column.name)
    return " ".join(filter(None, (own, meaning.hint)))


def _is_secret(name: str, kind: Kind) -> bool:
    return kind in (Kind.TEXT, Kind.BYTES) and _SECRET.search(name) is not None


def _choices(rules: list[Rule], kind: Kind) -> tuple[str | int, ...]:
    for rule in rules:
        if kind is Kind.TEXT and all(isinstance(one, str) for one in rule.choices):
            return tuple(str(one) for one in rule.choices)
        if kind is Kind.INTEGER and all(isinstance(one, Decimal) and one % 1 == 0 for one in rule.choices):
            return tuple(int(one) for one in rule.choices)
    return ()


def _length(meaning: Meaning, rules: list[Rule]) -> int | None:
    lengths = [meaning.max_length, *(rule.longest for rule in rules)]
    return min((length for length in lengths if length is not None), default=None)


def _bounds(own: int | None, bounds: Iterable[Bound | None], kind: Kind, step: int) -> Iterator[float]:
    """The bounds of the type and of the checks. Next to an excluded integer stands one that is allowed."""
    if own is not None:
        yield own
    for bound in bounds if kind.row.numeric else ():
        if bound is not None:
            whole = kind is Kind.INTEGER and bound.excluded and bound.value % 1 == 0
            yield _plain_number(bound.value + step if whole else bound.value)


def _plain_number(value: Decimal) -> float:
    return int(value) if value % 1 == 0 else float(value)
