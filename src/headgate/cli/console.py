"""``headgate console``: the operator's page over a server's state, and links to sign in to one."""

import sys
from typing import Annotated

from cyclopts import Parameter

from headgate.cli.exits import OK
from headgate.cli.options import option
from headgate.cli.output import complain, guarded, print_line
from headgate.cli.persons import DEFAULT_CONSOLE, Persons, link
from headgate.cli.running import log_to_stderr
from headgate.cli.state import By, State, open_state
from headgate.server.settings import SettingError
from headgate.server.signals import wait_for_signal

__all__ = ["console"]


def console(
    *,
    new_link: Annotated[
        bool,
        Parameter(name="--link", help="Print a link that signs you in once, and end.", negative=(), show_default=False),
    ] = False,
    listen: Annotated[
        str, option(f"Where it is, HOST:PORT; {DEFAULT_CONSOLE} unless said.", "HEADGATE_CONSOLE")
    ] = DEFAULT_CONSOLE,
    url: Annotated[str | None, option("The URL under which browsers reach it.", "HEADGATE_CONSOLE_URL")] = None,
    by: By = None,
    state: State = None,
) -> int:
    """Show the console over the state of a server: approvals, codes, agents and the audit, in a browser.

    Beside a server, serve --console shows its operations and its figures too.
    """

    async def work() -> int:
        persons = Persons(console=listen, console_url=url)
        place = persons.place()
        if place is None:
            raise SettingError("--listen needs HOST:PORT")
        if new_link and not sys.stdout.isatty():
            complain("the link below signs whoever has it in: keep it from agents")
        async with open_state(state) as store:
            if new_link:
                print_line(await link(store, place, by))
                return OK
            log_to_stderr("info")
            async with persons.reached(store, lambda: None):
                await wait_for_signal()
        return OK

    return guarded(work)
