"""From failures of a database to errors that a caller understands: which field, which rule, what to do."""

import logging
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import Final

from headgate.protocol.errors import AqlError, Conflict, Denied, Invalid, Unavailable
from headgate.sources.sql.failures import (
    ConnectionLost,
    Constraint,
    DatabaseFailure,
    DataProblem,
    Locked,
    ReadOnly,
    StatementTimeout,
)
from headgate.sources.sql.schema import TableMap

__all__ = ["explained", "explained_end"]

_CHANGED: Final = re.compile(r"no such (table|column)|does not exist|doesn't exist|Unknown column|has no column named")
_WORD: Final = re.compile(r"\w+")
_LOG: Final = logging.getLogger("headgate.sql")


class explained:  # noqa: N801  (it is used as a word: with explained(table))
    """Around statements: what the database refuses is raised as an error with a code."""

    __slots__ = ("_mapped", "_removing", "_where")

    def __init__(self, mapped: TableMap, where: str = "", *, removing: bool = False) -> None:
        self._mapped = mapped
        self._where = where
        self._removing = removing

    def __enter__(self) -> None:
        """Nothing to do before anything failed."""

    def __exit__(self, _kind: object, error: BaseException | None, _trace: TracebackType | None) -> None:
        if isinstance(error, Constraint):
            raise self._broken(error) from None
        _explain(error)

    def _broken(self, error: Constraint) -> AqlError:
        _LOG.info("the database said: %s", error.raw)
        fields = self._fields(error)
        return _CONSTRAINTS[error.kind](self, fields)

    def _fields(self, error: Constraint) -> list[str]:
        """The fields that a constraint is about, as far as the database tells or the schema knows."""
        names = {column.name: name for name, column in self._mapped.columns.items()}
        columns = error.columns or _columns_of(self._mapped, error.constraint)
        return [names[column] for column in columns if column in names]

    def place(self, fields: list[str]) -> str:
        """Where the fault stands in the request."""
        return ".".join(part for part in (self._where, *fields[:1]) if part) or "params"

    def unique(self, fields: list[str]) -> AqlError:
        """Another row has the same."""
        singular = self._mapped.collection.singular
        listed = " and ".join(f"'{field}'" for field in fields)
        message = f"Resource '{singular}' already exists" + (f" with the same {listed}" if listed else "")
        return Conflict(singular, None, message, fields=fields)

    def foreign_key(self, fields: list[str]) -> AqlError:
        """A reference leads nowhere, or something refers to what would go."""
        singular = self._mapped.collection.singular
        if self._removing:
            return AqlError(
                "CONFLICT_REFERENCED",
                f"Resource '{singular}' is still referred to by others: remove or change those first",
                {"resource_type": singular},
            )
        return Invalid(self.place(fields), "it refers to an item which does not exist", fields=fields)

    def not_null(self, fields: list[str]) -> AqlError:
        """A value is missing."""
        return Invalid(self.place(fields), "it must have a value", fields=fields)

    def check(self, fields: list[str]) -> AqlError:
        """A rule of the table is broken."""
        return Invalid(self.place(fields), "a rule of the table does not allow the value", fields=fields)


@contextmanager
def explained_end() -> Iterator[None]:
    """Around a whole transaction, of which only the end is left: a rule may be checked as late as that."""
    try:
        yield
    except Constraint as error:
        _LOG.info("the database said: %s", error.raw)
        raise AqlError(
            "VALIDATION_INVALID_VALUE", "A rule of the database does not allow the changes together"
        ) from None
    except DatabaseFailure as error:
        _explain(error)
        raise


def _explain(error: BaseException | None) -> None:
    """Raise the error that a failure stands for, if it has a class of its own."""
    for kind, explain in _FAILURES.items():
        if isinstance(error, kind):
            _LOG.info("the database said: %s", error.raw)
            raise explain() from None
    if isinstance(error, DatabaseFailure):
        _LOG.error("the database said: %s", error.raw)
        if _CHANGED.search(error.raw):
            raise Unavailable("the tables have changed since the server started; it must be started anew") from None


def _columns_of(mapped: TableMap, constraint: str | None) -> tuple[str, ...]:
    """The columns of a constraint or unique index that only its name is known of."""
    if constraint is None:
        return ()
    if constraint == "PRIMARY":
        return tuple(column.name for column in mapped.table.primary_key.columns)
    if constraint in mapped.constraints:
        return mapped.constraints[constraint]
    spoken_of = set(_WORD.findall(constraint))  # a rule without a name goes by its text
    found = tuple(column.name for column in mapped.table.columns if column.name in spoken_of)
    return found or tuple(  # or by the name that PostgreSQL gives it
        column.name for column in mapped.table.columns if f"_{column.name}_check" in constraint
    )


_CONSTRAINTS: Final[Mapping[str, Callable[[explained, list[str]], AqlError]]] = {
    "unique": explained.unique,
    "foreign_key": explained.foreign_key,
    "not_null": explained.not_null,
    "check": explained.check,
}

_FAILURES: Final[Mapping[type[DatabaseFailure], Callable[[], AqlError]]] = {
    StatementTimeout: lambda: AqlError(
        "TRANSPORT_TIMEOUT",
        "The database took too long and was stopped: narrow the filter, ask for fewer fields, or sort by an "
        "indexed field",
    ),
    ConnectionLost: lambda: AqlError("TRANSPORT_NETWORK_ERROR", "The database cannot be reached just now: try again"),
    Locked: lambda: AqlError("TRANSPORT_TIMEOUT", "The database is busy with another change: try again"),
    ReadOnly: lambda: Denied("the database may only be read"),
    DataProblem: lambda: AqlError(
        "VALIDATION_INVALID_VALUE", "A value does not fit: it is too large, too long, or of another kind than the field"
    ),
}
