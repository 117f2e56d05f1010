"""What the tests of the server share."""

from collections.abc import Iterator

import pytest

from tests.server.processes import WORKSHOP, Serving, serve_http


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def http_server() -> Iterator[Serving]:
    """A server without authentication, for all tests of a module."""
    with serve_http(WORKSHOP) as serving:
        yield serving
