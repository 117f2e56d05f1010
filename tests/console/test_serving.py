"""Where the console is: the one URL under which browsers reach it, and a real socket that ends as it should."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import anyio
import httpx2
import pytest

from headgate.console.serving import Place, run_console
from headgate.server.addresses import Address, listen
from headgate.server.settings import SettingError
from headgate.store.interface import Store
from tests.console.desks import Desk

HERE = Address("127.0.0.1", 8787)
EVERYWHERE = Address("0.0.0.0", 8787)  # noqa: S104


@pytest.mark.parametrize(
    ("address", "url", "expected"),
    [
        (HERE, None, "http://127.0.0.1:8787"),
        (Address("127.0.0.1", 80), None, "http://127.0.0.1"),
        (Address("localhost", 8787), None, "http://localhost:8787"),
        (Address("::1", 8787), None, "http://[::1]:8787"),
        (HERE, "http://localhost:9000", "http://localhost:9000"),
        (HERE, "http://console.localhost:8787", "http://console.localhost:8787"),
        (HERE, "https://console.example.org", "https://console.example.org"),
        (HERE, "https://console.example.org/", "https://console.example.org"),
        (HERE, "HTTPS://Console.Example.ORG:443", "https://console.example.org"),
        (HERE, "https://console.example.org:80", "https://console.example.org:80"),
        (HERE, "http://console.localhost:443", "http://console.localhost:443"),
        (EVERYWHERE, "https://console.example.org:8443", "https://console.example.org:8443"),
        (EVERYWHERE, "https://[2001:DB8::1]:8443", "https://[2001:db8::1]:8443"),
        (EVERYWHERE, "https://bücher.example", "https://xn--bcher-kva.example"),
        (Address("192.0.2.7", 443), "https://192.0.2.7", "https://192.0.2.7"),
    ],
)
def test_its_url_is_written_just_as_browsers_send_it(address: Address, url: str | None, expected: str) -> None:
    place = Place.of(address, url)
    assert place.url == expected
    assert expected.partition("://")[2] in place.hosts


@pytest.mark.parametrize(
    "url",
    [
        "",
        "console.example.org",
        "//console.example.org",
        "https://",
        "https://:443",
        "ftp://console.example.org",
        "javascript:alert(1)",
        "https://console.example.org/console",
        "https://console.example.org?a=1",
        "https://console.example.org#a",
        "https://ana@console.example.org",
        "https://ana:secret@console.example.org",
        "https://@console.example.org",
        "https://console.example.org:port",
        "https://console.example.org:99999",
        "https://[::1",
        "https://[console]",
        "https://console example.org",
        "https://console.example.org\\evil.example",
        "https://con<sole>.example.org",
        "https://console..example.org",
        f"https://{'a' * 64}.example.org",
        "https://\u202e.example.org",
    ],
)
def test_what_is_no_url_of_a_console_is_a_mistake_with_words(url: str) -> None:
    with pytest.raises(SettingError) as raised:
        Place.of(HERE, url)
    assert str(raised.value) == f"--console-url '{url}' must be a URL such as https://console.example.org"


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7", "console.example.org"])  # noqa: S104
def test_beyond_this_machine_it_needs_a_url_with_https(host: str) -> None:
    with pytest.raises(SettingError, match="needs --console-url, the https URL under which browsers reach it"):
        Place.of(Address(host, 8787))
    with pytest.raises(SettingError, match="must be a URL such as https:"):
        Place.of(Address(host, 8787), "http://console.example.org")
    assert Place.of(Address(host, 8787), "https://console.example.org").hosts == {"console.example.org"}


@pytest.mark.parametrize(
    ("url", "hosts"),
    [
        (None, {"127.0.0.1:8787", "localhost:8787", "[::1]:8787"}),
        ("http://localhost:9000", {"127.0.0.1:9000", "localhost:9000", "[::1]:9000"}),
        ("http://127.0.0.2", {"127.0.0.2", "127.0.0.1", "localhost", "[::1]"}),
        ("https://console.example.org", {"console.example.org"}),
        ("http://console.localhost:8787", {"console.localhost:8787"}),
    ],
)
def test_it_is_known_by_the_names_of_its_url_and_by_no_other(url: str | None, hosts: set[str]) -> None:
    assert Place.of(HERE, url).hosts == hosts


def test_the_name_of_the_cookie_tells_consoles_of_one_machine_apart() -> None:
    assert Place.of(HERE).cookie == "headgate_console_8787"
    assert Place.of(Address("127.0.0.1", 8788)).cookie == "headgate_console_8788"
    assert Place.of(HERE, "https://console.example.org").cookie == "__Host-headgate_console"


@asynccontextmanager
async def served(at: Desk) -> AsyncIterator[tuple[Place, anyio.CancelScope]]:
    """The console on a socket, until its scope is cancelled."""
    with listen(Address("127.0.0.1", 0)) as sock:
        place = Place.of(Address("127.0.0.1", sock.getsockname()[1]))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run_console, at.console, place, sock)
            yield place, tasks.cancel_scope
            tasks.cancel_scope.cancel()


@pytest.mark.anyio
async def test_on_a_socket_it_answers_and_ends_together_with_what_it_streams(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    at = Desk(store)
    async with AsyncExitStack() as stack:
        place, scope = await stack.enter_async_context(served(at))
        with anyio.CancelScope(shield=True):
            http = await stack.enter_async_context(
                httpx2.AsyncClient(base_url=place.url, headers={"origin": place.url})
            )
            assert (await http.get("/")).status_code == 401
            assert (await http.get("/", headers={"host": "evil.example"})).status_code == 421
            assert (await http.post(f"/sign-in/{await at.link()}")).status_code == 303
            answer = await http.get("/")
            assert answer.status_code == 200
            assert "server" not in answer.headers
            async with http.stream("GET", "/live") as stream:
                assert stream.headers["content-type"].startswith("text/event-stream")
                lines = stream.aiter_lines()
                assert await anext(lines) == "event: changed"
                scope.cancel()
                assert [line async for line in lines if line.startswith("event")] == [], "it has ended"
    assert at.console.closing.is_set()
    assert [one.getMessage() for one in caplog.records if one.levelname == "ERROR"] == []
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", int(place.url.rpartition(":")[2])), timeout=1)


@pytest.mark.anyio
async def test_a_request_that_says_it_came_through_a_proxy_is_not_believed(store: Store) -> None:
    at = Desk(store)
    async with served(at) as (place, _), httpx2.AsyncClient(base_url=place.url) as http:
        forwarded = {"x-forwarded-proto": "https", "x-forwarded-host": "evil.example", "origin": "https://evil.example"}
        answer = await http.post(f"/sign-in/{await at.link()}", headers=forwarded)
        assert answer.status_code == 403


@pytest.mark.anyio
async def test_what_ends_before_it_has_begun_ends_quietly(store: Store) -> None:
    at = Desk(store)
    with listen(Address("127.0.0.1", 0)) as sock:
        with anyio.CancelScope() as scope:
            scope.cancel()
            await run_console(at.console, at.place, sock)
        assert not asyncio.get_running_loop().remove_reader(sock), "nothing watches a socket that will be closed"
    assert at.console.closing.is_set()
