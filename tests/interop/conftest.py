"""The clients that others wrote, installed where they are not yet."""

import fcntl
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.server.processes import LIBRARY, Serving, serve_http

JS = Path(__file__).parent / "js"
_INSTALL_SECONDS = 300


def _is_installed() -> bool:
    done, wanted = JS / "node_modules" / ".package-lock.json", JS / "package-lock.json"
    return done.exists() and done.stat().st_mtime >= wanted.stat().st_mtime


@pytest.fixture(scope="session")
def js() -> Path:
    """The folder with the clients, ready to run."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        pytest.skip("node and npm are not installed")
    with (Path(tempfile.gettempdir()) / "headgate-interop.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # another worker may be installing them
        if not _is_installed():
            subprocess.run(
                ["npm", "ci", "--loglevel=error"], cwd=JS, check=True, capture_output=True, timeout=_INSTALL_SECONDS
            )
            (JS / "node_modules" / ".package-lock.json").touch()
    return JS


@pytest.fixture(scope="session")
def library() -> Iterator[Serving]:
    """The library over HTTP."""
    with serve_http(LIBRARY) as serving:
        yield serving
