"""The plugin for pytest, in a pytest of its own."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conformance.test_checking import LEAKY
from tests.server.processes import environment

COMMAND = " ".join(LEAKY)


def run_pytest(folder: Path, *words: str, plugin: bool = True) -> subprocess.CompletedProcess[str]:
    """A run in a folder, with no other plugin."""
    loaded = ["-p", "headgate.conformance.plugin"] if plugin else []
    return subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-c",
            os.devnull,
            "--rootdir",
            str(folder),
            "-p",
            "no:cacheprovider",
            *loaded,
            *words,
        ],
        cwd=folder,
        env=environment({"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "test_own.py").write_text("def test_mine() -> None:\n    pass\n")
    return tmp_path


def outcomes(done: subprocess.CompletedProcess[str]) -> dict[str, int]:
    last = done.stdout.strip().splitlines()[-1]
    return {word: int(number) for number, word in re.findall(r"(\d+) (passed|failed|skipped)", last)}


def test_each_check_is_a_test_beside_those_of_the_suite(folder: Path) -> None:
    chosen = "mine or parameters.unknown or introspection.examples or updates.preserve"
    done = run_pytest(folder, "--headgate-check", COMMAND, "-rA", "-k", chosen)
    found = outcomes(done)
    assert done.returncode == pytest.ExitCode.TESTS_FAILED
    assert found["passed"] >= 2
    assert found["skipped"] >= 1
    assert "test_own.py::test_mine" in done.stdout
    assert "conformance: parameters.unknown-refused" in done.stdout
    assert '→ mcp_aql_read {"operation":"get_thing"' in done.stdout
    assert "    $ headgate check --send '{" in done.stdout
    assert "Traceback" not in done.stdout
    assert "WARN introspection.examples" in done.stdout


def test_warnings_fail_if_they_are_to(folder: Path) -> None:
    chosen = "introspection.examples and not fit"
    done = run_pytest(folder, "--headgate-check", COMMAND, "-k", chosen, "--headgate-warnings")
    assert outcomes(done) == {"failed": 1}


def test_without_the_option_nothing_is_checked_and_nothing_is_loaded(folder: Path) -> None:
    (folder / "test_own.py").write_text(
        "import sys\ndef test_mine() -> None:\n    assert 'headgate.conformance.checks' not in sys.modules\n"
        "    assert 'mcp' not in sys.modules\n    assert 'anyio' not in sys.modules\n"
    )
    assert outcomes(run_pytest(folder)) == {"passed": 1}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--headgate-level", "7"), "there is no level 7"),
        (("--headgate-allow", "everything"), "'everything' cannot be allowed"),
    ],
)
def test_what_is_wrong_with_the_options_is_said_in_a_line(words: tuple[str, ...], said: str, folder: Path) -> None:
    done = run_pytest(folder, "--headgate-check", COMMAND, *words)
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert said in done.stdout + done.stderr


def test_a_server_that_is_not_there_ends_the_run(folder: Path) -> None:
    done = run_pytest(folder, "--headgate-check", "http://127.0.0.1:9/mcp", "--headgate-header", "X-Team: blue")
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "it cannot be reached" in done.stdout + done.stderr
