"""How persons see what agents do, and decide what those may not alone: the console, and other ways to reach them."""

import logging
import os
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Annotated, Final

import anyio
from cyclopts import Parameter

from headgate.cli.options import option
from headgate.cli.state import login_name
from headgate.console.channels.announcing import Announcer
from headgate.console.channels.choosing import channels_of
from headgate.console.console import Console
from headgate.console.metrics import Metrics
from headgate.console.oauth import Provider
from headgate.console.serving import Place, run_console
from headgate.console.signing_in import new_link_secret
from headgate.engine.pipeline import Engine
from headgate.server.addresses import Address, listen
from headgate.server.settings import SettingError, Settings, audit_key
from headgate.store.interface import Store

__all__ = ["DEFAULT_CONSOLE", "Persons", "link", "tell_of_console"]

DEFAULT_CONSOLE: Final = "127.0.0.1:8787"
_LOG: Final = logging.getLogger("headgate")


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Persons:
    """How persons are reached."""

    console: Annotated[
        str | None, option(f"Show the console on HOST:PORT, such as {DEFAULT_CONSOLE}.", "HEADGATE_CONSOLE")
    ] = None
    console_url: Annotated[
        str | None, option("The URL under which browsers reach the console.", "HEADGATE_CONSOLE_URL")
    ] = None
    console_oauth_issuer: Annotated[
        str | None, option("An OpenID Connect provider that signs operators in.", "HEADGATE_CONSOLE_OAUTH_ISSUER")
    ] = None
    console_oauth_client: Annotated[
        str | None, option("The id of the console at that provider.", "HEADGATE_CONSOLE_OAUTH_CLIENT")
    ] = None
    console_allow: Annotated[
        tuple[str, ...], option("Who may sign in so, such as *@example.org; repeatable.", "HEADGATE_CONSOLE_ALLOW")
    ] = ()
    notify: Annotated[
        tuple[str, ...],
        option("Show codes by desktop, an https webhook or mailto:ADDRESS too; may be repeated.", "HEADGATE_NOTIFY"),
    ] = ()

    def place(self) -> Place | None:
        """Where the console is, if there is one."""
        return Place.of(Address.parse(self.console), self.console_url or None) if self.console else None

    def provider(self) -> Provider | None:
        """Who else signs operators in. The secret of the console there is HEADGATE_CONSOLE_OAUTH_SECRET."""
        if not self.console_oauth_issuer:
            if self.console_oauth_client or self.console_allow:
                raise SettingError("--console-oauth-client and --console-allow need --console-oauth-issuer")
            return None
        if not self.console_oauth_client:
            raise SettingError("--console-oauth-issuer needs --console-oauth-client: the id of the console there")
        return Provider(
            issuer=self.console_oauth_issuer,
            client_id=self.console_oauth_client,
            client_secret=os.environ.get("HEADGATE_CONSOLE_OAUTH_SECRET"),
            allowed=self.console_allow,
        )

    def announcer(self, store: Store, settings: Settings) -> Announcer | None:
        """What shows codes in other ways than the console, if any was chosen; a SettingError if one cannot work."""
        channels = channels_of(self.notify)
        if channels and not settings.supervises:
            raise SettingError("--notify shows codes of the safety loop: add --safety-loop enforcing")
        return Announcer(store, channels, time.time) if channels else None

    @asynccontextmanager
    async def reached(
        self,
        store: Store,
        engine_of: Callable[[], Engine | None],
        metrics: Metrics | None = None,
        announcer: Announcer | None = None,
    ) -> AsyncIterator[None]:
        """While open, the console is there and codes are shown; a SettingError if something of it cannot work."""
        place, provider = self.place(), self.provider()
        async with anyio.create_task_group() as tasks:
            if announcer:
                tasks.start_soon(announcer.run)
            with ExitStack() as stack:
                if place:
                    sock = stack.enter_context(listen(place.address))
                    there = Place.of(Address(place.address.host, sock.getsockname()[1]), self.console_url or None)
                    console = Console(store, engine_of, metrics, audit_key=audit_key() or b"")
                    tasks.start_soon(run_console, console, there, sock, provider)
                    await tell_of_console(store, there)
                yield
                tasks.cancel_scope.cancel()


async def link(store: Store, place: Place, name: str | None = None) -> str:
    """A link that signs somebody in once."""
    return f"{place.url}/sign-in/{await new_link_secret(store, name or login_name(), time.time)}"


async def tell_of_console(store: Store, place: Place) -> None:
    """Say where the console is. A link is printed only where a person sits: what a host logs, an agent may read."""
    if sys.stderr.isatty():
        sys.stderr.write(f"headgate: console, to sign in once within ten minutes:\n  {await link(store, place)}\n")
    else:
        _LOG.info("console at %s; for a link to sign in: headgate console --link", place.url)
