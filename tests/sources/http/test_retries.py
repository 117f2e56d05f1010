"""What is sent again, when, and what never is."""

import asyncio
import socket
import struct
from datetime import UTC, datetime

import anyio
import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.sources.http.bounds import Bounds
from headgate.sources.http.messages import SAFE_METHODS, OutRequest
from headgate.sources.http.retries import RETRIED_STATUSES, pause, retry_after
from tests.sources.http.upstream import Received, Script, always, got, in_turn, refused, reply, running, sending

pytestmark = pytest.mark.anyio

UNSAFE = ("POST", "PUT", "PATCH", "DELETE")
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def reset(writer: asyncio.StreamWriter) -> None:
    """End a connection without a goodbye."""
    raw: socket.socket = writer.get_extra_info("socket")
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


def resetting(times: int, answer: bytes) -> Script:
    """A script that breaks so many connections before it answers."""
    left = [times]

    async def script(received: Received, writer: asyncio.StreamWriter) -> bytes | None:
        if left[0] == 0:
            return answer
        left[0] -= 1
        reset(writer)
        return None

    return script


@pytest.mark.parametrize("method", sorted(SAFE_METHODS))
@pytest.mark.parametrize("status", sorted(RETRIED_STATUSES))
async def test_what_changes_nothing_is_asked_again_if_the_upstream_is_busy(method: str, status: int) -> None:
    script = in_turn(reply(status, retry_after="0"), reply(status, retry_after="0"), reply(200))
    async with running(script) as upstream, sending(upstream.url) as sender:
        assert (await got(sender, upstream.url, method)).status == 200
    assert len(upstream.requests) == 3


@pytest.mark.parametrize("retries", [0, 1, 2])
async def test_the_last_answer_counts_whatever_it_is(retries: int) -> None:
    script, bounds = always(reply(503, b"busy", retry_after="0")), Bounds(retries=retries)
    async with running(script) as upstream, sending(upstream.url, bounds=bounds) as sender:
        answer = await got(sender, upstream.url)
    assert (answer.status, answer.content) == (503, b"busy")
    assert len(upstream.requests) == retries + 1


@pytest.mark.parametrize("status", [400, 401, 404, 408, 409, 500, 501, 505])
async def test_other_answers_are_final(status: int) -> None:
    async with running(always(reply(status))) as upstream, sending(upstream.url) as sender:
        assert (await got(sender, upstream.url)).status == status
    assert len(upstream.requests) == 1


@pytest.mark.parametrize("method", UNSAFE)
@pytest.mark.parametrize("status", sorted(RETRIED_STATUSES))
async def test_what_may_change_something_is_never_sent_twice_for_a_status(method: str, status: int) -> None:
    async with running(always(reply(status, retry_after="0"))) as upstream, sending(upstream.url) as sender:
        assert (await got(sender, upstream.url, method)).status == status
    assert len(upstream.requests) == 1


async def test_what_changes_nothing_is_sent_again_after_a_broken_connection() -> None:
    async with running(resetting(2, reply(200))) as upstream, sending(upstream.url) as sender:
        assert (await got(sender, upstream.url)).status == 200
    assert len(upstream.requests) == 3


@pytest.mark.parametrize("method", UNSAFE)
@pytest.mark.parametrize("ending", ["reset", "closed"])
async def test_what_may_change_something_is_never_sent_twice_after_a_broken_connection(
    method: str, ending: str
) -> None:
    script = resetting(100, b"") if ending == "reset" else in_turn(None)
    async with running(script) as upstream, sending(upstream.url) as sender:
        error = await refused(sender, upstream.url, method, b"x")
    assert error.code == "TRANSPORT_NETWORK_ERROR"
    assert "may have taken effect, and was not repeated" in error.message
    assert len(upstream.requests) == 1


@pytest.mark.parametrize("method", UNSAFE)
@pytest.mark.parametrize("ending", ["reset", "closed"])
async def test_nor_on_a_kept_connection_that_dies_with_it(method: str, ending: str) -> None:
    async def script(received: Received, writer: asyncio.StreamWriter) -> bytes | None:
        if received.method == "GET":
            return reply(200)
        if ending == "reset":
            reset(writer)
        return None

    async with running(script) as upstream, sending(upstream.url) as sender:
        await got(sender, upstream.url)
        assert upstream.connections == 1
        assert (await refused(sender, upstream.url, method, b"x")).code == "TRANSPORT_NETWORK_ERROR"
    assert upstream.connections == 1
    assert [one.method for one in upstream.requests] == ["GET", method]


async def test_a_kept_connection_that_died_before_is_not_used_for_anything() -> None:
    closed = asyncio.Event()

    async def script(received: Received, writer: asyncio.StreamWriter) -> bytes | None:
        writer.write(reply(200))
        await writer.drain()
        writer.close()
        closed.set()
        return None

    async with running(script) as upstream, sending(upstream.url) as sender:
        for method in ("GET", "POST", "DELETE"):
            closed.clear()
            assert (await got(sender, upstream.url, method)).status == 200
            await closed.wait()
            await anyio.wait_all_tasks_blocked()
    assert [one.method for one in upstream.requests] == ["GET", "POST", "DELETE"]


async def test_a_connection_is_kept_for_the_next_request() -> None:
    async with running(in_turn(reply(200, b"1"), reply(200, b"2"))) as upstream, sending(upstream.url) as sender:
        assert [(await got(sender, upstream.url)).content for _ in range(3)] == [b"1", b"2", b"2"]
    assert upstream.connections == 1


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_a_refused_connection_is_told(method: str) -> None:
    async with running(always(reply())) as upstream:
        pass
    async with sending(upstream.url, bounds=Bounds(retries=1)) as sender:
        error = await refused(sender, upstream.url, method)
    assert error.code == "TRANSPORT_CONNECTION_REFUSED"
    assert "effect" not in error.message


async def test_what_the_upstream_asks_to_wait_for_too_long_is_its_answer() -> None:
    script, bounds = always(reply(429, retry_after="31")), Bounds(total_seconds=30)
    async with running(script) as upstream, sending(upstream.url, bounds=bounds) as sender:
        answer = await got(sender, upstream.url)
    assert (answer.status, answer.headers["retry-after"]) == (429, "31")
    assert len(upstream.requests) == 1


async def test_no_pause_goes_beyond_the_time() -> None:
    bounds = Bounds(total_seconds=0.09, retries=5)
    async with running(resetting(100, b"")) as upstream, sending(upstream.url, bounds=bounds) as sender:
        error = await refused(sender, upstream.url)
    assert error.code == "TRANSPORT_NETWORK_ERROR"
    assert len(upstream.requests) == 1


async def test_a_whole_way_with_redirects_is_gone_again() -> None:
    script = in_turn(reply(302, location="/b"), reply(502, retry_after="0"), reply(302, location="/c"), reply(200))
    async with running(script) as upstream, sending(upstream.url) as sender:
        assert (await got(sender, f"{upstream.url}/a")).status == 200
    assert upstream.targets == ["/a", "/b", "/a", "/c"]


ASKED = (
    *(("0", 0.0), ("120", 120.0), ("1.5", 1.5), (" 7 ", 7.0)),
    *(("Sun, 01 Mar 2026 12:00:30 GMT", 30.0), ("Sun, 01 Mar 2026 11:00:00 GMT", 0.0)),
    *(("Sunday, 01-Mar-26 12:01:00 GMT", 60.0), ("Sun Mar  1 12:00:10 2026", 10.0)),
    *(("", None), ("soon", None), ("-5", None), ("1e9", None), ("9" * 40, None), ("nan", None), ("\u0661", None)),
    ("Sun, 99 Mar 2026 12:00:30 GMT", None),
)


@pytest.mark.parametrize(("text", "seconds"), ASKED)
def test_a_time_to_wait_is_a_number_or_a_date(text: str, seconds: float | None) -> None:
    headers = httpx2.Headers([(b"retry-after", text.encode())])
    assert retry_after(headers, lambda: NOON) == seconds


@given(st.text(max_size=40))
def test_no_text_of_an_upstream_is_an_endless_or_negative_wait(text: str) -> None:
    seconds = retry_after(httpx2.Headers([(b"retry-after", text.encode())]))
    assert seconds is None or 0 <= seconds < float("inf")


@given(st.integers(0, 1_000), st.floats(0, 1, exclude_max=True))
def test_pauses_grow_spread_and_have_an_end(attempt: int, dice: float) -> None:
    longest = pause(attempt, None, lambda: 1.0)
    assert longest / 2 <= pause(attempt, None, lambda: dice) <= longest <= 10
    assert longest <= pause(attempt + 1, None, lambda: 1.0)
    assert pause(attempt, 7.0) == 7.0


async def test_an_unsafe_request_reaches_an_upstream_that_answers_once() -> None:
    async with (
        running(always(reply(201))) as upstream,
        sending(upstream.url) as sender,
        anyio.create_task_group() as tasks,
    ):
        for number in range(20):
            tasks.start_soon(sender.send, OutRequest("POST", f"{upstream.url}/{number}", (), b"x"))
    assert sorted(upstream.targets) == sorted(f"/{number}" for number in range(20))
