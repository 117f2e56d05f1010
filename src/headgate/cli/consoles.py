"""A console beside a server or alone: on its socket, told of where only the operator reads it."""

import logging
import os
import socket
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Final

import anyio

from headgate.cli.persons import DEFAULT_CONSOLE, Persons
from headgate.cli.state import command, is_in_memory, login_name
from headgate.console.console import Console
from headgate.console.metrics import Metrics
from headgate.console.oauth import Provider
from headgate.console.serving import Place, run_console
from headgate.console.signing_in import new_link_secret
from headgate.engine.pipeline import Engine
from headgate.server.addresses import Address, listen
from headgate.server.settings import SettingError, audit_key
from headgate.store.interface import Store

__all__ = ["Opened", "link", "opened", "place_of"]

_LOG: Final = logging.getLogger("headgate")


@dataclass(frozen=True)
class Opened:
    """A console whose socket listens; whoever comes waits until it runs."""

    place: Place
    sock: socket.socket
    provider: Provider | None
    has_url: bool
    """Whether the URL was chosen, and does not follow from where it listens."""

    @asynccontextmanager
    async def running(
        self,
        store: Store,
        engine_of: Callable[[], Engine | None],
        metrics: Metrics | None = None,
        *,
        state: str | None = None,
        by: str | None = None,
    ) -> AsyncIterator[None]:
        """While open, the console answers; the operator is told where it is."""
        console = Console(store, engine_of, metrics, audit_key=audit_key() or b"")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run_console, console, self.place, self.sock, self.provider)
            await self.tell(store, state, by)
            yield
            tasks.cancel_scope.cancel()

    async def tell(self, store: Store, state: str | None, by: str | None) -> None:
        """Say where it is. A link is printed only where a person sits: what a host logs, an agent may read."""
        if sys.stderr.isatty():
            made = await link(store, self.place, by)
            sys.stderr.write(f"headgate: console; this link signs you in, once and within ten minutes:\n  {made}\n")
        elif is_in_memory(state or ""):
            _LOG.info("console at %s; the state is in memory, so only OAuth can sign anybody in", self.place.url)
        else:
            where = self._where()
            _LOG.info("console at %s; for a link to sign in: %s", self.place.url, command(state, *where))

    def _where(self) -> list[str]:
        netloc = self.place.address.netloc
        if self.has_url:
            return ["console", "--link", "--url", self.place.url]
        return ["console", "--link", *(() if netloc == DEFAULT_CONSOLE else ("--listen", netloc))]


@contextmanager
def opened(persons: Persons) -> Iterator[Opened]:
    """The console that was chosen, listening; a SettingError if something of it cannot work."""
    provider, place = _provider(persons), place_of(persons)
    try:
        sock = listen(place.address)
    except SettingError as error:
        raise SettingError(f"--console: {error}; choose another HOST:PORT, or end what listens there") from None
    with sock:
        address = Address(place.address.host, sock.getsockname()[1])
        there = Place.of(address, persons.console_url or None)
        yield Opened(there, sock, provider, has_url=bool(persons.console_url))


def place_of(persons: Persons) -> Place:
    """Where the console is."""
    try:
        address = Address.parse(persons.console or "")
    except SettingError as error:
        raise SettingError(f"--console: {error}") from None
    return Place.of(address, persons.console_url or None)


async def link(store: Store, place: Place, name: str | None = None) -> str:
    """A link that signs somebody in once."""
    return f"{place.url}/sign-in/{await new_link_secret(store, name or login_name(), time.time)}"


def _provider(persons: Persons) -> Provider | None:
    """Who else signs operators in. The secret of the console there is HEADGATE_CONSOLE_OAUTH_SECRET."""
    if not persons.console_oauth_issuer:
        if persons.console_oauth_client or persons.console_allow:
            raise SettingError("--console-oauth-client and --console-allow need --console-oauth-issuer")
        return None
    if not persons.console_oauth_client:
        raise SettingError("--console-oauth-issuer needs --console-oauth-client: the id of the console there")
    return Provider(
        issuer=persons.console_oauth_issuer,
        client_id=persons.console_oauth_client,
        client_secret=os.environ.get("HEADGATE_CONSOLE_OAUTH_SECRET"),
        allowed=persons.console_allow,
    )
