"""What the compiled schema of an operation has against parameters, as far as that can be told in good time."""

from collections.abc import Iterator, Mapping
from typing import Any, Final
from weakref import WeakKeyDictionary

import jsonschema_rs

from headgate.adapter.operations import Operation
from headgate.adapter.parameters import Schema
from headgate.adapter.subschemas import effort_to_explain
from headgate.adapter.text_formats import FORMATS

__all__ = ["errors_of"]

_MANY_VALUES: Final = 1000
_DEEPEST: Final = 64
_MOST_EFFORT: Final = 5000
"""How many complaints may be looked for along one way into a value: a union in a union in a union has thousands."""

_EFFORTS: Final["WeakKeyDictionary[Operation, dict[int, int]]"] = WeakKeyDictionary()


def errors_of(operation: Operation, params: Mapping[str, object]) -> list[Any]:
    """The schema's complaints. Of very many values only the first is looked for, and of a deep value in a union that
    contains itself only which parameter it is: all would take seconds, or years.
    """
    many, depth = _extent(params)
    if _effort(operation, depth) > _MOST_EFFORT:
        return _by_parameter(operation, params, depth)
    if not many:
        return list(operation.validator.iter_errors(params))
    try:
        operation.validator.validate(params)
    except jsonschema_rs.ValidationError as error:
        return [error]
    return []


def _extent(params: Mapping[str, object]) -> tuple[bool, int]:
    """Whether there are very many values, and how deep they stand, as far as they were counted."""
    level: list[Any] = [params]
    seen = depth = 0
    while level:
        seen += len(level)
        if seen > _MANY_VALUES:
            return True, _DEEPEST
        level = [child for value in level for child in _children(value)]
        depth += 1
    return False, depth


def _children(value: object) -> Iterator[object]:
    return iter(value.values() if isinstance(value, dict) else value if isinstance(value, list) else ())


def _effort(operation: Operation, depth: int) -> int:
    known = _EFFORTS.setdefault(operation, {})
    if depth not in known:
        known[depth] = effort_to_explain(operation.schema, operation.definitions, depth)
    return known[depth]


def _by_parameter(operation: Operation, params: Mapping[str, object], depth: int) -> list[Any]:
    """Complaints about whole parameters where saying why would take too long, or else about all of them together."""
    whole = operation.schema
    properties = {
        name: schema
        if effort_to_explain(schema, operation.definitions, depth) <= _MOST_EFFORT
        else name not in params or _validator(schema, operation.definitions).is_valid(params[name])
        for name, schema in whole["properties"].items()
    }
    rules = {key: value for key, value in whole.items() if key in ("type", "required", "additionalProperties")}
    found = list(_validator({**rules, "properties": properties}, operation.definitions).iter_errors(params))
    if found or operation.validator.is_valid(params):
        return found
    return list(jsonschema_rs.Draft202012Validator(False).iter_errors(params))


def _validator(schema: Schema, definitions: Mapping[str, Schema]) -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator(
        {**schema, "$defs": dict(definitions)}, validate_formats=True, formats=FORMATS
    )
