"""Definitions that stand for themselves, which no check of a value could ever end with."""

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Final

from headgate.adapter.parameters import Schema
from headgate.adapter.subschemas import SAME_VALUE, keyed_children, same_value, target_of
from headgate.sources.shapes.loosening import LOOSE

__all__ = ["without_rings"]

_CONDITION: Final = frozenset({"if", "then", "else"})


def without_rings(definitions: dict[str, Schema]) -> bool:
    """Loosen every definition that leads back to itself without stepping into the value; say whether there are any."""
    links = {name: set(_stands_for(schema)) & definitions.keys() for name, schema in definitions.items()}
    ring = _ended(_reversed(_ended(links)))
    for name in ring:
        definitions[name] = _loosened(definitions[name], ring.keys())
    return bool(ring)


def _stands_for(schema: Schema) -> Iterator[str]:
    """The definitions that a value of a schema must satisfy, or not, too."""
    waiting = [schema]
    while waiting:
        here = waiting.pop()
        target = target_of(here)
        if target is not None:
            yield target
        waiting += same_value(here)


def _loosened(schema: Schema, ring: AbstractSet[str]) -> Schema:
    """The schema without the keywords that lead into the ring."""
    leading = {
        key for key, child in keyed_children(schema) if key in SAME_VALUE and not ring.isdisjoint(_stands_for(child))
    }
    if target_of(schema) in ring:
        leading.add("$ref")
    if leading & _CONDITION:
        leading |= _CONDITION
    kept = {key: value for key, value in schema.items() if key not in leading}
    return {"additionalProperties": True, **kept, LOOSE: True}


def _ended(links: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """The links that are left after all that end somewhere are taken away, again and again."""
    users = _reversed(links)
    open_ends = {name: len(targets) for name, targets in links.items()}
    waiting = [name for name, count in open_ends.items() if count == 0]
    while waiting:
        name = waiting.pop()
        del open_ends[name]
        for user in users[name]:
            open_ends[user] -= 1
            if open_ends[user] == 0:
                waiting.append(user)
    return {name: links[name] & open_ends.keys() for name in open_ends}


def _reversed(links: Mapping[str, set[str]]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {name: set() for name in links}
    for name, targets in links.items():
        for target in targets:
            found[target].add(name)
    return found
