"""Operations whose answer is a list of records offer it as a table too."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from headgate.adapter.operations import Operation
from headgate.adapter.parameters import Parameter, Schema
from headgate.adapter.schemas import dereference
from headgate.protocol.tables import FORMAT, ITEMS, TABLE, is_page

__all__ = ["offering_tables"]

_CHOICE: Final = Parameter(
    FORMAT,
    {
        "type": "string",
        "enum": ["records", TABLE],
        "default": "records",
        "description": "'table' names the fields once, in columns, and gives each record as a row.",
    },
    required=False,
    default="records",
)


def offering_tables(operation: Operation) -> Operation:
    """The operation with the choice of a table, if it reads and gives records, and has no ``format`` of its own."""
    if not operation.category.read_only or operation.parameter(FORMAT) is not None:
        return operation
    if not _gives_records(operation.returns, operation.definitions):
        return operation
    return replace(operation, parameters=(*operation.parameters, _CHOICE), tabular=True, checked=True)


def _gives_records(schema: Schema, definitions: Mapping[str, Schema]) -> bool:
    """Whether an answer is a list of objects, or a page of such a list."""
    full = dereference(schema, definitions)
    inside: Schema = full.get("properties", {})
    in_page = is_page(inside)
    if in_page:
        full = dereference(inside[ITEMS], definitions)
    item: Schema = dereference(full.get("items") or {}, definitions)
    may_be_record = item.get("type") == "object" or "properties" in item or (in_page and not item)
    return full.get("type") == "array" and may_be_record
