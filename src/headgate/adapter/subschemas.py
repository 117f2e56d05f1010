"""The schemas inside a schema, and how much work a check by it can become."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, TypeAlias

from headgate.adapter.parameters import Schema
from headgate.adapter.schemas import REF

__all__ = [
    "MOST_EFFORT",
    "SAME_VALUE",
    "children_of",
    "effort",
    "effort_to_explain",
    "inner_of",
    "keyed_children",
    "same_value",
    "target_of",
    "with_children",
]

_MAPS: Final = ("properties", "patternProperties", "dependentSchemas")
_LISTS: Final = ("allOf", "anyOf", "oneOf", "prefixItems")
_SINGLE: Final = (
    *("not", "if", "then", "else", "items", "additionalProperties", "propertyNames", "contains"),
    *("unevaluatedProperties", "unevaluatedItems"),
)
SAME_VALUE: Final = frozenset({"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"})
"""The keywords whose schemas speak of the same value; those of all others speak of what is inside it."""

MOST_EFFORT: Final = 10**12
"""Where counting ends."""


def target_of(schema: Schema) -> str | None:
    """The name of the definition that a schema refers to."""
    ref = schema.get("$ref")
    return ref.removeprefix(REF) if isinstance(ref, str) and ref.startswith(REF) else None


def keyed_children(schema: Schema) -> Iterator[tuple[str, Schema]]:
    """The schemas directly inside one, each with its keyword."""
    for key, value in schema.items():
        if key in _MAPS and isinstance(value, dict):
            yield from ((key, child) for child in value.values() if isinstance(child, dict))
        elif key in _LISTS and isinstance(value, list):
            yield from ((key, child) for child in value if isinstance(child, dict))
        elif key in _SINGLE and isinstance(value, dict):
            yield key, value


def children_of(schema: Schema) -> Iterator[Schema]:
    """The schemas directly inside one."""
    return (child for _, child in keyed_children(schema))


def same_value(schema: Schema) -> Iterator[Schema]:
    """The schemas directly inside one that speak of the same value."""
    return (child for key, child in keyed_children(schema) if key in SAME_VALUE)


def inner_of(schema: Schema) -> Iterator[Schema]:
    """The schemas directly inside one that speak of what is inside its value."""
    return (child for key, child in keyed_children(schema) if key not in SAME_VALUE)


def with_children(schema: Schema, change: Callable[[str, Schema], Schema]) -> Schema:
    """A copy of the schema, each schema directly inside it replaced by what its keyword and it are changed to."""
    made: Schema = {}
    for key, value in schema.items():
        if key in _MAPS and isinstance(value, dict):
            made[key] = {name: change(key, one) if isinstance(one, dict) else one for name, one in value.items()}
        elif key in _LISTS and isinstance(value, list):
            made[key] = [change(key, one) if isinstance(one, dict) else one for one in value]
        elif key in _SINGLE and isinstance(value, dict):
            made[key] = change(key, value)
        else:
            made[key] = value
    return made


def effort(schema: Schema, definitions: Mapping[str, Schema]) -> int:
    """How many checks one value may cost at worst along one way down into it, if nothing that returns is done twice.

    A union of unions of unions multiplies them, and so does a name that is referred to twice by one that is
    referred to twice.
    """
    same, inner = _links(schema, definitions)
    costs: dict[int, int] = {}
    for here in _from_the_last({one: same[one] + inner[one] for one in same}):
        costs[here] = _cost(same[here], inner[here], costs, costs)
    return costs[id(schema)]


def effort_to_explain(schema: Schema, definitions: Mapping[str, Schema], depth: int) -> int:
    """How many complaints there can be about a value that is so many levels deep, along one way down into it."""
    same, inner = _links(schema, definitions)
    order = _from_the_last(same)
    costs: dict[int, int] = {}
    for _ in range(depth + 1):
        below, costs = costs, {}
        for here in order:
            costs[here] = _cost(same[here], inner[here], costs, below)
        if costs == below or costs[id(schema)] >= MOST_EFFORT:
            break
    return costs[id(schema)]


def _cost(same: Iterable[int], inner: Iterable[int], here: Mapping[int, int], below: Mapping[int, int]) -> int:
    beside = sum(here.get(other, 1) for other in same)
    inside = max((below.get(child, 1) for child in inner), default=0)
    return min(1 + beside + inside, MOST_EFFORT)


_Links: TypeAlias = dict[int, list[int]]


def _links(schema: Schema, definitions: Mapping[str, Schema]) -> tuple[_Links, _Links]:
    """From every schema that is reached: those of the same value, and those of what is inside it."""
    same: _Links = {}
    inner: _Links = {}
    waiting = [schema]
    while waiting:
        here = waiting.pop()
        if id(here) in same:
            continue
        target = definitions.get(target_of(here) or "")
        beside, inside = [*same_value(here), *([] if target is None else [target])], list(inner_of(here))
        same[id(here)], inner[id(here)] = [id(one) for one in beside], [id(one) for one in inside]
        waiting += beside
        waiting += inside
    return same, inner


def _from_the_last(links: _Links) -> list[int]:
    """All of them, each after those that it leads to; without recursion, since a hostile chain is long."""
    done: dict[int, None] = {}
    for start in links:
        waiting = [(start, False)]
        opened: set[int] = set()
        while waiting:
            here, is_ready = waiting.pop()
            if is_ready:
                done[here] = None
            elif here not in done and here not in opened:
                opened.add(here)
                waiting.append((here, True))
                waiting += [(other, False) for other in links[here]]
    return list(done)
