"""What is no bundle of evidence is told in words."""

import json
from pathlib import Path
from typing import Any

import pytest

from headgate.conformance.evidence.bundle import Bundle, BundleError, is_bundle, read_json
from headgate.conformance.evidence.judging import judge_bundle
from tests.conformance.evidence.bundles import dropped, fine, put, spoiled


@pytest.mark.parametrize("content", [None, 3, "text", [], [fine()]], ids=["null", "number", "text", "list", "bundles"])
def test_only_an_object_is_a_bundle(content: object) -> None:
    with pytest.raises(BundleError, match=r"'lamps\.json' is no bundle of evidence: a JSON object is expected"):
        judge_bundle(content, where="lamps.json")


@pytest.mark.parametrize("key", ["implementation", "version", "spec_version", "introspection"])
def test_what_must_be_there_is_named(key: str) -> None:
    with pytest.raises(BundleError, match=f"'the bundle': '{key}' is missing"):
        judge_bundle(spoiled(dropped(key)))


def test_a_member_that_is_nearly_right_is_asked_for() -> None:
    content = spoiled(dropped("spec_version")) | {"specversion": "1.0.0-draft"}
    with pytest.raises(BundleError, match=r"'spec_version' is missing\. Did you mean 'specversion'"):
        judge_bundle(content)


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("introspection", [], "'introspection' must be an object"),
        ("capabilities", "all", "'capabilities' must be an object"),
        ("endpoint_modes", "crude", "'endpoint_modes' must be a list"),
        ("error_tests", {}, "'error_tests' must be a list"),
        ("round_trip_tests", [3], "'round_trip_tests' must be a list of objects: number 1 is none"),
        ("parameter_tests/missing_required", "none", "'parameter_tests.missing_required' must be a list"),
        ("introspection/operation_details/1", None, "'introspection.operation_details' must be a list of objects"),
        ("accepted_parameters/list_lamps", "first", "'accepted_parameters.list_lamps' must be a list of names"),
        ("error_tests/0/must_mention", "watts", "'error_tests', number 1: 'must_mention' must be a list of texts"),
        ("round_trip_tests/0/expected_fields", [], "'expected_fields' must be an object of paths and values"),
        ("semantic_tests/0/semantic", "yes", "'semantic_tests', number 1: 'semantic' must be an object"),
    ],
)
def test_a_member_of_a_wrong_form_is_named(path: str, value: Any, words: str) -> None:
    with pytest.raises(BundleError) as wrong:
        judge_bundle(spoiled(put(path, value)), 2)
    assert words in str(wrong.value)


@pytest.mark.parametrize("key", ["capabilities", "endpoint_modes", "accepted_parameters", "parameter_tests"])
def test_what_is_null_is_as_if_it_were_missing(key: str) -> None:
    assert judge_bundle(spoiled(put(key, None)), 2).wire() == judge_bundle(spoiled(dropped(key)), 2).wire()


def test_operations_of_which_nothing_is_known_are_none() -> None:
    assert Bundle.of(spoiled(put("introspection", None))).operation_details == []


def test_a_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "lamps.json").write_text(json.dumps(fine()))
    assert read_json(tmp_path / "lamps.json") == fine()


@pytest.mark.parametrize(
    ("text", "words"),
    [("{", "is no JSON: line 1, column 2"), ("\N{SNOWMAN}", "is no JSON: line 1")],
    ids=["cut off", "no JSON at all"],
)
def test_a_file_that_is_no_json_is_told(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "lamps.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(BundleError) as wrong:
        read_json(file)
    assert words in str(wrong.value)
    assert not is_bundle(file)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match=r"cannot be read: No such file"):
        read_json(tmp_path / "none.json")


def test_a_file_that_is_far_too_large_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "huge.json"
    with file.open("wb") as huge:
        huge.truncate(100_000_001)
    with pytest.raises(BundleError, match="too large: 100 MB"):
        read_json(file)


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("bundle.json", fine(), True),
        ("BUNDLE.JSON", fine(), True),
        ("bundle.txt", fine(), False),
        ("mistaken.json", {"error_tests": 3}, True),
        ("petstore.json", {"openapi": "3.1.0", "info": {}}, False),
        ("servers.json", {"mcpServers": {}}, False),
        ("report.json", judge_bundle(fine()).wire(), False),
        ("list.json", [fine()], False),
    ],
)
def test_a_bundle_is_told_from_other_files(tmp_path: Path, name: str, content: object, expected: bool) -> None:
    (tmp_path / name).write_text(json.dumps(content))
    assert is_bundle(tmp_path / name) is expected


@pytest.mark.parametrize("name", ["", ".", "none.json", "shop.db", "module:adapter", "http://x/y.json", "a\0.json"])
def test_what_is_no_file_is_no_bundle(name: str) -> None:
    assert not is_bundle(name)
