"""What the owner of a database says of it: which tables are served, under which names, and what nobody may see."""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final, TypeAlias

from headgate.protocol.adapter_errors import AdapterError
from headgate.protocol.names import is_snake_case
from headgate.protocol.suggestions import did_you_mean, nearest
from headgate.query.kinds import KINDS, Kind

__all__ = [
    "ComputedSettings",
    "FieldSettings",
    "RelationshipSettings",
    "SqlSettings",
    "TableSettings",
    "matches",
    "unknown",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldSettings:
    """What is said of a column."""

    name: str | None = None
    description: str | None = None
    hidden: bool = False
    read_only: bool = False
    append_only: bool = False
    sensitive: bool | None = None
    """Whether its values are kept out of logs; if nothing is said, its name decides."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComputedSettings:
    """A value that the database computes from the columns of a row."""

    sql: str
    kind: Kind
    description: str = ""
    filterable: bool = True
    sortable: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationshipSettings:
    """A relationship over columns of the table: another name for a foreign key's, or one that has no foreign key."""

    columns: tuple[str, ...]
    target: str | None = None
    target_columns: tuple[str, ...] = ()
    inverse: str | None = None
    """The name of the same relationship seen from its target."""
    description: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSettings:
    """What is said of a table or view."""

    name: str | None = None
    singular: str | None = None
    description: str | None = None
    key: tuple[str, ...] = ()
    version: str | None = None
    search: tuple[str, ...] | None = None
    fields: Mapping[str, FieldSettings] = field(default_factory=dict)
    computed: Mapping[str, ComputedSettings] = field(default_factory=dict)
    presets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    relationships: Mapping[str, RelationshipSettings] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlSettings:
    """What is said of a database. Tables and columns are named as in the database, and ``*`` stands for anything."""

    schemas: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    read_only: tuple[str, ...] = ()
    tables: Mapping[str, TableSettings] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> "SqlSettings":
        """The settings in a TOML file. An AdapterError says what is wrong in it, and where."""
        try:
            content = tomllib.loads(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError):
            raise AdapterError(f"The settings '{path}' cannot be read.") from None
        except tomllib.TOMLDecodeError as error:
            raise AdapterError(f"The settings '{path}' are no TOML: {error}.") from None
        try:
            return cls.of(content)
        except AdapterError as error:
            raise AdapterError(f"{path}: {error}") from None

    @classmethod
    def of(cls, content: Mapping[str, object]) -> "SqlSettings":
        """The settings in what TOML or JSON holds."""
        settings: SqlSettings = _DATABASE(content, "")
        return settings

    def table(self, label: str) -> TableSettings:
        """What is said of one table."""
        return self.tables.get(label, _NOTHING)


def matches(name: str, patterns: tuple[str, ...]) -> bool:
    """Whether a name is one of some, or fits one with ``*`` in it."""
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def unknown(where: str, what: str, name: str, known: list[str]) -> AdapterError:
    """A name that nothing has, with the nearest ones."""
    return AdapterError(
        f"{where or 'settings'}: there is no {what} '{name}'{did_you_mean(nearest(name, known)) or '.'}"
    )


_NOTHING: Final = TableSettings()
_Reader: TypeAlias = Callable[[object, str], Any]


def _wrong(where: str, expected: str) -> AdapterError:
    return AdapterError(f"{where}: this must be {expected}.")


def _text(value: object, where: str) -> str:
    if isinstance(value, str) and value:
        return value
    raise _wrong(where, "a text")


def _name(value: object, where: str) -> str:
    name = _text(value, where)
    if is_snake_case(name):
        return name
    raise _wrong(where, "snake_case: lower-case letters, digits and underscores, starting with a letter")


def _flag(value: object, where: str) -> bool:
    if isinstance(value, bool):
        return value
    raise _wrong(where, "true or false")


def _texts(value: object, where: str) -> tuple[str, ...]:
    if isinstance(value, str):
        return (_text(value, where),)
    if isinstance(value, list | tuple):
        return tuple(_text(one, f"{where}[{place}]") for place, one in enumerate(value))
    raise _wrong(where, "a list of texts")


def _kind(value: object, where: str) -> Kind:
    word = _text(value, where)
    if word in KINDS:
        return KINDS[word]
    raise unknown(where, "type", word, list(KINDS))


def _named(read: _Reader, name: _Reader = _text) -> _Reader:
    """Many of a sort, each under its name."""

    def read_all(value: object, where: str) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            raise _wrong(where, "a table")
        return {name(key, _below(where, key)): read(one, _below(where, key)) for key, one in value.items()}

    return read_all


def _record(make: Callable[..., Any], readers: Mapping[str, tuple[str, _Reader]], *required: str) -> _Reader:
    """One value, of keys that are known and have each its own reader."""

    def read(value: object, where: str) -> Any:
        if not isinstance(value, Mapping):
            raise _wrong(where, "a table")
        for key in value:
            if key not in readers:
                raise unknown(where, "setting", key, list(readers))
        given = {readers[key][0]: readers[key][1](one, _below(where, key)) for key, one in value.items()}
        for key in required:
            if readers[key][0] not in given:
                raise AdapterError(f"{where}: the setting '{key}' is missing.")
        return make(**given)

    return read


def _below(where: str, key: str) -> str:
    return f"{where}.{key}" if where else key


def _same(**readers: _Reader) -> dict[str, tuple[str, _Reader]]:
    return {name: (name, reader) for name, reader in readers.items()}


_FIELD: Final = _record(
    FieldSettings,
    _same(name=_name, description=_text, hidden=_flag, read_only=_flag, append_only=_flag, sensitive=_flag),
)
_COMPUTED: Final = _record(
    ComputedSettings,
    {**_same(sql=_text, description=_text, filterable=_flag, sortable=_flag), "type": ("kind", _kind)},
    *("sql", "type"),
)
_RELATIONSHIP: Final = _record(
    RelationshipSettings,
    {
        **_same(columns=_texts, target=_text, target_columns=_texts, inverse=_name, description=_text),
        "column": ("columns", _texts),
        "target_column": ("target_columns", _texts),
    },
    "columns",
)
_TABLE: Final = _record(
    TableSettings,
    {
        **_same(name=_name, singular=_name, description=_text, key=_texts, version=_text, search=_texts),
        **_same(fields=_named(_FIELD), computed=_named(_COMPUTED, _name), presets=_named(_texts)),
        **_same(relationships=_named(_RELATIONSHIP, _name)),
    },
)
_DATABASE: Final = _record(
    SqlSettings,
    _same(schemas=_texts, include=_texts, exclude=_texts, read_only=_texts, tables=_named(_TABLE)),
)
