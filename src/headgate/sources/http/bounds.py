"""How far requests may go: where to, how long, how much, how often."""

import math
from dataclasses import dataclass, fields
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
        for name in ("max_response_bytes", "connect_seconds", "total_seconds"):
            _check(name, getattr(self, name), lowest=0, beyond=True)
        for name in ("max_redirects", "retries"):
            _check(name, getattr(self, name), lowest=0, beyond=False)
        for field in fields(self):
            value = getattr(self, field.name)
            if field.type is int and not isinstance(value, int):
                raise AdapterError(f"'{field.name}' is {value}; it must be a whole number")
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


def _check(name: str, value: object, *, lowest: int, beyond: bool) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise AdapterError(f"'{name}' is '{value}'; it must be a number")
    if value < lowest or (beyond and value == lowest):
        raise AdapterError(f"'{name}' is {value}; it must be {'more than' if beyond else 'no less than'} {lowest}")


def _network(text: str) -> Network | None:
    try:
        return ip_network(text)
    except ValueError:
        return None
