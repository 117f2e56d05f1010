"""``headgate console``: the operator's page over a server's state, and links to sign in to one."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

from cyclopts import Parameter

from headgate.cli.exits import OK
from headgate.cli.options import option
from headgate.cli.output import complain, guarded, log_to_stderr, print_line
from headgate.cli.persons import DEFAULT_CONSOLE, Persons
from headgate.cli.state import By, State, open_state
from headgate.server.settings import SettingError
from headgate.server.signals import wait_for_signal

__all__ = ["console"]

_OURS = {
    "--console-": "--",
    "--console": "--listen",
}
"""What the options of a server that has a console are called here."""


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
    oauth_issuer: Annotated[
        str | None, option("An OpenID Connect provider that signs operators in.", "HEADGATE_CONSOLE_OAUTH_ISSUER")
    ] = None,
    oauth_client: Annotated[
        str | None, option("The id of the console at that provider.", "HEADGATE_CONSOLE_OAUTH_CLIENT")
    ] = None,
    allow: Annotated[
        tuple[str, ...], option("Who may sign in so, such as *@example.org; repeatable.", "HEADGATE_CONSOLE_ALLOW")
    ] = (),
    by: By = None,
    state: State = None,
) -> int:
    """Show the console over a server's state: approvals, codes, agents and the audit, in a browser.

    With --link it prints a link that signs you in to the console at --listen (or --url), over the same --state.

    A server that is started with --console shows its operations and its figures there too.
    """

    persons = Persons(
        console=listen or DEFAULT_CONSOLE,
        console_url=url,
        console_oauth_issuer=oauth_issuer,
        console_oauth_client=oauth_client,
        console_allow=allow,
    )

    async def work() -> int:
        with _worded():
            await (_print_link if new_link else _show)(persons, state, by)
        return OK

    try:
        return guarded(work)
    except KeyboardInterrupt:  # before anything waits for signals
        return OK


async def _print_link(persons: Persons, state: str | None, by: str | None) -> None:
    from headgate.cli.consoles import link, place_of  # noqa: PLC0415  # slow to import

    place = place_of(persons)
    if not place.address.port and not persons.console_url:
        raise SettingError("--listen must name the port of the console that the link is for")
    async with open_state(state) as store:
        made = await link(store, place, by)
    if not sys.stdout.isatty():
        complain("the link signs in whoever has it: keep it from agents")
    print_line(made)


async def _show(persons: Persons, state: str | None, by: str | None) -> None:
    from headgate.cli.consoles import opened  # noqa: PLC0415  # slow to import

    async with open_state(state) as store:
        log_to_stderr("info")
        with opened(persons) as there:
            async with there.running(store, lambda: None, state=state, by=by):
                await wait_for_signal()


@contextmanager
def _worded() -> Iterator[None]:
    """Have mistakes speak of options by the names that they have here."""
    try:
        yield
    except SettingError as error:
        words = str(error)
        for theirs, ours in _OURS.items():
            words = words.replace(theirs, ours)
        raise SettingError(words) from None
