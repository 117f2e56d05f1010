"""The fleet that all tests of this folder look at."""

from collections.abc import Iterator

import pytest

from tests.databases import Server
from tests.replicas.fleet import Fleet, fleet


@pytest.fixture(scope="session")
def ships(postgresql: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """Four servers behind nginx."""
    with postgresql.fresh() as state, fleet(state, tmp_path_factory.mktemp("fleet")) as made:
        yield made
