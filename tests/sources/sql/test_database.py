"""Statements on real databases: their rows, the transactions around them, and many tasks at once."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import anyio
import pytest
from sqlalchemy import create_engine
from sqlalchemy.engine import URL, make_url
from sqlalchemy.pool import NullPool

from headgate.sources.sql.connections import Connection, PlainDriver
from headgate.sources.sql.database import Database, DatabaseOptions
from headgate.sources.sql.failures import ConnectionLost, Constraint, DatabaseFailure, DataProblem
from tests.sources.sql.places import NAMES, Place, add

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("likely_fast", [False, True], ids=["any way", "likely fast"])
async def test_a_read_gives_its_rows(place: Place, likely_fast: bool) -> None:
    async with place.opened() as database:
        sql = place.sql("SELECT id, name FROM authors WHERE id > ? ORDER BY id")
        assert await database.fetch(sql, (0,), likely_fast=likely_fast) == [(1, "Ann"), (2, "Ben")]
        assert await database.fetch(sql, (9,), likely_fast=likely_fast) == []


async def test_a_read_of_everybody_is_the_same_many_times_over(place: Place) -> None:
    async with place.opened() as database:
        for _ in range(5):  # prepared after the second
            assert await database.fetch(NAMES, likely_fast=True) == [("Ann",), ("Ben",)]


async def test_a_percent_sign_is_doubled_in_sql_as_the_compiler_writes_it(remote: Place) -> None:
    async with remote.opened() as database:
        assert await database.fetch("SELECT 7 %% 4") == [(3,)]
        assert await database.transaction(lambda one: one.execute("SELECT 7 %% 4").rows) == [(3,)]


async def test_a_transaction_is_kept_when_its_work_returns(place: Place) -> None:
    async with place.opened() as database:
        sql = place.sql("UPDATE authors SET name = ? WHERE id > ?")
        result = await database.transaction(lambda one: one.execute(sql, ("Zoe", 0)))
    assert result.rowcount == 2
    assert place.rows(NAMES) == [("Zoe",), ("Zoe",)]


async def test_a_transaction_is_undone_when_its_work_raises(place: Place) -> None:
    def work(one: Connection) -> None:
        add(place, 3)(one)
        raise LookupError("changed my mind")

    async with place.opened(pool_size=1) as database:
        with pytest.raises(LookupError, match="changed my mind"):
            await database.transaction(work)
        assert await database.fetch(NAMES) == [("Ann",), ("Ben",)]


async def test_a_result_has_the_names_of_its_columns(place: Place) -> None:
    async with place.opened() as database:
        result = await database.transaction(lambda one: one.execute("SELECT id, name AS called FROM authors"))
    assert result.columns == ("id", "called")


async def test_what_fails_is_not_half_kept_though_the_work_goes_on(place: Place) -> None:
    def work(one: Connection) -> None:
        add(place, 3)(one)
        with pytest.raises(Constraint):
            add(place, 3)(one)

    async with place.opened() as database:
        with pytest.raises(DatabaseFailure):
            await database.transaction(work)
    assert place.rows(NAMES) == [("Ann",), ("Ben",)]


async def test_two_databases_do_not_share_a_transaction(place: Place) -> None:
    async with place.opened() as one, place.opened() as other, one.joined():
        assert await other.fetch(NAMES) == [("Ann",), ("Ben",)]
        assert one.statements == 0


async def test_each_statement_is_counted_and_its_duration_told(place: Place) -> None:
    told: list[tuple[str, float]] = []
    async with place.opened() as database:
        database.observer = lambda sql, seconds: told.append((sql, seconds))
        await database.fetch(NAMES, likely_fast=True)
        await database.fetch(NAMES)
        await database.transaction(add(place, 3))
        assert database.statements == 3
        async with database.joined():
            await database.transaction(add(place, 4))
        assert database.statements == 4
    added = place.sql("INSERT INTO authors VALUES (?, ?)")
    assert [sql for sql, _ in told] == [NAMES, NAMES, added, added]
    assert all(seconds > 0 for _, seconds in told)


async def test_a_closed_database_takes_no_statements(place: Place) -> None:
    async with place.opened() as database:
        await database.fetch(NAMES)
    with pytest.raises(DatabaseFailure):
        await database.fetch(NAMES)


# One transaction of many statements


async def test_joined_statements_are_kept_together(place: Place) -> None:
    async with place.opened() as database:
        async with database.joined():
            await database.transaction(add(place, 3))
            assert len(await database.fetch(NAMES, likely_fast=True)) == 3
            await database.transaction(add(place, 4))
        assert len(await database.fetch(NAMES)) == 4


async def _added_and_regretted(database: Database, place: Place) -> None:
    async with database.joined():
        async with database.joined():
            await database.transaction(add(place, 3))
        raise LookupError


async def test_joined_statements_are_undone_together(place: Place) -> None:
    async with place.opened(pool_size=1) as database:
        with pytest.raises(LookupError):
            await _added_and_regretted(database, place)
        assert await database.fetch(NAMES) == [("Ann",), ("Ben",)]


async def test_a_step_that_fails_is_undone_alone(place: Place) -> None:
    def work(one: Connection) -> None:
        add(place, 4)(one)
        add(place, 4)(one)

    async with place.opened() as database:
        async with database.joined():
            await database.transaction(add(place, 3))
            with pytest.raises(Constraint):
                await database.transaction(work)
            await database.transaction(add(place, 5))
        assert await database.fetch("SELECT id FROM authors ORDER BY id") == [(1,), (2,), (3,), (5,)]


async def _added_beside_a_failure(database: Database, place: Place) -> None:
    async with database.joined():
        await database.transaction(add(place, 3))
        with pytest.raises(DatabaseFailure):
            await database.fetch("SELECT nothing FROM nowhere")


async def test_a_read_that_fails_undoes_what_is_joined(place: Place) -> None:
    async with place.opened() as database:
        with pytest.raises(DatabaseFailure):
            await _added_beside_a_failure(database, place)
        assert await database.fetch(NAMES) == [("Ann",), ("Ben",)]


async def test_tasks_that_are_started_within_belong_to_it_and_take_turns(place: Place) -> None:
    async with place.opened(pool_size=1) as database:
        async with database.joined(), anyio.create_task_group() as group:
            for number in range(3, 10):
                group.start_soon(database.transaction, add(place, number))
                group.start_soon(database.fetch, NAMES)
        assert len(await database.fetch(NAMES)) == 9


async def test_other_tasks_see_nothing_of_it_before_its_end(remote: Place) -> None:
    seen: list[int] = []
    added, looked = anyio.Event(), anyio.Event()

    async with remote.opened() as database, anyio.create_task_group() as group:

        async def look() -> None:
            await added.wait()
            seen.append(len(await database.fetch(NAMES)))
            looked.set()

        group.start_soon(look)
        async with database.joined():
            await database.transaction(add(remote, 3))
            added.set()
            await looked.wait()
    assert seen == [2]


# Many tasks


async def test_there_are_never_more_connections_than_the_pool_has_room_for(place: Place) -> None:
    async with place.opened(pool_size=3) as database:
        opened = _count_connections(database)
        async with anyio.create_task_group() as group:
            for number in range(60):
                group.start_soon(_use, database, place, number)
        assert len(await database.fetch(NAMES)) == 22
        assert 1 <= len(opened) <= 3


async def _use(database: Database, place: Place, number: int) -> None:
    if number % 3 == 0:
        await database.transaction(add(place, 100 + number))
    elif number % 3 == 1:
        with pytest.raises(DatabaseFailure):
            await database.fetch("SELECT nothing FROM nowhere")
    else:
        assert len(await database.fetch(NAMES)) >= 2


def _count_connections(database: Database) -> list[Connection]:
    """Every connection that the pool makes from now on."""
    made: list[Connection] = []
    connect = database._pool._connect

    def counted() -> Connection:
        made.append(connect())
        return made[-1]

    database._pool._connect = counted
    return made


async def test_whoever_waits_longest_is_next(place: Place) -> None:
    served: list[int] = []
    async with place.opened(pool_size=1) as database:

        async def queue(number: int) -> None:
            await database.fetch(NAMES)
            served.append(number)

        async with anyio.create_task_group() as group:
            for number in range(20):
                group.start_soon(queue, number)
    assert served == list(range(20))


async def test_writers_of_sqlite_wait_for_each_other(local: Place) -> None:
    def count_up(one: Connection) -> None:
        ((pages,),) = one.execute("SELECT pages FROM books").rows
        one.execute("UPDATE books SET pages = ?", (pages + 1,))

    async with local.opened(pool_size=4) as database, anyio.create_task_group() as group:
        for _ in range(40):
            group.start_soon(database.transaction, count_up)
    assert local.rows("SELECT pages FROM books") == [(140,)]


# Any other database


@pytest.fixture
async def plain(local: Place) -> AsyncIterator[Database]:
    """SQLite as if nothing were known about it."""
    url: URL = make_url(local.made.url)
    engine = create_engine(url, poolclass=NullPool)
    driver = PlainDriver(url.set(query={"check_same_thread": "false"}), engine.dialect, DatabaseOptions(pool_size=2))
    database = Database(driver, engine)
    yield database
    await database.close()


async def test_a_database_of_another_kind_is_used_plainly(plain: Database, local: Place) -> None:
    assert await plain.fetch(NAMES, likely_fast=True) == [("Ann",), ("Ben",)]
    assert (await plain.transaction(lambda one: one.execute("DELETE FROM books"))).rowcount == 1
    with pytest.raises(DatabaseFailure):
        await plain.fetch("SELECT nothing FROM nowhere")
    with pytest.raises(DataProblem):
        await plain.fetch("SELECT zeroblob(2000000000)")
    with pytest.raises(LookupError):
        await _added_and_regretted(plain, local)
    with pytest.raises(DatabaseFailure):
        await _added_beside_a_failure(plain, local)
    assert await plain.fetch(NAMES) == [("Ann",), ("Ben",)]


@pytest.fixture
def without_file(plain: Database) -> Iterator[Database]:
    file = Path(str(plain.url.database))
    kept = file.rename(file.with_suffix(".kept"))
    file.mkdir()
    yield plain
    file.rmdir()
    kept.rename(file)


async def test_a_database_of_another_kind_that_is_gone_is_lost(without_file: Database) -> None:
    with pytest.raises(ConnectionLost):
        await without_file.fetch(NAMES)
