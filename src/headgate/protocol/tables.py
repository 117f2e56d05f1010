"""Lists of records as a table: what the records call their values is said once, and not once a record."""

from collections.abc import Mapping
from typing import Any, Final, TypeGuard

__all__ = ["FORMAT", "ITEMS", "PAGE_INFO", "TABLE", "is_page", "records_of", "table_of"]

FORMAT: Final = "format"
"""The parameter that asks for another form of the same answer."""

TABLE: Final = "table"

ITEMS: Final = "items"
PAGE_INFO: Final = "pageInfo"
"""Where a page has its records, and what it says of itself."""
_COLUMNS: Final = "columns"
_ROWS: Final = "rows"
_OWN: Final = frozenset({_COLUMNS, _ROWS})


def table_of(answer: object) -> object:
    """The columns in the order in which the records name them, and a row for each; null where a record has no value.

    A value that is an object or a list stands in its cell as it is. A page keeps what else it says. What holds no list
    of objects stays what it is, and so does a page that says something of its own under the names of the table.
    """
    if is_page(answer):
        table = _table(answer[ITEMS])
        rest = {name: value for name, value in answer.items() if name != ITEMS}
        return answer if table is None else {**table, **rest}
    return _table(answer) or answer


def is_page(names: object) -> TypeGuard[dict[str, Any]]:
    """Whether these are the members of a page that can be a table, in an answer or in the schema of one."""
    return isinstance(names, dict) and {ITEMS, PAGE_INFO} <= names.keys() and names.keys().isdisjoint(_OWN)


def _table(records: object) -> dict[str, Any] | None:
    if not isinstance(records, list) or not all(isinstance(one, dict) for one in records):
        return None
    columns = list(dict.fromkeys(name for record in records for name in record))
    return {_COLUMNS: columns, _ROWS: [[record.get(name) for name in columns] for record in records]}


def records_of(answer: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """The records of a table, by the names of its columns; None if it is none."""
    columns, rows = _listed(answer.get(_COLUMNS)), _listed(answer.get(_ROWS))
    if columns is None or rows is None or not all(isinstance(name, str) for name in columns):
        return None
    if any(not isinstance(row, list) or len(row) != len(columns) for row in rows):
        return None
    return [dict(zip(columns, row, strict=True)) for row in rows]


def _listed(value: object) -> list[Any] | None:
    return value if isinstance(value, list) else None
