"""Webhooks, received by a real server on this machine, which may also be hostile."""

import asyncio

import pytest

from headgate.console.channels.interface import ChannelError
from headgate.console.channels.webhook import Webhook
from headgate.server.settings import SettingError
from tests.channels.certificates import Certificates
from tests.channels.notices import CODE, HOSTILE, notice
from tests.channels.receivers import ACCEPTED, Behaviour, Receiver, answering, connections, receiving

pytestmark = pytest.mark.anyio

BEARER = "a-token-that-nobody-guesses"


def answer(status: str, headers: str = "", body: str = "") -> bytes:
    return f"HTTP/1.1 {status}\r\n{headers}content-length: {len(body)}\r\n\r\n{body}".encode()


def hook(receiver: Receiver, *, token: str | None = None, seconds: float = 30.0, path: str = "") -> Webhook:
    return Webhook(receiver.address + path, token, seconds=seconds, waits=(0.0, 0.0))


async def failure(webhook: Webhook) -> str:
    with pytest.raises(ChannelError) as failed:
        await webhook.show(notice())
    words = str(failed.value)
    assert CODE not in words
    assert BEARER not in words
    return words


# what is sent


async def test_the_receiver_gets_all_that_a_person_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    about = notice(name="Zoë", hint="drop table käse")
    async with receiving() as receiver:
        await hook(receiver, token=BEARER).show(about)
    [request] = receiver.requests
    assert request.line == "POST /hook HTTP/1.1"
    assert request.headers["content-type"] == "application/json"
    assert request.headers["authorization"] == f"Bearer {BEARER}"
    sent = request.json
    assert CODE in sent.pop("text")
    assert sent == {
        "agent": "Zoë",
        "challenge_id": about.challenge.id,
        "about_to": "drop table käse",
        "tier": "danger_zone",
        "reason": "Action denied by a pattern",
        "factors": ["The action matches the deny pattern 'rm -rf*'"],
        "code": CODE,
        "expires_at": "2026-07-01T12:05:00.000Z",
    }


async def test_without_a_token_none_is_sent() -> None:
    async with receiving() as receiver:
        await hook(receiver).show(notice())
    assert "authorization" not in receiver.requests[0].headers


async def test_what_an_agent_says_is_no_link_and_no_mention_in_a_chat() -> None:
    """Chats make links of <https://…|words>, [words](https://…) and addresses, but not where ``` encloses them."""
    lure = "```\n<https://evil.example|Verify here> <!channel> [Verify](https://evil.example) & more"
    async with receiving() as receiver:
        await hook(receiver).show(notice(name=lure, hint=lure))
    text = receiver.requests[0].json["text"]
    opened, inside, closed = text.split("```")
    assert (opened, closed) == ("", "")
    assert not set("<>") & set(inside)
    assert "&lt;https://evil.example|Verify here&gt; &lt;!channel&gt;" in inside
    assert "&amp; more" in inside


async def test_even_an_agent_that_is_hostile_in_every_way_is_told_of() -> None:
    async with receiving() as receiver:
        await hook(receiver).show(notice(name="x\r\nX-Evil: 1", hint=HOSTILE))
    [request] = receiver.requests
    assert "x-evil" not in request.headers
    assert (request.json["agent"], request.json["about_to"]) == ("x\r\nX-Evil: 1", HOSTILE)


# which answers count


@pytest.mark.parametrize("status", ["200 OK", "201 Created", "202 Accepted", "204 No Content"])
async def test_success_is_success(status: str) -> None:
    async with receiving(answer(status)) as receiver:
        await hook(receiver).show(notice())
    assert len(receiver.requests) == 1


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 413, 501])
async def test_what_will_not_pass_is_tried_once_and_told(status: int) -> None:
    async with receiving(answer(f"{status} No", body=CODE)) as receiver:
        assert await failure(hook(receiver, path="/secret")) == f"http://127.0.0.1:{receiver.port}/… answered {status}"
    assert len(receiver.requests) == 1


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504])
async def test_what_may_pass_is_tried_again_with_the_same_code(status: int) -> None:
    busy = answer(f"{status} Later")
    async with receiving(busy, busy, ACCEPTED) as receiver:
        await hook(receiver).show(notice())
    assert [request.json["code"] for request in receiver.requests] == [CODE] * 3


async def test_after_three_tries_it_is_told() -> None:
    async with receiving(answer("503 Busy")) as receiver:
        assert await failure(hook(receiver)) == f"http://127.0.0.1:{receiver.port}/… answered 503"
    assert len(receiver.requests) == 3


async def test_a_code_goes_nowhere_else_than_told() -> None:
    async with receiving() as other:
        moved = answer("307 Moved", f"location: {other.address}\r\n")
        async with receiving(moved) as receiver:
            words = await failure(hook(receiver, token=BEARER))
    assert words.endswith("/… sends elsewhere, and a code goes nowhere else: name the address it moved to")
    assert (len(receiver.requests), other.requests) == (1, [])


async def test_a_proxy_of_the_environment_does_not_see_what_is_for_this_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with receiving() as proxy, receiving() as receiver:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)
        await hook(receiver).show(notice())
    assert (len(receiver.requests), proxy.requests) == (1, [])


# encryption


async def test_https_with_a_certificate_that_is_trusted(trusted: Certificates) -> None:
    async with receiving(tls=trusted.context()) as receiver:
        await Webhook(f"https://127.0.0.1:{receiver.port}/hook").show(notice())
    assert receiver.requests[0].json["code"] == CODE


async def test_a_certificate_that_nobody_trusts_gets_no_code(tls: Certificates) -> None:
    async with receiving(tls=tls.context()) as receiver:
        words = await failure(Webhook(f"https://127.0.0.1:{receiver.port}/hook", BEARER, waits=()))
    assert words == f"no safe connection to https://127.0.0.1:{receiver.port}/… could be made"
    assert receiver.requests == []


# hostile receivers


async def _silent(receiver: Receiver, reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
    while await reader.read(65536):
        pass


async def _drips(receiver: Receiver, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\n")
    while not reader.at_eof():
        writer.write(b"x-a: b\r\n")
        await writer.drain()
        await asyncio.sleep(0.01)


@pytest.mark.parametrize("behave", [_silent, _drips], ids=["says nothing", "never ends its headers"])
async def test_one_that_does_not_come_to_an_end_is_left(behave: Behaviour) -> None:
    async with connections(behave) as receiver:
        words = await failure(hook(receiver, seconds=0.3))
        await asyncio.wait_for(receiver.left.wait(), 30)
    assert words in (
        f"http://127.0.0.1:{receiver.port}/… did not answer within 0.3 seconds",
        f"http://127.0.0.1:{receiver.port}/… broke the connection off, or does not speak HTTP",
    )


async def test_an_endless_answer_is_not_read() -> None:
    async def endless(receiver: Receiver, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await answering(b"HTTP/1.1 200 OK\r\n\r\n")(receiver, reader, writer)
        while True:
            writer.write(b"x" * 1_000_000)
            await writer.drain()

    async with connections(endless) as receiver:
        await hook(receiver).show(notice())
        await asyncio.wait_for(receiver.left.wait(), 30)
    assert len(receiver.requests) == 1


@pytest.mark.parametrize("garbage", [b"220 mail.example.org ESMTP\r\n\r\n", b"", b"HTTP/1.1 200"])
async def test_one_that_does_not_speak_http_is_told_of(garbage: bytes) -> None:
    async with receiving(garbage) as receiver:
        words = await failure(hook(receiver))
    assert words == f"http://127.0.0.1:{receiver.port}/… broke the connection off, or does not speak HTTP"


async def test_one_that_is_not_there_is_told_of() -> None:
    async with receiving() as receiver:
        pass
    assert await failure(hook(receiver)) == f"no safe connection to http://127.0.0.1:{receiver.port}/… could be made"


# which addresses are taken


@pytest.mark.parametrize(
    "url",
    [
        "https://hooks.example.org/services/T0/B0/x",
        "https://user:secret@hooks.example.org:8443/x?y=z",
        "http://127.0.0.1:9/x",
        "http://[::1]:9/x",
        "http://localhost:9/x",
    ],
)
def test_https_anywhere_and_http_on_this_machine(url: str) -> None:
    assert Webhook(url).name == "webhook"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("http://example.org/secret", "http://example.org/…"),
        ("http://127.0.0.1.example.org/secret", "http://127.0.0.1.example.org/…"),
        ("http://user:secret@example.org?secret", "http://example.org/…"),
        ("https://", "https:///…"),
        ("https:///secret", "https:///…"),
        ("https://[::1", "https://[::1/…"),
        ("https://example.org:port/secret", "https://example.org:port/…"),
        ("https://example.org:99999/secret", "https://example.org:99999/…"),
        ("https://exam ple.org/secret", "https://exam ple.org/…"),
        ("https://example.org/a secret", "https://example.org/…"),
        ("https://example.org/\x00secret", "https://example.org/…"),
        ("https://example.org/" + "secret" * 20_000, "https://example.org/…"),
    ],
)
def test_other_addresses_are_refused_without_their_secrets(url: str, shown: str) -> None:
    with pytest.raises(SettingError) as refused:
        Webhook(url)
    assert str(refused.value) == f"--notify '{shown}' must be a whole https URL: others could read the code"


@pytest.mark.parametrize("token", ["two\nlines", "tab\t", "käse", "\x00"])
def test_a_token_that_cannot_be_sent_is_refused_without_showing_it(token: str) -> None:
    with pytest.raises(SettingError, match="HEADGATE_WEBHOOK_TOKEN must be plain letters") as refused:
        Webhook("https://example.org/x", token)
    assert token not in str(refused.value)
