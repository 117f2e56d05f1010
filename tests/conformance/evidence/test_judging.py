"""Bundles of evidence are judged by the rules of the specification's own runner."""

from typing import Any

import pytest

from headgate.conformance.evidence.bundle import BundleError
from headgate.conformance.evidence.judging import CATEGORIES, BundleReport, judge_bundle
from headgate.conformance.values import Verdict
from tests.conformance.evidence.bundles import dropped, fine, put, spoiled

INTROSPECTION, PARAMETERS, ERRORS, TRIPS, FEATURES, CONSTRAINTS, SEMANTIC = (one.name for one in CATEGORIES)
OPERATIONS, TYPES, DETAILS, COMPLETE = (
    "Operations query is implemented",
    "Types query is implemented",
    "Operation detail payloads validate",
    "Introspection completeness matches accepted parameters",
)
REQUIRED, UNKNOWN, DEFAULTS, SNAKE = (
    "Required parameters are enforced",
    "Unknown parameters are handled explicitly",
    "Documented defaults are observable",
    "Canonical parameter names use snake_case",
)
FORM, LEAKS, ACTIONABLE = (
    "Error responses match the discriminated union schema",
    "Error messages do not leak implementation internals",
    "Error messages remain actionable",
)
CREATED, UPDATED = "Create-read cycles preserve submitted fields", "Updates preserve non-targeted fields"
MODES, FIELDS, BATCHES = (
    "Both endpoint modes are documented",
    "Field selection is supported",
    "Batch operations are supported",
)
ENFORCED, DISCLOSED = (
    "Constraints are enforced with structured errors",
    "Constraints are disclosed in introspection guidance",
)
LISTED = "introspection/operations_list"
LAMP = "introspection/operation_details/2"
MISSING = "parameter_tests/missing_required/1"
UNKNOWN_CASE = "parameter_tests/unknown_parameter/0/response"
DEFAULT = "parameter_tests/optional_defaults/0"
ERROR = "error_tests/0/response/error"
MESSAGE = f"{ERROR}/message"
TRIP = "round_trip_tests/0/read_response/data"


def wrong_in(report: BundleReport) -> dict[str, str]:
    return {
        test.name: test.result.value
        for category in report.categories
        for test in category.tests
        if test.result is not Verdict.PASS
    }


def test_a_bundle_in_which_nothing_is_wrong_passes_every_rule() -> None:
    report = judge_bundle(fine(), 2)
    assert [(one.name, one.required, len(one.tests)) for one in report.categories] == [
        (INTROSPECTION, True, 4),
        (PARAMETERS, True, 4),
        (ERRORS, True, 3),
        (TRIPS, True, 2),
        (FEATURES, False, 3),
        (CONSTRAINTS, False, 2),
        (SEMANTIC, False, 1),
    ]
    assert (wrong_in(report), report.exit_code, report.reached) == ({}, 0, 2)
    assert all(test.detail for one in report.categories for test in one.tests)


@pytest.mark.parametrize(
    ("spoil", "expected"),
    [
        pytest.param(put(f"{LISTED}/success", False), {OPERATIONS: "FAIL"}, id="the list of operations failed"),
        pytest.param(dropped(LISTED), {OPERATIONS: "FAIL"}, id="there is no list of operations"),
        pytest.param(dropped(f"{LISTED}/data"), {OPERATIONS: "FAIL"}, id="the list has no data"),
        pytest.param(put(f"{LISTED}/data/operations/0/extra", 1), {OPERATIONS: "FAIL"}, id="an entry has more"),
        pytest.param(dropped(f"{LISTED}/data/operations/0/description"), {OPERATIONS: "FAIL"}, id="and one has less"),
        pytest.param(put(f"{LISTED}/data/_protocol/version", "one"), {OPERATIONS: "FAIL"}, id="no such version"),
        pytest.param(dropped(f"{LISTED}/data/_protocol"), {}, id="_protocol may be missing"),
        pytest.param(put("introspection/types_list", None), {TYPES: "FAIL"}, id="there is no list of types"),
        pytest.param(
            put("introspection/types_list/data/types/0/kind", "class"), {TYPES: "FAIL"}, id="a kind that is none"
        ),
        pytest.param(put(f"{LAMP}/semantic_category", "WRITE"), {DETAILS: "FAIL"}, id="a category that is none"),
        pytest.param(dropped(f"{LAMP}/mcpTool"), {DETAILS: "FAIL"}, id="details without their tool"),
        pytest.param(
            dropped("accepted_parameters/create_lamp/1"), {COMPLETE: "WARN"}, id="documented and not seen accepted"
        ),
        pytest.param(dropped("accepted_parameters/create_lamp"), {COMPLETE: "WARN"}, id="nothing was seen accepted"),
        pytest.param(
            put("accepted_parameters/create_lamp", ["room", "watts", "secret"]),
            {COMPLETE: "FAIL"},
            id="accepted and not documented",
        ),
        pytest.param(
            put("accepted_parameters/create_lamp", ["secret"]), {COMPLETE: "FAIL"}, id="both: the failure counts"
        ),
        pytest.param(dropped(MISSING), {REQUIRED: "FAIL"}, id="a required parameter without a case"),
        pytest.param(put(f"{MISSING}/response/success", True), {REQUIRED: "FAIL"}, id="it works without it"),
        pytest.param(
            put(f"{MISSING}/response/error/message", "Give all."), {REQUIRED: "FAIL"}, id="it is not named as missing"
        ),
        pytest.param(put(f"{MISSING}/response/error", "room"), {REQUIRED: "FAIL"}, id="the error is a bare text"),
        pytest.param(put(f"{UNKNOWN_CASE}/success", True), {UNKNOWN: "FAIL"}, id="an unknown parameter is ignored"),
        pytest.param(put(f"{UNKNOWN_CASE}/error/message", "No."), {UNKNOWN: "FAIL"}, id="refused without its name"),
        pytest.param(
            put("parameter_tests/unknown_parameter/1/response/warnings", []), {UNKNOWN: "FAIL"}, id="an empty warning"
        ),
        pytest.param(put("parameter_tests/unknown_parameter", []), {}, id="no case of an unknown one is no failure"),
        pytest.param(put(f"{DEFAULT}/expected_value", 25), {DEFAULTS: "FAIL"}, id="another default"),
        pytest.param(put(f"{DEFAULT}/expected_value", "20"), {DEFAULTS: "FAIL"}, id="a default of another type"),
        pytest.param(put(f"{DEFAULT}/expected_value", 20.0), {}, id="the same number"),
        pytest.param(put(f"{DEFAULT}/expected_value_path", "data.first"), {DEFAULTS: "FAIL"}, id="nothing there"),
        pytest.param(
            put(f"{DEFAULT}/response/data/pageInfo/pageSize", True), {DEFAULTS: "FAIL"}, id="true is not a number"
        ),
        pytest.param(dropped(f"{ERROR}/code"), {FORM: "FAIL"}, id="an error without a code"),
        pytest.param(put(f"{ERROR}/code", "tooBright"), {FORM: "FAIL"}, id="a code in small letters"),
        pytest.param(put("error_tests/0/response/data", None), {FORM: "FAIL"}, id="a failure with data"),
        pytest.param(dropped("error_tests/0/response"), {FORM: "FAIL"}, id="an error without an answer"),
        pytest.param(put(MESSAGE, "TypeError: 'watts' 99"), {LEAKS: "FAIL"}, id="a word of a language"),
        pytest.param(put(MESSAGE, "'watts' 99 in /src/lamp"), {LEAKS: "FAIL"}, id="a path"),
        pytest.param(put(MESSAGE, "'watts' 99 in lamp.js:17"), {LEAKS: "FAIL"}, id="a line of a file"),
        pytest.param(put(MESSAGE, "that watts 99"), {LEAKS: "FAIL"}, id="a word that ends like a trace"),
        pytest.param(put(MESSAGE, "watts 99 of what"), {}, id="such a word in the end"),
        pytest.param(put(MESSAGE, "'watts' is too much"), {ACTIONABLE: "WARN"}, id="a message that lacks something"),
        pytest.param(put(f"{TRIP}/room", "cellar"), {CREATED: "FAIL"}, id="a changed field"),
        pytest.param(dropped(f"{TRIP}/room"), {CREATED: "FAIL"}, id="a lost field"),
        pytest.param(put(f"{TRIP}/tags", []), {CREATED: "FAIL"}, id="a lost element"),
        pytest.param(put(f"{TRIP}/size", {"cm": 30, "in": 12}), {CREATED: "FAIL"}, id="a grown object"),
        pytest.param(
            put("update_preservation_tests/0/read_response/data/room", None), {UPDATED: "FAIL"}, id="an update too far"
        ),
        pytest.param(dropped("update_preservation_tests"), {}, id="no case of an update is no failure"),
        pytest.param(put("endpoint_modes", ["crude"]), {MODES: "FAIL"}, id="one mode"),
        pytest.param(put("endpoint_modes", ["semantic", "single"]), {MODES: "FAIL"}, id="another profile"),
        pytest.param(put("capabilities/field_selection", False), {FIELDS: "FAIL"}, id="no fields"),
        pytest.param(put("capabilities/batch_operations", 0), {BATCHES: "FAIL"}, id="no batches"),
        pytest.param(dropped("batch_example"), {BATCHES: "FAIL"}, id="no batch was seen"),
        pytest.param(dropped("batch_example/data"), {BATCHES: "FAIL"}, id="a batch in a wrong form"),
        pytest.param(
            put("batch_example/results/0/result/success", "yes"), {BATCHES: "FAIL"}, id="a wrong result in a batch"
        ),
        pytest.param(put("constraint_tests/0/response/success", True), {ENFORCED: "FAIL"}, id="not enforced"),
        pytest.param(dropped("constraint_tests/0/response/error/message"), {ENFORCED: "FAIL"}, id="not structured"),
        pytest.param(put("constraint_tests/0/documented", "yes"), {DISCLOSED: "WARN"}, id="not documented"),
    ],
)  # fmt: skip
def test_each_rule_finds_what_it_is_for_and_no_other_does(spoil: Any, expected: dict[str, str]) -> None:
    assert wrong_in(judge_bundle(spoiled(spoil), 2)) == expected


def test_a_name_that_is_not_in_snake_case_is_found() -> None:
    bundle = spoiled(put(f"{LAMP}/parameters/1/name", "maxWatts"), put("accepted_parameters/create_lamp/1", "maxWatts"))
    assert wrong_in(judge_bundle(bundle, 2)) == {SNAKE: "FAIL"}


def test_only_the_first_case_of_a_required_parameter_counts() -> None:
    bundle = fine()
    cases = bundle["parameter_tests"]["missing_required"]
    cases.insert(0, {"operation": "create_lamp", "parameter": "room", "response": {"success": True, "data": {}}})
    assert wrong_in(judge_bundle(bundle)) == {REQUIRED: "FAIL"}


@pytest.mark.parametrize(
    ("spoil", "code", "reached", "results"),
    [
        pytest.param(put(f"{ERROR}/code", "x"), 1, 0, {ERRORS: "FAIL"}, id="a required category failed"),
        pytest.param(put(MESSAGE, "No."), 0, 2, {ERRORS: "WARN"}, id="a warning in a required category costs nothing"),
        pytest.param(put("endpoint_modes", []), 2, 2, {FEATURES: "WARN"}, id="a failure elsewhere is a warning"),
        pytest.param(put("constraint_tests/0/documented", None), 2, 2, {CONSTRAINTS: "WARN"}, id="as is a warning"),
        pytest.param(put("semantic_tests", []), 0, 2, {SEMANTIC: "SKIP"}, id="without conversations nothing is said"),
    ],
)
def test_categories_decide_the_exit_code(spoil: Any, code: int, reached: int, results: dict[str, str]) -> None:
    report = judge_bundle(spoiled(spoil), 2)
    assert (report.exit_code, report.reached) == (code, reached)
    assert {one.name: one.result.value for one in report.categories if one.result is not Verdict.PASS} == results


def test_level_1_looks_at_the_required_categories_alone() -> None:
    report = judge_bundle(spoiled(put("endpoint_modes", []), dropped("batch_example")), 1)
    assert [one.name for one in report.categories] == [INTROSPECTION, PARAMETERS, ERRORS, TRIPS]
    assert (report.exit_code, report.reached) == (0, 1)


def test_tier_1_leaves_meaning_out() -> None:
    report = judge_bundle(spoiled(put("semantic_tests/0/tool_calls", [])), 2, "1")
    last = report.categories[-1]
    assert (last.result, [(test.name, test.result) for test in last.tests]) == (
        Verdict.SKIP,
        [("Semantic evaluation skipped", Verdict.SKIP)],
    )
    assert report.exit_code == 0


@pytest.mark.parametrize("tier", ["2", "both"])
def test_the_other_tiers_look_at_it(tier: Any) -> None:
    report = judge_bundle(spoiled(put("semantic_tests/0/tool_calls", [])), 2, tier)
    assert (report.categories[-1].result, report.exit_code) == (Verdict.WARN, 2)


def test_one_category_has_an_exit_code_of_its_own_and_the_summary_stays_whole() -> None:
    bundle = spoiled(put(f"{ERROR}/code", "x"), put("endpoint_modes", []))
    codes = {name: judge_bundle(bundle, 2, category=name).exit_code for name in (ERRORS, FEATURES, TRIPS)}
    assert codes == {ERRORS: 1, FEATURES: 2, TRIPS: 0}
    shown = judge_bundle(bundle, 2, category=TRIPS).wire()
    assert [one["name"] for one in shown["categories"]] == [TRIPS]
    assert (shown["summary"]["failed"], shown["conformanceLevel"]) == (2, 0)


def test_a_category_of_level_2_shows_nothing_for_level_1() -> None:
    report = judge_bundle(fine(), 1, category=SEMANTIC)
    assert (report.categories, report.exit_code) == ((), 0)


def test_a_category_that_does_not_exist_is_told_with_the_nearest() -> None:
    with pytest.raises(BundleError, match=r"no category 'Error Qualities'\. Did you mean 'Error Quality'"):
        judge_bundle(fine(), 1, category="Error Qualities")
    with pytest.raises(BundleError, match="there are Introspection Fidelity, Parameter Handling"):
        judge_bundle(fine(), 1, category="?")


def test_the_report_has_the_members_of_the_official_one() -> None:
    wire = judge_bundle(spoiled(put(MESSAGE, "No.")), 1).wire()
    categories = wire.pop("categories")
    assert wire == {
        "implementation": "lamps",
        "version": "2.1.0",
        "specVersion": "1.0.0-draft",
        "requestedLevel": 1,
        "conformanceLevel": 1,
        "summary": {"total": 13, "passed": 12, "warned": 1, "failed": 0, "skipped": 0},
        "exitCode": 0,
    }
    assert {key: categories[2][key] for key in ("name", "required", "result")} == {
        "name": ERRORS,
        "required": True,
        "result": "WARN",
    }
    assert categories[2]["tests"][2] == {
        "name": ACTIONABLE,
        "result": "WARN",
        "detail": "'too bright' does not mention watts, 99",
    }


def test_a_message_that_leaks_is_shown_with_what_it_was_recognised_by() -> None:
    bundle = fine()
    put(MESSAGE, "the 'watts' 99 in lamp.js:17")(bundle)
    (detail,) = (test.detail for one in judge_bundle(bundle).judged for test in one.tests if test.name == LEAKS)
    assert "says 'the 'watts' 99 in lamp.js:17': '.js:1' reads like the inside of a program" in detail
