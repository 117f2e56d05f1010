"""Listings and summaries over Python values. What is true here is true in every database: it is their measure."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from headgate.protocol.requests import json_type
from headgate.query.backends import Groups, Row
from headgate.query.collections import COMPUTED, Collection
from headgate.query.kinds import Kind, fold
from headgate.query.shapes import (
    RANK,
    Aggregate,
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

__all__ = ["Item", "Items", "list_items", "summarize_items"]

Item: TypeAlias = Mapping[str, Any]
Items: TypeAlias = Callable[[str], Sequence[Item]]
"""Gives the items of a collection by its name."""


def list_items(
    listing: Listing, values: Sequence[Any], items: Items, limit: int, offset: int = 0
) -> tuple[list[Row], int]:
    """The rows of a listing, and how many items meet its condition."""
    world = _World(items)
    found = _matching(world, listing.collection, listing.condition, listing.text, values)
    ranks = world.rank(listing, values)
    ordered = _sorted(found, listing.order, ranks)
    if listing.seek is not None:
        ordered = _beyond(ordered, listing, values, ranks)
    if listing.direction is Direction.BACKWARD:
        ordered = ordered[::-1]
    page = ordered[offset : offset + limit]
    return [tuple(ranks(item, path) for path in listing.columns) for item in page], len(found)


def summarize_items(shape: AggregateShape, values: Sequence[Any], items: Items, most: int) -> list[Groups]:
    """The summaries of a shape."""
    world = _World(items)
    found = _matching(world, shape.collection, shape.condition, shape.text, values)
    return [_summary(aggregate, found, world, most) for aggregate in shape.aggregates]


_Value: TypeAlias = Callable[[Item, Path], Any]


class _World:
    """Finds the values that paths name, following relationships with an index for each."""

    def __init__(self, items: Items) -> None:
        self.items = items
        self._indexes: dict[tuple[str, tuple[str, ...]], dict[tuple[Any, ...], Item]] = {}

    def value(self, item: Item, path: Path) -> Any:
        """The value at a path, or None."""
        here: Item | None = item
        for hop in path.hops:
            key = tuple(here[name] for name in hop.local) if here else (None,)
            here = None if None in key else self._index(hop.target, hop.remote).get(key)
        if here is None:
            return None
        if path.computed:
            return _computed(path, here)
        return _inside(here.get(path.field.name), path.keys)

    def _index(self, target: str, remote: tuple[str, ...]) -> dict[tuple[Any, ...], Item]:
        found = self._indexes.get((target, remote))
        if found is None:
            found = {tuple(item[name] for name in remote): item for item in self.items(target)}
            self._indexes[target, remote] = found
        return found

    def rank(self, listing: Listing, values: Sequence[Any]) -> _Value:
        """Finds values, and how many words of the text query an item holds."""
        text, collection = listing.text, listing.collection

        def value(item: Item, path: Path) -> Any:
            if path is RANK and text is not None:
                return _hits(item, collection, text, values)
            return self.value(item, path)

        return value


def _computed(path: Path, item: Item) -> Any:
    computed = path.collection.computed[path.field.name]
    if computed.function is None:
        return item.get(f"{COMPUTED}.{computed.name}")
    make = path.collection.item
    return computed.function(make(item) if make else item)


def _inside(value: Any, keys: Sequence[str]) -> Any:
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def _matching(
    world: _World, collection: Collection, condition: Condition | None, text: TextShape | None, values: Sequence[Any]
) -> list[Item]:
    found: Iterable[Item] = world.items(collection.name)
    if text is not None:
        found = (item for item in found if _hits(item, collection, text, values))
    if condition is not None:
        found = (item for item in found if _holds(condition, item, world, values))
    return list(found)


def _holds(condition: Condition, item: Item, world: _World, values: Sequence[Any]) -> bool:
    match condition:
        case All(parts):
            return all(_holds(part, item, world, values) for part in parts)
        case Any_(parts):
            return any(_holds(part, item, world, values) for part in parts)
        case Not(part):
            return not _holds(part, item, world, values)
        case Comparison():
            return _compares(condition, world.value(item, condition.path), values)


def _compares(comparison: Comparison, value: Any, values: Sequence[Any]) -> bool:
    operands = tuple(values[comparison.slot : comparison.slot + comparison.count])
    if value is None:
        return comparison.operator.name == "is_null"
    if comparison.json_type and not _is_of(value, comparison.json_type):
        return False
    return comparison.operator.meaning(value, operands)


def _is_of(value: object, word: str) -> bool:
    return json_type(value) == word or (word == Kind.NUMBER.word and json_type(value) == "integer")


def _hits(item: Item, collection: Collection, text: TextShape, values: Sequence[Any]) -> int:
    texts = [fold(item[name]) for name in collection.searchable if isinstance(item.get(name), str)]
    words = (fold(word) for word in values[text.slot : text.slot + text.count])
    return sum(any(word in one for one in texts) for word in words)


def _sorted(items: list[Item], order: Sequence[SortKey], value: _Value) -> list[Item]:
    """Sorted by the last key first: each sort keeps what the ones before it did to equal items."""
    for key in reversed(order):
        places = {id(item): _place(value(item, key.path)) for item in items}
        items = sorted(items, key=lambda item: places[id(item)], reverse=key.descending)
    return items


def _place(value: Any) -> tuple[bool, Any]:
    """Null before everything."""
    return value is not None, value


def _beyond(items: list[Item], listing: Listing, values: Sequence[Any], value: _Value) -> list[Item]:
    """The items on the far side of the cursor."""
    there = iter(values[listing.seek_slot :])
    cursor = [None if is_null else next(there) for is_null in listing.seek or ()]
    backward = listing.direction is Direction.BACKWARD

    def is_beyond(item: Item) -> bool:
        for key, bound in zip(listing.order, cursor, strict=True):
            here, limit = _place(value(item, key.path)), _place(bound)
            if here != limit:
                return (here > limit) != (key.descending != backward)
        return False

    return [item for item in items if is_beyond(item)]


def _summary(aggregate: Aggregate, items: list[Item], world: _World, most: int) -> Groups:
    if aggregate.group_by is None:
        return Groups([tuple(_function(one, path, items, world) for one, path in aggregate.functions)], 1)
    groups: dict[Any, list[Item]] = {}
    for item in items:
        groups.setdefault(world.value(item, aggregate.group_by), []).append(item)
    largest = sorted(groups.items(), key=lambda group: (-len(group[1]), _place(group[0])))
    rows = [
        (value, *(_function(one, path, members, world) for one, path in aggregate.functions))
        for value, members in largest[:most]
    ]
    return Groups(rows, len(groups))


def _function(function: Function, path: Path | None, items: list[Item], world: _World) -> Any:
    if path is None:
        return len(items)
    values = [value for value in (world.value(item, path) for item in items) if value is not None]
    return _FUNCTIONS[function](values) if values else None


_FUNCTIONS: Mapping[Function, Callable[[list[Any]], Any]] = {
    Function.COUNT: len,
    Function.SUM: sum,
    Function.AVG: lambda values: float(sum(values)) / len(values),
    Function.MIN: min,
    Function.MAX: max,
}
