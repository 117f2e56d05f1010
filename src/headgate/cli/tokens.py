"""``headgate tokens``: what sources cost a model, and whether headgate before them pays."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

from cyclopts import Parameter

from headgate.adapter.adapter import Adapter
from headgate.charts import PillowMissingError, check_pillow, png, svg
from headgate.charts.values import BarChart
from headgate.cli.exits import OK, UNREACHABLE
from headgate.cli.openings import Found, Reaching, Sources, looked_at
from headgate.cli.options import WHOLE, AsJson, number_option, option
from headgate.cli.output import complain, console, guarded, print_json, print_line, told
from headgate.cli.targets import DatabaseChoices, Source
from headgate.cli.tokens_table import print_table
from headgate.cli.tokens_words import Prices, about_task, chart_of, joined, rows_of, told_as_json, verdict
from headgate.server.costs import discrete_tool
from headgate.server.counting import installed_counter
from headgate.server.settings import SettingError
from headgate.server.spending import Bill, bill_of
from headgate.sources.gate.assembly import Piece, assembled
from headgate.sources.words import clean

__all__ = ["tokens"]

_MOST_CALLS: Final = 1000
_HIGHEST_PRICE: Final = 1_000_000
_SESSIONS: Final = 1000
_MOST_SESSIONS: Final = 10**12


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Reckoning:
    """What is reckoned with."""

    calls: Annotated[int, Parameter(help="How many operations a task calls."), WHOLE] = 3
    price: Annotated[
        float | None,
        Parameter(help="What a million input tokens cost, in any currency; then sums are shown.", show_default=False),
    ] = None
    sessions: Annotated[
        int | None,
        Parameter(help="How many sessions, each with one task, a sum is for; 1000 unless said.", show_default=False),
        WHOLE,
    ] = None

    def prices(self) -> Prices:
        """The same as values; what is wrong with them is a mistake in how the command is used."""
        if not 1 <= self.calls <= _MOST_CALLS:
            raise SettingError(f"--calls must be a number from 1 to {_MOST_CALLS}, not {self.calls}")
        if self.price is not None and not 0 <= self.price <= _HIGHEST_PRICE:
            raise SettingError(f"--price must be a number from 0 to {_HIGHEST_PRICE:,}, not {self.price:g}")
        if self.sessions is None:
            return Prices(self.price, _SESSIONS)
        if self.price is None:
            raise SettingError("--sessions says what a sum is for: add --price, what a million input tokens cost")
        if not 1 <= self.sessions <= _MOST_SESSIONS:
            raise SettingError(f"--sessions must be a number from 1 to {_MOST_SESSIONS:,}, not {self.sessions:,}")
        return Prices(self.price, self.sessions)


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Showing:
    """How the sources would be served."""

    profile: Annotated[
        str | None, option("Which families semantic mode has, such as crude or discover.", "MCP_AQL_ENDPOINT_PROFILE")
    ] = None
    index_tokens: Annotated[
        int | None, number_option("Tokens that the index in the tools' descriptions may cost.", "HEADGATE_INDEX_TOKENS")
    ] = None

    def chosen(self) -> dict[str, Any]:
        """What was said, as settings."""
        settings = {"profile": self.profile, "index_tokens": self.index_tokens}
        return {name: value for name, value in settings.items() if value is not None}


def tokens(
    *sources: Sources,
    source: Source = None,
    json: AsJson = False,
    chart: Annotated[
        tuple[Path, ...],
        Parameter(help="Draw the figures into this .svg or .png file; may be repeated.", negative=()),
    ] = (),
    reckoning: Reckoning = Reckoning(),  # noqa: B008  (frozen)
    showing: Showing = Showing(),  # noqa: B008  (frozen)
    reaching: Reaching = Reaching(),  # noqa: B008  (frozen)
    database: DatabaseChoices = DatabaseChoices(),  # noqa: B008  (frozen)
) -> int:
    """Count what sources cost a model in tokens: as discrete tools, in semantic mode, and as a single tool.

    Tools, discovery, and a whole task that finds, describes and calls; introspection alone is asked, and no operation
    is called. Exact with the extra 'tokens', else estimated. Exit code 0: counted; 2: wrong usage; 3: a source could
    not be opened.
    """

    async def work() -> int:
        prices = reckoning.prices()
        _check_charts(chart)
        looked = await looked_at(sources, source, reaching, database)
        if not looked.found:
            if json:
                print_json({"failed": looked.problems}, compact=True)
            return UNREACHABLE
        counter = installed_counter()
        own = [_own_tools(one) for one in looked.found]
        bill = await bill_of(
            _together(looked.found),
            counter,
            calls=reckoning.calls,
            own_tools=[tool for tools in own for tool in tools.served],
            **showing.chosen(),
        )
        name = joined([one.spec.name for one in looked.found])
        left_out = {one.spec.name: tools.left_out for one, tools in zip(looked.found, own, strict=True)}
        _show(bill, prices, {"failed": looked.problems, "left_out": left_out} if json else None)
        for source_name, names in left_out.items():
            _tell_left_out(source_name, names)
        for path in chart:
            _draw(chart_of(bill, name), path)
        if not counter.is_exact:
            complain("these figures are estimates; exactly, with o200k: pip install 'bpe-openai>=0.1.4'")
        return UNREACHABLE if looked.failed else OK

    with told(notes=False):
        return guarded(work)


def _together(found: Sequence[Found]) -> Adapter:
    """What would be served of all sources."""
    if len(found) == 1 and not found[0].spec.prefix:
        return found[0].adapter
    return assembled("headgate", [Piece(one.spec.name, one.adapter, one.spec.prefix) for one in found])


@dataclass(frozen=True, slots=True)
class _Own:
    """The tools that a host would have without headgate."""

    served: list[Mapping[str, Any]]
    left_out: list[str]
    """The names of those that are no operations behind headgate. To count them here alone would be no comparison."""


def _own_tools(found: Found) -> _Own:
    """Those of an MCP server itself, else one an operation."""
    if found.capture is None:
        return _Own([discrete_tool(operation) for operation in found.adapter.operations.values()], [])
    if any("mcp_aql" in str(tool.get("name")) for tool in found.capture.tools):
        raise SettingError(
            f"source '{found.spec.name}' speaks MCP-AQL itself, and from outside nobody can see how much its "
            "operations would cost as tools: name the source behind it"
        )
    served = {one.origin.own_name for one in found.adapter.operations.values() if one.origin}
    tools = {str(tool.get("name")): tool for tool in reversed(found.capture.tools)}  # of two by one name, the first
    names = list(reversed(tools))
    return _Own([tools[name] for name in names if name in served], [name for name in names if name not in served])


def _tell_left_out(source: str, names: Sequence[str]) -> None:
    if names:
        count = "1 tool is" if len(names) == 1 else f"{len(names):,} tools are"
        complain(
            f"of '{source}' {count} not served, and not counted: {joined([repr(clean(name, 80)) for name in names])}; "
            "where it is not by your own choice, 'headgate review' says why"
        )


def _check_charts(paths: Sequence[Path]) -> None:
    for path in paths:
        if path.suffix.lower() not in (".svg", ".png"):
            raise SettingError(f"--chart '{path}' must end with .svg or .png")
        if not path.absolute().parent.is_dir():
            raise SettingError(f"--chart '{path}' cannot be written: there is no folder '{path.parent}'")
        if _is_png(path):
            try:
                check_pillow()
            except PillowMissingError as error:
                raise SettingError(f"--chart '{path}': {error}") from None


def _is_png(path: Path) -> bool:
    return path.suffix.lower() == ".png"


def _draw(chart: BarChart, path: Path) -> None:
    try:
        path.write_bytes(png(chart) if _is_png(path) else svg(chart).encode())
    except OSError as error:
        raise SettingError(f"--chart '{path}' cannot be written: {error.strerror}") from None
    complain(f"drawn into '{path}'")


def _show(bill: Bill, prices: Prices, missing: Mapping[str, Mapping[str, object]] | None) -> None:
    """As JSON where it is known what is ``missing``, be it nothing; else for people or as lines."""
    terminal = console()
    if missing is not None:
        told_of = {why: {name: said for name, said in of.items() if said} for why, of in missing.items()}
        print_json({**told_as_json(bill, prices), **{why: of for why, of in told_of.items() if of}}, compact=True)
    elif terminal.is_terminal:
        print_table(terminal, bill, prices)
    else:
        for row in rows_of(bill, prices):
            print_line("\t".join(row))
        for line in (*about_task(bill), *verdict(bill)):
            print_line(line)
