"""Which addresses are not of the open Internet, and what each kind is called, in whatever form one is written."""

from collections.abc import Mapping
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import Final

from headgate.sources.http.bounds import Address

__all__ = ["METADATA_ADDRESSES", "METADATA_NAMES", "kind_of", "unwrapped"]

METADATA_ADDRESSES: Final[frozenset[Address]] = frozenset(
    {
        *map(IPv4Address, ("169.254.169.254", "169.254.170.2", "169.254.170.23", "100.100.100.200", "168.63.129.16")),
        *map(IPv4Address, ("192.0.0.192", "169.254.0.23")),
        *map(IPv6Address, ("fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254")),
    }
)
"""Where clouds tell a machine its own credentials. Only the very address in ``allow`` opens one of these."""

METADATA_NAMES: Final = frozenset(
    {
        "metadata",
        "metadata.google.internal",
        "metadata.goog",
        "metadata.azure.internal",
        "metadata.tencentyun.com",
        "instance-data",
        "instance-data.ec2.internal",
    }
)

_V4: Final[Mapping[str, tuple[str, ...]]] = {
    "loopback": ("127.0.0.0/8",),
    "private": ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"),
    "link-local": ("169.254.0.0/16",),
    "shared carrier": ("100.64.0.0/10",),
    "multicast": ("224.0.0.0/4",),
    "unspecified": ("0.0.0.0/8",),
    "reserved": (
        *("192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24"),
        "240.0.0.0/4",
    ),
}
_V6: Final[Mapping[str, tuple[str, ...]]] = {
    "loopback": ("::1/128",),
    "unspecified": ("::/128",),
    "private": ("fc00::/7", "fec0::/10"),
    "link-local": ("fe80::/10",),
    "multicast": ("ff00::/8",),
    "reserved": ("2001::/23", "2001:db8::/32", "3fff::/20"),
}
_V4_NETWORKS: Final = tuple((kind, IPv4Network(text)) for kind, texts in _V4.items() for text in texts)
_V6_NETWORKS: Final = tuple((kind, IPv6Network(text)) for kind, texts in _V6.items() for text in texts)
_GLOBAL_V6: Final = IPv6Network("2000::/3")
_NAT64: Final = IPv6Network("64:ff9b::/96")
_SIX_TO_FOUR: Final = IPv6Network("2002::/16")
_LAST_32_BITS: Final = 0xFFFF_FFFF


def unwrapped(address: Address) -> Address:
    """The address that is meant: IPv4 that is written, translated or tunnelled as IPv6 is IPv4."""
    if isinstance(address, IPv4Address):
        return address
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address in _NAT64:
        return IPv4Address(int(address) & _LAST_32_BITS)
    if address in _SIX_TO_FOUR:
        return IPv4Address(int(address) >> 80 & _LAST_32_BITS)
    return address


def kind_of(address: Address) -> str | None:
    """What kind of address this is, if it is not one of the open Internet."""
    meant = unwrapped(address)
    if meant in METADATA_ADDRESSES:
        return "metadata"
    if isinstance(meant, IPv4Address):
        return next((kind for kind, network in _V4_NETWORKS if meant in network), None)
    found = next((kind for kind, network in _V6_NETWORKS if meant in network), None)
    return found or (None if meant in _GLOBAL_V6 else "reserved")
