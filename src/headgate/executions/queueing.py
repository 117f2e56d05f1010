"""The queue that carries executions to workers: none where one process does all, procrastinate's on PostgreSQL.

Jobs are put, dropped and put back by procrastinate's own functions in the database, within the very transaction that
moves the execution: there is no moment in which one knows more than the other.
"""

import hashlib
import re
from collections.abc import Mapping
from functools import partial
from importlib.metadata import version
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final

import orjson

from headgate.store.drivers.base import Transaction
from headgate.store.executions import Execution, Queue
from headgate.store.interface import Store, StoreError

__all__ = ["TASK", "NoQueue", "SharedQueue", "prepare_queue", "queue_name", "queue_of"]

TASK: Final = "headgate"
"""The name of the one task that procrastinate knows."""

_PUT: Final = """SELECT procrastinate_defer_jobs_v1(ARRAY[ROW(
    CAST(:queue AS varchar), CAST(:task AS varchar), 0, NULL, NULL, CAST(:args AS jsonb), to_timestamp(:at)
    )]::procrastinate_job_to_defer_v1[])"""
# Both functions fail where there is no such job: so they are only called with one that is there, in the same statement.
_THERE: Final = """(SELECT id FROM procrastinate_jobs
    WHERE id = :job AND status IN ('todo', 'doing') FOR UPDATE) AS there"""
_DROP: Final = f"SELECT procrastinate_finish_job_v1(there.id, 'succeeded', true) FROM {_THERE}"  # noqa: S608
_PUT_BACK: Final = f"SELECT procrastinate_retry_job_v2(there.id, to_timestamp(:at), NULL, NULL, NULL) FROM {_THERE}"  # noqa: S608

_VERSION: Final = "queue_version"
_MIGRATION: Final = re.compile(r"(\d+)\.(\d+)\.(\d+)_\d+_.*\.sql\Z")


class NoQueue:
    """The process that an execution was started in works on it itself."""

    def put(self, transaction: Transaction, execution: Execution) -> None:
        """Nothing to do."""

    drop = put_back = put

    def put_new(
        self, transaction: Transaction, _execution: Execution, insert: str, values: Mapping[str, object]
    ) -> bool:
        """Only keep it."""
        return bool(transaction.change(insert, **values))


class SharedQueue:
    """Jobs of procrastinate, in the database that the executions are in."""

    def put(self, transaction: Transaction, execution: Execution) -> None:
        """Have any worker of the adapter take it."""
        transaction.rows(_PUT, **_job(execution))

    def put_new(
        self, transaction: Transaction, execution: Execution, insert: str, values: Mapping[str, object]
    ) -> bool:
        """Keep it, and have any worker of the adapter take it, in one statement."""
        sql = f"WITH made AS ({insert} RETURNING id) {_PUT} FROM made"
        return bool(transaction.rows(sql, **values, **_job(execution)))

    def drop(self, transaction: Transaction, execution: Execution) -> None:
        """The job is done, whatever came of the execution."""
        if execution.job is not None:
            transaction.rows(_DROP, job=execution.job)

    def put_back(self, transaction: Transaction, execution: Execution) -> None:
        """The job waits to be taken again."""
        job, at = execution.job, execution.due_at
        if job is None or not transaction.rows(_PUT_BACK, job=job, at=at):
            self.put(transaction, execution)


def _job(execution: Execution) -> dict[str, object]:
    args = orjson.dumps({"id": execution.id}).decode()
    return {"queue": queue_name(execution.adapter), "task": TASK, "args": args, "at": execution.due_at}


def queue_of(store: Store) -> Queue:
    """What carries the executions of a store to those who work on them."""
    return SharedQueue() if store.is_shared else NoQueue()


def queue_name(adapter: str) -> str:
    """The queue of an adapter: PostgreSQL's channels have short names, adapters may have any."""
    return f"headgate_{hashlib.sha256(adapter.encode()).hexdigest()[:24]}"


async def prepare_queue(store: Store) -> None:
    """Make procrastinate's tables beside ours, or bring them to the version that is installed."""
    if store.is_shared:
        installed = version("procrastinate")
        if await store.transact(_known_version, writes=False) != installed:
            await store.transact(partial(_prepare, installed=installed))


def _known_version(transaction: Transaction) -> str:
    found = transaction.rows("SELECT value FROM headgate.meta WHERE name = :name", name=_VERSION)
    return str(found[0][0]) if found else ""


def _prepare(transaction: Transaction, installed: str) -> None:
    transaction.lock("queue")
    known = _known_version(transaction)
    if known == installed:  # somebody else was faster
        return
    if _numbers(known) > _numbers(installed):
        raise StoreError(
            f"The queue was made by procrastinate {known}, and {installed} is installed here: upgrade it, since older"
            " ones may not know its tables"
        )
    home = files("procrastinate") / "sql"
    scripts = _since(home / "migrations", known) if known else [home / "schema.sql"]
    for script in scripts:
        transaction.change(script.read_text("utf-8"))
    transaction.change("DELETE FROM headgate.meta WHERE name = :name", name=_VERSION)
    transaction.change("INSERT INTO headgate.meta (name, value) VALUES (:name, :value)", name=_VERSION, value=installed)


def _since(folder: Traversable, known: str) -> list[Traversable]:
    """The scripts that lead from one version to the newest, in their order."""
    scripts = sorted((one for one in folder.iterdir() if _MIGRATION.match(one.name)), key=lambda one: one.name)
    return [one for one in scripts if _numbers(one.name) > _numbers(known)]


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(digits) for digits in re.findall(r"\d+", text)[:3])
