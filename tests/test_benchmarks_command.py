"""``python -m benchmarks``: what cannot be done is said before anything is measured, and every end is a quiet one."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

import pytest

from benchmarks import __main__ as program
from benchmarks.aims import Aim
from benchmarks.noise import Noise, Watch
from benchmarks.processes import running, said_elsewhere
from benchmarks.suites import SUITES, Effort, Findings, Suite
from benchmarks.tables import Table
from benchmarks.timing import take_turns

QUIET = Noise(busy=0.01, stolen=0.0, jitter=0.02, pace=200.0)
TABLE = Table("Calls (µs)", ("", "headgate"), (("one", 12.5),))
AIM = Aim("calls, µs", 12.5, 15.0)


class Quiet(Watch):
    """A machine on which nothing else happens."""

    async def noise(self) -> Noise:
        return QUIET


@dataclass
class Command:
    """The command with suites of the test's own, and which of them were measured."""

    monkeypatch: pytest.MonkeyPatch
    suites: dict[str, Suite] = field(default_factory=dict)
    measured: list[str] = field(default_factory=list)

    def offers(self, name: str, *aims: Aim, counts_tokens: bool = False) -> None:
        """A suite that takes no time."""

        async def run(_effort: Effort) -> Findings:
            self.measured.append(name)
            return [TABLE], [*aims]

        self.add(name, Suite(name.capitalize(), run, counts_tokens=counts_tokens))

    def add(self, name: str, suite: Suite) -> None:
        """One that does what the test says."""
        self.suites[name] = suite

    def run(self, *words: str) -> int:
        """Run it; what is wrong with its words is the code of argparse."""
        self.monkeypatch.setattr(sys, "argv", ["benchmarks", *words])
        try:
            return program.main()
        except SystemExit as end:
            return int(end.code or 0)


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Command:
    """The command, on a quiet machine, with a page of its own."""
    monkeypatch.setenv("HEADGATE_CURSOR_KEY", "x" * 32)
    monkeypatch.setattr(program, "Watch", Quiet)
    monkeypatch.setattr(program, "_KEPT", tmp_path / "kept.json")
    monkeypatch.setattr(program, "write_page", lambda _run, page: page.write_text("the page"))
    monkeypatch.setattr(program, "_PAGE", tmp_path / "page.md")
    made = Command(monkeypatch)
    monkeypatch.setattr(program, "SUITES", made.suites)
    made.offers("fast", AIM)
    return made


def without_counter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "bpe_openai", None)


def interrupt(*_given: object) -> None:
    signal.raise_signal(signal.SIGINT)


async def interrupted_wait(*_given: object) -> NoReturn:
    interrupt()
    await asyncio.Event().wait()
    raise AssertionError


async def failing_after_interrupt(*_given: object) -> NoReturn:
    """A suite whose server has gone at the same Ctrl-C."""
    interrupt()
    raise RuntimeError("a server did not answer")


async def never_waiting(*_given: object) -> NoReturn:
    """A suite that only calls what is in the same process."""

    async def call() -> None:
        called.append(1)
        interrupt()

    called: list[int] = []
    await take_turns({"one": call}, rounds=2, calls=1)
    raise AssertionError


# --json


WRONG = {
    ".": "is a folder: name a file in it",
    "none/run.json": "cannot be written",
    "text/run.json": "cannot be written",
    "x" * 300: "cannot be written: File name too long",
}


@pytest.mark.parametrize(("name", "told"), WRONG.items(), ids=["folder", "missing folder", "below a file", "too long"])
def test_a_file_that_cannot_be_written_is_refused_before_anything_is_measured(
    command: Command, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, told: str
) -> None:
    (tmp_path / "text").touch()
    assert command.run("fast", "--anyway", "--json", str(tmp_path / name)) == 2
    assert capsys.readouterr().err.endswith(f"error: --json '{tmp_path / name}' {told}\n")
    assert command.measured == []


def test_what_was_measured_is_kept_in_the_file(command: Command, tmp_path: Path) -> None:
    assert command.run("fast", "--anyway", "--json", str(tmp_path / "run.json")) == 0
    assert [chapter["name"] for chapter in json.loads((tmp_path / "run.json").read_text())["chapters"]] == ["fast"]


# Ctrl-C


@pytest.mark.parametrize("suite", [interrupted_wait, failing_after_interrupt, never_waiting])
def test_ctrl_c_while_measuring_ends_quietly(
    command: Command, suite: Callable[[Effort], NoReturn], capsys: pytest.CaptureFixture[str]
) -> None:
    command.add("slow", Suite("Slow", suite))
    assert command.run("slow", "--anyway") == 130
    assert capsys.readouterr() == ("", "")


def test_ctrl_c_while_waiting_for_quiet_ends_quietly(command: Command, capsys: pytest.CaptureFixture[str]) -> None:
    command.monkeypatch.setattr(program, "calm", interrupted_wait)
    assert command.run("fast") == 130
    assert capsys.readouterr() == ("", "")


def test_a_suite_that_fails_by_itself_is_not_hidden(command: Command) -> None:
    async def failing(_effort: Effort) -> Findings:
        raise RuntimeError("a server did not answer")

    command.add("failing", Suite("Failing", failing))
    with pytest.raises(RuntimeError, match="a server did not answer"):
        command.run("failing", "--anyway")


def test_ctrl_c_does_not_reach_what_was_started_which_would_tell_of_it() -> None:
    with running([sys.executable, "-c", "input()"]) as process:
        assert os.getpgid(process) == process != os.getpgrp()


def test_a_process_ends_with_whoever_asked_it(tmp_path: Path) -> None:
    (tmp_path / "sleeper.py").write_text(
        "import os, pathlib, threading\n"
        f"pathlib.Path({str(tmp_path / 'part')!r}).write_text(str(os.getpid()))\n"
        f"os.rename({str(tmp_path / 'part')!r}, {str(tmp_path / 'pid')!r})\n"
        "threading.Event().wait()\n"
    )

    async def ask_and_leave() -> int:
        asked = asyncio.create_task(said_elsewhere("sleeper"))
        while not (tmp_path / "pid").exists():  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        asked.cancel()
        await asyncio.wait([asked])
        return int((tmp_path / "pid").read_text())

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(tmp_path))
        process = asyncio.run(ask_and_leave())
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


# the package that counts


def test_suites_that_count_are_left_out_without_their_package_and_others_run(
    command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    command.offers("counted", counts_tokens=True)
    without_counter(command.monkeypatch)
    told = "Not measured: counted: bpe-openai, which counts tokens, is not installed here; 'make bench' installs it.\n"
    assert command.run("--anyway") == 1
    assert command.measured == ["fast"]
    assert told in capsys.readouterr().out


def test_without_that_package_no_page_is_written(command: Command, tmp_path: Path) -> None:
    async def calm(_patience: float) -> Watch:
        return Quiet()

    command.monkeypatch.setattr(program, "calm", calm)
    command.offers("counted", counts_tokens=True)
    with command.monkeypatch.context() as patch:
        without_counter(patch)
        assert command.run() == 1
        assert not (tmp_path / "page.md").exists()
    assert command.run() == 0
    assert (tmp_path / "page.md").read_text() == "the page"


def test_a_suite_that_cannot_count_is_refused_if_it_is_all_that_was_asked_for(
    command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    command.offers("counted", counts_tokens=True)
    without_counter(command.monkeypatch)
    assert command.run("counted", "--anyway") == 2
    assert command.measured == []
    assert "error: counted: bpe-openai, which counts tokens, is not installed here" in capsys.readouterr().err


def test_those_suites_count_whose_tables_are_of_tokens() -> None:
    assert [name for name, suite in SUITES.items() if suite.counts_tokens] == [
        *("finding", "proxies", "openapi", "tokens", "scale")
    ]


# what is printed


def test_a_full_device_is_one_line(command: Command, capsys: pytest.CaptureFixture[str]) -> None:
    with Path("/dev/full").open("w") as full:
        command.monkeypatch.setattr(sys, "stdout", full)
        code = command.run("fast", "--anyway")
    told = "python -m benchmarks: what was to be written does not fit: No space left on device\n"
    assert code == 1
    assert capsys.readouterr().err == told


def test_aims_are_shown_where_there_are_some(command: Command, capsys: pytest.CaptureFixture[str]) -> None:
    command.offers("aimless")
    assert command.run("fast", "--anyway") == 0
    assert "### Aims" in capsys.readouterr().out
    assert command.run("aimless", "--anyway") == 0
    assert "Aims" not in capsys.readouterr().out
