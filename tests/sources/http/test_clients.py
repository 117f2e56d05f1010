"""The guarded client of httpx2: the same guard, whatever its user does with it."""

import asyncio
import gzip
import logging

import httpx2
import pytest

from headgate.sources.http.bounds import Bounds
from headgate.sources.http.failures import trouble_of
from headgate.sources.http.sender import guarded_client
from headgate.sources.http.transport import Refused
from tests.sources.http.upstream import Received, always, by_path, reply, running

pytestmark = pytest.mark.anyio


async def test_a_client_reaches_its_own_origin() -> None:
    async with (
        running(always(reply(200, b"here"))) as upstream,
        guarded_client(Bounds(), upstream.url, headers={"X-Own": "1"}) as client,
    ):
        answer = await client.post(f"{upstream.url}/mcp", json={"a": 1})
    assert answer.text == "here"
    assert upstream.requests[0].headers["x-own"] == "1"
    assert upstream.requests[0].headers["accept-encoding"] == "identity"


@pytest.mark.parametrize(
    "url",
    [
        *("http://127.0.0.1:1/", "https://10.0.0.1/", "https://169.254.169.254/", "http://example.com/"),
        *("https://user:s3same@example.com/", "https://2130706433/", "ws://example.com/", "wss://127.0.0.1/"),
    ],
)
async def test_it_reaches_nothing_that_is_forbidden_and_says_what_to_do(url: str) -> None:
    async with guarded_client(Bounds(), "https://api.example") as client:
        with pytest.raises(Refused) as caught:
            await client.get(url)
    error = trouble_of(caught.value, "https://api.example").error
    assert error.code in ("PERMISSION_DENIED", "VALIDATION_INVALID_VALUE")
    assert "s3same" not in error.message


async def test_it_follows_redirects_within_an_origin_only() -> None:
    async with running(always(reply())) as other:
        script = by_path(
            a=reply(307, location="/b"),
            b=reply(200, b"b"),
            c=reply(302, location=other.url),
            d=reply(302, location="ftp://x"),
        )
        bounds = Bounds(allow=("localhost", "127.0.0.1"))
        async with running(script) as upstream:
            headers = {"X-Api-Key": "key"}
            async with guarded_client(bounds, upstream.url, follow_redirects=True, headers=headers) as client:
                assert (await client.get(f"{upstream.url}/a")).text == "b"
                for path in ("c", "d"):
                    with pytest.raises(Refused, match="another origin") as caught:
                        await client.get(f"{upstream.url}/{path}")
                    assert caught.value.request.url.path == f"/{path}"
    assert other.connections == 0


async def test_hooks_of_its_user_are_called_too() -> None:
    seen: list[int] = []

    async def note(response: httpx2.Response) -> None:
        seen.append(response.status_code)

    async with (
        running(always(reply(201))) as upstream,
        guarded_client(Bounds(), upstream.url, event_hooks={"response": [note]}) as client,
    ):
        await client.get(upstream.url)
    assert seen == [201]


@pytest.mark.parametrize("option", ["transport", "proxy", "mounts", "verify", "trust_env", "cert"])
def test_nothing_can_be_set_that_leads_round_the_guard(option: str) -> None:
    with pytest.raises(ValueError, match=option):
        guarded_client(Bounds(), "https://api.example", **{option: None})  # type: ignore[arg-type]


async def test_an_answer_ends_with_the_bounds_and_a_stream_of_events_does_not() -> None:
    script = by_path(
        a=reply(200, b"x" * 2_000), b=reply(200, b"data: x\n\n" * 500, content_type="text/event-stream; charset=utf-8")
    )
    async with (
        running(script) as upstream,
        guarded_client(Bounds(max_response_bytes=1_000), upstream.url) as client,
    ):
        with pytest.raises(httpx2.ReadError, match="too large"):
            await client.get(f"{upstream.url}/a")
        assert len((await client.get(f"{upstream.url}/b")).content) == 4_500


async def test_what_is_compressed_unasked_is_refused() -> None:
    answer = reply(200, gzip.compress(bytes(1_000_000)), content_encoding="gzip")
    async with running(always(answer)) as upstream, guarded_client(Bounds(), upstream.url) as client:
        with pytest.raises(Refused, match="compresses"):
            await client.get(upstream.url, headers={"Accept-Encoding": "gzip"})


async def test_no_query_of_a_url_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="httpx2"):
        async with running(always(reply())) as upstream, guarded_client(Bounds(), upstream.url) as client:
            await client.get(f"{upstream.url}/mcp?api_key=hidden-key#hidden-part")
    assert f"{upstream.url}/mcp" in caplog.text
    assert "hidden" not in caplog.text


def test_other_lines_of_the_same_log_stay_as_they_are(caplog: pytest.LogCaptureFixture) -> None:
    guarded_client(Bounds(), "https://api.example")
    log = logging.getLogger("httpx2")
    with caplog.at_level(logging.INFO, logger="httpx2"):
        log.info("plain")
        log.info("%(name)s", {"name": "named"})
    assert caplog.messages == ["plain", "named"]


async def test_nothing_is_sent_twice_by_it() -> None:
    async def script(received: Received, writer: asyncio.StreamWriter) -> None:
        return None

    async with running(script) as upstream, guarded_client(Bounds(), upstream.url) as client:
        with pytest.raises(httpx2.RemoteProtocolError):
            await client.post(upstream.url)
    assert len(upstream.requests) == 1


async def test_no_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    async with running(always(reply())) as proxy, running(always(reply(200, b"direct"))) as upstream:
        for variable in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(variable, proxy.url)
        async with guarded_client(Bounds(), upstream.url) as client:
            assert (await client.get(upstream.url)).text == "direct"
    assert proxy.connections == 0
