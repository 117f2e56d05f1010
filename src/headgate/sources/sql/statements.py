"""From shapes to SQL. A statement is made from a shape alone; values are bound by the driver, never written in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Dialect, Select, bindparam, func, select, union_all
from sqlalchemy.types import BigInteger, NullType, TypeEngine

from headgate.query.kinds import Kind
from headgate.query.shapes import RANK, AggregateShape, Direction, Function, Listing, Path, SortKey
from headgate.sources.sql.full_text import FullTextWords, full_text_words
from headgate.sources.sql.ordering import sorted_by, stretches
from headgate.sources.sql.parts import Bound, Parts, computed_in
from headgate.sources.sql.schema import Schema
from headgate.sources.sql.words import Words, words_for

__all__ = ["Bound", "Compiler", "Statement"]

LIMIT: Final = "page_size"
OFFSET: Final = "page_start"


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

    def listing(self, shape: Listing) -> list[Statement]:
        """The statements of a page: mostly one; several, where they are to be run in turn until the page is full."""
        parts = Parts(self, shape.collection, computed_in(shape))
        text = parts.text(shape.text) if shape.text else None
        columns = [parts.rank if path is RANK else parts.fetched(path) for path in shape.columns]
        chosen: Select[Any] = select(*(column.label(f"c{place}") for place, column in enumerate(columns)))
        conditions = [parts.condition(shape.condition)] if shape.condition else []
        if text is not None:
            conditions.append(text)
        walks = stretches(parts, shape)
        limit = bindparam(LIMIT, type_=BigInteger())
        pages = [
            chosen.select_from(parts.source).where(*conditions, *walk.conditions).order_by(*walk.order).limit(limit)
            for walk in walks
        ]
        if len(pages) > 1 and not self.words(Kind.INTEGER).runs_in_turn:
            pages = [self._one_after_the_other(shape, parts, pages).limit(limit)]
        if shape.skips:
            pages = [page.offset(bindparam(OFFSET, type_=BigInteger())) for page in pages]
        results = [_result(path, parts) for path in shape.columns]
        return [self.compile(page, parts.bounds, results) for page in pages]

    @staticmethod
    def _one_after_the_other(shape: Listing, parts: Parts, pages: Sequence[Select[Any]]) -> Select[Any]:
        """Several pages put together and sorted again, which are only a few rows."""
        both = union_all(*(select(page.subquery(f"p{place}")) for place, page in enumerate(pages))).subquery("u")
        backward = shape.direction is Direction.BACKWARD
        order: list[Any] = []
        for key in shape.order:
            column = both.c[f"c{shape.columns.index(key.path)}"]
            ordered = column if key.path is RANK else parts.words(key.path).ordered(column)
            order += sorted_by(parts, key, backward=backward, column=ordered)
        return select(both).order_by(*order)

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
        parts = Parts(self, shape.collection, computed_in(shape))
        conditions = [parts.text(shape.text)] if shape.text else []
        if shape.condition:
            conditions.append(parts.condition(shape.condition))
        functions = [one for place in places for one in shape.aggregates[place].functions]
        results: list[tuple[Kind, TypeEngine[Any] | None, Path | None]] = []
        columns: list[Any] = []
        if group_by is not None:
            group = parts.words(group_by).grouped(parts.column(group_by))
            columns += [func.count().over().label("groups"), group.label("grouped")]
            results += [(Kind.INTEGER, None, None), _result(group_by, parts)]
        columns += [parts.function(*one).label(f"f{place}") for place, one in enumerate(functions)]
        results += [_function_result(one, path, parts) for one, path in functions]
        chosen: Select[Any] = select(*columns).select_from(parts.source).where(*conditions)
        if group_by is not None:
            first = sorted_by(parts, SortKey(group_by), backward=False)
            chosen = chosen.group_by(group).order_by(func.count().desc(), *first)
            chosen = chosen.limit(bindparam(LIMIT, type_=BigInteger()))
        return self.compile(chosen, parts.bounds, results)

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


def _result(path: Path, parts: Parts) -> tuple[Kind, TypeEngine[Any] | None, Path | None]:
    if path is RANK:
        return Kind.NUMBER, None, None
    return path.field.kind, None if path.computed else parts.raw_column(path).type, path


def _function_result(
    function: Function, path: Path | None, parts: Parts
) -> tuple[Kind, TypeEngine[Any] | None, Path | None]:
    if path is None:
        return Kind.INTEGER, None, None
    if function is Function.AVG:
        return Kind.NUMBER, None, None
    if function is Function.SUM and path.field.kind is Kind.INTEGER:
        return Kind.INTEGER, None, None
    return _result(path, parts)
