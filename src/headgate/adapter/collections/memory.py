"""Collections whose items are Python objects in this process."""

from collections.abc import Callable, Mapping, MutableMapping, MutableSequence, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeAlias
from uuid import UUID

from pydantic import TypeAdapter, ValidationError
from pydantic_core import to_jsonable_python

from headgate.adapter.etags import require_version
from headgate.protocol.errors import Conflict, Invalid, NotFound
from headgate.query.backends import Change, Changed, Edge, Fetched, Groups, Key, merged, shown_key
from headgate.query.collections import Collection, Field, Relationship
from headgate.query.kinds import Kind
from headgate.query.memory import Item, list_items, summarize_items
from headgate.query.shapes import AggregateShape, Listing

__all__ = ["Holder", "Holdings", "MemoryBackend", "without_absent"]

Holdings: TypeAlias = MutableSequence[Any] | MutableMapping[Any, Any] | Callable[[], Sequence[Any]] | Sequence[Any]


@dataclass(frozen=True)
class Holder:
    """The items of one collection, as their author keeps them, and how they become fields and back."""

    collection: Collection
    model: TypeAdapter[Any]
    holdings: Holdings

    @property
    def writable(self) -> bool:
        """Whether items can be added: not to a tuple, nor to what a function gives."""
        return isinstance(self.holdings, MutableSequence | MutableMapping)

    @property
    def held(self) -> Any:
        """What items are held in, by place or by key: asked for where there is such a thing, since it is writable."""
        return self.holdings

    def objects(self) -> Sequence[Any]:
        """The author's objects."""
        held = self.holdings
        if isinstance(held, Mapping):
            return list(held.values())
        return held() if callable(held) else held

    def item(self, thing: object) -> dict[str, Any]:
        """The fields of an object, as the query language knows them."""
        plain = thing if isinstance(thing, Mapping) else self.model.dump_python(thing, by_alias=True)
        return {name: inner(field, plain.get(name)) for name, field in self.collection.fields.items()}

    def thing(self, item: Mapping[str, Any]) -> Any:
        """The object that has these fields."""
        try:
            return self.model.validate_python(without_absent(self.collection.fields, item))
        except ValidationError as error:
            place = ".".join(map(str, error.errors()[0]["loc"]))
            raise Invalid(place or self.collection.singular, "the item would not be complete or consistent") from None

    def key_of(self, item: Mapping[str, Any]) -> Key:
        """The key in an item's fields."""
        return tuple(item[name] for name in self.collection.key)

    def place_of(self, key: Key) -> Any:
        """Where the item of a key is held, or None."""
        held = self.holdings
        pairs = held.items() if isinstance(held, Mapping) else enumerate(self.objects())
        return next((place for place, thing in pairs if self.key_of(self.item(thing)) == key), None)


def without_absent(fields: Mapping[str, Field], item: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that an item has: null stands for one that may be missing but has no null among its values."""
    return {name: value for name, value in item.items() if value is not None or fields[name].nullable}


def inner(field: Field, value: Any) -> Any:
    """A value of an author's object as the query language knows it."""
    if isinstance(value, Enum):
        value = value.value
    if value is None:
        return None
    if field.kind in (Kind.JSON, Kind.ARRAY):
        return to_jsonable_python(value)
    return field.kind.read(str(value) if isinstance(value, UUID) else value)


class MemoryBackend:
    """Executes shapes over Python objects. Nothing awaits in between, so each change happens at once or not at all."""

    def __init__(self) -> None:
        self._holders: dict[str, Holder] = {}

    def add(self, holder: Holder) -> None:
        """Take a collection's items in."""
        self._holders[holder.collection.name] = holder

    def _items(self, name: str) -> Sequence[Item]:
        holder = self._holders[name]
        return [holder.item(thing) for thing in holder.objects()]

    async def fetch(self, listing: Listing, values: Sequence[Any], limit: int, offset: int = 0) -> Fetched:
        """A page; the total is known anyway."""
        rows, total = list_items(listing, values, self._items, limit, offset)
        return Fetched(rows, total=total)

    async def summarize(self, shape: AggregateShape, values: Sequence[Any], most: int) -> list[Groups]:
        """The summaries."""
        return summarize_items(shape, values, self._items, most)

    async def insert(self, collection: Collection, fields: Mapping[str, Any], *, dry_run: bool) -> Changed:
        """Add an item."""
        holder = self._holders[collection.name]
        thing = holder.thing({collection.version: 1, **fields} if collection.version else fields)
        item = holder.item(thing)
        key = holder.key_of(item)
        if key and holder.place_of(key) is not None:
            raise Conflict(collection.singular, shown_key(key))
        if not dry_run:
            _put(holder, key, thing)
        return Changed(item)

    async def update(self, collection: Collection, change: Change, *, dry_run: bool) -> Changed:
        """Change an item."""
        holder = self._holders[collection.name]
        place, before = self._existing(holder, change.key, change.if_match)
        changes = {name: merged(collection.fields[name], before, value) for name, value in change.fields.items()}
        if collection.version:
            changes[collection.version] = before[collection.version] + 1
        thing = holder.thing({**before, **changes})
        if not dry_run:
            holder.held[place] = thing
        return Changed(holder.item(thing), before)

    async def delete(self, collection: Collection, key: Key, if_match: str | None, *, dry_run: bool) -> Changed:
        """Remove an item."""
        holder = self._holders[collection.name]
        place, before = self._existing(holder, key, if_match)
        if not dry_run:
            del holder.held[place]
        return Changed(before, before)

    def _existing(self, holder: Holder, key: Key, if_match: str | None) -> tuple[Any, dict[str, Any]]:
        place = holder.place_of(key)
        if place is None:
            raise NotFound(holder.collection.singular, shown_key(key))
        item = holder.item(holder.held[place])
        require_version(holder.collection, item, if_match, shown_key(key))
        return place, item

    async def follow(
        self, collection: Collection, relationship: Relationship, keys: Sequence[Key], most: int
    ) -> list[Edge]:
        """The edges that start in any of some items."""
        wanted = set(keys)
        end = self._holders[relationship.target]
        targets: dict[Key, list[Key]] = {}
        for item in self._items(relationship.target):
            values = tuple(item[name] for name in relationship.remote)
            if None not in values:
                targets.setdefault(values, []).append(end.key_of(item))
        start = self._holders[collection.name]
        ways = self._ways(relationship)
        edges = [
            Edge(start.key_of(item), target)
            for item in self._items(collection.name)
            if start.key_of(item) in wanted
            for way in ways(tuple(item[name] for name in relationship.local))
            for target in targets.get(way, ())
        ]
        return sorted(edges, key=lambda edge: (edge.source, edge.target))[:most]

    def _ways(self, relationship: Relationship) -> Callable[[Key], Sequence[Key]]:
        """What the local values of a relationship lead to: themselves, or what items in the middle have beside."""
        through = relationship.through
        if through is None:
            return lambda local: (local,)
        beside: dict[Key, list[Key]] = {}
        for item in self._items(through.table):
            near = tuple(item[name] for name in through.near)
            beside.setdefault(near, []).append(tuple(item[name] for name in through.far))
        return lambda local: beside.get(local, ())


def _put(holder: Holder, key: Key, thing: Any) -> None:
    held = holder.holdings
    if isinstance(held, MutableMapping):
        held[key[0] if len(key) == 1 else key] = thing
    elif isinstance(held, MutableSequence):
        held.append(thing)
