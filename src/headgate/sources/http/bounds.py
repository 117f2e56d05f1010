"""How far requests may go: where to, how long, how much, how often."""

import math
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network

from headgate.protocol.adapter_errors import AdapterError
from headgate.sources.http.origins import host_name

__all__ = ["Address", "Bounds", "Network"]

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """The limits of every request of a source. A wrong one cannot be built: an AdapterError names it."""

    allow: tuple[str, ...] = ()
    """Host names, addresses and networks that may be reached although they are private."""
    max_response_bytes: int = 10_000_000
    connect_seconds: float = 10.0
    total_seconds: float = 30.0
    """For the whole answer with all of its redirects and retries, so that a slow drip ends too."""
    max_redirects: int = 5
    retries: int = 2

    def __post_init__(self) -> None:
        for name in ("connect_seconds", "total_seconds"):
            _check(name, getattr(self, name), (int, float))
        for name, least in (("max_response_bytes", 1), ("max_redirects", 0), ("retries", 0)):
            _check(name, getattr(self, name), (int,), least)
        for entry in self.allow:
            if _network(entry) is None and host_name(entry) is None:
                raise AdapterError(
                    f"'allow' holds '{entry}', which is neither a host name such as 'intranet.example' "
                    "nor an address or network such as '10.0.0.0/8'"
                )

    @property
    def allowed_names(self) -> frozenset[str]:
        """The hosts of ``allow`` as they are compared, names and single addresses."""
        return frozenset(name for entry in self.allow if (name := host_name(entry)))

    @property
    def allowed_networks(self) -> tuple[Network, ...]:
        """The addresses and networks of ``allow``."""
        return tuple(network for entry in self.allow if (network := _network(entry)))


def _check(name: str, value: float, kinds: tuple[type, ...], least: int | None = None) -> None:
    """A bound is a number of its kind, and no less than the least, or else more than nothing."""
    if isinstance(value, bool) or not isinstance(value, kinds) or not math.isfinite(value):
        raise AdapterError(f"'{name}' is '{value}'; it must be a {'whole ' if least is not None else ''}number")
    if value < (least or 0) or (least is None and value == 0):
        raise AdapterError(f"'{name}' is {value}; it must be {'more than 0' if least is None else f'{least} or more'}")


def _network(text: str) -> Network | None:
    try:
        return ip_network(text)
    except ValueError:
        return None
