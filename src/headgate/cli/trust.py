"""``headgate trust``: how far adapters are trusted, who changed that and why."""

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Final

from cyclopts import Parameter
from rich.console import Console
from rich.table import Table
from rich.text import Text

from headgate.cli.exits import FAILED, OK
from headgate.cli.options import AsJson
from headgate.cli.output import complain, console, guarded, print_line
from headgate.cli.state import By, State, login_name, open_state
from headgate.protocol.danger import Trust
from headgate.protocol.suggestions import did_you_mean, nearest
from headgate.protocol.visible import json_line, visible
from headgate.safety.trust import DEFAULT_TRUST
from headgate.safety.trusting import Trusted, TrustError, change_trust, recorded_trust
from headgate.server.settings import SettingError
from headgate.store.interface import Store

__all__ = ["trust"]

_KIND: Final = "trust"
"""The kind of record that trust is kept as."""

_COLOURS: Final[Mapping[str, str]] = {
    Trust.UNTESTED: "red",
    Trust.GENERATED: "yellow",
    Trust.VALIDATED: "cyan",
    Trust.COMMUNITY_REVIEWED: "green",
    Trust.CERTIFIED: "green",
}
_CHANGE: Final = ("at", "from", "to", "by", "reason")


def trust(
    adapter: Annotated[str | None, Parameter(help="One adapter, to see its history.")] = None,
    /,
    *,
    level: Annotated[
        str | None,
        Parameter(
            name="--set",
            help=f"{', '.join(Trust)}: one level up at a time, or any down.",
            show_default=False,
        ),
    ] = None,
    reason: Annotated[str | None, Parameter(help="Why it changes; the audit keeps it.", show_default=False)] = None,
    by: By = None,
    state: State = None,
    json: AsJson = False,
) -> int:
    """Show how far adapters are trusted, with the history of one; or change it with --set and --reason.

    Exit code 0: it worked; 1: nothing is on record, or trust cannot change in this way; 2: wrong usage; 3: no store.
    """

    async def work() -> int:
        wanted = _wanted(adapter, level, reason)
        async with open_state(state, makes=wanted is not None) as store:
            if adapter is None:
                return _show_all(await _everything(store), as_json=json)
            if wanted is not None:
                return await _change(store, adapter, wanted, reason or "", by or login_name(), as_json=json)
            found = await recorded_trust(store, adapter)
            if found is None:
                return _say_none(adapter, list(await _everything(store)), as_json=json)
        _show_one(adapter, found, as_json=json)
        return OK

    return guarded(work)


def _wanted(adapter: str | None, level: str | None, reason: str | None) -> Trust | None:
    if level is None:
        if reason is not None:
            raise SettingError("--reason goes with --set: name the level that the adapter is to have")
        return None
    if adapter is None:
        raise SettingError("--set needs the name of an adapter, as in: headgate trust shop --set validated --reason …")
    if not (reason and reason.strip()):
        raise SettingError("--set needs --reason: say why, so that whoever reads the audit understands")
    try:
        return Trust(level.replace("-", "_"))
    except ValueError:
        advice = did_you_mean(nearest(level, list(Trust), 1))
        raise SettingError(f"'{level}' is no level of trust; there are {', '.join(Trust)}{advice}") from None


async def _everything(store: Store) -> Mapping[str, Trusted]:
    found: dict[str, Trusted] = {}
    after = ""
    while records := await store.list(_KIND, after=after):
        for record in records:
            trusted = await recorded_trust(store, record.key)
            if trusted is not None:
                found[record.key] = trusted
        after = records[-1].key
    return found


async def _change(store: Store, adapter: str, new: Trust, reason: str, by: str, *, as_json: bool) -> int:
    try:
        changed = await change_trust(
            store, adapter, new, by=by, reason=reason.strip(), now=time.time(), before=DEFAULT_TRUST
        )
    except TrustError as error:
        complain(str(error))
        return FAILED
    if as_json:
        print_line(json_line(_wire(adapter, changed)))
    else:
        last = changed.history[-1]
        print_line(visible(f"{adapter}: {last['from']} → {last['to']}"))
        complain("servers that run already keep the trust that they started with")
    return OK


def _say_none(adapter: str, known: list[str], *, as_json: bool) -> int:
    if as_json:
        print_line(json_line({"adapter": adapter, "level": None, "history": []}))
    advice = did_you_mean(nearest(adapter, known, 1)) or "; what its origin and the policy say counts"
    complain(f"No trust is on record for '{visible(adapter)}'{advice}")
    return FAILED


def _wire(adapter: str, trusted: Trusted) -> dict[str, object]:
    return {"adapter": adapter, "level": trusted.level.value, "history": list(trusted.history)}


def _show_all(found: Mapping[str, Trusted], *, as_json: bool) -> int:
    terminal = console()
    if as_json:
        print_line(json_line({"adapters": [_wire(adapter, trusted) for adapter, trusted in found.items()]}))
    elif not found:
        complain("no trust is on record for any adapter; what their origin and the policy say counts")
    elif terminal.is_terminal:
        terminal.print(_table(("adapter", "trust", "since", "by", "reason"), map(_row, found, found.values())))
    else:
        for adapter, trusted in found.items():
            print_line("\t".join(_row(adapter, trusted)))
    return OK


def _show_one(adapter: str, trusted: Trusted, *, as_json: bool) -> None:
    terminal = console()
    rows = [[visible(str(change.get(name, ""))) for name in _CHANGE] for change in trusted.history]
    if as_json:
        print_line(json_line(_wire(adapter, trusted)))
    elif terminal.is_terminal:
        _print_one(terminal, adapter, trusted, rows)
    else:
        for row in rows:
            print_line("\t".join(row))


def _print_one(terminal: Console, adapter: str, trusted: Trusted, rows: Iterable[Sequence[str]]) -> None:
    words = (visible(adapter), "bold"), "  ", (trusted.level.value, _COLOURS[trusted.level])
    terminal.print(Text.assemble(*words), soft_wrap=True)
    terminal.print(_table(_CHANGE, rows))


def _row(adapter: str, trusted: Trusted) -> list[str]:
    last = trusted.history[-1] if trusted.history else {}
    cells = (adapter, trusted.level.value, *(str(last.get(name, "")) for name in ("at", "by", "reason")))
    return [visible(cell) for cell in cells]


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, no_wrap=column != "reason")
    for row in rows:
        table.add_row(*(Text(cell, style=_COLOURS.get(cell, "")) for cell in row))
    return table
