"""Where a server listens."""

import os
import socket
from dataclasses import dataclass
from ipaddress import ip_address

from headgate.server.settings import SettingError

__all__ = ["Address", "is_loopback", "listen"]

_LARGEST_PORT = 65535


def is_loopback(host: str) -> bool:
    """Whether only this machine answers to that name or address."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@dataclass(frozen=True, slots=True)
class Address:
    """A host and a port."""

    host: str
    port: int

    @classmethod
    def parse(cls, text: str) -> "Address":
        """``127.0.0.1:8765``, ``[::1]:8765`` or ``:8765``."""
        host, _, port = text.rpartition(":")
        if not (port.isascii() and port.isdigit()) or int(port) > _LARGEST_PORT or "/" in host:
            raise SettingError(f"'{text}' is not HOST:PORT, such as 127.0.0.1:8765")
        return cls(host.strip("[]") or "127.0.0.1", int(port))

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it."""
        return is_loopback(self.host)

    @property
    def is_everywhere(self) -> bool:
        """Whether it stands for every address of this machine."""
        try:
            return ip_address(self.host).is_unspecified
        except ValueError:
            return False

    @property
    def url_host(self) -> str:
        """The host as a URL writes it."""
        return f"[{self.host}]" if ":" in self.host else self.host

    @property
    def netloc(self) -> str:
        """Host and port as a URL writes them."""
        return f"{self.url_host}:{self.port}"


def listen(address: Address) -> socket.socket:
    """A socket that listens there, or a SettingError that says why not."""
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    try:
        sock = socket.create_server((address.host, address.port), family=family, backlog=512)
    except OSError as error:
        why = os.strerror(error.errno) if error.errno and error.errno > 0 else "no such host"
        raise SettingError(f"Cannot listen on {address.netloc}: {why}") from None
    # Connections inherit it. Without it each answer, which is sent in two parts, waits 40 ms for the client's receipt;
    # asyncio does this only for sockets that it made itself.
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return sock
