"""The comparison itself: that it sees every difference that matters, and none that does not."""

import json
from typing import Any

import pytest

from tests.upstreams.calls import CALLS, Call, normal
from tests.upstreams.comparing import difference
from tests.upstreams.labels import LABELS, Label
from tests.upstreams.servers import SERVERS, Server
from tests.upstreams.sessions import Answer
from tests.upstreams.wrapping import snake

IMAGE = {"type": "image", "data": "AAAA", "mimeType": "image/png"}
LINK = {"type": "resource_link", "uri": "demo://1", "name": "one"}
BLOB = {"type": "resource", "resource": {"uri": "demo://2", "blob": "BBBB"}}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def direct(*blocks: dict[str, Any], **more: Any) -> Answer:
    return Answer({"content": list(blocks), **more})


def through(data: Any, *attached: dict[str, Any]) -> Answer:
    return Answer({"content": [text(json.dumps({"success": True, "data": data})), *attached]})


def failed(code: str, **details: Any) -> Answer:
    error = {"code": code, "message": "No", "details": details}
    return Answer({"content": [text(json.dumps({"success": False, "error": error}))]})


SAME = {
    "a text": (direct(text("hello")), through("hello")),
    "a text that is a number": (direct(text("12")), through("12")),
    "a text that is data": (direct(text('{"a": [1]}')), through({"a": [1]})),
    "nothing": (direct(), through(None)),
    "structured content that a text repeats": (direct(text('{"a": 1}'), structuredContent={"a": 1}), through({"a": 1})),
    "structured content that holds its text": (direct(text("x"), structuredContent={"r": "x"}), through({"r": "x"})),
    "structured content beside a picture": (
        direct(IMAGE, structuredContent={"a": 1}),
        through(
            {"structured": {"a": 1}, "content": [{"type": "image", "mimeType": "image/png", "attachment": 1}]}, IMAGE
        ),
    ),
    "several blocks": (direct(text("a"), LINK), through({"content": [text("a"), LINK]})),
    "a resource with bytes": (
        direct(BLOB),
        through({"content": [{"type": "resource", "resource": {"uri": "demo://2"}, "attachment": 1}]}, BLOB),
    ),
    "a failure": (
        direct(text("not there"), isError=True),
        failed("NOT_FOUND_RESOURCE", source="s", upstream="not there"),
    ),
    "a refusal before the server is asked": (direct(text("bad"), isError=True), failed("VALIDATION_INVALID_TYPE")),
    "an error of the protocol": (
        Answer(error="no such\nthing"),
        failed("INTERNAL_ERROR", source="s", said="no such thing"),
    ),
}
OTHER = {
    "another text": (direct(text("hello")), through("hallo")),
    "data that stays text": (direct(text("[1]")), through("[1]")),
    "a number that is read": (direct(text("12")), through(12)),
    "a lost block": (direct(text("a"), LINK), through({"content": [text("a")]})),
    "a text that only stands beside": (direct(text("other"), structuredContent={"a": 1}), through({"a": 1})),
    "other bytes": (
        direct(IMAGE),
        through({"content": [{"type": "image", "mimeType": "image/png", "attachment": 1}]}, {**IMAGE, "data": "CCCC"}),
    ),
    "a success that was a failure": (direct(text("no"), isError=True), through("no")),
    "a failure that was a success": (direct(text("yes")), failed("VALIDATION_INVALID_TYPE")),
    "a failure in other words": (direct(text("a"), isError=True), failed("INTERNAL_ERROR", source="s", upstream="b")),
    "an error of the protocol in other words": (Answer(error="gone"), failed("INTERNAL_ERROR", source="s")),
    "an error of headgate's protocol": (direct(text("a")), Answer(error="broken")),
    "progress that is not told": (Answer({"content": []}, progress=((1, 2),)), through(None)),
}


@pytest.mark.parametrize(("theirs", "ours"), SAME.values(), ids=SAME)
def test_the_same_is_the_same(theirs: Answer, ours: Answer) -> None:
    assert difference(theirs, ours, ()) is None


@pytest.mark.parametrize(("theirs", "ours"), OTHER.values(), ids=OTHER)
def test_what_is_not_the_same_is_seen(theirs: Answer, ours: Answer) -> None:
    assert difference(theirs, ours, ()) is not None


@pytest.mark.parametrize(
    ("loose", "one", "other"),
    [
        (("times",), "at 2024-05-01T12:00:00Z", "at 2025-01-01 01:02:03.5"),
        (("uuids",), {"id": "00000000-0000-4000-8000-000000000000"}, {"id": "f" * 32}),
        (("durations",), "took 12ms", "took 3.5 s"),
        (("bytes",), [{"data": "A"}], [{"data": "B"}]),
        (("key:size",), {"a": {"size": 1}}, {"a": {"size": 2}}),
    ],
)
def test_what_may_differ_is_blanked_and_the_rest_is_not(loose: tuple[str, ...], one: Any, other: Any) -> None:
    assert normal(one, loose) == normal(other, loose)
    assert normal([one, "here"], loose) != normal([other, "there"], loose)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("API-get-user", "api_get_user"),
        ("readTextFile", "read_text_file"),
        ("getHTTPBody", "get_http_body"),
        ("a", "a"),
    ],
)
def test_names_become_snake_case(name: str, expected: str) -> None:
    assert snake(name) == expected


_NOT_CALLED = {
    "playwright": {"browser_annotate": "waits for a person who draws"},
    "chrome_devtools": {
        "lighthouse_audit": "takes half a minute",
        "performance_start_trace": "tells times that no two runs share",
        "screencast_start": "needs a program that is not everywhere",
    },
    "redis": {
        "client_list": "the small store does not know it",
        "info": "the small store does not know it",
        "search_redis_documents": "needs the internet",
    },
    "everything": {"get-roots-list": "is for other clients", "trigger-sampling-request": "is for other clients"},
}


@pytest.mark.parametrize(
    "server", [server for server in SERVERS.values() if not server.account], ids=lambda one: one.name
)
def test_every_tool_that_can_be_called_here_is_called(server: Server) -> None:
    called = {call.tool for call in CALLS[server.name]}
    assert set(LABELS[server.name]) - called == set(_NOT_CALLED.get(server.name, {}))


def test_there_are_failures_among_the_calls_of_nearly_every_server() -> None:
    failing = [name for name, calls in CALLS.items() if any(call.fails for call in calls)]
    assert len(failing) >= len(CALLS) - 1
    assert all(isinstance(call, Call) for calls in CALLS.values() for call in calls)


def test_every_server_is_labelled_and_pinned() -> None:
    assert set(LABELS) == set(SERVERS)
    assert all(server.version for server in SERVERS.values())
    assert all(isinstance(label, Label) for labels in LABELS.values() for label in labels.values())
