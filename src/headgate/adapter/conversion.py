"""Binary values inside what pydantic reads: base64 text becomes bytes first, wherever the schema says so."""

import base64
from collections.abc import Mapping
from typing import Any

from headgate.adapter.parameters import Schema
from headgate.adapter.schemas import alternatives, child_schema
from headgate.adapter.text_formats import BASE64

__all__ = ["with_bytes"]


def with_bytes(value: Any, schema: Schema, definitions: Mapping[str, Schema]) -> Any:
    """The JSON value with every base64 text replaced by the bytes that it stands for (Spec 4.7.4)."""
    found = alternatives(schema, definitions)
    if isinstance(value, str):
        return base64.b64decode(value) if _is_binary(value, found) else value
    if isinstance(value, Mapping):
        return {key: with_bytes(child, child_schema(found, key), definitions) for key, child in value.items()}
    if isinstance(value, list):
        return [with_bytes(child, child_schema(found, index), definitions) for index, child in enumerate(value)]
    return value


def _is_binary(text: str, found: list[Schema]) -> bool:
    """Whether a text can only be meant as binary: a union with plain text leaves it as it is."""
    fitting = [schema for schema in found if _may_be(text, schema)]
    return bool(fitting) and all(schema.get("format") == BASE64 for schema in fitting)


def _may_be(text: str, schema: Schema) -> bool:
    declared = schema.get("type", ())
    if declared != "string" and "string" not in declared:
        return False
    return text in schema.get("enum", [text]) and text == schema.get("const", text)
