"""Executions in a database: what is kept of each, and how it is found."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Final, NamedTuple, Protocol

from headgate.protocol.lifecycle import LIVE, State
from headgate.store.drivers.base import Row, Transaction

__all__ = ["LIVE_STATES", "SELECT", "Asked", "Execution", "Free", "Piece", "Progress", "Pulse", "Queue", "Run", "read"]


class Progress(NamedTuple):
    """How far the work is (Spec 8.4.3)."""

    current: float | None = None
    total: float | None = None
    message: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """One execution as it is kept. Texts named ``params``, ``about``, ``error`` and ``outcome`` are JSON."""

    id: str
    adapter: str
    operation: str
    owner: str
    """Who started it, and may see it."""
    session: str | None = None
    """The session that it ends with, if it does."""
    origin: str | None = None
    """The process that the session is in."""
    state: State = State.PENDING
    ready: bool = False
    """Whether its turn has come; while it is live, it then takes up room among those of its operation."""
    slot_key: str | None = None
    """What only one execution of the operation may have at a time."""
    capacity: int | None = None
    attempt: int = 0
    tries: int = 0
    """How many attempts have failed since it was last started by somebody."""
    interruptions: int = 0
    worker: str | None = None
    job: int | None = None
    """The job of the queue that carries it."""
    created_at: float
    started_at: float | None = None
    finished_at: float | None = None
    due_at: float | None = None
    """When the next attempt may begin."""
    asked_at: float | None = None
    """When somebody asked for its end."""
    asked_by: str | None = None
    expires_at: float | None = None
    done: float | None = None
    total: float | None = None
    message: str | None = None
    params: str
    about: str
    error: str | None = None
    outcome: str | None = None

    @property
    def is_limited(self) -> bool:
        """Whether others may have to wait for its end."""
        return self.capacity is not None or self.slot_key is not None

    @property
    def progress(self) -> Progress:
        """How far it is."""
        return Progress(self.done, self.total, self.message)

    @property
    def run(self) -> "Run":
        """The attempt that is under way."""
        return Run(self.id, self.worker or "", self.attempt)


class Run(NamedTuple):
    """One attempt: only the worker that is at it may say what becomes of it."""

    id: str
    worker: str
    attempt: int


class Pulse(NamedTuple):
    """What changes of an execution while it goes on."""

    id: str
    state: str
    attempt: int
    done: float | None
    total: float | None
    message: str | None


class Piece(NamedTuple):
    """A part of a result: JSON items from a number on, or a cut of one JSON text."""

    first: int
    content: str


class Free(NamedTuple):
    """An execution whose turn has come, and who is to work on it."""

    id: str
    worker: str | None


class Asked(NamedTuple):
    """What is known of an execution whose end was asked for, and whose turn it is now."""

    execution: Execution | None
    free: list[Free]
    is_heard: bool = False
    """Whether anything has changed: not where it had ended, or somebody has asked before."""


class Queue(Protocol):
    """Carries executions to workers, within the transactions that change them."""

    def put(self, transaction: Transaction, execution: Execution) -> None:
        """Have a worker take it, once it is due."""
        ...

    def put_new(
        self, transaction: Transaction, execution: Execution, insert: str, values: Mapping[str, object]
    ) -> bool:
        """Run the statement that keeps it, and have a worker take it; False if it was kept before."""
        ...

    def drop(self, transaction: Transaction, execution: Execution) -> None:
        """Nobody needs to take it any more."""
        ...

    def put_back(self, transaction: Transaction, execution: Execution) -> None:
        """Have a worker take it again, once it is due."""
        ...


NAMES: Final = tuple(field.name for field in fields(Execution))
COLUMNS: Final = ", ".join(NAMES)
SELECT: Final = f"SELECT {COLUMNS} FROM headgate.executions"  # noqa: S608
_BRIEFLY: Final = SELECT.replace(" params, about,", " '' AS params, '' AS about,")
_AMONG_FEW: Final = "id || ''"
"""The order of ids where few of all executions are wanted: by the index of ids, a database would look through all."""


def listed(states: Sequence[State]) -> str:
    """States as a condition names them."""
    return ", ".join(f"'{state}'" for state in states)


AT_WORK: Final = (State.RUNNING, State.CANCELLING, State.STUCK)
WAITING: Final = (State.PENDING, State.RETRYING)
LIVE_STATES: Final = listed(LIVE)


def read(row: Row) -> Execution:
    """The execution in a row."""
    values = dict(zip(NAMES, row, strict=True))
    return Execution(**{**values, "state": State(values["state"]), "ready": bool(values["ready"])})


def columns(execution: Execution) -> dict[str, object]:
    """What stands in its row."""
    values: dict[str, object] = {name: getattr(execution, name) for name in NAMES}
    return {**values, "state": execution.state.value, "ready": int(execution.ready)}


# looking


def find(transaction: Transaction, execution_id: str) -> Execution | None:
    """The execution of an id."""
    found = transaction.rows(f"{SELECT} WHERE id = :id", id=execution_id)
    return read(found[0]) if found else None


def select(
    transaction: Transaction,
    *,
    adapter: str | None = None,
    owner: str | None = None,
    live: bool = False,
    before: str | None = None,
    first: int = 1000,
    brief: bool = False,
) -> list[Execution]:
    """Executions, the newest first: of an adapter and an owner if they are named, older than one of an id.

    In brief, they come without the parameters and all else that stays the same from start to end.
    """
    asked = {"adapter": adapter, "owner": owner, "before": before}
    given = {name: value for name, value in asked.items() if value is not None}
    conditions = [f"{name} = :{name}" for name in given if name != "before"]
    conditions += ["id < :before"] if before is not None else []
    conditions += [f"state IN ({LIVE_STATES})"] if live else []
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    order = _AMONG_FEW if live else "id"
    sql = f"{_BRIEFLY if brief else SELECT}{where} ORDER BY {order} DESC LIMIT :first"
    return [read(row) for row in transaction.rows(sql, first=first, **given)]


def unfinished(transaction: Transaction) -> dict[State, int]:
    """How many executions have not ended, by their state; one without any is left out."""
    sql = f"SELECT state, count(*) FROM headgate.executions WHERE state IN ({LIVE_STATES}) GROUP BY state"  # noqa: S608
    return {State(row[0]): row[1] for row in transaction.rows(sql)}


def newest(transaction: Transaction) -> str:
    """The id of the execution that was started last; nothing if there is none."""
    return str(transaction.rows("SELECT max(id) FROM headgate.executions")[0][0] or "")


def pulses(transaction: Transaction, first: int) -> list[Pulse]:
    """How far those are that have not ended, the newest first."""
    sql = f"""SELECT id, state, attempt, done, total, message FROM headgate.executions
        WHERE state IN ({LIVE_STATES}) ORDER BY {_AMONG_FEW} DESC LIMIT :first"""  # noqa: S608
    return [Pulse(*row) for row in transaction.rows(sql, first=first)]


def in_hand(transaction: Transaction, worker: str) -> list[tuple[str, int, State]]:
    """What a worker is at, as far as the store knows: id, attempt and state."""
    sql = f"""SELECT id, attempt, state FROM headgate.executions
        WHERE worker = :worker AND state IN ({listed(AT_WORK)})"""  # noqa: S608
    return [(row[0], row[1], State(row[2])) for row in transaction.rows(sql, worker=worker)]


def to_begin(transaction: Transaction, adapter: str, worker: str, now: float, *, adopts: bool = True) -> list[str]:
    """What a worker may begin: its own, and if it adopts that, what nobody has for his own any more."""
    whose = "(worker = :worker OR worker IS NULL)" if adopts else "worker = :worker"
    sql = f"""SELECT id FROM headgate.executions
        WHERE adapter = :adapter AND state IN ({listed(WAITING)}) AND ready = 1
        AND {whose} AND (due_at IS NULL OR due_at <= :now)
        ORDER BY id LIMIT 1000"""  # noqa: S608
    return [row[0] for row in transaction.rows(sql, adapter=adapter, worker=worker, now=now)]


def of_session(transaction: Transaction, session: str) -> list[Execution]:
    """The live executions that end with a session."""
    return [
        read(row) for row in transaction.rows(f"{SELECT} WHERE session = :s AND state IN ({LIVE_STATES})", s=session)
    ]


# results

_PIECES: Final = """SELECT first_item, content FROM headgate.execution_pieces
    WHERE execution_id = :id AND number BETWEEN :low AND :high ORDER BY number"""


def pieces(transaction: Transaction, execution_id: str, low: int, high: int) -> list[Piece]:
    """Pieces of a result by their numbers."""
    return [Piece(*row) for row in transaction.rows(_PIECES, id=execution_id, low=low, high=high)]


def piece_with(transaction: Transaction, execution_id: str, item: int) -> int:
    """The number of the piece that an item of a result is in."""
    sql = "SELECT max(number) FROM headgate.execution_pieces WHERE execution_id = :id AND first_item <= :item"
    return int(transaction.rows(sql, id=execution_id, item=item)[0][0] or 0)
