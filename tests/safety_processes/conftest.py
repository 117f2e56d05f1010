"""Stores that several processes share."""

from collections.abc import Iterator

import pytest

from tests.databases import Server


@pytest.fixture(
    scope="module",
    params=[pytest.param(kind, marks=pytest.mark.xdist_group(f"many on {kind}")) for kind in ("sqlite", "postgresql")],
)
def shared_server(request: pytest.FixtureRequest) -> Server:
    """Each kind of database that several processes can share, in turn."""
    server: Server = request.getfixturevalue(request.param)
    return server


@pytest.fixture
def state(shared_server: Server) -> Iterator[str]:
    """The URL of an empty store of each kind."""
    with shared_server.fresh() as made:
        yield made.url
