"""``headgate export``: what a source offers, in a form that others can read."""

import json
from pathlib import Path

import pytest

from headgate.sources.files.reading import adapter_file_from
from tests.cli.commands import Shell
from tests.cli.desks import CALLED, TOOLS, desk
from tests.server.processes import LIBRARY


def test_the_bundle_has_what_the_server_lists_and_what_is_made_of_it(shell: Shell, tmp_path: Path) -> None:
    done = shell("export", "--bundle", desk(tmp_path))
    bundle = json.loads(done.out)
    assert done.code == 0
    assert bundle["raw_capture"]["tools"] == TOOLS
    assert "\x1b" not in done.out
    assert bundle["source"]["server"] == {"name": "desk", "version": "1.2"}
    made = bundle["normalized_bundle"]["operations"]
    assert [one["operation_name"] for one in made] == ["list_notes", "frob_notes", "update_note", "delete_note"]
    assert not (tmp_path / CALLED).exists()


def test_it_can_be_written_to_a_file_and_of_several_servers(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "bundles.json"
    done = shell("export", "--bundle", desk(tmp_path, "list_notes"), desk(tmp_path, "frobNotes"), "-o", str(file))
    assert (done.code, done.out) == (0, "")
    assert f"headgate: written to '{file}'\n" in done.err
    bundles = json.loads(file.read_text())
    assert [one["raw_capture"]["tools"][0]["name"] for one in bundles] == ["list_notes", "frobNotes"]


def test_a_review_counts_in_a_bundle(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "review.toml").write_text('[operations.frobNotes]\ncategory = "read"\ndanger = "safe"\nname = "see"\n')
    done = shell("export", "--bundle", desk(tmp_path), "--review", str(tmp_path / "review.toml"))
    made = {one["source_tool_name"]: one for one in json.loads(done.out)["normalized_bundle"]["operations"]}
    assert (made["frobNotes"]["operation_name"], made["frobNotes"]["endpoint"]) == ("see", "READ")
    assert made["frobNotes"]["provenance"]["inference_sources"]["endpoint"] == "manual_override"


def test_only_an_mcp_server_has_a_bundle(shell: Shell) -> None:
    done = shell("export", "--bundle", LIBRARY)
    assert done.code == 2
    assert "--bundle is for MCP servers: source 'town_library' is of the kind 'module'" in done.err


def test_what_to_write_must_be_said(shell: Shell) -> None:
    done = shell("export", LIBRARY)
    assert done.code == 2
    assert "say what to write: --bundle" in done.err


def test_a_server_that_does_not_start_has_none(shell: Shell) -> None:
    done = shell("export", "--bundle", "stdio:false")
    assert (done.code, done.out) == (3, "")


def test_a_place_where_nothing_can_be_written_is_told(shell: Shell, tmp_path: Path) -> None:
    done = shell("export", "--bundle", desk(tmp_path), "-o", str(tmp_path / "none" / "bundle.json"))
    assert done.code == 2
    assert "cannot be written: No such file or directory" in done.err


def test_an_adapter_file_is_written_of_any_source_and_can_be_called(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "library-adapter.md"
    done = shell("export", "--adapter", LIBRARY, "-o", str(file))
    assert (done.code, done.out) == (0, "")
    called = shell("call", "list_books", "-s", str(file), "--trust", "validated", env={"HEADGATE_STATE": "memory:"})
    direct = shell("call", "list_books", "-s", LIBRARY, env={"HEADGATE_STATE": "memory:"})
    assert called.code == 0
    assert called.out == direct.out


def test_without_a_file_it_is_printed(shell: Shell) -> None:
    done = shell("export", "--adapter", LIBRARY)
    file = adapter_file_from(done.out, "library-adapter.md")
    assert "list_books" in [entry.name for entry in file.entries]


def test_an_mcp_server_becomes_a_file_and_is_started_only_for_whoever_vouches(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "desk-adapter.md"
    assert shell("export", "--adapter", desk(tmp_path), "-o", str(file)).code == 0
    assert "maps_to: TOOL list_notes" in file.read_text()
    assert "maps_to: TOOL delete note!" in file.read_text()
    refused = shell("call", "list_notes", "-s", str(file))
    assert refused.code != 0
    assert "vouches" in refused.err
    assert not (tmp_path / CALLED).exists()
    done = shell("call", "list_notes", "-s", str(file), "--trust", "validated")
    assert "'list_notes' not found" in done.err  # which only the server can say: it knows no calls
    assert (tmp_path / CALLED).exists()


def test_several_sources_make_several_files_in_a_folder(shell: Shell, tmp_path: Path) -> None:
    done = shell("export", "--adapter", LIBRARY, desk(tmp_path, "list_notes"), "-o", str(tmp_path))
    assert done.code == 0
    assert len(list(tmp_path.glob("*-adapter.md"))) == 2


def test_a_folder_for_several_files_is_made(shell: Shell, tmp_path: Path) -> None:
    folder = tmp_path / "new" / "adapters"
    done = shell("export", "--adapter", LIBRARY, desk(tmp_path, "list_notes"), "-o", str(folder))
    assert done.code == 0, done.err
    assert len(list(folder.glob("*-adapter.md"))) == 2


@pytest.mark.parametrize(
    ("place", "said"),
    [("there.txt", "name a folder"), ("one.md", "name a folder"), ("there.txt/in", "cannot be made")],
    ids=["a file", "a new file", "below a file"],
)
def test_what_is_no_folder_is_not_made_one(shell: Shell, tmp_path: Path, place: str, said: str) -> None:
    (tmp_path / "there.txt").write_text("mine")
    done = shell("export", "--adapter", LIBRARY, desk(tmp_path, "list_notes"), "-o", str(tmp_path / place))
    assert (done.code, said in done.err) == (2, True), done.err
    assert (tmp_path / "there.txt").read_text() == "mine"


def test_several_files_need_a_folder(shell: Shell, tmp_path: Path) -> None:
    done = shell("export", "--adapter", LIBRARY, desk(tmp_path, "list_notes"))
    assert done.code == 2
    assert "name a folder" in done.err


@pytest.mark.parametrize("flags", [(), ("--bundle", "--adapter")])
def test_one_form_must_be_chosen(shell: Shell, flags: tuple[str, ...]) -> None:
    done = shell("export", *flags, LIBRARY)
    assert done.code == 2
    assert "--bundle or --adapter" in done.err
