"""Lists of records as a table: what the records call their values is said once, and not once a record."""

from collections.abc import Mapping
from typing import Any, Final

__all__ = ["FORMAT", "ITEMS", "PAGE_INFO", "TABLE", "records_of", "table_of"]

FORMAT: Final = "format"
"""The parameter that asks for another form of the same answer."""

TABLE: Final = "table"

ITEMS: Final = "items"
PAGE_INFO: Final = "pageInfo"
"""Where a page has its records, and what it says of itself."""


def table_of(answer: object) -> object:
    """The columns in the order in which the records name them, and a row for each; null where a record has no value.

    A value that is an object or a list stands in its cell as it is. A page keeps what else it says. What holds no list
    of objects stays what it is.
    """
    if isinstance(answer, dict) and {ITEMS, PAGE_INFO} <= answer.keys():
        table = _table(answer[ITEMS])
        rest = {name: value for name, value in answer.items() if name != ITEMS}
        return answer if table is None else {**table, **rest}
    return _table(answer) or answer


def _table(records: object) -> dict[str, Any] | None:
    if not isinstance(records, list) or not all(isinstance(one, dict) for one in records):
        return None
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
