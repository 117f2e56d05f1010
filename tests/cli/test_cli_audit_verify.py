"""``headgate audit verify``: whatever was done to the rows of a store or of files, it names the place."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from headgate.store.audit import GENESIS, chained
from tests.cli.commands import Done, Shell
from tests.cli.dialogues import dialogue
from tests.cli.states import add, called, head_of, in_store, rows_of, tamper
from tests.databases import Database, Server
from tests.server.processes import environment

ROWS = 6
KEY = "known to the operator alone"
KEYED = {"HEADGATE_AUDIT_KEY": KEY}


@pytest.fixture(params=["sqlite", "postgresql"])
def shared(request: pytest.FixtureRequest) -> Iterator[Database]:
    """A store of six rows in each kind of database that servers share."""
    server: Server = request.getfixturevalue(request.param)
    with server.fresh() as database:
        add(database.url, [called(params={"id": number}) for number in range(1, ROWS + 1)])
        yield database


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """A file with six rows, written with a key."""
    path = tmp_path / "state.db"
    add(str(path), [called(params={"id": number}) for number in range(1, ROWS + 1)], KEY.encode())
    return path


def whole(done: Done) -> str:
    """What is said of rows that are as they were written."""
    assert (done.code, done.err) == (0, "")
    return done.out


def broken(done: Done) -> str:
    """What is said of rows that are not."""
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)
    return done.err.removeprefix("headgate: ").rstrip("\n")


def test_a_whole_audit_is_told_with_its_head(shell: Shell, shared: Database) -> None:
    said = whole(shell("audit", "verify", "--state", shared.url))
    assert said == f"rows 1 to 6 are as they were written\n{head_of(shared.url)}\n"
    number, _, digest = said.splitlines()[1].partition(":")
    assert (number, len(digest)) == ("6", 64)


def test_a_change_is_found_in_each_database(shell: Shell, shared: Database) -> None:
    table = "headgate.audit_rows" if shared.server == "postgresql" else "audit_rows"
    with shared.connected() as engine, engine.begin() as connection:
        connection.exec_driver_sql(f"UPDATE {table} SET entry = replace(entry, 'shop', 'chop') WHERE number = 4")  # noqa: S608
    assert broken(shell("audit", "verify", "--state", shared.url)).startswith("row 4: its content does not match")
    with shared.connected() as engine, engine.begin() as connection:
        connection.exec_driver_sql(f"DELETE FROM {table} WHERE number = 3")  # noqa: S608
    said = broken(shell("audit", "verify", "--state", shared.url))
    assert said == "row 3: the row is missing: row 4 stands in its place"


SET = "UPDATE audit_rows SET"
CHANGED = "its content does not match its digest: it was changed"
TORN = "it does not follow on the row before: one of the two was changed"
TAMPERING = {
    "an entry": (f"{SET} entry = replace(entry, 'shop', 'chop') WHERE number = 3", f"row 3: {CHANGED}"),
    "the first entry": (f"{SET} entry = replace(entry, 'shop', 'chop') WHERE number = 1", f"row 1: {CHANGED}"),
    "the last entry": (f"{SET} entry = replace(entry, 'shop', 'chop') WHERE number = 6", f"row 6: {CHANGED}"),
    "no entry at all": (f"{SET} entry = '' WHERE number = 3", f"row 3: {CHANGED}"),
    "an entry that is bytes": (f"{SET} entry = x'ff00' WHERE number = 3", f"row 3: {CHANGED}"),
    "a digest": (f"{SET} digest = replace(digest, 'a', 'b') || 'c' WHERE number = 3", f"row 3: {CHANGED}"),
    "a digest that is bytes": (f"{SET} digest = x'ff' WHERE number = 3", f"row 3: {CHANGED}"),
    "a previous": (f"{SET} previous = digest WHERE number = 3", f"row 3: {TORN}"),
    "the first previous": (f"{SET} previous = digest WHERE number = 1", f"row 1: {TORN}"),
    "a number": (f"{SET} number = 30 WHERE number = 3", "row 3: the row is missing: row 4 stands in its place"),
    "a number below": (f"{SET} number = -3 WHERE number = 1", "row 1: the row is missing: row -3 stands in its place"),
    "the first removed": ("DELETE FROM audit_rows WHERE number = 1", "row 1: the row is missing: row 2"),
    "one removed": ("DELETE FROM audit_rows WHERE number = 4", "row 4: the row is missing: row 5 stands in its place"),
    "the last removed": ("DELETE FROM audit_rows WHERE number = 6", "row 6: the row is missing: the chain should end"),
    "all removed": ("DELETE FROM audit_rows", "row 1: the row is missing: the chain should end with row 6"),
    "two swapped": (
        """UPDATE audit_rows SET (entry, previous, digest) =
            (SELECT entry, previous, digest FROM audit_rows AS other WHERE other.number = 7 - audit_rows.number)
            WHERE number IN (3, 4)""",
        f"row 3: {TORN}",
    ),
    "one repeated": (
        "INSERT INTO audit_rows SELECT 7, previous, digest, entry FROM audit_rows WHERE number = 6",
        f"row 7: {TORN}",
    ),
    "the head's number": (
        "UPDATE audit_ends SET number = 5 WHERE name = 'head'",
        "row 5: the chain does not end as it should: the last rows were written anew",
    ),
    "the head's digest": (
        "UPDATE audit_ends SET digest = 'x' WHERE name = 'head'",
        "row 6: the chain does not end as it should: the last rows were written anew",
    ),
    "the head ahead": ("UPDATE audit_ends SET number = 8 WHERE name = 'head'", "row 7: the row is missing"),
    "the head is no number": (
        "UPDATE audit_ends SET number = 'x' WHERE name = 'head'",
        "the row 'head' of the table 'audit_ends' holds no place in the chain: it was changed",
    ),
    "the head is gone": (
        "DELETE FROM audit_ends WHERE name = 'head'",
        "The row 'head' of the table 'audit_ends' is missing: somebody has tampered with the audit",
    ),
    "the start's number": (
        "UPDATE audit_ends SET number = 1 WHERE name = 'start'",
        "row 2: the row is missing: row 1 stands in its place",
    ),
    "the start's digest": ("UPDATE audit_ends SET digest = 'x' WHERE name = 'start'", f"row 1: {TORN}"),
    "the start is bytes": ("UPDATE audit_ends SET digest = x'00' WHERE name = 'start'", "the row 'start' of the table"),
    "the start is gone": ("DELETE FROM audit_ends WHERE name = 'start'", "The row 'start' of the table 'audit_ends'"),
}


@pytest.mark.parametrize(("statement", "message"), TAMPERING.values(), ids=TAMPERING)
def test_each_way_to_tamper_with_the_store_is_found(shell: Shell, state: Path, statement: str, message: str) -> None:
    tamper(state, statement)
    said = broken(shell("audit", "verify", "--state", str(state), env=KEYED))
    assert said.startswith(message)
    as_json = shell("audit", "verify", "--state", str(state), "--json", env=KEYED)
    told = json.loads(as_json.out)
    assert (as_json.code, as_json.err, told["valid"]) == (1, "", False)
    assert told["broken"]["reason"] == said
    assert said.startswith(f"row {told['broken']['row']}: ") or told["broken"]["row"] == 0


def test_rows_that_were_cut_off_at_the_start_without_a_word_are_found(shell: Shell, state: Path) -> None:
    """What is left is a whole chain, and its start fits; but no row tells of what was taken out."""
    cut = rows_of(str(state))[1]
    tamper(state, "DELETE FROM audit_rows WHERE number <= 2")
    tamper(state, "UPDATE audit_ends SET number = 2, digest = ? WHERE name = 'start'", cut.digest)
    said = broken(shell("audit", "verify", "--state", str(state), env=KEYED))
    assert said == "row 2: it and those before were taken out, but no 'pruned' row tells of it"


def test_rows_that_the_store_itself_has_taken_out_are_no_gap(shell: Shell, state: Path) -> None:
    for through in (2, 4):
        entry = called(event="pruned", details={"through": through})
        in_store(str(state), lambda store, entry=entry, last=through: store.prune(last, entry), KEY.encode())  # type: ignore[misc]
    said = whole(shell("audit", "verify", "--state", str(state), env=KEYED))
    assert said.startswith("rows 5 to 8 are as they were written\n8:")


def test_an_audit_without_rows_is_told_so(shell: Shell, tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    add(str(path), [])
    assert whole(shell("audit", "verify", "--state", str(path))) == "there are no rows yet\n0:\n"
    assert whole(shell("audit", "verify", "--state", str(path), "--head", "0:")) == "there are no rows yet\n0:\n"
    add(str(path), [called()])
    assert whole(shell("audit", "verify", "--state", str(path))).startswith("row 1 is as it was written\n1:")


def test_a_store_that_lost_its_tables_cannot_be_verified(shell: Shell, state: Path) -> None:
    tamper(state, "DROP TABLE audit_ends")
    done = shell("audit", "verify", "--state", str(state), env=KEYED)
    assert (done.code, done.out, done.err.count("\n")) == (3, "", 1)


@pytest.mark.parametrize("words", [("verify",), ("rotate", "--to", "x.jsonl", "--through", "1"), ()])
def test_who_interrupts_gets_no_trace(
    shell: Shell, state: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    def interrupted(work: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("headgate.cli.audit.guarded", interrupted)
    done = shell("audit", *words, "--state", str(state))
    assert (done.code, done.out, done.err) == (1, "", "headgate: interrupted\n")


# keys


def test_without_the_key_one_is_told_that_it_may_be_the_reason(shell: Shell, state: Path) -> None:
    said = broken(shell("audit", "verify", "--state", str(state)))
    assert said == f"row 1: {CHANGED}, or it was written with a key: then set HEADGATE_AUDIT_KEY to it"


def test_with_another_key_one_is_told_that_it_may_be_the_reason(shell: Shell, state: Path) -> None:
    said = broken(shell("audit", "verify", "--state", str(state), env={"HEADGATE_AUDIT_KEY": "another key, as long"}))
    hint = "or it was written with another key than HEADGATE_AUDIT_KEY is now, or with none"
    assert said == f"row 1: {CHANGED}, {hint}"


def test_a_row_of_somebody_without_the_key_is_found(shell: Shell, state: Path) -> None:
    add(str(state), [called()])
    assert broken(shell("audit", "verify", "--state", str(state), env=KEYED)).startswith(f"row 7: {CHANGED}")


def test_a_key_is_no_reason_for_a_row_that_is_missing(shell: Shell, state: Path) -> None:
    tamper(state, "DELETE FROM audit_rows WHERE number = 1")
    assert "KEY" not in broken(
        shell("audit", "verify", "--state", str(state), env={"HEADGATE_AUDIT_KEY": "another key, as long"})
    )


# heads that somebody has noted


def test_a_noted_head_is_still_there_when_more_was_written(shell: Shell, shared: Database) -> None:
    noted = whole(shell("audit", "verify", "--state", shared.url)).splitlines()[-1]
    add(shared.url, [called()] * 3)
    said = whole(shell("audit", "verify", "--state", shared.url, "--head", noted.upper()))
    assert said.startswith("rows 1 to 9 are as they were written\n9:")


def test_a_backup_that_was_put_back_is_found_by_a_noted_head(shell: Shell, state: Path) -> None:
    backup = state.read_bytes()
    add(str(state), [called()] * 2, KEY.encode())
    noted = str(head_of(str(state)))
    state.write_bytes(backup)
    assert whole(shell("audit", "verify", "--state", str(state), env=KEYED)).startswith("rows 1 to 6")
    said = broken(shell("audit", "verify", "--state", str(state), "--head", noted, env=KEYED))
    assert said == "row 8: it was there when the head was noted; now row 6 is the last"


def test_a_chain_that_was_written_anew_is_found_by_a_noted_head(shell: Shell, tmp_path: Path) -> None:
    """Without a key anybody can make a chain that verifies."""
    old, new = tmp_path / "old.db", tmp_path / "new.db"
    add(str(old), [called(caller="ann")] * 3)
    add(str(new), [called(caller="bob")] * 5)
    noted = str(head_of(str(old)))
    said = broken(shell("audit", "verify", "--state", str(new), "--head", noted))
    assert said == "row 3: it has another digest than the head that was noted: the rows were written anew"


def test_a_noted_head_before_the_start_cannot_be_compared(shell: Shell, state: Path) -> None:
    first, third = (str(rows_of(str(state))[number].head) for number in (0, 2))
    entry = called(event="pruned", details={"through": 3})
    in_store(str(state), lambda store: store.prune(3, entry), KEY.encode())
    said = broken(shell("audit", "verify", "--state", str(state), "--head", first, env=KEYED))
    assert said.startswith("row 1: it lies before row 4, where these rows begin, so that the head cannot be compared")
    assert whole(shell("audit", "verify", "--state", str(state), "--head", third, env=KEYED)).startswith("rows 4 to 7")
    other = f"3:{'0' * 64}"
    said = broken(shell("audit", "verify", "--state", str(state), "--head", other, env=KEYED))
    assert said == "row 3: it has another digest than the head that was noted"


@pytest.mark.parametrize(
    "head", ["x", "3", "3:", "3:abc", f":{'a' * 64}", f"-1:{'a' * 64}", f"3:{'x' * 64}", f"٣:{'a' * 64}"]
)
def test_what_is_no_head_is_refused(shell: Shell, state: Path, head: str) -> None:
    done = shell("audit", "verify", f"--head={head}", "--state", str(state))
    assert (done.code, done.out) == (2, "")
    assert "is no head; it is what 'headgate audit verify' prints last: N:DIGEST" in done.err


# files


@pytest.fixture
def export(shell: Shell, state: Path, tmp_path: Path) -> Path:
    """The rows of the store in a file."""
    path = tmp_path / "rows.jsonl"
    path.write_text(shell("audit", "--state", str(state), "--all", "--json").out)
    return path


def test_an_exported_file_verifies_wherever_it_begins(shell: Shell, export: Path, state: Path) -> None:
    lines = export.read_text().splitlines()
    said = f"rows 1 to 6 are as they were written\n{head_of(str(state))}\n"
    assert whole(shell("audit", "verify", str(export), env=KEYED)) == said
    export.write_text("\n".join(lines[3:]))
    assert whole(shell("audit", "verify", str(export), env=KEYED)) == said.replace("1 to 6", "4 to 6")
    assert "row 4" in broken(shell("audit", "verify", str(export)))


def test_a_file_may_be_formatted_anew(shell: Shell, export: Path) -> None:
    rows = [json.loads(line) for line in export.read_text().splitlines()]
    export.write_text("".join(json.dumps(row, sort_keys=True) + "\n" for row in rows))
    assert whole(shell("audit", "verify", str(export), env=KEYED)).startswith("rows 1 to 6")


def changed(name: str, value: object) -> Callable[[list[str]], list[str]]:
    def change(lines: list[str]) -> list[str]:
        row = json.loads(lines[2]) | {name: value}
        return [*lines[:2], json.dumps(row), *lines[3:]]

    return change


FILES: dict[str, tuple[Callable[[list[str]], list[str]], str]] = {
    "an event": (changed("event", "denied"), f"row 3: {CHANGED}"),
    "a time": (changed("at", 0), f"row 3: {CHANGED}"),
    "a parameter": (changed("params", {"id": 33}), f"row 3: {CHANGED}"),
    "a digest": (changed("digest", "0" * 64), f"row 3: {CHANGED}"),
    "a previous": (changed("previous", "0" * 64), f"row 3: {TORN}"),
    "a number": (changed("number", 33), "row 3: the row is missing: row 33 stands in its place"),
    "one removed": (lambda lines: [*lines[:2], *lines[3:]], "row 3: the row is missing: row 4 stands in its place"),
    "two swapped": (lambda lines: [*lines[:2], lines[3], lines[2], *lines[4:]], "row 3: the row is missing: row 4"),
    "one twice": (lambda lines: [*lines[:3], *lines[2:]], "row 4: the row is missing: row 3 stands in its place"),
    "all removed": (lambda lines: [], "row 1: "),
}


@pytest.mark.parametrize(("change", "message"), FILES.values(), ids=FILES)
def test_each_way_to_tamper_with_a_file_is_found(
    shell: Shell, export: Path, change: Callable[[list[str]], list[str]], message: str
) -> None:
    lines = change(export.read_text().splitlines())
    export.write_text("".join(f"{line}\n" for line in lines))
    said = broken(shell("audit", "verify", str(export), env=KEYED))
    assert said.startswith(message)
    assert f"'{export}'" in said


def test_a_file_that_was_cut_off_is_found_by_a_noted_head(shell: Shell, export: Path, state: Path) -> None:
    noted = str(head_of(str(state)))
    assert whole(shell("audit", "verify", str(export), "--head", noted, env=KEYED)).endswith(f"\n{noted}\n")
    export.write_text("".join(export.read_text().splitlines(keepends=True)[:4]))
    said = broken(shell("audit", "verify", str(export), "--head", noted, env=KEYED))
    assert said == "row 6: it was there when the head was noted; now row 4 is the last"


def line(**changes: Any) -> str:
    return json.dumps(chained(called(), GENESIS).wire() | changes)


MALFORMED = {
    "no JSON": ("{", "it is not JSON: Expecting property name enclosed in double quotes at column 2"),
    "half a row": (line()[:60], "it is not JSON"),
    "an empty line": ("", "it is not JSON"),
    "no object": ("[1]", "it has other fields"),
    "a number alone": ("7", "it has other fields"),
    "a field less": (line().replace('"digest"', '"digset"'), "it has no field 'digest'"),
    "a field more": (line(colour="red"), "it has other fields"),
    "a field twice": (line()[:-1] + ', "event": "denied"}', "it has the same field twice"),
    "a field twice within": (line().replace('"details": {}', '"details": {"a":1,"a":2}'), "the same field twice"),
    "not a number": (line(at=float("nan")), "values that JSON cannot hold"),
    "half a character": (line(event="\ud800"), "values that JSON cannot hold"),
    "a text for a number": (line(number="1"), "its number or a digest is none"),
    "truth for a number": (line(number=True), "its number or a digest is none"),
    "no row has the number 0": (line(number=0), "its number or a digest is none"),
    "a digest that is none": (line(digest=None), "its number or a digest is none"),
    "a digest of other signs": (line(previous="é"), "its number or a digest is none"),
    "nesting without end": (line(params=None).replace('"params": null', '"params": ' + "[" * 10**5), "it "),
}


@pytest.mark.parametrize(("text", "reason"), MALFORMED.values(), ids=MALFORMED)
def test_a_line_that_is_no_row_is_named(shell: Shell, tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(f"{line()}\n{text}\n")
    done = shell("audit", "verify", str(path))
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert f"'{path}' line 2 is no row of an audit: " in done.err
    assert reason in done.err


def test_bytes_that_are_no_text_are_named(shell: Shell, tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(line().encode() + b'\n{"event": "\xff"}\n')
    assert "line 2 is no row of an audit: it is not UTF-8" in shell("audit", "verify", str(path)).err


def test_a_file_that_is_not_there_is_told(shell: Shell, tmp_path: Path) -> None:
    done = shell("audit", "verify", "none.jsonl", cwd=tmp_path)
    assert (done.code, done.err) == (2, "headgate: 'none.jsonl' cannot be read: No such file or directory\n")


# on a terminal


def test_on_a_terminal_nothing_but_the_result_is_shown_if_it_is_quick(state: Path) -> None:
    with dialogue("audit", "verify", "--state", str(state), env=KEYED) as terminal:
        assert terminal.ended() == 0
    assert terminal.text == f"rows 1 to 6 are as they were written\n{head_of(str(state))}\n"


def test_the_environment_of_these_tests_has_no_key_of_its_own() -> None:
    assert "HEADGATE_AUDIT_KEY" not in environment()
