"""The smallest servers that keep to level 1, on the bare SDK of two languages: no check fails, and they stay small."""

import fcntl
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from headgate.client.wires import Command
from headgate.conformance.checks import ALL_CHECKS
from headgate.conformance.openers import opener_of
from headgate.conformance.values import Verdict
from tests.conformance.servers import report_of
from tests.support import ROOT

MINIMAL = ROOT / "examples" / "minimal"
_MOST_LINES = 99
_INSTALL_SECONDS = 300


@pytest.fixture(scope="session")
def installed() -> Path:
    """The folder with the TypeScript server, ready to run."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        pytest.skip("node and npm are not installed")
    with (Path(tempfile.gettempdir()) / "headgate-minimal.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # another worker may be installing it
        if not (MINIMAL / "node_modules" / "tsx").exists():
            subprocess.run(
                ["npm", "ci", "--loglevel=error"],
                cwd=MINIMAL,
                check=True,
                capture_output=True,
                timeout=_INSTALL_SECONDS,
            )
    return MINIMAL


@pytest.mark.parametrize("file", ["server.py", "server.ts"])
def test_a_minimal_server_has_less_than_a_hundred_lines(file: str) -> None:
    assert len((MINIMAL / file).read_text().splitlines()) <= _MOST_LINES


async def _fails_nothing(*words: str) -> None:
    opener = opener_of(Command(words, cwd=str(MINIMAL)))
    for allowed in (frozenset[str](), frozenset({"CREATE"})):
        report = await report_of(opener, *ALL_CHECKS, level=1, allowed=allowed)
        failed = [(one.check.id, one.broken) for one in report.results if one.verdict is Verdict.FAIL]
        assert failed == []
        assert report.reached == 1
        assert report.counts[Verdict.PASS] > len(report.results) / 2


@pytest.mark.anyio
async def test_the_minimal_server_in_python_passes_level_1() -> None:
    await _fails_nothing(sys.executable, "server.py")


@pytest.mark.anyio
async def test_the_minimal_server_in_typescript_passes_level_1(installed: Path) -> None:
    await _fails_nothing("node", "--import", "tsx", "server.ts")
