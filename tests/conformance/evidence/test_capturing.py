"""Evidence is captured from servers that run: what was seen, and nothing else."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from headgate.conformance.evidence.capturing import capture
from headgate.conformance.evidence.judging import judge_bundle
from headgate.conformance.evidence.parameter_evidence import told_unknown
from headgate.conformance.fixtures import Fixtures
from headgate.conformance.openers import opener_of_adapter
from headgate.conformance.probe import Options, opened_probe
from headgate.conformance.values import Exchange
from headgate.sources.bookshop import bookshop_file
from headgate.sources.bookshop.stocktaking import add_stocktaking
from headgate.sources.gate.opening import database_adapter
from headgate.sources.gate.specs import DatabaseSpec
from tests.conformance.evidence.bundles import fine
from tests.conformance.evidence.notes import Notes

pytestmark = pytest.mark.anyio

EVERYTHING = frozenset({"CREATE", "UPDATE", "DELETE", "EXECUTE"})


async def evidence(server: Notes, allowed: frozenset[str] = EVERYTHING, **more: Any) -> dict[str, Any]:
    transcripts = more.pop("transcripts", ())
    async with opened_probe(server.opener(), Options(allowed=allowed, **more)) as probe:
        return await capture(probe, transcripts)


def verdicts(bundle: dict[str, Any]) -> dict[str, str]:
    return {
        test.name: test.result.value
        for category in judge_bundle(bundle, 2).categories
        for test in category.tests
        if test.result.value != "PASS"
    }


async def test_a_right_server_gives_evidence_of_everything() -> None:
    server = Notes()
    bundle = await evidence(server)
    assert verdicts(bundle) == {}
    assert bundle["endpoint_modes"] == ["crude", "single"]
    assert bundle["capabilities"] == {"field_selection": True, "batch_operations": True}
    assert (bundle["implementation"], bundle["notes"]) == ("toy", [])
    tests = bundle["parameter_tests"]
    assert {(one["operation"], one["parameter"]) for one in tests["missing_required"]} == {
        ("introspect", "query"),
        ("get_note", "note_id"),
        ("create_note", "title"),
        ("update_note", "note_id"),
        ("update_note", "input"),
        ("delete_note", "note_id"),
    }
    assert len(tests["unknown_parameter"]) == 7
    (default,) = tests["optional_defaults"]
    assert (default["parameter"], default["expected_value_path"]) == ("first", "data.pageInfo.pageSize")
    assert {one["name"].partition(":")[0] for one in bundle["error_tests"]} == {
        *("missing parameter", "unknown parameter", "wrong type", "unknown operation", "no operation"),
        *("wrong endpoint", "absent"),
    }
    assert {one["name"] for one in bundle["constraint_tests"]} == {
        "note.title: maxLength 40",
        "note.stars: maximum 5",
        "note.note_id: read-only",
    }
    assert [one["name"] for one in bundle["semantic_tests"]][:2] == ["search finds list_notes", "search finds get_note"]


async def test_what_was_made_is_taken_away_again_and_nothing_else_was_done() -> None:
    server = Notes()
    await evidence(server)
    assert list(server.notes) == ["n-1"]
    changed = [one["operation"] for one in server.ran if one["operation"].startswith(("create", "execute"))]
    assert changed == ["create_note"]


async def test_without_leave_nothing_but_reading_is_done_and_that_is_told() -> None:
    server = Notes()
    bundle = await evidence(server, frozenset())
    assert {one["operation"] for one in server.ran} == {"introspect", "list_notes", "get_note"}
    assert set(bundle["accepted_parameters"]) == {"introspect", "list_notes", "get_note"}
    assert bundle["round_trip_tests"] == []
    (note,) = bundle["notes"]
    assert note == (
        "4 operations were not called, so nothing is told of how they behave; "
        "--allow create,delete,execute,update lets them be called"
    )
    assert verdicts(bundle) == {
        "Introspection completeness matches accepted parameters": "WARN",
        "Required parameters are enforced": "FAIL",
    }


async def test_secrets_are_no_evidence_and_other_forms_are_found() -> None:
    bundle = await evidence(Notes(wrapped=True))
    (trip,) = bundle["round_trip_tests"]
    assert set(trip["expected_fields"]) == {"data.note.title", "data.note.stars"}
    assert verdicts(bundle) == {}


async def test_a_thing_that_is_given_as_one_object_is_looked_into() -> None:
    fixtures = Fixtures.of({"operations": {"create_note": {"note": {"title": "whole", "stars": 3}}}}, "fixtures")
    bundle = await evidence(Notes(whole=True), fixtures=fixtures)
    (trip,) = bundle["round_trip_tests"]
    assert set(trip["expected_fields"]) == {"data.title", "data.stars"}
    assert len(bundle["update_preservation_tests"]) == 1


async def test_an_operation_whose_parameters_cannot_be_made_is_tried_with_what_there_is() -> None:
    odd = {"name": "shape", "type": "Gadget", "required": True, "description": "A gadget."}
    size = {"name": "size", "type": "integer", "required": True, "description": "Its size."}
    bundle = await evidence(Notes(others={"read_gadget": (size, odd)}), frozenset())
    assert bundle["accepted_parameters"]["read_gadget"] == ["size", "shape"]
    cases = [one for one in bundle["parameter_tests"]["missing_required"] if one["operation"] == "read_gadget"]
    assert [one["response"]["error"]["code"] for one in cases] == ["VALIDATION_MISSING_PARAM"] * 2


async def test_a_default_that_no_answer_repeats_is_no_case() -> None:
    loud = {"name": "loud", "type": "boolean", "required": False, "default": False, "description": "Loud?"}
    bundle = await evidence(Notes(others={"read_bell": (loud,)}), frozenset())
    assert [one["operation"] for one in bundle["parameter_tests"]["optional_defaults"]] == ["list_notes"]


@pytest.mark.parametrize("says_details", [True, False], ids=["with details", "in words alone"])
async def test_a_parameter_that_is_documented_and_refused_is_not_written_down(says_details: bool) -> None:
    bundle = await evidence(Notes(refused=frozenset({"fields", "stars"}), says_details=says_details))
    accepted = bundle["accepted_parameters"]
    assert (accepted["list_notes"], accepted["create_note"]) == (["first"], ["title", "secret"])
    assert bundle["capabilities"]["field_selection"] is False
    assert verdicts(bundle)["Introspection completeness matches accepted parameters"] == "WARN"


async def test_a_parameter_that_is_taken_without_being_documented_is_written_down() -> None:
    bundle = await evidence(Notes(hidden=frozenset({"sort", "page"})))
    assert bundle["accepted_parameters"]["get_note"] == ["note_id", "sort", "page"]
    assert verdicts(bundle) == {"Introspection completeness matches accepted parameters": "FAIL"}


async def test_where_unknown_parameters_are_ignored_nothing_is_run_to_see_what_is_accepted() -> None:
    server = Notes(strict=False)
    bundle = await evidence(server)
    assert {one["operation"] for one in bundle["parameter_tests"]["unknown_parameter"]} == {
        *("introspect", "list_notes", "get_note")
    }
    assert bundle["accepted_parameters"]["create_note"] == ["title"]
    assert [one["operation"] for one in server.ran if one["operation"].startswith(("create", "execute"))] == [
        "create_note"
    ]
    assert verdicts(bundle)["Unknown parameters are handled explicitly"] == "FAIL"


async def test_an_update_that_loses_the_rest_is_seen() -> None:
    assert verdicts(await evidence(Notes(forgetful=True))) == {"Updates preserve non-targeted fields": "FAIL"}


@pytest.mark.parametrize(
    ("of_input", "expected"),
    [
        ("What to change: title, stars.", {}),
        ("What to change; note_id is read only.", {}),
        ("What to change: title, note_id.", {"Constraints are disclosed in introspection guidance": "WARN"}),
        ("What to change.", {"Constraints are disclosed in introspection guidance": "WARN"}),
    ],
)
async def test_a_read_only_field_is_documented_if_one_can_know(of_input: str, expected: dict[str, str]) -> None:
    assert verdicts(await evidence(Notes(of_input=of_input))) == expected


async def test_what_cannot_be_deleted_is_told() -> None:
    server = Notes(keeps=True)
    (note,) = (await evidence(server))["notes"]
    assert note == f"the note with note_id {list(server.notes)[-1]} was made and could not be deleted again"


async def test_what_cannot_be_made_is_told_and_the_rest_goes_on() -> None:
    fixtures = Fixtures.of({"operations": {"create_note": {"title": 7}}}, "fixtures")
    bundle = await evidence(Notes(), fixtures=fixtures)
    assert bundle["round_trip_tests"] == []
    assert "'create_note' made nothing" in bundle["notes"][0]


async def test_without_leave_to_update_only_the_round_trip_is_made() -> None:
    bundle = await evidence(Notes(), frozenset({"CREATE", "DELETE"}))
    assert (len(bundle["round_trip_tests"]), bundle["update_preservation_tests"]) == (1, [])


@pytest.mark.parametrize(
    ("modes", "expected"),
    [
        (("semantic",), ["crude"]),
        (("single",), ["single"]),
        (("single", "semantic"), ["crude", "single"]),
    ],
)
async def test_only_modes_that_were_seen_are_written_down(modes: tuple[str, ...], expected: list[str]) -> None:
    assert (await evidence(Notes(modes=modes), frozenset()))["endpoint_modes"] == expected


@pytest.mark.parametrize(
    ("families", "expected"),
    [
        (("create", "read", "update", "delete"), ["crude"]),
        (("read",), ["crude"]),
        (("create", "read", "update", "delete", "execute", "admin"), ["crude"]),
        (("read", "write"), ["semantic"]),
    ],
    ids=["without EXECUTE", "only READ", "one more", "another profile"],
)
async def test_families_that_nobody_needs_may_be_missing(families: tuple[str, ...], expected: list[str]) -> None:
    bundle = await evidence(Notes(modes=("semantic",), families=families), frozenset())
    assert bundle["endpoint_modes"] == expected


async def test_batches_and_searches_that_are_not_there_are_not_made_up() -> None:
    bundle = await evidence(Notes(batches=False, searches=False), frozenset())
    assert bundle["capabilities"]["batch_operations"] is False
    assert bundle["semantic_tests"] == []
    assert verdicts(bundle)["Batch operations are supported"] == "FAIL"


async def test_conversations_with_a_model_take_the_place_of_searches() -> None:
    cases = fine()["semantic_tests"]
    assert (await evidence(Notes(), frozenset(), transcripts=cases))["semantic_tests"] == cases


async def test_too_many_operations_are_told_of() -> None:
    bundle = await evidence(Notes(), frozenset(), most_operations=4)
    assert "operations were not looked at, because there are too many" in bundle["notes"][-1]


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ({"code": "VALIDATION_UNKNOWN_PARAM", "message": "x", "details": {"unknown_params": ["b", "c"]}}, {"b"}),
        ({"code": "VALIDATION_UNKNOWN_PARAM", "message": "x", "details": {"param_name": "a"}}, {"a"}),
        ({"code": "UNKNOWN_PARAMETER", "message": "Unknown 'b'. Known: a"}, {"b"}),
        ({"code": "VALIDATION_UNKNOWN_PARAM", "message": "No."}, set()),
        ({"code": "VALIDATION_INVALID_TYPE", "message": "a", "details": {"param_name": "a"}}, set()),
        (
            {
                "code": "VALIDATION_INVALID_TYPE",
                "message": "a",
                "details": {"problems": [{"code": "VALIDATION_UNKNOWN_PARAM", "param_name": "b"}, 3]},
            },
            {"b"},
        ),
        ("Unknown parameter 'a'", set()),
    ],
)
async def test_what_is_called_unknown_is_found_in_details_or_words(error: object, expected: set[str]) -> None:
    exchange = Exchange("mcp_aql_read", {}, None, envelope={"success": False, "error": error})
    assert told_unknown(exchange, {"a": 1, "b": 2}) == expected


async def test_the_demo_has_no_failure_and_no_warning_at_level_2(tmp_path: Path) -> None:
    path = tmp_path / "bookshop.db"
    shutil.copyfile(bookshop_file(), path)
    adapter = database_adapter(str(path), DatabaseSpec(), "bookshop")
    add_stocktaking(adapter, path)
    async with opened_probe(opener_of_adapter(adapter), Options(allowed=EVERYTHING)) as probe:
        bundle = await capture(probe)
    await adapter.close()
    report = judge_bundle(bundle, 2)
    assert verdicts(bundle) == {}
    assert (report.exit_code, report.reached, all(one.tests for one in report.categories)) == (0, 2, True)
    assert len(bundle["round_trip_tests"]) >= 8
    assert len(bundle["update_preservation_tests"]) >= 7
