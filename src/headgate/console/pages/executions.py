"""Executions: how far long work is, what came of it, and how a person stops it or has it begin anew."""

import json
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from starlette.responses import RedirectResponse, Response

from headgate.console.console import Console
from headgate.console.doors import Door, Visit
from headgate.executions.persons import cancel, executions, find, first_of_result, may_retry, retry, worker_of
from headgate.executions.values import About, Outcome, read_error
from headgate.protocol.lifecycle import STATES, State
from headgate.store.executions import Execution

__all__ = ["doors"]

_ROWS: Final = 50
_LONGEST_ID: Final = 200
_LONGEST_TEXT: Final = 4000
_UNFINISHED: Final = "unfinished"


@dataclass(frozen=True, slots=True)
class _Offer:
    """What a person can do about an execution, and what follows from it, or why there is nothing to do."""

    words: str
    action: str = ""
    button: str = ""


@dataclass(frozen=True, slots=True)
class _Result:
    """What an execution gave, as far as there is room for it."""

    outcome: Outcome
    said: str
    value: object
    """The value, or some items of it; None beside a text that is only the beginning of its JSON."""
    text: str = ""


def doors(console: Console) -> list[Door]:
    """The routes of executions."""
    pages = _Executions(console)
    return [
        Door("GET", "/executions", pages.show_all),
        Door("GET", "/execution", pages.show_one),
        Door("POST", "/execution/cancel", pages.cancel),
        Door("POST", "/execution/retry", pages.retry),
    ]


class _Executions:
    def __init__(self, console: Console) -> None:
        self._console = console
        self._store = console.store
        self._clock = console.clock

    async def show_all(self, visit: Visit) -> Response:
        asked = visit.request.query_params
        is_live, before = asked.get("show") == _UNFINISHED, _id(asked.get("before", ""))
        page = await executions(self._store, self._clock, live=is_live, first=_ROWS, before=before, brief=True)
        at_the_top = [] if is_live or before else await self._unfinished()
        above = {one.id for one in at_the_top}
        return await self._console.page(
            visit,
            "executions.html",
            executions=[*at_the_top, *(one for one in page if one.id not in above)],
            is_live=is_live,
            before=before,
            more=page[-1].id if len(page) == _ROWS else None,
        )

    async def _unfinished(self) -> list[Execution]:
        return await executions(self._store, self._clock, live=True, first=_ROWS, brief=True)

    async def show_one(self, visit: Visit) -> Response:
        return await self._page(visit, visit.request.query_params.get("id", ""))

    async def cancel(self, visit: Visit) -> Response:
        execution = await self._found(visit.said("id"))
        if execution is not None and execution.state in (State.CANCELLING, State.STUCK):
            said = "It has been told to stop already: nothing was changed."
        elif execution is None or await cancel(self._store, execution.id, visit.operator.name, self._clock):
            said = ""
        else:
            said = "It has ended, so there is nothing to cancel."
        return await self._decided(visit, execution, said)

    async def retry(self, visit: Visit) -> Response:
        execution = await self._found(visit.said("id"))
        if execution is None or await retry(self._store, execution.id, visit.operator.name, self._clock):
            said = ""
        else:
            said = "It cannot be retried: nothing was changed."
        return await self._decided(visit, execution, said)

    async def _decided(self, visit: Visit, execution: Execution | None, failed: str) -> Response:
        """To the page that tells what becomes of it, under its own address; or at once why nothing does."""
        if execution is None or failed:
            return await self._page(visit, visit.said("id"), said=failed, status=409)
        return RedirectResponse(f"/execution?id={quote(execution.id, safe='')}", 303)

    async def _found(self, execution_id: str) -> Execution | None:
        known = _id(execution_id)
        return await find(self._store, known, self._clock) if known else None

    async def _page(self, visit: Visit, execution_id: str, *, said: str = "", status: int = 200) -> Response:
        execution = await self._found(execution_id)
        if execution is None:
            return await self._console.page(visit, "missing.html", status=404, what="execution")
        about = About.read(execution.about)
        is_live = not execution.state.is_terminal
        return await self._console.page(
            visit,
            "execution.html",
            status=status,
            execution=execution,
            about=about,
            meaning=STATES[execution.state].meaning,
            error=read_error(execution.error) if execution.error else None,
            worker=await worker_of(self._store, execution) if is_live else None,
            result=await self._result(execution) if execution.outcome else None,
            offer=_offer(execution, about),
            said=said,
        )

    async def _result(self, execution: Execution) -> _Result:
        outcome = Outcome.read(execution.outcome or "")
        page = await first_of_result(self._store, execution)
        size = f"{outcome.size:,} characters of JSON"
        if page.is_text:
            text = page.content[:_LONGEST_TEXT]
            return _Result(outcome, f"{size}; these are the first {len(text):,}:", None, text)
        value = json.loads(page.content)
        if outcome.items is None:
            return _Result(outcome, f"{size}.", value)
        items = f"{outcome.items:,} item{'' if outcome.items == 1 else 's'}, {size}"
        return _Result(outcome, f"{items}." if page.is_all else f"{items}; the first {page.returned}:", value)


def _id(text: str) -> str | None:
    """What may be the id of an execution."""
    return text if 0 < len(text) <= _LONGEST_ID and text.isascii() and text.isprintable() else None


def _offer(execution: Execution, about: About) -> _Offer:
    match execution.state:
        case State.PENDING | State.RETRYING:
            return _Offer("If it is cancelled, it ends at once.", "cancel", "Cancel it")
        case State.RUNNING:
            seconds = f"{about.background.cleanup:g} seconds"
            return _Offer(f"If it is cancelled, it has {seconds} to clean up.", "cancel", "Cancel it")
        case State.CANCELLING:
            seconds = f"{about.background.cleanup:g} seconds"
            return _Offer(f"It was told to stop. If it does not within {seconds}, it counts as stuck.")
        case State.STUCK:
            return _Offer("It was told to stop, and does not: only the end of the process that works on it ends it.")
        case State.FAILED:
            return _Offer(_why_no_retry(about)) if not may_retry(execution) else _AGAIN
        case _:
            return _Offer("It has ended, and stays as it is.")


_AGAIN: Final = _Offer("If it is retried, it begins anew, with the same arguments.", "retry", "Retry it")


def _why_no_retry(about: About) -> str:
    if about.hides:
        return "It cannot be retried: some of its arguments are secret, and those are not kept. Start it anew."
    return "It cannot be retried: its operation does not allow that. Start it anew."
