"""Where a server listens, and under which names it answers."""

import socket

import pytest

from headgate import Adapter, mcp_server
from headgate.server.addresses import Address, is_loopback, listen
from headgate.server.http import Access, http_app
from headgate.server.settings import SettingError
from tests.server.processes import WORKSHOP, Serving, run, serve_http
from tests.server.requests import Caller, Era, caller, legacy, modern


@pytest.mark.parametrize(
    ("text", "host", "port", "netloc"),
    [
        ("127.0.0.1:8765", "127.0.0.1", 8765, "127.0.0.1:8765"),
        ("[::1]:8765", "::1", 8765, "[::1]:8765"),
        ("::1:8765", "::1", 8765, "[::1]:8765"),
        (":8765", "127.0.0.1", 8765, "127.0.0.1:8765"),
        ("8765", "127.0.0.1", 8765, "127.0.0.1:8765"),
        ("localhost:0", "localhost", 0, "localhost:0"),
        ("api.example.org:65535", "api.example.org", 65535, "api.example.org:65535"),
    ],
)
def test_an_address_is_read(text: str, host: str, port: int, netloc: str) -> None:
    address = Address.parse(text)
    assert (address.host, address.port, address.netloc) == (host, port, netloc)


@pytest.mark.parametrize(
    "text", ["", "localhost", "localhost:", "localhost:http", "x:65536", "x:-1", "x:²", "http://127.0.0.1:80", "a/b:1"]
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(SettingError) as refused:
        Address.parse(text)
    assert str(refused.value) == f"'{text}' is not HOST:PORT, such as 127.0.0.1:8765"


@pytest.mark.parametrize(
    ("host", "loopback", "everywhere"),
    [
        ("127.0.0.1", True, False),
        ("127.8.9.10", True, False),
        ("::1", True, False),
        ("localhost", True, False),
        ("0.0.0.0", False, True),  # noqa: S104
        ("::", False, True),
        ("192.0.2.1", False, False),
        ("localhost.example.org", False, False),
    ],
)
def test_who_can_reach_an_address(host: str, loopback: bool, everywhere: bool) -> None:
    address = Address(host, 1)
    assert (address.is_loopback, is_loopback(host), address.is_everywhere) == (loopback, loopback, everywhere)


def test_a_port_that_is_taken_is_named() -> None:
    with listen(Address("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(SettingError, match=rf"Cannot listen on 127\.0\.0\.1:{port}: Address already in use"):
            listen(Address("127.0.0.1", port))


def test_a_host_that_is_none_is_named() -> None:
    with pytest.raises(SettingError, match=r"Cannot listen on nowhere\.invalid:0: no such host"):
        listen(Address("nowhere.invalid", 0))


@pytest.mark.skipif(not socket.has_ipv6, reason="this Python has no IPv6")
def test_ipv6_is_an_address_like_any_other() -> None:
    try:
        with listen(Address("::1", 0)) as sock:
            assert sock.family == socket.AF_INET6
    except SettingError:
        pytest.skip("this machine has no IPv6")


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])  # noqa: S104
def test_listening_everywhere_needs_the_names_that_clients_use(host: str) -> None:
    with pytest.raises(SettingError) as refused:
        http_app(mcp_server(Adapter("shelf")), Address(host, 80), Access())
    assert str(refused.value) == (
        f"Listening on {host} needs --allow-host with the names that clients use, such as api.example.org"
    )
    http_app(mcp_server(Adapter("shelf")), Address(host, 80), Access(allowed_hosts=("api.example.org",)))


def test_without_those_names_nothing_starts() -> None:
    done = run("serve", WORKSHOP, "--http", "0.0.0.0:0")
    assert done.returncode == 2
    assert done.stderr.startswith("headgate: Listening on 0.0.0.0 needs --allow-host")
    assert done.stderr.count("\n") == 1


ERAS: list[Era] = ["modern", "legacy"]


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Host": "127.0.0.1"}, 200),
        ({"Host": "localhost:9"}, 200),
        ({"Host": "[::1]:9"}, 200),
        ({"Host": "evil.example"}, 421),
        ({"Host": "evil.example:80"}, 421),
        ({"Host": "127.0.0.1.evil.example"}, 421),
        ({"Origin": "http://localhost:3000"}, 200),
        ({"Origin": "http://127.0.0.1"}, 200),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "https://localhost.evil.example"}, 403),
        ({"Origin": "null"}, 403),
    ],
    ids=lambda value: "-".join(value.values()) if isinstance(value, dict) else "",
)
def test_on_loopback_only_its_own_names_count(
    http_server: Serving, era: Era, headers: dict[str, str], status: int
) -> None:
    assert caller(era, http_server.port).call("get_echo", {"text": "x"}, **headers).status == status


def test_a_refused_origin_does_not_even_open_a_session(http_server: Serving) -> None:
    opening = Caller(http_server.port, "legacy", {**legacy(http_server.port).headers, "Origin": "http://evil.example"})
    answer = Caller(http_server.port, "legacy", {**opening.headers, "mcp-session-id": ""}).request("initialize")
    assert answer.status in (403, 404)


def test_other_names_and_origins_are_those_that_the_operator_allows() -> None:
    allowed = ("--allow-host", "api.example.org", "--allow-host", "b.example", "--allow-origin", "https://app.example")
    with serve_http(WORKSHOP, *allowed) as serving:
        client = modern(serving.port)

        def status(**headers: str) -> int:
            return client.call("get_echo", {"text": "x"}, **headers).status

        assert status(Host="api.example.org") == 200
        assert status(Host="b.example:8443") == 200
        assert status(Host="c.example") == 421
        assert status(Host="localhost") == 200
        assert status(Origin="https://app.example") == 200
        assert status(Origin="https://app.example:444") == 403
        _web_pages_of_that_origin_alone_may_call(client)


def _web_pages_of_that_origin_alone_may_call(client: Caller) -> None:
    asking = {"Access_Control_Request_Method": "POST", "Access_Control_Request_Headers": "mcp-protocol-version"}
    allowed = client.send(b"", "OPTIONS", Origin="https://app.example", **asking)
    assert allowed.status == 200
    assert allowed.headers["access-control-allow-origin"] == "https://app.example"
    assert "mcp-protocol-version" in allowed.headers["access-control-allow-headers"]
    assert client.send(b"", "OPTIONS", Origin="https://evil.example", **asking).status == 400
    answer = client.call("get_echo", {"text": "x"}, Origin="https://app.example")
    assert answer.headers["access-control-allow-origin"] == "https://app.example"
    assert "mcp-session-id" in answer.headers["access-control-expose-headers"]


def test_without_allowed_origins_no_web_page_may_call(http_server: Serving) -> None:
    answer = modern(http_server.port).call("get_echo", {"text": "x"}, Origin="http://localhost:3000")
    assert "access-control-allow-origin" not in answer.headers
