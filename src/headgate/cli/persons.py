"""How persons see what agents do, and decide what those may not alone: the console, and other ways to reach them."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final

from cyclopts import Parameter

from headgate.cli.options import option
from headgate.cli.state import same_state
from headgate.server.settings import SettingError, Settings
from headgate.store.interface import Store

if TYPE_CHECKING:
    from headgate.cli.consoles import Opened
    from headgate.console.channels.announcing import Announcer

__all__ = ["DEFAULT_CONSOLE", "Persons"]

DEFAULT_CONSOLE: Final = "127.0.0.1:8787"


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

    @contextmanager
    def console_opened(self) -> Iterator["Opened | None"]:
        """The console, if there is to be one, on a socket that listens; a SettingError if it cannot be."""
        if not self.console:
            self._refuse_without_console()
            yield None
            return
        from headgate.cli.consoles import opened  # noqa: PLC0415  # a server without a console need not load one

        with opened(self) as console:
            yield console

    def _refuse_without_console(self) -> None:
        given = {
            "--console-url": self.console_url,
            "--console-oauth-issuer": self.console_oauth_issuer,
            "--console-oauth-client": self.console_oauth_client,
            "--console-allow": self.console_allow,
        }
        if names := [name for name, value in given.items() if value]:
            raise SettingError(f"{names[0]} is about the console: add --console {DEFAULT_CONSOLE}, or leave it out")

    def announcer(self, store: Store, settings: Settings) -> "Announcer | None":
        """What shows codes in other ways than the console, if any was chosen; a SettingError if one cannot work."""
        if not any(word.strip() for word in self.notify):
            return None
        from headgate.console.channels.announcing import Announcer  # noqa: PLC0415  # the same
        from headgate.console.channels.choosing import channels_of  # noqa: PLC0415

        channels = channels_of(self.notify)
        if not settings.supervises:
            raise SettingError("--notify shows codes of the safety loop: add --safety-loop enforcing")
        return Announcer(store, channels, time.time, options=same_state(settings.state))
