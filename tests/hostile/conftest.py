"""Connections for hostile agents."""

from collections.abc import AsyncIterator

import anyio
import pytest

from tests.spec.wires import Connections


@pytest.fixture(scope="session")
async def connections(anyio_backend: str) -> AsyncIterator[Connections]:
    async with anyio.create_task_group() as tasks:
        opened = Connections(tasks)
        yield opened
        await opened.close()
