"""Field selection on the answers of an upstream: only what was asked for, wherever it is there."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from headgate.adapter.parameters import Parameter
from headgate.sources.shapes import NOT_GIVEN

__all__ = ["FIELDS", "selected"]

FIELDS: Final = Parameter(
    "fields",
    {
        "type": "array",
        "items": {"type": "string", "minLength": 1},
        "minItems": 1,
        "description": 'Only these fields of each item of the answer, as dot paths such as "id" or "owner.login".',
    },
    required=False,
    default=NOT_GIVEN,
)


def selected(data: Any, fields: Any) -> Any:
    """The data with only the fields that are named; one that is not there is left out. Lists are looked into."""
    return data if fields is NOT_GIVEN else _picked(data, _tree(fields))


def _tree(fields: Sequence[str]) -> dict[str, Any]:
    """The paths as nested keys; an empty level means all of it."""
    tree: dict[str, Any] = {}
    whole: set[int] = set()
    for path in fields:
        here = tree
        steps = path.split(".")
        for place, step in enumerate(steps):
            if id(here) in whole:
                break
            here = here.setdefault(step, {})
            if place == len(steps) - 1:
                here.clear()
                whole.add(id(here))
    return tree


def _picked(data: Any, tree: Mapping[str, Any]) -> Any:
    if not tree:
        return data
    if isinstance(data, list):
        return [_picked(item, tree) for item in data]
    if not isinstance(data, dict):
        return data
    return {key: _picked(data[key], inner) for key, inner in tree.items() if key in data and _fits(data[key], inner)}


def _fits(value: Any, tree: Mapping[str, Any]) -> bool:
    """Whether a path can go on in a value: a text or number has no fields."""
    return not tree or isinstance(value, dict | list)
