"""The parameters that collection operations share, each defined once (Operations 4.4), and those made from fields."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import orjson

from headgate.adapter.operations import IF_MATCH, INPUT
from headgate.adapter.parameters import SENSITIVE, Parameter, Schema
from headgate.adapter.text_formats import BASE64
from headgate.protocol.names import REQUEST_FIELDS
from headgate.protocol.tables import FORMAT, TABLE
from headgate.query.collections import Access, Collection, Field
from headgate.query.kinds import Kind

__all__ = [
    "ABSENT",
    "DRY_RUN",
    "LISTING",
    "PRESET",
    "QUERY",
    "SELECTION",
    "VERSION",
    "create_parameters",
    "input_parameter",
    "key_parameters",
    "optional",
]


def optional(name: str, description: str, **schema: Any) -> Parameter:
    """A parameter that may be left out."""
    convert = int if schema.get("type") == "integer" else None  # 2.0 is a whole number too
    return Parameter(name, {**schema, "description": description}, required=False, convert=convert)


_TEXTS: Final = {"type": "array", "items": {"type": "string"}}
_SORT: Final = {
    "type": "object",
    "properties": {"field": {"type": "string"}, "order": {"type": "string", "enum": ["asc", "desc"]}},
    "required": ["field"],
    "additionalProperties": False,
}

QUERY: Final = Parameter(
    "query",
    {
        "type": "string",
        "minLength": 1,
        "description": "Words to search for; any of them may match, the best matches come first. "
        '"Words in quotes" match as a whole.',
    },
)
FIELDS: Final = optional(
    "fields",
    "Field selection: a preset ('minimal', 'standard', 'full' or the collection's own) or a list of field paths; dots "
    "lead over to-one relationships and into JSON, '_computed.' to computed fields.",
    anyOf=[{"type": "string"}, _TEXTS],
)
PRESET: Final = optional(
    "preset", "Compatibility alias of fields for a preset; a list in fields extends it.", type="string"
)
FILTER: Final = optional(
    "filter",
    "Structured filtering: {field: value} or {field: {operator: value}}, all of which must hold; 'and', 'or' and 'not' "
    "combine filters.",
    type="object",
)
SORT: Final = optional(
    "sort",
    "Sort object with 'field' and 'order' ('asc' or 'desc'), or a list of them; for compatibility also a field's name, "
    "with - before it for desc. Items without a value come first upwards. Without it, by key.",
    anyOf=[_SORT, {"type": "array", "items": _SORT}, {"type": "string"}],
)
AGGREGATE: Final = optional(
    "aggregate",
    "Named summaries, such as {total: {count: true}, by_status: {group_by: 'status', count: true, avg: 'price'}}. "
    "Items are left out unless include_items is true.",
    type="object",
)
INCLUDE_ITEMS: Final = optional("include_items", "Give the items beside the summaries.", type="boolean")
FIRST: Final = optional(
    "first", "How many items to give from the start; 25 unless said, 100 at most.", type="integer", minimum=0
)
AFTER: Final = optional("after", "Go on after this cursor, with first.", type="string")
LAST: Final = optional("last", "How many items to give from the end.", type="integer", minimum=0)
BEFORE: Final = optional("before", "Go back from this cursor, with last.", type="string")
EDGES: Final = optional("edges", "Give edges with a cursor each, in place of items.", type="boolean")
LIMIT: Final = optional("limit", "How many items to give, when paging by offset.", type="integer", minimum=0)
OFFSET: Final = optional("offset", "How many items to skip.", type="integer", minimum=0, maximum=2**53 - 1)
PAGE: Final = optional(
    "page", "Which page to give, from 1, when paging by number.", type="integer", minimum=1, maximum=2**40
)
PAGE_SIZE: Final = optional("page_size", "How many items a page has.", type="integer", minimum=1)
AS_TABLE: Final = optional(
    FORMAT,
    "'table' names the fields once, in columns, and gives each item as a row; 'records' unless said.",
    type="string",
    enum=["records", TABLE],
)
DRY_RUN: Final = optional("dry_run", "Only tell what would change, and change nothing.", type="boolean")
VERSION: Final = optional(IF_MATCH, "Only if the item still has this _etag.", type="string")

SELECTION: Final = (FIELDS, PRESET)
LISTING: Final = (
    FILTER,
    SORT,
    *SELECTION,
    AGGREGATE,
    INCLUDE_ITEMS,
    FIRST,
    AFTER,
    LAST,
    BEFORE,
    EDGES,
    LIMIT,
    OFFSET,
    PAGE,
    PAGE_SIZE,
    AS_TABLE,
)

ABSENT: Final = object()
"""Stands for a field that a new item was not given, which is something else than null."""

_TAKEN: Final = REQUEST_FIELDS | {DRY_RUN.name}
_SCHEMAS: Final[Mapping[Kind, Schema]] = {
    Kind.INTEGER: {"type": "integer"},
    Kind.BYTES: {"type": "string", "format": BASE64},
    Kind.TIME: {
        "type": "string",
        "pattern": r"^[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?$",
        "examples": ["10:30:00"],
    },
}


def field_schema(field: Field) -> Schema:
    """The JSON Schema of a field's value."""
    schema: Schema = {**(_SCHEMAS.get(field.kind) or field.kind.row.schema), **(field.schema or {})}
    said = {
        "description": field.description or None,
        "maxLength": field.max_length if field.kind is Kind.TEXT else None,
        "minimum": field.minimum,
        "maximum": field.maximum,
        "enum": list(field.choices) or None,
        SENSITIVE: field.sensitive or None,
    }
    return {**schema, **{key: value for key, value in said.items() if value is not None}}


def nullable_schema(field: Field) -> Schema:
    """The same for a field that can be without a value."""
    schema = field_schema(field)
    declared = schema.get("type")
    if declared is not None:
        schema["type"] = [*([declared] if isinstance(declared, str) else declared), "null"]
        if "enum" in schema:
            schema["enum"] = [*schema["enum"], None]
        return schema
    return {"anyOf": [schema, {"type": "null"}]} if schema.keys() - {"description"} else schema


def key_parameters(collection: Collection) -> tuple[Parameter, ...]:
    """The parameters that say which item is meant."""
    which = f"Which {collection.singular.replace('_', ' ')} is meant."
    return tuple(
        Parameter(name, {"description": which, **field_schema(collection.fields[name])}) for name in collection.key
    )


def create_parameters(collection: Collection) -> Mapping[str, Parameter]:
    """The parameters of a new item, by the field that each fills."""
    singular = collection.singular.replace("_", " ")
    return {
        field.name: _creating(field, f"The {singular}'s {field.name.replace('_', ' ')}.")
        for field in collection.fields.values()
        if field.access is not Access.NEVER
    }


def _creating(field: Field, what: str) -> Parameter:
    name = f"{field.name}_value" if field.name in _TAKEN else field.name
    optional = field.optional or field.nullable
    schema = {"description": what, **(nullable_schema(field) if field.nullable else field_schema(field))}
    if field.default is not None:
        schema["description"] = f"{schema.get('description', '')} (default: {_shown(field.default)})".strip()
    return Parameter(name, schema, required=not optional, default=ABSENT)


def _shown(value: object) -> str:
    return value if isinstance(value, str) else orjson.dumps(value, default=str).decode()


def input_parameter(collection: Collection) -> Parameter:
    """The fields that an update may change. The key is none of them; what is read-only is shown, and refused."""
    fields = [field for name, field in collection.fields.items() if name not in collection.key]
    return Parameter(
        INPUT,
        {
            "type": "object",
            "properties": {field.name: _changing(field) for field in fields},
            "additionalProperties": False,
            "minProperties": 1,
            "description": " ".join(["The fields to change.", *_growing(fields)]),
        },
    )


def _growing(fields: Iterable[Field]) -> Iterator[str]:
    """What is to be known of fields that can only grow."""
    for field in fields:
        if field.access is Access.APPEND:
            yield f"{field.name} is append-only: what is given comes after what is there."


def _changing(field: Field) -> Schema:
    if field.access in (Access.NEVER, Access.ONCE):
        return {**field_schema(field), "readOnly": True, "not": {}}
    can_end = field.nullable and field.access is not Access.APPEND
    return nullable_schema(field) if can_end else field_schema(field)
