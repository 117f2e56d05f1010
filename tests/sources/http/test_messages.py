"""Requests that could become two cannot be built."""

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.protocol.errors import AqlError
from headgate.sources.http.messages import Answer, OutRequest, is_field_value
from tests.sources.http.upstream import always, reply, running, sending

URL = "https://api.example/"

HEADERS = (
    *(("X-A", "a\r\nX-B: b"), ("X-A", "a\nb"), ("X-A", "a\rb"), ("X-A", "a\x00b"), ("X-A", " a"), ("X-A", "a\t")),
    *(("X-A\r\nX-B", "b"), ("X A", "b"), ("", "b"), ("X-A:", "b"), ("X-Ä", "b"), ("X-A", "\ud800"), ("X-A", "\x7f")),
    *(("Host", "other.example"), ("content-length", "5"), ("Transfer-Encoding", "chunked"), ("Connection", "close")),
    *(("Upgrade", "h2c"), ("TE", "trailers"), ("Expect", "100-continue"), ("Proxy-Authorization", "x")),
    ("Accept-Encoding", "br"),
)


@pytest.mark.parametrize("header", HEADERS, ids=repr)
def test_a_header_that_could_be_another_is_no_header(header: tuple[str, str]) -> None:
    with pytest.raises(AqlError) as caught:
        OutRequest("GET", URL, (header,))
    assert caught.value.error.code == "VALIDATION_INVALID_VALUE"
    assert "\n" not in caught.value.error.message


@pytest.mark.parametrize("method", ["get", "CONNECT", "TRACE", "GET /x HTTP/1.1\r\n", "", "BREW"])
def test_a_method_is_one_of_those_that_are_known(method: str) -> None:
    with pytest.raises(AqlError, match="VALIDATION_INVALID_VALUE"):
        OutRequest(method, URL)


@given(st.text())
def test_a_value_of_a_header_is_one_line(value: str) -> None:
    if is_field_value(value):
        assert not set(value) & set("\r\n\x00")
        assert value == value.strip(" \t")


@pytest.mark.anyio
async def test_what_passes_arrives_as_it_is() -> None:
    values = ("", "a b", "a\tb", "é", '"q", r;s=t', "\x80\u4f60")
    headers = tuple((f"X-{index}", value) for index, value in enumerate(values))
    async with running(always(reply())) as upstream, sending(upstream.url) as sender:
        await sender.send(OutRequest("GET", upstream.url, headers))
    assert [upstream.requests[0].headers[f"x-{index}"] for index in range(len(values))] == list(values)


def test_neither_requests_nor_answers_show_what_is_in_them() -> None:
    request = OutRequest("GET", f"{URL}?key=hidden", (("X-Key", "hidden"),), b"hidden")
    answer = Answer(200, httpx2.Headers({"x": "hidden"}), b"hidden", f"{URL}?hidden", frozenset({"hidden"}))
    assert "hidden" not in f"{request!r}{answer!r}"
