"""The audit: its latest rows, those that fit a search, and whether the chain is whole."""

from typing import Final

from starlette.responses import Response

from headgate.console.console import Console
from headgate.console.doors import Door, Visit
from headgate.safety.searching import EVENTS, Search, SearchError, last_rows
from headgate.store.verifying import verify

__all__ = ["doors"]

_FIELDS: Final = ("event", "operation", "caller", "agent", "decision", "code", "since", "until")
_ROWS: Final = 100
_MOST_ROWS: Final = 1000


def doors(console: Console) -> list[Door]:
    """The routes of the audit."""

    async def show(visit: Visit, *, chain: str = "", is_whole: bool = True) -> Response:
        asked = visit.request.query_params
        wanted = {name: asked.get(name, "").strip() for name in _FIELDS}
        count = _count(asked.get("rows", ""))
        said = ""
        try:
            matches = Search(**{name: value or None for name, value in wanted.items()}).matches(console.clock())
        except SearchError as error:
            said = f"{error.about}: {error}"
            matches = Search().matches(console.clock())
        found = await last_rows(console.store, matches, count)
        return await console.page(
            visit,
            "audit.html",
            status=422 if said else 200,
            rows=found.rows[::-1],
            wanted=wanted,
            count=count,
            events=EVENTS,
            said=said,
            head=await console.store.head(),
            chain=chain,
            is_whole=is_whole,
        )

    async def check(visit: Visit) -> Response:
        result = await verify(console.store, key=console.audit_key)
        if result.broken is not None:
            said = f"Row {result.broken.number} is wrong: {result.broken.reason}."
            return await show(visit, chain=said, is_whole=False)
        return await show(visit, chain=f"The chain is whole, up to row {result.head.number}.")

    return [Door("GET", "/audit", show), Door("POST", "/audit", check)]


def _count(asked: str) -> int:
    """How many rows somebody wants, within reason."""
    if not asked.isdecimal():
        return _ROWS
    return _MOST_ROWS if len(asked) > len(str(_MOST_ROWS)) else max(1, min(_MOST_ROWS, int(asked)))
