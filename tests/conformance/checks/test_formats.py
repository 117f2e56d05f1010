"""The form of answers: each fault of form is found by its own check, and by no other of MUST level."""

from typing import Any

import pytest

from headgate.conformance.checks import ALL_CHECKS
from headgate.conformance.values import Check, Verdict
from tests.conformance.servers import opener_of_server, report_of, toy_server

pytestmark = pytest.mark.anyio

FORM = tuple(check for check in ALL_CHECKS if check.id.startswith(("transport.", "format.", "errors.")))
FINE: dict[str, Any] = {"success": True, "data": {"operations": [], "types": []}}
FAILED: dict[str, Any] = {"success": False, "error": {"code": "INTERNAL_ERROR", "message": "Internal error: 'busy'"}}


def without(envelope: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in envelope.items() if key != name}


def saying(message: object, code: object = "INTERNAL_ERROR") -> dict[str, Any]:
    return {"success": False, "error": {"code": code, "message": message}}


async def faults(answer: object, *checks: Check) -> list[str]:
    """The checks of MUST level that fail on a server whose every answer is this one."""
    report = await report_of(opener_of_server(toy_server(lambda _tool, _request: answer)), *(checks or FORM))
    return [result.check.id for result in report.results if result.verdict is Verdict.FAIL]


@pytest.mark.parametrize(
    "answer",
    [
        FINE,
        FAILED,
        {"success": True, "data": None},
        {**FINE, "_meta": {"request_id": "r1"}},
        {**FINE, "warnings": [{"code": "DEPRECATION_WARNING", "message": "Old", "severity": "low"}]},
        saying("Resource 'book' not found: 'x'", "NOT_FOUND_RESOURCE"),
        saying("This operation requires confirmation", "CONFIRMATION_REQUIRED"),
        saying("Parameter 'path' expected 'string', got 'integer'", "VALIDATION_INVALID_TYPE"),
    ],
)
async def test_an_answer_of_the_right_form_fails_nothing(answer: object) -> None:
    assert await faults(answer) == []


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ("no JSON at all", "format.json-object"),
        ("[1, 2]", "format.json-object"),
        (without(FINE, "success"), "format.success-flag"),
        ({**FINE, "success": "true"}, "format.success-flag"),
        ({**FINE, "success": 1}, "format.success-flag"),
        (without(FINE, "data"), "format.success-has-data"),
        ({**FINE, "error": None}, "format.success-without-error"),
        (without(FAILED, "error"), "format.failure-has-error"),
        ({**FAILED, "error": "it did not work"}, "format.failure-has-error"),
        ({**FAILED, "data": None}, "format.failure-without-data"),
        (saying("Internal", "internal_error"), "format.error-code"),
        (saying("Internal", 500), "format.error-code"),
        (saying("  "), "format.error-message"),
        (saying(None), "format.error-message"),
        ({**FINE, "requestId": "r1"}, "format.metadata-underscored"),
        ({**FINE, "warnings": "old"}, "format.warnings"),
        ({**FINE, "warnings": [{"message": "old"}]}, "format.warnings"),
        ({**FINE, "warnings": [{"code": "OLD", "message": "old", "severity": "dreadful"}]}, "format.warnings"),
        ({**FAILED, "warnings": []}, "format.warnings"),
        (saying("'NoneType' object is not subscriptable"), "errors.no-language-words"),
        (saying("TypeError: x is not a function"), "errors.no-language-words"),
        (saying("java.lang.NullPointerException"), "errors.no-language-words"),
        (saying("Cannot read properties of undefined (reading 'id')"), "errors.no-language-words"),
        (saying('Traceback (most recent call last):\n  File "/srv/app.py", line 3'), "errors.no-stack-traces"),
        (saying("boom\n    at Object.run (/srv/app/index.js:10:3)"), "errors.no-stack-traces"),
        (saying("failed in handler.go:120"), "errors.no-stack-traces"),
        (saying("cannot open /home/app/data/books.db"), "errors.no-internal-names"),
        (saying("C:\\Users\\app is locked"), "errors.no-internal-names"),
        (saying("<bookshop.Store object at 0x7f2a8c3d>"), "errors.no-internal-names"),
        (saying("Too many", "TOO_MANY_REQUESTS"), "errors.standard-codes"),
    ],
)
async def test_a_fault_of_form_is_found_by_the_check_for_it_alone(answer: object, found: str) -> None:
    assert await faults(answer) == [found]


async def test_what_the_request_itself_brought_is_no_leak() -> None:
    def answer(_tool: str, request: Any) -> object:
        name = (request.get("params") or {}).get("name", "")
        return saying(f"Resource 'file' not found: '{name}'", "NOT_FOUND_RESOURCE") if name else listing

    listing = {
        "success": True,
        "data": {"operations": [{"name": "/home/app/data"}, {"name": "TypeError"}], "types": []},
    }
    report = await report_of(opener_of_server(toy_server(answer)), *FORM)
    assert [one.check.id for one in report.results if one.verdict is Verdict.FAIL] == []


async def test_a_fault_inside_the_answer_to_a_batch_is_found() -> None:
    inner = {"index": 0, "operation": "x", "result": {"success": False, "error": "no"}}
    assert await faults({"success": True, "data": None, "results": [inner]}) == ["format.failure-has-error"]


async def test_an_exception_in_place_of_an_answer_is_found() -> None:
    def answer(_tool: str, request: Any) -> object:
        if "name" in (request.get("params") or {}):
            raise ValueError("boom")
        return {"success": True, "data": {"operations": [{"name": "list_books"}], "types": []}}

    report = await report_of(opener_of_server(toy_server(answer)), *FORM)
    assert [one.check.id for one in report.results if one.verdict is Verdict.FAIL] == ["format.errors-are-answers"]


def _operation(name: str, *required: str) -> dict[str, Any]:
    parameters = [{"name": one, "type": "string", "required": True, "description": one} for one in required]
    return {"name": name, "semantic_category": "READ", "endpoint": "read", "parameters": parameters}


@pytest.mark.parametrize(
    ("message", "code", "warned"),
    [
        ("Missing required parameter 'isbn'. Expected: string (its number)", "VALIDATION_MISSING_PARAM", []),
        ("Missing required parameter 'isbn'", "VALIDATION_MISSING_PARAM", ["errors.missing-param-words"]),
        (
            "Something is missing",
            "VALIDATION_MISSING_PARAM",
            ["errors.name-what-is-wrong", "errors.missing-param-words"],
        ),
        ("Unknown operation: 'get_book'", "NOT_FOUND_OPERATION", []),
        ("Unknown operation", "NOT_FOUND_OPERATION", ["errors.name-operation"]),
    ],
)
async def test_a_message_that_helps_nobody_is_a_warning(message: str, code: str, warned: list[str]) -> None:
    def answer(_tool: str, request: Any) -> object:
        if request.get("operation") == "get_book":
            return saying(message, code)
        params = request["params"]
        if "name" in params:
            return {"success": True, "data": {"operation": _operation("get_book", "isbn")}}
        return {"success": True, "data": {"operations": [_operation("get_book")], "types": []}}

    asking = next(check for check in ALL_CHECKS if check.id == "parameters.missing-refused")
    report = await report_of(opener_of_server(toy_server(answer)), asking, *FORM)
    found = [one.check.id for one in report.results if one.verdict is Verdict.WARN]
    assert found == warned
