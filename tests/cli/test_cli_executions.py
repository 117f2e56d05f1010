"""``headgate executions``: an operator sees how far long work is, and cancels or retries it."""

import json
import os
import re
import shlex
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from headgate.adapter.background import Background
from headgate.cli import processes
from headgate.protocol.lifecycle import State
from headgate.store.executions import Execution, Progress
from tests.cli.commands import Done, Shell
from tests.cli.dialogues import dialogue
from tests.cli.longwork import WORKER, at_work, completed, execution_in, left, noted, process
from tests.cli.states import add, rows_of
from tests.databases import Server
from tests.executions.books import BROKEN

HOSTILE = "a\x1b[2Jb\n\u202ec"
SPELT = r"a\u001b[2Jb\n\u202ec"
ISO = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"
UNKNOWN = "exec_0660869752"


@pytest.fixture
def state(tmp_path: Path) -> str:
    """An empty store in a file."""
    path = tmp_path / "the state.db"
    add(str(path), [])
    return str(path)


@pytest.fixture
def shared(postgresql: Server) -> Iterator[str]:
    """An empty store that processes on any machine share."""
    with postgresql.fresh() as made:
        yield made.url


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Have commands in this process take standard output for a terminal."""
    for name, value in (("FORCE_COLOR", "1"), ("TERM", "xterm-256color"), ("COLUMNS", "120")):
        monkeypatch.setenv(name, value)
    return monkeypatch


def plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def lines(done: Done) -> list[list[str]]:
    assert done.code == 0, done.err
    return [line.split("\t") for line in done.out.splitlines()]


def told(done: Done) -> str:
    """The one line in which something was said."""
    assert done.out == ""
    assert done.err.count("\n") == 1
    return done.err.removeprefix("headgate: ").rstrip("\n")


# the list


@pytest.mark.parametrize(
    ("words", "said"),
    [((), "nothing has been executed in the background"), (("--live",), "nothing is under way")],
)
def test_without_executions_that_is_said(
    shell: Shell, state: str, words: tuple[str, ...], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(2):
        done = shell("executions", *words, "--state", state)
        assert (done.code, told(done)) == (0, said)
        monkeypatch.setenv("FORCE_COLOR", "1")  # the second time as if there was a terminal
    assert json.loads(shell("executions", *words, "--state", state, "--json").out) == {"executions": []}


def test_in_a_pipe_each_execution_is_one_line_and_the_newest_comes_first(shell: Shell, state: str) -> None:
    first = left(state, State.PENDING, owner="anonymous")
    second = left(state, State.RUNNING, progress=Progress(1, 3, HOSTILE), operation="execute_import")
    third = left(state, State.FAILED, adapter="shop")
    fourth = left(state, State.CANCELLING)
    shown = lines(shell("executions", "--state", state))
    assert all(re.fullmatch(ISO, line.pop(6)) for line in shown)
    assert [bool(re.fullmatch(r"\d+\.\d{3}", line.pop(6))) for line in shown] == [True, True, True, False]
    assert shown == [
        [fourth.id, "execute_report", "library", "running", "cancelling", "", "ann", ""],
        [third.id, "execute_report", "shop", "failed", "failed", "", "ann", "INTERNAL_ERROR: The shelf broke"],
        [second.id, "execute_import", "library", "running", "running", "33.3", "ann", SPELT],
        [first.id, "execute_report", "library", "pending", "pending", "", "anonymous", ""],
    ]


def test_one_may_see_more_fewer_or_only_those_that_have_not_ended(
    shell: Shell, state: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headgate.cli.executions._PAGE", 7)
    made = [left(state, State.PENDING if number % 5 else State.CANCELLED).id for number in range(23)]

    def shown(*words: str) -> list[str]:
        return [line[0] for line in lines(shell("executions", *words, "--state", state))]

    newest = made[::-1]
    assert shown() == newest[:20]
    assert shown("--first", "2") == newest[:2]
    assert shown("--all") == newest
    assert shown("--live", "--all") == [one for one in newest if made.index(one) % 5]
    done = shell("executions", "--first", "0", "--state", state)
    assert (done.code, told(done)) == (2, "--first must be 1 or more, not 0")


def test_programs_get_all_of_it(shell: Shell, state: str) -> None:
    running = left(state, State.RUNNING, progress=Progress(1, 4, "reading"))
    retrying = left(state, State.RETRYING)
    newer, older = json.loads(shell("executions", "--state", state, "--json").out)["executions"]
    assert (newer["execution_id"], newer["status"], newer["state"]) == (retrying.id, "running", "retrying")
    assert older["progress"] == {"percentage": 25, "current": 1, "total": 4, "message": "reading"}
    assert (older["execution_id"], older["adapter"], older["caller"]) == (running.id, "library", '["ann",null]')


@pytest.mark.usefixtures("terminal")
def test_on_a_terminal_it_is_a_table_with_bars(shell: Shell, state: str) -> None:
    left(state, State.CANCELLED)
    left(state, State.FAILED)
    completed(state, [1])
    done = shell("executions", "--state", state)
    assert done.code == 0
    head, *rows = plain(done.out).splitlines()
    assert head.split() == ["id", "operation", "state", "progress", "took", "asked", "caller", "message"]
    assert [row.split()[2] for row in rows] == ["completed", "failed", "cancelled"]
    assert ["━" in row for row in rows] == [True, False, False]
    assert rows[1].rstrip().endswith("ann     INTERNAL_ERROR: The shelf broke")


@pytest.mark.usefixtures("terminal")
def test_the_table_tells_how_far_each_is_and_nothing_in_it_can_pretend(shell: Shell, state: str) -> None:
    left(state, State.RUNNING, progress=Progress(1, 4, HOSTILE), operation="execute_[bold]")
    left(state, State.CANCELLING, adapter="shop")
    left(state, State.RUNNING, progress=Progress(7))
    left(state, State.PENDING)
    done = shell("executions", "--once", "--state", state)
    assert "\x1b[2J" not in done.out
    head, pending, counting, cancelling, running = plain(done.out).splitlines()
    assert head.split()[:4] == ["id", "operation", "adapter", "state"]
    assert re.search(r"library +pending +0 s ago +ann", pending)
    assert re.search(r"library +running +━+ +0 s", counting)
    assert re.search(r"shop +running \(cancelling\) +━+ +0 s", cancelling)
    assert re.search(r"execute_\[bold\] +library +running +━+[╸╺]?━+ +25% +0 s", running)
    assert SPELT[:6] in running


def test_a_narrow_table_keeps_ids_whole(shell: Shell, state: str, terminal: pytest.MonkeyPatch) -> None:
    terminal.setenv("COLUMNS", "76")
    ids = [f"exec_06608697528263c4{number}0000" for number in range(2)]
    for one in ids:
        left(
            state, State.RUNNING, id=one, progress=Progress(1, 2, "a message that is much longer than the room for it")
        )
    done = shell("executions", "--once", "--state", state)
    head, *rows = plain(done.out).splitlines()
    assert "caller" not in head
    assert [row.split()[0] for row in rows] == ["exec_06608697528263c41", "exec_06608697528263c40"]
    assert all(len(row) <= 76 and "50%" in row for row in rows)


@pytest.mark.usefixtures("terminal")
def test_the_ids_in_the_table_are_enough_to_find_each(shell: Shell, state: str) -> None:
    made = [left(state, State.CANCELLED, id=f"exec_0660869752{number}{'9' * 23}").id for number in range(3)]
    rows = plain(shell("executions", "--state", state).out).splitlines()[1:]
    short = [row.split()[0] for row in rows]
    assert max(map(len, short)) < 20
    for beginning, whole in zip(short, made[::-1], strict=True):
        assert plain(shell("executions", beginning, "--state", state).out).startswith(f"{whole}  cancelled\n")


# following


def test_the_table_follows_what_is_under_way_and_ends_when_all_has_ended(state: str) -> None:
    running = left(state, State.RUNNING, progress=Progress(1, 4))
    with dialogue("executions", "--live", "--state", state, columns=120) as terminal:
        terminal.wait_for("25%")
        noted(state, running, 3, 4, "nearly there")
        second = left(state, State.RUNNING, progress=Progress(9, 10))
        terminal.wait_for("90%")
        terminal.wait_for("nearly there")
        at_work(state, lambda ledger: ledger.cancel(second))
        terminal.wait_for("cancelled")
        at_work(state, lambda ledger: ledger.cancel(running))
        assert terminal.ended() == 0
    last = plain(terminal.text).split("\x1b[2K")[-1]
    assert last.count("cancelled") == 2
    assert "\x1b[?25h" in terminal.text  # the cursor is there again


def test_leaving_the_table_leaves_it_as_it_is(state: str) -> None:
    left(state, State.RUNNING, progress=Progress(1, 4))
    with dialogue("executions", "--state", state, columns=120) as terminal:
        terminal.wait_for("25%", 2)
        terminal.interrupt()
        assert terminal.ended() == 0
    last = plain(terminal.text).split("\x1b[2K")[-1]
    assert re.search(r"running +━", last)
    assert "Traceback" not in terminal.text


# one


def shown(done: Done) -> dict[str, str]:
    """What is said of one execution, by what it is about."""
    assert done.code == 0, done.err
    pairs = [re.fullmatch(r"  (\S(?:.{9}))  ?(.*)", line) for line in done.out.splitlines()[1:]]
    return {pair[1].strip(): pair[2] for pair in pairs if pair}


def advice(done: Done) -> list[str]:
    """The command that a person is told to type, as a shell reads it."""
    program, *words = shlex.split(shown(done)["next"])
    assert program == "headgate"
    return words


def test_one_that_runs_is_shown_in_full_with_how_to_cancel_it(shell: Shell, state: str) -> None:
    background = Background(retries=2)
    one = left(state, State.RUNNING, background, progress=Progress(2, 8, HOSTILE), shown={"year": 2025, "pin": "***"})
    done = shell("executions", one.id, "--state", state)
    assert done.out.startswith(f"{one.id}  running\n")
    about = shown(done)
    assert re.fullmatch(rf"0 s ago, {ISO}, in request req_1", about.pop("asked"))
    assert re.fullmatch(rf"0 s ago, {ISO}", about.pop("began"))
    assert re.fullmatch(rf"{WORKER}, process {os.getpid()} on \S+", about.pop("worker"))
    assert about.pop("next")
    assert about == {
        "operation": "execute_report of library",
        "caller": "ann",
        "progress": f"25%, 2 of 8, {SPELT}",
        "attempt": "1, 2 more after a failure",
    }
    assert done.out.endswith('  parameters\n    {\n      "year": 2025,\n      "pin": "***"\n    }\n')
    assert shell(*advice(done)).code == 0
    assert execution_in(state, one.id).state is State.CANCELLING


def test_one_that_has_ended_is_shown_with_what_came_of_it(shell: Shell, state: str) -> None:
    one = completed(state, ["a", "b"], progress=None)
    done = shell("executions", one.id, "--state", state)
    about = shown(done)
    assert about["result"] == "2 items, 7 characters of JSON"
    assert re.fullmatch(rf"0 s ago, {ISO}, after 0 s", about["ended"])
    assert re.fullmatch(rf"until {ISO}", about["kept"])
    assert json.loads(shell(*advice(done)).out) == ["a", "b"]
    told_all = completed(state, {"a": 1})
    assert shown(shell("executions", told_all.id, "--state", state))["result"] == "7 characters of JSON"


def test_one_that_has_failed_is_shown_with_its_error_and_how_to_retry_it(shell: Shell, state: str) -> None:
    one = left(state, State.FAILED)
    done = shell("executions", one.id, "--state", state)
    assert shown(done)["error"] == "INTERNAL_ERROR: The shelf broke"
    assert shell(*advice(done)).code == 0
    assert execution_in(state, one.id).state is State.RETRYING
    for_good = left(state, State.FAILED, Background(retry=False))
    assert "next" not in shown(shell("executions", for_good.id, "--state", state))


def test_one_that_waits_says_since_when_and_for_what(shell: Shell, state: str) -> None:
    one = left(state, State.RUNNING, Background(retries=2))
    at_work(state, lambda ledger: ledger.again(one, BROKEN, time.time() + 90))
    about = shown(shell("executions", one.id, "--state", state))
    assert re.fullmatch(rf"in 1 min, {ISO}", about["due"])
    assert about["attempt"] == "1, 1 failed, 2 more after a failure"
    assert "progress" not in about
    waiting = left(state, State.PENDING, worker=None)
    about = shown(shell("executions", waiting.id, "--state", state))
    assert {"began", "due", "worker", "ended"} & about.keys() == set()
    assert shell("executions", "cancel", waiting.id, "--state", state).code == 0
    assert shown(shell("executions", waiting.id, "--state", state))["ended"].endswith(", before it had begun")


def test_who_wants_an_end_is_told(shell: Shell, state: str) -> None:
    one = left(state, State.RUNNING, progress=Progress(3))
    assert shell("executions", "cancel", one.id, "--by", "ana", "--state", state).code == 0
    about = shown(shell("executions", one.id, "--state", state))
    assert re.fullmatch(rf"wanted by ana 0 s ago, {ISO}", about["to stop"])
    assert about["progress"] == "3"


def test_programs_get_all_of_one(shell: Shell, state: str) -> None:
    one = completed(state, [1, 2, 3], shown={"year": 2025})
    found = json.loads(shell("executions", one.id, "--state", state, "--json").out)
    assert found["result"] == {"characters": 5, "items": 3}
    assert (found["params"], found["worker"], found["request_id"]) == ({"year": 2025}, WORKER, "req_1")
    assert (found["failed_attempts"], found["interruptions"], found["attempt"]) == (0, 0, 1)
    stopping = left(state, State.CANCELLING)
    found = json.loads(shell("executions", stopping.id, "--state", state, "--json").out)
    assert (found["state"], found["asked_to_stop_by"]) == ("cancelling", "ann")
    assert re.fullmatch(ISO, found["asked_to_stop_at"])


# which one


@pytest.mark.parametrize("words", [(), ("cancel",), ("retry",), ("result",)], ids=" ".join)
def test_an_unknown_or_mistakable_id_finds_nothing(shell: Shell, state: str, words: tuple[str, ...]) -> None:
    two = [left(state, State.PENDING, id=f"{UNKNOWN}{end}").id for end in ("a1", "a2")]
    where = shlex.quote(state)

    def refused(said: str) -> str:
        done = shell("executions", *words, said, "--state", state)
        assert done.code == 1
        return told(done)

    assert refused(f"{UNKNOWN}a") == (
        f"'{UNKNOWN}a' is the beginning of several executions: {two[1]}, {two[0]}; say more of it"
    )
    assert refused(f"{UNKNOWN}a3") == f"No execution '{UNKNOWN}a3' is known. Did you mean '{two[0]}'?"
    assert refused(HOSTILE) == (
        f"No execution '{SPELT}' is known; see 'headgate executions --state {where}' for those that are"
    )
    assert [execution_in(state, one).state for one in two] == [State.PENDING, State.PENDING]


def test_an_unmistakable_beginning_is_enough_with_or_without_its_first_word(shell: Shell, state: str) -> None:
    one, other = (left(state, State.PENDING, id=f"{UNKNOWN}{end}") for end in ("a1", "b1"))
    assert shell("executions", f"{UNKNOWN}a", "--state", state).out.startswith(f"{one.id}  pending\n")
    assert shell("executions", "cancel", "0660869752b", "--state", state).code == 0
    assert execution_in(state, other.id).state is State.CANCELLED
    assert execution_in(state, one.id).state is State.PENDING


# cancelling


def entries(state: str) -> list[tuple[str, str, object]]:
    return [(row.entry.event, row.entry.caller, row.entry.details.get("execution_id")) for row in rows_of(state)]


def cancelled(shell: Shell, state: str, one: Execution) -> tuple[int, str]:
    done = shell("executions", "cancel", one.id, "--by", "ana", "--state", state)
    return done.code, told(done)


def test_cancelling_says_what_becomes_of_it(shell: Shell, state: str) -> None:
    waiting, running, stuck = (left(state, one) for one in (State.PENDING, State.RUNNING, State.STUCK))
    assert cancelled(shell, state, waiting) == (0, f"'{waiting.id}' is cancelled: nobody was at it")
    assert cancelled(shell, state, running) == (0, f"'{running.id}' is told to stop, and has time to clean up")
    assert cancelled(shell, state, stuck) == (0, f"'{stuck.id}' was told to stop before, and does not stop")
    assert [execution_in(state, one.id).state for one in (waiting, running, stuck)] == [
        State.CANCELLED,
        State.CANCELLING,
        State.STUCK,
    ]
    assert entries(state) == [("cancelled", "ana", one.id) for one in (waiting, running, stuck)]


@pytest.mark.parametrize("ended", [State.COMPLETED, State.FAILED, State.CANCELLED], ids=str)
def test_what_has_ended_cannot_be_cancelled(shell: Shell, state: str, ended: State) -> None:
    one = left(state, ended)
    assert cancelled(shell, state, one) == (1, f"'{one.id}' is {ended}: it cannot be cancelled any more")
    assert entries(state) == []


def test_programs_are_told_what_became_of_it(shell: Shell, state: str) -> None:
    waiting, failed = left(state, State.PENDING), left(state, State.FAILED)
    ended = json.loads(shell("executions", "cancel", waiting.id, "--state", state, "--json").out)
    again = json.loads(shell("executions", "retry", failed.id, "--state", state, "--json").out)
    assert (ended["execution_id"], ended["state"]) == (waiting.id, "cancelled")
    assert (again["execution_id"], again["state"]) == (failed.id, "retrying")


def test_what_a_process_that_is_dead_was_at_is_settled_before(shell: Shell, state: str) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        ended.wait()
    one = left(state, State.RUNNING, worker="work_dead")
    at_work(state, _nothing, process(id="work_dead", pid=ended.pid))
    assert cancelled(shell, state, one) == (1, f"'{one.id}' is failed: it cannot be cancelled any more")


async def _nothing(_ledger: object) -> None:
    """Only what comes with it counts."""


# retrying


def test_retrying_says_who_begins_it(shell: Shell, state: str) -> None:
    one = left(state, State.FAILED)
    done = shell("executions", "retry", one.id, "--by", "ana", "--state", state)
    assert (done.code, told(done)) == (0, f"'{one.id}' begins anew as soon as the server of 'library' sees it")
    assert entries(state) == [("retried", "ana", one.id)]
    other = left(state, State.FAILED, adapter="shop")
    assert told(shell("executions", "retry", other.id, "--state", state)) == (
        f"'{other.id}' begins anew as soon as a server runs for 'shop' on this state: there is none now"
    )


def test_on_a_shared_store_workers_begin_it(shell: Shell, shared: str) -> None:
    one, other = left(shared, State.FAILED), left(shared, State.FAILED)
    assert told(shell("executions", "retry", one.id, "--state", shared)) == (
        f"'{one.id}' begins anew as soon as 'headgate worker' runs for 'library' on this state: there is none now"
    )
    at_work(shared, _nothing, process(id="work_there", place="elsewhere", takes_jobs=True))
    assert told(shell("executions", "retry", other.id, "--state", shared)) == (
        f"'{other.id}' begins anew as soon as a worker takes it"
    )
    assert [line[0] for line in lines(shell("executions", "--state", shared))] == [other.id, one.id]


@pytest.mark.parametrize(
    ("ended", "background", "hides", "why"),
    [
        (State.RUNNING, None, False, "running: only what has failed can be retried"),
        (State.STUCK, None, False, "running (stuck): only what has failed can be retried"),
        (State.COMPLETED, None, False, "completed: only what has failed can be retried"),
        (State.CANCELLED, None, False, "cancelled: only what has failed can be retried"),
        (
            State.FAILED,
            Background(retry=False),
            False,
            "failed: 'execute_report' does not allow a retry, so start it anew",
        ),
        (
            State.FAILED,
            None,
            True,
            "failed: its parameters had secrets in them, which are not kept, so start it anew",
        ),
    ],
    ids=["running", "stuck", "completed", "cancelled", "not allowed", "secrets"],
)
def test_what_cannot_be_retried_says_why(
    shell: Shell, state: str, ended: State, background: Background | None, hides: bool, why: str
) -> None:
    one = left(state, ended, background, hides=hides)
    done = shell("executions", "retry", one.id, "--state", state)
    assert (done.code, told(done)) == (1, f"'{one.id}' is {why}")
    assert execution_in(state, one.id).state is ended
    assert entries(state) == []


# results


@pytest.mark.parametrize(
    "data",
    [[], list(range(2500)), {"a": "x" * 600_000}, "é", None, [["x" * 300_000], 1]],
    ids=["empty", "list", "text", "small", "nothing", "large item"],
)
def test_a_result_is_printed_whole_whatever_its_size(shell: Shell, state: str, data: object) -> None:
    one = completed(state, data)
    done = shell("executions", "result", one.id, "--json", "--state", state)
    assert (done.code, json.loads(done.out), done.out.count("\n")) == (0, data, 1)


def test_a_result_is_printed_to_be_read(shell: Shell, state: str) -> None:
    one = completed(state, [1])
    assert shell("executions", "result", one.id, "--state", state).out == "[\n  1\n]\n"


def test_where_there_is_no_result_that_is_said(shell: Shell, state: str) -> None:
    running, failed = left(state, State.RUNNING), left(state, State.FAILED)
    done = shell("executions", "result", running.id, "--state", state)
    assert (done.code, told(done)) == (1, f"'{running.id}' is running: there is no result yet")
    done = shell("executions", "result", failed.id, "--state", state)
    assert (done.code, told(done)) == (1, f"'{failed.id}' is failed: there is no result")


# processes


def test_without_processes_that_is_said(shell: Shell, state: str) -> None:
    assert told(shell("executions", "workers", "--state", state)) == "no process works on executions of this state"
    assert json.loads(shell("executions", "workers", "--state", state, "--json").out) == {"workers": []}


def test_processes_of_this_machine_are_alive_or_gone(shell: Shell, state: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        ended.wait()
    dead = process(id="work_dead", pid=ended.pid, takes_jobs=True, adapter=HOSTILE)
    at_work(state, _nothing, process(), dead)
    shown = lines(shell("executions", "workers", "--state", state))
    assert all(re.fullmatch(ISO, line.pop()) for line in shown)
    machine = shown[0].pop(2)
    assert shown[1].pop(2) == machine
    assert sorted(shown) == [
        ["work_dead", SPELT, str(ended.pid), "yes", "gone"],
        [WORKER, "library", str(os.getpid()), "no", "alive"],
    ]
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    done = shell("executions", "workers", "--state", state)
    assert "\x1b[2J" not in done.out
    assert re.search(
        rf"^{WORKER} +library +{machine} +{os.getpid()} +no +alive +0 s ago", plain(done.out), re.MULTILINE
    )


def test_processes_elsewhere_are_heard_by_their_beats(shell: Shell, state: str) -> None:
    there = process(id="work_there", place="elsewhere 4026531836", adapter="shop")
    at_work(state, _nothing, there)
    heard = threading.Event()

    def beat() -> None:
        while not heard.wait(0.05):
            at_work(state, _nothing, there)

    thread = threading.Thread(target=beat)
    thread.start()
    try:
        done = shell("executions", "workers", "--state", state, "--json")
    finally:
        heard.set()
        thread.join()
    assert done.err == "headgate: listening for 6 seconds at the most to processes on other machines\n"
    [found] = json.loads(done.out)["workers"]
    assert (found["machine"], found["adapter"], found["sign"]) == ("elsewhere", "shop", "alive")


def test_of_those_that_are_not_heard_nobody_knows(shell: Shell, state: str, monkeypatch: pytest.MonkeyPatch) -> None:
    at_work(state, _nothing, process(id="work_silent", place="nowhere"))
    monkeypatch.setattr(processes, "PATIENCE_SECONDS", 0.1)
    [line] = lines(shell("executions", "workers", "--state", state))
    assert (line[0], line[2], line[5]) == ("work_silent", "nowhere", "silent")


# help


@pytest.mark.parametrize("words", [(), ("cancel",), ("retry",), ("result",), ("workers",)], ids=" ".join)
def test_each_command_explains_itself(shell: Shell, words: tuple[str, ...]) -> None:
    done = shell("executions", *words, "--help")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(" ".join(("Usage: headgate executions", *words)))
    assert "HEADGATE_STATE" in done.out


@pytest.mark.parametrize("words", [(), ("cancel", "x"), ("workers",)], ids=" ".join)
def test_a_store_that_nobody_else_sees_is_refused(shell: Shell, words: tuple[str, ...]) -> None:
    done = shell("executions", *words, "--state", "memory:")
    assert (done.code, "A store in memory is seen by its own process alone" in told(done)) == (2, True)
