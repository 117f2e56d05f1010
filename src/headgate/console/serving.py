"""The console on a socket, beside whatever else the process serves."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

import uvicorn

from headgate.console.app import console_app
from headgate.console.console import Console
from headgate.console.doors import Doors
from headgate.console.oauth import Provider, SignInWithOAuth
from headgate.server.addresses import Address
from headgate.server.settings import SettingError

__all__ = ["Place", "run_console"]

_GRACE_SECONDS: Final = 1
_LOOPBACK: Final = ("127.0.0.1", "localhost", "[::1]")


@dataclass(frozen=True, slots=True)
class Place:
    """Where the console listens, and the one URL under which browsers reach it."""

    address: Address
    url: str

    @classmethod
    def of(cls, address: Address, url: str | None = None) -> "Place":
        """The place; beyond this machine it needs a URL, which is https because cookies and codes travel there."""
        if url is None:
            if not address.is_loopback:
                raise SettingError(
                    f"A console on {address.netloc} needs --console-url, the https URL under which browsers reach it"
                )
            return cls(address, f"http://{address.netloc}")
        parts = urlsplit(url)
        is_safe = parts.scheme == "https" or (parts.scheme == "http" and address.is_loopback)
        if not parts.hostname or not is_safe or parts.path.strip("/") or parts.query or parts.fragment:
            raise SettingError(f"--console-url '{url}' must be a URL such as https://console.example.org")
        return cls(address, f"{parts.scheme}://{parts.netloc}")

    @property
    def hosts(self) -> frozenset[str]:
        """The names under which browsers may ask for it."""
        own = {urlsplit(self.url).netloc.lower()}
        if self.address.is_loopback:
            own |= {f"{host}:{self.address.port}" for host in _LOOPBACK}
        return frozenset(own)

    @property
    def cookie(self) -> str:
        """The name of the cookie: browsers keep those of one host together, whatever the port is."""
        if self.url.startswith("https:"):
            return "__Host-headgate_console"
        return f"headgate_console_{self.address.port}"


class _Uvicorn(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Signals are for the server beside it."""
        yield


async def run_console(console: Console, place: Place, sock: socket.socket, provider: Provider | None = None) -> None:
    """Serve the console on a listening socket until cancelled."""
    doors = Doors(console.store, place.hosts, place.url.startswith("https:"), console.clock, place.cookie)
    oauth = SignInWithOAuth(provider, console.store, place.url, console.clock) if provider else None
    config = uvicorn.Config(
        console_app(console, doors, oauth),
        log_config=None,
        access_log=False,
        lifespan="off",
        server_header=False,
        timeout_graceful_shutdown=_GRACE_SECONDS,
    )
    await _Uvicorn(config).serve(sockets=[sock])
