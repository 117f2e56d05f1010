"""The statements that move executions from state to state: each is atomic, and goes only along the table.

What a statement may do stands in its condition: which states it starts from follows from the table of transitions, and
a worker changes only what is still its own. So whoever comes too late changes nothing, on however many machines.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from headgate.protocol.lifecycle import State, leading_to
from headgate.store.drivers.base import Transaction
from headgate.store.executions import (
    AT_WORK,
    COLUMNS,
    NAMES,
    WAITING,
    Asked,
    Execution,
    Free,
    Piece,
    Progress,
    Queue,
    Run,
    columns,
    find,
    listed,
    read,
)

__all__ = [
    "add",
    "again",
    "ask_to_stop",
    "begin",
    "end",
    "mark_stuck",
    "note_progress",
    "purge",
    "resume",
    "retry",
    "set_free",
]

_INSERT: Final = (
    f"INSERT INTO headgate.executions ({COLUMNS}) VALUES ({', '.join(f':{name}' for name in NAMES)})"  # noqa: S608
    " ON CONFLICT (id) DO NOTHING"
)
_MINE: Final = "worker = :mine AND attempt = :at_attempt"
_PUT_PIECE: Final = """INSERT INTO headgate.execution_pieces (execution_id, number, first_item, content)
    VALUES (:id, :number, :first_item, :content)"""
_PROGRESS: Final = f"""UPDATE headgate.executions SET done = :done, total = :total, message = :message
    WHERE id = :id AND {_MINE} AND state IN ({listed(AT_WORK)})"""  # noqa: S608

# room among those of the same operation


def _lock(transaction: Transaction, execution: Execution) -> None:
    if execution.is_limited:
        transaction.lock(f"executions of {execution.adapter} {execution.operation}")


_TAKEN: Final = (
    "SELECT count(*) FROM headgate.executions WHERE adapter = :adapter AND operation = :operation AND ready = 1"
)
_NEXT: Final = f"""SELECT id, worker FROM headgate.executions AS one
    WHERE adapter = :adapter AND operation = :operation AND ready = 0 AND state IN ({listed(WAITING)})
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
            f"UPDATE headgate.executions SET ready = 1 WHERE id = :id RETURNING {COLUMNS}",  # noqa: S608
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
        WHERE id = :id AND state IN ({listed(allowed)}){fence} RETURNING {COLUMNS}"""  # noqa: S608
    mine = {"mine": run.worker, "at_attempt": run.attempt} if run else {}
    found = transaction.rows(sql, id=execution_id, **changes, **mine)
    return read(found[0]) if found else None


def add(transaction: Transaction, execution: Execution, queue: Queue) -> Execution:
    """Keep a new execution, and let it begin if there is room; a second time, nothing happens."""
    _lock(transaction, execution)
    made = replace(execution, ready=_has_room(transaction, execution))
    if made.ready:
        is_new = queue.put_new(transaction, made, _INSERT, columns(made))
    else:
        is_new = bool(transaction.change(_INSERT, **columns(made)))
    return made if is_new else find(transaction, execution.id) or made


def begin(
    transaction: Transaction, execution_id: str, worker: str, now: float, job: int | None = None
) -> Execution | None:
    """Start the next attempt of what waits for it."""
    sql = f"""UPDATE headgate.executions SET state = '{State.RUNNING}', attempt = attempt + 1, worker = :worker,
        job = :job, started_at = COALESCE(started_at, :now), due_at = NULL, done = NULL, total = NULL, message = NULL
        WHERE id = :id AND state IN ({listed(leading_to(State.RUNNING))}) AND ready = 1
        AND (worker IS NULL OR worker = :worker) RETURNING {COLUMNS}"""  # noqa: S608
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
    moved = _move(transaction, State.RETRYING, execution.id, changes, run=execution.run, sources=AT_WORK)
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
    ended = _move(transaction, target, execution_id, {**asked, **final, "ready": 0}, sources=WAITING)
    if ended is not None:  # its job, if there is one, finds nothing to begin
        return Asked(ended, _give_room(transaction, ended, queue) if known.ready else [], is_heard=True)
    moved = _move(transaction, State.CANCELLING, execution_id, asked) or _note_ask(transaction, execution_id, asked)
    return Asked(moved or find(transaction, execution_id), [], is_heard=moved is not None)


def _note_ask(transaction: Transaction, execution_id: str, asked: Mapping[str, object]) -> Execution | None:
    """Remember of what is stuck already that somebody wants its end."""
    sql = f"""UPDATE headgate.executions SET asked_at = :asked_at, asked_by = :asked_by
        WHERE id = :id AND state = '{State.STUCK}' AND asked_at IS NULL RETURNING {COLUMNS}"""  # noqa: S608
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


# progress


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


# what processes that are gone have left


def set_free(transaction: Transaction, execution: Execution) -> None:
    """Let any worker have what waits for one that is gone."""
    sql = f"""UPDATE headgate.executions SET worker = NULL
        WHERE id = :id AND worker = :worker AND state IN ({listed(WAITING)})"""  # noqa: S608
    transaction.change(sql, id=execution.id, worker=execution.worker)


def resume(transaction: Transaction, execution: Execution, changes: Mapping[str, object], queue: Queue) -> bool:
    """Let another worker begin anew what one that is gone was at."""
    changed = {**changes, "interruptions": execution.interruptions + 1, "worker": None}
    moved = _move(transaction, State.RETRYING, execution.id, changed, run=execution.run, sources=AT_WORK)
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
