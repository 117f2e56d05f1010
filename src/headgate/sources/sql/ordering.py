"""The order of a page, and the condition that it goes on from a cursor."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import case, tuple_

from headgate.query.kinds import Kind
from headgate.query.shapes import RANK, Direction, Listing, Path, SortKey
from headgate.sources.sql.parts import Parts

__all__ = ["Stretch", "sorted_by", "stretches"]


def _sorting(parts: Parts, path: Path) -> Any:
    return parts.rank if path is RANK else parts.words(path).ordered(parts.column(path))


def sorted_by(parts: Parts, key: SortKey, *, backward: bool, column: Any = None) -> list[Any]:
    """The expressions to sort by; null stands before everything."""
    column = _sorting(parts, key.path) if column is None else column
    descending = key.descending != backward
    made = column.desc() if descending else column.asc()
    if not parts.words(key.path).places_nulls or not _may_be_null(key.path):
        return [made]
    if parts.compiler.dialect.name == "postgresql":
        return [made.nulls_last() if descending else made.nulls_first()]
    missing = case((column.is_(None), 0), else_=1)
    return [missing.desc() if descending else missing.asc(), made]


@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of the order that one walk along an index can give: its condition, and how it is sorted."""

    conditions: tuple[Any, ...]
    order: tuple[Any, ...]


def stretches(parts: Parts, shape: Listing) -> list[Stretch]:
    """The parts that a page may be made of, one after the other; together they are all that is beyond the cursor.

    One condition for all of them would be right as well, but no index could find where it begins.
    """
    backward = shape.direction is Direction.BACKWARD
    whole = tuple(part for key in shape.order for part in sorted_by(parts, key, backward=backward))
    if shape.seek is None:
        return _from_the_end(parts, shape, whole, backward=backward)
    steps = _steps(parts, shape, backward=backward)
    if _as_row(parts, steps):
        columns, bounds = [step.column for step in steps], [step.bound for step in steps]
        left, right = (columns[0], bounds[0]) if len(steps) == 1 else (tuple_(*columns), tuple_(*bounds))
        return [Stretch((left < right if steps[0].descending else left > right,), whole)]
    made = []
    for place in reversed(range(len(steps))):
        same = tuple(before.same for before in steps[:place])
        later = (part for key in shape.order[place + 1 :] for part in sorted_by(parts, key, backward=backward))
        order = (steps[place].sorted, *later)
        made += [Stretch((*same, way), order) for way in steps[place].ways]
    return made


def _from_the_end(parts: Parts, shape: Listing, whole: tuple[Any, ...], *, backward: bool) -> list[Stretch]:
    """The whole order; in two parts where nulls come first only because we say so, which no index knows."""
    key = shape.order[0] if shape.order else None
    if key is None or shape.skips or not parts.words(key.path).places_nulls or not _may_be_null(key.path):
        return [Stretch((), whole)]
    step = _Step(_sorting(parts, key.path), None, key.descending != backward, nullable=True)
    rest = tuple(part for key in shape.order[1:] for part in sorted_by(parts, key, backward=backward))
    nothing, something = Stretch((step.same,), rest), Stretch((step.column.is_not(None),), (step.sorted, *rest))
    return [something, nothing] if step.descending else [nothing, something]


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
            path = None if key.path is RANK else key.path
            bound = parts.bind(slot, words.kind, words.bound_type(type_), path, stored=True)
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
    def sorted(self) -> Any:
        """How it is sorted where nulls and values do not meet."""
        return self.column.desc() if self.descending else self.column.asc()

    @property
    def ways(self) -> list[Any]:
        """Beyond the cursor's value: with a value, and, where those come later, without one."""
        if self.bound is None:
            return [] if self.descending else [self.column.is_not(None)]
        if not self.descending:
            return [self.column > self.bound]
        return [self.column < self.bound, *([self.column.is_(None)] if self.nullable else [])]
