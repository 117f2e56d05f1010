"""Failures: by status, with the upstream's own words in bounds; and no word that looks like a program's trace."""

import ast
import re
import socket
import ssl
from pathlib import Path

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.protocol.error_codes import REGISTRY, code_for_http_status
from headgate.protocol.errors import AqlError, ErrorDetail
from headgate.sources.http.failures import failure_of, named, trouble_of, without_secrets
from headgate.sources.http.messages import Answer
from tests.support import ROOT

_LEAK = re.compile(r"(?i)at\s+\S+|TypeError|/src/")


def failed(status: int, content: bytes = b"", secrets: frozenset[str] = frozenset(), **headers: str) -> ErrorDetail:
    lines = httpx2.Headers({name.replace("_", "-"): value for name, value in headers.items()})
    answer = Answer(status, lines, content, "https://api.example/books/7", secrets)
    return failure_of(answer, operation="get_book", resource="book", identifier=7).error


@pytest.mark.parametrize("status", [300, 400, 401, 403, 404, 405, 409, 412, 418, 422, 429, 500, 502, 503, 599])
def test_every_status_has_its_code_and_is_told(status: int) -> None:
    error = failed(status)
    assert error.code == code_for_http_status(status)
    assert error.code in REGISTRY
    assert error.details is not None
    assert error.details["http_status"] == status
    assert not _LEAK.search(error.message)


def test_the_words_are_those_of_the_registry() -> None:
    assert failed(404).message == "Resource 'book' not found: '7'"
    assert failed(404).details == {"resource_type": "book", "resource_id": 7, "http_status": 404}
    assert failed(409).message == "Resource 'book' already exists: '7'"
    assert failed(401).message.startswith("Permission denied: '")
    assert failed(503).message == "Internal error: 'the upstream failed (HTTP 503)'"
    assert failed(422).message == "The upstream refused the request of 'get_book' (HTTP 422)"


def test_nothing_is_said_of_what_nobody_identified() -> None:
    answer = Answer(404, httpx2.Headers(), b"", "https://api.example/")
    error = failure_of(answer, operation="get_book", resource="book").error
    assert error.message == "Resource 'book' not found"
    assert error.details == {"resource_type": "book", "http_status": 404}


def test_how_long_to_wait_is_told() -> None:
    error = failed(429, retry_after="7")
    assert error.message == "API rate limit exceeded: retry in 7 seconds"
    assert error.details == {"retry_after_seconds": 7.0, "http_status": 429}
    assert failed(429).details == {"http_status": 429}
    assert failed(429).message == "API rate limit exceeded"


WORDS: tuple[tuple[str, bytes, object], ...] = (
    ("application/json", b'{"error": {"message": "no such book"}}', {"error": {"message": "no such book"}}),
    ("application/problem+json", b'{"title": "No"}', {"title": "No"}),
    ("application/json", b'{"a": "' + b"x" * 5_000 + b'"}', '{"a": "' + "x" * 1_993),
    ("application/json", b"{broken", "{broken"),
    ("application/json", b"[" * 20 + b"]" * 20, "[" * 20 + "]" * 20),
    ("text/plain", b" plain words \n", "plain words"),
    ("text/plain", b"y" * 5_000, "y" * 2_000),
    ("text/html", b"<html><head><TITLE> Bad gateway </TITLE></head>" + b"x" * 5_000, "Bad gateway"),
    ("text/html", b"<html>nothing", None),
    ("image/png", b"\x89PNG", None),
    ("application/json", b"", None),
    ("text/plain", b"", None),
)


@pytest.mark.parametrize(("content_type", "content", "words"), WORDS, ids=[f"{a} {b[:9]!r}" for a, b, _ in WORDS])
def test_the_upstreams_own_words_stand_in_the_details(content_type: str, content: bytes, words: object) -> None:
    details = failed(400, content, content_type=content_type).details
    assert details is not None
    assert details.get("upstream_error") == words


@pytest.mark.parametrize("content_type", ["application/json", "text/plain"])
def test_a_secret_in_them_is_masked_even_where_they_are_cut(content_type: str) -> None:
    for padding in (0, 1_990, 1_995):
        content = b'"' + b"x" * padding + b'the-secret-key"' + b" " * 100
        error = failed(400, content, frozenset({"the-secret-key"}), content_type=content_type)
        assert "the-s" not in f"{error.wire()}"
    page = failed(400, b"<title>the-secret-key</title>", frozenset({"the-secret-key"}), content_type="text/html")
    assert "the-s" not in f"{page}"


@given(st.integers(300, 599), st.binary(max_size=300), st.sampled_from(["application/json", "text/html", "x/y", ""]))
def test_no_answer_makes_anything_but_an_error(status: int, content: bytes, content_type: str) -> None:
    assert failed(status, content, content_type=content_type).code == code_for_http_status(status)


def chained(outer: BaseException, *inner: BaseException) -> BaseException:
    """An exception that came of others, the last being the first."""
    previous = outer
    for cause in inner:
        previous.__context__ = cause
        previous = cause
    return outer


TROUBLES = (
    (chained(httpx2.ConnectError(""), OSError("All failed"), ConnectionRefusedError()), "TRANSPORT_CONNECTION_REFUSED"),
    (chained(httpx2.ConnectError(""), socket.gaierror()), "TRANSPORT_DNS_ERROR"),
    (chained(httpx2.ConnectError(""), ssl.SSLCertVerificationError()), "TRANSPORT_TLS_ERROR"),
    (chained(httpx2.ReadError(""), ssl.SSLError()), "TRANSPORT_TLS_ERROR"),
    (httpx2.ConnectTimeout(""), "TRANSPORT_TIMEOUT"),
    (httpx2.ReadTimeout(""), "TRANSPORT_TIMEOUT"),
    (TimeoutError(), "TRANSPORT_TIMEOUT"),
    (httpx2.ReadError(""), "TRANSPORT_NETWORK_ERROR"),
    (httpx2.RemoteProtocolError("at line 1"), "TRANSPORT_NETWORK_ERROR"),
    (
        chained(httpx2.ConnectError(""), ExceptionGroup("", [OSError(), ConnectionRefusedError()])),
        "TRANSPORT_CONNECTION_REFUSED",
    ),
)


@pytest.mark.parametrize(("error", "code"), TROUBLES, ids=range(len(TROUBLES)))
def test_what_lies_behind_an_exception_is_told(error: BaseException, code: str) -> None:
    found = trouble_of(error, "https://api.example").error
    assert (found.code, found.details) == (code, {"target": "https://api.example"})
    assert "'https://api.example'" in found.message
    assert not _LEAK.search(found.message)


def test_what_a_caller_was_busy_with_before_is_not_what_lies_behind() -> None:
    before = chained(AqlError("TRANSPORT_DNS_ERROR", "before"), socket.gaierror())
    assert trouble_of(chained(httpx2.ReadError(""), before), "x").error.code == "TRANSPORT_NETWORK_ERROR"
    waiting = chained(httpx2.ReadError(""), ssl.SSLWantReadError())
    assert trouble_of(waiting, "x").error.code == "TRANSPORT_NETWORK_ERROR"
    late = chained(httpx2.ConnectTimeout(""), ConnectionRefusedError())
    assert trouble_of(late, "x").error.code == "TRANSPORT_TIMEOUT"


def spoken(path: Path) -> list[str]:
    """The texts in a module that are no docstrings."""
    tree = ast.parse(path.read_text())
    silent = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in silent
    ]


@pytest.mark.parametrize("path", sorted((ROOT / "src/headgate/sources/http").glob("*.py")), ids=lambda path: path.stem)
def test_no_message_can_be_taken_for_a_trace(path: Path) -> None:
    assert [text for text in spoken(path) if re.search(r"(?i)at\s", text)] == []


def test_a_chain_that_bites_its_tail_has_an_end() -> None:
    error = httpx2.ReadError("")
    error.__cause__ = error
    assert trouble_of(error, "https://api.example").error.code == "TRANSPORT_NETWORK_ERROR"


def test_a_host_that_looks_like_a_trace_is_not_shown_in_a_message() -> None:
    assert "0x7f" not in trouble_of(httpx2.ReadError(""), "https://0x7f.1").error.message


def test_only_what_may_have_been_sent_may_have_had_an_effect() -> None:
    for error, unsure in (
        (httpx2.ReadError(""), True),
        (httpx2.ConnectError(""), False),
        (httpx2.ConnectTimeout(""), False),
    ):
        assert ("effect" in trouble_of(error, "https://x", unsure=True).error.message) is unsure


def test_an_error_can_be_named_and_cleaned_without_losing_anything() -> None:
    error = AqlError("PERMISSION_DENIED", "no key123", {"a": ["key123", 1]})
    assert named(error, "") is error
    assert without_secrets(error, frozenset()) is error
    assert named(AqlError("PERMISSION_DENIED", "no"), "shop").error.details == {"source": "shop"}
    cleaned = without_secrets(error, frozenset({"key123"})).error
    assert (cleaned.message, cleaned.details) == ("no ***", {"a": ["***", 1]})
    assert without_secrets(AqlError("PERMISSION_DENIED", "x"), frozenset({"key123"})).error.details is None
