"""The servers that others wrote, installed where they are not yet."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.browser.finding import chromium
from tests.upstreams.homes import pages
from tests.upstreams.installing import install, missing_program
from tests.upstreams.servers import SERVERS, Server


@pytest.fixture(scope="session")
def installed() -> None:
    """All servers, ready to run."""
    if missing := missing_program():
        pytest.skip(missing)
    install()


@pytest.fixture(scope="session")
def web() -> Iterator[str]:
    """The address of pages that servers may visit."""
    with pages() as address:
        yield address


@pytest.fixture
def home() -> Iterator[Path]:
    """A folder for a trial, of a short name: sockets of browsers lie in it."""
    with TemporaryDirectory(prefix="hg-", ignore_cleanup_errors=True) as folder:
        yield Path(folder) / "home"


@pytest.fixture
def server(request: pytest.FixtureRequest, installed: None) -> Server:
    """The server that a test is about, by its name."""
    found = SERVERS[request.param]
    if found.browses and chromium() is None:
        pytest.skip("chromium is not installed")
    return found
