"""``headgate audit``: the rows that are asked for, in each form, now or as they come."""

import csv
import io
import json
import time
from dataclasses import asdict
from pathlib import Path

import pytest

from headgate.protocol.canonical import canonical
from tests.cli.commands import Done, Shell
from tests.cli.states import NOON, add, called, rows_of, tamper
from tests.cli.terminals import on_terminal

HOUR = 3600.0
ALICE = '["alice","claude"]'
ENTRIES = [
    called(NOON, event="proposed", operation="delete_order", decision="confirm", code="CONFIRMATION_REQUIRED"),
    called(NOON + HOUR, event="approved", operation="delete_order", decision="confirm", caller=ALICE),
    called(NOON + 2 * HOUR, operation="delete_order", decision="confirm", caller=ALICE, session="sess_1"),
    called(NOON + 3 * HOUR, event="returned", operation="delete_order", duration_ms=12.345, request_id="req_9"),
    called(NOON + 4 * HOUR, event="proposed", operation="create_order", decision="deny", code="PERMISSION_DENIED"),
    called(NOON + 5 * HOUR, event="refused", operation="create_order", code="TOKEN_EXPIRED", adapter="bank"),
    called(NOON + 6 * HOUR, event="trust", operation="", adapter="bank", caller="ann", details={"to": "certified"}),
]


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """A store with rows of several kinds."""
    path = tmp_path / "state.db"
    add(str(path), ENTRIES)
    return path


def numbers(done: Done) -> list[int]:
    """Which rows are shown in a pipe."""
    assert (done.code, done.err) == (0, "")
    return [int(line.split("\t")[0]) for line in done.out.splitlines()]


def test_in_a_pipe_a_row_is_one_line_with_tabs(shell: Shell, tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    entry = called(
        NOON,
        operation="delete_order",
        caller=ALICE,
        decision="confirm",
        rule="deletions",
        code="NOT_FOUND_RESOURCE",
        duration_ms=12.345,
        params={"id": 7},
    )
    add(str(path), [entry])
    done = shell("audit", "--state", str(path))
    cells = ["1", "2026-07-01T12:00:00.000Z", "executed", "shop", "delete_order", "alice via claude", "confirm"]
    cells += ["NOT_FOUND_RESOURCE", "deletions", "12.3 ms", '{"id":7}']
    assert (done.code, done.out, done.err) == (0, "\t".join(cells) + "\n", "")


def test_what_has_no_parameters_shows_its_details_and_what_is_long_is_cut(shell: Shell, state: Path) -> None:
    add(str(state), [called(params={"text": "x" * 200})])
    lines = shell("audit", "--state", str(state), "--last", "2").out.splitlines()
    assert lines[0].endswith('\t{"to":"certified"}')
    shown = lines[1].split("\t")[-1]
    assert (len(shown), shown[:10], shown[-2:]) == (80, '{"text":"x', "x…")


FILTERS = {
    "nothing": ((), [1, 2, 3, 4, 5, 6, 7]),
    "an operation": (("--operation", "create_order"), [5, 6]),
    "operations": (("--operation", "d*"), [1, 2, 3, 4]),
    "an adapter": (("--adapter", "bank"), [6, 7]),
    "a caller": (("--caller", "alice"), [2, 3]),
    "a caller as it is stored": (("--caller", ALICE), [2, 3]),
    "a client is no caller": (("--caller", "claude"), []),
    "nobody in particular": (("--caller", "anonymous"), [1, 4, 5, 6]),
    "a session": (("--session", "sess_1"), [3]),
    "a request": (("--request", "req_9"), [4]),
    "an event": (("--event", "proposed"), [1, 5]),
    "events": (("--event", "proposed, trust"), [1, 5, 7]),
    "a decision": (("--decision", "deny"), [5]),
    "decisions": (("--decision", "deny,confirm"), [1, 2, 3, 5]),
    "a code": (("--code", "PERMISSION_DENIED"), [5]),
    "codes": (("--code", "*_*D"), [1, 5, 6]),
    "from a time on": (("--since", "2026-07-01T17:00:00Z"), [6, 7]),
    "before a time": (("--until", "2026-07-01T13:00:00"), [1]),
    "in another zone": (("--until", "2026-07-01T15:00:00+02:00"), [1]),
    "between times": (("--since", "2026-07-01 13:00", "--until", "2026-07-01 15:00"), [2, 3]),
    "a day": (("--since", "2026-07-02"), []),
    "several": (("--event", "proposed", "--operation", "*order", "--decision", "confirm"), [1]),
    "the last": (("--last", "2"), [6, 7]),
    "the last that fit": (("--operation", "delete_order", "--last", "2"), [3, 4]),
    "none": (("--last", "0"), []),
    "all": (("--all",), [1, 2, 3, 4, 5, 6, 7]),
    "all that fit": (("--all", "--adapter", "bank"), [6, 7]),
}


@pytest.mark.parametrize(("words", "expected"), FILTERS.values(), ids=FILTERS)
def test_the_rows_that_fit_are_shown(shell: Shell, state: Path, words: tuple[str, ...], expected: list[int]) -> None:
    assert numbers(shell("audit", "--state", str(state), *words)) == expected


@pytest.mark.parametrize(("ago", "expected"), [("90m", [2]), ("2.5h", [1, 2]), ("1d", [1, 2]), ("600s", [])])
def test_times_are_also_said_as_how_long_ago(shell: Shell, tmp_path: Path, ago: str, expected: list[int]) -> None:
    path, now = tmp_path / "state.db", time.time()
    add(str(path), [called(now - 2 * HOUR), called(now - HOUR)])
    assert numbers(shell("audit", "--state", str(path), "--since", ago)) == expected
    assert numbers(shell("audit", "--state", str(path), "--until", ago)) == [n for n in (1, 2) if n not in expected]


WRONG = {
    "an event": (("--event", "propsed"), "--event: there is no event 'propsed'; known are approved"),
    "a near event": (("--event", "executed,propsed"), "Did you mean 'proposed'?"),
    "a decision": (("--decision", "denied"), "there is no decision 'denied'; known are allow, confirm, deny."),
    "a time": (("--since", "yesterday"), "--since: 'yesterday' is no time; write how long ago, such as 30m, 2h or 7d"),
    "a unit": (("--until", "2y"), "--until: '2y' is no time"),
    "a number": (("--last", "-1"), "--last must be 0 or more, not -1"),
    "last and all": (("--last", "3", "--all"), "--last and --all exclude each other"),
    "two forms": (("--json", "--format", "csv"), "--json and --format csv exclude each other"),
    "a form": (("--format", "jsnol"), 'Did you mean "jsonl"?'),
    "an option": (("--opration", "x"), "Unknown option: --opration. Did you mean --operation?"),
    "a command": (("verfy",), "There is nothing that takes 'verfy'; see --help."),
}


@pytest.mark.parametrize(("words", "message"), WRONG.values(), ids=WRONG)
def test_a_wrong_word_is_answered_in_one_line(shell: Shell, state: Path, words: tuple[str, ...], message: str) -> None:
    done = shell("audit", *words, env={"HEADGATE_STATE": str(state)})
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert message in done.err


def test_the_last_that_fit_are_found_far_from_the_end(shell: Shell, tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    seldom = {1, 3, 700, 2100}
    add(str(path), [called(operation="delete_it" if number in seldom else "get_it") for number in range(1, 4501)])
    words = ("audit", "--state", str(path), "--operation", "delete_*")
    assert numbers(shell(*words)) == [1, 3, 700, 2100]
    assert numbers(shell(*words, "--last", "2")) == [700, 2100]
    assert numbers(shell("audit", "--state", str(path), "--last", "3")) == [4498, 4499, 4500]
    assert len(numbers(shell("audit", "--state", str(path)))) == 50
    assert len(numbers(shell("audit", "--state", str(path), "--all"))) == 4500


# forms


@pytest.mark.parametrize("words", [("--json",), ("--format", "jsonl")])
def test_json_lines_hold_everything(shell: Shell, state: Path, words: tuple[str, ...]) -> None:
    lines = shell("audit", "--state", str(state), *words).out.splitlines()
    assert [json.loads(line) for line in lines] == [row.wire() for row in rows_of(str(state))]


def test_csv_holds_everything_in_flat_cells(shell: Shell, tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    entry = called(
        NOON, params={"id": 7, "note": 'a "quote", and\nlines'}, details={"trust": "validated"}, duration_ms=0.5
    )
    add(str(path), [entry, called(NOON)])
    out = shell("audit", "--state", str(path), "--format", "csv").out
    first, second = csv.DictReader(io.StringIO(out))
    stored = rows_of(str(path))
    assert out.startswith("number,time,event,adapter,operation,caller,session,request_id,danger,decision,rule,code,")
    assert (first["number"], first["time"], first["duration_ms"]) == ("1", "2026-07-01T12:00:00.000Z", "0.5")
    assert json.loads(first["params"]) == entry.params
    assert json.loads(first["details"]) == {"trust": "validated"}
    assert (first["digest"], second["previous"]) == (stored[0].digest, stored[0].digest)
    assert (second["params"], second["duration_ms"]) == ("", "")


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n", "＝"])  # noqa: RUF001
def test_no_cell_of_csv_is_a_formula(shell: Shell, tmp_path: Path, start: str) -> None:
    path, formula = tmp_path / "state.db", f'{start}HYPERLINK("http://x.example","click")'
    names = ("adapter", "operation", "caller", "session", "request_id", "rule", "code")
    add(str(path), [called(**dict.fromkeys(names, formula))])
    done = shell("audit", "--state", str(path), "--format", "csv")
    [row] = csv.DictReader(io.StringIO(done.out, newline=""))
    assert {row[name] for name in names} == {f"'{formula}"}


HOSTILE = "a\x1b[2Jb\nc\td\x9be\u202ef\x07"
SPELT = r"a\u001b[2Jb\nc\td\u009be\u202ef\u0007"


@pytest.mark.parametrize("words", [(), ("--json",)])
def test_nothing_in_a_row_can_steer_a_terminal(shell: Shell, tmp_path: Path, words: tuple[str, ...]) -> None:
    path = tmp_path / "state.db"
    names = ("adapter", "operation", "caller", "rule", "code", "decision", "event")
    texts = dict.fromkeys(names, HOSTILE)
    add(str(path), [called(**texts, params={HOSTILE: HOSTILE})])
    out = shell("audit", "--state", str(path), *words).out
    assert out.count("\n") == 1
    assert all(part.isprintable() for part in out.rstrip("\n").split("\t"))
    assert out.count(SPELT) == len(names) + 2


@pytest.mark.parametrize("words", [(), ("--format", "csv"), ("--json",)])
def test_nor_on_a_terminal_itself(tmp_path: Path, words: tuple[str, ...]) -> None:
    path = tmp_path / "state.db"
    add(str(path), [called(operation="x\x1b[2Jy", code="\x1b]0;title\x07")])
    shown = on_terminal("audit", "--state", str(path), *words)
    assert "\x1b[2J" not in shown.text
    assert "\x1b]0" not in shown.text
    assert r"x\u001b[2Jy" in shown.text


def entry_with(**changes: object) -> str:
    """The text of an entry that somebody has written by hand, spelt as the store wants it."""
    plain = json.loads(json.dumps(asdict(called())))
    return canonical(plain | changes).decode()


ODD: dict[str, dict[str, object]] = {
    "a time that is a text": {"at": "noon"},
    "a time beyond the calendar": {"at": 1e300},
    "no time": {"at": None},
    "an operation that is a number": {"operation": 5},
    "a caller that is a list": {"caller": ["x", 1]},
    "a caller that is half a list": {"caller": "[1"},
    "a caller without a name": {"caller": "[null,null]"},
    "parameters that are a text": {"params": "x"},
    "a duration that is a text": {"duration_ms": "long"},
    "details that are a list": {"details": [1]},
    "a number of any size": {"params": {"id": 10**30}},
}


@pytest.mark.parametrize("form", ["text", "jsonl", "csv"])
@pytest.mark.parametrize("changes", ODD.values(), ids=ODD)
def test_a_row_that_somebody_has_made_odd_is_still_shown(
    shell: Shell, state: Path, changes: dict[str, object], form: str
) -> None:
    tamper(state, "UPDATE audit_rows SET entry = ? WHERE number = 4", entry_with(**changes))
    done = shell("audit", "--state", str(state), "--format", form)
    assert (done.code, done.err) == (0, "")
    assert len(done.out.splitlines()) == len(ENTRIES) + (form == "csv")
    for words in (("--operation", "d*"), ("--caller", "alice"), ("--since", "1h"), ("--code", "T*")):
        assert shell("audit", "--state", str(state), *words).code == 0


@pytest.mark.parametrize("end", ["head", "start"])
@pytest.mark.parametrize("number", ["x", 10**17, -3, 3])
def test_ends_that_somebody_has_moved_keep_nobody_from_looking(
    shell: Shell, state: Path, end: str, number: object
) -> None:
    tamper(state, "UPDATE audit_ends SET number = ? WHERE name = ?", number, end)
    for words in ((), ("--all",), ("--last", "3")):
        assert shell("audit", "--state", str(state), *words).code == 0


def test_an_unreadable_row_is_shown_as_such(shell: Shell, state: Path) -> None:
    tamper(state, "UPDATE audit_rows SET entry = 'gone' WHERE number = 2")
    done = shell("audit", "--state", str(state), "--event", "unreadable")
    assert numbers(done) == [2]
    assert '{"stored":"gone"}' in done.out


# stores


def test_the_store_is_named_by_the_environment_or_is_the_users_own(shell: Shell, state: Path, tmp_path: Path) -> None:
    assert len(numbers(shell("audit", env={"HEADGATE_STATE": f"sqlite:///{state}"}))) == 7
    folder = tmp_path / "home" / "headgate"
    folder.mkdir(parents=True)
    state.rename(folder / "state.db")
    assert len(numbers(shell("audit", env={"XDG_STATE_HOME": str(tmp_path / "home")}))) == 7


STORES = {
    "a file that is not there": ("none.db", 3, "There is no store 'none.db': no server has kept anything there"),
    "a URL of one": ("sqlite:///none.db", 3, "There is no store 'none.db'"),
    "memory": ("memory:", 2, "A store in memory is seen by its own process alone"),
    "no kind of store": ("postgrsql://x", 2, "'postgrsql:' is no kind of store. Did you mean 'postgresql'"),
    "another file": ("notes.txt", 2, "'notes.txt' names no store"),
    "no database": ("text.db", 3, "is no database of SQLite"),
    "a server that is not there": ("postgresql://me:secret@127.0.0.1:1/x", 3, "cannot be reached"),
}


@pytest.mark.parametrize("command", ["audit", "approvals", "trust"])
@pytest.mark.parametrize(("url", "code", "message"), STORES.values(), ids=STORES)
def test_a_store_that_cannot_be_read_is_told_in_one_line(
    shell: Shell, tmp_path: Path, command: str, url: str, code: int, message: str
) -> None:
    (tmp_path / "text.db").write_text("x" * 5000)
    done = shell(command, "--state", url, cwd=tmp_path)
    assert (done.code, done.out, done.err.count("\n")) == (code, "", 1)
    assert message in done.err
    assert "secret" not in done.err
    assert [path.name for path in tmp_path.iterdir()] == ["text.db"]


@pytest.mark.parametrize("words", [(), ("verify",), ("rotate",)])
def test_each_command_explains_itself(shell: Shell, words: tuple[str, ...]) -> None:
    done = shell("audit", *words, "--help")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(" ".join(("Usage: headgate audit", *words)))
    assert "HEADGATE_STATE" in done.out
