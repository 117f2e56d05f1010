"""From shapes to SQL. A statement is made from a shape alone; values are bound by the driver, never written in."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy import (
    Dialect,
    FromClause,
    Select,
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
    tuple_,
    type_coerce,
)
from sqlalchemy.sql.elements import BindParameter, ColumnElement
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
    Direction,
    Function,
    Listing,
    Not,
    Path,
    SortKey,
    TextShape,
)
from headgate.sources.sql.full_text import FullTextWords, full_text_words
from headgate.sources.sql.schema import Schema, TableMap
from headgate.sources.sql.words import Words, words_for

__all__ = ["Bound", "Compiler", "Statement"]

LIMIT: Final = "page_size"
OFFSET: Final = "page_start"


@dataclass(frozen=True, slots=True)
class Bound:
    """Where the value of a parameter comes from: one of the query's values, or all words of its text query."""

    slot: int
    kind: Kind
    type: TypeEngine[Any]
    words: int = 0
    path: Path | None = None
    constant: Any = None
    """The value itself, of what the statement was made with, such as a path inside JSON."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One compiled statement: its text, its parameters in the driver's order, and where their values come from."""

    sql: str
    order: tuple[str, ...]
    bounds: Mapping[str, Bound]
    columns: tuple[tuple[Kind, TypeEngine[Any] | None, Path | None], ...] = ()
    """What each column of the result is, so that it can be read."""


class Compiler:
    """Makes the statements of one database."""

    def __init__(self, schema: Schema, dialect: Dialect) -> None:
        self.schema = schema
        self.dialect = dialect
        self.words: type[Words] = words_for(dialect)
        self.full_text: FullTextWords | None = full_text_words(dialect)

    def listing(self, shape: Listing) -> Statement:
        """The statement of a page."""
        work = _Work(self, shape.collection, _computed(shape))
        text = work.text(shape.text) if shape.text else None
        columns = [work.column(path) if path is not RANK else work.rank for path in shape.columns]
        chosen: Select[Any] = select(*(column.label(f"c{place}") for place, column in enumerate(columns)))
        conditions = [work.condition(shape.condition)] if shape.condition else []
        if text is not None:
            conditions.append(text)
        if shape.seek is not None:
            conditions.append(work.beyond(shape))
        backward = shape.direction is Direction.BACKWARD
        chosen = chosen.select_from(work.source).where(*conditions)
        chosen = chosen.order_by(*(part for key in shape.order for part in work.sorted(key, backward=backward)))
        chosen = chosen.limit(bindparam(LIMIT, type_=BigInteger()))
        if shape.skips:
            chosen = chosen.offset(bindparam(OFFSET, type_=BigInteger()))
        return self.compile(chosen, work.bounds, [_result(path, work) for path in shape.columns])

    def summaries(self, shape: AggregateShape) -> list[tuple[Statement, list[int]]]:
        """As few statements as can be: one for all summaries of everything, one for each field that groups.

        Each comes with the aggregates that it answers. Their functions follow one another in the result, after the
        number of groups and the group's value where there are groups.
        """
        kinds: dict[Path | None, list[int]] = {}
        for place, aggregate in enumerate(shape.aggregates):
            kinds.setdefault(aggregate.group_by, []).append(place)
        return [(self._summary(shape, group_by, places), places) for group_by, places in kinds.items()]

    def _summary(self, shape: AggregateShape, group_by: Path | None, places: Sequence[int]) -> Statement:
        work = _Work(self, shape.collection, _computed(shape))
        conditions = [work.text(shape.text)] if shape.text else []
        if shape.condition:
            conditions.append(work.condition(shape.condition))
        functions = [one for place in places for one in shape.aggregates[place].functions]
        results: list[tuple[Kind, TypeEngine[Any] | None, Path | None]] = []
        columns: list[Any] = []
        if group_by is not None:
            group = work.words(group_by).grouped(work.column(group_by))
            columns += [func.count().over().label("groups"), group.label("grouped")]
            results += [(Kind.INTEGER, None, None), _result(group_by, work)]
        columns += [work.function(*one).label(f"f{place}") for place, one in enumerate(functions)]
        results += [_function_result(one, path, work) for one, path in functions]
        chosen: Select[Any] = select(*columns).select_from(work.source).where(*conditions)
        if group_by is not None:
            first = work.sorted(SortKey(group_by), backward=False)
            chosen = chosen.group_by(group).order_by(func.count().desc(), *first)
            chosen = chosen.limit(bindparam(LIMIT, type_=BigInteger()))
        return self.compile(chosen, work.bounds, results)

    def compile(
        self,
        statement: Any,
        bounds: Mapping[str, Bound],
        columns: Sequence[tuple[Kind, TypeEngine[Any] | None, Path | None]] = (),
    ) -> Statement:
        """The text of a statement for the driver. Constants that we wrote ourselves are bound with it."""
        compiled = statement.compile(dialect=self.dialect)
        constants = {
            name: _constant(value)
            for name, value in compiled.params.items()
            if name not in bounds and value is not None
        }
        order = tuple(compiled.positiontup or compiled.params)
        return Statement(compiled.string, order, {**bounds, **constants}, tuple(columns))


def _constant(value: Any) -> Bound:
    return Bound(-1, Kind.JSON, NullType(), constant=value)


def _result(path: Path, work: "_Work") -> tuple[Kind, TypeEngine[Any] | None, Path | None]:
    if path is RANK:
        return Kind.NUMBER, None, None
    return path.field.kind, None if path.computed else work.raw_column(path).type, path


def _function_result(
    function: Function, path: Path | None, work: "_Work"
) -> tuple[Kind, TypeEngine[Any] | None, Path | None]:
    if path is None:
        return Kind.INTEGER, None, None
    if function is Function.AVG:
        return Kind.NUMBER, None, None
    return _result(path, work)


@dataclass(slots=True)
class _Work:
    """The making of one statement: the tables that it joins, and the parameters that it binds."""

    compiler: Compiler
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

    def words(self, path: Path) -> Words:
        """How this database speaks of the field."""
        if path is RANK:
            return self.compiler.words(Kind.NUMBER, exact=True)
        return self.compiler.words(path.field.kind, self._map(path.collection).exact_text)

    def bind(self, slot: int, kind: Kind, type_: TypeEngine[Any], path: Path | None = None) -> BindParameter[Any]:
        """The parameter for one of the query's values."""
        name = f"v{slot}"
        self.bounds[name] = Bound(slot, kind, type_, path=path)
        return bindparam(name, type_=type_)

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
        if comparison.operator.name == "is_null" or not path.nullable:
            return not_(made)
        return or_(not_(made), column.is_(None))

    # order

    def _sorting(self, path: Path) -> Any:
        return self.rank if path is RANK else self.words(path).ordered(self.column(path))

    def sorted(self, key: SortKey, *, backward: bool) -> list[Any]:
        """The expressions to sort by; null stands before everything."""
        column = self._sorting(key.path)
        descending = key.descending != backward
        made = column.desc() if descending else column.asc()
        if not self.words(key.path).places_nulls or not _may_be_null(key.path):
            return [made]
        if self.compiler.dialect.name == "postgresql":
            return [made.nulls_last() if descending else made.nulls_first()]
        missing = case((column.is_(None), 0), else_=1)
        return [missing.desc() if descending else missing.asc(), made]

    def beyond(self, shape: Listing) -> Any:
        """That an item stands on the far side of a cursor."""
        backward = shape.direction is Direction.BACKWARD
        steps = self._steps(shape, backward=backward)
        if self._as_row(steps):
            columns, bounds = [step.column for step in steps], [step.bound for step in steps]
            left, right = (columns[0], bounds[0]) if len(steps) == 1 else (tuple_(*columns), tuple_(*bounds))
            return left < right if steps[0].descending else left > right
        ways = []
        for place, step in enumerate(steps):
            ways.append(and_(*(before.same for before in steps[:place]), step.past))
        return and_(steps[0].not_before, or_(*ways))

    def _as_row(self, steps: Sequence["_Step"]) -> bool:
        plain = all(step.bound is not None and not step.nullable for step in steps)
        alike = len({step.descending for step in steps}) == 1
        return plain and alike and (len(steps) == 1 or self.compiler.words(Kind.INTEGER).compares_rows)

    def _steps(self, shape: Listing, *, backward: bool) -> list["_Step"]:
        steps, slot = [], shape.seek_slot
        for key, is_null in zip(shape.order, shape.seek or (), strict=True):
            column = self._sorting(key.path)
            bound = None
            if not is_null:
                words = self.words(key.path)
                type_ = column.type if key.path is RANK else self.column(key.path).type
                bound = self.bind(slot, words.kind, words.bound_type(type_), None if key.path is RANK else key.path)
                slot += 1
            steps.append(_Step(column, bound, key.descending != backward, _may_be_null(key.path)))
        return steps

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


def _computed(shape: Listing | AggregateShape) -> frozenset[tuple[Collection, str]]:
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


def _may_be_null(path: Path) -> bool:
    return path is not RANK and path.nullable


@dataclass(frozen=True, slots=True)
class _Step:
    """One key of the order, and the cursor's value for it. Null is before everything."""

    column: Any
    bound: Any
    descending: bool
    nullable: bool

    @property
    def same(self) -> Any:
        """Equal to the cursor's value."""
        return self.column.is_(None) if self.bound is None else self.column == self.bound

    @property
    def past(self) -> Any:
        """Beyond the cursor's value."""
        if self.bound is None:
            return false() if self.descending else self.column.is_not(None)
        if not self.descending:
            return self.column > self.bound
        return or_(self.column < self.bound, self.column.is_(None)) if self.nullable else self.column < self.bound

    @property
    def not_before(self) -> Any:
        """Beyond the cursor's value or equal to it: a bound that an index can start from."""
        if self.bound is None:
            return self.column.is_(None) if self.descending else true()
        if not self.descending:
            return self.column >= self.bound
        return or_(self.column <= self.bound, self.column.is_(None)) if self.nullable else self.column <= self.bound
