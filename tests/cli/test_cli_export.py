"""``headgate export``: what a source offers, in a form that others can read."""

import json
from pathlib import Path

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
