"""Credentials: from the environment, to their own origin, and never to be seen."""

import base64
import logging
from collections.abc import Mapping
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.protocol.adapter_errors import AdapterError
from headgate.protocol.errors import AqlError
from headgate.sources.http.bounds import Bounds
from headgate.sources.http.credentials import (
    ApiKey,
    Basic,
    Bearer,
    ClientCredentials,
    Credential,
    presented,
    proof_of,
)
from headgate.sources.http.decoding import data_of
from headgate.sources.http.failures import failure_of
from headgate.sources.http.links import links_of
from headgate.sources.http.messages import OutRequest
from tests.sources.http.upstream import Received, always, got, refused, reply, running, sending

pytestmark = pytest.mark.anyio

SECRET = "s3cret/with+odd=signs&more"  # noqa: S105
ENVIRONMENT = {
    "TOKEN": SECRET,
    "KEY": SECRET,
    "NAME": "ada",
    "WORD": "pass:wörd",
    "ID": "client",
    "COOKIE": "c00kie-value",
}
BASIC = base64.b64encode("ada:pass:wörd".encode()).decode()

SHOWN: tuple[tuple[Credential, str, dict[str, str]], ...] = (
    (Bearer("TOKEN"), "/x?a=1", {"authorization": f"Bearer {SECRET}"}),
    (ApiKey("X-Key", "KEY"), "/x?a=1", {"x-key": SECRET}),
    (ApiKey("the key", "KEY", "query"), f"/x?a=1&the%20key={quote(SECRET, safe='')}", {}),
    (ApiKey("jar", "COOKIE", "cookie"), "/x?a=1", {"cookie": "jar=c00kie-value"}),
    (Basic("NAME", "WORD"), "/x?a=1", {"authorization": f"Basic {BASIC}"}),
)


@pytest.mark.parametrize(("credential", "target", "headers"), SHOWN, ids=lambda value: type(value).__name__)
async def test_a_credential_is_shown_as_its_kind_demands(
    credential: Credential, target: str, headers: dict[str, str]
) -> None:
    async with (
        running(always(reply())) as upstream,
        sending(upstream.url, credential, environment=ENVIRONMENT) as sender,
    ):
        await got(sender, f"{upstream.url}/x?a=1")
    assert upstream.targets == [target]
    assert headers.items() <= upstream.requests[0].headers.items()


async def test_several_credentials_go_together_and_replace_what_a_caller_sets() -> None:
    async with running(always(reply())) as upstream:
        credentials = (
            Bearer("TOKEN"),
            ApiKey("X-Key", "KEY"),
            ApiKey("k", "COOKIE", "query"),
            ApiKey("j", "COOKIE", "cookie"),
        )
        async with sending(upstream.url, *credentials, environment=ENVIRONMENT) as sender:
            headers = (("AUTHORIZATION", "mine"), ("x-key", "mine"), ("Cookie", "j=mine; other=1"))
            await sender.send(OutRequest("GET", f"{upstream.url}/?k=mine&%6B=mine&l=1&", headers))
    received = upstream.requests[0]
    assert received.target == "/?l=1&k=c00kie-value"
    assert received.headers["authorization"] == f"Bearer {SECRET}"
    assert received.headers["x-key"] == SECRET
    assert received.headers["cookie"] == "other=1; j=c00kie-value"


def test_what_is_replaced_is_gone() -> None:
    request = OutRequest("GET", "https://api.example/", (("AUTHORIZATION", "mine"), ("X-Other", "stays")))
    headers = presented(request, proof_of(Bearer("TOKEN"), ENVIRONMENT)).headers
    assert headers == (("X-Other", "stays"), ("Authorization", f"Bearer {SECRET}"))


async def test_a_credential_is_read_when_it_is_used() -> None:
    environment = {"TOKEN": "first"}
    async with (
        running(always(reply())) as upstream,
        sending(upstream.url, Bearer("TOKEN"), environment=environment) as sender,
    ):
        await got(sender, upstream.url)
        environment |= {"TOKEN": "second\n"}
        await got(sender, upstream.url)
    assert [one.headers["authorization"] for one in upstream.requests] == ["Bearer first", "Bearer second"]


@pytest.mark.parametrize("value", [None, "", " \n"])
async def test_a_missing_variable_is_named_before_anything_is_sent(value: str | None) -> None:
    environment = {"OTHER": "x"} if value is None else {"TOKEN": value}
    async with running(always(reply())) as upstream:
        for credential in (Bearer("TOKEN"), ApiKey("k", "TOKEN", "query"), Basic("TOKEN", "TOKEN")):
            async with sending(upstream.url, credential, environment=environment) as sender:
                error = await refused(sender, upstream.url)
            assert error.code == "AUTH_CREDENTIAL_MISSING"
            assert error.details == {"variable": "TOKEN"}
            assert "'TOKEN'" in error.message
    assert upstream.connections == 0


WRONG: tuple[tuple[Credential, Mapping[str, str]], ...] = (
    (Bearer("TOKEN"), {"TOKEN": "two\r\nX-Other: lines"}),
    (Bearer("TOKEN"), {"TOKEN": "nul\x00"}),
    (Bearer("TOKEN"), {"TOKEN": "pässword"}),
    (ApiKey("X-Key", "KEY"), {"KEY": "a\nb"}),
    (ApiKey("jar", "KEY", "cookie"), {"KEY": "a;b=c"}),
    (ApiKey("jar", "KEY", "cookie"), {"KEY": "a b"}),
    (Basic("NAME", "WORD"), {"NAME": "a:b", "WORD": "hidden"}),
    (Basic("NAME", "WORD"), {"NAME": "ada", "WORD": "\udcff"}),
    (ApiKey("key", "KEY", "query"), {"KEY": "\udcff"}),
)


@pytest.mark.parametrize(("credential", "environment"), WRONG, ids=str)
def test_a_credential_that_could_be_more_than_one_header_is_refused_without_being_shown(
    credential: Bearer | ApiKey | Basic, environment: Mapping[str, str]
) -> None:
    with pytest.raises(AqlError) as caught:
        proof_of(credential, environment)
    assert caught.value.error.code == "AUTH_CONFIG_INVALID"
    assert not any(value in str(caught.value) for value in environment.values())


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (Bearer, ("sk-live-1234",)),
        (Bearer, ("",)),
        (ApiKey, ("X-Key", "a b")),
        (ApiKey, ("X Key", "KEY")),
        (ApiKey, ("", "KEY", "query")),
        (ApiKey, ("X-Key\r\n", "KEY")),
        (ApiKey, ("a=b", "KEY", "cookie")),
        (ApiKey, ("X-Key", "KEY", "path")),
        (Basic, ("NAME", "my password")),
        (ClientCredentials, ("https://a.example/token", "ID", "s3cr3t!")),
        (ClientCredentials, ("https://a.example/token", "ID", "KEY", (), "magic")),
    ],
)
def test_a_credential_that_is_written_wrongly_cannot_be_built_and_no_secret_is_repeated(
    kind: type, values: tuple[str, ...]
) -> None:
    with pytest.raises(AdapterError) as caught:
        kind(*values)
    assert "s3cr3t!" not in str(caught.value)
    assert "sk-live" not in str(caught.value)
    assert "my password" not in str(caught.value)


async def test_credentials_go_to_no_other_origin_than_their_own() -> None:
    bounds = Bounds(allow=("localhost", "127.0.0.1"))
    async with (
        running(always(reply())) as own,
        running(always(reply())) as other,
        sending(
            own.url, Bearer("TOKEN"), ApiKey("k", "KEY", "query"), bounds=bounds, environment=ENVIRONMENT
        ) as sender,
    ):
        await got(sender, f"{other.url}/x")
        await got(sender, f"http://127.0.0.1:{own.port}/x")
    for received in (*own.requests, *other.requests):
        assert received.target == "/x"
        assert "authorization" not in received.headers


async def test_where_no_credentials_go_none_are_needed() -> None:
    async with (
        running(always(reply(204))) as other,
        sending("https://api.example", Bearer("MISSING"), bounds=Bounds(allow=("localhost",))) as sender,
    ):
        assert (await got(sender, other.url)).status == 204


@given(st.text(min_size=1, alphabet=st.characters(codec="utf-8")), st.text(alphabet="ab=&%+;?", max_size=20))
def test_a_key_in_the_query_can_be_read_back_and_changes_nothing_else(key: str, query: str) -> None:
    from urllib.parse import parse_qsl

    if not key.strip():
        return
    proof = proof_of(ApiKey("key", "KEY", "query"), {"KEY": key})
    url = presented(OutRequest("GET", f"https://api.example/x?{query}"), proof).url
    kept, _, added = url.partition("?")[2].rpartition("key=")
    assert parse_qsl(f"key={added}", keep_blank_values=True) == [("key", key.strip())]
    assert kept.rstrip("&") == "&".join(piece for piece in query.split("&") if piece)


ECHO = b'{"you sent": "%s", "and": ["%s"], "n": 1}'


async def echo(received: Received, writer: object) -> bytes:
    """An upstream that repeats whatever it was told."""
    said = "|".join([received.target, *received.headers.values()]).replace('"', "")
    status = int(received.headers.get("x-status", "200"))
    link = f'<{received.target}&page=2>; rel="next"'
    return reply(status, ECHO % (said.encode(), said.encode()), content_type="application/json", link=link)


@pytest.mark.parametrize(("credential", "_target", "_headers"), SHOWN, ids=lambda value: type(value).__name__)
async def test_an_upstream_that_repeats_a_secret_does_not_bring_it_to_light(
    credential: Credential, _target: str, _headers: dict[str, str]
) -> None:
    async with running(echo) as upstream, sending(upstream.url, credential, environment=ENVIRONMENT) as sender:
        answer = await got(sender, f"{upstream.url}/x?a=1")
        failed = await got(sender, f"{upstream.url}/x?a=1", **{"X-Status": "400"})
    error = failure_of(failed, operation="get_x", resource="x").error
    for shown in (data_of(answer), links_of(answer), error.wire(), answer, failed, credential, sender):
        for secret in (SECRET, quote(SECRET, safe=""), "c00kie-value", "pass:wörd", BASIC):
            assert secret not in f"{shown!r}"
            assert secret not in f"{shown}"
    assert links_of(answer)["next"].startswith(f"{upstream.url}/x?a=1")


async def test_a_link_with_a_masked_key_leads_on_with_the_right_one() -> None:
    async with (
        running(echo) as upstream,
        sending(upstream.url, ApiKey("key", "KEY", "query"), environment=ENVIRONMENT) as sender,
    ):
        answer = await got(sender, f"{upstream.url}/x?a=1")
        await got(sender, links_of(answer)["next"])
    assert upstream.targets[1] == f"/x?a=1&page=2&key={quote(SECRET, safe='')}"


async def test_no_log_shows_a_secret_however_much_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    for log in ("httpx2", "httpcore2"):
        caplog.set_level(logging.DEBUG, logger=log)
    with caplog.at_level(logging.DEBUG):
        async with running(always(reply(503, retry_after="0"))) as upstream:
            credentials = (ApiKey("key", "COOKIE", "query"), Bearer("TOKEN"), ApiKey("j", "COOKIE", "cookie"))
            async with sending(upstream.url, *credentials, environment=ENVIRONMENT) as sender:
                await got(sender, f"{upstream.url}/x?a=1")
    assert caplog.records
    assert "c00kie-value" not in caplog.text
    assert SECRET not in caplog.text


async def test_an_error_names_the_source_and_the_origin_and_no_more() -> None:
    async with running(always(reply())) as upstream:
        pass
    environment = {"KEY": "localhost"}  # the most unlucky of secrets
    async with sending(
        upstream.url, ApiKey("key", "KEY", "query"), environment=environment, bounds=Bounds(retries=0), name="shop"
    ) as sender:
        error = await refused(sender, f"{upstream.url}/private/path?x=1")
    assert error.details == {"target": f"http://***:{upstream.port}", "source": "shop"}
    assert "private" not in error.message
    assert "localhost" not in error.message
