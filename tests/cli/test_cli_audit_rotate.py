"""``headgate audit rotate``: old rows move to a file, and nothing is lost whatever goes wrong."""

import json
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.commands import Done, Shell
from tests.cli.states import NOON, add, called, head_of, rows_of, tamper
from tests.databases import Database, Server
from tests.server.processes import HEADGATE, PATIENCE, environment

KEYED = {"HEADGATE_AUDIT_KEY": "known to the operator alone"}
DAY = 86400.0


@pytest.fixture(params=["sqlite", "postgresql"])
def shared(request: pytest.FixtureRequest) -> Iterator[Database]:
    """A store of six rows in each kind of database that servers share."""
    server: Server = request.getfixturevalue(request.param)
    with server.fresh() as database:
        add(database.url, [called(params={"id": number}) for number in range(1, 7)])
        yield database


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """A file with six rows, written with a key."""
    path = tmp_path / "state.db"
    add(str(path), [called(params={"id": number}) for number in range(1, 7)], KEYED["HEADGATE_AUDIT_KEY"].encode())
    return path


def verified(done: Done) -> str:
    assert (done.code, done.err) == (0, "")
    return done.out.splitlines()[0]


def test_old_rows_move_to_a_file_and_both_parts_verify(shell: Shell, shared: Database, tmp_path: Path) -> None:
    before = rows_of(shared.url)
    file = tmp_path / "old.jsonl"
    done = shell("audit", "rotate", "--to", str(file), "--through", "4", "--state", shared.url)
    said = f"rows 1 to 4 are in '{file}'; row 5 is the first now\n{before[3].head}\n"
    assert (done.code, done.out, done.err) == (0, said, "")
    assert [json.loads(line) for line in file.read_text().splitlines()] == [row.wire() for row in before[:4]]
    kept = rows_of(shared.url)
    assert kept[:2] == before[4:]
    told = kept[2].entry
    assert (kept[2].number, told.event, told.adapter, bool(told.caller)) == (7, "pruned", "", True)
    assert told.details == {"through": 4, "digest": before[3].digest, "file": "old.jsonl"}
    assert verified(shell("audit", "verify", "--state", shared.url)) == "rows 5 to 7 are as they were written"
    assert verified(shell("audit", "verify", str(file))) == "rows 1 to 4 are as they were written"
    joined = shell("audit", "verify", "--state", shared.url, "--head", done.out.splitlines()[1])
    assert verified(joined) == "rows 5 to 7 are as they were written"


def test_files_of_several_rotations_join(shell: Shell, state: Path, tmp_path: Path) -> None:
    a, b, c = (str(tmp_path / name) for name in ("a.jsonl", "b.jsonl", "c.jsonl"))
    for file, through in ((a, 2), (b, 5), (c, 100)):
        assert (
            shell("audit", "rotate", "--to", file, "--through", str(through), "--state", str(state), env=KEYED).code
            == 0
        )
    said = "rows 1 to 8 are as they were written"  # six calls, and a row for each of the first two rotations
    assert verified(shell("audit", "verify", a, b, c, env=KEYED)) == said
    assert verified(shell("audit", "verify", "--state", str(state), env=KEYED)) == "row 9 is as it was written"
    gap = shell("audit", "verify", a, c, env=KEYED)
    assert (gap.code, gap.err) == (
        1,
        f"headgate: row 3: the row is missing: row 6 stands in its place (in '{c}')\n",
    )
    swapped = shell("audit", "verify", b, a, env=KEYED)
    said = f"headgate: row 6: the row is missing: row 1 stands in its place (in '{a}')\n"
    assert (swapped.code, swapped.err) == (1, said)


def test_rows_that_are_old_enough_move(shell: Shell, tmp_path: Path) -> None:
    path, now = str(tmp_path / "state.db"), time.time()
    add(path, [called(now - days * DAY) for days in (40, 35, 29, 31, 1)])
    file = tmp_path / "old.jsonl"
    words = ("audit", "rotate", "--to", str(file), "--state", path, "--json", "--keep-days")
    done = shell(*words, "30")
    assert done.code == 0
    # The fourth is old as well, but it comes after one that is not.
    assert json.loads(done.out) | {"head": ""} == {"moved": 2, "taken_out": 2, "file": str(file), "head": ""}
    assert [row.number for row in rows_of(path)] == [3, 4, 5, 6]
    nothing = shell("audit", "rotate", "--to", str(tmp_path / "more.jsonl"), "--state", path, "--keep-days", "30")
    assert (nothing.code, nothing.out) == (0, "")
    assert nothing.err == "headgate: no row is that old: nothing was moved\n"
    as_json = shell("audit", "rotate", "--to", str(tmp_path / "more.jsonl"), *words[4:], "30")
    assert json.loads(as_json.out)["moved"] == 0
    assert sorted(one.name for one in tmp_path.iterdir()) == ["old.jsonl", "state.db"]


def test_all_rows_may_move(shell: Shell, state: Path, tmp_path: Path) -> None:
    file = str(tmp_path / "old.jsonl")
    assert shell("audit", "rotate", "--to", file, "--keep-days", "0", "--state", str(state), env=KEYED).code == 0
    assert [(row.number, row.entry.event) for row in rows_of(str(state))] == [(7, "pruned")]
    assert verified(shell("audit", "verify", file, env=KEYED)) == "rows 1 to 6 are as they were written"


WRONG = {
    "no rows are named": ((), "Say which rows move: either --keep-days N or --through N"),
    "rows are named twice": (("--through", "3", "--keep-days", "3"), "Say which rows move"),
    "a row that is none": (("--through", "0"), "--through must be the number of a row, not 0"),
    "days that are none": (("--keep-days", "-1"), "--keep-days must be 0 or more, not -1"),
    "days that are no number": (("--keep-days", "nan"), "--keep-days must be 0 or more, not nan"),
}


@pytest.mark.parametrize(("words", "message"), WRONG.values(), ids=WRONG)
def test_what_means_nothing_is_refused(
    shell: Shell, state: Path, tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    done = shell("audit", "rotate", "--to", str(tmp_path / "x.jsonl"), *words, "--state", str(state), env=KEYED)
    assert (done.code, done.out) == (2, "")
    assert message in done.err


def unchanged(state: Path, folder: Path) -> bool:
    """Whether everything is where it was, with nothing left beside it."""
    files = {path.name for path in folder.iterdir()} - {"state.db-wal", "state.db-shm"}
    return len(rows_of(str(state))) == 6 and files == {"state.db"}


def test_no_file_is_ever_replaced(shell: Shell, state: Path, tmp_path: Path) -> None:
    folder = tmp_path / "exports"
    folder.mkdir()
    (folder / "file").write_text("mine")
    (folder / "folder").mkdir()
    (folder / "link").symlink_to("nowhere")
    for name in ("file", "folder", "link"):
        words = ("audit", "rotate", "--to", str(folder / name), "--through", "3", "--state", str(state))
        done = shell(*words, env=KEYED)
        assert (done.code, done.out) == (2, "")
        assert "is there already, and nothing is written over it; name a new file" in done.err
    assert (folder / "file").read_text() == "mine"
    assert sorted(path.name for path in folder.iterdir()) == ["file", "folder", "link"]
    assert len(rows_of(str(state))) == 6


def test_a_file_that_appears_meanwhile_is_not_replaced_either(
    shell: Shell, state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "old.jsonl"

    def taken(source: Path, target: Path) -> None:
        file.write_text("another's")
        raise FileExistsError

    monkeypatch.setattr("headgate.store.exports.os.link", taken)
    done = shell("audit", "rotate", "--to", str(file), "--through", "3", "--state", str(state), env=KEYED)
    assert (done.code, file.read_text()) == (2, "another's")
    file.unlink()
    assert unchanged(state, tmp_path)


def test_a_disk_without_links_gets_the_file_too(
    shell: Shell, state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "old.jsonl"

    def unable(source: Path, target: Path) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr("headgate.store.exports.os.link", unable)
    words = ("audit", "rotate", "--to", str(file), "--state", str(state))
    assert shell(*words, "--through", "3", env=KEYED).code == 0
    assert verified(shell("audit", "verify", str(file), env=KEYED)) == "rows 1 to 3 are as they were written"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["old.jsonl", "state.db"]


@pytest.mark.parametrize("failing", ["fsync", "link"])
def test_a_disk_that_fails_changes_nothing(
    shell: Shell, state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(f"headgate.store.exports.os.{failing}", full)
    file = tmp_path / "old.jsonl"
    done = shell("audit", "rotate", "--to", str(file), "--through", "3", "--state", str(state), env=KEYED)
    assert (done.code, done.err) == (2, f"headgate: '{file}' cannot be written: No space left on device\n")
    assert unchanged(state, tmp_path)


def test_what_does_not_read_back_is_not_taken_out(
    shell: Shell, state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from headgate.store import exports

    whole = exports.line_of
    monkeypatch.setattr(exports, "line_of", lambda row: whole(row).replace('"executed"', '"returned"'))
    file = tmp_path / "old.jsonl"
    done = shell("audit", "rotate", "--to", str(file), "--through", "3", "--state", str(state), env=KEYED)
    assert done.code == 2
    assert "does not read back as it was written; nothing was taken out of the store" in done.err
    assert unchanged(state, tmp_path)


def test_a_folder_that_is_not_there_is_told(shell: Shell, state: Path, tmp_path: Path) -> None:
    file = tmp_path / "none" / "old.jsonl"
    done = shell("audit", "rotate", "--to", str(file), "--through", "3", "--state", str(state), env=KEYED)
    assert (done.code, done.err) == (2, f"headgate: '{file}' cannot be written: No such file or directory\n")
    assert unchanged(state, tmp_path)


BROKEN = {
    "a changed row": (
        "UPDATE audit_rows SET entry = replace(entry, 'shop', 'x') WHERE number = 2",
        "row 2: its content",
    ),
    "a missing row": ("DELETE FROM audit_rows WHERE number = 2", "row 2: the row is missing"),
}


@pytest.mark.parametrize(("statement", "message"), BROKEN.values(), ids=BROKEN)
def test_rows_that_were_tampered_with_stay(
    shell: Shell, state: Path, tmp_path: Path, statement: str, message: str
) -> None:
    tamper(state, statement)
    before = rows_of(str(state))
    file = tmp_path / "old.jsonl"
    done = shell("audit", "rotate", "--to", str(file), "--through", "3", "--state", str(state), env=KEYED)
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith(f"headgate: nothing was moved: {message}")
    assert not file.exists()
    assert rows_of(str(state)) == before


@pytest.mark.parametrize("env", [{}, {"HEADGATE_AUDIT_KEY": "another key, as long"}], ids=["no key", "another key"])
def test_without_the_right_key_nothing_is_moved_and_nothing_written(
    shell: Shell, state: Path, tmp_path: Path, env: dict[str, str]
) -> None:
    """Otherwise the row that tells of the rotation would itself break the chain."""
    before = head_of(str(state))
    words = ("audit", "rotate", "--to", str(tmp_path / "old.jsonl"), "--through", "3", "--state", str(state))
    done = shell(*words, env=env)
    assert (done.code, "HEADGATE_AUDIT_KEY" in done.err) == (1, True)
    assert head_of(str(state)) == before
    assert unchanged(state, tmp_path)


def test_of_two_rotations_at_once_no_row_is_lost(state: Path, tmp_path: Path) -> None:
    files = [tmp_path / f"{number}.jsonl" for number in range(2)]
    commands = [
        [HEADGATE, "audit", "rotate", "--to", str(file), "--through", "4", "--state", str(state)] for file in files
    ]
    started = [subprocess.Popen(command, env=environment(KEYED), stderr=subprocess.PIPE) for command in commands]
    for process in started:
        process.communicate(timeout=PATIENCE)
        assert process.returncode == 0
    kept = rows_of(str(state))
    assert [row.number for row in kept[:2]] == [5, 6]
    assert [row.entry.event for row in kept[2:]] == ["pruned"]
    lines = [json.loads(line) for file in files if file.exists() for line in file.read_text().splitlines()]
    assert {line["number"] for line in lines} == {1, 2, 3, 4}


def test_the_file_is_for_its_owner_alone(shell: Shell, state: Path, tmp_path: Path) -> None:
    file = tmp_path / "old.jsonl"
    shell("audit", "rotate", "--to", str(file), "--through", "3", "--state", str(state), env=KEYED)
    assert file.stat().st_mode & 0o777 == 0o600
    assert json.loads(file.read_text().splitlines()[0])["at"] == NOON
