"""What the tests of the console share."""

from collections.abc import AsyncIterator

import pytest

from headgate.store.opening import open_store
from headgate.store.sql import SqlStore


@pytest.fixture
async def store() -> AsyncIterator[SqlStore]:
    """An empty store in memory."""
    made = open_store("memory:")
    yield made
    await made.close()
