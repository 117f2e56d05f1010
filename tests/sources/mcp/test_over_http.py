"""Servers over HTTP, in both eras and over the older stream: the same as over pipes, and what is HTTP's own."""

import asyncio
import logging
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from headgate.adapter.context import Session, UserAnswer, UserQuestion
from headgate.protocol.adapter_errors import AdapterError
from headgate.sources.http.bounds import Bounds
from headgate.sources.mcp.configuration import McpSpec
from headgate.sources.mcp.source import McpSource
from tests.sources.mcp import rooms
from tests.sources.mcp.opening import Opened, next_version, opened, until
from tests.sources.mcp.relays import Relay
from tests.sources.mcp.rooms import Era, Room, listening, open_room

pytestmark = pytest.mark.anyio

ERAS = pytest.mark.parametrize("era", ["legacy", "modern", "sse"])
BEARER = "Bearer s3cret-token"
VERSIONS = {"legacy": "2025-11-25", "modern": "2026-07-28", "sse": "2025-11-25"}


@ERAS
async def test_a_server_is_spoken_to_as_it_speaks(era: Era) -> None:
    async with open_room(era) as (room, spec), opened(spec) as server:
        assert list(server.adapter.operations) == room.names
        assert server.source.capture is not None
        assert server.source.capture.protocol_version == VERSIONS[era]
        assert server.adapter.version == "1.0"


@ERAS
async def test_headers_reach_the_server_and_stay_out_of_sight(era: Era, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    async with open_room(era, headers={"Authorization": BEARER}) as (room, spec), opened(spec) as server:
        await server.data("step")
        assert {headers.get("authorization") for _, _, headers in room.requests} == {BEARER}
        told = [await server.call("introspect", {"query": query}) for query in ("operations", "adapter_info")]
        assert "s3cret" not in str(told) + repr(spec) + caplog.text


@ERAS
async def test_a_server_that_gives_a_secret_away_does_not_get_it_through_in_an_error(era: Era) -> None:
    room = Room()

    async def tells(ctx: Any, params: Any) -> Any:
        result = rooms.text("not found, said Bearer s3cret-token")
        return result.model_copy(update={"is_error": True})

    room.do_step = tells  # type: ignore[method-assign]
    async with (
        open_room(era, room, headers={"Authorization": BEARER}) as (_, spec),
        opened(spec) as server,
    ):
        error = await server.error("step")
    assert error["code"] == "NOT_FOUND_RESOURCE"
    assert "s3cret" not in str(error)


@ERAS
async def test_progress_reaches_the_caller(era: Era) -> None:
    told: list[tuple[float, float | None, str | None]] = []

    async def progress(current: float, total: float | None, message: str | None) -> None:
        told.append((current, total, message))

    async with open_room(era) as (_, spec), opened(spec) as server:
        assert (await server.call("step", progress=progress))["data"] == "done"
    assert told == [(step, 3, f"step {step}") for step in (1, 2, 3)]


@ERAS
async def test_a_caller_who_leaves_takes_the_call_with_him(era: Era) -> None:
    async with open_room(era) as (room, spec), opened(spec) as server:
        call = asyncio.create_task(server.call("wait"))
        await room.waiting.wait()
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
        async with asyncio.timeout(10):
            await room.cancelled.wait()
        assert await server.data("step") == "done"


@ERAS
async def test_a_call_that_takes_too_long_ends_and_its_handler_with_it(era: Era) -> None:
    async with open_room(era, timeout=0.3) as (room, spec), opened(spec) as server:
        assert (await server.error("wait"))["code"] == "TRANSPORT_TIMEOUT"
        async with asyncio.timeout(10):
            await room.cancelled.wait()


@ERAS
async def test_changed_tools_are_heard_of(era: Era) -> None:
    async with open_room(era) as (room, spec), opened(spec) as server:
        if era == "modern":  # who is told only once he has asked to be
            await until(lambda: any("subscriptions/listen" in body for _, body, _ in room.requests))
        if era == "legacy":
            await until(lambda: any(method == "GET" for method, _, _ in room.requests))
        room.names.append("get_more")

        async def told() -> None:
            while True:
                await room.tell()
                await asyncio.sleep(0.1)

        telling = asyncio.create_task(told())
        adapter = await next_version(server.source)
        telling.cancel()
        assert list(adapter.operations)[-1] == "get_more"


def answering(name: str, shown: list[str]) -> Callable[[UserQuestion], Awaitable[UserAnswer]]:
    async def ask(question: UserQuestion) -> UserAnswer:
        shown.append(name)
        return UserAnswer("accept", {"colour": name})

    return ask


@ERAS
async def test_a_question_reaches_the_user(era: Era) -> None:
    shown: list[str] = []
    async with open_room(era) as (_, spec), opened(spec) as server:
        envelope = await server.call("ask", ask=answering("red", shown))
    assert envelope["data"] == {"action": "accept", "content": {"colour": "red"}}
    assert shown == ["red"]


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_over_http_each_question_finds_its_own_user(era: Era) -> None:
    shown: list[str] = []
    users = ["ann", "bob", "cid", "dan"]
    async with open_room(era) as (_, spec), opened(spec) as server:
        envelopes = await asyncio.gather(
            *(server.call("ask", session=Session(), ask=answering(user, shown)) for user in users)
        )
    assert [one["data"]["content"]["colour"] for one in envelopes] == users
    assert sorted(shown) == users


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_a_large_answer_arrives_whole(era: Era) -> None:
    async with open_room(era) as (_, spec), opened(spec) as server:
        assert await server.data("get_large") == "x" * 3_000_000


async def test_the_older_stream_ends_with_an_event_that_is_too_large_and_is_opened_again() -> None:
    async with open_room("sse") as (_, spec), opened(spec) as server:
        assert (await server.error("get_large"))["code"] == "TRANSPORT_NETWORK_ERROR"
        assert await server.data("step") == "done"


@ERAS
async def test_calls_one_after_the_other_share_a_few_connections(era: Era) -> None:
    async with open_room(era) as (_, spec), Relay.to(spec) as relay, opened(relay.spec) as server:
        for _ in range(30):
            assert await server.data("step") == "done"
    assert relay.connections < 15


@ERAS
async def test_a_server_that_goes_away_and_comes_back_is_found_again(era: Era) -> None:
    async with open_room(era) as (room, spec), Relay.to(spec) as relay, opened(relay.spec) as server:
        call = asyncio.create_task(server.error("wait"))
        await room.waiting.wait()
        await relay.cut()
        error = await call
        assert error["code"] == "TRANSPORT_NETWORK_ERROR"
        await until(lambda: _is_refused(server))
        await relay.mend()
        await until(lambda: _works(server))


async def _is_refused(server: Opened) -> bool:
    code = (await server.error("step"))["code"]
    return bool(code == "TRANSPORT_CONNECTION_REFUSED")


async def _works(server: Opened) -> bool:
    return bool(await server.call("step") == {"success": True, "data": "done"})


async def test_a_session_that_the_server_has_forgotten_is_begun_anew_and_the_call_repeated() -> None:
    async with open_room("legacy") as (room, spec), opened(spec) as server:
        await server.data("step")
        manager = room.server.session_manager
        for transport in list(manager._server_instances.values()):
            await transport.terminate()
        manager._server_instances.clear()
        assert await server.data("step") == "done"
        begun = [body for _, body, _ in room.requests if '"initialize"' in body]
        assert len(begun) == 2


async def test_the_session_is_given_back() -> None:
    async with open_room("legacy") as (room, spec):
        async with opened(spec) as server:
            await server.data("step")
        [(_, _, headers)] = [request for request in room.requests if request[0] == "DELETE"]
        assert headers["mcp-session-id"]
        assert headers["mcp-protocol-version"] == "2025-11-25"


# what only HTTP can answer with

Script = Callable[[Request], Awaitable[Response]]


def with_status(status: int) -> Script:
    async def script(request: Request) -> Response:
        return Response("secret words of the server", status)

    return script


async def to_metadata(request: Request) -> Response:
    return RedirectResponse("http://169.254.169.254/latest", 307)


async def to_another_origin(request: Request) -> Response:
    return RedirectResponse("https://example.org/mcp", 307)


async def a_page(request: Request) -> Response:
    return Response("<html>Welcome</html>", media_type="text/html")


async def odd_json(request: Request) -> Response:
    return Response("[1, 2", media_type="application/json")


async def accepted(request: Request) -> Response:
    return Response(status_code=202)


class Scripted:
    """An application that follows a script."""

    def __init__(self, script: Script) -> None:
        self.script = script

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            answer = await self.script(Request(scope, receive))
            await answer(scope, receive, send)
        else:
            await receive()
            await send({"type": "lifespan.startup.complete"})
            await receive()
            await send({"type": "lifespan.shutdown.complete"})


REFUSALS = {
    "no credentials": (with_status(401), "does not accept the credentials that it is given, or there are none"),
    "wrong credentials": (with_status(403), "does not allow this with the credentials that it is given"),
    "nothing there": (with_status(404), "there is no MCP server under this address"),
    "too often": (with_status(429), "it asks to slow down"),
    "broken": (with_status(500), "it fails (HTTP status 500)"),
    "another method": (with_status(405), "it refuses the request (HTTP status 405)"),
    "a redirect to metadata": (to_metadata, "redirects to another origin"),
    "a redirect to others": (to_another_origin, "redirects to another origin"),
    "a page": (a_page, "it does not answer as a server of MCP does"),
    "what is no JSON": (odd_json, "it does not answer as a server of MCP does"),
    "nothing at all": (accepted, "it does not answer as a server of MCP does"),
}


async def test_a_server_that_only_repeats_what_it_is_sent_brings_no_secret_into_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def repeat(request: Request) -> Response:
        return JSONResponse({"k": request.headers["x-api-key"]})

    caplog.set_level(logging.DEBUG)
    async with listening(Scripted(repeat)) as port:
        url, headers = f"http://127.0.0.1:{port}/mcp", {"X-Api-Key": "s3cret-value"}
        source = McpSource(McpSpec(name="odd", url=url, transport="http", headers=headers))
        with pytest.raises(AdapterError, match="does not answer as a server of MCP does"):
            await source.open()
        await source.close()
    assert "s3cret" not in caplog.text


@pytest.mark.parametrize("transport", ["http", "sse"])
@pytest.mark.parametrize(("script", "words"), REFUSALS.values(), ids=REFUSALS)
async def test_a_server_that_cannot_be_used_says_why(script: Script, words: str, transport: Any) -> None:
    async with listening(Scripted(script)) as port:
        source = McpSource(McpSpec(name="odd", url=f"http://127.0.0.1:{port}/mcp?key=s3cret", transport=transport))
        with pytest.raises(AdapterError) as caught:
            await source.open()
        await source.close()
    said = str(caught.value)
    assert said.startswith("MCP server 'odd': ")
    assert words in said or (transport == "sse" and script in (a_page, odd_json, accepted)), said
    assert "secret" not in said
    assert "s3cret" not in said


ADDRESSES = {
    "private": ("https://10.0.0.1/mcp", "leads to a private address"),
    "metadata": ("https://169.254.169.254/mcp", "metadata"),
    "plain HTTP to others": ("http://example.org/mcp", "must begin with 'https://'"),
    "no address": ("ftp://example.org/mcp", "not valid"),
    "nobody there": ("http://127.0.0.1:9/mcp", "it cannot be reached"),
}


@pytest.mark.parametrize(("url", "words"), ADDRESSES.values(), ids=ADDRESSES)
@pytest.mark.parametrize("transport", ["http", "sse"])
async def test_what_may_not_be_reached_is_not_reached(url: str, words: str, transport: Any) -> None:
    source = McpSource(McpSpec(name="odd", url=url, transport=transport), bounds=Bounds(connect_seconds=2))
    with pytest.raises(AdapterError) as caught:
        await source.open()
    await source.close()
    assert words in str(caught.value)


STATUSES = {
    401: ("PERMISSION_DENIED", "does not accept the credentials"),
    403: ("PERMISSION_DENIED", "does not allow this"),
    429: ("RATE_LIMIT_EXCEEDED", "slow down"),
    503: ("INTERNAL_ERROR", "it fails"),
}


@pytest.mark.parametrize("status", STATUSES)
@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_a_status_amid_the_session_has_its_code_and_ends_nothing(era: Era, status: int) -> None:
    room = Room()
    async with open_room(era, room) as (_, spec), opened(spec) as server:
        waiting = asyncio.create_task(server.data("wait"))
        await room.waiting.wait()
        room.refuses = status
        error = await server.error("step")
        room.refuses = 0
        assert error["code"] == STATUSES[status][0]
        assert STATUSES[status][1] in error["details"]["reason"]
        assert error["details"]["http_status"] == status
        assert await server.data("step") == "done"
        room.release.set()
        assert await waiting == "done", "the calls of others go on"
        assert server.source.is_up


async def test_a_server_of_the_sdk_over_pipes_is_no_different(tmp_path: Path) -> None:
    code = f"import sys; sys.path.insert(0, {str(Path(rooms.__file__).parents[3])!r}); "
    code += "import runpy; runpy.run_module('tests.sources.mcp.rooms', run_name='__main__')"
    spec = McpSpec(name="room", command=sys.executable, args=("-c", code))
    shown: list[str] = []
    async with opened(spec) as server:
        assert (await server.call("ask", ask=answering("red", shown)))["data"]["content"] == {"colour": "red"}
        assert await server.data("grow") == "grown"
        assert "get_more" in (await next_version(server.source)).operations


async def test_a_modern_server_is_remembered_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_room("modern") as (room, spec), opened(spec) as server:
        link = server.source._upstream._link
        assert link is not None
        link.lose("for a test")
        await until(lambda: server.source._upstream._connections == 2)
        assert len([body for _, body, _ in room.requests if '"initialize"' in body]) == 1
        assert await server.data("step") == "done"
