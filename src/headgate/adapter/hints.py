"""From type hints to JSON Schema, and from JSON values to what the hint promises.

Plain types take a short way; whatever else an author writes goes through pydantic.
"""

import base64
import types
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from functools import cache, partial
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin
from uuid import UUID

import jsonschema_rs
from pydantic import PydanticSchemaGenerationError, PydanticUserError, TypeAdapter
from pydantic.errors import PydanticInvalidForJsonSchema
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode, JsonSchemaValue
from pydantic_core import SchemaError, core_schema

from headgate.adapter.binary import Binary
from headgate.adapter.conversion import with_bytes
from headgate.adapter.parameters import Convert, Param, Schema
from headgate.adapter.patch import Patch, patch_schema
from headgate.adapter.schemas import REF
from headgate.adapter.text_formats import BASE64, DECIMAL, FORMATS
from headgate.protocol.adapter_errors import AdapterError
from headgate.protocol.inspection import MAX_SAFE_INTEGER

__all__ = ["Hint", "hint_for"]


@dataclass(frozen=True, slots=True)
class Hint:
    """A type hint understood: its schema, the named schemas it refers to, and how a value is converted."""

    schema: Schema
    convert: Convert | None = None
    definitions: Mapping[str, Schema] = field(default_factory=dict)


def hint_for(annotation: object, mode: JsonSchemaMode = "validation") -> Hint:
    """What a type hint means. An AdapterError if there is no JSON for it."""
    try:
        return _cached(annotation, mode)
    except TypeError:  # an annotation that cannot be hashed, such as one with a list inside Annotated
        return _resolve(annotation, mode)


def _resolve(annotation: Any, mode: JsonSchemaMode) -> Hint:
    plain = _PLAIN.get(annotation) if isinstance(annotation, type) else None
    if plain is not None:
        return plain
    if annotation is Any or annotation is object:
        return Hint({})
    if annotation is Patch:
        return Hint({"type": "object"}, Patch)
    if get_origin(annotation) is Patch:
        return _patch(get_args(annotation)[0])
    if get_origin(annotation) is Annotated:
        base, *metadata = get_args(annotation)
        hint = _with_params(base, metadata, mode)
        if hint is not None:
            return hint
    return _through_pydantic(annotation, mode)


_cached = cache(_resolve)


def _with_params(base: Any, metadata: list[Any], mode: JsonSchemaMode) -> Hint | None:
    """The hint of a type about which only ``Param`` says more, or None if pydantic has to read it.

    Bounds of a decimal go to pydantic, because a schema's bounds do not hold for numbers written as text.
    """
    params = [item for item in metadata if isinstance(item, Param)]
    hint = hint_for(base, mode) if len(params) == len(metadata) else None
    if hint is None or (hint.schema.get("format") == DECIMAL and any(param.bounded for param in params)):
        return None
    schema = hint.schema
    for param in params:
        schema = param.onto(schema)
    return Hint(schema, hint.convert, hint.definitions)


def _patch(resource: Any) -> Hint:
    """The hint of ``Patch[Book]``: the changes to a Book, known by the name ``BookPatch``."""
    hint = hint_for(resource)
    schema = patch_schema(hint.schema, hint.definitions)
    definitions = hint.definitions
    if "properties" in schema:
        name = f"{getattr(resource, '__name__', 'Object')}Patch"
        definitions = {**definitions, name: schema}
        schema = {"$ref": f"{REF}{name}"}
    return Hint(schema, lambda value: Patch(with_bytes(value, schema, definitions)), definitions)


def _as_int(value: float) -> int:
    if abs(value) > MAX_SAFE_INTEGER and type(value) is not int:
        raise OverflowError  # a number this large lost its last digits on the way
    return int(value)


def _as_decimal(value: str | float) -> Decimal:
    return Decimal(str(value))


_PLAIN: Final[Mapping[type, Hint]] = {
    str: Hint({"type": "string"}),
    bool: Hint({"type": "boolean"}),
    int: Hint({"type": "integer"}, _as_int),
    float: Hint({"type": "number"}, float),
    dict: Hint({"type": "object"}),
    list: Hint({"type": "array"}),
    types.NoneType: Hint({"type": "null"}),
    datetime: Hint({"type": "string", "format": "date-time"}, datetime.fromisoformat),
    date: Hint({"type": "string", "format": "date"}, date.fromisoformat),
    UUID: Hint({"type": "string", "format": "uuid"}, UUID),
    Decimal: Hint({"type": ["string", "number"], "format": DECIMAL}, _as_decimal),
    Binary: Hint({"type": "string", "format": BASE64}, Binary.from_base64),
    bytes: Hint({"type": "string", "format": BASE64}, base64.b64decode),
}


class _Generator(GenerateJsonSchema):
    """Pydantic's schemas, with our words for what JSON has no type for and without the noise of titles."""

    def bytes_schema(self, schema: core_schema.BytesSchema) -> JsonSchemaValue:
        return {"type": "string", "format": BASE64}

    def decimal_schema(self, schema: core_schema.DecimalSchema) -> JsonSchemaValue:
        declared: dict[str, Any] = {**schema}
        bounds = {word: _json_number(declared[key]) for key, word in _DECIMAL_BOUNDS if key in declared}
        return {"type": ["string", "number"], "format": DECIMAL, **bounds}

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


_DECIMAL_BOUNDS: Final = (
    ("ge", "minimum"),
    ("le", "maximum"),
    ("gt", "exclusiveMinimum"),
    ("lt", "exclusiveMaximum"),
    ("multiple_of", "multipleOf"),
)


def _json_number(value: Decimal | float) -> float:
    return int(value) if value == int(value) else float(value)


def _through_pydantic(annotation: Any, mode: JsonSchemaMode) -> Hint:
    if _holds_a_patch(annotation):
        raise AdapterError("a Patch stands alone, as in 'input: Patch[Book]'")
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(annotation)
        schema = adapter.json_schema(schema_generator=_Generator, mode=mode)
    except (PydanticUserError, PydanticSchemaGenerationError, PydanticInvalidForJsonSchema) as error:
        raise AdapterError(f"the type {_name(annotation)} has no JSON form: {_why(error)}") from None
    except SchemaError as error:
        why = str(error).splitlines()[-1].strip().removeprefix("error: ")
        raise AdapterError(f"the type {_name(annotation)} cannot be used: {why}") from None
    definitions = {name: _tidy(definition) for name, definition in schema.pop("$defs", {}).items()}
    tidy = _named(annotation, _tidy(schema), definitions)
    if mode == "validation":
        _check(annotation, tidy, definitions)
    convert = None if _is_json_already(annotation) else _converter(adapter, tidy, definitions)
    return Hint(tidy, convert, definitions)


def _check(annotation: Any, schema: Schema, definitions: Mapping[str, Schema]) -> None:
    """Compile the schema of a type when it is first met, so that the many operations which use it need not."""
    try:
        jsonschema_rs.Draft202012Validator({**schema, "$defs": definitions}, validate_formats=True, formats=FORMATS)
    except (ValueError, jsonschema_rs.ReferencingError) as error:
        raise AdapterError(f"the type {_name(annotation)} has a schema that cannot be used: {error}") from None


def _holds_a_patch(annotation: Any) -> bool:
    return any(get_origin(inner) is Patch or inner is Patch or _holds_a_patch(inner) for inner in get_args(annotation))


def _why(error: PydanticUserError | PydanticSchemaGenerationError | PydanticInvalidForJsonSchema) -> str:
    if "typing_extensions.TypedDict" in str(error):
        return "before Python 3.12, import TypedDict from typing_extensions"
    return "use a scalar, Literal, Enum, list, dict, dataclass, TypedDict or pydantic model"


def _name(annotation: object) -> str:
    return f"'{getattr(annotation, '__name__', annotation)}'"


def _named(annotation: Any, schema: Schema, definitions: dict[str, Schema]) -> Schema:
    """Give the schema of a class its name, as pydantic does only for nested ones."""
    if isinstance(annotation, type) and "$ref" not in schema and ("properties" in schema or "enum" in schema):
        definitions[annotation.__name__] = schema
        return {"$ref": f"{REF}{annotation.__name__}"}
    return schema


_DATA: Final = frozenset({"default", "examples", "enum", "const"})


def _tidy(schema: Any) -> Any:
    """Without titles, and with ``X | None`` as one schema of two types wherever that says the same."""
    if isinstance(schema, list):
        return [_tidy(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    tidy = {
        key: {name: _tidy(value) for name, value in child.items()}
        if key == "properties"
        else child
        if key in _DATA
        else _tidy(child)
        for key, child in schema.items()
        if key not in ("title", "discriminator")
    }
    if "properties" in tidy:
        tidy.setdefault("additionalProperties", False)  # a field that is not declared is a mistake, not to be ignored
    return _nullable(tidy)


def _nullable(schema: Schema) -> Schema:
    branches = schema.get("anyOf")
    if not isinstance(branches, list) or len(branches) != 2 or {"type": "null"} not in branches:
        return schema
    other: Schema = next((branch for branch in branches if branch != {"type": "null"}), {})
    if "type" not in other or "const" in other:
        return schema
    declared = [other["type"]] if isinstance(other["type"], str) else other["type"]
    merged = {
        **other,
        **{key: value for key, value in schema.items() if key != "anyOf"},
        "type": [*declared, "null"],
    }
    return merged | {"enum": [*other["enum"], None]} if "enum" in other else merged


_JSON_TYPES: Final = frozenset({str, bool, dict, list, types.NoneType, Any, object})


def _is_json_already(annotation: Any) -> bool:
    """Whether a valid JSON value of this type is already what the handler expects."""
    origin = get_origin(annotation)
    if origin is Literal:
        return all(isinstance(choice, str | int | bool | None) for choice in get_args(annotation))
    if origin in (Union, types.UnionType, list, dict):
        return all(_is_json_already(argument) for argument in get_args(annotation))
    if origin is Annotated:
        base, *metadata = get_args(annotation)
        return _is_json_already(base) and all(isinstance(item, Param) for item in metadata)
    return annotation in _JSON_TYPES


def _converter(adapter: TypeAdapter[Any], schema: Schema, definitions: Mapping[str, Schema]) -> Convert:
    validate = partial(adapter.validate_python, strict=False)  # what a strict type forbids, the schema has forbidden
    if BASE64 not in f"{schema}{definitions}":
        return validate
    return lambda value: validate(with_bytes(value, schema, definitions))
