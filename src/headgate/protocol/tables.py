"""Lists of records as a table: what the records call their values is said once, and not once a record."""

from collections.abc import Mapping
from typing import Any, Final

__all__ = ["FORMAT", "TABLE", "records_of", "table_of"]

FORMAT: Final = "format"
"""The parameter that asks for another form of the same answer."""

TABLE: Final = "table"


def table_of(records: object) -> object:
    """The columns in the order in which the records name them, and a row for each; null where a record has no value.

    A value that is an object or a list stands in its cell as it is. What is no list of objects stays what it is.
    """
    if not isinstance(records, list) or not all(isinstance(one, dict) for one in records):
        return records
    columns = list(dict.fromkeys(name for record in records for name in record))
    return {"columns": columns, "rows": [[record.get(name) for name in columns] for record in records]}


def records_of(answer: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """The records of a table, by the names of its columns; None if it is none."""
    columns, rows = _listed(answer.get("columns")), _listed(answer.get("rows"))
    if columns is None or rows is None or not all(isinstance(name, str) for name in columns):
        return None
    if any(not isinstance(row, list) or len(row) != len(columns) for row in rows):
        return None
    return [dict(zip(columns, row, strict=True)) for row in rows]


def _listed(value: object) -> list[Any] | None:
    return value if isinstance(value, list) else None
