"""Stores of each kind, empty for each test."""

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager

import pytest

from headgate.store.opening import open_store
from headgate.store.sql import SqlStore
from tests.databases import Server

__all__ = ["KINDS", "SHARED"]

KINDS = ["memory", "sqlite", "postgresql"]
SHARED = ["sqlite", "postgresql"]


@contextmanager
def fresh_url(kind: str, request: pytest.FixtureRequest) -> Iterator[str]:
    if kind == "memory":
        yield "memory:"
        return
    server: Server = request.getfixturevalue(kind)
    with server.fresh() as made:
        yield made.url


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
