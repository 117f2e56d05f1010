"""Specification 4.7.1: what is not UTF-8 is refused, and no operation ever sees it."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.spec.conftest import Serve
from tests.spec.raw import Raw, raw_http, raw_stdio
from tests.spec.servers import Servers
from tests.spec.wires import WIRES, Wire, error_of

BYTES = {
    "overlong": b"\xc0\xaf",
    "overlong-three": b"\xe0\x80\xaf",
    "broken-continuation": b"\xe2\x28\xa1",
    "lone-continuation": b"\x80",
    "truncated": b"\xe2\x82",
    "truncated-four": b"\xf0\x9f\x98",
    "surrogate": b"\xed\xa0\x80",
    "beyond-unicode": b"\xf4\x90\x80\x80",
    "not-a-start": b"\xff",
}
ESCAPES = {"high-surrogate": rb"\ud800", "low-surrogate": rb"\udfff", "reversed-pair": rb"\ude00\ud83d"}


LOST = {
    **{name: sequence.decode(errors="surrogateescape") for name, sequence in BYTES.items()},
    **{name: json.loads(b'"%s"' % escape) for name, escape in ESCAPES.items()},
}
"""The same as text that Python can hold."""

BYTE_WIRES = [wire for wire in WIRES if wire.transport != "memory"]


@pytest.fixture(
    scope="module",
    params=[pytest.param(wire, id=wire.name, marks=pytest.mark.xdist_group(wire.name)) for wire in BYTE_WIRES],
)
def raw(request: pytest.FixtureRequest, servers: Servers) -> Iterator[Raw]:
    """A line to a server that carries any bytes."""
    wire: Wire = request.param
    with raw_stdio(wire.era) if wire.transport == "stdio" else raw_http(wire.era, servers.url) as line:
        yield line


def sample(key: str, name: bytes) -> bytes:
    return b'{"operation": "get_sample", "params": {"key": "%s", "user_name": "a%sb"}}' % (key.encode(), name)


def code_of(answer: dict[str, Any]) -> str:
    """The code that a call was refused with, in an envelope like every other."""
    code = error_of(json.loads(answer["result"]["content"][0]["text"]))["code"]
    assert isinstance(code, str)
    return code


def runs(raw: Raw, key: str) -> list[str]:
    answer = raw.send(b'{"operation": "list_runs", "params": {"key": "%s"}}' % key.encode())
    found = json.loads(answer["result"]["content"][0]["text"])["data"]
    assert isinstance(found, list)
    return found


@pytest.mark.proves("spec-4.7.1-invalid-utf8-rejected")
def test_bytes_that_are_not_utf8_are_refused_and_the_server_goes_on(raw: Raw, key: str) -> None:
    for sequence in BYTES.values():
        assert code_of(raw.send(sample(key, sequence))) == "VALIDATION_INVALID_ENCODING"
    assert runs(raw, key) == []
    raw.send(sample(key, "ö€😀".encode()))
    assert runs(raw, key) == ["get_sample"]


@pytest.mark.proves("spec-4.7.1-invalid-utf8-rejected")
def test_an_escaped_surrogate_is_refused_and_the_server_goes_on(raw: Raw, key: str) -> None:
    for sequence in ESCAPES.values():
        name = b'{"operation": "get_sample", "params": {"key": "%s", "a%s": 1}}' % (key.encode(), sequence)
        for arguments in (sample(key, sequence), name):
            assert code_of(raw.send(arguments)) == "VALIDATION_INVALID_ENCODING"
    assert runs(raw, key) == []
    raw.send(sample(key, rb"\ud83d\ude00"))
    assert runs(raw, key) == ["get_sample"]


@pytest.mark.anyio
@pytest.mark.parametrize("text", LOST.values(), ids=LOST)
@pytest.mark.proves("spec-4.7.1-invalid-utf8-rejected")
async def test_text_that_utf8_cannot_hold_is_refused_with_its_place(serve: Serve, key: str, text: str) -> None:
    async with serve() as aql:
        error = error_of(await aql.read("get_sample", key=key, user_name=f"ö{text}"), "VALIDATION_INVALID_ENCODING")
        assert error["details"]["location"] == "params.user_name"
        assert error["details"]["byte_offset"] == len("ö".encode())
        assert await aql.runs(key) == []


ODD = "a\ud800"


@pytest.mark.anyio
@pytest.mark.parametrize(
    "request_",
    [
        {"operation": "get_sample", "params": {"options": {"a": [{"b": ODD}]}}},
        {"operation": "get_sample", "params": {"words": ["x", ODD]}},
        {"operation": "get_sample", "user_name": ODD},
        {"operation": "get_sample", "_meta": ODD},
        {"operation": ODD},
        {"operations": [{"operation": "get_sample", "params": {"user_name": ODD}}]},
    ],
    ids=["nested", "list", "beside", "metadata", "operation", "batch"],
)
@pytest.mark.proves("spec-4.7.1-invalid-utf8-rejected")
async def test_text_that_utf8_cannot_hold_is_refused_wherever_it_stands(serve: Serve, request_: dict[str, Any]) -> None:
    async with serve() as aql:
        error_of(await aql.call("mcp_aql_read", request_), "VALIDATION_INVALID_ENCODING")
