"""The parts of a statement: the tables that it joins, the parameters that it binds, its conditions and functions."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import (
    FromClause,
    and_,
    bindparam,
    case,
    false,
    func,
    literal_column,
    not_,
    or_,
    select,
    true,
    type_coerce,
)
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.types import BigInteger, Boolean, Date, DateTime, Double, NullType, Numeric, Text, TypeEngine

from headgate.query.collections import Collection, Relationship
from headgate.query.kinds import Kind
from headgate.query.shapes import (
    RANK,
    AggregateShape,
    All,
    Any_,
    Comparison,
    Condition,
    Function,
    Listing,
    Not,
    Path,
    TextShape,
)
from headgate.sources.sql.schema import TableMap
from headgate.sources.sql.words import Words

if TYPE_CHECKING:
    from headgate.sources.sql.statements import Compiler

__all__ = ["Bound", "Parts", "computed_in"]


@dataclass(frozen=True, slots=True)
class Bound:
    """Where the value of a parameter comes from: one of the query's values, or all words of its text query."""

    slot: int
    kind: Kind
    type: TypeEngine[Any]
    words: int = 0
    path: Path | None = None
    stored: bool = False
    """Whether the value comes from a row, and is bound as it came."""
    constant: Any = None
    """The value itself, of what the statement was made with, such as a path inside JSON."""


@dataclass(slots=True)
class Parts:
    """The making of one statement."""

    compiler: "Compiler"
    collection: Collection
    computed: frozenset[tuple[Collection, str]] = frozenset()
    """The expressions that the statement needs."""
    bounds: dict[str, Bound] = field(default_factory=dict)
    rank: Any = None
    _aliases: dict[tuple[str, ...], FromClause] = field(default_factory=dict)
    _source: FromClause | None = None

    @property
    def source(self) -> FromClause:
        """The collection's table with all that was joined to it."""
        return self._base() if self._source is None else self._source

    def _base(self) -> FromClause:
        if () not in self._aliases:
            self._aliases[()] = self._aliased(self.collection, "t")
        return self._aliases[()]

    def _aliased(self, collection: Collection, name: str) -> FromClause:
        """A table under a name of its own. Expressions of the adapter's author are columns of it: they see no other."""
        table = self._map(collection).table
        computed = [one for one in collection.computed.values() if one.sql and (collection, one.name) in self.computed]
        if not computed:
            return table.alias(name)
        expressions: list[Any] = [literal_column(f"({one.sql})").label(_computed_name(one.name)) for one in computed]
        return select(*table.columns, *expressions).subquery(name)

    def _map(self, collection: Collection) -> TableMap:
        return self.compiler.schema.tables[collection.name]

    def _at(self, hops: Sequence[Relationship]) -> FromClause:
        """The table at the end of some relationships, joined once."""
        if not hops:
            return self._base()
        names = tuple(hop.name for hop in hops)
        if names not in self._aliases:
            before = self._at(hops[:-1])
            start = self.collection if len(hops) == 1 else self.compiler.schema.catalog[hops[-2].target]
            self._join(names, before, self._map(start), hops[-1])
        return self._aliases[names]

    def _join(self, names: tuple[str, ...], before: FromClause, start: TableMap, hop: Relationship) -> None:
        end = self.compiler.schema.tables[hop.target]
        alias = self._aliased(end.collection, f"j{len(self._aliases)}")
        pairs = zip(hop.local, hop.remote, strict=True)
        on = and_(*(before.c[start.columns[a].key] == alias.c[end.columns[b].key] for a, b in pairs))
        self._source = self.source.outerjoin(alias, on)
        self._aliases[names] = alias

    def raw_column(self, path: Path) -> ColumnElement[Any]:
        """The column itself."""
        table = self._at(path.hops)
        return table.c[self._map(path.collection).columns[path.field.name].key]

    def column(self, path: Path) -> ColumnElement[Any]:
        """What a path names: a column or an expression."""
        if not path.computed:
            return self.raw_column(path)
        table = self._at(path.hops)
        return type_coerce(table.c[_computed_name(path.field.name)], _COMPUTED_TYPES.get(path.field.kind, NullType()))

    def fetched(self, path: Path) -> Any:
        """What a path names, as it is selected."""
        return self.words(path).fetched(self.column(path))

    def words(self, path: Path) -> Words:
        """How this database speaks of the field."""
        if path is RANK:
            return self.compiler.words(Kind.NUMBER, exact=True)
        return self.compiler.words(path.field.kind, self._map(path.collection).exact_text)

    def bind(
        self, slot: int, kind: Kind, type_: TypeEngine[Any], path: Path | None = None, *, stored: bool = False
    ) -> Any:
        """The parameter for one of the query's values."""
        name = f"v{slot}"
        self.bounds[name] = Bound(slot, kind, type_, path=path, stored=stored)
        bound: Any = bindparam(name, type_=type_)
        return self.compiler.words(kind).operand(bound)

    # conditions

    def condition(self, condition: Condition, *, opposite: bool = False) -> Any:
        """A condition that is true or not, never unknown where that would matter."""
        match condition:
            case All(parts) | Any_(parts):
                made = [self.condition(part, opposite=opposite) for part in parts]
                if isinstance(condition, All) != opposite:
                    return and_(true(), *made)
                return or_(false(), *made)
            case Not(part):
                return self.condition(part, opposite=not opposite)
            case Comparison():
                return self._comparison(condition, opposite=opposite)

    def _comparison(self, comparison: Comparison, *, opposite: bool) -> Any:
        path, words = comparison.path, self.words(comparison.path)
        column = self.column(path)
        type_ = column.type
        if path.field.kind is Kind.JSON and (path.keys or comparison.json_type):
            kind = next((one for one in Kind if one.word == comparison.json_type), None)
            column = words.inside(column, path.keys, kind)
            words = self.compiler.words(kind or Kind.JSON)
            type_ = column.type
        slots = range(comparison.slot, comparison.slot + comparison.count)
        operands = tuple(self.bind(slot, words.kind, words.bound_type(type_), path) for slot in slots)
        made = comparison.operator.sql(words, column, operands)
        if not opposite:
            return made
        if comparison.operator.name == "is_null" or not (path.nullable or comparison.json_type):
            return not_(made)
        return or_(not_(made), column.is_(None))

    # text

    def text(self, text: TextShape) -> Any:
        """That an item holds a word of the text query; ``rank`` tells how well it matches."""
        mapped = self._map(self.collection)
        if mapped.full_text and self.compiler.full_text:
            bounds = Bound(text.slot, Kind.TEXT, Text(), words=text.count)
            self.bounds["words"] = bounds
            base = self._base()
            self._source, holds, self.rank = self.compiler.full_text(
                mapped, base, self.source, bindparam("words", type_=Text())
            )
            return holds
        hits = [self._holds(self.bind(slot, Kind.TEXT, Text())) for slot in range(text.slot, text.slot + text.count)]
        self.rank = sum((case((hit, 1), else_=0) for hit in hits[1:]), case((hits[0], 1), else_=0))
        return or_(*hits)

    def _holds(self, word: Any) -> Any:
        mapped, table = self._map(self.collection), self._base()
        words = self.compiler.words(Kind.TEXT, mapped.exact_text)
        texts = (table.c[mapped.columns[name].key] for name in self.collection.searchable)
        return or_(*(words.contains(words.folded(text), words.folded(word)) for text in texts))

    # functions

    def function(self, function: Function, path: Path | None) -> Any:
        """A function over many items."""
        if path is None:
            return func.count()
        column, words = self.column(path), self.words(path)
        match function:
            case Function.AVG:
                return words.mean(column)
            case Function.MIN:
                return func.min(words.extreme(column))
            case Function.MAX:
                return func.max(words.extreme(column))
            case _:
                return func.sum(column)


def _computed_name(name: str) -> str:
    return f"computed__{name}"


def computed_in(shape: Listing | AggregateShape) -> frozenset[tuple[Collection, str]]:
    """The computed fields that a shape speaks of."""
    return frozenset((path.collection, path.field.name) for path in _paths(shape) if path.computed)


def _paths(shape: Listing | AggregateShape) -> Iterator[Path]:
    yield from _compared(shape.condition)
    if isinstance(shape, Listing):
        yield from shape.columns
        yield from (key.path for key in shape.order)
        return
    for aggregate in shape.aggregates:
        yield from (path for path in (aggregate.group_by, *(path for _, path in aggregate.functions)) if path)


def _compared(condition: Condition | None) -> Iterator[Path]:
    match condition:
        case All(parts) | Any_(parts):
            for part in parts:
                yield from _compared(part)
        case Not(part):
            yield from _compared(part)
        case Comparison():
            yield condition.path


_COMPUTED_TYPES: Final[Mapping[Kind, TypeEngine[Any]]] = {
    Kind.TEXT: Text(),
    Kind.INTEGER: BigInteger(),
    Kind.NUMBER: Double(),
    Kind.DECIMAL: Numeric(),
    Kind.BOOLEAN: Boolean(),
    Kind.DATE: Date(),
    Kind.DATETIME: DateTime(timezone=True),
}
"""What an expression gives, by the kind that its author declared."""
