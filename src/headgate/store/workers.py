"""The processes that work on executions: that they are alive, and what they leave when they are gone."""

from typing import Final, NamedTuple

from headgate.store.drivers.base import Transaction
from headgate.store.executions import LIVE_STATES, SELECT, Execution, read

__all__ = ["Worker", "beat", "leave", "of_ended_sessions", "orphans", "workers"]


class Worker(NamedTuple):
    """A process that works on executions, or that holds the sessions of some."""

    id: str
    adapter: str
    place: str
    """The machine, and on it the space that its process numbers count in."""
    pid: int
    beats: int
    started_at: float
    takes_jobs: bool
    """Whether it takes work from the shared queue."""


_WORKERS: Final = "SELECT id, adapter, place, pid, beats, started_at, takes_jobs FROM headgate.workers"


def beat(transaction: Transaction, worker: Worker) -> None:
    """Say that a worker is alive."""
    if not transaction.change("UPDATE headgate.workers SET beats = beats + 1 WHERE id = :id", id=worker.id):
        transaction.change(
            """INSERT INTO headgate.workers (id, adapter, place, pid, beats, started_at, takes_jobs)
            VALUES (:id, :adapter, :place, :pid, :beats, :started_at, :takes_jobs) ON CONFLICT (id) DO NOTHING""",
            **{**worker._asdict(), "takes_jobs": int(worker.takes_jobs)},
        )


def _worker(name: str, adapter: str, place: str, pid: int, beats: int, started_at: float, takes_jobs: int) -> Worker:
    return Worker(name, adapter, place, pid, beats, started_at, bool(takes_jobs))


def workers(transaction: Transaction) -> list[Worker]:
    """All workers that have said so."""
    return [_worker(*row) for row in transaction.rows(_WORKERS)]


def leave(transaction: Transaction, worker: str) -> bool:
    """Say that a worker is gone; whether it was there."""
    return bool(transaction.change("DELETE FROM headgate.workers WHERE id = :id", id=worker))


_ORPHANS: Final = """{} WHERE state IN ({}) AND {} IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM headgate.workers AS there WHERE there.id = {}) ORDER BY id LIMIT 500"""


def orphans(transaction: Transaction) -> list[Execution]:
    """The live executions whose worker is gone."""
    return [read(row) for row in transaction.rows(_ORPHANS.format(SELECT, LIVE_STATES, "worker", "worker"))]


def of_ended_sessions(transaction: Transaction) -> list[Execution]:
    """The live executions whose session was in a process that is gone."""
    return [read(row) for row in transaction.rows(_ORPHANS.format(SELECT, LIVE_STATES, "session", "origin"))]
