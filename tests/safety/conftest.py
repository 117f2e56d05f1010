"""What the tests of the gatekeeper share."""

from collections.abc import AsyncIterator

import pytest

from headgate.store.opening import open_store
from headgate.store.sql import SqlStore


@pytest.fixture
async def store() -> AsyncIterator[SqlStore]:
    """An empty store in memory."""
    store = open_store("memory:")
    yield store
    await store.close()
