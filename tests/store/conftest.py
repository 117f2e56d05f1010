"""Stores of each kind, empty for each test."""

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import Connection

from headgate.store.opening import open_store
from headgate.store.sql import SqlStore
from tests.databases import Server

__all__ = ["KINDS", "SHARED"]

KINDS = ["memory", "sqlite", "postgresql"]
SHARED = ["sqlite", "postgresql"]


@pytest.fixture(scope="session")
def one_database(postgresql: Server) -> Iterator[tuple[str, Connection]]:
    """A database for all tests, each of which leaves it empty: a schema is dropped sooner than a database is made."""
    with postgresql.fresh() as made, made.connected() as engine, engine.connect() as connection:
        yield made.url, connection.execution_options(isolation_level="AUTOCOMMIT")


@contextmanager
def fresh_url(kind: str, request: pytest.FixtureRequest) -> Iterator[str]:
    if kind == "memory":
        yield "memory:"
    elif kind == "sqlite":
        with request.getfixturevalue("sqlite").fresh() as made:
            yield made.url
    else:
        found: tuple[str, Any] = request.getfixturevalue("one_database")
        yield found[0]
        found[1].exec_driver_sql("DROP SCHEMA IF EXISTS headgate CASCADE")


@pytest.fixture(params=KINDS)
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    """The URL of an empty store of each kind."""
    with fresh_url(request.param, request) as url:
        yield url


@pytest.fixture
async def store(url: str) -> AsyncIterator[SqlStore]:
    """An empty store of each kind."""
    store = open_store(url)
    yield store
    await store.close()


@pytest.fixture(params=SHARED)
def shared_url(request: pytest.FixtureRequest) -> Iterator[str]:
    """The URL of an empty store of each kind that several processes can share."""
    with fresh_url(request.param, request) as url:
        yield url
