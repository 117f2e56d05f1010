"""``headgate audit`` in front of a person: a table that fits the terminal, and rows as they appear."""

import json
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.dialogues import dialogue
from tests.cli.states import NOON, add, called
from tests.cli.terminals import on_terminal
from tests.server.processes import HEADGATE, PATIENCE, Lines, environment, run

ENTRIES = [
    called(NOON, event="proposed", operation="delete_order", decision="confirm", code="CONFIRMATION_REQUIRED"),
    called(NOON + 3600, event="approved", operation="delete_order", decision="confirm", caller='["alice","claude"]'),
    called(NOON + 7200, operation="delete_order", decision="confirm"),
    called(NOON + 10800, event="returned", operation="delete_order", duration_ms=12.345),
    called(NOON + 14400, event="proposed", operation="create_order", decision="deny", code="PERMISSION_DENIED"),
    called(NOON + 18000, event="refused", operation="create_order", code="TOKEN_EXPIRED", adapter="bank"),
    called(NOON + 21600, event="trust", operation="", adapter="bank", caller="ann", details={"to": "certified"}),
]


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """A store with rows of several kinds."""
    path = tmp_path / "state.db"
    add(str(path), ENTRIES)
    return path


def test_on_a_terminal_there_is_a_table_with_colour(state: Path) -> None:
    shown = on_terminal("audit", "--state", str(state), "--operation", "delete_order")
    assert (shown.code, shown.is_coloured) == (0, True)
    lines = plain(shown.text).splitlines()
    assert lines[0].split() == ["row", "time", "event", "operation", "caller", "decision", "code"]
    assert [line.split()[:4] for line in lines[1:5]] == [
        ["1", "2026-07-01T12:00:00Z", "proposed", "delete_order"],
        ["2", "2026-07-01T13:00:00Z", "approved", "delete_order"],
        ["3", "2026-07-01T14:00:00Z", "executed", "delete_order"],
        ["4", "2026-07-01T15:00:00Z", "returned", "delete_order"],
    ]
    assert "\x1b[33mconfirm" in shown.text
    assert lines[5] == ("headgate: there is no room for duration; a wider terminal or --format csv shows everything")


def test_a_wide_terminal_has_room_for_every_column(state: Path) -> None:
    with dialogue("audit", "--state", str(state), columns=200) as terminal:
        assert terminal.ended() == 0
    header = plain(terminal.text).splitlines()[0].split()
    assert header == [
        "row",
        "time",
        "event",
        "adapter",
        "operation",
        "caller",
        "decision",
        "code",
        "duration",
        "parameters",
    ]
    assert "no room" not in terminal.text


def test_an_empty_audit_is_an_empty_table(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    add(str(path), [])
    shown = on_terminal("audit", "--state", str(path))
    assert (shown.code, shown.text) == (0, "")


def plain(text: str) -> str:
    """What is left without colours."""
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


# rows that are yet to come


@contextmanager
def following(path: Path, *words: str) -> Iterator[tuple[subprocess.Popen[bytes], Lines, Lines]]:
    """``audit --follow`` in a pipe."""
    with subprocess.Popen(
        [HEADGATE, "audit", "--state", str(path), "--follow", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    ) as process:
        assert process.stdout
        assert process.stderr
        try:
            yield process, Lines(process.stdout), Lines(process.stderr)
        finally:
            if process.poll() is None:
                process.kill()


def trust_changes(path: Path, level: str) -> None:
    """Another process adds a row."""
    done = run("trust", "till", "--set", level, "--reason", "a test", "--state", str(path))
    assert done.returncode == 0, done.stderr


def test_rows_of_another_process_are_shown_as_they_appear_until_ctrl_c(state: Path) -> None:
    with following(state, "--last", "1", "--adapter", "till", "--json") as (process, out, err):
        trust_changes(state, "untested")
        first = json.loads(out.next())
        add(str(state), [called(adapter="bank")])  # which does not fit
        trust_changes(state, "generated")
        second = json.loads(out.next())
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 0
        assert [(one["number"], one["details"]["to"]) for one in (first, second)] == [
            (8, "untested"),
            (10, "generated"),
        ]
        assert (out.text.count("\n"), err.text) == (1, "")


def test_following_begins_with_the_last_rows(state: Path) -> None:
    with following(state, "--last", "2") as (process, out, err):
        assert [out.next().split(b"\t")[0] for _ in range(2)] == [b"6", b"7"]
        add(str(state), [called()])
        assert out.next().startswith(b"8\t")
        process.send_signal(signal.SIGINT)
        assert (process.wait(PATIENCE), err.text) == (0, "")


def test_following_ends_when_nobody_reads_any_more(state: Path) -> None:
    """As in a pipe to ``head -1``, even if no further row comes."""
    command = [HEADGATE, "audit", "--state", str(state), "--follow", "--last", "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()) as process:
        assert process.stdout
        assert process.stderr
        assert process.stdout.readline().startswith(b"7\t")
        process.stdout.close()
        assert (process.stderr.read(), process.wait(PATIENCE)) == (b"", 0)


def test_following_on_a_terminal_prints_coloured_lines(state: Path) -> None:
    with dialogue("audit", "--state", str(state), "--follow", "--last", "1") as terminal:
        terminal.wait_for("certified")
        add(str(state), [called(operation="x\x1b[2Jy", decision="deny")])
        terminal.wait_for("deny")
        terminal.interrupt()
        assert terminal.ended() == 0
    assert "\x1b[31mdeny" in terminal.text
    assert r"8       2026-07-01T12:00:00Z  executed       shop          x\u001b[2Jy" in plain(terminal.text)


def test_a_reader_that_has_seen_enough_is_no_error(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    add(str(path), [called(params={"text": "x" * 1000}) for _ in range(2000)])
    command = [HEADGATE, "audit", "--state", str(path), "--all", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()) as process:
        assert process.stdout
        assert process.stderr
        assert process.stdout.readline()
        process.stdout.close()
        assert (process.stderr.read(), process.wait(PATIENCE)) == (b"", 0)
