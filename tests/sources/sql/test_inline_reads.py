"""Reads that hold the event loop: only as long as they are fast."""

import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from sqlalchemy import create_engine

from headgate.sources.sql import sqlite_driver
from headgate.sources.sql.database import Database, DatabaseOptions
from headgate.sources.sql.failures import DatabaseFailure
from headgate.sources.sql.patience import MOST_REMEMBERED, Patience
from headgate.sources.sql.sqlite_driver import RUNS_UNTIL_FORGIVEN, fold
from tests.databases import Server

pytestmark = pytest.mark.anyio

WHERE = "SELECT headgate_fold('here')"
LONG = """WITH RECURSIVE r(n) AS (SELECT headgate_fold(1) UNION ALL SELECT n + 1 FROM r WHERE n < 2000000)
    SELECT count(*) FROM r"""


@pytest.fixture
def threads(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """For each call of the function that SQL has, whether it ran on this thread."""
    seen: list[bool] = []

    def noted(value: Any) -> Any:
        seen.append(threading.current_thread() is threading.main_thread())
        return fold(value)

    monkeypatch.setattr(sqlite_driver, "fold", noted)
    return seen


@asynccontextmanager
async def opened(folder: Path, **options: Any) -> AsyncIterator[Database]:
    file = folder / "small.db"
    file.touch()
    database = Database.open(file, DatabaseOptions(**options))
    yield database
    await database.close()


async def test_a_read_that_is_likely_fast_runs_at_once(tmp_path: Path, threads: list[bool]) -> None:
    async with opened(tmp_path) as database:
        assert await database.fetch(WHERE, likely_fast=True) == [("here",)]
        assert await database.fetch(WHERE) == [("here",)]
    assert threads == [True, False]


async def test_a_read_that_is_not_fast_is_started_over_in_a_thread(tmp_path: Path, threads: list[bool]) -> None:
    async with opened(tmp_path) as database:
        assert await database.fetch(LONG, likely_fast=True) == [(2000000,)]
        assert threads == [True, False]
        assert database.statements == 1


async def test_a_read_that_was_slow_goes_to_a_thread_until_it_is_forgiven(
    tmp_path: Path, threads: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(tmp_path) as database:
        await database.fetch(LONG, likely_fast=True)
        monkeypatch.setattr(database._inline._patience, "_slow", {LONG: 2, WHERE: 1})  # type: ignore[union-attr]
        threads.clear()
        await database.fetch(LONG, likely_fast=True)
        await database.fetch(WHERE, likely_fast=True)
    assert threads == [False, True]


async def test_a_read_that_would_have_to_wait_for_a_writer_waits_in_a_thread(
    tmp_path: Path, threads: list[bool]
) -> None:
    async with opened(tmp_path) as database:
        await database.fetch(WHERE)
        with _exclusive(tmp_path / "small.db") as let_go:
            timer = threading.Timer(0.05, let_go)
            timer.start()
            assert await database.fetch("SELECT count(*) FROM sqlite_master", likely_fast=True) == [(0,)]
            timer.join()
        threads.clear()
        await database.fetch(WHERE, likely_fast=True)
    assert threads == [True]


@contextmanager
def _exclusive(file: Path) -> Iterator[Any]:
    engine = create_engine(f"sqlite:///{file}", connect_args={"check_same_thread": False})
    with engine.connect() as connection:
        connection.exec_driver_sql("BEGIN EXCLUSIVE")
        yield connection.rollback
    engine.dispose()


async def test_an_error_does_not_make_a_read_slow(tmp_path: Path, threads: list[bool]) -> None:
    async with opened(tmp_path) as database:
        with pytest.raises(DatabaseFailure):
            await database.fetch("SELECT headgate_fold('x'), nothing", likely_fast=True)
        await database.fetch(WHERE, likely_fast=True)
    assert threads == [True]


async def test_a_server_that_answers_late_is_waited_for_beside_other_work(postgresql: Server) -> None:
    with postgresql.fresh() as made:
        database = Database.open(made.url)
        for _ in range(3):
            rows = await database.fetch("SELECT 1 FROM (SELECT pg_sleep(%s)) AS late", (0.01,), likely_fast=True)
            assert rows == [(1,)]
        await database.close()


def test_patience_is_lost_and_comes_back() -> None:
    patience = Patience(RUNS_UNTIL_FORGIVEN)
    assert patience.allows("a")
    patience.lose("a")
    assert [patience.allows("a") for _ in range(RUNS_UNTIL_FORGIVEN)] == [False] * (RUNS_UNTIL_FORGIVEN - 1) + [True]
    assert patience.allows("a")


def test_only_so_many_slow_statements_are_remembered() -> None:
    patience = Patience(2)
    for number in range(MOST_REMEMBERED + 1):
        patience.lose(str(number))
    assert patience.allows("0")
    assert not patience.allows("1")


async def test_text_is_folded_alike_in_sql_and_here(tmp_path: Path) -> None:
    words = ["Straße", "ΟΔΟΣ", "İstanbul", "plain"]
    async with opened(tmp_path) as database:
        for way in (True, False):
            rows = await database.fetch(
                "SELECT headgate_fold(value) FROM json_each(?)", (str(words).replace("'", '"'),), likely_fast=way
            )
            assert rows == [("straße",), ("οδοσ",), ("istanbul",), ("plain",)]
        assert await database.fetch("SELECT headgate_fold(NULL), headgate_fold(7), headgate_fold(x'41')") == [
            (None, 7, b"A")
        ]


async def test_reads_one_after_another_let_others_run(tmp_path: Path) -> None:
    others: list[int] = []
    async with opened(tmp_path) as database, anyio.create_task_group() as group:

        async def other() -> None:
            others.append(1)

        group.start_soon(other)
        with anyio.fail_after(60):
            while not others:
                await database.fetch(WHERE, likely_fast=True)
