"""Stores of each kind, empty for each test, and with the queue that carries executions."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator

import pytest
from sqlalchemy import Connection

from headgate.executions.queueing import prepare_queue
from headgate.store.opening import open_store
from headgate.store.sql import SqlStore
from tests.databases import Server
from tests.store.conftest import KINDS, fresh_url, one_database, shared_url

__all__ = ["one_database", "shared_url"]

_EMPTY = """SET search_path = headgate;
    DELETE FROM executions; DELETE FROM execution_pieces; DELETE FROM workers; DELETE FROM records;
    DELETE FROM audit_rows; UPDATE audit_ends SET number = 0, digest = '';
    DELETE FROM procrastinate_jobs; DELETE FROM procrastinate_workers"""


@pytest.fixture(scope="session")
def prepared(postgresql: Server) -> Iterator[tuple[str, Connection]]:
    """A database with all tables, which each test leaves empty: rows are removed sooner than tables are made."""
    with postgresql.fresh() as made, made.connected() as engine, engine.connect() as connection:
        asyncio.run(_prepare(made.url))
        yield made.url, connection.execution_options(isolation_level="AUTOCOMMIT")


async def _prepare(url: str) -> None:
    store = open_store(url)
    await prepare_queue(store)
    await store.close()


@pytest.fixture(params=KINDS)
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    """The URL of an empty store of each kind, ready for executions."""
    if request.param != "postgresql":
        with fresh_url(request.param, request) as url:
            yield url
        return
    found: tuple[str, Connection] = request.getfixturevalue("prepared")
    yield found[0]
    found[1].exec_driver_sql(_EMPTY)


@pytest.fixture
async def store(url: str) -> AsyncIterator[SqlStore]:
    """An empty store of each kind, ready for executions."""
    store = open_store(url)
    yield store
    await store.close()


@pytest.fixture
def postgresql_url(request: pytest.FixtureRequest) -> Iterator[str]:
    """The URL of an empty store that processes on any machine share, without any tables yet."""
    with fresh_url("postgresql", request) as url:
        yield url


@pytest.fixture(scope="session")
def dead_pid() -> int:
    """The number of a process that has ended."""
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        return process.pid
