"""How much and how long: floods, bombs and drips end early."""

import asyncio
import gzip
import zlib
from contextlib import suppress

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.protocol.errors import AqlError
from headgate.sources.http.bounds import Bounds
from headgate.sources.http.messages import OutRequest
from tests.sources.http.upstream import Received, Script, always, got, refused, reply, running, sending

pytestmark = pytest.mark.anyio

SMALL = Bounds(max_response_bytes=1_000)
TEXT = b"the very same text " * 50


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


def chunked(*pieces: bytes) -> bytes:
    return b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in (*pieces, b""))


def endless(first: bytes, piece: bytes, **headers: str) -> Script:
    """A script whose answer has no end, as long as somebody reads it."""

    async def script(received: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(reply(200, b"", transfer_encoding="chunked", **headers) + b"%x\r\n%s\r\n" % (len(first), first))
        while True:
            writer.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            await writer.drain()

    return script


ENCODED = (
    ("identity", TEXT),
    ("gzip", gzip.compress(TEXT)),
    ("x-gzip", gzip.compress(TEXT)),
    ("GZip", gzip.compress(TEXT[:100]) + gzip.compress(TEXT[100:])),
    ("deflate", zlib.compress(TEXT)),
    ("deflate", raw_deflate(TEXT)),
    ("deflate", zlib.compress(TEXT) + b"more"),
)


@pytest.mark.parametrize(("encoding", "body"), ENCODED, ids=[f"{index} {one[0]}" for index, one in enumerate(ENCODED)])
async def test_a_compressed_answer_is_unfolded(encoding: str, body: bytes) -> None:
    async with (
        running(always(reply(200, body, content_encoding=encoding))) as upstream,
        sending(upstream.url) as sender,
    ):
        assert (await got(sender, upstream.url)).content == TEXT
    assert upstream.requests[0].headers["accept-encoding"] == "gzip, deflate"


async def test_it_is_unfolded_however_it_is_cut() -> None:
    packed = gzip.compress(TEXT)
    body = chunked(*(packed[index : index + 1] for index in range(len(packed))))
    answer = reply(200, body, content_encoding="gzip", transfer_encoding="chunked")
    async with running(always(answer)) as upstream, sending(upstream.url) as sender:
        assert (await got(sender, upstream.url)).content == TEXT


@pytest.mark.parametrize("encoding", ["gzip, gzip", "br", "zstd", "compress", "deflate, gzip", "rot13"])
async def test_compressions_that_were_not_asked_for_are_refused(encoding: str) -> None:
    answer = reply(200, gzip.compress(gzip.compress(TEXT)), content_encoding=encoding)
    async with running(always(answer)) as upstream, sending(upstream.url) as sender:
        assert (await refused(sender, upstream.url)).code == "SERIALIZATION_PARSE_ERROR"


@pytest.mark.parametrize(
    "body",
    [b"no gzip at all", gzip.compress(TEXT)[:-9], gzip.compress(TEXT) + b"rest"],
    ids=["none at all", "cut short", "with more after it"],
)
async def test_damaged_compression_is_told(body: bytes) -> None:
    answer = reply(200, body, content_encoding="gzip")
    async with running(always(answer)) as upstream, sending(upstream.url) as sender:
        assert (await refused(sender, upstream.url)).code == "SERIALIZATION_PARSE_ERROR"


async def test_an_empty_answer_may_say_that_it_is_compressed() -> None:
    async with running(always(reply(200, b"", content_encoding="gzip"))) as upstream, sending(upstream.url) as sender:
        assert (await got(sender, upstream.url)).content == b""


async def test_an_announced_size_over_the_limit_is_refused_before_anything_is_read() -> None:
    release = asyncio.Event()

    async def script(received: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(reply(200, content_length="1001"))
        await writer.drain()
        await release.wait()

    async with running(script) as upstream, sending(upstream.url, bounds=SMALL) as sender:
        error = await refused(sender, upstream.url)
        release.set()
    assert error.code == "VALIDATION_PAYLOAD_TOO_LARGE"
    assert error.details == {
        "limit_type": "response_size",
        "limit_value": 1_000,
        "actual_value": 1_001,
        "unit": "bytes",
    }


async def test_the_limit_itself_is_not_over_it() -> None:
    async with running(always(reply(200, b"x" * 1_000))) as upstream, sending(upstream.url, bounds=SMALL) as sender:
        assert len((await got(sender, upstream.url)).content) == 1_000


async def test_only_a_question_for_the_size_may_be_answered_with_any() -> None:
    answer = reply(200, content_length="5000000")
    async with running(always(answer)) as upstream, sending(upstream.url, bounds=SMALL) as sender:
        found = [await got(sender, upstream.url, "HEAD") for _ in range(2)][1]
    assert upstream.connections == 1
    assert found.content == b""
    assert found.headers["content-length"] == "5000000"


GZIP_HEAD = gzip.compress(b"")[:10]
NOTHING = b"\x00\x00\x00\xff\xff" * 100
"""Blocks of deflate with nothing in them: however many come, nothing unfolds."""


@pytest.mark.parametrize(
    ("first", "piece", "headers"),
    [(b"x", b"x" * 500, {}), (GZIP_HEAD, NOTHING, {"content_encoding": "gzip"})],
    ids=["plain", "gzip of nothing"],
)
async def test_a_flood_ends_early(first: bytes, piece: bytes, headers: dict[str, str]) -> None:
    async with running(endless(first, piece, **headers)) as upstream, sending(upstream.url, bounds=SMALL) as sender:
        assert (await refused(sender, upstream.url)).code == "VALIDATION_PAYLOAD_TOO_LARGE"


async def test_a_bomb_ends_early() -> None:
    bomb = gzip.compress(bytes(50_000_000))
    assert len(bomb) < 100_000
    bounds = Bounds(max_response_bytes=100_000)
    answer = reply(200, bomb, content_encoding="gzip")
    async with running(always(answer)) as upstream, sending(upstream.url, bounds=bounds) as sender:
        error = await refused(sender, upstream.url)
    assert error.code == "VALIDATION_PAYLOAD_TOO_LARGE"
    assert error.details is not None
    assert isinstance(error.details["actual_value"], int)
    assert error.details["actual_value"] <= 100_000 + 65_536


async def test_a_slow_drip_ends_with_the_time() -> None:
    async def script(received: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(reply(200, content_length="1000000"))
        while not writer.is_closing():
            writer.write(b"x")
            await writer.drain()
            await asyncio.sleep(0.01)

    bounds = Bounds(total_seconds=0.2)
    async with running(script) as upstream, sending(upstream.url, bounds=bounds) as sender:
        error = await refused(sender, upstream.url)
    assert error.code == "TRANSPORT_TIMEOUT"
    assert error.details == {"target": upstream.url}


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_silence_ends_with_the_time_and_is_told_by_what_it_may_mean(method: str) -> None:
    async def script(received: Received, writer: asyncio.StreamWriter) -> bytes:
        await anyio.sleep_forever()
        raise AssertionError

    bounds = Bounds(total_seconds=0.1)
    async with running(script) as upstream, sending(upstream.url, bounds=bounds) as sender:
        error = await refused(sender, upstream.url, method)
    assert error.code == "TRANSPORT_TIMEOUT"
    assert ("may have taken effect" in error.message) is (method == "POST")
    assert len(upstream.requests) == 1


async def test_who_ran_out_of_time_leaves_no_connection_behind() -> None:
    async def script(received: Received, writer: asyncio.StreamWriter) -> bytes:
        if received.target == "/quick":
            return reply(200)
        writer.write(reply(200, content_length="10") + b"begun")
        await writer.drain()
        await anyio.sleep_forever()
        raise AssertionError

    async with running(script) as upstream, sending(upstream.url, bounds=Bounds(total_seconds=0.1)) as sender:
        assert (await refused(sender, upstream.url)).code == "TRANSPORT_TIMEOUT"
        assert sender._transport._pool.connections == []
        assert (await got(sender, f"{upstream.url}/quick")).status == 200


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_an_answer_that_breaks_off_is_not_asked_for_again(method: str) -> None:
    async def script(received: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(reply(200, content_length="100") + b"only this")
        await writer.drain()

    async with running(script) as upstream, sending(upstream.url) as sender:
        error = await refused(sender, upstream.url, method)
    assert error.code == "TRANSPORT_NETWORK_ERROR"
    assert ("may have taken effect" in error.message) is (method == "POST")
    assert len(upstream.requests) == 1


async def test_headers_without_end_end() -> None:
    async def script(received: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n")
        while not writer.is_closing():
            writer.write(b"X-More: " + b"y" * 1_000 + b"\r\n")
            await writer.drain()

    async with running(script) as upstream, sending(upstream.url, bounds=Bounds(retries=0)) as sender:
        assert (await refused(sender, upstream.url)).code == "TRANSPORT_NETWORK_ERROR"


@given(st.binary(max_size=200))
def test_no_bytes_from_an_upstream_make_anything_but_an_answer_or_an_error(noise: bytes) -> None:
    async def main() -> None:
        async def script(received: Received, writer: asyncio.StreamWriter) -> None:
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n" + noise)

        async with running(script) as upstream, sending(upstream.url, bounds=Bounds(retries=0)) as sender:
            with suppress(AqlError):
                assert (await got(sender, upstream.url)).status == 200

    anyio.run(main)


async def test_a_request_carries_its_body_and_its_headers_as_they_are() -> None:
    headers = (("X-One", "é \u4f60"), ("X-Two", "a"), ("Content-Type", "text/plain"), ("User-Agent", "mine"))
    async with running(always(reply(200))) as upstream, sending(upstream.url) as sender:
        await sender.send(OutRequest("PUT", f"{upstream.url}/a%2Fb/%C3%A9?q=%26&r=a+b", headers, b"\x00\xff"))
    received = upstream.requests[0]
    assert (received.method, received.target, received.body) == ("PUT", "/a%2Fb/%C3%A9?q=%26&r=a+b", b"\x00\xff")
    assert received.headers["x-one"] == "é \u4f60"
    assert (received.headers["user-agent"], received.headers["accept"]) == ("mine", "*/*")
    assert received.headers["host"] == f"localhost:{upstream.port}"
