"""Values that must never be shown: finding them by the schema, and putting stars in their place."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from headgate.adapter.operations import Operation
from headgate.adapter.parameters import SENSITIVE, Schema
from headgate.adapter.schemas import alternatives, child_schema
from headgate.protocol.names import camel_to_snake
from headgate.protocol.requests import parse_stringified

__all__ = ["MASK", "masked", "scrubbed", "secrets_of"]

MASK: Final = "***"
_SHORT: Final = 4
"""Below this many characters, a secret is likely to be part of an innocent word."""


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
        for secret in _secrets(value, _schema_of(operation, camel_to_snake(name)), operation.definitions)
    )
    return frozenset(secret for secret in found if secret)


def scrubbed(value: Any, secrets: frozenset[str]) -> Any:
    """The value with every occurrence of a secret replaced, in whatever text or number it stands."""
    if isinstance(value, str):
        return _pattern_of(secrets).sub(MASK, value) if secrets else value
    if isinstance(value, Mapping):
        return {scrubbed(key, secrets): scrubbed(child, secrets) for key, child in value.items()}
    if isinstance(value, list | tuple):
        return [scrubbed(child, secrets) for child in value]
    return MASK if isinstance(value, int | float) and str(value) in secrets else value


def _pattern_of(secrets: frozenset[str]) -> re.Pattern[str]:
    """What finds the secrets: the longest first, as they are or escaped, and a short one only as a whole word."""
    spellings = {spelling for secret in secrets for spelling in (secret, repr(secret)[1:-1])}
    words = (
        re.escape(text) if len(text) >= _SHORT else rf"(?<!\w){re.escape(text)}(?!\w)"
        for text in sorted(spellings, key=len, reverse=True)
    )
    return re.compile("|".join(words))


def _schema_of(operation: Operation, name: str) -> Schema:
    parameter = operation.parameter(name)
    return parameter.schema if parameter else {}


def _mask(value: object, schema: Schema, definitions: Mapping[str, Schema]) -> object:
    found = alternatives(schema, definitions)
    if any(full.get(SENSITIVE) for full in found):
        return MASK
    if isinstance(value, Mapping):
        return {key: _mask(child, child_schema(found, key), definitions) for key, child in value.items()}
    if isinstance(value, list):
        return [_mask(child, child_schema(found, index), definitions) for index, child in enumerate(value)]
    return value


def _secrets(value: object, schema: Schema, definitions: Mapping[str, Schema]) -> Iterator[str]:
    found = alternatives(schema, definitions)
    if any(full.get(SENSITIVE) for full in found):
        yield from _texts(value)
        return
    for step, child in _children(parse_stringified(value) or value):
        yield from _secrets(child, child_schema(found, step), definitions)


def _texts(value: object) -> Iterator[str]:
    for _, child in _children(value):
        yield from _texts(child)
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        yield str(value)


def _children(value: object) -> Iterator[tuple[str | int, object]]:
    if isinstance(value, Mapping):
        yield from value.items()
    elif isinstance(value, list):
        yield from enumerate(value)
