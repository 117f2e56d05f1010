"""Stores of each kind, empty for each test, and with the queue that carries executions."""

import subprocess
import sys
from collections.abc import AsyncIterator, Iterator

import pytest

from headgate.executions.queueing import prepare_queue
from headgate.store.opening import open_store
from headgate.store.sql import SqlStore
from tests.store.conftest import fresh_url, one_database, shared_url, url

__all__ = ["one_database", "shared_url", "url"]


@pytest.fixture
async def store(url: str) -> AsyncIterator[SqlStore]:
    """An empty store of each kind, ready for executions."""
    store = open_store(url)
    await prepare_queue(store)
    yield store
    await store.close()


@pytest.fixture
def postgresql_url(request: pytest.FixtureRequest) -> Iterator[str]:
    """The URL of an empty store that processes on any machine share."""
    with fresh_url("postgresql", request) as url:
        yield url


@pytest.fixture(scope="session")
def dead_pid() -> int:
    """The number of a process that has ended."""
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        return process.pid
