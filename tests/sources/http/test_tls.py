"""Encryption: the name is verified whatever the address, and what fails is told as what it is."""

import asyncio
import os
import socket
import ssl
from collections.abc import Awaitable, Callable

import anyio
import pytest

from headgate.sources.http.bounds import Bounds
from tests.sources.http.conftest import Authority
from tests.sources.http.upstream import Received, always, got, refused, reply, running, sending

pytestmark = pytest.mark.anyio

ALLOWED = Bounds(allow=("127.0.0.0/8",))


async def here(host: str, port: int) -> list[str]:
    """A name server to which every name is this machine."""
    return ["127.0.0.1"]


async def test_the_certificate_is_of_the_name_and_not_of_the_address(trusted: Authority) -> None:
    async with running(always(reply(200, b"safe")), trusted.context("api.example")) as upstream:
        url = f"https://api.example:{upstream.port}"
        async with sending(url, bounds=ALLOWED, resolver=here) as sender:
            assert (await got(sender, url)).content == b"safe"
    assert upstream.requests[0].headers["host"] == f"api.example:{upstream.port}"


@pytest.mark.parametrize("names", [("other.example",), ("127.0.0.1",), ("localhost",)], ids=str)
async def test_a_certificate_of_another_name_is_refused(trusted: Authority, names: tuple[str, ...]) -> None:
    async with running(always(reply()), trusted.context(*names)) as upstream:
        url = f"https://api.example:{upstream.port}"
        async with sending(url, bounds=ALLOWED, resolver=here) as sender:
            error = await refused(sender, url)
    assert error.code == "TRANSPORT_TLS_ERROR"
    assert error.details == {"target": url}
    assert upstream.requests == []


async def test_a_certificate_that_nobody_vouches_for_is_refused(authority: Authority) -> None:
    async with running(always(reply()), authority.context("localhost")) as upstream, sending(upstream.url) as sender:
        assert (await refused(sender, upstream.url)).code == "TRANSPORT_TLS_ERROR"
    assert upstream.requests == []


def greeting(answer: bytes | None) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]:
    """A server that reads the beginning of what it is told and says this, or nothing and waits."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(10)
        if answer is None:
            await reader.read()
        else:
            writer.write(answer)
        writer.close()

    return serve


@pytest.mark.parametrize(
    ("answer", "codes"),
    [
        (reply(400), {"TRANSPORT_TLS_ERROR"}),
        (b"", {"TRANSPORT_NETWORK_ERROR", "TRANSPORT_TLS_ERROR"}),
        (None, {"TRANSPORT_TIMEOUT"}),
    ],
    ids=["plain words", "hanging up", "silence"],
)
async def test_a_server_that_speaks_no_tls_is_told_by_what_it_does(answer: bytes | None, codes: set[str]) -> None:
    server = await asyncio.start_server(greeting(answer), "127.0.0.1", 0)
    url = f"https://localhost:{server.sockets[0].getsockname()[1]}"
    async with server, sending(url, bounds=Bounds(retries=0, connect_seconds=0.2)) as sender:
        assert (await refused(sender, url)).code in codes


async def test_silence_after_the_greeting_is_no_error_of_tls(trusted: Authority) -> None:
    async def script(received: Received, writer: asyncio.StreamWriter) -> None:
        await anyio.sleep_forever()

    async with (
        running(script, trusted.context("localhost")) as upstream,
        sending(upstream.url, bounds=Bounds(total_seconds=0.2)) as sender,
    ):
        assert (await refused(sender, upstream.url)).code == "TRANSPORT_TIMEOUT"


async def test_what_is_not_encrypted_amid_the_encrypted_is_an_error_of_tls(trusted: Authority) -> None:
    async def script(received: Received, writer: asyncio.StreamWriter) -> None:
        with socket.socket(fileno=os.dup(writer.get_extra_info("socket").fileno())) as beneath:
            beneath.send(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

    async with (
        running(script, trusted.context("localhost")) as upstream,
        sending(upstream.url, bounds=Bounds(retries=0)) as sender,
    ):
        assert (await refused(sender, upstream.url)).code == "TRANSPORT_TLS_ERROR"


async def test_a_server_that_wants_a_certificate_of_ours_gives_no_answer(trusted: Authority) -> None:
    context = trusted.context("localhost")
    context.verify_mode = ssl.CERT_REQUIRED
    async with running(always(reply()), context) as upstream, sending(upstream.url, bounds=Bounds(retries=0)) as sender:
        error = await refused(sender, upstream.url)
    assert error.code in ("TRANSPORT_TLS_ERROR", "TRANSPORT_NETWORK_ERROR")  # it may hang up before it says why
    assert upstream.requests == []


async def test_a_home_on_this_machine_may_be_encrypted(trusted: Authority) -> None:
    async with running(always(reply(200)), trusted.context("localhost")) as upstream, sending(upstream.url) as sender:
        assert (await got(sender, upstream.url)).status == 200
