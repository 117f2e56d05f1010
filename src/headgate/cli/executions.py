"""``headgate executions``: long work of all callers, how far it is, and what an operator does about it."""

import time
from collections.abc import Sequence
from typing import Annotated, Final

import anyio
import orjson
from cyclopts import App, Parameter
from rich.live import Live

from headgate.cli.execution_rows import print_all, print_lines, show_one, state_shown, table_of, wire_of
from headgate.cli.exits import FAILED, OK
from headgate.cli.options import WHOLE, AsJson
from headgate.cli.output import complain, console, guarded, print_json, print_line
from headgate.cli.processes import describe, listen, show_processes
from headgate.cli.state import By, State, command, login_name, open_state
from headgate.executions import persons
from headgate.executions.results import read_page
from headgate.executions.values import About
from headgate.protocol import lifecycle
from headgate.protocol.suggestions import did_you_mean, nearest
from headgate.protocol.visible import json_line, visible
from headgate.server.settings import SettingError
from headgate.store.executions import Execution
from headgate.store.interface import Store

__all__ = ["executions"]

_USUAL: Final = 20
_PAGE: Final = 1000
_SECONDS_BETWEEN_LOOKS: Final = 0.5
_PREFIX: Final = "exec_"
_LAST: Final = "~"
"""Sorts after every sign of an id."""
_SEVERAL: Final = 5

_Id = Annotated[str, Parameter(name="ID", help="The execution's id, or as much of its beginning as is unmistakable.")]

executions = App(name="executions", help_format="plaintext")


@executions.default
def show(
    execution_id: Annotated[str | None, Parameter(name="ID", help="One execution, to see all of it.")] = None,
    /,
    *,
    live: Annotated[bool, Parameter(help="Only those that have not ended.", negative=(), show_default=False)] = False,
    first: Annotated[int, Parameter(help="How many, the newest first."), WHOLE] = _USUAL,
    all: Annotated[bool, Parameter(help="All of them.", negative=(), show_default=False)] = False,  # noqa: A002  (the name of the option)
    once: Annotated[bool, Parameter(help="Show how they are now, and end.", negative=(), show_default=False)] = False,
    state: State = None,
    json: AsJson = False,
) -> int:
    """List executions, the newest first, or show one of them in full.

    On a terminal the table follows those that are under way, until all have ended; Ctrl-C leaves it earlier.
    """

    async def work() -> int:
        if first < 1:
            raise SettingError(f"--first must be 1 or more, not {first}")
        async with open_state(state) as store:
            if execution_id is not None:
                return await _show_one(store, execution_id, state, as_json=json)
            looking = _Looking(store, live=live, first=None if all else first)
            if json:
                print_all(await looking.look())
            elif console().is_terminal:
                await _show_table(looking, follows=not once)
            else:
                print_lines(_or_say_none(await looking.look(), live=live), time.time())
            return OK

    try:
        return guarded(work)
    except KeyboardInterrupt:
        return OK


@executions.command(name="cancel")
def cancel(execution_id: _Id, /, *, by: By = None, state: State = None, json: AsJson = False) -> int:
    """Cancel an execution. What waits ends at once; what runs is told to stop, and has time to clean up."""

    async def work() -> int:
        async with open_state(state) as store:
            known = await _found(store, execution_id, state)
            if known is None:
                return FAILED
            if not await persons.cancel(store, known.id, by or login_name(), time.time):
                return await _say_why(store, known, "it cannot be cancelled any more")
            became = await persons.find(store, known.id, time.time) or known
        return _tell(became, _CANCELLED.get(became.state, _TOLD), as_json=json)

    return guarded(work)


_TOLD: Final = "is told to stop, and has time to clean up"
_CANCELLED: Final = {
    lifecycle.State.CANCELLED: "is cancelled: nobody was at it",
    lifecycle.State.STUCK: "was told to stop before, and does not stop",
}


@executions.command(name="retry")
def retry(execution_id: _Id, /, *, by: By = None, state: State = None, json: AsJson = False) -> int:
    """Run an execution that has failed once more, with the same parameters."""

    async def work() -> int:
        async with open_state(state) as store:
            known = await _found(store, execution_id, state)
            if known is None:
                return FAILED
            if not await persons.retry(store, known.id, by or login_name(), time.time):
                return await _say_why(store, known, _why_not(known))
            became = await persons.find(store, known.id, time.time) or known
            words = f"begins anew as soon as {await _who_takes(store, known)}"
        return _tell(became, words, as_json=json)

    return guarded(work)


@executions.command(name="result")
def result(execution_id: _Id, /, *, state: State = None, json: AsJson = False) -> int:
    """Print the result of an execution that has completed, as JSON; --json prints it on one line."""

    async def work() -> int:
        async with open_state(state) as store:
            known = await _found(store, execution_id, state)
            if known is None:
                return FAILED
            if known.state is not lifecycle.State.COMPLETED:
                return await _say_why(store, known, "there is no result" + ("" if known.state.is_terminal else " yet"))
            text = await _result(store, known)
        print_json(orjson.loads(text), compact=json)
        return OK

    return guarded(work)


@executions.command(name="workers")
def workers(*, state: State = None, json: AsJson = False) -> int:
    """List the processes that work on executions: servers, and workers that take them from a shared queue."""

    async def work() -> int:
        async with open_state(state) as store:
            show_processes(await listen(store), time.time(), as_json=json)
        return OK

    return guarded(work)


# looking


class _Looking:
    """The executions that were asked for, as they are each time; what has ended meanwhile stays among them."""

    def __init__(self, store: Store, *, live: bool, first: int | None) -> None:
        self._store = store
        self.live = live
        self._first = first
        self._seen: dict[str, Execution] = {}

    async def look(self) -> list[Execution]:
        """How they are now."""
        found = {one.id: one for one in await self._page()}
        if self.live:
            for ended in self._seen.keys() - found.keys():
                found[ended] = await persons.find(self._store, ended, time.time) or self._seen[ended]
        self._seen = found
        return [found[name] for name in sorted(found, reverse=True)]

    async def _page(self) -> list[Execution]:
        find = persons.executions
        if self._first is not None:
            return await find(self._store, time.time, live=self.live, first=self._first, brief=True)
        every: list[Execution] = []
        before = None
        while page := await find(self._store, time.time, live=self.live, first=_PAGE, before=before, brief=True):
            every += page
            before = page[-1].id
        return every


def _or_say_none(found: list[Execution], *, live: bool) -> list[Execution]:
    if not found:
        complain("nothing is under way" if live else "nothing has been executed in the background")
    return found


async def _show_table(looking: _Looking, *, follows: bool) -> None:
    """The table, anew about twice a second until all have ended; what is read takes no more than a part of the time."""
    terminal = console()
    found = _or_say_none(await looking.look(), live=looking.live)
    if not follows or not _is_any_live(found):
        if found:
            terminal.print(table_of(found, time.time(), terminal.width))
        return
    with Live(console=terminal, auto_refresh=False) as shown:
        while True:
            shown.update(table_of(found, time.time(), terminal.width), refresh=True)
            if not _is_any_live(found):
                return
            began = time.monotonic()
            found = await looking.look()
            await anyio.sleep(max(_SECONDS_BETWEEN_LOOKS, 4 * (time.monotonic() - began)))


def _is_any_live(found: Sequence[Execution]) -> bool:
    return any(not one.state.is_terminal for one in found)


# one


async def _show_one(store: Store, execution_id: str, state: str | None, *, as_json: bool) -> int:
    known = await _found(store, execution_id, state)
    if known is None:
        return FAILED
    if as_json:
        print_line(json_line(wire_of(known, in_full=True)))
    else:
        worker = await persons.worker_of(store, known)
        show_one(known, describe(worker) if worker else known.worker or "", _advice(known, state), time.time())
    return OK


def _advice(known: Execution, state: str | None) -> list[str]:
    """What can be done about it."""
    words: list[str] = []
    if known.state is lifecycle.State.COMPLETED:
        words = ["result"]
    elif not known.state.is_terminal:
        words = ["cancel"]
    elif persons.may_retry(known):
        words = ["retry"]
    return [command(state, "executions", one, known.id) for one in words]


async def _result(store: Store, known: Execution) -> str:
    """All of a result, page by page."""
    pages: list[str] = []
    after = 0
    while True:
        page = await read_page(store, known, after, _PAGE)
        after += page.returned
        if page.is_all and not pages:
            return page.content
        pages.append(page.content if page.is_text else page.content[1:-1])
        if after >= page.total:
            return "".join(pages) if page.is_text else f"[{','.join(pages)}]"


def _tell(became: Execution, words: str, *, as_json: bool) -> int:
    if as_json:
        print_line(json_line(wire_of(became)))
    else:
        complain(f"'{became.id}' {words}")
    return OK


async def _who_takes(store: Store, known: Execution) -> str:
    """Who begins what is to begin anew."""
    there = [
        one for one in await listen(store, patient=False) if one.worker.adapter == known.adapter and one.looks_alive
    ]
    takers = [one for one in there if one.worker.takes_jobs] if store.is_shared else there
    if takers:
        return "a worker takes it" if store.is_shared else f"the server of '{visible(known.adapter)}' sees it"
    what = "'headgate worker'" if store.is_shared else "a server"
    return f"{what} runs for '{visible(known.adapter)}' on this state: there is none now"


# what is wrong


async def _found(store: Store, said: str, state: str | None) -> Execution | None:
    """The one execution whose id begins so; what dead processes have left is settled before."""
    beginning = said if said.startswith(_PREFIX) else _PREFIX + said
    found = await persons.executions(store, time.time, first=_SEVERAL, before=beginning + _LAST)
    fitting = [one for one in found if one.id.startswith(beginning)]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        others = ", ".join(one.id for one in fitting[1:])
        complain(f"'{visible(said)}' is the beginning of several executions: {fitting[0].id}, {others}; say more of it")
    else:
        await _say_none(store, said, state)
    return None


async def _say_none(store: Store, said: str, state: str | None) -> None:
    known = [one.id for one in await persons.executions(store, time.time, first=_PAGE, brief=True)]
    near = did_you_mean(nearest(said, known, 1)) or f"; see '{command(state, 'executions')}' for those that are"
    complain(f"No execution '{visible(said)}' is known{near}")


async def _say_why(store: Store, known: Execution, why: str) -> int:
    """Say how it is, and so why nothing was done."""
    now = await persons.find(store, known.id, time.time) or known
    complain(f"'{known.id}' is {state_shown(now.state)}: {why}")
    return FAILED


def _why_not(known: Execution) -> str:
    about = About.read(known.about)
    if known.state is not lifecycle.State.FAILED:
        return "only what has failed can be retried"
    if about.hides:
        return "its parameters had secrets in them, which are not kept, so start it anew"
    return f"'{visible(known.operation)}' does not allow a retry, so start it anew"
