"""OAuth 2 client credentials: one token for all, renewed in time, and once more after it was turned down."""

import asyncio
import base64
import json
from collections.abc import Awaitable, Callable
from urllib.parse import parse_qs

import anyio
import pytest

from headgate.protocol.adapter_errors import AdapterError
from headgate.protocol.errors import AqlError
from headgate.sources.http.bounds import Bounds
from headgate.sources.http.credentials import ClientCredentials
from headgate.sources.http.messages import OutRequest
from headgate.sources.http.sender import Sender
from headgate.sources.http.tokens import Tokens
from tests.sources.http.upstream import Received, Script, always, got, in_turn, refused, reply, running, sending

pytestmark = pytest.mark.anyio

ENVIRONMENT = {"ID": "the client", "SECRET": "the+secret"}


def granted(token: str, **more: object) -> bytes:
    return reply(
        200,
        json.dumps({"access_token": token, "token_type": "Bearer", **more}).encode(),
        content_type="application/json",
    )


def counting(**more: object) -> Script:
    """A server of tokens that numbers them."""
    numbers = iter(range(1, 1_000))

    async def script(received: Received, writer: asyncio.StreamWriter) -> bytes:
        return granted(f"token-{next(numbers)}", **more)

    return script


def oauth(url: str, **options: object) -> ClientCredentials:
    return ClientCredentials(f"{url}/token", "ID", "SECRET", **options)  # type: ignore[arg-type]


def shown(requests: list[Received]) -> list[str]:
    return [request.headers.get("authorization", "") for request in requests]


async def test_a_token_is_asked_for_once_and_used_from_then_on() -> None:
    async with running(counting(expires_in=3600)) as tokens, running(always(reply())) as upstream:
        credential = oauth(tokens.url, scopes=("read", "write"))
        async with sending(upstream.url, credential, environment=ENVIRONMENT) as sender:
            for _ in range(3):
                await got(sender, upstream.url)
    assert shown(upstream.requests) == ["Bearer token-1"] * 3
    [asked] = tokens.requests
    assert (asked.method, asked.target) == ("POST", "/token")
    assert parse_qs(asked.body.decode()) == {"grant_type": ["client_credentials"], "scope": ["read write"]}
    assert asked.headers["content-type"] == "application/x-www-form-urlencoded"
    assert base64.b64decode(asked.headers["authorization"].removeprefix("Basic ")) == b"the+client:the%2Bsecret"


async def test_the_credentials_stand_in_the_body_where_the_server_wants_them_there() -> None:
    async with (
        running(counting()) as tokens,
        running(always(reply())) as upstream,
        sending(upstream.url, oauth(tokens.url, client_auth="body"), environment=ENVIRONMENT) as sender,
    ):
        await got(sender, upstream.url)
    form = parse_qs(tokens.requests[0].body.decode())
    assert (form["client_id"], form["client_secret"]) == (["the client"], ["the+secret"])
    assert "authorization" not in tokens.requests[0].headers


async def test_of_many_who_wait_one_asks() -> None:
    async with (
        running(counting()) as tokens,
        running(always(reply())) as upstream,
        sending(upstream.url, oauth(tokens.url), environment=ENVIRONMENT) as sender,
        anyio.create_task_group() as group,
    ):
        for number in range(20):
            group.start_soon(sender.send, OutRequest("POST", f"{upstream.url}/{number}"))
    assert len(tokens.requests) == 1
    assert shown(upstream.requests) == ["Bearer token-1"] * 20


async def turned_down_once(received: Received, writer: asyncio.StreamWriter) -> bytes:
    return reply(401) if received.headers["authorization"] == "Bearer token-1" else reply(200)


async def test_a_token_that_is_turned_down_is_renewed_once() -> None:
    async with (
        running(counting()) as tokens,
        running(turned_down_once) as upstream,
        sending(upstream.url, oauth(tokens.url), environment=ENVIRONMENT) as sender,
    ):
        assert (await got(sender, upstream.url)).status == 200
        assert (await got(sender, upstream.url)).status == 200
    assert shown(upstream.requests) == ["Bearer token-1", "Bearer token-2", "Bearer token-2"]


async def test_what_may_change_something_is_not_sent_again_but_the_next_has_a_new_token() -> None:
    async with (
        running(counting()) as tokens,
        running(turned_down_once) as upstream,
        sending(upstream.url, oauth(tokens.url), environment=ENVIRONMENT) as sender,
    ):
        assert (await got(sender, upstream.url, "POST")).status == 401
        assert (await got(sender, upstream.url, "POST")).status == 200
    assert shown(upstream.requests) == ["Bearer token-1", "Bearer token-2"]


async def test_who_is_turned_down_with_every_token_stops_asking() -> None:
    async with (
        running(counting()) as tokens,
        running(always(reply(401))) as upstream,
        sending(upstream.url, oauth(tokens.url), environment=ENVIRONMENT) as sender,
    ):
        assert (await got(sender, upstream.url)).status == 401
    assert (len(tokens.requests), len(upstream.requests)) == (2, 2)


async def test_many_who_are_turned_down_together_renew_it_together() -> None:
    everybody, inside = asyncio.Event(), []

    async def script(received: Received, writer: asyncio.StreamWriter) -> bytes:
        if received.headers["authorization"] != "Bearer token-1":
            return reply(200)
        inside.append(received)
        if len(inside) == 5:
            everybody.set()
        await everybody.wait()
        return reply(401)

    async with (
        running(counting()) as tokens,
        running(script) as upstream,
        sending(upstream.url, oauth(tokens.url), environment=ENVIRONMENT) as sender,
        anyio.create_task_group() as group,
    ):
        for _ in range(5):
            group.start_soon(got, sender, upstream.url)
    assert len(tokens.requests) == 2
    assert len(upstream.requests) == 10


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


LIFETIMES = ((3600, 3_569), (60, 29), ("60", 29), (None, 269), ("soon", 269), (-5, 269), (10**12, 86_369), (True, 269))


@pytest.mark.parametrize(("expires_in", "good_for"), LIFETIMES)
async def test_a_token_is_renewed_shortly_before_it_expires(expires_in: object, good_for: int) -> None:
    clock = Clock()
    async with running(counting(expires_in=expires_in)) as server, sending(server.url) as sender:
        tokens = Tokens(oauth(server.url), sender.send, ENVIRONMENT, clock)
        await tokens.proof()
        clock.now += good_for
        await tokens.proof()
        assert len(server.requests) == 1
        clock.now += 1
        await tokens.proof()
    assert len(server.requests) == 2


async def test_a_token_that_is_as_good_as_expired_is_used_once_and_asked_for_anew() -> None:
    async with (
        running(counting(expires_in=1)) as tokens,
        running(always(reply())) as upstream,
        sending(upstream.url, oauth(tokens.url), environment=ENVIRONMENT) as sender,
    ):
        await got(sender, upstream.url)
        await got(sender, upstream.url)
    assert shown(upstream.requests) == ["Bearer token-1", "Bearer token-2"]


NO_TOKENS = (
    reply(401, b'{"error": "invalid_client"}', content_type="application/json"),
    reply(400, b'{"error": "the+secret"}', content_type="application/json"),
    reply(200, b"{}", content_type="application/json"),
    reply(200, b"[]", content_type="application/json"),
    reply(200, b"no JSON", content_type="application/json"),
    reply(500, b"<html>", content_type="text/html"),
    granted("two\r\nX-Other: lines"),
    granted(""),
    granted("t\u00f6ken"),
    granted("token", token_type="mac"),  # noqa: S106
    granted("token", token_type=7),
    reply(200, b'{"access_token": 7}', content_type="application/json"),
)


@pytest.mark.parametrize("answer", NO_TOKENS, ids=range(len(NO_TOKENS)))
async def test_what_is_no_token_is_told_and_nothing_is_sent(answer: bytes) -> None:
    async with (
        running(always(answer)) as tokens,
        running(always(reply())) as upstream,
        sending(upstream.url, oauth(tokens.url), environment=ENVIRONMENT) as sender,
    ):
        error = await refused(sender, upstream.url)
    assert error.code == "AUTH_CONFIG_INVALID"
    assert "secret" not in f"{error}"
    assert (len(tokens.requests), len(upstream.requests)) == (1, 0)


async def test_a_server_of_tokens_that_is_gone_is_asked_once() -> None:
    async with (
        running(in_turn(None)) as tokens,
        running(always(reply())) as upstream,
        sending(upstream.url, oauth(tokens.url), environment=ENVIRONMENT) as sender,
    ):
        error = await refused(sender, upstream.url, "POST")
    assert error.code == "TRANSPORT_NETWORK_ERROR"
    assert error.details == {"target": tokens.url}
    assert "effect" not in error.message
    assert (len(tokens.requests), len(upstream.requests)) == (1, 0)


async def test_a_missing_variable_is_named_before_a_token_is_asked_for() -> None:
    async with (
        running(counting()) as tokens,
        running(always(reply())) as upstream,
        sending(upstream.url, oauth(tokens.url), environment={"ID": "x"}) as sender,
    ):
        error = await refused(sender, upstream.url)
    assert (error.code, error.details) == ("AUTH_CREDENTIAL_MISSING", {"variable": "SECRET"})
    assert (tokens.connections, upstream.connections) == (0, 0)


async def test_a_source_elsewhere_cannot_have_its_tokens_from_this_machine() -> None:
    async with (
        running(counting()) as tokens,
        sending("https://api.example", oauth(tokens.url), environment=ENVIRONMENT) as sender,
    ):
        error = await refused(sender, "https://api.example/")
    assert error.code == "PERMISSION_DENIED"
    assert tokens.connections == 0


@pytest.mark.parametrize("url", ["http://elsewhere.example", "not a url", "https://user:word@elsewhere.example"])
def test_a_token_url_must_be_one_that_requests_may_be_sent_to(url: str) -> None:
    with pytest.raises(AdapterError, match="token"):
        Sender(Bounds(), "https://api.example", [oauth(url)])


async def test_nobody_is_forgotten_for_a_token_that_was_renewed_meanwhile() -> None:
    send: Callable[[OutRequest], Awaitable[object]]
    async with running(counting(expires_in=100)) as server, sending(server.url) as sender:
        clock = Clock()
        send = sender.send
        tokens = Tokens(oauth(server.url), send, ENVIRONMENT, clock)
        old = await tokens.proof()
        clock.now += 100
        await tokens.proof()
        tokens.forget([old])
        await tokens.proof()
    assert len(server.requests) == 2


async def test_a_redirect_of_the_token_server_to_elsewhere_is_not_followed() -> None:
    async with (
        running(always(reply())) as other,
        running(always(reply(307, location="https://10.0.0.1/"))) as tokens,
        sending(other.url, oauth(tokens.url), environment=ENVIRONMENT) as sender,
    ):
        with pytest.raises(AqlError, match="PROTOCOL_INVALID_MAPPING"):
            await got(sender, other.url)
