"""``headgate export --evidence``: a server is tried, and what was seen is written down."""

import json
from pathlib import Path

import pytest

from headgate.conformance.evidence.bundle import is_bundle
from tests.cli.commands import Shell
from tests.conformance.evidence.bundles import fine
from tests.server.processes import LIBRARY


def test_evidence_of_a_source_is_written_and_judged(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "library.json"
    done = shell("export", "--evidence", str(file), LIBRARY, "--allow", "create,update,delete", "--allow", "execute")
    assert (done.code, done.out) == (0, "")
    assert f"headgate: written to '{file}'\n" in done.err
    assert "judged for level 2: " in done.err
    assert is_bundle(file)
    bundle = json.loads(file.read_text())
    assert (bundle["implementation"], bundle["endpoint_modes"]) == ("library", ["crude", "single"])
    assert set(bundle["accepted_parameters"]) == {one["name"] for one in bundle["introspection"]["operation_details"]}


def test_nothing_but_reading_is_done_unless_it_is_allowed(shell: Shell, tmp_path: Path) -> None:
    done = shell("export", "--evidence", str(tmp_path / "library.json"), "--source", LIBRARY)
    assert done.code == 0
    assert "operations were not called" in done.err
    bundle = json.loads((tmp_path / "library.json").read_text())
    categories = {one["name"]: one["semantic_category"] for one in bundle["introspection"]["operation_details"]}
    assert {categories[name] for name in bundle["accepted_parameters"]} == {"READ"}


def test_a_bundle_can_be_checked(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "lamps.json").write_text(json.dumps(fine()))
    done = shell("check", str(tmp_path / "lamps.json"), "--level", "2", "--format", "json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["conformanceLevel"] == 2


def test_fixtures_and_conversations_are_taken(shell: Shell, tmp_path: Path) -> None:
    conversations = fine()["semantic_tests"]
    (tmp_path / "said.json").write_text(json.dumps(conversations))
    (tmp_path / "known.toml").write_text('leave_alone = ["list_books"]\n')
    more = ("--transcript", str(tmp_path / "said.json"), "--fixtures", str(tmp_path / "known.toml"))
    done = shell("export", "--evidence", str(tmp_path / "library.json"), LIBRARY, *more)
    bundle = json.loads((tmp_path / "library.json").read_text())
    assert done.code == 0
    assert bundle["semantic_tests"] == conversations
    assert "list_books" not in bundle["accepted_parameters"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((LIBRARY, LIBRARY), "evidence is of one server, not of 2"),
        (("--bundle", LIBRARY), "say what to write"),
        ((LIBRARY, "--fixtures", "none.toml"), "'none.toml' cannot be read"),
        ((LIBRARY, "--transcript", "none.json"), "'none.json' cannot be read"),
        ((LIBRARY, "--allow", "not an address"), "--allow: "),
        ((LIBRARY, "--other-mode", "http://127.0.0.1:9/mcp"), "--other-mode is for servers"),
        (("--other-mode", "http://127.0.0.1:9/mcp"), "--other-mode is for servers"),
    ],
)
def test_wrong_usage_is_told_before_anything_is_done(
    shell: Shell, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    done = shell("export", "--evidence", str(tmp_path / "e.json"), *words, cwd=tmp_path)
    assert (done.code, said in done.err) == (2, True), done.err
    assert not (tmp_path / "e.json").exists()


def test_its_options_are_for_evidence_alone(shell: Shell, tmp_path: Path) -> None:
    done = shell("export", "--adapter", LIBRARY, "--fixtures", str(tmp_path / "known.toml"))
    assert (done.code, "are for --evidence" in done.err) == (2, True), done.err


@pytest.mark.parametrize("target", ["stdio:false", "http://127.0.0.1:9/mcp"])
def test_a_server_that_is_not_there_has_no_evidence(shell: Shell, tmp_path: Path, target: str) -> None:
    done = shell("export", "--evidence", str(tmp_path / "e.json"), target)
    assert (done.code, "the server cannot be tried: " in done.err) == (3, True), done.err
    assert not (tmp_path / "e.json").exists()
