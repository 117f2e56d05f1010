"""A worker takes jobs from the shared queue: more at once where many wait. It gives back what it will not do."""

from collections.abc import AsyncIterator

import pytest
from procrastinate import PsycopgConnector
from procrastinate.jobs import Status

from headgate.adapter.background import Background
from headgate.executions.ledger import Ledger
from headgate.executions.service import Executions
from headgate.executions.worker import _Jobs
from headgate.protocol.lifecycle import State
from headgate.store.executions import Execution
from headgate.store.opening import open_store
from tests.executions.books import ADAPTER, added, found

pytestmark = pytest.mark.anyio

ROOM = 4


@pytest.fixture
async def executions(postgresql_url: str) -> AsyncIterator[Executions]:
    store = open_store(postgresql_url)
    executions = Executions(ADAPTER, store, takes_jobs=True)
    await executions.open()
    yield executions
    await executions.close()
    await store.close()


@pytest.fixture
async def taking(executions: Executions) -> tuple[_Jobs, int]:
    """What takes jobs for a worker with some room, and the worker's number."""
    jobs = _Jobs(PsycopgConnector(), executions, ROOM)
    return jobs, await jobs.register_worker()


async def waiting(ledger: Ledger, count: int, background: Background | None = None) -> list[Execution]:
    return [await added(ledger, background, worker=None) for _ in range(count)]


async def begun(ledger: Ledger, some: list[Execution]) -> int:
    return sum([(await found(ledger, one)).state is State.RUNNING for one in some])


async def test_where_jobs_follow_one_another_more_are_taken_at_once_but_never_more_than_there_is_room_for(
    executions: Executions, taking: tuple[_Jobs, int]
) -> None:
    jobs, worker = taking
    some = await waiting(executions.ledger, 9)
    taken = []
    for beginning in (1, 3, 3, 4):  # one, two more, and the last for which there is room
        taken.append(await jobs.fetch_job(None, worker))
        assert await begun(executions.ledger, some) == beginning
    assert [one.task_kwargs["id"] for one in taken if one] == [one.id for one in some[:ROOM]]
    assert set(jobs.begun) == {one.id for one in taken if one}


async def test_a_job_that_is_done_makes_room_for_another(executions: Executions, taking: tuple[_Jobs, int]) -> None:
    jobs, worker = taking
    some = await waiting(executions.ledger, 6)
    done = [await jobs.fetch_job(None, worker) for _ in range(ROOM)]
    for job in done[:2]:
        assert job is not None
        await jobs.finish_job(job, Status.SUCCEEDED, True)
    await jobs.fetch_job(None, worker)
    assert await begun(executions.ledger, some) == ROOM + 2


async def test_where_few_jobs_wait_a_worker_leaves_the_next_ones_to_others(
    executions: Executions, taking: tuple[_Jobs, int]
) -> None:
    jobs, worker = taking
    first = await waiting(executions.ledger, 1)
    assert await jobs.fetch_job(None, worker) is not None
    assert await jobs.fetch_job(None, worker) is None
    later = await waiting(executions.ledger, 2)
    assert await jobs.fetch_job(None, worker) is not None
    assert await begun(executions.ledger, first + later) == 2


@pytest.mark.parametrize("interrupted", ["fail", "resume"])
async def test_what_was_taken_and_not_handed_out_is_given_back_when_the_worker_stops(
    executions: Executions, taking: tuple[_Jobs, int], interrupted: str
) -> None:
    jobs, worker = taking
    some = await waiting(executions.ledger, 3, Background.read({**Background().wire(), "interrupted": interrupted}))
    handed_out = [await jobs.fetch_job(None, worker) for _ in range(2)]
    assert await begun(executions.ledger, some) == 3
    jobs.is_stopping = True
    assert await jobs.fetch_job(None, worker) is None
    states = [(await found(executions.ledger, one)).state for one in some]
    assert states == [State.RUNNING, State.RUNNING, State.RETRYING]
    assert set(jobs.begun) == {one.id for one in handed_out if one}
    another = _Jobs(PsycopgConnector(), executions, ROOM)
    again = await another.fetch_job(None, await another.register_worker())
    assert again is not None
    assert again.task_kwargs["id"] == some[2].id
