"""What every suite starts from."""

import pytest
from hypothesis import settings

settings.register_profile("headgate", deadline=None, derandomize=True)
settings.load_profile("headgate")


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """The event loop that headgate is served with."""
    return "asyncio"
