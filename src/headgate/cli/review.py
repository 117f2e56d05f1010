"""``headgate review``: what operations are taken for, how sure that is, and what a person should look at."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

from cyclopts import Parameter
from rich.table import Table
from rich.text import Text

from headgate.adapter.origins import Origin
from headgate.cli.exits import OK, UNREACHABLE
from headgate.cli.openings import Found, Reaching, Sources, looked_at
from headgate.cli.options import AsJson
from headgate.cli.output import complain, console, guarded, print_line, told
from headgate.cli.targets import DatabaseChoices, Source
from headgate.protocol.adapter_errors import AdapterError
from headgate.protocol.visible import json_line, visible
from headgate.server.settings import SettingError
from headgate.sources.curation import origin_of
from headgate.sources.proposals import Proposal, with_proposals

__all__ = ["review"]

_COLOURS: Final = {
    "READ": "green",
    "CREATE": "blue",
    "UPDATE": "yellow",
    "DELETE": "red",
    "EXECUTE": "magenta",
    "safe": "green",
    "destructive": "yellow",
    "dangerous": "red",
    "forbidden": "red",
}
_COLUMNS: Final = ("", "operation", "category", "danger", "sure", "because")
_TO_LOOK_AT: Final = "?"
_FOLLOWING: Final = "category:"
"""How evidence begins that a category is by itself."""


@dataclass(frozen=True, slots=True)
class _Row:
    """One operation of one source."""

    source: str
    operation: str
    origin: Origin

    def wire(self) -> dict[str, object]:
        """As JSON has it."""
        return {
            "source": self.source,
            "operation": self.operation,
            "own_name": self.origin.own_name,
            "maps_to": self.origin.maps_to,
            "category": self.origin.category.wire(),
            "danger": self.origin.danger.wire(),
            "needs_review": self.origin.needs_review,
        }

    def cells(self) -> tuple[str, ...]:
        """As a table has it."""
        graver = (one for one in self.origin.danger.evidence if not one.startswith(_FOLLOWING))
        because = dict.fromkeys((*self.origin.category.evidence, *graver))
        return (
            _TO_LOOK_AT if self.origin.needs_review else "",
            visible(self.operation),
            self.origin.category.value,
            self.origin.danger.value,
            f"{self.origin.category.confidence:.2f}",
            visible("; ".join(because)),
        )


def review(
    *sources: Sources,
    source: Source = None,
    write: Annotated[
        Path | None,
        Parameter(help="Add what is to be confirmed to this TOML file; what stands there is kept.", show_default=False),
    ] = None,
    json: AsJson = False,
    reaching: Reaching = Reaching(),  # noqa: B008  (frozen)
    database: DatabaseChoices = DatabaseChoices(),  # noqa: B008  (frozen)
) -> int:
    """Show what operations are taken for, those first that a person should look at; nothing is called.

    With --write, these become entries of a file for --review, each to be confirmed. Exit code 0: all sources were
    looked over; 2: wrong usage; 3: a source could not be opened.
    """

    async def work() -> int:
        looked = await looked_at(sources, source, reaching, database)
        rows = sorted(_rows(looked.found), key=lambda row: not row.origin.needs_review)
        if write is not None:
            _propose(write, rows)
        elif rows or json:
            _show(rows, as_json=json)
        return UNREACHABLE if looked.failed else OK

    with told(notes=True):
        return guarded(work)


def _rows(found: Sequence[Found]) -> Iterator[_Row]:
    for one in found:
        for operation in one.adapter.operations.values():
            yield _Row(one.spec.name, operation.name, origin_of(operation))


def _show(rows: Sequence[_Row], *, as_json: bool) -> None:
    terminal = console()
    waiting = sum(row.origin.needs_review for row in rows)
    if as_json:
        print_line(json_line({"needs_review": waiting, "operations": [row.wire() for row in rows]}))
        return
    if terminal.is_terminal:
        terminal.print(_table(rows))
    else:
        for row in rows:
            print_line("\t".join(row.cells()))
    if waiting:
        complain(f"to be looked over: {waiting} of {len(rows)}; --write FILE makes a list to be confirmed")


def _table(rows: Sequence[_Row]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in _COLUMNS:
        table.add_column(column, no_wrap=column != _COLUMNS[-1])
    for row in rows:
        table.add_row(*(Text(cell, style=_COLOURS.get(cell, "")) for cell in row.cells()))
    return table


def _propose(path: Path, rows: Sequence[_Row]) -> None:
    """Write what waits for somebody into a file, beside what stands there."""
    proposals = [Proposal(row.operation, row.origin) for row in rows if row.origin.needs_review]
    try:
        before = path.read_text(encoding="utf-8") if path.exists() else ""
        after, added = with_proposals(before, proposals, str(path))
        if added:
            path.write_text(after, encoding="utf-8")
    except AdapterError as error:
        raise SettingError(str(error)) from None
    except (OSError, UnicodeDecodeError):
        raise SettingError(f"'{path}' cannot be read and written: name another file") from None
    complain(f"to be confirmed in '{path}': {added}" if added else f"there is nothing to add to '{path}'")
