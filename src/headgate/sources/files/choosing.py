"""Field selection on answers: dot paths into items whose type nobody has declared (Field Selection)."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from headgate.adapter.parameters import Parameter
from headgate.protocol.requests import parse_stringified
from headgate.sources.files.values import Fields
from headgate.sources.selecting import FIELDS as EVERY_FIELD
from headgate.sources.shapes import NOT_GIVEN

__all__ = ["FIELDS", "choice_of", "chosen"]

FIELDS: Final = EVERY_FIELD.name

_CHOICE: Final = Parameter(
    FIELDS,
    {
        "anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "string"}],
        "description": 'The fields to show of each item, by their paths: ["id", "owner.name"]. \'full\' shows all.',
    },
    required=False,
    default=NOT_GIVEN,
)

_ALL: Final = "full"


def choice_of(fields: Fields) -> Parameter:
    """The parameter by which callers choose; where some fields are shown by themselves, also all of them."""
    return _CHOICE if fields.default else EVERY_FIELD


def chosen(data: object, fields: object) -> object:
    """The data, or each of its items if it is a list, with these fields only; with all where none are named."""
    paths = _paths(fields)
    if not paths:
        return data
    wanted = _tree(paths)
    return [_pruned(item, wanted) for item in data] if isinstance(data, list) else _pruned(data, wanted)


def _paths(fields: object) -> list[str]:
    read: object = parse_stringified(fields) or fields
    names = read.split(",") if isinstance(read, str) else read if isinstance(read, list | tuple) else ()
    paths = [str(name).strip() for name in names if str(name).strip()]
    return [] if _ALL in paths else paths


def _tree(paths: Iterable[str]) -> dict[str, Any]:
    """The paths as a tree. What is wanted as a whole has nothing below it."""
    tree: dict[str, Any] = {}
    for path in sorted(paths, key=lambda one: one.count("."), reverse=True):
        *steps, last = path.split(".")
        here = tree
        for step in steps:
            here = here.setdefault(step, {})
        here[last] = {}
    return tree


def _pruned(value: object, wanted: Mapping[str, Any]) -> object:
    if isinstance(value, list):
        return [_pruned(item, wanted) for item in value]
    if not isinstance(value, Mapping) or not wanted:
        return value
    return {name: _pruned(child, wanted[name]) for name, child in value.items() if name in wanted}
