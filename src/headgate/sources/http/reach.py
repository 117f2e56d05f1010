"""What may be reached: one judgement over a host and every address that it leads to."""

from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import ip_address

from headgate.protocol.adapter_errors import AdapterError
from headgate.protocol.errors import AqlError, Denied, quoted
from headgate.sources.http.addresses import METADATA_ADDRESSES, METADATA_NAMES, kind_of, unwrapped
from headgate.sources.http.bounds import Address, Bounds
from headgate.sources.http.origins import Origin, host_name, origin_of

__all__ = ["Reach", "home_of"]


def home_of(url: str, what: str = "base URL") -> Origin:
    """The origin that a source is pointed to; an AdapterError if requests cannot go there whatever is allowed."""
    try:
        origin = origin_of(url)
    except AqlError as error:
        why = error.error.message.partition(": ")[2]
        raise AdapterError(f"The {what} of the source is not valid: {why}") from None
    if origin.scheme == "http" and not origin.is_local:
        raise AdapterError(f"The {what} of the source must begin with 'https://': '{origin}' is not localhost")
    return origin


@dataclass(frozen=True, slots=True)
class Reach:
    """What an operator allows, and the origins on this very machine that a source was pointed to by name."""

    bounds: Bounds
    homes: frozenset[Origin] = frozenset()

    def check_origin(self, origin: Origin) -> None:
        """Refuse what need not be resolved first: plain HTTP to others, and names of metadata services."""
        name = host_name(origin.host) or ""
        if origin.scheme == "http" and not origin.is_local:
            raise Denied(f"{_shown(origin.host)} may be reached over https only; http is for localhost")
        if name in METADATA_NAMES and name not in self.bounds.allowed_names:
            raise _refused(origin.host, "metadata")

    def check(self, host: str, port: int, addresses: Iterable[str]) -> list[str]:
        """The addresses of a host, if each of them may be reached; else a Denied says how to allow it."""
        checked = [ip_address(address.partition("%")[0]) for address in addresses]
        at_home = any(home.is_local and home.host == host and home.port == port for home in self.homes)
        for address in checked:
            kind = kind_of(address)
            if host == "localhost" and not unwrapped(address).is_loopback:
                raise Denied("localhost leads to another machine; write the address of this one instead")
            if kind and not (at_home and kind == "loopback") and not self._allows(host, address):
                raise _refused(host, kind)
        return [str(address) for address in checked]

    def _allows(self, host: str, address: Address) -> bool:
        meant = unwrapped(address)
        if meant in METADATA_ADDRESSES:
            return str(meant) in self.bounds.allowed_names
        if host_name(host) in self.bounds.allowed_names:
            return True
        return any(one in network for network in self.bounds.allowed_networks for one in (address, meant))


def _shown(host: str) -> str:
    """A host inside the quotes of a reason."""
    return quoted(host, "'this host'")[1:-1]


def _refused(host: str, kind: str) -> Denied:
    how = "its very address" if kind == "metadata" else "the host or its network"
    return Denied(
        f"{_shown(host)} leads to a {kind} address, which may not be reached; "
        f"whoever runs this server can allow it: put {how} into allow",
        target=host,
    )
