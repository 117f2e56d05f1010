"""Values that must never be shown: finding them by the schema, and putting stars in their place."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from headgate.adapter.operations import Operation
from headgate.adapter.parameters import SENSITIVE, Schema
from headgate.adapter.schemas import dereference

__all__ = ["MASK", "masked", "scrubbed", "secrets_of"]

MASK: Final = "***"


def masked(operation: Operation, params: Mapping[str, object]) -> Mapping[str, object]:
    """The parameters with every sensitive value replaced, for events and logs."""
    if not operation.has_secrets:
        return params
    return {name: _mask(value, _schema_of(operation, name), operation.definitions) for name, value in params.items()}


def secrets_of(operation: Operation, params: Mapping[str, object]) -> frozenset[str]:
    """The sensitive texts of a call, to be kept out of its errors and its traces."""
    if not operation.has_secrets:
        return frozenset()
    found = (
        secret
        for name, value in params.items()
        for secret in _secrets(value, _schema_of(operation, name), operation.definitions)
    )
    return frozenset(secret for secret in found if secret)


def scrubbed(value: Any, secrets: frozenset[str]) -> Any:
    """The value with every occurrence of a secret replaced, in whatever text it stands."""
    if isinstance(value, str):
        for secret in secrets:
            value = value.replace(secret, MASK)
        return value
    if isinstance(value, Mapping):
        return {key: scrubbed(child, secrets) for key, child in value.items()}
    if isinstance(value, list | tuple):
        return [scrubbed(child, secrets) for child in value]
    return value


def _schema_of(operation: Operation, name: str) -> Schema:
    parameter = operation.parameter(name)
    return parameter.schema if parameter else {}


def _children(value: object, schema: Schema) -> Iterator[tuple[Any, Any, Schema]]:
    if isinstance(value, Mapping):
        properties = schema.get("properties", {})
        for key, child in value.items():
            yield key, child, properties.get(key, {})
    elif isinstance(value, list):
        for index, child in enumerate(value):
            yield index, child, schema.get("items", {})


def _mask(value: object, schema: Schema, definitions: Mapping[str, Schema]) -> object:
    full = _branch(dereference(schema, definitions), value, definitions)
    if full.get(SENSITIVE):
        return MASK
    if isinstance(value, Mapping):
        return {key: _mask(child, sub, definitions) for key, child, sub in _children(value, full)}
    if isinstance(value, list):
        return [_mask(child, sub, definitions) for _, child, sub in _children(value, full)]
    return value


def _secrets(value: object, schema: Schema, definitions: Mapping[str, Schema]) -> Iterator[str]:
    full = _branch(dereference(schema, definitions), value, definitions)
    if full.get(SENSITIVE):
        yield from _texts(value)
        return
    for _, child, sub in _children(value, full):
        yield from _secrets(child, sub, definitions)


def _branch(schema: Schema, value: object, definitions: Mapping[str, Schema]) -> Schema:
    """The object branch of a union: good enough to find what is marked inside it."""
    branches = schema.get("anyOf") or schema.get("oneOf")
    if not branches or schema.get(SENSITIVE):
        return schema
    merged: Schema = {}
    for branch in branches:
        full = dereference(branch, definitions)
        if full.get(SENSITIVE):
            return full
        if isinstance(value, Mapping):
            merged.setdefault("properties", {}).update(full.get("properties", {}))
        elif "items" in full:
            merged["items"] = full["items"]
    return merged


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, Mapping):
        for child in value.values():
            yield from _texts(child)
    elif isinstance(value, list):
        for child in value:
            yield from _texts(child)
    elif value is not None and not isinstance(value, bool):
        yield str(value)
