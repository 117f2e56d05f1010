"""The operators of conditions, one row each: what they apply to, what they mean here and in SQL, and in words."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType
from typing import Any, Final, Protocol, TypeAlias

from headgate.query.kinds import Kind, fold

__all__ = ["COMBINERS", "OPERATORS", "Arity", "Operator", "Sql", "operators_for"]


class Arity(Enum):
    """How many operands an operator takes."""

    ONE = "a value"
    TWO = "a list of two values, the lowest and the highest"
    MANY = "a list of values"
    FLAG = "true or false"


class Sql(Protocol):
    """What differs between databases. Columns and operands are the database library's expressions."""

    def equal(self, column: Any, operand: Any) -> Any:
        """Exactly equal: case, accents and trailing spaces count."""
        ...

    def one_of(self, column: Any, operands: Any) -> Any:
        """Exactly equal to one of several."""
        ...

    def ordered(self, column: Any) -> Any:
        """The column as it is compared and sorted: texts by the numbers of their characters."""
        ...

    def contains(self, column: Any, operand: Any) -> Any:
        """Whether a text stands in another, or a value in an array."""
        ...

    def starts_with(self, column: Any, operand: Any) -> Any:
        """Whether a text starts with another."""
        ...

    def ends_with(self, column: Any, operand: Any) -> Any:
        """Whether a text ends with another."""
        ...

    def folded(self, column: Any) -> Any:
        """The text in lower case, as :func:`headgate.query.kinds.fold` does it."""
        ...


Meaning: TypeAlias = Callable[[Any, tuple[Any, ...]], bool]
InSql: TypeAlias = Callable[[Sql, Any, tuple[Any, ...]], Any]

_ORDERED: Final = frozenset(kind for kind in Kind if kind.row.ordered)
_EQUAL: Final = _ORDERED | {Kind.BOOLEAN, Kind.JSON}
_TEXT: Final = frozenset({Kind.TEXT})
_ALL: Final = frozenset(Kind)


@dataclass(frozen=True, slots=True, eq=False)
class Operator:
    """One operator. Its meaning is for values that are there: nothing but ``is_null`` is true of null.

    ``negates`` names the operator whose opposite it is, null rows included.
    """

    name: str
    words: str
    kinds: frozenset[Kind]
    meaning: Meaning
    sql: InSql
    arity: Arity = Arity.ONE
    negates: str | None = None


def _contains(value: Any, operands: tuple[Any, ...]) -> bool:
    return operands[0] in value


_ROWS: Final = (
    Operator("eq", "equal", _EQUAL, lambda v, o: v == o[0], lambda s, c, o: s.equal(c, o[0])),
    Operator("ne", "not equal", _EQUAL, lambda v, o: v != o[0], lambda s, c, o: ~s.equal(c, o[0]), negates="eq"),
    Operator("gt", "greater than", _ORDERED, lambda v, o: v > o[0], lambda s, c, o: s.ordered(c) > o[0]),
    Operator("gte", "greater or equal", _ORDERED, lambda v, o: v >= o[0], lambda s, c, o: s.ordered(c) >= o[0]),
    Operator("lt", "less than", _ORDERED, lambda v, o: v < o[0], lambda s, c, o: s.ordered(c) < o[0]),
    Operator("lte", "less or equal", _ORDERED, lambda v, o: v <= o[0], lambda s, c, o: s.ordered(c) <= o[0]),
    Operator("in", "one of a list", _EQUAL, lambda v, o: v in o, lambda s, c, o: s.one_of(c, o), Arity.MANY),
    Operator(
        "not_in",
        "none of a list",
        _EQUAL,
        lambda v, o: v not in o,
        lambda s, c, o: ~s.one_of(c, o),
        Arity.MANY,
        negates="in",
    ),
    Operator(
        "between",
        "from the first to the second, both included",
        _ORDERED,
        lambda v, o: o[0] <= v <= o[1],
        lambda s, c, o: s.ordered(c).between(o[0], o[1]),
        Arity.TWO,
    ),
    Operator(
        "contains",
        "holds the text, upper and lower case differing; of an array: holds the item",
        _TEXT | {Kind.ARRAY},
        _contains,
        lambda s, c, o: s.contains(c, o[0]),
    ),
    Operator(
        "starts_with",
        "starts with the text",
        _TEXT,
        lambda v, o: v.startswith(o[0]),
        lambda s, c, o: s.starts_with(c, o[0]),
    ),
    Operator(
        "ends_with",
        "ends with the text",
        _TEXT,
        lambda v, o: v.endswith(o[0]),
        lambda s, c, o: s.ends_with(c, o[0]),
    ),
    Operator(
        "icontains",
        "holds the text in upper or lower case",
        _TEXT,
        lambda v, o: fold(o[0]) in fold(v),
        lambda s, c, o: s.contains(s.folded(c), s.folded(o[0])),
    ),
    Operator(
        "is_null",
        "has no value (true) or has one (false)",
        _ALL,
        lambda v, _o: v is None,
        lambda _s, c, _o: c.is_(None),
        Arity.FLAG,
    ),
)

OPERATORS: Final[Mapping[str, Operator]] = MappingProxyType({row.name: row for row in _ROWS})
COMBINERS: Final[Mapping[str, str]] = MappingProxyType(
    {"and": "all of a list of filters", "or": "any of a list of filters", "not": "the opposite of a filter"}
)


def operators_for(kind: Kind) -> list[str]:
    """The operators that can be used on a kind of value."""
    return [row.name for row in _ROWS if kind in row.kinds]
