"""From the names in a database to those of collections and fields: snake_case, English, short and unlike each other."""

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from types import MappingProxyType
from typing import Final

from headgate.protocol.names import REQUEST_FIELDS, camel_to_snake
from headgate.query.operators import COMBINERS
from headgate.sources.sql.plurals import plural, singular

__all__ = [
    "LONGEST_COLLECTION",
    "CollectionName",
    "collection_name",
    "field_names",
    "first_free",
    "is_faithful",
    "name_collections",
    "snake_case",
    "unlike",
    "why_reserved",
]

LONGEST_COLLECTION: Final = 50
"""So that an operation's name has 64 characters with its verb."""

LONGEST_FIELD: Final = 64

_LETTERS: Final = str.maketrans(
    {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ð": "d", "ł": "l", "þ": "th", "ŋ": "n"}
    | {"Æ": "Ae", "Œ": "Oe", "Ø": "O", "Đ": "D", "Ð": "D", "Ł": "L", "Þ": "Th"}
    | {"'": "", "’": "", "%": " percent ", "&": " and ", "#": " number "}  # noqa: RUF001
)
_APART: Final = re.compile(r"[^A-Za-z0-9]+")
_PARAMETERS: Final = frozenset({"fields", "input", "if_match", "dry_run", "preset"}) | REQUEST_FIELDS
"""What operations on one item are told beside its key."""

_TAKEN_COLLECTIONS: Final = frozenset({"relationships"})
"""``query_relationships`` is an operation of its own."""


_NO_NAMES: Final[Mapping[str, str]] = MappingProxyType({})


@lru_cache(maxsize=4096)
def snake_case(name: str) -> str:
    """A legal name for one in a database; empty if none of its letters can be written in ASCII."""
    plain = unicodedata.normalize("NFKD", name.translate(_LETTERS)).encode("ascii", "ignore").decode()
    words = _APART.sub("_", plain).strip("_")
    snake = re.sub("_{2,}", "_", camel_to_snake(words))
    return f"n{snake}" if snake[:1].isdigit() else snake


def is_faithful(name: str) -> bool:
    """Whether the letters of a name survive in snake_case, so that the name explains itself."""
    return name.isascii() or all(snake_case(letter) for letter in name if letter.isalnum())


def unlike(name: str, taken: Collection[str], longest: int) -> str:
    """The name, cut and numbered so that it is none of those that are taken."""
    return next(one for one in _numbered(name, longest) if one not in taken)


def first_free(candidates: Iterable[str], taken: Collection[str], longest: int = LONGEST_FIELD) -> str:
    """The first candidate that is not taken, or else the first of them with a number."""
    names = list(candidates)
    free = (one for one in names if one not in taken and len(one) <= longest)
    return next(free, None) or unlike(names[0], taken, longest)


def _numbered(name: str, longest: int) -> Iterator[str]:
    yield name[:longest].rstrip("_")
    number = 2
    while True:
        yield f"{name[: longest - len(str(number)) - 1].rstrip('_')}_{number}"
        number += 1


def field_names(
    columns: Sequence[str], key: Collection[str] = (), chosen: Mapping[str, str] = _NO_NAMES
) -> dict[str, str]:
    """The field of each column, in the columns' order. Chosen names stand; then come those that are already right."""
    wanted = {column: _field(column, place, column in key) for place, column in enumerate(columns, 1)}
    names = {column: name for column, name in chosen.items() if column in wanted}
    for column in sorted(columns, key=lambda column: wanted[column] != column):
        if column not in names:
            names[column] = unlike(wanted[column], names.values(), LONGEST_FIELD)
    return {column: names[column] for column in columns}


def _field(column: str, place: int, is_key: bool) -> str:
    name = snake_case(column) or f"field_{place}"
    return f"{name}_value" if why_reserved(name, is_key) else name


def why_reserved(name: str, is_key: bool) -> str:
    """Why a field cannot have a name; empty if it can."""
    if name in COMBINERS:
        return "has a meaning in filters"
    return "is a parameter beside keys" if is_key and name in _PARAMETERS else ""


@dataclass(frozen=True, slots=True)
class CollectionName:
    """What a collection is called, and what one of its items is."""

    many: str
    one: str

    @property
    def is_short(self) -> bool:
        """Whether both words leave room for a verb."""
        return max(len(self.many), len(self.one)) <= LONGEST_COLLECTION


def collection_name(table: str) -> CollectionName:
    """The words for a table, whether it is named for one of its rows or for all of them."""
    name = snake_case(table) or "table"
    one = singular(name)
    return CollectionName(name if one != name else plural(name), one)


def name_collections(
    tables: Iterable[tuple[str, str]], chosen: Mapping[tuple[str, str], CollectionName]
) -> dict[tuple[str, str], CollectionName]:
    """The names of tables, given as schema and table, the schema empty for the usual one.

    Chosen names stand; then come tables whose names are already right; the order of the others is that of their names.
    """
    names = dict(chosen)
    many, one = ({name.many for name in names.values()} | _TAKEN_COLLECTIONS, {name.one for name in names.values()})
    for table in sorted(tables, key=_precedence):
        if table not in names:
            names[table] = next(name for name in _candidates(table) if name.many not in many and name.one not in one)
            many.add(names[table].many)
            one.add(names[table].one)
    return names


def _precedence(table: tuple[str, str]) -> tuple[bool, bool, str, str]:
    schema, name = table
    return (bool(schema), collection_name(name).many != name, schema, name)


def _candidates(table: tuple[str, str]) -> Iterator[CollectionName]:
    """Names for a table, the best first and without an end: its own, with its schema, and with numbers."""
    schema, name = table
    wanted = [collection_name(name), *([collection_name(f"{schema}_{name}")] if schema else [])]
    return (one for one in chain(wanted, _numbered_pairs(wanted[-1])) if one.is_short)


def _numbered_pairs(name: CollectionName) -> Iterator[CollectionName]:
    return map(CollectionName, _numbered(name.many, LONGEST_COLLECTION), _numbered(name.one, LONGEST_COLLECTION))
