"""What every suite starts from."""

import signal
from collections.abc import Iterator
from tempfile import TemporaryDirectory

import pytest
from _pytest.nodeid import NodeId
from hypothesis import settings

from tests.databases import SERVERS, Database, Server, mariadb_server, postgresql_server, sqlite_server

settings.register_profile("headgate", deadline=None, derandomize=True)
settings.load_profile("headgate")


def pytest_configure(config: pytest.Config) -> None:
    """Give the tests, and the programs that they start, a cache and a state of their own, not the user's."""
    if hasattr(config, "workerinput"):
        return  # the environment comes from the process that started it
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in what a shell starts in the background
        signal.signal(signal.SIGINT, signal.default_int_handler)  # or no program that tests start could be interrupted
    folder = TemporaryDirectory(prefix="headgate-home-", ignore_cleanup_errors=True)
    patch = pytest.MonkeyPatch()
    for variable in ("XDG_CACHE_HOME", "XDG_STATE_HOME"):
        patch.setenv(variable, folder.name)
    config.add_cleanup(patch.undo)
    config.add_cleanup(folder.cleanup)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep tests of one group on one process: xdist writes the group where this pytest no longer looks for it.

    The test that takes two minutes comes first, so that nobody waits for it alone at the end.
    """
    items.sort(key=lambda item: item.path.name != "test_soak.py")
    for item in items:
        grouped = getattr(item, "_nodeid", None)
        if isinstance(grouped, str) and grouped.startswith(f"{item.nodeid}@"):
            item._id = NodeId.parse(grouped)


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """The event loop that headgate is served with."""
    return "asyncio"


@pytest.fixture(scope="session")
def sqlite() -> Iterator[Server]:
    """Where files of SQLite are made."""
    with sqlite_server() as server:
        yield server


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Server]:
    """A running PostgreSQL."""
    with postgresql_server() as server:
        yield server


@pytest.fixture(scope="session")
def mariadb() -> Iterator[Server]:
    """A running MariaDB; the test is skipped where none is installed."""
    with mariadb_server() as server:
        yield server


@pytest.fixture(scope="session", params=SERVERS)
def server(request: pytest.FixtureRequest) -> Server:
    """Each of the three servers in turn."""
    found: Server = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def database(server: Server) -> Iterator[Database]:
    """A fresh, empty database on each of the three servers in turn."""
    with server.fresh() as database:
        yield database
