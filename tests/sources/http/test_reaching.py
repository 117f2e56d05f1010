"""What may be reached, and what not, however it is spelled and whoever leads there."""

from collections.abc import Awaitable, Callable
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

import anyio
import httpcore2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.protocol.adapter_errors import AdapterError
from headgate.protocol.errors import AqlError, Denied
from headgate.sources.http.addresses import METADATA_ADDRESSES, kind_of, unwrapped
from headgate.sources.http.backend import GuardedBackend, resolve
from headgate.sources.http.bounds import Bounds
from headgate.sources.http.messages import OutRequest
from headgate.sources.http.origins import Origin
from headgate.sources.http.reach import Reach, home_of
from headgate.sources.http.sender import Sender
from tests.sources.http.conftest import Authority
from tests.sources.http.upstream import always, got, refused, reply, running, sending

pytestmark = pytest.mark.anyio

FORBIDDEN = (
    *("127.0.0.1", "127.255.255.254", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254"),
    *("169.254.1.1", "100.64.0.1", "100.127.255.255", "100.100.100.200", "168.63.129.16", "0.0.0.0", "0.1.2.3"),  # noqa: S104
    *("224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255", "192.0.0.1", "192.0.2.1", "198.18.0.1"),
    *("198.51.100.1", "203.0.113.1", "192.88.99.1"),
    *("::", "::1", "fe80::1", "fec0::1", "fc00::1", "fd00:ec2::254", "ff02::1", "2001:db8::1", "3fff::1", "2001::1"),
    *("::ffff:127.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe"),
    *("64:ff9b:1::1", "2002:7f00:1::1", "2002:a00:1::", "100::1", "4000::1", "5f00::1", "fe80::1%1"),
)
PUBLIC = (
    *("1.1.1.1", "8.8.8.8", "172.15.255.255", "172.32.0.1", "100.63.255.255", "100.128.0.1", "169.253.0.1"),
    *("192.167.0.1", "223.255.255.255", "2606:4700::1111", "2a00:1450::1", "::ffff:8.8.8.8", "64:ff9b::808:808"),
    "2002:808:808::1",
)


@pytest.mark.parametrize("address", FORBIDDEN)
def test_an_address_that_is_not_of_the_open_internet_has_a_kind(address: str) -> None:
    assert kind_of(ip_address(address))


@pytest.mark.parametrize("address", PUBLIC)
def test_an_address_of_the_open_internet_has_none(address: str) -> None:
    assert kind_of(ip_address(address)) is None


@given(st.ip_addresses(v=4))
def test_every_form_of_an_ipv4_address_is_judged_like_itself(address: IPv4Address) -> None:
    number = int(address)
    forms = (
        IPv6Address(0xFFFF << 32 | number),
        IPv6Address(0x0064_FF9B << 96 | number),
        IPv6Address(0x2002 << 112 | number << 80 | 1),
    )
    for form in forms:
        assert unwrapped(form) == address
        assert kind_of(form) == kind_of(address)


@given(st.one_of(st.ip_addresses(v=4), st.ip_addresses(v=6)))
def test_what_the_standard_library_knows_to_be_private_is_never_open(address: IPv4Address | IPv6Address) -> None:
    meant = unwrapped(address)
    if meant.is_private or meant.is_loopback or meant.is_link_local or meant.is_multicast or meant.is_reserved:
        assert kind_of(address) is not None


SPELLINGS = (
    *("https://127.0.0.1/", "https://127.1/", "https://2130706433/", "https://0x7f000001/", "https://0x7f.1/"),
    *("https://017700000001/", "https://127.0.0.1./", "https://localhost/", "https://LOCALHOST/"),
    *("https://localhost./", "https://[::1]/", "https://[::ffff:127.0.0.1]/", "https://[0:0:0:0:0:0:0:1]/"),
    *("https://127。0。0。1/", "https://0/", "https://0.0.0.0/", "https://[::]/", "https://10.1.2.3/"),
    *("https://169.254.169.254/latest/meta-data/", "https://2852039166/", "https://[fd00:ec2::254]/"),
    *("https://metadata.google.internal/", "https://METADATA.google.internal./", "https://metadata/"),
    *("https://instance-data/", "https://[fe80::1]/", "https://192.168.0.1:8443/", "https://[64:ff9b::127.0.0.1]/"),
)


@pytest.mark.parametrize("url", SPELLINGS)
async def test_no_spelling_of_a_forbidden_address_gets_round_the_guard(url: str) -> None:
    async def generous(host: str, port: int) -> list[str]:
        return await resolve(host.removesuffix("."), port)  # not every system resolves these by itself

    async with sending("https://api.example", resolver=generous) as sender:
        error = await refused(sender, url)
    assert error.code == "PERMISSION_DENIED"
    assert "into allow" in error.message


NOT_URLS = (
    *(
        "https://user@127.0.0.1/",
        "https://api.example:x@localhost/",
        "https://\uff11\uff12\uff17.0.0.1/",
        "https://ⓛocalhost/",
    ),
    *(
        "https://0177.0.0.1/",
        "https://%31%32%37.0.0.1/",
        "https://[fe80::1%25eth0]/",
        "https://999.0.0.1/",
        "https://a b/",
        "https:///x",
    ),
    *("https://api.example:0/", "https://api.example:99999/", "ftp://api.example/", "//api.example/", "/x", ""),
    *("https://api.example/\r\nX: y", "https://api.example/\x00", "file:///etc/passwd", "https://-a/", "https://a..b/"),
    *("https://api.example\\@127.0.0.1/", "ws://localhost/", "https://[::1/"),
)


@pytest.mark.parametrize("url", NOT_URLS)
def test_a_url_with_more_than_one_meaning_is_no_request(url: str) -> None:
    with pytest.raises(AqlError) as caught:
        OutRequest("GET", url)
    assert caught.value.error.code == "VALIDATION_INVALID_VALUE"
    with pytest.raises(AdapterError):
        home_of(url)


@pytest.mark.parametrize("url", ["http://api.example/", "http://10.0.0.1/", "http://127.0.0.2/", "http://localhost./"])
async def test_plain_http_is_for_localhost_only_whatever_is_allowed(url: str) -> None:
    async with sending("https://api.example", bounds=Bounds(allow=("0.0.0.0/0", "::/0", "api.example"))) as sender:
        error = await refused(sender, url)
    assert error.code == "PERMISSION_DENIED"
    assert "https" in error.message
    with pytest.raises(AdapterError, match="https"):
        home_of(url)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
async def test_a_source_that_is_pointed_to_this_machine_reaches_its_own_origin(host: str) -> None:
    async with running(always(reply(200, b"here"))) as upstream:
        url = f"http://{host}:{upstream.port}"
        async with sending(url) as sender:
            assert (await got(sender, f"{url}/x")).content == b"here"


@pytest.mark.parametrize(
    ("url", "addresses"), [("http://[::1]:8000", ["::1"]), ("https://localhost", ["::1", "127.0.0.1"])]
)
def test_its_own_origin_may_be_written_in_ipv6_too(url: str, addresses: list[str]) -> None:
    home = home_of(f"{url}/path?x=1")
    reach = Reach(Bounds(), frozenset({home}))
    reach.check_origin(home)
    assert reach.check(home.host, home.port, addresses) == addresses
    assert str(home) == url
    with pytest.raises(Denied):
        reach.check(home.host, home.port + 1, addresses)
    with pytest.raises(Denied):
        Reach(Bounds()).check(home.host, home.port, addresses)


def test_no_other_origin_is_at_home_anywhere_else_than_on_this_machine() -> None:
    reach = Reach(Bounds(), frozenset({Origin("https", "api.example", 443)}))
    for address in ("127.0.0.1", "10.0.0.1"):
        with pytest.raises(Denied):
            reach.check("api.example", 443, [address])


async def test_it_reaches_no_other_port_of_this_machine() -> None:
    async with running(always(reply())) as own, running(always(reply())) as other, sending(own.url) as sender:
        for host in ("localhost", "127.0.0.1"):
            error = await refused(sender, f"http://{host}:{other.port}/")
            assert error.code == "PERMISSION_DENIED"
    assert other.connections == 0


async def test_nor_its_own_port_by_another_name_of_the_machine() -> None:
    async with running(always(reply())) as upstream, sending(upstream.url) as sender:
        assert (await refused(sender, f"http://127.0.0.1:{upstream.port}/")).code == "PERMISSION_DENIED"
    assert upstream.connections == 0


@pytest.mark.parametrize("allow", ["localhost", "127.0.0.1", "127.0.0.0/8", "LocalHost."])
async def test_what_is_allowed_is_reached(allow: str) -> None:
    bounds = Bounds(allow=(allow, "::1"))
    async with running(always(reply(204))) as upstream, sending("https://api.example", bounds=bounds) as sender:
        assert (await got(sender, upstream.url)).status == 204


def answers(*addresses: list[str]) -> Callable[[str, int], Awaitable[list[str]]]:
    """A name server that gives these answers, one after the other."""
    left = list(addresses)

    async def resolver(host: str, port: int) -> list[str]:
        return left.pop(0)

    return resolver


@pytest.mark.parametrize("address", FORBIDDEN)
async def test_a_name_that_leads_to_a_forbidden_address_is_refused(address: str) -> None:
    async with sending("https://api.example", resolver=answers([address])) as sender:
        assert (await refused(sender, "https://api.example/")).code == "PERMISSION_DENIED"


async def test_one_forbidden_address_among_many_is_enough() -> None:
    async with sending("https://api.example", resolver=answers(["1.1.1.1", "2606:4700::1111", "10.0.0.1"])) as sender:
        error = await refused(sender, "https://api.example/")
    assert error.code == "PERMISSION_DENIED"
    assert error.details is not None
    assert error.details["target"] == "api.example"


async def test_localhost_that_leads_elsewhere_is_refused() -> None:
    async with sending("http://localhost:8000", resolver=answers(["1.1.1.1"])) as sender:
        error = await refused(sender, "http://localhost:8000/")
    assert error.code == "PERMISSION_DENIED"


async def test_a_name_is_asked_for_once_for_each_connection_and_each_answer_is_judged(trusted: Authority) -> None:
    closing = reply(200, b"", connection="close")
    async with running(always(closing), trusted.context("api.example")) as upstream:
        url = f"https://api.example:{upstream.port}/"
        resolver = answers(["127.0.0.1"], ["169.254.169.254"], ["10.0.0.1"])
        bounds = Bounds(allow=("127.0.0.0/8",))
        async with sending("https://api.example", bounds=bounds, resolver=resolver) as sender:
            assert (await got(sender, url)).status == 200
            assert (await refused(sender, url)).code == "PERMISSION_DENIED"
            assert (await refused(sender, url)).code == "PERMISSION_DENIED"
    assert upstream.connections == 1


async def test_an_allowed_name_opens_private_addresses_but_never_those_of_metadata() -> None:
    reach = Reach(Bounds(allow=("intranet.example", "169.254.0.0/16", "fd00::/8")))
    assert reach.check("intranet.example", 443, ["10.0.0.1", "fd00::1"]) == ["10.0.0.1", "fd00::1"]
    assert reach.check("other.example", 443, ["169.254.7.7"]) == ["169.254.7.7"]
    for address in map(str, METADATA_ADDRESSES):
        with pytest.raises(Denied, match="its very address"):
            reach.check("intranet.example", 443, [address])


async def test_a_metadata_address_is_opened_by_itself_alone() -> None:
    reach = Reach(Bounds(allow=("169.254.169.254",)))
    assert reach.check("169.254.169.254", 443, ["169.254.169.254"]) == ["169.254.169.254"]
    assert reach.check("x.example", 443, ["::ffff:169.254.169.254"]) == ["::ffff:a9fe:a9fe"]


async def test_a_network_of_ipv4_allows_its_other_forms() -> None:
    reach = Reach(Bounds(allow=("10.0.0.0/8",)))
    assert reach.check("x.example", 443, ["64:ff9b::a00:1"]) == ["64:ff9b::a00:1"]
    with pytest.raises(Denied):
        reach.check("x.example", 443, ["64:ff9b::c0a8:101"])


@given(st.lists(st.one_of(st.ip_addresses(v=4), st.ip_addresses(v=6)), min_size=1, max_size=5))
def test_no_list_of_addresses_passes_with_a_forbidden_one_in_it(addresses: list[IPv4Address | IPv6Address]) -> None:
    reach, texts = Reach(Bounds()), [str(address) for address in addresses]
    if any(kind_of(address) for address in addresses):
        with pytest.raises(Denied):
            reach.check("api.example", 443, texts)
    else:
        assert reach.check("api.example", 443, texts) == texts


async def test_the_next_address_is_tried_if_one_does_not_answer() -> None:
    async with running(always(reply(200, b"second"))) as upstream:
        url = f"http://localhost:{upstream.port}"
        async with sending(url, resolver=answers(["127.0.0.9", "127.0.0.1"])) as sender:
            assert (await got(sender, url)).content == b"second"


async def test_a_name_without_an_address_is_told() -> None:
    async def nobody(host: str, port: int) -> list[str]:
        return []

    async def wrong(host: str, port: int) -> list[str]:
        raise OSError

    for resolver in (nobody, wrong):
        async with sending("https://api.example", resolver=resolver) as sender:
            error = await refused(sender, "https://api.example/secret?key=hidden")
        assert error.code == "TRANSPORT_DNS_ERROR"
        assert error.details == {"target": "https://api.example"}


async def test_a_name_server_that_is_silent_ends_with_the_time_to_connect() -> None:
    async def silent(host: str, port: int) -> list[str]:
        await anyio.sleep_forever()
        return []

    bounds = Bounds(connect_seconds=0.05, retries=0)
    async with sending("https://api.example", bounds=bounds, resolver=silent) as sender:
        assert (await refused(sender, "https://api.example/")).code == "TRANSPORT_TIMEOUT"


async def test_a_fault_of_our_own_is_not_dressed_up_as_one_of_the_network() -> None:
    async def faulty(host: str, port: int) -> list[str]:
        raise ZeroDivisionError

    async with sending("https://api.example", resolver=faulty) as sender:
        with pytest.raises(ZeroDivisionError):
            await got(sender, "https://api.example/")


async def test_names_of_this_machine_resolve_to_it() -> None:
    found = await resolve("localhost", 80)
    assert found
    assert all(ip_address(address).is_loopback for address in found)


async def test_a_label_that_no_name_server_takes_is_a_name_without_an_address() -> None:
    async with sending("https://api.example") as sender:
        assert (await refused(sender, f"https://{'a' * 70}.example/")).code == "TRANSPORT_DNS_ERROR"


async def test_no_environment_sends_requests_to_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    async with running(always(reply())) as proxy, running(always(reply(200, b"direct"))) as upstream:
        for variable in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "HTTPS_PROXY", "https_proxy"):
            monkeypatch.setenv(variable, proxy.url)
        async with sending(upstream.url) as sender:
            assert (await got(sender, upstream.url)).content == b"direct"
    assert proxy.connections == 0


async def test_nothing_leaves_by_a_file_of_this_machine() -> None:
    with pytest.raises(httpcore2.UnsupportedProtocol):
        await GuardedBackend(Reach(Bounds())).connect_unix_socket("/run/some.socket")


async def test_an_address_that_does_not_answer_has_no_more_than_its_share_of_the_time() -> None:
    backend = GuardedBackend(Reach(Bounds(allow=("0.0.0.0/0",))), answers([]))
    with pytest.raises(httpcore2.ConnectTimeout):
        await backend.connect_tcp("127.0.0.1", 9, timeout=0.0)


WRONG = (
    ({"allow": ("http://intranet",)}, "allow"),
    ({"allow": ("10.0.0.1/8",)}, "allow"),
    ({"allow": ("",)}, "allow"),
    ({"max_response_bytes": 0}, "max_response_bytes"),
    ({"max_response_bytes": 1.5}, "max_response_bytes"),
    ({"connect_seconds": 0}, "connect_seconds"),
    ({"total_seconds": -1}, "total_seconds"),
    ({"total_seconds": float("nan")}, "total_seconds"),
    ({"total_seconds": float("inf")}, "total_seconds"),
    ({"max_redirects": -1}, "max_redirects"),
    ({"retries": True}, "retries"),
    ({"retries": "2"}, "retries"),
)


@pytest.mark.parametrize(("values", "name"), WRONG, ids=[f"{values}" for values, _ in WRONG])
def test_a_wrong_bound_is_named(values: dict[str, object], name: str) -> None:
    with pytest.raises(AdapterError, match=f"'{name}'"):
        Bounds(**values)  # type: ignore[arg-type]


def test_bounds_may_be_nothing_at_all() -> None:
    bounds = Bounds(max_redirects=0, retries=0, allow=("intranet.example", "10.0.0.0/8", "::1"))
    assert bounds.allowed_networks == (ip_network("10.0.0.0/8"), ip_network("::1"))
    assert bounds.allowed_names == {"intranet.example", "::1"}


def test_a_sender_cannot_be_pointed_to_plain_http_elsewhere() -> None:
    with pytest.raises(AdapterError, match="https"):
        Sender(Bounds(), "http://api.example")
