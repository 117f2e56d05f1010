"""Redirects: followed within the bounds, without anything that another origin must not see."""

import asyncio

import pytest

from headgate.sources.http.bounds import Bounds
from headgate.sources.http.credentials import ApiKey, Bearer
from headgate.sources.http.messages import OutRequest
from tests.sources.http.conftest import Authority
from tests.sources.http.upstream import Received, always, by_path, got, refused, reply, running, sending

pytestmark = pytest.mark.anyio

HERE = Bounds(allow=("localhost", "127.0.0.1"))
UNSAFE = ("POST", "PUT", "PATCH", "DELETE")


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS"])
async def test_what_changes_nothing_follows_a_redirect(status: int, method: str) -> None:
    script = by_path(a=reply(status, location="/b?x=%2F#part"), b=reply(200))
    async with running(script) as upstream, sending(upstream.url) as sender:
        answer = await got(sender, f"{upstream.url}/a", method)
    assert (answer.status, answer.url) == (200, f"{upstream.url}/b?x=%2F")
    assert upstream.targets == ["/a", "/b?x=%2F"]
    expected = "GET" if status == 303 and method == "OPTIONS" else method
    assert upstream.requests[1].method == expected


@pytest.mark.parametrize("status", [301, 302, 303])
@pytest.mark.parametrize("method", UNSAFE)
async def test_what_may_change_something_is_not_sent_on(status: int, method: str) -> None:
    async with running(always(reply(status, location="/b"))) as upstream, sending(upstream.url) as sender:
        error = await refused(sender, f"{upstream.url}/a", method, b"body")
    assert upstream.targets == ["/a"]
    assert error.code == "PROTOCOL_INVALID_MAPPING"
    assert error.details is not None
    assert error.details["http_status"] == status
    assert "may have taken effect" in error.message


@pytest.mark.parametrize("status", [307, 308])
@pytest.mark.parametrize("method", UNSAFE)
async def test_it_is_sent_on_within_an_origin_if_the_upstream_says_that_nothing_was_done(
    status: int, method: str
) -> None:
    script = by_path(a=reply(status, location="/b/../c"), c=reply(201))
    async with running(script) as upstream, sending(upstream.url) as sender:
        answer = await sender.send(OutRequest(method, f"{upstream.url}/a", (("X-Own", "1"),), b"body"))
    assert answer.status == 201
    assert [(one.method, one.target, one.body) for one in upstream.requests] == [
        (method, "/a", b"body"),
        (method, "/c", b"body"),
    ]
    assert upstream.requests[1].headers["x-own"] == "1"


async def test_it_is_never_sent_on_to_another_origin() -> None:
    async with (
        running(always(reply())) as other,
        running(always(reply(307, location=f"{other.url}/"))) as upstream,
        sending(upstream.url, bounds=HERE) as sender,
    ):
        assert (await refused(sender, upstream.url, "POST", b"x")).code == "PROTOCOL_INVALID_MAPPING"
    assert other.connections == 0


async def test_nothing_of_a_request_but_what_is_harmless_reaches_another_origin() -> None:
    secrets = {"TOKEN": "token-of-the-source", "KEY": "key-of-the-source"}
    credentials = (Bearer("TOKEN"), ApiKey("key", "KEY", "query"), ApiKey("jar", "KEY", "cookie"))
    headers = (
        *(("Accept", "text/plain"), ("X-Api-Key", "mine"), ("Cookie", "a=b"), ("Authorization", "own")),
        ("Content-Type", "text/plain"),
    )
    async with (
        running(always(reply(200, b"there"))) as other,
        running(always(reply(302, location=f"{other.url}/there"))) as upstream,
        sending(upstream.url, *credentials, bounds=HERE, environment=secrets) as sender,
    ):
        answer = await sender.send(OutRequest("GET", f"{upstream.url}/here", headers, b"private"))
    assert answer.content == b"there"
    assert upstream.requests[0].headers["authorization"] == "Bearer token-of-the-source"
    assert upstream.requests[0].headers["cookie"] == "a=b; jar=key-of-the-source"
    assert upstream.targets == ["/here?key=key-of-the-source"]
    assert other.targets == ["/there"]
    assert other.requests[0].body == b""
    assert set(other.requests[0].headers) == {"host", "accept", "user-agent", "accept-encoding"}


async def test_who_has_left_an_origin_is_a_stranger_when_the_way_leads_back() -> None:
    places: dict[str, str] = {}

    async def own_script(received: Received, writer: asyncio.StreamWriter) -> bytes:
        return reply(302, location=places["other"]) if received.target == "/start" else reply(200)

    async def other_script(received: Received, writer: asyncio.StreamWriter) -> bytes:
        return reply(302, location=f"{places['own']}/back")

    async with running(own_script) as own, running(other_script) as other:
        places |= {"own": own.url, "other": other.url}
        environment = {"TOKEN": "token-of-the-source"}
        async with sending(own.url, Bearer("TOKEN"), bounds=HERE, environment=environment) as sender:
            assert (await got(sender, f"{own.url}/start")).status == 200
    assert own.targets == ["/start", "/back"]
    assert "authorization" in own.requests[0].headers
    assert "authorization" not in own.requests[1].headers


async def test_nobody_elsewhere_leads_back_to_a_home_on_this_machine(trusted: Authority) -> None:
    places: dict[str, str] = {}

    async def script(received: Received, writer: asyncio.StreamWriter) -> bytes:
        return reply(302, location=places[received.headers["host"].partition(":")[0]])

    async def here(host: str, port: int) -> list[str]:
        return ["127.0.0.1"]

    async with (
        running(script, trusted.context("localhost")) as own,
        running(script, trusted.context("other.example")) as other,
        sending(own.url, bounds=Bounds(allow=("other.example",)), resolver=here) as sender,
    ):
        elsewhere = f"https://other.example:{other.port}/"
        places |= {"localhost": elsewhere, "other.example": f"{own.url}/chosen-by-others"}
        for url in (f"{own.url}/start", elsewhere):
            error = await refused(sender, url)
            assert error.code == "PERMISSION_DENIED"
            assert error.details is not None
            assert error.details["target"] == "localhost"
    assert (own.targets, other.targets) == (["/start"], ["/", "/"])


async def test_credentials_go_on_within_their_origin_and_replace_what_the_upstream_repeats() -> None:
    script = by_path(a=reply(302, location="/b?key=old&x=1"), b=reply(200))
    async with running(script) as upstream:
        credentials = (ApiKey("key", "KEY", "query"), Bearer("KEY"))
        async with sending(upstream.url, *credentials, environment={"KEY": "the secret"}) as sender:
            answer = await got(sender, f"{upstream.url}/a")
    assert upstream.targets == ["/a?key=the%20secret", "/b?x=1&key=the%20secret"]
    assert upstream.requests[1].headers["authorization"] == "Bearer the secret"
    assert "secret" not in answer.url


async def test_a_key_that_a_redirect_repeats_is_not_shown_as_where_the_answer_came_from() -> None:
    script = by_path(a=reply(302, location="/b/the%20secret"))
    key, environment = ApiKey("key", "KEY", "query"), {"KEY": "the secret"}
    async with running(script) as upstream, sending(upstream.url, key, environment=environment) as sender:
        answer = await got(sender, f"{upstream.url}/a")
    assert answer.url == f"{upstream.url}/b/***"


FORBIDDEN = (
    *("http://169.254.169.254/latest", "https://169.254.169.254/", "https://10.0.0.1/", "//127.0.0.1:1/"),
    *("http://localhost:1/", "http://example.com/", "https://2130706433/", "https://metadata.google.internal/"),
)


@pytest.mark.parametrize("location", FORBIDDEN)
async def test_a_redirect_opens_nothing_that_is_forbidden(location: str) -> None:
    async with running(always(reply(302, location=location))) as upstream, sending(upstream.url) as sender:
        assert (await refused(sender, upstream.url)).code == "PERMISSION_DENIED"
    assert len(upstream.requests) == 1


@pytest.mark.parametrize(
    "location", ["file:///etc/passwd", "javascript:alert(1)", "https://user:word@api.example/", "https://a..b/", "//["]
)
async def test_a_redirect_to_something_else_than_a_web_address_is_refused(location: str) -> None:
    async with running(always(reply(301, location=location))) as upstream, sending(upstream.url) as sender:
        error = await refused(sender, upstream.url)
    assert error.code == "TRANSPORT_NETWORK_ERROR"
    assert "redirects" in error.message


async def test_a_redirect_from_https_to_http_is_refused_even_where_http_is_allowed(trusted: Authority) -> None:
    async with (
        running(always(reply())) as plain,
        running(always(reply(302, location=plain.url)), trusted.context("localhost")) as upstream,
        sending(upstream.url, bounds=HERE) as sender,
    ):
        error = await refused(sender, upstream.url)
    assert error.code == "PERMISSION_DENIED"
    assert plain.connections == 0


@pytest.mark.parametrize("most", [0, 1, 5])
async def test_redirects_end(most: int) -> None:
    bounds, script = Bounds(max_redirects=most), always(reply(302, location="/again"))
    async with running(script) as upstream, sending(upstream.url, bounds=bounds) as sender:
        error = await refused(sender, upstream.url)
    assert error.code == "TRANSPORT_NETWORK_ERROR"
    assert f"more than {most} times" in error.message
    assert len(upstream.requests) == most + 1


@pytest.mark.parametrize("answer", [reply(302), reply(304), reply(300, location="/b")], ids=["nowhere", "304", "300"])
async def test_what_leads_nowhere_is_an_answer(answer: bytes) -> None:
    async with running(always(answer)) as upstream, sending(upstream.url) as sender:
        assert 300 <= (await got(sender, upstream.url)).status < 305
    assert len(upstream.requests) == 1
