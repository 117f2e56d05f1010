"""Which schemas can speak of one value, and so must call its fields by the same names.

Every schema belongs to a family: with what it refers to, with its branches, and with whatever others say of the same
field of the same object. Names are chosen once for each family, so that two objects which have nothing to do with each
other do not get in each other's way.
"""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from headgate.adapter.parameters import Schema
from headgate.adapter.subschemas import children_of, same_value, target_of
from headgate.protocol.names import is_snake_case
from headgate.sources.naming import parameter_names

__all__ = ["Names", "in_place", "mentioned", "names_inside"]

Names: TypeAlias = Mapping[int, Mapping[str, str]]
"""For a schema, by its identity: what the fields that it speaks of are called here, where that is another name."""

_ITEMS: Final = ("items", "contains", "unevaluatedItems")
_OTHERS: Final = ("additionalProperties", "unevaluatedProperties")
_Slot: TypeAlias = tuple[str, str]
_ITEM: Final[_Slot] = ("item", "")
_OTHER: Final[_Slot] = ("other", "")


def mentioned(schema: Schema) -> Iterator[str]:
    """The names of fields that a schema itself speaks of, in whatever way."""
    for key in ("properties", "required", "dependentRequired", "dependentSchemas"):
        yield from schema.get(key, ())
    for needs in schema.get("dependentRequired", {}).values():
        yield from needs


def in_place(schemas: Iterable[Schema], definitions: Mapping[str, Schema]) -> list[Schema]:
    """The schemas and all that speak of the same value with them, each once."""
    found: dict[int, Schema] = {}
    waiting = list(schemas)
    for here in waiting:
        if id(here) not in found:
            found[id(here)] = here
            waiting += _beside(here, definitions)
    return list(found.values())


def names_inside(schema: Schema, definitions: Mapping[str, Schema], outside: Container[int]) -> Names:
    """The names of fields inside the values of a request's fields; ``outside`` are the schemas of these themselves."""
    found = _all([schema], definitions)
    inner = (one for one in found if id(one) not in outside)
    if all(is_snake_case(name) for one in inner for name in mentioned(one)):
        return {}
    return {
        id(schema): names for family in _families(found, definitions) if (names := _chosen(family)) for schema in family
    }


def _chosen(family: Sequence[Schema]) -> Mapping[str, str]:
    """The names of a family. Where a pattern of names is demanded, all must stay as they are."""
    if any("patternProperties" in schema or "propertyNames" in schema for schema in family):
        return {}
    names = parameter_names((name for schema in family for name in mentioned(schema)), held=())
    return {own: name for own, name in names.items() if own != name}


def _beside(schema: Schema, definitions: Mapping[str, Schema]) -> list[Schema]:
    target = definitions.get(target_of(schema) or "")
    return [*same_value(schema), *(() if target is None else (target,))]


def _all(schemas: Iterable[Schema], definitions: Mapping[str, Schema]) -> list[Schema]:
    found: dict[int, Schema] = {}
    waiting = [*schemas, *definitions.values()]
    for here in waiting:
        if id(here) not in found:
            found[id(here)] = here
            waiting += children_of(here)
    return list(found.values())


def _families(schemas: Sequence[Schema], definitions: Mapping[str, Schema]) -> Iterator[list[Schema]]:
    work = _Uniting()
    for schema in schemas:
        work.add(schema)
    for schema in schemas:
        for other in _beside(schema, definitions):
            work.unite(id(schema), id(other))
    work.settle()
    found: dict[int, list[Schema]] = {}
    for schema in schemas:
        found.setdefault(work.leader(id(schema)), []).append(schema)
    return iter(found.values())


class _Uniting:
    """Families that grow together: once two are one, so are their children of the same name."""

    def __init__(self) -> None:
        self._leaders: dict[int, int] = {}
        self._slots: dict[int, dict[_Slot, int]] = {}
        self._named_by_all: dict[int, frozenset[str]] = {}
        """Of families that say something of other fields: the names that are never other ones."""
        self._waiting: list[tuple[int, int]] = []

    def add(self, schema: Schema) -> None:
        """A family of one."""
        here = id(schema)
        self._leaders[here] = here
        slots = self._slots[here] = {("field", name): id(child) for name, child in schema.get("properties", {}).items()}
        for slot, child in _shared(schema):
            self._waiting.append((slots.setdefault(slot, id(child)), id(child)))
        if _OTHER in slots:
            by_pattern = "patternProperties" in schema  # which is about named fields too
            self._named_by_all[here] = frozenset(() if by_pattern else schema.get("properties", ()))

    def leader(self, one: int) -> int:
        """Who stands for the family."""
        while self._leaders[one] != one:
            self._leaders[one] = self._leaders[self._leaders[one]]
            one = self._leaders[one]
        return one

    def unite(self, one: int, other: int) -> None:
        """Make two families one, now or when it is settled."""
        self._waiting.append((one, other))

    def settle(self) -> None:
        """Unite until nothing is left to be united."""
        while self._waiting:
            while self._waiting:
                self._join(*self._waiting.pop())
            self._waiting += self._others()

    def _join(self, one: int, other: int) -> None:
        small, large = sorted((self.leader(one), self.leader(other)), key=lambda each: len(self._slots[each]))
        if small == large:
            return
        self._leaders[small] = large
        slots = self._slots[large]
        for slot, child in self._slots.pop(small).items():
            self._waiting.append((slots.setdefault(slot, child), child))
        if small in self._named_by_all:
            named = self._named_by_all.pop(small)
            self._named_by_all[large] = self._named_by_all.get(large, named) & named

    def _others(self) -> Iterator[tuple[int, int]]:
        """Fields of a name that some of the family take for one of the others."""
        for family, always in self._named_by_all.items():
            slots = self._slots[family]
            for slot, child in slots.items():
                is_meant = slot[0] == "field" and slot[1] not in always
                if is_meant and self.leader(child) != self.leader(slots[_OTHER]):
                    yield child, slots[_OTHER]


def _shared(schema: Schema) -> Iterator[tuple[_Slot, Schema]]:
    """What a schema says of items, and of fields that it does not name."""
    for child in schema.get("prefixItems", ()):
        yield _ITEM, child
    for key in _ITEMS:
        if isinstance(schema.get(key), dict):
            yield _ITEM, schema[key]
    for child in schema.get("patternProperties", {}).values():
        yield _OTHER, child
    for key in _OTHERS:
        if isinstance(schema.get(key), dict):
            yield _OTHER, schema[key]
