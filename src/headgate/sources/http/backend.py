"""Where connections are made: names are resolved here, every address is checked, and a checked one is connected to.

Nobody resolves the name a second time, so no answer of a name server can be changed between the check and the use.
"""

import math
import socket
from collections.abc import Awaitable, Callable, Iterable
from ipaddress import ip_address
from typing import TypeAlias

import anyio
import httpcore2

from headgate.sources.http.reach import Reach
from headgate.sources.http.streams import OnePiece

__all__ = ["GuardedBackend", "Resolver", "Unresolved", "resolve"]

Resolver: TypeAlias = Callable[[str, int], Awaitable[list[str]]]
"""From a host name and a port to addresses; an OSError if there are none."""

_Option: TypeAlias = tuple[int, int, int] | tuple[int, int, bytes | bytearray] | tuple[int, int, None, int]


class Unresolved(httpcore2.ConnectError):
    """The name of a host leads to no address."""


async def resolve(host: str, port: int) -> list[str]:
    """The addresses of a host, as the operating system knows them; odd spellings of addresses too."""
    found = await anyio.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


class GuardedBackend(httpcore2.AsyncNetworkBackend):
    """Connects to nothing that its reach does not hold."""

    def __init__(self, reach: Reach, resolver: Resolver = resolve) -> None:
        self._reach = reach
        self._resolver = resolver
        self._inner = httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109  (the interface is httpcore2's)
        local_address: str | None = None,
        socket_options: Iterable[_Option] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """A connection to one of the host's addresses; a Denied if any of them may not be reached."""
        deadline = anyio.current_time() + timeout if timeout is not None else math.inf
        addresses = self._reach.check(host, port, await self._addresses(host, port, deadline))
        error: Exception = Unresolved()
        for index, address in enumerate(addresses):
            share = (deadline - anyio.current_time()) / (len(addresses) - index)
            try:
                wait = max(share, 0.0)
                return OnePiece(await self._inner.connect_tcp(address, port, wait, local_address, socket_options))
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as failed:
                error = failed
        raise error

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,  # noqa: ASYNC109
        socket_options: Iterable[_Option] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Never: no request leaves by a file of this machine."""
        raise httpcore2.UnsupportedProtocol

    async def _addresses(self, host: str, port: int, deadline: float) -> list[str]:
        try:
            return [str(ip_address(host))]
        except ValueError:
            pass
        try:
            with anyio.fail_after(deadline - anyio.current_time()):
                return await self._resolver(host, port)
        except TimeoutError as error:
            raise httpcore2.ConnectTimeout from error
        except (OSError, UnicodeError) as error:
            raise Unresolved from error
