"""What can go wrong with a statement, in words that every database shares.

DatabaseFailure
├── StatementTimeout    it took longer than it may
├── Interrupted         whoever asked for it is gone
├── ConnectionLost      the database cannot be reached
│   └── NotBegun        it was not reached at all: nothing of the transaction was sent
├── Locked              somebody else holds what it needs, or a deadlock was broken
├── Constraint          a rule of the table forbids it
├── ReadOnly            the database may only be read
└── DataProblem         a value does not fit its column

None carries SQL. What the driver said is in ``raw``, which may hold data: it is for the log alone.
"""

import re
from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

__all__ = [
    "ConnectionLost",
    "Constraint",
    "ConstraintKind",
    "DataProblem",
    "DatabaseFailure",
    "Interrupted",
    "Locked",
    "NotBegun",
    "ReadOnly",
    "StatementTimeout",
    "broken_rule",
    "mysql_failure",
    "postgresql_failure",
    "sqlite_failure",
]

ConstraintKind: TypeAlias = Literal["unique", "foreign_key", "not_null", "check"]


class DatabaseFailure(Exception):
    """The database refused a statement for a reason that has no class of its own."""

    message = "the database refused the statement"

    def __init__(self, raw: str = "") -> None:
        super().__init__(self.message)
        self.raw = raw


class StatementTimeout(DatabaseFailure):
    """The statement was stopped since it took too long."""

    message = "the statement took too long"


class Interrupted(DatabaseFailure):
    """The statement was stopped since its task was cancelled."""

    message = "the statement was cancelled"


class ConnectionLost(DatabaseFailure):
    """There is no connection to the database, or there is none any more."""

    message = "the database cannot be reached"


class NotBegun(ConnectionLost):
    """The connection was lost before a transaction began; it may be begun on another one."""


class Locked(DatabaseFailure):
    """Another transaction holds what this one needs; the same again may succeed."""

    message = "the database is locked by another transaction"


class ReadOnly(DatabaseFailure):
    """The database may only be read."""

    message = "the database may only be read"


class DataProblem(DatabaseFailure):
    """A value is out of range, too long, or not what its column holds."""

    message = "a value does not fit its column"


class Constraint(DatabaseFailure):
    """A rule of a table forbids the change. What the database does not tell is None or empty."""

    message = "a rule of the table forbids the change"

    def __init__(
        self,
        kind: ConstraintKind,
        table: str | None = None,
        constraint: str | None = None,
        columns: tuple[str, ...] = (),
        raw: str = "",
    ) -> None:
        super().__init__(raw)
        self.kind = kind
        self.table = table
        self.constraint = constraint
        self.columns = columns


Kind: TypeAlias = type[DatabaseFailure] | ConstraintKind
"""A class of failure, or which kind of rule was broken."""


def broken_rule(kind: ConstraintKind, raw: str, patterns: tuple[re.Pattern[str], ...]) -> Constraint:
    """The constraint that a driver's message names, as far as one of the patterns finds it."""
    found = next((match.groupdict() for pattern in patterns if (match := pattern.search(raw))), {})
    columns = tuple(_name(part) for part in (found.get("columns") or "").split(", ") if part)
    return Constraint(kind, found.get("table"), found.get("constraint"), columns, raw)


def _name(identifier: str) -> str:
    """A column without its quotes, and without the table in front of it."""
    return identifier.rpartition(".")[2].strip('"`')


def _failure(kind: Kind, raw: str, patterns: tuple[re.Pattern[str], ...] = ()) -> DatabaseFailure:
    return broken_rule(kind, raw, patterns) if isinstance(kind, str) else kind(raw)


# SQLite: result codes, the extended one first (https://www.sqlite.org/rescode.html)
_SQLITE: Final[Mapping[int, Kind]] = {
    275: "check",
    787: "foreign_key",
    1299: "not_null",
    1555: "unique",
    1811: "check",
    2067: "unique",
    2579: "unique",
    3091: DataProblem,
    5: Locked,
    6: Locked,
    8: ReadOnly,
    9: StatementTimeout,
    18: DataProblem,
    20: DataProblem,
}
_SQLITE_NAMES: Final = (
    re.compile(r"^CHECK constraint failed: (?P<constraint>.+)$", re.DOTALL),
    re.compile(r"constraint failed: index '(?P<constraint>.+)'$"),
    re.compile(r"constraint failed: (?P<columns>(?P<table>.+?)\..+)$"),
)
_SQLITE_DATA: Final = re.compile(r"^(integer overflow|Could not decode to UTF-8|string or blob too big)")


def sqlite_failure(code: int | None, raw: str) -> DatabaseFailure:
    """The failure that an extended result code and its message mean."""
    code = code or 0
    kind = _SQLITE.get(code) or _SQLITE.get(code & 0xFF)
    if raw.startswith("FOREIGN KEY"):  # ON DELETE RESTRICT has the code of a trigger
        kind = "foreign_key"
    if kind is None:
        kind = DataProblem if _SQLITE_DATA.match(raw) else DatabaseFailure
    return _failure(kind, raw, _SQLITE_NAMES)


# PostgreSQL: SQLSTATE, or its class of two characters
_POSTGRESQL: Final[Mapping[str, Kind]] = {
    "08": ConnectionLost,
    "22": DataProblem,
    "23502": "not_null",
    "23503": "foreign_key",
    "23505": "unique",
    "23514": "check",
    "23P01": "unique",
    "25006": ReadOnly,
    "P0001": "check",
    "40001": Locked,
    "40P01": Locked,
    "53300": ConnectionLost,
    "55P03": Locked,
    "57014": StatementTimeout,
    "57P01": ConnectionLost,
    "57P02": ConnectionLost,
    "57P03": ConnectionLost,
}
_POSTGRESQL_KEY: Final = re.compile(r"\((?P<columns>.+?)\)=\(")


def postgresql_failure(state: str | None, raw: str, detail: str = "") -> DatabaseFailure:
    """The failure that an SQLSTATE means; the detail names the columns of a key."""
    state = state or ""
    kind = _POSTGRESQL.get(state) or _POSTGRESQL.get(state[:2]) or DatabaseFailure
    failure = _failure(kind, detail, (_POSTGRESQL_KEY,))
    failure.raw = raw
    return failure


# MySQL and MariaDB: the server's and the client's error numbers
_MYSQL: Final[Mapping[int, Kind]] = {
    **dict.fromkeys((1062, 1169, 1586, 1859), "unique"),
    **dict.fromkeys((1048, 1263, 1364), "not_null"),
    **dict.fromkeys((1216, 1217, 1451, 1452, 1761, 1762), "foreign_key"),
    **dict.fromkeys((1644, 3819, 4025), "check"),
    **dict.fromkeys((1264, 1265, 1292, 1300, 1365, 1366, 1367, 1406, 1411, 1416, 1690, 3140, 3156, 4038), DataProblem),
    **dict.fromkeys((1267, 1270, 1271, 3988), DataProblem),  # characters that the column's set does not have
    **dict.fromkeys((1205, 1213, 3572), Locked),
    **dict.fromkeys((1290, 1792, 1836), ReadOnly),
    **dict.fromkeys((1317, 1969, 3024), StatementTimeout),
    **dict.fromkeys((0, 1040, 1053, 1152, 1184, 1203, 1226, 1927, 4031), ConnectionLost),
    **dict.fromkeys((2002, 2003, 2005, 2006, 2012, 2013, 2014, 2026, 2055), ConnectionLost),
}
_MYSQL_NAMES: Final = (
    re.compile(r"for key '(?:(?P<table>[^'.]+)\.)?(?P<constraint>[^']+)'$"),
    re.compile(r"^(?:Column|Field) '(?P<columns>.+?)' "),
    re.compile(r"\(`[^`]+`\.`(?P<table>[^`]+)`, CONSTRAINT `(?P<constraint>[^`]+)` FOREIGN KEY \((?P<columns>[^)]+)\)"),
    re.compile(r"^CONSTRAINT `(?:[^`]+`\.`)?(?P<constraint>[^`]+)` failed for `[^`]+`\.`(?P<table>[^`]+)`"),
    re.compile(r"^Check constraint '(?P<constraint>[^']+)' is violated"),
)


def mysql_failure(number: int, raw: str) -> DatabaseFailure:
    """The failure that an error number of MySQL or MariaDB means."""
    return _failure(_MYSQL.get(number, DatabaseFailure), raw, _MYSQL_NAMES)
