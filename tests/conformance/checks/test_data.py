"""Encoding, limits, dates and numbers: a server that does it right, and one fault at a time."""

from typing import Any

import pytest

from headgate.conformance.checks import ALL_CHECKS
from tests.conformance.checks.shelf import LIMITS, Json, Shelf, found_wrong, results_on, verdicts
from tests.conformance.servers import opener_of_server, report_of, toy_server

pytestmark = pytest.mark.anyio

OF_LIMITS = {
    "max_nesting_depth": "data.depth-limit",
    "max_array_elements": "data.array-limit",
    "max_string_length": "data.string-limit",
    "max_request_size": "data.request-limit",
}


async def test_a_server_that_minds_its_data_passes() -> None:
    """Every check that applies holds."""
    results = verdicts(await results_on(Shelf(), "data."))
    assert results.pop("data.base64") == "SKIP"
    assert set(results.values()) == {"PASS"}


async def test_text_that_is_none_must_be_refused() -> None:
    """And null characters should."""
    results = await results_on(Shelf(checks_encoding=False), "data.")
    assert found_wrong(results) == {"data.encoding-refused", "data.null-bytes"}
    assert verdicts(results)["data.encoding-refused"] == "FAIL"
    assert verdicts(results)["data.encoding-code"] == "SKIP"


@pytest.mark.parametrize("limit", OF_LIMITS)
async def test_a_limit_that_is_not_enforced_is_found_by_its_own_check(limit: str) -> None:
    """And by no other."""
    results = await results_on(Shelf(limits={**LIMITS, limit: 10**9}), "data.")
    assert {id_ for id_, verdict in verdicts(results).items() if verdict == "FAIL"} == {OF_LIMITS[limit]}


async def test_where_no_limits_are_told_the_widest_are_tried() -> None:
    """Anything narrower is the server's own business."""
    widest = {"max_nesting_depth": 64, "max_array_elements": 100_000}
    sizes = dict.fromkeys(("max_string_length", "max_request_size"), 10 * 1024 * 1024)
    results = await results_on(Shelf(told_limits=None, limits={**widest, **sizes}), "data.")
    assert not found_wrong(results)
    wider = Shelf(told_limits=None, limits={**widest, **sizes, "max_nesting_depth": 80})
    assert found_wrong(await results_on(wider, "data.depth")) == {"data.depth-limit"}


async def test_limits_beyond_what_can_be_sent_are_not_tried() -> None:
    """That is said."""
    results = await results_on(Shelf(told_limits=dict.fromkeys(LIMITS, 10**12)), "data.request-limit")
    assert verdicts(results) == {"data.request-limit": "SKIP"}
    assert "too many to be tried" in results["data.request-limit"].reason


def _coded(code: str) -> Shelf:
    return Shelf(refuse=lambda was, error: {"success": False, "error": error | {"code": code if "PAY" in was else was}})


async def test_another_code_for_what_is_too_large_is_found() -> None:
    """The refusal itself is right."""
    results = await results_on(_coded("VALIDATION_INVALID_VALUE"), "data.")
    assert found_wrong(results) == {"data.limit-code"}
    assert len(results["data.limit-code"].broken) == len(OF_LIMITS)


async def test_another_code_for_what_is_no_text_is_found() -> None:
    """The refusal itself is right."""

    def refuse(code: str, error: Json) -> Json:
        told = "VALIDATION_INVALID_TYPE" if code == "VALIDATION_INVALID_ENCODING" else code
        return {"success": False, "error": error | {"code": told}}

    assert found_wrong(await results_on(Shelf(refuse=refuse), "data.")) == {"data.encoding-code"}


async def test_errors_that_do_not_tell_the_limit_are_found() -> None:
    """A client cannot keep to what it is not told."""

    def refuse(code: str, error: Json) -> Json:
        return {"success": False, "error": {"code": code, "message": error["message"]}}

    assert found_wrong(await results_on(Shelf(refuse=refuse), "data.")) == {"data.limit-details"}


async def test_what_is_dropped_on_the_way_proves_nothing() -> None:
    """A server that never sees what stands beside the parameters is asked within them."""
    results = await results_on(Shelf(takes_top_level=False), "data.")
    assert not found_wrong(results)
    lax = Shelf(takes_top_level=False, limits={**LIMITS, "max_array_elements": 10**9})
    assert found_wrong(await results_on(lax, "data.")) == {"data.array-limit"}


async def test_a_server_that_refuses_metadata_everywhere_is_asked_with_a_wrong_type() -> None:
    """It is refused, so nothing was taken; with which code shows nothing."""
    shelf = Shelf()
    inner = shelf.answer

    def answer(tool: str, request: Any) -> object:
        marked = any(key.startswith("_") for key in (*request, *(request.get("params") or {})))
        refused = {"success": False, "error": {"code": "VALIDATION_UNKNOWN_PARAM", "message": "No metadata"}}
        return refused if marked else inner(tool, request)

    chosen = [check for check in ALL_CHECKS if check.id in (*OF_LIMITS.values(), "data.limit-code")]
    report = await report_of(opener_of_server(toy_server(answer)), *chosen)
    told = {result.check.id: result.verdict.value for result in report.results}
    assert set(told.values()) == {"PASS"}
    code = next(result for result in report.results if result.check.id == "data.limit-code")
    assert [finding.subject for finding in code.findings] == ["max_string_length"]


async def test_a_server_that_breaks_on_what_is_too_large_is_heard_no_worse() -> None:
    """An error of JSON-RPC is a refusal too, and leaves no trace in the record of the run."""
    shelf = Shelf()
    inner = shelf.answer

    def answer(tool: str, request: Any) -> object:
        if len(str(request)) > 50_000:
            raise ValueError("too much")
        return inner(tool, request)

    chosen = [check for check in ALL_CHECKS if check.id.startswith(("data.", "format.errors", "transport."))]
    report = await report_of(opener_of_server(toy_server(answer)), *chosen)
    assert not [result.check.id for result in report.results if result.verdict.value == "FAIL"]


def _holding(**members: Any) -> Shelf:
    return Shelf(after=_adding(members))


def _adding(members: Json) -> Any:
    def after(_params: Json, answer: Json) -> Json:
        for item in answer["data"].get("items", []):
            item.update(members)
        return answer

    return after


@pytest.mark.parametrize(
    ("members", "check"),
    [
        ({"created_at": "02/04/2026"}, "data.dates"),
        ({"due_date": "4 March 2026"}, "data.dates"),
        ({"timestamp": "2026-02-04 10:30:00"}, "data.dates"),
        ({"updated_at": 1_770_000_000}, "data.dates"),
        ({"createdAt": "2026-13-41T10:30:00Z"}, "data.dates"),
        ({"created_at": "2026-02-04T10:30:00+05:30"}, "data.utc"),
        ({"created_at": "2026-02-04T10:30:00"}, "data.utc"),
        ({"serial": 2**53}, "data.safe-integers"),
        ({"file_encoding": "base64", "file_content": "SGVsbG8", "file_mime_type": "text/plain"}, "data.base64"),
        ({"encoding": "base64", "content": "not base64!", "mime_type": "text/plain"}, "data.base64"),
        ({"file_encoding": "base64", "file_content": "SGVsbG8="}, "data.base64"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else value,
)
async def test_what_answers_hold_is_looked_at(members: Json, check: str) -> None:
    """Each fault by its own check alone."""
    assert found_wrong(await results_on(_holding(**members), "data.")) == {check}


@pytest.mark.parametrize(
    "members",
    [
        {"located_at": "12 Main Street", "depends_on": "task_1", "turned_on": True, "date": None},
        {"created_at": "2026-02-04T10:30:00.123456Z", "birth_date": "2026-02-04", "opened_on": "20260204"},
        {"file_encoding": "base64", "file_content": "SGVsbG8=", "file_mime_type": "text/plain"},
        {"encoding": "utf-8", "content": "text", "serial": str(2**60), "big": 2**53 - 1},
    ],
    ids=["other things", "dates", "base64", "texts"],
)
async def test_what_answers_hold_may_be_otherwise(members: Json) -> None:
    """What only looks alike is no fault."""
    assert not found_wrong(await results_on(_holding(**members), "data."))


async def test_dates_are_also_known_by_what_is_declared() -> None:
    """A parameter of the same name with the format of a date."""

    def declare(told: dict[str, Json]) -> None:
        row = {"name": "published", "type": "string", "format": "date", "required": False}
        told["list_tales"]["parameters"] = [*told["list_tales"]["parameters"], row]

    shelf = Shelf(declare=declare, after=_adding({"published": "Feb 4, 2026"}))
    results = await results_on(shelf, "data.dates")
    assert found_wrong(results) == {"data.dates"}
    assert "'published' is 'Feb 4, 2026'" in results["data.dates"].broken[0].words
