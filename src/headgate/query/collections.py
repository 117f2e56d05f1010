"""What a collection is made of: fields, computed fields, relationships and presets. Checked as it is built."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from types import MappingProxyType
from typing import Any, Final

from headgate.protocol.adapter_errors import AdapterError
from headgate.protocol.names import is_snake_case
from headgate.query.kinds import Kind

__all__ = [
    "COMPUTED",
    "FULL",
    "MINIMAL",
    "STANDARD",
    "Access",
    "Catalog",
    "Collection",
    "Computed",
    "Field",
    "Relationship",
    "Through",
]

COMPUTED: Final = "_computed"
MINIMAL: Final = "minimal"
STANDARD: Final = "standard"
FULL: Final = "full"
BUILT_IN_PRESETS: Final = (MINIMAL, STANDARD, FULL)


class Access(Enum):
    """When a caller may give a field a value."""

    ALWAYS = "always"
    ONCE = "once"
    """Only as the item is created: identifiers, and what must not change afterwards."""
    APPEND = "append"
    """Lists and texts that may grow: an update adds to what stands, and never replaces it."""
    NEVER = "never"
    """Only the database gives it: generated and computed values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One field of a collection's items."""

    name: str
    kind: Kind
    description: str = ""
    nullable: bool = False
    access: Access = Access.ALWAYS
    optional: bool = False
    """Whether an item can be created without it, because there is a default."""
    default: object = None
    """The default as JSON, where it is known and constant."""
    choices: tuple[Any, ...] = ()
    max_length: int | None = None
    minimum: float | None = None
    maximum: float | None = None
    scale: int | None = None
    """Digits after the point of a decimal."""
    item_kind: Kind | None = None
    """What an array holds."""
    filterable: bool = True
    sortable: bool = True
    sensitive: bool = False
    schema: Mapping[str, Any] | None = None
    """What an author's type says beyond the kind, as keywords of JSON Schema."""

    @property
    def can_sort(self) -> bool:
        """Whether items can be put in order by it."""
        return self.sortable and (self.kind.row.ordered or self.kind is Kind.BOOLEAN)

    @property
    def can_group(self) -> bool:
        """Whether items can be counted by its values."""
        return self.filterable and self.kind.row.groupable


@dataclass(frozen=True, slots=True, kw_only=True)
class Computed:
    """A value derived from an item, under ``_computed`` in answers.

    ``function`` takes the whole item and runs here; ``sql`` is an expression over the table's columns and runs in the
    database, so that it can also be filtered and sorted by.
    """

    name: str
    kind: Kind
    description: str = ""
    function: Callable[[Any], Any] | None = None
    sql: str | None = None
    filterable: bool = True
    sortable: bool = True

    def __post_init__(self) -> None:
        if not is_snake_case(self.name):
            raise AdapterError(f"The computed field '{self.name}' is not snake_case.")
        if (self.function is None) == (self.sql is None):
            raise AdapterError(f"The computed field '{self.name}' needs a function or an SQL expression: one of them.")

    @property
    def as_field(self) -> Field:
        """The field that conditions and sorting see."""
        return Field(
            name=self.name,
            kind=self.kind,
            description=self.description,
            nullable=True,
            access=Access.NEVER,
            filterable=self.filterable,
            sortable=self.sortable,
        )


@dataclass(frozen=True, slots=True)
class Through:
    """The table in the middle of a many-to-many relationship."""

    table: str
    near: tuple[str, ...]
    far: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Relationship:
    """A way from the items of one collection to those of another: equal values of local and remote fields."""

    name: str
    target: str
    local: tuple[str, ...]
    remote: tuple[str, ...]
    many: bool = False
    through: Through | None = None
    outgoing: bool = True
    """Whether the reference is held here; an incoming one is the same edge seen from its other end."""
    type: str = ""
    """The name of the edge, the same from both ends."""
    description: str = ""


@dataclass(frozen=True, eq=False)
class Collection:
    """A named set of items with the same fields, each known by its key. It is compared by identity."""

    name: str
    singular: str
    fields: Mapping[str, Field]
    key: tuple[str, ...] = ()
    relationships: Mapping[str, Relationship] = field(default_factory=dict)
    computed: Mapping[str, Computed] = field(default_factory=dict)
    presets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    searchable: tuple[str, ...] = ()
    description: str = ""
    version: str | None = None
    """The field that counts the changes of an item, if it has one."""
    item: Callable[[Mapping[str, Any]], Any] | None = None
    """Makes what functions of computed fields take from an item's fields; without it they take the fields."""

    def __post_init__(self) -> None:
        for name in (self.name, self.singular, *self.fields, *self.relationships):
            if not is_snake_case(name):
                raise AdapterError(
                    f"'{name}' in collection '{self.name}' is not snake_case: use lower-case letters, digits and "
                    "underscores, starting with a letter (Spec 4.3)."
                )
        versions = (self.version,) if self.version else ()
        for what, names in (("key", self.key), ("search", self.searchable), ("version", versions)):
            for name in names:
                if name not in self.fields:
                    raise AdapterError(f"The {what} of collection '{self.name}' names '{name}', which is no field.")
        both = self.fields.keys() & self.relationships.keys()
        if both:
            raise AdapterError(f"'{min(both)}' of collection '{self.name}' is both a field and a relationship.")
        object.__setattr__(self, "presets", MappingProxyType(self._all_presets()))

    def _all_presets(self) -> dict[str, tuple[str, ...]]:
        return {MINIMAL: self._minimal(), STANDARD: self._standard(), FULL: tuple(self.fields), **self.presets}

    def _minimal(self) -> tuple[str, ...]:
        """The key and what a person would call the item; the first fields where there is neither."""
        named = [name for name in (f"{self.singular}_name", *_NAMES) if name in self.fields][:1]
        if not named:
            named = [name for name, one in self.fields.items() if _is_called_a_name(one) and name not in self.key][:1]
        if not named:
            named = [name for name, one in self.fields.items() if _is_name(one) and name not in self.key][:1]
        return tuple(dict.fromkeys((*self.key, *named))) or tuple(self.fields)[:3]

    def _standard(self) -> tuple[str, ...]:
        """What is short and says something of the item: its key and name, and of the rest what says most."""
        named = self._minimal()
        told = [name for name, one in self.fields.items() if name != self.version and not _is_heavy(one)]
        most = _MOST_STANDARD - len([name for name in told if name in named])
        references = {name for one in self.relationships.values() if one.outgoing for name in one.local}
        others = [name for name in told if name not in named]
        kept = sorted(others, key=lambda name: _rank(self.fields[name], is_reference=name in references))[:most]
        return tuple(name for name in self.fields if name in named or name in kept)

    @cached_property
    def computed_fields(self) -> Mapping[str, Field]:
        """The computed fields as conditions and sorting see them."""
        return {name: one.as_field for name, one in self.computed.items()}

    @property
    def label(self) -> str | None:
        """The field that a person would know an item by, if there is one."""
        return next((name for name in self._minimal() if name not in self.key), None)


_NAMES: Final = ("name", "last_name", "title", "full_name", "label", "username", "email", "subject", "code")
_NAMING: Final = frozenset({"name", "title", "label", "subject", "headline"})
"""How texts end that a person would call an item by."""

_TELLING: Final = frozenset({*_NAMES, *_NAMING, "status", "state", "priority", "type", "kind", "category"})
"""What fields are called that nobody would do without, by the last word of their names."""
_LONGEST_NAME: Final = 200
_MOST_STANDARD: Final = 16
_LONGEST_SHORT: Final = 255
_LONG_TEXTS: Final = frozenset(
    [
        *(
            "abstract",
            "bio",
            "biography",
            "body",
            "comment",
            "comments",
            "content",
            "contents",
            "description",
            "details",
        ),
        *("excerpt", "html", "instructions", "markdown", "message", "note", "notes", "remark", "remarks", "summary"),
        *("synopsis", "terms", "text", "transcript", "xml"),
    ]
)
"""What texts are called that are read one at a time, by the last word of their names."""


def _is_name(one: Field) -> bool:
    is_short = one.max_length is None or one.max_length <= _LONGEST_NAME
    return one.kind is Kind.TEXT and not one.choices and is_short and not _is_heavy(one)


def _is_called_a_name(one: Field) -> bool:
    return _is_name(one) and _last_word(one.name) in _NAMING


def _rank(one: Field, *, is_reference: bool) -> int:
    """How readily a field is left out where there are too many, the lowest last."""
    if one.choices or _last_word(one.name) in _TELLING:
        return 0
    if is_reference or one.kind is Kind.BOOLEAN or not (one.nullable or one.optional):
        return 1
    return 2 if one.kind is not Kind.TEXT or one.max_length is not None else 3


def _last_word(name: str) -> str:
    return name.rpartition("_")[2]


def _is_heavy(one: Field) -> bool:
    """Whether a value may be longer than all others of an item together: bytes, nested values, texts of any length."""
    if one.kind is not Kind.TEXT or one.choices:
        return one.kind in (Kind.BYTES, Kind.JSON)
    if one.max_length is not None:
        return one.max_length > _LONGEST_SHORT
    return _last_word(one.name) in _LONG_TEXTS


class Catalog:
    """The collections of an adapter by name; relationships lead from one to another within it."""

    def __init__(self, collections: Mapping[str, Collection] | None = None) -> None:
        self._collections: dict[str, Collection] = dict(collections or {})

    def add(self, collection: Collection) -> None:
        """Take a collection in."""
        if collection.name in self._collections:
            raise AdapterError(f"There is already a collection '{collection.name}'.")
        self._collections[collection.name] = collection

    def __getitem__(self, name: str) -> Collection:
        return self._collections[name]

    def get(self, name: str) -> Collection | None:
        """The collection of a name, if there is one."""
        return self._collections.get(name)

    def __contains__(self, name: object) -> bool:
        return name in self._collections

    def __iter__(self) -> Iterator[Collection]:
        return iter(self._collections.values())

    def __len__(self) -> int:
        return len(self._collections)
