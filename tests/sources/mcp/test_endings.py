"""The end of a stream of events is read before it is closed, within bounds."""

from collections.abc import AsyncIterator

import anyio
import httpx2
import pytest

from headgate.sources.mcp import endings
from headgate.sources.mcp.endings import Endings

pytestmark = pytest.mark.anyio

ANSWER = b"data: {}\n\n"


class Events(httpx2.AsyncByteStream):
    """An answer, and what comes after it."""

    def __init__(self, *after: bytes, is_silent: bool = False) -> None:
        self.after = list(after)
        self.is_silent = is_silent
        self.has_ended = False
        self.is_closed = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield ANSWER
        while self.after:
            yield self.after.pop(0)
        if self.is_silent:
            await anyio.sleep_forever()
        self.has_ended = True

    async def aclose(self) -> None:
        self.is_closed = True


def response(
    events: Events,
    method: str = "POST",
    content_type: str = "text/event-stream",
    endings: Endings | None = None,
    keep_alive: str = "",
) -> httpx2.Response:
    request = httpx2.Request(method, "http://localhost/mcp")
    made = httpx2.Response(
        200, headers={"content-type": content_type, "keep-alive": keep_alive}, stream=events, request=request
    )
    (endings or Endings()).await_that_of(made)
    return made


async def read_the_answer(made: httpx2.Response) -> None:
    """As the SDK does: up to the answer, and no further."""
    async for part in made.aiter_raw():
        assert part == ANSWER
        break
    await made.aclose()


async def test_what_comes_after_the_answer_is_read_to_its_end() -> None:
    events = Events(b": bye\n\n")
    await read_the_answer(response(events))
    assert events.has_ended
    assert events.is_closed


async def test_a_server_that_says_more_and_more_is_not_listened_to() -> None:
    events = Events(*[bytes(40_000)] * 5)
    await read_the_answer(response(events))
    assert len(events.after) == 3
    assert events.is_closed


async def test_a_server_that_neither_speaks_nor_ends_is_not_waited_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endings, "_PATIENCE_SECONDS", 0.01)
    events = Events(is_silent=True)
    await read_the_answer(response(events))
    assert not events.has_ended
    assert events.is_closed


@pytest.mark.parametrize("events", [Events(is_silent=True), Events(*[bytes(40_000)] * 5)], ids=["silent", "endless"])
async def test_a_server_that_does_not_end_its_streams_is_waited_for_once(
    events: Events, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endings, "_PATIENCE_SECONDS", 0.01)
    server = Endings()
    await read_the_answer(response(events, endings=server))
    await assert_closed_at_once(server)


async def test_where_a_connection_has_broken_none_is_used_again() -> None:
    server = Endings()
    server.give_up()
    await assert_closed_at_once(server)


@pytest.mark.parametrize(("kept", "is_read"), [("timeout=4", False), ("timeout=5, max=100", True), ("max=100", True)])
async def test_a_connection_that_the_server_keeps_for_too_short_is_not_used_again(kept: str, is_read: bool) -> None:
    events = Events(b": bye\n\n")
    await read_the_answer(response(events, keep_alive=kept))
    assert events.has_ended is is_read
    assert events.is_closed


async def assert_closed_at_once(server: Endings) -> None:
    events = Events(b"more")
    await read_the_answer(response(events, endings=server))
    assert events.after == [b"more"]
    assert events.is_closed


async def test_whoever_is_cancelled_closes_at_once() -> None:
    events = Events(is_silent=True)
    with anyio.CancelScope() as scope:
        scope.cancel()
        await read_the_answer(response(events))
    assert events.is_closed


@pytest.mark.parametrize(("method", "content_type"), [("GET", "text/event-stream"), ("POST", "application/json")])
async def test_other_answers_are_closed_as_they_are(method: str, content_type: str) -> None:
    events = Events(b"more")
    await read_the_answer(response(events, method, content_type))
    assert events.after == [b"more"]
    assert events.is_closed
