"""Operations 8 and introspection 8.1.3, 8.2.3: codes for programs, words for people, and nothing of the inside."""

import json
import logging
import re
from typing import Any

import pytest

from headgate.protocol.error_codes import REGISTRY
from tests.spec.conftest import Serve
from tests.spec.test_5_answers import FAILURES
from tests.spec.wires import Aql, error_of

pytestmark = pytest.mark.anyio

SEVEN: dict[str, tuple[str, dict[str, Any]]] = {
    "VALIDATION_MISSING_PARAM": ("mcp_aql_read", {"operation": "get_text"}),
    "VALIDATION_INVALID_TYPE": ("mcp_aql_read", {"operation": "get_text", "params": {"text": 5}}),
    "NOT_FOUND_OPERATION": ("mcp_aql_read", {"operation": "create_widget"}),
    "NOT_FOUND_RESOURCE": ("mcp_aql_read", {"operation": "get_note", "params": {"note_id": "never"}}),
    "PERMISSION_DENIED": ("mcp_aql_read", {"operation": "get_vault", "params": {"key": "x"}}),
    "RATE_LIMIT_EXCEEDED": ("mcp_aql_read", {"operation": "get_feed"}),
    "INTERNAL_ERROR": ("mcp_aql_execute", {"operation": "execute_fault", "params": {"kind": "lookup"}}),
}


@pytest.mark.parametrize("code", SEVEN)
@pytest.mark.proves(
    "ops-8.1-missing-param-error-code",
    "ops-8.1-invalid-type-error-code",
    "ops-8.1-unknown-operation-error-code",
    "ops-8.1-missing-resource-error-code",
    "ops-8.1-permission-denied-error-code",
    "ops-8.1-rate-limit-error-code",
    "ops-8.1-internal-error-code",
    "ops-8.3-standard-error-codes-used",
)
async def test_each_kind_of_failure_has_its_standard_code(aql: Aql, code: str) -> None:
    error_of(await aql.call(*SEVEN[code]), code)


@pytest.mark.proves("ops-8.3-standard-error-codes-used")
async def test_a_failure_that_the_caller_can_repair_is_no_error_of_the_tool(aql: Aql) -> None:
    for code, asked in SEVEN.items():
        assert (await aql.result(*asked)).is_error == (code == "INTERNAL_ERROR")


@pytest.mark.parametrize(("tool", "asked"), FAILURES.values(), ids=FAILURES)
@pytest.mark.proves("ops-8.2-error-has-registry-code", "ops-8.2-errors-are-structured-objects")
async def test_every_code_is_in_the_registry_that_the_server_shows(aql: Aql, tool: str, asked: dict[str, Any]) -> None:
    code = error_of(await aql.call(tool, asked))["code"]
    assert re.fullmatch("[A-Z][A-Z0-9_]*", code)
    shown = (await aql.introspect("errors", code))["errors"]
    assert [row["code"] for row in shown] == [code]
    assert shown[0]["meaning"]


@pytest.mark.proves("ops-8.2-error-has-registry-code", "ops-8.3-standard-error-codes-used")
async def test_the_registry_holds_the_codes_of_the_specification(aql: Aql) -> None:
    shown = {row["code"] for row in (await aql.introspect("errors"))["errors"]}
    assert shown == set(REGISTRY)
    assert set(SEVEN) <= shown
    more = {
        *("VALIDATION_UNKNOWN_PARAM", "VALIDATION_UNKNOWN_FIELD", "VALIDATION_INVALID_ENCODING"),
        *("VALIDATION_PAYLOAD_TOO_LARGE", "VALIDATION_ENDPOINT_MISMATCH", "CONFLICT_ALREADY_EXISTS"),
        *("CONFLICT_VERSION_MISMATCH", "CONFIRMATION_REQUIRED"),
    }
    assert more <= shown


@pytest.mark.proves("ops-8.1-missing-resource-error-code", "ops-8.4-error-messages-specific")
async def test_a_missing_resource_is_named(aql: Aql, key: str) -> None:
    error = error_of(await aql.read("get_note", note_id=key), "NOT_FOUND_RESOURCE")
    assert error["details"]["resource_type"] == "note"
    assert error["details"]["resource_id"] == key
    assert f"'{key}'" in error["message"]
    assert "'note'" in error["message"]


@pytest.mark.proves("ops-8.1-permission-denied-error-code", "ops-8.4-error-messages-specific")
async def test_a_denial_says_why_and_what_would_be_needed(aql: Aql) -> None:
    error = error_of(await aql.read("get_vault", key="x"), "PERMISSION_DENIED")
    assert error["details"]["required_scope"] == "vault:read"
    assert "only the owner" in error["message"]


@pytest.mark.proves("ops-8.1-rate-limit-error-code", "ops-8.4-error-messages-actionable")
async def test_a_rate_limit_says_when_to_try_again(aql: Aql) -> None:
    for _ in range(2):  # the handler says so; the second time, the server remembers
        error = error_of(await aql.read("get_feed"), "RATE_LIMIT_EXCEEDED")
        seconds = error["details"]["retry_after_seconds"]
        assert 0 < seconds <= 30
        assert float(error["message"].removesuffix(" seconds").split()[-1]) == seconds


@pytest.mark.proves("intro-8.2.3-missing-param-message-format", "intro-8.2.3-error-messages-describe-fault")
async def test_the_message_for_a_missing_parameter_has_the_form_recommended(aql: Aql) -> None:
    error = error_of(await aql.read("get_note"), "VALIDATION_MISSING_PARAM")
    assert error["message"] == "Missing required parameter 'note_id'. Expected: string (Which note)"


@pytest.mark.parametrize(
    ("operation", "params", "says"),
    [
        ("get_text", {"text": 5}, ["'text'", "'string'", "'integer'"]),
        ("get_sample", {"key": "k", "size": "medium"}, ["'size'", "'small'", "'large'"]),
        ("get_sample", {"key": "k", "count": 11}, ["'count'", "10 or less"]),
        ("get_sample", {"key": "k", "text": "a"}, ["'text'", "2 or more characters"]),
        ("get_sample", {"key": "k", "code": "x"}, ["'code'", "'^[A-Z]{3}-[0-9]+$'"]),
        ("get_sample", {"key": "k", "day": "soon"}, ["'day'", "ISO 8601", "2026-02-04"]),
        ("get_sample", {"key": "k", "user_nam": "x"}, ["'user_nam'", "'get_sample'", "Did you mean 'user_name'?"]),
        ("get_text", {"txt": "x"}, ["'text'"]),
        ("get_notes", {}, ["'get_notes'", "Did you mean", "'get_note'"]),
        ("delete_note", {"note_id": "n"}, ["'delete_note'", "mcp_aql_delete", "mcp_aql_read"]),
        ("introspect", {"query": "operation"}, ["'query'", "'operations'", "'types'"]),
    ],
    ids=str,
)
@pytest.mark.proves(
    "ops-8.4-error-messages-actionable",
    "ops-8.4-error-messages-specific",
    "intro-8.2.3-error-messages-describe-fault",
    "intro-8.2.3-error-messages-actionable",
    "intro-8.2.3-error-messages-name-operation",
)
async def test_a_message_says_what_is_wrong_where_and_what_to_do_instead(
    aql: Aql, operation: str, params: dict[str, Any], says: list[str]
) -> None:
    message = error_of(await aql.read(operation, **params))["message"]
    assert [words for words in says if words not in message] == []


@pytest.mark.proves("intro-8.2.3-error-messages-name-operation", "ops-8.4-error-messages-actionable")
async def test_an_unknown_operation_is_answered_with_the_nearest_or_the_way_to_find_one(aql: Aql) -> None:
    near = error_of(await aql.read("serch_notes"), "NOT_FOUND_OPERATION")
    assert "'search_notes'" in near["message"]
    assert "search_notes" in near["details"]["available"]
    far = error_of(await aql.read("xyzzy"), "NOT_FOUND_OPERATION")
    assert "introspect" in far["message"]


FAULTS = ["arithmetic", "lookup", "path", "class", "group", "answer"]
LEAKS = re.compile(
    r"Error\b|Exception|Traceback|line \d+|\.py\b|/\w+/|0x[0-9a-f]{4,}|<[\w.]+ object|no_such_key|InnerMachine|"
    r"division|headgate\.|pydantic|builtins|errno|dict|NoneType",
    re.IGNORECASE,
)


@pytest.mark.parametrize("kind", FAULTS)
@pytest.mark.proves(
    "ops-8.1-internal-error-code",
    "intro-8.1.3-no-language-errors-in-messages",
    "intro-8.1.3-no-stack-traces-in-messages",
    "intro-8.1.3-no-internal-names-in-messages",
    "ops-8.4-error-messages-safe",
)
async def test_a_broken_handler_shows_nothing_of_its_inside(aql: Aql, kind: str) -> None:
    error = error_of(await aql.execute("execute_fault", kind=kind), "INTERNAL_ERROR")
    message = error["message"].removeprefix("Internal error: ")
    assert LEAKS.findall(message) == []
    assert set(error["details"]) == {"request_id", "session_id"}
    assert LEAKS.findall(json.dumps(error["details"])) == []


@pytest.mark.parametrize(("tool", "asked"), FAILURES.values(), ids=FAILURES)
@pytest.mark.proves(
    "intro-8.1.3-no-language-errors-in-messages",
    "intro-8.1.3-no-stack-traces-in-messages",
    "intro-8.1.3-no-internal-names-in-messages",
    "ops-8.4-error-messages-safe",
)
async def test_no_message_looks_like_a_leak_to_the_official_check(aql: Aql, tool: str, asked: dict[str, Any]) -> None:
    message = error_of(await aql.call(tool, asked))["message"]
    assert not re.search(r"at\s+\S+|TypeError|/src/|Traceback|\.py\b", message, re.IGNORECASE), message


@pytest.mark.proves("ops-8.1-internal-error-code")
async def test_a_broken_handler_can_be_found_in_the_log_by_its_request_id(
    serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    async with serve() as aql:
        with caplog.at_level(logging.ERROR, "headgate"):
            error = error_of(await aql.execute("execute_fault", kind="arithmetic"), "INTERNAL_ERROR")
    entry = next(record for record in caplog.messages if error["details"]["request_id"] in record)
    assert "ZeroDivisionError" in entry


@pytest.mark.proves("ops-8.1-internal-error-code", "ops-8.4-error-messages-safe")
async def test_words_that_an_author_wrote_for_callers_are_passed_on(aql: Aql) -> None:
    error = error_of(await aql.execute("execute_fault", kind="upstream"), "INTERNAL_ERROR")
    assert error["message"] == "Internal error: 'the store is closed for repair'"


SECRET = "correct-horse-battery"  # noqa: S105


@pytest.mark.parametrize(
    "params",
    [
        {"fault": "refuse"},
        {"fault": "break"},
        {"fault": "melt"},
        {"foreign": SECRET},
        {"account_id": 5},
    ],
    ids=["handler refuses", "handler breaks", "constraint", "unknown", "type"],
)
@pytest.mark.proves("ops-8.4-error-messages-safe")
async def test_a_secret_of_the_request_is_never_in_the_answer(aql: Aql, key: str, params: dict[str, Any]) -> None:
    answer = await aql.create("register_account", **{"account_id": key, "password": SECRET, **params})
    error_of(answer)
    assert SECRET not in json.dumps(answer)


@pytest.mark.parametrize("fault", ["refuse", "break"])
@pytest.mark.proves("ops-8.4-error-messages-safe")
async def test_a_secret_of_the_request_is_never_in_the_log_or_the_events(
    serve: Serve, caplog: pytest.LogCaptureFixture, fault: str
) -> None:
    heard: list[object] = []
    async with serve(listeners=[heard.append]) as aql:
        with caplog.at_level(logging.DEBUG, "headgate"):
            error_of(await aql.create("register_account", account_id="a", password=SECRET, fault=fault))
    assert len(heard) > 3
    assert SECRET not in repr(heard)
    assert SECRET not in caplog.text


@pytest.mark.parametrize(
    "name", ["<script>", "it's", 'say "hi"', "../../etc/passwd", "x" * 5000, "at /src/x.py", "a\nb", "\u202e"]
)
@pytest.mark.proves("ops-8.4-error-messages-safe", "intro-8.1.3-no-internal-names-in-messages")
async def test_what_a_caller_makes_up_is_not_repeated_in_a_message_if_it_is_odd(aql: Aql, name: str) -> None:
    for answer in (
        await aql.read(name),
        await aql.read("get_text", text="x", **{name: 1}),
        await aql.read("get_note", note_id=name),
    ):
        message = error_of(answer)["message"]
        assert name not in message
        assert len(message) < 500
