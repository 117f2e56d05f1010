"""Executions in a database: the statements that move them from state to state, each atomic, each only along the table.

What a statement may do stands in its condition: which states it starts from follows from the table of transitions, and
a worker changes only what is still its own. So whoever comes too late changes nothing, on however many machines.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Final, NamedTuple, Protocol

from headgate.protocol.lifecycle import LIVE, State, leading_to
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

    def drop(self, transaction: Transaction, execution: Execution) -> None:
        """Nobody needs to take it any more."""
        ...

    def put_back(self, transaction: Transaction, execution: Execution) -> None:
        """Have a worker take it again, once it is due."""
        ...


_NAMES: Final = tuple(field.name for field in fields(Execution))
_COLUMNS: Final = ", ".join(_NAMES)
_INSERT: Final = (
    f"INSERT INTO headgate.executions ({_COLUMNS}) VALUES ({', '.join(f':{name}' for name in _NAMES)})"  # noqa: S608
    " ON CONFLICT (id) DO NOTHING"
)
SELECT: Final = f"SELECT {_COLUMNS} FROM headgate.executions"  # noqa: S608
_BRIEFLY: Final = SELECT.replace(" params, about,", " '' AS params, '' AS about,")
_AMONG_FEW: Final = "id || ''"
"""The order of ids where few of all executions are wanted: by the index of ids, a database would look through all."""
_MINE: Final = "worker = :mine AND attempt = :at_attempt"


def _listed(states: Sequence[State]) -> str:
    return ", ".join(f"'{state}'" for state in states)


_AT_WORK: Final = (State.RUNNING, State.CANCELLING, State.STUCK)
_WAITING: Final = (State.PENDING, State.RETRYING)
LIVE_STATES: Final = _listed(LIVE)


def read(row: Row) -> Execution:
    """The execution in a row."""
    values = dict(zip(_NAMES, row, strict=True))
    return Execution(**{**values, "state": State(values["state"]), "ready": bool(values["ready"])})


def columns(execution: Execution) -> dict[str, object]:
    """What stands in its row."""
    values: dict[str, object] = {name: getattr(execution, name) for name in _NAMES}
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
        WHERE worker = :worker AND state IN ({_listed(_AT_WORK)})"""  # noqa: S608
    return [(row[0], row[1], State(row[2])) for row in transaction.rows(sql, worker=worker)]


def to_begin(transaction: Transaction, adapter: str, worker: str, now: float, *, adopts: bool = True) -> list[str]:
    """What a worker may begin: its own, and if it adopts that, what nobody has for his own any more."""
    whose = "(worker = :worker OR worker IS NULL)" if adopts else "worker = :worker"
    sql = f"""SELECT id FROM headgate.executions
        WHERE adapter = :adapter AND state IN ({_listed(_WAITING)}) AND ready = 1
        AND {whose} AND (due_at IS NULL OR due_at <= :now)
        ORDER BY id LIMIT 1000"""  # noqa: S608
    return [row[0] for row in transaction.rows(sql, adapter=adapter, worker=worker, now=now)]


# room among those of the same operation


def _lock(transaction: Transaction, execution: Execution) -> None:
    if execution.is_limited:
        transaction.lock(f"executions of {execution.adapter} {execution.operation}")


_TAKEN: Final = (
    "SELECT count(*) FROM headgate.executions WHERE adapter = :adapter AND operation = :operation AND ready = 1"
)
_NEXT: Final = f"""SELECT id, worker FROM headgate.executions AS one
    WHERE adapter = :adapter AND operation = :operation AND ready = 0 AND state IN ({_listed(_WAITING)})
    AND (slot_key IS NULL OR NOT EXISTS (
        SELECT 1 FROM headgate.executions AS other WHERE other.adapter = :adapter AND other.operation = :operation
        AND other.ready = 1 AND other.slot_key = one.slot_key))
    ORDER BY id LIMIT 1"""  # noqa: S608


def _has_room(transaction: Transaction, execution: Execution) -> bool:
    """Whether its turn has come; asked under the lock of its operation."""
    if not execution.is_limited:
        return True
    named = {"adapter": execution.adapter, "operation": execution.operation}
    if execution.capacity is not None and transaction.rows(_TAKEN, **named)[0][0] >= execution.capacity:
        return False
    if execution.slot_key is None:
        return True
    sql = f"{_TAKEN} AND slot_key = :slot_key"
    return not transaction.rows(sql, slot_key=execution.slot_key, **named)[0][0]


def _give_room(transaction: Transaction, ended: Execution, queue: Queue) -> list[Free]:
    """Let those begin for which there is room now."""
    free: list[Free] = []
    if not ended.is_limited:
        return free
    named = {"adapter": ended.adapter, "operation": ended.operation}
    while ended.capacity is None or transaction.rows(_TAKEN, **named)[0][0] < ended.capacity:
        waiting = transaction.rows(_NEXT, **named)
        if not waiting:
            break
        free.append(Free(*waiting[0]))
        [row] = transaction.rows(
            f"UPDATE headgate.executions SET ready = 1 WHERE id = :id RETURNING {_COLUMNS}",  # noqa: S608
            id=waiting[0][0],
        )
        queue.put(transaction, read(row))
    return free


# moving


def _move(
    transaction: Transaction,
    target: State,
    execution_id: str,
    changes: Mapping[str, object],
    *,
    run: Run | None = None,
    sources: Sequence[State] | None = None,
) -> Execution | None:
    """Bring an execution into another state, if it is in one that leads there and the attempt is still the worker's."""
    allowed = [one for one in leading_to(target) if sources is None or one in sources]
    said = "".join(f", {name} = :{name}" for name in changes)
    fence = f" AND {_MINE}" if run else ""
    sql = f"""UPDATE headgate.executions SET state = '{target}'{said}
        WHERE id = :id AND state IN ({_listed(allowed)}){fence} RETURNING {_COLUMNS}"""  # noqa: S608
    mine = {"mine": run.worker, "at_attempt": run.attempt} if run else {}
    found = transaction.rows(sql, id=execution_id, **changes, **mine)
    return read(found[0]) if found else None


def add(transaction: Transaction, execution: Execution, queue: Queue) -> Execution:
    """Keep a new execution, and let it begin if there is room; a second time, nothing happens."""
    _lock(transaction, execution)
    made = replace(execution, ready=_has_room(transaction, execution))
    if not transaction.change(_INSERT, **columns(made)):
        return find(transaction, execution.id) or made
    if made.ready:
        queue.put(transaction, made)
    return made


def begin(
    transaction: Transaction, execution_id: str, worker: str, now: float, job: int | None = None
) -> Execution | None:
    """Start the next attempt of what waits for it."""
    sql = f"""UPDATE headgate.executions SET state = '{State.RUNNING}', attempt = attempt + 1, worker = :worker,
        job = :job, started_at = COALESCE(started_at, :now), due_at = NULL, done = NULL, total = NULL, message = NULL
        WHERE id = :id AND state IN ({_listed(leading_to(State.RUNNING))}) AND ready = 1
        AND (worker IS NULL OR worker = :worker) RETURNING {_COLUMNS}"""  # noqa: S608
    found = transaction.rows(sql, id=execution_id, worker=worker, now=now, job=job)
    return read(found[0]) if found else None


def end(
    transaction: Transaction,
    target: State,
    execution: Execution,
    changes: Mapping[str, object],
    queue: Queue,
    pieces: Sequence[Piece] = (),
) -> list[Free] | None:
    """Bring an attempt to its end, with its result; None if it is no longer the worker's. Whose turn it is now."""
    _lock(transaction, execution)
    ended = _move(transaction, target, execution.id, {"ready": 0, **changes}, run=execution.run)
    if ended is None:
        return None
    rows = [
        {"id": execution.id, "number": number, "first_item": piece.first, "content": piece.content}
        for number, piece in enumerate(pieces)
    ]
    if rows:
        transaction.change_each(_PUT_PIECE, rows)
    queue.drop(transaction, execution)
    return _give_room(transaction, execution, queue)


def again(transaction: Transaction, execution: Execution, changes: Mapping[str, object], queue: Queue) -> bool:
    """Let another attempt follow; whether the one before was still the worker's."""
    moved = _move(transaction, State.RETRYING, execution.id, changes, run=execution.run, sources=_AT_WORK)
    if moved is not None:
        queue.put_back(transaction, moved)
    return moved is not None


def mark_stuck(transaction: Transaction, run: Run) -> bool:
    """Say that an attempt does not stop."""
    return _move(transaction, State.STUCK, run.id, {}, run=run) is not None


def ask_to_stop(
    transaction: Transaction,
    execution_id: str,
    asked: Mapping[str, object],
    target: State,
    final: Mapping[str, object],
    queue: Queue,
) -> Asked:
    """Ask for an execution's end: at once if nobody is at it, else as soon as it has cleaned up."""
    known = find(transaction, execution_id)
    if known is None:
        return Asked(None, [])
    _lock(transaction, known)
    known = find(transaction, execution_id) or known  # its turn may have come while the lock was another's
    ended = _move(transaction, target, execution_id, {**asked, **final, "ready": 0}, sources=_WAITING)
    if ended is not None:  # its job, if there is one, finds nothing to begin
        return Asked(ended, _give_room(transaction, ended, queue) if known.ready else [], is_heard=True)
    moved = _move(transaction, State.CANCELLING, execution_id, asked) or _note_ask(transaction, execution_id, asked)
    return Asked(moved or find(transaction, execution_id), [], is_heard=moved is not None)


def _note_ask(transaction: Transaction, execution_id: str, asked: Mapping[str, object]) -> Execution | None:
    """Remember of what is stuck already that somebody wants its end."""
    sql = f"""UPDATE headgate.executions SET asked_at = :asked_at, asked_by = :asked_by
        WHERE id = :id AND state = '{State.STUCK}' AND asked_at IS NULL RETURNING {_COLUMNS}"""  # noqa: S608
    found = transaction.rows(sql, id=execution_id, **asked)
    return read(found[0]) if found else None


def retry(
    transaction: Transaction, execution_id: str, now: float, worker: str | None, queue: Queue
) -> Execution | None:
    """Let an execution that has failed begin anew; None if it has not failed."""
    known = find(transaction, execution_id)
    if known is None:
        return None
    _lock(transaction, known)
    clean: dict[str, object] = dict.fromkeys(
        ("finished_at", "expires_at", "error", "outcome", "asked_at", "asked_by", "job", "done", "total", "message")
    )
    ready = _has_room(transaction, known)
    changes = {**clean, "tries": 0, "interruptions": 0, "worker": worker, "due_at": now, "ready": int(ready)}
    moved = _move(transaction, State.RETRYING, execution_id, changes, sources=(State.FAILED,))
    if moved is not None and ready:
        queue.put(transaction, moved)
    return moved


# progress and results

_PROGRESS: Final = f"""UPDATE headgate.executions SET done = :done, total = :total, message = :message
    WHERE id = :id AND {_MINE} AND state IN ({_listed(_AT_WORK)})"""  # noqa: S608
_PUT_PIECE: Final = """INSERT INTO headgate.execution_pieces (execution_id, number, first_item, content)
    VALUES (:id, :number, :first_item, :content)"""
_PIECES: Final = """SELECT first_item, content FROM headgate.execution_pieces
    WHERE execution_id = :id AND number BETWEEN :low AND :high ORDER BY number"""


def note_progress(transaction: Transaction, notes: Sequence[tuple[Run, Progress]]) -> None:
    """Write down how far some attempts are."""
    rows = [
        {
            "id": run.id,
            "mine": run.worker,
            "at_attempt": run.attempt,
            "done": progress.current,
            "total": progress.total,
            "message": progress.message,
        }
        for run, progress in notes
    ]
    transaction.change_each(_PROGRESS, rows)


def pieces(transaction: Transaction, execution_id: str, low: int, high: int) -> list[Piece]:
    """Pieces of a result by their numbers."""
    return [Piece(*row) for row in transaction.rows(_PIECES, id=execution_id, low=low, high=high)]


def piece_with(transaction: Transaction, execution_id: str, item: int) -> int:
    """The number of the piece that an item of a result is in."""
    sql = "SELECT max(number) FROM headgate.execution_pieces WHERE execution_id = :id AND first_item <= :item"
    return int(transaction.rows(sql, id=execution_id, item=item)[0][0] or 0)


def of_session(transaction: Transaction, session: str) -> list[Execution]:
    """The live executions that end with a session."""
    return [
        read(row) for row in transaction.rows(f"{SELECT} WHERE session = :s AND state IN ({LIVE_STATES})", s=session)
    ]


def set_free(transaction: Transaction, execution: Execution) -> None:
    """Let any worker have what waits for one that is gone."""
    sql = f"""UPDATE headgate.executions SET worker = NULL
        WHERE id = :id AND worker = :worker AND state IN ({_listed(_WAITING)})"""  # noqa: S608
    transaction.change(sql, id=execution.id, worker=execution.worker)


def resume(transaction: Transaction, execution: Execution, changes: Mapping[str, object], queue: Queue) -> bool:
    """Let another worker begin anew what one that is gone was at."""
    changed = {**changes, "interruptions": execution.interruptions + 1, "worker": None}
    moved = _move(transaction, State.RETRYING, execution.id, changed, run=execution.run, sources=_AT_WORK)
    if moved is not None:
        queue.put_back(transaction, moved)
    return moved is not None


# what has expired

_EXPIRED: Final = "SELECT id FROM headgate.executions WHERE expires_at < :before ORDER BY expires_at LIMIT 200"


def purge(transaction: Transaction, before: float) -> int:
    """Throw away some executions that expired before a time, with their results; how many."""
    transaction.lock("purge of executions")
    rows: list[dict[str, Any]] = [{"id": row[0]} for row in transaction.rows(_EXPIRED, before=before)]
    if rows:
        transaction.change_each("DELETE FROM headgate.execution_pieces WHERE execution_id = :id", rows)
        # Not if somebody has just begun it anew.
        transaction.change_each("DELETE FROM headgate.executions WHERE id = :id AND expires_at IS NOT NULL", rows)
    return len(rows)
