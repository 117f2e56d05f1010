"""``headgate review``: what operations are taken for, and the list of what is to be confirmed."""

import json
from pathlib import Path

import pytest

from headgate.sources.curation import read_curation
from tests.cli.commands import Shell
from tests.cli.desks import desk
from tests.cli.terminals import on_terminal
from tests.server.processes import LIBRARY


def test_in_a_pipe_what_should_be_looked_over_comes_first(shell: Shell, tmp_path: Path) -> None:
    done = shell("review", desk(tmp_path))
    rows = [line.split("\t") for line in done.out.splitlines()]
    assert done.code == 0
    assert rows[0] == ["?", "frob_notes", "EXECUTE", "reversible", "0.00", "nothing is said of it"]
    assert [row[:4] for row in rows[1:]] == [
        ["", "list_notes", "READ", "safe"],
        ["", "update_note", "UPDATE", "reversible"],
        ["", "delete_note", "DELETE", "destructive"],
    ]
    assert "headgate: to be looked over: 1 of 4; --write FILE makes a list to be confirmed\n" in done.err
    assert "\x1b" not in done.out


def test_on_a_terminal_there_is_a_table_with_colour() -> None:
    shown = on_terminal("review", LIBRARY)
    assert shown.is_coloured
    assert "operation" in shown.text.splitlines()[0]
    assert shown.code == 0


def test_as_json_each_value_has_its_confidence_provenance_and_evidence(shell: Shell, tmp_path: Path) -> None:
    done = shell("review", "--json", "-s", desk(tmp_path, "list_notes", "frobNotes"))
    told = json.loads(done.out)
    assert told["needs_review"] == 1
    unclear, clear = told["operations"]
    assert (unclear["own_name"], unclear["maps_to"], unclear["needs_review"]) == ("frobNotes", "TOOL frobNotes", True)
    assert clear["category"]["provenance"] == "direct_source_metadata"
    assert "annotation: readOnlyHint is true (READ)" in clear["category"]["evidence"]
    assert clear["danger"]["value"] == "safe"


def test_what_an_author_declares_is_certain(shell: Shell) -> None:
    done = shell("review", LIBRARY, "--json")
    told = json.loads(done.out)
    assert told["needs_review"] == 0
    assert {one["category"]["confidence"] for one in told["operations"]} == {1.0}
    assert done.err == ""


def test_without_a_source_the_demo_is_shown(shell: Shell) -> None:
    assert "list_books\tREAD\tsafe\t1.00" in shell("review").out


def test_a_list_is_written_confirmed_and_applied(shell: Shell, tmp_path: Path) -> None:
    source, file = desk(tmp_path), tmp_path / "review.toml"
    done = shell("review", source, "--write", str(file))
    assert (done.code, done.out) == (0, "")
    assert done.err.endswith(f"headgate: to be confirmed in '{file}': 1\n")
    assert list(read_curation(file).operations) == ["frobNotes"]
    proposed = shell("review", source, "--review", str(file)).out
    assert proposed.startswith("?\tfrob_notes\tEXECUTE")

    text = (
        file.read_text().replace("confirmed = false\n", "").replace('"execute"', '"read"').replace("reversible", "safe")
    )
    file.write_text(text)
    applied = shell("review", source, "--review", str(file)).out
    assert "\tfrob_notes\tREAD\tsafe\t1.00\tchosen by the operator\n" in applied
    assert "?" not in applied
    again = shell("review", source, "--write", str(file))
    assert again.err.endswith(f"headgate: there is nothing to add to '{file}'\n")
    assert file.read_text() == text


def test_several_sources_are_looked_over_and_one_that_fails_is_told(shell: Shell, tmp_path: Path) -> None:
    done = shell("review", desk(tmp_path, "list_notes"), LIBRARY, "stdio:false")
    assert done.code == 3
    assert "headgate: source 'false' is left out: " in done.err
    names = [line.split("\t")[1] for line in done.out.splitlines()]
    assert names[0] == "list_notes"
    assert "list_books" in names


def test_a_source_that_does_not_answer_in_time_is_told(shell: Shell) -> None:
    done = shell("review", "stdio:sleep 60", "--start-timeout", "0.2")
    assert (done.code, done.out) == (3, "")
    assert "it did not answer within 0.2 s" in done.err


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("operations = 3", "this must be a table of operations"),
        ("include = [", "no entries can be added to it"),
        ("operations = {x = {hide = true}}", "no entries can be added to it"),
    ],
)
def test_a_file_that_takes_no_entries_is_left_alone(shell: Shell, tmp_path: Path, content: str, said: str) -> None:
    file = tmp_path / "review.toml"
    file.write_text(content)
    done = shell("review", desk(tmp_path, "frobNotes"), "--write", str(file))
    assert done.code == 2
    assert said in done.err
    assert file.read_text() == content


def test_a_file_that_cannot_be_written_is_told(shell: Shell, tmp_path: Path) -> None:
    done = shell("review", desk(tmp_path, "frobNotes"), "--write", str(tmp_path / "none" / "review.toml"))
    assert done.code == 2
    assert "cannot be read and written" in done.err


def test_a_mistake_in_a_review_file_is_told_before_anything_starts(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "review.toml").write_text("includes = []")
    done = shell("review", "stdio:false", "--review", str(tmp_path / "review.toml"))
    assert done.code == 2
    assert "Did you mean 'include'?" in done.err
