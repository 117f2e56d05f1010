"""The program itself: help, version, unknown words, completion, and how little it loads to say so."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from headgate import __version__
from tests.cli.commands import Shell
from tests.cli.conftest import KNOWN
from tests.server.processes import HEADGATE, LIBRARY, PATIENCE, environment, run

HEAVY = {
    "mcp",
    "mcp_types",
    "pydantic",
    "uvicorn",
    "starlette",
    "httpx2",
    "orjson",
    "anyio",
    "jsonschema_rs",
    "watchfiles",
    "sqlalchemy",
    "psycopg",
}


@pytest.mark.parametrize("word", ["--help", "--version"])
def test_help_loads_nothing_that_only_a_server_needs(word: str) -> None:
    script = (
        "import sys; from headgate.cli import main; sys.argv[0] = 'headgate'\n"
        "try: main()\n"
        "finally: sys.stderr.write(' '.join({name.partition('.')[0] for name in sys.modules}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, word],
        capture_output=True,
        text=True,
        env=environment(),
        timeout=PATIENCE,
        check=False,
    )
    loaded = set(done.stderr.splitlines()[-1].split())
    assert "headgate" in loaded
    assert loaded & HEAVY == set()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
@pytest.mark.parametrize("words", [["--version"], ["ops"], ["tokens", LIBRARY]], ids=lambda words: words[0])
def test_an_output_that_has_no_room_is_told_in_one_line(words: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [HEADGATE, *words],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            env=environment(),
            timeout=PATIENCE,
            check=False,
        )
    assert (done.returncode, done.stderr) == (
        1,
        "headgate: what was to be written does not fit: No space left on device\n",
    )


def test_help_names_every_command(shell: Shell) -> None:
    done = run("--help")
    assert done.returncode == 0
    for command in ("serve", "call", "ops", "index", "--install-completion"):
        assert command in done.stdout
    assert "\x1b" not in done.stdout
    assert shell().out == shell("--help").out


@pytest.mark.parametrize("command", ["serve", "call", "ops", "index"])
def test_each_command_explains_itself(shell: Shell, command: str) -> None:
    done = shell(command, "--help")
    assert done.code == 0
    assert done.out.startswith(f"Usage: headgate {command}")


def test_the_version_is_said(shell: Shell) -> None:
    assert shell("--version").out == f"{__version__}\n"


UNKNOWN = {
    "command": (("srve",), 'Unknown command "srve". Did you mean "serve"?'),
    "option": (("serve", "--mdoe", "single"), "Unknown option: --mdoe. Did you mean --mode?"),
    "value": (("serve", "--mode", "sinlge"), "Did you mean 'single'?"),
    "profile": (("serve", "--profile", "device_"), "Did you mean 'device'?"),
    "level": (("serve", "--log-level", "inof"), 'Did you mean "info"?'),
    "concurrency": (("serve", "--concurrency", "serialised"), "Did you mean 'serialized'?"),
    "number": (("serve", "--max-request-size", "big"), 'unable to convert "big" into a whole number.'),
    "fraction": (("serve", "--session-idle", "1.5"), 'unable to convert "1.5" into a whole number.'),
    "limit": (("serve", "--max-nesting-depth", "7"), "max_nesting_depth is 7; it must lie between 8 and 64 levels."),
    "flag": (("call", "list_books", "--jsno"), "Unknown option: --jsno. Did you mean --json?"),
    "nothing": (("call",), 'Command "call" parameter OPERATION requires an argument.'),
    "a word too many": (("ops", "get_book", "more"), "There is nothing that takes 'more'; see --help."),
    "two configurations": (("serve", "a.toml", "b.toml"), "One configuration at a time, not 2: 'a.toml' and 'b.toml'"),
    "reload": (("serve", "--reload"), "--reload needs a source that is a Python module or file"),
    "address": (("serve", "--http", "8765x"), "'8765x' is not HOST:PORT, such as 127.0.0.1:8765"),
    "tokens": (("serve", "--tokens", "tokens.toml"), "--tokens and --oauth-issuer guard HTTP alone: add --http"),
    "audience": (("serve", "--http", ":0", "--oauth-issuer", "https://x.example"), "needs --oauth-audience"),
    "issuer": (("serve", "--http", ":0", "--oauth-audience", "x"), "The --oauth options need --oauth-issuer"),
    "token file": (("serve", "--http", ":0", "--tokens", "none.toml"), "The token file 'none.toml' cannot be read."),
    "prefix": (("serve", "--prefix", "x"), "The tool prefix 'x' must be lower-case letters"),
}


@pytest.mark.parametrize(("words", "message"), UNKNOWN.values(), ids=UNKNOWN)
def test_a_wrong_word_is_answered_in_one_line_and_nothing_starts(
    shell: Shell, words: tuple[str, ...], message: str
) -> None:
    done = shell(*words)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("headgate: ")
    assert done.err.count("\n") == 1
    assert message in done.err


def test_both_kinds_of_tokens_together_are_refused(shell: Shell) -> None:
    words = ("serve", "--http", ":0", "--oauth-issuer", "https://x.example", "--oauth-audience", "x")
    done = shell(*words, env=KNOWN)
    assert (done.code, done.err) == (2, "headgate: Choose either static tokens or OAuth, not both\n")


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_streams_that_a_parent_has_closed_are_no_trouble(closed: str) -> None:
    command = f"{shlex.quote(HEADGATE)} srve {closed}"
    done = subprocess.run(["sh", "-c", command], env=environment(), timeout=PATIENCE, capture_output=True, check=False)
    assert done.returncode == 2
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("kind", ["bash", "zsh", "fish"])
def test_completion_is_written_for_a_shell(shell: Shell, kind: str, tmp_path: Path) -> None:
    script = tmp_path / "completion"
    done = shell("--install-completion", "--shell", kind, "--output", str(script), env={"HOME": str(tmp_path)})
    assert done.code == 0
    written = script.read_text()
    for word in ("serve", "call", "ops", "structured-content"):
        assert word in written


def test_bash_completes_commands_and_options(shell: Shell, tmp_path: Path) -> None:
    script = tmp_path / "completion.bash"
    shell("--install-completion", "--shell", "bash", "--output", str(script), env={"HOME": str(tmp_path)})

    def completed(*words: str) -> set[str]:
        line = " ".join(words)
        driver = (
            f"source {script}; COMP_WORDS=({' '.join(repr(word) for word in words)}); COMP_CWORD={len(words) - 1}; "
            f"COMP_LINE={line!r}; COMP_POINT={len(line)}; "
            "$(complete -p headgate | sed 's/.*-F \\([^ ]*\\).*/\\1/'); printf '%s\\n' \"${COMPREPLY[@]}\""
        )
        done = subprocess.run(
            ["bash", "--norc", "-c", driver],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
            check=True,
        )
        return {word.strip() for word in done.stdout.splitlines()}

    assert "serve" in completed("headgate", "se")
    assert "--profile" in completed("headgate", "serve", "--prof")
