"""Stores that several processes share."""

from collections.abc import Iterator

import pytest

from tests.databases import Server


@pytest.fixture(
    params=[
        pytest.param(kind, marks=pytest.mark.xdist_group(f"processes on {kind}")) for kind in ("sqlite", "postgresql")
    ]
)
def state(request: pytest.FixtureRequest) -> Iterator[str]:
    """The URL of an empty store of each kind that several processes can share."""
    server: Server = request.getfixturevalue(request.param)
    with server.fresh() as made:
        yield made.url
