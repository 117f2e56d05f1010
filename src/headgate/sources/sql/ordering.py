"""The order of a page, and the condition that it goes on from a cursor."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import and_, case, false, or_, true, tuple_

from headgate.query.kinds import Kind
from headgate.query.shapes import RANK, Direction, Listing, Path, SortKey
from headgate.sources.sql.parts import Parts

__all__ = ["beyond", "sorted_by"]


def _sorting(parts: Parts, path: Path) -> Any:
    return parts.rank if path is RANK else parts.words(path).ordered(parts.column(path))


def sorted_by(parts: Parts, key: SortKey, *, backward: bool) -> list[Any]:
    """The expressions to sort by; null stands before everything."""
    column = _sorting(parts, key.path)
    descending = key.descending != backward
    made = column.desc() if descending else column.asc()
    if not parts.words(key.path).places_nulls or not _may_be_null(key.path):
        return [made]
    if parts.compiler.dialect.name == "postgresql":
        return [made.nulls_last() if descending else made.nulls_first()]
    missing = case((column.is_(None), 0), else_=1)
    return [missing.desc() if descending else missing.asc(), made]


def beyond(parts: Parts, shape: Listing) -> Any:
    """That an item stands on the far side of a cursor."""
    backward = shape.direction is Direction.BACKWARD
    steps = _steps(parts, shape, backward=backward)
    if _as_row(parts, steps):
        columns, bounds = [step.column for step in steps], [step.bound for step in steps]
        left, right = (columns[0], bounds[0]) if len(steps) == 1 else (tuple_(*columns), tuple_(*bounds))
        return left < right if steps[0].descending else left > right
    ways = []
    for place, step in enumerate(steps):
        ways.append(and_(*(before.same for before in steps[:place]), step.past))
    return and_(steps[0].not_before, or_(*ways))


def _as_row(parts: Parts, steps: Sequence["_Step"]) -> bool:
    plain = all(step.bound is not None and not step.nullable for step in steps)
    alike = len({step.descending for step in steps}) == 1
    return plain and alike and (len(steps) == 1 or parts.compiler.words(Kind.INTEGER).compares_rows)


def _steps(parts: Parts, shape: Listing, *, backward: bool) -> list["_Step"]:
    steps, slot = [], shape.seek_slot
    for key, is_null in zip(shape.order, shape.seek or (), strict=True):
        column = _sorting(parts, key.path)
        bound = None
        if not is_null:
            words = parts.words(key.path)
            type_ = column.type if key.path is RANK else parts.column(key.path).type
            bound = parts.bind(slot, words.kind, words.bound_type(type_), None if key.path is RANK else key.path)
            slot += 1
        steps.append(_Step(column, bound, key.descending != backward, _may_be_null(key.path)))
    return steps


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
