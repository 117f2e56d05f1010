"""Who is spoken to: the origin of a URL, read so strictly that it has one meaning only."""

import re
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address
from typing import Final

import httpx2

from headgate.protocol.errors import AqlError

__all__ = ["LOCAL_HOSTS", "Origin", "host_name", "origin_of", "parsed"]

LOCAL_HOSTS: Final = frozenset({"localhost", "127.0.0.1", "::1"})
"""How a host is written that is this very machine."""

_PORTS: Final = {"http": 80, "https": 443}
_NAME: Final = re.compile(r"[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*\Z")
_LONGEST_NAME: Final = 253
_HIGHEST_PORT: Final = 65_535


@dataclass(frozen=True, slots=True)
class Origin:
    """A scheme, a host and a port: what credentials belong to."""

    scheme: str
    host: str
    port: int

    @property
    def is_local(self) -> bool:
        """Whether the host is written as this very machine."""
        return self.host in LOCAL_HOSTS

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}" + ("" if self.port == _PORTS[self.scheme] else f":{self.port}")


def host_name(text: str) -> str | None:
    """A host as it is compared: small letters, no dot after it, addresses in their short form. None if it is none."""
    name = text.lower().removesuffix(".")
    try:
        return str(ip_address(name))
    except ValueError:
        return name if len(name) <= _LONGEST_NAME and _NAME.match(name) else None


def parsed(url: str) -> httpx2.URL:
    """A URL that requests may be sent to; an AqlError says what is wrong with any other, without showing it."""
    try:
        found = httpx2.URL(url)
    except (httpx2.InvalidURL, ValueError):
        raise _wrong("it cannot be read") from None
    if found.scheme not in _PORTS or not found.host:
        raise _wrong("it must begin with 'https://' and a host name")
    if found.userinfo:
        raise _wrong("it must not hold a user name or a password: put them into the environment")
    if not _is_host(found) or not 0 < _port(found) <= _HIGHEST_PORT:
        raise _wrong("its host name or its port is not valid")
    return found


def origin_of(url: str | httpx2.URL) -> Origin:
    """The origin of a URL; an AqlError if it has none that requests may be sent to."""
    found = parsed(url) if isinstance(url, str) else url
    return Origin(found.scheme, _ascii_host(found), _port(found))


def _ascii_host(url: httpx2.URL) -> str:
    """The host as it is resolved and connected to; never its Unicode form, which others may read otherwise."""
    return url.raw_host.decode("ascii")


def _port(url: httpx2.URL) -> int:
    return _PORTS[url.scheme] if url.port is None else url.port


def _is_host(url: httpx2.URL) -> bool:
    host = _ascii_host(url)
    if ":" in host:
        return not IPv6Address(host).scope_id
    return host_name(host) is not None


def _wrong(why: str) -> AqlError:
    return AqlError("VALIDATION_INVALID_VALUE", f"The URL of the request is not valid: {why}", {"param_name": "url"})
