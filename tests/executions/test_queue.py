"""The shared queue: its tables beside ours, and jobs that change together with the executions that they carry."""

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from headgate.adapter.background import Background
from headgate.executions import queueing
from headgate.executions.ledger import Ledger
from headgate.executions.queueing import NoQueue, SharedQueue, prepare_queue, queue_name, queue_of
from headgate.protocol.lifecycle import State
from headgate.store import moving
from headgate.store.drivers.base import Row, Transaction
from headgate.store.executions import Execution
from headgate.store.interface import StoreError
from headgate.store.opening import open_store
from headgate.store.sql import SqlStore
from tests.executions.books import ADAPTER, BROKEN, NOW, added, found, ledger_of, result

pytestmark = pytest.mark.anyio

INSTALLED = version("procrastinate")


@pytest.fixture
async def bare(postgresql_url: str) -> AsyncIterator[SqlStore]:
    """An empty store that many machines share, without a queue yet."""
    store = open_store(postgresql_url)
    yield store
    await store.close()


@pytest.fixture
async def shared(bare: SqlStore) -> SqlStore:
    await prepare_queue(bare)
    return bare


async def asked(store: SqlStore, sql: str, **values: object) -> list[Row]:
    return await store.transact(lambda transaction: transaction.rows(sql, **values))


async def told_version(store: SqlStore, number: str) -> None:
    sql = "UPDATE headgate.meta SET value = :number WHERE name = 'queue_version'"
    assert await store.transact(lambda transaction: transaction.change(sql, number=number)) == 1


async def known_version(store: SqlStore) -> list[Row]:
    return await asked(store, "SELECT value FROM headgate.meta WHERE name = 'queue_version'")


# making it


async def test_the_queue_is_made_once_beside_the_executions(bare: SqlStore) -> None:
    await prepare_queue(bare)
    assert await known_version(bare) == [(INSTALLED,)]
    where = "SELECT schemaname FROM pg_tables WHERE tablename = 'procrastinate_jobs'"
    assert await asked(bare, where) == [("headgate",)]
    await added(ledger_of(bare), worker=None)
    await prepare_queue(bare)
    assert await asked(bare, "SELECT count(*) FROM procrastinate_jobs") == [(1,)]


async def test_two_processes_make_it_at_once_and_it_is_there_once(postgresql_url: str) -> None:
    stores = [open_store(postgresql_url) for _ in range(3)]
    try:
        await asyncio.gather(*(prepare_queue(store) for store in stores))
        for store in stores:
            assert await known_version(store) == [(INSTALLED,)]
            await added(ledger_of(store), worker=None)
        assert await asked(stores[0], "SELECT count(*) FROM procrastinate_jobs") == [(3,)]
    finally:
        for store in stores:
            await store.close()


async def test_a_queue_of_a_newer_version_is_refused_with_words(shared: SqlStore) -> None:
    await told_version(shared, "99.1.0")
    with pytest.raises(StoreError, match=r"made by procrastinate 99\.1\.0, and .* is installed here: upgrade it"):
        await prepare_queue(shared)
    assert await known_version(shared) == [("99.1.0",)]


SCRIPTS = {
    "03.01.00_01_old.sql": "SELECT 1/0",
    "03.02.00_01_same.sql": "SELECT 1/0",
    "03.02.01_01_first.sql": "CREATE TABLE first_step (n int)",
    "03.02.01_50_second.sql": "INSERT INTO first_step VALUES (1); INSERT INTO first_step VALUES (2)",
    "03.10.00_01_last.sql": "CREATE TABLE last_step AS SELECT count(*) AS n FROM first_step",
    "__init__.py": "SELECT 1/0",
    "notes.sql": "SELECT 1/0",
}


@pytest.fixture
def scripts(shared: SqlStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """For a queue that is there already, scripts that tell whether they were run, and in which order."""
    folder = tmp_path / "sql" / "migrations"
    folder.mkdir(parents=True)
    for name, text in SCRIPTS.items():
        (folder / name).write_text(text)
    monkeypatch.setattr(queueing, "files", lambda _package: tmp_path)
    return folder


@pytest.mark.usefixtures("scripts")
async def test_a_queue_of_an_older_version_is_brought_up_to_date_by_what_came_since(shared: SqlStore) -> None:
    await told_version(shared, "3.2.0")
    await prepare_queue(shared)
    assert await known_version(shared) == [(INSTALLED,)]
    assert await asked(shared, "SELECT n FROM last_step") == [(2,)]
    await prepare_queue(shared)
    assert await asked(shared, "SELECT count(*) FROM first_step") == [(2,)]


async def test_a_script_that_fails_leaves_the_queue_as_it_was(shared: SqlStore, scripts: Path) -> None:
    (scripts / "03.11.00_01_broken.sql").write_text("SELECT 1/0")
    await told_version(shared, "3.2.0")
    with pytest.raises(StoreError, match="division by zero"):
        await prepare_queue(shared)
    assert await known_version(shared) == [("3.2.0",)]
    assert await asked(shared, "SELECT to_regclass('first_step')") == [(None,)]


async def test_the_scripts_that_are_installed_lead_to_the_same_functions_as_a_queue_made_anew(shared: SqlStore) -> None:
    """From the oldest version that has everything headgate asks of it."""
    functions = "SELECT proname FROM pg_proc WHERE proname LIKE 'procrastinate%' ORDER BY proname"
    before = await asked(shared, functions)
    await told_version(shared, "3.4.0")
    await prepare_queue(shared)
    assert await asked(shared, functions) == before
    assert await known_version(shared) == [(INSTALLED,)]


async def test_where_one_process_does_all_there_is_no_queue() -> None:
    store = open_store("memory:")
    try:
        assert isinstance(queue_of(store), NoQueue)
        await prepare_queue(store)
    finally:
        await store.close()


def test_every_adapter_has_a_queue_whose_name_postgresql_can_listen_to() -> None:
    names = [queue_name(adapter) for adapter in ("library", "Library", "a" * 500, "bücher & mehr")]
    assert len(set(names)) == 4
    channels = [f"procrastinate_queue_v1#{name}" for name in names]
    assert all(len(channel.encode()) < 64 for channel in channels)


# jobs


class Fetcher:
    """A worker that takes jobs as procrastinate's does."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.number = 0

    async def take(self) -> Execution:
        """Take the next job, and begin its execution."""
        execution = await self.ledger.store.transact(self._taken)
        assert execution is not None
        return execution

    def _taken(self, transaction: Transaction) -> Execution | None:
        [(number,)] = transaction.rows("SELECT worker_id FROM procrastinate_register_worker_v1()")
        sql = """SELECT id, args ->> 'id' FROM procrastinate_fetch_job_v2(ARRAY[CAST(:queue AS varchar)], :number)
            WHERE id IS NOT NULL"""
        found = transaction.rows(sql, queue=queue_name(ADAPTER), number=number)
        return moving.begin(transaction, found[0][1], "work_a", NOW, found[0][0]) if found else None

    async def is_idle(self) -> bool:
        return await self.ledger.store.transact(self._taken) is None


async def jobs(store: SqlStore) -> list[tuple[Any, ...]]:
    """What is in the queue: which execution, whether it waits, since or until when, how often it was tried."""
    sql = """SELECT args ->> 'id', CAST(status AS text), CAST(extract(epoch FROM scheduled_at) AS float), attempts
        FROM procrastinate_jobs ORDER BY id"""
    return await asked(store, sql)


async def test_a_job_waits_from_the_start_and_goes_with_the_end(shared: SqlStore) -> None:
    ledger = ledger_of(shared)
    assert isinstance(ledger.queue, SharedQueue)
    for end in (
        partial(ledger.complete, made=result(1)),
        partial(ledger.fail, error=BROKEN),
        ledger.cancel,
        ledger.hand_over,
    ):
        execution = await added(ledger, worker=None)
        assert await jobs(shared) == [(execution.id, "todo", None, 0)]
        at_work = await Fetcher(ledger).take()
        assert (at_work.id, at_work.worker) == (execution.id, "work_a")
        assert [job[1] for job in await jobs(shared)] == ["doing"]
        await end(at_work)
        assert await jobs(shared) == []


async def test_a_job_waits_again_until_the_next_attempt_is_due(shared: SqlStore) -> None:
    ledger, fetcher = ledger_of(shared), Fetcher(ledger_of(shared))
    await added(ledger, Background(retries=1), worker=None)
    first = await fetcher.take()
    [(later,)] = await asked(shared, "SELECT CAST(extract(epoch FROM now()) AS float) + 3600")
    await ledger.again(first, BROKEN, later)
    assert await jobs(shared) == [(first.id, "todo", pytest.approx(later), 1)]
    assert await fetcher.is_idle(), "it is not due"
    await asked(shared, "UPDATE procrastinate_jobs SET scheduled_at = now() RETURNING id")
    second = await fetcher.take()
    assert (second.id, second.attempt, second.job) == (first.id, 2, first.job)


async def test_a_job_of_a_lost_worker_is_taken_by_another(shared: SqlStore) -> None:
    ledger, fetcher = ledger_of(shared), Fetcher(ledger_of(shared))
    await added(ledger, Background(interrupted="resume"), worker=None)
    first = await fetcher.take()
    await ledger.recover()
    assert [job[:2] for job in await jobs(shared)] == [(first.id, "todo")]
    assert (await fetcher.take()).attempt == 2


async def test_a_job_that_is_gone_is_put_anew(shared: SqlStore) -> None:
    """As when an operator has emptied the queue."""
    ledger, fetcher = ledger_of(shared), Fetcher(ledger_of(shared))
    await added(ledger, Background(interrupted="resume"), worker=None)
    first = await fetcher.take()
    await asked(shared, "DELETE FROM procrastinate_jobs RETURNING id")
    await ledger.recover()
    second = await fetcher.take()
    assert (second.id, second.attempt) == (first.id, 2)
    assert second.job != first.job
    await asked(shared, "DELETE FROM procrastinate_jobs RETURNING id")
    await ledger.complete(second, result(1))
    assert (await found(ledger, second)).state is State.COMPLETED


async def test_a_retry_puts_a_new_job(shared: SqlStore) -> None:
    ledger, fetcher = ledger_of(shared), Fetcher(ledger_of(shared))
    await added(ledger, worker=None)
    first = await fetcher.take()
    await ledger.fail(first, BROKEN)
    assert await jobs(shared) == []
    await ledger.retry(first.id, None)
    assert await jobs(shared) == [(first.id, "todo", NOW, 0)]
    assert (await fetcher.take()).attempt == 2


async def test_the_job_of_what_was_cancelled_while_it_waited_begins_nothing(shared: SqlStore) -> None:
    ledger, fetcher = ledger_of(shared), Fetcher(ledger_of(shared))
    execution = await added(ledger, worker=None)
    await ledger.ask_to_stop(execution.id, "ann")
    assert await fetcher.is_idle()
    assert (await found(ledger, execution)).state is State.CANCELLED


async def test_a_change_that_is_undone_leaves_no_job(shared: SqlStore) -> None:
    ledger = ledger_of(shared)
    await added(ledger, worker=None)
    at_work = await Fetcher(ledger).take()

    def interrupted(transaction: Transaction) -> None:
        moving.end(transaction, State.FAILED, at_work, {}, ledger.queue)
        raise StoreError("in the middle")

    with pytest.raises(StoreError, match="in the middle"):
        await shared.transact(interrupted)
    assert await found(ledger, at_work) == at_work
    assert [job[1] for job in await jobs(shared)] == ["doing"]
