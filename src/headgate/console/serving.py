"""The console on a socket, beside whatever else the process serves."""

import asyncio
import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

import anyio
import uvicorn

from headgate.console.app import console_app
from headgate.console.console import Console
from headgate.console.doors import Doors
from headgate.console.oauth import Provider, SignInWithOAuth
from headgate.server.addresses import Address, is_loopback
from headgate.server.settings import SettingError

__all__ = ["Place", "run_console"]

_GRACE_SECONDS: Final = 1
_LOOPBACK: Final = ("127.0.0.1", "localhost", "[::1]")
_PORTS: Final = {"http": 80, "https": 443}
"""Those that browsers leave out."""
_HOST: Final = re.compile(r"[a-z0-9._-]+|[0-9a-f.:]*:[0-9a-f.:]*")


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
            url = f"http://{address.netloc}"
        try:
            origin = _origin(url)
        except ValueError:
            origin = ""
        if not origin or not (origin.startswith("https:") or (address.is_loopback and _is_here(origin))):
            raise SettingError(f"--console-url '{url}' must be a URL such as https://console.example.org")
        return cls(address, origin)

    @property
    def hosts(self) -> frozenset[str]:
        """The names under which browsers may ask for it: that of its URL, and of this machine all that there are."""
        parts = urlsplit(self.url)
        if not is_loopback(parts.hostname or ""):
            return frozenset({parts.netloc})
        return frozenset({parts.netloc, *(_netloc(parts.scheme, host, parts.port) for host in _LOOPBACK)})

    @property
    def cookie(self) -> str:
        """The name of the cookie: browsers keep those of one host together, whatever the port is."""
        if self.url.startswith("https:"):
            return "__Host-headgate_console"
        return f"headgate_console_{self.address.port}"


def _is_here(origin: str) -> bool:
    """Whether a browser that asks for this never leaves its machine."""
    host = urlsplit(origin).hostname or ""
    return is_loopback(host) or host.endswith(".localhost")


def _origin(url: str) -> str:
    """The origin of a URL that has nothing else, just as browsers write it; a ValueError if it is not one."""
    parts = urlsplit(url)
    host = (parts.hostname or "").encode("ascii" if "[" in parts.netloc else "idna").decode()
    if parts.scheme not in _PORTS or not _HOST.fullmatch(host) or "@" in parts.netloc:
        raise ValueError(url)
    if parts.path.strip("/") or parts.query or parts.fragment:
        raise ValueError(url)
    return f"{parts.scheme}://{_netloc(parts.scheme, f'[{host}]' if ':' in host else host, parts.port)}"


def _netloc(scheme: str, host: str, port: int | None) -> str:
    return host if port in (None, _PORTS[scheme]) else f"{host}:{port}"


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
        proxy_headers=False,
        server_header=False,
        ws="none",
        timeout_graceful_shutdown=_GRACE_SECONDS,
    )
    web = _Uvicorn(config)
    try:
        await web.serve(sockets=[sock])
    finally:
        console.closing.set()
        if web.started:
            with anyio.CancelScope(shield=True):
                await web.shutdown(sockets=[sock])
        else:  # uvicorn may have begun to listen; the loop must not go on to watch a socket that will be closed
            with suppress(NotImplementedError):  # a loop that watches no sockets has none to forget
                asyncio.get_running_loop().remove_reader(sock)
