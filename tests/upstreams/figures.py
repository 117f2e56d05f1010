"""What the page of wrapped servers tells: costs, calls and how well tools are told apart, as tables."""

from collections.abc import Mapping, Sequence

from headgate.server.counting import exact_counter
from headgate.server.spending import Bill, bill_of
from tests.upstreams.calls import CALLS
from tests.upstreams.classified import Row, adapter_of, rows_of, score_of
from tests.upstreams.listings import Tools
from tests.upstreams.servers import SERVERS

__all__ = [
    "PRECISION_HEAD",
    "all_rows",
    "cost_of",
    "cost_table",
    "precision_table",
    "score_line",
    "task_table",
    "tool_table",
]

PRECISION_HEAD = (
    "| server | tools | category | best category | danger | danger played down | changing, but READ | for review |",
    "|---" * 8 + "|",
)


_CALLS = 3


async def cost_of(name: str, tools: Tools) -> Bill:
    """What a server costs a model, by itself and behind headgate."""
    own = list(tools.values())
    return await bill_of(adapter_of(name, tools), exact_counter(), calls=_CALLS, own_tools=own)


def cost_table(costs: Mapping[str, Bill]) -> list[str]:
    """Each server with its version, its tools, its tokens before and after, and the calls that were compared."""
    figures = {
        name: (one.discrete.tools, one.discrete.listed, one.semantic.listed, one.single.listed)
        for name, one in costs.items()
    }
    rows = [
        f"| {SERVERS[name].package} | {SERVERS[name].version} | {' | '.join(f'{figure:,}' for figure in row)} "
        f"| {len(CALLS.get(name, ())) or '–'} |"  # noqa: RUF001  (a dash stands for none)
        for name, row in figures.items()
    ]
    sums = [sum(column) for column in zip(*figures.values(), strict=True)]
    total = f"| **all** | | {' | '.join(f'{figure:,}' for figure in sums)} | {sum(map(len, CALLS.values()))} |"
    head = "| server | version | tools | tokens of its tools/list | semantic | single | calls compared |"
    return [head, "|---|---|---|---|---|---|---|", *rows, total]


def task_table(costs: Mapping[str, Bill]) -> list[str]:
    """What a whole task costs with each server, the one with the fewest tools first, and whether headgate pays."""
    rows = [
        f"| {SERVERS[name].package} | {' | '.join(f'{figure:,}' for figure in (one.discrete.tools, *_tasks(one)))} "
        f"| {_pays(one)} |"
        for name, one in sorted(costs.items(), key=lambda named: named[1].discrete.tools)
    ]
    head = f"| server | tools | a task of {_CALLS} calls, by itself | semantic | single | it pays |"
    return [head, "|---" * 6 + "|", *rows]


def _tasks(bill: Bill) -> list[int]:
    return [one.task for one in bill.ways]


def _pays(bill: Bill) -> str:
    itself, semantic, single = _tasks(bill)
    if semantic < itself:
        return "yes"
    return "as a single tool" if single < itself else "no"


def all_rows(listed: Mapping[str, Tools]) -> list[Row]:
    """Every tool of every server, classified."""
    return [row for name, tools in listed.items() for row in rows_of(name, tools)]


def precision_table(rows: Sequence[Row]) -> list[str]:
    """How often each server's tools are told right."""
    by_server = {name: [row for row in rows if row.server == name] for name in SERVERS}
    lines = [score_line(SERVERS[name].package, found) for name, found in by_server.items()]
    head = (
        "| server | tools | category | best category | danger | danger played down | changing, but READ | for review |"
    )
    return [head, "|---" * 8 + "|", *lines, score_line("**all**", rows)]


def score_line(name: str, rows: Sequence[Row]) -> str:
    """One line of the table of precision."""
    score = score_of(rows)
    shares = [f"{figure / score.tools:.1%}" for figure in (score.category, score.best_category, score.danger)]
    return (
        f"| {name} | {score.tools} | {' | '.join(shares)} | {score.played_down} | {score.changing_reads} "
        f"| {score.for_review} |"
    )


def tool_table(rows: Sequence[Row]) -> list[str]:
    """Every tool with what it was taken for, how surely and why; and its label where that says otherwise."""
    head = "| tool | category | danger | sure | for review | evidence | label, where it differs |"
    return [head, "|---" * 7 + "|", *map(_tool_line, rows)]


def _tool_line(row: Row) -> str:
    origin = row.origin
    why = "; ".join((*origin.category.evidence, *origin.danger.evidence)).replace("|", "\\|")
    differs = "" if row.category_is_right and row.danger_is_right else str(row.label)
    review = "yes" if origin.needs_review else ""
    cells = (origin.own_name, row.category, row.danger, f"{origin.category.confidence:.2f}", review, why, differs)
    return f"| {' | '.join(cells)} |"
