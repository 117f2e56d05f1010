"""What is asked of a collection, as frozen values.

A *shape* says everything but the values: a statement is made from the shape alone, and the values are bound to it. So
no value can ever change a statement, and a statement is made once for all queries of one shape.
"""

from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final, NamedTuple, TypeAlias

from headgate.query.collections import Collection, Field, Relationship
from headgate.query.kinds import Kind
from headgate.query.operators import Operator

__all__ = [
    "RANK",
    "Aggregate",
    "AggregateShape",
    "All",
    "Any_",
    "Comparison",
    "Condition",
    "Direction",
    "Function",
    "Listing",
    "Not",
    "Paging",
    "Path",
    "Query",
    "SortKey",
    "Summaries",
    "TextShape",
    "Window",
    "is_remembered",
]

_LARGEST_REMEMBERED: Final = 200
"""Parts and values of a condition. Callers may state no end of larger ones, and seldom the same twice."""


@dataclass(frozen=True, slots=True, eq=False)
class Path:
    """A field as seen from a collection: over to-one relationships, then a field, then keys inside its JSON.

    Paths are made once for each text and compared by identity, so that shapes are cheap to look up.
    """

    text: str
    collection: Collection
    field: Field
    hops: tuple[Relationship, ...] = ()
    computed: bool = False
    keys: tuple[str, ...] = ()

    @property
    def nullable(self) -> bool:
        """Whether there may be no value."""
        return self.field.nullable or bool(self.hops) or bool(self.keys)


@dataclass(frozen=True, slots=True)
class Comparison:
    """A field compared with operands, which stand in the query's values from ``slot`` on."""

    path: Path
    operator: Operator
    slot: int
    count: int
    json_type: str = ""
    """Of a path inside JSON: the type that the operands have, which the value must have too."""


@dataclass(frozen=True, slots=True)
class All:
    """Every part holds; none at all holds always."""

    parts: tuple["Condition", ...]


@dataclass(frozen=True, slots=True)
class Any_:  # noqa: N801  (typing has taken the plain word)
    """At least one part holds; none at all never holds."""

    parts: tuple["Condition", ...]


@dataclass(frozen=True, slots=True)
class Not:
    """The part does not hold. Logic has two values: what is unknown does not hold, and its opposite does."""

    part: "Condition"


Condition: TypeAlias = Comparison | All | Any_ | Not


def _weight(condition: Condition | None) -> int:
    """How many parts a condition has, and values it is compared with."""
    match condition:
        case None:
            return 0
        case Comparison():
            return 1 + condition.count
        case Not():
            return 1 + _weight(condition.part)
        case All() | Any_():
            return 1 + sum(map(_weight, condition.parts))


class SortKey(NamedTuple):
    """One key of an order. Null stands before every value, so it comes first upwards and last downwards."""

    path: Path
    descending: bool = False


@dataclass(frozen=True, slots=True)
class TextShape:
    """A text query: how many words and phrases it has, and whether the best matches come first."""

    count: int
    ranked: bool
    slot: int


class Direction(Enum):
    """From which end of the order a page is taken."""

    FORWARD = "forward"
    BACKWARD = "backward"


@dataclass(frozen=True, slots=True)
class Listing:
    """The shape of a page of items.

    ``order`` ends with the key, so that it is total. ``seek`` tells, if the page goes on from a cursor, which of the
    cursor's values are null; the others stand in the query's values from ``seek_slot`` on. Everything about a page is
    found by its shape, so its hash is worked out once.
    """

    collection: Collection
    columns: tuple[Path, ...]
    condition: Condition | None = None
    text: TextShape | None = None
    order: tuple[SortKey, ...] = ()
    direction: Direction = Direction.FORWARD
    seek: tuple[bool, ...] | None = None
    seek_slot: int = 0
    skips: bool = False
    """Whether items are skipped: offset and numbered pages."""
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        order = self.order, self.direction.value, self.seek, self.seek_slot, self.skips
        object.__setattr__(self, "_hash", hash((self.collection, self.columns, self.condition, self.text, order)))

    def __hash__(self) -> int:
        return self._hash


class Function(Enum):
    """What can be computed of many items."""

    COUNT = "count"
    SUM = "sum"
    AVG = "avg"
    MIN = "min"
    MAX = "max"


@dataclass(frozen=True, slots=True)
class Aggregate:
    """One named summary: functions of fields, over all items or for each value of a field."""

    functions: tuple[tuple[Function, Path | None], ...]
    group_by: Path | None = None


@dataclass(frozen=True, slots=True)
class AggregateShape:
    """The shape of all summaries of a request; labels stand apart, since they are the caller's words."""

    collection: Collection
    aggregates: tuple[Aggregate, ...]
    condition: Condition | None = None
    text: TextShape | None = None


def is_remembered(shape: Listing | AggregateShape) -> bool:
    """Whether what is worked out for a shape is worth to be kept for the next request of the same one."""
    return _weight(shape.condition) <= _LARGEST_REMEMBERED


class Paging(Enum):
    """How the caller pages, which decides the form of the answer."""

    CURSOR = "cursor"
    OFFSET = "offset"
    PAGE = "page"


class Window(NamedTuple):
    """Which part of the order is asked for."""

    paging: Paging
    size: int
    offset: int = 0
    number: int = 1
    direction: Direction = Direction.FORWARD
    cursor: tuple[Any, ...] | None = None
    edges: bool = False


class Query(NamedTuple):
    """A page that is asked for: its shape, the values that belong to it, and which part of the order."""

    listing: Listing
    values: tuple[Any, ...]
    window: Window
    selection: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Summaries:
    """The summaries that are asked for, with the caller's labels."""

    shape: AggregateShape
    values: tuple[Any, ...]
    labels: tuple[str, ...]


RANK: Final = Path(
    "_rank",
    Collection("rank", "rank", {}),
    Field(name="rank", kind=Kind.NUMBER, description="How well an item matches a text query."),
)
"""What a ranked text query sorts by: no field of any collection."""
